"""Addresses of servers that a user names: where they lead. Nothing is resolved."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def host_of(url: str) -> str:
    """The host of an http(s) address; empty if it is none that can be called."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # a port that is no number is found out only here
    except ValueError:
        return ""
    return host or "" if parts.scheme in ("http", "https") else ""


def is_this_machine(host: str) -> bool:
    """Whether a server of this name is on this machine, where no proxy can reach it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"
