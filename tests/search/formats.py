"""What each service answers, in the form that it documents."""

from __future__ import annotations

from typing import Any

KEY = "tvly-dev-0123456789abcdefghijkl"
"""A key that must not be seen anywhere."""


def searxng(*rows: tuple[str, str, str]) -> dict[str, Any]:
    """GET /search?format=json, as https://docs.searxng.org/dev/search_api has it."""
    return {
        "query": "tea",
        "number_of_results": 0,
        "results": [
            {
                "url": url,
                "title": title,
                "content": text,
                "publishedDate": None,
                "thumbnail": "",
                "engine": "duckduckgo",
                "template": "default.html",
                "parsed_url": ["https", "example.org", "/", "", "", ""],
                "priority": "",
                "engines": ["duckduckgo", "brave"],
                "positions": [1, 2],
                "score": 3.0,
                "category": "general",
            }
            for title, url, text in rows
        ],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": ["tea ceremony"],
        "unresponsive_engines": [["google", "timeout"]],
    }


def tavily(*rows: tuple[str, str, str]) -> dict[str, Any]:
    """POST /search, as https://docs.tavily.com/api-reference has it."""
    return {
        "query": "tea",
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": [
            {"url": url, "title": title, "content": text, "score": 0.87, "raw_content": None}
            for title, url, text in rows
        ],
        "response_time": 1.12,
        "request_id": "123e4567-e89b-12d3-a456-426614174111",
    }


def tavily_error(words: str) -> dict[str, Any]:
    return {"detail": {"error": words}}


def brave(*rows: tuple[str, str, str]) -> dict[str, Any]:
    """GET /res/v1/web/search, as https://api-dashboard.search.brave.com has it."""
    document: dict[str, Any] = {
        "type": "search",
        "query": {"original": "tea", "more_results_available": False},
        "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}]},
    }
    if rows:
        document["web"] = {
            "type": "search",
            "family_friendly": True,
            "results": [
                {
                    "title": title,
                    "url": url,
                    "is_source_local": False,
                    "is_source_both": False,
                    "description": text,
                    "page_age": "2026-01-01T00:00:00",
                    "profile": {"name": "Example", "url": url, "long_name": "example.org"},
                    "language": "en",
                    "family_friendly": True,
                    "type": "search_result",
                    "subtype": "generic",
                    "meta_url": {"scheme": "https", "netloc": "example.org", "path": ""},
                    "age": "2 days ago",
                }
                for title, url, text in rows
            ],
        }
    return document


def brave_error(status: int, code: str) -> dict[str, Any]:
    return {
        "type": "ErrorResponse",
        "error": {
            "id": "ade84851-a6f3-4cf9-8c76-1dc897718b0b",
            "status": status,
            "code": code,
            "detail": f"The provided subscription token {KEY} is invalid.",
            "meta": {"component": "authentication"},
        },
        "time": 1754364294,
    }
