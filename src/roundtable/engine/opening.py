"""Opening: a request becomes a table, and the table a discussion's first events.

What a follow-up brings along is read first, then experts and models are chosen, and the procedure
seats them. All of it is recorded in one step, with a place in the queue where a worker is to drive.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any

from ..core.condensing import PRESENT, ROOM, RULE, Cut, condensed, condensed_note
from ..core.errors import LedgerConflict, UnknownDiscussion
from ..core.events import (
    DiscussionOpened,
    FollowUpOpened,
    NewEvent,
    NewsPlanned,
    NoteAdded,
    StoredEvent,
)
from ..core.material import beginnings, refuse_too_much, size_of
from ..core.state import State, fold
from ..core.values import Material, Options, Participant
from ..ports import Casting, Ledger, ListedModels, Models, Notifications, Queue
from ..procedures import procedure_spec
from ..procedures.casting import can_cast
from ..procedures.casting_terms import CASTING, SHORTLIST, casting_terms, clarifying_terms
from ..procedures.follow_up import (
    may_be_continued,
    may_follow,
    same_table,
    with_its_procedure,
)
from ..procedures.messages import BY_WORDS
from ..procedures.opening import (
    OpenRequest,
    Seating,
    checked_budget,
    checked_context,
    checked_language,
    checked_topic,
)
from ..procedures.spec import ProcedureSpec
from ..procedures.vocabulary import named_models, names_table, seat_models
from ..rehearsal.room import room_for_documents
from ..version import __version__
from ..views.driving import calls_somebody, needs_driver
from .find import find_discussion
from .kept_models import KeptModels, kept_of, with_kept
from .past import Past
from .tools import Tools
from .ways import check_new_table, check_ways, placed

if TYPE_CHECKING:
    from ..procedures.custom.spec import UserProcedures

Remarks = Callable[[Sequence[Participant]], Sequence[NoteAdded]]


@dataclass(frozen=True, slots=True)
class Opening:
    """What is needed to open a discussion: whoever can speak, sit and be told, and where it is
    kept. `archive` is where earlier discussions are; the rest is as `Service` describes it."""

    ledger: Ledger
    archive: Ledger
    tools: Tools
    models: Callable[[], Awaitable[Models]]
    defaults: Mapping[str, Mapping[str, Any]]
    past: Past
    casting: Casting | None
    own: UserProcedures | None
    news: Notifications | None
    remarks: Remarks
    queue: Queue | None
    coming: Collection[str]
    """What this process is about to drive."""

    async def open(self, request: OpenRequest, key: str | None, *, queued: bool) -> State:
        """The new discussion, or the one that an earlier call with this key opened."""
        if key and (opened_before := await self.opened_with(key)):
            return opened_before
        await self.tools.loop_gate.step()
        request = replace(request, topic=checked_topic(request.topic))
        earlier = None
        if request.follows:
            earlier = may_be_continued(await self._to_follow(request.follows))
        request = replace(request, context=await self._material(request, earlier))
        if earlier is not None and request.same_table:
            spec = procedure_spec(earlier.start.procedure)
            seating = await self._seated_again(request, earlier)
        else:
            if earlier is not None:
                request = with_its_procedure(request, earlier, self.own)
            spec = procedure_spec(request.procedure, self.own)
            request, seating = await self._seated(request, spec, earlier)
        kept = await self._terms(request, spec, seating)
        return await self._record(request, spec, seating, kept, earlier, key, queued)

    async def opened_with(self, key: str) -> State | None:
        """The discussion that an earlier call with this key opened. Its id follows from the key,
        so that processes which know nothing of each other open one discussion together."""
        for number in count():
            try:
                (first,) = await self.ledger.read(id_ := _keyed_id(key, number), limit=1)
            except UnknownDiscussion:
                return None
            if first.key == _mark(key):
                return fold(await self.ledger.read(id_))
        raise AssertionError("the numbers do not end")

    async def _to_follow(self, called: str) -> State:
        found = await find_discussion(self.archive, called)
        state = fold(await self.archive.read(found))
        here = found in self.tools.loop_gate.outside or found in self.coming
        driven = here or await self.archive.driver(found) is not None
        return may_follow(state, interrupted=needs_driver(state) and not driven)

    async def _material(self, request: OpenRequest, earlier: State | None) -> tuple[Material, ...]:
        """What lies on the table from the start: what earlier discussions hand on, and what came
        with the question."""
        known = [earlier] if earlier else []
        for each in request.context_from:
            state = await self._to_follow(each)
            if all(state.discussion_id != other.discussion_id for other in known):
                known.append(state)
        given = (*_handed_on(known), *request.context)
        context = tuple(checked_context(material) for material in given)
        refuse_too_much(size_of(context))
        return context

    async def _seated_again(self, request: OpenRequest, earlier: State) -> Seating:
        """The table of an earlier discussion, if it can be called where it was, or here if that is
        wanted."""
        seating = same_table(earlier, request)
        models = await self.models()
        seats, host = seating.participants, seating.host
        id_ = earlier.discussion_id
        check_ways(models, id_, seats, host, here=request.here, opening=True)
        seats = tuple(placed(models, seat) for seat in seats)
        return replace(seating, participants=seats, host=placed(models, host))

    async def _seated(
        self, request: OpenRequest, spec: ProcedureSpec, earlier: State | None
    ) -> tuple[OpenRequest, Seating]:
        """A new table, and the request with the experts that were chosen for it. After an `earlier`
        discussion its models hold all seats, unless models are named for them, and at the same
        addresses, unless that is not wanted."""
        if self.tools.search is None:
            request = replace(request, search=False)
        defaults = self.defaults.get(spec.name, {})
        wanted = spec.casting_request(request, defaults)
        if wanted is not None and self.casting is not None:
            if request.host_casts and wanted.open:
                wanted = replace(wanted, shortlist=SHORTLIST)
            wanted = replace(
                wanted,
                material=beginnings(request.context),
                models=seat_models(spec.options, request.options),
            )
            chosen = await self.casting.choose(request.topic, wanted)
            if wanted.past:
                chosen = replace(chosen, past=await self.past.answers(request.topic))
            request = replace(request, chosen_experts=chosen)
        models = await self.models()
        await self.tools.loop_gate.step()
        named = named_models(spec.options, request.options)
        if isinstance(models, ListedModels):
            for name in named:
                models.insist(name)
        follows = earlier is not None and not names_table(request.options)
        now_there = models
        if earlier is not None and follows and (kept := kept_of(earlier)):
            request = with_kept(request, earlier, kept)
            if isinstance(models, ListedModels):
                now_there = KeptModels(models, kept, (*named, request.kept_host))
        seating = spec.seat(request, now_there, defaults)
        if earlier is not None and follows and not request.here:
            before = (*earlier.participants, earlier.start.host)
            now = (*seating.participants, seating.host)
            check_new_table(models, earlier.discussion_id, before, now)
        return request, seating

    async def _terms(self, request: OpenRequest, spec: ProcedureSpec, seating: Seating) -> Options:
        """What is kept in the options beside the procedure's own: what the past tells, and what
        the host may do before anybody speaks."""
        kept = await self.past.kept(request.topic, seating.participants)
        await self.tools.loop_gate.step()
        chosen = request.chosen_experts
        # The shortlist is there only where the host was to cast from it.
        if chosen and chosen.shortlist and can_cast(seating.participants, seating.host):
            terms = casting_terms(chosen.shortlist, chosen.library, ask=request.clarify)
            return {**kept, **terms}
        if request.host_casts and not request.same_table:
            within = spec.clarifies(request)
            if within is not None and can_cast(seating.participants, seating.host):
                return {**kept, **clarifying_terms(ask=request.clarify, within=within)}
        return kept

    async def _record(
        self,
        request: OpenRequest,
        spec: ProcedureSpec,
        seating: Seating,
        kept: Options,
        earlier: State | None,
        key: str | None,
        queued: bool,
    ) -> State:
        """Store the opening, and on the discussion that it follows that it does."""
        events = self._events(request, spec, seating, kept, earlier, key)
        everybody = (*seating.participants, seating.host)
        for number in count():
            id_ = _keyed_id(key, number) if key else self.tools.ids.discussion()
            with suppress(LedgerConflict):  # the id is taken: draw another
                if queued and self.queue is not None and calls_somebody(spec, everybody):
                    records = await self.queue.open(
                        id_, events, by=request.account, priority=request.priority
                    )
                else:
                    records = await self.ledger.append(id_, events, expected=0)
                if earlier is not None and self.archive is self.ledger:
                    link = FollowUpOpened(discussion_id=id_, by=request.created_by)
                    # A moment before, so that of the two the new one was changed last.
                    at = events[0].at - timedelta(microseconds=1)
                    before = NewEvent(link, at, f"follow-up/{id_}")
                    await self.ledger.append(earlier.discussion_id, [before])
                return fold(records)
            if key and (opened_before := await self.opened_with(key)):
                return opened_before
        raise AssertionError("the numbers do not end")

    def _events(
        self,
        request: OpenRequest,
        spec: ProcedureSpec,
        seating: Seating,
        kept: Options,
        earlier: State | None,
        key: str | None,
    ) -> list[NewEvent]:
        """The first events: what is opened, what there is to say about it, and who is told."""
        everybody = (*seating.participants, seating.host)
        opened = DiscussionOpened(
            topic=request.topic,
            context=request.context,
            procedure=spec.name,
            options={**seating.options, **kept},
            participants=seating.participants,
            host=seating.host,
            language=checked_language(seating.language),
            budget=checked_budget(request.budget),
            limits_from=dict(request.limits_from),
            seed=self.tools.ids.seed(),
            created_by=request.created_by,
            program_version=__version__,
            pace=request.pace,
            follows=earlier.discussion_id if earlier else "",
            files=request.files,
            account=request.account,
        )
        now = self.tools.clock.now()
        opened, cuts = self._condensed(opened, spec, now)
        chosen = request.chosen_experts
        by_words = chosen and chosen.by_words and CASTING not in kept
        notes = [
            *request.notes,
            *seating.notes,
            *([BY_WORDS] if by_words else ()),
            *self.remarks(seating.participants),
            *([condensed_note(cuts, everybody)] if cuts else ()),
        ]
        news = request.news
        if self.news is not None:
            news, warnings = self.news.planned(spec.name, news)
            notes += warnings
        events = [NewEvent(opened, now, _mark(key) if key else None)]
        events += [NewEvent(note, now) for note in notes]
        if news is not None:
            events.append(NewEvent(NewsPlanned(plan=news, by=request.created_by), now))
        if request.task is not None:
            events.append(NewEvent(request.task, now))
        return events

    def _condensed(
        self, opened: DiscussionOpened, spec: ProcedureSpec, now: datetime
    ) -> tuple[DiscussionOpened, tuple[Cut, ...]]:
        """With the room that its documents have, and what is left of those that have more."""
        if not opened.context:
            return opened, ()
        state = fold([StoredEvent("rehearsal", 1, now, opened)])
        room = room_for_documents(state, spec.procedure, self.tools.lengths)
        if room is None:
            return opened, ()
        cuts = condensed(opened.context, opened.topic, room).cuts
        options = {**opened.options, ROOM: room, RULE: PRESENT}
        return opened.model_copy(update={"options": options}), cuts


def _handed_on(earlier: Sequence[State]) -> list[Material]:
    """What earlier discussions leave to the next one."""
    if not earlier:
        return []
    from ..views.prior import handed_on

    return [each for state in earlier for each in handed_on(state)]


def _keyed_id(key: str, number: int) -> str:
    """The id that a discussion opened with this key gets; the next number if another has it."""
    return f"rt_{sha256(f'{number}/{key}'.encode()).hexdigest()[:8]}"


def _mark(key: str) -> str:
    return f"open/{key}"
