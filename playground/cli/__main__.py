"""`python -m playground.cli`"""

from playground.cli import main

raise SystemExit(main())
