"""The declaration: what a seat holds, in its own words and by ids, never guessed from prose.

A speech that takes part in a decision ends with one. What is stored here is what was read from it,
with letters turned into participants; how it is asked for and read is `declaration_form`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .values import ActionItem, Value, added

StanceWord = Literal["agree", "partly", "disagree", "unsure", "amend", "withdraw"]
ConditionKind = Literal["demand", "fact"]
DeclaredValue = float | str | tuple[str, ...]

OWN, ANY, SILENT = "own", "any", "silent"
"""None of the options; no preference among them; the earlier statement did not speak to it."""
OPPOSE, OPEN = "oppose", "open"
"""What a seat holds if its condition is not met: then it is against, or would think again."""
UNDECLARED = "[no declaration]"
"""On a speech whose speaker declared nothing that can be counted, although it was asked again."""
LIMITED = "[cut off by the limit]"
"""On a speech that a limit of the discussion ended before what its task allows. If that took its
declaration away, its seat has taken nothing back: what it declared before stands."""
NONE = "none"
"""What a verdict delivers where the table chose nothing."""


class DeclaredVote(Value):
    """A seat's vote on one decision."""

    on: str
    before: str = SILENT
    """Where its previous statement belongs: an option, OWN or SILENT."""
    choice: str
    """What it holds now: an option, OWN or ANY."""
    acceptable: tuple[str, ...] = ()
    rejects: tuple[str, ...] = ()
    text: str = added("")
    """What OWN stands for on this decision; where it says nothing, the position does."""

    @property
    def ranking(self) -> tuple[str, ...]:
        """What it would take, best first."""
        return tuple(dict.fromkeys(o for o in (self.choice, *self.acceptable) if o not in _OPEN))


_OPEN = (OWN, ANY)


class Condition(Value):
    """Something without which a position falls."""

    text: str
    kind: ConditionKind = "demand"
    otherwise: str = OPEN


class DeclaredStance(Value):
    """What a seat says to a listed point or condition."""

    id: str
    stance: StanceWord
    text: str = ""


class Adopted(Value):
    """What a seat took over from another one."""

    participant: str
    what: str
    moved: bool = False
    """Whether this argument changed its choice or position."""


class Declaration(Value):
    """All that one speech declares. What was not asked for stays empty."""

    votes: tuple[DeclaredVote, ...] = ()
    position: str = ""
    conditions: tuple[Condition, ...] = ()
    confidence: int | None = Field(default=None, ge=0, le=100)
    stances: tuple[DeclaredStance, ...] = ()
    adopted: tuple[Adopted, ...] = ()
    new_points: tuple[str, ...] = ()
    abstain: str | None = None
    """Why it takes no position at all; then nothing of it is counted."""
    scores: dict[str, int] = Field(default_factory=dict)
    """How much it agrees with each peer, 1 to 5, by participant."""
    end: bool | None = None
    """Whether it would end the discussion now."""
    values: dict[str, DeclaredValue] = Field(default_factory=dict)
    """Numbers, choices and lists that a procedure of the user's own asks for, by name."""
    actions: tuple[ActionItem, ...] = ()
    for_the_record: str = ""
    """What it wants to stand in the minutes whatever is decided."""
    delivers: str = ""
    """Of a verdict: the option that it delivers, or NONE."""
    answer: str = ""
    """Of a verdict: the answer in one or two sentences."""
    why: tuple[str, ...] = ()
    would_change: tuple[str, ...] = ()
    stands: tuple[str, ...] = added(())
    """Of a verdict: the versions of deliverables that stand, by their ids."""
    rests_on: tuple[str, ...] = added(())
    """Of a verdict: ids of the host's assumptions without which it would be another."""

    def vote(self, decision: str) -> DeclaredVote | None:
        for vote in self.votes:  # asked for again and again: a generator takes twice as long
            if vote.on == decision:
                return vote
        return None

    @property
    def moved_by(self) -> tuple[Adopted, ...]:
        """The arguments that it names as what changed its mind."""
        return tuple(each for each in self.adopted if each.moved)


class Option(Value):
    """One answer that can be chosen, in words that its holders would sign."""

    id: str
    text: str
    origin: Literal["given", "clerk", "own"] = "given"
    holders: tuple[str, ...] = ()
    """Who seems to hold it, as the clerk proposes: shown, never counted."""


class Decision(Value):
    """Something on which the table may differ. The first one is always the question itself."""

    id: str
    question: str
    options: tuple[Option, ...]

    @property
    def option_ids(self) -> tuple[str, ...]:
        return tuple(option.id for option in self.options)

    def option(self, option_id: str) -> Option | None:
        return next((option for option in self.options if option.id == option_id), None)

    def text_of(self, option_id: str) -> str:
        option = self.option(option_id)
        return option.text if option else option_id
