"""See: the attention masks, and labels read with the words. What is set here is what runs and what the stage draws."""

from playground.objectives.see.blocks import SeeBlocks
from playground.objectives.see.encoder_decoder import SeeEncoderDecoder
from playground.objectives.see.labels import SeeLabels, SeeTask
from playground.objectives.see.order import SeePermutation
from playground.objectives.see.painted import OverrideMask
from playground.objectives.see.segments import NumberSegments
from playground.objectives.see.single_stack import SeeAll, SeeLeft, SeePrefix, SeeRight
from playground.objectives.see.two_texts import SeeThroughOne, SeeWithinSegment
from playground.objectives.see.views import SeeViews
from playground.objectives.see.window import SeeAllButSelf, SeeSelf, SeeWindow

__all__ = [
    "NumberSegments",
    "OverrideMask",
    "SeeAll",
    "SeeAllButSelf",
    "SeeBlocks",
    "SeeEncoderDecoder",
    "SeeLabels",
    "SeeLeft",
    "SeePermutation",
    "SeePrefix",
    "SeeRight",
    "SeeSelf",
    "SeeTask",
    "SeeThroughOne",
    "SeeViews",
    "SeeWindow",
    "SeeWithinSegment",
]
