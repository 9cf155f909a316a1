#!/usr/bin/env python3
"""Runs the rows of `kiln bench` through kiln and through its peers, one after the other on one machine, and writes the comparison.

    bench/compare.py build/release/kiln                     every row, every peer that is installed
    bench/compare.py build/release/kiln --rows E,S1 --peers cupy,torch --quick
    bench/compare.py build/release/kiln --rows P --merge    adds to the results that are there
    bench/compare.py build/release/kiln --sweep reduce      every split of a reduction, to <device>-reduce.*
    bench/compare.py build/release/kiln --sweep rows        softmax and layernorm over rows of many lengths, to <device>-rows.*

Writes bench/results/<device>.json (one object a line), .md (table) and .svg (picture; of splits a heat map). Peers that are not installed are left out and named.
Exit code 1 where a row of kiln failed. Rows that miss their target are marked; they change the exit code with --strict alone.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import overview
import peer_rows
import peers
import report

HERE = pathlib.Path(__file__).resolve().parent


def lines_of(words, budget, env, log):
    """The JSON lines a command prints within its budget; what has come by then stays. Also the exit code, None where it was stopped."""
    # A session of its own: what the command has started in turn ends with it, and disturbs nobody.
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True, env=env, start_new_session=True)
    timer = threading.Timer(budget, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    try:
        found = []
        for line in process.stdout:
            if line.startswith("{"):
                found.append(json.loads(line))
                progress(f"{found[-1].get('peer', 'kiln')} {found[-1].get('row', '')}")
    except ValueError:
        pass  # a line that was cut when the time was over
    finally:
        code = process.wait()
        timer.cancel()
    return found, None if code == -signal.SIGKILL else code


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def say(text):
    progress("")
    print(text, flush=True)


def kiln_lines(options, env, log):
    words = [options.kiln, "bench", "--json", "--size-scale", str(options.scale), "--seconds", str(options.seconds)]
    if options.rows:
        words += ["--row", options.rows]
    if options.sweep:
        words += ["--sweep", options.sweep]
    if options.target:
        words += ["--target", options.target]
    found, code = lines_of(words, options.kiln_budget, env, log)
    if not found or "device" not in found[0]:
        sys.exit(f"compare: {' '.join(words)} gave no results (exit code {code})")
    return found[0], found[1:]


def peer_lines(options, peer, rows, header, env, log):
    asked = list(dict.fromkeys(map(peer_rows.peers_row, rows)))
    words = [sys.executable, str(HERE / "peers.py"), peer, "--rows", ",".join(asked), "--scale", str(header["size_scale"]),
             "--seconds", str(options.seconds), "--threads", str(options.threads)]
    started = time.monotonic()
    found, code = lines_of(words, options.budget, env, log)
    spent = time.monotonic() - started
    if code == 77:
        say(f"{peer}: not here")
        return "", []
    measured = {line["row"]: line for line in found if "row" in line}
    rows_found = [dict(measured[name], row=row) for row in rows if (name := peer_rows.peers_row(row)) in measured]
    state = "stopped when its time was over" if code is None else f"exit code {code}" if code else "done"
    say(f"{peer}: {len(rows_found)} of {len(rows)} rows in {spent:.0f} s, {state}")
    return next((line["version"] for line in found if "version" in line), ""), rows_found


def add_rates(kiln, lines):
    """Rates over the same bytes that kiln's row counts."""
    bytes_of = {line["row"]: line["bytes"] for line in kiln if "bytes" in line}
    for line in lines:
        if "us" in line:
            line["gbs"] = bytes_of[line["row"]] / line["us"] / 1e3 if line["row"] in bytes_of else None
            line["gbs"] = line["gbs"] and round(line["gbs"], 2)
            line.update({key: round(line[key], 3) for key in ("us", "min_us", "p10_us", "p90_us")})


def merged(path, header, lines):
    """The lines that are in the file already and that these do not replace, in front of these."""
    if not path.exists():
        return header, lines
    old_header, *old = [json.loads(line) for line in path.read_text().splitlines()]
    new = {(line["row"], line["peer"]) for line in lines}
    header = dict(header, peers={**old_header.get("peers", {}), **header.get("peers", {})})
    return header, [line for line in old if (line["row"], line["peer"]) not in new] + lines


def write(options, header, lines):
    folder = pathlib.Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^a-z0-9]+", "-", header["device"].lower()).strip("-")
    name = ("host-" + name) if header["target"] == "host" else name
    path = folder / (options.name or name + ("-" + options.sweep.lower() if options.sweep else ""))
    if options.merge:
        header, lines = merged(path.with_suffix(".json"), header, lines)
    lines.sort(key=lambda line: report.order_of(line["row"]))
    path.with_suffix(".json").write_text("".join(json.dumps(line) + "\n" for line in [header, *lines]))
    path.with_suffix(".md").write_text(report.markdown(header, lines))
    path.with_suffix(".svg").write_text(report.picture(header, lines))
    if path.with_suffix(".json").resolve() == overview.SOURCE:
        overview.main([])
    say(f"{path}.json, .md, .svg")
    return lines


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kiln", help="the command kiln")
    parser.add_argument("--rows", help="as kiln bench --row takes them: E1,S,P4:0")
    parser.add_argument("--sweep", help="as kiln bench --sweep takes it; torch.compile, which compiles every shape for seconds, is left out of reduce")
    parser.add_argument("--peers", help=f"of {','.join(peers.NAMES)}; default: all that fit the target; none: kiln alone")
    parser.add_argument("--target", help="as kiln bench takes it")
    parser.add_argument("--scale", type=float, default=1, help="multiplies the sizes")
    parser.add_argument("--seconds", type=float, help="how long each row is measured; default 0.25, of a sweep 0.02")
    parser.add_argument("--quick", action="store_true", help="a fifth of that")
    parser.add_argument("--budget", type=float, default=75, help="seconds after which a peer is stopped")
    parser.add_argument("--kiln-budget", type=float, default=300, help="seconds after which kiln is stopped")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of the host's peers and of kiln")
    parser.add_argument("--out", default=HERE / "results")
    parser.add_argument("--name", help="the files' name; default: the device's")
    parser.add_argument("--log", help="where what the commands say goes; default: standard error")
    parser.add_argument("--merge", action="store_true", help="keep the rows and peers of the files that these do not replace")
    parser.add_argument("--strict", action="store_true", help="exit code 1 where a row misses its target")
    options = parser.parse_args()
    options.seconds = options.seconds or (0.02 if options.sweep else 0.25)
    if options.quick:
        options.seconds /= 5
    return options


def chosen_peers(options, header):
    if options.peers == "none":
        return []
    fitting = [name for name in peers.NAMES if (name in peers.ON_HOST) == (header["target"] == "host")]
    names = options.peers.split(",") if options.peers else fitting
    unknown = [name for name in names if name not in peers.NAMES]
    if unknown:
        sys.exit(f"compare: there is no peer '{unknown[0]}'; the peers are {', '.join(peers.NAMES)}")
    return [name for name in names if name in fitting]


def main():
    options = read_options()
    env = dict(os.environ, KILN_NUM_THREADS=str(options.threads), NUMBA_NUM_THREADS=str(options.threads),
               OMP_NUM_THREADS=str(options.threads))
    log = open(options.log, "w") if options.log else None
    header, kiln = kiln_lines(options, env, log)
    failed = [line for line in kiln if "error" in line]
    say(f"kiln: {len(kiln)} rows on {header['device']}, {len(failed)} failed")
    lines, header["peers"] = list(kiln), {}
    rows = [line["row"] for line in kiln if "@" not in line["row"]]
    for peer in chosen_peers(options, header):
        version, found = peer_lines(options, peer, rows, header, env, log)
        add_rates(kiln, found)
        lines += found
        if version:
            header["peers"][peer] = version
    lines = write(options, header, lines)
    short = report.shortfalls(header, lines)
    for row, reasons in short.items():
        say(f"{row}: {'; '.join(reasons)}")
    say(f"{len(short)} rows miss their target")
    sys.exit(1 if failed or (options.strict and short) else 0)


if __name__ == "__main__":
    main()
