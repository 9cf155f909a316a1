"""What bench/fuzz_speed.py prints of its results, each a case and {"ratio", "floor", "times", "plan", "fault"}."""
import collections
import re

from speed_cases import words

OWN = ("kiln", "copy", "empty")  # times that are no peer's


def say(text):
    print(text, flush=True)


def first_line(failure):
    return f"{type(failure).__name__}: {(str(failure).splitlines() or [''])[0]}"


def ratio_of(times):
    """The best peer's time over kiln's."""
    own = max(times["kiln"] - times.get("empty", 0), 1e-9)
    return min((t for n, t in times.items() if n not in OWN), default=float("inf")) / own


def percentiles(values, at=(1, 5, 10, 25, 50, 75, 90)):
    values = sorted(values)
    return [values[min(int(len(values) * p / 100), len(values) - 1)] for p in at]


def distribution(name, values, bars):
    if values:
        say(f"{name} {len(values)} cases: " + " ".join(f"{v:.2f}" for v in percentiles(values)) + f"; below {', '.join(map(str, bars))}: "
            + ", ".join(str(sum(v < bar for v in values)) for bar in bars))


def kinds_of(plan):
    """The kinds of a plan's kernels."""
    return " ".join(dict.fromkeys(re.findall(r'schedule="(\w+)', plan)))


def table(title, groups, results):
    """A line for each value of groups(case, result)."""
    found = collections.defaultdict(list)
    for case, r in results:
        found[groups(case, r)].append(r)
    say(f"\n| {title} | cases | floor / kiln: least | median | best peer / kiln: cases | least | median | below 0.9 |"
        "\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, rs in sorted(found.items(), key=lambda pair: -len(pair[1])):
        floors, ratios = [r["floor"] for r in rs], [r["ratio"] for r in rs if r["ratio"] < float("inf")]
        peers = f"{min(ratios):.2f} | {percentiles(ratios, [50])[0]:.2f} | {sum(r < 0.9 for r in ratios)}" if ratios else "| |"
        say(f"| {name} | {len(rs)} | {min(floors):.2f} | {percentiles(floors, [50])[0]:.2f} | {len(ratios)} | {peers} |")


def show_worst(results, key, count):
    for case, r in sorted(results, key=lambda pair: pair[1][key])[:count]:
        say(line_of(case, r))
        for line in r["plan"].splitlines():
            say("    " + (line if line.startswith("#") else line[line.find("operands="):]))


def show(results, worst, by_kind=False):
    say(f"\n{len(results)} cases; percentiles 1, 5, 10, 25, 50, 75, 90")
    beside = [pair for pair in results if pair[1]["ratio"] < float("inf")]
    for sort in sorted({r.get("sort", "") for _, r in beside}):
        distribution(f"best peer / kiln, {sort}" if sort else "best peer / kiln,", [r["ratio"] for _, r in beside if r.get("sort", "") == sort],
                     (1.0, 0.9, 0.7, 0.5))
    distribution("floor / kiln,", [r["floor"] for _, r in results], (0.93, 0.8, 0.65, 0.5))
    distribution("floor of the passes / kiln,", [r["passes"] for _, r in results if "passes" in r], (0.93, 0.8, 0.65, 0.5))
    unlike = sum(bool(r.get("unlike")) for _, r in results)
    if unlike:
        say(f"{unlike} cases of which a peer's result has another dtype: it is left out there")
    table("family", lambda case, r: case["family"], results)
    if by_kind:
        table("kinds", lambda case, r: kinds_of(r["plan"]), results)
        say(f"\nthe worst {worst} by the floor")
        show_worst(results, "floor", worst)
    if beside:
        say(f"\nthe worst {worst} by the best peer")
        show_worst(beside, "ratio", worst)


def line_of(case, r):
    times = ", ".join(f"{n} {t * 1e3:.4g}" for n, t in r["times"].items() if n != "empty")
    return f"{r['ratio']:.2f} floor {r['floor']:.2f} {case['family']} {case['number']}: {words(case)}: ms {times}"
