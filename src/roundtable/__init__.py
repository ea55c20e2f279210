"""Roundtable: several AI experts around one table, and a verdict that can be checked."""

from .version import __version__ as __version__
