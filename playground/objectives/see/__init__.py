"""See: who may look at whom. The levels set here are what attention obeys and what the stage draws."""

from playground.objectives.see.alone import SeeAll, SeeLeft, SeePrefix, SeeRight
from playground.objectives.see.apart import SeeApart, SeeThroughOne
from playground.objectives.see.crossed import SeeEncoderDecoder
from playground.objectives.see.mixture import SeeMixture
from playground.objectives.see.order import SeeOrder
from playground.objectives.see.painted import SeePainted
from playground.objectives.see.views import SeeViews
from playground.objectives.see.window import SeeAlone, SeeOthers, SeeWindow

__all__ = [
    "SeeAll",
    "SeeAlone",
    "SeeApart",
    "SeeEncoderDecoder",
    "SeeLeft",
    "SeeMixture",
    "SeeOrder",
    "SeeOthers",
    "SeePainted",
    "SeePrefix",
    "SeeRight",
    "SeeThroughOne",
    "SeeViews",
    "SeeWindow",
]
