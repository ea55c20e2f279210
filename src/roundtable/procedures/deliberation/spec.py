"""What the program needs to know of the deliberation."""

from __future__ import annotations

from ...views import deliberation as views
from ..casting import WithCasting, and_casting
from ..spec import ProcedureSpec
from .options import DeliberationFlags
from .procedure import Deliberation
from .seating import casting_request, seat

SPEC = ProcedureSpec(
    WithCasting(Deliberation()),
    "Experts answer alone, review each other without names, and vote; a host concludes",
    DeliberationFlags,
    seat,
    and_casting(views.deliberation_estimate),
    views.delivery,
    views.outputs,
    casting_request=casting_request,
)
