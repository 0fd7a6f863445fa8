"""Odd input by the thousand, drawn by seeded chance: every case works or is refused in a sentence."""

from tests.fuzz.addresses import ADDRESSES, MESSAGES
from tests.fuzz.checkpoints import CHECKPOINTS
from tests.fuzz.files import FILES
from tests.fuzz.options import OPTIONS
from tests.fuzz.plans import PLANS, STRATEGY_LINES
from tests.fuzz.records import RECORDS

KINDS = {kind.name: kind for kind in (ADDRESSES, MESSAGES, OPTIONS, CHECKPOINTS, RECORDS, FILES, PLANS, STRATEGY_LINES)}
"""Every kind of odd input, by its name."""
