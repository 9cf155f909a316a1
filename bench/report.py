"""What compare.py writes about its results: targets, a table in Markdown, and a picture in SVG."""
import html
import statistics

import peer_rows

PEER_ORDER = ("cupy", "torch", "inductor", "quack", "cutensor", "jax", "numpy", "numexpr", "numba")
PEER_TITLES = {"cupy": "CuPy", "torch": "PyTorch", "inductor": "torch.compile", "quack": "QuACK", "cutensor": "cuTENSOR", "jax": "JAX", "numpy": "NumPy",
               "numexpr": "numexpr", "numba": "Numba"}
GROUPS = "EBSLRFNHC"
NOISE = 1.03
NOT_BYTES = ("E5", "F4", "R13", "R13b", "F1")  # rows that arithmetic or the launch binds, not bytes
FOLDS_95 = ("R1", "R2", "R3", "R5", "R6", "R9", "R9b", "R9c", "R12", "F1b", "F7")
FOLDS_88 = ("R4", "R7", "R8", "R8b", "R10", "R11")
SWEPT = (peer_rows.LENGTHS, peer_rows.PUBLISHED, peer_rows.PAPER)
# QuACK 0.6.5's kernels for Hopper on an H200 whose copy was at COPIED in the same run, TB/s: float32, bfloat16.
COPIED = 4.20
QUACK = {
    "softmax": {"65536x1024": (3.93, 3.86), "32768x4096": (3.86, 3.97), "4096x32768": (4.02, 3.99), "2048x65536": (4.00, 3.98),
                "1024x131072": (3.83, 3.94), "512x262144": (3.59, 3.72)},
    "rmsnorm": {"65536x1024": (3.87, 3.80), "32768x4096": (4.05, 3.93), "4096x32768": (3.99, 3.78), "2048x65536": (3.96, 3.41),
                "1024x131072": (3.86, 3.20), "512x262144": (3.69, 2.92)},
    "layernorm": {"65536x1024": (3.96, 3.79), "32768x4096": (4.06, 3.77), "4096x32768": (3.98, 3.46), "2048x65536": (3.80, 3.07),
                  "1024x131072": (3.56, 2.92), "512x262144": (3.41, 2.65)},
}
QUACK_ROWS = {"F6": 4.03, "F8": 3.84, "F8b": 3.84}


def is_sweep(row):
    return "@" in row


def is_permutation(row):
    return row.startswith("P")


def is_narrow(row):
    """Copies of three axes of which one is narrow: narrow4:3:acb-bca."""
    return row.startswith("narrow")


def is_swept(row):
    """Rows of many lengths, those that QuACK has kernels for, the founding paper's table."""
    return row.startswith(SWEPT)


def unfused(row):
    """Without the f of a row that an expression computes."""
    return peer_rows.peers_row(row)


def quack(row):
    """TB/s that QuACK's kernel reached; None where there is none."""
    if not row.startswith(peer_rows.PUBLISHED):
        return QUACK_ROWS.get(row)
    _, what, dtype, shape = row.split(":")
    return QUACK[what][shape][dtype != "f4"]


def is_cell(row):
    return row.startswith(peer_rows.CELL)


def order_of(row):
    """Sorts E1, E2, ..., E10, B1, ..., then sweeps, then permutations, then splits of reductions."""
    if is_cell(row):
        outer, reduced, inner = peer_rows.cell(row)
        return (10, f"{outer:12}", inner, row)
    if is_permutation(row):
        return (9, row.split(":")[0], 0, row)
    if is_sweep(row):
        name, size = row.split("@2^")
        return (8, name, int(size), row)
    if is_narrow(row):
        name, channels, order = row.split(":")
        return (12, name, int(channels), order)
    if is_swept(row):
        *kind, size = row.split(":")
        return (11, " ".join(kind), float(size.split("x")[-1]), row)
    digits = "".join(c for c in row if c.isdigit())
    return (GROUPS.find(row[0]), "", int(digits or 0), row)


def by_row(lines):
    """{row: {peer: line}} of what was measured, kiln's rows alone."""
    table = {}
    for line in lines:
        if "us" in line:
            table.setdefault(line["row"], {})[line["peer"]] = line
    return {row: peers for row, peers in table.items() if "kiln" in peers}


def best_peer(peers):
    others = [(line["us"], name) for name, line in peers.items() if name != "kiln"]
    return min(others) if others else (None, None)


# ---- targets ----

def at_most(reasons, us, limit, what):
    if us > limit:
        reasons.append(f"{us:.2f} us, {what} {limit:.2f}")


def floor_target(row):
    """The least part of the floor's rate."""
    if is_cell(row):
        return 0.88
    if row.startswith("Podd"):
        return 0.65 if row.split(":")[0] in ("Podd1", "Podd2") else 0.85
    if is_permutation(row):
        return 0.85
    if is_narrow(row):
        return 0.75 if row.startswith("narrowodd") else 0.85
    if row in ("L6", "L6b"):
        return 0.88
    if is_swept(row):
        return 0
    if row[0] in "SN":
        return 0.92 if row[0] == "S" else 0.90
    return 0.95 if row in FOLDS_95 else 0.88 if row in FOLDS_88 else 0.93


def judge_programs(reasons, row, peers):
    """Targets beyond the floor and the best peer."""
    line = peers["kiln"]
    if quack(row) and line.get("copy_us") and "quack" not in peers:
        share, theirs = line["copy_us"] / line["us"], quack(row) / COPIED
        if share * NOISE < theirs:
            reasons.append(f"{100 * share:.1f} % of the copy's rate, QuACK {100 * theirs:.1f}")
    if row == "F2b" and line["bytes"] / line["us"] < 4e6:
        reasons.append(f"{line['bytes'] / line['us'] / 1e3:.0f} GB/s, wanted 4000")
    if row in ("S4f", peer_rows.PAPER + "1e8") and "cupy" in peers and peers["cupy"]["us"] < 7 * line["us"]:
        reasons.append(f"{peers['cupy']['us'] / line['us']:.1f} times as fast as CuPy, wanted 7")


def judge_bytes(reasons, row, peers):
    us, floor = peers["kiln"]["us"], peers["kiln"].get("floor_us")
    best, name = best_peer(peers)
    judge_programs(reasons, row, peers)
    row = unfused(row)
    if best is not None and us > best * (1.05 if row.startswith(peer_rows.LENGTHS) else NOISE):
        reasons.append(f"{us / best:.2f} times {PEER_TITLES[name]}'s time")
    is_small = is_cell(row) and peers["kiln"]["bytes"] < 256e6  # a launch counts for too much
    if row == "R13":
        at_most(reasons, us, 4, "wanted")
    if floor and row not in NOT_BYTES and not is_small and floor / us < floor_target(row):
        reasons.append(f"{100 * floor / us:.1f} % of the floor, wanted {100 * floor_target(row):.0f}")


def judge_sweep(reasons, row, line):
    name, bits = row.split("@2^")
    floor = min(x for x in (line["floor_us"], line.get("copy_us")) if x)
    if name in ("chain", "graph"):
        at_most(reasons, line["us"], line["floor_us"] * NOISE, "plain launches with noise")
    elif int(bits) >= 18:
        at_most(reasons, line["us"], floor * 1.05, "1.05 times the floor")
    else:
        at_most(reasons, line["us"], floor + 0.4, "the floor and 0.4")


def judge_first_use(reasons, row, peers):
    line, (best, name) = peers["kiln"], best_peer(peers)
    if row.startswith(("C4", "C5")):
        at_most(reasons, line["us"], 350 if row.startswith("C4") else 300, "wanted")
    elif line.get("floor_us"):
        allowed = 1.4 if row.startswith("C1") else 1.5
        at_most(reasons, line["us"], line["floor_us"] * allowed, f"{allowed} times the compiler alone")
    if best is not None and row.startswith(("C1", "C2", "C3")):
        at_most(reasons, line["us"], best, PEER_TITLES[name])


def judge_host(reasons, row, peers):
    us = peers["kiln"]["us"]
    wanted = {"E4": 3, "E5": 3, "E6": 3, "F4": 3, "F5": 3, "E3": 1.5, "B1": 1.5, "S1": 1, "S6": 1, "R9": 2, "R9b": 2, "R9c": 2,
              "F2": 3, "F2b": 3, "F3": 3, "F3b": 3}
    row = unfused(row)
    wanted = wanted.get(row, 1 if row in (*FOLDS_95, *FOLDS_88, "R13") or row[0] == "N" else None)
    if wanted and "numpy" in peers and peers["numpy"]["us"] < us * wanted / NOISE:
        reasons.append(f"{peers['numpy']['us'] / us:.2f} times as fast as NumPy, wanted {wanted}")
    for name in ("numexpr", "numba"):
        if name in peers and us > peers[name]["us"] * NOISE:
            reasons.append(f"{us / peers[name]['us']:.2f} times {PEER_TITLES[name]}'s time")


def judge(row, peers, on_host):
    reasons, line = [], peers["kiln"]
    if row[0] == "C":
        judge_first_use(reasons, row, peers)
    elif on_host:
        if is_swept(row) or (not is_sweep(row) and row[0] in "EBSRFN"):
            judge_host(reasons, row, peers)
    elif is_sweep(row):
        judge_sweep(reasons, row, line)
    elif row[0] == "H":
        allowed = {"H1": 0.35, "H5": 0.5, "H6": 0.8, "H7": 0.8, "H10": 0.8}.get(row, 0.7)
        at_most(reasons, line["us"], line["floor_us"] + allowed, f"a bare launch and {allowed}")
    else:
        judge_bytes(reasons, row, peers)
    return reasons


def shortfalls(header, lines):
    """{row: [reason, ...]} of the rows that miss their target, and of those that failed."""
    on_host = header["target"] == "host"
    found = {row: judge(row, peers, on_host) for row, peers in by_row(lines).items()}
    for line in lines:
        if line["peer"] == "kiln" and "error" in line:
            found[line["row"]] = [line["error"]]
    return {row: reasons for row, reasons in found.items() if reasons}


# ---- the table ----

SWEPT_TITLES = {
    peer_rows.LENGTHS: "Softmax and layernorm over rows of many lengths, 2^26 elements in all, times the scale",
    peer_rows.PUBLISHED: "Rows and lengths for which QuACK has hand-written kernels",
    peer_rows.PAPER: "The founding paper's table, from the call to the result",
}

def number(value, digits=None):
    if value is None:
        return ""
    return f"{value:.{digits if digits is not None else 2 if value < 100 else 0}f}"


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if part and whole else ""


def spread(line):
    return f"±{50 * (line['p90_us'] - line['p10_us']) / line['us']:.1f} %"


def main_table(rows, names, short):
    head = ["row", "", "kiln µs", "spread", "GB/s", "of floor", *(PEER_TITLES[n] + " µs" for n in names), "best peer ÷ kiln", ""]
    out = ["| " + " | ".join(head) + " |", "| --- | --- |" + " ---: |" * (len(head) - 3) + " --- |"]
    for row, peers in rows.items():
        line, (best, _) = peers["kiln"], best_peer(peers)
        cells = [row, line.get("title", ""), number(line["us"]), spread(line), number(line.get("gbs"), 0),
                 percent(line.get("floor_us"), line["us"]), *(number(peers[n]["us"]) if n in peers else "–" for n in names),
                 number(best / line["us"], 2) if best else "", "short" if row in short else ""]
        out.append("| " + " | ".join(cells) + " |")
    return out


def sweep_table(rows, short):
    out = ["| row | µs | floor µs | driver's copy µs | of floor | |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    for row, peers in rows.items():
        line = peers["kiln"]
        floor = min((x for x in (line.get("floor_us"), line.get("copy_us")) if x), default=None)
        out.append(f"| {row} ({line['mode']}) | {number(line['us'])} | {number(line.get('floor_us'))} | "
                   f"{number(line.get('copy_us'))} | {percent(floor, line['us'])} | {'short' if row in short else ''} |")
    return out


def permutation_table(rows, short):
    """One line a shape: all orders of its axes together."""
    out = ["| shape | orders | least of floor | median | short | slower than a peer |", "| --- | ---: | --- | ---: | ---: | ---: |"]
    groups = {}
    for row, peers in rows.items():
        groups.setdefault(row.split(":")[0], {})[row] = peers
    for name, members in groups.items():
        parts = {row: 100 * p["kiln"]["floor_us"] / p["kiln"]["us"] for row, p in members.items()}
        least = min(parts, key=parts.get)
        slower = sum(1 for p in members.values() if best_peer(p)[0] and p["kiln"]["us"] > best_peer(p)[0] * NOISE)
        title = members[least]["kiln"].get("title", "")
        out.append(f"| {name} {title} | {len(members)} | {parts[least]:.1f} % ({least}) | {statistics.median(parts.values()):.1f} % | "
                   f"{sum(row in short for row in members)} | {slower} |")
    return out


def split_table(rows, names, short):
    """What all splits come to, and each of them."""
    parts = {row: 100 * p["kiln"]["floor_us"] / p["kiln"]["us"] for row, p in rows.items()}
    ratios = {row: best_peer(p)[0] / p["kiln"]["us"] for row, p in rows.items() if best_peer(p)[0]}
    least = min(parts, key=parts.get)
    out = [f"{len(parts)} splits (outer, reduced, inner), the middle axis summed: at least {parts[least]:.1f} % of the floor "
           f"({least[len(peer_rows.CELL):]}),", f"median {statistics.median(parts.values()):.1f} %; {sum(p < 88 for p in parts.values())} under 88 %."]
    if ratios:
        least = min(ratios, key=ratios.get)
        out += [f"Best peer ÷ kiln: at least {ratios[least]:.2f} ({least[len(peer_rows.CELL):]}), median {statistics.median(ratios.values()):.2f}; "
                f"more than 3 % behind in {sum(r < 1 / NOISE for r in ratios.values())} of {len(ratios)}."]
    if "inductor" not in names:
        out.append("torch.compile is left out: it compiles every shape for seconds.")
    out += ["", "| outer | reduced | inner | kiln µs | GB/s | of floor | " + "".join(PEER_TITLES[n] + " µs | " for n in names) +
            "best peer ÷ kiln | |", "|" + " ---: |" * (7 + len(names)) + " --- |"]
    for row, peers in rows.items():
        line, (best, _) = peers["kiln"], best_peer(peers)
        cells = [*map(str, peer_rows.cell(row)), number(line["us"]), number(line.get("gbs"), 0), percent(line.get("floor_us"), line["us"]),
                 *(number(peers[n]["us"]) if n in peers else "–" for n in names), number(best / line["us"], 2) if best else "",
                 "short" if row in short else ""]
        out.append("| " + " | ".join(cells) + " |")
    return out


def markdown(header, lines):
    rows, short = by_row(lines), shortfalls(header, lines)
    names = [n for n in PEER_ORDER if any(n in peers for peers in rows.values())]
    versions = ", ".join(f"{PEER_TITLES[n]} {v}" for n, v in header.get("peers", {}).items())
    driver = f", driver {header['driver']}, CUDA {header['cuda']}" if header.get("driver") else ""
    out = [f"# kiln {header['kiln']} on {header['device']}", "",
           f"{header['date']}{driver}, sizes times {header['size_scale']:g}{'; ' + versions if versions else ''}.", "",
           "Medians of one run on one machine, random inputs, up to 1,024 elements or some whole rows of each result checked. The floor is a hand-written kernel with",
           "the same widths and the same mix of reads and writes, measured alternately with kiln's; of a host call (H) a bare launch; of a new kernel",
           "the compiler alone on the same written by hand, an element a thread (C1), a block a result (C2) or a row (C3). The spread is half the",
           "distance between the tenth and the ninetieth percentile. `short`: the row misses its target.", ""]
    main = {r: p for r, p in rows.items() if not is_sweep(r) and not is_permutation(r) and not is_cell(r) and not is_swept(r) and not is_narrow(r)}
    sweeps = {r: p for r, p in rows.items() if is_sweep(r)}
    permutations = {r: p for r, p in rows.items() if is_permutation(r)}
    splits = {r: p for r, p in rows.items() if is_cell(r)}
    if main:
        out += main_table(main, names, short) + [""]
    if sweeps:
        out += ["## Sizes and chains", "", *sweep_table(sweeps, short), ""]
    if permutations:
        out += ["## All orders of five axes", "", *permutation_table(permutations, short), ""]
    narrow = {r: p for r, p in rows.items() if is_narrow(r)}
    if narrow:
        out += ["## All orders of three axes, one of 2 to 16 elements", "", *permutation_table(narrow, short), ""]
    if splits:
        out += ["## All splits of a reduction", "", *split_table(splits, names, short), ""]
    for prefix, title in SWEPT_TITLES.items():
        swept = {r: p for r, p in rows.items() if r.startswith(prefix)}
        if swept:
            out += [f"## {title}", "", *main_table(swept, names, short), ""]
    if short:
        out += ["## Short of the target", "", *(f"- {row}: {'; '.join(reasons)}" for row, reasons in short.items()), ""]
    return "\n".join(out)


# ---- the picture ----

COLOURS = {"kiln": "#d1495b", "cupy": "#8fb339", "torch": "#4c72b0", "inductor": "#7fa6d6", "quack": "#c9a227", "cutensor": "#d98c5f", "jax": "#a07cc5", "numpy": "#8a8a8a",
           "numexpr": "#c8a951", "numba": "#5aa9a3"}
BAR, GAP, LEFT, WIDTH, TOP = 9, 10, 250, 520, 64


def text(x, y, content, size=12, anchor="start", colour="#222"):
    return (f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
            f'font-family="Helvetica, Arial, sans-serif">{html.escape(content)}</text>')


def rectangle(x, y, width, height, colour):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height}" fill="{colour}"/>'


def legend(names):
    out, x = [], LEFT
    for name in names:
        title = PEER_TITLES.get(name, "kiln")
        out += [rectangle(x, 36, 10, 10, COLOURS[name]), text(x + 14, 45, title)]
        x += 26 + 7 * len(title)
    return out


def axis(bottom, limit):
    out = []
    for mark in range(0, limit + 1, 20):
        x = LEFT + WIDTH * mark / limit
        strong = mark == 100
        out.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="{"#222" if strong else "#ddd"}" stroke-width="1"/>')
        out.append(text(x, bottom + 15, f"{mark} %", 11, "middle", "#555"))
    return out


def bars(row, peers, names, y, limit):
    """How much of the floor's rate each reaches: bars, kiln's first."""
    floor, out = peers["kiln"]["floor_us"], []
    present = [n for n in names if n in peers]
    out.append(text(LEFT - 8, y + 8, f"{row}  {peers['kiln'].get('title', '')}"[:40], 11, "end"))
    for k, name in enumerate(present):
        part = min(100 * floor / peers[name]["us"], limit)
        out.append(rectangle(LEFT, y + k * BAR, WIDTH * part / limit, BAR - 1, COLOURS[name]))
    return out, y + len(present) * BAR + GAP


# A heat map: how much of the floor's rate each split of a reduction reaches, kiln's and beside it the best peer's.
SQUARE, AWKWARD = 30, (1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64, 65)
MIDDLES = (16, 1024, 65536)


def heat(part):
    """Red at 50 % and below, yellow at 75, green from 100."""
    x = min(max((part - 50) / 50, 0), 1)
    low, middle, high = (200, 60, 60), (245, 220, 130), (70, 160, 90)
    a, b, t = (low, middle, 2 * x) if x < 0.5 else (middle, high, 2 * x - 1)
    return "#" + "".join(f"{round(p + (q - p) * t):02x}" for p, q in zip(a, b))


def extent(n):
    return f"{n >> 20}M" if n >= 1 << 20 else f"{n >> 10}k" if n >= 1 << 10 and n % 1024 == 0 else str(n)


def heat_panel(x, y, title, columns, lines, value):
    """value(line, column): (part, whether framed), or None. Returns what is drawn, and where it ends below."""
    out = [text(x, y, title, 13)]
    for k, (label, _) in enumerate(columns):
        out.append(text(x + (k + 0.5) * SQUARE, y + 18, label, 9, "middle", "#555"))
    for r, (label, line) in enumerate(lines):
        top = y + 24 + r * SQUARE
        out.append(text(x - 6, top + SQUARE / 2 + 4, label, 9, "end", "#555"))
        for k, (_, column) in enumerate(columns):
            found = value(line, column)
            if found is None:
                continue
            part, framed = found
            out.append(rectangle(x + k * SQUARE, top, SQUARE - 1, SQUARE - 1, heat(part)))
            if framed:
                out.append(f'<rect x="{x + k * SQUARE + 1:.1f}" y="{top + 1:.1f}" width="{SQUARE - 3}" height="{SQUARE - 3}" fill="none" '
                           'stroke="#222" stroke-width="1.5"/>')
            out.append(text(x + (k + 0.5) * SQUARE - 0.5, top + SQUARE / 2 + 4, f"{part:.0f}", 10, "middle"))
    return out, y + 24 + len(lines) * SQUARE


def heat_map(header, rows):
    parts, framed = {"kiln": {}, "peer": {}}, set()
    for row, peers in rows.items():
        cell, floor, us, (best, _) = peer_rows.cell(row), peers["kiln"]["floor_us"], peers["kiln"]["us"], best_peer(peers)
        parts["kiln"][cell] = 100 * floor / us
        if best:
            parts["peer"][cell] = 100 * floor / best
            if us > best * NOISE:
                framed.add(cell)
    by_ends = {(outer, inner): (outer, reduced, inner) for outer, reduced, inner in parts["kiln"]}
    rows_short = {reduced: (outer, reduced, inner) for outer, reduced, inner in parts["kiln"] if inner == 1}

    def is_power(n):
        return n & (n - 1) == 0 and n.bit_length() % 2 == 1

    ends = sorted({n for outer, _, inner in parts["kiln"] for n in (outer, inner) if is_power(n)})
    grid = [(extent(n), n) for n in ends]
    kinds = [("axis 0", lambda k: by_ends.get((1, k))), ("axis 1", rows_short.get),
             *((f"m={extent(m)}", lambda k, m=m: by_ends.get((m, k))) for m in MIDDLES)]
    awkward = [(f"k = {k}", k) for k in AWKWARD]
    body, bottom, x = [], 0, 70
    for who, title in (("kiln", "kiln"), ("peer", "best peer")):
        if not parts[who]:
            continue

        def value(cell, who=who):
            return (parts[who][cell], cell in framed) if cell in parts[who] else None

        def split(outer, inner, value=value):
            return value(by_ends.get((outer, inner))) if is_power(outer) and is_power(inner) else None

        drawn, end = heat_panel(x, 70, f"{title}: outer down, inner across", grid, grid, split)
        body += drawn
        drawn, end = heat_panel(x, end + 40, f"{title}: (n, k) over an axis; (m, n, k) over n", [(label, kind) for label, kind in kinds], awkward,
                                lambda k, kind, value=value: value(kind(k)))
        body += drawn
        bottom, x = end, x + len(grid) * SQUARE + 80
    width, height = x - 20, bottom + 20
    title = f"kiln {header['kiln']} on {header['device']}: sums over the middle of three axes, per cent of the floor's rate"
    note = "framed: more than 3 % behind the best peer" if parts["peer"] else ""
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
                      rectangle(0, 0, width, height, "#fff"), text(20, 24, title, 15), text(20, 42, note, 11, colour="#555"), *body, "</svg>", ""])


def picture(header, lines):
    splits = {r: p for r, p in by_row(lines).items() if is_cell(r) and p["kiln"].get("floor_us")}
    if splits:
        return heat_map(header, splits)
    rows = {r: p for r, p in by_row(lines).items()
            if (r[0] in "EBSRF" or is_swept(r)) and not is_sweep(r) and p["kiln"].get("floor_us")}
    names = ["kiln", *(n for n in PEER_ORDER if any(n in p for p in rows.values()))]
    limit = 120
    body, y = [], TOP + 6
    for row, peers in rows.items():
        drawn, y = bars(row, peers, names, y, limit)
        body += drawn
    height, width = y + 30, LEFT + WIDTH + 30
    title = f"kiln {header['kiln']} on {header['device']}: part of the floor's rate"
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
                      rectangle(0, 0, width, height, "#fff"), text(LEFT, 22, title, 15), *legend(names), *axis(y, limit), *body,
                      "</svg>", ""])
