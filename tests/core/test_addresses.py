"""Where the address of a server leads."""

from __future__ import annotations

from roundtable.core.addresses import is_this_machine


def test_a_server_of_this_machine_is_known_by_its_name_or_number() -> None:
    assert all(map(is_this_machine, ["localhost", "LOCALHOST.", "127.0.0.1", "127.9.9.9", "::1"]))
    assert not any(map(is_this_machine, ["example.org", "10.0.0.1", "localhost.example.org"]))
