"""What was said since a caller last spoke, within the characters of one turn: as many speeches
whole as fit, the newest first, and the others folded to what they declare and how they begin.

Nothing is lost by it: whoever asks for a round, a number or a time gets whole texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.declaration import Declaration
from ...core.events import SpeechGiven
from ...core.state import State
from ...core.text import clip, first_sentences, redact
from ...views.meeting import is_heard, spoken_words
from .results import SpeechRow, written

TURN_LIMIT = 7_200
"""Characters of what is read for one turn, so that it and the answer to the speech are 8,000."""
POINTS_SHARE, FORM_SHARE = 0.27, 0.2
"""Of a turn: for points, beyond what must be answered, and for the form."""
FIRST_WORDS, DECLARED = 240, 260


def folded_rows(
    state: State, picked: Sequence[SpeechRow], room: int
) -> tuple[list[SpeechRow], bool]:
    """As many of these rows as fit into so many characters of JSON, and whether any is folded."""
    heard = [each for each in state.speeches if is_heard(each)]
    shown: list[SpeechRow] = []
    for row in (_folded(each, heard[each.number - 1]) for each in picked):
        room -= _cost(row)
        if room < 0 and shown:
            break
        shown.append(row)
    for place, row in enumerate(picked[: len(shown)]):
        more = _cost(row) - _cost(shown[place])
        if more <= room:
            shown[place] = row
            room -= max(0, more)
    return shown, any(row.characters for row in shown)


def _folded(row: SpeechRow, speech: SpeechGiven) -> SpeechRow:
    text = redact(first_sentences(spoken_words(speech), 2, FIRST_WORDS))
    declared = redact(clip(_told(speech.declaration), DECLARED)) if speech.declaration else ""
    if len(text) + len(declared) >= len(row.text):
        return row
    return row.model_copy(update={"text": text, "declares": declared, "characters": len(row.text)})


def _told(declared: Declaration) -> str:
    """What a speech declares beside its points and stances, which stand in the list of points."""
    if declared.abstain is not None:
        return f"abstains: {declared.abstain}"
    told = [f"{vote.on}: {vote.choice}" for vote in declared.votes]
    told += [declared.position] if declared.position else []
    told += [f"on the condition: {each.text}" for each in declared.conditions]
    told += [f"moved by {each.participant}: {each.what}" for each in declared.moved_by]
    return "; ".join(each.rstrip(".") for each in told)


def _cost(row: SpeechRow) -> int:
    return written(row.model_dump(mode="json", exclude_defaults=True)) + 1
