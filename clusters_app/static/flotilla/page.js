// What pages do beyond links and forms. Everything works without it; nothing here decides anything.
"use strict";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copy).textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = button.dataset.copied;
  } catch {
    getSelection().selectAllChildren(document.getElementById(button.dataset.copy));
  }
});

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  const find = document.getElementById("find");
  if (!find || typing || event.altKey) return;
  const palette = (event.ctrlKey || event.metaKey) && event.key === "k";
  if (palette || (event.key === "/" && !event.ctrlKey && !event.metaKey)) {
    event.preventDefault();
    find.focus();
  }
});

// Times are shown in the viewer's zone: the server learns it from this cookie.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.includes(`zone=${zone}`)) {
  document.cookie = `zone=${zone};path=/;max-age=31536000;samesite=lax`;
}
