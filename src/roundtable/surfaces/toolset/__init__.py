"""The toolset: discussions held through tools, the same behind every door."""

from .access import Access as Access
from .toolset import OPERATIONS as OPERATIONS
from .toolset import Toolset as Toolset
