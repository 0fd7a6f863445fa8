"""A hook of MkDocs: whatever has a page is listed at the left of the pages of its kind."""

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Put every page of a folder after the folder's `index.md` in the navigation of `mkdocs.yml`."""
    config.nav = [{name: _with_pages(Path(config.docs_dir), part)} for tab in config.nav for name, part in tab.items()]
    return config


def _with_pages(root: Path, part: Any) -> Any:
    """A part of the navigation: a page, a titled page, or a list of both."""
    if isinstance(part, list):
        return [each for one in part for each in _listed(root, one)]
    pages = _pages(root, part)
    return [part, *pages] if pages else part


def _listed(root: Path, part: Any) -> list[Any]:
    if isinstance(part, str):
        return [part, *_pages(root, part)]
    return [{title: _with_pages(root, each)} for title, each in part.items()]


def _pages(root: Path, page: str) -> list[str]:
    """The other pages in the folder of an index, by name."""
    folder = (root / page).parent
    if not page.endswith("/index.md"):
        return []
    return [path.relative_to(root).as_posix() for path in sorted(folder.glob("*.md")) if path.name != "index.md"]
