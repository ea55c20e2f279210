"""The meeting: participants with roles of their own speak in turn, led by a coordinator."""

from .options import MeetingOptions as MeetingOptions
from .procedure import Meeting as Meeting
from .rosters import wish as wish
from .seating import seat as seat
