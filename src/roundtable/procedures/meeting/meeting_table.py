"""The meeting's table: what its rules ask of the state beside what every table knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.events import SpeechGiven
from ...core.text import slug
from ...core.values import Participant
from ...views.meeting_status import (
    DISCUSSION,
    SUMMARY,
    called,
    max_rounds,
    speaks_from_outside,
)
from ..table import Table
from .options import CONCLUSION_SECONDS


@dataclass(frozen=True)
class MeetingTable(Table):
    """A meeting as its rules see it."""

    @property
    def host_writes(self) -> bool:
        """A demonstration model cannot sum up, and a chair from outside does so when it likes:
        in both cases code makes what the rules need."""
        return super().host_writes and not speaks_from_outside(self.host)

    @property
    def max_rounds(self) -> int:
        return max_rounds(self.state)

    @property
    def parallel(self) -> bool:
        return self.option("speech_order") == "parallel"

    @property
    def sums_up(self) -> bool:
        return self.host_writes and bool(self.option("summaries"))

    @property
    def led_from_outside(self) -> bool:
        """Whether somebody else coordinates: the table waits for its words, and ends with them."""
        return speaks_from_outside(self.host)

    @property
    def ends_early(self) -> bool:
        """Whether agreement ends it before its last round. Meetings of earlier versions, which
        could not be asked, did."""
        return self.option("early_end") is not False

    @property
    def rounds_wait(self) -> bool:
        return self.led_from_outside and bool(self.option("rounds_wait"))

    @property
    def conclusion_seconds(self) -> float:
        value = self.option("conclusion_seconds")
        return float(value) if isinstance(value, int | float) else CONCLUSION_SECONDS

    @property
    def decides(self) -> bool:
        """Whether the conclusion has the form of a buildable decision."""
        return self.option("format") == "decision"

    @property
    def turn_seconds(self) -> float:
        value = self.option("turn_seconds")
        return float(value) if isinstance(value, int | float) else 180.0

    @property
    def patience(self) -> float:
        value = self.option("patience")
        return float(value) if isinstance(value, int | float) else self.turn_seconds

    @property
    def speeches(self) -> Sequence[SpeechGiven]:
        """What participants said, in order."""
        return self.state.said.of(DISCUSSION)

    @property
    def speakers(self) -> set[str]:
        return {speech.participant for speech in self.speeches}

    def summary_of(self, round_: int) -> SpeechGiven | None:
        """The host's summary of a round, if it gave one."""
        return next(iter(self.state.spoken_in(f"{SUMMARY}-{round_}", 0)), None)

    def summed_up(self, round_: int) -> bool:
        """Whether the host's turn after a round is over, with or without a summary."""
        stage = self.state.stages.get((f"{SUMMARY}-{round_}", 0))
        return stage is not None and stage.closed is not None

    def doubled(self, seat: Participant) -> bool:
        """Whether a seat's name only says its role again, as in the ready rosters."""
        return slug(seat.name, 200) == slug(seat.role, 200)

    def shown(self, seat: Participant) -> str:
        """The name by which prompts call a seat."""
        return seat.role if self.doubled(seat) else seat.name

    def peers(self, reader: str, *, reverse: bool = False) -> dict[str, str]:
        known = super().peers(reader, reverse=reverse)
        names = {self.shown(each): each.id for each in self.seats if each.id in known.values()}
        return names if len(names) == len(known) else known

    def called(self, participant: str) -> str:
        """`Role(Name)`, as the minutes call everybody; in a prompt nothing is said twice."""
        seated = self.state.participant(participant)
        return self._called(seated) if seated else participant

    def everybody(self, *, but: Participant | None = None) -> str:
        return ", ".join(self._called(p) for p in self.seats if p != but)

    def _called(self, seat: Participant) -> str:
        return seat.role if self.doubled(seat) else called(seat)
