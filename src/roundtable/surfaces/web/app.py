"""The application: the routes, the page's files and the guard, joined."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from ...bootstrap import App
from ...core import errors
from ...core.text import redact
from ...core.visible import shown
from ...version import __version__
from ..openai.api import router as openai_routes
from ..tokens.store import shared_of
from ..toolset import Toolset
from .access import (
    A_YEAR,
    PASSWORDS_PER_MINUTE,
    Admitted,
    Denied,
    Here,
    Web,
    admit,
    hand_of,
    is_owner,
    keep_hand,
    to_show,
)
from .api import link_routes, owner_routes
from .assets import HOME, PAGE, shell
from .bodies import REFUSALS
from .guard import STRICT_HEADERS, Guard
from .hosts import Hosts
from .keys_api import router as key_routes
from .limits import BURST, WRITES_PER_MINUTE, Rate, SharedRate
from .links import Links
from .readiness import Readiness
from .refusal import problem, told, when_again
from .running import Running
from .schedules_api import router as schedule_routes
from .sse import Rooms
from .start_api import router as start_routes
from .tokens_api import router as token_routes
from .tools_api import router as tool_routes

_STATUSES: tuple[tuple[type[errors.RoundtableError], int], ...] = (
    (errors.UnknownDiscussion, 404),
    (errors.UnknownName, 404),
    (errors.Forbidden, 403),
    (errors.TooBusy, 429),
    (errors.NotAllowed, 409),
    (errors.LeaseHeld, 409),
    (errors.LeaseLost, 409),
    (errors.LedgerConflict, 409),
    (errors.UsageError, 422),
    (errors.LedgerError, 503),
)
_FOR_PROGRAMS = ("/api/", "/v1/", "/assets/")
"""Where whoever asks reads JSON; elsewhere it is somebody with a browser."""
_NOBODY = "rt_00000000"
"""Any id does: it is only asked whether there is an answer."""
log = logging.getLogger(__name__)


def make_app(
    app: App,
    links: Links,
    *,
    host: str = "127.0.0.1",
    allow_hosts: Iterable[str] = (),
    rate: Rate | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> FastAPI:
    """The whole service. `host` is the address that it listens on, `allow_hosts` are further names
    under which it may be called. Its lifespan ends what it drives, resumably."""
    running = Running(app.service, app.exchange)
    links.tokens.now = now
    readiness = Readiness(lambda: app.service.is_driven(_NOBODY))
    web = Web(app, links, running, Rooms(app.service, running.draft_store), readiness, now)
    if (server := app.server) is not None:
        rate = rate or SharedRate("writes", WRITES_PER_MINUTE, BURST, server)
        passwords = SharedRate("passwords", PASSWORDS_PER_MINUTE, PASSWORDS_PER_MINUTE, server)
        web = replace(web, passwords=passwords)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(web.readiness.close)
            stack.push_async_callback(web.running.close)
            stack.push_async_callback(web.rooms.close)
            await stack.enter_async_context(running.exchanging())
            shared = shared_of(app.settings)
            if server is not None and shared is not None:
                await stack.enter_async_context(shared.followed(server))
            yield

    service = FastAPI(
        title="Roundtable",
        version=__version__,
        summary="Discussions of several AI experts: watch, join, start and share them.",
        openapi_url="/api/openapi.json",
        dependencies=[Admitted],
        docs_url=None,  # those pages load from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        # It would write addresses, and the tokens in them, into every trace.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    service.state.web = web
    # Not the feeds: they are told apart by their kind, and go out as they come.
    service.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    service.add_middleware(
        Guard,
        hosts=Hosts(host, allow_hosts),
        rate=rate,
        admit=lambda scope: admit(web, scope),
        hand=lambda scope: hand_of(web, scope),
    )
    _explain_errors(service)
    _pages(service)
    # Those that know no service are made once in a process: it takes long to describe them.
    service.include_router(link_routes())
    service.include_router(owner_routes())
    _others(service, web)
    return service


def _others(service: FastAPI, web: Web) -> None:
    """The doors that have files of their own."""
    service.include_router(start_routes(web.app))
    service.include_router(key_routes())
    service.include_router(token_routes())
    service.include_router(schedule_routes())
    tools = Toolset(web.app, web.running)
    service.include_router(tool_routes(tools), responses=REFUSALS)
    service.include_router(openai_routes(web.app, web.running, web.links))


def _pages(service: FastAPI) -> None:
    @service.get("/", include_in_schema=False)
    async def list_page(request: Request, here: Here, key: str = "") -> Response:
        if key and here.links.is_owner(key):
            # The key leaves the address bar at once, and stays out of the history.
            away = RedirectResponse("/", status_code=303)
            away.set_cookie(
                here.owner_cookie,
                here.links.session,
                max_age=A_YEAR,
                httponly=True,
                samesite="strict",
            )
            return away
        if is_owner(request, here):
            return HTMLResponse(shell(HOME))
        return _plain_page(
            401,
            "This page is its owner's",
            "<code>roundtable serve</code> prints the owner's link; open that once here.",
        )

    @service.get("/r/{token}", include_in_schema=False)
    async def discussion_page(token: str, here: Here) -> Response:
        try:
            shown_link = to_show(here, token)
        except Denied as denied:
            return _plain_page(404, denied.error.removesuffix("."), denied.remedy)
        if shown_link is None:
            return HTMLResponse(shell())
        # Whoever passes on what the address bar shows lets others watch, and no more.
        away = RedirectResponse(f"/r/{shown_link}", status_code=303)
        keep_hand(here, away, token, shown_link)
        return away

    @service.get("/api/health", tags=["service"])
    async def health(here: Here, challenge: str = "") -> dict[str, str]:
        """Whether it is up, and a proof that it is the server of this installation."""
        return {
            "status": "up",
            "version": __version__,
            "proof": here.links.proof(challenge[:200]),
        }

    @service.get("/healthz", tags=["service"])
    async def healthz() -> dict[str, str]:
        """Whether the process is alive: it answers."""
        return {"status": "alive"}

    @service.get("/readyz", tags=["service"])
    async def readyz(here: Here) -> Response:
        """Whether requests should come here: the database answers, and it is not about to end."""
        if here.rooms.draining:
            return JSONResponse({"status": "draining"}, status_code=503)
        if not await here.readiness.answers():
            return JSONResponse({"status": "the database does not answer"}, status_code=503)
        return JSONResponse({"status": "ready"})

    service.mount("/assets", StaticFiles(directory=PAGE), name="assets")


def _plain_page(status: int, title: str, text: str) -> Response:
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title} · Roundtable</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/assets/style.css">'
        f'<main class="plain"><h1>{title}</h1><p>{text}</p></main></html>'
    )
    return HTMLResponse(page, status_code=status)


def _explain_errors(service: FastAPI) -> None:
    """Every refusal says what happened and what to do next, and none of them a secret."""

    def answer(
        request: Request, status: int, error: str, remedy: str = "", **more: Any
    ) -> Response:
        body = problem(request.url.path, status, shown(error), shown(remedy), **more)
        return JSONResponse(body, status_code=status)

    @service.exception_handler(Denied)
    async def denied(request: Request, error: Denied) -> Response:
        body = problem(request.url.path, error.status, error.error, error.remedy, **error.more)
        return JSONResponse(body, status_code=error.status, headers=error.headers)

    @service.exception_handler(errors.RoundtableError)
    async def ours(request: Request, error: errors.RoundtableError) -> Response:
        status = next((code for kind, code in _STATUSES if isinstance(error, kind)), 500)
        if status >= 500:
            log.error("%s: %s", type(error).__name__, redact(str(error)))
        if isinstance(error, errors.SecretsFound):  # a page asks what is to become of them
            found = [shown(each) for each in error.found]
            return answer(request, status, error.message, error.remedy, code="secrets", found=found)
        given = answer(request, status, *told(error))
        if status in (429, 503):
            given.headers.update(when_again(error))
        return given

    @service.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        wrong = "; ".join(
            f"{'.'.join(str(part) for part in each['loc'][1:]) or each['loc'][0]}: {each['msg']}"
            for each in error.errors()[:5]
        )
        remedy = "GET /api/openapi.json describes every request."
        # A body that can be read and says something wrong is told apart from a wrong address.
        status = 422 if any(each["loc"][0] == "body" for each in error.errors()) else 400
        return answer(request, status, f"The request is not as expected: {wrong}.", remedy)

    @service.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404 and not request.url.path.startswith(_FOR_PROGRAMS):
            return _plain_page(404, "There is no such page", 'See <a href="/">all decisions</a>.')
        given = answer(request, error.status_code, str(error.detail))
        given.headers.update(error.headers or {})
        return given

    @service.exception_handler(Exception)
    async def defect(request: Request, _: Exception) -> Response:
        # The traceback is logged by whoever serves us, without the address: it holds the token.
        given = answer(
            request,
            500,
            "Something broke in the server.",
            "Its log says more: what `roundtable serve` prints, or web.log in its home where it "
            "runs in the background.",
        )
        # Whatever was not foreseen is answered outside of the guard.
        given.headers.update({**STRICT_HEADERS, "cache-control": "no-store"})
        return given
