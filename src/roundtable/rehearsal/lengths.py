"""How long answers usually are: by the prompt that asks for them, and by who answers.

What is built in comes from recorded discussions. What earlier discussions of the user show goes
before it: of a model with this prompt, else of the prompt with what is known of the model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from statistics import median

from ..core.budget import is_paid_by_tokens
from ..core.events import AttemptFailed, AttemptFinished, AttemptStarted
from ..core.state import Attempt, State
from ..core.text import likely_tokens
from ..ports import CUT

USUAL: Mapping[str, int] = {
    "adaptive/final-synthesis": 1000,
    "adaptive/grounding": 250,
    "adaptive/meta-panel": 400,
    "adaptive/round1": 1050,
    "adaptive/round2-cross-critique": 850,
    "adaptive/round3-validation": 80,
    "council/briefing": 270,
    "council/cross-examination": 740,
    "council/summary": 750,
    "council/synthesis": 1000,
    "custom/verdict": 750,
    "deliberation/answer": 640,
    "deliberation/critique": 600,
    "deliberation/statement-draft": 350,
    "deliberation/statement-ranking": 120,
    "deliberation/statement-revision": 350,
    "deliberation/synthesis": 690,
    "five_round/arbitration": 2700,
    "five_round/critique": 1350,
    "five_round/cross-reference": 1620,
    "five_round/proposal": 1620,
    "five_round/revision": 1950,
    "meeting/conclusion": 700,
    "meeting/opening": 280,
    "meeting/speech": 540,
    "meeting/summary": 400,
    "shared/ballot": 60,
    "shared/casting": 310,
    "shared/clerk": 290,
}
"""Tokens of an answer to the template of this name, in recorded discussions."""
OTHERWISE = 700
"""To any other template."""
SMALL = 90
"""Of a model too small to reason."""
SPREAD = 1.6
"""How much longer than usual an answer is at the long end, where nothing is known of a speaker."""
DECLARED_AGAIN = 150
"""Tokens of a declaration alone."""
CAUTION, CLOSE = 1.1, 1.03
"""On estimated tokens in, and once their provider has told how it counts the same material."""
AGAIN = 0.05
"""The share of answers that are asked for again, where nothing is known."""
UNCOUNTED = (0.8, 1.35)
"""How much fewer or more tokens a provider counts than is likely, where it has not told yet: the
same text is up to a seventh more with one than with another, and a third more with the newest."""
COUNTED = (0.9, 1.12)
"""The same, of a provider that has told: texts still differ."""
FIRST_WORD, PER_SECOND = 2.5, 55.0
"""Seconds until a model begins, and tokens that it then says in one."""
AMPLE = 1.2
"""Of the usual length: where an amount is named that is to be enough, answers may all be so long,
and the prompts with them."""
LONGER = 2.0
"""Of the time or the tokens after which a call was cut: it would have gone on, and nobody knows for
how long."""
_OUTLANDISH = 4.0
"""Times as many tokens in as are likely, or as few: no way to count makes so many of a prompt."""
_TWICE = 2.0
"""Times the likely tokens in beyond which what is billed is more than another way to count them."""
_ENOUGH = 4
"""Answers after which what a speaker does counts more than what is usual."""
_MOST = 400
"""Answers that are remembered of one speaker."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One answer, as far as it tells about the next."""

    template: str
    purpose: str
    said: int
    """Tokens out, as the provider counted them, where that can be."""
    read: int
    """Tokens in, as the provider counted them; 0 where that cannot be."""
    likely_read: float
    """Tokens in, as they would have been estimated."""
    seconds: float
    cut: bool = False
    """Whether it was ended before its end: then it would have been longer."""
    unasked: int = 0
    """Tokens out that were billed beside all that it can have said or thought as it was asked."""
    charged_times: float = 0.0
    """How many times the likely tokens in were billed, where no way to count makes so many."""
    thought: bool = False
    """Whether all of it was thought: its tokens ended before its first word."""
    forced: bool = False
    """Whether a limit had a hand in how often it was asked again, or was not: then that tells
    nothing of how often it is needed."""


def heard_in(state: State) -> dict[str, list[Heard]]:
    """By model, what the answers of a discussion show."""
    found: dict[str, list[Heard]] = defaultdict(list)
    # Once a limit refuses something nobody knows who would have been asked again.
    limited = state.exhausted is not None or state.limits is not None
    for turn in state.called_turns:
        forced = limited
        for attempt in turn.attempts:
            answer = _heard(attempt)
            if answer is None:
                continue
            # What follows one that a limit may have cut follows from the cut.
            forced = forced or (answer.cut and is_paid_by_tokens(state.budget))
            tells = replace(answer, forced=forced or answer.thought)
            found[attempt.started.model].append(tells)
    return dict(found)


@dataclass(frozen=True, slots=True)
class Took:
    """How long one call of the discussion at hand took."""

    model: str
    template: str
    said: int
    """Tokens out; 0 where nobody knows how many there would have been."""
    seconds: float
    """At least, where it was cut."""
    cut: bool
    """Whether time ended it."""


def took_in(state: State) -> list[Took]:
    """How long the calls of a discussion took, also those that time ended."""
    found = []
    for turn in state.called_turns:
        for attempt in turn.attempts:
            started, finished, failed = attempt.started, attempt.finished, attempt.failed
            name = started.prompt.template
            if finished is not None and finished.usage.output_tokens:
                said = _said(started, finished)
                found.append(Took(started.model, name, said, finished.seconds, cut=False))
            elif failed is not None and failed.cause == "timeout":
                found.append(Took(started.model, name, 0, failed.seconds, cut=True))
    return [each for each in found if each.seconds > 0]


def calls_for_each(state: State) -> float | None:
    """The calls for each seat of a discussion that came to its end by itself, without those that
    were made again; None for any other."""
    if state.status != "concluded" or not state.start.participants:
        return None
    first = (t for t in state.called_turns if any(a.finished for a in t.attempts))
    return sum(1 for _ in first) / len(state.start.participants)


def _heard(attempt: Attempt) -> Heard | None:
    finished, started = attempt.finished, attempt.started
    if attempt.failed is not None and attempt.failed.used_up is not None:
        return _thought(started, attempt.failed)
    if finished is None or not finished.usage.output_tokens:
        return None
    said, likely, usage = _said(started, finished), _likely(started), finished.usage
    times = usage.input_tokens / likely if likely else 0.0
    return Heard(
        started.prompt.template,
        started.purpose,
        said,
        _read(started, finished),
        likely,
        finished.seconds,
        finished.finish_reason == CUT,
        max(0, usage.output_tokens - said),
        times if times > _TWICE else 0.0,
    )


def _thought(started: AttemptStarted, failed: AttemptFailed) -> Heard:
    granted = started.reserved.output_tokens
    told = failed.usage.output_tokens if failed.usage else 0
    most = granted + started.reserved.spare_tokens
    said = min(most, max(granted, told))
    name, likely = started.prompt.template, _likely(started)
    return Heard(
        name,
        started.purpose,
        said,
        0,
        likely,
        failed.seconds,
        cut=True,
        unasked=max(0, told - said),
        thought=True,
    )


def _said(started: AttemptStarted, finished: AttemptFinished) -> int:
    """Tokens out, as the provider counted them. What neither the words can have, of which every
    token is a byte at least, nor the thoughts, for which it was granted so many tokens, is no
    count: then it goes by the words. The bill is the provider's; what is expected is ours."""
    granted, told = started.reserved, finished.usage.output_tokens
    size = len(finished.text.encode("utf-8", "surrogatepass"))
    most = granted.output_tokens + granted.spare_tokens + size
    return told if told <= most else ceil(likely_tokens(finished.text))


def _read(started: AttemptStarted, finished: AttemptFinished) -> int:
    told, likely = finished.usage.input_tokens, _likely(started)
    return told if likely / _OUTLANDISH <= told <= likely * _OUTLANDISH else 0


def _likely(started: AttemptStarted) -> float:
    return likely_tokens(started.prompt.system) + likely_tokens(started.prompt.user)


@dataclass(frozen=True, slots=True)
class Lengths:
    """What is known of how much speakers say, how often they have to be asked again, how fast they
    are and how their providers count."""

    heard: Mapping[str, Sequence[Heard]] = field(default_factory=dict)
    """By model, the newest last."""
    went: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """By procedure, the calls for each seat of earlier discussions."""
    here: Mapping[str, Sequence[Heard]] = field(default_factory=dict)
    """By model, what was heard in the discussion at hand: the last of those in `heard`."""
    slowness: float = 1.0
    """How many times as long as was known before calls take in the discussion at hand: a line or a
    crowded hour slows all of them alike."""
    quickest: float = 0.0
    """Seconds of the quickest call in the discussion at hand."""
    longest: float = 0.0
    """Seconds of the longest of them, as far as can be told."""
    longer: float = 1.0
    """How many times as long as all that is known lets expect answers are in the discussion at
    hand; never less than one."""

    def with_course(self, procedure: str, calls: float) -> Lengths:
        """With one more discussion that came to its end."""
        went = {**self.went, procedure: [*self.went.get(procedure, ()), calls]}
        return replace(self, went=went)

    def far(self, procedure: str, low: float, high: float, otherwise: float) -> float:
        """How far from the shortest way to the longest one discussions of a procedure go, from 0 to
        1, where these ways have so many calls for each seat."""
        if high <= low:
            return otherwise
        earlier = self.went.get(procedure, ())
        found = [min(1.0, max(0.0, (calls - low) / (high - low))) for calls in earlier]
        return _drawn_to(otherwise, found)

    def with_more(self, more: Mapping[str, Iterable[Heard]]) -> Lengths:
        """With what was heard since."""
        merged = {model: list(answers) for model, answers in self.heard.items()}
        for model, answers in more.items():
            merged[model] = [*merged.get(model, ()), *answers][-_MOST:]
        return Lengths(merged, self.went)  # what is the last of them is another discussion's now

    def said(self, model: str, template: str, *, small: bool = False) -> float:
        """Tokens that this model usually answers to this template."""
        usual = (SMALL if small else USUAL.get(template, OTHERWISE)) * self._factor(model)
        return self.longer * _drawn_to(usual, self._answers(model, template, usual))

    def at_most(self, model: str, template: str, *, small: bool = False) -> float:
        """Tokens beyond which an answer of this model to this template is rare."""
        said = self.said(model, template, small=small)
        own = self._answers(model, template, said)
        if len(own) < _ENOUGH or self.longer > 1:
            return said * SPREAD
        ordered = sorted(own)
        return max(said * 1.25, ordered[min(len(ordered) - 1, round(len(ordered) * 0.9))] * 1.1)

    def cut_at(self, model: str) -> int:
        """Tokens after which the longest answer of this model in the discussion at hand was cut; 0
        where it has said as much and come to its end."""
        longest = self._longest_here(model)
        return longest.said if longest is not None and longest.cut else 0

    def is_lost_in_thought(self, model: str) -> bool:
        """Whether the longest answer of this model in the discussion at hand was cut before its
        first word: how long it would have thought nobody knows, and whatever is less than all that
        its task allows may be cut so again."""
        longest = self._longest_here(model)
        return longest is not None and longest.thought

    def may_be_lost_in_thought(self, model: str) -> bool:
        """The same; of a model that was not asked yet, by whether all others are."""
        if self.here.get(model):
            return self.is_lost_in_thought(model)
        return bool(self.here) and all(map(self.is_lost_in_thought, self.here))

    def _longest_here(self, model: str) -> Heard | None:
        here = [each for each in self.here.get(model, ()) if each.purpose != "declare"]
        return max(here, key=lambda each: (each.said, not each.cut), default=None)

    def again(self, model: str, purpose: str) -> float:
        """The share of its answers that are followed by a call of this purpose."""
        # What is usual weighs as much as a few answers, so that one slip is no habit.
        return _followed(self.heard.get(model, ()), purpose, AGAIN, _ENOUGH)

    def repairs(self, model: str, template: str, otherwise: float | None = None) -> float:
        """How often its answers to this template have to be set right, on average: by what it did
        there, what others did there, and, where that is little, by what it does elsewhere, or by
        `otherwise`. What one template demands says little about another."""
        guess = self.again(model, "repair") if otherwise is None else otherwise
        there = [e for answers in self.heard.values() for e in answers if e.template == template]
        own = [each for each in self.heard.get(model, ()) if each.template == template]
        return _followed(own, "repair", _followed(there, "repair", guess, 1), 1)

    def has_told(self, model: str) -> bool:
        """Whether its provider has told how it counts."""
        return any(each.read and each.likely_read for each in self.heard.get(model, ()))

    def unasked(self, model: str) -> int:
        """Tokens out that its provider billed for a call in the discussion at hand beside those
        that it was asked for: it will again."""
        return max((each.unasked for each in self._billed_here(model)), default=0)

    def unasked_at_most(self, model: str) -> int:
        """The same; of a model whose provider was not asked yet, the most of any other, if all that
        were asked bill so."""
        if self._billed_here(model):
            return self.unasked(model)
        each = [self.unasked(name) for name, heard in self.here.items() if heard]
        return max(each) if each and all(each) else 0

    def charged_times(self, model: str) -> float:
        """How many times the likely tokens in its provider billed in the discussion at hand, where
        that is beyond all counting; else 0."""
        return max((each.charged_times for each in self._billed_here(model)), default=0.0)

    def _billed_here(self, model: str) -> Sequence[Heard]:
        """Its own calls; of a model that was not asked yet those of others at its provider."""
        if own := self.here.get(model):
            return own
        place = model.partition("/")[0]
        others = (each for name, each in self.here.items() if name.partition("/")[0] == place)
        return [heard for each in others for heard in each]

    def counted(self, model: str) -> float:
        """How many tokens its provider counts for one that we estimate."""
        answers = [each for each in self.heard.get(model, ()) if each.read and each.likely_read]
        if own := _counts(self.here.get(model, ())):
            answers = answers[-len(own) :]
        billed = self.charged_times(model)
        if not answers:
            return max(1.0, billed)
        found = sum(each.read for each in answers) / sum(each.likely_read for each in answers)
        # Somebody who counts oddly, or only what is new, must not make it free or endless. What is
        # billed here is paid, however odd.
        return max(min(_TWICE, max(0.5, found)), billed)

    def heard_here(self, here: Mapping[str, Sequence[Heard]], took: Sequence[Took] = ()) -> Lengths:
        """With what was heard in the discussion at hand, which goes before all others for how its
        providers count, because most of what is read in it is the same material again and again,
        and for how long calls take, because a server that is slow now is slow for all."""
        known = replace(self.with_more(here), here=here)
        longer = max(1.0, median(known._longer_here() or [1.0]))
        if not took:
            return replace(known, longer=longer)
        slower, seconds = [], []
        for each in took:
            seconds.append(each.seconds * (LONGER if each.cut else 1.0))
            usual = _usual_seconds(each.said or known.said(each.model, each.template))
            slower.append(seconds[-1] / usual / self._times_as_long(each.model, each.template))
        return replace(
            known,
            slowness=median(slower),
            quickest=min(seconds),
            longest=max(seconds),
            longer=longer,
        )

    def ample(self) -> Lengths:
        """The same for an amount that is to be enough: with answers that are longer still."""
        return replace(self, longer=max(self.longer, AMPLE))

    def _longer_here(self) -> list[float]:
        """How many times as long as expected the answers of the discussion at hand are. One that
        was cut would have been longer; of one that was all thought, nobody knows anything."""
        return [
            each.said * (LONGER if each.cut else 1.0) / self.said(model, each.template)
            for model, answers in self.here.items()
            for each in answers
            if each.purpose != "declare" and not each.thought
        ]

    def caution(self, model: str) -> float:
        """By how much its provider may count more than we think: little once it has told how it
        counts in the discussion at hand."""
        ratios = _counts(self.here.get(model, ()))
        if not ratios:
            return CAUTION
        return min(CAUTION, max(CLOSE, max(ratios) / self.counted(model)))

    def counting(self, model: str) -> tuple[float, float]:
        """How much fewer or more tokens its provider may count than is likely."""
        return COUNTED if self.has_told(model) else UNCOUNTED

    def seconds(self, model: str, template: str, tokens: float) -> float:
        """How long it takes this model to say so much to this template: by how long it took in the
        discussion at hand, else by how long others took there and what was known of it before."""
        if model.startswith("scripted/"):
            return 0.05
        known = self._times_as_long(model, template) * self.slowness
        own = [_times_as_long(each) for each in self.here.get(model, ()) if each.seconds > 0]
        # How soon little is said nobody knows: not sooner than anything was here.
        return max(self.quickest, _usual_seconds(tokens) * _drawn_to(known, own))

    def _times_as_long(self, model: str, template: str) -> float:
        """How many times as long as is usual its calls took before the discussion at hand."""
        heard, here = self.heard.get(model, ()), len(self.here.get(model, ()))
        before = [each for each in heard[: len(heard) - here] if each.seconds > 0]
        there = [_times_as_long(each) for each in before if each.template == template]
        return _drawn_to(_drawn_to(1.0, [_times_as_long(each) for each in before]), there)

    def _answers(self, model: str, template: str, usual: float) -> list[int]:
        """How long its answers were; one that was cut tells nothing unless it was longer than is
        usual even so."""
        return [
            each.said
            for each in self.heard.get(model, ())
            if each.template == template
            and each.purpose != "declare"
            and not (each.cut and each.said < usual)
        ]

    def _factor(self, model: str) -> float:
        """How much more than usual it says: by all that was heard of it, and, where that is little,
        by what was heard of others, for they are asked the same."""
        everybody = [each for answers in self.heard.values() for each in answers]
        return _drawn_to(_drawn_to(1.0, _ratios(everybody)), _ratios(self.heard.get(model, ())))


def _ratios(answers: Iterable[Heard]) -> list[float]:
    found = (
        (each.said / USUAL.get(each.template, OTHERWISE), each.cut)
        for each in answers
        if each.purpose != "declare"
    )
    return [ratio for ratio, cut in found if not (cut and ratio < 1)]


def _usual_seconds(tokens: float) -> float:
    # Per answer and per token together: neither alone tells of short and long ones.
    return FIRST_WORD + tokens / PER_SECOND


def _times_as_long(each: Heard) -> float:
    return each.seconds / _usual_seconds(each.said)


def _followed(answers: Iterable[Heard], purpose: str, guess: float, weight: int) -> float:
    """How many calls of a purpose came for each answer, where a guess weighs as much as so many
    answers."""
    purposes = [each.purpose for each in answers if not each.forced]
    first = sum(1 for each in purposes if each in ("answer", "retry", "fallback"))
    return (purposes.count(purpose) + guess * weight) / (first + weight)


def _counts(answers: Iterable[Heard]) -> list[float]:
    return [each.read / each.likely_read for each in answers if each.read and each.likely_read]


def _drawn_to(guess: float, found: Sequence[float]) -> float:
    """What is found, the more of it the more, and the guess without any."""
    if not found:
        return guess
    weight = len(found) / (len(found) + 1)
    return weight * median(found) + (1 - weight) * guess


def likely_alone(said: float) -> tuple[float, float]:
    """Of a declaration alone that would usually be so long: the tokens that are set aside for it,
    for half of one is none, and those beyond which it is rare."""
    usual = max(said, DECLARED_AGAIN)
    return usual, usual * SPREAD


NOTHING_HEARD = Lengths()
