"""How long it takes to choose a panel, from the library as it is and from ten thousand experts."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

from tests.experts.topics import read_topics

from benchmarks.measured import Measured, print_table
from roundtable.experts.expert import Expert
from roundtable.experts.library_files import read_library
from roundtable.experts.selection import Selector
from roundtable.models.embedder import WordLlamaEmbedder

GOAL_MS = 5.0
GOAL_MS_MANY = 100.0
"""No library has as many: what counts there is that nobody waits for it."""
MANY = 10_000
SEATS = 5


def run() -> list[Measured]:
    library = list(read_library().values())
    rows: list[Measured] = []
    for experts in (library, varied(library, MANY)):
        begun = time.perf_counter()
        selector = Selector(experts, WordLlamaEmbedder())
        loading = time.perf_counter() - begun
        wall, cpu = _time(selector)
        name = f"choosing {SEATS} of {len(experts):,} experts"
        worst = statistics.quantiles(wall, n=20)[-1]
        detail = f"95 %: {worst:.2f} ms; CPU {statistics.median(cpu):.2f} ms"
        goal = GOAL_MS_MANY if len(experts) == MANY else GOAL_MS
        rows.append(Measured(name, statistics.median(wall), "ms", goal, detail))
        rows.append(Measured(f"loading {len(experts):,} without kept vectors", loading, "s"))
    return rows


def varied(library: Sequence[Expert], count: int) -> list[Expert]:
    """As many experts as asked for, each with half of the tags of two of the library."""
    experts = []
    for number in range(count):
        one = library[number % len(library)]
        other = library[(number * 7 + number // len(library)) % len(library)]
        tags = {
            language: (*tags[: len(tags) // 2 + 1], *other.tags[language][len(tags) // 2 :])
            for language, tags in one.tags.items()
        }
        name = f"{one.name} and {other.name}"
        update = {"id": f"{one.id}-{number}", "name": name, "tags": tags}
        experts.append(one.model_copy(update=update))
    return experts


def _time(selector: Selector) -> tuple[list[float], list[float]]:
    """Milliseconds of each choice, by the clock and of CPU; the first round only warms up."""
    wall: list[float] = []
    cpu: list[float] = []
    topics = read_topics()
    for warm in (False, True, True):
        for topic in topics:
            begun, spent = time.perf_counter(), time.process_time()
            selector.choose(topic.text, SEATS)
            if warm:
                wall.append(1000 * (time.perf_counter() - begun))
                cpu.append(1000 * (time.process_time() - spent))
    return wall, cpu


if __name__ == "__main__":
    print_table(run())
