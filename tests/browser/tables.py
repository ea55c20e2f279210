"""Discussions that are hard to lay out, told by their events."""

from __future__ import annotations

from collections.abc import Callable

from roundtable.core.events import Event
from tests.views.tables import Words, long_table, mishaps, seat

from .stage import events_of

LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"


def english(round_: int, who: str) -> str:
    return (
        f"## Position\n\nIn round {round_} {who} holds that the **monolith** comes first.\n\n"
        "1. Every network hop is a failure to handle.\n2. A module is cheap to move.\n\n"
        "| Option | Cost | Risk |\n|---|---:|---|\n| Monolith | 1 | low |\n| Services | 4 | high |"
        "\n\n> The bill for distribution comes later.\n\n`docker compose up`"
    )


def chinese(round_: int, who: str) -> str:
    return f"## 立场\n\n第{round_}轮，{who}认为五人团队应当先建**单体应用**，再按模块边界拆分。"


def arabic(round_: int, who: str) -> str:
    return f"## الموقف\n\nفي الجولة {round_} ترى {who} أن الفريق الصغير يحتاج إلى **بنية موحدة**."


def endless(_: int, who: str) -> str:
    return f"{who}: {LONG * 3}\n\n```\n{'y' * 400}\n```\n\nhttps://example.org/{'z' * 300}"


def _told(names: list[str], rounds: int, words: Words, topic: str) -> Callable[[], list[Event]]:
    seats = [seat(name) for name in names]
    return lambda: events_of(lambda: long_table(seats, rounds, words, topic))


THREE = ["Ann", "Bob", "Cid"]
TWELVE = [
    "Ann Archer", "Bob", "Cid", "Dora the Data Engineer", "Emil", "Fatima", "Gustav", "Hana", "Ivo",
    "Jun", "Katarzyna Wiśniewska-Kowalska", "Lee",
]  # fmt: skip

KINDS: dict[str, Callable[[], list[Event]]] = {
    "usual": _told(THREE, 3, english, "Should a team of five build a monolith?"),
    "twelve seats": _told(TWELVE, 2, english, "What should twelve people decide?"),
    "forty rounds": _told(THREE, 40, english, "Can forty rounds be read?"),
    "chinese": _told(["张伟", "李娜", "王芳"], 2, chinese, "五人的团队应当以微服务还是单体架构？"),
    "arabic": _told(
        ["سارة", "خالد", "ليلى"], 2, arabic, "هل ينبغي لفريق صغير أن يبني على الخدمات المصغرة؟"
    ),
    "long words": _told(THREE, 1, endless, LONG * 3),
    "failed": lambda: events_of(mishaps),
}
