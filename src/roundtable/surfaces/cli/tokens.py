"""`roundtable tokens`: what was given out to clients and seats, and its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ...bootstrap import App
from ...core.errors import UnknownName, UsageError
from ...core.state import State
from ...core.text import dollars, listed
from ...procedures.opening import checked_amount
from ..tokens.capability import OWNER, TOLD, Capability, acts_of
from ..tokens.monthly import allow, months_of
from ..tokens.store import Kept, Tokens, id_of, is_token, usual_acts
from ..web.found import running
from ..web.links import Links, links_of
from .here import settings_here
from .spans import SPAN, span
from .terminal import echo, echo_error, echo_key
from .with_app import with_app

ALL = "all"
USUAL = "usual"
_WHEN = "a span such as 12h, 30d or 4w, or a time such as 2026-12-31T18:00"


def list_command() -> int:
    tokens = links_of(settings_here()).tokens
    if tokens.unsettled(OWNER):
        _settle(tokens)
    found = tokens.listed()
    if not found:
        echo_error(
            "There are no tokens. To end links that are not listed: roundtable tokens end all."
        )
    months = with_app(lambda app: _months(app, found)) if any(map(_opens, found)) else {}
    for each in found:
        month = months.get(each.capability.id, "")
        echo(_line(tokens, each) + (f"; {month}" if month else ""))
    return 0


def _opens(each: Kept) -> bool:
    return each.capability.may("open")


async def _months(app: App, found: Sequence[Kept]) -> dict[str, str]:
    months = await months_of(app, [each.capability for each in found])
    return {id_: month.told for id_, month in months.items()}


def budget_command(token_id: str, monthly: str) -> int:
    tokens = links_of(settings_here()).tokens
    known = [each.capability.id for each in tokens.listed()]
    found = [id_ for id_ in known if id_.startswith(token_id)]
    if len(found) != 1:
        raise UnknownName("token", token_id, known)
    amount = None if monthly == USUAL else _amount(monthly)
    with_app(lambda app: allow(app, found[0], amount))
    told = "what the settings say" if amount is None else f"${amount:g}"
    echo_error(f"{found[0]} may spend {told} in a month.")
    return 0


def _amount(given: str) -> float:
    try:
        amount = float(given.lstrip("$"))
    except ValueError:
        raise UsageError(
            f"{given!r} is not an amount.", f"Write US dollars, such as 20; or: {USUAL}."
        ) from None
    return checked_amount(amount, f"a month's budget of {given!r}")


def add_command(label: str, flags: Mapping[str, Any]) -> int:
    if flags["monthly"] is not None:
        checked_amount(flags["monthly"], "--monthly")
    settings = settings_here()
    links = links_of(settings)
    discussions = _discussions(flags["discussion"])
    if flags["seat"]:
        _check_seat(flags["seat"], discussions)
    wanted = Capability(
        acts=acts_of(name for given in flags["may"] for name in given.split(","))
        or usual_acts(flags["seat"] or "", discussions),
        label=label,
        discussions=discussions,
        seat=flags["seat"] or "",
        spend=flags["spend"],
        channels=None if ALL in flags["channel"] else frozenset(flags["channel"]),
        expires=when(flags["expires"], datetime.now(UTC)) if flags["expires"] else None,
    )
    secret, made = links.tokens.add(wanted)
    if flags["monthly"] is not None:
        with_app(lambda app: allow(app, made.id, flags["monthly"]))
    echo_error(f"{made.id}: {told(made)}. It is shown this once:")
    echo_key(secret)
    if made.only and (found := running(settings.home)) is not None:
        echo_key(f"Its page: {found.url}/r/{secret}", err=True)
    return 0


def end_command(given: Sequence[str]) -> int:
    links = links_of(settings_here())
    for each in given:
        ended = _end(links, each)
        echo_error(f"Ended: {', '.join(ended) if ended else 'nothing, it was ended before'}.")
    return 0


def _end(links: Links, given: str) -> list[str]:
    if given == ALL:
        return [*links.tokens.end_all(), "every link"]
    # Also by what somebody holds in hand: a link, or a token.
    secret = given.rstrip("/").rpartition("/")[2]
    if links.find(secret) is not None:
        return links.tokens.end_given(secret)
    if is_token(secret) and links.tokens.is_ended(id_of(secret)):
        return []
    try:
        return links.tokens.end(given)
    except UnknownName as error:
        if links.tokens.is_ended(given):
            return []
        raise UnknownName(
            "token",
            given,
            remedy=error.remedy
            or "`roundtable tokens` lists them; a link is ended by its address.",
        ) from None


def when(given: str, now: datetime) -> datetime:
    """A time to come, from a span or a date. UsageError says how to write one."""
    if SPAN.fullmatch(given.strip().lower()):
        try:
            return now + span(given, "--expires")
        except OverflowError:
            raise UsageError(f"--expires {given}: that is too far away.", _WHEN) from None
    try:
        at = datetime.fromisoformat(given.strip())
    except ValueError:
        raise UsageError(f"--expires {given!r} is not a time.", f"Write {_WHEN}.") from None
    return at if at.tzinfo else at.astimezone()


def told(held: Capability) -> str:
    """What it allows, in one line."""
    parts = [f"may {listed([TOLD[act] for act in sorted(held.acts)])}"]
    if held.seat:
        parts.append(f"as {held.seat}")
    if held.discussions is None:
        parts.append("in all discussions")
    elif held.discussions:
        parts.append("in " + ", ".join(sorted(held.discussions)))
    if held.spend is not None:
        parts.append(f"for up to ${held.spend:g}")
    if held.channels is None or held.channels:
        named = "every channel" if held.channels is None else ", ".join(sorted(held.channels))
        parts.append(f"news to {named}")
    if held.locked:
        parts.append("with a password")
    if held.expires is not None:
        parts.append(f"until {held.expires.astimezone():%Y-%m-%d %H:%M}")
    return " ".join(parts)


def _line(tokens: Tokens, each: Kept) -> str:
    held = each.capability
    left = tokens.left(held)
    rest = f"; {dollars(left)} left" if left is not None else ""
    started = f"; started {len(held.opened)}" if held.opened else ""
    through = f"; through {held.parents[-1]}" if held.parents else ""
    name = held.label or each.kind
    return f"{held.id}  {name}: {told(held)}{rest}{started}{through}"


def _discussions(given: Sequence[str]) -> frozenset[str] | None:
    if ALL in given:
        return None
    for each in given:
        _discussion(each)
    return frozenset(given)


def _check_seat(seat: str, discussions: frozenset[str] | None) -> None:
    for each in discussions or ():
        known = [person.id for person in _discussion(each).participants]
        if seat not in known:
            raise UnknownName("seat", seat, known)


def _discussion(discussion_id: str) -> State:
    return with_app(lambda app: app.service.read(discussion_id))


def _settle(tokens: Tokens) -> None:
    from ..tokens.opening import settle

    with_app(lambda app: settle(app, tokens, OWNER))
