"""What the form that starts a discussion needs to know. Nothing here calls a model or stores."""

from __future__ import annotations

import asyncio
import time
from base64 import b64decode
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field, StringConstraints

from ...bootstrap import App
from ...core.errors import RoundtableError, UsageError
from ...core.naming import line
from ...core.numbers import NUMBER
from ...core.state import State
from ...core.values import Budget, Expected
from ...core.visible import shown
from ...documents.read import Unreadable
from ...documents.reading import read_document
from ...experts.library_files import OwnFile, own_files
from ...experts.selection import Choice
from ...ledger.memory import MemoryLedger
from ...models.facts import ModelFacts, about_list, facts_of
from ...models.found import Found
from ...procedures import PROCEDURES, procedure_spec
from ...procedures.opening import MAX_CONTEXT, MAX_TOPIC, checked_topic
from ...procedures.options import Kind, Option, Part, described
from ...procedures.spec import ProcedureSpec
from ...rehearsal.estimate import Estimate, estimate_line, over_budget
from ...speakers.characters import CHARACTERS
from ...user_procedures import ProcedureFiles
from ...views.notes import notes
from ..opening import offered
from ..tokens.opening import in_reach
from .access import Denied, Held, Here
from .bodies import MOST_DOCUMENTS, REFUSALS, Body, Short, Topic
from .intake import LARGEST_BODY, LARGEST_DOCUMENT
from .receipts import receipt

if TYPE_CHECKING:
    from ...experts.selection import Selector

LARGEST_FILE = 12_000_000
_LONGEST_NAME = 255
READ_AT_ONCE = 2
"""Each is a process of its own."""
MOST_EXPERTS = 12
MOST_FOUND = 50


class OptionRow(BaseModel):
    """A field of the form: something that a procedure lets one choose."""

    name: str
    about: str
    kind: Kind
    choices: list[str] = []
    minimum: float | None = None
    maximum: float | None = None
    whole: bool = False
    usual: str = ""
    """What it is where nothing is chosen."""
    advanced: bool = False
    part: Part | None = None
    """What it is for the table's seats; the form has a place of its own for these."""


class ProcedureRow(BaseModel):
    name: str
    summary: str
    built_in: bool
    by_hand: bool = False
    extends: bool = False
    options: list[OptionRow] = []
    error: str | None = None
    """Why it cannot be used, for one of the user's own."""


class Upload(Body):
    """A file, to be read."""

    name: Short
    data: Annotated[str, StringConstraints(max_length=LARGEST_DOCUMENT)]
    """In base64; empty if that would be more than fits."""
    size: Annotated[int | None, Field(ge=0), NUMBER] = None
    """Its bytes, if they are not sent."""


class Document(BaseModel):
    """Its text, as it can be sent as context."""

    source: str
    text: str
    lines: list[str] = []
    """What could not be read of it."""
    receipt: str = ""
    """Send it with the question, so that the discussion says it too."""


class Limits(BaseModel):
    """What a request may bring at most."""

    question: int = MAX_TOPIC
    """Characters."""
    document: int = MAX_CONTEXT
    """Characters of each."""
    documents: int = MOST_DOCUMENTS
    request: int = LARGEST_BODY
    """Bytes of all of it."""
    upload: int = LARGEST_FILE
    """Bytes of a file that is to be read here."""


class Procedures(BaseModel):
    default: str
    procedures: list[ProcedureRow]
    limits: Limits = Limits()


class ProviderRow(BaseModel):
    provider: str
    label: str
    how: str
    models: list[str]
    listed: bool
    """Whether this is its own list."""
    told: str
    """Where the list comes from, or why there is none."""
    facts: list[ModelFacts]


class MissingRow(BaseModel):
    provider: str
    label: str
    variable: str
    get: str
    """What to do to have it."""


class FoundModels(BaseModel):
    default_model: str
    found: list[ProviderRow]
    missing: list[MissingRow]
    scripted: dict[str, str]
    """For trying the program out; none unless the usual model is set to one of them."""
    aliases: dict[str, str]


class Suggest(Body):
    topic: str
    count: int = Field(default=3, ge=1, le=MOST_EXPERTS)
    include: list[Short] = Field(default_factory=list, max_length=MOST_EXPERTS)
    """Who sits in any case."""


class FindExperts(Body):
    search: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    count: int = Field(default=8, ge=1, le=MOST_FOUND)


class Suggestion(BaseModel):
    id: str
    name: str
    domain: str
    perspective: str
    why: str
    relevance: float


class Suggestions(BaseModel):
    experts: list[Suggestion]


class SeatRow(BaseModel):
    id: str
    name: str
    role: str
    emoji: str
    models: list[str]
    """The speaker, and who would take its place."""
    demonstration: bool
    host: bool


class NoteRow(BaseModel):
    code: str
    text: str
    remedy: str


class Estimated(BaseModel):
    """What a discussion would cost. Ranges, because nobody knows how much models will say."""

    procedure: str
    options: dict[str, Any]
    seats: list[SeatRow]
    calls: int
    tokens: tuple[int, int]
    cost_usd: tuple[float, float] | None
    """None when a seat's price is unknown."""
    seconds: tuple[float, float] | None
    """None when somebody speaks who is no model."""
    likely: Expected
    """What is most likely: between the ends."""
    multiplier: str
    line: str
    budget: Budget
    """Where it stops, from wherever each limit comes."""
    over_budget: list[str]
    """The limits that it will most likely pass."""
    notes: list[NoteRow]


def router(app: App) -> APIRouter:
    """The routes; whoever mounts them asks for the owner's key."""
    routes = APIRouter(prefix="/api", responses=REFUSALS, tags=["start"])
    experts = _Experts(app)
    reading = asyncio.Semaphore(READ_AT_ONCE)

    @routes.get("/procedures")
    async def procedures() -> Procedures:
        """The rules by which a table can be held, the user's own among them."""
        own = ProcedureFiles(app.settings.procedure_folders)
        rows = [_row(spec) for spec in PROCEDURES.values()]
        rows += [_own_row(own, name) for name in own.names()]
        return Procedures(default=app.settings.choices.procedure, procedures=rows)

    @routes.get("/models")
    async def models() -> FoundModels:
        """Who can speak now, and what is missing for more."""
        found = await app.discover()
        return await asyncio.to_thread(_found, app, found)  # prices are looked up: a moment

    @routes.post("/suggest")
    async def suggest(body: Suggest) -> Suggestions:
        """Experts for a topic, each with the reason for it."""
        return Suggestions(experts=await experts.suggest(body))

    @routes.post("/experts")
    async def find_experts(body: FindExperts) -> Suggestions:
        """The experts of the library that are nearest to some words, by name and by meaning."""
        return Suggestions(experts=await experts.find(body))

    @routes.post("/documents")
    async def read_upload(body: Upload, here: Here) -> Document:
        """The text of a PDF, a Word, PowerPoint or Excel file, a page or a text. Nothing is kept:
        what comes back is sent with the question."""
        name = line(PurePath(body.name.replace("\\", "/")).name)[:_LONGEST_NAME] or "document"
        try:
            if (body.size or 0) > LARGEST_FILE:
                raise Unreadable(f"is too large: more than {LARGEST_FILE // 1_000_000} MB")
            data = b64decode(body.data, validate=True)
            async with reading:
                read = await read_document(name, data)
        except ValueError:
            raise UsageError("The document did not arrive whole.", "Send it in base64.") from None
        except Unreadable as why:
            remedy = "" if why.says_what_to_do else "Give another form of it."
            given = receipt(here.links, name, [str(why)], missed=True)
            raise Denied(422, shown(f"{name} {why}."), remedy, receipt=given) from None
        said = receipt(here.links, name, read.lines) if read.lines else ""
        return Document(source=name, text=read.text, lines=list(read.lines), receipt=said)

    @routes.post("/estimate")
    async def estimate(body: Topic, here: Here, held: Held) -> Estimated:
        """What a discussion would be: its seats, its calls, its cost. Nothing begins."""
        wanted = await in_reach(app, held, body.request(app.settings, here.links))
        service = app.service.with_ledger(MemoryLedger())
        state = await service.open(wanted)
        return _estimated(state, await service.estimate(state))

    return routes


# --- procedures -----------------------------------------------------------------------------------


def _row(spec: ProcedureSpec, *, built_in: bool = True) -> ProcedureRow:
    return ProcedureRow(
        name=spec.name.rpartition(":")[2],
        summary=spec.summary,
        built_in=built_in,
        by_hand=spec.moderation,
        extends=spec.extends,
        options=[_option(each) for each in described(spec.options) if offered(each, "page")],
    )


def _own_row(own: ProcedureFiles, name: str) -> ProcedureRow:
    try:
        return _row(procedure_spec(name, own), built_in=False)
    except RoundtableError as error:
        return ProcedureRow(name=name, summary="", built_in=False, error=shown(str(error)))


def _option(option: Option) -> OptionRow:
    return OptionRow(
        name=option.name,
        about=option.help,
        kind=option.kind,
        choices=list(option.choices),
        minimum=option.minimum if option.above is None else option.above,
        maximum=option.maximum,
        whole=option.whole,
        usual=option.usual,
        advanced=option.advanced,
        part=option.part,
    )


# --- models and experts ---------------------------------------------------------------------------


def _found(app: App, found: Found) -> FoundModels:
    here = {provider.id for provider in found.providers}
    now = time.time()
    missing = [
        MissingRow(
            provider=m.id, label=m.label, variable=m.variable, get=m.get or f"Set {m.variable}."
        )
        for m in found.missing
    ]
    missing += [
        MissingRow(
            provider=p.id, label=p.label, variable="", get=p.get or "Start it on this machine."
        )
        for p in app.registry.providers.values()
        if p.probe is not None and p.id not in here
    ]
    return FoundModels(
        default_model=found.default_model,
        found=[
            ProviderRow(
                provider=p.id,
                label=p.label,
                how=p.how,
                models=list(p.models),
                listed=p.listed,
                told=shown(about_list(p, now)),
                facts=facts_of(found, p),
            )
            for p in found.providers
        ],
        missing=missing,
        scripted=_scripted() if found.default_model.startswith("scripted/") else {},
        aliases={
            alias: entry.id for entry in app.registry.models.values() for alias in entry.aliases
        },
    )


def _scripted() -> dict[str, str]:
    return {f"scripted/{name}": about for name, about in CHARACTERS.items()}


class _Experts:
    """The library, loaded once and again when the user's own files change."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._lock = asyncio.Lock()
        self._loaded: tuple[tuple[OwnFile, ...], Selector] | None = None

    async def suggest(self, body: Suggest) -> list[Suggestion]:
        topic = checked_topic(body.topic)
        async with self._lock:
            selector = await asyncio.to_thread(self._selector)
        chosen = await asyncio.to_thread(
            selector.choose, topic, max(body.count, len(body.include)), include=body.include
        )
        return [_suggestion(each) for each in chosen]

    async def find(self, body: FindExperts) -> list[Suggestion]:
        words = checked_topic(body.search)
        async with self._lock:
            selector = await asyncio.to_thread(self._selector)
        near = await asyncio.to_thread(selector.search, words, MOST_FOUND)
        # Who is called so comes first, whatever the words mean.
        asked = words.casefold().split()
        named = [
            Choice(expert, 1.0)
            for expert in selector.experts
            if all(word in expert.name.casefold() for word in asked)
        ]
        found = {each.expert.id: each for each in (*near, *named)}
        ordered = dict.fromkeys(each.expert.id for each in (*named, *near))
        return [_suggestion(found[id_]) for id_ in ordered][: body.count]

    def _selector(self) -> Selector:
        files = own_files(*self._app.settings.expert_folders)
        stamp = tuple(files)
        if self._loaded is None or self._loaded[0] != stamp:
            self._loaded = (stamp, self._app.selector())
        return self._loaded[1]


def _suggestion(choice: Choice) -> Suggestion:
    return Suggestion(
        id=choice.expert.id,
        name=choice.expert.name,
        domain=choice.expert.domain,
        perspective=choice.expert.perspective,
        why=choice.why,
        relevance=float(choice.relevance),
    )


# --- the estimate ---------------------------------------------------------------------------------


def _estimated(state: State, estimate: Estimate) -> Estimated:
    host = state.start.host
    return Estimated(
        procedure=state.start.procedure.rpartition(":")[2],
        options=state.start.options,
        seats=[
            SeatRow(
                id=seat.id,
                name=seat.name,
                role=seat.role,
                emoji=seat.emoji,
                models=[each.model for each in seat.speakers if not each.spare],
                demonstration=seat.speaker.demonstration,
                host=seat is host,
            )
            for seat in (*state.start.participants, host)
        ],
        calls=estimate.calls,
        tokens=estimate.tokens,
        cost_usd=estimate.cost_usd,
        seconds=estimate.seconds,
        likely=estimate.expected,
        multiplier=estimate.multiplier,
        line=estimate_line(estimate, state),
        budget=state.budget,
        over_budget=over_budget(estimate, state.budget),
        notes=[
            NoteRow(code=note.code, text=shown(note.text), remedy=shown(note.remedy))
            for note in notes(state)
        ],
    )
