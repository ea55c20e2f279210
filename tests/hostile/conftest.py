"""The desk of the surfaces' tests."""

from tests.surfaces.conftest import _no_probing, desk

__all__ = ["_no_probing", "desk"]
