"""Where everybody stands: points and stances, ballots and their tally, scores, changes of mind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from ..core.contribution import contributions
from ..core.events import BallotCast
from ..core.points import PointList, Stance, points_of, standing
from ..core.position_changes import Held, arguments_in, changes_of_mind, conformity, held_in
from ..core.scores import consensus
from ..core.state import State
from ..core.tally import Vote, tally
from ..core.text import clip
from .opinion_map import OpinionMap, opinion_map_of
from .report_parts import Grid, Line, Part, Picture, anchor, line
from .svg import agreement_matrix_svg, convergence_chart_svg, opinion_map_svg, scores_svg

_MARKS = {"agree": "✓", "disagree": "✗", "unsure": "?"}
_FEW = 5
"""More participants than these have columns too narrow for words."""
_LONGEST_CELL = 240
_MANY_ROWS = 24
_EMPHASIS = re.compile(r"\*\*|__|`")


def points(state: State) -> tuple[Part, ...]:
    """The list of points with everybody's last stance on each of them."""
    listed = points_of(state)
    if not listed.points:
        return ()
    names = _names(state)
    takers = [name for name in names if name in listed.participants]
    held = {(stance.participant, stance.point): stance for stance in listed.held()}
    rows = []
    for issue in listed.issues:
        stances = [held.get((name, issue.id)) for name in takers]
        known = [stance.position for stance in stances if stance is not None]
        rows.append(
            (
                line(issue.id),
                line(issue.text),
                names.get(issue.raised_by, "—"),
                *(_stance(stance, short=len(takers) > _FEW) for stance in stances),
                standing(known),
            )
        )
    drawn = opinion_map_of(state)
    parts: list[Part] = [
        *_pictures(drawn),
        Grid(
            "",
            ("Id", "Point", "Raised by", *(names[name] for name in takers), "Standing"),
            tuple(rows),
            wide=(1,),
            anchors=tuple(anchor("point", issue.id) for issue in listed.issues),
        ),
    ]
    if len(takers) > _FEW:
        parts.append(Line("✓ agrees, ✗ disagrees, ? is unsure, — took no stance."))
    parts += _remarks(state, listed, names)
    parts += _by_round(drawn)
    return tuple(parts)


def _pictures(drawn: OpinionMap) -> list[Part]:
    if len(drawn.participants) < 2:
        return []
    return [
        Picture(opinion_map_svg(drawn), "Who holds what on which point"),
        Picture(agreement_matrix_svg(drawn), "How often each two hold the same"),
    ]


def _by_round(drawn: OpinionMap) -> list[Part]:
    """Convergence: only several rounds have a course."""
    if len(drawn.rounds) < 2:
        return []
    rows = tuple(
        (
            str(each.round),
            _share(each.agreement),
            _share(each.stability),
            str(each.consensus),
            str(each.disagreement),
            str(each.new),
        )
        for each in drawn.rounds
    )
    header = ("Round", "Agreement", "Stability", "Shared", "Disputed", "New")
    return [
        Picture(convergence_chart_svg(drawn.rounds), "Convergence over the rounds"),
        Grid(
            "Points by round",
            header,
            rows,
            numbers=(1, 2, 3, 4, 5),
            folded=len(rows) > _MANY_ROWS,
        ),
    ]


def _share(value: float | None) -> str:
    return "—" if value is None else f"{value:.0%}"


def _stance(stance: Stance | None, short: bool) -> str:
    if stance is None:
        return "—"
    mark = (
        _MARKS[stance.position]
        if short
        else f"{_MARKS[stance.position]}\N{NO-BREAK SPACE}{stance.position}"
    )
    sure = "" if stance.confidence is None else f" {stance.confidence:.0%}"
    read = {"declared": "", "clerk": " (read by the clerk)", "extracted": " (read from prose)"}
    return f"{mark}{sure}{read[stance.source]}"


def _remarks(state: State, listed: PointList, names: Mapping[str, str]) -> list[Part]:
    remarks: list[Part] = []
    merged = [
        f"{point.id} {'denies' if listed.denies_its_issue(point.id) else 'repeats'} "
        f"{listed.issue_of(point.id)}"
        for point in listed.points
        if listed.issue_of(point.id) != point.id
    ]
    if merged:
        remarks.append(Line(line(f"Merged: {', '.join(merged)}.")))
    for clash in listed.contradictions:
        who = names.get(clash.participant, clash.participant)
        remarks.append(
            Line(
                line(
                    f"{who} both agreed and disagreed with {clash.point} in {clash.turn}: "
                    "counted as unsure."
                )
            )
        )
    if void := sum(not stance.meaningful for stance in state.stances):
        remarks.append(Line(f"{void} stances of demonstration models are not counted."))
    return remarks


def ballots(state: State) -> tuple[Part, ...]:
    """Every ballot by round, and what each round's ballots come to."""
    if not state.ballots:
        return ()
    names = _names(state)
    rounds = sorted({ballot.round for ballot in state.ballots})
    cast = {(ballot.participant, ballot.round): ballot for ballot in state.ballots}
    voters = [name for name in names if any((name, round_) in cast for round_ in rounds)]
    header = [f"Round {round_}" for round_ in rounds]
    if len(rounds) > 1:
        header[0] += " (before talk)" if rounds[0] == 1 else ""
    cells = {key: _ballot(ballot) for key, ballot in cast.items()}
    if len(rounds) > max(3, len(voters)):
        grid = Grid(
            "All ballots",
            ("Round", *(names[name] for name in voters)),
            tuple(
                (heading, *(cells.get((name, round_), "—") for name in voters))
                for heading, round_ in zip(header, rounds, strict=True)
            ),
            folded=len(rounds) > _MANY_ROWS,
        )
    else:
        grid = Grid(
            "",
            ("Who", *header),
            tuple(
                (names[name], *(cells.get((name, round_), "—") for round_ in rounds))
                for name in voters
            ),
        )
    parts: list[Part] = [grid]
    tallies = [row for round_ in rounds for row in _tally(state, round_)]
    if tallies:
        header_ = ("Round", "First choices", "Winner by rule")
        parts.append(Grid("Tally", header_, tuple(tallies), folded=len(tallies) > _MANY_ROWS))
        header_ = ("Who", "Without its vote", "Same model as")
        parts.append(Grid("Who earned the seat", header_, _contributions(state, names)))
    return tuple(parts)


def _contributions(state: State, names: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """For each voter, whether the last ballots come to something else without it; copies of one
    model share a vote here."""
    votes = [
        Vote(ballot.participant, ballot.ranking, ballot.certainty, round=ballot.round)
        for ballot in state.ballots
        if ballot.meaningful and ballot.ranking
    ]
    models = {speech.participant: speech.model for speech in state.speeches}
    return tuple(
        (
            names.get(who, line(who)),
            "the outcome is another one" if each.decisive else "the outcome stays",
            ", ".join(names.get(twin, line(twin)) for twin in each.twins) or "nobody",
        )
        for who, each in contributions([votes], models=models).items()
    )


def _ballot(ballot: BallotCast) -> str:
    said = clip(_EMPHASIS.sub("", line(ballot.position)), _LONGEST_CELL) or "nothing stated"
    about = []
    if len(ballot.ranking) > 1:
        order = " > ".join(" = ".join(map(line, group)) for group in ballot.ranking)
        about.append(f"ranks {order}")
    if ballot.approved is not None:
        about.append("approves of " + (", ".join(map(line, ballot.approved)) or "none"))
    if ballot.certainty is not None:
        about.append(f"{ballot.certainty:.0%} sure")
    elif ballot.confidence is not None:
        about.append(f"{ballot.confidence} confidence")
    if not ballot.meaningful:
        about.append("not counted")
    return f"{said} ({'; '.join(about)})" if about else said


def _tally(state: State, round_: int) -> list[tuple[str, ...]]:
    """Only for ballots with options: free text has no first choice in common with any other."""
    cast = [b for b in state.ballots if b.round == round_ and b.meaningful and b.ranking]
    if not cast:
        return []
    known = {b.ranking[0][0]: line(b.position) for b in cast if len(b.ranking[0]) == 1}
    counted = tally(
        [Vote(b.participant, b.ranking, b.certainty, round=b.round) for b in cast], None
    )
    first = Counter(" = ".join(known.get(o, line(o)) for o in b.ranking[0]) for b in cast)
    chosen = "; ".join(
        f"{clip(option, _LONGEST_CELL)}: {votes}"
        for option, votes in sorted(first.items(), key=lambda each: (-each[1], each[0]))
    )
    by_winner: dict[str, list[str]] = {}
    for rule, outcome in counted.outcomes.items():
        if outcome.winners:
            winner = " = ".join(clip(known.get(w, line(w)), 80) for w in outcome.winners)
            by_winner.setdefault(winner, []).append(rule.replace("_", " "))
    rules = "; ".join(
        winner if len(by_winner) == 1 else f"{winner} ({', '.join(rules)})"
        for winner, rules in by_winner.items()
    )
    return [(str(round_), chosen, rules or "—")]


def scores(state: State) -> tuple[Part, ...]:
    """Who scored whom, by round: 1 is no agreement, 5 is all."""
    names = _names(state)
    parts: list[Part] = []
    rounds = sorted({row.round for row in state.scores})
    for round_ in rounds:
        # A participant may have been asked again; its last word counts.
        given = {row.participant: row for row in state.scores if row.round == round_}
        peers = [n for n in names if any(n in row.scores for row in given.values())]
        rows = tuple(
            (
                names.get(row.participant, line(row.participant)),
                *(
                    f"{row.scores[peer]}{'*' if peer in row.inferred else ''}"
                    if peer in row.scores
                    else "—"
                    for peer in peers
                ),
            )
            for row in given.values()
        )
        whole = consensus(given.values())
        agreed = "" if whole.value is None else f": {whole.value:.0f} % agreement"
        parts.append(
            Grid(
                f"Round {round_}{agreed}",
                ("Scores by", *(names[peer] for peer in peers)),
                rows,
                numbers=tuple(range(1, len(peers) + 1)),
                folded=len(rounds) > _FEW and round_ != rounds[-1],
            )
        )
    if any(row.inferred for row in state.scores):
        parts.append(Line("* not stated cleanly, so inferred."))
    if rounds:
        last = {row.participant: row.scores for row in state.scores if row.round == rounds[-1]}
        parts.insert(0, Picture(scores_svg(last, names), f"Scores of round {rounds[-1]}"))
    return tuple(parts)


def changes(state: State) -> tuple[Part, ...]:
    """Who gave up a position, because of what, and who went over to the majority how often."""
    names = _names(state)
    listed = points_of(state)
    held = held_in(listed)
    rows = [
        (
            names.get(each.participant, line(each.participant)),
            each.issue,
            f"{each.before} → {each.after}",
            str(each.round),
            each.turn,
            each.argument or "no new argument named: a capitulation",
        )
        for each in changes_of_mind(held, arguments_in(listed))
    ]
    rows += [
        (
            names.get(each.participant, line(each.participant)),
            "vote",
            f"{each.before} → {each.after}",
            str(each.round),
            each.turn,
            "see the verdict and the speech",
        )
        for each in changes_of_mind(_votes(state), ())
    ]
    if not rows:
        return ()
    header: tuple[str, ...] = ("Who", "On", "Change", "Round", "Turn", "Because of")
    many = len(rows) > _MANY_ROWS
    parts: list[Part] = [
        Grid("All changes" if many else "", header, tuple(rows), numbers=(3,), folded=many)
    ]
    pressed = tuple(
        (names.get(who, line(who)), str(each.chances), str(each.moved))
        for who, each in conformity(held).items()
        if each.chances
    )
    if pressed:
        header = ("Who", "Stood against a majority of the others", "Went over to it")
        parts.append(Grid("Conformity, in stances", header, pressed, numbers=(1, 2)))
    return tuple(parts)


def _votes(state: State) -> list[Held]:
    """Ballots with options. What a ballot does not record is not made up: it names no argument."""
    return [
        Held(b.participant, "vote", clip(line(b.position), 80), b.round, b.turn_id)
        for b in state.ballots
        if b.meaningful and b.ranking
    ]


def _names(state: State) -> dict[str, str]:
    """Everybody by id; whoever shares a name with another is told apart by the id."""
    seated = (*state.ever_seated.values(), state.start.host)
    shared = Counter(line(p.name) for p in seated)
    return {
        p.id: line(p.name) if shared[line(p.name)] == 1 else line(f"{p.name} ({p.id})")
        for p in seated
    }
