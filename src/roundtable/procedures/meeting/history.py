"""The history that every prompt carries: all that was said, or the summary that replaces it."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.effects import Untrusted
from ...core.events import SpeechGiven
from ...core.excerpt import excerpt
from ...core.text import clip, estimate_tokens
from ...views.meeting import first_words, is_heard, spoken_words
from ...views.meeting_status import CONCLUSION, DISCUSSION, SUMMARY, issues
from .meeting_table import MeetingTable

HISTORY_TOKENS = 6_000
"""Beyond this the speeches of older rounds give way to the summaries of those rounds."""
REPLACING_CHARACTERS = 2_000
"""The most that stands for a replaced round; beside such a summary the list of points remains."""


def history(table: MeetingTable, before_round: int, *, without: int = 0) -> tuple[Untrusted, ...]:
    """What was said before a turn of this round, in order. The newest round that is over and the
    present one are always whole; older ones are replaced, the oldest first, until it fits. The
    speeches of the round `without` are left out, because the prompt shows them elsewhere."""
    spoken = [
        s
        for s in table.state.speeches
        if is_heard(s) and s.stage != CONCLUSION and (not without or s.round != without)
    ]
    if table.parallel:
        spoken = [s for s in spoken if s.round < before_round]
    rounds = sorted({s.round for s in spoken if 0 < s.round < before_round - 1})
    replaced: set[int] = set()
    for round_ in rounds:
        if _tokens(_items(table, spoken, replaced)) <= HISTORY_TOKENS:
            break
        replaced.add(round_)
    return _items(table, spoken, replaced)


def points_on_the_table(table: MeetingTable, *, worded: bool = True) -> Untrusted | str:
    """The list of points with who stands where; empty while there is none. Not `worded` where
    the same prompt has their words in its form."""
    found = issues(table.state)
    if not found:
        return ""
    lines = []
    for issue in found:
        sides = [
            f"{side}: {', '.join(table.called(who) for who in ids)}"
            for side, ids in (("agree", issue.held_by), ("disagree", issue.rejected_by))
            if ids
        ]
        words = f": {issue.text}" if worded else ""
        lines.append(f"{issue.id}{words} ({'; '.join(sides) or 'nobody has declared'})")
    return Untrusted("points", "\n".join(lines), "the minutes")


def _items(
    table: MeetingTable, spoken: Sequence[SpeechGiven], replaced: set[int]
) -> tuple[Untrusted, ...]:
    items: list[Untrusted] = []
    told: set[int] = set()
    for speech in spoken:
        if speech.stage == DISCUSSION and speech.round in replaced:
            if speech.round not in told:
                told.add(speech.round)
                items.append(_in_place_of(table, spoken, speech.round))
        elif not _stands_elsewhere(speech, replaced):
            items.append(_item(table, speech))
    return tuple(items)


def _item(table: MeetingTable, speech: SpeechGiven) -> Untrusted:
    who = table.called(speech.participant)
    if speech.stage == DISCUSSION:
        return Untrusted("speech", speech.text, f"{who}, round {speech.round}")
    if speech.stage.startswith(SUMMARY):
        return Untrusted(
            "summary", spoken_words(speech), f"{who}, after round {speech.after_round}"
        )
    return Untrusted("remark", speech.text, who)


def _stands_elsewhere(speech: SpeechGiven, replaced: set[int]) -> bool:
    """The summary of a replaced round stands in the place of its speeches, not a second time."""
    return speech.stage.startswith(SUMMARY) and speech.after_round in replaced


def _in_place_of(table: MeetingTable, spoken: Sequence[SpeechGiven], round_: int) -> Untrusted:
    summary = table.summary_of(round_)
    if summary is not None:
        topic = table.state.start.topic
        text = excerpt(spoken_words(summary), topic, REPLACING_CHARACTERS, end=True)
    else:
        text = digest(table, [s for s in spoken if s.round == round_])
    return Untrusted("summary", text, f"the minutes, in place of the speeches of round {round_}")


def digest(table: MeetingTable, speeches: Sequence[SpeechGiven]) -> str:
    """A round in one sentence from everybody, for when no host summed it up."""
    lines = [f"{table.called(s.participant)}: {first_words(s)}" for s in speeches]
    return clip("\n".join(lines), REPLACING_CHARACTERS)


def _tokens(items: Sequence[Untrusted]) -> int:
    return sum(estimate_tokens(item.text) for item in items)
