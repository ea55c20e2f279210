"""The one sanitiser: what leaves as Markdown loads, runs and hides nothing."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from roundtable.views.outgoing import outgoing, outgoing_document, outgoing_words

pytestmark = pytest.mark.requirement("Z-12")

PIECES = [
    "![", "[", "]", "](", ")", "][", "]:", "<", ">", "<img src=x>", "<div", "</b>", "<!--", "-->",
    "https://bank.com", "http://evil.example/p.png", "javascript:alert(1)", "`", "``", "```", "~~~",
    "\n", "\n\n", "> ", "- ", "1) ", "    ", "|", "\n|---|---|\n", "\\", "!", "*", "_", "# ", "a",
    " ", "\t", '"', "'", "&lt;", "=", "中", "\u202e", "\x1b", "<https://evil.example|bank.com>",
]  # fmt: skip


class Reader(MarkdownIt):
    """Allows everything."""

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802
        return True


@cache
def reader(*, tables: bool) -> MarkdownIt:
    made = Reader("commonmark", {"html": True})
    return made.enable("table") if tables else made


def tokens(text: str, *, tables: bool) -> list[Token]:
    """All there is in a text for that reader."""
    found = reader(tables=tables).parse(text)
    return [*found, *(child for token in found for child in token.children or ())]


@pytest.mark.parametrize("tables", [True, False])
@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=24).map("".join))
def test_no_text_leaves_a_picture_or_html_for_any_reader(tables: bool, text: str) -> None:
    clean = outgoing(text)
    kinds = {token.type for token in tokens(clean, tables=tables)}
    assert not kinds & {"image", "html_inline", "html_block"}, clean
    assert outgoing(clean) == clean
    for token in tokens(clean, tables=tables):
        assert not str(token.attrs.get("href", "")).lower().startswith("javascript:"), clean


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("![p](https://evil.example/?q=1)", "!\\[p](https://evil.example/?q=1)"),
        ("![p][r]\n\n[r]: https://evil.example", "!\\[p][r]\n\n\\[r]: https://evil.example"),
        ("<img src='https://evil.example'>", "&lt;img src='https://evil.example'>"),
        ("<svg/onload=alert(1)>", "&lt;svg/onload=alert(1)>"),
        ("[https://bank.com](https://evil.example)", "https://bank.com (https://evil.example)"),
        ("[bank.com](https://bank.com@evil.example)", "bank.com (https://bank.com@evil.example)"),
        ("[ba\u200bnk.com](https://evil.example)", "ba\u200bnk.com (https://evil.example)"),
        ("[ｂank.com](https://evil.example)", "ｂank.com (https://evil.example)"),
        ("[b@bank.com](mailto:c@evil.example)", "b@bank.com (mailto:c@evil.example)"),
        ("[here](javascript:alert(1))", "here (javascript:alert(1))"),
        ("[here](file:///etc/passwd)", "here (file:///etc/passwd)"),
        ("[here](//evil.example)", "here (//evil.example)"),
        ("<javascript:alert(1)>", "&lt;javascript:alert(1)>"),
        ("<https://evil.example|bank.com>", "&lt;https://evil.example|bank.com>"),
        ("<!channel> <@U12345>", "&lt;!channel> &lt;@U12345>"),
        (
            "\x1b]8;;https://evil.example\x07bank\x1b]8;;\x07",
            "␛]8;;https://evil.example␇bank␛]8;;␇",
        ),
        ("a\u202ecod\u202c", "a\\u202ecod\\u202c"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("\U000e0048\U000e0069", "\\U000e0048\\U000e0069"),
        ("a" + "\u200b" * 5, "a" + "\u200b" * 3 + "\\u200b\\u200b"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("> - [bank.com](http://evil.example)\n>   <b>x", None),
        ("| a ` b | `<img src=x>` |\n|---|---|\n| [x.com](http://y.com) | <i>", None),
        ("[a](\n<div>\n)", "[a](\n&lt;div>\n)"),
    ],
)
def test_what_would_deceive_is_text(text: str, left: str | None) -> None:
    clean = outgoing(text)
    if left is not None:
        assert clean == left
    for tables in (True, False):
        kinds = {token.type for token in tokens(clean, tables=tables)}
        assert not kinds & {"image", "html_inline", "html_block"}


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|:--|--:|\n| `x \\| y` | **1** |\n",
        "Math: $a<b$, $x <y$, \\(f[x](y)\\), $$\\sum_{i<n} x_i$$ and \\[ a \\]",
        "中文：见[文档](https://example.com/中文)。「引」",
        "👨‍👩‍👧‍👦 🏳️‍🌈 ❤️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 👍🏽",
        "می‌خواهم، \u200fעברית\u200e, العربية ١٢٣",
        "葛\U000e0100飾区",
        "```html\n<img src=x>\n![a](https://b.example)\n[https://b.com](https://c.com)\n```\n",
        "    <script>indented</script>\n",
        "Say `<b>` and ``[https://b.com](https://c.com)`` and `![a](b)`.",
        "[the paper](https://arxiv.org/abs/1), <https://example.com>, [https://a.org](https://a.org/)",
        "[www.a.org](https://a.org) [README.md](https://github.com/x/y/README.md) [Node.js](https://x.io)",
        "1 < 2, a<-b, i<3, x <= y, List[int](x) and dict[str, int]",
        "A footnote[^1].\n\n[^1]: With several words.",
        "- [ ] open\n- [x] done\n\n* a\n\n> quoted\n\n---\n\n# Heading\n",
        "Tab\tand\nnew line, soft\u00adhyphen",
    ],
)
def test_what_people_write_stays_as_it_is_to_the_byte(text: str) -> None:
    assert outgoing(text) == text


def test_bidirectional_characters_are_visible_in_code_too() -> None:
    assert outgoing("```\nif\u202e x:\n```") == "```\nif\\u202e x:\n```"


def test_secrets_do_not_leave_either() -> None:
    assert "sk-" not in outgoing("key sk-abcdefghijklmnop0123456789")


def test_every_text_of_a_document_is_cleaned() -> None:
    document = {"a": ["<b id=x>", {"c": ("![x](y)", 1, None)}], "d": True}
    assert outgoing_document(document) == {
        "a": ["&lt;b id=x>", {"c": ["!\\[x](y)", 1, None]}],
        "d": True,
    }


@pytest.mark.parametrize(
    "hostile",
    ["<a " * 20_000, "![" * 20_000, "[" * 20_000, "[a](" * 10_000, "<!--" * 10_000, "`<a>" * 10_000,
     "[a.com](http://b.com) " * 3_000, "[x]: http://y\n\n" * 3_000, "> " * 2_000 + "<b>",
     "\u200b" * 50_000, "[a]: <" * 5_000, '<a b="' * 5_000],
)  # fmt: skip
def test_a_text_made_to_keep_us_busy_is_cleaned_all_the_same(hostile: str) -> None:
    clean = outgoing(hostile)
    assert "<img" not in clean
    assert outgoing(clean) == clean


@pytest.mark.parametrize(
    "text",
    [
        *(
            f"[{words}](https://evil.invalid/x)"
            for words in (
                "bank.museum",
                "192.168.1.1",
                "localhost:8080",
                "bank\u3002com",
                "bank\uff0ecom",
                "bank\uff61com",
                "bank&period;com",
                "bank\\.com",
                "**bank**.com",
                "`bank.com`",
                "ban_k_.com",
                "\u0431\u0430\u043d\u043a.\u0440\u0444",
            )
        ),
        "https://bank.com[/login](https://evil.invalid/s)",
        "bank[.com](https://evil.invalid/s)",
        "[bank](https://evil.invalid/s).com",
        "**bank**[.com](https://evil.invalid)",
        "[bank.com](\\\\evil.invalid/x)",
        "[https://bank.com/pay](https://bank.com/other)",
        "[bank.com/pay](https://bank.com/other)",
    ],
)
def test_a_link_is_spelled_out_where_a_reader_sees_another_address(text: str) -> None:
    clean = outgoing(text)
    assert clean != text
    assert "](" not in clean
    assert outgoing(clean) == clean


@pytest.mark.parametrize(
    "text",
    [
        "[Node.js](https://nodejs.org/x), [docs](https://x.org). [a](https://x.org)[b](https://y.org)",
        "[https://bank.com/pay](https://bank.com/pay) and [bank.com](https://www.bank.com/login)",
        "([x](https://y.org/z)) e.g. [this](https://y.org), [version 1.2](https://x.org)",
        "[README.md](README.md) and [config.toml](src/config.toml)",
        "[https://a.org/long…](https://a.org/longer/path), [e.g. this](https://x.org)",
        "[https://a.org/x_(y)](https://a.org/x_(y)) [https://a.org/x?y=1&z=2](https://a.org/x?y=1&z=2)",
        "**[bank.com](https://bank.com)**, [https://a.org/](https://a.org)",
    ],
)
def test_an_honest_link_stays_one(text: str) -> None:
    assert outgoing(text) == text


@pytest.mark.parametrize(
    "text",
    [
        '<img src="https://leak.invalid/x.png">',
        "<script>alert(1)</script>",
        '<img src="https://leak.invalid/cut',
        "<style>body{}</style>",
        "<b onclick=alert(1)>x</b>",
        "<x\nonclick=alert(1)>",
        "<p hidden>seen by nobody</p>",
        "<!-- seen by nobody -->",
        "<details open=1>\nmore",
        "<script>\n\nalert(1)\n\n</script>",
        "<p popover>seen by nobody</p>",
        "<input type=date onfocus=alert(1)>",
        "<svg/onload=alert(1)",
    ],
)
def test_data_holds_no_html_that_does_something(text: str) -> None:
    assert outgoing_words(text).startswith("&lt;")
    assert outgoing_words(outgoing_words(text)) == outgoing_words(text)


@pytest.mark.parametrize(
    "text",
    [
        *("List<String>", "Box<dyn Error>", "a <b and c", "List<?>", "<Button/>", "<T> x </T>"),
        *("<dialog>", "Should <form>, <img> or <script> do?", "<input type=date required>"),
        *("<img vs <picture", "<label for=\"a\"> or <input aria-label='b'>"),
    ],
)
def test_data_keeps_words_that_only_look_like_html(text: str) -> None:
    assert outgoing_words(text) == text
