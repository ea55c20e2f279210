"""Roundtable in a chat: the grammar, the bot that answers, and the places where people write."""
