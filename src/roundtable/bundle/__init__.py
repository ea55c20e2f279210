"""A discussion as one file that another machine can verify: events, prompts, ballots, tally."""

from .checks import Checked as Checked
from .checks import Finding as Finding
from .checks import check_bundle as check_bundle
from .reading import BundleBroken as BundleBroken
from .reading import BundleUnknown as BundleUnknown
from .writing import MEDIA_TYPE as MEDIA_TYPE
from .writing import make_bundle as make_bundle
