"""Post-training in a notebook: methods against the exact optimum, with the charts of the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from playground.corpora import Corpus, open_corpus
from playground.errors import UserError
from playground.finetuning.run.base import Base, base_of, copied
from playground.posttraining import Comparison, compare, find_method, find_reward, open_space, small_base
from playground.posttraining.facts import PosttrainFacts, prompt_facts
from playground.posttraining.run import Measured
from widgets.notebook.arguments import checked
from widgets.notebook.drawing import in_block
from widgets.notebook.training import Trained
from widgets.static import posttraining as drawn


@dataclass(frozen=True, eq=False)
class PostTrained:
    """A finished post-training that shows itself: how near each method is to the optimum, and what it forgets."""

    comparison: Comparison

    @property
    def facts(self) -> list[PosttrainFacts]:
        """Each method as `playground posttrain --json` prints it."""
        return self.comparison.facts

    @property
    def headline(self) -> str:
        """What is seen, in a sentence with the numbers."""
        return self.comparison.headline

    @checked
    def last(self, method: str) -> Measured:
        """The last event of the first seed of a method, with its policy over all answers and its rollout."""
        event = self.comparison.last(method)
        if event is None:
            raise UserError(f"There is no method {method!r}; there are: {', '.join(self.comparison.runs)}.")
        return event

    def __repr__(self) -> str:
        return f"Post-training for the reward {self.comparison.reward.name}: {', '.join(self.comparison.runs)}"

    def _repr_html_(self) -> str:
        made = self.comparison
        return in_block(
            f"<p>{escape(made.headline)}</p>{drawn.pictures(made)}"
            + "".join(self._details(str(method)) for method in made.methods)
        )

    def _details(self, name: str) -> str:
        """The batch of the last step and the likeliest answers to the first prompt."""
        made, event = self.comparison, self.last(name)
        method = next(each for each in made.methods if str(each) == name)
        batch = drawn.batch(method, event.rollout, made.setting, 0)
        answers = drawn.answers(prompt_facts(made.setting, event, 0), bool(made.reward.proxy_of))
        return f"<details><summary>The last batch and the answers: {escape(name)}</summary>{batch}{answers}</details>"


@checked
def post_train(
    base: Trained | None = None,
    methods: str | Sequence[str] = "DPO",
    *,
    reward: str = "grammatical",
    beta: float = 0.1,
    prompts: int | Sequence[str] = 4,
    steps: int = 100,
    seeds: int = 1,
    seed: int = 0,
) -> PostTrained:
    """Post-train a language model with several methods, each measured against the exact optimum.

    `base` is an LM that `train("LM", ...)` returned; without one a small LM of film reviews is trained first. A method
    is a line such as "GRPO(loss_type=dr_grpo)"; all share one `beta`. `prompts` are texts of your own, or how many are
    drawn from held-out texts. Tab inside the quotes and `playground posttrain --list` list methods and rewards.

    What comes back shows itself; its `facts` are what `playground posttrain --json` prints for each method, and
    `last(method)` has the policy over all answers.

    >>> tuned = post_train(methods=["DPO", "best of n"], reward="positive words")
    >>> tuned.headline
    """
    lines = (methods,) if isinstance(methods, str) else methods
    asked = [find_method(line).turn({"beta": beta}) for line in lines]
    if min(seeds, steps) < 1:
        raise UserError(f"{seeds} seeds and {steps} steps; both must be at least 1.")
    wanted = find_reward(reward)
    start, corpus = _opened(base)
    drawn_or_typed = (prompts, None) if isinstance(prompts, int) else (0, prompts)
    space = open_space(corpus, *drawn_or_typed)
    *_, last = compare(start, space, wanted, asked, range(seed, seed + seeds), steps)
    return PostTrained(last)


def _opened(base: Trained | None) -> tuple[Base, Corpus]:
    """The model and its corpus, by default a small one."""
    if base is None:
        return small_base("reviews"), open_corpus("reviews")
    return base_of(copied(base.learner), base.corpus), base.corpus
