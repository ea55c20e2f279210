"""What the program needs to know of the council."""

from __future__ import annotations

from ...core.state import State
from ...views import council as views
from ..casting import WithCasting
from ..opening import OpenRequest
from ..spec import ProcedureSpec
from .options import CouncilFlags
from .procedure import BRIEF, Council
from .seating import seat


def clarifies(request: OpenRequest) -> str | None:
    """In the Captain's briefing, which is held anyway; not in a hurry."""
    return None if CouncilFlags.parse(request.options).quick else BRIEF


def compares(state: State) -> str:
    """Three answers, or six with what the Captain reads and writes between them."""
    return "~6-10x" if state.start.options.get("round2") else "~3x"


SPEC = ProcedureSpec(
    WithCasting(Council()),
    "Scholar, Engineer and Muse answer, cross-examine each other, and a Captain concludes",
    CouncilFlags,
    seat,
    views.delivery,
    views.outputs,
    clarifies=clarifies,
    compares=compares,
)
