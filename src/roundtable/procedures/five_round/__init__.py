"""Five rounds: proposal, cross-reference, critique, revision, and a host who rules and plans."""

from .delivery import deliver as deliver
from .delivery import outputs as outputs
from .options import wish as wish
from .procedure import FiveRound as FiveRound
from .seating import seat as seat
