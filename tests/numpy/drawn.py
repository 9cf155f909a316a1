"""The cases of many that a short test takes, others at each run (drawn.h is its counterpart in C)."""
import os
import random
import time

SOAK = os.environ.get("KILN_SOAK") == "1"
SEED = int(os.environ.get("KILN_SEED") or time.time())


def drawn(cases, share):
    """One of `share` cases, others at each run, and one at least; all with KILN_SOAK=1. KILN_SEED=N takes those of the run that printed it."""
    if not SOAK and not hasattr(drawn, "told"):
        drawn.told = print(f"KILN_SEED={SEED}", flush=True)
    cases = list(cases)
    return cases if SOAK or not cases else random.Random(f"{SEED} {cases[0]} {len(cases)}").sample(cases, max(1, len(cases) // share))
