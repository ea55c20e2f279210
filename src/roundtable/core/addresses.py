"""Addresses of servers: where they lead. Nothing is resolved."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_OF_PROTOCOLS = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))
"""Nobody's servers; which of them count as global depends on Python's version."""


def is_this_machine(host: str) -> bool:
    """Whether a server of this name is on this machine, where no proxy can reach it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def is_public_address(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is one of the public internet: not this machine's or network's, not a
    provider's inner one, not for groups, and no IPv6 spelling that leads to an IPv4 address."""
    if isinstance(address, IPv6Address):
        # Mapped and translated IPv4 addresses lie outside this net, tunnelled ones inside it.
        if address not in _GLOBAL_UNICAST or address.scope_id:
            return False
        if address.sixtofour is not None or address.teredo is not None:
            return False
    elif any(address in network for network in _OF_PROTOCOLS):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)
