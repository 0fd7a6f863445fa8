"""Who moved where, a question about it, and the answer; the question comes after the passage or before it."""

from playground.corpora.tinyworld.facts import PERSONS
from playground.corpora.tinyworld.grammar import Ways
from playground.corpora.tinyworld.lexicon import ENTITIES
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import name_forms

PLACES = ("1", "2", "3", "4")
"""The sentences of a passage, one of which is asked for."""


def people() -> Ways:
    """Five kinds of people, so that nobody is named twice, and every city and town for any of them."""
    ways: dict[str, list] = {f"Mover-{k}": [(1.0, name_forms(n)) for n in PERSONS[int(k) - 1 :: 5]] for k in PLACES}
    ways["Follower"] = [(1.0, name_forms(name)) for name in PERSONS[4::5]]
    ways["Goal"] = [(1.0, name_forms(name)) for name, kind in ENTITIES.items() if kind in ("city", "town")]
    return ways


def _passages() -> str:
    """One passage for each sentence that can be asked for."""
    tell = {k: (f"Tell-{k}", f"Asked-{k}") for k in PLACES}
    return "".join(
        f"Passage-{asked} = " + " ".join(tell[k][k == asked] for k in PLACES) + "\n"
        + f"Tell-{asked} = NP:agent[$M{asked}] VP:action[moved] PP:goal[to $G{asked}] .\n"
        + f"Asked-{asked} = NP:agent[$M{asked}] VP:action[moved] PP:goal[to answer:passage{{ $G{asked} }}] .\n"
        + f"Again-{asked} = and where VP[is] NP[$M{asked}] ? NP[$G{asked}] .\n"
        + f"Followed-{asked} = NP:agent[$F] VP:action[followed] NP:patient[$M{asked}] .\n"
        + f"Question-{asked} = where VP[is] NP[$M{asked}] ?\n"
        + f"Reply-{asked} = answer:reply{{ NP[$G{asked}] }} .\n"
        for asked in PLACES
    )  # fmt: skip


QUESTIONS = Preset(
    name="questions",
    aliases=("reading",),
    tokens=300_000,
    idea="Four people move somewhere and a question about one is asked, before or after; some need two facts or turns.",
    rules=f"""
Document = 3: After-<k> | 3: Before-<k> | 1: Turns-<k> | 1: Both-<k>
After-<k> = Cast Passage-<k> Question-<k> Reply-<k>
Before-<k> = Cast Question-<k> Passage-<k> Reply-<k>
Turns-<k> = Cast Passage-<k> Question-<k> Reply-<k> Turn
Turn = Again-<k>
Both-<k> = Cast F := Follower Passage-<k> Followed-<k> where VP[is] NP[$F] ? Reply-<k>
Cast = {" ".join(f"M{k} := Mover-{k} G{k} := Goal" for k in PLACES)}
{_passages()}""",
    words=people,
)
