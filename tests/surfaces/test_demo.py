"""The quick verification: the whole pipeline, and no model is called."""

from __future__ import annotations

import inspect

import pytest

from roundtable.surfaces.demo import CONCLUSION, SPEECHES, run_demo

from .desk import Desk


@pytest.mark.requirement("D-34")
def test_the_verification_runs_without_a_model_and_leaves_everything_behind(desk: Desk) -> None:
    done = desk("demo", "--no-web")
    assert done.code == 0
    assert CONCLUSION in " ".join(done.out.split())
    assert done.out.count("complete") == 2, "nobody spoke in the third round"
    id_ = desk.last_id()
    document = desk("show", id_, "--json").document
    assert document["status"] == "concluded"
    assert document["usage"]["calls"] == 0
    (conclusion,) = desk.workspace.rglob("*.md")
    assert CONCLUSION in conclusion.read_text("utf-8")
    assert conclusion.name in done.err
    page = desk("export", id_, "--format", "html").out
    assert all(words.split(".")[0] in page for _, words, _ in SPEECHES)


@pytest.mark.requirement("D-35")
def test_the_page_is_served_unless_it_is_not_wanted() -> None:
    assert inspect.signature(run_demo).parameters["web"].default is True
