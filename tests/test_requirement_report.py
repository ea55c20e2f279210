"""What the requirement report tells, also of tests that ran in another process."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Literal, cast

import pytest

from .requirement_report import PROPERTY, RequirementReport


def told(
    config: pytest.Config,
    *ids: str,
    outcome: Literal["passed", "failed", "skipped"] = "passed",
    when: Literal["setup", "call", "teardown"] = "call",
) -> pytest.TestReport:
    """A test's report, as it comes from a worker."""
    report = pytest.TestReport(
        f"tests/test_{ids[0]}.py::test_it",
        ("tests/test_it.py", 1, "test_it"),
        {},
        outcome,
        None,
        when,
        user_properties=[(PROPERTY, each) for each in ids] + [("other", "I-02")],
    )
    sent = config.hook.pytest_report_to_serializable(config=config, report=report)
    received = config.hook.pytest_report_from_serializable(config=config, data=sent)
    assert isinstance(received, pytest.TestReport)
    return received


def test_a_requirement_is_shown_by_a_test_that_passed_in_another_process(
    pytestconfig: pytest.Config,
) -> None:
    report = RequirementReport(full=False, document=None)

    report.pytest_runtest_logreport(told(pytestconfig, "I-01", "I-03"))
    report.pytest_runtest_logreport(told(pytestconfig, "I-04", outcome="skipped"))
    report.pytest_runtest_logreport(told(pytestconfig, "I-05", when="setup"))

    assert dict(report.shown) == {
        "I-01": {"tests/test_I-01.py::test_it"},
        "I-03": {"tests/test_I-01.py::test_it"},
    }
    assert not report.failed


def test_a_failure_in_any_process_counts_against_what_the_test_shows(
    pytestconfig: pytest.Config,
) -> None:
    report = RequirementReport(full=False, document=None)

    report.pytest_runtest_logreport(told(pytestconfig, "I-01"))
    report.pytest_runtest_logreport(told(pytestconfig, "I-01", outcome="failed", when="teardown"))

    assert report.failed == {"I-01"}


def marked(request: pytest.FixtureRequest, *ids: str) -> pytest.Function:
    """A test that is collected and never run: what it shows is shown by others."""

    @pytest.mark.requirement(*ids)
    def test() -> None: ...

    made = pytest.Function.from_parent(request.node.parent, name="test_it", callobj=test)
    assert isinstance(made, pytest.Function)
    return made


def test_a_test_carries_the_requirements_of_its_marks(request: pytest.FixtureRequest) -> None:
    item = marked(request, "I-01", "I-03")
    report = RequirementReport(full=False, document=None)

    report.pytest_collection_modifyitems(request.session, [item])

    assert item.user_properties == [(PROPERTY, "I-01"), (PROPERTY, "I-03")]


@pytest.mark.parametrize("ids", [(), ("I-01", "Q-999")])
def test_an_unknown_requirement_ends_the_run_and_a_worker_says_why(
    request: pytest.FixtureRequest, ids: tuple[str, ...]
) -> None:
    session = cast("pytest.Session", SimpleNamespace(shouldfail=False))
    report = RequirementReport(full=False, document=None)

    with pytest.raises(pytest.UsageError, match="unknown requirement") as caught:
        report.pytest_collection_modifyitems(session, [marked(request, *ids)])

    assert session.shouldfail == str(caught.value)
