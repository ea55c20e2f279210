"""The exported page: one file that opens from a disk and shows what the served page shows."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.sync_api import expect

from roundtable.core.state import fold
from roundtable.surfaces.web.assets import HOME, PAGE, shell
from roundtable.surfaces.web.html_export import export_html, joined_script
from tests.surfaces.desk import QUICK, Desk

from .conftest import Open
from .stage import Stage
from .tables import KINDS


@pytest.mark.requirement("I-10", "Z-10", "I-22")
def test_the_file_works_from_disk_and_shows_what_the_page_shows(
    stage: Stage, window: Open, tmp_path: Path
) -> None:
    found = stage.put("rt_f11e0001", KINDS["usual"]())
    served = window().open(stage.link(found))
    # As a reader gets it: from the menu of the page.
    served.get_by_text("Export", exact=True).click()
    with served.expect_download() as coming:
        served.get_by_role("link", name="This page").click()
    file = tmp_path / coming.value.suggested_filename
    coming.value.save_as(file)
    assert file.suffix == ".html"

    guest = window(offline=True, noting=True)
    saved = guest.open(file.as_uri())
    for place in ("h1", "#decision", "#dissent", "#experts", "#points", "#discussion"):
        expect(saved.locator(place)).to_have_text(
            served.locator(place).inner_text().strip(), use_inner_text=True
        )
    assert guest.requests == [file.as_uri()]
    assert guest.violations == []
    saved.locator("#why .cite").first.click()
    expect(saved.locator('[id="turn-3/answer/ann"]')).to_be_in_viewport()
    saved.keyboard.press("j")
    saved.get_by_role("button", name="Theme: as the system has it").click()
    expect(saved.get_by_text("Export", exact=True)).to_have_count(0)


def test_its_policy_allows_its_own_script_and_style_and_nothing_else(stage: Stage) -> None:
    found = stage.put("rt_f11e0002", KINDS["chinese"]())
    records = stage.do(lambda: stage.app.service.records(found))
    page = export_html(records, fold(records), "9")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    allowed = policy[1].replace("&#x27;", "'")
    assert "default-src 'none'" in allowed
    assert "unsafe" not in allowed
    for inline in (
        *re.findall(r"<script(?: type=\"module\")?>(.*?)</script>", page, re.DOTALL),
        *re.findall(r"<style>(.*?)</style>", page, re.DOTALL),
    ):
        digest = b64encode(sha256(inline.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in allowed
    assert not re.findall(r"(?:src|href)=[\"'](?!#)", page.partition("<body>")[0])


def test_the_same_ledger_gives_the_same_file(stage: Stage) -> None:
    found = stage.put("rt_f11e0003", KINDS["usual"]())
    records = stage.do(lambda: stage.app.service.records(found))
    assert export_html(records, fold(records), "9") == export_html(records, fold(records), "9")


def test_every_module_is_asked_for_early_and_the_owners_pages_only_where_they_are_shown() -> None:
    modules = {
        str(path.relative_to(PAGE)) for path in PAGE.rglob("*.js") if path.name != "theme.js"
    }
    joined = set(re.findall(r'^modules\["([^"]+)"\] = ', joined_script(), re.MULTILINE))
    assert set(re.findall(r'stylesheet" href="/assets/([^"]+)"', shell())) == {
        path.name for path in PAGE.glob("*.css")
    }
    assert early(shell(HOME)) == modules - {"app.js"}
    assert early(shell()) == joined - {"app.js"}
    assert {"start/start.js", "list/list.js"} <= modules - joined


def early(page: str) -> set[str]:
    return set(re.findall(r'modulepreload" href="/assets/([^"]+)"', page))


@pytest.mark.requirement("I-10")
def test_the_command_line_writes_the_page_and_overwrites_nothing(tmp_path: Path) -> None:
    # In processes of their own: this one has an event loop, which the browser needs.
    desk = Desk(tmp_path / "home", tmp_path, lambda: ("", ""))
    asked = desk.command("Tea or coffee?", *QUICK, "--procedure", "council", "--json")
    file = tmp_path / "page.html"
    arguments = ("export", asked.document["discussion_id"], "--format", "page", "-o", str(file))
    assert desk.command(*arguments).code == 0
    page = file.read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "Tea or coffee?" in page
    refused = desk.command(*arguments)
    assert "exists already" in refused.err
    assert file.read_text("utf-8") == page
