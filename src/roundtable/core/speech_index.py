"""What was said, by where to find it: so that nobody looks through a long discussion for a few of
its speeches, or counts it through for every event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .events import SpeechGiven
from .grown import GrownValues
from .shared import Layered, Trail

REMARK = "remark"
"""The stage of what the chair says in between."""


@dataclass(slots=True)
class SpeechIndex:
    """The speeches of a state by stage, by whether a seat gave them, and by the caller's key."""

    host: str = ""
    of_seats: Trail[SpeechGiven] = field(default_factory=Trail)
    """What anybody but the host said, in order."""
    in_rounds: Trail[SpeechGiven] = field(default_factory=Trail)
    """What was said in the rounds of the participants, in order."""
    with_works: Trail[SpeechGiven] = field(default_factory=Trail)
    """What brought a deliverable."""
    _stages: dict[str, Trail[SpeechGiven]] = field(default_factory=dict)
    _runs: dict[str, Trail[tuple[int, int]]] = field(default_factory=dict)
    """By stage, where the speeches after another round begin: the round, and the place."""
    _last: dict[str, int] = field(default_factory=dict)
    _count: int = 0
    _characters: dict[str, int] = field(default_factory=dict)
    _models: dict[str, dict[str, None]] = field(default_factory=dict)
    _last_model: dict[str, str] = field(default_factory=dict)
    _keyed: Layered[tuple[str, str], SpeechGiven] = field(default_factory=Layered)
    last_round: int = 0
    grown: GrownValues = field(default_factory=GrownValues, compare=False, repr=False)
    """What was made of each speech."""

    def add(self, speech: SpeechGiven) -> None:
        stage = speech.stage
        if stage not in self._stages:
            self._stages[stage], self._runs[stage] = Trail(), Trail()
        said, runs = self._stages[stage], self._runs[stage]
        if not runs or runs[-1][0] != speech.after_round:
            runs.append((speech.after_round, len(said)))
        said.append(speech)
        self._characters[stage] = self._characters.get(stage, 0) + len(speech.text)
        if speech.text:
            self._last[speech.participant] = self._count
        self._count += 1
        if stage != REMARK:
            self._models.setdefault(speech.participant, {})[speech.model] = None
            self._last_model[speech.participant] = speech.model
        self.last_round = max(self.last_round, speech.round)
        if speech.participant != self.host:
            self.of_seats.append(speech)
        if speech.round > 0:
            self.in_rounds.append(speech)
        if speech.deliverables:
            self.with_works.append(speech)
        if speech.key:
            self._keyed.setdefault((speech.participant, speech.key), speech)

    def of(self, stage: str) -> Sequence[SpeechGiven]:
        """What was said in a stage of this name, in all rounds."""
        return self._stages.get(stage, ())

    def runs(self, stage: str) -> list[tuple[int, int, int]]:
        """Where in what the host said in a stage of this name the words after one round begin and
        end: the round, and both places. One round may have several."""
        runs = self._runs.get(stage, ())
        ends = [*(place for _, place in runs[1:]), len(self.of(stage))]
        return [(round_, begin, end) for (round_, begin), end in zip(runs, ends, strict=False)]

    def models(self, participant: str) -> tuple[str, ...]:
        """The models that spoke for somebody in its turns, each once, the first first."""
        return tuple(self._models.get(participant, ()))

    def last_model(self, participant: str) -> str:
        """The model that spoke for somebody last; empty if it never spoke."""
        return self._last_model.get(participant, "")

    def last_place(self, participant: str) -> int | None:
        """Which of all speeches is somebody's last with words, counted from 0."""
        return self._last.get(participant)

    def characters(self, stage: str) -> int:
        """How much was said in a stage of this name."""
        return self._characters.get(stage, 0)

    def keyed(self, participant: str, key: str) -> SpeechGiven | None:
        """The first speech of a participant that came with this key."""
        return self._keyed.get((participant, key))

    def anew(self, speeches: Iterable[SpeechGiven]) -> SpeechIndex:
        """The index of the same table with other speeches."""
        found = SpeechIndex(self.host)
        for each in speeches:
            found.add(each)
        return found

    def copy(self) -> SpeechIndex:
        return SpeechIndex(
            self.host,
            self.of_seats.copy(),
            self.in_rounds.copy(),
            self.with_works.copy(),
            {stage: said.copy() for stage, said in self._stages.items()},
            {stage: runs.copy() for stage, runs in self._runs.items()},
            self._last.copy(),
            self._count,
            self._characters.copy(),
            {who: models.copy() for who, models in self._models.items()},
            self._last_model.copy(),
            self._keyed.copy(),
            self.last_round,
            self.grown.copy(),
        )
