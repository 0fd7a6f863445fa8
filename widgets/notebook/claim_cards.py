"""The papers' claims in a notebook: the table of verdicts, and a claim that is run with its card or as a variant."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playground.claims.claim import Claim, claim_named
from playground.claims.claim import claims as every_claim
from playground.claims.report import ClaimFacts, claim_facts, table_csv
from playground.claims.run import OutcomeRecord, run
from playground.claims.verdict import Verdict, in_words, shipped
from playground.errors import UserError, writing
from playground.knob import as_written
from widgets.notebook.arguments import checked
from widgets.notebook.drawing import in_block
from widgets.static import claims as drawn


@dataclass(frozen=True, eq=False)
class Claims:
    """All claims with the verdicts that come with the program; it shows itself as a table."""

    facts: list[ClaimFacts]

    def __repr__(self) -> str:
        return f"{len(self.facts)} claims: {drawn.counted(self.facts)}"

    def _repr_html_(self) -> str:
        return in_block(f"<style>{drawn.STYLE}</style>{drawn.table(self.facts)}")

    def csv(self, path: str | Path) -> None:
        """Write the table into a file."""
        with writing(path):
            Path(path).write_text(table_csv(self.facts), encoding="utf-8")


@dataclass(frozen=True, eq=False)
class TestedClaim:
    """A claim that was run; it shows its card, its seeds and its verdict."""

    claim: Claim
    verdict: Verdict
    settings: Mapping[str, Any]

    __test__ = False

    @property
    def facts(self) -> ClaimFacts:
        """The same as `playground claims run NAME --json`."""
        return claim_facts(self.claim, self.verdict)

    def __repr__(self) -> str:
        return f"{self.claim.name}: {self.verdict['call']}. {in_words(self.verdict, self.claim.unit)}"

    def _repr_html_(self) -> str:
        turned = ", ".join(f"{name} = {value}" for name, value in self.settings.items())
        found = drawn.found(self.claim, self.verdict, f"With {turned}" if turned else "")
        background = drawn.background(self.claim)
        return in_block(f"<style>{drawn.STYLE}</style>{drawn.card(self.claim, self.verdict)}{found}{background}")


def claims() -> Claims:
    """The papers' claims with the verdicts that come with the program, as `playground claims --json` lists them."""
    return Claims([claim_facts(claim, shipped().get(name)) for name, claim in every_claim().items()])


@checked
def claim(
    claim: str = "K040", settings: Mapping[str, Any] | None = None, *, workers: int = 1, **knobs: Any
) -> TestedClaim:
    """Run a claim over its seeds, with its card as it stands or with knobs turned.

    Tab inside the quotes and `playground claims` list the claims. Knobs of all arms are named as they are (`steps=100`,
    `seeds=3`), those of one arm in `settings`, such as {"MLM.entry": "PLM"}. Finished seeds are kept and not run again.

    >>> claim("K040")
    >>> claim("K040", steps=100).verdict["call"]
    """
    asked = claim_named(claim)
    turned = {**(settings or {}), **knobs}
    asked = asked.turned({knob: as_written(value) for knob, value in turned.items()})
    *_, last = run([asked], workers, OutcomeRecord.of_user())
    if last.verdict is None:
        raise UserError(last.error)
    return TestedClaim(asked, last.verdict, turned)
