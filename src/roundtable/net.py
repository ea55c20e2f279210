"""The outgoing client: every request that is no model's goes through here.

Whoever answers may be hostile, or may have been taken over. An answer is bounded in bytes as they
are unpacked, in headers and in time as a whole. A redirect carries nothing to another place, and an
address that a text has chosen leads to the public internet or nowhere: what is looked at is the
very address that is connected to.

What was said about a failure is never repeated here, nor is the address: both may hold a key.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from ipaddress import ip_address
from ssl import (
    PROTOCOL_TLS_CLIENT,
    MemoryBIO,
    SSLCertVerificationError,
    SSLContext,
    SSLError,
    SSLObject,
    SSLSession,
)
from typing import TYPE_CHECKING, Any, Literal

from .core.addresses import is_public_address, is_this_machine, wrong_address
from .core.errors import NetError
from .proxies import CORRECT_IT, of_the_proxy, proxy_named_by, proxy_trouble

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 1_000_000
"""Of an unpacked answer, unless somebody needs more."""
MAX_HEADERS = 200
MAX_HEADER_BYTES = 64_000
MAX_REDIRECTS = 3
LONGEST_WAIT = 3600.0
"""Seconds: a server that wants us to wait longer is asked sooner."""
LONGEST_NUMBER = 400
"""Digits; Python itself reads ten times as many."""
_ADDRESSES_TRIED = 4
_CARRIED_ANYWHERE = frozenset(["accept", "accept-language", "user-agent"])
"""Headers that may go to another place. Any other may be a credential, whatever its name."""

Method = Literal["GET", "POST"]
Redirects = Literal["none", "same place", "anywhere"]
"""Whether a redirect is followed: not at all (it is the answer), within its origin, or everywhere
that is public."""
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whatever its status."""

    label: str
    status: int
    headers: Mapping[str, str]
    """By their names in small letters."""
    body: bytes

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def retry_after(self) -> float | None:
        """The seconds for which the server wants to be left alone."""
        return seconds_to_wait(self.headers.get("retry-after", ""))

    def json(self, *, typed: bool = True) -> Any:
        """The document. NetError("format") if it is none, or, where it must be `typed`, if it does
        not say that it is one."""
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if typed and kind != "application/json" and not kind.endswith("+json"):
            shown = kind if re.fullmatch(r"[a-z0-9.+/-]{1,40}", kind) else "an unknown format"
            raise NetError("format", f"{self.label} answered with {shown}, not with JSON.")
        try:
            return json.loads(self.body, parse_int=_whole)
        except (ValueError, RecursionError):
            message = f"{self.label} sent an answer that is not valid JSON."
            raise NetError("format", message) from None

    def json_or_none(self) -> Any:
        """The document, or None where what was sent is none."""
        try:
            return self.json(typed=False)
        except NetError:
            return None


def _whole(digits: str) -> int | float:
    """A whole number of a document. One of thousands of digits is not read, and is no reason to
    read nothing: it becomes one without end, which nobody takes for a count."""
    return int(digits) if len(digits) < LONGEST_NUMBER else float(digits)


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """The addresses of a name, the best first. OSError if it has none."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def request(
    label: str,
    method: Method,
    url: str,
    *,
    params: Mapping[str, str] | None = None,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    timeout: float,
    max_bytes: int = MAX_BYTES,
    redirects: Redirects = "none",
    untrusted: bool = False,
    proxies: bool = True,
    resolve: Resolver = system_resolver,
) -> Answer:
    """The answer to one request, or a NetError that begins with `label`.

    `body` is sent as JSON. `timeout` is for all of it, redirects included. `untrusted`: a text
    chose the address, not the user, so it must be a public one; no proxy is asked for it, since a
    proxy would look the name up once more. Without `proxies` those of the environment are not used.
    """
    import httpx2

    place = _parsed(label, url)
    if untrusted and place.userinfo:
        raise NetError("address", f"{label} has an address with a user in it.", "Leave it out.")
    if proxies and not untrusted and (trouble := proxy_trouble(url)):
        raise NetError("address", trouble, CORRECT_IT)
    sending = _Sending(label, method, place, params, body, headers or {}, untrusted)
    if place.scheme == "https":
        trusted_roots()  # read once, and not in the server's time
    try:
        async with asyncio.timeout(timeout):
            for _ in range(MAX_REDIRECTS + 1):
                async with _sent(sending, timeout, proxies, resolve) as answer:
                    if redirects == "none" or not answer.has_redirect_location:
                        return await _read(label, answer, max_bytes)
                    sending = sending.redirected(answer, redirects)
    except (TimeoutError, httpx2.TimeoutException):
        raise NetError("timeout", f"{label} did not answer within {timeout:g} s.") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as error:
        # Without the cause: its text may hold the address with a password in it.
        if (why := _of_tls(error)) is not None:
            told = f"{label} cannot be reached over https at {sending.url.host}."
            raise NetError("tls", told, why) from None
        direct = not proxies or sending.untrusted
        proxy = "" if direct else proxy_named_by(str(sending.url))
        if proxy and isinstance(error, (httpx2.ConnectError, httpx2.ProxyError)):
            told = (
                f"The proxy that {proxy} names did not pass on the request to {sending.url.host}."
            )
            raise NetError("proxy", told, of_the_proxy(proxy)) from None
        raise NetError(
            "unreachable",
            f"{label} cannot be reached at {sending.url.host}.",
            "Check the address and the network.",
        ) from None
    raise NetError("redirect", f"{label} redirects in circles.", "Check the address.")


def _of_tls(error: BaseException | None) -> str | None:
    """What to do about a connection that could not be made secure; None if that was not it."""
    while error is not None:
        if isinstance(error, SSLCertVerificationError):
            return "Its certificate is not trusted here: correct it, or the system's certificates."
        if isinstance(error, SSLError):
            return "It may speak plain http: write the address with http://."
        error = error.__cause__ or error.__context__
    return None


def seconds_to_wait(retry_after: object) -> float | None:
    """A Retry-After, from a header (seconds or a date) or from a document (a number); None if it
    says nothing that can be used."""
    if isinstance(retry_after, bool) or not isinstance(retry_after, str | int | float):
        return None
    try:
        seconds = float(retry_after)
    except (ValueError, OverflowError):
        try:
            until = parsedate_to_datetime(str(retry_after))
            seconds = (until - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(max(0.0, seconds), LONGEST_WAIT) if seconds == seconds else None


def fit_for_a_header(secret: str) -> bool:
    """Whether this can be a key or a token. In a header anything else fails deep down, with an
    error that shows the value."""
    quoted = len(secret) > 1 and secret[0] == secret[-1] and secret[0] in "\"'`"
    sendable = secret.isascii() and secret.isprintable() and " " not in secret
    return bool(secret) and sendable and not quoted


@cache
def trusted_roots() -> SSLContext:
    """Reading the system's certificates is most of the price of a client: once is enough."""
    import httpx2

    return httpx2.create_ssl_context()


class RootsWhenNeeded(SSLContext):
    """The same for a client that may never see a certificate: they are read when one comes, be it
    after a redirect or from a proxy. It trusts nobody by itself, so that whatever would not ask the
    real one fails."""

    def __new__(cls) -> RootsWhenNeeded:
        return super().__new__(cls, PROTOCOL_TLS_CLIENT)

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        trusted_roots().set_alpn_protocols(alpn_protocols)

    def wrap_bio(
        self,
        incoming: MemoryBIO,
        outgoing: MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: SSLSession | None = None,
    ) -> SSLObject:
        return trusted_roots().wrap_bio(incoming, outgoing, server_side, server_hostname, session)


@dataclass(frozen=True, slots=True)
class _Sending:
    """One request on its way, from hop to hop."""

    label: str
    method: Method
    url: httpx2.URL
    params: Mapping[str, str] | None
    body: object
    headers: Mapping[str, str]
    untrusted: bool

    def redirected(self, answer: httpx2.Response, redirects: Redirects) -> _Sending:
        """Where the server sends us instead. NetError("redirect") if that is not followed."""
        target = self._target(answer)
        if same_place(self.url, target):
            if self.method != "GET":
                raise self._not_followed(" with what was sent")
            return self._next(target, self.headers, self.untrusted)
        if redirects != "anywhere":
            raise self._not_followed()
        if self.url.scheme == "https" and target.scheme == "http":
            raise self._not_followed(" over an open line")
        if self.method != "GET" and answer.status_code != 303:
            raise self._not_followed(" with what was sent")
        kept = {
            name: value for name, value in self.headers.items() if name.lower() in _CARRIED_ANYWHERE
        }
        # The server's text chose this place, whoever chose the server.
        return self._next(target, kept, True)

    def _target(self, answer: httpx2.Response) -> httpx2.URL:
        import httpx2

        try:
            target = self.url.join(answer.headers["location"])
        except (httpx2.InvalidURL, ValueError):
            raise self._not_followed() from None
        if not _callable(target) or (target.userinfo and target.userinfo != self.url.userinfo):
            raise self._not_followed()
        return target

    def _next(self, url: httpx2.URL, headers: Mapping[str, str], untrusted: bool) -> _Sending:
        return _Sending(self.label, "GET", url, None, None, headers, untrusted)

    def _not_followed(self, how: str = "") -> NetError:
        return NetError(
            "redirect",
            f"{self.label} redirects to another place{how}, which is not followed.",
            "Set the address to where it is now.",
        )


def _parsed(label: str, url: str) -> httpx2.URL:
    import httpx2

    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError, TypeError):
        parsed = httpx2.URL("")
    if not _callable(parsed):
        raise NetError(
            "address",
            f"{label} has no usable address.",
            "It must begin with http:// or https://.",
        )
    return parsed


def _callable(url: httpx2.URL) -> bool:
    return not wrong_address(str(url))


def same_place(old: httpx2.URL, new: httpx2.URL) -> bool:
    """The same origin, or the same server's own step from http to https."""
    if old.host != new.host:
        return False
    upgraded = (old.scheme, new.scheme) == ("http", "https") and old.port is new.port is None
    return upgraded or (old.scheme, _port(old)) == (new.scheme, _port(new))


def _port(url: httpx2.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


@asynccontextmanager
async def _sent(
    sending: _Sending, timeout: float, proxies: bool, resolve: Resolver
) -> AsyncIterator[httpx2.Response]:
    """The answer's beginning. A client for each hop: nothing of one is left for the next."""
    import httpx2

    url = sending.url
    headers = {"accept-encoding": "identity", **sending.headers}
    extensions: dict[str, Any] = {}
    places = [url]
    if sending.untrusted:
        addresses = await _public_addresses(sending, resolve)
        places = [url.copy_with(host=address) for address in addresses]
        headers["host"] = url.netloc.decode("ascii")
        # The certificate must still be the name's.
        extensions["sni_hostname"] = url.raw_host.decode("ascii")
    here = is_this_machine(url.host)
    async with httpx2.AsyncClient(
        # Over an open line within this machine there is no certificate to look at.
        verify=False if here and url.scheme == "http" else trusted_roots(),
        timeout=timeout,
        follow_redirects=False,
        # A proxy of the environment cannot reach a server of this machine.
        trust_env=proxies and not sending.untrusted and not here,
    ) as client:
        for place in places:
            built = client.build_request(
                sending.method,
                place,
                params=sending.params or None,
                json=sending.body,
                headers=headers,
                extensions=extensions,
            )
            try:
                answer = await client.send(built, stream=True)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if place is places[-1]:
                    raise
                continue
            try:
                yield answer
            finally:
                await answer.aclose()
            return


async def _public_addresses(sending: _Sending, resolve: Resolver) -> Sequence[str]:
    """The addresses to connect to. NetError("private") if any of them is not public: who mixes
    them has something in mind."""
    found = await resolve(sending.url.raw_host.decode("ascii"), _port(sending.url))
    try:
        public = [is_public_address(ip_address(address)) for address in found]
    except ValueError:
        public = []
    if not found:
        raise OSError("the name has no address")
    if not public or not all(public):
        raise NetError(
            "private",
            f"{sending.label} leads to a private address, which is not called.",
            "Only public addresses are fetched where a text names them.",
        )
    return found[:_ADDRESSES_TRIED]


async def _read(label: str, answer: httpx2.Response, max_bytes: int) -> Answer:
    check_headers(label, answer)
    body = bytearray()
    async for block in answer.aiter_bytes():
        body += block
        if len(body) > max_bytes:
            raise NetError("too_large", f"{label} sent more than {_size(max_bytes)}.")
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return Answer(label, answer.status_code, headers, bytes(body))


def check_headers(label: str, answer: httpx2.Response) -> None:
    """NetError if there are too many, or if the body is packed more than once: each layer could
    hold a thousand times the one around it."""
    raw = answer.headers.raw
    if len(raw) > MAX_HEADERS or sum(len(n) + len(v) for n, v in raw) > MAX_HEADER_BYTES:
        raise NetError("too_large", f"{label} sent more headers than can be read.")
    packed = answer.headers.get_list("content-encoding", split_commas=True)
    if len([each for each in packed if each.strip().lower() not in ("", "identity")]) > 1:
        raise NetError("format", f"{label} sent an answer that is packed more than once.")


def _size(count: int) -> str:
    return f"{count / 1_000_000:g} MB" if count >= 1_000_000 else f"{count:,} bytes"
