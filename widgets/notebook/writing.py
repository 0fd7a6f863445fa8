"""What a model has written in a notebook: text in a terminal, tinted tokens in a cell."""

from dataclasses import dataclass

from playground.analysis.generation import Written
from widgets.notebook.drawing import in_block
from widgets.static import writing


@dataclass(frozen=True, repr=False)
class WrittenTexts:
    """The texts behind a prompt, the best first; `texts` are their strings, `log_probs` in nats."""

    written: Written

    @property
    def texts(self) -> list[str]:
        return [self.written.tokenizer.join(one.shown) for one in self.written.texts]

    @property
    def log_probs(self) -> list[float]:
        return [one.log_prob for one in self.written.texts]

    def __repr__(self) -> str:
        found = zip(self.texts, self.written.texts, strict=True)
        return "\n".join(f"{self.written.prompt} | {text}  ({writing.summary(one)})" for text, one in found)

    def _repr_html_(self) -> str:
        return in_block(writing.markup(self.written))
