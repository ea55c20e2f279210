"""The only module that joins everything: settings, adapters, engine."""

from __future__ import annotations

import asyncio
import os
import time
from collections import ChainMap
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from .core.agents import BUILT_IN, names_program
from .core.call_gate import CallGate
from .core.errors import BadSetting, UnknownName
from .core.events import NoteAdded
from .core.text import counted
from .core.values import Participant, SpeakerRef
from .engine.notifier import Notifier
from .engine.service import Service
from .engine.system import SystemClock, SystemIds
from .engine.tools import Tools
from .examples.ledger import WithExamples
from .ledger import is_postgres, open_ledger
from .ledger.beside import beneath, in_postgres
from .ledger.leases import owner_is_dead, this_owner
from .ledger.rescue import RescueFiles
from .leftovers import CALLS, Leftovers
from .models.keyed import Keyed
from .models.limits import gates_of
from .models.registry import Registry
from .ports import (
    Asker,
    Casting,
    Channels,
    Delivery,
    Gates,
    Ledger,
    Models,
    Purses,
    Schedules,
    Search,
    Speaker,
)
from .private import keep_private
from .programs import WORKSPACE, workspace_of
from .project_notes import project_notes
from .provider_keys import FILE as KEYS_FILE
from .provider_keys import ProviderKeys
from .setting_lines import SettingLines
from .settings import Settings, read_settings
from .speakers.gates import LocalGates
from .speakers.hub import SpeakerHub
from .user_procedures import ProcedureFiles

if TYPE_CHECKING:
    from .cluster.late import LateQueue
    from .engine.tasks import TaskReporter
    from .experts.selection import Selector
    from .ledger.exchange import Exchange
    from .ledger.postgres import PostgresLedger
    from .models.catalogue import Catalogue
    from .models.discovery import Asking
    from .models.found import Found
    from .models.lookout import Lookout
    from .models.router import Router
    from .notify.function import SendFn
    from .telemetry.watch import Watching


T = TypeVar("T")
LOOK_AROUND_EVERY = 5.0
"""Seconds for which what was found (keys, servers of this machine) is taken for granted."""


@dataclass(frozen=True, slots=True)
class App:
    """Roundtable, joined and ready."""

    settings: Settings
    registry: Registry
    service: Service
    env: Mapping[str, str]
    _progress: Callable[[str], None]
    notifier: Notifier
    """Tells others of discussions."""
    keys: ProviderKeys
    """The keys that were entered on the page."""
    lookout: Lookout
    """Knows who can speak."""
    ledger: Ledger
    """The user's own, without the examples."""
    watching: Watching | None = None
    """Looks on for the operator, if somebody is to."""
    queue: LateQueue | None = None
    """Where discussions wait for workers; only a ledger in PostgreSQL has one."""

    async def schedules(self) -> Schedules:
        """What is asked again and again, or later."""
        from .ledger.schedules import schedules_beside

        return await schedules_beside(self.ledger)

    async def purses(self) -> Purses:
        """What users may spend in a month, and have."""
        from .ledger.purses import purses_beside

        return await purses_beside(self.ledger)

    @property
    def server(self) -> PostgresLedger | None:
        """The ledger, where it is on a server that others work at too."""
        return self.ledger if in_postgres(self.ledger) else None

    @property
    def exchange(self) -> Exchange | None:
        """What other processes are told and heard by; None where the ledger is a file."""
        return None if self.server is None else self.server.exchange

    @property
    def keyed(self) -> Keyed:
        """The environment, and under it the stored keys."""
        return Keyed(self.env, self.keys, self.registry.providers.values())

    async def discover(self, *, probe: bool = True, asking: Asking = "when stale") -> Found:
        """What can speak now."""
        return await self.lookout.look(probe=probe, asking=asking)

    async def router(self) -> Router:
        """Gives seats their models: by the user's files, then by what was found."""
        return await _router(self.settings, self.lookout)

    def selector(self) -> Selector:
        """Chooses experts for a topic. Loading takes a moment: keep it."""
        return expert_selector(self.settings)

    def check_board(self, board: str) -> None:
        """UnknownName, BadSetting or BoardError if the task board of this name cannot be written
        to, as far as that can be told without calling it."""
        from .tasks.choose import check_board

        boards = {name: each.model_dump() for name, each in self.settings.choices.boards.items()}
        check_board(board, boards, self.env)

    def reporter(self, board: str) -> TaskReporter:
        """Reports discussions to the task board of this name."""
        from .engine.tasks import Owner, TaskReporter
        from .tasks.choose import make_board

        choices = self.settings.choices
        boards = {name: each.model_dump() for name, each in choices.boards.items()}
        owners = {name: Owner(each.account, each.channel) for name, each in choices.owners.items()}
        made = make_board(board, boards, self.env)
        return TaskReporter(self.service, made, owners=owners, dispatch=self.notifier.dispatch)

    async def ensure_weights(self) -> None:
        """Fetch the embedded model's weights if they are not there yet."""
        from .models.weights import ensure_weights

        await ensure_weights(self.settings.home, self._progress)


def expert_selector(settings: Settings) -> Selector:
    """The library with the user's own experts, ready to choose from."""
    from .experts.library_files import own_files, read_library
    from .experts.selection import Selector, meanings
    from .models.embedder import WordLlamaEmbedder, embedder_installed
    from .models.vectors import kept_vectors

    experts = list(read_library(own_files(*settings.expert_folders), settings.cache).values())
    if not embedder_installed():
        return Selector(experts, None)
    embedder = WordLlamaEmbedder(settings.cache)
    vectors = kept_vectors(settings.cache, "experts", meanings(experts), embedder)
    return Selector(experts, embedder, vectors)


@asynccontextmanager
async def start(
    settings: Settings | None = None,
    *,
    env: Mapping[str, str] | None = None,
    ledger: Ledger | None = None,
    scripts: Mapping[str, Speaker] | None = None,
    search: Search | None = None,
    asker: Asker | None = None,
    delivery: Delivery | None = None,
    channels: Channels | None = None,
    send_fn: SendFn | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> AsyncIterator[App]:
    """Join everything for one process, and take it apart again at the end.

    `scripts` are further scripted speakers, found as `scripted/NAME`; `progress` is told what
    takes long before anybody speaks. A ledger that is given stays open. `delivery` leaves the files
    of procedures that write them before they close. Without a `search`, the
    settings and the environment decide which one there is, if any. `send_fn` sends all news in
    place of the configured channels; `channels` are others to find them in.
    """
    env = os.environ if env is None else env
    settings = settings or read_settings(env, workspace_of(env))
    keep_private(settings.home)
    Leftovers(settings.home / CALLS).reap()
    env = ChainMap({WORKSPACE: str(settings.workspace.absolute())}, env)  # type: ignore[arg-type]
    registry = Registry.load(
        settings.models_file,
        {**BUILT_IN, **settings.choices.commands},
        scripted=partial(_scripted_names, scripts or {}),
    )
    is_program = partial(_is_program, registry)
    if program := next(filter(is_program, settings.project_models), None):
        expected = "a model; a project cannot let a program of this machine run"
        raise BadSetting("the project's files", program, expected)
    keys = provider_keys(settings, registry)
    # For models only: programs, channels and boards do not see them.
    keyed = Keyed(env, keys, registry.providers.values())
    lookout = make_lookout(settings, registry, keyed)
    if (own := ledger) is None:
        own = await open_ledger(settings.db, listen=settings.choices.db_listen)
    who = f"{this_owner()}#{SystemIds().nonce()}"
    hub = _hub(settings, lookout, env, keyed, scripts or {}, progress, _LateGates(own, who), who)
    opened = WithExamples(own)
    queue = _queue(settings, own)
    price = registry.dearest_price()

    seen: list[tuple[float, Models]] = []

    async def models() -> Models:
        """What can speak now; discussions opened in quick succession share one look around."""
        if not seen or time.monotonic() - seen[0][0] > LOOK_AROUND_EVERY:
            seen[:] = [(time.monotonic(), await _catalogue(settings, lookout, keys))]
        return seen[0][1]

    async def spares(model: str) -> tuple[SpeakerRef, ...]:
        """What the endpoint of a model has now; its list is asked for again if it is in doubt."""
        seen.clear()
        return (await _catalogue(settings, lookout, keys)).spares(model)

    notifier = _notifier(settings, env, opened, channels, send_fn)
    watching = _watching(settings, env)
    service = Service(
        opened,
        Tools(
            speakers=hub,
            clock=SystemClock(),
            ids=SystemIds(),
            dearest_price=(price.usd_per_million_in, price.usd_per_million_out),
            search=search or _search(settings, env),
            asker=asker,
            delivery=delivery,
            spares=spares,
            rescue=RescueFiles.beside(settings.db, settings.home, this_owner()),
            patience=settings.choices.db_patience,
            watch=watching,
        ),
        models,
        owner=this_owner(),
        defaults={
            "council": settings.council_defaults,
            "adaptive": settings.adaptive_defaults,
        },
        casting=_casting(settings, lookout),
        own=ProcedureFiles(settings.procedure_folders, is_program=is_program),
        news=notifier,
        remarks=partial(_remarks, settings, keys, keyed, registry),
        queue=queue,
        drive_by=settings.choices.drive,
        caps=settings.caps,
    )
    try:
        await service.take_in(progress)
        yield App(
            settings,
            registry,
            service,
            env,
            progress,
            notifier,
            keys,
            lookout,
            own,
            watching,
            queue,
        )
    finally:
        if left := await notifier.close():
            ids = ", ".join(dict.fromkeys(discussion_id for discussion_id, _ in left))
            progress(f"News: not delivered yet: {counted(len(left), 'message')} of {ids}.")
            progress("   Send them with: roundtable notify pump")
        await hub.close()
        if watching is not None:
            await asyncio.to_thread(watching.close)
        if ledger is None:
            await opened.close()


def _queue(settings: Settings, ledger: Ledger) -> LateQueue | None:
    if not is_postgres(settings.db):
        return None
    from .cluster.late import LateQueue

    waiting = settings.choices.waiting
    return LateQueue(
        lambda: beneath(ledger), SystemClock(), each=waiting.each, everybodys=waiting.everybodys
    )


def provider_keys(settings: Settings, registry: Registry) -> ProviderKeys:
    """The keys that the user has stored for the providers that are known here."""
    names = {name for each in registry.providers.values() for name in each.key_env}
    return ProviderKeys(settings.home, names)


def _remarks(
    settings: Settings,
    keys: ProviderKeys,
    keyed: Keyed,
    registry: Registry,
    participants: Sequence[Participant],
) -> list[NoteAdded]:
    """What surrounds a discussion: stored keys that do not count, and the project's files."""
    notes = project_notes(settings.trust, settings.expert_folders[1], participants)
    called = {ref.model.partition("/")[0] for seat in participants for ref in seat.speakers}
    for provider in (registry.providers[each] for each in called & registry.providers.keys()):
        if withheld := keyed.withheld(provider):
            note = NoteAdded(code="key_withheld", text=withheld.told, remedy=withheld.remedy)
            notes.insert(0, note)
    if (trouble := keys.trouble) is not None:
        # It is stored and handed on: where the home lies is nobody else's business.
        text = f"{KEYS_FILE}: expected {trouble.expected}."
        notes.insert(0, NoteAdded(code="keys_unread", text=text, remedy=trouble.remedy))
    return notes


def _scripted_names(own: Mapping[str, Speaker]) -> Collection[str]:
    from .speakers.characters import CHARACTERS

    return {*own, *CHARACTERS}


def _is_program(registry: Registry, name: str) -> bool:
    """Whether a name means a command-line agent, by an alias of the user's too."""
    try:
        return names_program(registry.resolve(name).id)
    except UnknownName:
        return names_program(name)


def _hub(
    settings: Settings,
    lookout: Lookout,
    env: Mapping[str, str],
    keyed: Mapping[str, str],
    scripts: Mapping[str, Speaker],
    progress: Callable[[str], None],
    gates: Gates,
    who: str,
) -> SpeakerHub:
    """Speakers are made, and what they need is imported, when the first of their words is due."""

    def api() -> Speaker:
        from .speakers.api import ApiSpeaker

        return ApiSpeaker(lookout.registry.providers, lookout.cost, keyed, lookout)

    def embedded() -> Speaker:
        from .models.weights import ensure_weights
        from .speakers.embedded import EmbeddedSpeaker

        return EmbeddedSpeaker(lambda: ensure_weights(settings.home, progress))

    def command() -> Speaker:
        from .speakers.command import CommandSpeaker

        return CommandSpeaker(settings.agents, env, calls=settings.home / CALLS)

    def scripted() -> Speaker:
        from .speakers.scripted import ScriptedCast

        return ScriptedCast(scripts)

    return SpeakerHub(
        api=api,
        others={"cmd": command, "local": embedded, "scripted": scripted},
        limits=lambda model: gates_of(model, lookout.registry, keyed, settings.choices.concurrency),
        gates=gates,
        who=who,
    )


def _notifier(
    settings: Settings,
    env: Mapping[str, str],
    ledger: Ledger,
    channels: Channels | None,
    send_fn: SendFn | None,
) -> Notifier:
    from .notify.channels import make_channels
    from .notify.function import FunctionChannels

    if channels is None and send_fn is not None:
        channels = FunctionChannels(send_fn)
    return Notifier(
        ledger,
        channels or make_channels(settings.choices.channels, env),
        SystemClock(),
        by=f"{this_owner()}#{SystemIds().nonce()}",
        default=settings.notifications_for,
        is_gone=lambda by: owner_is_dead(by.rpartition("#")[0]),
    )


def _watching(settings: Settings, env: Mapping[str, str]) -> Watching | None:
    from .telemetry.watch import Watching

    return Watching.wanted(env, settings.choices.metrics)


def _search(settings: Settings, env: Mapping[str, str]) -> Search | None:
    from .search.choose import choose_search

    return choose_search(settings.choices.search, settings.choices.searxng_url, env)


def make_lookout(settings: Settings, registry: Registry, keyed: Mapping[str, str]) -> Lookout:
    """Who looks around for models, as the settings have it."""
    from .models.lists import ModelLists
    from .models.lookout import Lookout

    choices = settings.choices
    return Lookout(
        registry,
        keyed,
        ModelLists(settings.lists_folder),
        default_model=choices.default_model,
        local_servers=choices.local_servers,
        ask=choices.model_lists,
        agents=settings.agents,
        naming=lambda: SettingLines(settings).naming("default_model"),
    )


async def _router(settings: Settings, lookout: Lookout) -> Router:
    from .models.router import Router
    from .models.routing_files import read_routing

    files = read_routing(settings.routing_folders, lookout.registry)
    found = await lookout.look()
    with SettingLines(settings).naming("models"):
        return Router(found, files, own=settings.choices.models)


def _casting(settings: Settings, lookout: Lookout) -> Casting:
    from .models.casting import LibraryCasting

    return LibraryCasting(
        lambda: expert_selector(settings),
        lambda: _router(settings, lookout),
        own_default=settings.choices.default_model is not None,
        is_model=lambda name: lookout.registry.names_model(name),
    )


async def _catalogue(settings: Settings, lookout: Lookout, keys: ProviderKeys) -> Catalogue:
    from .models.catalogue import Catalogue

    found, lines = await lookout.look(), SettingLines(settings)
    with lines.naming("fallback_model", "fallbacks"):
        return Catalogue(
            found,
            fallbacks=settings.choices.fallbacks,
            fallback_model=settings.choices.fallback_model,
            pace=settings.choices.pace,
            unread=keys.trouble,
            naming=lines.naming,
        )


class _LateGates:
    """Implements `Gates` where the ledger's are: for a fleet if it is a database server's, else for
    this process. It is asked when the first call is due."""

    def __init__(self, ledger: Ledger, who: str) -> None:
        self._beside = ledger
        self._who = who
        self._found: Gates | None = None

    async def change(self, name: str, work: Callable[[CallGate, float], tuple[CallGate, T]]) -> T:
        return await (await self._gates()).change(name, work)

    async def look(self) -> Mapping[str, CallGate]:
        return await (await self._gates()).look()

    async def _gates(self) -> Gates:
        if self._found is None:
            ledger = await beneath(self._beside)
            if in_postgres(ledger):
                from .cluster.gates import PostgresGates

                self._found = PostgresGates(ledger, self._who)
            else:
                self._found = LocalGates()
        return self._found
