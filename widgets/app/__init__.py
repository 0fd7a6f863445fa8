"""The served app: one page per visit, and how a visit begins and ends."""
