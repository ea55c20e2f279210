"""The setup wizard: one question at a time, lettered options, pure, so any chat can hold it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.errors import UsageError
from .options import PRESETS
from .roles import ROLES

WIZARD_PRESETS = ("cheap", "balanced", "premium", "diverse")


@dataclass(frozen=True, slots=True)
class Option:
    """One choice; `letter` is what a person types or a chat shows as a button."""

    letter: str
    text: str
    value: Any


@dataclass(frozen=True, slots=True)
class Question:
    """One question. Without options the answer is free text."""

    key: str
    text: str
    options: tuple[Option, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.text, *(f"{o.letter}) {o.text}" for o in self.options)])


def _options(*choices: tuple[str, Any]) -> tuple[Option, ...]:
    return tuple(Option(chr(ord("A") + n), *choice) for n, choice in enumerate(choices))


_MODELS = Question(
    "models",
    "Which models should speak?",
    _options(
        ("🎯 one model for every role", "one"),
        ("🔀 a different model for each role", "each"),
        ("📦 a preset (cheap, balanced, premium, diverse)", "preset"),
    ),
)
_ONE = Question("all", "Which model? An alias such as sonnet, or a full id such as openai/….")
_PRESET = Question(
    "preset",
    "Which preset?",
    _options(*((f"{name}: {' / '.join(PRESETS[name])}", name) for name in WIZARD_PRESETS)),
)
_ROUND2 = Question(
    "round2",
    "Should the experts cross-examine each other in a second round? It costs about 2x.",
    _options(("yes, always", True), ("no, never", False), ("ask me each time", "ask")),
)
_LANGUAGE = Question(
    "language",
    "In which language should the council answer?",
    _options(("English", "en"), ("Deutsch", "de"), ("Español", "es"), ("another one", None)),
)
_OTHER_LANGUAGE = Question("own_language", "Which language? Write its name.")
_LOGGING = Question(
    "logging",
    "Keep a log of each session in memory/roundtable/?",
    _options(("yes", True), ("no", False)),
)
CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class Wizard:
    """A dialogue so far. `answer` returns the next one; nothing is stored before `confirmed`."""

    known_model: Callable[[str], object]
    """Raises UsageError for a model that does not exist."""
    answers: dict[str, Any] = field(default_factory=dict)

    @property
    def question(self) -> Question | None:
        """The next question, or None at the end."""
        return next((each for each in self._path() if each.key not in self.answers), None)

    @property
    def confirmed(self) -> bool:
        return self.answers.get(CONFIRM) is True

    def answer(self, text: str) -> Wizard:
        """Take the answer to the present question; UsageError asks for another one."""
        question = self.question
        if question is None:
            raise UsageError("The setup is finished.")
        return replace(self, answers={**self.answers, question.key: self._value(question, text)})

    def config(self) -> dict[str, Any]:
        """What config.json will hold."""
        a = self.answers
        config: dict[str, Any] = {}
        if a["models"] == "one":
            config["models"] = {role.id: a["all"] for role in ROLES}
        elif a["models"] == "each":
            config["models"] = {role.id: a[role.id] for role in ROLES}
        else:
            config["preset"] = a["preset"]
        config["round2"] = a["round2"]
        config["language"] = a["language"] or a["own_language"]
        config["log_sessions"] = a["logging"]
        if a["logging"]:
            config["log_path"] = "memory/roundtable"
        return config

    def _path(self) -> list[Question]:
        """The questions that the answers so far lead to."""
        path = [_MODELS]
        match self.answers.get("models"):
            case "one":
                path.append(_ONE)
            case "each":
                path += [Question(r.id, f"Which model for the {r.name} {r.emoji}?") for r in ROLES]
            case "preset":
                path.append(_PRESET)
            case _:
                return path
        path += [_ROUND2, _LANGUAGE]
        if "language" in self.answers and self.answers["language"] is None:
            path.append(_OTHER_LANGUAGE)
        path.append(_LOGGING)
        if all(each.key in self.answers for each in path):
            path.append(self._confirmation())
        return path

    def _confirmation(self) -> Question:
        lines = [f"  {key}: {value}" for key, value in self.config().items()]
        return Question(
            CONFIRM,
            "\n".join(["This will be stored:", *lines, "Store it?"]),
            _options(("yes", True), ("no", False)),
        )

    def _value(self, question: Question, text: str) -> Any:
        given = text.strip()
        if question.options:
            letter = given[:1].upper() if len(given.rstrip(").")) == 1 else ""
            words = given.casefold()
            for option in question.options:
                plain = option.text.split(":")[0].casefold()
                if letter == option.letter or words in (plain, str(option.value).casefold()):
                    return option.value
            letters = ", ".join(option.letter for option in question.options)
            raise UsageError(f"{given!r} is none of the options.", f"Answer with one of {letters}.")
        if not given:
            raise UsageError("The answer is empty.", "Write a name.")
        if question.key != _OTHER_LANGUAGE.key:
            self.known_model(given)
        return given
