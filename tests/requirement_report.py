"""Which requirements have a passing test: the marker, the checked-in list, and the report."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("requirements.txt")
PROPERTY = "requirement"
"""What a test's report says of it: it comes to us from whatever process the test ran in."""


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

    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        known = {each for ids in known_ids().values() for each in ids}
        for item in items:
            for mark in item.iter_markers("requirement"):
                unknown = [each for each in mark.args if each not in known]
                if unknown or not mark.args:
                    error = f"{item.nodeid}: unknown requirement {unknown}"
                    session.shouldfail = error  # how a worker tells whoever started it
                    raise pytest.UsageError(error)
                item.user_properties += [(PROPERTY, each) for each in mark.args]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        ids = {each for name, each in report.user_properties if name == PROPERTY}
        if report.failed:
            self.failed |= {str(each) for each in ids}
        elif report.when == "call" and report.passed:
            for each in ids:
                self.shown[str(each)].add(report.nodeid)

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
            "Every requirement has an ID, which the tests that verify it carry; the name of a test "
            "says what is required. If several tests verify one, the first is named, with how many "
            "more there are. `make requirements-table` writes this page from a run of all tests.",
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
