"""The extractor: points, stances and choices read from prose by rules that abstain when unsure.

Pure and deterministic; an embedding function may be handed in. Rough, and it says so: what a
participant declares, or a clerk model with verified quotes, comes first.
"""

from __future__ import annotations

from .extractor import NOTICE as NOTICE
from .extractor import Extraction as Extraction
from .extractor import Speech as Speech
from .extractor import extract as extract
from .matching import Embed as Embed
from .matching import Matcher as Matcher
from .options import Choice as Choice
from .options import chosen_option as chosen_option
from .options import listed_options as listed_options
from .reading import Reading as Reading
from .stance import reply_stance as reply_stance
from .stance import stance_toward as stance_toward
