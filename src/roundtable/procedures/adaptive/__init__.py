"""The adaptive orchestrator: a meta-panel designs the workflow, a panel of different models works,
and a neutral synthesiser concludes."""

from .flags import FLAGS as FLAGS
from .panels import Panels as Panels
from .procedure import Adaptive as Adaptive
from .seating import seat as seat
