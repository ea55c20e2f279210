"""What requests bring and what they get back, so that the description of the service is exact."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ...core.events import TaskLinked
from ...core.numbers import NUMBER
from ...core.values import Material, NewsPlan, Pace, TurnedOut
from ...procedures.opening import OpenRequest
from ...settings import OnSecrets, Settings
from ...views.row import Group, Row
from ..limits import LimitValues
from ..opening import OptionValues, open_request
from ..recorded import Recorded
from ..refusals import refusals
from ..tokens.capability import Act, Role
from .links import Links
from .receipts import Receipt, notes_of

Short = Annotated[str, StringConstraints(max_length=2_000)]
MOST_DOCUMENTS = 100
Key = Annotated[str, StringConstraints(max_length=200)]


class Body(BaseModel):
    """Base of what a request brings: unknown fields are slips, and are told."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """Why something was refused, and what to do about it."""

    error: str
    remedy: str = ""
    code: str | None = None
    """`secrets`: likely secrets were found; say with `secrets` what is to become of them."""
    found: list[str] | None = None
    """Where they stand and what they look like, never they themselves."""
    receipt: str | None = None
    """Of a document that could not be read: send it with the question."""


REFUSALS = refusals(Problem, 400, 401, 403, 404, 409, 413, 415, 421, 422, 429)


class Opened(BaseModel):
    """What a link opens."""

    discussion_id: str
    role: Role
    seat: str
    leads: bool
    """Whether this browser may lead it: by its link, or because it is the owner's."""
    owns: bool
    locked: bool
    expires: str | None
    status: str
    topic: str
    procedure: str
    last_seq: int
    driven_here: bool
    links: dict[str, str] | None = None
    """For whoever leads: the links of others, by whom they are for (`viewer` and the seats)."""


class Done(BaseModel):
    """How the discussion stands after an act."""

    discussion_id: str
    status: str
    last_seq: int


class Said(BaseModel):
    turn_id: str
    round: int
    flags: list[str] = []
    recorded: str = ""
    """What is recorded of it, read back."""
    problems: list[str] = []
    """What its declaration lacks, in plain words."""
    new_points: list[str] = []
    new_conditions: list[str] = []
    amended: list[str] = []


class Url(BaseModel):
    url: str
    token: str
    id: str
    """By which it can be ended."""
    expires: str | None


class MonthRow(BaseModel):
    """What may be spent in this month (UTC), in US dollars."""

    limit_usd: float
    left_usd: float
    set_aside_usd: float
    """By what is under way; what it does not spend comes back."""
    renews: str


class TokenRow(BaseModel):
    """A token or a link that was given out; not the secret itself."""

    id: str
    kind: Literal["token", "link"]
    label: str
    may: list[Act]
    discussions: list[str] | None
    """None: all of them. What it started itself is not among them."""
    started: list[str]
    seat: str
    locked: bool
    spend_usd: float | None
    left_usd: float | None
    month: MonthRow | None
    """How its budget of a month stands; None: it has none, or starts nothing."""
    channels: list[str] | None
    made: str
    expires: str | None
    through: str
    """The id of the one that it was given out through, with which it ends; empty: the owner's."""


class TokenList(BaseModel):
    tokens: list[TokenRow]


class TokenMade(BaseModel):
    token: str
    """Shown this once: only its hash is kept."""
    about: TokenRow


class TokensEnded(BaseModel):
    ended: list[str]


class MakeToken(Body):
    """What a new token shall allow. It cannot be more than whoever asks for it holds."""

    label: Short
    may: list[Literal["results", "watch", "speak", "lead", "open"]] = Field(
        default_factory=list, max_length=10
    )
    """Empty: to speak for its seat, to watch its discussions, or to start its own."""
    discussions: list[Short] | None = Field(default_factory=list, max_length=1_000)
    """None: all of them."""
    seat: Short = ""
    spend_usd: Annotated[float | None, Field(ge=0, allow_inf_nan=False), NUMBER] = None
    channels: list[Short] | None = Field(default_factory=list, max_length=100)
    """None: all that the settings name."""
    hours: Annotated[float | None, Field(gt=0, le=10 * 366 * 24), NUMBER] = None


class Headlined(BaseModel):
    discussion_id: str
    topic: str
    procedure: str
    status: str
    opened_at: str
    updated_at: str
    last_seq: int
    outcome: TurnedOut | None = None
    """How the decision turned out, if somebody said so."""
    row: Row | None = None
    """The answer, the vote, how sure, what it cost; None while it is still being derived, and for
    what cannot be read."""
    url: str


class Listed(BaseModel):
    discussions: list[Headlined]
    pending: int = 0
    """How many rows are still to be derived: ask again."""
    total: int = 0
    """How many there are of which these are a part."""
    counts: dict[Group, int] = Field(default_factory=dict)
    """How many are in each group, whichever is asked for."""
    procedures: list[str] = Field(default_factory=list)


class ExampleRow(Recorded):
    url: str


class Examples(BaseModel):
    examples: list[ExampleRow]


class Noted(BaseModel):
    code: str
    text: str
    remedy: str


class Started(BaseModel):
    discussion_id: str
    status: str
    driven_here: bool
    url: str
    links: dict[str, str]
    notes: list[Noted]
    """What whoever asked should know, such as a limit that a cap lowered."""


class Complete(BaseModel):
    complete: bool
    """False: words are missing, send each turn from its beginning."""


class Unlock(Body):
    password: Short


class Speak(Body):
    text: str
    declaration: dict[str, Any] | None = None
    """What the seat holds, in the fields of its turn's form."""
    as_host: bool = False
    """Of whoever leads and holds a seat: it is said as the host."""
    key: Key | None = None


class Reason(Body):
    reason: Short = ""


class Higher(LimitValues):
    """As far as it may go on from now; more of it where a limit ended it."""


class Skip(Body):
    participant: Short


class AddMaterial(Body):
    source: Short
    text: str
    secrets: OnSecrets | None = None
    key: Key | None = None


class Answers(Body):
    answers: list[str] = Field(max_length=10)
    """In the order of the questions; an empty one leaves it to the host's assumption."""
    key: Key | None = None


class Extend(Body):
    rounds: int


class Again(Higher):
    stage: Short


class ComparedRow(BaseModel):
    what: str
    values: list[str]
    differs: bool


class Compared(BaseModel):
    """Two discussions side by side."""

    discussions: list[str]
    rows: list[ComparedRow]
    positions: list[ComparedRow]


class Vote(Body):
    in_favour: bool


class Outcome(Body):
    outcome: TurnedOut
    note: Short = ""


class Share(Body):
    role: Role = "viewer"
    seat: Short = ""
    hours: Annotated[float | None, Field(gt=0, le=10 * 366 * 24), NUMBER] = None
    password: Short = ""
    label: Short = ""
    """What the link is for, in the list of links."""


class Topic(Body):
    """A topic, and the table that it is for."""

    topic: str
    procedure: Short | None = None
    context: list[Material] = Field(default_factory=list, max_length=MOST_DOCUMENTS)
    receipts: list[Receipt] = Field(default_factory=list, max_length=2 * MOST_DOCUMENTS)
    """What `/api/documents` gave for each document: then the discussion says what it found."""
    left_out: list[Short] = Field(default_factory=list, max_length=2 * MOST_DOCUMENTS)
    """The names of documents that are not sent: then the discussion says so."""
    options: OptionValues = Field(default_factory=dict)
    language: Short | None = None
    budget: LimitValues | None = None
    """Limits, laid over those of the settings."""
    pace: Pace | None = None
    """How long speakers may keep silent, and how much they think."""
    follows: Short = ""
    """A discussion that is over: its table is asked further, with its record in hand, unless a
    procedure or options are named."""
    context_from: list[Short] = Field(default_factory=list, max_length=20)
    """Further discussions whose record is to be in hand."""
    search: bool = True
    secrets: OnSecrets | None = None
    """Likely secrets: refuse them, take them out, or send them; None is what the user set."""
    clarify: bool = False
    """Whether somebody will answer what the host asks; else it says what it assumes."""

    def request(self, settings: Settings, links: Links) -> OpenRequest:
        """What the service is asked to open."""
        return self._request(settings, links)

    def _request(
        self,
        settings: Settings,
        links: Links,
        *,
        created_by: str = "",
        news: NewsPlan | None = None,
        task: TaskLinked | None = None,
    ) -> OpenRequest:
        return open_request(
            settings,
            self.topic,
            surface="http",
            procedure=self.procedure,
            options=self.options,
            context=self.context,
            language=self.language,
            budget=self.budget.given if self.budget else None,
            pace=self.pace,
            follows=self.follows,
            context_from=self.context_from,
            search=self.search,
            secrets=self.secrets,
            created_by=created_by,
            news=news,
            task=task,
            clarify=self.clarify,
            notes=notes_of(links, self.receipts, self.left_out),
        )


class Open(Topic):
    """A topic put to a table."""

    news: NewsPlan | None = None
    task: TaskLinked | None = None
    run: bool = True
    """False: seat the table, and let nobody speak yet."""
    key: Key | None = None
    """Makes a repeated request harmless."""

    def request(self, settings: Settings, links: Links) -> OpenRequest:
        return self._request(settings, links, created_by="page", news=self.news, task=self.task)


class Words(Body):
    """Words of a turn that follow `begins` characters."""

    discussion_id: Short
    turn_id: Short
    participant: Short
    attempt: int = Field(ge=0, le=2**31)
    begins: int = Field(ge=0, le=2**31)
    words: str


class Drafts(Body):
    drafts: list[Words] = Field(max_length=1_000)
