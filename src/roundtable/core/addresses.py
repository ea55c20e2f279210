"""Addresses of servers: whether they are any, and where they lead. Nothing is resolved."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_OF_PROTOCOLS = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))
"""Nobody's servers; which of them count as global depends on Python's version."""
WEB = ("http", "https")
_QUOTATION_MARKS = frozenset("\"'`")


def wrong_address(url: str, schemes: tuple[str, ...] = WEB) -> str:
    """What the address of a server would have to be; empty if this is one. Who calls one that is
    none fails deep down, in words that name no setting."""
    if not url.isprintable() or any(char.isspace() for char in url):
        return "an address without spaces and line breaks"
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        place = parts.netloc.rpartition("@")[2]
        if _QUOTATION_MARKS & {url[:1], *host}:
            return "an address without quotation marks"
        if parts.scheme not in schemes:
            return f"an address that begins with {' or '.join(f'{each}://' for each in schemes)}"
        if place.count(":") > 1 and not place.startswith("["):
            raise ValueError
    except ValueError:
        return "an address with an IPv6 number in its brackets, such as http://[::1]:8000/v1"
    try:
        if not host or not host.encode("idna"):
            raise UnicodeError
    except UnicodeError:  # no name of a server has an empty part, or one of more than 63 letters
        return "an address that names a server, such as http://gpu-box:8000/v1"
    try:
        port = parts.port
    except ValueError:
        port = 0
    return "an address whose port is a number from 1 to 65535" if port == 0 else ""


def address_parts(url: str) -> SplitResult:
    """An address in its parts; all of them are empty where it cannot be taken apart."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


def port_of(parts: SplitResult) -> int | None:
    """The port that an address names; None where it names none, or what is no port."""
    try:
        return parts.port
    except ValueError:
        return None


def is_this_machine(host: str) -> bool:
    """Whether a server of this name is on this machine, where no proxy can reach it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def server_name(url: str) -> str:
    """What is the same of all addresses of one server: its host and port, this machine's by one
    name."""
    parts = address_parts(url)
    host = (parts.hostname or "").rstrip(".")
    return f"{'localhost' if is_this_machine(host) else host}:{port_of(parts) or parts.scheme}"


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
