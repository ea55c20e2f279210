"""The providers' keys over HTTP, for the owner alone: which there are, a new one tried and kept,
one forgotten. A key comes in once and is never sent out again, not even in part."""

from __future__ import annotations

import asyncio
import ipaddress
from functools import cache
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, SecretStr

from ...bootstrap import App
from ...core.errors import UnknownName
from ...core.visible import shown
from ...models.provider import Provider
from ...provider_keys import LONGEST_KEY, is_sound_key
from ..doctor.reach import reach_provider
from ..setup.keys import entered_for, how_to_get, not_theirs, takes_key, with_key
from .access import Denied, Here
from .bodies import REFUSALS, Body, Short
from .hosts import is_loopback


class KeyRow(BaseModel):
    """A provider that takes a key, and whether there is one."""

    provider: str
    label: str
    variable: str
    """The variable under which the program knows the key."""
    held: Literal["environment", "file", "keyring", "none"]
    """Where the key that counts is; never the key."""
    get: str
    """How to come by one."""


class KeyRows(BaseModel):
    providers: list[KeyRow]
    place: Literal["file", "keyring"]
    """Where the next one would be kept."""
    refused: str = ""
    """Why none can be entered over this connection; empty if it can."""


class EnterKey(Body):
    provider: Short
    key: Annotated[SecretStr, Field(min_length=1, max_length=LONGEST_KEY)]


class KeyKept(BaseModel):
    """What became of a key."""

    provider: str
    held: Literal["file", "keyring"]
    tried: Literal["answers", "fails", "silent"]
    """What the provider said to it; one that it refuses is not kept."""
    told: str
    remedy: str = ""


@cache
def router() -> APIRouter:
    routes = APIRouter(prefix="/api/keys", responses=REFUSALS, tags=["keys"])

    @routes.get("")
    async def keys(request: Request, here: Here) -> KeyRows:
        """The providers, and which of them have a key."""
        return await asyncio.to_thread(_rows, here.app, _refused(request))

    @routes.post("", status_code=201)
    async def enter(body: EnterKey, request: Request, here: Here) -> KeyKept:
        """Try a key at its provider, and keep it unless it is refused there."""
        if refused := _refused(request):
            raise Denied(403, refused, HOW_TO_ENTER)
        app = here.app
        provider = _provider(app, body.provider)
        variable, key = provider.key_env[0], body.key.get_secret_value().strip()
        if not is_sound_key(key):
            raise Denied(
                422,
                "That is not a key: it contains spaces, quotation marks, line breaks or letters no "
                "key has.",
                "Copy only the key, and try again.",
            )
        if not_its := not_theirs(provider, key, app.env):
            raise Denied(422, not_its.message, not_its.remedy)
        entered = entered_for(provider, key, app.env)
        tried = await reach_provider(provider, with_key(app.env, provider, entered))
        if tried.answer == "refuses":
            raise Denied(
                422,
                f"{provider.label_at(entered.address)} refuses this key; it was not kept. "
                f"{shown(tried.finding.text)}",
                how_to_get(provider, app.env) or "Check it at the provider, and copy it once more.",
            )
        held = await asyncio.to_thread(app.keys.put, variable, key, entered.address)
        return KeyKept(
            provider=provider.id,
            held=held,
            tried="fails" if tried.answer == "lacks" else tried.answer,
            told=shown(tried.finding.text),
            remedy=shown(tried.finding.remedy),
        )

    @routes.delete("/{provider}", status_code=204)
    async def forget(provider: str, here: Here) -> None:
        """Forget the key that was entered here. One of the environment stays: it is not ours."""
        found = _provider(here.app, provider)
        gone = [await asyncio.to_thread(here.app.keys.remove, name) for name in found.key_env]
        if not any(gone):
            raise UnknownName("stored key", found.id, ())

    return routes


HOW_TO_ENTER = "Open the page on the machine itself or over https, or set the variable there."


def _refused(request: Request) -> str:
    """Why a key must not travel over this connection; empty if it may: it would be readable on its
    way, unless it stays on this machine or goes through TLS."""
    if request.url.scheme == "https":
        return ""
    peer = request.client.host if request.client else ""
    if _is_here(peer):
        # A server in front of us says how it was reached itself; who names us otherwise was not
        # reached by our own name of this machine.
        forwarded = request.headers.get("x-forwarded-proto", "")
        near = is_loopback(request.headers.get("host", "")) and not forwarded
        if near or forwarded.strip().lower() == "https":
            return ""
    return "Keys are taken on this machine or over https only: on the way here one could be read."


def _is_here(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return False


def _provider(app: App, name: str) -> Provider:
    known = {each.id: each for each in app.registry.providers.values() if takes_key(each, app.env)}
    if name not in known:
        raise UnknownName("provider that takes a key:", name, known)
    return known[name]


def _rows(app: App, refused: str) -> KeyRows:
    return KeyRows(
        providers=[
            KeyRow(
                provider=each.id,
                label=each.label_at(each.address(app.env)),
                variable=each.key_variable(app.keyed) or each.key_env[0],
                held=_held(app, each),
                get=how_to_get(each, app.env),
            )
            for each in app.registry.providers.values()
            if takes_key(each, app.env)
        ],
        place=app.keys.place,
        refused=refused,
    )


def _held(app: App, provider: Provider) -> Literal["environment", "file", "keyring", "none"]:
    if provider.key_variable(app.env):
        return "environment"
    return next((kept for name in provider.key_env if (kept := app.keys.kept(name))), "none")
