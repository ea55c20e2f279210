"""Who is named for a seat: experts, methods of reasoning, and names that nobody in the library has,
the same in every procedure that takes experts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import TEST_KEY, ProviderServer, provider_server

from .desk import Desk, obedient

PROCEDURES = ("deliberation", "five-round", "meeting", "adaptive")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with provider_server(obedient, models=["teapot-1", "kettle-2", "cup-3"]) as started:
        monkeypatch.delenv("ROUNDTABLE_MODEL_LISTS", raising=False)
        monkeypatch.setenv("OPENAI_BASE_URL", started.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
        yield started


def prompts(server: ProviderServer) -> str:
    """All that models were told."""
    posted = (each.body for each in server.requests if each.method == "POST")
    return "\n".join(str(part["content"]) for body in posted for part in body["messages"])


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_name_that_nobody_in_the_library_has_is_noted(
    desk: Desk, server: ProviderServer, procedure: str
) -> None:
    asked = ("Tea or coffee?", "--procedure", procedure, "--experts", "precedent,zorp,kettle-2")
    told = desk(*asked, "--dry-run").out
    assert "No expert of the library is called zorp: all that this seat knows" in told
    assert "No expert of the library is called kettle-2" in told
    assert told.count("name models with --models") == 1, "zorp is no model"
    assert "called precedent" not in told
    assert "Precedent: openai/" in told
    assert server.requests == []


@pytest.mark.parametrize("procedure", ["deliberation", "five-round"])
@pytest.mark.parametrize(
    ("experts", "seated"),
    [
        ("Beekeeper: asks of bees, and of honey,Lawyer: reads", ["Beekeeper", "Lawyer"]),
        ("Beekeeper: 1,000 bees, honey,threat-modeller", ["Beekeeper", "Threat Modeller"]),
        ("Beekeeper: asks of bees, Pre-mortem,Zorp", ["Beekeeper", "Pre-mortem", "Zorp"]),
        ('"Beekeeper: asks of bees, and of honey",Zorp', ["Beekeeper", "Zorp"]),
    ],
)
def test_a_comma_in_a_sentence_about_an_expert_seats_nobody(
    desk: Desk, server: ProviderServer, procedure: str, experts: str, seated: list[str]
) -> None:
    asked = ("Tea or coffee?", "--procedure", procedure, "--experts", experts, "--dry-run")
    *seats, _host = desk(*asked, "--json").document["participants"]
    assert [each["name"] for each in seats] == seated
    assert server.requests == []


@pytest.mark.parametrize("procedure", ["deliberation", "five-round", "meeting", "council"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_model_that_is_named_for_one_seat_leaves_the_others_to_the_other_seats(
    desk: Desk, server: ProviderServer, procedure: str, place: int
) -> None:
    council = procedure == "council"
    seats = ["Scholar", "Engineer", "Muse"] if council else ["Ann", "Bob", "Cid"]
    experts = () if council else ("--experts", ",".join(seats))
    for model in ("teapot-1", "kettle-2"):
        asked = ("Tea or coffee?", "--procedure", procedure, *experts, "--dry-run", "--json")
        *found, _host = desk(*asked, "--models", f"{seats[place]}={model}").document["participants"]
        held = [each["models"][0] for each in found]
        assert held[place] == f"openai/{model}"
        assert len(set(held)) == 3, held
    assert server.requests == []


def test_it_is_noted_in_a_run(desk: Desk, server: ProviderServer) -> None:
    done = desk(
        *("Tea or coffee?", "--procedure", "five-round", "--quick", "--no-log", "--json"),
        *("--experts", "precedent,zorp"),
    )
    assert done.code == 0, done.err
    notes = [note["text"] for note in done.document["notes"] if note["code"] == "made_up"]
    assert notes == [
        "No expert of the library is called zorp: all that this seat knows is its name."
    ]
    assert "what matters to the role “zorp”.\n" in prompts(server)


@pytest.mark.parametrize("procedure", ["deliberation", "meeting"])
def test_a_point_of_view_ends_in_a_full_stop_within_a_prompt(
    desk: Desk, server: ProviderServer, procedure: str
) -> None:
    asked = ("Tea or coffee?", "--procedure", procedure, "--no-log", "--max-calls", "4")
    desk(*asked, "--experts", "zorp,threat-modeller")
    sent = prompts(server)
    assert "what matters to the role “zorp”. Where that view" in sent
    assert ".. Where that view" not in sent


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("named", ["architect,architect", "architect,Building Architect"])
def test_nobody_sits_twice_in_any_procedure(desk: Desk, procedure: str, named: str) -> None:
    refused = desk(
        "Tea or coffee?", "--procedure", procedure, "--experts", named, "--models", "scripted/echo"
    )
    assert refused.code == 2, refused.err
    assert "twice" in refused.err or "a name of its own" in refused.err


def test_an_expert_of_the_library_is_found_before_a_colon_that_nothing_follows(desk: Desk) -> None:
    told = desk("Tea?", "--experts", "architect:,Beekeeper:", "--models", "scripted/echo",
                "--dry-run")  # fmt: skip
    assert "Building Architect: scripted/echo" in told.out, told.err
    assert "Beekeeper: scripted/echo" in told.out


@pytest.mark.parametrize(
    "name",
    [
        *("gpt-5", "gpt", "opus", "sonnet", "codex", "grok", "gemini", "claude-opus-5", "qwen3:8b"),
        *("teapot-9.1-mini", "llama3.2"),
    ],
)
def test_the_name_of_a_model_borrows_nobodys_guidance_and_points_at_models(
    desk: Desk, name: str
) -> None:
    """Whether it can be used here or not."""
    asked = ("Tea or coffee?", "--experts", f"{name},philosopher", "--models", "scripted/echo")
    done = desk(*asked, "--dry-run", "--json")
    assert done.code == 0, done.err
    (told,) = (note for note in done.document["notes"] if note["code"] in ("made_up", "nearest"))
    assert f"called {name}: all that this seat knows is its name." in told["text"]
    assert "name models with --models" in told["remedy"]


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_whose_guidance_a_seat_borrows_is_told(desk: Desk, procedure: str) -> None:
    done = desk(
        *("Tea or coffee?", "--procedure", procedure, "--models", "scripted/echo"),
        *("--experts", "Postgres expert,philosopher", "--no-search", "--dry-run", "--json"),
    )
    assert done.code == 0, done.err
    told = [note["text"] for note in done.document["notes"] if note["code"] == "nearest"]
    assert told == [
        "No expert of the library is called Postgres expert: it argues with the guidance of the "
        "nearest, Database Administrator."
    ]
