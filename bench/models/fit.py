#!/usr/bin/env python3
"""Fits and evaluates the models by which schedules/transpose/tile_sides.c and schedules/transpose/window_tiles.c choose, from what measure_models has measured.

    bench/models/fit.py [FOLDER]            evaluates: how much slower what is chosen is than the best that was measured (default: bench/models/h200)
    bench/models/fit.py [FOLDER] --fit      searches for better weights, too, and leaves each out in turn
    bench/models/fit.py FOLDER --check      whether the costs of this file are those of the library, which measure_models has written down

Constants are read from the sources, where each has its comment and its unit. Regret: the time of what is chosen over the least time measured for the layout; a
figure is the geometric mean over layouts, then the worst.
"""
import argparse
import csv
import pathlib
import re
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "src" / "schedules" / "transpose"
BLOCK = 512  # threads of a windows kernel
MULTIPROCESSOR, RESERVED = 228 << 10, 1 << 10  # bytes of shared memory of an sm_90, and what each block takes beside its own


def constants(name):
    """The numbers of enumerators and of static constants in a source file."""
    text = re.sub(r"/\*.*?\*/", "", (SOURCES / name).read_text(encoding="utf-8"), flags=re.S)
    found = re.findall(r"\b([A-Za-z_]\w*) =\s+([0-9][0-9.]*(?: << [0-9]+)?)\s*[,;}]", text)
    return {word: int(value.split()[0]) << int(value.split()[2]) if "<<" in value else float(value) for word, value in found}


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Layout:
    """What was measured of one layout: columns of numbers, and the tags of each choice."""

    def __init__(self, about, rows):
        self.of_class, self.item = about["class"], int(about["item"])
        self.vector = 16 // self.item
        self.tags = [row["tags"].split("|") for row in rows]
        self.column = {name: np.array([float(row[name]) for row in rows]) for name in rows[0] if name not in ("layout", "tags")}

    def us(self):
        return self.column["us"]

    def of_tag(self, tag):
        """The time of what has the tag; None where nothing has."""
        at = [k for k, tags in enumerate(self.tags) if tag in tags]
        return self.us()[at[0]] if at else None


def load(folder, kind):
    about = {row["layout"]: row for row in read(folder / "layouts.csv")}
    rows = {}
    for row in read(folder / f"{kind}.csv"):
        rows.setdefault(row["layout"], []).append(row)
    return [Layout(about[layout], some) for layout, some in rows.items()]


# ---- the models, as the sources have them ----

def powers_above(n, limit):
    return np.maximum(np.log2(n / limit), 0)


TILE_WEIGHTS = ["run_read", "run_written", "read_off", "split_written", "more_shared", "fewer_threads", "fewer_tiles"]


def tile_terms(layout, c):
    """A column a weight: what a tile costs beyond its bytes is their product."""
    g = layout.column
    threads = g["p_vectors"] * g["p_steps"] * g["q_vectors"] * g["q_steps"]
    split = np.where(2 ** g["written_aligned"] < c["SECTOR"], c["SECTOR"] / g["written"], 0)
    return np.stack([1 / g["read"], 1 / g["written"], powers_above(c["ALIGNED"], 2 ** g["read_aligned"]), split,
                     powers_above(threads * layout.vector ** 2 * layout.item, c["FREE_SHARED"]), powers_above(c["ENOUGH_THREADS"], threads),
                     powers_above(c["ENOUGH_TILES"], g["tiles"])], 1)


def tile_cost(layout, c):
    return tile_terms(layout, c) @ np.array([c[name] for name in TILE_WEIGHTS])


BOX_WEIGHTS = ["copy_turn", "run_ends", "input_row", "starved_cache"]


def up(n, by):
    return np.ceil(n / by)


def box_cost(layout, c):
    g = layout.column
    lanes, chunk_lanes = 2 ** g["slot_lanes"], 2 ** g["chunk_lanes"]
    slots = up(g["run"] / layout.vector, lanes) * (1 + up(g["rows"], BLOCK / lanes))
    copies = up(g["input_rows"], BLOCK / chunk_lanes) * up(up(g["columns"] * layout.item + 16 - layout.item, 16), chunk_lanes)
    shared = g["shared"] + RESERVED
    blocks = np.minimum(MULTIPROCESSOR // shared, c["SMALL_BLOCKS"] if layout.item < 4 else c["BLOCKS"])
    starved = np.where(blocks * shared > MULTIPROCESSOR - c["CACHE_BYTES"], c["starved_cache"], 1)
    return g["boxes"] * (1 + slots + c["copy_turn"] * copies + c["run_ends"] * g["rows"] + c["input_row"] * g["input_rows"]) * starved


def box_candidates(layout):
    """Boxes cross wherever they can: that is no matter of cost."""
    crossed = layout.column["crossed"] == 1
    return crossed if crossed.any() else ~crossed


# ---- regrets ----

def geometric(values):
    return float(np.exp(np.mean(np.log(values))))


def show(name, by_class):
    everything = [value for values in by_class.values() for value in values]
    if everything:
        parts = "  ".join(f"{name} {geometric(values):.3f}" for name, values in by_class.items())
        print(f"  {name:<28} {len(everything):4d}  {geometric(everything):.4f}  {max(everything):.2f}   {parts}")


def regrets_of_tag(layouts, tag):
    by_class = {}
    for layout in layouts:
        time = layout.of_tag(tag)
        if time is not None:
            by_class.setdefault(layout.of_class, []).append(time / layout.us().min())
    return by_class


def regrets_of_model(layouts, cost, c, candidates=None):
    by_class = {}
    for layout in layouts:
        costs = cost(layout, c)
        if candidates:
            costs = np.where(candidates(layout), costs, np.inf)
        by_class.setdefault(layout.of_class, []).append(layout.us()[np.argmin(costs)] / layout.us().min())
    return by_class


def mean_log(by_class):
    return float(np.mean([np.log(value) for values in by_class.values() for value in values]))


def best_fixed(layouts):
    """Of the sizes that are the same for all layouts the best; where it does not fit, the layout takes its own model's."""
    tags = sorted({tag for layout in layouts for tags in layout.tags for tag in tags if tag.startswith("fixed")})
    def of(tag):
        by_class = {}
        for layout in layouts:
            time = layout.of_tag(tag)
            by_class.setdefault(layout.of_class, []).append((time if time is not None else layout.of_tag("before")) / layout.us().min())
        return by_class
    best = min(tags, key=lambda tag: mean_log(of(tag)))
    return best, of(best)


def search(layouts, cost, c, weights, candidates=None):
    """Coordinate search: each weight is multiplied by some factors, whatever is better is kept."""
    c, best = dict(c), mean_log(regrets_of_model(layouts, cost, c, candidates))
    for _ in range(3):
        for name in weights:
            for factor in (0.3, 0.5, 0.7, 0.85, 1.15, 1.4, 2, 3.3):
                tried = dict(c, **{name: c[name] * factor})
                value = mean_log(regrets_of_model(layouts, cost, tried, candidates))
                if value < best - 1e-6:
                    best, c = value, tried
    return c


def evaluate(title, layouts, cost, c, weights, tags, candidates, fits):
    print(f"{title}: layouts, geometric mean, worst, by class")
    for tag in tags:
        show(tag, regrets_of_tag(layouts, tag))
    tag, by_class = best_fixed(layouts)
    show(f"best of fixed: {tag[6:]}", by_class)
    show("by this file's formula", regrets_of_model(layouts, cost, c, candidates))
    if not fits:
        return
    found = search(layouts, cost, c, weights, candidates)
    show("searched weights", regrets_of_model(layouts, cost, found, candidates))
    print("   ", ", ".join(f"{name} {found[name]:.4g} (now {c[name]:g})" for name in weights))
    for name in weights:
        show(f"without {name}", regrets_of_model(layouts, cost, dict(c, **{name: 1.0 if name == "starved_cache" else 0.0}), candidates))


def show_ratios(title, pairs):
    by = {}
    for name, ratio in pairs:
        by.setdefault(name, []).append(ratio)
    print(title)
    for name, ratios in by.items():
        print(f"  {name:<28} {len(ratios):4d}  {geometric(ratios):.3f}  {min(ratios):.2f} to {max(ratios):.2f}")


def evaluate_rows(folder):
    about, times = {row["layout"]: row for row in read(folder / "layouts.csv")}, {}
    for row in read(folder / "rows.csv"):
        times.setdefault(row["layout"], {})[row["tags"]] = float(row["us"])
    def pairs(tag, name):
        return [(name(about[layout]), some[tag] / some["before"]) for layout, some in times.items() if tag in some and "before" in some]
    show_ratios("blocks of several rows: without them over with them, by bytes of an element", pairs("along", lambda x: x["item"]))
    show_ratios("short rows taken together: apart over together, by bytes of a row", sorted(
        pairs("apart", lambda x: "below 32" if int(x["extents"].split("x")[-1]) * int(x["item"]) < 32 else "from 32 on")))
    if (folder / "words.csv").exists():
        show_ratios("words between gathers: without over with", [(f"{row['class']}, {row['item']} byte", float(row["without"]) / float(row["with"])) for row in
                                                                 read(folder / "words.csv")])


def check(folder, kinds):
    """The largest relative difference between the library's costs and this file's."""
    worst = 0
    for kind, cost, c in kinds:
        for layout in load(folder, kind):
            differences = np.abs(cost(layout, c) / layout.column["cost"] - 1)
            worst = max(worst, float(differences.max()))
    print(f"largest difference of costs: {worst:.2g}")
    return worst < 1e-3


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=HERE / "h200")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    tile, box = constants("tile_sides.c"), constants("window_tiles.c")
    if options.check:
        return 0 if check(options.folder, [("tile", tile_cost, tile), ("windows", box_cost, box)]) else 1
    evaluate("tile", load(options.folder, "tile"), tile_cost, tile, TILE_WEIGHTS, ["before", "now", "model"], None, options.fit)
    windows = load(options.folder, "windows")
    evaluate("windows", windows, box_cost, box, BOX_WEIGHTS,
             ["before", "no_pitch", "no_shift", "one_box", "counted", "guessed", "now", "model"], box_candidates, options.fit)
    pairs = [(layout.of_class, layout.of_tag("straight") / layout.of_tag("before")) for layout in windows if layout.of_tag("straight") and layout.of_tag("before")]
    if pairs:
        show_ratios("crossed boxes: without over with", pairs + [("all", ratio) for _, ratio in pairs])
    evaluate_rows(options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
