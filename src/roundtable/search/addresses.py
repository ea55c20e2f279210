"""Addresses that a search result may have: http(s), public, and what they seem to be.

Nothing is resolved. A name that is public here can still lead to a private address, so whoever
fetches pages one day must look at the address they are connected to as well.
"""

from __future__ import annotations

import re
import unicodedata
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

MAX_LENGTH = 2000

_GLOBAL_UNICAST = IPv6Network("2000::/3")
# Names that the public DNS does not have, or has only to point back at the asker.
# fmt: off
_PRIVATE_NAMES = frozenset([
    "localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "localdomain",
    "svc", "arpa", "test", "invalid", "example", "onion", "alt", "nip.io", "sslip.io", "xip.io",
    "localtest.me", "lvh.me", "vcap.me", "fuf.me", "lacolhost.com",
])
# fmt: on
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_BRACKETED = re.compile(r"\[[^\[\]]+\](?::\d+)?")
_IPV4_PART = re.compile(r"0x[0-9a-f]*|[0-9]+")


def is_public(url: str) -> bool:
    """Whether this is the http(s) address of a public place, without a user in it."""
    if len(url) > MAX_LENGTH or any(_is_odd(char) for char in url):
        return False
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or port == 0:
        return False
    if "[" in parts.netloc:
        return bool(_BRACKETED.fullmatch(parts.netloc)) and _is_public_ipv6(host)
    return _is_public_name(host)


def _is_odd(char: str) -> bool:
    """Whether a character has no place in an address, or is read differently by different readers:
    blanks, controls, what nobody sees."""
    return char in '\\<>"' or unicodedata.category(char)[0] in "CZ"


def _is_public_name(host: str) -> bool:
    # Browsers and resolvers read full-width letters and digits, and other full stops, as these.
    name = unicodedata.normalize("NFKC", host).replace("。", ".").lower().removesuffix(".")
    try:
        labels = name.encode("idna").decode("ascii").split(".")
    except UnicodeError:
        return False
    if not all(_LABEL.fullmatch(label) for label in labels):
        return False
    if _IPV4_PART.fullmatch(labels[-1]):
        address = _ipv4(labels)
        return address is not None and _is_public_ip(address)
    tails = {".".join(labels[start:]) for start in range(len(labels))}
    return len(labels) > 1 and not tails & _PRIVATE_NAMES


def _ipv4(labels: list[str]) -> IPv4Address | None:
    """An IPv4 address in any spelling that is understood: 127.1, 0x7f000001, 0177.0.0.1 …"""
    if len(labels) > 4 or not all(_IPV4_PART.fullmatch(label) for label in labels):
        return None
    try:
        *firsts, last = (_number(label) for label in labels)
    except ValueError:
        return None
    if any(number > 255 for number in firsts) or last >= 256 ** (4 - len(firsts)):
        return None
    value = last
    for place, number in enumerate(firsts):
        value += number << (8 * (3 - place))
    return IPv4Address(value)


def _number(label: str) -> int:
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8) if label.startswith("0") else int(label)


def _is_public_ipv6(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    # This leaves out the spellings of IPv4 addresses outside this net as well.
    if not isinstance(address, IPv6Address) or address not in _GLOBAL_UNICAST:
        return False
    if address.scope_id or address.teredo is not None:
        return False
    inner = address.sixtofour
    return _is_public_ip(address) and (inner is None or _is_public_ip(inner))


def _is_public_ip(address: IPv4Address | IPv6Address) -> bool:
    return address.is_global and not (address.is_multicast or address.is_reserved)
