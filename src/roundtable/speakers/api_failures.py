"""Why a call failed: the model layer's exceptions as the causes that the engine knows."""

from __future__ import annotations

import re

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
)

from ..core.errors import FailureCause, SpeakerError
from ..core.key_shapes import key_trouble
from ..core.text import REDACTED, redact
from ..net import seconds_to_wait
from .api import Endpoint
from .api_bounds import refusal_in

_LONGEST_DETAIL = 300
_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size|limit)|prompt is too long|input token count|"
    r"maximum prompt length|exceed\w* (?:the )?(?:model )?(?:token|context)|too many tokens",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"no such model|unknown model|model[ _]not[ _]found|invalid model(?: name)?\b|"
    r"not a valid model|model .{0,120}(?:not found|does not exist|is not available|not supported)|"
    r"no endpoints found",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"content[ _](?:policy|filter|management)|moderation|flagged|safety", re.IGNORECASE
)


def failure(error: Exception, endpoint: Endpoint, model: str, *, begun: bool) -> SpeakerError:
    """The cause of a failed call. `begun`: words had come already."""
    if (ours := refusal_in(error)) is not None:
        return SpeakerError(
            "garbled" if ours.cause == "too_large" else "unavailable", ours.message, ours.remedy
        )
    detail = _detail(error, endpoint)
    cause = _cause(error, detail, begun=begun)
    code = f" ({error.status_code})" if isinstance(error, ModelHTTPError) else ""
    said = f": {detail}" if detail else "."
    return SpeakerError(
        cause,
        f"{endpoint.label} {_VERBS.get(cause, 'failed')}{code}{said}",
        _remedy(cause, error, endpoint, model),
        retry_after=_retry_after(error),
    )


def refused(endpoint: Endpoint, reason: object) -> SpeakerError:
    """The provider's own filter stopped the answer."""
    said = f": {_clean(str(reason), endpoint)}" if reason else "."
    return SpeakerError("refused", f"{endpoint.label} refused to answer{said}")


def unfinished(endpoint: Endpoint) -> SpeakerError:
    """The stream ended, but not with the answer's end."""
    return SpeakerError("cut", f"The answer of {endpoint.label} broke off midway.")


_VERBS: dict[FailureCause, str] = {
    "timeout": "did not answer in time",
    "rate_limited": "asks us to slow down",
    "unavailable": "is not available",
    "cut": "broke off midway",
    "auth": "did not let us in",
    "not_found": "does not know the model",
    "refused": "refused to answer",
    "bad_request": "did not accept the request",
    "too_long": "found the prompt too long",
    "garbled": "sent an answer that makes no sense",
}


def _cause(error: Exception, detail: str, *, begun: bool) -> FailureCause:
    match error:
        case TimeoutError() | ModelTimeoutError() | ModelRequestTimeout():
            return "timeout"
        case ModelConnectionError():
            return "cut" if begun else "unavailable"
        case ModelContextWindowExceededError():
            return "too_long"
        case ModelQuotaExceededError() | ModelAuthenticationError():
            # An account without credit is no matter of waiting: somebody has to open the door.
            return "auth"
        case ModelRateLimitError():
            return "rate_limited"
        case ModelNotFoundError():
            return "not_found"
        case ModelUnavailableError() | ModelServerError():
            return "unavailable"
        case ContentFilterError():
            return "refused"
        case ModelHTTPError(status_code=code):
            return _cause_of_status(code, detail)
        case ModelAPIError() if error.in_stream:
            return "cut"
        case _:
            return "garbled"


def _cause_of_status(code: int, detail: str) -> FailureCause:
    if code == 408:
        return "timeout"
    if code in (409, 425) or code >= 500:
        return "unavailable"
    if key_trouble(code, detail) is not None:
        return "auth"  # Google says so with a 400
    if _TOO_LONG.search(detail):
        return "too_long"
    if _NO_MODEL.search(detail):
        return "not_found"  # OpenRouter and LiteLLM say so with a 400
    if _REFUSED.search(detail):
        return "refused"
    return "bad_request"


def _remedy(cause: FailureCause, error: Exception, endpoint: Endpoint, model: str) -> str:
    provider = endpoint.provider
    variable = endpoint.key_variable or " or ".join(provider.key_env)
    match cause:
        case "auth":
            return _about_the_key(error, endpoint, variable)
        case "not_found":
            return f"Check the name {model!r}, or choose another model (roundtable models)."
        case "too_long":
            return "Shorten the context, or use a model with a larger window."
        case "rate_limited":
            return "Wait a little, or let fewer calls run at once."
        case "unavailable" if isinstance(error, ModelConnectionError):
            return f"Is {redact(endpoint.base_url)} reachable from here, and running?"
        case _:
            return ""


def _about_the_key(error: Exception, endpoint: Endpoint, variable: str) -> str:
    """What is the matter with it: of another vendor, without credit, expired, or simply wrong."""
    provider = endpoint.provider
    get = provider.get_at(endpoint.base_url)
    status = error.status_code if isinstance(error, ModelHTTPError) else 401
    trouble = key_trouble(status, _detail(error, endpoint))
    if isinstance(error, ModelQuotaExceededError) or trouble == "no credit":
        return f"The account behind {variable} has no credit left: top it up, or use another."
    if trouble == "expired":
        return f"The key of {variable} has expired. {get}".strip()
    return f"Check the value of {variable}. {get}".strip()


def _retry_after(error: Exception) -> float | None:
    if not isinstance(error, ModelAPIError):
        return None
    if error.retry_after is None and isinstance(error, ModelHTTPError):
        # Fractions of a second are not in the standard, and are sent nevertheless.
        return seconds_to_wait((error.headers or {}).get("retry-after"))
    return error.retry_after


def _detail(error: Exception, endpoint: Endpoint) -> str:
    """What the provider said, in one line and without secrets."""
    body = error.body if isinstance(error, ModelAPIError) else None
    if isinstance(body, list) and body:
        body = body[0]  # Google wraps its errors in a list
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    message = body.get("message") if isinstance(body, dict) else body
    if not isinstance(message, str):
        message = "" if isinstance(error, ModelHTTPError) else _innermost(error)
    return _clean(message, endpoint)


def _innermost(error: BaseException) -> str:
    """The message of the exception at the root, which says more than those wrapped around it."""
    message = str(error)
    while error.__cause__ is not None:
        error = error.__cause__
        message = str(error) or message
    return message


def _clean(text: str, endpoint: Endpoint) -> str:
    if endpoint.key:
        text = text.replace(endpoint.key, REDACTED)
    line = " ".join(redact(text).split())
    if len(line) > _LONGEST_DETAIL:
        return f"{line[:_LONGEST_DETAIL]}…"
    return line if not line or line[-1] in ".!?…" else f"{line}."
