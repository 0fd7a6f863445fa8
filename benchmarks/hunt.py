"""Measure the effect of the faults of the bug hunt over five seeds, and write playground/hunt/effects.json.

    python benchmarks/hunt.py [NAME ...]

Without names those are measured that are new or train for other steps than before.
"""

import json
import sys
import time
from statistics import fmean, stdev

from playground.hunt import fault_named, faults, train_suspect
from playground.hunt.effects import FILE, SEEDS, Effect


def measure(name: str) -> Effect:
    """The figure of a fault in sound and in faulty runs."""
    fault, began = fault_named(name), time.process_time()
    sound, faulty = (
        [fault.figure(train_suspect(fault, is_faulty, seed)) for seed in range(SEEDS)] for is_faulty in (False, True)
    )
    seconds = round(time.process_time() - began, 1)
    return {"sound": sound, "faulty": faulty, "steps": fault.steps, "seconds": seconds}


def main() -> None:
    """Measure and write after each fault."""
    known: dict[str, Effect] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    old = [name for name, fault in faults().items() if known.get(name, {}).get("steps") != fault.steps]
    for name in sys.argv[1:] or old:
        found = known[fault_named(name).name] = measure(name)
        spread = max(stdev(found["sound"]), stdev(found["faulty"]), 1e-12)
        size = abs(fmean(found["faulty"]) - fmean(found["sound"])) / spread
        means = f"{fmean(found['sound']):9.4g} {fmean(found['faulty']):9.4g}"
        print(f"{name:<50} {means} {size:8.1f} sd {found['seconds']:5.0f} s")
        kept = {each: known[each] for each in sorted(faults()) if each in known}
        FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
