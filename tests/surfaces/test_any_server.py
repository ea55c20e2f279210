"""Any server: models are what an endpoint says it has, and seats, host and substitutes come from
there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from roundtable.models import lists as model_lists
from roundtable.surfaces.cli import completing
from roundtable.surfaces.doctor import reach
from tests.servers import TEST_KEY, Answer, ProviderServer, hang, provider_server, raw, status
from tests.wire import Asked

from .desk import Desk, Outcome, obedient

ODD = ["teapot-70b-instruct", "Kettle/samovar-2", "qwen-house-32b", "mystery_x", "urn:v3"]
MUTE = ["nomic-embed-text", "whisper-9"]


@pytest.fixture(autouse=True)
def _lists_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROUNDTABLE_MODEL_LISTS")


def only(*names: str, gone: tuple[str, ...] = ()) -> Any:
    """A server that knows these models and no others."""

    def reply(asked: Asked) -> Answer:
        if asked.model not in names or asked.model in gone:
            return status(404, f"The model `{asked.model}` does not exist.")
        return obedient(asked)

    return reply


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server(only(*ODD), models=[*MUTE, *ODD]) as started:
        yield started


def at(monkeypatch: pytest.MonkeyPatch, server: ProviderServer) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)


def ask(desk: Desk, *args: str) -> Outcome:
    return desk("Tea or coffee?", "--quick", "--no-log", "--json", *args)


def speakers(outcome: Outcome) -> list[str]:
    assert outcome.code == 0, outcome.err
    return [each["model"] for each in outcome.document["participants"]]


@pytest.mark.requirement("Z-36")
def test_a_compatible_server_with_five_odd_names_works_without_a_flag(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)

    outcome = ask(desk)

    assert outcome.code == 0, outcome.err
    called = {received.body["model"] for received in server.requests}
    assert called <= set(ODD)
    assert len(called) >= 3, "seats are as different as can be had"
    assert "in place of" not in outcome.err


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize("procedure", ["council", "five-round", "adaptive"])
def test_every_procedure_seats_what_is_there(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, procedure: str
) -> None:
    at(monkeypatch, server)

    outcome = desk("Tea or coffee?", "--procedure", procedure, "--dry-run", "--json", "--no-log")

    assert outcome.code == 0, outcome.err
    assert server.requests == []
    seats = [model for seat in outcome.document["participants"] for model in seat["models"]]
    assert seats
    assert all(model.removeprefix("openai/") in ODD for model in seats), seats
    assert len(set(seats)) > 1


@pytest.mark.requirement("Z-36")
def test_a_preset_that_names_what_is_not_there_is_told_of_once_and_in_plain_words(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)

    outcome = ask(desk, "--procedure", "council", "--preset", "balanced")

    assert outcome.code == 0, outcome.err
    told = "speaks in place of openai/gpt-5.3-codex, which this server does not have."
    assert outcome.err.count(told) == 1
    assert "DEGRADED" not in outcome.err
    assert {received.body["model"] for received in server.requests} <= set(ODD)


@pytest.mark.requirement("Z-36")
def test_a_fresh_list_is_not_asked_for_again(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    ask(desk)
    ask(desk)
    assert server.looked_up == ["/v1/models"]
    desk("models", "--refresh")
    assert server.looked_up == ["/v1/models"] * 2


@pytest.mark.requirement("Z-36")
def test_the_shell_offers_what_was_listed(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    assert "openai/urn:v3" not in [name for name, _ in completing.models()]
    desk("models")
    assert "openai/urn:v3" in [name for name, _ in completing.models()]


@pytest.mark.requirement("Z-36")
def test_a_server_that_lists_what_it_does_not_have_is_found_out_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(only(*ODD, gone=(ODD[0], ODD[1])), models=ODD) as lying:
        at(monkeypatch, lying)
        outcome = desk("Tea or coffee?", "--no-log", "--json")
        assert outcome.code == 0, outcome.err
        asked = [received.body["model"] for received in lying.requests]
        assert asked.count(ODD[0]) <= 1
        assert asked.count(ODD[1]) <= 1
        assert "which does not exist there" in outcome.err
        # It is marked: the next discussion does not even seat it, nor does another process.
        told = desk("models").out
        assert f"openai/{ODD[0]} " not in told
        assert "not there when they were asked" in told
        ask(desk)
        assert [received.body["model"] for received in lying.requests].count(ODD[0]) <= 1


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    "refusal",
    [
        status(404, "The model `x` does not exist."),
        status(400, "nobody/x is not a valid model ID"),
        status(400, "Invalid model name passed in model=x"),
    ],
)
def test_no_such_model_is_heard_in_every_way_in_which_it_is_said(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, refusal: Answer
) -> None:
    def reply(asked: Asked) -> Answer:
        return refusal if asked.model == ODD[0] else obedient(asked)

    with provider_server(reply, models=ODD) as lying:
        at(monkeypatch, lying)
        outcome = ask(desk, "--procedure", "council", f"--scholar=openai/{ODD[0]}")
    assert outcome.code == 0, outcome.err
    assert f"in place of openai/{ODD[0]}, which does not exist there." in outcome.err


@pytest.mark.requirement("Z-36")
def test_a_server_without_a_list_brings_no_names_of_the_vendor(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(only(*ODD), lists=lambda *_: status(404, "No such page.")) as server:
        at(monkeypatch, server)
        document = desk("models", "--json").document
        [found] = [each for each in document["found"] if each["provider"] == "openai"]
        assert found["models"] == []
        assert "does not list its models" in found["told"]
        assert document["default_model"] == ""
        # Who knows a name of its own can use it.
        named = f"--all=openai/{ODD[0]}"
        outcome = ask(desk, "--procedure", "council", named, f"--model=openai/{ODD[0]}")
        assert set(speakers(outcome)) == {f"openai/{ODD[0]}"}


GARBAGE: list[object] = [
    raw("<html>hello</html>", 200, "text/html"),
    raw("{" * 50_000, 200, "application/json"),
    {"data": [{"id": "\x1b[2Jwipe"}, {"id": ["x"]}, {"id": "a b"}, {}]},
    {"data": "lots"},
    hang(),
]


@pytest.mark.requirement("Z-36", "Z-39")
@pytest.mark.parametrize("fault", GARBAGE)
def test_whatever_a_server_says_of_its_models_the_rest_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, fault: object
) -> None:
    monkeypatch.setattr("roundtable.models.lists.FIRST_SECONDS", 0.2)
    with (
        provider_server(only(), lists=lambda *_: fault) as bad,
        provider_server(only(*ODD), models=ODD) as good,
    ):
        monkeypatch.setenv("OPENAI_BASE_URL", bad.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
        monkeypatch.setenv("BLOCKRUN_PROXY_URL", good.base_url)
        outcome = ask(desk)
        assert outcome.code == 0, outcome.err
        assert {received.body["model"] for received in good.requests} <= set(ODD)
        assert bad.requests == []
        told = desk("models").out
    assert "\x1b" not in told
    assert "The server at 127.0.0.1" in told


@pytest.mark.requirement("Z-36")
def test_a_key_that_is_refused_leaves_the_seats_to_others(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        provider_server(only(), lists=lambda *_: status(401, "Bad key.")) as shut,
        provider_server(only(*ODD), models=ODD) as good,
    ):
        monkeypatch.setenv("OPENAI_BASE_URL", shut.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
        monkeypatch.setenv("BLOCKRUN_PROXY_URL", good.base_url)
        assert ask(desk).code == 0
        assert shut.requests == []
        assert "refuses the key of OPENAI_API_KEY" in desk("models").out


@pytest.mark.requirement("Z-36", "A-17")
@pytest.mark.parametrize(
    ("said", "told"),
    [
        (status(401, "Bad key."), "refuses the key of OPENAI_API_KEY"),
        (status(500), "answers with 500"),
        (raw("<html>hello</html>", 200, "text/html"), "is no model server"),
        ({"data": []}, "lists no model that speaks"),
    ],
)
def test_whoever_set_up_a_provider_never_gets_the_demonstration_in_its_place(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, said: object, told: str
) -> None:
    with provider_server(only(*ODD), lists=lambda *_: said) as shut:
        at(monkeypatch, shut)
        outcome = ask(desk)
        assert (outcome.code, told in outcome.err) == (2, True), outcome.err
        assert "roundtable doctor --reach" in outcome.err
        assert "demonstration" not in outcome.err
        assert shut.requests == []
        assert desk("list", "--json").document == [], "nothing was opened"
        # Whoever names a model is heard, and what was named leads the table too.
        named = desk("Tea?", "--quick", "--models=local/smollm2-135m", "--dry-run", "--json")
        assert named.code == 0, named.err
        assert ask(desk, f"--models=openai/{ODD[0]}").code == 0
        assert {received.body["model"] for received in shut.requests} == {ODD[0]}


@pytest.mark.requirement("Z-36", "A-17")
def test_a_default_model_without_its_key_stops_before_anything_is_opened(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_MODEL", "anthropic/claude-opus-4-6")
    outcome = ask(desk)
    assert outcome.code == 2
    assert "anthropic/claude-opus-4-6 cannot be used now." in outcome.err


@pytest.mark.requirement("Z-36", "X-25")
def test_a_row_that_says_what_a_model_costs_changes_nothing_but_that(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seated() -> list[list[str]]:
        document = desk("Tea or coffee?", "--quick", "--no-log", "--json", "--dry-run").document
        return [seat["models"] for seat in document["participants"]]

    at(monkeypatch, server)
    before = seated()
    rows = [f'[models."openai/{name}"]\nusd_per_million_in = 3\n' for name in reversed(ODD)]
    (desk.home / "models.toml").write_text("\n".join(rows), encoding="utf-8")
    assert seated() == before
    [found] = [p for p in desk("models", "--json").document["found"] if p["provider"] == "openai"]
    assert {each["usd_per_million_in"] for each in found["facts"]} == {3}
    assert len({each["family"] for each in found["facts"]}) == len(ODD)


@pytest.mark.requirement("Z-36")
def test_names_that_differ_only_in_case_are_two_models(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["ok-model", "OK-MODEL", "Foo"]
    with provider_server(only(*names), models=names) as server:
        at(monkeypatch, server)
        document = desk("models", "--json").document
        [found] = [each for each in document["found"] if each["provider"] == "openai"]
        assert [each["id"] for each in found["facts"]] == [f"openai/{name}" for name in names]
        for written, meant in (("ok-model", "ok-model"), ("OK-MODEL", "OK-MODEL"), ("foo", "Foo")):
            assert set(speakers(ask(desk, f"--models={written}"))) == {f"openai/{meant}"}
        neither = ask(desk, "--models=Ok-Model")
    assert (neither.code, "Unknown model 'Ok-Model'" in neither.err) == (2, True)


@pytest.mark.requirement("Z-36")
def test_an_unknown_name_is_answered_with_names_of_this_server(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    outcome = ask(desk, "--models=nosuchmodel")
    assert outcome.code == 2
    assert "codex" not in outcome.err
    assert "mystery_x" in outcome.err


@pytest.mark.requirement("Z-36")
def test_one_model_of_a_list_that_lies_speaks_for_all_and_only_calls_are_counted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(only(ODD[4]), models=ODD) as lying:
        at(monkeypatch, lying)
        outcome = ask(desk)
        asked = [received.body["model"] for received in lying.requests]
    assert outcome.code == 0, outcome.err
    assert outcome.document["usage"]["calls"] == asked.count(ODD[4])
    told = [line for line in outcome.err.splitlines() if " spoke for " in line]
    assert told
    assert all(f"openai/{ODD[4]} spoke for " in line for line in told), told


@pytest.mark.requirement("Z-36")
def test_aliases_of_models_that_cannot_be_used_are_only_counted(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    assert "opus →" not in desk("models").out
    assert "opus →" in desk("models", "--all").out


@pytest.mark.requirement("Z-36")
def test_three_hundred_models_are_grouped_counted_and_filtered(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {
            "id": f"maker{n % 7}/model-{n}",
            "context_length": 32_768,
            "architecture": {
                "input_modalities": ["text", "image"] if n % 3 else ["text"],
                "output_modalities": ["text"],
            },
            "pricing": {"prompt": "0.000001", "completion": "0.000002"},
        }
        for n in range(300)
    ]
    with provider_server(only(), lists=lambda *_: {"data": rows}) as server:
        at(monkeypatch, server)
        short = desk("models").out
        everything = desk("models", "--all").out
        some = desk("models", "maker3", "vision").out
        none = desk("models", "no-such-thing")
        document = desk("models", "maker3", "--json").document
    assert "300 models listed just now." in short
    assert "and 288 more" in short
    assert short.count("maker") < 20
    assert everything.count("openai/maker") >= 300
    [row] = [line for line in everything.splitlines() if "openai/maker1/model-1 " in line]
    assert row.split() == ["openai/maker1/model-1", "33k", "1", "/", "2", "yes", "?", "?"]
    assert "openai/maker3/model-10 " in some
    assert "model-3 " not in some, "it reads no pictures"
    assert (none.code, "No model that can be used now has" in none.err) == (2, True)
    [found] = document["found"]
    assert len(found["models"]) == len([n for n in range(300) if n % 7 == 3])
    assert found["facts"][0]["context_window"] == 32_768
    assert found["facts"][0]["thinking"] is None


@pytest.mark.requirement("Z-36")
def test_doctor_reach_names_a_default_that_is_really_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of a server may name what it does not have."""

    listed = ["liar-1", "liar-2", "real-1", "real-2"]
    with provider_server(only("real-1", "real-2"), models=listed) as server:
        at(monkeypatch, server)
        findings = desk("doctor", "--reach", "--json").document["findings"]
    [models] = [each for each in findings if each["area"] == "models"]
    assert models["state"] == "doubtful"
    assert models["text"] == (
        "Default model: openai/real-1, for openai/liar-1 is listed and not there."
    )
    [reached] = [each for each in findings if each["area"] == "providers"]
    assert "does not have openai/liar-1, openai/liar-2" in reached["text"]
    assert reached["remedy"] == "Name another model in their place."


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("lists", "reply", "state", "told"),
    [
        (None, None, "ok", "works: openai/m answered in"),
        (status(401, "Bad."), None, "broken", "refuses the key of OPENAI_API_KEY"),
        (status(401, "The key expired."), None, "broken", "has expired"),
        (None, status(402, "Pay first."), "broken", "finds no credit on the account (402)"),
        (
            None,
            status(429, "Check your billing."),
            "broken",
            "finds no credit on the account (429)",
        ),
        (None, raw("", 404, "text/plain"), "broken", "may be wrong, or it has no model"),
        (None, status(401, "Bad."), "broken", "did not let us in (401)"),
        (None, status(404, "no such model"), "broken", "has no such model: openai/m"),
        (None, status(500), "broken", "is not available (500)"),
        (None, hang(), "broken", "said nothing within"),
        (hang(), None, "broken", "does not answer (timeout)"),
        (status(429, "Billing: no credits."), None, "broken", "has no credit left"),
        (raw("", 404, "text/plain"), None, "broken", "does not list its models (404)"),
        (raw("<p>Hi", 200, "text/html"), None, "broken", "answers, but is no model server"),
    ],
)
def test_doctor_reach_makes_one_tiny_call_and_tells_the_truth(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    lists: object,
    reply: Answer | None,
    state: str,
    told: str,
) -> None:
    def answer(*_: object) -> object:
        return {"data": [{"id": "m"}]} if lists is None else lists

    if hang() in (lists, reply):
        monkeypatch.setattr(reach, "CALL_SECONDS", 1.0)
        monkeypatch.setattr(model_lists, "FIRST_SECONDS", 1.0)
    with provider_server(lambda _: reply or "yes", lists=answer) as server:
        at(monkeypatch, server)
        quiet = desk("doctor", "--json")
        assert (server.requests, server.looked_up) == ([], []), "nobody is called without --reach"
        outcome = desk("doctor", "--reach", "--json")
        calls = len(server.requests)
    assert quiet.code == 0
    [found] = [each for each in outcome.document["findings"] if each["area"] == "providers"]
    assert (found["state"], told in found["text"]) == (state, True), found
    assert state == "ok" or found["remedy"]
    assert calls <= 1
    assert outcome.code == (0 if state == "ok" else 1)
    assert TEST_KEY not in outcome.out


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("key", "vendor"), [("sk-ant-api03-abcdefghijkl", "Anthropic"), ("gsk_abcdefghijkl", "Groq")]
)
def test_a_key_of_another_vendor_is_said_to_be_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, key: str, vendor: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    outcome = desk("doctor", "--json")
    assert f"OPENAI_API_KEY holds a key of {vendor}, not of OpenAI." in outcome.out
    assert "✓ credentials: OpenAI" not in outcome.out
    assert outcome.code == 1
    assert key not in outcome.out
    reached = desk("doctor", "--reach", "--json")
    assert f"holds a key of {vendor}, not of OpenAI; it was not sent." in reached.out
    assert (reached.code, key in reached.out) == (1, False)


def priced(desk: Desk, per_million: float) -> None:
    """What the server's models cost, by the user's own file."""
    cost = f"usd_per_million_in = {per_million}\nusd_per_million_out = {per_million}\n"
    described(desk, lambda _: cost)


def described(desk: Desk, row: Callable[[int], str]) -> None:
    """What the user's own file says of the server's models."""
    rows = [f'[models."openai/{name}"]\n{row(place)}' for place, name in enumerate(ODD)]
    desk.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    (desk.home / "models.toml").write_text("\n".join(rows), encoding="utf-8")


@pytest.mark.requirement("Z-35")
def test_a_run_that_costs_a_fraction_of_a_cent_is_not_said_to_cost_nothing(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    priced(desk, 0.1)
    outcome = desk("Tea or coffee?", "--quick", "--no-log")
    assert outcome.code == 0, outcome.err
    assert "no cost" not in outcome.out
    assert re.search(r"tokens, \$0\.00\d+", outcome.out)


@pytest.mark.requirement("Z-35")
def test_who_is_stopped_by_a_cap_is_told_what_to_raise_and_to_how_much(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    priced(desk, 1000.0)
    question = ("Tea or coffee?", "--quick", "--no-log")
    own = desk(*question, "--max-cost", "0.01")
    assert re.search(r"resume rt_\w+ --max-cost \d+\.\d\d$", own.err.strip()), own.err

    monkeypatch.setenv("ROUNDTABLE_MAX_COST", "0.01")
    capped = desk(*question, "--max-cost", "5")
    assert capped.err.strip().endswith("(first raise ROUNDTABLE_MAX_COST)")
    again = desk("resume", "last", "--max-cost", "5")
    assert again.code == 2
    assert "First raise ROUNDTABLE_MAX_COST." in again.err


@pytest.mark.requirement("Z-35")
def test_a_dry_run_over_a_long_document_fills_no_screen_unless_all_is_wanted(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    text = "A line of a long report.\n" * 8_000
    (desk.workspace / "report.md").write_text(text, encoding="utf-8")
    question = ("Tea or coffee?", "--quick", "--context", "report.md", "--dry-run")

    brief, whole = desk(*question), desk(*question, "-v")

    assert len(brief.out) < len(text) / 4
    assert "more characters; --verbose shows them]" in brief.out
    assert whole.out.count("A line of a long report.") >= 8_000
    told = re.compile(r"Estimate: .*")
    assert told.findall(brief.out) == told.findall(whole.out), "what is shown is not what is paid"


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize("told", [False, True])
def test_a_council_on_a_server_with_its_own_models_seats_three_of_them_and_excuses_nobody(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    at(monkeypatch, server)
    if told:
        described(desk, lambda place: f'family = "house-{place}"\n')

    outcome = desk("Tea or coffee?", "--procedure", "council", "--no-log", "--dry-run", "--json")

    *seats, _ = [seat["models"][0] for seat in outcome.document["participants"]]
    assert len(set(seats)) == len(seats) == 3
    assert {each.removeprefix("openai/") for each in seats} <= set(ODD)
    assert "substituted" not in [note["code"] for note in outcome.document["notes"]]


@pytest.mark.requirement("Z-36")
def test_an_adaptive_table_on_a_server_with_its_own_models_seats_them_and_excuses_nobody(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)

    outcome = desk("Tea or coffee?", "--procedure", "adaptive", "--no-log", "--dry-run", "--json")

    *panel, _, host = [seat["models"] for seat in outcome.document["participants"]]
    assert len(panel) == 4
    seated = {model for models in panel for model in models}
    assert len(seated) == 4
    assert {*seated, *host} == {f"openai/{name}" for name in ODD}
    codes = {note["code"] for note in outcome.document["notes"]}
    assert codes.isdisjoint({"budget_profile", "panel_degraded", "meta_smaller"}), codes


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(("count", "told"), [(1, "Only one model"), (2, "Only 2 different models")])
def test_an_adaptive_table_says_how_few_models_a_server_has(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, count: int, told: str
) -> None:
    with provider_server(only(*ODD[:count]), models=ODD[:count]) as small:
        at(monkeypatch, small)
        outcome = desk("Tea or coffee?", "--procedure", "adaptive", "--no-log", "--json")

    assert outcome.code == 0, outcome.err
    assert f"{told} can be used here, so two seats are held" in outcome.err
    assert "Blockrun" not in outcome.err
    assert {received.body["model"] for received in small.requests} == set(ODD[:count])


@pytest.mark.requirement("Z-28", "Z-36")
def test_a_host_that_names_nobody_is_told_of_once_in_a_piped_run(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    monkeypatch.delenv("ROUNDTABLE_CASTING")
    outcome = desk("Tea or coffee?", "--no-log")
    assert outcome.code == 0, outcome.err
    assert outcome.err.count("The host did not name seats") == 1
    assert "Name the experts yourself" in outcome.err


@pytest.mark.requirement("Z-35")
def test_a_limit_that_ends_a_run_at_unknown_prices_says_why_and_what_helps_once(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    outcome = desk("Tea or coffee?", "--quick", "--no-log", "--max-cost", "0")
    assert outcome.code == 1
    assert server.requests == []
    assert "the highest known price counts for it: say what it is in models.toml" in outcome.err
    assert outcome.err.count("what comes next would take more than is left") == 2, "once, and why"
    assert "So its view is missing" not in outcome.err


@pytest.mark.requirement("Z-36")
def test_a_doctor_who_calls_nobody_says_that_a_server_was_not_asked_yet_and_guesses_no_price(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    outcome = desk("doctor")
    assert "has not been asked for its models yet" in outcome.out
    assert "nothing was opened" not in outcome.out
    assert "$0.00" not in outcome.out
    assert server.looked_up == []
