"""Every mistake in a definition is named: the file, the key, and what is expected there."""

from __future__ import annotations

import datetime
import re
from typing import Any, get_args

import pytest

from roundtable.core.errors import BadSetting, UnknownName, UsageError
from roundtable.core.tally import RULES
from roundtable.core.values import Material
from roundtable.procedures.custom.checks import GIVEN, define
from roundtable.procedures.custom.model import (
    Definition,
    Ending,
    Extract,
    HostSeat,
    Panel,
    Seat,
    Stage,
    StopRule,
    Until,
)
from roundtable.prompts.own import MAX_BODY, MAX_DEPTH, MAX_USES

from .custom_table import DELPHI, data, defined, delphi, hold, own_table

NUMBER = {"name": "n", "section": "A", "kind": "number"}
CHOICE = {"name": "c", "section": "A", "kind": "choice", "choices": ["yes", "no"]}
LIST = {"name": "l", "section": "A", "kind": "list"}
COUNTED = {"sections": ["A"], "extract": [NUMBER], "aggregate": "statistics"}
VOTED = {"sections": ["A"], "extract": [CHOICE], "aggregate": "tally:schulze"}


def refusal(values: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as caught:
        define(values, "own.toml")
    return str(caught.value)


def without(key: str) -> dict[str, Any]:
    return {k: v for k, v in data().items() if k != key}


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("values", "key", "near"),
    [
        (data(sumary="x"), "sumary", "summary"),
        (data({"promt": "x"}), "stages.stage-1.promt", "prompt"),
        (data({"parallel": True}), "stages.stage-1.parallel", None),
        (data({"until": {"anny": []}, "repeat": 2}), "stages.stage-1.until.anny", "any"),
        (data(host={"modell": "x"}), "host.modell", "model"),
        (data(verdict={"buy": "host"}), "verdict.buy", "by"),
        (data(participants=[{"id": "a", "nmae": "A"}]), "participants.a.nmae", "name"),
        (
            data({"sections": ["A"], "extract": [{**NUMBER, "maximum": 3}]}),
            "stages.stage-1.extract.n.maximum",
            "max",
        ),
        (
            data({"repeat": 2, "until": {"any": [{"rule": "overlap", "limits": 0.5}]}}),
            "stages.stage-1.until.any.1.limits",
            "limit",
        ),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_known_one(
    values: dict[str, Any], key: str, near: str | None
) -> None:
    with pytest.raises(UnknownName) as caught:
        define(values, "own.toml")
    assert caught.value.message == f"Unknown key in own.toml: {key!r}."
    told = f"Did you mean {near}?" if near else "Known here: "
    assert caught.value.remedy.startswith(told)


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("values", "key", "expected"),
    [
        # types
        (without("name"), "name", "a value; it is missing"),
        (without("summary"), "summary", "a value; it is missing"),
        (data(name=3), "name", "text in quotes"),
        (data(name="Two Words"), "name", "a short name of small letters"),
        (data(name="../up"), "name", "a short name of small letters"),
        (data(version="1"), "version", "a valid integer"),
        (data(version=0), "version", "greater than or equal to 1"),
        (data(version=True), "version", "a valid integer"),
        (data(stages=[]), "stages", "at least 1 item"),
        (data(stages={"name": "x"}), "stages", "a list"),
        (data(stages=["x"]), "stages.1", "a table of keys and values"),
        (data(host="me"), "host", "a table of keys and values"),
        (data({"anonymous": "yes"}), "stages.stage-1.anonymous", "a valid boolean"),
        (data({"order": "paralel"}), "stages.stage-1.order", "'parallel' or 'sequential'"),
        (data({"who": "everybody"}), "stages.stage-1.who", "'all' or 'host' or a list"),
        (data({"who": 3}), "stages.stage-1.who", "'all' or 'host' or a list"),
        (data({"sees": "everything"}), "stages.stage-1.sees", "none, own, current, previous"),
        (data({"sees": 3}), "stages.stage-1.sees", "a list"),
        (data({"history": "chars:0"}), "stages.stage-1.history", "full, digest, summary or chars"),
        (data({"history": "chars:many"}), "stages.stage-1.history", "chars:N"),
        (data({**VOTED, "aggregate": "tally:d20"}), "stages.stage-1.aggregate", "tally:RULE"),
        (data({"timeout": 0}), "stages.stage-1.timeout", "greater than or equal to 1"),
        (data({"timeout": float("inf")}), "stages.stage-1.timeout", "a finite number"),
        (data({"retries": 99}), "stages.stage-1.retries", "less than or equal to 5"),
        (data({"repeat": 11}), "stages.stage-1.repeat", "less than or equal to 10"),
        (data({"sections": "Answer"}), "stages.stage-1.sections", "a list"),
        (data({"sections": ["# A"]}), "stages.stage-1.sections.1", "headings on one line"),
        (data(variables={"Bad Name": "x"}), "variables.Bad Name", "names of small letters"),
        (data(variables={"x": 3}), "variables.x", "text in quotes"),
        # seats
        (data(panel={"count": 3}), "participants", "either [[participants]] or [panel]"),
        (data(participants=[]), "participants", "either [[participants]] or [panel]"),
        (data(participants=[{"id": "host", "name": "H"}]), "participants.host.id", "is taken"),
        (data(participants=[{"id": "a", "name": "A"}] * 2), "participants.a.id", "a is taken"),
        (data(participants=[{"id": "a"}]), "participants.a.name", "a name, or an expert"),
        (
            data(participants=[], panel={"count": 1, "include": ["x", "y"]}),
            "panel.count",
            "at least the 2 that are included",
        ),
        (data(variables={"seen": "x"}), "variables.seen", "seen is a given variable"),
        (data(variables={"form": "x"}), "variables.form", "form is a given variable"),
        # stages
        (data({"name": "a"}, {"name": "a"}), "stages.a.name", "a is taken"),
        (data({"name": "verdict"}), "stages.verdict.name", "verdict is taken"),
        (data({"who": ["dora"]}), "stages.stage-1.who", "some of anna, ben, cleo"),
        (data({"who": []}), "stages.stage-1.who", "some of anna, ben, cleo"),
        (data({"who": ["ben", "ben"]}), "stages.stage-1.who", "each id once"),
        (
            data({"who": ["x"]}, participants=[], panel={"count": 2}),
            "stages.stage-1.who",
            "all or host: who sits on a panel is not known",
        ),
        (data({"min_survivors": 4}), "stages.stage-1.min_survivors", "at most 3"),
        (data({"until": {"any": []}}), "stages.stage-1.until", "repeat above 1 beside it"),
        (data({"repeat_from": "stage-1"}), "stages.stage-1.repeat_from", "repeat above 1"),
        (
            data({"repeat": 2, "repeat_from": "stage-2"}, {}),
            "stages.stage-1.repeat_from",
            "the name of this stage or of an earlier one",
        ),
        (
            data({"repeat": 2}, {"repeat": 2, "repeat_from": "stage-1"}),
            "stages.stage-2.repeat_from",
            "repetitions that do not overlap",
        ),
        (
            data(
                {}, {"repeat": 2, "repeat_from": "stage-1"}, {"repeat": 2, "repeat_from": "stage-2"}
            ),
            "stages.stage-2.repeat_from",
            "repetitions that do not overlap",
        ),
        # sight
        (
            data({"sees": "stage:stage-2"}, {}),
            "stages.stage-1.sees",
            "an earlier stage (there is none); stage-2 comes later",
        ),
        (data({}, {"sees": "stage:nothing"}), "stages.stage-2.sees", "stage:stage-1"),
        (data({}, {"sees": "stage:stage-2"}), "stages.stage-2.sees", "an earlier stage"),
        (data({"sees": "previous"}), "stages.stage-1.sees", "nothing comes before the first"),
        (data({"sees": "current"}), "stages.stage-1.sees", 'order = "sequential" beside current'),
        (data({}, {"sees": ["none", "own"]}), "stages.stage-2.sees", "none alone"),
        (data({}, {"sees": "results"}), "stages.stage-2.sees", "stage with an aggregate"),
        (data(COUNTED | {"sees": "results"}), "stages.stage-1.sees", "an earlier stage with an"),
        (
            data({}, {"sees": "all", "history": "summary"}),
            "stages.stage-2.history",
            'an earlier stage with who = "host"',
        ),
        # extracts and aggregates
        (data({"who": "host", **COUNTED}), "stages.stage-1.extract", "the host takes no position"),
        (data({"extract": [NUMBER]}), "stages.stage-1.extract.n.section", "there are none"),
        (
            data({"sections": ["A"], "extract": [{**NUMBER, "line": "So"}]}),
            "stages.stage-1.extract.n.section",
            "either section or line",
        ),
        (
            data({"sections": ["A"], "extract": [NUMBER, NUMBER]}),
            "stages.stage-1.extract.n.name",
            "n is taken",
        ),
        (
            data({"sections": ["A"], "extract": [{**CHOICE, "choices": ["yes"]}]}),
            "stages.stage-1.extract.c.choices",
            "at least two choices",
        ),
        (
            data({"sections": ["A"], "extract": [{**NUMBER, "min": 3, "max": 2}]}),
            "stages.stage-1.extract.n.max",
            "at least min, 3",
        ),
        (
            data({"sections": ["A"], "extract": [{**LIST, "min": 3}]}),
            "stages.stage-1.extract.l.min",
            'kind = "number"',
        ),
        (data({"aggregate": "points"}), "stages.stage-1.aggregate", "of the kind list"),
        (
            data(VOTED | {"aggregate": "statistics"}),
            "stages.stage-1.aggregate",
            "of the kind number",
        ),
        (data(COUNTED | {"of": "m"}), "stages.stage-1.of", "one of n"),
        (
            data(COUNTED | {"extract": [NUMBER, {**NUMBER, "name": "m"}]}),
            "stages.stage-1.of",
            "which one is meant: n, m",
        ),
        (data({"of": "n"}), "stages.stage-1.of", "an aggregate beside it"),
        # until
        (
            data({"repeat": 2, "until": {}}),
            "stages.stage-1.until",
            "either any or all, a list of rules",
        ),
        (
            data({"repeat": 2, "until": {"any": [{"rule": "unanimous"}]}}),
            "stages.stage-1.until.unanimous",
            'aggregate = "tally:…"',
        ),
        (
            data(COUNTED | {"repeat": 2, "until": {"any": [{"rule": "spread_below"}]}}),
            "stages.stage-1.until.spread_below.limit",
            "such as 0.1",
        ),
        (
            data(VOTED | {"repeat": 2, "until": {"any": [{"rule": "agreement", "limit": 80}]}}),
            "stages.stage-1.until.agreement.limit",
            "a share below 1",
        ),
        (
            data({"repeat": 2, "until": {"any": [{"rule": "boredom"}]}}),
            "stages.stage-1.until.any.1.rule",
            "'agreement', 'consensus', 'convergence_score'",
        ),
        (
            data(VOTED, {"aggregate": "decision"}),
            "stages.stage-2.aggregate",
            "a decision on the question or tallies of choices, not both",
        ),
        (
            data({"aggregate": "decision", "of": "x"}),
            "stages.stage-1.of",
            "nothing beside a decision",
        ),
        (
            data({"repeat": 2, "until": {"any": [{"rule": "consensus"}]}}),
            "stages.stage-1.until.consensus",
            '"decision" or "tally:…"',
        ),
        # words and verdict
        (data({"prompt": "  "}), "stages.stage-1.prompt", "the task in words"),
        (data({"min_words": 9, "max_words": 3}), "stages.stage-1.max_words", "at least min_words"),
        (data({"sections": ["A", "a"]}), "stages.stage-1.sections", "each heading once"),
        (data(verdict={"by": "aggregate"}), "verdict.by", "host or extract"),
        (data(verdict={"by": "extract", "prompt": "x"}), "verdict.prompt", 'by = "host"'),
        (data(verdict={"by": "extract", "of": "x"}), "verdict.of", "a stage with an aggregate"),
        (
            data(
                *[{"repeat": 10}] * 20,
                participants=[{"id": f"p{n}", "name": "P"} for n in range(20)],
            ),
            "stages",
            "at most 500 turns in all; these make 4000",
        ),
    ],
)
def test_a_mistake_is_named_with_file_key_and_what_is_expected(
    values: dict[str, Any], key: str, expected: str
) -> None:
    with pytest.raises(BadSetting) as caught:
        define(values, "own.toml")
    assert (caught.value.where, caught.value.key) == ("own.toml", key)
    assert expected in caught.value.expected


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("{{ 'a' * 10**9 }}", "without calculations (line 1)"),
        ("{{ 'a' ~ question }}", "without calculations"),
        ("{{ question.text }}", "without attributes (line 1)"),
        ("{{ question.__class__.__mro__ }}", "without attributes"),
        ("{{ question['text'] }}", "without items of values"),
        ("one\n{% for x in question %}x{% endfor %}", "without loops (line 2)"),
        ("{% for x in range(10**9) %}x{% endfor %}", "without loops"),
        ("{{ range(9) }}", "without calls"),
        ("{{ question|upper }}", "without filters"),
        ("{{ question is defined }}", "without tests"),
        ("{% set x = 'a' %}{{ x }}", "without assignments"),
        ("{% macro m() %}{% endmacro %}", "without macros"),
        ('{% include "shared/security" %}', "without other templates"),
        ('{% import "x" as x %}', "without other templates"),
        ('{% extends "x" %}', "without other templates"),
        ("{% if round == 1 %}x{% endif %}", 'text in quotes, such as round == "1"'),
        ('{% if round > "1" %}x{% endif %}', "== and != as the only comparisons"),
        ("{{ question", "a template (line 1"),
        ("{% if question %}", "a template (line 1"),
        ("{{ quesiton }}", "quesiton is none (did you mean question?)"),
        ("{{ seen }}", "sees = something beside it, or no {{ seen }}"),
        ("{{ results }}", "sees = results beside it, or no {{ results }}"),
        ("{{ nonce }}", "nonce is none"),
        ("{{ question }}" * (MAX_USES + 1), f"“question” at most {MAX_USES} times"),
        ("x" * (MAX_BODY + 1), f"at most {MAX_BODY:,} characters"),
        (
            "{% if name %}" * (MAX_DEPTH + 1) + "x" + "{% endif %}" * (MAX_DEPTH + 1),
            f"at most {MAX_DEPTH} conditions",
        ),
        ("{{ " + "(" * 5000 + "name" + ")" * 5000 + " }}", "not nested so deep"),
        ("{{ " + "9" * 5000 + " }}", ""),
    ],
)
def test_a_template_that_could_do_harm_is_refused_before_it_is_rendered(
    prompt: str, expected: str
) -> None:
    for values in (
        data({"prompt": prompt}),
        data(verdict={"by": "host", "sees": "none", "prompt": prompt}),
    ):
        with pytest.raises(BadSetting) as caught:
            define(values, "own.toml")
        assert caught.value.key.endswith(".prompt")
        assert expected in caught.value.expected


@pytest.mark.requirement("I-38")
def test_the_document_explains_every_key_rule_and_variable() -> None:
    page = (DELPHI.parents[1] / "docs" / "custom-procedures.md").read_text("utf-8")
    parts = (Definition, Seat, Panel, HostSeat, Stage, Extract, Until, StopRule, Ending)
    keys = {key for part in parts for key in part.model_fields}
    words = {*keys, *RULES, *GIVEN, "seen", *get_args(StopRule.model_fields["rule"].annotation)}
    told = set(re.findall(r"[a-z_]+", page))
    assert words - told == set()


@pytest.mark.requirement("I-28")
def test_rendering_stays_in_proportion_to_what_it_is_given() -> None:
    """The worst that the checks let through: every variable as often as it may, all long."""
    prompt = "{{ question }}{{ context }}{{ seen }}" * MAX_USES
    own = defined({}, {"sees": "all", "prompt": prompt}, verdict={"by": "extract"})
    table = own_table(own, {"1/": "word " * 100_000})
    state = hold(table, context=(Material(source="f", text="x" * 1_000_000),))
    assert state.status == "concluded"
    assert all(len(request.user) < 128_000 * 4 for request in table.requests)


def test_a_date_is_no_value_of_a_definition() -> None:
    assert "no dates" in refusal(data(summary=datetime.date(2026, 1, 1)))


@pytest.mark.requirement("I-27")
def test_a_loop_may_see_what_comes_later_in_it_from_its_second_pass_on() -> None:
    own = defined({"sees": "stage:stage-2"}, {"repeat": 2, "repeat_from": "stage-1"})
    assert own.stages[0].sees == ("stage:stage-2",)


@pytest.mark.requirement("I-27")
def test_what_is_stored_is_the_definition_and_nothing_less() -> None:
    stored = delphi().model_dump(mode="json")
    assert define(stored, "stored") == delphi()
