"""Write docs/claims.md, the verdicts in README.md and the key of the bug hunt with `python docs/write_claims.py`."""

import json
from pathlib import Path

from playground.claims import claims
from playground.claims.claim import GROUPS, Claim
from playground.claims.errata import ERRATA
from playground.claims.report import claim_facts
from playground.claims.verdict import in_words, shipped
from playground.hunt.grading import METADATA, answer_key
from widgets.static.claims import counted

FILE = Path(__file__).with_name("claims.md")
README = Path(__file__).parents[1] / "README.md"
LESSON = README.parent / "notebooks" / "16_which_bug_is_it.ipynb"
HEAD = """# Claims

Every claim of the surveys that can be tested here, with its verdict. The rule of each card was written before its run.
`playground claims NAME` prints a card, `playground claims run NAME` runs it.

A verdict comes from a paired t-test over seeds: the interval of the difference must lie wholly where the rule wants
it (agrees) or wholly outside (disagrees). It is about tiny models on generated text, not about the paper's models.
"""
BEGIN, END = "<!-- verdicts: docs/write_claims.py -->\n", "<!-- end of verdicts -->"
CALLS = ("agrees", "disagrees", "undecided")


def call(claim: Claim) -> str:
    """The verdict that comes with the program."""
    verdict = shipped().get(claim.name)
    return verdict["call"] if verdict else "not run"


def card(claim: Claim) -> str:
    """A card as a section."""
    verdict = shipped().get(claim.name)
    found = f"{call(claim)}. {in_words(verdict, claim.unit)}" if verdict else call(claim)
    lines = {
        "Source": claim.source, "If it holds": claim.prediction, "If not": claim.otherwise,
        "Rule": f"{'; '.join(rule.words for rule in claim.rules)} ({claim.seeds} seed{'s' * (claim.seeds > 1)})",
        "Published": claim.published, "Scale": claim.scale, "Verdict": found,
    }  # fmt: skip
    said = "".join(f"* {name}: {text}\n" for name, text in lines.items() if text)
    return f"### {claim.name} {claim.title}\n\n{claim.statement}\n\n{said}"


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for group in GROUPS:
        members = [claim for claim in claims().values() if claim.group == group]
        parts += [f"## {group}\n", *map(card, members)] if members else []
    rows = "".join(f"| {e.source} | {e.printed} | {e.correct} | {e.decides} |\n" for e in ERRATA)
    rows = rows.replace("| ice)", r"\| ice)").replace("| steam)", r"\| steam)").replace("| stream)", r"\| stream)")
    parts.append(f"## Errata of the surveys\n\n| source | printed | correct | decided by |\n|---|---|---|---|\n{rows}")
    return "\n".join(parts)


def table() -> str:
    """The verdicts in the README, a row for each group."""
    rows = ""
    for group in GROUPS:
        members = [claim for claim in claims().values() if claim.group == group]
        cells = ["; ".join(claim.title for claim in members if call(claim) == each) for each in CALLS]
        rows += f"| {group} | {' | '.join(cells)} |\n" if members else ""
    head = f"| | {' | '.join(CALLS)} |\n|---|---|---|---|\n"
    facts = [claim_facts(claim, shipped().get(claim.name)) for claim in claims().values()]
    return f"<details>\n<summary>The verdicts: {counted(facts)}</summary>\n\n{head}{rows}\n</details>\n"


def readme() -> str:
    """README.md with the table."""
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    return f"{before}{BEGIN}{table()}{END}{rest.partition(END)[2]}"


def lesson() -> str:
    """The lesson on the bug hunt with the hashes of all right answers in its metadata."""
    notebook = json.loads(LESSON.read_text(encoding="utf-8"))
    notebook["metadata"][METADATA] = answer_key()
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
    README.write_text(readme(), encoding="utf-8")
    LESSON.write_text(lesson(), encoding="utf-8")
