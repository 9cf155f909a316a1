#!/usr/bin/env python3
"""The picture of README.md: how near some rows of bench/results/nvidia-h200.json come to their floor, and to the best peer.

    bench/overview.py            writes bench/results/overview.svg
    bench/overview.py --check    exit code 1 where that is not what the results say
"""
import html
import json
import pathlib
import sys

import report

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
SOURCE, PICTURE = RESULTS / "nvidia-h200.json", RESULTS / "overview.svg"
# Some of each group, those among them that are behind: (row, what it is for people).
ROWS = (("E2", "x + y"), ("E5", "distance of polar points"), ("E6", "softplus"), ("E8", "uint8 to float32, scaled"), ("E12", "where"),
        ("B2", "(R, R) + (R, 1)"), ("B3", "outer product of planes"), ("S1", "transpose"), ("S5", "NCHW to NHWC"),
        ("S7", "x[1:, 1:] - x[:-1, :-1]"), ("S4", "arange(1e8) turned, times 2"), ("R2", "sum over the last axis"),
        ("R4", "sum over short rows"), ("R8b", "argmax over the first axis"), ("F2", "softmax"), ("F2b", "softmax, long rows"), ("F3", "layernorm"),
        ("F6", "rmsnorm, bfloat16"), ("F7", "variance"), ("F8", "cross-entropy"), ("H2", "host time of a call"), ("C1", "first use of a kernel"),
        ("C1t", "first use of a transpose"))
LEFT, FLOOR, GAP, PEER, RIGHT = 250, 220, 60, 240, 110  # columns, in pixels
TOP, LINE, BAR = 70, 21, 13
MOST_FLOOR, MOST_PEER = 1.1, 2.0  # where the bars end
# Colours for a light background, and for a dark one; the picture has a background of its own in either case.
STYLE = """<style>
svg { background: #ffffff } text { font: 12px Helvetica, Arial, sans-serif; fill: #1f2328 } .small { font-size: 11px; fill: #59636e }
.title { font-size: 15px; font-weight: bold } .ahead { fill: #2f7d4f } .behind { fill: #b5472f } .line { stroke: #59636e; stroke-width: 1 }
.ground { fill: #ffffff }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .small { fill: #9198a1 } .ahead { fill: #56b97d } .behind { fill: #e5805f } .line { stroke: #9198a1 } .ground { fill: #0d1117 }
svg { background: #0d1117 } }
</style>"""


def text(x, y, content, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{html.escape(content)}</text>'


def bar(x, y, width, ratio, most, kind, label):
    length = width * min(ratio, most) / most
    return [f'<rect x="{x}" y="{y - BAR + 2:.1f}" width="{length:.1f}" height="{BAR}" class="{kind}"/>',
            text(x + max(length, width / most) + 5, y, label + (" +" if ratio > most else ""), "small")]


def mark(x, bottom, label):
    return [f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{bottom}" class="line"/>', text(x, TOP - 12, label, "small", "middle")]


def kind(ratio):
    return "ahead" if ratio * report.NOISE >= 1 else "behind"


def picture(header, lines):
    rows, body, y = report.by_row(lines), [], TOP + 8
    peer_at = LEFT + FLOOR + GAP
    for row, what in (pair for pair in ROWS if pair[0] in rows):
        kiln = rows[row]["kiln"]
        us, name = report.best_peer(rows[row])
        y += LINE
        body.append(text(LEFT - 10, y, what, anchor="end"))
        if kiln.get("floor_us"):
            part = kiln["floor_us"] / kiln["us"]
            body += bar(LEFT, y, FLOOR, part, MOST_FLOOR, "ahead" if part >= report.floor_target(row) else "behind", f"{100 * part:.0f} %")
        if us:
            body += bar(peer_at, y, PEER, us / kiln["us"], MOST_PEER, kind(us / kiln["us"]), f"{us / kiln['us']:.2f}  {report.PEER_TITLES[name]}")
    bottom, width = y + 10, peer_at + PEER + RIGHT
    height = bottom + 26
    marks = mark(LEFT + FLOOR / MOST_FLOOR, bottom, "floor: written by hand") + mark(peer_at + PEER / MOST_PEER, bottom, "the fastest other library")
    notes = [text(20, 28, f"kiln {header['kiln']} on {header['device']}", "title"),
             text(20, bottom + 16, f"rates as parts of each; beyond a line kiln is ahead. {header['date'][:10]}, CUDA {header['cuda']}; all rows: "
                  "bench/results/nvidia-h200.md", "small")]
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">', STYLE,
                      f'<rect width="{width}" height="{height}" class="ground"/>', *notes, *body, *marks, "</svg>", ""])


def main(arguments):
    header, *lines = (json.loads(line) for line in SOURCE.read_text().splitlines())
    drawn = picture(header, lines)
    if arguments == ["--check"]:
        is_current = PICTURE.exists() and PICTURE.read_text() == drawn
        print("the picture is current" if is_current else f"{PICTURE} is not what {SOURCE.name} says: bench/overview.py writes it anew")
        return 0 if is_current else 1
    PICTURE.write_text(drawn)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
