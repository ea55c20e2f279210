"""Recorded debates: the end that we name against what others recorded of it.

Recorded answers and deals become declared votes in a decision record, and `core.standing`, the rule
that names the end of a discussion, names it here. It is compared with what stands beside the
answers: whether they were unanimous, agreed or a consensus, what the majority was, and the right
answer. A consensus named where the record says that there was none is false; that figure must be
zero. Why somebody changed its answer was never recorded: everybody had read the others' reasons, so
a change counts as one by an argument; a row tells what comes of it if it counts as giving in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import hypot
from operator import mul

from roundtable.core.convergence import overlap
from roundtable.core.convergence_rules import Measures, overlap_above
from roundtable.core.declaration import Adopted, Decision, Declaration, DeclaredVote, Option
from roundtable.core.record import QUESTION, Point, PointStance, Record, Statement
from roundtable.core.standing import DecisionStanding, standing
from roundtable.core.values import SpeakerRef
from roundtable.core.voter_groups import seat_weights
from roundtable.core.voters import merge_twins
from roundtable.models.embedder import WordLlamaEmbedder

from .data import Data, Row
from .scorecard import Score

Round = dict[str, str | None]
ENOUGH_ENDS = 30
"""With fewer of them, a share that is right is told and judges nothing."""
FORD_MISTAKEN = 3
"""Debates recorded as not agreed although both gave the same answer: the record takes "Yes" for
another answer than "yes" (read by hand; all three are of that kind)."""
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def run(data: Data) -> list[Score]:
    scores: list[Score] = []
    for name, (kind, measure) in _SETS.items():
        rows = data.rows(kind, name)
        if rows:
            scores += measure(rows)
    return scores


def end_of(
    rounds: Sequence[Mapping[str, str | None]],
    *,
    models: Mapping[str, str] | None = None,
    argued: bool = True,
) -> DecisionStanding:
    """How the program says that these rounds of answers ended.

    Who is missing in a round was silent and still holds what it held; who is there with None spoke,
    and nobody knows what it holds now: it abstains. `argued` is whether a change counts as one by
    an argument; `models` tells copies of one model.
    """
    record = record_of_answers(rounds, argued=argued)
    refs = {seat: SpeakerRef(model=model) for seat, model in (models or {}).items()}
    weights = seat_weights(merge_twins(refs), record.seats) if refs else None
    found = standing(record, None, weights).question
    assert found is not None
    return found


def record_of_answers(rounds: Sequence[Mapping[str, str | None]], *, argued: bool = True) -> Record:
    """The record that a table would have that declared these answers as its votes."""
    seats = tuple(dict.fromkeys(seat for each in rounds for seat in each))
    answers = dict.fromkeys(a for each in rounds for a in each.values() if a is not None)
    ids = {answer: f"o{n}" for n, answer in enumerate(answers, 1)}
    statements = tuple(
        Statement(
            seat, n, f"{seat}-{n}", _declared(ids, answer, seat, seats, argued), independent=n == 1
        )
        for n, each in enumerate(rounds, 1)
        for seat, answer in each.items()
    )
    last = {each.participant: each.declaration.abstain for each in statements}
    options = tuple(Option(id=name, text=answer) for answer, name in ids.items())
    return Record(
        seats=seats,
        decisions=(Decision(id=QUESTION, question="", options=options),),
        shared=(),
        statements=statements,
        absent=(),
        undeclared=(),
        abstained={seat: why for seat, why in last.items() if why is not None},
        points=(),
        conditions=(),
    )


def _declared(
    ids: Mapping[str, str], answer: str | None, seat: str, seats: Sequence[str], argued: bool
) -> Declaration:
    if answer is None:
        return Declaration(abstain="its answer was not readable")
    others = [each for each in seats if each != seat][: int(argued)]
    return Declaration(
        votes=(DeclaredVote(on=QUESTION, choice=ids[answer]),),
        adopted=tuple(Adopted(participant=each, what="a reason", moved=True) for each in others),
    )


def _small_models(rows: Sequence[Row]) -> list[Score]:
    several = [row for row in rows if row["n_agents"] > 1]
    ends = [end_of(rounds_of_agents(row)) for row in several]
    alone = [end_of(rounds_of_agents(row)) for row in rows if row["n_agents"] == 1]
    led = [
        (ending, plain(row["majority_by_round"][-1]))
        for ending, row in zip(ends, several, strict=True)
        if ending.end in ("consensus", "majority")
    ]
    return [
        *_against_record(
            "slm_debates",
            "unanimous",
            [(e, bool(r["unanimous_by_round"][-1])) for e, r in zip(ends, several, strict=True)],
        ),
        Score(
            "slm_debates",
            "position named = recorded majority",
            len(led),
            sum(ending.answer == most for ending, most in led) / len(led) if led else None,
            at_least=1.0 if led else None,
        ),
        *_against_gold(
            "slm_debates",
            [(e, plain(r["gold"])) for e, r in zip(ends, several, strict=True)],
        ),
        _without_argument(
            "slm_debates", [(rounds_of_agents(r), plain(r["gold"])) for r in several]
        ),
        Score(
            "slm_debates",
            "one participant: no end named",
            len(alone),
            sum(each.end is None for each in alone) / len(alone) if alone else None,
            at_least=1.0 if alone else None,
        ),
        *_overlap_rule("slm_debates", rows),
    ]


def rounds_of_agents(row: Row) -> list[Round]:
    return [
        {agent["agent"]: plain(agent["answers"][r]) for agent in row["agents"]}
        for r in range(row["rounds"])
    ]


def _ford(rows: Sequence[Row]) -> list[Score]:
    debates = [rounds_of_turns(row, lambda turn: plain(turn["answer"])) for row in rows]
    ends = [end_of(each, models=_models(each)) for each in debates]
    gold = [plain(row["gold"]) for row in rows]
    return [
        *_against_record(
            "ford_debates",
            "agreed",
            [(e, row["final_state"] == "agreed") for e, row in zip(ends, rows, strict=True)],
            # A table whose answers are partly unreadable is agreed in the record, never for us.
            at_least=0.93,
            at_most=FORD_MISTAKEN,
        ),
        *_against_gold("ford_debates", list(zip(ends, gold, strict=True))),
        _without_argument("ford_debates", list(zip(debates, gold, strict=True))),
    ]


def _models(rounds: Sequence[Round]) -> dict[str, str]:
    """FORD names its debaters by their models."""
    return {name: name for each in rounds for name in each}


def rounds_of_turns(row: Row, position: Callable[[Row], str | None]) -> list[Round]:
    """Turns in a row as rounds: one begins when somebody speaks again."""
    rounds: list[Round] = []
    for turn in row["turns"]:
        who = debater(row, turn["model"])
        if not rounds or who in rounds[-1]:
            rounds.append({})
        rounds[-1][who] = position(turn)
    return rounds


def debater(row: Row, model: str) -> str:
    """Who really spoke. The files of FORD write the last debater's turns under names that were
    left over from other settings; the setting says who was there."""
    members = row["setting"].removeprefix("debate_").removeprefix("table_").split("_")
    return model if model in members else str(members[-1])


def stated_rounds(row: Row) -> tuple[list[Round], str | None, bool]:
    """What the speeches of an agora debate state, the right answer, and whether it is a number."""
    numbers = not re.search(r"\bA\)", row["question"])
    rounds: list[Round] = [
        {a["agent"]: _stated(a["turns"][r], numbers) for a in row["agents"]}
        for r in range(min(len(a["turns"]) for a in row["agents"]))
    ]
    found = _NUMBER.findall(row["gold"])[-1:] if numbers else [row["gold"]]
    return rounds, plain(found[0]) if found else None, numbers


def _agora(rows: Sequence[Row]) -> list[Score]:
    """Prose only, much of it garbled: what speeches state in so many words, and how often a
    consensus of all three is the right answer. Nobody recorded their answers to compare with."""
    named: Counter[str] = Counter()
    stated = right = 0
    for row in rows:
        rounds, gold, _ = stated_rounds(row)
        ending = end_of(rounds)
        named[str(ending.end)] += 1
        stated += None not in rounds[-1].values() if rounds else 0
        right += ending.end == "consensus" and ending.answer == gold
    return [
        Score(
            "agora_debates",
            "read from prose: consensus is right",
            len(rows),
            right / named["consensus"] if named["consensus"] else None,
            coverage=stated / len(rows),
            untouched=True,
            note=_counted(named) + "; who is unread stands in the way",
        )
    ]


def _stated(text: str, numbers: bool) -> str | None:
    """The answer that a speech states in so many words, the last one if it states several."""
    value = _NUMBER.pattern if numbers else r"[A-D]\b"
    found = re.findall(
        rf"(?:answer(?: is)?|choose|option|correct|\\boxed\{{|####|=)\W{{0,4}}({value})"
        rf"|\(({value})\)",
        text,
    )
    stated = [one or two for one, two in found]
    return plain(stated[-1]) if stated else None


def _negotiations(rows: Sequence[Row]) -> list[Score]:
    """Several issues at once: our score after every turn against the recorded one, and the end of
    each issue against the list of issues in consensus that stands in the last turn."""
    same = 0
    turns = 0
    ends: list[tuple[DecisionStanding, bool]] = []
    for row in rows:
        deals: dict[str, dict[str, str]] = {}
        rounds: list[dict[str, dict[str, str]]] = []
        for turn in row["turns"]:
            if turn["deal"]:
                deals[turn["agent"]] = turn["deal"]
            rounds.append({name: dict(deal) for name, deal in deals.items()})
            if turn["score"] is not None:
                turns += 1
                ours = _issue_score(deals)
                same += ours is not None and abs(ours - turn["score"]) < 1e-3
        last = row["turns"][-1]
        for issue in sorted({*last["consensus_issues"], *last["disagreement_issues"]}):
            views = [{name: deal.get(issue) for name, deal in view.items()} for view in rounds]
            ends.append((end_of(views), issue in last["consensus_issues"]))
    return [
        Score(
            "deliberation_negotiation",
            "convergence score after each turn",
            turns,
            same / turns if turns else None,
            published="exact by construction; cosine: Spearman −0.11",
            at_least=1.0,
        ),
        # The record passes over whoever left an issue out; for us nobody's silence is agreement.
        *_against_record("deliberation_negotiation", "issue in consensus", ends, at_least=0.99),
    ]


def _issue_score(deals: Mapping[str, Mapping[str, str]]) -> float | None:
    """The convergence of a table at which each issue is a point: what was proposed first, and who
    agrees with it."""
    issues = dict.fromkeys(key for deal in deals.values() for key in deal)
    points = tuple(
        _point(issue, {seat: deal[issue] for seat, deal in deals.items() if issue in deal})
        for issue in issues
    )
    return standing(replace(record_of_answers([]), points=points, decisions=())).convergence


def _point(issue: str, proposed: Mapping[str, str]) -> Point:
    author, *others = proposed
    said = {
        seat: PointStance("agree" if proposed[seat] == proposed[author] else "disagree")
        for seat in others
    }
    return Point(issue, proposed[author], author, issue, 1, stances=said, spoke_since=tuple(others))


def _people(rows: Sequence[Row]) -> list[Score]:
    """People in a chat, each of whom submitted an answer at the end: nothing was tuned on them."""
    ends = [
        (end_of([{who: plain(a) for who, a in row["final_answers"].items()}]), row)
        for row in rows
        if len(row["final_answers"]) > 1
    ]
    return [
        replace(score, untouched=True)
        for score in _against_record(
            "delidata_groups",
            "consensus",
            [(ending, row["label"] == "consensus") for ending, row in ends],
        )
    ]


def _against_record(
    name: str,
    recorded: str,
    ends: Sequence[tuple[DecisionStanding, bool]],
    at_least: float | None = 1.0,
    at_most: float = 0.0,
) -> list[Score]:
    """Whether a consensus is named exactly where the record has one, and how often falsely."""
    if not ends:
        return []
    named = Counter(str(ending.end) for ending, _ in ends)
    fits = sum((ending.end == "consensus") == one for ending, one in ends)
    there = sum(one for _, one in ends)
    false = sum(ending.end == "consensus" and not one for ending, one in ends)
    missed = len(ends) - fits - false
    return [
        Score(
            name,
            f"consensus named = recorded as {recorded}",
            len(ends),
            fits / len(ends),
            majority=max(there, len(ends) - there) / len(ends),
            at_least=at_least,
            note=f"{_counted(named)}; recorded {there}, of which not named {missed}",
        ),
        Score(
            name,
            "opposite called consensus",
            len(ends),
            float(false),
            at_most=at_most,
            note=f"consensus named {named['consensus']} times, recorded {there} times",
        ),
    ]


def _against_gold(name: str, ends: Sequence[tuple[DecisionStanding, str | None]]) -> list[Score]:
    """How often what is named is right: a consensus must be so more often than a majority, or the
    difference between the two words is worth nothing."""
    right: dict[str, list[bool]] = {"consensus": [], "majority": []}
    for ending, gold in ends:
        if ending.end in ("consensus", "majority"):
            right[str(ending.end)].append(ending.answer == gold)
    both = [sum(each) / len(each) if each else None for each in right.values()]
    return [
        Score(
            name,
            "a consensus is right",
            len(right["consensus"]),
            both[0],
            majority=both[1],
            at_least=both[1] if min(map(len, right.values())) >= ENOUGH_ENDS else None,
            tolerance=0.05,
            note=f"beside it: a majority, {len(right['majority'])} of them",
        )
    ]


def _without_argument(name: str, debates: Sequence[tuple[Sequence[Round], str | None]]) -> Score:
    """What a consensus is worth if all held it from the start, beside a hollow one: the same answer
    of all, to which somebody came over. The difference is why the program has two words for it."""
    right: dict[str, list[bool]] = {"consensus": [], "hollow": []}
    for rounds, gold in debates:
        ending = end_of(rounds, argued=False)
        if ending.end in right and len(ending.holders) == ending.seated:
            right[ending.end].append(ending.answer == gold)
    both = [sum(each) / len(each) if each else None for each in right.values()]
    return Score(
        name,
        "a consensus is right, without changes",
        len(right["consensus"]),
        both[0],
        majority=both[1],
        note=f"beside it: hollow, if no change names an argument, {len(right['hollow'])} of them",
    )


def _counted(named: Counter[str]) -> str:
    return ", ".join(f"{end} {count}" for end, count in sorted(named.items()))


def _overlap_rule(name: str, rows: Sequence[Row]) -> list[Score]:
    """B-42's rule by words, and by the cosine that others use: how often it fires, and how often
    nobody changed the answer then."""
    rule = overlap_above()
    embedder = WordLlamaEmbedder()
    changes = []
    for row in rows:
        texts = [[agent["turns"][r] for agent in row["agents"]] for r in range(row["rounds"])]
        vectors = embedder.embed(["\n".join(each) for each in texts])
        for r in range(row["rounds"] - 1):
            before, after = (dict(enumerate(texts[i])) for i in (r, r + 1))
            measured = Measures(
                round=r + 2,
                overlap=overlap(
                    {str(k): v for k, v in before.items()}, {str(k): v for k, v in after.items()}
                ),
            )
            cosine = sum(map(mul, vectors[r], vectors[r + 1])) / (
                (hypot(*vectors[r]) * hypot(*vectors[r + 1])) or 1.0
            )
            still = all(a["answers"][r] == a["answers"][r + 1] for a in row["agents"])
            changes.append((rule(measured) is not None, cosine > 0.80, still))
    fired = [still for ours, _, still in changes if ours]
    by_cosine = [still for _, cosine, still in changes if cosine]
    return [
        Score(
            name,
            "overlap > 0.80: nobody changed",
            len(changes),
            sum(fired) / len(fired) if fired else None,
            coverage=len(fired) / len(changes),
            majority=sum(still for *_, still in changes) / len(changes),
            embedding=sum(by_cosine) / len(by_cosine) if by_cosine else None,
            published="Jaccard .91 (fires on 12 %), cosine .54 (72 %)",
            note=f"cosine fires on {len(by_cosine) / len(changes):.0%}",
        )
    ]


def plain(answer: object) -> str | None:
    text = str(answer).strip(" ().$").replace(",", "").casefold() if answer is not None else ""
    if not text or text == "none":
        return None
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


_SETS: Mapping[str, tuple[str, Callable[[Sequence[Row]], list[Score]]]] = {
    "slm_debates": ("debates", _small_models),
    "ford_debates": ("debates", _ford),
    "agora_debates": ("debates", _agora),
    "deliberation_negotiation": ("debates", _negotiations),
    "delidata_groups": ("groups", _people),
}
