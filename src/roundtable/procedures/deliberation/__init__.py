"""Deliberation: what the evidence on debate says works, as a procedure."""

from .options import DeliberationFlags as DeliberationFlags
from .procedure import Deliberation as Deliberation
from .seating import seat as seat
from .seating import wish as wish
