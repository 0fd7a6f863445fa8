"""Write docs/glossary.md with `python docs/write_glossary.py`."""

from pathlib import Path

from playground.glossary import TERMS

FILE = Path(__file__).with_name("glossary.md")
HEAD = """# Glossary

Every term of the screen in one line. The third column has the word of the paper or library if it differs.
Hover over a heading of the app to read its terms.

| term | what it means | elsewhere |
|---|---|---|
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(f"| {term.name} | {term.says} | {term.paper or '–'} |\n" for term in TERMS)


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
