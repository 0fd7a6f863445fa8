"""ULMFiT: its three means against forgetting together, and its way to pool a text."""

from playground.finetuning.strategy.head import Head
from playground.finetuning.strategy.schedules import Discriminative, Product, SlantedTriangle, from_the_top
from playground.finetuning.strategy.strategy import Published, Strategy

ULMFIT = Strategy(
    name="ULMFiT",
    aliases=("ULM-FiT",),
    family="rates",
    idea="Thaw from the top, let lower layers learn slower, let all rates rise and fall; read last, highest and mean.",
    source="arXiv:1801.06146, sec. 3.2-3.3",
    plasticity=Product((from_the_top, Discriminative(), SlantedTriangle())),
    head=Head(pool="concat"),
    rate=1e-2,
    published=Published(1e-2, "arXiv:1801.06146, sec. 3.2, eq. 3: the highest rate, for all of ULMFiT"),
)
