"""Formats of files, and pipelines: every file is made and read by code of its own here."""
import io
import itertools
import json
import os
import pathlib
import struct
import subprocess
import zipfile
import zlib

from commanding import COMMAND, TARGET, CommandCase, floats, main, npy_bytes

HAS_ZIP = os.environ.get("KILN_HAS_ZIP") == "1"
HAS_PNG = os.environ.get("KILN_HAS_PNG") == "1"
DOUBLE = ("eval", "x * 2", "--target", TARGET)


def png_bytes(rows, channels=1, bits=8, colour=None):
    """An unfiltered PNG of rows of numbers."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels] if colour is None else colour
    pack = (lambda row: bytes(row)) if bits == 8 else (lambda row: struct.pack(f">{len(row)}H", *row))
    header = struct.pack(">IIBBBBB", len(rows[0]) // channels, len(rows), bits, colour, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + pack(row) for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def png_rows(data):
    """(channels, bits, rows) of a PNG, with its filters undone."""
    at, parts = 8, {}
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        parts[name] = parts.get(name, b"") + data[at + 8:at + 8 + length]
        at += length + 12
    width, height, bits, colour = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[colour]
    step, packed, rows = channels * bits // 8, zlib.decompress(parts[b"IDAT"]), []
    line = width * step
    before = bytearray(line)
    for y in range(height):
        kind, row = packed[y * (line + 1)], bytearray(packed[y * (line + 1) + 1:(y + 1) * (line + 1)])
        for x in range(line):
            left, up, corner = (row[x - step] if x >= step else 0), before[x], (before[x - step] if x >= step else 0)
            p = left + up - corner
            near = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))[2]
            row[x] = (row[x] + (0, left, up, (left + up) // 2, near)[kind]) & 255
        before = row
        rows.append(list(row) if bits == 8 else list(struct.unpack(f">{line // 2}H", row)))
    return channels, bits, rows


class Files(CommandCase):
    def pipe(self, *words, given=b"", code=0):
        run = subprocess.run([COMMAND, *map(str, words)], cwd=self.folder, env=self.environment(), input=given,
                             capture_output=True)
        self.assertEqual(run.returncode, code, run.stderr.decode())
        return run.stdout, run.stderr.decode()

    def read(self, name):
        return (self.folder / name).read_bytes()

    def test_csv_through_eval_to_csv(self):
        out, said = self.pipe(*DOUBLE, "x=-", "--to", "csv", "-o", "-", given=b"a;b\n1;2.5\n-3;\"4\"\n")
        self.assertEqual(out, b"2,5\n-6,8\n")
        self.assertIn("target:", said)
        out, said = self.pipe(*DOUBLE, "x=-", "--to", "csv", "-o", "-", "--quiet", given=b"1,2\n\n# note\n3,4\n")
        self.assertEqual((out, said), (b"2,4\n6,8\n", ""))
        out, said = self.pipe(*DOUBLE, "x=-", "--from", "tsv", "--to", "tsv", "-o", "-", "--quiet", given=b"0.1\t\n1e300\tinf\n")
        self.assertEqual((out, said), (b"0.2\tnan\n2e+300\tinf\n", ""))
        self.assertEqual(self.pipe(*DOUBLE, "x=-", "--quiet", given=b"1\n2\n")[0], b"[2 4]\n")
        self.assertEqual(self.pipe(*DOUBLE, "x=-", "--quiet", given=b",a,b\n1,2,3\n")[0], b"[[2 4 6]]\n")
        self.assertEqual(self.pipe(*DOUBLE, "x=-", "--to", "csv", "-o", "-", "--quiet", given=b"1+2j,3\n")[0], b"2+4j,6+0j\n")

    def test_tables_have_two_axes(self):
        self.write("x.npy", npy_bytes("<f4", (1, 1, 1), floats(1)))
        self.assertIn("kiln: z.csv: a table has rows and columns, and 'out' has 3 axes: reshape it, or write .npy",
                      self.refused(1, *DOUBLE, "x=x.npy", "-o", "z.csv"))

    def test_npy_through_pipes(self):
        whole = npy_bytes("<f8", (2,), struct.pack("<2d", 1, 2))
        out, said = self.pipe(*DOUBLE, "x=-", "-o", "-", given=whole)
        self.assertEqual(out[:6] + out[-16:], b"\x93NUMPY" + struct.pack("<2d", 2, 4))
        self.assertIn("  -: float64 [2]", said)
        self.assertIn("standard input is read once", self.pipe("eval", "x + y", "x=-", "y=-", given=whole, code=1)[1])
        self.assertIn("standard input: neither its suffix nor its first bytes tell the format",
                      self.pipe(*DOUBLE, "x=-", given=b"\0\1\2", code=1)[1])
        self.assertEqual(self.pipe(*DOUBLE, "x=-", code=1)[1], "kiln: standard input: it is empty\n")

    def test_structured_and_big_endian(self):
        name = self.write("s.npy", npy_bytes([("u", ">i2"), ("v", "<f4")], (2,), struct.pack(">h", 1) + floats(2.5) + struct.pack(">h", -3) + floats(4)))
        self.assertEqual(self.ok("show", "s.npy:u"), "s.npy:u: int16 [2]\n[ 1 -3]\nminimum -3, maximum 1, 0 NaNs\n")
        self.assertEqual(self.ok(*DOUBLE, "x=s.npy:v", "--quiet"), "[5. 8.]\n")
        self.assertIn("s.npy: the dtype is structured, and one of its fields has to be named (to the command as FILE.npy:FIELD): 'u', 'v'", self.refused(1, *DOUBLE, f"x={name}"))
        self.assertIn("there is no field 'w'; the fields are 'u', 'v'", self.refused(1, "show", "s.npy:w"))

    def test_fields_are_shown(self):
        """Each by itself, whatever stands in names and types; what kiln has no dtype for is said, and the others follow."""
        descr = [("u", ">i2"), (("a title", "v"), "<f4"), ("w, (x)]", "|b1", (2,)), ("", "|V3"), ("it's", "|i1")]
        row = struct.pack(">h", 1) + floats(2.5) + bytes([0, 1]) + bytes(3) + bytes([7])
        self.write("s.npy", npy_bytes(descr, (1,), row))
        shown = ["s.npy:u: int16 [1]\n[1]\nminimum 1, maximum 1, 0 NaNs\n", "s.npy:v: float32 [1]\n[2.5]\nminimum 2.5, maximum 2.5, 0 NaNs\n",
                 "s.npy:w, (x)]: bool [1, 2]\n[[False  True]]\nminimum False, maximum True, 0 NaNs\n",
                 "s.npy:it's: int8 [1]\n[7]\nminimum 7, maximum 7, 0 NaNs\n"]
        self.assertEqual(self.ok("show", "s.npy"), "".join(shown))
        self.assertEqual([one["file"] for one in self.json("show", "s.npy")["files"]], ["s.npy:u", "s.npy:v", "s.npy:w, (x)]", "s.npy:it's"])
        self.write("t.npy", npy_bytes([("name", "<U2"), ("in", [("a", "<i2"), ("b", "<i2")]), ("x", "<i2")], (1,), bytes(8) + bytes(4) + b"\5\0"))
        for words in (("t.npy",), ("t.npy", "--json")):
            run = self.kiln("show", *words)
            self.assertEqual(run.returncode, 1)
            self.assertIn("kiln: t.npy: the field 'name': unknown dtype '<U2'", run.stderr)
            self.assertIn("kiln: t.npy: the field 'in' has fields itself\n", run.stderr)
        self.assertEqual([one["file"] for one in json.loads(run.stdout)["files"]], ["t.npy:x"])
        self.write("cut.npy", npy_bytes(descr, (1,))[:40])
        self.assertIn("cut.npy: ", self.refused(1, "show", "cut.npy"))

    def test_npz(self):
        if not HAS_ZIP:
            self.skipTest("built without libzip")
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("a.npy", npy_bytes("<f4", (2,), floats(1, 2)))
            z.writestr("b.npy", npy_bytes("<f4", (2,), floats(3, 5)))
        self.write("in.npz", packed.getvalue())
        self.ok("eval", "s = x + y; d = x - y; s, d", "x=in.npz:a", "y=in.npz:b", "-o", "s=out.npz", "-o", "d=out.npz:apart", "--quiet",
                "--target", TARGET)
        with zipfile.ZipFile(self.folder / "out.npz") as z:
            self.assertEqual(z.namelist(), ["s.npy", "apart.npy"])
            self.assertEqual(z.read("s.npy"), self.npy_of(floats(4, 7)))
            self.assertEqual(z.read("apart.npy")[-8:], floats(-2, -3))
        first = self.read("out.npz")
        self.ok("eval", "s = x + y; d = x - y; s, d", "x=in.npz:a", "y=in.npz:b", "-o", "s=out.npz", "-o", "d=out.npz:apart", "--quiet",
                "--target", TARGET)
        self.assertEqual(self.read("out.npz"), first)
        self.assertIn("in.npz: it has several arrays, and FILE.npz:NAME says which: 'a', 'b'", self.refused(1, *DOUBLE, "x=in.npz"))
        self.assertEqual(self.ok("show", "in.npz"), "in.npz:a: float32 [2]\n[1. 2.]\nminimum 1, maximum 2, 0 NaNs\n"
                         "in.npz:b: float32 [2]\n[3. 5.]\nminimum 3, maximum 5, 0 NaNs\n")
        self.assertEqual([one["file"] for one in self.json("show", "in.npz")["files"]], ["in.npz:a", "in.npz:b"])
        self.assertEqual([one["file"] for one in self.json("show", "in.npz:b", "in.npz")["files"]], ["in.npz:b", "in.npz:a", "in.npz:b"])
        self.assertEqual(self.json("show", "in.npz:b")["files"][0]["text"], "[3. 5.]")
        self.assertIn("in.npz: there is no 'c' in it; there are 'a', 'b'", self.refused(1, "show", "in.npz:c"))
        self.ok("eval", "x + 1", "x=in.npz:a", "-o", "one.npz:s", "--quiet", "--target", TARGET)
        self.assertTrue(self.ok("show", "one.npz").startswith("one.npz:s: float32 [2]\n"))
        self.write("bad.npz", packed.getvalue()[:60])
        self.assertIn("bad.npz: the archive is damaged: ", self.refused(1, "show", "bad.npz"))

    def npy_of(self, data):
        self.write("two.npy", npy_bytes("<f4", (2,), data))
        self.ok("eval", "x + 0", "x=two.npy", "-o", "same.npy", "--quiet", "--target", TARGET)
        return self.read("same.npy")

    def test_raw(self):
        self.write("x.raw", floats(1, 2, 3, 4))
        self.ok(*DOUBLE, "x=x.raw", "--raw", "float32", "--shape", "2,2", "-o", "z.bin", "--quiet")
        self.assertEqual(self.read("z.bin"), floats(2, 4, 6, 8))
        self.assertIn("x.raw: it has 16 bytes, but float32 elements of --shape 5 are 20",
                      self.refused(1, "show", "x.raw", "--raw", "float32", "--shape", "5"))
        self.assertIn("raw elements need --raw DTYPE", self.refused(1, "show", "x.raw"))
        self.assertIn("--raw: unknown dtype 'float31'", self.refused(2, "show", "x.raw", "--raw", "float31"))

    def test_a_picture_through_a_filter_to_a_picture(self):
        width, height = 9, 7
        picture = [[(x * x * 7 + y * 31 + x * y) % 256 for x in range(width)] for y in range(height)]
        body = ("auto at = _ind.get(); int sum = 0; for (int r = -2; r <= 2; ++r) for (int c = -2; c <= 2; ++c) { "
                "int y = min(max(int(at[0]) + r, 0), int(x.shape()[0]) - 1), k = min(max(int(at[1]) + c, 0), int(x.shape()[1]) - 1); "
                "sum += x(y, k); } z = sum / 25")
        clamp = lambda value, top: min(max(value, 0), top)
        expected = [[sum(picture[clamp(y + r, height - 1)][clamp(x + c, width - 1)] for r, c in itertools.product(range(-2, 3), repeat=2)) // 25
                     for x in range(width)] for y in range(height)]
        self.write("in.pgm", b"P5\n# made by hand\n9 7\n255\n" + b"".join(map(bytes, picture)))
        words = ("map", "raw uint8 x", "uint8 z", body)
        self.ok(*words, "in.pgm", "--shape", "7,9", "-o", "out.pgm", "--quiet", "--target", TARGET)
        self.assertEqual(self.read("out.pgm"), b"P5\n9 7\n255\n" + b"".join(map(bytes, expected)))
        if HAS_PNG:
            self.write("in.png", png_bytes(picture))
            self.ok(*words, "in.png", "--shape", "7,9", "-o", "out.png", "--quiet", "--target", TARGET)
            self.assertEqual(png_rows(self.read("out.png")), (1, 8, expected))

    def test_pictures_keep_bits_and_channels(self):
        wide = [0, 1, 256, 65535, 4660, 515]
        self.write("w.pgm", b"P5 3 2 65535\n" + struct.pack(">6H", *wide))
        self.write("t.ppm", b"P3\n1 2\n255\n1 2 3 4 5 6\n")
        self.write("f.pfm", b"PF\n1 2\n1.0\n" + struct.pack(">6f", 4, 5, 6, 1, 2, 3))
        self.assertIn("uint16 [2, 3]\n[[    0     1   256]\n [65535  4660   515]]", self.ok("show", "w.pgm"))
        self.assertIn("uint8 [2, 1, 3]\n[[[1 2 3]]\n\n [[4 5 6]]]", self.ok("show", "t.ppm"))
        self.assertIn("float32 [2, 1, 3]\n[[[1. 2. 3.]]\n\n [[4. 5. 6.]]]", self.ok("show", "f.pfm"))
        self.ok("eval", "x + 0", "x=w.pgm", "-o", "same.pgm", "--quiet", "--target", TARGET)
        self.assertEqual(self.read("same.pgm"), b"P5\n3 2\n65535\n" + struct.pack(">6H", *wide))
        self.ok("eval", "x + 0", "x=f.pfm", "-o", "same.pfm", "--quiet", "--target", TARGET)
        self.assertEqual(self.read("same.pfm"), b"PF\n1 2\n-1.0\n" + floats(4, 5, 6, 1, 2, 3))
        self.assertIn("pictures of this format are uint8 or uint16, and the array is float32: cast it",
                      self.refused(1, "eval", "x + 0", "x=f.pfm", "-o", "z.ppm", "--target", TARGET))
        self.write("cut.pgm", b"P5 3 2 255\nabc")
        self.assertIn("cut.pgm: the picture is cut short: 6 bytes should be there, but there are 3", self.refused(1, "show", "cut.pgm"))
        if HAS_PNG:
            for channels, bits in ((1, 16), (2, 8), (3, 8), (3, 16), (4, 8)):
                rows = [[(r * 7919 + c * 104729) % (1 << bits) for c in range(2 * channels)] for r in range(3)]
                self.write("in.png", png_bytes(rows, channels, bits))
                self.ok("eval", "x + 0", "x=in.png", "-o", "out.png", "--quiet", "--target", TARGET)
                self.assertEqual(png_rows(self.read("out.png")), (channels, bits, rows))
            self.write("bad.png", png_bytes([[1, 2]])[:-20])
            self.assertIn("bad.png: the picture is damaged: ", self.refused(1, "show", "bad.png"))

    def test_a_thousand_files_one_compile(self):
        (self.folder / "in").mkdir()
        (self.folder / "out").mkdir()
        for k in range(1000):
            self.write(f"in/x{k}.npy", npy_bytes("<f4", (2,), floats(k, 1)))
        words = ("map", "T x", "T y", "y = x * 3 + i", "in/*.npy", "-o", "out/{}.npy", "--target", TARGET)
        report = self.json(*words)
        self.assertEqual((report["files"], report["compiled"]), (1000, 1))
        for k in (0, 1, 500, 999):
            self.assertEqual(self.read(f"out/x{k}.npy")[-8:], floats(3 * k, 4))
        self.assertEqual(len(list((self.folder / "out").iterdir())), 1000)
        self.assertEqual(self.ok(*words), "")
        self.assertRegex(self.report, r"1000 files, compiled 0 times")
        self.assertIn("need an -o each with {} in it", self.refused(2, *words[:5], "-o", "z.npy"))
        self.assertIn("in/*.npx: there is no such file", self.refused(1, *words[:4], "in/*.npx", "-o", "out/{}.npy"))

    def test_a_pattern_without_quotes_is_said(self):
        files = [self.write(f"x{k}.npy", npy_bytes("<f4", (1,), floats(k))) for k in range(3)]
        said = self.refused(1, "map", "T x", "T y", "y = x", *files, "-o", "y{}.npy")
        self.assertIn("3 input arguments were given, 1 expected: a pattern that the shell has replaced by the names of files? "
                      "In quotes, as in '*.npy' -o 'out/{}.npy', the kernel runs over each", said)
        self.assertNotIn("pattern", self.refused(1, "map", "T x", "T y", "y = x", "x0.npy", "x0.npy", "-o", "y.npy"))

    def test_files_of_a_pattern_with_one_name(self):
        for name in ("in/a/x.npy", "in/b/x.npy"):
            (self.folder / name).parent.mkdir(parents=True)
            self.write(name, npy_bytes("<f4", (1,), floats(1)))
        words = ("eval", "a * 2", "--target", TARGET, "a=in/*/x.npy", "-o")
        self.assertEqual(self.refused(2, *words, "{}.npy"), "kiln eval: -o {}.npy: several files of 'in/*/x.npy' have the same name, and "
                         "would all go to x.npy\nTry 'kiln eval --help'.\n")
        self.assertFalse((self.folder / "x.npy").exists())
        (self.folder / "in/b/x.npy").rename(self.folder / "in/b/y.npy")
        self.assertEqual(self.refused(2, *words[:4], "a=in/*/*.npy", "-o", "all.npz:{}"), "kiln eval: -o all.npz:{}: the files of 'in/*/*.npy' "
                         "would all go to all.npz: {} has to stand in front of the colon\nTry 'kiln eval --help'.\n")
        self.assertFalse((self.folder / "all.npz").exists())
        self.ok(*words[:4], "a=in/*/*.npy", "-o", "{}.npy")
        self.assertEqual(self.read("y.npy")[-4:], floats(2))

    def test_suffixes_that_mean_something_else_are_refused(self):
        self.assertIn("-o z.jpg: '.jpg' is the suffix of no format that is written; those are npy, npz, csv",
                      self.refused(2, *DOUBLE, "x=1", "-o", "z.jpg"))
        self.assertFalse((self.folder / "z.jpg").exists())
        self.assertIn("--to takes one of npy, npz, csv, tsv, raw, pnm, pfm, png, not 'jpg'", self.refused(2, *DOUBLE, "x=1", "--to", "jpg", "-o", "z"))
        self.assertIn("standard input: a .csv file has no parts, and ':a' names one", self.pipe("show", "--", "-:a", given=b"1,2\n", code=1)[1])

    def test_links_are_written_through(self):
        (self.folder / "deep").mkdir()
        (self.folder / "link.npy").symlink_to("deep/real.npy")
        for _ in range(2):  # the file is not there, and then it is
            self.ok(*DOUBLE, "x=1", "-o", "link.npy", "--quiet")
            self.assertTrue((self.folder / "link.npy").is_symlink())
            self.assertEqual(self.read("deep/real.npy")[:6], b"\x93NUMPY")

    def test_show(self):
        self.write("x.npy", npy_bytes("<f4", (2, 2), floats(0.1, float("nan"), -3, 1e10)))
        self.assertEqual(self.ok("show", "x.npy"),
                         "x.npy: float32 [2, 2]\n[[ 1.e-01     nan]\n [-3.e+00  1.e+10]]\nminimum -3, maximum 1e+10, 1 NaN\n")
        self.assertEqual(self.json("show", "x.npy")["files"][0], {"file": "x.npy", "dtype": "float32", "shape": [2, 2], "minimum": "-3", "maximum": "1e+10",
                                                      "nan": 1, "text": "[[ 1.e-01     nan]\n [-3.e+00  1.e+10]]"})
        self.write("h.npy", npy_bytes("<f2", (3,), struct.pack("<3e", 0.5, -2, 6.1e-5)))
        self.assertIn("minimum -2, maximum 0.5, 0 NaNs", self.ok("show", "h.npy"))
        self.assertIn("cannot read missing.npy", self.refused(1, "show", "missing.npy"))
        run = self.kiln("show", "missing.npy", "h.npy")
        self.assertEqual((run.returncode, run.stdout.split("\n")[0]), (1, "h.npy: float16 [3]"))
        self.write("b.npy", npy_bytes("|b1", (2,), b"\1\1"))
        self.assertEqual(self.ok("show", "b.npy"), "b.npy: bool [2]\n[ True  True]\nminimum True, maximum True, 0 NaNs\n")
        self.write("e.npy", npy_bytes("<f4", (0, 3)))
        self.assertEqual(self.ok("show", "e.npy"), "e.npy: float32 [0, 3]\n[]\nno elements\n")
        self.write("z.npy", npy_bytes("<f8", (), struct.pack("<d", 1.5)))
        self.assertEqual(self.ok("show", "z.npy"), "z.npy: float64 []\n1.5\nminimum 1.5, maximum 1.5, 0 NaNs\n")

    def test_errors_are_json_everywhere(self):
        for code, words, error in ((2, ("map", "x"), "usage"), (2, ("nonsense",), "usage"), (2, ("show",), "usage"), (2, ("bake", "r", "-o", "x"), "usage"),
                                   (1, ("bake", "r", "--arch", "sm_90", "-o", "x"), "failed"), (1, ("bench", "--row", "nothing"), "failed"),
                                   (1, ("operations", "nothing"), "KILN_ERROR_NOT_FOUND"), (2, ("cache", "burn"), "usage"),
                                   (1, ("show", "x.npy"), "KILN_ERROR_NOT_FOUND"), (1, ("source", "T x", "T y", "y = ("), "KILN_ERROR_SYNTAX"),
                                   (2, ("help", "nothing"), "usage")):
            run = self.kiln(*words, "--json")
            self.assertEqual(run.returncode, code, words)
            report = json.loads(run.stdout)
            self.assertEqual(report["error"], error, words)
            self.assertTrue(report["message"])

    def test_a_target_that_is_none_is_an_error_everywhere(self):
        for words in (("info",), ("cache", "path"), ("operations",), ("source", "T x", "T y", "y = x"), ("eval", "1"), ("show", "x")):
            self.assertEqual(self.refused(1, *words, KILN_TARGET="gpu"), 'kiln: KILN_TARGET is "gpu"; expected "host", "cuda" or "cuda:N"\n')


main()
