"""What a verdict says of the vote: what the count denies is found, and nothing else."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from roundtable.core.against_count import answer_against
from roundtable.core.values import FindingCode
from roundtable.core.vote_claims import claims_against
from roundtable.core.vote_told import Tolerated, Voter, VoteTold


def told(*options: str) -> VoteTold:
    """Ann and Bob voted for the first option, Carl for the second."""
    first, second = options
    return VoteTold(
        question="Which one?",
        options=(
            Tolerated("o1", first, 2, frozenset([2])),
            Tolerated("o2", second, 1, frozenset([1])),
        ),
        delivered="o1",
        answer=first,
        reason="2 of 3.",
        seated=3,
        voted=3,
        all_agree=False,
        voters_agree=False,
        dissenting=("Carl",),
        voters=(
            Voter("Ann", first, frozenset(["o1"])),
            Voter("Bob", first, frozenset(["o1"])),
            Voter("Carl", second, frozenset(["o2"])),
        ),
        pairs=frozenset([(2, 1), (1, 2)]),
        word="medium",
        low=0.5,
        high=0.75,
    )


NAMED, YES_NO = told("PostgreSQL", "MongoDB"), told("Yes", "No")


@pytest.mark.requirement("Z-27", "Z-08")
@pytest.mark.parametrize(
    ("code", "claim"),
    [
        ("false_count", "3 of 3 chose PostgreSQL."),
        ("false_count", "1 of 3 chose PostgreSQL."),
        ("false_count", "All three experts voted for PostgreSQL."),
        ("false_count", "Everyone backed PostgreSQL in the end."),
        ("false_count", "All three chose PostgreSQL, so only a new price would change it."),
        ("false_count", "PostgreSQL, 3 of 3."),
        ("false_count", "question  PostgreSQL  3 of 3"),
        ("false_count", "The verdict is PostgreSQL with 3 of 3 votes."),
        ("false_count", "Three votes for PostgreSQL."),
        ("false_count", "Nobody chose MongoDB."),
        ("false_count", "The vote was 3–0 for it."),
        ("false_count", "It won by three to zero."),
        ("false_count", "The table chose PostgreSQL by 3 votes to 0."),
        ("false_count", "Alle drei stimmten für PostgreSQL."),
        ("false_count", "Alle haben für PostgreSQL gestimmt."),
        ("false_count", "Drei von drei sind für PostgreSQL."),
        ("false_count", "Die Abstimmung ging mit 3 zu 0 aus."),
        ("false_count", "Los tres eligieron PostgreSQL."),
        ("false_count", "Tres de tres votaron por PostgreSQL."),
        ("false_count", "三位专家都选择了PostgreSQL。"),
        ("false_count", "所有专家都支持PostgreSQL。"),
        ("false_count", "表决以3比0通过。"),
        ("false_holder", "Ann, Bob and Carl chose PostgreSQL."),
        ("false_holder", "Carl voted for PostgreSQL."),
        ("false_holder", "Ann und Carl wählten PostgreSQL."),
        ("false_holder", "Carl eligió PostgreSQL."),
        ("false_holder", "Carl支持PostgreSQL。"),
        ("false_confidence", "We are 95 % confident."),
        ("false_confidence", "Wir sind 95 % sicher."),
        ("false_confidence", "Our confidence is high."),
        ("false_confidence", "**Confidence:** 95 %"),
        ("false_confidence", "Confianza: alta"),
        ("false_agreement", "**Agreement:** unanimous"),
        ("false_agreement", "Dissent: none"),
        ("false_agreement", "Gegenstimmen: keine"),
        ("false_agreement", "异议：无"),
        ("false_agreement", "## Dissent\n\nNone."),
        ("false_agreement", "**Agreement**\nUnanimous."),
        ("false_confidence", "## Confidence\n\n98 %"),
        ("false_confidence", "### Confidence\nVery high, 98 %."),
        ("false_confidence", "We recommend PostgreSQL with 95 % confidence."),
        ("false_count", "PostgreSQL received three votes and MongoDB one."),
        ("false_count", "MongoDB got no votes."),
        ("false_count", "PostgreSQL won 3 votes."),
        ("false_count", "Every expert chose PostgreSQL."),
        ("false_count", "Each of the experts voted for PostgreSQL."),
        ("false_count", "All experts chose PostgreSQL."),
        ("false_count", "| Option | Votes |\n|---|---|\n| **PostgreSQL** | 3 |\n| MongoDB | 1 |"),
        ("false_count", "| Option | Why | Votes |\n|---|---|---|\n| MongoDB | dear | 0 of 3 |"),
        ("false_holder", "| Seat | Vote |\n|---|---|\n| Ann | PostgreSQL |\n| Carl | PostgreSQL |"),
    ],
)
def test_what_the_count_denies_is_found(code: str, claim: str) -> None:
    found = claims_against(f"Take PostgreSQL.\n\n{claim}", NAMED)
    assert [each.code for each in found] == [code]


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(
    "claim",
    [
        "2 of 3 chose PostgreSQL.",
        "Ann and Bob chose PostgreSQL, Carl MongoDB.",
        "The vote was 2–1.",
        "Two of three voted for PostgreSQL; one chose MongoDB.",
        "Zwei von drei stimmten für PostgreSQL.",
        "两位专家选择了PostgreSQL。",
        # another time, a condition, a part of the table
        "In round 1 all three chose MongoDB.",
        "At first Carl backed PostgreSQL.",
        "At first all three chose MongoDB, so talk changed it.",
        "Cost would decide, so all three chose MongoDB in round 1.",
        "If all three chose MongoDB, we would move.",
        "Not all three chose PostgreSQL.",
        "All but Carl chose PostgreSQL.",
        "At least one of three chose PostgreSQL.",
        "One expert backed PostgreSQL for its tooling.",
        "Not every expert chose PostgreSQL.",
        "Every expert but Carl chose PostgreSQL.",
        "Every other expert chose PostgreSQL.",
        "PostgreSQL received two votes and MongoDB one.",
        "MongoDB got one vote.",
        "In round 1 PostgreSQL got no votes.",
        "| Option | Votes |\n|---|---|\n| PostgreSQL | 2 |\n| MongoDB | 1 |",
        "| Seat | Vote |\n|---|---|\n| Ann | PostgreSQL |\n| Carl | MongoDB |",
        "In round 1:\n\n| Option | Votes |\n|---|---|\n| PostgreSQL | 3 |",
        "| Option | Votes in round 1 |\n|---|---|\n| PostgreSQL | 3 |",
        # something else than the vote
        "PostgreSQL won 3 votes in a survey of its users.",
        "PostgreSQL received 40 votes.",
        "The PostgreSQL team got no votes.",
        "Every expert chose a different test.",
        "| Option | Cost |\n|---|---|\n| PostgreSQL | 3 |\n| MongoDB | 0 |",
        "| Seat | Second choice |\n|---|---|\n| Carl | PostgreSQL |",
        "| Seat | Vote |\n|---|---|\n| Carl | PostgreSQL only as a cache |",
        "## Dissent\n\nNone on cost; Carl on licences.",
        "## Dissent\n\nCarl prefers MongoDB.",
        "## Agreement\n\nAll, Carl included, want backups.",
        "## Confidence\n\nMedium: one holds out.",
        "## Confidence\n\n60 %",
        "The trial shows with 95 % confidence that latency falls.",
        "We recommend a trial with 95 % confidence.",
        "We recommend PostgreSQL with 65 % confidence.",
        "All three agree that backups matter.",
        "Carl prefers PostgreSQL backups over snapshots.",
        "Carl supports PostgreSQL only as a cache.",
        "3 of 3 tests passed.",
        "Use PostgreSQL for 3 of 3 services.",
        "Nobody chose to wait.",
        "The 3-1 ratio decided nothing.",
        "It takes 1 to 2 weeks.",
        "Both PostgreSQL and MongoDB were considered by all three.",
        # somebody else's words
        "“All three chose PostgreSQL,” Ann said.",
        "> All three chose PostgreSQL.",
        # sure of something else, or as sure as was computed
        "We are 95 % confident that latency falls.",
        "Ann is 95 % confident.",
        "We are 60 % confident.",
        "Confidence: medium",
        "Confidence: low",
    ],
)
def test_what_can_be_read_otherwise_is_left_alone(claim: str) -> None:
    assert claims_against(f"Take PostgreSQL.\n\n{claim}", NAMED) == []


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("A unanimous view emerged on one thing only: backups must be planned.", False),
        ("They were unanimous that backups matter.", False),
        ("There was a unanimous opinion about the price only.", False),
        ("Die Meinung war einhellig darüber, dass Backups zählen.", False),
        ("At first all three experts agreed; then Carl moved.", False),
        ("They were unanimous.", True),
        ("The vote was unanimous, and PostgreSQL won.", True),
        ("They were unanimous on PostgreSQL.", True),
        ("They were unanimous that we should use PostgreSQL.", True),
        ("The view on the question was unanimous.", True),
        ("They reached a unanimous view on the question.", True),
        ("The experts unanimously back it.", True),
        ("The experts are unanimous that it should be done.", True),
        ("The decision was unanimous in the end.", True),
    ],
)
def test_an_agreement_on_something_else_than_the_vote_is_no_claim(claim: str, wrong: bool) -> None:
    found = answer_against(f"Take PostgreSQL. {claim}", NAMED)
    assert [each.code for each in found] == (["false_agreement"] if wrong else [])


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("All three voted yes.", True),
        ("3 of 3 said “yes”.", True),
        ("Carl said yes.", True),
        ("Yes, 3 of 3.", True),
        ("Nobody voted no.", True),
        ("Alle drei stimmten für Ja.", True),
        ("Two of three said yes.", False),
        ("Ann and Bob said yes; Carl said no.", False),
        ("All three said no option is cheap.", False),
        ("Yes, 2 of 3.", False),
        ("Yes received three votes.", True),
        ("| Option | Votes |\n|---|---|\n| Yes | 3 |", True),
        ("| Option | Votes |\n|---|---|\n| Yes | 2 |\n| No | 1 |", False),
        ("| Expert | Vote |\n|---|---|\n| Carl | yes |", True),
        ("| Expert | Vote |\n|---|---|\n| Carl | no |", False),
    ],
)
def test_votes_of_yes_and_no_are_counted_too(claim: str, wrong: bool) -> None:
    assert bool(claims_against(claim, YES_NO)) is wrong


@pytest.mark.requirement("Z-27")
def test_a_message_says_what_was_counted() -> None:
    [figure] = claims_against("3 of 3 chose PostgreSQL.", NAMED)
    assert figure.message == "The writer says that 3 chose “PostgreSQL”; counted: 2 of 3."
    [holder] = claims_against("Carl chose PostgreSQL.", NAMED)
    assert holder.message == (
        "The writer says that Carl chose “PostgreSQL”; it voted for “MongoDB”."
    )
    [sure] = claims_against("Confidence: 95 %", NAMED)
    assert sure.message == (
        "The writer states a confidence of 95 %; computed: medium (50% to 75%)."
    )


def test_where_no_band_was_computed_only_a_high_confidence_is_denied() -> None:
    nothing = replace(NAMED, word="none", low=None, high=None)
    [found] = claims_against("Confidence: 90 %", nothing)
    assert found.message.endswith("computed: none.")
    assert claims_against("Confidence: 40 %\n\nConfidence: low", nothing) == []


def test_every_code_is_explained() -> None:
    page = (Path(__file__).parents[2] / "docs" / "declarations.md").read_text("utf-8")
    assert [code for code in get_args(FindingCode) if f"`{code}`" not in page] == []


def test_a_sentence_without_an_end_takes_no_longer_than_others() -> None:
    begun = time.process_time()
    assert claims_against("Carl chose PostgreSQL and " * 20_000, NAMED) == []
    assert time.process_time() - begun < 3
