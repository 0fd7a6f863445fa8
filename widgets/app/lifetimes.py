"""How long a visit is kept without its page."""

LOST_FOR, LOOKED_EVERY = 600_000, 2_000  # ms that a lost visit is kept with its run, and between looks for ended ones
