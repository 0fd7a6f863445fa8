"""ERNIE 2.0: its tasks on words and on sentences, and all of them in continual multi-task learning."""

from dataclasses import replace

from playground.corpora.derived_labels import ANSWERS
from playground.objectives.arrange import ArrangeFirst, ArrangePair, ArrangeSegments, ArrangeText, LabelledPair
from playground.objectives.arrange.segments import NAMES as ORDERS
from playground.objectives.ask import AskLabel, AskPair
from playground.objectives.catalog.ernie import KNOWLEDGE
from playground.objectives.catalog.nli import NLI, pair_terms
from playground.objectives.catalog.sentilr import label_term
from playground.objectives.formula import Term
from playground.objectives.mixture import mixture
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeAll, SeeTask

CONNECTIVES = ("and", "but", "because", "so")

DISCOURSE = NLI.variant(
    name="discourse relation",
    aliases=("connective prediction", "DisSent", "ERNIE 2.0 discourse relation"),
    needs=("pair", "label:connective"),
    printed=Printed({"pair": "because"}, text="I stayed at home", pair="it rained all day"),
    stages=(LabelledPair("connective", CONNECTIVES), SeeAll(), AskPair(CONNECTIVES, "connective")),
    idea="Remove the word that joins two clauses; say which one it was, and thus how the two are related.",
    terms=pair_terms("connective"),
    source="arXiv:1907.12412, sec. 4.2.3; arXiv:1710.04334, sec. 3",
)

DISTANCES = ("adjacent", "same document", "other document")

DISTANCE = Objective(
    name="sentence distance",
    aliases=("ERNIE 2.0 sentence distance", "semantic closeness"),
    group="Two texts",
    needs=("distance",),
    printed=Printed(
        {"pair": "apart"},
        text="We met in the morning . We had tea . Then we went home .",
        other="The moon is far away .",
    ),
    stages=(ArrangeFirst("sentence"), ArrangePair(("next", "apart", "other")), SeeAll(), AskPair(DISTANCES)),
    idea="Say whether two sentences are neighbours, further apart in one document, or from two documents.",
    loss="Cross-entropy of the one label of each pair, one of three, read at its first special token.",
    terms=(Term("pair", r"-\log p(y \mid A, B)", symbols={"y": "how far apart they are", "A": "the first text"}),),
    source="arXiv:1907.12412, sec. 4.2.2",
)

CAPITALS = Objective(
    name="capitalization prediction",
    aliases=("capital letters",),
    group="With knowledge",
    needs=("label:capitalized",),
    stages=(ArrangeText(), SeeAll(), AskLabel("capitalized", ANSWERS, "everywhere")),
    idea="The text is in lower case; say for each word whether it is written with a capital letter.",
    loss="Mean cross-entropy of a yes or no for each word.",
    terms=(label_term("capitalized", "T"),),
    source="arXiv:1907.12412, sec. 4.2.1",
)

RECURRENCE = CAPITALS.variant(
    name="token-document relation",
    aliases=("recurring words",),
    needs=("label:recurring",),
    stages=(ArrangeFirst("sentence"), ArrangeText(), SeeAll(), AskLabel("recurring", ANSWERS, "everywhere")),
    idea="Read one sentence; say for each word whether it also occurs in another sentence of the document.",
    terms=(label_term("recurring", "T"),),
)

REORDERING = Objective(
    name="sentence reordering",
    aliases=("segment order prediction",),
    group="Orders",
    needs=("sentences",),
    stages=(ArrangeFirst("document"), ArrangeSegments(), SeeAll(), AskLabel("order", ORDERS, "text")),
    idea="Cut a paragraph into up to three segments and shuffle them; say which order they are in.",
    loss="Cross-entropy of the one order of each paragraph, read at its first special token.",
    terms=(Term("order", r"-\log p(y \mid \hat{x})", symbols={"y": "the order of the segments, one of nine"}),),
    source="arXiv:1907.12412, sec. 4.2.2",
)

TASKS = (KNOWLEDGE, CAPITALS, RECURRENCE, REORDERING, DISTANCE)
"""In the order in which they are added."""


def first_tasks(name: str, number: int, **card: str | tuple[str, ...]) -> Objective:
    """A mixture of the first tasks in equal shares; every position reads which of them a batch is for."""
    parts = tuple((1.0, _with_task(task)) for task in TASKS[:number])
    return mixture(
        name,
        parts,
        group="In combination",
        loss="The loss of the task that was drawn for the batch; all tasks are drawn with the same probability.",
        source="arXiv:1907.12412, sec. 3.1 and 4",
        **{"idea": f"Train {number} tasks, one in each batch; a task embedding says which.", **card},
    )


def _with_task(task: Objective) -> Objective:
    """A task whose input is between special tokens and says at every position which task it is."""
    see_task = SeeTask(task.name, tuple(one.name for one in TASKS))
    stages = [ArrangeText(add_special_tokens=True) if stage == ArrangeText() else stage for stage in task.stages]
    seen = stages.index(SeeAll()) + 1
    return replace(task, stages=(*stages[:seen], see_task, *stages[seen:]))


CONTINUAL = first_tasks(
    "continual multi-task",
    len(TASKS),
    aliases=("ERNIE 2.0",),
    idea=(
        "Predict names and phrases, capital letters, words that occur again, the order of sentences and how far apart "
        "two are: one of these tasks in each batch, and a task embedding says which."
    ),
)
