"""What a person sees when providers fail: notes, an answer from the rest, and the exit code."""

from __future__ import annotations

import asyncio

import pytest

from roundtable.engine.drive import RENEW_EVERY
from tests.servers import TEST_KEY, Answer, Reply, cut, garbage, provider_server, status
from tests.wire import Asked

from .desk import Desk, Outcome, obedient

SEATS = (
    "--scholar=openai/scholar",
    "--engineer=openai/engineer",
    "--muse=openai/muse",
    "--model=openai/captain",
    "--quick",
    "--no-log",
)
SLOW_DOWN = status(429, "Slow down.", retry_after="0.01")


def failing(fault: Answer, *models: str) -> Reply:
    return lambda asked: fault if asked.model in models else obedient(asked)


@pytest.fixture
def ask(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> AskServer:
    # The waits between attempts are the engine's business; here they only cost time.
    monkeypatch.setattr("roundtable.engine.system.SystemClock.sleep", _at_once)
    return AskServer(desk, monkeypatch)


async def _at_once(_clock: object, seconds: float) -> None:
    """But the renewal of the lease must not spin."""
    await asyncio.sleep(seconds if seconds == RENEW_EVERY else 0)


class AskServer:
    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self._desk = desk
        self._monkeypatch = monkeypatch

    def __call__(self, reply: Reply, *args: str) -> Outcome:
        with provider_server(reply) as server:
            for name, value in server.env().items():
                self._monkeypatch.setenv(name, value)
            return self._desk("Tea or coffee?", *SEATS, *args)


@pytest.mark.requirement("I-01", "C-66")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(status(401, "Bad key."), "OPENAI_API_KEY", id="401"),
        pytest.param(SLOW_DOWN, "429", id="429"),
        pytest.param(status(500), "500", id="500"),
        pytest.param("", "without a word", id="empty"),
        pytest.param(cut("Half an"), "", id="cut"),
        pytest.param(garbage(), "", id="garbage"),
    ],
)
def test_with_one_of_three_failing_the_answer_comes_with_a_note_on_what_is_missing(
    ask: AskServer, fault: Answer, words: str
) -> None:
    outcome = ask(failing(fault, "muse"))

    assert outcome.code == 0, outcome.err
    assert "  ! 1 of 3 experts did not answer. Muse: " in outcome.out
    note = outcome.err[outcome.err.index("Note: The Muse did not answer in round 1: ") :]
    assert "So its perspective (lateral thinking" in note
    assert words in note
    assert TEST_KEY not in outcome.err + outcome.out


@pytest.mark.requirement("C-67")
@pytest.mark.parametrize("dead", [("scholar", "muse"), ("scholar", "engineer", "muse")])
def test_with_two_or_three_dead_there_is_an_apology_and_advice(
    ask: AskServer, dead: tuple[str, ...]
) -> None:
    outcome = ask(failing(status(401, "Bad key."), *dead))

    assert outcome.code == 1
    assert outcome.out == ""
    assert f"Error: Sorry: {3 - len(dead)} of 3 specialists answered" in outcome.err
    assert "--preset=cheap" in outcome.err
    assert "--all=MODEL" in outcome.err


def test_a_dead_captain_still_leaves_a_verdict_in_the_others_own_words(ask: AskServer) -> None:
    outcome = ask(failing(status(500), "captain"))

    assert outcome.code == 0
    assert "No model wrote this answer" in outcome.out
    assert "The Captain could not split the question" in outcome.err
    assert "made without a model" in outcome.err


@pytest.mark.requirement("I-12")
def test_a_provider_that_recovers_is_only_a_line_of_progress(ask: AskServer) -> None:
    asked_before: list[str] = []

    def reply(asked: Asked) -> Answer:
        asked_before.append(asked.model)
        return SLOW_DOWN if asked_before.count(asked.model) == 1 else obedient(asked)

    outcome = ask(reply, "--json")

    assert outcome.code == 0
    assert outcome.err.count(", attempt 1 failed") == 1
    assert "did not answer" not in outcome.err
    assert outcome.document["usage"]["calls"] == 9


@pytest.mark.requirement("Z-36", "I-12")
def test_an_account_without_credit_is_asked_once_and_said_to_be_one(ask: AskServer) -> None:
    asked_before: list[str] = []

    def reply(asked: Asked) -> Answer:
        asked_before.append(asked.model)
        quota = status(429, "You exceeded your current quota, please check your plan and billing.")
        return quota if asked.model == "muse" else obedient(asked)

    outcome = ask(reply)

    assert outcome.code == 0, outcome.err
    assert asked_before.count("muse") == 1
    assert "finds no credit on the account (429)" in outcome.err
    assert "The account behind OPENAI_API_KEY has no credit left" in outcome.err
    assert "slow down" not in outcome.err


@pytest.mark.requirement("Z-36", "C-67")
def test_what_would_help_everybody_stands_in_the_last_line(ask: AskServer) -> None:
    outcome = ask(failing(status(402, "Pay first."), "scholar", "engineer", "muse"))

    assert outcome.code == 1
    last = outcome.err[outcome.err.index("Error: ") :]
    assert "The account behind OPENAI_API_KEY has no credit left: top it up" in last
    assert "--preset=cheap" in last


@pytest.mark.requirement("X-12", "I-30")
def test_a_substitute_is_named_in_notes_and_footer(
    ask: AskServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_FALLBACK_MODEL", "scripted/stubborn")

    outcome = ask(failing(status(401, "Bad key."), "muse"), "-v")

    assert outcome.code == 0
    assert "🎨 Muse: scripted/stubborn" in outcome.out
    assert "Another model spoke in place of the one that was wanted." in outcome.out
    assert (
        "Note: scripted/stubborn spoke for Muse in place of openai/muse, which was refused: its "
        "key is not accepted, or its account has no credit." in outcome.err
    )
    assert outcome.err.count("in place of") == 1
    assert "DEGRADED" not in outcome.err


@pytest.mark.requirement("I-20")
def test_a_key_that_a_provider_echoes_is_not_shown(ask: AskServer) -> None:
    outcome = ask(failing(status(401, f"Incorrect API key provided: {TEST_KEY}."), "muse"))

    assert "Muse did not answer" in outcome.err
    assert TEST_KEY not in outcome.err


def test_what_goes_wrong_for_all_is_told_once_while_it_runs_and_once_when_it_fails(
    ask: AskServer,
) -> None:
    outcome = ask(failing(status(500, "The disk is full."), "scholar", "engineer", "muse"))

    assert outcome.code == 1
    assert sum("attempt" in line for line in outcome.err.splitlines()) == 1
    [error] = [line for line in outcome.err.splitlines() if line.startswith("Error: ")]
    assert error.count("The disk is full.") == 1
    assert all(name in error for name in ("Scholar", "Engineer", "Muse"))
