"""Material: what a table is given to read beside its question, and how much of it there may be.

Context, documents that are added later and remarks of the host all go into every later prompt, so
they are counted together, whichever way they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .errors import BadTopic
from .state import State
from .values import Material
from .verdict_sources import REMARK

MAX_MATERIAL = 4_000_000
"""Characters, of one discussion."""
BEGINNINGS = 3000
"""Characters that tell what all of it is about."""


def size_of(documents: Iterable[Material]) -> int:
    return sum(len(each.source) + len(each.text) for each in documents)


def beginnings(documents: Sequence[Material]) -> str:
    """How the documents begin, each as far as the next: what they are about, for whoever need not
    read them."""
    each = BEGINNINGS // max(len(documents), 1)
    return "\n".join(document.text[:each] for document in documents)


def material_size(state: State) -> int:
    """The characters that this discussion was given so far."""
    return size_of(state.context) + state.said.characters(REMARK)


def refuse_too_much(size: int) -> None:
    """BadTopic for a discussion that would have this much material."""
    if size > MAX_MATERIAL:
        raise BadTopic(
            f"The material of this discussion would have {size:,} characters; "
            f"at most {MAX_MATERIAL:,} fit: context, added documents and remarks together.",
            "Give an excerpt, or open another discussion with the rest.",
        )
