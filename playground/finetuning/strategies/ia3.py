"""(IA)3: no matrix is changed or added, only factors for what layers compute."""

from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import PublishedRate, Strategy
from playground.models.adapters import IA3 as FACTORS

IA3 = Strategy(
    name="IA3",
    aliases=("(IA)3", "IA^3"),
    family="added parts",
    idea="Freeze the model; multiply keys, values and the inner activations of each MLP by learned factors.",
    source="arXiv:2205.05638, sec. 3.3, in the encoder alone and without the further losses of T-Few (sec. 3.2)",
    plasticity=head_only,
    rate=1e-2,
    published=PublishedRate(3e-3, "github.com/r-three/t-few, configs/ia3.json"),
    adapters=(FACTORS(),),
)
