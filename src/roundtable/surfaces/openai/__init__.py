"""Roundtable as a model: an endpoint that speaks as OpenAI's clients expect."""
