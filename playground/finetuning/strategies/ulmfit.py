"""ULMFiT's third stage: its three means against forgetting together, its way to pool a text, and its head."""

from playground.finetuning.strategy.head import Head
from playground.finetuning.strategy.schedules import Discriminative, FromTheTop, Product, SlantedTriangle
from playground.finetuning.strategy.strategy import Published, Strategy

ULMFIT = Strategy(
    name="ULMFiT",
    aliases=("ULM-FiT",),
    family="rates",
    idea=(
        "Thaw from the top, let lower layers learn slower, let all rates rise and fall; a head of two layers reads "
        "last, highest and mean. 'ULMFiT + further pre-training' reads the task's texts first."
    ),
    source="arXiv:1801.06146, sec. 3.2-3.3",
    plasticity=Product((FromTheTop(0.1), Discriminative(), SlantedTriangle())),
    head=Head(pool="concat", hidden=50),
    rate=2e-2,
    published=Published(1e-2, "arXiv:1801.06146, sec. 3.2, eq. 3: the highest rate, for all of ULMFiT"),
)
