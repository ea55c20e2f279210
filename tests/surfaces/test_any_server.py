"""Any server: models are what an endpoint says it has, and seats, host and substitutes come from
there."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from roundtable.core.text import counted, dollars
from roundtable.models import lists as model_lists
from roundtable.surfaces.cli import completing
from roundtable.surfaces.doctor import reach
from tests.servers import TEST_KEY, Answer, ProviderServer, hang, provider_server, raw, status
from tests.wire import Asked

from .desk import Desk, Outcome, obedient

ODD = ["teapot-70b-instruct", "Kettle/samovar-2", "qwen-house-32b", "mystery_x", "urn:v3"]
LIMITED = ("--max-cost", "0.17", "--no-log", "--json")
"""Enough for both rounds of a council with short answers, at the dearest price."""
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


@pytest.mark.requirement("Z-35", "Z-36")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("stream_options", "Unrecognized request argument supplied: stream_options"),
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
    ],
)
def test_a_server_that_does_not_know_a_parameter_holds_the_discussion_without_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    def reply(asked: Asked) -> Answer:
        return status(400, said) if name in asked.body else obedient(asked)

    with provider_server(reply, models=["house-a", "house-b", "house-c"]) as server:
        at(monkeypatch, server)
        outcome = ask(desk)
    assert outcome.code == 0, outcome.err
    assert "did not accept" not in outcome.out + outcome.err


@pytest.mark.requirement("Z-35", "I-36")
def test_answers_that_a_server_cuts_off_are_told_of_on_the_first_screen(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(asked: Asked) -> Answer:
        rows: list[dict[str, object]] = [
            {"delta": {"content": obedient(asked)[:200]}, "finish_reason": None},
            {"delta": {}, "finish_reason": "length"},
        ]
        frames = [{"model": asked.model, "choices": [{"index": 0, **row}]} for row in rows]
        return raw("".join(f"data: {json.dumps(each)}\n\n" for each in frames))

    with provider_server(reply, models=["house-a", "house-b", "house-c"]) as server:
        at(monkeypatch, server)
        shown = desk("Tea or coffee?", "--quick", "--no-log").out
    assert "3 of 3 experts were cut off at their length limit" in " ".join(shown.split())


def uncounted(asked: Asked) -> Answer:
    """An answer of a server that reports no usage."""
    choice = {"index": 0, "delta": {"content": obedient(asked)}, "finish_reason": "stop"}
    frame = {"model": asked.model, "choices": [choice]}
    return raw(f"data: {json.dumps(frame)}\n\ndata: [DONE]\n\n")


@pytest.mark.requirement("Z-09", "Z-35")
def test_a_server_that_does_not_count_uses_up_a_limit_with_what_it_said_only(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(uncounted, models=["house-a", "house-b", "house-c"]) as server:
        at(monkeypatch, server)
        outcome = desk("Tea or coffee?", "--procedure", "council", *LIMITED)
    assert outcome.document["stop_reason"] == "verdict", outcome.err
    rounds = {speech["round"] for speech in outcome.document["speeches"]}
    assert rounds >= {1, 2}, "nothing was left out for money that nobody spent"
    assert outcome.document["usage"]["cost_usd"] is None, "an estimate is not a bill"


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
    offered = [name for name, _ in completing.models()]
    assert offered[: len(ODD)] == ODD, "first what the server has, by its own names"
    assert "openai/urn:v3" in offered
    assert not [name for name in offered if name.startswith("openai/gpt")], "it has none of them"


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
        assert f"does not exist there: {ODD[0]}, {ODD[1]}." in told
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
        (raw("<html>hello</html>", 200, "text/html"), "is not a model server"),
        ({"data": []}, "lists no chat model"),
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


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize("key", [None, "  "])
@pytest.mark.parametrize(
    "args",
    [
        ("--models=openai/gpt-5.5",),
        ("--host=openai/gpt-5.5",),
        ("--procedure=council", "--scholar=openai/gpt-5.5"),
        ("--procedure=meeting", "--models=local/smollm2-135m,host=openai/gpt-5.5"),
    ],
)
def test_a_model_that_was_named_is_never_replaced_by_the_demonstration(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, key: str | None, args: tuple[str, ...]
) -> None:
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    outcome = desk("Tea or coffee?", "--dry-run", *args)
    assert outcome.code == 2
    assert "openai/gpt-5.5 needs a key in OPENAI_API_KEY: there is none." in outcome.err


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize("args", [(), ("--models=openai/gpt-5.5",)])
def test_a_key_that_will_never_be_sent_opens_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "gsk_abcdefghijkl")
    outcome = ask(desk, *args)
    assert outcome.code == 2
    assert "OPENAI_API_KEY holds a key of Groq, not of OpenAI" in outcome.err
    assert desk("list", "--json").document == [], "nothing was opened"
    findings = desk("doctor", "--json").document["findings"]
    assert not any(each["text"].startswith("Default model") for each in findings)


@pytest.mark.requirement("Z-39")
def test_a_key_beside_a_user_in_the_address_is_said_not_to_be_sent(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = server.openai_url.replace("http://", "http://user:s3cretpw@")
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
    outcome = ask(desk)
    assert outcome.code == 0, outcome.err
    told = f"OPENAI_API_KEY is not sent to {server.openai_url}: its address holds a user"
    assert told in outcome.err
    assert told in desk("doctor").out.replace("\n", " ").replace("  ", " ")
    assert "s3cretpw" not in outcome.out + outcome.err
    assert all(each.headers["authorization"].startswith("Basic ") for each in server.requests)


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
    assert (none.code, "No model that can be used now is known to have" in none.err) == (2, True)
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
        "Default model: openai/real-1. openai/liar-1, which is listed, does not exist there."
    )
    [reached] = [each for each in findings if each["area"] == "providers"]
    assert "works: openai/real-1 answered in" in reached["text"]
    told = "But openai/liar-1 does not exist there; openai/liar-2 does not exist there."
    assert told in reached["text"]
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
        (None, status(404, "no such model"), "broken", ": openai/m does not exist there."),
        (None, status(500), "broken", "is not available (500)"),
        (None, hang(), "broken", "said nothing within"),
        (hang(), None, "broken", "did not list its models in time"),
        (status(429, "Billing: no credits."), None, "broken", "has no credit left"),
        (raw("", 404, "text/plain"), None, "broken", "does not list its models (404)"),
        (raw("<p>Hi", 200, "text/html"), None, "broken", "answers, but is not a model server"),
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
        outcome = desk("doctor", "--reach", "--json")
        calls = len(server.requests)
    [found] = [each for each in outcome.document["findings"] if each["area"] == "providers"]
    assert (found["state"], told in found["text"]) == (state, True), found
    assert state == "ok" or found["remedy"]
    assert calls <= 1
    assert outcome.code == (0 if state == "ok" else 1)
    assert TEST_KEY not in outcome.out


@pytest.mark.requirement("Z-36")
def test_doctor_calls_nobody_without_reach(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with provider_server(lambda _: status(401, "Bad."), lists=lambda *_: status(401)) as server:
        at(monkeypatch, server)
        quiet = desk("doctor", "--json")
        assert (server.requests, server.looked_up) == ([], [])
    assert quiet.code == 0


def reached(desk: Desk) -> tuple[int, dict[str, str]]:
    outcome = desk("doctor", "--reach", "--json")
    [found] = [each for each in outcome.document["findings"] if each["area"] == "providers"]
    return outcome.code, found


@pytest.mark.requirement("Z-36")
def test_a_server_that_says_no_word_does_not_work(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(lambda _: "", models=["a", "b"]) as server:
        at(monkeypatch, server)
        code, found = reached(desk)
    assert (code, found["state"]) == (1, "broken")
    told = "openai/a answers without a word; openai/b answers without a word."
    assert found["text"].endswith(told)


@pytest.mark.requirement("Z-36")
def test_a_model_that_thinks_until_the_tiny_call_is_over_works(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def thinking(asked: Asked) -> Answer:
        rows: list[dict[str, object]] = [
            {"delta": {"reasoning_content": "Hm."}, "finish_reason": None},
            {"delta": {}, "finish_reason": "length"},
        ]
        frames = [{"model": asked.model, "choices": [{"index": 0, **row}]} for row in rows]
        return raw("".join(f"data: {json.dumps(each)}\n\n" for each in frames))

    with provider_server(thinking, models=["deep"]) as server:
        at(monkeypatch, server)
        code, found = reached(desk)
    assert (code, found["state"]) == (0, "ok")
    assert "works: openai/deep" in found["text"]


@pytest.mark.requirement("Z-36")
def test_a_list_of_which_only_the_last_exists_is_not_called_broken(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ghosts = [f"ghost-{number}" for number in range(1, 5)]
    with provider_server(only("real-1"), models=[*ghosts, "real-1"]) as server:
        at(monkeypatch, server)
        code, found = reached(desk)
    assert (code, found["state"]) == (0, "doubtful")
    assert "works: openai/real-1 answered" in found["text"]
    assert "openai/ghost-3 does not exist there; 1 more cannot be used." in found["text"]


@pytest.mark.requirement("Z-36")
def test_what_was_not_tried_is_counted_and_tried_the_next_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ghosts = [f"ghost-{number:02}" for number in range(10)]
    with provider_server(only("real-1"), models=[*ghosts, "real-1"]) as server:
        at(monkeypatch, server)
        code, found = reached(desk)
        assert (code, found["state"]) == (0, "doubtful")
        assert "8 of 11 models were tried; 3 more are listed, not tried." in found["text"]
        assert "--models openai/NAME" in found["remedy"]
        _, again = reached(desk)
        assert "works: openai/real-1" in again["text"]


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
    assert ", free" not in outcome.out
    assert re.search(r"tokens, \$0\.00\d+", outcome.out)


@pytest.mark.requirement("Z-09", "Z-35")
@pytest.mark.parametrize(
    ("reply", "known", "told"),
    [
        (obedient, True, r"\$[\d.]+ of \$[\d.]+ spent or set aside, and"),
        (uncounted, True, r"counted \(with caution: no usage was told of some calls\), and"),
        (uncounted, False, r"counted \(with caution: no price is known\), and"),
    ],
    ids=["told", "no usage", "no price"],
)
def test_a_limit_that_counts_with_caution_does_not_call_it_spent(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, reply: Any, known: bool, told: str
) -> None:
    with provider_server(reply, models=ODD) as server:
        at(monkeypatch, server)
        if known:
            priced(desk, 20.0)
        question = ("Tea or coffee?", "--procedure", "council", "--no-log", "--max-cost", "0.08")
        outcome = desk(*question)
    assert outcome.code == 3, outcome.err
    assert re.search(told, outcome.err), outcome.err
    assert ("spent or set aside" in outcome.err) is (reply is obedient)


def endless(asked: Asked) -> Answer:
    """An answer that heeds no limit, in a script of which every character is a token, with a usage
    only at its end."""
    choice = {"index": 0, "delta": {"content": "茶比咖啡好。" * 20}}
    said = f"data: {json.dumps({'model': asked.model, 'choices': [choice]})}\n\n" * 60
    return raw(f"{said}data: [DONE]\n\n")


@pytest.mark.requirement("Z-09", "Z-35")
def test_a_limit_holds_in_every_script_and_its_reason_and_its_cost_are_the_same_everywhere(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(endless, models=ODD) as server:
        at(monkeypatch, server)
        priced(desk, 5.0)
        asked = desk("茶还是咖啡?", "--procedure", "council", "--no-log", "--max-cost", "0.02")
    assert "a provider counted more" not in asked.err
    usage = desk("show", "last", "--json").document["usage"]
    assert usage["cost_usd"] is None
    assert 0.005 < usage["known_cost_usd"] < 0.021, "a packet beyond the limit at most"
    assert usage["calls_of_unknown_cost"] == usage["calls"]
    about = f"about {dollars(usage['known_cost_usd'])} ({counted(usage['calls'], 'call')}"
    assert about in " ".join(desk("show", "last").out.split())
    exported = desk("export", "last", "--format", "md").out
    assert f"Cost: about ${usage['known_cost_usd']:.4f} (" in exported


@pytest.mark.requirement("Z-35")
def test_a_usage_that_cannot_be_ends_no_run_and_is_told_once_for_each_model(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def boasting(asked: Asked) -> Answer:
        choice = {"index": 0, "delta": {"content": obedient(asked)}, "finish_reason": "stop"}
        used = {"prompt_tokens": 10**15, "completion_tokens": 10**15}
        frame = {"model": asked.model, "choices": [choice], "usage": used}
        return raw(f"data: {json.dumps(frame)}\n\ndata: [DONE]\n\n")

    with provider_server(boasting, models=ODD) as server:
        at(monkeypatch, server)
        priced(desk, 1.0)
        question = ("Tea or coffee?", "--procedure", "council", "--no-log", "--json")
        outcome = desk(*question, "--max-cost", "1")
    assert outcome.code == 0, outcome.err
    notes = [n for n in outcome.document["notes"] if n["code"] == "usage_unbelieved"]
    models = {each["model"] for each in outcome.document["speeches"]}
    assert len(notes) == len(models)
    assert all("1,000,000,000,000,000 tokens" in note["text"] for note in notes)
    usage = outcome.document["usage"]
    assert usage["cost_usd"] is None
    assert 0 < usage["known_cost_usd"] < 0.1


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
    assert "First raise ROUNDTABLE_MAX_COST, if it still holds. Then raise the limit" in capped.err
    assert re.search(r"resume rt_\w+ --max-cost \d+\.\d\d$", capped.err.strip()), capped.err
    again = desk("resume", "last", "--max-cost", "5")
    assert again.code == 2
    assert "First raise ROUNDTABLE_MAX_COST." in again.err


@pytest.mark.requirement("Z-35")
def test_a_limit_too_low_to_ask_again_leaves_a_complete_verdict_complete(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    priced(desk, 1000.0)
    assert desk("Tea or coffee?", "--quick", "--no-log").code == 0
    before = desk("show", "last", "--json").document
    spent = before["usage"]["cost_usd"]
    refused = desk("resume", "last", "--again", "synthesis", "--max-cost", f"{spent / 2:.6f}")
    assert (refused.code, "synthesis cannot be asked again: " in refused.err) == (2, True)
    assert desk("show", "last", "--json").document == before
    stands = desk("resume", "last", "--again", "synthesis", "--max-cost", f"{spent * 1.001:.6f}")
    assert stands.code == 3, stands.err
    assert "synthesis could not be asked again: what was said before stands." in stands.err
    command = r"Raise the limit to ask it again: roundtable (resume rt_\w+ --again synthesis .+)$"
    found = re.search(command, stands.err.strip())
    assert found is not None, stands.err
    after = desk("show", "last", "--json").document
    told = ("status", "stop_reason", "detail", "remedy", "verdict", "usage")
    assert {name: after[name] for name in told} == {name: before[name] for name in told}
    assert desk(*found[1].split()).code == 0, "it is enough"


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
    assert f"{told} can be used at this table, so the profile “budget” fills 2 seats" in outcome.err
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
    assert outcome.err.count("The host named no seats") == 1
    assert "Name the experts yourself" in outcome.err


@pytest.mark.requirement("Z-35")
def test_a_limit_that_ends_a_run_at_unknown_prices_says_why_and_what_helps_once(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    outcome = desk("Tea or coffee?", "--quick", "--no-log", "--max-cost", "0")
    assert outcome.code == 1
    assert server.requests == []
    assert "the highest known price was assumed. Set them in models.toml" in outcome.err
    assert outcome.err.count("what comes next would take more than is left") == 2, "once, and why"
    assert "So its view is missing" not in outcome.err


@pytest.mark.requirement("Z-36")
def test_a_doctor_who_calls_nobody_says_that_a_server_was_not_asked_yet_and_guesses_no_price(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, server)
    outcome = desk("doctor")
    assert "has not been asked for its models yet" in outcome.out
    assert "no discussion was started" not in outcome.out
    assert "$0.00" not in outcome.out
    assert server.looked_up == []


@pytest.mark.requirement("Z-36", "I-28")
@pytest.mark.parametrize("procedure", ["deliberation", "council", "five-round", "meeting"])
def test_a_server_s_own_name_is_the_default_model_in_every_procedure(
    desk: Desk, server: ProviderServer, monkeypatch: pytest.MonkeyPatch, procedure: str
) -> None:
    at(monkeypatch, server)
    line = ("Tea or coffee?", "--procedure", procedure, "--model", "mystery_x", "--dry-run")
    made = desk(*line, "--json")
    assert made.code == 0, made.err
    assert made.document["participants"][-1]["models"][0] == "openai/mystery_x"


def said(number: int, message: str, **more: str) -> Answer:
    return raw(json.dumps({"error": {"message": message, **more}}), number, "application/json")


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("refusal", "why"),
    [
        (
            said(401, "team not allowed to access model.", type="team_model_access_denied"),
            "is not available to this key",
        ),
        (
            said(403, "Project does not have access to model `x`", code="model_not_found"),
            "is not available to this key",
        ),
        (said(410, "The model has been decommissioned"), "is no longer served there"),
        (
            said(500, "model requires more system memory (40 GiB) than is available"),
            "does not fit into that server's memory",
        ),
        (said(404, "No deployment.", code="DeploymentNotFound"), "does not exist there"),
        (said(404, "No models loaded. Use lms load."), "is not loaded there"),
        (said(404, "This is not a chat model."), "is not available for chat there"),
    ],
)
def test_models_of_no_use_leave_their_seats_to_one_that_works_and_all_say_why(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, refusal: Answer, why: str
) -> None:
    def reply(asked: Asked) -> Answer:
        return obedient(asked) if asked.model == ODD[4] else refusal

    listed = [ODD[0], ODD[1], ODD[4]]
    with provider_server(reply, models=listed) as server:
        at(monkeypatch, server)
        reached = desk("doctor", "--reach", "--json").document["findings"]
        [finding] = [each for each in reached if each["area"] == "providers"]
        told = desk("models").out
        desk("models", "--refresh")
        outcome = ask(desk)
    assert finding["state"] == "doubtful"
    assert f"works: openai/{ODD[4]} answered" in finding["text"]
    assert f"openai/{ODD[0]} {why}" in finding["text"]
    assert f"{why}: {ODD[0]}, {ODD[1]}" in told
    assert outcome.code == 0, outcome.err
    notes = [line for line in outcome.err.splitlines() if " spoke for " in line]
    assert notes
    assert all(f"which {why}." in line for line in notes), notes
    assert "Check the value of OPENAI_API_KEY" not in outcome.err


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("models", "held", "notes"),
    [
        (4, [1, 2], 1),  # the host's model holds a seat too
        (5, [1, 1, 1], 0),  # one that nobody holds comes first
    ],
)
def test_seats_that_lose_their_models_at_the_same_moment_get_different_ones(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, models: int, held: list[int], notes: int
) -> None:
    gone, together = ODD[:2], asyncio.Barrier(2)

    async def reply(asked: Asked) -> Answer:
        if asked.model not in gone:
            return obedient(asked)
        await together.wait()
        return status(404, f"The model `{asked.model}` does not exist.")

    seats = ",".join(f"openai/{name}" for name in ODD[:3])
    with provider_server(reply, models=ODD[:models]) as server:
        at(monkeypatch, server)
        outcome = ask(desk, "--models", seats, "--host", f"openai/{ODD[3]}")
    assert outcome.code == 0, outcome.err
    said = (each for each in outcome.document["speeches"] if each["round"])
    spoke = Counter({each["participant"]: each["model"] for each in said}.values())
    assert sorted(spoke.values()) == held, spoke
    told = [line for line in outcome.err.splitlines() if " spoke for " in line]
    assert len(told) == 2
    shared = [
        line for line in told if "It holds 2 seats: no other that works there was free" in line
    ]
    assert len(shared) == notes, told


@pytest.mark.requirement("Z-36")
def test_a_seat_whose_first_substitutes_failed_too_is_told_of_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(only(ODD[4]), models=[ODD[0], ODD[1], ODD[4]]) as server:
        at(monkeypatch, server)
        outcome = ask(desk, "--models", f"openai/{ODD[0]}")
    assert outcome.code == 0, outcome.err
    notes = [line for line in outcome.err.splitlines() if " spoke for " in line]
    assert len(notes) == 1
    assert f"in place of openai/{ODD[0]}, which does not exist there." in notes[0]


@pytest.mark.requirement("Z-36")
def test_a_server_that_was_started_anew_with_another_model_is_asked_again_within_the_run(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    serves = ["first"]

    def reply(asked: Asked) -> Answer:
        gone = status(404, f"The model `{asked.model}` does not exist.")
        return obedient(asked) if asked.model in serves else gone

    def lists(*_: object) -> object:
        return {"data": [{"id": each} for each in serves]}

    with provider_server(reply, lists=lists) as server:
        at(monkeypatch, server)
        desk("models")
        serves[:] = ["second"]
        outcome = ask(desk)
        again = ask(desk)
        doctor = desk("doctor").out
    assert outcome.code == 0, outcome.err
    assert "openai/second spoke for " in outcome.err
    assert "in place of openai/first, which does not exist there." in outcome.err
    assert set(speakers(again)) == {"openai/second"}
    assert "in place of" not in again.err
    assert "did not say which models it has" not in doctor
    assert "Default model: openai/second" in doctor


@pytest.mark.requirement("Z-36")
def test_a_server_of_whose_list_nothing_can_be_used_is_not_said_to_have_none(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(only(), models=ODD[:2]) as server:
        at(monkeypatch, server)
        desk("doctor", "--reach")
        outcome = ask(desk)
    assert outcome.code == 2
    told = f"lists 2 models, and none can be used: {ODD[0]} does not exist there"
    assert told in outcome.err
    assert "roundtable models --refresh" in outcome.err


@pytest.mark.requirement("Z-36")
def test_what_turned_out_not_to_exist_is_remembered_by_doctor_and_forgotten_with_refresh(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["ghost-1", "ghost-2", "real-one", "ghost-3"]
    with provider_server(only("real-one"), models=names) as server:
        at(monkeypatch, server)
        assert ask(desk).code == 0
        calls = len(server.requests)
        examined = desk("doctor", "--reach")
        assert [each.body["model"] for each in server.requests[calls:]] == ["real-one"]
        listed = desk("models").out
        asked = len(server.requests)
        again = ask(desk)
        assert {each.body["model"] for each in server.requests[asked:]} == {"real-one"}
        refreshed = desk("models", "--refresh").out
    assert "Default model: openai/real-one" in examined.out
    assert "works: openai/real-one answered" in examined.out
    assert "does not exist there: ghost-" in examined.out
    assert "Default model: openai/real-one" in listed
    assert again.code == 0
    assert "openai/ghost-1" in refreshed


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    "lists", [hang(), status(401, "Only for admins."), {"data": []}, status(404, "No such page.")]
)
def test_a_list_that_fails_is_not_taken_for_a_server_that_does(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, lists: object
) -> None:
    monkeypatch.setattr(model_lists, "FIRST_SECONDS", 0.3)
    with provider_server(only("house"), lists=lambda *_: lists) as server:
        at(monkeypatch, server)
        alone = ask(desk)
        assert (alone.code, "--models openai/NAME" in alone.err) == (2, True), alone.err
        monkeypatch.setenv("ROUNDTABLE_MODEL", "openai/house")
        findings = desk("doctor", "--reach", "--json").document["findings"]
        assert ask(desk).code == 0
    [reached] = [each for each in findings if each["area"] == "providers"]
    assert reached["state"] == "ok"
    assert "works: openai/house answered" in reached["text"]


@pytest.mark.requirement("Z-36")
def test_one_model_that_answers_under_three_names_is_one_voter(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(obedient, models=ODD[:3], serves="whatever-is-loaded") as server:
        at(monkeypatch, server)
        outcome = ask(desk, "--choices", "Tea,Coffee")
    assert outcome.code == 0, outcome.err
    assert "with one model, whatever-is-loaded: these seats count as one voter." in outcome.err
    assert "All 3 seats are one model" in desk("show", "last").out


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    "line",
    [
        ("--preset", "cheap", "--models", "scripted/echo,scripted/stubborn"),
        ("--scholar", "scripted/echo"),
    ],
)
def test_models_that_were_named_speak_where_those_of_a_preset_cannot(
    desk: Desk, line: tuple[str, ...]
) -> None:
    held = desk("Tea or coffee?", *line, "--host", "scripted/echo", "--no-log", "--json")
    assert held.code == 0, held.err
    models = [each["model"] for each in held.document["participants"]]
    assert len(models) == 3
    assert all(each.startswith("scripted/") for each in models)
    assert "its usual model, cannot be used here" in held.err
    assert "The procedure is council" in held.err


@pytest.mark.requirement("Z-36", "I-28")
def test_a_model_of_ones_own_server_is_not_said_to_need_the_vendors_key_alone(desk: Desk) -> None:
    """Chosen in a shell that had the server's address, asked in one that has not."""
    own = desk("Tea or coffee?", "--models", "openai/house-small,openai/house-large")
    vendors = desk("Tea or coffee?", "--models", "sonnet")

    assert (own.code, vendors.code) == (2, 2)
    told = " ".join(own.err.split())
    assert "set OPENAI_BASE_URL to that server's address" in told
    assert "Create a key at https://platform.openai.com" in told
    assert "_BASE_URL" not in vendors.err
