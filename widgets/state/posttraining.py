"""The state of the Post-training page: what is post-trained with which reward and methods, the run, and its result."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import param

from playground.corpora import Corpus, open_corpus
from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.finetuning.run.base import Base
from playground.knob import Knob
from playground.parsing import dump_json
from playground.posttraining import (
    Comparison,
    Method,
    Reward,
    compare,
    find_method,
    find_reward,
    methods,
    open_space,
    rewards,
    small_base,
)
from playground.posttraining.facts import table_csv
from playground.posttraining.reference import PRETRAINING_STEPS
from widgets.state.job import Job, as_trouble
from widgets.state.quota import ALONE

SMALL, CORPUS = "", "reviews"
"""The key of a small language model that is trained first, and the corpus that it reads."""

BETAS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)

SHOWN_FIRST = ("DPO", "GRPO", "best of n")
"""What a visit begins with."""

VARIANTS = (
    "DPO(preferences=sampled)",
    "GRPO(loss_type=dr_grpo)",
    "GRPO(loss_type=grpo)",
    "SFT(demonstrations=grammar)",
)
"""Methods with other knobs that can be chosen without turning them."""

TRUE = {name: reward for name, reward in rewards().items() if not reward.proxy_of}
PROXIES = {reward.proxy_of: reward for reward in rewards().values() if reward.proxy_of}
"""The rewards that are meant, and the shortcut of each that has one."""

LINKED = ("base", "reward", "shortcut", "chosen", "beta", "typed", "prompts", "seeds", "steps")
"""What a link carries."""

BETWEEN = "|"
"""Between the methods of a link."""

MOST_PROMPTS = 8

MOST_METHODS = 6
"""Methods of one run: as many as there are colours, of which grey is for what is exact."""

FILES = {"post-training.csv": table_csv, "post-training.json": partial(dump_json, indent=1)}
"""The files of a result by their names."""

Opened = tuple[Base, Corpus]


class PostTrainingStore(param.Parameterized):
    """What is post-trained and how, how far that is, and what came of it.

    `open_base` opens the model of a key, other than the small one. `method` is the one whose knobs are `turned` before
    it is added to those that are `chosen`; `shown` is the one whose last batch is drawn, for one `prompt`.
    """

    base = param.String(SMALL, label="base model")
    reward = param.Selector(default="grammatical", objects=list(TRUE), label="reward")
    shortcut = param.Boolean(False, label="reward with a shortcut (Goodhart)")
    chosen = param.List([*SHOWN_FIRST], item_type=str, doc="The methods that are compared, as lines.")
    own = param.List([], item_type=str, doc="The methods whose knobs were turned on this visit.")
    method = param.Selector(default="DPO", objects=list(methods()), label="method")
    turned = param.Dict({}, doc="The knobs of the method that are not as in the catalogue.")
    beta = param.Selector(default=0.1, objects=list(BETAS), label="beta (reward per nat of KL)")
    typed = param.String("", label="your own prompts")
    prompts = param.Integer(4, bounds=(1, MOST_PROMPTS), label="prompts that are drawn")
    seeds = param.Integer(1, bounds=(1, 8), label="seeds")
    steps = param.Integer(100, bounds=(10, 400), label="steps")
    shown = param.String("", label="method")
    prompt = param.Integer(0, bounds=(0, None), label="prompt")
    trouble = param.String("", doc="Why nothing can be post-trained.")

    def __init__(self, open_base: Callable[[str], Opened], **values: Any) -> None:
        super().__init__(**values)
        self.open_base, self.running, self.quota = open_base, Job("post-training"), ALONE
        self._events: list[Comparison] = []

    # what is chosen

    @property
    def trained(self) -> Reward:
        """The reward that is trained: the chosen one, or the shortcut to it."""
        return PROXIES[self.reward] if self.shortcut else find_reward(self.reward)

    @param.depends("shortcut", watch=True)
    def _has_a_shortcut(self) -> None:
        if self.shortcut and self.reward not in PROXIES:
            self.reward = next(iter(PROXIES))

    @param.depends("reward", watch=True)
    def _lacks_a_shortcut(self) -> None:
        self.shortcut = self.shortcut and self.reward in PROXIES

    @property
    def knobs(self) -> dict[str, Knob]:
        """The knobs of the method that could be added; beta is one for all."""
        return {k.name: k for k in methods()[self.method].knobs if k.name != "beta"}

    @param.depends("method", watch=True)
    def _other_method(self) -> None:
        self.turned = {}

    def turn(self, name: str, value: Any) -> None:
        """Turn a knob of the method."""
        self.turned = self.turned | {name: value}

    @as_trouble
    def add(self) -> None:
        """Compare the method with its knobs too."""
        line = str(find_method(self.method).turn(self.turned))
        self.own = list(dict.fromkeys([*self.own, line]))
        self.chosen = list(dict.fromkeys([*self.chosen, line]))

    @property
    def offered(self) -> list[str]:
        """The methods that can be chosen."""
        return list(dict.fromkeys([*methods(), *self.own, *VARIANTS, *self.chosen]))

    @property
    def lines(self) -> list[str]:
        """The typed prompts."""
        return [line.strip() for line in self.typed.splitlines() if line.strip()]

    def asked(self) -> tuple[Method, ...]:
        """The methods that are compared, with the beta of all; what cannot be compared is refused."""
        if not self.chosen:
            raise UserError("No method is chosen; choose at least one, such as DPO.")
        if len(self.chosen) > MOST_METHODS:
            raise UserError(f"{len(self.chosen)} methods are chosen; choose at most {MOST_METHODS}.")
        if len(self.lines) > MOST_PROMPTS:
            raise UserError(f"{len(self.lines)} prompts are typed; type at most {MOST_PROMPTS}.")
        return tuple(dict.fromkeys(find_method(line).turn({"beta": self.beta}) for line in self.chosen))

    # running

    @as_trouble
    def begin(self) -> None:
        """Start post-training in the background, after the small model where that is the base."""
        asked, reward, key, typed = self.asked(), self.trained, self.base, self.lines or None
        drawn, seeds, steps = self.prompts, range(self.seeds), self.steps
        events: list[Comparison] = []
        self._events = events

        def work(report: Progress) -> Comparison:
            report(0, 1)
            base, corpus = self._small(report) if key == SMALL else self.open_base(key)
            space = open_space(corpus, drawn, typed)
            for made in compare(base, space, reward, asked, seeds, steps):
                report(round(1000 * made.progress), 1000)  # which ends here where the run was stopped
                events[:] = [made]
            return made

        self.running.begin(work)

    @staticmethod
    def _small(report: Progress) -> Opened:
        base = small_base(CORPUS, PRETRAINING_STEPS, lambda: report(0, 1))
        return base, open_corpus(CORPUS)

    def ask(self, question: str) -> None:
        """Choose what a question needs, and start."""
        self.param.update(**QUESTIONS[question])
        self.begin()

    # the result

    @property
    def found(self) -> Comparison | None:
        """What is known of the run that goes on, was stopped or is finished; none before its first event."""
        return self._events[0] if self._events else None

    def file(self, name: str) -> bytes:
        """A file of what is known: the events as a table, or everything as JSON."""
        if self.found is None:
            raise UserError("Nothing has been post-trained yet; press Post-train first.")
        return FILES[name](self.found.facts).encode()

    # the address

    def query(self) -> dict[str, str]:
        """What a link says of the page, where it is not as on a fresh visit."""
        return {
            f"post.{name}": _written(value)
            for name in LINKED
            if (value := getattr(self, name)) != self.param[name].default
        }

    def open(self, query: Mapping[str, str]) -> None:
        """Bring a link back; what it does not say is as on a fresh visit, what it says wrongly too, with the reason."""
        wrong = []
        for name in LINKED:
            setattr(self, name, self.param[name].default)
            if (said := query.get(f"post.{name}")) is None:
                continue
            try:
                setattr(self, name, _read(self.param[name], said))
            except UserError as refusal:
                wrong.append(str(refusal))
            except ValueError:
                wrong.append(f"The link has {name} {said[:60]!r}; choose a value on this page.")
        self.trouble = " ".join(wrong)


def _written(value: Any) -> str:
    return BETWEEN.join(value) if isinstance(value, list) else str(value)


def _read(parameter: param.Parameter, said: str) -> Any:
    """The value that a link says; raises `UserError` or `ValueError` where it says none."""
    match parameter:
        case param.List():
            return list(dict.fromkeys(str(find_method(line)) for line in said.split(BETWEEN) if line))
        case param.Boolean():
            return {"True": True, "False": False}.get(said)  # None is refused
        case param.Integer():
            return int(said)
        case param.Selector():
            return {str(each): each for each in parameter.objects}.get(said)
    return said


QUESTIONS: dict[str, dict[str, Any]] = {
    "Which method ends nearest to the optimum?": {"chosen": ["SFT", *SHOWN_FIRST], "shortcut": False},
    "What does a shortcut in the reward do?": {"chosen": [*SHOWN_FIRST], "shortcut": True},
    "Does the mean of GRPO's loss matter?": {
        "chosen": ["GRPO", "GRPO(loss_type=grpo)", "GRPO(loss_type=dr_grpo)"], "shortcut": False,
    },
}  # fmt: skip
"""Questions to begin with, and what is chosen for each; one click asks it."""
