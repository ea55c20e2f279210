"""Meetings for tests: voices that speak to the form, and tables at which nobody is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from roundtable.core.errors import SpeakerError
from roundtable.core.events import Event
from roundtable.core.state import State
from roundtable.ports import SpeakRequest
from roundtable.procedures import procedure_spec
from roundtable.procedures.opening import OpenRequest
from tests.declaring import block, declared, fields
from tests.rehearsal import Table, Voice, dutiful, run_in_virtual_time

Act = str | SpeakerError | float | None | Callable[[SpeakRequest], str]
DEAD = SpeakerError("auth", "The key was refused.", "Check the key.")
AT = datetime(2026, 5, 4, 10, 30, tzinfo=UTC)
TOPIC = "Should the shop move to one database?"

SEATS = [
    {"profile": "arch", "role": "Architect", "perspective": "structure", "display_name": "Ann"},
    {"profile": "back", "role": "Backend", "perspective": "operations", "display_name": "Bob"},
    {"profile": "prod", "role": "Product", "perspective": "users", "display_name": "Cleo"},
    {"profile": "test", "role": "Tester", "perspective": "failures", "display_name": "Dan"},
]
NAMES = tuple(seat["profile"] for seat in SEATS)


def words(count: int = 220, mark: str = "word") -> str:
    return " ".join(f"{mark}{n}" for n in range(count))


def said(*lines: str, mark: str = "word", count: int = 220, position: str = "") -> str:
    """A speech to the form, which declares what these lines say."""
    declared = fields(*lines, **({"position": position} if position else {}))
    return f"## Speech\n{words(count, mark)}\n\n{block(declared)}"


def turn_of(request: SpeakRequest) -> str:
    """`1/discussion/arch` of the request's key."""
    return request.idempotency_key.split("/", 1)[1].rsplit("/", 1)[0]


def mark_of(turn: str) -> str:
    """`m1arch` for `1/discussion/arch`: what that speech's words begin with."""
    round_, _, who = turn.split("/")
    return f"m{round_}{who}"


def minded(request: SpeakRequest) -> str:
    """A speech that carries its turn as a mark; whatever else is asked is answered dutifully."""
    turn = turn_of(request)
    if "/discussion/" in turn:
        return said(f"NEW: the claim of {turn} stands", mark=mark_of(turn))
    return f"MARK {turn}\n\n{dutiful(request)}"


def acting(turns: Mapping[str, Act] | None = None) -> Voice:
    """A voice that acts so in the turns whose ids contain the key, and is minded in all others."""

    def script(request: SpeakRequest) -> str | SpeakerError | float | None:
        for part, act in (turns or {}).items():
            if part in turn_of(request):
                # Whoever gave its words without a declaration gives that when asked for it alone.
                alone = request.form is not None and request.form.alone
                if alone and isinstance(act, str) and act.strip():
                    return declared(request.form, request.user, choice="any")
                return act(request) if callable(act) else act
        return minded(request)

    return Voice(script)


def meeting(turns: Mapping[str, Act] | None = None, **table: Any) -> Table:
    return Table({"*": acting(turns)}, **table)


def seats(count: int = 3, **more: Any) -> list[dict[str, Any]]:
    return [{**seat, **more} for seat in SEATS[:count]]


def hold(table: Table, count: int = 3, topic: str = TOPIC, **request: Any) -> State:
    """Hold a whole meeting and return how it ended."""
    return run_in_virtual_time(table.ask(topic, **asked_for(count, **request)))


def asked_for(count: int = 3, **request: Any) -> dict[str, Any]:
    options = {"participants": seats(count), **request.pop("options", {})}
    return {"procedure": "meeting", "options": options, **request}


async def opened(table: Table, count: int = 3, topic: str = TOPIC, **request: Any) -> str:
    state = await table.service.open(OpenRequest(topic=topic, **asked_for(count, **request)))
    return state.discussion_id


async def among_themselves(table: Table, count: int = 3, **options: Any) -> str:
    """A meeting for which nobody is ever called: all of it comes through the service."""
    seated = seats(count, model="outside")
    return await opened(table, options={"participants": seated, "host": "outside", **options})


def asked(table: Table) -> list[str]:
    """The turns for which a call was made, in order."""
    return [turn_of(request) for request in table.requests]


def prompt_of(table: Table, turn: str) -> SpeakRequest:
    (found,) = [request for request in table.requests if turn_of(request) == turn]
    return found


def participants_turns(table: Table) -> list[str]:
    return [turn for turn in asked(table) if "/discussion/" in turn]


def events(table: Table, state: State) -> list[Event]:
    return [record.event for record in run_in_virtual_time(table.records(state))]


def codes(state: State) -> list[str]:
    return [note.code for note in state.notes]


def rounds(state: State) -> list[tuple[int, str]]:
    """Round and participant of what participants said, in order."""
    return [(s.round, s.participant) for s in state.speeches if s.stage == "discussion"]


def texts(issues: Sequence[Any]) -> list[str]:
    return [issue.text for issue in issues]


class Folder:
    """A delivery that keeps its files in memory."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    async def leave(self, state: State) -> list[str]:
        found = procedure_spec(state.start.procedure).outputs(state, AT)
        self.files.update((file.path, file.text) for file in found)
        return [file.path for file in found]
