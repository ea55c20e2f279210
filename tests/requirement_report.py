"""Which requirements have a passing test: the marker, the checked-in list, and the report."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("requirements.txt")


def known_ids() -> dict[str, dict[str, str]]:
    """The sections of the list, with their IDs and, where one has no test yet, why."""
    sections: dict[str, dict[str, str]] = {}
    ids: dict[str, str] = {}
    for line in LIST.read_text("utf-8").splitlines():
        if line.startswith("## "):
            ids = sections[line[3:]] = {}
        elif match := re.fullmatch(r"([A-Z]-\d+)(?:\s+(.+))?", line):
            ids[match[1]] = match[2] or ""
    return sections


class RequirementReport:
    """A pytest plugin that keeps, for each ID, the tests that show it and how they ended."""

    def __init__(self, *, full: bool, document: Path | None) -> None:
        self.full = full
        self.document = document
        self.shown: dict[str, set[str]] = defaultdict(set)
        self.failed: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        known = {each for ids in known_ids().values() for each in ids}
        for item in items:
            for mark in item.iter_markers("requirement"):
                unknown = [each for each in mark.args if each not in known]
                if unknown or not mark.args:
                    raise pytest.UsageError(f"{item.nodeid}: unknown requirement {unknown}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        ids = {each for mark in item.iter_markers("requirement") for each in mark.args}
        if report.failed:
            self.failed |= ids
        elif call.when == "call" and report.passed:
            for each in ids:
                self.shown[each].add(item.nodeid)
        return report

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        sections = known_ids()
        total = sum(len(ids) for ids in sections.values())
        shown = {each for each in self.shown if each not in self.failed}
        terminalreporter.write_line(
            f"requirements shown by a passing test: {len(shown)} of {total}"
        )
        if self.document is not None:
            self.document.write_text(self._table(shown), "utf-8")
        if not self.full:
            return
        for section, ids in sections.items():
            done = [each for each in ids if each in shown]
            terminalreporter.write_line(f"{section}: {len(done)} of {len(ids)}")
            for each in done:
                terminalreporter.write_line(f"  {each}  {', '.join(sorted(self.shown[each]))}")
            missing = [each for each in ids if each not in shown]
            if missing:
                terminalreporter.write_line(f"  without a passing test: {' '.join(missing)}")

    def _table(self, shown: set[str]) -> str:
        """Every requirement with one test that shows it, as a page of the documentation."""
        lines = [
            "# Requirements and their tests",
            "",
            "Made by `make requirements-table` from a run of all tests. Where several tests show a "
            "requirement, the first is named, and how many more there are.",
        ]
        for section, ids in known_ids().items():
            lines += ["", f"## {section}", "", "| ID | shown by |", "|---|---|"]
            for each, reason in ids.items():
                if each in shown:
                    first, *more = sorted(self.shown[each])
                    told = f"`{first.partition('[')[0]}`" + (
                        f" and {len(more)} more" if more else ""
                    )
                else:
                    told = f"not yet: {reason or 'no test'}"
                lines.append(f"| {each} | {told} |")
        return "\n".join(lines) + "\n"
