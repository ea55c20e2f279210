"""One turn, decided: what to do next, given every attempt made so far.

The engine asks `next_step` after each outcome and again after a crash, so a finished call is
never made twice and nothing has to be remembered outside the ledger.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from .avowal import DIFFERS as DIFFERS
from .avowal import REFUSES as REFUSES
from .avowal import odds
from .contracts import Violation, sections_to_mend, with_sections
from .copied import without_copied
from .declaration import UNDECLARED as UNDECLARED
from .declaration import Declaration
from .declaration_block import LABEL, split_blocks
from .declaration_form import Reading, seems_refused
from .deliverable import Deliverable, flags_of, split_deliverables
from .effects import DECLARING_TOKENS, Task, TurnPlan
from .errors import FailureCause
from .events import CUT, AttemptFailed, AttemptFinished, Purpose
from .state import NOT_THERE, Attempt, State, Turn
from .text import clip
from .thoughts import without_thoughts
from .values import AT_EASE, SpeakerRef

_TRANSPORT: frozenset[FailureCause] = frozenset(["rate_limited", "unavailable", "cut"])
_AGAIN: frozenset[FailureCause] = frozenset(["timeout", "empty", "garbled"])
_UNCOUNTED: frozenset[FailureCause] = frozenset(["lost", "cancelled"])
"""The process ended, not the speaker: trying again is no retry."""

BACK_OFF_BASE = 1.0
BACK_OFF_CAP = 20.0
MAX_UNCOUNTED = 20
"""Crashes in one turn after which the turn gives up instead of crashing for ever."""

QUOTED = 6_000
"""Characters of an answer without an end that its speaker is shown to set it right."""
TRUNCATED = "[truncated]"
CONDENSED = "[condensed prompt]"
"""On a speech whose speaker could not be shown everything."""
DEMONSTRATION = "[demonstration model]"
NOTHING_DECLARED = "The answer declares nothing that can be counted."
"""Why a turn failed of which a declaration alone was wanted."""


@dataclass(frozen=True, slots=True)
class Call:
    """Make attempt number `attempt` on `speaker`, after waiting."""

    attempt: int
    speaker: SpeakerRef
    purpose: Purpose
    wait: float = 0.0
    repair: tuple[Violation, ...] = ()
    broken_text: str = ""
    replaces: AttemptFailed | None = None
    """Set when another speaker of the chain takes over: why the one before gave up."""


@dataclass(frozen=True, slots=True)
class Accept:
    """The turn has its speech."""

    text: str
    model: str
    sections: dict[str, str]
    flags: tuple[str, ...]
    declaration: Declaration | None = None
    deliverables: tuple[Deliverable, ...] = ()
    limited: bool = False
    """Whether it was cut before all that its task allows."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The turn ends without a speech."""

    cause: FailureCause
    message: str
    remedy: str


Step = Call | Accept | GiveUp


def next_step(plan: TurnPlan, turn: Turn | None, time_left: float | None = None) -> Step:
    """What to do next in this turn. `time_left` is what remains of the turn's deadline."""
    step = _next(plan, turn, time_left)
    if turn is None or not isinstance(step, Call):
        return step
    return replace(step, attempt=step.attempt + turn.before)


HOST_HOLDS = 0.5
"""Of a seat, by the model of the host: it is taken where no other is free, before any model of the
table holds two seats more than it."""


def seats_held(state: State, about_to: Mapping[str, str]) -> Mapping[str, str]:
    """Which model speaks for everybody at the table, by participant: the one that spoke last or is
    `about_to`, or the first of its chain that is there. Nobody, where it needs a spare one."""
    now, held = {**state.speaking, **about_to}, dict[str, str]()
    for seat in (*state.ever_seated.values(), state.start.host):
        own = (ref.model for ref in seat.speakers if not ref.spare)
        found = (each for each in (now.get(seat.id), *own) if each not in state.missing_models)
        if (model := next(filter(None, found), None)) is not None:
            held[seat.id] = model
    return held


def without_missing(
    plan: TurnPlan,
    missing: Collection[str],
    heard: Sequence[SpeakerRef] = (),
    held: Mapping[str, str] = MappingProxyType({}),
    host: str = "",
) -> TurnPlan:
    """The plan without speakers that turned out not to exist, so that no turn asks them again; if
    nobody else is left, as it was. The first of the spare ones holds the seat then: the one that it
    has already, else one that holds no seat, else the one that holds the fewest, by who is `held`
    and who is the `host`. `heard` are those who have answered: at an endpoint that lists what it
    lacks they come before others who hold as few."""
    seated = plan.participant.speakers
    chain = [ref for ref in seated if ref.model not in missing]
    if len(chain) == len(seated):
        return plan
    places = {ref.model.partition("/")[0] for ref in seated}
    own = [ref for ref in chain if not ref.spare]
    known = [
        ref.model_copy(update={"spare": True})
        for ref in heard
        if ref.model.partition("/")[0] in places and all(ref.model != each.model for each in own)
    ]
    spare = {ref.model: ref for ref in (*known, *chain) if ref.spare}
    who = plan.participant.id
    holds = defaultdict[str, float](float)
    for seat, model in held.items():
        if seat != who:
            holds[model] += HOST_HOLDS if seat == host else 1
    kept = held.get(who)
    shared = sorted(spare.values(), key=lambda ref: (ref.model != kept, holds[ref.model]))
    chain = [*own, *shared]
    if not chain:
        return plan
    if all(ref.spare for ref in chain):
        chain[0] = chain[0].model_copy(update={"spare": False})
    participant = plan.participant.model_copy(update={"speakers": tuple(chain)})
    return replace(plan, participant=participant)


def kept_short(plan: TurnPlan, state: State) -> TurnPlan:
    """The plan for a speaker as it has shown itself: nobody who found no end in an earlier turn,
    neither at first nor when it was asked again, is asked for so much a second time; and once the
    bill has passed what was said to be the most, nothing is asked for again that can be used."""
    foreseen = state.expected.most_usd if state.expected else None
    endless = _found_no_end(state, plan) >= 2
    if not endless and (foreseen is None or state.usage.known_usd <= foreseen):
        return plan
    policy = replace(plan.policy, repairs=0)
    if not endless or plan.task.work:
        return replace(plan, policy=policy)
    task = replace(plan.task, max_tokens=max(DECLARING_TOKENS, plan.task.max_tokens // 3))
    return replace(plan, policy=policy, task=task)


def _found_no_end(state: State, plan: TurnPlan) -> int:
    """How many answers of its seat to other turns were cut although they had as much room as is
    usual: what a limit cut tells nothing of who spoke."""
    return sum(
        1
        for turn in state.called_turns
        if turn.id != plan.turn_id
        for each in turn.attempts
        if each.started.participant == plan.participant.id
        and each.finished is not None
        and each.finished.finish_reason == CUT
        and each.started.reserved.output_tokens >= _room(plan, each) // 2
    )


def _room(plan: TurnPlan, attempt: Attempt) -> int:
    """What an answer like this is allowed here."""
    return DECLARING_TOKENS if attempt.started.purpose == "declare" else plan.task.max_tokens


def _next(plan: TurnPlan, turn: Turn | None, time_left: float | None) -> Step:
    attempts, lost = _now(turn), turn.thought_on if turn else ()
    if not attempts:
        return _first(plan, lost)
    last = attempts[-1]
    if last.finished is not None:
        return _after_answer(plan, attempts)
    assert last.failed is not None, "an attempt in flight must be settled before the next step"
    return _after_failure(plan, (*lost, *attempts), attempts, last.failed, time_left)


def _first(plan: TurnPlan, lost: Sequence[Attempt]) -> Step:
    """The first call of a turn, to whom did not think past the end of its task in it before."""
    first = plan.participant.speakers[0]
    failed = {each.started.model: each.failed for each in lost}.get(first.model)
    if failed is None:
        return Call(1, first, "answer")
    return _fall_back(plan, lost, 1, failed)


def _fall_back(
    plan: TurnPlan, asked: Sequence[Attempt], number: int, failed: AttemptFailed
) -> Call | GiveUp:
    """The next of the chain that was not asked yet, or the end of the turn."""
    tried = {attempt.started.model for attempt in asked}
    missing = any(attempt.failed and attempt.failed.cause == NOT_THERE for attempt in asked)
    chain = (ref for ref in plan.participant.speakers if missing or not ref.spare)
    substitute = next((ref for ref in chain if ref.model not in tried), None)
    if substitute is not None:
        return Call(number, substitute, "fallback", replaces=failed)
    return GiveUp(failed.cause, failed.message, failed.remedy)


def _now(turn: Turn | None) -> Sequence[Attempt]:
    """The attempts that count: those made since the turn was last asked for."""
    return turn.attempts[turn.before :] if turn else ()


def _after_answer(plan: TurnPlan, attempts: Sequence[Attempt]) -> Step:
    """Repair the speech first, then ask for its declaration; the best of what came stands."""
    spoken = _spoken(plan, attempts)
    speaker = _speaker(plan, attempts[-1])
    repairs = sum(1 for a in attempts if a.started.purpose == "repair" and a.finished)
    declaring = any(a.started.purpose == "declare" for a in attempts)
    more = repairs < plan.policy.repairs and not declaring
    if spoken.violations and more and _is_worth_repairing(plan, attempts):
        return Call(
            len(attempts) + 1,
            speaker,
            "repair",
            repair=spoken.violations,
            broken_text=_quoted(spoken, spoken.answer.text),
        )
    if spoken.undeclared and not _asked_again(attempts) and not _counts_only_whole(plan, spoken):
        return _ask_again(attempts, speaker, spoken)
    return _outcome(spoken)


def cut_by_limit(plan: TurnPlan, attempt: Attempt) -> bool:
    """Whether an answer ended because a limit of the discussion left it fewer tokens than its task
    allows."""
    if attempt.finished is None or attempt.finished.finish_reason != CUT:
        return False
    speaker = _speaker(plan, attempt)
    declares = attempt.started.purpose == "declare"
    allowed = plan.most_tokens(speaker, AT_EASE, declares=declares)
    return attempt.started.reserved.output_tokens < allowed


def _counts_only_whole(plan: TurnPlan, spoken: _Spoken) -> bool:
    """Whether a limit cut what the host wrote: nothing counts of that, whatever is declared for it,
    and it is written anew with a higher one. What an expert said counts with its declaration."""
    return plan.round == 0 and spoken.limited


def _is_worth_repairing(plan: TurnPlan, attempts: Sequence[Attempt]) -> bool:
    """Not where a limit cut the answer, for it would cut the next one too; nor a second time where
    a speaker finds no end."""
    if cut_by_limit(plan, attempts[-1]):
        return False
    return sum(1 for each in attempts if each.finished and each.finished.finish_reason == CUT) < 2


def _is_endless(plan: TurnPlan, attempt: Attempt) -> bool:
    cut = attempt.finished is not None and attempt.finished.finish_reason == CUT
    return cut and not cut_by_limit(plan, attempt)


def _quoted(spoken: _Spoken, text: str) -> str:
    """What a speaker is shown of its own answer, to set it right: all of it, but of one that found
    no end the beginning, and of none more than its task allows."""
    if spoken.answer.finish_reason == CUT:
        return clip(text, QUOTED)
    return clip(text, max(QUOTED, 4 * spoken.task.max_tokens))


def as_it_stands(plan: TurnPlan, turn: Turn | None) -> Accept | None:
    """The best answer that was given in this turn, flagged if it breaks its contract: for when
    nothing more can be asked."""
    attempts = _now(turn)
    if not any(attempt.finished for attempt in attempts):
        return None
    outcome = _outcome(_spoken(plan, attempts))
    return outcome if isinstance(outcome, Accept) else None


def answered_whole(plan: TurnPlan, turn: Turn) -> tuple[Attempt, ...]:
    """The calls that answered a turn before a limit was raised, if nothing that counts of it was
    cut by the limit of then; nothing for any other turn."""
    earlier = () if turn.answered is None else turn.attempts[turn.answered : turn.before]
    if not earlier or earlier[-1].finished is None:
        return ()
    cut = [each for each in earlier if cut_by_limit(plan, each)]
    if any(each.started.purpose != "repair" for each in cut):
        return ()
    return () if cut and _spoken(plan, earlier).limited else earlier


@dataclass(frozen=True, slots=True)
class _Spoken:
    """The best answer of a turn so far, and what its speaker declared."""

    answer: AttemptFinished
    speaker: SpeakerRef
    task: Task
    violations: tuple[Violation, ...]
    reading: Reading | None
    """None where nothing is to be declared."""
    words: str
    """The answer with a line in the place of each deliverable."""
    deliverables: tuple[Deliverable, ...] = ()
    endless: bool = False
    """Whether it was cut at all that its task allows."""

    @property
    def prose(self) -> str:
        return self.reading.prose if self.reading else self.words

    @property
    def limited(self) -> bool:
        """Whether a limit cut it before all that its task allows."""
        return self.answer.finish_reason == CUT and not self.endless

    @property
    def whole(self) -> bool:
        """Whether it came to its end, with a declaration that counts if one was asked for."""
        return self.answer.finish_reason != CUT and not self.undeclared

    @property
    def undeclared(self) -> bool:
        return self.reading is not None and self.reading.declaration is None

    @property
    def refused(self) -> bool:
        return self.undeclared and (
            seems_refused(self.prose) or self.answer.finish_reason in _FILTERED
        )


_FILTERED = ("content_filter", "refusal")


def _spoken(plan: TurnPlan, attempts: Sequence[Attempt]) -> _Spoken:
    """The best of several answers. What a later call declared for it counts before what stands in
    it."""
    found: list[_Spoken] = []
    declared: list[AttemptFinished] = []
    for attempt in attempts:
        if attempt.finished is None:
            continue
        if attempt.started.purpose == "declare":
            declared.append(attempt.finished)
            continue
        answer, speaker = attempt.finished, _speaker(plan, attempt)
        if attempt.started.purpose == "repair" and found:
            answer = _mended(_best(found), answer)
        spoken = replace(_judged(plan, speaker, answer), endless=_is_endless(plan, attempt))
        if found and not spoken.deliverables:
            # What was to be mended are the words: the work that came with them stays.
            spoken = replace(spoken, deliverables=found[-1].deliverables)
        found.append(spoken)
    best = _best(found)
    form = best.task.form
    if form is None or best.reading is None or best.reading.declaration is not None:
        return best
    again = [replace(form, alone=True).read(answer.text) for answer in reversed(declared)]
    for each in again:
        if each.declaration is not None:
            reading = replace(best.reading, declaration=each.declaration, mended=each.mended)
            return replace(best, reading=reading)
    spared = next((each.spared for each in again if each.spared), best.reading.spared)
    return replace(best, reading=replace(best.reading, spared=spared))


def _best(found: Sequence[_Spoken]) -> _Spoken:
    """Of several answers the one that breaks its contract least, the later of two alike. Of one
    that was cut nobody knows what is missing: it takes the place of none that is whole."""
    if any(each.whole for each in found):
        found = [each for each in found if each.answer.finish_reason != CUT]
    return min(reversed(found), key=_flaws)


def _flaws(spoken: _Spoken) -> tuple[int, int]:
    """A speech that says what is not so is worse than one that lacks something."""
    false = sum(violation.code == FALSE for violation in spoken.violations)
    return false, len(spoken.violations)


FALSE = "contradiction"
"""The code of a violation that makes a speech untrue and not only incomplete."""


def _mended(before: _Spoken, answer: AttemptFinished) -> AttemptFinished:
    """A repair that was asked for sections alone, put into the speech that it mends."""
    headings = sections_to_mend(before.violations)
    if not headings:
        return answer
    words, blocks = split_blocks(split_deliverables(without_thoughts(answer.text))[0])
    text = with_sections(before.prose, words, headings)
    _, earlier = split_blocks(before.words)
    for block in (blocks or earlier)[-1:]:
        text = f"{text}\n\n```{LABEL}\n{block}\n```"
    return answer.model_copy(update={"text": text})


def _judged(plan: TurnPlan, speaker: SpeakerRef, answer: AttemptFinished) -> _Spoken:
    task = plan.task_for(speaker)
    said = without_thoughts(answer.text)
    words, works = split_deliverables(said) if task.work else (said, ())
    words = without_copied(words, task.prompt) if task.form else words
    reading = task.form.read(words) if task.form else None
    if reading is None or (task.form and task.form.alone):
        violations = () if reading else task.contract.check(words)
    else:
        declared = task.contract.check_declared(reading.declaration)
        violations = (*task.contract.check(reading.prose), *declared)
    return _Spoken(answer, speaker, task, violations, reading, words, works)


def _asked_again(attempts: Sequence[Attempt]) -> bool:
    return any(a.started.purpose == "declare" and a.finished for a in attempts)


def _ask_again(
    attempts: Sequence[Attempt], speaker: SpeakerRef, spoken: _Spoken, wait: float = 0.0
) -> Step:
    if spoken.task.again is None or spoken.reading is None:
        return _outcome(spoken)
    return Call(
        len(attempts) + 1,
        speaker,
        "declare",
        wait,
        repair=spoken.reading.problems,
        broken_text=_quoted(spoken, spoken.prose),
    )


def _outcome(spoken: _Spoken) -> Accept | GiveUp:
    """A refusal is no answer, and neither is a declaration that was asked for alone and not given.
    Any other speech stands, without a declaration as one that counts for nothing; what is wrong
    only in side fields counts without them."""
    if spoken.undeclared and spoken.reading is not None and spoken.reading.spared is not None:
        reading = replace(spoken.reading, declaration=spoken.reading.spared)
        spoken = replace(spoken, reading=reading)
    if spoken.refused:
        remedy = "Ask differently, or give this seat another model."
        return GiveUp("refused", "The answer was a refusal.", remedy)
    form = spoken.task.form
    if spoken.undeclared and form is not None and form.alone:
        remedy = "Try again, or give this seat another model."
        return GiveUp("garbled", NOTHING_DECLARED, remedy)
    return _accept(spoken)


def _accept(spoken: _Spoken) -> Accept:
    task, form = spoken.task, spoken.task.form
    flags = []
    if spoken.violations:
        flags.append(task.contract.flag)
    if spoken.answer.finish_reason == CUT:
        flags.append(TRUNCATED)
    if spoken.speaker.demonstration:
        flags.append(DEMONSTRATION)
    if spoken.undeclared:
        flags.append(UNDECLARED)
    if form is not None and not form.alone:
        flags += odds(spoken.prose, spoken.reading.declaration if spoken.reading else None, form)
    flags.extend(flags_of(spoken.deliverables))
    declaration = spoken.reading.declaration if spoken.reading else None
    text = "" if form and form.alone else spoken.prose
    if not text and declaration is not None:
        text = declaration.position or declaration.answer
    elif not text and not (form and form.alone):
        text = spoken.words
    sections = task.contract.parse(text)
    if spoken.endless and spoken.violations and not spoken.deliverables:
        # All of it is in its attempt; others need not read on in what has neither form nor end.
        text = clip(text, QUOTED)
        sections = {name: clip(each, QUOTED) for name, each in sections.items()}
    return Accept(
        text,
        spoken.speaker.model,
        sections,
        tuple(flags),
        declaration,
        spoken.deliverables,
        limited=spoken.limited,
    )


def _after_failure(
    plan: TurnPlan,
    asked: Sequence[Attempt],
    attempts: Sequence[Attempt],
    failed: AttemptFailed,
    time_left: float | None,
) -> Step:
    """`asked` are the attempts, and before them those that rule a model out."""
    speaker = _speaker(plan, attempts[-1])
    number = len(attempts) + 1
    same = [a.failed.cause for a in attempts if a.started.model == speaker.model and a.failed]
    wait: float | None = None
    purpose: Purpose = "retry"
    answered = any(attempt.finished for attempt in attempts)
    # Whom a limit cut while it thought is asked again with all that its task allows, however long
    # that took, or that is refused: it is the limit's doing, and no failure of who spoke.
    cut_in_thought = failed.used_up == "limit" and not answered
    if cut_in_thought:
        wait = 0.0
    elif failed.cause in _UNCOUNTED and same.count(failed.cause) <= MAX_UNCOUNTED:
        wait, purpose = 0.0, attempts[-1].started.purpose
    elif failed.cause in _TRANSPORT:
        tries = sum(1 for cause in same if cause in _TRANSPORT)
        if tries <= plan.policy.transport_retries:
            wait = failed.retry_after
            if wait is None:
                wait = min(BACK_OFF_CAP, BACK_OFF_BASE * 2.0 ** (tries - 1))
    elif failed.cause in _AGAIN and failed.used_up is None:
        # Not what used up all its tokens in thought: the same would be paid for the same again.
        tries = sum(1 for cause in same if cause in _AGAIN)
        if tries <= plan.policy.retries:
            wait = plan.policy.interval
    # What a failed repair was to mend: it is asked for again with it, and stands if that fails too.
    spoken = _spoken(plan, attempts) if answered else None
    if wait is not None and (cut_in_thought or time_left is None or wait < time_left):
        if spoken is None:
            return Call(number, speaker, purpose, wait)
        if attempts[-1].started.purpose == "declare":
            return _ask_again(attempts, speaker, spoken, wait)
        quoted = _quoted(spoken, spoken.answer.text)
        return Call(number, speaker, "repair", wait, spoken.violations, broken_text=quoted)
    if spoken is not None:
        declaring = attempts[-1].started.purpose == "declare"
        if spoken.undeclared and not declaring and not _counts_only_whole(plan, spoken):
            return _ask_again(attempts, spoken.speaker, spoken)
        return _outcome(spoken)
    if time_left is not None and time_left <= 0:
        return GiveUp(failed.cause, failed.message, failed.remedy)
    return _fall_back(plan, asked, number, failed)


def _speaker(plan: TurnPlan, attempt: Attempt) -> SpeakerRef:
    return next(
        (ref for ref in plan.participant.speakers if ref.model == attempt.started.model),
        plan.participant.speakers[0],
    )
