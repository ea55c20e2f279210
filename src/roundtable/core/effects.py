"""Effects: what a procedure wants done next. Plain data; the engine performs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .contracts import ANYTHING, Contract
from .declaration_form import Form
from .events import Event
from .values import AT_EASE, Effort, Pace, Participant, SpeakerRef

THOUGHTS: Mapping[Effort, int] = {"low": 2_048, "medium": 10_240, "high": 20_480}
"""Tokens of thinking that an effort may come to, beside those of the answer."""
DECLARING_TOKENS = 1500
"""For a declaration, beside the speech or alone."""


@dataclass(frozen=True, slots=True)
class Untrusted:
    """Text from outside: it is fenced in prompts and never joins the instructions."""

    kind: str
    """What it is, for the fence: question, web, speech, context …"""
    text: str
    source: str = ""
    whole: str = ""
    """Of what the text is an excerpt; nothing if it is none. Where there is less room yet, another
    one is made of it."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Untrusted texts one after another, of which others hold the parts: a long discussion is
    planned for with every event, and put together only when somebody is asked."""

    parts: tuple[tuple[Sequence[Untrusted], int, int], ...] = ()
    """Of each of these from one place to another."""

    def __iter__(self) -> Iterator[Untrusted]:
        for texts, begin, end in self.parts:
            yield from texts[begin:end]


PromptValue: TypeAlias = "str | bool | Untrusted | tuple[Untrusted, ...] | Texts | PromptPlan"
"""A plan within a plan is rendered in its place, under the same nonce."""


@dataclass(frozen=True, slots=True)
class OwnTemplate:
    """A template that is no file of the package: it came with a user's own procedure."""

    id: str
    version: int
    body: str
    variables: frozenset[str]
    """What it is given; it may use fewer."""


@dataclass(frozen=True, slots=True)
class PromptPlan:
    """Which template to render with what."""

    template: str | OwnTemplate
    """The id of a file of the package, or a user's own."""
    variables: Mapping[str, PromptValue] = field(default_factory=dict)
    repeats: bool = False
    """Whether it begins like other prompts of its discussion. Then all of them carry the nonce of
    the discussion, so that providers can reuse what they have read before."""


@dataclass(frozen=True, slots=True)
class SectionShape:
    """How a small model should fill one section: its heading, and how many sentences."""

    heading: str
    sentences: int = 2
    opening: str = ""
    """The words it begins with, without the space after them; the model goes on from there."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of a speaker in a turn, and what its speech must contain."""

    prompt: PromptPlan
    contract: Contract = ANYTHING
    max_tokens: int = 4096
    shape: tuple[SectionShape, ...] = ()
    form: Form | None = None
    """What the speech is to declare. What is missing or broken is asked for once more, alone, with
    the prompt `again`."""
    again: PromptPlan | None = None
    schema: Mapping[str, Any] | None = None
    """What an answer that is one block of JSON and nothing else is held to, where the speaker's
    provider can; a declaration alone is held to its form."""
    work: bool = False
    """Whether the speech may bring deliverables: then their blocks are taken out of its words."""


@dataclass(frozen=True, slots=True)
class TurnPolicy:
    """How long a turn may take and how often it is tried."""

    timeout: float
    """Seconds of silence that end an attempt: until its first word, and between two words."""
    deadline: float | None = None
    """Seconds in which a turn without any answer may fail, waits included. Each answer begins them
    anew, and none is cut off by them: who speaks is not late."""
    retries: int = 0
    """Further attempts after a time-out or an empty answer."""
    interval: float = 5.0
    """Seconds between those."""
    transport_retries: int = 3
    """Further attempts after 429, 5xx or a broken connection, with back-off."""
    repairs: int = 0
    """How often a speech that breaks its contract is asked for again."""
    patience: float = 900.0
    """Seconds for which words from outside are waited for: a person thinks longer than a call."""

    chosen: bool = False
    """Whether the user chose this timeout: it then goes before what a model needs as a rule."""
    dispensable: bool = False
    """Whether the table can do without it: a limit that cannot pay it beside the next round and the
    verdict leaves it out, and ends nothing if these can be paid."""

    def pace(self, asked: Pace | None, speaker: SpeakerRef) -> Pace:
        """What holds for a speaker: the asker's word, then the user's choice for this turn, then
        what its model needs, then the timeout."""
        usual = Pace(first_word=self.timeout, silence=self.timeout)
        needs = speaker.pace or AT_EASE
        weaker = (usual.over(needs) if self.chosen else needs).over(usual)
        return (asked or AT_EASE).over(weaker)

    def deadline_for(self, first_word: float) -> float | None:
        """The deadline, later by what a first word may take longer than usual."""
        if self.deadline is None:
            return None
        return self.deadline + max(0.0, first_word - self.timeout)


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """One turn to be taken. Its id is its idempotency key, whatever the order of events."""

    turn_id: str
    stage: str
    round: int
    participant: Participant
    label: str
    task: Task
    policy: TurnPolicy
    demo_task: Task | None = None
    """The same task scaled to a demonstration model."""
    after_round: int = 0
    independent: bool = False
    """Whether the speaker is told nothing of what the others said."""

    def task_for(self, speaker: SpeakerRef) -> Task:
        if speaker.demonstration and self.demo_task is not None:
            return self.demo_task
        return self.task

    def most_tokens(
        self, speaker: SpeakerRef, asked: Pace | None, *, declares: bool = False
    ) -> int:
        """What its task allows a speaker to say, or its declaration alone, with room for the
        thoughts that were asked for, since providers count them as words; but never more than half
        the window: the prompt needs room too."""
        effort = self.policy.pace(asked, speaker).effort
        wanted = self.task_for(speaker).max_tokens
        wanted = min(wanted, DECLARING_TOKENS) if declares else wanted
        return min(wanted + (THOUGHTS[effort] if effort else 0), speaker.context_window // 2)

    def prompt_room(self, speaker: SpeakerRef, asked: Pace | None) -> int:
        """Tokens that its prompt may have."""
        return speaker.context_window - self.most_tokens(speaker, asked)


@dataclass(frozen=True, slots=True)
class Record:
    """Append these events: decisions that need nothing from the world."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class TakeTurn:
    """Let a participant speak. Turns in one decision are taken side by side."""

    plan: TurnPlan


@dataclass(frozen=True, slots=True)
class LookUp:
    """Search the web. Becomes SearchFinished or SearchFailed, and never blocks for long."""

    query: str
    count: int = 5
    timeout: float = 10.0
    session: str = ""
    """Within which results are remembered; empty is the process."""


@dataclass(frozen=True, slots=True)
class AskPerson:
    """Let the person at the screen choose, or say something where there are no options; `default`
    stands where nobody is there."""

    question: str
    text: str
    options: tuple[str, ...]
    default: str
    patience: float = 0.0
    """Seconds for which an answer from elsewhere is waited for, where nobody is at the screen."""
    assumed: str = ""
    """What stands where nobody answers, in words for whoever is asked."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """Leave the procedure's files in the workspace now, before the discussion is closed. Becomes
    a note with the code DELIVERED, or KEPT if nothing could be written."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing until somebody else records something: the discussion is paused."""


Effect = Record | TakeTurn | LookUp | AskPerson | Deliver | Wait

DELIVERED, KEPT = "delivered", "kept"


def turn_id(round_: int, stage: str, participant: str) -> str:
    """A turn's identity: where it stands in the discussion, never when it happened."""
    return f"{round_}/{stage}/{participant}"
