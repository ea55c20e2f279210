"""The limits of a discussion as people and programs give them: under the words of the command line
on every surface, read in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, model_validator

from ..core.errors import UsageError
from ..core.events import NoteAdded
from ..core.limits import FLAGS, OLDER, WORDS, Limits, is_cap, joined, renamed
from ..core.limits import told as in_words
from ..core.numbers import NUMBER
from ..core.state import State
from ..core.values import Budget, Value
from ..procedures.checking import checked
from ..procedures.opening import checked_budget
from ..procedures.options import Surface
from ..settings import Settings

LIMIT_WORDS: Mapping[str, str] = {word: field for field, word in WORDS.items()}
"""What limits are called wherever they are given, and the field of the budget that each fills."""
OLDER_WORDS = OLDER
"""What some of them were called: taken wherever a limit is."""
CAPPED = "budget_capped"
"""The code of the note that a cap is lower than what was asked for."""
THE_REQUEST = "the request"
"""The origin of what a program asks for."""
OF_SPENDING = "what the token may still spend"
OF_MONTH = "what is left of the month's budget"
_CAPS = (
    "Caps are set under [caps] in config.toml, in ROUNDTABLE_MAX_… and in a trusted project's "
    "roundtable.toml."
)
_REMEDIES: Mapping[str, str] = {
    OF_SPENDING: "Wait for what still runs with it, or ask for a token that may spend more.",
    OF_MONTH: "Wait for what still runs, or for the next month, or let the owner raise it.",
}
_FORM = 'Give limits by their names, such as {"max_cost": 0.5, "max_calls": 20}.'


class LimitValues(Value):
    """Limits in a request. The older names `max_cost_usd` and `max_seconds` are taken, too."""

    model_config = ConfigDict(defer_build=False)  # whole requests are made of it, at the start

    # Lax, unlike what is stored: models that call tools write a number as a text.
    max_cost: Annotated[float | None, Field(ge=0, allow_inf_nan=False), NUMBER] = None
    """US dollars."""
    max_calls: Annotated[int | None, Field(ge=1), NUMBER] = None
    max_tokens: Annotated[int | None, Field(ge=1), NUMBER] = None
    max_time: Annotated[float | None, Field(gt=0, allow_inf_nan=False), NUMBER] = None
    """Seconds."""

    @model_validator(mode="before")
    @classmethod
    def _by_their_words(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        try:
            return renamed(given, cls.model_fields)
        except UsageError as error:
            raise ValueError(str(error)) from None

    @property
    def given(self) -> dict[str, float]:
        """Those that are given, by their words."""
        values = {word: getattr(self, word) for word in LIMIT_WORDS}
        return {word: value for word, value in values.items() if value is not None}


def read_limits(given: object, where: str = "budget") -> dict[str, float]:
    """The limits that are given, by the fields of the budget that they fill. UsageError for what
    holds no limits; UnknownName or BadSetting for a name or an amount that is none."""
    if not isinstance(given, Mapping):
        raise UsageError(f"{where}: {given!r} contains no limits.", _FORM)
    named = renamed({str(name): value for name, value in given.items()}, LIMIT_WORDS)
    values = checked(LimitValues, named, where).given
    limits = {LIMIT_WORDS[word]: value for word, value in values.items()}
    checked_budget(Budget(**limits), where=where, called=WORDS)
    return limits


def stored_limits(given: object) -> dict[str, float]:
    """What is given as a budget, whole or limit by limit, as it is stored."""
    return given.model_dump(exclude_none=True) if isinstance(given, Budget) else read_limits(given)


def limits_of(
    settings: Settings,
    given: Budget | Mapping[str, Any] | None,
    *,
    surface: Surface,
    before: Limits | None = None,
) -> tuple[Limits, tuple[NoteAdded, ...]]:
    """The limits that count, each with its origin: what is given over what is usual, or was
    `before`, and no more than the user's caps and a project's file allow. Notes say which of it was
    lowered."""
    usual = before or settings.usual_limits
    wanted = usual
    asked: dict[str, float] = {}
    if given is not None:
        whole = isinstance(given, Budget)
        asked = stored_limits(given)
        values = asked if whole else {**usual.budget.model_dump(exclude_none=True), **asked}
        own = {n: FLAGS[n] if surface in ("cli", "chat") else THE_REQUEST for n in asked}
        origins = own if whole else {**usual.origins, **own}
        wanted = Limits(checked(Budget, values, "budget"), origins)
    limits, lowered = joined(wanted, [settings.caps])
    return limits, tuple(note_lowered(wanted, limits, name) for name in lowered if name in asked)


def note_lowered(wanted: Limits, limits: Limits, name: str) -> NoteAdded:
    """That a limit is not the one that was asked for, and by whom."""
    origin = limits.origins.get(name, "a cap")
    before = wanted.origins.get(name, "")
    instead = f"by {before}" if is_cap(before) else "that were asked for"
    return NoteAdded(
        code=CAPPED,
        text=f"The limit is {in_words(name, getattr(limits.budget, name))}, by {origin}, and not "
        f"the {in_words(name, getattr(wanted.budget, name))} {instead}.",
        remedy=_REMEDIES.get(origin, _CAPS),
    )


def with_notes_of_lowered(
    notes: tuple[NoteAdded, ...], wanted: Limits, limits: Limits, lowered: Iterable[str]
) -> tuple[NoteAdded, ...]:
    """These notes, and what became of limits that somebody asked for: what is merely usual may be
    lowered without a word."""
    told = any(note.code == CAPPED for note in notes)
    asked = [n for n in lowered if told or wanted.origins.get(n) in (FLAGS[n], THE_REQUEST)]
    return (*notes, *(note_lowered(wanted, limits, name) for name in asked))


def higher_limits(
    settings: Settings, state: State, given: Mapping[str, Any], *, surface: Surface
) -> tuple[Limits, tuple[NoteAdded, ...]] | None:
    """As far as a discussion may go on, by what is given of the limits; None where nothing is."""
    if all(value is None for value in given.values()):
        return None
    before = Limits(state.budget, state.limits_from)
    return limits_of(settings, given, surface=surface, before=before)
