"""The transcript: a whole discussion as Markdown."""

from __future__ import annotations

from ..core.state import State
from ..core.text import redact
from .notes import notes


def transcript(state: State, delivered: str) -> str:
    """Everything that was said, in order, with the verdict first, as its procedure delivers it."""
    start = state.start
    opened = state.opened_at.strftime("%Y-%m-%d %H:%M UTC") if state.opened_at else ""
    lines = [
        f"# {' '.join(start.topic.split())}",
        "",
        f"{start.procedure} · {state.discussion_id} · {opened} · {state.status}",
        "",
        "## Verdict",
        "",
    ]
    if state.verdict is not None:
        lines.append(delivered)
    else:
        lines.append(state.closed.detail if state.closed else "Not reached yet.")
    names = {p.id: p for p in (*start.participants, *state.participants, start.host)}
    lines += ["", "## Transcript"]
    for speech in state.speeches:
        who = names[speech.participant]
        where = f"round {speech.round}" if speech.round else f"after round {speech.after_round}"
        flags = f" · {' '.join(speech.flags)}" if speech.flags else ""
        lines += [
            "",
            f"### {who.emoji} {who.name}: {speech.stage}, {where}",
            "",
            f"<sub>turn {speech.turn_id} · {speech.model}{flags}</sub>",
            "",
            _quoted(speech.text),
        ]
    if found := notes(state):
        lines += ["", "## Notes", ""]
        lines += [f"- {note.text}{' ' + note.remedy if note.remedy else ''}" for note in found]
    usage = state.usage
    cost = "unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    lines += [
        "",
        "## Spent",
        "",
        f"{usage.calls} calls, {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, "
        f"cost {cost}.",
    ]
    return redact("\n".join(lines)) + "\n"


def _quoted(text: str) -> str:
    """A speech keeps its own headings without mixing them into the document's."""
    return "\n".join(f"> {line}" if line else ">" for line in text.splitlines())
