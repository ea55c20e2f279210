"""What the program needs to know of the adaptive procedure."""

from __future__ import annotations

from ...views import adaptive as views
from ...views.adaptive_cost import adaptive_estimate
from ..spec import ProcedureSpec
from .options import AdaptiveFlags
from .procedure import Adaptive
from .seating import seat

SPEC = ProcedureSpec(
    Adaptive(),
    "A meta-panel designs the workflow, a panel debates, a neutral synthesiser concludes",
    AdaptiveFlags,
    seat,
    adaptive_estimate,
    views.delivery,
    views.outputs,
    extends=True,
)
