"""Write docs/glossary.md anew with `python docs/glossary.py`."""

from pathlib import Path

from playground.glossary import TERMS

FILE = Path(__file__).with_name("glossary.md")
HEAD = """# Glossary

Every term of the screen in one line. The third column is the word of the paper or of a library where it is another one.
Point at a heading of the app to read the terms in it.

| term | what it means | elsewhere |
|---|---|---|
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(f"| {term.name} | {term.says} | {term.paper or '–'} |\n" for term in TERMS)


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
