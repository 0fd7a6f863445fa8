"""How a model is trained, as knobs."""

from dataclasses import dataclass

from playground.knob import knob

BETAS = (0.9, 0.98)
"""AdamW's betas, wherever a recipe says no other."""


@dataclass(frozen=True)
class Recipe:
    """Batch, length of a row, optimiser and schedule; with the defaults a tiny model learns latent classes in a minute.

    "muon" is Muon on the matrices inside the stacks and AdamW on the rest, "adamw" the papers' own.
    """

    steps: int = knob(
        1000, 1, 100_000, unit="steps", why="The length of the training, over which the schedule falls to its end."
    )
    batch_size: int = knob(32, 1, 512, unit="rows", why="Texts in one step.")
    seq_len: int = knob(32, 4, 256, unit="tokens", why="Length of a text.")
    optimiser: str = knob("muon", choices=("muon", "adamw"), why="Muon finds latent classes sooner.")
    lr: float = knob(6e-3, 1e-6, 1.0, unit="learning rate", why="AdamW: embeddings, norms and heads.")
    muon_lr: float = knob(2e-2, 1e-6, 1.0, unit="learning rate", why="Muon: matrices inside the stacks.")
    warmup_ratio: float = knob(0.1, 0.0, 1.0, unit="share of the steps", why="A slow start keeps Adam's moments sane.")
    min_lr_ratio: float = knob(0.02, 0.0, 1.0, unit="share of the rate", why="Where the linear fall ends.")
    adam_beta2: float = knob(BETAS[1], 0.5, 0.9999, unit="", why="How long AdamW remembers squared gradients.")
    weight_decay: float = knob(0.01, 0.0, 1.0, unit="weight decay", why="Pulls weights towards zero.")
    decay_norms: bool = knob(True, why="Norms and biases are pulled towards zero too; not so in BERT and GPT.")
    grad_clip: float = knob(1.0, 0.0, 100.0, unit="norm of the gradient", why="Longer gradients are shortened.")
    grad_accum_steps: int = knob(1, 1, 512, unit="parts", why="Parts need less memory; the gradient is the same.")
    precision: str = knob(
        "float32", choices=("float32", "bfloat16"), why="Products in half the bits: faster on large models, less exact."
    )
    generator_first: float = knob(
        0.0,
        0.0,
        1.0,
        unit="share of the steps",
        why="The generator learns alone, then is frozen; 0 trains both at once.",
    )
