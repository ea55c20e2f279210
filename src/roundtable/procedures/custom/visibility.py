"""Sight: what one reader is shown of a discussion, and under which names."""

from __future__ import annotations

from ...core.effects import Untrusted
from ...core.events import SpeechGiven
from ...core.text import clip
from .model import Reading
from .schedule import Step
from .table import CustomTable, digest


def seen(
    table: CustomTable, reading: Reading, reader: str, now: Step | None
) -> tuple[Untrusted, ...]:
    """What this reader is shown while `now` is being held, in order, each piece with its source."""
    if not reading.sees_speeches:
        return ()
    in_turn = now is not None and now.stage.order == "sequential"
    steps = [*table.held, *([now] if now is not None and in_turn else [])]
    shown: list[Untrusted] = []
    summed_up: set[str] = set()
    for step in steps:
        speeches = [s for s in table.said_in(step) if _may_see(table, reading, reader, step, s)]
        others = any(s.participant != reader for s in speeches)
        if reading.history == "summary" and others and not step.stage.by_host:
            summary = _summary_after(table, step)
            if summary is not None:
                if summary.turn_id not in summed_up:
                    summed_up.add(summary.turn_id)
                    source = f"the host, after round {summary.after_round}"
                    shown.append(Untrusted("summary", summary.text, source))
                speeches = [s for s in speeches if s.participant == reader]
        if reading.anonymous:
            drawn = table.shuffled(reader, [s.participant for s in speeches])
            speeches.sort(key=lambda s: drawn.index(s.participant))
        shown += [
            Untrusted("speech", _cut(s, reading.history), _called(table, s, reading, reader))
            for s in speeches
            if s.turn_id not in summed_up
        ]
    return tuple(shown)


def _may_see(
    table: CustomTable, reading: Reading, reader: str, step: Step, speech: SpeechGiven
) -> bool:
    held = table.held
    over = step in held
    newest = over and step == next(s for s in reversed(held) if s.stage.name == step.stage.name)
    return any(
        source == "all"
        or (source == "own" and over and speech.participant == reader)
        or (source == "current" and not over)
        or (source == "previous" and over and step == held[-1])
        or (source == f"stage:{step.stage.name}" and newest)
        for source in reading.sees
    )


def _summary_after(table: CustomTable, step: Step) -> SpeechGiven | None:
    """What the host said next after this step."""
    later = table.held[table.held.index(step) + 1 :] if step in table.held else ()
    said = (speech for each in later if each.stage.by_host for speech in table.said_in(each))
    return next(said, None)


def _called(table: CustomTable, speech: SpeechGiven, reading: Reading, reader: str) -> str:
    when = f"round {speech.round}" if speech.round else f"after round {speech.after_round}"
    if speech.participant == reader:
        return f"yourself, {when}"
    if speech.participant == table.host.id:
        return f"the host, {when}"
    if reading.anonymous:
        letters = {seat: letter for letter, seat in table.letters(reader).items()}
        return f"Speaker {letters[speech.participant]}, {when}"
    return f"{table.name(speech.participant)}, {when}, turn {speech.turn_id}"


def _cut(speech: SpeechGiven, history: str) -> str:
    if history.startswith("chars:"):
        return clip(speech.text, int(history.removeprefix("chars:")))
    return speech.text if history == "full" else digest(speech)
