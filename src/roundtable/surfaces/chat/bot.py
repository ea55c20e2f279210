"""The bot: hears what people write in a place, asks the table, and answers there."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Collection
from contextlib import aclosing, suppress
from dataclasses import replace

from ...bootstrap import App
from ...core.errors import LeaseHeld, NewerFile, RoundtableError, UsageError
from ...core.text import redact
from ...core.values import NewsChannel, NewsPlan
from ...search.choose import choose_search
from ...user_procedures import ProcedureFiles
from ...views.outgoing import outgoing
from ..setup.stored import read_stored, store_config, stored_config
from ..setup.suggest import wizard_for
from ..setup.wizard import Wizard
from ..setup.words import HELP
from ..tokens.capability import OWNER
from ..tokens.opening import open_as
from .grammar import Asks, Wants, understand
from .place import Message, Place
from .request import request_of_words

REMEMBERED = 10_000
"""Messages whose ids are kept, so that one that comes twice is answered once."""
NOT_FOR_THE_TABLE = "That is not for the table. Write /roundtable QUESTION, or /roundtable help"
_log = logging.getLogger("roundtable.chat")


class ChatBot:
    """One place, served until it ends. Discussions run side by side; what is under way when the
    program ends is taken up by the next one."""

    def __init__(
        self,
        app: App,
        place: Place,
        *,
        allowed: Collection[str] | None,
        dedicated: Collection[str] = (),
    ) -> None:
        """`allowed` are the chats that may ask (None: all, for a place that is private by itself);
        in the `dedicated` ones every message is a topic."""
        self._app = app
        self._place = place
        self._allowed = allowed
        self._dedicated = dedicated
        self._wizards: dict[str, Wizard] = {}
        self._seen: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._running: set[asyncio.Task[None]] = set()
        self._stored = False

    async def serve(self) -> bool:
        """Answer until the place ends, and then wait for what is being discussed. True if a new
        configuration was stored: the program must be joined anew, and goes on from there."""
        await self._take_up()
        try:
            async with aclosing(self._place.messages()) as messages:
                async for message in messages:
                    if self._is_new(message):
                        await self.hear(message)
                    if self._stored:
                        return True
            await self.settled()
            return False
        finally:
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)

    async def settled(self) -> None:
        """Wait until nothing is being discussed."""
        while self._running:
            await asyncio.wait(self._running)

    async def hear(self, message: Message) -> None:
        """Answer one message. Trouble is said in the chat, never raised."""
        try:
            await self._answer(message)
        except RoundtableError as error:
            await self._say(message.chat_id, f"{error.message}\n{error.remedy}".strip())

    async def _answer(self, message: Message) -> None:
        chat = message.chat_id
        wanted = understand(message.text, dedicated=chat in self._dedicated)
        if self._allowed is not None and chat not in self._allowed:
            if wanted is not None and message.text.startswith("/"):
                await self._say(chat, f"This chat may not ask the table. Its id is {chat}: {ALLOW}")
            return
        if chat in self._wizards and not isinstance(wanted, Wants):
            await self._go_on_with(chat, message.text)
            return
        match wanted:
            case Wants("help"):
                await self._say(chat, HELP.replace("roundtable ", "/roundtable ", 4))
            case Wants("config"):
                await self._say(chat, stored_config(self._app.settings.home) or NO_CONFIG)
            case Wants("setup"):
                self._wizards[chat] = await self._new_wizard()
                await self._ask_next(chat)
            case Asks():
                await self._ask(message, wanted)
            case None:
                if self._place.platform == "terminal":  # elsewhere people talk to each other, too
                    await self._say(chat, NOT_FOR_THE_TABLE)

    async def _ask(self, message: Message, asked: Asks) -> None:
        """Put a question to the table; its news and its verdict go to the chat it came from."""
        request = request_of_words(
            asked,
            self._app.settings,
            created_by=self._signature(message.chat_id),
            news=NewsPlan(
                channels=(NewsChannel(platform=self._place.platform, chat_id=message.chat_id),),
            ),
        )
        mark = f"{self._place.platform}/{message.chat_id}/{message.message_id}"
        key = mark if message.message_id else None  # brought twice, it is asked once
        state, _ = await open_as(self._app, OWNER, request, key=key)
        self._drive(state.discussion_id)

    def _drive(self, discussion_id: str) -> None:
        task = asyncio.create_task(self._run(discussion_id))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run(self, discussion_id: str) -> None:
        try:
            service = self._app.service
            if await service.by_workers():
                await service.enqueue(discussion_id, let_in=True)
                return
            state = await service.read(discussion_id)
            if any(s.speaker.demonstration for s in (*state.participants, state.start.host)):
                await self._app.ensure_weights()
            with suppress(LeaseHeld):  # another process is at it
                await service.run(discussion_id)
            await self._app.notifier.pump([discussion_id])
        except RoundtableError as error:
            _log.warning("%s: %s", discussion_id, redact(str(error)))

    async def _take_up(self) -> None:
        """What this place had asked and nobody finished."""
        ours = f"{self._place.platform}:"
        for row in await self._app.service.summaries():
            if row.standing == "interrupted":
                state = await self._app.service.read(row.discussion_id)
                if state.start.created_by.startswith(ours) and state.paused is None:
                    self._drive(row.discussion_id)

    def _signature(self, chat: str) -> str:
        return f"{self._place.platform}:{chat}"

    async def _go_on_with(self, chat: str, text: str) -> None:
        """The next answer of the set-up; `cancel` leaves everything as it is."""
        if text.strip().lower() in ("cancel", "/cancel"):
            del self._wizards[chat]
            await self._say(chat, "Nothing was stored.")
            return
        said = "" if text.strip().lower() in ("ok", "/ok") else text
        self._wizards[chat] = self._wizards[chat].answer(said)
        await self._ask_next(chat)

    async def _new_wizard(self) -> Wizard:
        """Keys are not for a chat: here only those choose who have some, or know what to name."""
        settings = self._app.settings
        search = choose_search(None, settings.choices.searxng_url, self._app.env)
        try:
            stored = read_stored(settings.home)
        except NewerFile:
            raise
        except UsageError:  # it is kept beside the new one
            stored = {}
        found = await self._app.discover()
        wizard = wizard_for(
            found,
            stored,
            searches=search.name if search else "",
            own=ProcedureFiles(settings.procedure_folders),
        )
        if wizard.defaults["models"] == "none":
            return replace(wizard, defaults={**wizard.defaults, "models": None})
        return wizard

    async def _ask_next(self, chat: str) -> None:
        wizard = self._wizards[chat]
        question = wizard.question
        if question is not None:
            buttons = [option.letter for option in question.options]
            usual = question.shown_default
            told = f"{question}\n(now {usual}; ok keeps it)" if usual else str(question)
            await self._place.say(chat, told, buttons=buttons)
            return
        del self._wizards[chat]
        if not wizard.confirmed:
            await self._say(chat, "Nothing was stored.")
            return
        store_config(self._app.settings.home, wizard.config())
        self._stored = True
        await self._say(chat, "Stored. The next question uses it.")

    async def _say(self, chat: str, text: str) -> None:
        try:
            await self._place.say(chat, outgoing(text))
        except RoundtableError as error:
            _log.warning("%s: %s", self._place.platform, redact(str(error)))

    def _is_new(self, message: Message) -> bool:
        key = (message.chat_id, message.message_id)
        if message.message_id and key in self._seen:
            return False
        self._seen[key] = None
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return True


ALLOW = 'put it into config.toml: [chat] allow = ["…"]'
NO_CONFIG = "There is no configuration yet. Make one with: /roundtable setup"
