"""Call the program: `python -m playground`."""

from playground.cli import main

raise SystemExit(main())
