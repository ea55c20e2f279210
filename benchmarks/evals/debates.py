"""Recorded debates: the end that we name against what the final answers show.

Positions come from what was declared: parsed answers, recorded stances, deals. Where only prose
was kept (agora), and once more beside the declared answers (ford), they are read from the prose.
The figure that must be zero counts debates called a consensus whose final answers differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import hypot
from operator import mul

from roundtable.core.convergence import Ending, convergence_score, name_end, overlap
from roundtable.core.convergence_rules import Measures, overlap_above
from roundtable.core.extraction import chosen_option, listed_options
from roundtable.core.points import standing
from roundtable.models.embedder import WordLlamaEmbedder

from .data import Data, Row
from .scorecard import Score

Round = dict[str, str | None]
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def run(data: Data) -> list[Score]:
    scores: list[Score] = []
    for name, measure in _SETS.items():
        rows = data.rows("debates", name)
        if rows:
            scores += measure(rows)
    return scores


def _small_models(rows: Sequence[Row]) -> list[Score]:
    named = [(_rounds_of_agents(row), row) for row in rows if row["n_agents"] > 1]
    ends = [(name_end(rounds), _last(rounds)) for rounds, _ in named]
    alone = [name_end(_rounds_of_agents(row)) for row in rows if row["n_agents"] == 1]
    return [
        *_against_final_answers("slm_debates", "declared answers", ends),
        Score(
            "slm_debates",
            "one participant: no end named",
            len(alone),
            sum(each.end is None for each in alone) / len(alone) if alone else None,
            at_least=1.0 if alone else None,
        ),
        *_overlap_rule("slm_debates", rows),
    ]


def _rounds_of_agents(row: Row) -> list[Round]:
    return [
        {agent["agent"]: _plain(agent["answers"][r]) for agent in row["agents"]}
        for r in range(row["rounds"])
    ]


def _ford(rows: Sequence[Row]) -> list[Score]:
    declared = []
    read = []
    agreed = []
    for row in rows:
        rounds = _rounds_of_turns(row, lambda turn: _plain(turn["answer"]))
        ending, last = name_end(rounds), _last(rounds)
        declared.append((ending, last))
        if None not in last.values():
            agreed.append((ending.end == "consensus") == (row["final_state"] == "agreed"))
        question, options = listed_options(row["question"])

        def choice(turn: Row, q: str = question, o: Mapping[str, str] = options) -> str | None:
            return chosen_option(q, o, turn["text"]).option

        read.append((name_end(_rounds_of_turns(row, choice)), last))
    return [
        *_against_final_answers("ford_debates", "declared answers", declared),
        Score(
            "ford_debates",
            "consensus = recorded as agreed",
            len(agreed),
            sum(agreed) / len(agreed) if agreed else None,
            note="both answers known",
        ),
        _from_prose("ford_debates", read),
    ]


def _rounds_of_turns(row: Row, position: Callable[[Row], str | None]) -> list[Round]:
    """Turns in a row as rounds: one begins when somebody speaks again."""
    rounds: list[Round] = []
    for turn in row["turns"]:
        if not rounds or turn["model"] in rounds[-1]:
            rounds.append({})
        rounds[-1][turn["model"]] = position(turn)
    return rounds


def _agora(rows: Sequence[Row]) -> list[Score]:
    """Prose only, much of it garbled: what speeches state in so many words, and how often a
    consensus of all three is the right answer. Nobody recorded their answers to compare with."""
    named: Counter[str] = Counter()
    stated = right = 0
    for row in rows:
        numbers = not re.search(r"\bA\)", row["question"])
        rounds: list[Round] = [
            {a["agent"]: _stated(a["turns"][r], numbers) for a in row["agents"]}
            for r in range(min(len(a["turns"]) for a in row["agents"]))
        ]
        ending = name_end(rounds)
        named[str(ending.end)] += 1
        stated += None not in rounds[-1].values() if rounds else 0
        gold = _NUMBER.findall(row["gold"])[-1:] if numbers else [row["gold"]]
        right += ending.end == "consensus" and [ending.position] == [_plain(g) for g in gold]
    return [
        Score(
            "agora_debates",
            "read from prose: consensus is right",
            len(rows),
            right / named["consensus"] if named["consensus"] else None,
            coverage=stated / len(rows),
            note=", ".join(f"{end} {count}" for end, count in sorted(named.items()))
            + "; who is unread stands in the way",
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
    return _plain(stated[-1]) if stated else None


def _negotiations(rows: Sequence[Row]) -> list[Score]:
    """Several issues at once: our score after every turn against the exact one."""
    same = 0
    turns = 0
    issue_ends: list[tuple[Ending, Round]] = []
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
        for issue in sorted({key for deal in deals.values() for key in deal}):
            views = [{name: deal.get(issue) for name, deal in view.items()} for view in rounds]
            issue_ends.append((name_end(views), dict(views[-1])))
    return [
        Score(
            "deliberation_negotiation",
            "convergence score after each turn",
            turns,
            same / turns if turns else None,
            published="exact by construction; cosine: Spearman −0.11",
            at_least=1.0,
        ),
        *_against_final_answers("deliberation_negotiation", "issues", issue_ends),
    ]


def _issue_score(deals: Mapping[str, Mapping[str, str]]) -> float | None:
    issues = {key for deal in deals.values() for key in deal}
    found = Counter(
        standing(deal[issue] for deal in deals.values() if issue in deal) for issue in issues
    )
    return convergence_score(found["consensus"], found["disagreement"]).value


def _against_final_answers(
    name: str, what: str, ends: Sequence[tuple[Ending, Mapping[str, str | None]]]
) -> list[Score]:
    """Whether the named end fits what all, most or none gave as their last answer."""
    counted = [(ending, last) for ending, last in ends if None not in last.values()]
    fits = sum(_fits(ending, last) for ending, last in counted)
    named = Counter(str(ending.end) for ending, _ in ends)
    shown = Counter(_shown(last) for _, last in counted)
    return [
        Score(
            name,
            f"{what}: end fits final answers",
            len(counted),
            fits / len(counted) if counted else None,
            majority=max(shown.values()) / len(counted) if counted else None,
            at_least=1.0 if counted else None,
            note=", ".join(f"{end} {count}" for end, count in sorted(named.items())),
        ),
        _false_consensus(name, what, ends),
    ]


def _false_consensus(
    name: str, what: str, ends: Sequence[tuple[Ending, Mapping[str, str | None]]]
) -> Score:
    called = [last for ending, last in ends if ending.end == "consensus"]
    wrong = sum(len({each for each in last.values() if each is not None}) > 1 for last in called)
    return Score(
        name,
        f"{what}: opposite called consensus",
        len(ends),
        float(wrong),
        at_most=0,
        note=f"consensus named {len(called)} times",
    )


def _from_prose(name: str, ends: Sequence[tuple[Ending, Mapping[str, str | None]]]) -> Score:
    """The same with positions read from prose: rough, so it is told and has no goal of zero."""
    called = [last for ending, last in ends if ending.end == "consensus"]
    checked = [last for last in called if None not in last.values()]
    right = sum(len(set(last.values())) == 1 for last in checked)
    known = [last for _, last in ends if None not in last.values()]
    alike = sum(len(set(last.values())) == 1 for last in known)
    return Score(
        name,
        "read from prose: consensus is one",
        len(ends),
        right / len(checked) if checked else None,
        coverage=len(called) / len(ends),
        majority=max(alike, len(known) - alike) / len(known) if known else None,
        note="rough: shown as such, never used where positions are declared",
    )


def _fits(ending: Ending, last: Mapping[str, str | None]) -> bool:
    shown = _shown(last)
    if shown == "none":
        return ending.end in ("impasse", "drift")
    # A majority that turned with every round is called a drift, and rightly so.
    return ending.end == shown or (shown == "majority" and ending.end == "drift")


def _shown(last: Mapping[str, str | None]) -> str:
    most = Counter(last.values()).most_common(1)[0][1]
    if most == len(last):
        return "consensus"
    return "majority" if most * 2 > len(last) else "none"


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


def _plain(answer: object) -> str | None:
    text = str(answer).strip(" ().$").replace(",", "").casefold() if answer is not None else ""
    if not text or text == "none":
        return None
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def _last(rounds: Sequence[Round]) -> Round:
    """Everybody's last answer, as a reader of the record would find it; None: unreadable."""
    last: Round = {}
    for each in rounds:
        last.update(each)
    return last


_SETS: Mapping[str, Callable[[Sequence[Row]], list[Score]]] = {
    "slm_debates": _small_models,
    "ford_debates": _ford,
    "agora_debates": _agora,
    "deliberation_negotiation": _negotiations,
}
