"""The votes of a panel: counted, with the winner and who chose what."""

from __future__ import annotations

from ..core.state import State
from ..core.tally import Tally, Vote, final_votes, tally


def votes(state: State) -> list[Vote]:
    """Each voter's last ballot that names an option."""
    return final_votes(
        Vote(b.participant, b.ranking, round=b.round)
        for b in state.ballots
        if b.ranking and b.meaningful
    )


def counted(state: State) -> Tally | None:
    """All ballots, or None if there is none."""
    cast = votes(state)
    return tally(cast) if cast else None


def winner_line(state: State) -> str:
    """`Winner: tea (3 of 4)`, or that there is a tie; empty without ballots."""
    result = counted(state)
    if result is None:
        return ""
    scores = result.outcomes["plurality"].scores
    winners = result.outcomes["plurality"].winners
    most = f"{scores[winners[0]]:g} of {len(result.voters)}"
    if len(winners) > 1:
        return f"Tie: {', '.join(winners)} ({most} each)"
    return f"Winner: {winners[0]} ({most})"


def tally_lines(state: State) -> list[str]:
    """One line for each option: how many votes, and whose."""
    result = counted(state)
    if result is None:
        return []
    cast = votes(state)
    scores = result.outcomes["plurality"].scores
    names = {p.id: p.name for p in state.participants}
    lines = []
    for option in sorted(scores, key=lambda each: -scores[each]):
        who = [names.get(v.voter, v.voter) for v in cast if v.ranking[0] == (option,)]
        lines.append(f"{option}: {scores[option]:g} ({', '.join(who)})")
    return lines
