"""The rules of a meeting, told to whoever opens it: how it ends, and who is waited for."""

from __future__ import annotations

from ...core.state import State
from ...core.values import OUTSIDE
from ...procedures.meeting.meeting_table import MeetingTable
from ...views.driving import runs_by_itself
from .status import SIDE_BY_SIDE


def rules_told(state: State) -> str:
    """In a few sentences, from what the meeting was opened with."""
    table = MeetingTable(state, "meeting", open_names=True)
    rounds = "1 round" if table.max_rounds == 1 else f"{table.max_rounds} rounds"
    told = [f"At most {rounds}."]
    if table.ends_early:
        told.append(
            "It ends sooner when all declare the same answer and more than four fifths of the "
            "points are agreed."
        )
    else:
        told.append("Agreement does not end it sooner; a vote of all seats does, and end.")
    if table.parallel:
        told.append(SIDE_BY_SIDE)
    if table.rounds_wait:
        told.append("Each further round waits for your summary.")
    if table.led_from_outside:
        minutes = table.conclusion_seconds / 60
        told.append(
            f"After the last round it waits for your end; after {minutes:g} minutes of silence the "
            "program concludes."
        )
    if any(seat.speaker.model == OUTSIDE for seat in state.participants):
        told.append(
            f"A seat from outside has {table.patience:g} s for its turn."
            if runs_by_itself(state)
            else "Seats are not timed: skip or advance goes on without one."
        )
    return " ".join(told)
