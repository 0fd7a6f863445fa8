"""Uploaded files: on disk, so that they are read as every other file is, and gone with the choice or the visit."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import TemporaryDirectory

from playground.errors import UserError

LARGEST_FILE = 20_000_000  # bytes of what is uploaded at once; the command line streams larger files
LARGEST_LABELLED_FILE = 5_000_000  # bytes of a file that is read while the page waits: 1.5 s, and 6.7 s for 20 MB
LONGEST_NAME = 60  # letters of a file's name that are kept, its end among them; no disk refuses so many

NO_COLUMN = "(none)"  # no column of a table is the label, or a second text

ENCODINGS = {
    "auto (UTF-8)": "",
    "cp1252 (Western)": "cp1252",
    "latin-1 (Western)": "latin-1",
    "cp1250 (Central Europe)": "cp1250",
    "cp1251 (Cyrillic)": "cp1251",
    "koi8-r (Cyrillic)": "koi8-r",
    "shift_jis (Japanese)": "shift_jis",
    "gb18030 (Chinese)": "gb18030",
    "big5 (Chinese)": "big5",
    "euc-kr (Korean)": "euc-kr",
    "utf-16": "utf-16",
}  # of an uploaded file

OR_CHOOSE = " Or choose its encoding below the file."
"""What is added where a page refuses a file that is not in UTF-8."""


class Uploads:
    """The files that were chosen last on one page, in a temporary folder of their own."""

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None

    def keep(self, files: Iterable[tuple[str, bytes]], most: int = LARGEST_FILE) -> list[Path]:
        """The paths of files with these names and contents; they replace those before unless they are too large."""
        files = [(safe_name(name), content) for name, content in files]
        size = sum(len(content) for _, content in files)
        if size > most:
            raise UserError(f"The file has {size:,} bytes; at most {most:,} are read here.")
        self.remove()
        self._folder = TemporaryDirectory(prefix="playground-")
        paths: list[Path] = []
        for name, content in files:
            path = Path(self._folder.name) / name
            paths.append(path if path not in paths else path.with_name(f"{len(paths) + 1}-{name}"))
            try:
                paths[-1].write_bytes(content)
            except OSError as error:
                self.remove()
                raise UserError(f"{name} cannot be saved here ({error.strerror or error}); make room first.") from error
        return paths

    def remove(self) -> None:
        """Remove the files and their folder."""
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None


def safe_name(name: str) -> str:
    """The last part of a file's name as a browser says it, without what no disk or no screen can hold."""
    last = PureWindowsPath(PurePosixPath(name).name).name
    kept = "".join(c for c in last if c.isprintable())[-LONGEST_NAME:]
    return kept if kept.strip(". ") else "text.txt"
