"""Errors for callers. What a model does wrong is never an exception here: it is an event.

::

    RoundtableError                 every error says what happened and what to do next
    ├── UsageError                  the request cannot be carried out as it was made
    │   ├── BadTopic                the question is empty, too long or not text
    │   ├── SecretsFound            what would be sent seems to hold keys or passwords
    │   ├── UnknownName             no such model, preset, procedure, expert …
    │   │   └── AmbiguousName       several servers have a model of this name
    │   ├── BadSetting              a configuration value is wrong: file, key, expected
    │   ├── NewerFile               a newer Roundtable wrote this file
    │   ├── NoModel                 nothing here can speak: no key, no server, no demonstration
    │   ├── UnknownDiscussion       no discussion has this id
    │   └── NotAllowed              the discussion's state forbids it (closed, not your turn …)
    │       ├── Forbidden           what the caller holds does not allow it
    │       └── TooBusy             not now: too many discussions wait already
    │           └── MoneySetAside   what is left of a budget is set aside by what is under way
    ├── LedgerError                 the ledger cannot be read or written
    │   ├── LedgerConflict          somebody else appended first
    │   ├── LedgerBusy              another process holds the database
    │   ├── LedgerReadOnly          the database cannot be written
    │   ├── LedgerFull              the disk is full
    │   ├── LedgerTooNew            written by a newer Roundtable
    │   ├── LedgerBroken            not a database, or damaged
    │   ├── LedgerUnreachable       no connection to the database server; its file is gone
    │   └── LedgerGone              it went away under a discussion, and did not come back
    ├── LeaseHeld                   another process drives this discussion
    ├── LeaseLost                   this process no longer drives it
    ├── SpeakerError                one call failed; the engine turns it into an event
    ├── SearchError                 one web search failed; likewise
    ├── BoardError                  a task board refused or could not be reached
    ├── ChannelError                a message could not be sent; the notifier turns it into an event
    └── NetError                    one request over the network failed; adapters make it theirs
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from .model_trouble import ModelTrouble

if TYPE_CHECKING:
    from .values import Usage

FailureCause = Literal[
    "timeout",
    "rate_limited",
    "unavailable",
    "cut",
    "auth",
    "not_found",
    "refused",
    "bad_request",
    "too_long",
    "empty",
    "garbled",
    "cancelled",
    "lost",
    "budget",
    "absent",
]
FAILURE_CAUSES: tuple[FailureCause, ...] = get_args(FailureCause)


class RoundtableError(Exception):
    """The root: `message` says what happened, `remedy` what to do next."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class UsageError(RoundtableError):
    """The request cannot be carried out as it was made."""


class BadTopic(UsageError):
    """The question or its material is empty, too long or not text."""


class SecretsFound(UsageError):
    """What would be sent seems to hold keys or passwords; nothing was sent."""

    def __init__(self, message: str, remedy: str = "", found: tuple[str, ...] = ()) -> None:
        """`found` says of each where it stands and what it looks like."""
        super().__init__(message, remedy)
        self.found = found


MANY = 30
"""A list of more names than this helps nobody."""
_LISTED = {
    "model": "Write PROVIDER/MODEL, or an alias such as opus; `roundtable models` shows them.",
    "expert": "`roundtable experts` lists them; `roundtable experts WORDS` searches.",
    "procedure or command": (
        "`roundtable help` lists the procedures, `roundtable --help` the commands."
    ),
}


class UnknownName(UsageError):
    """A name that is not in its list; the nearest ones are suggested."""

    def __init__(
        self, kind: str, name: str, known: Iterable[str] = (), *, remedy: str | None = None
    ) -> None:
        self.kind = kind
        self.name = name
        names = sorted(known)
        # Beside one that is surely meant, others that look a little like it only confuse.
        self.suggestions: Sequence[str] = get_close_matches(
            name, names, n=3, cutoff=0.85
        ) or get_close_matches(name, names, n=3, cutoff=0.5)
        if remedy is None:
            if self.suggestions:
                remedy = f"Did you mean {' or '.join(self.suggestions)}?"
            elif len(names) > MANY:
                remedy = _LISTED.get(kind, f"None of the {len(names)} known names is similar.")
            elif names:
                remedy = f"Known: {', '.join(names)}."
            else:
                remedy = ""
        super().__init__(f"Unknown {kind} {name!r}.", remedy)

    @property
    def expected(self) -> str:
        """What should stand in the name's place."""
        return f"a {self.kind} that exists; “{self.name}” does not"


class AmbiguousName(UnknownName):
    """A name that servers give to several things: whichever was taken could be the wrong one."""

    def __init__(self, kind: str, name: str, meant: Sequence[str]) -> None:
        """`meant` are those that it could mean, by names that are only theirs."""
        super().__init__(f"ambiguous {kind}", name, remedy="Write in full which one is meant.")
        self.suggestions = meant
        self.message = f"{name!r} could mean {' or '.join(meant)}."

    @property
    def expected(self) -> str:
        return f"the full name of a model; “{self.name}” could be {' or '.join(self.suggestions)}"


class BadSetting(UsageError):
    """A configuration value is wrong."""

    def __init__(
        self, where: str, key: str, expected: str, remedy: str = "Correct it and run again."
    ) -> None:
        self.where = where
        self.key = key
        self.expected = expected
        super().__init__(f"{where}: {key}: expected {expected}.", remedy)


class NewerFile(UsageError):
    """A newer Roundtable wrote this file; what it means here cannot be known."""

    def __init__(self, where: str, version: int, known: int) -> None:
        super().__init__(
            f"{where} was written by a newer Roundtable (version {version}; this one knows "
            f"{known}).",
            "Upgrade Roundtable, or move the file away and run setup again. It was not changed.",
        )


class NoModel(UsageError):
    """Nothing here can speak for a seat."""

    def __init__(
        self,
        wanted: str = "",
        told: str = "",
        remedy: str = "",
        so: str = "No model can be used, so no discussion was started.",
    ) -> None:
        """`wanted` is the model that was asked for by its name, if one was. `told` is what is wrong
        with what was set up, if anything was, `so` what follows, and `remedy` what helps."""
        if told:
            super().__init__(
                f"{told} {so}",
                f"{remedy} `roundtable doctor --reach` tries it again. `roundtable demo` shows "
                "how a table works, without a model.".strip(),
            )
            return
        super().__init__(
            f"{wanted} cannot be used here, and neither can any other model."
            if wanted
            else "No model can speak here yet, so no discussion was started.",
            "To go on, set any provider's key (`roundtable setup` tests and stores it), start a "
            "local server such as Ollama, or install the small demonstration model, which needs "
            "no key (pip install 'roundtable-council[demo]'). `roundtable examples` shows what a "
            "discussion looks like; `roundtable demo` checks that everything works.",
        )


class CannotGoOn(NoModel):
    """Those who are still to speak in a discussion cannot be called from here; it stays as it
    is."""

    def __init__(self, discussion_id: str, told: str, remedy: str) -> None:
        UsageError.__init__(
            self,
            f"{told} So no model was called, and {discussion_id} is unchanged.",
            f"{remedy} Then continue: roundtable resume {discussion_id}".strip(),
        )


class UnknownDiscussion(UsageError):
    """No discussion has this id."""

    def __init__(self, discussion_id: str) -> None:
        self.discussion_id = discussion_id
        super().__init__(
            f"There is no discussion {discussion_id!r} in this ledger.",
            "`roundtable list` shows those that exist.",
        )


class AmbiguousDiscussion(UsageError):
    """Several discussions begin with what was written in place of an id."""

    def __init__(self, name: str, candidates: Sequence[str], count: int) -> None:
        more = f" and {count - len(candidates)} more" if count > len(candidates) else ""
        super().__init__(
            f"{name!r} could mean {count} discussions: {', '.join(candidates)}{more}.",
            "Write more of the id.",
        )


class NotAllowed(UsageError):
    """The discussion's state forbids what was asked."""


def is_closed(discussion_id: str) -> NotAllowed:
    """The error for whoever wants to go on in a discussion that is over."""
    further = f'To ask further, hold a follow-up: roundtable follow-up {discussion_id} "…"'
    return NotAllowed(f"{discussion_id} is closed.", further)


class Forbidden(NotAllowed):
    """What the caller holds (a link, a token, a profile) does not allow what was asked."""


class HeldElsewhere(NotAllowed):
    """What was said in a discussion would go to another server than those that it was held on."""

    def __init__(self, discussion_id: str, moves: Iterable[tuple[str, str, str]]) -> None:
        """`moves`: where it was held, where calls would go now, and what leads back."""
        each = list(dict.fromkeys(moves))
        told = "; ".join(
            f"it was held on {before}, and would now go to {now}" for before, now, _ in each
        )
        back = " and ".join(dict.fromkeys(way for _, _, way in each))
        super().__init__(
            f"{discussion_id} would continue on another server: {told}. Nothing was sent.",
            f"To stay with the earlier server, {back}. To send all that was said in it to the new "
            "one, add --here; for a follow-up you can name other --models instead.",
        )


class TooBusy(NotAllowed):
    """Too many discussions wait already; nothing was stored, and nothing is spent."""

    def __init__(self, count: int, whose: str, retry_after: int, *, workers: bool = True) -> None:
        """`retry_after` are the seconds after which there may be room, or without `workers` after
        which it is worth to see whether there are some."""
        self.retry_after = retry_after
        when = f"{retry_after} s" if retry_after < 120 else f"{round(retry_after / 60)} min"
        many = "discussion" if count == 1 else "discussions"
        said = f"{count} {many} {whose} {'is' if count == 1 else 'are'} waiting already"
        limits = "the limits are set under [waiting] in config.toml."
        if workers:
            super().__init__(
                f"{said}. Nothing was started.", f"Try again in about {when}; {limits}"
            )
            return
        super().__init__(
            f"{said}, and there is no worker. Nothing was started.",
            f"Start one first, on any machine: roundtable worker; {limits}",
        )


class MoneySetAside(TooBusy):
    """What is left of a budget is set aside by discussions that are under way."""

    def __init__(self, message: str) -> None:
        self.retry_after = MONEY_COMES_BACK
        NotAllowed.__init__(
            self,
            message,
            "What they do not spend comes back when they end: try again shortly.",
        )


MONEY_COMES_BACK = 30
"""Seconds after which it is worth looking again; nobody knows when a discussion ends."""


class LedgerError(RoundtableError):
    """The ledger cannot be read or written."""

    temporary: ClassVar[bool] = False
    """Whether the same may succeed in a moment, as it stands."""


class LedgerConflict(LedgerError):
    """Another writer appended first: read what is new and decide again."""

    def __init__(self, discussion_id: str, expected: int, actual: int) -> None:
        self.discussion_id = discussion_id
        self.expected = expected
        self.actual = actual
        super().__init__(f"{discussion_id} is at event {actual}, not at {expected}.")


class LedgerBusy(LedgerError):
    """Another process holds the database for too long."""

    temporary = True


class LedgerReadOnly(LedgerError):
    """The database cannot be written."""

    temporary = True


class LedgerFull(LedgerError):
    """The disk, or the database's own limit, is full."""

    temporary = True


class LedgerTooNew(LedgerError):
    """The database was written by a newer Roundtable."""


class LedgerBroken(LedgerError):
    """The file is not a database, or is damaged."""


class LedgerUnreachable(LedgerError):
    """The database does not answer: its server is away, its file is gone, its disk fails."""

    temporary = True


class LedgerMissing(LedgerUnreachable):
    """The database's file is gone, or another one is in its place: all that it held is with it."""


class LedgerGone(LedgerError):
    """The database went away while a discussion was driven, and did not come back in time."""


class LeaseHeld(RoundtableError):
    """Another process drives this discussion."""

    def __init__(self, discussion_id: str, owner: str) -> None:
        self.discussion_id = discussion_id
        self.owner = owner
        # What a job is called tells nobody anything; `roundtable fleet` says who has it.
        who = "a worker" if owner.startswith("job:") else f"another process ({owner})"
        super().__init__(
            f"{discussion_id} is being run by {who}.",
            f"Watch it with `roundtable show {discussion_id} --follow`.",
        )


class LeaseLost(RoundtableError):
    """This process no longer drives the discussion; its writes are refused."""


class SpeakerError(RoundtableError):
    """One call to a speaker failed. `cause` decides whether the turn tries again."""

    def __init__(
        self,
        cause: FailureCause,
        message: str,
        remedy: str = "",
        *,
        retry_after: float | None = None,
        trouble: ModelTrouble | None = None,
        used_up: bool = False,
        usage: Usage | None = None,
    ) -> None:
        """`trouble` says what is wrong with the model, where it is the model: cause not_found;
        `used_up`, that an answer is empty because all its tokens went into thought; `usage`, what
        the provider counted all the same."""
        super().__init__(message, remedy)
        self.cause: FailureCause = cause
        self.retry_after = retry_after
        self.trouble = trouble
        self.used_up = used_up
        self.usage = usage


def used_up_in_thought(who: str, usage: Usage | None = None) -> SpeakerError:
    """All tokens of an answer went into thought."""
    return SpeakerError(
        "empty",
        f"{who} used up its tokens before the first word of the answer.",
        "Give it room to think with --effort medium or high, or use a model that thinks less.",
        used_up=True,
        usage=usage,
    )


class SearchError(RoundtableError):
    """One web search failed. Neither message nor remedy holds a key."""


class BoardError(RoundtableError):
    """A task board refused or could not be reached. Neither message nor remedy holds a key."""


class ChannelError(RoundtableError):
    """A message could not be sent. Neither message nor remedy holds a key. `permanent`: trying
    again cannot help before somebody has set something right."""

    def __init__(
        self,
        message: str,
        remedy: str = "",
        *,
        retry_after: float | None = None,
        permanent: bool = False,
    ) -> None:
        super().__init__(message, remedy)
        self.retry_after = retry_after
        self.permanent = permanent


NetCause = Literal[
    "address",
    "private",
    "proxy",
    "unreachable",
    "tls",
    "timeout",
    "too_large",
    "redirect",
    "format",
]


class NetError(RoundtableError):
    """One request over the network failed. Neither message nor remedy holds a key, a token or
    the query of an address."""

    def __init__(self, cause: NetCause, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.cause: NetCause = cause
