"""Roundtable as a library: typed, async, without global state."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

from ..bootstrap import App, start
from ..core.errors import RoundtableError, UnknownName, UsageError
from ..core.events import StoredEvent
from ..core.limits import WORDS, Limits
from ..core.schedule import Schedule
from ..core.state import State
from ..core.text import listed
from ..core.values import Budget, Material, Pace
from ..engine.external import Heard
from ..engine.tools import OnDraft, no_drafts
from ..ledger.leases import this_owner
from ..notify.function import SendFn
from ..ports import Asker, DiscussionSummary, Ledger, Search, Speaker
from ..programs import workspace_of
from ..settings import OnSecrets, Settings, read_settings
from ..views.comparison import Comparison
from ..views.delivered import DeliveredVerdict, delivered
from .files import WorkspaceFiles
from .limits import LIMIT_WORDS, OLDER_WORDS, read_limits
from .notification_plan import NotificationRequest
from .opening import checked_for_secrets, open_request
from .schedules.making import (
    KEPT,
    WantedSchedule,
    add_schedule,
    list_schedules,
    pause_schedule,
    remove_schedule,
    resume_schedule,
)
from .schedules.runner import Runner
from .tokens.capability import OWNER
from .tokens.opening import again_as, limits_given, open_as, raise_to
from .tokens.removing import remove

NEWS_PATIENCE = 10.0
"""Seconds for which `notify` waits for its messages to arrive."""


class DiscussionFailed(RoundtableError):
    """The discussion ended without a verdict. `state` holds what was said."""

    def __init__(self, state: State) -> None:
        closed = state.closed
        super().__init__(
            closed.detail if closed else "The discussion has no verdict.",
            closed.remedy if closed else "",
        )
        self.state = state


class Roundtable:
    """A table to put questions to.

    ::

        async with Roundtable() as table:
            verdict = await table.ask("Postgres or MongoDB for a small SaaS?")
            print(verdict.headline, verdict.answer)
    """

    def __init__(
        self,
        *,
        home: str | Path | None = None,
        db: str | Path | None = None,
        model: str | None = None,
        env: Mapping[str, str] | None = None,
        ledger: Ledger | None = None,
        speakers: Mapping[str, Speaker] | None = None,
        search: Search | None = None,
        asker: Asker | None = None,
        workspace: str | Path | None = None,
        send_fn: SendFn | None = None,
    ) -> None:
        """Without arguments it uses what the user configured.

        `home` stands in for ROUNDTABLE_HOME, `db` for ROUNDTABLE_DB, `model` for the default model.
        `speakers` are the caller's own, seated as `scripted/NAME`. `env` stands in for the
        process's environment. `workspace` is the folder for files that a procedure writes before
        it closes, such as a meeting's conclusion; without one it writes none. `send_fn` gets
        (platform, chat_id, message) of all news, in place of the configured channels; it may be
        async, and whatever it does holds up no discussion.
        """
        self._home = Path(home).expanduser() if home is not None else None
        self._db = str(db) if db is not None else None
        self._model = model
        self._env = env
        self._ledger = ledger
        self._speakers = speakers
        self._search = search
        self._asker = asker
        self._send_fn = send_fn
        self._delivery = WorkspaceFiles(Path(workspace)) if workspace is not None else None
        self._stack = AsyncExitStack()
        self._app: App | None = None
        self._driving: set[asyncio.Task[State]] = set()

    async def __aenter__(self) -> Roundtable:
        self._app = await self._stack.enter_async_context(
            start(
                self._settings(),
                env=self._env,
                ledger=self._ledger,
                scripts=self._speakers,
                search=self._search,
                asker=self._asker,
                delivery=self._delivery,
                send_fn=self._send_fn,
            )
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Interrupts what is still being discussed; `run` can take it up again."""
        for driving in list(self._driving):
            await _ended(driving)
        self._app = None
        await self._stack.aclose()

    async def ask(self, question: str, **request: Any) -> DeliveredVerdict:
        """Put a question to the table and return its verdict: `answer` is what the table chose,
        empty if it chose nothing, and `written` what its writer wrote.

        Takes what `open` takes. DiscussionFailed if too few answered.
        """
        state = await self.open(question, **request)
        state = await self.run(state.discussion_id)
        if (verdict := delivered(state)) is None:
            raise DiscussionFailed(state)
        return verdict

    async def discuss(self, question: str, **request: Any) -> AsyncGenerator[StoredEvent, None]:
        """Put a question to the table and follow its events until it is closed.

        Takes what `open` takes. Leaving the iterator early interrupts the discussion, which
        `run` can take up again; Python closes an iterator that was left by `break` only some time
        later, so close it with `contextlib.aclosing` before you do.
        """
        state = await self.open(question, **request)
        driving = asyncio.create_task(self.run(state.discussion_id))
        # An iterator that is left by `break` is closed some time later, the table here and now.
        self._driving.add(driving)
        driving.add_done_callback(self._driving.discard)
        events = self.events(state.discussion_id)
        try:
            while True:
                coming = asyncio.create_task(_next(events))
                try:
                    await asyncio.wait([coming, driving], return_when=asyncio.FIRST_COMPLETED)
                    if driving.done():
                        driving.result()  # a run that broke down closes nothing: this ends here
                    record = await coming
                finally:
                    await _ended(coming)
                if record is None:
                    break
                yield record
            await driving
        finally:
            await _ended(driving)
            await events.aclose()

    async def open(
        self,
        question: str,
        *,
        procedure: str | None = None,
        context: Sequence[str | Material] = (),
        language: str | None = None,
        budget: Budget | Mapping[str, float | None] | str | None = None,
        max_cost: float | None = None,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_time: float | None = None,
        pace: Pace | None = None,
        follows: str = "",
        here: bool = False,
        context_from: str | Sequence[str] = (),
        search: bool = True,
        secrets: OnSecrets | None = None,
        created_by: str = "",
        news: NotificationRequest = None,
        confidential: bool = False,
        enable_chat_room: bool | None = None,
        clarify: bool = False,
        **options: Any,
    ) -> State:
        """Seat a table without letting anybody speak yet. `options` belong to the procedure, such
        as `quick=True` or `preset="cheap"` for the council: docs/reference/options.md has them
        all. `pace` says how long speakers may keep silent and how much they think, as
        `Pace(first_word=300)`.

        `max_cost` in US dollars, `max_calls`, `max_tokens` and `max_time` in seconds are limits,
        each in place of the user's own; `budget={"max_cost": 0.5}` says the same, a `Budget` stands
        in for all of the user's, and "low", "medium" or "high" is the council's level. UsageError,
        and nothing is opened, for what is no limit.

        `follows` names a discussion that is over: its table is asked, with its record in hand,
        unless a procedure or options are named; `context_from` are others to have in hand. Where
        models are called at another address than they were in what it follows, it is refused
        (HeldElsewhere) unless `here` says that this is wanted.

        `news` says who is told: names of channels, or `{"channels": [{"platform": …,
        "chat_id": …}], "events": […]}`; without it the settings decide. `confidential`: nobody
        is. `enable_chat_room`: all can be read along in the channel `chat-room`. `clarify`: you
        will `answer` what the host asks; else it says what it assumes. `secrets`: what becomes of
        likely secrets in question and context; SecretsFound unless something is said.
        """
        if isinstance(budget, str):
            options["budget"], budget = budget, None
        words = {
            "max_cost": max_cost,
            "max_calls": max_calls,
            "max_tokens": max_tokens,
            "max_time": max_time,
            **{word: options.pop(word) for word in OLDER_WORDS if word in options},
        }
        request = open_request(
            self._joined.settings,
            question,
            surface="python",
            procedure=procedure,
            options=options,
            context=context,
            language=language,
            budget=_limits_among(words, budget),
            pace=pace,
            follows=follows,
            here=here,
            context_from=context_from,
            search=search,
            secrets=secrets,
            created_by=created_by,
            news=news,
            confidential=confidential,
            chat_room=enable_chat_room,
            clarify=clarify,
        )
        return (await open_as(self._joined, OWNER, request))[0]

    async def schedule(
        self,
        question: str,
        *,
        cron: str = "",
        zone: str = "UTC",
        at: str = "",
        monthly_usd: float | None = None,
        **request: Any,
    ) -> Schedule:
        """Have a question put to a table at the times of a cron expression, or once `at` a time.
        `request` are `procedure`, `options`, `context`, `language`, `budget` or its single limits,
        `search`, `news`, `confidential` and `secrets`, as `open` takes them; the options as one
        dictionary. Whoever serves, a worker, or `run_due` opens it."""
        words = {word: request.pop(word) for word in _LIMITS if word in request}
        if unknown := request.keys() - set(KEPT):
            raise UnknownName("part of a schedule", min(unknown), (*KEPT, *LIMIT_WORDS))
        request["budget"] = _limits_among(words, request.get("budget"))
        request["context"] = [
            Material(source=f"context {n}", text=each) if isinstance(each, str) else each
            for n, each in enumerate(request.get("context", ()), 1)
        ]
        wanted = WantedSchedule(question, cron, zone, at, monthly_usd, request)
        return await add_schedule(self._joined, OWNER, wanted, surface="python", made_by="library")

    async def schedules(self) -> list[Schedule]:
        """All of them, the oldest first."""
        return await list_schedules(self._joined, OWNER)

    async def pause_schedule(self, schedule_id: str) -> Schedule:
        """Open nothing more until it is resumed."""
        return await pause_schedule(self._joined, OWNER, schedule_id, by="library")

    async def resume_schedule(self, schedule_id: str) -> Schedule:
        """Go on with the next time that comes."""
        return await resume_schedule(self._joined, OWNER, schedule_id)

    async def remove_schedule(self, schedule_id: str) -> Schedule:
        """It is gone; what it has opened stays."""
        return await remove_schedule(self._joined, OWNER, schedule_id)

    async def run_due(self) -> list[State]:
        """Open what schedules have due now, and drive it to its end."""
        opened: list[str] = []
        runner = Runner(self._joined, opened.append, who=f"{this_owner()} library")
        await runner.run_due()
        return [await self._joined.service.run(each) for each in opened]

    async def follow_up(
        self, discussion_id: str, question: str, **request: Any
    ) -> DeliveredVerdict:
        """Put a further question to the table of a discussion that is over, with its record in
        hand, and return the verdict. `request` is what `open` takes; a procedure or options of one
        set another table. NotAllowed if there is nothing to go on from."""
        return await self.ask(question, follows=discussion_id, **request)

    async def ask_again(
        self,
        discussion_id: str,
        stage: str,
        *,
        here: bool = False,
        budget: Budget | Mapping[str, float | None] | None = None,
        **limits: float | None,
    ) -> State:
        """Ask the last stage of a discussion that is over once more, alone, perhaps with other
        limits as in `resume`; what is said then counts. NotAllowed while it runs, and for any other
        stage; `here` as in `run`."""
        id_ = await self._id(discussion_id)
        higher = await self._limits(id_, limits, budget)
        await again_as(self._joined, OWNER, id_, stage, by="library", here=here, limits=higher)
        return await self._joined.service.run(id_, here=here)

    async def compare(self, discussion_id: str, other: str) -> Comparison:
        """Two discussions side by side: answers, votes, confidence, positions, costs."""
        return Comparison.of(await self.read(discussion_id), await self.read(other))

    async def _id(self, called: str) -> str:
        """The discussion that is meant: all methods take an id, the beginning of one, or `last`."""
        return await self._joined.service.find(called)

    async def run(
        self, discussion_id: str, *, on_draft: OnDraft = no_drafts, here: bool = False
    ) -> State:
        """Drive a discussion to its end from wherever it stands. No finished call is repeated.
        HeldElsewhere if its models are called at another address now, unless `here` says that this
        is wanted; CannotGoOn if they cannot be called. Both leave it as it is."""
        id_ = await self._id(discussion_id)
        return await self._joined.service.run(id_, on_draft=on_draft, here=here)

    def events(self, discussion_id: str, *, after: int = 0) -> AsyncGenerator[StoredEvent, None]:
        """Every event after a cursor, those to come included, until the discussion is closed."""
        return self._events(discussion_id, after)

    async def _events(self, discussion_id: str, after: int) -> AsyncGenerator[StoredEvent, None]:
        found = await self._id(discussion_id)
        async with aclosing(self._joined.service.events(found, after=after)) as events:
            async for record in events:
                yield record

    async def read(self, discussion_id: str) -> State:
        """A discussion as it stands."""
        return await self._joined.service.read(await self._id(discussion_id))

    async def speak(
        self,
        discussion_id: str,
        participant: str,
        text: str,
        declaration: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
    ) -> Heard:
        """Record a speech from outside: by the host at any time, or in a participant's turn, with
        what it holds in the fields of `declaration`. The answer says what those lack; NotAllowed if
        they cannot be read, and then nothing is recorded."""
        return await self._joined.service.hear(
            await self._id(discussion_id), participant, text, declaration, key=key
        )

    async def stop(self, discussion_id: str, *, reason: str = "") -> State:
        """End a discussion with what exists."""
        return await self._joined.service.stop(
            await self._id(discussion_id), by="library", reason=reason
        )

    async def pause(self, discussion_id: str, *, reason: str = "") -> State:
        """Let nobody begin a new turn; whoever speaks finishes."""
        return await self._joined.service.pause(
            await self._id(discussion_id), by="library", reason=reason
        )

    async def resume(
        self,
        discussion_id: str,
        *,
        budget: Budget | Mapping[str, float | None] | None = None,
        **limits: float | None,
    ) -> State:
        """Let a paused discussion go on, within other `max_cost`, `max_calls`, `max_tokens` or
        `max_time` (or a `budget` of them), or one that ended for want of budget, with higher ones:
        whoever drives it does, or the next `run`."""
        id_ = await self._id(discussion_id)
        higher = await self._limits(id_, limits, budget)
        if higher is not None:
            state = await self._joined.service.read(id_)
            await raise_to(self._joined, OWNER, state, higher, by="library")
        return await self._joined.service.resume(id_, by="library")

    async def _limits(
        self,
        id_: str,
        words: Mapping[str, float | None],
        budget: Budget | Mapping[str, float | None] | None,
    ) -> Limits | None:
        state = await self._joined.service.read(id_)
        if isinstance(budget, Budget):
            budget = {WORDS[name]: most for name, most in budget if most is not None}
        given = _limits_among(words, budget) or {}
        if not isinstance(given, Mapping):
            read_limits(given)  # says what limits look like
        return limits_given(self._joined, state, given, surface="python")

    async def skip(self, discussion_id: str, participant: str) -> State:
        """Do without the turn that a participant has now."""
        return await self._joined.service.skip(
            await self._id(discussion_id), participant, by="library"
        )

    async def add_material(
        self, discussion_id: str, text: str, *, source: str, secrets: OnSecrets | None = None
    ) -> State:
        """Put a document on the table: every later prompt carries it. SecretsFound as in `open`."""
        material = Material(source=source, text=text)
        (material,) = checked_for_secrets(self._joined.settings, [material], secrets)
        return await self._joined.service.add_material(
            await self._id(discussion_id), material, by="library"
        )

    async def answer(self, discussion_id: str, answers: Sequence[str]) -> State:
        """Answer what the host asked, in its order (`clarify=True` at the opening)."""
        return await self._joined.service.answer(await self._id(discussion_id), answers)

    async def extend(self, discussion_id: str, rounds: int) -> State:
        """Give a meeting or an adaptive discussion more rounds."""
        return await self._joined.service.extend(
            await self._id(discussion_id), rounds, by="library"
        )

    async def advance(self, discussion_id: str) -> State:
        """End the open round of a meeting by hand."""
        return await self._joined.service.advance(await self._id(discussion_id), by="library")

    async def vote_to_end(self, discussion_id: str, participant: str, in_favour: bool) -> State:
        """Record a participant's vote on ending a meeting."""
        return await self._joined.service.vote_to_end(
            await self._id(discussion_id), participant, in_favour
        )

    async def conclude(self, discussion_id: str, text: str) -> State:
        """End a meeting as its chair, with these words as its conclusion."""
        return await self._joined.service.conclude(await self._id(discussion_id), text)

    async def record_outcome(self, discussion_id: str, turned_out: str, *, note: str = "") -> State:
        """Say how the decision of a closed discussion turned out: `good`, `mixed` or `bad`. A
        later word replaces it."""
        return await self._joined.service.record_outcome(
            await self._id(discussion_id), turned_out, note=note, by="library"
        )

    async def discussions(
        self, *, limit: int | None = None, search: str | None = None
    ) -> list[DiscussionSummary]:
        """The discussions of this ledger, the most recently changed first."""
        return await self._joined.service.summaries(limit=limit, search=search)

    async def notify(self, discussion_id: str, kind: str) -> list[str]:
        """Send news of a kind now, as things stand, and return the ids of the messages. What
        became of them: `outbox_of` of the events, or `roundtable notify status`."""
        ids = await self._joined.notifier.fire(await self._id(discussion_id), kind, by="library")
        await self._joined.notifier.pump([discussion_id], patience=NEWS_PATIENCE)
        return ids

    async def delete(self, discussion_id: str) -> None:
        """Remove a discussion for good."""
        await remove(self._joined, await self._id(discussion_id))

    @property
    def _joined(self) -> App:
        if self._app is None:
            raise RuntimeError("use it as `async with Roundtable(...) as table:`")
        return self._app

    def _settings(self) -> Settings:
        """The user's settings with this table's own laid over them."""
        env = dict(os.environ if self._env is None else self._env)
        if self._home is not None:
            env["ROUNDTABLE_HOME"] = str(Path(self._home).expanduser().absolute())
        settings = read_settings(env, workspace_of(env))
        if self._model is not None:
            settings = settings.with_model(self._model)
        if self._db is None:
            return settings
        choices = settings.choices.model_copy(update={"db": self._db})
        return settings.model_copy(update={"choices": choices})


_LIMITS = (*LIMIT_WORDS, *OLDER_WORDS)


def _limits_among(words: Mapping[str, Any], budget: Any) -> Any:
    """The limits of a request, which stand in its budget, or beside it."""
    given = {word: value for word, value in words.items() if value is not None}
    if given and budget is not None:
        raise UsageError(
            f"{listed(list(given))} and a budget are given.", "Give all limits in one of the two."
        )
    return given or budget


async def _next(events: AsyncIterator[StoredEvent]) -> StoredEvent | None:
    return await anext(events, None)


async def _ended(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
