// What pages do beyond links and forms. Everything works without it; nothing here decides anything.
"use strict";

const find = document.getElementById("find");
const found = document.getElementById("found");

// --- copying

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = button.dataset.copied;
  } catch {
    getSelection().selectAllChildren(source);
  }
});

// --- finding: "/" and Ctrl+K open the box, arrows walk its hits, Escape leaves

document.addEventListener("keydown", (event) => {
  if (!find || event.altKey) return;
  const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
  const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
  const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !isTyping;
  if (!isPalette && !isSlash) return;
  event.preventDefault();
  find.focus();
  find.select();
});

document.querySelector("form.find")?.addEventListener("keydown", (event) => {
  const hits = [find, ...found.querySelectorAll("a")];
  const at = hits.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && hits[at + step]) {
    event.preventDefault();
    hits[at + step].focus();
  } else if (event.key === "Escape") {
    found.replaceChildren();
    document.activeElement.blur();
  }
});

// An answer that comes after somebody left would open the list again.
document.addEventListener("htmx:beforeSwap", (event) => {
  const isLeft = !document.activeElement?.closest("form.find");
  if (found && event.detail.target === found && isLeft) event.detail.shouldSwap = false;
});

document.addEventListener("click", (event) => {
  if (found && !event.target.closest("form.find")) found.replaceChildren();
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

// --- refreshing in place: not while nobody looks, nor under a selection; focus and open parts survive it

document.addEventListener("htmx:beforeRequest", (event) => {
  const region = event.detail.elt;
  if (!region.matches("[data-refreshes]")) return;
  const selected = getSelection();
  const isSelecting = selected && !selected.isCollapsed && region.contains(selected.anchorNode);
  const isFilling = document.activeElement?.matches("input, textarea, select") && region.contains(document.activeElement);
  if (document.hidden || isSelecting || isFilling) event.preventDefault();
});

let focused = "";
let opened = [];
let scrolled = [];

document.addEventListener("htmx:beforeSwap", (event) => {
  const region = event.detail.target;
  if (!region.matches("[data-refreshes]")) return;
  focused = region.contains(document.activeElement) ? sign(document.activeElement) : "";
  opened = [...region.querySelectorAll("details[open] > summary")].map((each) => each.textContent);
  scrolled = [...region.querySelectorAll(".scroll")].map((each) => [each.scrollLeft, each.scrollTop]);
});

document.addEventListener("htmx:afterSwap", (event) => {
  const region = event.detail.target;
  if (!region.matches("[data-refreshes]")) return;
  if (focused) [...region.querySelectorAll("a, button, summary")].find((each) => sign(each) === focused)?.focus();
  for (const each of region.querySelectorAll("details > summary")) {
    if (opened.includes(each.textContent)) each.parentElement.open = true;
  }
  region.querySelectorAll(".scroll").forEach((each, at) => {
    if (scrolled[at]) [each.scrollLeft, each.scrollTop] = scrolled[at];
  });
});

// By what an element is known again after its region was replaced.
function sign(element) {
  return `${element.tagName} ${element.getAttribute("href") ?? ""} ${element.textContent.trim()}`;
}

// A region that could not be refreshed is old: it must not look like news.
document.addEventListener("htmx:sendError", (event) => event.detail.elt.classList.add("old"));
document.addEventListener("htmx:responseError", (event) => event.detail.elt.classList.add("old"));
document.addEventListener("htmx:afterOnLoad", (event) => event.detail.elt.classList.remove("old"));

// Times are shown in the viewer's zone: the server learns it from this cookie.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.includes(`zone=${zone}`)) {
  document.cookie = `zone=${zone};path=/;max-age=31536000;samesite=lax`;
}
