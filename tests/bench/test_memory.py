"""bench/memory: on its traces the pool holds no more than the best of other pools, by models of their rules, and hardly more on such traces of other seeds.
A short run draws one of each; KILN_SEED=N draws the same again."""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import unittest

MEMORY = pathlib.Path(__file__).resolve().parents[2] / "bench" / "memory"
REPLAY = os.environ.get("KILN_REPLAY_MEMORY")
NAMES = ["seq2seq", "transformer", "images", "generation", "random"]
PEERS = ["cupy", "torch", "expandable"]
MOST_ELSEWHERE = 1.03
SOAK = os.environ.get("KILN_SOAK") == "1"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@unittest.skipUnless(REPLAY, "KILN_REPLAY_MEMORY does not name the program")
class Memory(unittest.TestCase):
    def compare(self, name, seed, rounds, share):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, name)
            pathlib.Path(trace).write_text(output(sys.executable, "-B", MEMORY / "traces.py", name, "--seed", str(seed)))
            words = output(sys.executable, "-B", MEMORY / "models.py", trace).split()
            said = output(REPLAY, trace, str(rounds))
        used, held = (int(number) for number in re.search(r"used (\d+) MB, held (\d+) MB", said).groups())
        peers = {peer: int(words[words.index(peer) + 1]) for peer in PEERS}
        self.assertAlmostEqual(used, int(words[words.index("used") + 1]), delta=1)
        self.assertLessEqual(held, share * min(peers.values()), f"{name}, seed {seed}, {rounds} rounds: {used} in use, peers {peers}")

    def test_no_peer_holds_less(self):
        seed = int(os.environ.get("KILN_SEED") or time.time())
        print(f"KILN_SEED={seed}", flush=True)
        rng = random.Random(seed)
        for name in NAMES if SOAK else [rng.choice(NAMES)]:
            self.compare(name, 1, rng.choice([1, 3, 8]), 1)
        for name in NAMES * 4 if SOAK else [rng.choice(NAMES)]:
            self.compare(name, rng.randrange(2, 1000), rng.choice([1, 3, 8]), MOST_ELSEWHERE)


if __name__ == "__main__":
    unittest.main()
