"""Privacy: the four things that are done with data, each with the user's control, as they are."""

from __future__ import annotations

import pytest

from .desk import Desk

pytestmark = pytest.mark.requirement("B-62")


def test_the_four_behaviours_are_named_each_with_a_control(desk: Desk) -> None:
    words = desk("privacy").out
    document = desk("privacy", "--json").document

    for title in ("READ", "PUT INTO PROMPTS", "STORED", "SENT TO OTHERS"):
        assert f"\n{title}" in f"\n{words}"
    assert {each["kind"] for each in document} == {"read", "injected", "stored", "broadcast"}
    assert all(each["what"] and each["control"] for each in document)
    assert str(desk.home / "roundtable.db") in words
    assert "--confidential" in words


def test_it_says_what_this_set_up_does(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "to nobody" in desk("privacy").out
    desk.home.mkdir()
    (desk.home / "config.toml").write_text('[news]\nchannels = ["stdout"]\n')
    monkeypatch.setenv("ROUNDTABLE_SEARCH", "searxng")
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:9")

    words = desk("privacy").out

    assert "to stdout" in words
    assert "the web, by searxng" in words.lower()


@pytest.mark.requirement("I-20")
def test_a_password_in_the_address_of_the_database_is_not_shown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_DB", "postgresql://me:hunter2secret@host/x")

    assert "hunter2secret" not in desk("privacy").out + desk("privacy", "--json").out


def test_the_commands_and_flags_that_it_names_exist(desk: Desk) -> None:
    import re

    from roundtable.surfaces.cli.app import cli

    words = desk("privacy").out
    known = {option for each in cli.commands.values() for p in each.params
             for option in (*p.opts, *p.secondary_opts)}  # fmt: skip

    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", words)) <= known
    assert set(re.findall(r"roundtable ([a-z]+) (?:[A-Z]|-|show)", words)) <= set(cli.commands)
