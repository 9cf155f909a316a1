"""Peers in a process apart. A peer's compiler may kill its process, never end, or leave the device in a state in which nothing runs any more, as a capture
that fails can: then a new process goes on, without that peer in that case. The process says by lines of JSON what it begins, {"number", "peer"}, where the
peer is "" for all that is measured before the peers, and what it has found, a result with its "number"."""
import collections
import json
import os
import tempfile
import time

SILENCE, STARTS = 120, 2  # seconds without a line, after which a process is ended; processes in a row that say nothing, after which none is started


def lines_of(path):
    """What a process has said; the last line may be cut off."""
    with open(path) as said:
        for line in said:
            try:
                yield json.loads(line)
            except ValueError:
                return


def wait(process, path, until, silence):
    """Waits for its end, which comes at `until`, or when it has said nothing for too long."""
    size, last = 0, time.monotonic()
    while process.poll() is None:
        time.sleep(0.05)
        now = time.monotonic()
        if os.path.getsize(path) != size:
            size, last = os.path.getsize(path), now
        if now > until or now - last > silence:
            process.kill()
            process.wait()


def read(path, results):
    """Adds results; what was begun last and is not among them, or None."""
    begun = None
    for line in lines_of(path):
        is_result = "times" in line
        if is_result:
            results[line["number"]] = line
        begun = None if is_result else line
    return begun


def measured(start, cases, until, say, silence=SILENCE):
    """Results by the numbers of cases. start(path of cases, path of lines) starts a process for them; cases have the names of peers that they go without."""
    results, without, mute = {}, collections.defaultdict(list), 0
    with tempfile.TemporaryDirectory() as folder:
        given, said, left = f"{folder}/cases.jsonl", f"{folder}/said.jsonl", list(cases)
        while left and time.monotonic() < until and mute < STARTS:
            with open(given, "w") as out:
                out.writelines(json.dumps({**case, "without": without[case["number"]]}) + "\n" for case in left)
            open(said, "w").close()
            wait(start(given, said), said, until, silence)
            begun = read(said, results)
            mute = 0 if os.path.getsize(said) else mute + 1
            left = [case for case in left if case["number"] not in results]
            if not begun or time.monotonic() >= until:
                continue
            case = next(case for case in left if case["number"] == begun["number"])
            say(f"# {begun['peer'] or 'what comes before the peers'} ended its process: {case['text']}")
            if begun["peer"]:
                without[case["number"]].append(begun["peer"])
            else:
                left.remove(case)
    if mute == STARTS:
        say("# processes for the peers end at once: no more are started")
    return results
