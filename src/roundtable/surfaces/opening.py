"""Opening a discussion, for every surface: what was asked for becomes one request, or one error
that says what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ..core.control_codes import without_escapes
from ..core.errors import SecretsFound, UnknownName, UsageError
from ..core.events import NoteAdded, TaskLinked
from ..core.likely_secrets import likely_secrets, without_secrets
from ..core.values import AT_EASE, Budget, Material, Pace
from ..core.visible import shown as shown_text
from ..documents.gathered import COLOURED, Gathered
from ..experts.chosen import DESCRIBES, listed_experts
from ..experts.library_files import own_files, read_library
from ..experts.methods import find_method
from ..procedures import CUSTOM, OPTIONS, infer_procedure, procedure_spec
from ..procedures.checking import checked as checked_values
from ..procedures.follow_up import held_by_words, misfit
from ..procedures.opening import OpenRequest, checked_topic
from ..procedures.options import SHARED, Option, Surface, described, find
from ..procedures.spec import PREFIX, ProcedureSpec
from ..setting_lines import SettingLines
from ..settings import OnSecrets, Settings
from ..user_procedures import ProcedureFiles
from .limits import limits_of
from .notification_plan import NotificationRequest, notification_plan
from .prior import find_earlier

MOST_LISTED = 8
"""Likely secrets that a refusal names."""
_WORDS: tuple[Surface, ...] = ("cli", "chat")
"""The surfaces on which options are flags."""


def open_request(
    settings: Settings,
    topic: str,
    *,
    surface: Surface,
    procedure: str | None = None,
    usual: str | None = None,
    options: Mapping[str, Any] | None = None,
    context: Sequence[str | Material] = (),
    language: str | None = None,
    budget: Budget | Mapping[str, Any] | None = None,
    pace: Pace | None = None,
    follows: str = "",
    here: bool = False,
    context_from: str | Sequence[str] = (),
    search: bool = True,
    created_by: str = "",
    news: NotificationRequest = None,
    confidential: bool = False,
    chat_room: bool | None = None,
    task: TaskLinked | None = None,
    secrets: OnSecrets | None = None,
    clarify: bool = False,
    notes: Sequence[NoteAdded] = (),
) -> OpenRequest:
    """What the service is asked to open; the settings stand where nothing is said.

    Without a `procedure` it is the `usual` one, or the first that knows the options. A whole
    `budget` stands in for the user's, single limits are laid over it. What `follows` another
    discussion is put to its table, unless a procedure or options are named; options alone keep its
    procedure if that knows them. `here` lets it go to another server than that was held on.
    `clarify`: somebody is there to answer what the host asks. `notes` are what should be said of
    the context. UsageError, UnknownName or BadSetting says what is wrong; what only a table can
    tell of options is checked when it is seated. SecretsFound if the topic or its context seems to
    hold secrets, unless `secrets` or the settings say that they are taken out or sent.
    """
    choices = settings.choices
    given = dict(options or {})
    own = ProcedureFiles(settings.procedure_folders)
    held_as: tuple[NoteAdded, ...] = ()
    words: Mapping[str, str] | None = None
    if procedure:
        spec = procedure_spec(procedure, own)
    else:
        with SettingLines(settings).naming("procedure"):
            default = procedure_spec(usual or choices.procedure, own)
        spec = infer_procedure(given, default.name, own)
        words = {word: _spelled(word, surface) for word in given}
        # What it follows is not known yet, and its procedure goes before the usual one.
        held_as = () if follows else held_by_words(spec, default, words)
    named = _named(given, spec, surface, explicit=bool(procedure))
    if isinstance(listed_text := named.get("experts"), str) and DESCRIBES in listed_text:
        named["experts"] = list(listed_experts(listed_text, _is_expert(settings)))
    _check_values(named, spec, surface)
    if confidential and (known := find(spec.options, "confidential")) and known.general:
        named["confidential"] = True
    materials = [
        Material(source=f"context {n}", text=each) if isinstance(each, str) else each
        for n, each in enumerate(context, 1)
    ]
    names = [context_from] if isinstance(context_from, str) else list(context_from)
    if names and find(spec.options, "context_from"):
        named.setdefault("context_from", names[0])
    if isinstance(slug := named.get("context_from"), str):
        names.append(slug)
    earlier = find_earlier(names, settings.workspace)
    told = [
        Material(source="the question", text=checked_topic(topic)),
        *earlier.materials,
        *materials,
    ]
    question, *checked = checked_for_secrets(settings, told, secrets)
    limits, lowered = limits_of(settings, budget, surface=surface)
    return OpenRequest(
        topic=question.text,
        procedure=spec.name,
        words=words,
        context=tuple(checked),
        follows=follows,
        here=here,
        same_table=bool(follows) and not procedure and not given,
        context_from=earlier.discussions,
        from_files=bool(earlier.materials),
        notes=(*held_as, *earlier.notes, *notes, *_coloured(materials).notes, *lowered),
        options=named,
        language=language or choices.language,
        budget=limits.budget,
        limits_from=limits.origins,
        pace=None if pace == AT_EASE else pace,
        created_by=created_by,
        search=search,
        news=notification_plan(
            settings, spec.name, news, confidential=confidential, chat_room=chat_room
        ),
        task=task,
        host_model=choices.default_model or "",
        host_casts=choices.casting == "host",
        clarify=clarify,
    )


def _coloured(materials: Sequence[Material]) -> Gathered:
    """What is to be said of those that lose their colours here: read from files, they lost them
    before."""
    found = [each.source for each in materials if _uncoloured(each) is not each]
    return Gathered(lines=tuple(f"{shown_text(source)} {COLOURED}" for source in found))


def checked_for_secrets(
    settings: Settings, materials: Sequence[Material], secrets: OnSecrets | None = None
) -> list[Material]:
    """The materials as they may go to models, without the codes that colour a terminal: a secret
    that they cut in two would be whole again. SecretsFound says where secrets seem to be, unless
    they are to be sent or taken out."""
    materials = [_uncoloured(each) for each in materials]
    decided = secrets or settings.choices.secrets
    if decided == "send":
        return materials
    found = [(m.source, each) for m in materials for each in likely_secrets(m.text)]
    if not found:
        return materials
    if decided == "refuse":
        listed = "; ".join(f"{source}, {each}" for source, each in found[:MOST_LISTED])
        more = f"; and {len(found) - MOST_LISTED} more" if len(found) > MOST_LISTED else ""
        raise SecretsFound(
            f"Nothing was sent: the material seems to contain secrets. {listed}{more}.",
            'Remove them, or have them removed (--secrets redact, "secrets": "redact", or '
            'secrets = "redact" in config.toml). If these are not secrets, use send in its place.',
            tuple(f"{source}, {each}" for source, each in found[:MOST_LISTED]),
        )
    return [Material(source=m.source, text=without_secrets(m.text)) for m in materials]


def _uncoloured(material: Material) -> Material:
    text = without_escapes(material.text)
    return material if text == material.text else Material(source=material.source, text=text)


# --- the options of a request ---------------------------------------------------------------------


def _named(
    given: Mapping[str, Any], spec: ProcedureSpec, surface: Surface, *, explicit: bool
) -> dict[str, Any]:
    """The options by their names. UsageError for one of another procedure, or one that this
    surface does not offer; UnknownName for one of nobody."""
    named: dict[str, Any] = {}
    called: dict[str, str] = {}
    for word, value in given.items():
        known = find(spec.options, word)
        if known is None:
            raise _refusal(word, spec, surface, explicit=explicit)
        if surface in known.closed:
            where = "in a chat" if surface == "chat" else "here"
            raise UsageError(
                f"{shown(known, surface)} does not work {where}: {known.closed[surface]}.",
                "Use the command line."
                if "cli" not in known.closed
                else "Leave it out, or use another way to the table.",
            )
        if isinstance(value, str) and value and known.holds_nothing(value):
            raise UsageError(
                f"{_spelled(word, surface)} is empty.", "Give it a value, or leave it out."
            )
        if (before := called.get(known.name)) is not None:
            raise UsageError(
                f"{_spelled(before, surface)} and {_spelled(word, surface)} mean the same.",
                f"Give one of them, best {shown(known, surface)}.",
            )
        called[known.name] = word
        if not known.here:
            named[known.name] = value
    return named


def _is_expert(settings: Settings) -> Callable[[str], bool]:
    """Whether the library has somebody of this id or name, or there is such a method."""
    library = read_library(own_files(*settings.expert_folders), settings.cache).values()
    known = {name for each in library for name in (each.id, each.name.casefold())}
    return lambda name: name.casefold() in known or find_method(name) is not None


def _check_values(named: Mapping[str, Any], spec: ProcedureSpec, surface: Surface) -> None:
    """BadSetting for a value that no table could take, UsageError for two that contradict each
    other: before anything is opened."""
    name = spec.name
    own = name.startswith(PREFIX)
    where = f"options of {name.removeprefix(PREFIX)}" if own else f"{name} options"
    # A list of tables is read row by row when the table is seated.
    rest = {key: value for key, value in named.items() if key != "participants"}
    checked_values(spec.options, rest, where).check(as_flags=surface in _WORDS)


def _refusal(word: str, spec: ProcedureSpec, surface: Surface, *, explicit: bool) -> UsageError:
    """Why this procedure does not take it, who does, and what to write instead."""
    told = _spelled(word, surface)
    name = spec.name.removeprefix(PREFIX)
    if (refusal := misfit(spec, word, told)) is not None:
        return refusal
    knowing = [each for each, model in OPTIONS.items() if find(model, word)]
    meant = next((found for each in knowing if (found := find(OPTIONS[each], word))), None)
    if meant is not None and meant.shared and find(spec.options, meant.name):
        return UsageError(
            f"{told} does not belong to the procedure {name}.",
            f"Here it is {shown(meant, surface)}; {told} belongs to {' and '.join(knowing)}.",
        )
    if knowing:
        first = "your own procedures" if knowing[0] == CUSTOM else knowing[0]
        added = f"use {_procedure(first, surface)}" if knowing[0] != CUSTOM else "name one"
        return UsageError(
            f"{told} does not belong to the procedure {name}.",
            f"It belongs to {' and '.join(knowing)}: {added}. {_taken(spec, surface)}",
        )
    takes = [shown(each, surface) for each in described(spec.options) if offered(each, surface)]
    everybodys = [shown(each, surface) for each, _ in all_options(surface)]
    closest = get_close_matches(told, everybodys, n=1, cutoff=0.5)
    if not explicit and closest and closest[0] not in takes:
        takes = everybodys
    return UnknownName(f"option of the procedure {name}:", told, takes)


def _taken(spec: ProcedureSpec, surface: Surface) -> str:
    own = [e for e in described(spec.options) if offered(e, surface) and not e.shared]
    listed = ", ".join(shown(each, surface) for each in own)
    name = spec.name.removeprefix(PREFIX)
    return f"Of its own {name} takes {listed}." if listed else ""


def _procedure(name: str, surface: Surface) -> str:
    return f"--procedure {name}" if surface in _WORDS else f'procedure "{name}"'


def _spelled(word: str, surface: Surface) -> str:
    return _flag(word) if surface in _WORDS else word


def offered(option: Option, surface: Surface) -> bool:
    return surface not in option.closed


def shown(option: Option, surface: Surface) -> str:
    """As whoever uses this surface writes it."""
    return option.flag if surface in _WORDS else option.name


def _flag(word: str) -> str:
    return f"--{word.replace('_', '-')}"


def all_options(surface: Surface) -> Iterable[tuple[Option, str]]:
    """Every option that a surface offers, with the procedure that takes it."""
    for name, model in OPTIONS.items():
        yield from ((each, name) for each in described(model) if offered(each, surface))


# --- described for those who write JSON -----------------------------------------------------------


def options_schema() -> dict[str, Any]:
    """The options of all procedures as a JSON schema: one of the tables, by its title."""
    return {
        "type": "object",
        "description": "The options of the procedure; each table belongs to the one in its title.",
        "anyOf": [_table(name) for name in OPTIONS],
    }


def brief_schema() -> dict[str, Any]:
    """The same in few words, for models that read it with every call."""
    told = {
        name: [e.name for e in described(model) if offered(e, "tools") and not e.shared]
        for name, model in OPTIONS.items()
    }
    takes = "; ".join(f"{name}: {', '.join(names)}" for name, names in told.items() if names)
    return {
        "type": "object",
        "description": f"Options, such as {{quick: true}}. All: {', '.join(SHARED)}; {takes}.",
    }


def _table(name: str) -> dict[str, Any]:
    schema = TypeAdapter(OPTIONS[name]).json_schema(by_alias=True)
    parts = schema.pop("$defs", {})
    hidden = [each.name for each in described(OPTIONS[name]) if not offered(each, "http")]
    properties = {
        key: _plain(value, parts)
        for key, value in schema["properties"].items()
        if key not in hidden
    }
    title = "any of the user's own" if name == CUSTOM else name
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _plain(schema: Any, parts: Mapping[str, Any]) -> Any:
    """A schema without references, and without what is only for ourselves."""
    if isinstance(schema, list):
        return [_plain(each, parts) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _plain(parts[schema["$ref"].rpartition("/")[2]], parts)
    return {key: _plain(value, parts) for key, value in schema.items() if key != "roundtable"}


class _Described:
    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return options_schema()


class _Brief:
    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return brief_schema()


OptionValues = Annotated[dict[str, Any], _Described()]
"""Options by name, in a request whose description says which there are."""
BriefOptionValues = Annotated[dict[str, Any], _Brief()]
