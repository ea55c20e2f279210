"""The course of a procedure: stages and repetitions, laid out as steps with their rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .model import Definition, Stage, Until


@dataclass(frozen=True, slots=True)
class Block:
    """Stages that are held together, once or several times."""

    stages: tuple[Stage, ...]
    repeat: int = 1
    until: Until | None = None

    @property
    def name(self) -> str:
        return self.stages[-1].name


@dataclass(frozen=True, slots=True)
class Step:
    """One pass of a stage. A pass of participants is a round; the host speaks after one."""

    stage: Stage
    number: int
    """Which pass it is, from 1 on."""
    passes: int
    """How many there are at most."""
    round: int
    """0 for the host."""
    after_round: int

    @property
    def name(self) -> str:
        """The stage as events know it. Passes of participants are told apart by their round, those
        of the host, all in round 0, by a number that no stage's own name can end with."""
        if self.stage.by_host and self.passes > 1:
            return f"{self.stage.name}.{self.number}"
        return self.stage.name

    @property
    def key(self) -> tuple[str, int]:
        return self.name, self.round


Ended = Callable[[Block, tuple[Step, ...], tuple[Step, ...]], bool]
"""Whether a block ends after these steps, its last pass; the other ones are the pass before."""


def blocks(definition: Definition) -> tuple[Block, ...]:
    """The stages in order, those that are repeated together as one."""
    found: list[Block] = []
    for stage in definition.stages:
        inner: list[Stage] = [stage]
        if stage.repeat_from not in (None, stage.name):
            while inner[0].name != stage.repeat_from:
                inner[:0] = found.pop().stages
        found.append(Block(tuple(inner), stage.repeat, stage.until))
    return tuple(found)


def schedule(definition: Definition, *, host_speaks: bool, ended: Ended) -> Iterator[Step]:
    """The steps, one after the other. `ended` is asked after each pass of a repetition, so
    whoever goes on to the next step must have held all before it."""
    round_ = 0
    for block in blocks(definition):
        before: tuple[Step, ...] = ()
        for number in range(1, block.repeat + 1):
            steps: list[Step] = []
            for stage in block.stages:
                if stage.by_host and not host_speaks:
                    continue
                if not stage.by_host:
                    round_ += 1
                step = Step(stage, number, block.repeat, 0 if stage.by_host else round_, round_)
                steps.append(step)
                yield step
            if ended(block, tuple(steps), before):
                break
            before = tuple(steps)
