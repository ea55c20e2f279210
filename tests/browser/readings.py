"""Discussions to be read: long speeches, many rounds, every kind of declaration."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from roundtable.core.declaration import (
    Adopted,
    Condition,
    Decision,
    Declaration,
    DeclaredStance,
    DeclaredVote,
    Option,
)
from roundtable.core.events import (
    DecisionsTabled,
    DiscussionClosed,
    Event,
    SpeechGiven,
    StageOpened,
    VerdictReached,
)
from roundtable.core.values import Participant, Verdict
from tests.views.tables import opened, seat, speech

OPTIONS = ("Build one program", "Build services")
ENGLISH = (
    "Every network hop is a failure to handle, and five people handle few of them. "
    "A module boundary costs nothing to move; a service boundary costs a quarter."
)
CHINESE = "五人团队应当先建单体应用，再按模块边界拆分。网络上的每一跳都可能失败，小团队处理不过来。"
ARABIC = "الفريق الصغير يحتاج إلى بنية موحدة أولا. كل قفزة في الشبكة عطل محتمل يجب التعامل معه."
Choose = Callable[[int, int], str]
"""Which option a seat votes for in a round."""


def last_words(who: str, round_: int) -> str:
    """The sentence at the very end of a speech."""
    return f"This is how {who} ends round {round_}, with **the sentence** that is quoted."


def long_speech(who: str, round_: int, words: int, filler: str = ENGLISH) -> str:
    paragraph = f"{filler}\n\n"
    times = max(1, words // max(len(filler.split()), len(filler) // 6))
    begin = f"## Position\n\n{who} begins round {round_}."
    return f"{begin}\n\n{paragraph * times}{last_words(who, round_)}"


def read_at_length(
    names: Sequence[str],
    rounds: int = 2,
    words: int = 3_000,
    filler: str = ENGLISH,
    choose: Choose = lambda round_, place: "o1" if place != 1 or round_ > 1 else "o2",
    topic: str = "Should a team of five build one program?",
) -> list[Event]:
    """A table that votes in every round, with everything that a seat can declare."""
    seats = [seat(name) for name in names]
    events: list[Event] = [opened(seats, topic).model_copy(update={"procedure": "deliberation"})]
    events += speech("0/casting/host", "host", "I chose the seats.")
    options = tuple(Option(id=f"o{n}", text=text) for n, text in enumerate(OPTIONS, 1))
    events.append(DecisionsTabled(decisions=(Decision(id="d1", question=topic, options=options),)))
    for number in range(1, rounds + 1):
        stage = "answer" if number == 1 else "critique"
        turns = tuple(f"{number}/{stage}/{each.id}" for each in seats)
        events.append(StageOpened(stage=stage, round=number, turns=turns))
        for place, (turn, who) in enumerate(zip(turns, seats, strict=True)):
            declared = _declared(seats, number, place, choose)
            text = long_speech(who.name, number, words, filler)
            if number > 1:
                text += f"\n\nAgainst [1/answer/{seats[0].id}] and p1."
            events.append(
                SpeechGiven(
                    turn_id=turn,
                    stage=stage,
                    round=number,
                    participant=who.id,
                    model="m/x",
                    text=text,
                    declaration=declared,
                    independent=number == 1,
                )
            )
    last, first = f"{rounds}/critique/{seats[-1].id}", f"1/answer/{seats[0].id}"
    quoted = last_words(seats[0].name, 1).replace("**", "")
    answer = f"Build one program. “{quoted}” [{first}]. It was said again [{last}], see [p1]."
    events += speech("0/synthesis/host", "host", answer, after=rounds)
    verdict = Verdict(
        answer=answer, confidence="medium", author="m/host", why=(f"“{quoted}” [{first}]",)
    )
    events.append(VerdictReached(verdict=verdict))
    events.append(DiscussionClosed(status="concluded", stop_reason="verdict"))
    return events


def _declared(seats: Sequence[Participant], round_: int, place: int, choose: Choose) -> Declaration:
    who, option = seats[place], choose(round_, place)
    before = choose(round_ - 1, place) if round_ > 1 else "silent"
    moved = before not in ("silent", option)
    other = seats[(place + 1) % len(seats)].id
    return Declaration(
        votes=(DeclaredVote(on="d1", before=before, choice=option, rejects=()),),
        position=f"{who.name} holds that {OPTIONS[int(option[1]) - 1].lower()} comes first.",
        confidence=60 + place,
        conditions=(Condition(text="Two engineers are free for it."),),
        adopted=(Adopted(participant=other, what="it is cheaper to move", moved=moved),)
        if round_ > 1
        else (),
        new_points=(f"The claim number {place + 1} stands by itself.",) if round_ == 1 else (),
        stances=(
            DeclaredStance(id="p2" if place != 1 else "p1", stance="disagree", text="too dear"),
        )
        if round_ > 1
        else (),
    )
