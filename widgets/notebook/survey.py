"""The survey's table as a widget."""

from collections.abc import Mapping, Sequence
from typing import Any

import traitlets

from playground.trace.json_schema import ObjectiveFacts
from playground.trace.rebuild import SENTENCE, Rebuilt
from playground.trace.rebuild import table as survey_table
from widgets.animation.survey_table import Refused, table_data, table_fragment, table_page
from widgets.notebook.arguments import checked
from widgets.notebook.drawing import Drawing


class Table(Drawing):
    """The survey's table; `value` is the name of the row whose stage is unfolded, or empty."""

    kind = traitlets.Unicode("table").tag(sync=True)
    table = traitlets.Dict().tag(sync=True)
    value = traitlets.Unicode(help="The name of the row whose stage is unfolded, empty for none.").tag(sync=True)

    def __init__(self, text: str, done: Sequence[Rebuilt], refused: Refused) -> None:
        self.text, self.done, self.refused = text, done, refused
        super().__init__()

    @traitlets.default("table")
    def _drawn(self) -> dict[str, Any]:
        return table_data(self.text, self.done, self.refused, stages=True)

    @property
    def facts(self) -> list[ObjectiveFacts]:
        """The same rows as `playground table --json`."""
        return [made.facts() for made in self.done]

    def page(self) -> str:
        """A whole HTML document that needs neither kernel nor network."""
        return table_page(self.table)

    def baked(self, module: bool) -> str:
        return table_fragment(self.table, module, self.reserve)

    def __repr__(self) -> str:
        return f"The survey's table for {self.text!r}"


@checked
def table(
    text: str = SENTENCE,
    *,
    pair: str = "",
    seed: int | None = None,
    plans: Mapping[str, Mapping[str, Any]] | None = None,
) -> Table:
    """The survey's whole table for a text: what eleven objectives give and ask. Each row unfolds its stage.

    `pair` is the second text, `plans` are plans by hand by the name of the objective; the first column lists the
    names.

    What comes back is a widget: `value` is the name of the row that is unfolded, and may be set; `facts` are the rows
    as `playground table --json` prints them.

    >>> rows = table("The sun shines . We go out .")
    >>> rows.value = "PLM"
    """
    return Table(text, *survey_table(text, seed, plans, pair))
