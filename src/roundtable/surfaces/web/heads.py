"""The heads of requests as h11 reads them, and which of them are refused: those that are too large,
and those of which two readers would not agree where their body ends."""

from __future__ import annotations

from dataclasses import dataclass

import h11

HEAD_BYTES = 16 * 1024
MOST_HEADERS = 200


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is wrong with a head, and what to do about it."""

    status: int
    error: str
    remedy: str


_TOO_LARGE = Wrong(
    431,
    f"The head of the request is too large: at most {HEAD_BYTES // 1024} KiB fit.",
    "Send less in its address, cookies and headers.",
)
_TOO_MANY = Wrong(
    431,
    f"The request has too many headers: {MOST_HEADERS} are the most.",
    "Send fewer.",
)
_TWO_LENGTHS = Wrong(
    400,
    "The request has both Content-Length and Transfer-Encoding.",
    "Send one of them.",
)


class Heads(h11.Connection):
    """One connection as the server reads it."""

    wrong: Wrong | None = None
    """Why the last head was refused."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, HEAD_BYTES)

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """RemoteProtocolError for what is refused; `wrong` says why, where we know more of it."""
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as error:
            if error.error_status_hint == _TOO_LARGE.status:
                self.wrong = _TOO_LARGE
            raise
        if isinstance(event, h11.Request) and (wrong := _wrong(event)) is not None:
            self.wrong = wrong
            raise h11.RemoteProtocolError(wrong.error, error_status_hint=wrong.status)
        return event


def _wrong(head: h11.Request) -> Wrong | None:
    # h11 bounds only what is not whole yet; one that comes in one piece can be much larger.
    size = len(head.method) + len(head.target)
    size += sum(len(name) + len(value) + 4 for name, value in head.headers)
    if size > HEAD_BYTES:
        return _TOO_LARGE
    if len(head.headers) > MOST_HEADERS:
        return _TOO_MANY
    if {b"content-length", b"transfer-encoding"} <= {name.lower() for name, _ in head.headers}:
        return _TWO_LENGTHS  # a proxy before us may have counted by the other one
    return None
