"""A sitting: a custom procedure's own reading of a discussion's state."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from ...core.effects import Untrusted
from ...core.errors import NotAllowed
from ...core.events import BallotCast, Event, PointRaised, SpeechGiven, StanceTaken
from ...core.points import points_of
from ...core.state import State
from ...core.stopping import Stop
from ...core.text import clip, first_sentences
from ...core.values import OUTSIDE, Participant
from .course import Block, Step, course
from .model import FORMAT, Definition, Reading, parsed
from .results import Result, count_votes, first_choice, statistics
from .stops import fired
from .values import Read, read

DIGEST_SENTENCES, DIGEST_LENGTH = 3, 400


@dataclass(frozen=True, slots=True)
class End:
    """A repetition that a rule ended."""

    block: Block
    passes: int
    stop: Stop


@dataclass(frozen=True)
class Sitting:
    """What the rules of the procedure ask of the state."""

    state: State

    @cached_property
    def definition(self) -> Definition:
        """As it was when the discussion was opened: the file may have changed or gone."""
        options = self.state.start.options
        if options.get("format") != FORMAT:
            raise NotAllowed(
                f"{self.state.discussion_id} was opened by another version of Roundtable, whose "
                "procedures this one does not know.",
                "Go on with it in the version that opened it, or a newer one.",
            )
        return parsed(cast("dict[str, Any]", options["definition"]))

    @property
    def host(self) -> Participant:
        return self.state.start.host

    @property
    def host_speaks(self) -> bool:
        """A demonstration model cannot lead or conclude: code does it in its place."""
        return not self.host.speaker.demonstration

    @property
    def host_concludes(self) -> bool:
        return self.host_speaks and self.definition.verdict.by == "host"

    def speakers(self, step: Step) -> tuple[Participant, ...]:
        if step.stage.by_host:
            return (self.host,)
        who = step.stage.who
        return tuple(p for p in self.state.participants if who == "all" or p.id in who)

    # --- the course ----------------------------------------------------------------------------

    def steps(self, ends: list[End] | None = None) -> Iterator[Step]:
        """The steps in order. Each must be closed before the next one is asked for. Repetitions
        that a rule has ended by then are added to `ends`."""

        def ended(block: Block, last: tuple[Step, ...], before: tuple[Step, ...]) -> bool:
            stop = self._stop_after(block, last, before)
            if stop is not None and ends is not None:
                ends.append(End(block, last[0].number, stop))
            return stop is not None

        return course(self.definition, host_speaks=self.host_speaks, ended=ended)

    def opened(self, step: Step) -> bool:
        return step.key in self.state.stages

    def closed(self, step: Step) -> bool:
        stage = self.state.stages.get(step.key)
        return stage is not None and stage.closed is not None

    @cached_property
    def held(self) -> tuple[Step, ...]:
        """The steps that are over."""
        found: list[Step] = []
        for step in self.steps():
            if not self.closed(step):
                break
            found.append(step)
        return tuple(found)

    @property
    def rounds(self) -> int:
        """Rounds that were held."""
        return max((step.round for step in self.held), default=0)

    def _stop_after(
        self, block: Block, last: tuple[Step, ...], before: tuple[Step, ...]
    ) -> Stop | None:
        """Whether a repetition ends after this pass, and by which rule."""
        if block.until is None or not last or last[0].number < block.until.after:
            return None
        results = [r for step in last if (r := self.result(step)) is not None]
        seated = {step.key: len(self.speakers(step)) for step in last}
        return fired(
            block.until,
            results,
            speakers={r.stage: seated[r.stage, r.round] for r in results},
            words=self._words(last),
            words_before=self._words(before),
        )

    def _words(self, steps: Sequence[Step]) -> dict[str, str]:
        """What each participant said in these steps."""
        said: dict[str, str] = {}
        for step in steps:
            for speech in [] if step.stage.by_host else self.said_in(step):
                said[speech.participant] = f"{said.get(speech.participant, '')} {speech.text}"
        return said

    # --- what was said -------------------------------------------------------------------------

    def said_in(self, step: Step) -> list[SpeechGiven]:
        return self.state.spoken_in(*step.key)

    @property
    def last_words(self) -> list[SpeechGiven]:
        """Each participant's newest speech."""
        newest: dict[str, SpeechGiven] = {}
        for stage in self.state.stages.values():
            if stage.opened.round > 0:
                spoken = self.state.spoken_in(stage.opened.stage, stage.opened.round)
                newest.update({speech.participant: speech for speech in spoken})
        return [newest[p.id] for p in self.state.participants if p.id in newest]

    def meaningful(self, speech: SpeechGiven) -> bool:
        """Whether it may be counted: the words of a demonstration model may not."""
        if speech.model == OUTSIDE:
            return True
        seated = self.state.participant(speech.participant)
        refs = seated.speakers if seated else ()
        return not any(ref.demonstration for ref in refs if ref.model == speech.model)

    # --- what a speaker sees -------------------------------------------------------------------

    def seen(self, reading: Reading, reader: str, now: Step | None) -> tuple[Untrusted, ...]:
        """What this reader is shown of the discussion, in order, each piece with its source."""
        steps = [*self.held, *([now] if now is not None else [])]
        shown: list[Untrusted] = []
        summed_up: set[str] = set()
        for step in steps:
            speeches = [s for s in self.said_in(step) if self._may_see(reading, reader, step, s)]
            if step is now and now.stage.order == "parallel":
                speeches = []
            if reading.history == "summary" and not step.stage.by_host:
                summary = self._summary_after(step)
                if summary is not None and any(s.participant != reader for s in speeches):
                    if summary.turn_id not in summed_up:
                        summed_up.add(summary.turn_id)
                        source = f"the host, after round {summary.after_round}"
                        shown.append(Untrusted("summary", summary.text, source))
                    speeches = [s for s in speeches if s.participant == reader]
            if reading.anonymous:
                speeches = sorted(speeches, key=lambda s: self._lot(reader, s.participant))
            for speech in speeches:
                if speech.turn_id not in summed_up:
                    source = self._called(speech, reading, reader)
                    shown.append(Untrusted("speech", _cut(speech, reading.history), source))
        return tuple(shown)

    def _may_see(self, reading: Reading, reader: str, step: Step, speech: SpeechGiven) -> bool:
        over = step in self.held
        return any(
            (source == "own" and over and speech.participant == reader)
            or (source == "current" and not over)
            or (source == "previous" and over and step == self.held[-1])
            or source == "all"
            or (source == f"stage:{step.stage.name}" and over and step == self._last(step))
            for source in reading.sees
        )

    def _last(self, step: Step) -> Step:
        """The newest pass of the same stage."""
        return next(s for s in reversed(self.held) if s.stage.name == step.stage.name)

    def _summary_after(self, step: Step) -> SpeechGiven | None:
        """What the host said next after this step, before participants spoke again about it."""
        later = self.held[self.held.index(step) + 1 :] if step in self.held else ()
        for each in later:
            if each.stage.by_host and (speeches := self.said_in(each)):
                return speeches[0]
        return None

    def _called(self, speech: SpeechGiven, reading: Reading, reader: str) -> str:
        when = f"round {speech.round}" if speech.round else f"after round {speech.after_round}"
        if speech.participant == reader:
            return f"yourself, {when}"
        if speech.participant == self.host.id:
            return f"the host, {when}"
        if reading.anonymous:
            return f"Speaker {self.letters(reader)[speech.participant]}, {when}"
        seated = self.state.participant(speech.participant)
        name = seated.name if seated else speech.participant
        return f"{name}, {when}, turn {speech.turn_id}"

    def letters(self, reader: str) -> dict[str, str]:
        """The others under letters, drawn for this one reader from the recorded seed: it can
        follow somebody over the rounds, but not talk with others about who is who."""
        others = [p.id for p in self.state.participants if p.id != reader]
        drawn = sorted(others, key=lambda who: self._lot(reader, who))
        return {who: chr(ord("A") + place) for place, who in enumerate(drawn)}

    def _lot(self, reader: str, participant: str) -> str:
        drawn = f"{self.state.start.seed}/{reader}/{participant}"
        return hashlib.sha256(drawn.encode()).hexdigest()

    # --- what was counted ----------------------------------------------------------------------

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """The aggregates of all passes so far, in order."""
        return tuple(r for step in self.held if (r := self.result(step)) is not None)

    def result(self, step: Step) -> Result | None:
        counted = step.stage.counted
        kind = step.stage.aggregate
        if kind is None or counted is None:
            return None
        speeches = self.said_in(step)
        values = self.values(step)
        numbers = [value for value in values.values() if isinstance(value, float)]
        return Result(
            stage=step.stage.name,
            round=step.round,
            of=counted.name,
            kind=kind,
            values=values,
            missing=tuple(s.participant for s in speeches if s.participant not in values),
            enough=len(speeches) >= step.stage.min_survivors,
            statistics=statistics(numbers) if kind == "statistics" else None,
            tally=count_votes(values, counted) if kind.startswith("tally:") else None,
            points=points_of(self.state) if kind == "points" else None,
        )

    def values(self, step: Step) -> dict[str, Read]:
        """What could be read and may be counted, by participant."""
        counted = step.stage.counted
        found: dict[str, Read] = {}
        for speech in self.said_in(step) if counted is not None else []:
            if counted is not None and self.meaningful(speech):
                value = read(counted, speech.text, step.stage.sections)
                if value is not None:
                    found[speech.participant] = value
        return found

    def facts(self, step: Step, speeches: Sequence[SpeechGiven]) -> tuple[Event, ...]:
        """What the speeches of a step amount to, to be recorded when it closes."""
        if step.stage.aggregate is None:
            return ()
        if step.stage.aggregate == "points":
            return tuple(self._points(step, speeches))
        values = self.values(step)
        ranked = step.stage.aggregate.startswith("tally:")
        return tuple(
            BallotCast(
                turn_id=speech.turn_id,
                participant=speech.participant,
                round=speech.round,
                position=first_choice(value),
                ranking=tuple((o,) for o in (value if isinstance(value, tuple) else (str(value),)))
                if ranked
                else (),
            )
            for speech in speeches
            if (value := values.get(speech.participant)) is not None
        )

    def _points(self, step: Step, speeches: Sequence[SpeechGiven]) -> Iterator[Event]:
        """Each item is a point, and whoever lists it holds it. Points of the same wording are
        one, and one that denies another counts against it."""
        number = len(self.state.points)
        values = self.values(step)
        for speech in speeches:
            items = values.get(speech.participant, ())
            for item in items if isinstance(items, tuple) else ():
                number += 1
                yield PointRaised(
                    point_id=f"p{number}", text=item, turn_id=speech.turn_id, round=speech.round
                )
                yield StanceTaken(
                    participant=speech.participant,
                    point_id=f"p{number}",
                    position="agree",
                    turn_id=speech.turn_id,
                    round=speech.round,
                )


def essence(speech: SpeechGiven) -> str:
    """The words of a speech without its headings."""
    return "\n".join(body for body in speech.sections.values() if body) or speech.text


def digest(speech: SpeechGiven) -> str:
    return first_sentences(essence(speech), DIGEST_SENTENCES, DIGEST_LENGTH)


def _cut(speech: SpeechGiven, history: str) -> str:
    if history.startswith("chars:"):
        return clip(speech.text, int(history.removeprefix("chars:")))
    return speech.text if history == "full" else digest(speech)
