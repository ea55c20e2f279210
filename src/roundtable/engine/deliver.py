"""Files left in the workspace while a discussion is still open, so that they exist at its end."""

from __future__ import annotations

from ..core.effects import DELIVERED, KEPT
from ..core.errors import RoundtableError
from ..core.events import NoteAdded
from ..core.text import redact
from ..ports import Delivery
from .journal import Journal


async def deliver(journal: Journal, delivery: Delivery | None) -> None:
    """Write what the procedure leaves behind and note where. A file that cannot be written must
    not keep a discussion from its end."""
    # Where the last stage was asked again, there is something new to leave.
    key = f"delivery/{journal.state.seq}" if "delivery" in journal.keys else "delivery"
    await journal.record((await _outcome(journal, delivery), key))


async def _outcome(journal: Journal, delivery: Delivery | None) -> NoteAdded:
    again = f"It can still be had: roundtable export {journal.state.discussion_id} -o FILE"
    if delivery is None or not journal.state.start.files:
        return NoteAdded(code=KEPT, text="No file was written in this run.", remedy=again)
    try:
        # A copy: others may act in the discussion while a slow place takes it.
        places = await delivery.leave(journal.state.branch())
    except (OSError, RoundtableError) as error:
        text = f"The file could not be written: {redact(str(error))}"
        return NoteAdded(code=KEPT, text=text, remedy=again)
    return NoteAdded(code=DELIVERED, text=f"Written: {', '.join(places) or 'nothing'}")
