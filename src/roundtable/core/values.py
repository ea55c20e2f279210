"""The values that events carry: frozen, validated, and stored as they are."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

Confidence = Literal["high", "medium", "low"]
TurnedOut = Literal["good", "mixed", "bad"]
"""How a decision turned out in the world."""
Status = Literal["running", "concluded", "failed", "stopped"]
StopReason = Literal[
    "verdict",
    "too_few_answers",
    "budget",
    "stopped_by_user",
    "declined",
    "converged",
    "voted_to_end",
    "max_rounds",
]

HOST_WIRE_NAME = "coordinator"
OUTSIDE = "outside"
EXAMPLE = "example:"
"""Begins the id of a recorded discussion that comes with the program."""
EXAMPLE_NOTE = "example"
"""The code of the note that says where such a discussion comes from."""
"""The model name of words that come through `speak`: nobody is called for them."""


class Value(BaseModel):
    """Base of everything stored: immutable, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def model_post_init(self, _: Any, /) -> None:
        # Which fields were given is a set for each value, larger than most values: equal ones are
        # one. Nobody changes it, for a frozen value never gets another field.
        object.__setattr__(
            self, "__pydantic_fields_set__", _names(frozenset(self.__pydantic_fields_set__))
        )


@lru_cache(maxsize=1024)
def _names(given: frozenset[str]) -> set[str]:
    return set(given)


def added(default: Any) -> Any:
    """A field that came to a stored value later. Where it says nothing it is not stored, so events
    from before it stay, byte for byte, what they were."""
    return Field(default=default, exclude_if=lambda value: bool(value == default))


class Usage(Value):
    """What was spent. `unpriced_calls` counts calls whose cost nobody knows: never zero cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    priced_usd: float = 0.0
    unpriced_calls: int = 0
    counted_usd: float = added(0.0)
    """What the calls of unknown cost come to by our own count of their words, at known prices."""
    counted_calls: int = added(0)
    """The calls of which no usage was told: their tokens are our own count."""

    @property
    def known_usd(self) -> float:
        """What is known of the cost: what was told, and what was only counted by us."""
        return self.priced_usd + self.counted_usd

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def cost_usd(self) -> float | None:
        """The whole cost, or None as soon as one call's cost is unknown."""
        return None if self.unpriced_calls else self.priced_usd

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            priced_usd=self.priced_usd + other.priced_usd,
            unpriced_calls=self.unpriced_calls + other.unpriced_calls,
            counted_usd=self.counted_usd + other.counted_usd,
            counted_calls=self.counted_calls + other.counted_calls,
        )


Effort = Literal["low", "medium", "high"]
"""How much a model shall think before it answers."""
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class Pace(Value):
    """How long whoever speaks may keep silent, and how much it shall think. None: as usual."""

    first_word: Seconds | None = None
    """Seconds until its first word; while it shows its thoughts, from the last of them."""
    silence: Seconds | None = None
    """Seconds between two words."""
    effort: Effort | None = None

    def over(self, weaker: Pace | None) -> Pace:
        """What is said here, and the weaker one's word where nothing is."""
        if weaker is None:
            return self
        return Pace(
            first_word=weaker.first_word if self.first_word is None else self.first_word,
            silence=weaker.silence if self.silence is None else self.silence,
            effort=weaker.effort if self.effort is None else self.effort,
        )


AT_EASE = Pace()
"""Nothing was said about it."""


class SpeakerRef(Value):
    """A speaker as a discussion knows it: its model id and the facts that rules depend on."""

    model: str
    family: str = ""
    context_window: int = 128_000
    usd_per_million_in: float | None = None
    usd_per_million_out: float | None = None
    demonstration: bool = False
    """Too small to reason: contracts are scaled down, ballots are not meaningful."""
    pace: Pace | None = added(None)
    """What is known, or was set, of the time that this model needs."""
    spare: bool = added(False)
    """Speaks only where the one before it turned out not to exist."""
    at: str = added("")
    """The address that it is called at, without a user, a password or a query. Empty where it has
    none, or nobody wrote it down."""


OUTSIDE_SPEAKER = SpeakerRef(
    model=OUTSIDE, family=OUTSIDE, usd_per_million_in=0.0, usd_per_million_out=0.0
)
"""Whoever speaks for a seat through `speak`: a person or an agent of somebody else."""


class Participant(Value):
    """An expert seated in one discussion, or its host. `speakers` is the fallback chain."""

    id: str
    name: str
    role: str
    emoji: str = ""
    perspective: str = ""
    speakers: tuple[SpeakerRef, ...] = Field(min_length=1)
    why: str = added("")
    """Why it sits here, in plain words."""
    looks_at: str = added("")
    """What it attends to, where the host described the seat."""
    described: bool = added(False)
    """Whether the host described this seat. Its name, perspective and what it looks at are then a
    model's words, which stand in no instruction."""

    @property
    def speaker(self) -> SpeakerRef:
        return self.speakers[0]


class Material(Value):
    """A piece of context that came with the topic, with where it came from."""

    source: str
    text: str


class NewsChannel(Value):
    """A place that hears of a discussion. Its credentials are not here: the program's settings
    hold them under the platform's name."""

    platform: str
    chat_id: str = ""
    threads: bool = False
    """Whether each discussion gets a thread of its own there, where the platform has threads."""

    @property
    def name(self) -> str:
        return f"{self.platform}:{self.chat_id}" if self.chat_id else self.platform


NewsKind = Literal[
    "started", "round_start", "speech", "round_end", "concluded", "degraded", "failed"
]
NEWS_KINDS: tuple[NewsKind, ...] = get_args(NewsKind)


class NewsPlan(Value):
    """Which news of a discussion goes to which channels."""

    enabled: bool = True
    channels: tuple[NewsChannel, ...] = ()
    events: tuple[NewsKind, ...] = NEWS_KINDS
    speech_limit: int = Field(default=200, ge=1)
    """Characters of a speech that a message shows."""


class Budget(Value):
    """What may be spent; None is no limit."""

    # Strictly numbers: true is not one dollar, and a word in a file is a slip.
    max_calls: Annotated[int, Field(strict=True, ge=1)] | None = None
    max_tokens: Annotated[int, Field(strict=True, ge=1)] | None = None
    max_cost_usd: (
        Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False), AfterValidator(abs)] | None
    ) = None
    """Never -0.0, which would be shown with its sign."""
    max_seconds: Annotated[float, Field(strict=True, gt=0)] | None = None


class Expected(Value):
    """What a discussion was expected to take before it began: most likely, and from … to."""

    calls: int
    tokens: int
    cost_usd: float | None
    """None where a price is unknown."""
    seconds: float | None
    """None where people are waited for."""
    fewest_calls: int
    most_calls: int
    least_usd: float | None
    most_usd: float | None
    least_tokens: int = added(0)
    most_tokens: int = added(0)
    """Zero where it was not stored yet."""


class ToCome(Value):
    """The most that was still to come when a limit ended a discussion."""

    calls: int
    tokens: int
    cost_usd: float
    """What nobody knows the price of counts as the dearest."""
    seconds: float


class Reservation(Value):
    """What a call may cost at most, set aside before it is made."""

    input_tokens: int
    output_tokens: int
    cost_usd: float
    priced: bool = True
    """False: the price is unknown and the dearest known one was assumed."""
    spare_tokens: int = added(0)
    """Tokens out that are set aside beyond what it was told to say, as far as there is room: a
    server that does not heed that is cut only where the spare ends too."""
    spare_usd: float = added(0.0)
    answer_usd: float = added(0.0)
    """Of the cost, what the answer may take; the rest is for what is read."""

    @property
    def is_kept(self) -> bool:
        """Whether it is what is counted for a call that came to its end at a cost nobody knows."""
        return self.cost_usd > 0 and not (self.input_tokens or self.output_tokens)


class Prompt(Value):
    """The exact text one call was given, and the template it came from."""

    template: str
    version: int
    hash: str
    system: str
    user: str
    repeated: int = added(0)
    """Characters at the beginning of `user` that later prompts of the discussion begin with too."""


class SearchHit(Value):
    title: str
    url: str
    text: str


FindingCode = Literal[
    "not_found",
    "number",
    "negation",
    "stitched",
    "wrong_speaker",
    "wrong_turn",
    "second_hand",
    "translation",
    "unchecked",
    "unknown_turn",
    "host_cited",
    "missing_part",
    "contradiction",
    "false_agreement",
    "false_count",
    "false_holder",
    "false_confidence",
    "forged_mark",
    "words_differ",
    "refused",
    "before_differs",
    "no_declaration",
]
AGAINST_THE_COUNT: frozenset[FindingCode] = frozenset(
    ["contradiction", "false_agreement", "false_count", "false_holder"]
)
"""The writer delivers another outcome than was counted, the same for more of the table, or other
votes."""
ABOUT_THE_COUNT: frozenset[FindingCode] = AGAINST_THE_COUNT | {"false_confidence"}
"""All that a writer may say of the vote that was counted or computed otherwise."""
_MINOR: frozenset[FindingCode] = frozenset(["translation", "host_cited", "missing_part"])


class Finding(Value):
    """Something that is wrong with a verdict, in words that its reader understands."""

    code: FindingCode
    message: str
    excerpt: str = ""
    """The words that it is about, as they were written."""

    @property
    def serious(self) -> bool:
        """Whether the reader would believe something that is not so."""
        return self.code not in _MINOR


class Dissent(Value):
    """A position that the verdict does not adopt, kept with its reasons."""

    participant: str
    position: str
    reason: str = ""
    turn_id: str | None = None
    gave_in: bool = False
    """It came over in the end without naming an argument; this is what it held before."""


class ActionItem(Value):
    """Something to be done, by whom and until when; empty where nobody said so."""

    text: str
    owner: str = ""
    due: str = ""


class Verdict(Value):
    """The host's final product. How the table stands is not in it: that is counted from the record
    whenever somebody asks (`core.standing`)."""

    answer: str
    brief: str = ""
    """The answer in one or two sentences, as its writer declared it."""
    delivers: str = ""
    """The option that the writer says it delivers."""
    stands: tuple[str, ...] = added(())
    """The versions of deliverables that the writer says stand."""
    why: tuple[str, ...] = ()
    would_change: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = added(())
    """The host's assumptions without which it would not hold."""
    next_steps: tuple[ActionItem, ...] = ()
    findings: tuple[Finding, ...] = ()
    """What the check of the verdict found, for the reader."""
    confidence: Confidence | None = None
    agreement: str = ""
    dissent: tuple[Dissent, ...] = ()
    method: Literal["written", "extractive"] = "written"
    author: str = ""
    cites: tuple[str, ...] = ()
    changed_minds: str = ""
    on_dissent: str = ""
    """What the writer says to the dissent, and why it took the other side."""
    gaps: str = ""
    sources: tuple[str, ...] = ()
    partial: bool = False
    meaningful: bool = True
    flags: tuple[str, ...] = ()


Options = dict[str, JsonValue]
