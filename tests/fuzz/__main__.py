"""Repeat one case, or try many more: `python -m tests.fuzz addresses 17`, `python -m tests.fuzz plans 0 5000`."""

import sys
import time

from tests.fuzz import KINDS

if __name__ == "__main__":
    name, first, *more = sys.argv[1:]
    kind, cases = KINDS[name], int(more[0]) if more else 1
    began, broken = time.process_time(), 0
    for seed in range(int(first), int(first) + cases):
        if said := kind.breach(seed):
            broken += 1
            print(said, flush=True)
    print(f"{name}: {cases} cases, {broken} broken, {time.process_time() - began:.1f} s of processor time")
    raise SystemExit(bool(broken))
