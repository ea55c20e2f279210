"""The browser: whether there is one to show a page in, and how it is opened."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping

from ...programs import child, python_child


def has_display(env: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a window can be shown to whoever started this process."""
    if env.get("CI") or env.get("SSH_CONNECTION") or env.get("SSH_TTY"):
        return False
    if platform in ("darwin", "win32"):
        return True
    return bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY"))


def open_browser(url: str, command: str | None = None) -> str:
    """Show a page, by the user's own command or the system's browser. What went wrong, or an
    empty text. `{url}` in the command stands for the address, which otherwise comes last."""
    try:
        if command is None:
            # A process of its own, because Python's way of finding a browser starts programs by
            # their bare names. The address is a secret, so it is not among the arguments.
            opening = python_child(__name__, (), os.environ)
            opened = opening.run(input=url.encode(), stdout=subprocess.DEVNULL)
            return "No browser could be opened." if opened.returncode else ""
        words = shlex.split(command)
        if not words:
            return "The setting `browser` is empty."
        arguments = [word.replace("{url}", url) for word in words]
        if arguments == words:
            arguments.append(url)
        browser = child(arguments, os.environ).popen(
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        _let_go(browser)
    except (OSError, ValueError) as error:
        return f"The browser could not be opened: {error}."
    return ""


def _let_go(browser: subprocess.Popen[bytes]) -> None:
    """It stays open as long as its user likes: a thread takes notice when it ends."""
    import threading

    threading.Thread(target=browser.wait, daemon=True, name="browser").start()


if __name__ == "__main__":
    import webbrowser

    sys.exit(not webbrowser.open(sys.stdin.read()))
