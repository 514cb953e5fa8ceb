"""A promotion's plan as a person reads it in a terminal: values old → new, then what is refused, asked and kept."""

from collections.abc import Mapping
from typing import Any, TextIO

from clusters_app.commands.output import Tone, cell, paint

type PlanDocument = Mapping[str, Any]


def plan_text(plan: PlanDocument, stream: TextIO) -> str:
    """The lines of a plan as `Plan.as_json` writes it; ids of asks stand in brackets, for --answer."""
    lines = [f"{', '.join(plan['apps'])}: {plan['from']} → {plan['to']}   release {plan['release'][:19]}"]
    for edit in plan["edits"]:
        kind = paint(edit["kind"], Tone.GOOD, stream)
        lines.append(f"{kind}  {_place(edit)}  {cell(edit['old'])} → {cell(edit['new'])}")
    for name, title, tone in (
        ("refusals", "refused", Tone.BAD),
        ("asks", "asked", Tone.WARNING),
        ("kept", "kept", Tone.QUIET),
    ):
        for remark in plan[name]:
            mark = f"  [{remark['id']}]" if name == "asks" else ""
            lines.append(f"{paint(title, tone, stream)}{mark}  {_remark(remark)}")
    if plan.get("clusters"):
        lines.append(f"clusters: {', '.join(plan['clusters'])}")
    return "\n".join(lines) + "\n"


def _remark(remark: Mapping[str, Any]) -> str:
    values = f"  ({cell(remark['source'])} → {cell(remark['target'])})" if remark["path"] else ""
    remedy = f"; {cell(remark['remedy'])}" if remark["remedy"] else ""
    return f"{_place(remark)}{values}: {cell(remark['why'])}{remedy}"


def _place(found: Mapping[str, Any]) -> str:
    """The file, and the keys in it; a list item as the field that finds it."""
    steps = [step if isinstance(step, str) else _item(step) for step in found["path"]]
    return cell(f"{found['file']}  {' → '.join(step or '""' for step in steps)}".rstrip())


def _item(fields: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" if key else value for key, value in fields.items())
