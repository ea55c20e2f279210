"""What the program needs to know of the meeting."""

from __future__ import annotations

from ...views import meeting as views
from ...views.meeting_status import progress
from ..kit import Kit
from .procedure import Meeting
from .rosters import wish
from .seating import seat

KIT = Kit(
    Meeting(),
    "Participants with roles speak in turn, hearing each other; a coordinator concludes",
    (
        "roster",
        "max_rounds",
        "speech_order",
        "summaries",
        "minutes",
        "format",
        "output_path",
        "quick",
        "join",
    ),
    seat,
    views.meeting_estimate,
    views.delivery,
    views.outputs,
    wish=wish,
    by_hand=True,
    extends=True,
    progress=progress,
)
