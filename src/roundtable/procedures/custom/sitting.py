"""A sitting: a custom procedure's own reading of a discussion's state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from ...core.errors import NotAllowed
from ...core.events import BallotCast, Event, PointRaised, SpeechGiven, StanceTaken
from ...core.points import points_of
from ...core.state import State
from ...core.stopping import Stop
from ...core.text import first_sentences
from ...core.values import OUTSIDE, Participant
from .model import FORMAT, Definition, parsed
from .results import Result, count_votes, first_choice, statistics
from .schedule import Block, Step, schedule
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

        return schedule(self.definition, host_speaks=self.host_speaks, ended=ended)

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
