"""The table of a custom procedure: what its rules ask of a discussion's state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from ...core.declaration import Decision
from ...core.declaration_form import Form
from ...core.errors import NotAllowed
from ...core.events import DecisionsTabled, SpeechGiven
from ...core.record import Record, record_before
from ...core.standing import DecisionStanding, speeches_of, standing
from ...core.state import State
from ...core.stopping import Stop
from ...core.text import clip, first_sentences
from ...core.values import Participant
from ...core.voter_groups import weights_of
from ..clerk import LONGEST_QUESTION
from ..closing import CLOSING, ONCE_MORE
from ..spec import PREFIX
from ..table import Table
from .model import FORMAT, Definition, Reading, parsed
from .results import Result, count_votes, statistics
from .schedule import Block, Step, schedule
from .stops import fired
from .values import Read, completed, decision_of, keys_of, peers_by_name, tabled_by_file

DIGEST_SENTENCES, DIGEST_LENGTH = 3, 400


@dataclass(frozen=True, slots=True)
class End:
    """A repetition that a rule ended."""

    block: Block
    passes: int
    stop: Stop


def table_of(state: State) -> CustomTable:
    return CustomTable(state, state.start.procedure.removeprefix(PREFIX))


@dataclass(frozen=True)
class CustomTable(Table):
    """A table that follows a definition."""

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
    def host_concludes(self) -> bool:
        return self.host_writes and self.definition.verdict.by == "host"

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

        return schedule(self.definition, host_speaks=self.host_writes, ended=ended)

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
    def newest(self) -> list[SpeechGiven]:
        """Each participant's newest speech; a ballot is none."""
        stages = [s.opened for s in self.state.stages.values() if s.opened.round > 0]
        ballots = (CLOSING, ONCE_MORE)
        return self.last_words(*((s.stage, s.round) for s in stages if s.stage not in ballots))

    # --- what was counted ----------------------------------------------------------------------

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """The aggregates of all passes so far, in order."""
        return tuple(r for step in self.held if (r := self.result(step)) is not None)

    def result(self, step: Step) -> Result | None:
        stage = step.stage
        if stage.aggregate is None:
            return None
        counted = stage.counted
        speeches = self.said_in(step)
        values = self.values(step)
        record = record_before(self.state, step.round + 1)
        decision = decision_of(stage, record)
        numbers = [value for value in values.values() if isinstance(value, float)]
        if not (decision and any(s.declaration.vote(decision.id) for s in record.statements)):
            decision = None  # The clerk listed it only after this pass.
        uncounted = tuple(s.participant for s in speeches if s.participant not in values)
        return Result(
            stage=stage.name,
            round=step.round,
            of=counted.name if counted else "the question",
            kind=stage.aggregate,
            values=values,
            missing=() if stage.decides and decision is None else uncounted,
            enough=len(speeches) >= stage.min_survivors,
            statistics=statistics(numbers) if stage.aggregate == "statistics" else None,
            tally=count_votes(values, counted)
            if stage.aggregate.startswith("tally:") and counted is not None
            else None,
            points=record.points if stage.aggregate == "points" else None,
            standing=self._standing(record, decision) if decision is not None else None,
        )

    def _standing(self, record: Record, decision: Decision) -> DecisionStanding | None:
        whole = standing(record, speeches_of(self.state), weights_of(self.state))
        return next((each for each in whole.decisions if each.decision.id == decision.id), None)

    def values(self, step: Step) -> dict[str, Read]:
        """What was declared in this pass and is counted, by participant."""
        stage, counted = step.stage, step.stage.counted
        record = record_before(self.state, step.round + 1)
        decision = decision_of(stage, record)
        found: dict[str, Read] = {}
        for speech in self.said_in(step):
            declared, name = speech.declaration, speech.participant
            if declared is None or declared.abstain is not None or name in record.demonstration:
                continue
            if decision is not None:
                # Its vote as a ballot at the end of the round may have corrected it.
                cast = record.vote(decision, name).vote
                ranking = tuple(decision.text_of(o) for o in cast.ranking) if cast else ()
                if ranking and cast is not None and cast.choice in decision.option_ids:
                    ranked = counted is not None and counted.kind == "list"
                    found[name] = ranking if ranked else ranking[0]
            elif stage.raised is not None:
                found[name] = declared.new_points
            elif counted is not None and counted.name in declared.values:
                found[name] = declared.values[counted.name]
        return found

    # --- what is asked -------------------------------------------------------------------------

    def form_of(self, step: Step, speaker: Participant, *, anonymous: bool) -> Form | None:
        """What a speech of this step declares; None if nothing."""
        stage = step.stage
        hears = hears_others(stage)
        record = self.record if stage.order == "sequential" else self._before(step)
        decision = decision_of(stage, record)
        keys = () if stage.by_host else keys_of(stage, hears=hears, options=decision is not None)
        if not keys:
            return None
        round_ = None if stage.order == "sequential" else step.round
        form = self.form(speaker, keys, round_=round_)
        peers = None if anonymous else peers_by_name(self.seats, speaker.id)
        return completed(form, stage, decision, peers)

    def _before(self, step: Step) -> Record:
        return record_before(self.state, step.round)

    def independent(self, step: Step, speaker: Participant) -> bool:
        """Whether a speaker knows nothing of the others, neither now nor from before."""
        mine = [each for each in self.held if speaker in self.speakers(each)]
        return all(
            source in ("none", "own") for each in (*mine, step) for source in each.stage.sees
        )

    @property
    def tabled_by_file(self) -> DecisionsTabled | None:
        return tabled_by_file(self.definition, clip(self.state.start.topic, LONGEST_QUESTION))


def hears_others(stage: Reading) -> bool:
    """Whether a stage shows its speakers anything that others said."""
    return any(source not in ("none", "own", "results") for source in stage.sees)


def essence(speech: SpeechGiven) -> str:
    """The words of a speech without its headings."""
    return "\n".join(body for body in speech.sections.values() if body) or speech.text


def digest(speech: SpeechGiven) -> str:
    return first_sentences(essence(speech), DIGEST_SENTENCES, DIGEST_LENGTH)
