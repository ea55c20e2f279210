"""Where everybody stands: who holds what, points and stances, scores, changes of mind."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.naming import name_of, names_of, turn_name
from ..core.position_changes import VOTE, changes_in, conformity, points_held
from ..core.record import Point, Record, record_of
from ..core.scores import consensus
from ..core.state import State
from ..core.tally import tally
from ..core.text import clip_words
from .delivery import Delivery
from .delivery_parts import Decided
from .influence import influence, votes_on
from .opinion_map import OpinionMap, opinion_map_of, position_of
from .report_parts import Grid, Line, Part, Picture, anchor, line

_MARKS = {"agree": "✓", "partly": "◐", "disagree": "✗", "unsure": "?"}
_FEW = 5
"""More participants than these have columns too narrow for words."""
_LONGEST_CELL = 240
_MANY_ROWS = 24


def positions(state: State) -> tuple[Part, ...]:
    """Who holds what on each decision: at first, in the end, and what lies between."""
    delivery = Delivery.of(state)
    parts: list[Part] = []
    for each in delivery.decisions:
        several = len(delivery.decisions) > 1
        parts.append(
            Grid(
                each.question if several else "",
                ("Who", "At first", "In the end", "How it came to it", "Sure"),
                tuple(_holding(state, each)),
                wide=(1, 2, 3),
                numbers=(4,),
            )
        )
        parts.append(
            Grid(
                "The vote" if not several else f"The vote on: {each.question}",
                ("Answer", "In the end", "Before talk", "Who"),
                tuple(
                    (
                        clip_words(option.text, _LONGEST_CELL) + (" ✓" if option.delivered else ""),
                        f"{len(option.names)} of {each.seated}",
                        str(option.at_first) if option.at_first or each.before.known else "—",
                        ", ".join(option.names) or "—",
                    )
                    for option in each.options
                ),
                numbers=(1, 2),
            )
        )
        parts.append(Line(each.told))
    if delivery.voters:
        parts.append(Line(delivery.voters))
    if conditions := delivery.conditions:
        parts.append(
            Grid(
                "Conditions",
                ("Who", "Condition", "Kind", "Granted"),
                tuple(
                    (
                        each.name,
                        each.text,
                        each.kind,
                        each.told or "—",
                    )
                    for each in conditions
                ),
                wide=(1,),
            )
        )
    return (*parts, *_rules(state), *_earned(state)) if parts else ()


def _holding(state: State, decided: Decided) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for seat in decided.seats:
        counted = seat.status in ("voted", "own", "any")
        how = seat.how if counted else ""
        where = turn_name(state, seat.turn_id) if seat.turn_id in state.turns else ""
        rows.append(
            (
                seat.name,
                seat.opening or "—",
                seat.final if counted else seat.told,
                "; ".join(each for each in (how, where) if each) or "—",
                "—" if seat.confidence is None else f"{seat.confidence} %",
            )
        )
    return rows


def _rules(state: State) -> list[Part]:
    """Whether other rules of counting come to another answer: an alarm, never the count."""
    record = record_of(state)
    votes = votes_on(record, record.question) if record.question else []
    counted = tally(votes, None) if len(votes) > 1 else None
    if counted is None or record.question is None or not counted.alarm:
        return []
    text = record.question.text_of
    rows = tuple(
        (rule.replace("_", " "), " = ".join(clip_words(line(text(w)), 80) for w in outcome.winners))
        for rule, outcome in counted.outcomes.items()
        if outcome.winners
    )
    return [Grid("Other rules of counting disagree", ("Rule", "Answer"), rows)]


def _earned(state: State) -> list[Part]:
    """For each who voted, whether the vote comes to something else if it had not."""
    found = influence(state).contributions
    if not found:
        return []
    rows = tuple(
        (
            name_of(state, who),
            "the outcome is another one" if each.decisive else "the outcome stays",
            ", ".join(name_of(state, twin) for twin in each.twins) or "nobody",
        )
        for who, each in found.items()
    )
    return [Grid("Who earned the seat", ("Who", "Without its vote", "One voter with"), rows)]


def points(state: State) -> tuple[Part, ...]:
    """The list of points with everybody's last stance on each of them."""
    record = record_of(state)
    if not record.points:
        return ()
    names = names_of(state)
    drawn = opinion_map_of(state)
    takers = [seat for seat in record.seats if seat in drawn.participants]
    rows = tuple(_row(state, record, point, takers) for point in record.points)
    parts: list[Part] = [
        *_pictures(drawn),
        Grid(
            "",
            ("Id", "Point", "Raised by", *(names[who] for who in takers), "Standing"),
            rows,
            wide=(1,),
            anchors=tuple(anchor("point", point.id) for point in record.points),
        ),
    ]
    if len(takers) > _FEW:
        parts.append(Line("✓ agrees, ✗ disagrees, ◐ partly, ? is unsure, — said nothing to it."))
    if void := sum(not stance.meaningful for stance in state.stances):
        parts.append(Line(f"{void} stances of demonstration models are not counted."))
    if read := sum(stance.source == "extracted" for stance in state.stances):
        parts.append(Line(f"{read} stances that were read from prose are not counted."))
    return (*parts, *_by_round(drawn))


def _row(state: State, record: Record, point: Point, takers: Sequence[str]) -> tuple[str, ...]:
    short = len(takers) > _FEW
    asked = len({point.author, *point.spoke_since, *point.present} & set(record.seats))
    held = f"held by {len(point.holders)} of {asked}"
    if point.opposed_before:
        held += f"; against its first wording: {len(point.opposed_before)}"
    return (
        line(point.id),
        line(point.text),
        name_of(state, point.author),
        *(_stance(point, who, short=short) for who in takers),
        held if point.status == "held" else point.status,
    )


def _stance(point: Point, who: str, *, short: bool) -> str:
    said = point.stance_of(who)
    if said is None:
        return "—"
    word = position_of(said.stance)
    if short:
        return _MARKS[word]
    told = f"{_MARKS[word]}\N{NO-BREAK SPACE}{word}"
    return f"{told}: {line(said.text)}" if said.text and said.stance != "amend" else told


def _pictures(drawn: OpinionMap) -> list[Part]:
    if len(drawn.participants) < 2:
        return []

    def who_holds_what() -> str:
        from .svg import opinion_map_svg

        return opinion_map_svg(drawn)

    def how_often_the_same() -> str:
        from .svg import agreement_matrix_svg

        return agreement_matrix_svg(drawn)

    return [
        Picture(who_holds_what, "Who holds what on which point"),
        Picture(how_often_the_same, "How often each two hold the same"),
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
    header = ("Round", "Agreement", "Stability", "Agreed", "Disputed", "New")

    def chart() -> str:
        from .svg import convergence_chart_svg

        return convergence_chart_svg(drawn.rounds)

    return [
        Picture(chart, "Convergence over the rounds"),
        Grid(
            "By round",
            header,
            rows,
            numbers=(1, 2, 3, 4, 5),
            folded=len(rows) > _MANY_ROWS,
        ),
    ]


def _share(value: float | None) -> str:
    return "—" if value is None else f"{value:.0%}"


def scores(state: State) -> tuple[Part, ...]:
    """Who scored whom, by round: 1 is no agreement, 5 is all."""
    names = names_of(state)
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

        def matrix() -> str:
            from .svg import scores_svg

            return scores_svg(last, names)

        parts.insert(0, Picture(matrix, f"Scores of round {rounds[-1]}"))
    return tuple(parts)


def changes(state: State) -> tuple[Part, ...]:
    """Who gave up a position, because of what, and who went over to the majority how often."""
    rows = []
    for each in changes_in(state):
        because = "no argument named"
        if each.argument is not None:
            because = f"{name_of(state, each.argument.participant)}: {line(each.argument.text)}"
        elif not each.told:
            because = "see the speech"
        rows.append(
            (
                name_of(state, each.participant),
                "the question" if each.issue == VOTE else each.issue,
                f"{choice_told(state, each.issue, each.before)} → "
                f"{choice_told(state, each.issue, each.after)}",
                turn_name(state, each.turn),
                because,
            )
        )
    if not rows:
        return ()
    header: tuple[str, ...] = ("Who", "On", "Change", "Where", "Because of")
    many = len(rows) > _MANY_ROWS
    parts: list[Part] = [Grid("All changes" if many else "", header, tuple(rows), folded=many)]
    pressed = tuple(
        (name_of(state, who), str(each.chances), str(each.moved))
        for who, each in conformity(points_held(state)).items()
        if each.chances
    )
    if pressed:
        header = ("Who", "Stood against a majority of the others", "Went over to it")
        parts.append(Grid("Conformity, in stances", header, pressed, numbers=(1, 2)))
    return tuple(parts)


def choice_told(state: State, issue: str, choice: str) -> str:
    """A position as words: an option by what it says, a stance by its own word."""
    record = record_of(state)
    wanted = record.question.id if issue == VOTE and record.question else issue
    for decision in record.decisions:
        if decision.id == wanted:
            words = {"own": "a position of its own", "unsure": "no preference"}
            return words.get(choice) or clip_words(line(decision.text_of(choice)), 80)
    return choice
