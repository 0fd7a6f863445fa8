"""Best of n: draw n answers from the reference and keep the best; nothing is trained."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import ClassVar

from torch import Tensor

from playground.knob import knob
from playground.posttraining.method import Method, Setting
from playground.posttraining.optimum import best_of_n


@dataclass(frozen=True, kw_only=True)
class BestOfN:
    """The exact distribution of the best of 1, 2, 4, ... n draws."""

    trains: ClassVar[bool] = False
    n: int = knob(64, 1, 65_536, unit="draws", why="More draws, more reward and more KL.")
    beta: float = knob(0.1, 0.01, 10.0, unit="reward per nat", why="The beta of the optimum that it is compared with.")

    def distributions(self, setting: Setting) -> Iterator[tuple[int, Tensor, float]]:
        """For n = 1, 2, 4, ... up to the last: the distribution, and the bound of its KL."""
        powers = [2**k for k in range(self.n.bit_length()) if 2**k < self.n]
        for n in (*powers, self.n):
            yield n, best_of_n(setting.reference.joint, setting.rewards, n), kl_bound(n)


def kl_bound(n: int) -> float:
    """The most that the best of n draws can differ from one draw, in nats: log n - (n - 1) / n (arXiv:2401.01879)."""
    return log(n) - (n - 1) / n


BEST_OF_N = Method(
    name="best of n",
    aliases=("best-of-n", "BoN", "rejection sampling"),
    idea="Draw n answers from the reference and keep the one with the highest reward; no weight changes.",
    source="Nakano et al., arXiv:2112.09332, sec. 3.2; the bound of its KL: Beirami et al., arXiv:2401.01879, sec. 3",
    unlike_paper="its distribution is computed for all answers at once instead of drawn",
    step=BestOfN(),
)
