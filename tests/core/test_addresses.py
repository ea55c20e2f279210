"""Where the address of a server leads."""

from __future__ import annotations

import pytest

from roundtable.core.addresses import host_of, is_this_machine


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.org/x?y", "example.org"),
        ("http://user:secret@10.0.0.1:8080/", "10.0.0.1"),
        ("http://[::1]:8888", "::1"),
    ],
)
def test_the_host_of_an_address_is_found(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    "url", ["", "example.org", "ftp://example.org", "http://", "http://[::1", "http://a:port/"]
)
def test_what_cannot_be_called_has_no_host(url: str) -> None:
    assert host_of(url) == ""


def test_a_server_of_this_machine_is_known_by_its_name_or_number() -> None:
    assert all(map(is_this_machine, ["localhost", "LOCALHOST.", "127.0.0.1", "127.9.9.9", "::1"]))
    assert not any(map(is_this_machine, ["example.org", "10.0.0.1", "localhost.example.org"]))
