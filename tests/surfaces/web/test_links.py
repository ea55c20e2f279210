from __future__ import annotations

import hmac
import math
import stat
import string
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.errors import BadSetting
from roundtable.surfaces.tokens.capability import Capability
from roundtable.surfaces.web import links as module
from roundtable.surfaces.web.links import Links, load_links
from tests.surfaces.desk import environment

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LINKS = Links(b"k" * 32)


def test_a_token_says_what_it_opens_and_as_whom() -> None:
    until = NOW + timedelta(hours=1)
    token = LINKS.token("rt_12345678", "seat", seat="Ágnes", expires=until)
    held = LINKS.read(token, now=NOW)
    assert isinstance(held, Capability)
    assert (held.only, held.role, held.seat, held.expires) == (
        "rt_12345678",
        "seat",
        "Ágnes",
        until,
    )
    watching = LINKS.read(LINKS.token("rt_12345678"), now=NOW)
    assert isinstance(watching, Capability)
    assert (watching.only, watching.role) == ("rt_12345678", "viewer")


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize(
    ("link", "role", "seat"),
    [
        ("L_H_-4xu4cLzrdxeHKUVWhmfGbtbInJ0XzEyMzQ1Njc4IiwwLCIiXQ", "viewer", ""),
        ("s9Zc0Qxwz-09xz_3FWI8ghmAH7xbInJ0XzEyMzQ1Njc4IiwyLCIiXQ", "host", ""),
        (
            "EaID17E0attT1wna1_-eoYsbBxZbInJ0XzEyMzQ1Njc4IiwxLCJ0ZWEiLDE4OTM0NTYwMDBd",
            "seat",
            "tea",
        ),
        (
            "hba6OgWETH2aUi3hvlu4aOLEgK1bInJ0XzEyMzQ1Njc4IiwyLCIiLDAsImE4ZDE3NjU2ZTgyYzMxZGZhMTFjNWM"
            "yMGIwZjljNjllYzNlOWZmZDQwZTI2YmYxZjNlZjYxMDExIl0",
            "host",
            "",
        ),
    ],
)
def test_links_that_were_made_before_there_were_tokens_still_open(
    link: str, role: str, seat: str
) -> None:
    held = LINKS.read(link, now=NOW)
    assert held is not None
    assert (held.only, held.role, held.seat) == ("rt_12345678", role, seat)
    if held.locked:
        assert LINKS.opens(link, "sesame")
    else:
        expires = held.expires
        assert LINKS.token("rt_12345678", held.role, seat=seat, expires=expires) == link


def test_the_same_link_is_the_same_address_in_every_process() -> None:
    assert Links(b"k" * 32).token("rt_1", "host") == LINKS.token("rt_1", "host")


@pytest.mark.requirement("D-60")
def test_a_link_cannot_be_guessed() -> None:
    """What distinguishes a token from a wrong one is its signature of 160 bits."""
    tokens = {Links(bytes([n]) * 32).token("rt_1")[:26] for n in range(256)}
    assert len(tokens) == 256
    assert 26 * math.log2(64) >= 120


@pytest.mark.requirement("D-60")
def test_no_change_of_a_token_opens_anything() -> None:
    token = LINKS.token("rt_12345678", "viewer")
    alphabet = string.ascii_letters + string.digits + "-_"
    for place in range(len(token)):
        for char in alphabet:
            changed = token[:place] + char + token[place + 1 :]
            if changed != token:
                assert LINKS.read(changed, now=NOW) is None
    assert LINKS.read(token[:-1], now=NOW) is None
    assert LINKS.read(token + "A", now=NOW) is None
    assert LINKS.read(token + "=", now=NOW) is None


@given(st.text(max_size=300))
def test_no_text_breaks_the_reading_of_a_token(text: str) -> None:
    assert LINKS.read(text, now=NOW) is None
    assert not LINKS.is_owner(text)
    assert not LINKS.is_session(text)
    assert not LINKS.opens(text, text)


def test_another_installations_token_opens_nothing() -> None:
    assert LINKS.read(Links(b"x" * 32).token("rt_1"), now=NOW) is None


@pytest.mark.requirement("D-60")
def test_a_link_ends_when_its_time_is_over() -> None:
    token = LINKS.token("rt_1", expires=NOW)
    assert LINKS.read(token, now=NOW - timedelta(seconds=1)) is not None
    assert LINKS.read(token, now=NOW) is None


def test_a_locked_link_opens_with_its_password_alone() -> None:
    token = LINKS.token("rt_1", password="sesame")
    grant = LINKS.read(token, now=NOW)
    assert grant is not None
    assert grant.locked
    assert LINKS.opens(token, "sesame")
    assert not LINKS.opens(token, "Sesame")
    assert not LINKS.opens(token, "")
    assert not LINKS.opens(LINKS.token("rt_1"), "")
    assert "sesame" not in token
    assert token != LINKS.token("rt_1", password="sesame")


@pytest.mark.requirement("I-21")
def test_secrets_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[Any, Any]] = []

    def spy(one: Any, other: Any) -> bool:
        compared.append((one, other))
        return hmac.compare_digest(one, other)

    class Spied:
        compare_digest = staticmethod(spy)
        digest = staticmethod(hmac.digest)

    monkeypatch.setattr(module, "hmac", Spied)
    token = LINKS.token("rt_1", password="sesame")
    LINKS.read(token, now=NOW)
    LINKS.opens(token, "wrong")
    LINKS.is_owner("wrong")
    LINKS.is_session("wrong")
    LINKS.is_pass("wrong", token)
    assert len(compared) == 6


def test_the_key_is_made_once_and_belongs_to_its_user(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    first = load_links(home)
    assert load_links(home).owner_key == first.owner_key
    assert [path.name for path in home.iterdir()] == ["web.key"]
    if sys.platform != "win32":
        assert stat.S_IMODE((home / "web.key").stat().st_mode) == 0o600


def test_processes_that_come_at_the_same_time_get_the_same_key(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; "
        "from roundtable.surfaces.web.links import load_links; sys.stdin.read(); "
        "print(load_links(Path(sys.argv[1])).owner_key)"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "home")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment({}),
        )
        for _ in range(4)
    ]
    for process in started:  # all are up and wait; now they go
        assert process.stdin is not None
        process.stdin.close()
    keys = set()
    for process in started:
        assert process.stdout is not None
        with process.stdout:
            keys.add(process.stdout.read())
        assert process.wait(60) == 0
    assert len(keys) == 1


def test_a_broken_key_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "web.key").write_text("short")
    with pytest.raises(BadSetting, match="delete the file to get a new key"):
        load_links(tmp_path)
