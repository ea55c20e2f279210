"""Words go to the servers of the models that were named, and with models of this machine they stay
here: whoever leads, writes or stands in comes from there, too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers import (
    TEST_KEY,
    Fault,
    ProviderServer,
    look_for_local_servers,
    provider_server,
    status,
)
from tests.wire import Asked

from .desk import Desk, obedient

LOCAL = ["tiny-a", "tiny-b", "tiny-c"]
NAMED = ",".join(f"llamacpp/{name}" for name in LOCAL)
PROCEDURES = ("deliberation", "five-round", "council", "adaptive", "meeting")
QUESTION = "Should we sign this now?"


@pytest.fixture(autouse=True)
def _lists_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROUNDTABLE_MODEL_LISTS")


@pytest.fixture
def paid(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with provider_server(obedient, models=["house-1", "house-2", "house-3"]) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
        yield started


@contextmanager
def own_server(
    monkeypatch: pytest.MonkeyPatch, *, models: list[str] = LOCAL
) -> Iterator[ProviderServer]:
    with provider_server(obedient, models=models) as started:
        look_for_local_servers(monkeypatch, LLAMACPP_BASE_URL=started.openai_url)
        yield started


CLOUD = {
    "gpt-oss:120b-CLOUD": {},
    "mine:latest": {"remote_model": "gpt-oss:120b", "remote_host": "https://ollama.com:443"},
}
"""What Ollama passes on: as its name tells, and as the server says."""


@contextmanager
def ollama(
    monkeypatch: pytest.MonkeyPatch, *names: str, missing: str = ""
) -> Iterator[ProviderServer]:
    """Ollama with these models of its own, of which one is `missing`, and with some that it passes
    on."""

    def reply(asked: Asked) -> str | Fault:
        if asked.model == missing:
            return status(404, f"model {missing!r} not found, try pulling it first")
        return obedient(asked)

    rows = [{"name": name} for name in names] + [{"name": n, **more} for n, more in CLOUD.items()]
    plain = [{"id": row["name"]} for row in rows]

    def lists(path: str, _: object) -> object:
        return {"models": rows} if path.startswith("/api/") else {"data": plain}

    with provider_server(reply, lists=lists) as started:
        look_for_local_servers(monkeypatch, OLLAMA_HOST=started.base_url)
        yield started


def posts(server: ProviderServer) -> int:
    return sum(each.method == "POST" for each in server.requests)


def plan(desk: Desk, *asked: str) -> dict[str, Any]:
    done = desk(QUESTION, *asked, "--no-search", "--dry-run", "--json")
    assert done.code == 0, done.err
    document: dict[str, Any] = done.document
    return document


def host(made: dict[str, Any]) -> str:
    return str(made["participants"][-1]["models"][0])


def codes(made: dict[str, Any]) -> list[str]:
    return [note["code"] for note in made["notes"]]


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_no_server_hears_a_word_whose_models_nobody_named(
    desk: Desk, paid: ProviderServer, procedure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("secret.md").write_text("a salary list", "utf-8")
    with own_server(monkeypatch) as own:
        done = desk(
            *(QUESTION, "--context", "secret.md", "--models", NAMED, "--procedure", procedure),
            *("--no-search", "--no-log", "--json"),
        )
        assert done.code == 0, done.err
        assert posts(own) > 3
    assert posts(paid) == 0
    assert "host_of_the_table" in [note["code"] for note in done.document["notes"]]


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_model_of_the_same_server_without_a_seat_leads(
    desk: Desk, paid: ProviderServer, procedure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_server(monkeypatch, models=[*LOCAL, "tiny-d"]):
        made = plan(desk, "--models", NAMED, "--procedure", procedure)
    assert host(made) == "llamacpp/tiny-d"
    assert "host_of_the_table" not in codes(made)
    assert posts(paid) == 0


def test_scripts_cost_nothing_where_a_key_is_set(desk: Desk, paid: ProviderServer) -> None:
    done = desk("Tea or coffee?", "--models", "scripted/echo", "--no-search", "--no-log")
    assert done.code == 0, done.err
    assert posts(paid) == 0


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("setting", ["ROUNDTABLE_MODELS", "--models"])
def test_where_all_seats_speak_on_this_machine_so_does_the_host(
    desk: Desk, setting: str, procedure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the seats got their models."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", TEST_KEY)
    with own_server(monkeypatch):
        if setting == "--models":
            made = plan(desk, "--models", NAMED, "--procedure", procedure)
        else:
            monkeypatch.setenv(setting, NAMED)
            made = plan(desk, "--procedure", procedure)
    speaking = [seat["models"][0] for seat in made["participants"]]
    assert all(model.startswith("llamacpp/") for model in speaking), speaking


@pytest.mark.parametrize("asked", [(), ("--quick",)])
def test_a_panel_that_an_allowlist_keeps_on_this_machine_is_led_from_here(
    desk: Desk, paid: ProviderServer, asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A way to write this machine's address that does not count as such.
    monkeypatch.setenv("OPENAI_BASE_URL", paid.openai_url.replace("127.0.0.1", "127.1"))
    allowed = {"agents": {"defaults": {"models": NAMED.split(",")}}}
    desk.home.mkdir()
    (desk.home / "panels.json").write_text(json.dumps(allowed), "utf-8")
    with own_server(monkeypatch):
        made = plan(desk, "--procedure", "adaptive", *asked)
    speaking = [seat["models"][0] for seat in made["participants"]]
    assert all(model.startswith("llamacpp/") for model in speaking), speaking
    assert paid.looked_up, "it was there"


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_host_of_the_settings_that_is_elsewhere_leads_and_is_told(
    desk: Desk, procedure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", TEST_KEY)
    monkeypatch.setenv("ROUNDTABLE_MODEL", "anthropic/claude-sonnet-5")
    with own_server(monkeypatch):
        asked = ("--models", NAMED, "--procedure", procedure)
        made = plan(desk, *asked)
        told = next(note for note in made["notes"] if note["code"] == "host_elsewhere")
        here = plan(desk, *asked, "--host", "llamacpp/tiny-a")
        shown = desk(QUESTION, *asked, "--no-search", "--dry-run").out
    assert host(made) == "anthropic/claude-sonnet-5"
    assert "it reads the question and the documents" in told["text"]
    assert "--host llamacpp/tiny-" in told["remedy"]
    assert "host_elsewhere" not in codes(here)
    assert "(anthropic/claude-sonnet-5), " in shown, "the estimate names who leads"


def test_a_host_of_the_settings_that_cannot_be_used_is_replaced_with_a_note(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.config('{"version": 1, "host": "openai/house-1"}')
    with own_server(monkeypatch):
        told = [
            [note for note in made["notes"] if note["code"] == "substituted"]
            for made in (plan(desk), plan(desk, "--models", NAMED))
        ]
        asked = plan(desk, "--host", "llamacpp/tiny-a")
    (usual,), (beside,) = told
    assert usual["text"].endswith("in place of openai/house-1, which cannot be used now.")
    assert "OPENAI_BASE_URL" in usual["remedy"]
    assert " in place of openai/house-1, which cannot be used now." in beside["text"]
    assert "substituted" not in codes(asked), "who names one knows"


def test_a_model_of_this_machine_that_cannot_speak_is_not_replaced_by_one_elsewhere(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", TEST_KEY)
    done = desk(QUESTION, "--models", "ollama/qwen3:8b", "--no-search", "--dry-run")
    assert done.code == 2
    assert "ollama/qwen3:8b cannot be used now, and no other model of this machine" in done.err
    assert "Or name another model." in done.err
    assert "ollama pull" in done.err


def test_nor_is_one_that_the_settings_name(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", TEST_KEY)
    monkeypatch.setenv("ROUNDTABLE_MODEL", "ollama/qwen3:8b")
    done = desk(QUESTION, "--no-search", "--dry-run")
    assert done.code == 2
    assert "ollama/qwen3:8b cannot be used now" in done.err


def test_another_model_of_this_machine_stands_in_and_the_last_fallback_elsewhere_does_not(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", TEST_KEY)
    monkeypatch.setenv("ROUNDTABLE_FALLBACK_MODEL", "anthropic/claude-sonnet-5")
    with own_server(monkeypatch):
        made = plan(desk, "--models", "ollama/qwen3:8b,llamacpp/tiny-a")
    speaking = [model for seat in made["participants"] for model in seat["models"]]
    assert all(model.startswith("llamacpp/") for model in speaking)
    assert "substituted" in codes(made)


def test_the_named_models_of_this_machine_hold_the_seats_that_a_preset_leaves_to_the_default(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the default model speaks there, nor whoever would stand in for one of a preset."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", TEST_KEY)
    monkeypatch.setenv("ROUNDTABLE_MODEL", "anthropic/claude-sonnet-5")
    council = ("--procedure", "council", "--models", NAMED)
    with own_server(monkeypatch):
        single = plan(desk, *council, "--preset", "single")
        diverse = plan(desk, *council, "--preset", "diverse")
    seats = [seat["models"][0] for seat in single["participants"][:-1]]
    assert all(model.startswith("llamacpp/") for model in seats), seats
    assert "host_elsewhere" in codes(single), "the settings name who leads"
    # What a preset names and the key opens speaks, as documented; codex has no key here.
    first = diverse["participants"][0]["models"][0]
    assert first.startswith("llamacpp/"), first


def test_a_default_model_of_this_machine_keeps_a_council_here(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", TEST_KEY)
    monkeypatch.setenv("ROUNDTABLE_MODEL", "llamacpp/tiny-a")
    with own_server(monkeypatch):
        made = plan(desk, "--procedure", "council")
    speaking = [seat["models"][0] for seat in made["participants"]]
    assert all(model.startswith("llamacpp/") for model in speaking), speaking


def test_who_wants_the_answer_alone_or_asks_many_questions_is_told_too(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
    monkeypatch.setenv("ROUNDTABLE_MODEL", "openai/house-1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gpu.test/v1")
    questions = desk.workspace / "questions.txt"
    questions.write_text("Tea or coffee?\n")
    with own_server(monkeypatch), provider_server(obedient) as elsewhere:
        monkeypatch.setenv("HTTP_PROXY", elsewhere.base_url)
        alone = desk(QUESTION, "--models", NAMED, "--quick", "--no-search", "-q", "--no-log")
        many = desk("ask", "--questions", str(questions), "--models", NAMED, "--quick", "--no-log")
    for done in (alone, many):
        assert "Every seat speaks on this machine, but openai/house-1" in done.err


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_what_ollama_passes_on_leads_no_table_of_this_machine(
    desk: Desk, procedure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = "ollama/qwen3:8b,ollama/gemma3:12b"
    with ollama(monkeypatch, "qwen3:8b", "gemma3:12b"):
        made = plan(desk, "--models", named, "--procedure", procedure)
    assert {model for seat in made["participants"] for model in seat["models"]} == set(
        named.split(",")
    )


@pytest.mark.usefixtures("paid")
def test_a_named_model_that_another_server_has_too_is_all_that_an_adaptive_table_needs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_server(monkeypatch, models=["house-1"]):
        made = plan(desk, "--models", "llamacpp/house-1", "--procedure", "adaptive")
    assert {m for seat in made["participants"] for m in seat["models"]} == {"llamacpp/house-1"}


def test_nor_does_it_stand_in_for_one_that_turns_out_not_to_be_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ollama(monkeypatch, "qwen3:8b", "gemma3:12b", missing="qwen3:8b") as server:
        done = desk(QUESTION, "--models", "ollama/qwen3:8b", "--quick", "--no-search", "--no-log")
    assert done.code == 0, done.err
    assert {str(each.body["model"]) for each in server.requests} == {"qwen3:8b", "gemma3:12b"}


@pytest.mark.parametrize("prefix", ["", "openai/"])
def test_what_ollama_says_of_a_model_holds_for_whoever_calls_it_there(
    desk: Desk, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = [f"{prefix}qwen3:8b", f"{prefix}gemma3:12b"]
    with ollama(monkeypatch, "qwen3:8b", "gemma3:12b", missing="qwen3:8b") as server:
        same = server.openai_url.replace("127.0.0.1", "localhost")
        monkeypatch.setenv("OPENAI_BASE_URL", same)
        monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
        made = plan(desk, "--models", ",".join(named))
        asked = ("--models", f"{prefix}qwen3:8b", "--host", named[1], "--no-search", "--no-log")
        done = desk(QUESTION, *asked, "--quick")
    assert done.code == 0, done.err
    speaking = [model for seat in made["participants"] for model in seat["models"]]
    assert {model.partition("/")[2] for model in speaking} == {"qwen3:8b", "gemma3:12b"}
    assert {str(each.body["model"]) for each in server.requests} == {"qwen3:8b", "gemma3:12b"}


def test_what_ollama_passes_on_is_told_of_as_elsewhere_and_has_no_known_price(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_MODEL", "ollama/mine")
    with ollama(monkeypatch, "qwen3:8b"):
        made = plan(desk, "--models", "ollama/qwen3:8b")
        listed = desk("models", "--json").document
    assert host(made) == "ollama/mine"
    assert "host_elsewhere" in codes(made)
    (served,) = (each for each in listed["found"] if each["provider"] == "ollama")
    assert {each["id"]: each["usd_per_million_in"] for each in served["facts"]} == {
        "ollama/qwen3:8b": 0.0,
        **{f"ollama/{name}": None for name in CLOUD},
    }


@pytest.mark.parametrize("local", [("qwen3:8b",), ("qwen3:8b", "gemma3:12b", "llama3.2:3b")])
def test_the_set_up_proposes_nothing_that_ollama_passes_on_beside_what_runs_here(
    desk: Desk, local: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ollama(monkeypatch, *local):
        shown = desk("models").out
        assert desk("setup", "--yes").code == 0
    stored = json.loads((desk.home / "config.json").read_text("utf-8"))
    assert {*stored["models"].values(), stored["host"]} == {f"ollama/{name}" for name in local}
    marked = [line.split()[0] for line in shown.splitlines() if "  ollama/" in line]
    assert len(marked) == len(local) + len(CLOUD)
    assert shown.count(" (elsewhere) ") == len(CLOUD)


def test_the_set_up_marks_what_ollama_passes_on_where_models_are_chosen(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ollama(monkeypatch, "qwen3:8b"):
        asked = desk("setup", stdin=b"\nA\nollama/mine\n")
    assert "B) ollama/gpt-oss:120b-CLOUD (elsewhere)" in asked.out
    assert "A) ollama/qwen3:8b\n" in asked.out


@pytest.mark.parametrize(
    "asked",
    [("--quick",), ("--host", "llamacpp/tiny-c"), *(("--procedure", each) for each in PROCEDURES)],
    ids=" ".join,
)
def test_a_new_table_for_a_further_question_has_the_models_of_the_earlier_one(
    talked: Desk, asked: tuple[str, ...]
) -> None:
    done = talked("follow-up", "last", "And then?", *asked, "--no-search", "--dry-run", "--json")
    assert done.code == 0, done.err
    seats = [seat["models"][0] for seat in done.document["participants"]]
    assert set(seats) == {"llamacpp/tiny-a", "llamacpp/tiny-b", "llamacpp/tiny-c"}
    assert host(done.document) == "llamacpp/tiny-c"
    assert {"substituted", "panel_degraded"}.isdisjoint(codes(done.document))


def test_nobody_else_sits_where_the_earlier_table_had_one_model(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = "llamacpp/tiny-a"
    with own_server(monkeypatch):
        done = desk(QUESTION, "--models", one, "--host", one, "--quick", "--no-search", "--no-log")
        assert done.code == 0, done.err
        asked = ("--procedure", "adaptive", "--seats", "4", "--no-search", "--dry-run", "--json")
        made = desk("follow-up", "last", "And then?", *asked).document
    assert [seat["models"][0] for seat in made["participants"]] == [one] * 6
    assert "orchestrator_excluded" not in codes(made)
    (few,) = (note["text"] for note in made["notes"] if note["code"] == "budget_profile")
    assert "one model can be used at this table, so the profile “budget” fills 4 seats" in few


def test_unless_others_are_named_for_all_its_seats(talked: Desk) -> None:
    asked = ("follow-up", "last", "And then?", "--no-search", "--dry-run", "--json")
    named = talked(*asked, "--models", "openai/house-1").document
    assert {seat["models"][0].partition("/")[0] for seat in named["participants"]} == {"openai"}
    preset = talked(*asked, "--procedure", "council", "--preset", "premium").document
    assert {seat["models"][0].partition("/")[0] for seat in preset["participants"]} == {"llamacpp"}
    (told, *_) = (each for each in preset["notes"] if each["code"] == "substituted")
    assert "a follow-up keeps the models of the earlier discussion" in told["text"]


@pytest.fixture
def talked(desk: Desk, paid: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """After a discussion that was held on this machine, where there is also a key."""
    with own_server(monkeypatch):
        seats = ("--models", "llamacpp/tiny-a,llamacpp/tiny-b", "--host", "llamacpp/tiny-c")
        done = desk(QUESTION, *seats, "--quick", "--no-search", "--no-log")
        assert done.code == 0, done.err
        yield desk
    assert posts(paid) == 0
