"""Seats that declare what a test of a view needs."""

from __future__ import annotations

from roundtable.core.declaration_block import split_blocks
from roundtable.ports import SpeakRequest
from tests.declaring import declared
from tests.rehearsal import dutiful


def against(request: SpeakRequest) -> str:
    """A seat that holds the second option whatever the others do, and says why."""
    words = split_blocks(dutiful(request))[0]
    block = declared(
        request.form,
        request.user,
        choice="o2",
        position="No, drink coffee.",
        new_points=["Tea stains teeth."],
    )
    return f"{words}\n\n{block}"
