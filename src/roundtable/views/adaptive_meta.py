"""The META section: everything about how an adaptive result came to be, each item once."""

from __future__ import annotations

from ..core.convergence import Score
from ..core.errors import FailureCause
from ..core.events import ScoresGiven, SearchFailed, SearchFinished
from ..core.grounding import NO_REAL_TIME_DATA, NOTHING_USEFUL
from ..core.scores import Matrix, consensus, matrix
from ..core.state import State
from ..core.stopping import spent_so_far
from ..core.values import SpeakerRef
from .cost import Cost, in_words
from .notes import DEGRADED as DEGRADED

NOT_MEASURED = "N/A"
VALIDATED = "validated"
SUBSTITUTED = "substituted"
"""The code of a note on a model that was not there when the table was set."""
CORRECTIONS = ("misrepresentation", "correction")
"""The codes of the notes that hold what the panel corrects."""
_UNREACHABLE: frozenset[FailureCause] = frozenset(["unavailable", "not_found", "cut"])


def meta_lines(state: State) -> list[str]:
    """The items of the section, without their list marks."""
    lines = [f"Consensus: {consensus_text(state)}", f"Validated: {validated(state)}"]
    lines += _search(state)
    lines += [f"{line} {action}".strip() for line, action in degradations(state)]
    for note in state.notes:
        if note.code not in (VALIDATED, SUBSTITUTED) and not note.text.startswith(DEGRADED):
            lines.append(f"{note.text} {note.remedy}".strip())
    if state.exhausted is not None:
        ended = f"The {state.exhausted.limit} limit ended it: {spent_so_far(state)}."
        lines.append(f"{ended} Raise it to go on.")
    lines.append(_spent(state))
    return list(dict.fromkeys(lines))


def counted(state: State) -> list[ScoresGiven]:
    """The scores that count, by seat: those of the last round that brought any."""
    last = max((row.round for row in state.scores), default=0)
    seats = {seat: place for place, seat in enumerate(state.ever_seated)}
    rows = [row for row in state.scores if row.round == last]
    return sorted(rows, key=lambda row: seats.get(row.participant, len(seats)))


def agreement(state: State) -> Score:
    return consensus(counted(state))


def agreement_matrix(state: State) -> Matrix:
    return matrix(counted(state), {who.id: who.name for who in state.participants})


def consensus_text(state: State) -> str:
    score = agreement(state).value
    return NOT_MEASURED if score is None else f"{score:.0f} %"


def validated(state: State) -> str:
    """yes, no or partial; no if nobody was asked."""
    found = next((n.text for n in reversed(state.notes) if n.code == VALIDATED), "")
    return found.rpartition(" ")[2] or "no"


def degradations(state: State) -> list[tuple[str, str]]:
    """Every seat that another model holds, from the start or since its own gave up, with what to
    do about it."""
    found: dict[str, str] = {}
    for note in state.notes:
        if note.text.startswith(DEGRADED):
            found[note.text] = note.remedy
        elif note.code == SUBSTITUTED:
            found[f"{DEGRADED}: {note.text}"] = note.remedy
    for each in state.substitutions:
        who = state.participant(each.participant)
        refs = who.speakers if who else ()
        text = (
            f"{DEGRADED}: role {who.name if who else each.participant}, original "
            f"{each.from_model}, fallback {each.to_model}, family {_family(refs, each.to_model)} "
            f"({each.cause})."
        )
        found.setdefault(text, action(each.from_model, each.cause, each.remedy))
    return list(found.items())


_DEBATE = {"answer": "Round 1", "critique": "the cross-critique", "second-stage": "stage 2"}


def lost_seats(state: State) -> list[tuple[str, str]]:
    """Every seat that was silent where it was to speak, with what to do about it."""
    found = []
    for each in state.failures:
        if each.stage in _DEBATE:
            name, where = state.name_of(each.participant), _DEBATE[each.stage]
            found.append((f"{name} was not heard in {where}: {each.message}", each.remedy))
    return found


def corrections(state: State) -> list[str]:
    """What the panel calls wrong in the synthesis as it is delivered."""
    return [note.text for note in state.notes if note.code in CORRECTIONS]


def action(model: str, cause: FailureCause, remedy: str) -> str:
    """What to do about a model that failed, by the cause."""
    if cause == "budget":
        return "Raise the limit to let everybody speak."
    if cause == "refused":
        return remedy or "Ask differently, or give this seat another model."
    if cause == "timeout":
        return remedy or "Ask again, or give this seat a faster model."
    if cause == "not_found" and remedy:
        return remedy
    if model.startswith("blockrun/") and cause in _UNREACHABLE:
        return "Start the Blockrun proxy at localhost:8402, or use --models budget."
    return f"{remedy} Check the key and the quota of {model}, then ask again.".strip()


def _family(refs: tuple[SpeakerRef, ...], model: str) -> str:
    return next((ref.family for ref in refs if ref.model == model and ref.family), "unknown")


def _search(state: State) -> list[str]:
    for each in state.searches:
        if isinstance(each, SearchFailed):
            return [f"{NO_REAL_TIME_DATA} ({each.provider}: {each.message})"]
        if isinstance(each, SearchFinished) and not each.hits:
            return [NOTHING_USEFUL]
    return []


def _spent(state: State) -> str:
    cost = Cost.so_far(state)
    told = "cost unknown" if cost.known == "unknown" else in_words(cost, places=4)
    return f"Spent: {state.usage.calls} calls, {cost.tokens}, {told}."
