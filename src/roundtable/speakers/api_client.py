"""The connections and model objects of one event loop, and one call through them.

Heavy to import (the model layer and, on first use, the vendors' packages): only `api` does, and
only when a call is due.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncGenerator, Iterator
from urllib.parse import quote

import httpx2
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPartDelta,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from ..core.declaration_block import LABEL
from ..core.errors import SpeakerError
from ..net import trusted_roots
from ..ports import CUT, LONGEST_CALL, SpeakRequest
from .api import Endpoint, Extra
from .api_bounds import bound, refusal_in
from .api_failures import failure, refused, unfinished
from .strict_schema import strict

_NO_KEY = "none"
"""Sent to servers that ask for no key, since the packages insist on one."""
_SLACK = 5.0
_EFFORT_BY_NAME = ("google", "openrouter")
"""Providers that take `reasoning_effort` for all their models in chat completions; of others the
model layer knows which of their models take it."""


class ApiClient:
    """Builds each model object once, over one shared pool of connections."""

    def __init__(self) -> None:
        self._http = httpx2.AsyncClient(
            verify=trusted_roots(),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=32),
            follow_redirects=True,
            # Unpacked, a small answer could become a very large one.
            headers={"accept-encoding": "identity"},
            event_hooks={"response": [bound]},
        )
        self._models: dict[tuple[str, str, str, str], ApiModel] = {}

    def call(self, endpoint: Endpoint, name: str, request: SpeakRequest) -> ApiCall:
        """Prepare one call to the provider's model `name`."""
        key = (endpoint.provider.id, endpoint.base_url, endpoint.key, name)
        model = self._models.get(key)
        if model is None:
            model = self._models[key] = ApiModel(endpoint, name, self._http)
        return ApiCall(endpoint, model, request)

    async def close(self) -> None:
        self._models.clear()
        await self._http.aclose()


class ApiModel:
    """One model of one provider, ready to be called."""

    def __init__(self, endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> None:
        self.settings = ModelSettings()
        if endpoint.dialect == "messages":
            self.model: Model = _messages_model(endpoint, name, http)
        elif endpoint.dialect == "responses":
            self.model = _responses_model(endpoint, name, http)
            # What is said at the table is kept in our ledger, not at the vendor's.
            self.settings = {"openai_store": False}  # type: ignore[typeddict-unknown-key]
        else:
            self.model = _chat_model(endpoint, name, http)
        profile = self.model.profile
        # The model layer drops the setting without a word where it does not know the model.
        self.takes_thinking = bool(profile.get("supports_thinking"))
        self.takes_effort = endpoint.dialect == "chat" and endpoint.provider.id in _EFFORT_BY_NAME
        self.takes_schema = bool(profile.get("supports_json_schema_output"))
        # Models that reason take no temperature; asked for one, the model layer would only warn.
        self.takes_temperature = not (
            profile.get("anthropic_disallows_sampling_settings")
            or (
                profile.get("openai_supports_reasoning")
                and profile.get("thinking_enabled_by_default")
            )
        )


class ApiCall:
    """One call in flight: its words as they come, and afterwards what is known of it."""

    def __init__(self, endpoint: Endpoint, model: ApiModel, request: SpeakRequest) -> None:
        self._endpoint = endpoint
        self._model = model
        self._request = request
        self._usage = RequestUsage()
        self._started = False
        self._left = request.payable_answer
        self._most_thoughts = request.longest_answer  # not every server counts them as words
        self.hung_up = False
        """Whether it was we who ended it, before it came to its end."""
        self.thought = 0
        """Characters of its thoughts, as far as they are told."""
        self.served_by = ""
        self.finish_reason = ""

    async def words(self) -> AsyncGenerator[str, None]:
        """The answer, piece by piece. Raises SpeakerError unless it came to its proper end, or is
        longer than anybody reads or waits for: then it ends there, and its `finish_reason` says
        so. Whoever is silent is not its concern, so each piece is a time to look at the clock."""
        clock = asyncio.get_running_loop().time
        over = clock() + LONGEST_CALL
        try:
            async with model_request_stream(
                self._model.model,
                self._messages(),
                model_settings=self._settings(),
                model_request_parameters=self._parameters(),
            ) as stream:
                async for event in stream:
                    for piece in self._pieces(event):
                        yield piece
                        self._left -= len(piece)
                    if self._left < 0 or self.thought > self._most_thoughts or clock() > over:
                        self._hang_up()
                        return
                self._finish(stream)
        except SpeakerError:
            raise
        except Exception as error:
            # The original may quote the key: it is told in our words, and not kept as a cause.
            ours = refusal_in(error)
            if not (self._started and ours and ours.cause == "too_large"):
                begun = self._started
                raise failure(error, self._endpoint, self._request.model, begun=begun) from None
            self._hang_up()

    def _hang_up(self) -> None:
        self.hung_up, self.finish_reason = True, CUT

    def _pieces(self, event: object) -> Iterator[str]:
        if isinstance(event, PartDeltaEvent):
            if isinstance(event.delta, TextPartDelta) and event.delta.content_delta:
                yield event.delta.content_delta
            elif isinstance(event.delta, ThinkingPartDelta) and event.delta.content_delta:
                self.thought += len(event.delta.content_delta)
                yield ""  # its thoughts are not our business, only that it has some
        elif isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
            if self._started and event.previous_part_kind != "text":
                yield "\n\n"
            self._started = True
            if event.part.content:
                yield event.part.content

    @property
    def extras(self) -> frozenset[Extra]:
        """What of the request a provider may refuse although it answers without."""
        model = self._model
        thinks = self._request.effort is not None and (model.takes_thinking or model.takes_effort)
        found: list[Extra] = ["effort"] if thinks else []
        return frozenset([*found, "schema"] if self.structured else found)

    @property
    def structured(self) -> bool:
        """Whether the provider itself holds the answer to a schema."""
        return self._request.schema is not None and self._model.takes_schema

    @property
    def measured(self) -> bool:
        """Whether the provider counted its tokens."""
        return self._usage.has_values() and not self._usage.unmeasured_requests

    @property
    def input_tokens(self) -> int:
        return self._usage.input_tokens

    @property
    def output_tokens(self) -> int:
        return self._usage.output_tokens

    @property
    def cached_tokens(self) -> int:
        return self._usage.cache_read_tokens

    def _finish(self, stream: StreamedResponse) -> None:
        details = stream.provider_details or {}
        if stream.finish_reason == "content_filter":
            raise refused(self._endpoint, details.get("refusal"))
        reason = details.get("finish_reason")
        if not reason or stream.finish_reason == "error":
            # Without the vendor's own last word this is half an answer, however whole it looks.
            raise unfinished(self._endpoint)
        self._usage = stream.usage
        self.served_by = stream.model_name
        self.finish_reason = stream.finish_reason or str(reason)

    def _messages(self) -> list[ModelMessage]:
        request = self._request
        prompt = UserPromptPart(content=self._user())
        return [ModelRequest(parts=[prompt], instructions=request.system or None)]

    def _user(self) -> str | list[UserContent]:
        """The user's part. Where later calls begin alike, a mark says how far, for the vendor whose
        servers remember only up to a mark; all others remember by themselves."""
        words, repeated = self._request.user, self._request.repeated
        if not repeated or self._endpoint.dialect != "messages":
            return words
        return [words[:repeated], CachePoint(), words[repeated:]]

    def _parameters(self) -> ModelRequestParameters:
        schema = self._request.schema
        if schema is None or not self.structured:
            return ModelRequestParameters()
        wanted = OutputObjectDefinition(strict(schema), name=LABEL, strict=True)
        return ModelRequestParameters(output_mode="native", output_object=wanted)

    def _settings(self) -> ModelSettings:
        request = self._request
        settings: ModelSettings = {
            **self._model.settings,
            "max_tokens": request.max_tokens,
            # Of each read from the network: the silence of a call is ours to judge.
            "timeout": max(request.timeout, request.silence or 0.0) + _SLACK,
            # A header is ASCII; ids are not always.
            "extra_headers": {"Idempotency-Key": quote(request.idempotency_key, safe="/:#@+,;= ")},
        }
        if request.effort is not None and self._model.takes_thinking:
            settings["thinking"] = request.effort
        elif request.effort is not None and self._model.takes_effort:
            settings = {**settings, "openai_reasoning_effort": request.effort}  # type: ignore[typeddict-unknown-key]
        if (
            request.temperature is not None
            and self._model.takes_temperature
            and "effort" not in self.extras
        ):
            settings["temperature"] = request.temperature
        return settings


def _messages_model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    # The package warns programmers of models near their end of life. Our user chose the model, and
    # learns of its end from the provider's answer; a program that turns warnings into errors must
    # not lose the call.
    warnings.filterwarnings("ignore", r"The model '.*' is deprecated", DeprecationWarning)
    # A key and a token from ANTHROPIC_AUTH_TOKEN travel alike, as a bearer's.
    client = AsyncAnthropic(
        api_key=endpoint.key, base_url=endpoint.base_url, http_client=http, max_retries=0
    )
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def _responses_model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(
        api_key=endpoint.key, base_url=endpoint.base_url, http_client=http, max_retries=0
    )
    return OpenAIResponsesModel(name, provider=OpenAIProvider(openai_client=client))


def _chat_model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile, openai_model_profile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    client = AsyncOpenAI(
        api_key=endpoint.key or _NO_KEY, base_url=endpoint.base_url, http_client=http, max_retries=0
    )
    # OpenAI's reasoning models take only the new name of the limit; most other servers know only
    # the old one.
    reasons = bool((openai_model_profile(name) or {}).get("openai_supports_reasoning"))
    provider = OpenAICompatibleProvider(
        endpoint.provider.id,
        openai_client=client,
        profile=OpenAIModelProfile(openai_chat_supports_max_completion_tokens=reasons),
    )
    return OpenAIChatModel(name, provider=provider)
