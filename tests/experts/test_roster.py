"""Ready rosters: five of them, of experts that exist."""

from __future__ import annotations

import pytest

from roundtable.core.errors import UnknownName
from roundtable.experts.expert import Expert
from roundtable.experts.roster import read_rosters, roster

EXPECTED = {
    "tech-design-review": ["product", "frontend", "backend", "architect"],
    "competitive-analysis": ["product", "marketing", "designer"],
    "bug-root-cause": ["backend", "reliability", "qa"],
    "product-requirements": ["product", "designer", "engineer"],
    "architecture-decision": ["architect", "backend", "frontend", "devops"],
}


@pytest.mark.requirement("D-36")
def test_the_five_rosters_seat_their_roles(library: dict[str, Expert]) -> None:
    rosters = read_rosters()

    assert set(rosters) == set(EXPECTED)
    for name, roles in EXPECTED.items():
        seated = rosters[name].seated(library)
        assert len(seated) == len(roles) >= 3
        for expert, role in zip(seated, roles, strict=True):
            assert role in expert.id, (name, expert.id)


def test_a_roster_is_found_by_its_id_or_its_name() -> None:
    assert roster("bug-root-cause") == roster("Bug root cause ")
    with pytest.raises(UnknownName, match="bug-root-cause"):
        roster("bug-root-causes")


def test_a_library_that_lacks_an_expert_is_told_so() -> None:
    with pytest.raises(UnknownName, match="product-manager"):
        roster("tech-design-review").seated({})
