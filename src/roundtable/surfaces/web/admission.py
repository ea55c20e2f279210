"""Admission: who may send a body, decided from the head of a request alone.

Every route decides once more, with the same functions, what may be done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request

from ..openai.wire import WireError, authorise
from . import access
from .refusal import Refused

if TYPE_CHECKING:
    from starlette.types import Scope

    from .access import Web


class Admission:
    """Asks `access` what a link or a key opens."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def __call__(self, scope: Scope) -> bool:
        """Whether anything here takes a body. Refused for whoever may not send one."""
        request = Request(scope)  # without anything to receive from: no body can be read
        path: str = scope["path"]
        try:
            if path.startswith("/api/r/"):
                _, _, _, token, *act = path.split("/")
                grant = access.link(token, self._web)
                if act != ["unlock"]:
                    access.granted(token, request, self._web, grant)
                return True
            if path.startswith("/v1/"):
                authorise(request, self._web.links)
                return True
            if path.startswith("/api/"):
                access.owner(request, self._web)
                return True
        except access.Denied as denied:
            told = {**denied.body}
            raise Refused(
                denied.status,
                told.pop("error"),
                told.pop("remedy"),
                headers=denied.headers,
                **told,
            ) from None
        except WireError as error:
            raise Refused(
                error.status, error.message, "", headers=error.headers, code=error.code
            ) from None
        return False
