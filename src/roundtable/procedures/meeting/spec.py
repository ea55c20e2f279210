"""What the program needs to know of the meeting."""

from __future__ import annotations

from ...views import meeting as views
from ...views.meeting_status import progress
from ..casting import WithCasting
from ..spec import ProcedureSpec
from .conclusion import outputs
from .options import MeetingOptions
from .procedure import Meeting, declares_later
from .rosters import casting_request
from .seating import seat

SPEC = ProcedureSpec(
    WithCasting(Meeting()),
    "Participants with roles speak in turn, hearing each other; a coordinator concludes",
    MeetingOptions,
    seat,
    views.delivery,
    outputs,
    casting_request=casting_request,
    moderation=True,
    extends=True,
    progress=progress,
    declares_later=declares_later,
)
