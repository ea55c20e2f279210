"""Roundtable in a chat: the grammar, the desk that answers, and the places where people write."""
