"""Peers of bench/fuzz_speed.py in a process apart: one that dies, hangs or is cut off costs its own time alone."""
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import speed_apart  # noqa: E402

# A worker of three peers: what a case's text says happens in front of the time of b.
WORKER = """
import json, os, sys, time
for line in open(sys.argv[1]):
    case, times = json.loads(line), {"kiln": 1}
    def say(text):
        with open(sys.argv[2], "a") as out:
            out.write(text)
    def begin(peer):
        say(json.dumps({"number": case["number"], "peer": peer}) + "\\n")
    begin("")
    if case["text"] == "dies at once":
        os.kill(os.getpid(), 9)
    for peer in ("a", "b", "c"):
        if peer in case["without"]:
            continue
        begin(peer)
        if peer == "b" and case["text"] == "dies":
            os.kill(os.getpid(), 11)
        if peer == "b" and case["text"] == "raises":
            raise SystemExit("unwell")
        if peer == "b" and case["text"] == "hangs":
            time.sleep(99)
        if peer == "b" and case["text"] == "is cut off":
            say('{"number": 1, "ti')
            os.kill(os.getpid(), 9)
        if peer == "c" and case["text"] == "dies twice" or peer == "b" and case["text"] == "dies twice":
            os.abort()
        times[peer] = 2
    say(json.dumps({"number": case["number"], "times": times}) + "\\n")
"""


class Apart(unittest.TestCase):
    def measured(self, *texts, worker=WORKER, seconds=60, silence=3):
        cases, self.said, self.started = [{"number": 10 + k, "text": text} for k, text in enumerate(texts)], [], 0

        def start(given, said):
            self.started += 1
            return subprocess.Popen([sys.executable, "-S", "-c", worker, given, said], stderr=subprocess.DEVNULL)
        found = speed_apart.measured(start, cases, time.monotonic() + seconds, self.said.append, silence)
        return {number: set(r["times"]) for number, r in found.items()}

    def test_all_is_well(self):
        self.assertEqual(self.measured("is well", "is well"), {10: {"kiln", "a", "b", "c"}, 11: {"kiln", "a", "b", "c"}})
        self.assertEqual((self.started, self.said), (1, []))
        self.assertEqual((self.measured(), self.started), ({}, 0))

    def test_a_peer_costs_its_own_time(self):
        for text in ("dies", "raises", "hangs", "is cut off"):
            self.assertEqual(self.measured("is well", text, "is well"),
                             {10: {"kiln", "a", "b", "c"}, 11: {"kiln", "a", "c"}, 12: {"kiln", "a", "b", "c"}}, text)
            self.assertEqual((self.started, self.said), (2, [f"# b ended its process: {text}"]))
        self.assertEqual(self.measured("dies twice"), {10: {"kiln", "a"}})

    def test_what_comes_before_peers(self):
        self.assertEqual(self.measured("dies at once", "is well"), {11: {"kiln", "a", "b", "c"}})

    def test_ends(self):
        self.assertEqual(self.measured("is well", worker="raise SystemExit(1)"), {})
        self.assertEqual(self.started, 2)
        begin = time.monotonic()
        self.assertEqual(self.measured("is well", "hangs", seconds=2, silence=60), {10: {"kiln", "a", "b", "c"}})
        self.assertLess(time.monotonic() - begin, 30)


if __name__ == "__main__":
    unittest.main()
