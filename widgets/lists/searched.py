"""A list with a search."""

from collections.abc import Callable, Mapping

import param

from playground.catalog import Named, in_post_training, nearest, nearest_by_meaning, three_nearest
from playground.nearest import Nearest
from widgets.panel_compat import Component


class Searched(Component):
    """A list with a search: what is not here is looked up by meaning, else the three nearest by spelling are shown."""

    known: Callable[[], Mapping[str, Named]]
    """What the list is of, by name."""

    sought = param.String(default="", doc="What is searched for.")
    nearest = param.List(
        default=["", "", []], doc="The same; where it is a name that is not here, why what is nearest; its names."
    )

    @param.depends("sought", watch=True)
    def _look_up(self) -> None:
        meant = nearest_by_meaning(self.sought)
        names = self.names_of(meant[1]) if meant else three_nearest(self.sought, self.known().values())
        self.nearest = [self.sought, nearest(self.sought) or in_post_training(self.sought), names]

    def names_of(self, near: Nearest) -> list[str]:
        """What of the list is meant by what is nearest."""
        return [near.name] if near.name in self.known() else []
