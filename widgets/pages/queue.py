"""A line above all pages of an app that others use too: whether one's training has its turn, and where it stands."""

from widgets.pages.layout import View
from widgets.state.app import Store
from widgets.theme import changing, say, tell

RULES = (
    "You share this machine: nobody else sees what you train, and it is deleted when you leave. Save as HTML on the "
    "Train page keeps it as a page."
)


class QueueLine(View):
    """One sentence, always there so that nothing below it moves."""

    def __init__(self, store: Store) -> None:
        self.store, self.text = store, changing("")
        self.text.margin = (12, 10, 0, 10)
        super().__init__(self.text)
        self.poll()

    def poll(self) -> None:
        tell(self.text, f'<div role="status">{say(line(self.store), "quiet")}</div>')


def line(store: Store) -> str:
    """What is to be said now."""
    turns, position = store.quota.turns, store.position
    if turns is None or not store.busy:
        return RULES
    turn = f"{turns.at_once} train at once" if turns.at_once > 1 else "one trains at a time"
    rule = f"Here {turn}, for {turns.seconds:g} seconds before the next one's turn."
    if position:
        return f"Your training is waiting: it is number {position} of {turns.waiting} in the queue. {rule}"
    others = turns.waiting
    waiting = f"{others} other{'s' * (others != 1)} wait{'s' * (others == 1)}. {rule}" if others else "Nobody waits."
    return f"Your training is running. {waiting}"
