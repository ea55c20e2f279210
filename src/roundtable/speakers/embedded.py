"""The embedded model: a very small one that answers in this process, without key or network.

Its words are real inference and roughly on topic, but it does not reason: it is there to show the
table at work. It keeps to a shape because it is led through it: each heading is written for it,
and a grammar holds what it adds to so many plain sentences.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import queue
import secrets
import shutil
import socket
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core.errors import SpeakerError
from ..core.extras import install
from ..core.values import Usage
from ..listening import Listening
from ..ports import CUT, LONGEST_ANSWER, OnWords, Reply, SpeakRequest
from .grammar import names_in, sentences

MODEL = "local/smollm2-135m"
SLOTS = 4
"""How many answers are written at once; further requests wait for their turn."""
CONTEXT_TOKENS = 2048
"""What one answer and its prompt may have together."""

_TEMPERATURE = 0.3
_REPEAT_PENALTY = 1.1
# A lone space is how this model begins a number. The grammar forbids the digits after it, and the
# model would go on in scraps of letters; without the lone space it goes on in words. The full stop
# is made a little likelier, so that sentences end before the grammar has to cut them.
_WORDS_ONLY = ([" ", False], [".", 1.0])
# A prompt is read in pieces of this many tokens, and between two of them it can be stopped.
_BATCH_TOKENS = 128
_LONGEST_SOCKET_PATH = 100


class EmbeddedSpeaker:
    """The speaker for `local/smollm2-135m`.

    `weights` says where the weights are, and may fetch them first; it is asked once, at the first
    call, and that time does not count against the request's timeout. The model is loaded at the
    first call too. All the speakers of a process share one model; the last to close frees it.
    """

    def __init__(self, weights: Callable[[], Awaitable[Path]]) -> None:
        self._weights = weights
        self._fetching: asyncio.Future[Path] | None = None
        self._model: _Model | None = None

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        path = await self._path()
        if self._model is None:
            self._model = _Model.join(path)
        loop = asyncio.get_running_loop()
        stopped = threading.Event()

        def on_loop(words: str) -> None:
            if not stopped.is_set():
                listening.heard(words)

        def from_worker(words: str) -> None:
            loop.call_soon_threadsafe(on_loop, words)

        listening = Listening.to(request, on_words)
        answer = self._model.workers.submit(
            self._model.answer, request, _Draft(from_worker, stopped)
        )
        try:
            async with listening:
                reply = await asyncio.wrap_future(answer)
            return replace(reply, unheeded=("effort",)) if request.effort else reply
        except TimeoutError:
            raise SpeakerError(
                "timeout",
                f"The embedded model {listening.told}.",
                "Allow more time, or give this seat a faster model.",
            ) from None
        finally:
            # Whoever no longer waits must not keep a slot busy: the worker looks at this.
            stopped.set()

    async def close(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
            self._fetching = None
        if self._model is not None:
            model, self._model = self._model, None
            await asyncio.to_thread(model.leave)

    async def _path(self) -> Path:
        """One fetch for all the calls that wait for it, and for those that come after.

        A call that gives up does not end it: on a slow line the next attempt finds it done.
        """
        if self._fetching is None or (self._fetching.done() and _failed(self._fetching)):
            self._fetching = asyncio.ensure_future(self._weights())
            self._fetching.add_done_callback(_failed)
        return await asyncio.shield(self._fetching)


def _failed(fetching: asyncio.Future[Path]) -> bool:
    """Whether it failed; asking also tells asyncio that the error was seen."""
    return fetching.cancelled() or fetching.exception() is not None


@dataclass(slots=True)
class _Draft:
    """One answer while it is written, and what it used."""

    emit: Callable[[str], None]
    stopped: threading.Event
    text: str = ""
    finish_reason: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    error: Mapping[str, Any] | None = None

    def add(self, words: str) -> None:
        self.text += words
        try:
            self.emit(words)
        except RuntimeError:  # the event loop is gone, and with it everybody who listened
            self.stopped.set()

    def take(self, chunk: Mapping[str, Any]) -> bool:
        """Take in one chunk of the stream; True ends the generation and frees its slot."""
        if "error" in chunk:
            self.error = chunk["error"]
            return True
        for choice in chunk["choices"]:
            if words := choice["delta"].get("content"):
                self.add(words)
            self.finish_reason = choice["finish_reason"] or self.finish_reason
        if usage := chunk.get("usage"):
            cached = usage["prompt_tokens_details"]["cached_tokens"]
            # What a later section re-reads from the slot was counted when it was first read.
            self.input_tokens += usage["prompt_tokens"] - cached
            self.output_tokens += usage["completion_tokens"]
        if len(self.text) > LONGEST_ANSWER:
            self.finish_reason = CUT
            return True
        return self.stopped.is_set()


@dataclass(slots=True)
class _Model:
    """The one loaded model of this process, the threads that wait for it, and who uses it."""

    path: Path
    users: int = 0
    workers: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(SLOTS, thread_name_prefix="embedded-model")
    )
    free_slots: queue.SimpleQueue[int] = field(default_factory=queue.SimpleQueue)
    loading: threading.Lock = field(default_factory=threading.Lock)
    server: Any = None

    def __post_init__(self) -> None:
        for slot in range(SLOTS):
            self.free_slots.put(slot)

    @classmethod
    def join(cls, path: Path) -> _Model:
        global _shared
        with _sharing:
            if _shared is None:
                _shared = cls(path)
            _shared.users += 1
            return _shared

    def leave(self) -> None:
        """Give the model back; the last one waits for the answers under way and frees it."""
        global _shared
        with _sharing:
            self.users -= 1
            if self.users:
                return
            if _shared is self:
                _shared = None
        self.workers.shutdown(cancel_futures=True)
        self.server = None

    def answer(self, request: SpeakRequest, draft: _Draft) -> Reply:
        """Write one answer. Blocks; for a worker thread."""
        with self.loading:
            if self.server is None:
                self.server = _load(self.path)
        slot = self.free_slots.get()
        try:
            if request.shape:
                self._fill(request, draft, slot)
            else:
                self._generate(request, draft, slot, {"cache_prompt": False})
        finally:
            self.free_slots.put(slot)
        if not draft.text.strip():
            raise SpeakerError("empty", "The embedded model answered with nothing.", "Try again.")
        return Reply(
            text=draft.text,
            usage=Usage(
                calls=1, input_tokens=draft.input_tokens, output_tokens=draft.output_tokens
            ),
            served_by=MODEL,
            finish_reason=draft.finish_reason,
        )

    def _fill(self, request: SpeakRequest, draft: _Draft, slot: int) -> None:
        """Section by section: the model goes on after each heading, which it did not write.

        A grammar could make it write the headings too, but it would spell them in unusual tokens
        and lose its thread over them.
        """
        names = names_in(request.user)
        for number, section in enumerate(request.shape):
            draft.add(("\n\n" if number else "") + f"## {section.heading}\n{section.opening}")
            options = {
                "grammar": sentences(section.sentences, names, begun=bool(section.opening)),
                "logit_bias": _WORDS_ONLY,
                # Later sections go on from what the slot holds. The first starts afresh, so that
                # the same request gets the same words whatever the slot was used for before.
                "cache_prompt": number > 0,
            }
            self._generate(request, draft, slot, options)
            if draft.stopped.is_set() or draft.finish_reason != "stop":
                return

    def _generate(
        self, request: SpeakRequest, draft: _Draft, slot: int, options: Mapping[str, object]
    ) -> None:
        messages = [("system", request.system), ("user", request.user), ("assistant", draft.text)]
        self.server.handle_chat_completions(
            {
                "messages": [
                    {"role": role, "content": _without_control_tokens(text)}
                    for role, text in messages
                    if text
                ],
                "max_tokens": max(1, request.max_tokens - draft.output_tokens),
                "temperature": _TEMPERATURE if request.temperature is None else request.temperature,
                "repeat_penalty": _REPEAT_PENALTY,
                "seed": _seed(request.idempotency_key),
                "id_slot": slot,
                "stream": True,
                "stream_options": {"include_usage": True},
                # Reports while the prompt is read: a chance to stop before the first word.
                "return_progress": True,
                **options,
            },
            draft.take,
        )
        if draft.error is not None:
            raise _speaker_error(draft.error)


_sharing = threading.Lock()
_shared: _Model | None = None


def _load(path: Path) -> Any:
    # Before the library is loaded: threads that spin while they wait collapse on a busy machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except ImportError:
        raise SpeakerError(
            "not_found", "The demonstration model is not installed.", install("demo")
        ) from None

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * CONTEXT_TOKENS
    params.n_batch = params.n_ubatch = _BATCH_TOKENS
    # Writing waits for its slowest thread at every token, so it leaves a core to the others;
    # reading a prompt is coarse work, and gains from all of them.
    params.cpuparams.n_threads = max(1, _cores() - 1)
    params.cpuparams_batch.n_threads = _cores()
    params.cache_ram_mib = 0
    # The library holds the interpreter while it loads: no time for measuring and trying out.
    params.fit_params = params.warmup = False
    params.verbosity = 0
    with _nobody_listens(params):
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise SpeakerError(
                "unavailable",
                f"The embedded model at {path} could not be loaded.",
                "Delete the file, it is fetched again; or set the API key of a provider.",
            ) from error


@contextmanager
def _nobody_listens(params: Any) -> Iterator[None]:
    """Keep others away from the web server that the library starts and that we do not use.

    It cannot be turned off. Where there are Unix sockets it listens on one that is removed as soon
    as it exists, so that nobody can reach it; elsewhere on a loopback port. It asks for a key
    that nobody knows, in both cases.
    """
    params.api_keys = [secrets.token_urlsafe(32)]
    params.ui = params.endpoint_slots = False
    params.n_threads_http = 1
    folder = Path(tempfile.mkdtemp(prefix="rt-"))
    try:
        address = str(folder / "s.sock")
        if hasattr(socket, "AF_UNIX") and len(os.fsencode(address)) < _LONGEST_SOCKET_PATH:
            params.hostnames = [address]
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _seed(key: str) -> int:
    """The same request, the same words."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") >> 1


def _without_control_tokens(text: str) -> str:
    """The text with nothing in it that the tokenizer takes for the end of a message."""
    return text.replace("<|", "< |")


def _speaker_error(error: Mapping[str, Any]) -> SpeakerError:
    message = f"The embedded model refused: {error.get('message', 'no reason given')}."
    if error.get("type") == "exceed_context_size_error":
        return SpeakerError(
            "too_long",
            f"The prompt is too long for the embedded model ({CONTEXT_TOKENS} tokens).",
            "Shorten the question and its context, or give this seat a larger model.",
        )
    if error.get("type") == "invalid_request_error":
        return SpeakerError("bad_request", message, "Report this: Roundtable asked for it.")
    return SpeakerError("unavailable", message, "Try again, or give this seat another model.")
