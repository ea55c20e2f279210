"""What the program needs to know of the five rounds."""

from __future__ import annotations

from ...views.five_round import estimate
from ..kit import Kit
from .delivery import deliver, outputs
from .options import wish
from .procedure import FiveRound
from .seating import seat

KIT = Kit(
    FiveRound(),
    "Experts propose, cite, criticise and revise; a host rules and plans eight weeks",
    ("agents", "depth", "strict_rounds", "output_dir", "quick"),
    seat,
    estimate,
    deliver,
    outputs,
    wish=wish,
)
