"""What the engine works with: the ports, joined once by bootstrap."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from ..core.events import StoredEvent
from ..core.state import State
from ..core.values import SpeakerRef
from ..ports import Asker, Clock, Delivery, Ids, Rescue, Search, Speakers, Watch
from ..rehearsal.lengths import NOTHING_HEARD, Lengths
from .lookups import LookUps
from .loop_gate import LoopGate
from .outage import PATIENCE


@dataclass(frozen=True, slots=True)
class Draft:
    """Words of a speech that is still being spoken. Never stored."""

    discussion_id: str
    turn_id: str
    participant: str
    attempt: int
    words: str


OnDraft = Callable[[Draft], None]
OnEvent = Callable[[StoredEvent, State], None]
"""Called with each event, and the state that it led to, as the driving process takes it in."""


Spares = Callable[[str], Awaitable[tuple[SpeakerRef, ...]]]
"""Further speakers at the endpoint of a model, as it is now."""


async def no_spares(_: str) -> tuple[SpeakerRef, ...]:
    """For those who know of nobody else."""
    return ()


def no_drafts(_: Draft) -> None:
    """For those who do not listen to drafts."""


def no_events(_: StoredEvent, __: State) -> None:
    """For those who do not listen to events."""


@dataclass(frozen=True, slots=True)
class Tools:
    """The engine's hands."""

    speakers: Speakers
    clock: Clock
    ids: Ids
    dearest_price: tuple[float, float]
    """USD per million tokens in and out: what a call of unknown price is reserved at."""
    search: Search | None = None
    asker: Asker | None = None
    delivery: Delivery | None = None
    on_draft: OnDraft = no_drafts
    spares: Spares = no_spares
    """Who else is there now for a seat whose models are all of no use where they were."""
    lengths: Lengths = NOTHING_HEARD
    """How much speakers usually say."""
    rescue: Rescue | None = None
    """Where outcomes are kept while there is no ledger to put them in."""
    patience: float = PATIENCE
    """Seconds for which a database that went away is waited for."""
    watch: Watch | None = None
    """Who looks on for the operator."""
    leaving: asyncio.Event | None = None
    """Set when this process wants to hand on what it drives: no call begins any more."""
    loop_gate: LoopGate = field(default_factory=LoopGate)
    """Through which many discussions share the event loop."""
    lookups: LookUps = field(default_factory=LookUps)
    """Through which they search the web."""
