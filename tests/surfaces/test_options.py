"""Every option of every procedure is declared once, and reaches the table from every surface, or
its declaration says why not; what is wrong with one is said in the same words everywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import RoundtableError, UsageError
from roundtable.engine.service import Service
from roundtable.procedures import CUSTOM, OPTIONS, PROCEDURES, infer_procedure
from roundtable.procedures.opening import OpenRequest
from roundtable.procedures.options import Option, Surface, described
from roundtable.settings import read_settings
from roundtable.surfaces import commands_reference, options_reference
from roundtable.surfaces.chat.grammar import Asks
from roundtable.surfaces.chat.request import request_of_words
from roundtable.surfaces.mcp.server import ERROR_META
from roundtable.surfaces.opening import open_request, options_schema
from roundtable.surfaces.python import Roundtable
from tests.rehearsal import Table, run_in_virtual_time
from tests.surfaces.desk import Desk
from tests.surfaces.mcp.clients import in_memory
from tests.surfaces.toolset.tables import tools
from tests.surfaces.web.house import House, client_token, house

Json = dict[str, Any]
Wish = tuple[str, Json]
"""A procedure and the options that it is asked with."""
Send = Callable[[str, Json], Any]
TOPIC = "Tea or coffee?"
TAKEN = "The request was taken."
OWN = """
name = "two-views"
summary = "Two people, one question"
[[participants]]
id = "ada"
name = "Ada"
[[participants]]
id = "ben"
name = "Ben"
[[stages]]
name = "opinion"
prompt = "Say what you would do."
"""
SAMPLES: Mapping[str, Any] = {
    "flag": True,
    "number": 2,
    "text": "full",
    "list": ["alpha", "beta"],
    "pairs": {"alpha": "x"},
    "rows": [{"profile": "a", "role": "one"}, {"profile": "b", "role": "two"}],
}
WRITTEN: Mapping[str, str] = {"list": "alpha,beta", "pairs": "alpha=x"}
"""The same where everything is text."""
DECLARED = [(name, each) for name, model in OPTIONS.items() for each in described(model)]
IN_JSON: tuple[Surface, ...] = ("http", "tools", "openai", "python")
IN_WORDS: tuple[Surface, ...] = ("cli", "chat")


def named(procedure: str) -> str:
    return "two-views" if procedure == CUSTOM else procedure


def sample(option: Option) -> Any:
    if option.kind == "choice":
        return next(each for each in reversed(option.choices) if each != option.usual)
    if option.kind == "number":
        low, high = option.minimum or 0, option.maximum or 10
        fitting = [n for n in (2, 1, int(low)) if low <= n <= high and str(n) != option.usual]
        return fitting[0]
    return SAMPLES[option.kind]


def words(option: Option) -> tuple[str, ...]:
    if option.kind == "flag":
        return (option.flag,)
    return (option.flag, str(text(option)))


def text(option: Option) -> Any:
    return WRITTEN.get(option.kind, sample(option))


def prepared(place: Path) -> Path:
    home = place / "home"
    (home / "procedures").mkdir(parents=True, exist_ok=True)
    (home / "procedures" / "two-views.toml").write_text(OWN)
    (home / "config.toml").write_text('default_model = "scripted/echo"\n')
    return home


# --- ways to the table: each returns what it refuses, or an empty text ----------------------------


@asynccontextmanager
async def by_http(place: Path) -> Any:
    async with house(prepared(place)) as at:

        async def send(procedure: str, options: Json) -> str:
            body = {"topic": TOPIC, "procedure": procedure, "options": options, "run": False}
            return await refused(at, "/api/discussions", body)

        yield send


@asynccontextmanager
async def by_openai(place: Path) -> Any:
    async with house(prepared(place)) as at:
        token = client_token(at.app.settings.home, "open", discussions=None, channels=None)

        async def send(procedure: str, options: Json) -> str:
            body = {
                "model": f"roundtable/{procedure}",
                "messages": [{"role": "user", "content": TOPIC}],
                "roundtable": {"options": options},
            }
            return await refused(at, "/v1/chat/completions", body, token)

        yield send


async def refused(at: House, path: str, body: Json, token: str = "") -> str:
    headers = {"authorization": f"Bearer {token}"} if token else dict(at.owner)
    answer = await at.client.post(path, json=body, headers=headers)
    assert answer.status_code < 500, answer.text
    if answer.is_success:
        return ""
    told = answer.json()
    error = told["error"]
    return error["message"] if isinstance(error, dict) else f"{error} {told['remedy']}"


@asynccontextmanager
async def by_tools(place: Path) -> Any:
    prepared(place)
    async with tools(place) as toolset, in_memory(toolset) as client:

        async def send(procedure: str, options: Json) -> str:
            wish = {"question": TOPIC, "procedure": procedure, "options": options}
            result = await client.call_tool("roundtable_ask", wish)
            told = dict(result.meta or {})[ERROR_META] if result.is_error else {}
            return f"{told['message']} {told['remedy']}" if told else ""

        yield send


@asynccontextmanager
async def by_python(place: Path) -> Any:
    async with Roundtable(home=prepared(place), env={}) as table:

        async def send(procedure: str, options: Json) -> str:
            try:
                await table.open(TOPIC, procedure=procedure, **options)
            except RoundtableError as error:
                return str(error)
            return ""

        yield send


WAYS: Mapping[str, Callable[[Path], AbstractAsyncContextManager[Send]]] = {
    "http": by_http,
    "openai": by_openai,
    "tools": by_tools,
    "python": by_python,
}


def sent(surface: str, place: Path, wishes: Sequence[Wish]) -> list[str]:
    async def main() -> list[str]:
        async with WAYS[surface](place) as send:
            return [await send(*wish) for wish in wishes]

    return asyncio.run(main())


def written(surface: str, desk: Desk, taken: list[OpenRequest], procedure: str, *args: str) -> str:
    """What a command line, or a chat message of the same words, is refused with."""
    line = [TOPIC, "--procedure", procedure, *args]
    if surface == "cli":
        outcome = desk(*line)
        return outcome.err if outcome.code else ""
    settings = read_settings({"ROUNDTABLE_HOME": str(desk.home)}, desk.workspace)
    try:
        taken.append(request_of_words(Asks(tuple(line)), settings, created_by="a chat"))
    except UsageError as error:
        return str(error)
    return TAKEN


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[OpenRequest]:
    """The requests that reach the service, where they end."""
    found: list[OpenRequest] = []

    async def open_(
        _: Service, request: OpenRequest, *, key: str | None = None, queued: bool = False
    ) -> None:
        del key, queued
        found.append(request)
        raise UsageError(TAKEN)

    monkeypatch.setattr(Service, "open", open_)
    return found


def check(surface: str, procedure: str, option: Option, error: str, came: OpenRequest) -> None:
    """The option came to the table as it was meant."""
    assert TAKEN in error, f"{surface}: {procedure}.{option.name}: {error}"
    if option.here:
        assert option.name not in came.options
        return
    model = OPTIONS[procedure]
    value = text(option) if surface in IN_WORDS else sample(option)
    meant = model.model_validate({option.name: value}).model_dump(by_alias=True)
    got = model.model_validate(dict(came.options)).model_dump(by_alias=True)
    assert got[option.name] == meant[option.name], f"{surface}: {procedure}.{option.name}"
    assert got[option.name] != model().model_dump(by_alias=True)[option.name], option.name
    assert came.procedure.rpartition(":")[2] == named(procedure)


# --- the matrix -----------------------------------------------------------------------------------


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize("surface", IN_JSON)
def test_every_option_reaches_the_table_by_its_name(
    surface: Surface, tmp_path: Path, taken: list[OpenRequest]
) -> None:
    wishes = [(named(name), {each.name: sample(each)}) for name, each in DECLARED]
    errors = sent(surface, tmp_path, wishes)
    came = iter(taken)
    for (procedure, option), error in zip(DECLARED, errors, strict=True):
        if surface in option.closed:
            assert option.closed[surface] in error
        else:
            check(surface, procedure, option, error, next(came))


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize("surface", IN_WORDS)
def test_every_option_reaches_the_table_by_its_flag(
    surface: Surface, desk: Desk, tmp_path: Path, taken: list[OpenRequest]
) -> None:
    prepared(tmp_path)
    for procedure, option in DECLARED:
        before = len(taken)
        error = written(surface, desk, taken, named(procedure), *words(option))
        if surface in option.closed:
            assert len(taken) == before
            known = "cli" not in option.closed
            assert (option.closed[surface] if known else "No such option") in error
        else:
            check(surface, procedure, option, error, taken[-1])


@pytest.mark.requirement("I-28")
async def test_every_option_is_a_field_of_the_pages_form(tmp_path: Path) -> None:
    async with house(prepared(tmp_path)) as at:
        got = (await at.client.get("/api/procedures", headers=at.owner)).json()
    rows = {
        row["name"]: {each["name"]: each for each in row["options"]} for row in got["procedures"]
    }
    for procedure, option in DECLARED:
        row = rows[named(procedure)].get(option.name)
        assert (row is None) == ("page" in option.closed), f"{procedure}.{option.name}"
        assert row is None or (row["kind"], row["about"]) == (option.kind, option.help)


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("procedure", "option"), DECLARED, ids=lambda each: getattr(each, "name", each)
)
def test_an_option_says_what_it_does_and_why_it_is_not_offered(
    procedure: str, option: Option
) -> None:
    assert option.help.endswith("."), f"{procedure}.{option.name} has no help"
    assert all(option.closed.values())
    tables = {table["title"]: table for table in options_schema()["anyOf"]}
    title = "any of the user's own" if procedure == CUSTOM else procedure
    said = tables[title]["properties"].get(option.name)
    assert (said is None) == ("http" in option.closed)
    assert said is None or said["description"] == option.help


def test_words_of_the_command_line_are_one_option_each() -> None:
    for model in OPTIONS.values():
        spelled = [each.word for each in described(model)]
        assert len(set(spelled)) == len(spelled)


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("name", "made"),
    [("options.md", options_reference.reference), ("commands.md", commands_reference.reference)],
)
def test_the_reference_pages_are_up_to_date(name: str, made: Callable[[], str]) -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / name
    assert page.read_text("utf-8") == made(), "make reference writes it anew"


def test_the_help_has_a_section_for_each_procedure(desk: Desk) -> None:
    text = desk("ask", "--help").out
    for name in (*PROCEDURES, "your own procedures"):
        assert f"Options of {name}:" in text
    for _, option in DECLARED:
        assert option.flag in text or "cli" in option.closed or option.general, option.name


# --- bad input ------------------------------------------------------------------------------------

BAD: Mapping[str, tuple[Json, tuple[str, ...], tuple[str, ...]]] = {
    "unknown": ({"seatz": 3}, ("--seatz", "3"), ("seatz", "Did you mean", "seats")),
    "kind": ({"seats": "many"}, ("--seats", "many"), ("seats", "whole number")),
    "range": ({"seats": 99}, ("--seats", "99"), ("seats", "7")),
    "foreign": (
        {"preset": "cheap"},
        ("--preset", "cheap"),
        ("does not belong to the procedure deliberation", "belongs to council"),
    ),
}


@pytest.mark.requirement("I-28", "X-22")
@pytest.mark.parametrize("surface", IN_JSON)
def test_a_wrong_option_is_refused_by_name_with_what_is_right(surface: str, tmp_path: Path) -> None:
    errors = sent(surface, tmp_path, [("deliberation", options) for options, _, _ in BAD.values()])
    for (_, _, told), error in zip(BAD.values(), errors, strict=True):
        assert all(each in error for each in told), error
        assert "--" not in error, "flags are for command lines"


@pytest.mark.requirement("I-28", "X-22")
@pytest.mark.parametrize("surface", IN_WORDS)
@pytest.mark.parametrize("case", BAD)
def test_a_wrong_flag_is_refused_with_what_is_right(
    surface: str, case: str, desk: Desk, tmp_path: Path, taken: list[OpenRequest]
) -> None:
    prepared(tmp_path)
    _, args, told = BAD[case]
    error = written(surface, desk, taken, "deliberation", *args)
    assert all(each in error for each in told), error
    assert not taken


def test_an_option_of_nobody_is_suggested_from_all_where_no_procedure_is_named(
    tmp_path: Path,
) -> None:
    settings = read_settings({"ROUNDTABLE_HOME": str(tmp_path)}, tmp_path)
    with pytest.raises(UsageError, match="Did you mean strict_rounds"):
        open_request(settings, TOPIC, surface="http", options={"strict_round": True})


@pytest.mark.parametrize(
    ("given", "default", "meant"),
    [
        (["choices"], "council", "council"),
        (["panel"], "deliberation", "adaptive"),
        (["all"], "deliberation", "council"),
        (["agents"], "deliberation", "five-round"),
        (["models", "host", "seats", "rounds"], "meeting", "meeting"),
        (["choices"], "meeting", "meeting"),
        (["model"], "deliberation", "deliberation"),
        (["model", "roster"], "deliberation", "meeting"),
        (["experts"], "council", "deliberation"),
        (["history"], "deliberation", "five-round"),
    ],
)
def test_options_choose_the_procedure_that_they_mean(
    given: list[str], default: str, meant: str
) -> None:
    assert infer_procedure(given, default).name == meant


def test_a_confidential_five_round_discussion_passes_little_on(tmp_path: Path) -> None:
    settings = read_settings({"ROUNDTABLE_HOME": str(tmp_path)}, tmp_path)
    request = open_request(
        settings, TOPIC, surface="cli", procedure="five-round", confidential=True
    )
    assert request.options == {"confidential": True}


@pytest.mark.parametrize(
    ("surface", "told"),
    [("chat", "--quick and --dual-order exclude"), ("http", "quick and dual_order exclude")],
)
def test_options_that_exclude_each_other_are_named_as_the_surface_writes_them(
    tmp_path: Path, surface: Surface, told: str
) -> None:
    settings = read_settings({"ROUNDTABLE_HOME": str(tmp_path)}, tmp_path)
    with pytest.raises(UsageError, match=told):
        open_request(settings, TOPIC, surface=surface, options={"quick": True, "dual_order": True})


@pytest.mark.requirement("Z-30")
@pytest.mark.parametrize(
    ("options", "procedure", "notes"),
    [
        ({"quick": True}, "council", []),
        ({"rounds": 2, "choices": ["tea", "coffee"]}, "council", []),
        ({"preset": "balanced"}, "council", []),
        ({"seats": 4}, "deliberation", ["because of --seats"]),
    ],
)
def test_a_follow_up_with_options_keeps_the_procedure_unless_one_belongs_to_another(
    tmp_path: Path, options: dict[str, Any], procedure: str, notes: list[str]
) -> None:
    table = Table()
    settings = read_settings({"ROUNDTABLE_HOME": str(tmp_path)}, tmp_path)

    async def main() -> Any:
        first = await table.ask("Should we drink tea?", procedure="council")
        request = open_request(
            settings, "And now?", surface="cli", options=options, follows=first.discussion_id
        )
        return await table.service.open(request)

    opened = run_in_virtual_time(main())
    assert opened.start.procedure == procedure
    told = [note.text for note in opened.notes if note.code == "held_as"]
    assert len(told) == len(notes)
    assert all(words in text for words, text in zip(notes, told, strict=True))
