"""Checking a definition: every error names the file, the key and what is expected there."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from ...core.errors import BadSetting
from ...prompts import load
from ...prompts.own import BadTemplate, variables_of
from .definition_errors import definition_error
from .model import KINDS, Asking, Definition, Stage, parsed
from .schedule import Block, blocks

MOST_TURNS = 500
RESERVED_SEATS = ("host", "coordinator")
RESERVED_STAGES = ("verdict", "remark", "clerk", "ballot", "ballot-again", "casting")
GIVEN = (
    "question",
    "context",
    "remarks",
    "today",
    "name",
    "perspective",
    "round",
    "pass_number",
    "passes",
)
"""The variables that every prompt may use; `seen` and `results` are there for who sees some."""
_SEEN = ("seen", "results")
FRAME = "custom/turn"
"""The template that stands around every prompt, with variables of its own."""

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "spread_below": ("statistics",),
    "agreement": ("tally:…", "decision"),
    "unanimous": ("tally:…", "decision"),
    "consensus": ("decision", "tally:…"),
    "majority": ("decision", "tally:…"),
    "convergence_score": ("points",),
}
_WITHOUT_LIMIT = ("unanimous", "consensus", "majority")


def define(data: Mapping[str, Any], where: str) -> Definition:
    """The definition that a file holds. BadSetting or UnknownName names the place and the key."""
    try:
        definition = parsed(data)
    except TypeError:
        raise BadSetting(where, "the file", "texts, numbers, lists and tables; no dates") from None
    except ValidationError as error:
        raise definition_error(error.errors(include_url=False), data, where) from None
    _Check(definition, where).all()
    return definition


class _Check:
    def __init__(self, definition: Definition, where: str) -> None:
        self.definition = definition
        self.where = where
        self.names = [stage.name for stage in definition.stages]
        self.loops: Mapping[str, Block] = {}

    def refuse(self, key: str, expected: str) -> None:
        raise BadSetting(self.where, key, expected)

    def all(self) -> None:
        self._seats()
        self._order()
        # Only now: stages that are out of order cannot be laid out.
        self.loops = {s.name: b for b in blocks(self.definition) for s in b.stages}
        for stage in self.definition.stages:
            self._speakers(stage)
            self._sight(f"stages.{stage.name}", stage, self.names.index(stage.name))
            self._extracts(stage)
            self._aggregate(stage)
            self._until(stage)
            self._words(f"stages.{stage.name}", stage)
        self._verdict()
        turns = sum(
            (1 if stage.by_host else self.definition.seats) * block.repeat
            for block in blocks(self.definition)
            for stage in block.stages
        )
        if turns > MOST_TURNS:
            self.refuse("stages", f"at most {MOST_TURNS} turns in all; these make {turns}")

    def _seats(self) -> None:
        definition = self.definition
        if bool(definition.participants) == (definition.panel is not None):
            self.refuse("participants", "either [[participants]] or [panel], and not both")
        ids = [seat.id for seat in definition.participants]
        for seat in definition.participants:
            if ids.count(seat.id) > 1 or seat.id in RESERVED_SEATS:
                self.refuse(f"participants.{seat.id}.id", f"an id of its own, {seat.id} is taken")
            if seat.name is None and seat.expert is None:
                self.refuse(f"participants.{seat.id}.name", "a name, or an expert of the library")
        panel = definition.panel
        if panel is not None and len(panel.include) > panel.count:
            self.refuse("panel.count", f"at least the {len(panel.include)} that are included")
        given = {*GIVEN, *_SEEN, *load(FRAME).variables}
        if taken := next((name for name in definition.variables if name in given), None):
            self.refuse(f"variables.{taken}", f"a name of its own, {taken} is a given variable")

    def _order(self) -> None:
        for place, stage in enumerate(self.definition.stages):
            key = f"stages.{stage.name}"
            if self.names.count(stage.name) > 1 or stage.name in RESERVED_STAGES:
                self.refuse(f"{key}.name", f"a name of its own, {stage.name} is taken")
            if stage.repeat == 1 and stage.until is not None:
                self.refuse(f"{key}.until", "repeat above 1 beside it, or no until")
            if stage.repeat_from is None:
                continue
            if stage.repeat == 1:
                self.refuse(f"{key}.repeat_from", "repeat above 1 beside it, or no repeat_from")
            if stage.repeat_from not in self.names[: place + 1]:
                self.refuse(f"{key}.repeat_from", "the name of this stage or of an earlier one")
            first = self.names.index(stage.repeat_from)
            inner = self.definition.stages[first:place]
            ends = self.definition.stages[place + 1 :]
            if any(s.repeat > 1 for s in inner) or any(
                s.repeat_from in self.names[: place + 1] for s in ends if s.repeat_from
            ):
                self.refuse(f"{key}.repeat_from", "repetitions that do not overlap")

    def _speakers(self, stage: Stage) -> None:
        key = f"stages.{stage.name}"
        count = 1 if stage.by_host else self.definition.seats
        if isinstance(stage.who, tuple):
            known = [seat.id for seat in self.definition.participants]
            if not known:
                self.refuse(f"{key}.who", "all or host: who sits on a panel is not known before")
            wrong = next((who for who in stage.who if who not in known), None)
            if wrong is not None or not stage.who:
                self.refuse(f"{key}.who", f"all, host, or some of {', '.join(known)}")
            if len(set(stage.who)) < len(stage.who):
                self.refuse(f"{key}.who", "each id once")
            count = len(stage.who)
        if stage.min_survivors > count:
            self.refuse(f"{key}.min_survivors", f"at most {count}, who speak in this stage")
        if stage.by_host and (stage.extract or stage.aggregate):
            self.refuse(f"{key}.extract", "nothing: the host takes no position and has no vote")

    def _sight(self, key: str, reading: Asking, place: int) -> None:
        before = self.names[:place]
        loop = self.loops.get(self.names[place]) if place < len(self.names) else None
        again = [s.name for s in loop.stages] if loop is not None and loop.repeat > 1 else []
        visible = {*before, *again}
        for source in reading.sees:
            name = source.removeprefix("stage:")
            if name != source and name not in visible:
                later = f"; {name} comes later" if name in self.names else ""
                earlier = ", ".join(f"stage:{each}" for each in self.names if each in visible)
                self.refuse(
                    f"{key}.sees", f"an earlier stage ({earlier or 'there is none'}){later}"
                )
            if source == "previous" and not visible:
                self.refuse(f"{key}.sees", "none: nothing comes before the first stage")
            if source == "current" and not self._in_turn(reading):
                self.refuse(
                    f"{key}.sees",
                    'order = "sequential" beside current: who speaks side by side sees nobody',
                )
            if source == "none" and len(reading.sees) > 1:
                self.refuse(f"{key}.sees", "none alone")
            if source == "results" and not any(
                stage.aggregate for stage in self.definition.stages if stage.name in visible
            ):
                self.refuse(f"{key}.sees", "an earlier stage with an aggregate, for its results")
        hosts = [s for s in self.definition.stages if s.by_host and s.name in visible]
        if reading.history == "summary" and not hosts:
            self.refuse(f"{key}.history", 'an earlier stage with who = "host" that sums up')

    def _in_turn(self, reading: Asking) -> bool:
        return isinstance(reading, Stage) and reading.order == "sequential"

    def _extracts(self, stage: Stage) -> None:
        for each in stage.extract:
            key = f"stages.{stage.name}.extract.{each.name}"
            if [e.name for e in stage.extract].count(each.name) > 1:
                self.refuse(f"{key}.name", f"a name of its own, {each.name} is taken")
            if each.section is not None and each.line is not None:
                self.refuse(f"{key}.section", "either section or line, or neither")
            if each.section is not None and each.section not in stage.sections:
                listed = ", ".join(stage.sections) or "there are none"
                self.refuse(f"{key}.section", f"one of the stage's sections ({listed})")
            if each.kind == "choice" and len(each.choices) < 2:
                self.refuse(f"{key}.choices", "at least two choices")
            if each.kind == "number" and each.choices:
                self.refuse(f"{key}.choices", "nothing beside a number; use min and max")
            if len({c.casefold() for c in each.choices}) < len(each.choices):
                self.refuse(f"{key}.choices", "each choice once")
            if each.kind != "number" and (each.min is not None or each.max is not None):
                self.refuse(f"{key}.min", 'kind = "number" beside min and max')
            if each.min is not None and each.max is not None and each.min > each.max:
                self.refuse(f"{key}.max", f"at least min, {each.min:g}")

    def _aggregate(self, stage: Stage) -> None:
        key = f"stages.{stage.name}"
        if stage.aggregate is None:
            if stage.of is not None:
                self.refuse(f"{key}.of", "an aggregate beside it")
            return
        if stage.decides:
            if self.definition.ballots:
                self.refuse(
                    f"{key}.aggregate",
                    "a decision on the question or tallies of choices, not both",
                )
            if stage.of is not None:
                self.refuse(f"{key}.of", "nothing beside a decision: it is about the question")
            return
        kinds = " or ".join(KINDS[stage.aggregate.partition(":")[0]])
        fitting = [each.name for each in stage.fitting]
        if not fitting:
            self.refuse(f"{key}.aggregate", f"an extract of the kind {kinds} to make it of")
        if stage.of is not None and stage.of not in fitting:
            self.refuse(f"{key}.of", f"one of {', '.join(fitting)}")
        if stage.of is None and len(fitting) > 1:
            self.refuse(f"{key}.of", f"which one is meant: {', '.join(fitting)}")

    def _until(self, stage: Stage) -> None:
        if stage.until is None:
            return
        key = f"stages.{stage.name}.until"
        if bool(stage.until.any) == bool(stage.until.all):
            self.refuse(key, "either any or all, a list of rules")
        loop = self.loops[stage.name]
        made = {(s.aggregate or "").partition(":")[0] for s in loop.stages}
        for rule in (*stage.until.any, *stage.until.all):
            needs = _NEEDS.get(rule.rule, ())
            if needs and not made & {each.partition(":")[0] for each in needs}:
                wanted = " or ".join(f'"{each}"' for each in needs)
                self.refuse(f"{key}.{rule.rule}", f"aggregate = {wanted} in what is repeated")
            if rule.rule in ("consensus", "majority") and not any(
                s.decides or s.ballot for s in loop.stages
            ):
                self.refuse(f"{key}.{rule.rule}", "choices beside the tally, or a decision")
            if rule.rule == "spread_below" and rule.limit is None:
                self.refuse(
                    f"{key}.{rule.rule}.limit", "the spread below which it ends, such as 0.1"
                )
            if rule.rule in _WITHOUT_LIMIT and rule.limit is not None:
                self.refuse(f"{key}.{rule.rule}.limit", f"nothing: {rule.rule} is {rule.rule}")
            if rule.rule not in ("spread_below", *_WITHOUT_LIMIT) and (rule.limit or 0) >= 1:
                self.refuse(f"{key}.{rule.rule}.limit", "a share below 1, such as 0.8")

    def _words(self, key: str, asking: Asking) -> None:
        if asking.max_words is not None and asking.min_words > asking.max_words:
            self.refuse(f"{key}.max_words", f"at least min_words, {asking.min_words}")
        if len({s.casefold() for s in asking.sections}) < len(asking.sections):
            self.refuse(f"{key}.sections", "each heading once")
        if not asking.prompt.strip():
            self.refuse(f"{key}.prompt", "the task in words")
        try:
            used = variables_of(asking.prompt)
        except BadTemplate as error:
            self.refuse(f"{key}.prompt", str(error))
        hidden = {
            name
            for name, there in zip(_SEEN, (asking.sees_speeches, asking.sees_results), strict=True)
            if not there
        }
        if name := next((each for each in sorted(used) if each in hidden), None):
            wanted = "results" if name == "results" else "something"
            self.refuse(f"{key}.prompt", f"sees = {wanted} beside it, or no {{{{ {name} }}}}")
        known = [*GIVEN, *_SEEN, *self.definition.variables]
        if unknown := next((each for each in sorted(used) if each not in known), None):
            near = get_close_matches(unknown, known, n=1, cutoff=0.6)
            hint = f" (did you mean {near[0]}?)" if near else ""
            self.refuse(
                f"{key}.prompt",
                f"known variables, and {unknown} is none{hint}; there are {', '.join(known)}",
            )

    def _verdict(self) -> None:
        verdict = self.definition.verdict
        made = [stage.name for stage in self.definition.stages if stage.aggregate]
        if verdict.of is not None and verdict.of not in made:
            listed = ", ".join(made) or "there is none"
            self.refuse("verdict.of", f"a stage with an aggregate ({listed})")
        if verdict.by == "aggregate" and not made:
            self.refuse("verdict.by", "host or extract, as no stage has an aggregate")
        if verdict.by != "host":
            if verdict.prompt:
                self.refuse("verdict.prompt", 'by = "host" beside it')
            return
        if verdict.sees == ("all", "results") and not made:
            verdict = verdict.model_copy(update={"sees": ("all",)})
        self._sight("verdict", verdict, len(self.names))
        if verdict.prompt:
            self._words("verdict", verdict)
