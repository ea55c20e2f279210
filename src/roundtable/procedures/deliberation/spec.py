"""What the program needs to know of the deliberation."""

from __future__ import annotations

from ...views import deliberation as views
from ..casting import WithCasting
from ..spec import ProcedureSpec
from .options import DeliberationFlags
from .procedure import Deliberation
from .seating import casting_request, seat

SPEC = ProcedureSpec(
    WithCasting(Deliberation()),
    "Experts answer alone, review each other without names, and vote; a host concludes",
    DeliberationFlags,
    seat,
    views.delivery,
    views.outputs,
    casting_request=casting_request,
)
