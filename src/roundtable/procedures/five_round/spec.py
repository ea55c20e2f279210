"""What the program needs to know of the five rounds."""

from __future__ import annotations

from ..casting import WithCasting
from ..spec import ProcedureSpec
from .delivery import deliver, outputs
from .options import FiveRoundFlags, casting_request
from .procedure import FiveRound
from .seating import seat

SPEC = ProcedureSpec(
    WithCasting(FiveRound()),
    "Experts propose, cite, criticise and revise; a host rules and plans eight weeks",
    FiveRoundFlags,
    seat,
    deliver,
    outputs,
    casting_request=casting_request,
)
