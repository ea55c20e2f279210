"""What the program needs to know of the deliberation."""

from __future__ import annotations

from ...views import deliberation as views
from ..kit import Kit
from .procedure import Deliberation
from .seating import seat, wish

KIT = Kit(
    Deliberation(),
    "Experts answer alone, review each other without names, and vote; a host concludes",
    (
        "experts",
        "models",
        "seats",
        "choices",
        "always_critique",
        "dual_order",
        "statement",
        "no_record",
        "minutes",
        "quick",
    ),
    seat,
    views.deliberation_estimate,
    views.delivery,
    views.outputs,
    wish=wish,
)
