"""Why a call failed: what a provider reports, and what happens on the way, as the causes that the
engine knows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import httpx2

from ..core.errors import FailureCause, NetError, SpeakerError
from ..core.key_shapes import key_trouble
from ..core.model_trouble import REMEDIES, VERBS, ModelTrouble, model_trouble
from ..core.pattern import pattern
from ..core.text import REDACTED, redact
from ..core.throttle import span
from ..net import seconds_to_wait
from ..proxies import of_the_proxy, proxy_named_by
from .answer import ProviderError
from .api import Endpoint
from .hearing import WebPage

_LONGEST_DETAIL = 300
_NO_CONNECTION = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)
SHORT_KEY = 8
LONG_WAIT = 60.0
"""Seconds; a discussion does not wait much longer for anybody."""
_TOO_LONG = pattern(
    r"context[ _]?(?:length|window|size|limit)|prompt is too long|input token count|"
    r"maximum prompt length|exceed\w* (?:the )?(?:model )?(?:token|context)|too many tokens",
    re.IGNORECASE,
)
_SURELY_TOO_LONG = pattern(
    r"maximum context length|reduce the length of the messages|prompt is too long"
)
_REFUSED = pattern(
    r"content[ _](?:policy|filter|management)|moderation|flagged|safety", re.IGNORECASE
)


def failure(error: Exception, endpoint: Endpoint, model: str, *, begun: bool) -> SpeakerError:
    """The cause of a failed call. `begun`: words had come already."""
    if isinstance(error, NetError):
        return _on_the_way(error, endpoint)
    if isinstance(error, WebPage):
        address = redact(endpoint.base_url)
        return SpeakerError(
            "garbled",
            f"{endpoint.label} answers with a web page: there is no model server at {address}.",
            "Check the address (most end with /v1).",
        )
    if isinstance(error, _NO_CONNECTION) and (proxy := proxy_named_by(endpoint.base_url)):
        return SpeakerError(
            "unavailable",
            f"{endpoint.label} was not reached: the proxy that {proxy} names did not pass on the "
            "call.",
            of_the_proxy(proxy),
        )
    detail = _detail(error, endpoint)
    cause = _cause(error, detail, begun=begun)
    status = _status(error)
    code = f" ({status})" if status else ""
    said = f": {detail}" if detail else "."
    trouble = _trouble(error, detail) if cause == "not_found" else None
    if cause == "not_found" and trouble is None:
        return _nothing_there(endpoint, model, said)
    verb = "finds no credit on the account" if _no_credit(error, detail) else _VERBS.get(cause)
    if trouble is not None:
        verb = VERBS[trouble]
    return SpeakerError(
        cause,
        f"{endpoint.label} {verb or 'failed'}{code}{said}",
        REMEDIES[trouble] if trouble else _remedy(cause, error, endpoint),
        retry_after=_retry_after(error),
        trouble=trouble,
    )


def _on_the_way(error: NetError, endpoint: Endpoint) -> SpeakerError:
    if error.cause == "redirect":
        # It would do so again: nothing is gained by another try.
        told = f"{endpoint.label} redirects to another place, which is not followed."
        return SpeakerError("bad_request", told, error.remedy)
    cause: FailureCause = "garbled" if error.cause == "too_large" else "unavailable"
    return SpeakerError(cause, error.message, error.remedy)


def refused(endpoint: Endpoint, reason: object) -> SpeakerError:
    """The provider's own filter stopped the answer."""
    said = f": {_clean(str(reason), endpoint)}" if reason else "."
    return SpeakerError("refused", f"{endpoint.label} refused to answer{said}")


def unfinished(endpoint: Endpoint) -> SpeakerError:
    """The stream ended, but not with the answer's end."""
    return SpeakerError("cut", f"{endpoint.label} broke off midway through its answer.")


def _trouble(error: Exception, detail: str) -> ModelTrouble | None:
    """What is the matter with the model, if it is the model."""
    if not isinstance(error, ProviderError):
        return None
    # An error in the middle of a stream has no status but what its words give away.
    return model_trouble(_status(error) or 400, " ".join(_named(error)), detail)


def _nothing_there(endpoint: Endpoint, model: str, said: str) -> SpeakerError:
    """A 404 that says nothing of a model: the address may be wrong as well as the name."""
    address = redact(endpoint.base_url)
    return SpeakerError(
        "not_found",
        f"{endpoint.label} answers 404: the address {address} may be wrong, or it has no model "
        f"{model!r}{said}",
        "Check the address first (most end with /v1), then the model's name (roundtable models).",
    )


_VERBS: dict[FailureCause, str] = {
    "timeout": "did not answer in time",
    "rate_limited": "asks us to slow down",
    "unavailable": "is not available",
    "cut": "broke off midway",
    "auth": "did not let us in",
    "refused": "refused to answer",
    "bad_request": "did not accept the request",
    "too_long": "found the prompt too long",
    "garbled": "sent an answer that makes no sense",
}


def _cause(error: Exception, detail: str, *, begun: bool) -> FailureCause:
    match error:
        case TimeoutError() | httpx2.TimeoutException():
            return "timeout"
        case httpx2.TransportError():
            return "cut" if begun else "unavailable"
        case ProviderError():
            return _cause_reported(error, detail)
        case _:
            return "garbled"


def _cause_reported(error: ProviderError, detail: str) -> FailureCause:
    status = _status(error)
    kind = _kind(error, status)
    of_model = kind in ("auth", "not_found", None) and not _TOO_LONG.search(detail)
    if of_model and _trouble(error, detail) is not None:
        return "not_found"
    if kind is not None:
        # An account without credit is no matter of waiting: somebody has to open the door.
        return "auth" if kind == "no credit" else kind
    if status is None:
        return "cut"  # the stream ended with an error that has no number
    return _cause_of_status(status, detail)


_NO_CREDIT = frozenset([
    "insufficient_quota", "billing_hard_limit_reached", "credit_balance_exhausted",
    "organization_spend_limit_exceeded", "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded", "billing_error",
])  # fmt: skip
_OF_PARAMETERS = frozenset(["unsupported_parameter", "unsupported_value", "unknown_parameter"])
_STATUSES = {
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "too_many_requests": 429,
    **dict.fromkeys(_NO_CREDIT, 429),
    "context_length_exceeded": 400,
    "service_unavailable": 503,
    "service_unavailable_error": 503,
    "server_is_overloaded": 503,
    "overloaded": 503,
    "server_error": 500,
}
"""The status that an error has before a stream begins, by its code or its type."""
_STATUSES_AT_ANTHROPIC = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_BY_STATUS: dict[int, FailureCause] = {
    401: "auth",
    403: "auth",
    404: "not_found",
    429: "rate_limited",
}


def _status(error: Exception) -> int | None:
    """The status of an error; of one in a stream, the one that it would have had before."""
    if not isinstance(error, ProviderError):
        return None
    if error.status is not None:
        return error.status
    code, kind = _named(error)
    if isinstance(error.body, Mapping) and error.body.get("type") == "error" and not code:
        return _STATUSES_AT_ANTHROPIC.get(kind)
    for name in (code, kind):
        if name in _STATUSES:
            return _STATUSES[name]
    return int(code) if code.isdecimal() and 400 <= int(code[:4]) < 600 else None


def _kind(error: ProviderError, status: int | None) -> FailureCause | Literal["no credit"] | None:
    """What an error is by its own words, or by a status that says enough."""
    code, kind = _named(error)
    said = str(_told(error.body)).lower()
    if code in _NO_CREDIT or kind in _NO_CREDIT or "credit balance is too low" in said:
        return "no credit"
    if status == 429 and key_trouble(status, said) and _retry_after(error) is None:
        return "no credit"
    if code == "context_length_exceeded" or _SURELY_TOO_LONG.search(said):
        return "too_long"
    if any(word in name for name in (code, kind) for word in ("overloaded", "over capacity")):
        return "unavailable"
    if code in _OF_PARAMETERS:
        return "bad_request"  # whatever it says of models
    if code == "invalid_api_key":
        return "auth"
    if kind == "rate_limit_error":
        return "rate_limited"
    if status == 402:
        return "no credit"
    if status == 403 and _flagged(error.body):
        return "refused"
    return _BY_STATUS.get(status) if status is not None else None


def _no_credit(error: Exception, detail: str) -> bool:
    if not isinstance(error, ProviderError):
        return False
    status = _status(error)
    kind = _kind(error, status)
    if kind in ("auth", None) and status is not None:
        return key_trouble(status, detail) == "no credit"
    return kind == "no credit"


def _named(error: ProviderError) -> tuple[str, str]:
    """The code and the type of an error."""
    told = _told(error.body)
    if not isinstance(told, Mapping):
        return "", ""
    code, kind = told.get("code"), told.get("type")
    return (
        str(code) if isinstance(code, str | int) else "",
        kind if isinstance(kind, str) else "",
    )


def _told(body: object) -> object:
    """The part of a body that tells of the error."""
    if isinstance(body, list) and body:
        body = body[0]  # Google wraps its errors in a list
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping | str):
        return body["error"]
    return body


def _flagged(body: object) -> bool:
    """Whether it is the prompt that was not liked, and not the key: OpenRouter says both by 403."""
    told = _told(body)
    metadata: Any = told.get("metadata") if isinstance(told, Mapping) else None
    return isinstance(metadata, Mapping) and ("flagged_input" in metadata or "reasons" in metadata)


def _cause_of_status(code: int, detail: str) -> FailureCause:
    if code < 400:
        return "garbled"
    if code == 408:
        return "timeout"
    if code in (409, 425) or code >= 500:
        return "unavailable"
    if key_trouble(code, detail) is not None:
        return "auth"  # Google says so with a 400
    if _TOO_LONG.search(detail):
        return "too_long"
    if _REFUSED.search(detail):
        return "refused"
    return "bad_request"


def _remedy(cause: FailureCause, error: Exception, endpoint: Endpoint) -> str:
    provider = endpoint.provider
    variable = endpoint.key_variable or " or ".join(provider.key_env)
    match cause:
        case "auth":
            return _about_the_key(error, endpoint, variable)
        case "too_long":
            return "Shorten the context, or use a model with a larger window."
        case "rate_limited" if (wait := _retry_after(error) or 0.0) > LONG_WAIT:
            return f"Come back in {span(wait)}, or use a model of another provider."
        case "rate_limited":
            return "Wait a little, or let fewer calls run at once."
        case "unavailable" if isinstance(error, httpx2.TransportError):
            return f"Is {redact(endpoint.base_url)} reachable from here, and running?"
        case _:
            return ""


def _about_the_key(error: Exception, endpoint: Endpoint, variable: str) -> str:
    """What is the matter with it: of another vendor, without credit, expired, or simply wrong."""
    provider = endpoint.provider
    get = provider.get_at(endpoint.base_url)
    status = _status(error) or 401
    detail = _detail(error, endpoint)
    trouble = key_trouble(status, detail)
    if _no_credit(error, detail):
        return f"The account behind {variable} has no credit left: top it up, or use another."
    if trouble == "expired":
        return f"The key of {variable} has expired. {get}".strip()
    if trouble == "forbidden":
        return (
            "That is its reason. Ask whoever runs it what this key may do, and from where, or use "
            "a model of another provider."
        )
    if not endpoint.key:
        return f"It needs a key: set {variable}. {get}".strip()
    return f"Check the value of {variable}. {get}".strip()


def _retry_after(error: Exception) -> float | None:
    if not isinstance(error, ProviderError):
        return None
    milliseconds = seconds_to_wait(error.headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    return seconds_to_wait(error.headers.get("retry-after"))


def _detail(error: Exception, endpoint: Endpoint) -> str:
    """What the provider said, in one line and without secrets."""
    if not isinstance(error, ProviderError):
        return _clean(_innermost(error), endpoint)
    told = _told(error.body)
    message = told.get("message") if isinstance(told, Mapping) else told
    if isinstance(message, str) and message.lstrip()[:1] == "<":
        return "it sent a web page."
    return _clean(message, endpoint) if isinstance(message, str) else ""


def _innermost(error: BaseException) -> str:
    """The message of the exception at the root, which says more than those wrapped around it."""
    message = str(error)
    while error.__cause__ is not None:
        error = error.__cause__
        message = str(error) or message
    return message


def _clean(text: str, endpoint: Endpoint) -> str:
    if endpoint.key:
        # A key that is no secret, such as x, stands within words.
        text = re.sub(rf"(?<!\w){re.escape(endpoint.key)}(?!\w)", REDACTED, text)
        text = text.replace(endpoint.key, REDACTED) if len(endpoint.key) >= SHORT_KEY else text
    line = " ".join(redact(text).split())
    if len(line) > _LONGEST_DETAIL:
        return f"{line[:_LONGEST_DETAIL]}…"
    return line if not line or line[-1] in ".!?…" else f"{line}."
