"""Ports: the few small doors through which the engine reaches the world.

Each has a real implementation, a scripted one, and one conformance suite for all of them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

from .core.budget import full_spare
from .core.call_gate import CallGate
from .core.declaration_form import Form
from .core.effects import SectionShape as SectionShape
from .core.events import CUT as CUT
from .core.events import NewEvent, NoteAdded, StoredEvent
from .core.state import State
from .core.values import (
    Effort,
    NewsChannel,
    NewsPlan,
    Reservation,
    SearchHit,
    SpeakerRef,
    TurnedOut,
    Usage,
)

if TYPE_CHECKING:
    from .core.purse import Purse
    from .core.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of one process to drive one discussion. A newer epoch fences an older one off."""

    discussion_id: str
    owner: str
    epoch: int
    lasting: bool = False
    """Whether it needs no renewal: a worker's signs of life keep it."""


QUEUED = "queue"
"""The driver of what waits for a worker."""


@dataclass(frozen=True, slots=True)
class DiscussionSummary:
    """One row of the list of discussions."""

    discussion_id: str
    topic: str
    procedure: str
    status: str
    """running, concluded, failed or stopped, as the events say."""
    opened_at: datetime
    updated_at: datetime
    last_seq: int
    driver: str | None
    """Who holds a live lease now, if anybody does; QUEUED where it waits for a worker."""
    outcome: TurnedOut | None = None
    """How the decision turned out, if somebody said so."""
    set_aside: bool = False
    """Whether no worker takes it any more, because it ended several of them."""

    @property
    def interrupted(self) -> bool:
        """Whether it is neither closed nor driven, and waits for no worker."""
        return self.status == "running" and self.driver is None

    @property
    def standing(self) -> str:
        """Its status, or interrupted, set_aside or queued while it is not closed."""
        if self.interrupted:
            return "set_aside" if self.set_aside else "interrupted"
        return "queued" if self.queued else self.status

    @property
    def queued(self) -> bool:
        """Whether it waits for a worker."""
        return self.status == "running" and self.driver == QUEUED


class Ear(Protocol):
    """Hears of one discussion."""

    async def change_beyond(self, seen: Callable[[], int]) -> None:
        """Return when there may be an event after the one that was seen last, as it is told then.
        It may also return when there is none."""
        ...


class Ledger(Protocol):
    """One append-only, numbered stream of events per discussion."""

    async def append(
        self,
        discussion_id: str,
        events: Sequence[NewEvent],
        *,
        expected: int | None = None,
        lease: Lease | None = None,
    ) -> list[StoredEvent]:
        """Append all or nothing, and return what the ledger now holds for them.

        An event whose key is already there is not written again: the stored one is returned in
        its place. With `expected`, the stream must stand at that number (0: it must not exist
        yet) or LedgerConflict is raised. With `lease`, LeaseLost is raised when a newer epoch
        exists. The first event of a stream must be DiscussionOpened; appending to a discussion
        that does not exist raises UnknownDiscussion.
        """
        ...

    async def read(
        self, discussion_id: str, *, after: int = 0, limit: int | None = None
    ) -> list[StoredEvent]:
        """The events with `seq > after`, in order. UnknownDiscussion if there is no stream."""
        ...

    def tail(self, discussion_id: str, *, after: int = 0) -> AsyncGenerator[StoredEvent, None]:
        """Every event with `seq > after`, those to come included, whoever appends them.

        Ends after DiscussionClosed.
        """
        ...

    def listening(self, discussion_id: str) -> AbstractAsyncContextManager[Ear]:
        """Hear of every append from now on, whoever makes it, at once or soon; of a deletion, and
        of a ledger that is closed or cannot be asked, as of an event. It costs nothing while
        nothing happens, and entering waits for no database that went away."""
        ...

    async def summaries(
        self, *, limit: int | None = None, search: str | None = None, said: bool = False
    ) -> list[DiscussionSummary]:
        """The discussions, the most recently changed first; `search` matches the topic.

        With `said` it is taken word by word, and each word is looked for in the topic, in every
        speech and in the verdict. Nothing is indexed for it: all that was said is looked through.
        """
        ...

    async def delete(self, discussion_id: str) -> None:
        """Remove a discussion and all its events. UnknownDiscussion if there is none."""
        ...

    async def driver(self, discussion_id: str) -> str | None:
        """Who holds a live lease now, if anybody does; QUEUED where it waits for a worker; None
        also where there is no such discussion."""
        ...

    async def take_lease(self, discussion_id: str, owner: str, *, ttl: float) -> Lease:
        """Take the right to drive, or raise LeaseHeld while another owner's lease is alive.

        A lease is dead when it was released, has run out, or its owner was a process of this
        machine that no longer exists.
        """
        ...

    async def renew_lease(self, lease: Lease, *, ttl: float) -> None:
        """Extend a lease; LeaseLost if it is no longer ours."""
        ...

    async def release_lease(self, lease: Lease) -> None:
        """Give the lease back. Releasing a lease that was lost does nothing."""
        ...

    async def close(self) -> None:
        """Give back connections and threads. Using the ledger afterwards is an error."""
        ...


class Queue(Protocol):
    """Where discussions wait for a worker. In the same database as the ledger."""

    async def open(
        self, discussion_id: str, events: Sequence[NewEvent], *, by: str = "", priority: int = 0
    ) -> list[StoredEvent]:
        """Append an opening, as `Ledger.append` does with `expected=0`, and queue it: both or
        neither. `by` is whose it is, empty for the owner: everybody has a line of their own, and
        the lines take turns.
        Of higher `priority` (-1, 0 or 1) is what is taken before. TooBusy, and nothing is stored,
        if too many wait already."""
        ...

    async def put(
        self, discussion_id: str, *, by: str = "", priority: int = 0, let_in: bool = False
    ) -> bool:
        """Let a worker go on with it; False if it waits already, or a worker has it. One that was
        set aside is tried again. TooBusy if too many wait already, unless it was `let_in` before
        and only goes on."""
        ...

    async def check_room(self, by: str = "") -> None:
        """TooBusy if one more would be too many."""
        ...

    async def has_workers(self) -> bool:
        """Whether somebody is there to take it."""
        ...


@dataclass(frozen=True, slots=True)
class SpeakRequest:
    """One call to a speaker."""

    model: str
    system: str
    user: str
    max_tokens: int
    timeout: float
    """Seconds until the first word."""
    idempotency_key: str
    temperature: float | None = None
    shape: tuple[SectionShape, ...] = ()
    """What the answer is made of, for speakers that need a grammar to keep to it."""
    form: Form | None = None
    """What it is to declare, for speakers that are no models: scripts, people, outside agents."""
    schema: Mapping[str, Any] | None = None
    """Where only a declaration is wanted: what it is held to, by providers that can."""
    silence: float | None = None
    """Seconds between two words; None: as many as until the first."""
    effort: Effort | None = None
    """How much to think, for models that can be told."""
    repeated: int = 0
    """Characters of `user` that later calls begin with too, for providers that remember only what
    is marked."""
    set_aside: Reservation | None = None
    """What is kept for this call of a limit that every token counts against."""

    @property
    def longest_answer(self) -> int:
        """Characters: what a speaker says beyond them is not waited for. Several times what its
        tokens come to, for some servers do not count them."""
        return max(LONGEST_ANSWER, CHARACTERS_AT_MOST * self.max_tokens)

    @property
    def payable_tokens(self) -> int:
        """Tokens beyond which a speaker that is paid by the token is cut: it was granted so many,
        and a server that does not heed that would spend what nobody set aside."""
        held = self.set_aside
        spare = full_spare(self.max_tokens) if held is None else held.spare_tokens
        return self.max_tokens + spare


LONGEST_ANSWER = 100_000
"""Characters that every answer may have, however few tokens were asked for."""
LONGEST_HEARD = 10_000_000
"""Characters of an answer, whoever gave it: a work of a megabyte is whole, and what has no end is
cut."""
CHARACTERS_AT_MOST = 16
"""Of one token, on average over an answer: words have some four, indented tables more."""
CHARACTERS_PER_TOKEN = 4
"""Where nobody else counts the tokens of a text."""

LONGEST_CALL = 3_600.0
"""Seconds after which a speaker that still has not come to its end is not listened to any more."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a speaker answered, and what it cost."""

    text: str
    usage: Usage
    served_by: str = ""
    finish_reason: str = ""
    unheeded: tuple[Literal["effort"], ...] = ()
    """What was asked for, and this model cannot be told."""
    unbelieved: str = ""
    """The usage that its provider told and that the call cannot have had; empty: none."""


OnWords = Callable[[str], None]
"""Called with each piece of text as it comes. What it gets are drafts, never events. An empty piece
is a sign of life: it thinks."""


class Speaker(Protocol):
    """What produces a participant's words."""

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        """Make exactly one call. Raises SpeakerError when it fails, and never retries."""
        ...

    async def close(self) -> None: ...


class Speakers(Protocol):
    """Finds the speaker for a model id, and keeps the number of calls at once in bounds."""

    def admitted(self, model: str) -> AbstractAsyncContextManager[Speaker]:
        """The speaker, for one call. Entering waits until there is room for it: that is nobody's
        time, and whoever waits has not begun."""
        ...

    async def close(self) -> None: ...


class Schedules(Protocol):
    """Where schedules are kept, for all who share a ledger. Its time is the only one that counts:
    a machine whose clock is wrong opens nothing too early."""

    async def add(self, schedule: Schedule) -> None: ...

    async def all(self) -> list[Schedule]:
        """The oldest first, but for those that are `unreadable`."""
        ...

    async def unreadable(self, *, due: bool = False) -> list[str]:
        """The ids of those that a newer program wrote, so that they are left to it; or only of
        those of them that are `due` and that it has not claimed."""
        ...

    async def change(
        self, schedule_id: str, work: Callable[[Schedule], Schedule | None]
    ) -> Schedule:
        """Have one changed, or removed where `work` makes nothing of it; as it was in that case,
        else as it is now. UnknownName if there is none, LedgerTooNew if it is unreadable."""
        ...

    async def claim(self, by: str, *, ttl: float) -> tuple[Schedule, datetime] | None:
        """One that is due and readable and that nobody else has claimed within so many seconds, and
        what time it is; None if there is none. Whoever has it opens its run and then settles it."""
        ...

    async def settle(self, schedule: Schedule, by: str, *, rests: float = 0.0) -> bool:
        """Keep how a claimed one stands now, and let nobody claim it for as many seconds as it
        `rests`; False, and nothing is kept, if it is claimed by somebody else by now or was changed
        meanwhile."""
        ...

    async def due_in(self) -> float | None:
        """Seconds until the next one can be claimed; None if none is due any more."""
        ...


T = TypeVar("T")


class Purses(Protocol):
    """Where it is kept what users spend in a month, for all who share a ledger."""

    async def change(self, account: str, work: Callable[[Purse, datetime], tuple[Purse, T]]) -> T:
        """Have `work` look at a purse, with the time that counts, and keep what it makes of it;
        what it says beside that is returned. What it raises changes nothing."""
        ...

    async def look(self, accounts: Iterable[str]) -> tuple[Mapping[str, Purse], datetime]:
        """The purses of these accounts that there are, and what time it is."""
        ...

    async def holding(self, place: str) -> Sequence[str]:
        """The accounts in whose purses something is set aside under this name."""
        ...


class Gates(Protocol):
    """Keeps the gates of providers: for one process, or for all that share a database."""

    async def change(self, name: str, work: Callable[[CallGate, float], tuple[CallGate, T]]) -> T:
        """Have `work` look at a gate, with the time that counts there, and keep what it makes of
        it; what it says beside that is returned. Nobody else changes it meanwhile. `work` may be
        called again if the first attempt failed."""
        ...

    async def look(self) -> Mapping[str, CallGate]:
        """Every gate as it stands, by its name."""
        ...


@dataclass(frozen=True, slots=True)
class SpeakerChain:
    """The speakers that can hold one seat, and what the reader should know about the choice."""

    speakers: tuple[SpeakerRef, ...]
    notes: tuple[NoteAdded, ...] = ()


class Models(Protocol):
    """What can speak now."""

    @property
    def default_model(self) -> str:
        """Empty where nobody speaks without being named."""
        ...

    def seat(self, name: str, seat: str) -> SpeakerChain:
        """The chain for a model name or alias, with a substitute where it cannot be used now.

        `outside` is a seat that a person or somebody else's agent holds. `seat` is the name of the
        seat, for the notes. UnknownName if there is no such model.
        """
        ...


@dataclass(frozen=True, slots=True)
class Way:
    """The way to a speaker from here, as it is now."""

    usable: bool
    """Whether it can be called, or another one of its endpoint in its place, as far as can be known
    without calling it."""
    told: str = ""
    """Why not, in a sentence."""
    remedy: str = ""
    at: str = ""
    """Where its calls would go."""
    elsewhere: bool = False
    """Whether that is another place than the speaker was called at before."""
    back: str = ""
    """What leads there again."""


@runtime_checkable
class ReachableModels(Models, Protocol):
    """Models that know the ways to speakers that were seated before."""

    def way_to(self, speaker: SpeakerRef) -> Way:
        """Never raises: what is not known any more cannot be used."""
        ...


@runtime_checkable
class ListedModels(Models, Protocol):
    """Models that can say who is there."""

    @property
    def usable(self) -> tuple[str, ...]:
        """Those that can speak now without being named, the first of every provider first, and of
        a provider the first of every family; demonstration models not among them."""
        ...

    def insist(self, name: str) -> None:
        """For a model that somebody asked for by name. NoModel where nothing but a demonstration
        could speak in its place."""
        ...

    def here(self, name: str) -> bool:
        """Whether what a model is sent stays on this machine."""
        ...

    def at_hand(self, name: str, taken: Collection[str]) -> str:
        """A model that a procedure would seat by itself; where nothing here is known to be like it,
        one of those that are here and not taken yet. Nobody asked for it, so nothing is said."""
        ...


class Search(Protocol):
    """A web search. Its results are untrusted text."""

    @property
    def name(self) -> str: ...

    async def find(self, query: str, count: int) -> Sequence[SearchHit]: ...


@runtime_checkable
class SessionSearch(Search, Protocol):
    """A search that remembers what it found, for each session on its own."""

    def within(self, session: str) -> Search:
        """The same search for this session."""
        ...


@dataclass(frozen=True, slots=True)
class Post:
    """One message, or a part of a long one, for a channel."""

    place: NewsChannel
    text: str
    discussion_id: str
    kind: str
    key: str
    """The same for every attempt: a channel that can tell repetitions apart does so by it."""
    thread_id: str = ""


Ability = Literal["threads", "check", "edit", "buttons"]


class Channel(Protocol):
    """A place where people hear of discussions."""

    @property
    def limit(self) -> int:
        """Characters of one post."""
        ...

    @property
    def interval(self) -> float:
        """Seconds from one post to the next, so that the platform does not refuse."""
        ...

    @property
    def timeout(self) -> float:
        """Seconds after which a post is given up as failed."""
        ...

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can do beside posting."""
        ...

    def problem(self, place: NewsChannel) -> tuple[str, str] | None:
        """What keeps it from sending there and what to do about it, as far as that can be seen
        without sending."""
        ...

    async def post(self, post: Post) -> str:
        """Send it, once, and return what the platform calls it. Raises ChannelError."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class ThreadChannel(Channel, Protocol):
    """A channel in which a discussion can have a thread of its own: the ability `threads`."""

    async def open_thread(self, place: NewsChannel, name: str) -> str:
        """Make a thread and return its id. Raises ChannelError."""
        ...


@runtime_checkable
class CheckableChannel(Channel, Protocol):
    """A channel that can be asked whether a message has arrived: the ability `check`."""

    async def arrived(self, post: Post) -> str | None:
        """What the platform calls the message, if it is among the newest. Raises ChannelError."""
        ...


class Channels(Protocol):
    """Finds the channel for a platform's name, as the user set it up."""

    def find(self, platform: str) -> Channel | None: ...

    @property
    def names(self) -> Sequence[str]: ...

    async def close(self) -> None: ...


class Notifications(Protocol):
    """Tells others of discussions, off their path: none of this fails or waits for long."""

    def planned(
        self, procedure: str, wanted: NewsPlan | None
    ) -> tuple[NewsPlan | None, Sequence[NoteAdded]]:
        """Who will be told of a new discussion, and what is wrong with that."""
        ...

    def start(self, discussion_id: str) -> None:
        """Tell what there is to tell of this discussion from now on. Twice is once."""
        ...

    async def greeted(self, discussion_id: str) -> None:
        """Wait until its threads are there, but only for a moment."""
        ...


class Asker(Protocol):
    """Puts a question of the procedure to the person at the screen."""

    async def ask(self, question: str, options: Sequence[str]) -> str | None:
        """The chosen option, or what was said where there are none; None when nobody answers."""
        ...


@runtime_checkable
class AssumingAsker(Asker, Protocol):
    """An asker that says what stands where nobody answers."""

    async def ask_or_assume(self, question: str, assumed: str) -> str | None:
        """What was said; None when nobody answers, so that `assumed` stands."""
        ...


@dataclass(frozen=True, slots=True)
class BoardTask:
    """A task or comment as its board knows it."""

    id: str
    url: str = ""


class TaskBoard(Protocol):
    """Where tasks are kept. BoardError says what went wrong and what to do.

    `mark` names what is written, the same each time: a board that finds it there already writes
    nothing again and returns what is there, so that a repeated report is harmless.
    """

    @property
    def name(self) -> str: ...

    async def comment(self, task: str, body: str, *, mark: str) -> BoardTask:
        """Add a comment to a task."""
        ...

    async def create(self, title: str, body: str, *, owner: str, mark: str) -> BoardTask:
        """Make a task for somebody, who is told of what happens to it."""
        ...


class Delivery(Protocol):
    """Leaves a discussion's files where its user wants them."""

    async def leave(self, state: State) -> Sequence[str]:
        """Write the files that the procedure makes of this state, and return where they are.

        Asked again for the same state it writes nothing twice. RoundtableError or OSError if a
        file cannot be written.
        """
        ...


@dataclass(frozen=True, slots=True)
class ChosenExpert:
    """An expert as a seat needs it: who argues, from where, and on which model it was routed."""

    id: str
    name: str
    domain: str = ""
    perspective: str = ""
    asks: tuple[str, ...] = ()
    blind_spot: str = ""
    guidance: str = ""
    needs: tuple[str, ...] = ()
    """Abilities of the model that should speak for it."""
    reason: str = ""
    """Why it sits here."""
    model: str | None = None
    """None is the default model."""
    routed: str = ""
    """Why it got this model."""

    def renamed(self, own_id: str, name: str) -> ChosenExpert:
        return replace(self, id=own_id, name=name)


@dataclass(frozen=True, slots=True)
class CastingRequest:
    """How many experts a table wants, and who of them was asked for by name or id."""

    count: int
    include: tuple[str, ...] = ()
    past: bool = False
    """Whether it wants to know what the models answered to earlier questions."""
    open: bool = False
    """Whether nobody was named and the table has time for it, so that its host may cast it."""
    shortlist: int = 0
    """How many experts the host is told about in a sentence, where it casts; 0 where not."""
    material: str = ""
    """How the documents begin that the question is about."""
    models: Mapping[str, str] = field(default_factory=dict)
    """The models that are named for single seats, by the seat's id or name: the others are to be
    as different from them as can be."""


@dataclass(frozen=True, slots=True)
class ChosenExperts:
    """The experts for a table, and the model that was routed for its host."""

    experts: tuple[ChosenExpert, ...]
    host_model: str | None = None
    past: tuple[Mapping[str, str], ...] = ()
    """What each model answered to earlier questions before it heard others, if that was wanted."""
    shortlist: tuple[ChosenExpert, ...] = ()
    """Whom the host may choose from, the nearest to the topic first."""
    library: tuple[ChosenExpert, ...] = ()
    """Everybody else whom it may choose."""
    by_words: bool = False
    """Whether some were chosen by the topic's words alone, without what they mean."""
    host_named: bool = False
    """Whether a file of the user's gives the host its model by name."""


class Casting(Protocol):
    """Chooses experts for a topic, and a model for each. No model is called for it."""

    async def choose(self, topic: str, casting_request: CastingRequest) -> ChosenExperts:
        """Those asked for, in their order, and then others up to the count. A name that is in no
        library is an expert of that name."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors that are near each other when the texts are about the same thing.

    Nearness is about the topic: two opposite claims are nearer than two paraphrases. Nothing may
    conclude from it that two texts agree.
    """

    @property
    def name(self) -> str:
        """What made the vectors, with its version: vectors of different makers do not mix."""
        ...

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, in order, all of one length; an empty text gives zeros."""
        ...


class Rescue(Protocol):
    """Where outcomes are kept that the ledger cannot take now: they were paid for."""

    def keep(self, discussion_id: str, events: Sequence[NewEvent]) -> str:
        """Keep what was to be appended at once, on disk when this returns; where that is, or
        nothing if there is no room anywhere."""
        ...

    def kept(self, discussion_id: str) -> list[list[NewEvent]]:
        """What is kept, append by append."""
        ...

    def drop(self, discussion_id: str) -> None:
        """All of it is in the ledger, or no longer wanted there."""
        ...

    def waiting(self) -> list[str]:
        """The discussions of which something is kept."""
        ...

    def where(self, discussion_id: str) -> str:
        """Where it is kept."""
        ...


class Watch(Protocol):
    """Looks on while discussions are driven, for whoever operates the program."""

    def event(self, record: StoredEvent, state: State) -> None:
        """Take note of an event, and of the state that it led to. Waits for nobody."""
        ...

    def driving(self) -> AbstractContextManager[None]:
        """While a discussion is driven."""
        ...


class Clock(Protocol):
    def now(self) -> datetime:
        """The time of day, in UTC."""
        ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Ids(Protocol):
    """Everything random."""

    def discussion(self) -> str: ...

    def nonce(self) -> str: ...

    def seed(self) -> int: ...

    def jitter(self) -> float:
        """A factor between 0.5 and 1.5."""
        ...
