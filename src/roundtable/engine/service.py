"""The service: what every surface calls. One core behind every door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

from ..core.decide import Procedure, decide
from ..core.effects import Deliver
from ..core.errors import (
    LeaseHeld,
    LedgerError,
    NotAllowed,
    UnknownDiscussion,
    UsageError,
)
from ..core.events import (
    CostEstimated,
    Event,
    NewEvent,
    SpeechGiven,
    StopRequested,
    StoredEvent,
)
from ..core.limits import NO_LIMITS, Limits
from ..core.state import State, fold
from ..core.values import EXAMPLE, Budget, Material, Participant
from ..ports import (
    QUEUED,
    Asker,
    Casting,
    DiscussionSummary,
    Lease,
    Ledger,
    Models,
    Notifications,
    Queue,
)
from ..procedures import PROCEDURES, procedure_spec
from ..procedures.opening import (
    OpenRequest,
    checked_budget,
    checked_context,
)
from ..procedures.spec import ProcedureSpec
from ..rehearsal.estimate import Estimate, estimate
from ..rehearsal.lengths import NOTHING_HEARD
from ..views.driving import runs_by_itself
from .caps import kept_to, limits_of, within
from .chairs_word import ChairsWord
from .deliver import deliver
from .drive import LEASE_TTL, decided_events, drive
from .external import Heard
from .find import LAST, find_discussion
from .journal import Journal, Keyed
from .learned import Learned
from .loop_gate import BEGINS, waits
from .moderation import (
    answered,
    asked_again,
    checked_words,
    concluded,
    extended,
    joined,
    left,
    limits_raised,
    material_added,
    outcome_recorded,
    overdue,
    paused,
    resumed,
    round_ended,
    skipped,
    vote,
)
from .opening import Opening, Remarks
from .outage import Notice, OnNotice, Outage, no_notices, take_in
from .outside_turn import outside_speech, repeated
from .past import Past
from .states import States
from .tools import OnDraft, OnEvent, Tools, no_drafts, no_events
from .ways import check_ways, is_called

if TYPE_CHECKING:
    from ..procedures.custom.spec import UserProcedures


LARGEST_CURSOR = 2**53
"""What JavaScript still counts exactly."""
DriveBy = Literal["auto", "here", "workers"]
"""Who drives what surfaces open and nobody waits for: workers if there are some, or always one."""


class Service:
    """Open, run, resume, stop, speak, read, list, delete. Each call may come from another process:
    what it keeps of a discussion is only how far it was read, and every call reads on from there.
    The calls of one service belong to one event loop at a time."""

    def __init__(
        self,
        ledger: Ledger,
        tools: Tools,
        models: Callable[[], Awaitable[Models]],
        *,
        owner: str,
        defaults: Mapping[str, Mapping[str, Any]],
        casting: Casting | None = None,
        own: UserProcedures | None = None,
        news: Notifications | None = None,
        remarks: Remarks = lambda _: (),
        archive: Ledger | None = None,
        queue: Queue | None = None,
        drive_by: DriveBy = "auto",
        caps: Limits = NO_LIMITS,
    ) -> None:
        """`models` finds out what can speak now, when a discussion is opened; `defaults` holds
        the user's stored options for each procedure; `casting` chooses experts for those that
        wish for some; `own` holds the user's own procedures; `news` tells others;
        `remarks` are notes on what surrounds a discussion with these participants; `archive` is
        where earlier discussions are, if that is another ledger; `queue` is where discussions wait
        for workers, where there can be any, and `drive_by` who drives what nobody waits for; `caps`
        are what no discussion that goes on from here may pass, whatever it was opened with."""
        self._ledger = ledger
        self._tools = tools
        self._owner = owner
        self._notifications = news
        self._states = States(ledger)
        self._queue = queue
        self._drive_by = drive_by
        self._caps = caps
        self.coming: set[str] = set()
        """What this process is about to drive, or drives: nobody is told that it is interrupted
        before the ledger knows."""
        self._opening = Opening(
            ledger=ledger,
            archive=archive or ledger,
            tools=tools,
            models=models,
            defaults=defaults,
            past=Past(ledger),
            casting=casting,
            own=own,
            news=news,
            remarks=remarks,
            queue=queue,
            coming=self.coming,
        )
        self._learned = Learned(self._opening.archive)

    def with_ledger(self, ledger: Ledger) -> Service:
        """The same service over another ledger, such as one in memory for a dry run."""
        opening = self._opening
        return Service(
            ledger,
            self._tools,
            opening.models,
            owner=self._owner,
            defaults=opening.defaults,
            casting=opening.casting,
            own=opening.own,
            remarks=opening.remarks,
            archive=opening.archive,
            caps=self._caps,
        )

    async def open(
        self, request: OpenRequest, *, key: str | None = None, queued: bool = False
    ) -> State:
        """Put a topic to a table. Nobody speaks yet, and nothing is spent. With the `key` of an
        earlier call the discussion that it opened is returned. With `queued` a worker drives it:
        it waits for one from its first event on."""
        if queued:
            self.check_queue()
        state = await self._opening.open(request, key, queued=queued)
        if procedure_spec(state.start.procedure).moderation:
            self._tell_of(state)  # it may go on without ever being driven
        return state

    async def opened_with(self, key: str) -> State | None:
        """The discussion that an earlier call with this key opened."""
        return await self._opening.opened_with(key)

    async def follow_up(
        self, discussion_id: str, question: str, *, by: str = "", key: str | None = None
    ) -> State:
        """Put a further question to the table of an earlier discussion, with its record in hand."""
        request = OpenRequest(question, created_by=by, follows=discussion_id, same_table=True)
        return await self.open(request, key=key)

    async def find(self, called: str) -> str:
        """The id of the discussion that is meant: `last`, an id, or the beginning of one."""
        return await find_discussion(self._ledger, called)

    async def run(
        self,
        discussion_id: str,
        *,
        on_draft: OnDraft = no_drafts,
        on_event: OnEvent = no_events,
        on_notice: OnNotice = no_notices,
        asker: Asker | None = None,
        lease: Lease | None = None,
        leaving: asyncio.Event | None = None,
        here: bool = False,
    ) -> State:
        """Drive a discussion to its end, from wherever it stands. A closed one is returned as it
        is. LeaseHeld if another process drives it, LeaseLost if one took over; LedgerGone if the
        database went away and did not come back; as in `check_ways` if it cannot go on from here.
        It spends no more than the caps of now allow: where they are lower than its limits, that is
        recorded first.
        `on_notice` is told when it goes and comes, and where this one has to wait until it may
        begin.

        Whoever has a `lease` already brings it, and keeps it. Once `leaving` is set no call
        begins any more, and the discussion is returned as it stands when those under way are over.
        """
        await self._let_in(discussion_id, on_notice)
        outage = self._outage(discussion_id, on_notice)
        state = await outage.through(lambda: self.read(discussion_id))
        if state.closed is not None:
            return state
        self._tell_of(state)
        if self._notifications is not None and _wants_threads(state):
            await self._notifications.greeted(
                discussion_id
            )  # a thread comes before all that is told in it
        tools = replace(
            self._tools,
            on_draft=on_draft,
            asker=asker or self._tools.asker,
            leaving=leaving,
            # Only where something is limited must be known how much a call will say.
            lengths=await self._learned.lengths() if self._is_limited(state) else NOTHING_HEARD,
        )
        del state  # the journal has its own
        async with self._driven(discussion_id, outage, on_event, lease) as journal:
            await self._check_ways(journal.state, here=here)
            await journal.record_checked(partial(kept_to, self._caps))
            spec = procedure_spec(journal.state.start.procedure)
            await drive(journal, spec.procedure, tools)
            return journal.state

    def _is_limited(self, state: State) -> bool:
        return within(limits_of(state), self._caps).budget != Budget()

    async def check_ways(self, discussion_id: str, *, here: bool = False) -> None:
        """HeldElsewhere if what was said in a discussion would go to another server than it was
        held on, unless that is wanted (`here`); CannotGoOn if those who are to speak cannot be
        called. Nothing is stored then, and it can go on later."""
        await self._check_ways(await self.read(discussion_id), here=here)

    async def _check_ways(self, state: State, *, here: bool) -> None:
        seats, host = state.participants, state.start.host
        # Nobody is called any more to end what is to be stopped, nor of a recorded example, which
        # the ledger refuses with its own reason.
        ending = state.stop_requested is not None and state.closed is None
        uncalled = ending or state.discussion_id.startswith(EXAMPLE)
        if not uncalled and any(is_called(seat) for seat in (*seats, host)):
            models = await self._opening.models()
            check_ways(models, state.discussion_id, seats, host, here=here)

    async def by_workers(self) -> bool:
        """Whether workers drive what is opened now and not waited for."""
        if self._drive_by == "workers" and self._queue is None:
            raise no_queue()
        if self._drive_by == "auto":
            return await self.has_workers()
        return self._drive_by == "workers"

    def check_queue(self) -> None:
        """UsageError where there can be no workers."""
        if self._queue is None:
            raise no_queue()

    async def has_workers(self) -> bool:
        return self._queue is not None and await self._queue.has_workers()

    async def enqueue(self, discussion_id: str, *, priority: int = 0, let_in: bool = False) -> bool:
        """Let a worker go on with a discussion, in the line of whose it is; False if it waits
        already, or a worker has it. One that was set aside is tried again. TooBusy if too many
        wait, unless it was `let_in` before."""
        if self._queue is None:
            raise no_queue()
        state = await self.read(discussion_id)
        if not await self._is_taken(discussion_id):
            # The worker's own caps may be higher than those of whoever lets it go on.
            journal = await self._journal(discussion_id)
            await journal.record_checked(partial(kept_to, self._caps))
        return await self._queue.put(
            discussion_id, by=state.start.account, priority=priority, let_in=let_in
        )

    async def check_room(self, discussion_id: str) -> None:
        """TooBusy where a worker would go on with it, and too many wait already: for whoever
        changes something before it is queued."""
        if self._queue is None or await self._is_taken(discussion_id):
            return
        state = await self.read(discussion_id)
        if runs_by_itself(state):
            await self._queue.check_room(state.start.account)

    async def _let_in(self, discussion_id: str, on_notice: OnNotice) -> None:
        """Wait until this process can carry one more."""
        told = False

        def tell(before: int) -> None:
            nonlocal told
            told = True
            on_notice(Notice(discussion_id, away=False, text=waits(before), waiting=True))

        await self._tools.loop_gate.begin(discussion_id, tell)
        if told:
            on_notice(Notice(discussion_id, away=False, text=BEGINS))

    async def estimate(self, state: State) -> Estimate:
        """What a discussion will take from where it stands, by a rehearsal and by what earlier ones
        show. Nobody is called, and nothing is stored."""
        spec = procedure_spec(state.start.procedure)
        lengths = await self._learned.lengths()
        dearest = self._tools.dearest_price
        return estimate(state, spec.procedure, lengths, compares=spec.compares, dearest=dearest)

    async def tell_estimate(self, state: State, on_notice: OnNotice | None = None) -> Estimate:
        """The same, stored with the discussion, so that it can be held against what it took. Where
        the database went away, whoever is told of it waits; others do without."""
        told = await self.estimate(state)
        id_, event = state.discussion_id, CostEstimated(expected=told.expected)

        async def store() -> None:
            await self.record(id_, event, key="estimate")

        if on_notice is not None:
            await self._outage(id_, on_notice).through(store)
            return told
        try:
            await store()
        except LedgerError as error:
            if not error.temporary:
                raise
        return told

    async def take_in(self, tell: Callable[[str], None] = lambda _: None) -> None:
        """Store what processes that are gone could not, because the database was away. Of what
        belongs to no discussion of this ledger is told: its database may have been lost."""
        rescue = self._tools.rescue
        for discussion_id in rescue.waiting() if rescue is not None else ():
            # Whoever drives it takes it in; and where the database is away, it waits on.
            with suppress(LeaseHeld, LedgerError):
                try:
                    async with self._driven(discussion_id):
                        pass
                except UnknownDiscussion:
                    assert rescue is not None, "something waits there"
                    tell(
                        f"Answers of {discussion_id} wait in {rescue.where(discussion_id)}, but "
                        "this database does not know that discussion. Bring back the database that "
                        "does; if it is lost, remove the file."
                    )

    async def stop(
        self, discussion_id: str, *, by: str, reason: str = "", key: str | None = None
    ) -> State:
        """End a discussion with what exists. Its driver closes it, or this call if it has none.
        With the same `key` a repeated call asks for nothing new."""
        journal = await self._journal(discussion_id)
        mark = f"act/{key}" if key else "stop"

        def build(state: State) -> list[Keyed]:
            if key and mark in journal.keys:
                return []
            if state.closed is not None:
                raise NotAllowed(f"{discussion_id} is already closed.", "There is nothing to stop.")
            # One that was asked to stop before its last stage was asked again can be stopped anew.
            once = mark if mark not in journal.keys else None
            return [(StopRequested(by=by, reason=reason), once)] if not state.stop_requested else []

        await journal.record_checked(build)
        with suppress(LeaseHeld):
            return await self.run(discussion_id)
        return journal.state.branch()

    async def speak(
        self,
        discussion_id: str,
        participant: str,
        text: str,
        declaration: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
    ) -> SpeechGiven:
        """Record a speech from outside the program.

        The host (`coordinator`) may remark at any time; later prompts carry the remark. A
        participant fills its own open turn, in place of its speaker, and says in the fields of
        `declaration` what it holds. With the same `key` a repeated call records nothing new.
        """
        return (await self.hear(discussion_id, participant, text, declaration, key=key)).speech

    async def hear(
        self,
        discussion_id: str,
        participant: str,
        text: str,
        declaration: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
    ) -> Heard:
        """As `speak`, with what its declaration lacks. NotAllowed, and nothing is recorded, if the
        declaration cannot be read."""
        words = checked_words("speech", text, "Say something, or leave the turn open.", declaration)
        journal = await self._journal(discussion_id)
        await self._carry_on(journal)
        given: list[Heard] = []
        before: list[SpeechGiven] = []

        def build(state: State) -> list[Keyed]:
            if key and (speech := repeated(state, participant, key)):
                before[:] = [speech]
                return []
            given[:] = [outside_speech(state, participant, words, declaration, key or "")]
            # A turn has one outcome, whoever brings it: the engine uses the same key.
            return [(given[0].speech, state.outcome_key(given[0].speech.turn_id))]

        await journal.record_checked(build)
        await self._carry_on(journal)
        self._tell_of(journal.state)
        if before:
            remarks = await self._remarks_again(before[0], discussion_id, words, declaration)
            return Heard(before[0], remarks)
        return replace(
            given[0], speech=journal.state.speech(given[0].speech.turn_id) or given[0].speech
        )

    async def _remarks_again(
        self,
        speech: SpeechGiven,
        discussion_id: str,
        text: str,
        declaration: Mapping[str, Any] | None,
    ) -> tuple[str, ...]:
        """What was said to a speech when it was first given: a repeated call has one answer."""
        records = await self._ledger.read(discussion_id)
        before = takewhile(lambda r: getattr(r.event, "turn_id", "") != speech.turn_id, records)
        with suppress(NotAllowed):
            state = fold(list(before))
            who = speech.participant
            if who != state.start.host.id:
                return outside_speech(state, who, text, declaration, speech.key).remarks
        return ()

    async def pause(self, discussion_id: str, *, by: str, reason: str = "") -> State:
        """Let nobody begin a new turn until it is resumed; whoever speaks finishes."""
        return await self._act(discussion_id, lambda state: paused(state, by, reason))

    async def resume(self, discussion_id: str, *, by: str) -> State:
        """Let a paused discussion go on. Its driver does, or the next `run`."""
        return await self._act(discussion_id, lambda state: resumed(state, by))

    async def ask_again(
        self,
        discussion_id: str,
        stage: str,
        *,
        by: str,
        here: bool = False,
        limits: Limits | None = None,
    ) -> State:
        """Open the last stage of a closed discussion once more, perhaps with other limits: the
        next `run` asks it alone, and what is said then counts; where nothing comes of it, what was
        said before stands. NotAllowed while it runs, for any other stage, and where the limits
        allow no call any more; as in `check_ways` if nobody could."""
        journal = await self._journal(discussion_id)
        if limits is not None:
            checked_budget(limits.budget)
        again = partial(asked_again, stage=stage, by=by, limits=limits, caps=self._caps)
        again(journal.state)
        await self._check_ways(journal.state, here=here)
        await journal.record_checked(again)
        return journal.state.branch()

    async def raise_limits(
        self, discussion_id: str, limits: Limits, *, by: str, here: bool = False
    ) -> State:
        """Let a discussion spend up to these limits, be they higher or lower than before, or the
        first. One that a spent budget ended, and that may spend more of it now, is open again where
        it ended: the next `run` goes on there, and what was said and paid stays. As in
        `check_ways` if it could not."""
        journal = await self._journal(discussion_id)
        checked_budget(limits.budget)
        if journal.state.closed is not None:
            limits_raised(journal.state, limits, by, self._caps)
            await self._check_ways(journal.state, here=here)
        await journal.record_checked(lambda state: limits_raised(state, limits, by, self._caps))
        return journal.state.branch()

    async def skip(self, discussion_id: str, participant: str, *, by: str) -> State:
        """Do without a participant's open turn."""
        spec = await self._spec(discussion_id)
        return await self._act(
            discussion_id, lambda state: skipped(state, spec.procedure, participant, by)
        )

    async def answer(
        self, discussion_id: str, answers: Sequence[str], *, key: str | None = None
    ) -> State:
        """Answer what the host asked, in its order; an empty answer leaves it to its assumption.
        NotAllowed if nothing is asked, or more is answered than was asked."""
        words = [
            checked_words("answer", each, "").strip() if each.strip() else "" for each in answers
        ]
        return await self._act(discussion_id, lambda state: answered(state, words), key)

    async def add_material(
        self, discussion_id: str, material: Material, *, by: str, key: str | None = None
    ) -> State:
        """Put a document on the table: every later prompt carries it."""
        checked = checked_context(material)
        return await self._act(
            discussion_id, lambda state: material_added(state, checked, by), key, kind="material"
        )

    async def extend(self, discussion_id: str, rounds: int, *, by: str) -> State:
        """Give the table more rounds than it was opened with."""
        spec = await self._spec(discussion_id)
        if not spec.extends:
            able = [each.name for each in PROCEDURES.values() if each.extends]
            raise NotAllowed(
                f"A {spec.name} has a fixed course: no round can be added.",
                f"Rounds can be added to: {', '.join(able)}.",
            )
        return await self._act(discussion_id, lambda state: extended(state, rounds, by))

    async def join(
        self,
        discussion_id: str,
        participant: Participant,
        *,
        by: str,
        model: str | None = None,
        key: str | None = None,
    ) -> State:
        """Seat one more at the table; `model` speaks for it in place of the speakers it brings."""
        await self._moderated(discussion_id)
        if model is not None:
            seat = (await self._opening.models()).seat(model, participant.name)
            participant = participant.model_copy(update={"speakers": seat.speakers})
        return await self._act(discussion_id, lambda state: joined(state, participant, by), key)

    async def leave(self, discussion_id: str, participant: str, *, by: str) -> State:
        """Take somebody from the table."""
        await self._moderated(discussion_id)
        return await self._act(discussion_id, lambda state: left(state, participant, by))

    async def record_outcome(
        self, discussion_id: str, turned_out: str, *, note: str = "", by: str
    ) -> State:
        """Say how the decision of a closed discussion turned out: good, mixed or bad. A later
        word replaces it. From ten on, outcomes count in how sure the next discussions are."""
        journal = await self._journal(discussion_id)
        await journal.record_checked(lambda state: outcome_recorded(state, turned_out, note, by))
        return journal.state.branch()

    async def newest(self) -> str:
        """The id of the discussion that was changed last; UnknownDiscussion if there is none."""
        return await self.find(LAST)

    async def record(
        self, discussion_id: str, event: Event, *, key: str | None = None
    ) -> list[StoredEvent]:
        """Append what happened around a discussion: news that was sent, tasks that were written.
        With a key that is there already, the stored event is returned in its place. It may come
        after the discussion is closed."""
        new = NewEvent(event, self._tools.clock.now(), key)
        return await self._ledger.append(discussion_id, [new])

    async def advance(self, discussion_id: str, *, by: str, key: str | None = None) -> State:
        """End the open round by hand; whoever has not spoken in it is absent from it. With the
        same `key` a repeated call ends no further round."""
        procedure = await self._moderated(discussion_id)
        return await self._act(discussion_id, lambda state: round_ended(state, procedure, by), key)

    async def vote_to_end(
        self, discussion_id: str, participant: str, in_favour: bool, *, key: str | None = None
    ) -> State:
        """Record a participant's vote on ending. Only its last one counts; all together end it."""
        await self._moderated(discussion_id)
        return await self._act(
            discussion_id, lambda state: vote(state, participant, in_favour), key
        )

    async def conclude(
        self, discussion_id: str, given: str | ChairsWord, *, key: str | None = None
    ) -> State:
        """End a discussion with these words of its host as its conclusion."""
        word = (ChairsWord(given) if isinstance(given, str) else given).checked()
        await self._moderated(discussion_id)
        return await self._act(discussion_id, lambda state: concluded(state, word.speech, key))

    async def settle(self, state: State) -> bool:
        """Go on without a coordinator from outside that was waited for too long, where nobody
        drives the discussion. Whether that was so."""
        spec = procedure_spec(state.start.procedure)
        if not spec.moderation or not overdue(state, spec.procedure, self._tools.clock.now()):
            return False
        now = self._tools.clock.now()
        await self._act(state.discussion_id, lambda state: overdue(state, spec.procedure, now))
        return True

    async def read(self, discussion_id: str) -> State:
        """The discussion as it stands, in a state that does not change any more."""
        return await self._states.snapshot(discussion_id)

    async def records(
        self, discussion_id: str, *, after: int = 0, limit: int | None = None
    ) -> list[StoredEvent]:
        """The events after a cursor. UsageError for one that no event can have."""
        return await self._ledger.read(discussion_id, after=_cursor(after), limit=limit)

    def events(self, discussion_id: str, *, after: int = 0) -> AsyncGenerator[StoredEvent, None]:
        """Every event after a cursor, those to come included, until the discussion is closed."""
        return self._ledger.tail(discussion_id, after=_cursor(after))

    async def summaries(
        self, *, limit: int | None = None, search: str | None = None, said: bool = False
    ) -> list[DiscussionSummary]:
        """The discussions of this ledger, the most recently changed first; with `said`, the search
        also looks through what was said."""
        found = await self._ledger.summaries(limit=limit, search=search, said=said)
        if not (here := self._tools.loop_gate.outside | self.coming):
            return found
        return [
            replace(row, driver=row.driver or self._owner) if row.discussion_id in here else row
            for row in found
        ]

    async def is_driven(self, discussion_id: str) -> bool:
        """Whether a process drives this discussion now, or will: it waits for a worker, or for its
        turn in this one."""
        return discussion_id in self.coming or await self._is_taken(discussion_id)

    async def _is_taken(self, discussion_id: str) -> bool:
        if discussion_id in self._tools.loop_gate.outside:
            return True
        return await self._ledger.driver(discussion_id) is not None

    async def is_queued(self, discussion_id: str) -> bool:
        """Whether it waits for a worker."""
        return await self._ledger.driver(discussion_id) == QUEUED

    async def delete(
        self, discussion_id: str, *, before: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Remove a discussion for good. LeaseHeld while somebody drives it. `before` is done once
        nobody can any more, while it is still there."""
        async with self._leased(discussion_id):
            if before is not None:
                await before()
            await self._ledger.delete(discussion_id)
        self._states.drop(discussion_id)

    def _tell_of(self, state: State) -> None:
        """Let the news of a discussion go out, if anybody is to hear of it."""
        if (
            self._notifications is not None
            and state.notification_plan is not None
            and state.notification_plan.enabled
        ):
            self._notifications.start(state.discussion_id)

    async def _moderated(self, discussion_id: str) -> Procedure:
        spec = await self._spec(discussion_id)
        if not spec.moderation:
            raise NotAllowed(
                f"A {spec.name} goes its own way: its rounds are not led by hand.",
                f"End it with what exists: roundtable stop {discussion_id}",
            )
        return spec.procedure

    async def _spec(self, discussion_id: str) -> ProcedureSpec:
        return procedure_spec((await self._states.newest(discussion_id)).state.start.procedure)

    async def _journal(self, discussion_id: str) -> Journal:
        """The journal of whoever acts by hand, from where this process has read on to."""
        return Journal(self._ledger, self._tools.clock, await self._states.newest(discussion_id))

    async def _act(
        self,
        discussion_id: str,
        build: Callable[[State], Sequence[Keyed]],
        key: str | None = None,
        kind: str = "act",
    ) -> State:
        """Record what somebody did by hand. Its driver goes on from there, or this call as far as
        that needs nobody's words. With the same `key` a repeated call records nothing new."""
        journal = await self._journal(discussion_id)
        await self._carry_on(journal)
        mark = f"{kind}/{key}" if key else ""

        def once(state: State) -> Sequence[Keyed]:
            return [] if mark in journal.keys else _marked(build(state), mark)

        await journal.record_checked(once)
        await self._carry_on(journal)
        self._tell_of(journal.state)
        return journal.state.branch()

    async def _carry_on(self, journal: Journal) -> None:
        """What follows without anybody's words: a discussion that people or outside agents hold
        among themselves moves on although nobody drives it. Safe beside a driver, because what
        was decided is only recorded if nothing came in between."""
        spec = procedure_spec(journal.state.start.procedure)
        while spec.moderation:
            state = journal.state
            effects = decide(state, spec.procedure)
            if events := decided_events(effects):
                await journal.record_decision(events, state.seq)
            elif any(isinstance(effect, Deliver) for effect in effects):
                await deliver(journal, self._tools.delivery)
            else:
                return

    @asynccontextmanager
    async def _driven(
        self,
        discussion_id: str,
        outage: Outage | None = None,
        on_event: OnEvent = no_events,
        brought: Lease | None = None,
    ) -> AsyncIterator[Journal]:
        """The journal of whoever drives a discussion, with all that earlier drivers have kept.
        Where the database is away, who brings an `outage` waits for it."""
        clock, rescue = self._tools.clock, self._tools.rescue
        holding = self._leased(discussion_id, outage) if brought is None else nullcontext(brought)
        async with holding as lease:
            load = partial(
                Journal.load,
                self._ledger,
                clock,
                discussion_id,
                lease,
                self._watched(on_event),
                outage or self._outage(discussion_id, no_notices),
            )
            journal = await (outage.through(load) if outage is not None else load())
            await take_in(journal, rescue)
            with self._tools.watch.driving() if self._tools.watch else nullcontext():
                yield journal

    def _outage(self, discussion_id: str, on_notice: OnNotice) -> Outage:
        return Outage(
            discussion_id,
            self._tools.clock,
            patience=self._tools.patience,
            rescue=self._tools.rescue,
            on_notice=on_notice,
        )

    def _watched(self, on_event: OnEvent) -> OnEvent:
        """Tells whoever looks on for the operator, too."""
        watch = self._tools.watch
        if watch is None:
            return on_event

        def both(record: StoredEvent, state: State) -> None:
            watch.event(record, state)
            on_event(record, state)

        return both

    @asynccontextmanager
    async def _leased(
        self, discussion_id: str, outage: Outage | None = None
    ) -> AsyncIterator[Lease]:
        take = partial(self._ledger.take_lease, discussion_id, self._owner, ttl=LEASE_TTL)
        lease = await (outage.through(take) if outage is not None else take())
        try:
            yield lease
        except asyncio.CancelledError:
            if outage is not None:
                outage.end()
            raise
        finally:
            release = partial(self._ledger.release_lease, lease)
            try:
                await (outage.at_last(release) if outage is not None else release())
            except LedgerError as error:
                if not error.temporary:
                    raise
                # It runs out by itself; and what was done under it stays done.


def no_queue() -> UsageError:
    return UsageError(
        "Workers need PostgreSQL: this ledger is a file, which belongs to one machine.",
        "Set ROUNDTABLE_DB to a postgresql:// address and start `roundtable worker`; or ask on the "
        "page of `roundtable serve`, which goes on in the background.",
    )


def _marked(events: Sequence[Keyed], mark: str) -> list[Keyed]:
    """The events of one act, the first of which without a key of its own bears the caller's."""
    marked = list(events)
    for place, (event, key) in enumerate(marked):
        if mark and key is None:
            marked[place] = (event, mark)
            break
    return marked


def _cursor(after: int) -> int:
    if 0 <= after <= LARGEST_CURSOR:
        return after
    raise UsageError(
        f"A cursor is a whole number from 0 to {LARGEST_CURSOR}.",
        "Give the number of the last event that you have seen, or 0.",
    )


def _wants_threads(state: State) -> bool:
    plan = state.notification_plan
    return plan is not None and plan.enabled and any(each.threads for each in plan.channels)
