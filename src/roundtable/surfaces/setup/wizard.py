"""The setup wizard: one question at a time, lettered options, pure, so any surface can hold it.

Enter takes the default that is shown, `back` returns to the question before. Models, round 2,
language and logging are asked first; the rest is offered as a whole, and asked one by one only if
that is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.errors import UnknownName, UsageError
from ...core.key_shapes import looks_like_key, may_be_key
from ...core.limits import told as in_words
from ...core.text import listed
from ...models.facts import ELSEWHERE
from ...procedures import procedure_spec
from ...procedures.council.options import PRESETS
from ...procedures.council.roles import ROLES
from .question import Option, Question, options

WIZARD_PRESETS = ("cheap", "balanced", "premium", "diverse")
COST = "max_cost_usd"
AUTO = "auto"
"""The language of the question."""
CONFIRM = "confirm"
BACK = ("back", "<")
MOST_LISTED = 8
"""Models that are offered by letter."""

_ROUND2 = (("yes, always", True), ("no, never", False), ("ask me each time", "ask"))
_LANGUAGES = (
    *(("English", "en"), ("Deutsch", "de"), ("Español", "es"), ("another one", "")),
    ("the language of the question", AUTO),
)
OTHER, NO_LIMIT = "another", "none"
"""The limit is another amount; there is none."""
_CAPS = (
    *(("$0.50", 0.5), ("$2", 2.0), ("$10", 10.0)),
    *(("another amount", OTHER), ("no limit", NO_LIMIT)),
)
_AMOUNT = re.compile(r"\d{1,6}(?:[.,]\d{1,2})?")
_PAGE = (
    ("automatically, if there is a screen", "screen"),
    ("automatically; without a screen it is only served", "always"),
    ("only when I ask for it (--web)", "asked"),
)
PAGES = {"screen": None, "always": True, "asked": False}
"""The setting `web` of each answer."""
_PROCEDURES = (
    ("deliberation: independent answers, critique, a vote, a verdict", "deliberation"),
    ("council: Scholar, Engineer and Muse", "council"),
    ("five-round: a long debate that ends in a plan", "five-round"),
    ("adaptive: the panel designs its own workflow", "adaptive"),
)
_REST = ("procedure", "host", "cap", "search", "page")


@dataclass(frozen=True, slots=True)
class Wizard:
    """A dialogue so far. `answer` returns the next one; nothing is stored before `confirmed`."""

    known_model: Callable[[str], object]
    """Raises UsageError for a model that does not exist."""
    known_procedure: Callable[[str], object] = procedure_spec
    """Raises UsageError for a procedure that does not exist."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What is stored or was found, by the keys of the questions; for the questions after the first
    four there is always one."""
    models: tuple[str, ...] = ()
    """Those that can speak here, the ones to suggest first."""
    searches: str = ""
    """The web search that there is; empty if there is none."""
    engine: str = ""
    """The web search that the user has chosen; empty where it is whatever there is."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """The stored limits that nobody is asked for here: they stay."""
    usable: Callable[[str], bool] = lambda _: True
    passed_on: Callable[[str], bool] = lambda _: False
    """Whether a server of this machine has another one, elsewhere, answer for a model."""
    more: tuple[str, ...] = ()
    """Further lines of the summary."""
    told_of: Callable[[Mapping[str, Any]], Sequence[str]] = lambda _: ()
    """What is to be said of what would be stored, in lines of the summary: what of it does not
    count, and why."""
    answers: dict[str, Any] = field(default_factory=dict)

    @property
    def question(self) -> Question | None:
        """The next question, or None at the end."""
        return next((each for each in self._path() if each.key not in self.answers), None)

    @property
    def proposed(self) -> tuple[str, ...]:
        """The models that speak where every default is taken."""
        seats = (self.defaults.get(role.id) or "" for role in ROLES)
        match self.defaults.get("models"):
            case "one":
                return (self.defaults.get("all") or "",)
            case "each":
                return tuple(seats)
            case "preset":
                return PRESETS[self.defaults["preset"]]
            case _:
                return ()

    @property
    def confirmed(self) -> bool:
        return self.answers.get(CONFIRM) is True

    def answer(self, text: str) -> Wizard:
        """Take the answer to the present question; UsageError asks for another one."""
        question = self.question
        if question is None:
            raise UsageError("The setup is finished.")
        if text.strip().casefold() in BACK:
            return self._back()
        value = self._value(question, text)
        return replace(self, answers={**self.answers, question.key: value})

    def config(self) -> dict[str, Any]:
        """What config.json will hold."""
        a = self.answers
        config: dict[str, Any] = {"version": 1}
        match a.get("models"):
            case "one":
                config["models"] = {role.id: a["all"] for role in ROLES}
            case "each":
                config["models"] = {role.id: a[role.id] for role in ROLES}
            case "preset":
                config["preset"] = a["preset"]
        config["round2"] = a["round2"]
        config["language"] = a["language"] or a["own_language"]
        config["log_sessions"] = a["logging"]
        if a["logging"]:
            config["log_path"] = "memory/roundtable"
        config["procedure"] = self._rest("procedure")
        if host := self._rest("host"):
            config["host"] = host
        cap = self._cap()
        if limits := {**({} if cap is None else {COST: cap}), **self.limits}:
            config["budget"] = limits
        if search := "none" if self._rest("search") is False else self.engine:
            config["search"] = search
        config["web"] = PAGES[self._rest("page")]
        return config

    # --- the questions ----------------------------------------------------------------------------

    def _path(self) -> list[Question]:
        """The questions that the answers so far lead to."""
        path: list[Question] = []
        if self.defaults.get("models") != "none":
            path.append(self._asked("models", "Which models should speak?", options(*_MODELS)))
            match self.answers.get("models"):
                case "one":
                    path.append(self._model("all", "Which model? Any alias or provider/model."))
                case "each":
                    path += [
                        self._seat(r.id, _SEAT.format(place, f"{r.name} {r.emoji}"))
                        for place, r in zip(_PLACES, ROLES, strict=True)
                    ]
                case "preset":
                    path.append(self._asked("preset", "Which preset?", self._presets()))
                case _:
                    return path
        path.append(self._asked("round2", ROUND2, options(*_ROUND2)))
        path.append(self._asked("language", LANGUAGE, options(*_LANGUAGES)))
        if self.answers.get("language") == "":
            path.append(self._asked("own_language", "Which language? Write its name."))
        path.append(self._asked("logging", LOGGING, options(("yes", True), ("no", False))))
        if not all(each.key in self.answers for each in path):
            return path
        path.append(self._asked("rest", f"Other settings:\n{self._told()}\nKeep these?", _TAKE))
        if self.answers.get("rest") is False:
            path += self._one_by_one()
        if all(each.key in self.answers for each in path):
            path.append(self._confirmation())
        return path

    def _one_by_one(self) -> list[Question]:
        path = [
            self._asked("procedure", PROCEDURE, options(*_PROCEDURES), free=True),
            self._model("host", "Which model should be the host? It leads, and takes no side."),
            self._asked("cap", CAP, options(*_CAPS), free=True),
        ]
        if self.answers.get("cap") == OTHER:
            path.append(self._asked("own_cap", OWN_CAP))
        there = self.engine or self.searches
        found = f"yes ({there})" if there else "yes, once there is a search"
        search = options((found, True), ("no", False))
        path.append(self._asked("search", "May the experts search the web?", search))
        path.append(
            self._asked("page", "When should the page open in the browser?", options(*_PAGE))
        )
        return path

    def _asked(
        self, key: str, text: str, choices: tuple[Option, ...] = (), *, free: bool = False
    ) -> Question:
        return Question(key, text, choices, free, self.defaults.get(key))

    def _model(self, key: str, text: str) -> Question:
        listed = options(*((self._marked(each), each) for each in self.models[:MOST_LISTED]))
        if (more := len(self.models) - MOST_LISTED) > 0:
            text = f"{text} Write the name of any of {more} more (roundtable models --all)."
        return self._asked(key, text, listed, free=True)

    def _seat(self, key: str, text: str) -> Question:
        """The suggestion was for different seats: whoever was given one already is no longer it."""
        question = self._model(key, text)
        seats = [role.id for role in ROLES]
        suggested = [self.defaults.get(each) for each in seats]
        taken = [self.answers.get(each) for each in seats[: seats.index(key)]]
        if question.default not in taken or len(set(suggested)) < len(seats):
            return question
        free = (each for each in (*suggested, *self.models) if each and each not in taken)
        return replace(question, default=next(free, question.default))

    def _presets(self) -> tuple[Option, ...]:
        rows = []
        stored = self.defaults.get("preset", "")
        further = (stored,) if stored in PRESETS and stored not in WIZARD_PRESETS else ()
        for name in (*WIZARD_PRESETS, *further):
            missing = (
                "" if any(map(self.usable, PRESETS[name])) else " (none of them can speak here)"
            )
            rows.append((f"{name}: {' / '.join(PRESETS[name])}{missing}", name))
        return options(*rows)

    def _confirmation(self) -> Question:
        lines = [f"  {line}" for line in self._summary()]
        lines += [f"  {line}" for line in (*self.more, *self.told_of(self.config()))]
        return Question(
            CONFIRM,
            "\n".join(["This will be stored:", *lines, "Store it?"]),
            options(("yes", True), ("no", False)),
            default=True,
        )

    # --- in words ---------------------------------------------------------------------------------

    def _summary(self) -> list[str]:
        config = self.config()
        a = self.answers
        lines = []
        if models := config.get("models"):
            different = dict.fromkeys(models.values())
            seats = "in this order" if len(different) > 1 else "for every seat"
            shown = models.values() if len(different) > 1 else different
            lines.append(f"models: {', '.join(map(self._marked, shown))} {seats}")
        elif preset := config.get("preset"):
            lines.append(f"models: preset {preset} ({' / '.join(PRESETS[preset])})")
        else:
            lines.append("models: chosen to fit each question")
        named = models.values() if models else PRESETS.get(config.get("preset", ""), ())
        if absent := [name for name in dict.fromkeys(named) if not self.usable(name)]:
            instead = "others will stand in" if self.models else "nor can any other model"
            lines.append(f"  cannot speak now: {', '.join(absent)}; {instead}")
        lines.append("a council's round 2: " + _shown(_ROUND2, a["round2"]))
        language = config["language"]
        lines.append(f"language: {_shown(_LANGUAGES, language) or language}")
        lines.append("a council's log: " + ("memory/roundtable/" if a["logging"] else "none"))
        return [*lines, *self._told().splitlines()]

    def _told(self) -> str:
        cap = self._cap()
        found = f"automatic (currently {self.searches})" if self.searches else ""
        search = self.engine or found if self._rest("search") else "off"
        page = _shown(_PAGE, self._rest("page"))
        return "\n".join(
            [
                f"procedure: {self._rest('procedure')}",
                f"host: {self._marked(self._rest('host')) or 'chosen to fit each question'}",
                f"limit: {self._limits_told(cap)}",
                f"web search: {search or 'automatic, once one is set up'}",
                f"page: {page}",
            ]
        )

    def _marked(self, model: str | None) -> str:
        return f"{model} {ELSEWHERE}" if model and self.passed_on(model) else model or ""

    def _limits_told(self, cap: float | None) -> str:
        kept = [in_words(name, value) for name, value in self.limits.items() if value is not None]
        if not kept:
            return _limit(cap)
        told = f"{listed(kept)}, as before"
        return told if cap is None else f"{_limit(cap)}; {told}"

    def _rest(self, key: str) -> Any:
        usual = {"procedure": "deliberation", "cap": NO_LIMIT, "search": True, "page": "screen"}
        return self.answers.get(key, self.defaults.get(key, usual.get(key)))

    def _cap(self) -> float | None:
        cap = self._rest("cap")
        if cap == OTHER:
            cap = self._rest("own_cap")
        return None if cap in (NO_LIMIT, None) else float(cap)

    # --- the answers ------------------------------------------------------------------------------

    def _back(self) -> Wizard:
        if not self.answers:
            raise UsageError("This is the first question.", "Ctrl-C ends the setup.")
        last = list(self.answers)[-1]
        return replace(self, answers={k: v for k, v in self.answers.items() if k != last})

    def _value(self, question: Question, text: str) -> Any:
        if looks_like_key(text.strip()):
            raise UsageError("That looks like a key.", f"None is asked for here. {KEY_SEEN}")
        value = question.value_of(text)
        match question.key:
            case "all" | "host" | "scholar" | "engineer" | "muse":
                try:
                    self.known_model(value)
                except UnknownName as error:
                    if error.suggestions or not may_be_key(value):
                        raise
                    raise UsageError("No model of that name is known.", error.remedy) from None
            case "procedure":
                self.known_procedure(value)
            case "own_cap":
                return _amount(value)
            case "cap" if value not in (each for _, each in _CAPS):
                return _amount(value)
        return value


KEY_SEEN = "It was shown as you typed it, so anyone who saw it could use it."

_MODELS = (
    ("🎯 one model for every seat", "one"),
    ("🔀 a different model for each seat", "each"),
    ("📦 a preset (cheap, balanced, premium, diverse)", "preset"),
)
_TAKE = options(("yes", True), ("no, ask me about each", False))
_PLACES = ("first", "second", "third")
_SEAT = "Which model should take the {} seat? In a council, that is the {}."
ROUND2 = (
    "In a council, should the experts cross-examine each other in a second round? That about "
    "doubles the cost. Other procedures have their own rounds (--rounds)."
)
LANGUAGE = "In which language should the table answer?"
LOGGING = (
    "Write a log file of each council to memory/roundtable/? The database keeps every discussion "
    "in any case."
)
PROCEDURE = "Which procedure should be the default?"
CAP = "What is the most a discussion may cost?"
OWN_CAP = "How many dollars? Write a number such as 1.50; 0: free models only; none: no limit."


def _amount(value: str) -> float | str:
    if value.casefold() == NO_LIMIT:
        return NO_LIMIT
    text = value.removeprefix("$").strip()
    if not _AMOUNT.fullmatch(text):
        raise UsageError(
            f"{'That' if may_be_key(value) else repr(value)} is not an amount.",
            "Write dollars and cents, such as 1.50; 0 for free models only; none for no limit.",
        )
    return float(text.replace(",", "."))


def _limit(cap: float | None) -> str:
    if cap is None:
        return "none"
    if not cap:
        return "$0 for each discussion: only free models can be used"
    shown = "$" + f"{cap:.2f}".removesuffix(".00") if cap >= 0.01 else "less than a cent"
    return f"{shown} for each discussion"


def _shown(choices: tuple[tuple[str, Any], ...], value: Any) -> str:
    return next((text for text, each in choices if each == value), "")
