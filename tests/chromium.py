"""Where the system's Chromium is: `python tests/chromium.py` prints its path, or fails."""

import os
import shutil
import sys

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str:
    """The path of the browser: what CHROMIUM names, else the first that is installed; empty where there is none."""
    named = shutil.which(os.environ.get("CHROMIUM") or "")
    return named or next((found for name in NAMES if (found := shutil.which(name))), "")


if __name__ == "__main__":
    print(chromium())
    sys.exit(not chromium())
