"""What a promotion says at the forge: title and body of its pull request. Markdown, short, no line begins with `/`."""

from django.conf import settings

from clusters_app.models import Promotion
from clusters_app.repo.plan_model import path_as_text

#: What is shown of each table; the rest stands on the promotion's page.
MOST_ROWS = 40


def pull_request_title(promotion: Promotion) -> str:
    before, after = promotion.version_before, promotion.version_after
    versions = f"{before} → {after}" if before and before != after else after
    return f"Promote {promotion.slot.replace('+', ', ')} {versions} to {promotion.target}".replace("  ", " ")[:240]


def pull_request_body(promotion: Promotion) -> str:
    plan = promotion.plan
    page = settings.FLOTILLA_PUBLIC_URL + promotion.get_absolute_url()
    parts = [
        f"Carries the release of **{promotion.slot}** from {promotion.source} into {promotion.target}.",
        f"[Plan, gates and progress]({page})",
        _table(
            ["file", "value", str(promotion.target), "becomes"],
            [[edit["file"], _path(edit["path"]), edit["old"], edit["new"]] for edit in plan["edits"]],
        ),
    ]
    if plan["kept"]:
        rows = [[each["file"], _path(each["path"]), each["target"], each["why"]] for each in plan["kept"]]
        parts += ["### Kept on purpose", _table(["file", "value", "stays", "why"], rows)]
    if plan["asks"]:
        rows = [
            [each["file"], _path(each["path"]), each["source"], each["target"], each["why"]] for each in plan["asks"]
        ]
        parts += [
            "### Not carried over: nobody has decided",
            _table(["file", "value", str(promotion.source), str(promotion.target), "why"], rows),
        ]
    if clusters := plan.get("clusters"):
        parts.append(f"Clusters that this reaches: {', '.join(clusters)}")
    if commits := promotion.release.commits:
        parts += [
            "### Carries",
            *[
                f"- `{each['sha'][:7]}` {_plain(each['subject'])} ({_plain(each['author'])})"
                for each in commits[:MOST_ROWS]
            ],
        ]
    return "\n\n".join(parts)


def _path(path: list[object]) -> str:
    return path_as_text(tuple(step if isinstance(step, str) else "=".join(map(str, *step.items())) for step in path))  # type: ignore[attr-defined]


def _table(head: list[str], rows: list[list[object]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        lines.append(f"| … {len(rows) - MOST_ROWS} more |{' |' * (len(head) - 1)}")
    return "\n".join(lines)


def _cell(value: object) -> str:
    return "" if value is None else f"`{_plain(str(value))}`"


def _plain(text: str) -> str:
    """Foreign text on one line, unable to end a table cell or a code span, or to mention or command anybody."""
    return " ".join(text.split()).replace("|", "¦").replace("`", "'").replace("@", "@\u200b")[:200]
