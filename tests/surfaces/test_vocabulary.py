"""One vocabulary: the general words mean the same in every procedure and on every surface, old
words stay, and what a procedure cannot honour is refused with the reason and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roundtable.models import discovery
from roundtable.procedures import CUSTOM, OPTIONS, PROCEDURES
from roundtable.procedures.options import SHARED, find
from roundtable.settings import read_settings
from roundtable.surfaces.opening import open_request

from .desk import Desk
from .test_options import WAYS, prepared, sent

TOPIC = "Tea or coffee?"
SPEAK = "scripted/echo,scripted/stubborn"
HOST = ("--host", "scripted/hedger")
PANEL = """
name = "open-table"
summary = "Whoever is asked"
panel = { count = 3 }
stages = [{ name = "talk", prompt = "Talk." }]
"""


def plan(desk: Desk, *args: str) -> dict[str, Any]:
    """Who would sit at the table, without a call."""
    outcome = desk(TOPIC, *args, "--dry-run", "--json")
    assert outcome.code == 0, outcome.err
    found: dict[str, Any] = outcome.document
    return found


def models(document: dict[str, Any]) -> list[str]:
    """Of the seats; the host and the adaptive procedure's writer hold none."""
    *seats, _ = document["participants"]
    return [each["models"][0] for each in seats if each["id"] != "synthesiser"]


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize(
    "procedure", ["deliberation", "council", "five-round", "meeting", "adaptive"]
)
@pytest.mark.parametrize("flag", ["--rounds=0", "--seats=0"])
def test_nought_is_a_number_that_was_said_and_none_that_is_taken(
    desk: Desk, procedure: str, flag: str
) -> None:
    outcome = desk(TOPIC, f"--procedure={procedure}", "--models=scripted/echo", flag, "--dry-run")
    assert outcome.code == 2, outcome.out
    assert "from" in outcome.err or "does not fit" in outcome.err


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize("procedure", [*PROCEDURES, "open-table"])
def test_models_and_host_say_who_speaks_and_who_leads_in_every_procedure(
    desk: Desk, procedure: str
) -> None:
    own(desk)
    made = plan(desk, "--procedure", procedure, "--models", SPEAK, *HOST, "--no-search")
    one, other = SPEAK.split(",")
    seats = models(made)
    assert seats == [one if place % 2 == 0 else other for place in range(len(seats))]
    assert made["participants"][-1]["models"][0] == "scripted/hedger"
    shared = [note["text"] for note in made["notes"] if note["code"] == "shared_models"]
    assert bool(shared) == (len(seats) > 2)
    assert all(f"{len(seats)} seats share 2 models" in each for each in shared)


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize("procedure", [*PROCEDURES, "open-table"])
@pytest.mark.parametrize("demonstration", [False, True])
def test_where_only_named_models_can_speak_one_of_them_leads(
    desk: Desk, procedure: str, demonstration: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for the demonstration model to be fetched who has named others."""
    monkeypatch.setattr(discovery, "embedded_installed", lambda: demonstration)
    own(desk)
    made = plan(desk, "--procedure", procedure, "--models", SPEAK, "--no-search")
    assert made["participants"][-1]["models"][0] in SPEAK.split(",")
    assert "host_of_the_table" in [note["code"] for note in made["notes"]]
    named = desk(TOPIC, "--procedure", procedure, "--models", SPEAK, "--host", "opus", "--dry-run")
    assert named.code == 2, "who was named is not replaced"


@pytest.mark.parametrize("procedure", [*PROCEDURES, "open-table"])
def test_a_demonstration_model_that_only_leads_is_said_to_lead_alone(
    desk: Desk, procedure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "embedded_installed", lambda: True)
    own(desk)
    leads = ("--host", "local/smollm2-135m")
    made = plan(desk, "--procedure", procedure, "--models", SPEAK, *leads, "--no-search")
    told = [note["text"] for note in made["notes"] if note["code"] == "demonstration"]
    assert len(told) == 1
    assert "for the host only" in told[0]


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    "procedure", ["deliberation", "five-round", "meeting", "adaptive", "open-table"]
)
def test_experts_and_seats_say_who_sits_and_how_many(desk: Desk, procedure: str) -> None:
    own(desk)
    base = ("--procedure", procedure, "--models", "scripted/echo", *HOST, "--no-search")
    named = plan(desk, *base, "--experts", "nurse,Beekeeper: asks about the bees")
    names = [each["name"] for each in named["participants"]]
    assert names[0].casefold() == "nurse"
    assert names[1].casefold() == "beekeeper"
    assert len(models(named)) == 2
    if procedure != "adaptive":
        assert len(models(plan(desk, *base, "--seats", "4"))) == 4


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    "procedure", ["deliberation", "five-round", "meeting", "adaptive", "open-table"]
)
def test_named_experts_are_the_whole_table_however_many_models_there_are(
    desk: Desk, procedure: str
) -> None:
    own(desk)
    base = ("--procedure", procedure, *HOST, "--no-search", "--experts", "nurse,statistician")
    three = ("--models", f"{SPEAK},scripted/hedger")
    made = plan(desk, *base, *three)
    assert models(made) == SPEAK.split(",")
    told = [note["text"] for note in made["notes"] if note["code"] == "models_left_over"]
    assert told == ["3 models are named, and 2 experts sit here. Not used: scripted/hedger."]
    assert len(models(plan(desk, *base, *three, "--seats", "3"))) == 3


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    "procedure", ["deliberation", "five-round", "meeting", "adaptive", "open-table"]
)
def test_more_experts_than_seats_are_refused_with_what_would_fit(
    desk: Desk, procedure: str
) -> None:
    own(desk)
    base = ("--procedure", procedure, "--models", "scripted/echo", *HOST, "--no-search")
    named = ("--experts", "nurse,statistician,economist")
    refused = desk("Tea or coffee?", *base, *named, "--seats", "2", "--dry-run")
    assert refused.code == 2, refused.out
    assert "3 experts are named for 2 seats." in refused.err
    assert "Name at most 2, or set seats to 3, or leave seats out." in " ".join(refused.err.split())


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize("word", ["--models", "--experts", "--choices"])
@pytest.mark.parametrize("nothing", ["", ",,", ' , "" ,'])
def test_a_list_of_nothing_is_refused_and_never_means_the_default(
    desk: Desk, word: str, nothing: str
) -> None:
    refused = desk("Tea or coffee?", word, nothing, "--dry-run")
    assert refused.code == 2, refused.out
    assert f"Error: {word} is empty." in refused.err
    assert "Give it a value, or leave it out." in refused.err


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_more_models_than_seats_are_refused_with_what_would_fit(desk: Desk, procedure: str) -> None:
    seats = () if procedure == "council" else ("--seats", "2")
    five = ",".join(["scripted/echo", "scripted/hedger"] * 2)
    outcome = desk(TOPIC, "--procedure", procedure, "--models", five, *seats, *HOST, "--dry-run")
    assert outcome.code == 2
    assert ("set seats to 4" in outcome.err) == bool(seats), outcome.err


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("flag", "procedure"),
    [("--timeout=60", "five-round"), ("--max-rounds=2", "meeting"), ("--budget=low", "council")],
)
def test_an_option_that_chooses_the_procedure_is_said_to(
    desk: Desk, flag: str, procedure: str
) -> None:
    told = [n["text"] for n in plan(desk, flag, *HOST)["notes"] if n["code"] == "held_as"]
    assert told == [f"The procedure is {procedure}, because of {flag.partition('=')[0]}."]
    named = plan(desk, flag, *HOST, "--procedure", procedure)
    assert "held_as" not in [note["code"] for note in named["notes"]]


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_the_help_of_a_procedure_has_the_words_of_all(desk: Desk, procedure: str) -> None:
    words, _, _ = desk("help", procedure).out.partition("Its own:")
    general = (*SHARED, "context", "language", "max-cost", "max-calls", "max-tokens", "max-time")
    for word in general:
        assert f"--{word}" in words


@pytest.mark.requirement("I-28")
def test_a_single_seat_may_have_a_model_of_its_own(desk: Desk) -> None:
    made = plan(desk, "--procedure=five-round", "--models=scripted/echo,nurse=scripted/hedger",
                "--experts", "economist,nurse")  # fmt: skip
    assert models(made) == ["scripted/echo", "scripted/hedger"]
    wrong = desk(TOPIC, "--procedure=five-round", "--models=nusre=scripted/hedger",
                 "--experts=economist,nurse", "--dry-run")  # fmt: skip
    assert wrong.code == 2
    assert "Unknown seat 'nusre'" in wrong.err


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("procedure", "rounds", "key", "means"),
    [
        ("deliberation", "1", "critique", False),
        ("council", "1", "round2", False),
        ("council", "2", "round2", True),
        ("meeting", "4", "max_rounds", 4),
        ("five-round", "4", "rounds", [[1, "proposal"], [3, "critique"], [4, "revision"]]),
    ],
)
def test_rounds_are_what_the_procedure_makes_of_them(
    desk: Desk, procedure: str, rounds: str, key: str, means: object
) -> None:
    args = ("--procedure", procedure, "--models=scripted/echo", *HOST)
    assert plan(desk, *args, "--rounds", rounds)["options"][key] == means


@pytest.mark.parametrize("procedure", [*PROCEDURES, CUSTOM])
def test_every_general_word_is_taken_or_refused_with_a_reason(procedure: str) -> None:
    model = OPTIONS[procedure]
    for word in SHARED:
        assert (find(model, word) is None) == (word in model.cannot), word
    for why in model.cannot.values():
        reason, _, remedy = why.partition(". ")
        assert reason
        assert remedy.endswith(".")


@pytest.mark.requirement("I-28", "X-22")
@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--procedure=council", "--experts=nurse,economist"), ("Scholar", "deliberation")),
        (("--procedure=council", "--seats=4"), ("always has three seats", "deliberation")),
        (("--procedure=deliberation", "--rounds=5"), ("--rounds in", "from 1 to 2")),
        (("--agents", "X"), ("Error: --agents in five-round: expected 2 to 7 names",)),
        (("--procedure=five-round", "--rounds=2"), ("--rounds in", "from 4 to 5")),
        (("--procedure=council", "--models=a/b,a/c,a/d,a/e"), ("4 models", "3 sit")),
        (("--procedure=council", "--validate"), ("belongs to adaptive", "--procedure adaptive")),
        (("--procedure=deliberation", "--all=opus"), ("--models", "council")),
        (("--quik",), ("--quick",)),
    ],
)
def test_what_cannot_be_honoured_says_why_and_what_to_do(
    desk: Desk, args: tuple[str, ...], told: tuple[str, ...]
) -> None:
    outcome = desk(TOPIC, *args, "--dry-run")
    assert outcome.code == 2
    assert all(each in outcome.err for each in told), outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.requirement("A-06", "C-25", "D-36")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("--panel", SPEAK), ("--procedure", "adaptive", "--models", SPEAK)),
        (("--all", "scripted/echo"), ("--procedure", "council", "--models", "scripted/echo")),
        (
            ("--agents", "nurse,economist", "--all", "scripted/echo"),
            ("--procedure=five-round", "--experts=nurse,economist", "--models=scripted/echo"),
        ),
        (
            ("--max-rounds", "2", "--all", "scripted/echo", "--procedure", "meeting"),
            ("--procedure", "meeting", "--rounds", "2", "--models", "scripted/echo"),
        ),
    ],
)
def test_old_words_mean_what_the_new_ones_do(
    desk: Desk, old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    before, now = plan(desk, *old, *HOST), plan(desk, *new, *HOST)
    for each in ("procedure", "participants", "options"):
        assert before[each] == now[each]


def test_old_words_are_not_shown_first(desk: Desk) -> None:
    shown = desk("ask", "--help").out
    for word in ("--panel", "--agents", "--all ", "--model ", "--max-rounds"):
        assert word not in shown
    assert "--panel" in desk("help", "adaptive").out


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize("surface", WAYS)
def test_the_same_words_open_the_same_table_on_every_surface(surface: str, tmp_path: Path) -> None:
    """By name, by the old name, and refused in the same words."""
    words = {
        "models": ["scripted/echo"],
        "host": "scripted/echo",
        "experts": ["nurse", "economist"],
    }
    wishes: list[tuple[str, dict[str, Any]]] = [
        *((name, words) for name in ("deliberation", "five-round", "meeting", "adaptive")),
        ("five-round", {"agents": "nurse,economist", "model": "scripted/echo"}),
        ("five-round", {"experts": 2, "model": "scripted/echo"}),
        ("council", words),
    ]
    *opened, refused = sent(surface, tmp_path, wishes)
    assert opened == [""] * len(opened)
    assert "A council is always Scholar, Engineer and Muse." in refused


def test_a_number_of_experts_is_still_how_many_sit(tmp_path: Path) -> None:
    prepared(tmp_path)
    settings = read_settings({"ROUNDTABLE_HOME": str(tmp_path / "home")}, tmp_path)
    request = open_request(
        settings, TOPIC, surface="http", procedure="five-round", options={"experts": 4}
    )
    assert OPTIONS["five-round"].model_validate(dict(request.options)).model_dump()["seats"] == 4


# --- the command line reads as people write -------------------------------------------------------


def test_a_question_needs_no_quotes(desk: Desk) -> None:
    args = ("--procedure=council", "--models=scripted/echo", *HOST, "--dry-run", "--json")
    made = desk("Should", "we", "use", "Postgres", *args).document
    assert made["topic"] == "Should we use Postgres"


@pytest.mark.parametrize(
    "line",
    [
        "compare Postgres and MySQL for us",
        "help me decide on this",
        "stop smoking or vaping?",
        "show me the way home",
        "vote for the greens or the others",
    ],
)
def test_a_question_that_begins_like_a_command_costs_nothing_and_is_told_how(
    desk: Desk, line: str
) -> None:
    outcome = desk(*line.split())
    assert outcome.code == 2
    assert f'roundtable ask "{line}"' in outcome.err
    assert desk("list", "--json").document == []


def test_a_slip_in_a_command_of_a_command_is_not_taken_for_a_question(desk: Desk) -> None:
    line = ("schedule", "add", "What changed?", "--cron", "0 8 * * 1", "--zone", "Mars/Base")
    outcome = desk(*line)
    assert outcome.code == 2
    assert "Unknown time zone 'Mars/Base'" in outcome.err
    assert "as a question" not in outcome.err


def test_a_flag_of_ask_at_another_command_says_where_it_belongs(desk: Desk) -> None:
    outcome = desk("list", "--quick")
    assert outcome.code == 2
    assert "--quick belongs to `roundtable ask`" in outcome.err


@pytest.mark.requirement("I-03")
def test_help_tells_of_all_procedures_and_of_one(desk: Desk) -> None:
    own(desk)
    told = desk("help").out
    for name in (*PROCEDURES, "open-table"):
        assert f"\n  {name}" in told
    assert "Whoever is asked (own)" in told
    one = desk("help", "meeting").out
    assert "--rounds N" in one
    assert "[1 to 10; 3]" in one
    assert "--roster" in one
    assert desk("help", "open-table").code == 0
    wrong = desk("help", "metting")
    assert wrong.code == 2
    assert "Did you mean meeting" in wrong.err


@pytest.mark.requirement("I-03")
def test_the_list_of_commands_is_grouped(desk: Desk) -> None:
    text = desk("--help").out
    places = [text.index(f"\n{title}") for title in ("Ask:", "Read:", "Lead", "Serve:", "Set up:")]
    assert places == sorted(places)


def own(desk: Desk) -> None:
    folder = desk.home / "procedures"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "open-table.toml").write_text(PANEL, "utf-8")
