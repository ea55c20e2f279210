"""The council: Scholar, Engineer and Muse, led by a Captain."""

from .options import CouncilConfig as CouncilConfig
from .options import CouncilFlags as CouncilFlags
from .procedure import Council as Council
from .seating import seat as seat
