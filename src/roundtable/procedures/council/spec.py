"""What the program needs to know of the council."""

from __future__ import annotations

from ...views import council as views
from ...views.estimate import council_estimate
from ..spec import ProcedureSpec
from .options import CouncilFlags
from .procedure import Council
from .seating import seat

SPEC = ProcedureSpec(
    Council(),
    "Scholar, Engineer and Muse answer, cross-examine each other, and a Captain concludes",
    CouncilFlags,
    seat,
    council_estimate,
    views.delivery,
    views.outputs,
)
