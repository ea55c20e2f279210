"""Hosts: the names under which this server may be called."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(
    r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9_][A-Za-z0-9_.-]{0,253}))(?::([0-9]{1,5}))?"
)


class Hosts:
    """The names under which this server may be called."""

    def __init__(self, bound: str = "127.0.0.1", more: Iterable[str] = ()) -> None:
        """`bound` is the address it listens on, `more` are further names that lead to it; one that
        is given with a port means that port alone."""
        self._names = {*_LOOPBACK, bound.lower()}
        self._places: set[tuple[str, int]] = set()
        for each in more:
            name, port = _place(each) or (each.lower(), None)
            if port is None:
                self._names.add(name)
            else:
                self._places.add((name, port))
        # Who listens for others is called by its number, and a number is no foreign name.
        self._numbers = bound not in _LOOPBACK

    def allow(self, host: str) -> bool:
        """Whether a request may name this host: `name` or `name:port`, and nothing around it. The
        port can be another than ours, because tunnels and containers lead one to another."""
        place = _place(host)
        if place is None:
            return False
        name, _ = place
        known = name in self._names or place in self._places
        return known or (self._numbers and _is_number(name))


def is_loopback(host: str) -> bool:
    """Whether a request that names this host means the machine that it is on."""
    place = _place(host)
    return place is not None and place[0] in _LOOPBACK


def _place(host: str) -> tuple[str, int | None] | None:
    """The name in lower case and without the dot of the root, and the port if one is given; None
    for what is not exactly that."""
    found = _HOST.fullmatch(host)
    if found is None:
        return None
    port = int(found[3]) if found[3] else None
    if port is not None and not 0 < port < 65_536:
        return None
    return (found[1] or found[2].removesuffix(".")).lower(), port


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
