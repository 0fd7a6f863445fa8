"""See: the attention masks. The levels set here are what attention obeys and what the stage draws."""

from playground.objectives.see.alone import SeeAll, SeeLeft, SeePrefix, SeeRight
from playground.objectives.see.apart import SeeThroughOne, SeeWithinSegment
from playground.objectives.see.crossed import SeeEncoderDecoder
from playground.objectives.see.order import SeePermutation
from playground.objectives.see.painted import OverrideMask
from playground.objectives.see.segments import NumberSegments
from playground.objectives.see.views import SeeViews
from playground.objectives.see.window import SeeAllButSelf, SeeSelf, SeeWindow

__all__ = [
    "NumberSegments",
    "OverrideMask",
    "SeeAll",
    "SeeAllButSelf",
    "SeeEncoderDecoder",
    "SeeLeft",
    "SeePermutation",
    "SeePrefix",
    "SeeRight",
    "SeeSelf",
    "SeeThroughOne",
    "SeeViews",
    "SeeWindow",
    "SeeWithinSegment",
]
