"""What the program needs to know of the adaptive procedure."""

from __future__ import annotations

from ...views import adaptive as views
from ..casting import WithCasting
from ..opening import OpenRequest
from ..spec import ProcedureSpec
from .options import AdaptiveFlags
from .procedure import Adaptive
from .seating import casting_request, seat


def clarifies(request: OpenRequest) -> str | None:
    """In a call of its own, because the orchestrator has none before the panel; not in a hurry."""
    return None if AdaptiveFlags.parse(request.options).quick else ""


SPEC = ProcedureSpec(
    WithCasting(Adaptive()),
    "A meta-panel designs the workflow, a panel debates, a neutral synthesiser concludes",
    AdaptiveFlags,
    seat,
    views.delivery,
    views.outputs,
    extends=True,
    casting_request=casting_request,
    clarifies=clarifies,
)
