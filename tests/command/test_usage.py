"""Help, exit codes, JSON, and what each subcommand prints."""
import json
import os
import re

from commanding import TARGET, CommandCase, floats, main, npy_bytes

TOTAL = ("T x", "T y", "x", "a + b", "y = a", "0")
DIFFERENCE = ("T x, T y", "T z", "z = (x - y) * (x - y)")


class Usage(CommandCase):
    def test_help_is_everywhere(self):
        text = self.ok("--help")
        for name in ("map", "reduce", "scan", "select", "eval", "source", "explain", "operations", "info", "cache"):
            self.assertIn(name, text)
            self.assertIn(f"usage: kiln {name}", self.ok(name, "--help"))
            self.assertIn("--json", self.ok("help", name))

    def test_version(self):
        self.assertRegex(self.ok("--version"), r"^kiln \d+\.\d+\.\d+\n$")

    def test_wrong_usage_ends_with_2(self):
        wrong = [
            ([], "usage"),
            (["nonsense"], "nonsense"),
            (["map", "T x", "T z"], "BODY"),
            (["map", "T x", "T z", "z = x", "1", "--nonsense"], "--nonsense"),
            (["map", "T x", "T z", "z = x", "1", "-o", "a", "-o", "b"], "-o was given 2 times"),
            (["map", "T x", "T z", "z = x", "1", "-o"], "-o needs FILE"),
            (["map", "T x", "T z", "z = x", "1", "-o", "z", "--repeat", "0"], "--repeat"),
            (["map", "T x", "T z", "z = x", "1", "-o", "z", "--order", "G"], "--order"),
            (["map", "T x", "T z", "z = x", "1", "-o", "z", "--shape", "2,x"], "--shape"),
            (["map", "T x", "T z", "z = x", "1", "-o", "z", "--json=1"], "--json takes no value"),
            (["source", "T x", "T z", "z = x", "--arch", "sm_90", "--target", "host"], "not both"),
            (["source", "reduce", *TOTAL[:5]], "needs IN OUT MAP REDUCE POST IDENTITY behind 'reduce'"),
            (["explain", "map", "T x", "T z"], "needs IN OUT BODY"),
            (["explain", "T x", "T z"], "needs IN OUT BODY"),
            (["explain", "eval"], "EXPRESSION"),
            (["explain", "eval", "x", "float32[3]"], "NAME=FILE"),
            (["map", "T x", "T y", "y = x", "3", "--type", "float64"], "--type takes a placeholder and its dtype, as in T=float64, not 'float64'"),
            (["map", "T x", "T y", "y = x", "3", "--type", "T=foo"], "--type T=foo: unknown dtype 'foo'"),
            (["reduce", "T x", "U y", "x", "a + b", "y = a", "0", "3", "--type", "Q=int8"], "--type Q=int8: the signatures have no placeholder Q"),
            (["source", "T x", "T y", "y = x", "--type", "t=int8"], "--type takes a placeholder and its dtype, as in T=float64, not 't=int8'"),
            (["explain", "T x", "T y", "y = x", "--dtype", "foo"], "--dtype: unknown dtype 'foo'"),
            (["source", "eval", "x", "x=float32[3]", "--dtype", "int8"], "--dtype does not go with 'eval'; it is for: map reduce"),
            (["explain", "reduce", *TOTAL, "--axis", "x"], "--axis takes up to"),
            (["explain", *DIFFERENCE, "--axis", "0"], "--axis does not go with 'map'; it is for: reduce"),
            (["source", *DIFFERENCE, "--keepdims"], "it is for: reduce"),
            (["source", "map", *DIFFERENCE, "--reduce-type", "T"], "it is for: reduce"),
            (["operations", "sum", "more"], "does not take 'more'"),
            (["info", "more"], "more"),
            (["cache"], "path|stats|list"),
            (["cache", "burn"], "burn"),
        ]
        for words, expected in wrong:
            with self.subTest(words=words):
                self.assertIn(expected, self.refused(2, *words))

    def test_no_option_is_ignored(self):
        """Of a command with several forms each option that its help names changes what is printed, or is refused: none is read and forgotten."""
        forms = {"map": ["float16 x, raw T w", "U y", "y = x / 3 * 2 + w[i]", "float16[9]", "float16[9]", "--type", "U=float16"], "reduce": ["T x, raw T w", "T y", "x / 3 + w[0]", "a + b", "y = a", "0", "float16[4,9]", "float16[3]"],
                 "eval": ["sum(x / 3, axis=0) * 2 + 1", "x=float16[4,9]"]}
        values = {"--axis": "0", "--reduce-type": "double", "--target": "host", "--arch": "sm_80", "--type": "T=float64", "--dtype": "float64", "--shape": "9",
                  "--name": "another", "--preamble": "struct own { };", "-o": "x.kiln"}
        same = {"--keepdims", "--json", "--help", "--target", "--shape"}  # results have other shapes, and kernels not; what is compared with
        for command in ("source", "explain"):
            listed = re.findall(r"^  (--?[a-z-]+)(?: (\S+))?  ", self.ok(command, "--help"), re.M)
            self.assertGreater(len(listed), 12)
            for form, words in forms.items():
                plain = self.ok(command, form, *words, "--target", "host")
                for option, value in listed:
                    with self.subTest(command=command, form=form, option=option):
                        given = [] if option in ("--target", "--arch") else ["--target", "host"]
                        run = self.kiln(command, form, *words, *given, option, *([values[option]] if value else []))
                        is_flag = command == "source" and option in ("--fast-math", "--no-fma")  # of the compiler: explain has it
                        self.assertTrue(is_flag or option in same or run.returncode in (1, 2) or run.stdout != plain, run.stdout)

    def test_options_of_other_forms_are_refused(self):
        for words in (["bake", "--list", "x.kiln", "--jobs", "2"], ["bake", "diff", "x", "y", "--time", "3"], ["bake", "merge", "x", "-o", "y", "--partial"],
                      ["bake", "--check", "x", "y", "--memory", "4"], ["bake", "--list", "x", "--check", "y"], ["bake", "merge", "x", "--list"],
                      ["bench", "--list", "--row", "E1"], ["bench", "--list", "--json"], ["source", "eval", "x", "x=3", "--check"]):
            with self.subTest(words=words):
                self.assertIn("does not go with", self.refused(2, *words))

    def test_bench_says_which_rows_failed_in_json(self):
        run = self.kiln("bench", "--row", "E1", "--seconds", "0.01", "--json", "--target", "host", KILN_COMPILE="never", KILN_CACHE="off")
        self.assertEqual(run.returncode, 1, run.stderr)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual((len(lines), lines[1]["row"], lines[1]["peer"]), (2, "E1", "kiln"))
        self.assertIn("KILN_COMPILE=never", lines[1]["error"])

    def test_map_prints_target_origin_and_times(self):
        self.write("x.npy", npy_bytes("<f4", (3,), floats(1, 2, 3)))
        words = ("map", *DIFFERENCE, "x.npy", "5", "-o", "z.npy", "--target", TARGET)
        self.assertEqual(self.ok(*words), "")
        for expected in (f"target: {TARGET}", "from ", "times in ms", "z.npy: float32 [3]"):
            self.assertIn(expected, self.report)
        self.assertEqual((self.folder / "z.npy").read_bytes()[-12:], floats(16, 9, 4))
        self.ok(*words, "--repeat", "10")
        self.assertRegex(self.report, r"one of 10 more calls: [0-9.]+ ms \(median\), [0-9.]+ ms \(best\).*; 0\.000 MB read and 0\.000 MB written, [0-9.]+ GB/s")
        self.assertEqual((self.folder / "z.npy").read_bytes()[-12:], floats(16, 9, 4))
        # where every array is raw, too: --size is the call's, and the results stay what they were
        self.assertIn("3 more calls", self.terminal_of("map", "raw T x", "T z", "z = x[2 - i]", "x.npy", "--size", "3", "-o", "z.npy", "--repeat", "3", "--target", TARGET))
        self.assertEqual((self.folder / "z.npy").read_bytes()[-12:], floats(3, 2, 1))

    def test_map_json(self):
        name = 'x "quoted"\tü.npy'
        self.write(name, npy_bytes("<f4", (2, 2), floats(1, 2, 3, 4)))
        report = self.json("map", *DIFFERENCE, name, "-1.5", "-o", "zü\n.npy", "--target", TARGET)
        self.assertEqual(report["target"], TARGET)
        self.assertIn(report["origin"], ("compiler", "disk"))
        self.assertEqual(report["outputs"], [{"file": "zü\n.npy", "dtype": "float32", "shape": [2, 2]}])
        self.assertGreater(report["code_bytes"], 0)

    def test_json_of_a_failure(self):
        run = self.kiln("map", *DIFFERENCE, "missing.npy", "1", "-o", "z.npy", "--target", TARGET, "--json")
        self.assertEqual(run.returncode, 1)
        report = json.loads(run.stdout)
        self.assertEqual(report["error"], "KILN_ERROR_NOT_FOUND")
        self.assertIn("missing.npy", report["message"])

    def test_json_is_one_object_on_one_line(self):
        """Whatever the command, and whether it fails: of several files, too, of which one is missing."""
        self.write("x.npy", npy_bytes("<f4", (3,), floats(1, 2, 3)))
        self.write("empty.record", b"")
        for code, words in ((0, ("show", "x.npy")), (0, ("show", "x.npy", "x.npy")), (1, ("show", "x.npy", "no.npy")), (1, ("show", "no.npy", "x.npy")),
                            (0, ("operations",)), (0, ("operations", "add")), (1, ("operations", "none")), (0, ("info",)), (0, ("cache", "path")),
                            (0, ("cache", "stats")), (0, ("cache", "list")), (1, ("cache", "explain", *DIFFERENCE, "--target", "host")),
                            (0, ("source", *DIFFERENCE, "--arch", "sm_90")), (0, ("explain", *DIFFERENCE, "--arch", "sm_90")), (2, ("map", "T x")), (0, ("cache", "inspect", "x")),
                            (2, ("nonsense",)), (1, ("bake", "no.record", "--host", "host", "-o", "x.kiln")), (1, ("bake", "--list", "no.kiln"))):
            with self.subTest(words=words):
                run = self.kiln(*words, "--json")
                self.assertEqual(run.returncode, code, run.stdout + run.stderr)
                self.assertEqual(run.stdout.count("\n"), 1, run.stdout)
                report = json.loads(run.stdout)
                self.assertIsInstance(report, dict)
                self.assertEqual("error" in report, code != 0 and words[:2] != ("cache", "explain"), run.stdout)

    def test_scalars_of_every_kind(self):
        self.write("x.npy", npy_bytes("<f4", (1,), floats(2)))
        body = "z = b ? x * k + f : 0"
        self.ok("map", "T x, bool b, int32 k, float32 f", "T z", body, "x.npy", "true", "-3", "1e-1", "-o", "z.npy",
                "--target", TARGET)
        self.assertEqual((self.folder / "z.npy").read_bytes()[-4:], floats(-5.9))

    def test_shape_makes_outputs_without_inputs(self):
        self.ok("map", "float32 s", "int32 z", "z = (int)i", "1", "--shape", "2,3", "-o", "z.npy", "--target", TARGET)
        self.assertEqual((self.folder / "z.npy").read_bytes()[-24:], b"".join(k.to_bytes(4, "little") for k in range(6)))

    def test_types_of_outputs(self):
        """--type says what no array does, with the shape that the arguments make; --shape alone leaves arrays their word."""
        self.write("x.npy", npy_bytes("<f8", (2, 3), b"".join(floats(0, v) for v in (1, 2, 3, 1, 2, 3))))  # small ones
        self.write("y.npy", npy_bytes("<i2", (3,), b"\1\0\2\0\3\0"))
        kernel = ("map", "T x, I k", "U z", "z = k + U(0.5)", "x.npy", "y.npy")
        here = ("--target", TARGET, "--quiet")
        self.assertEqual(self.ok(*kernel, "--type", "U=float32", *here), "[[1.5 2.5 3.5]\n [1.5 2.5 3.5]]\n")
        self.assertEqual(self.json(*kernel, "--type", "U=float16", "--target", TARGET)["outputs"][0]["dtype"], "float16")
        self.assertIn("output 'z': no argument settles type U; --type says it", self.refused(1, *kernel))
        total = ("reduce", "T x", "U z", "x", "a + b", "z = a", "0", "y.npy", "--type", "U=int64")
        self.assertEqual(self.ok(*total, *here), "6\n")
        self.assertEqual(self.ok(*total, "--axis", "-1", "--keepdims", *here), "[6]\n")
        self.assertEqual(self.ok(*total, "--axis", "none", *here), "[1 2 3]\n")
        self.assertEqual(self.ok("map", "raw T x", "U z", "z = x[i]", "y.npy", "--type", "U=float32", "--size", "2", *here), "[1. 2.]\n")
        self.assertEqual(self.ok("map", "raw T x", "T z", "z = x[i]", "y.npy", "--shape", "2", *here), "[1 2]\n")
        self.assertEqual(self.ok("map", "T x", "T z", "z = x + 1", "y.npy", "--type", "T=int16", *here), "[2 3 4]\n")
        self.assertIn("--type T=int8: the array y.npy is int16, and says what T is\n",
                      self.refused(1, "map", "T x", "T z", "z = x", "y.npy", "--type", "T=int8"))
        self.write("four.npy", npy_bytes("<i2", (4,), bytes(8)))
        self.assertIn("does not broadcast", self.refused(1, "map", "T x, T y", "U z", "z = x", "y.npy", "four.npy", "--type", "U=int8"))

    def test_messages_name_options(self):
        """What the library calls a member of a struct is an option here."""
        self.write("y.npy", npy_bytes("<i2", (3,), b"\1\0\2\0\3\0"))
        for words, expected in ((("map", "raw T x", "T z", "z = x[i]", "y.npy"), "--size, the number of elements or their shape, was expected"),
                                (("map", "T x", "T z", "z = x", "y.npy", "--size", "4"), "--size: (4,) was given, but 'x' is an array that is not raw"),
                                (("reduce", "T x", "T z", "x", "a + b", "z = a", "0", "y.npy", "--axis", "1"), "--axis: axis 1 was given"),
                                (("map", "raw T x", "raw T z", "z[i] = x[i]", "y.npy"), "where every array is raw, --size")):
            said = self.refused(1, *words)
            self.assertIn(expected, said)
            self.assertNotIn("options.", said)
            self.assertIn(expected, self.kiln(*words, "--json").stdout)

    def test_raw_parameters_and_size(self):
        self.write("x.npy", npy_bytes("<f4", (3,), floats(1, 2, 3)))
        words = ("map", "raw float32 x", "raw float32 z", "z[i] = x[n - 1 - i]", "x.npy", "--shape", "3", "-o", "z.npy",
                 "--target", TARGET)
        self.ok(*words, "--size", "3")
        self.assertEqual((self.folder / "z.npy").read_bytes()[-12:], floats(3, 2, 1))
        self.assertIn("size", self.refused(1, *words))

    def test_checked_indices(self):
        self.write("x.npy", npy_bytes("<f4", (3,), floats(1, 2, 3)))
        words = ("map", "raw float32 x", "float32 y", "y = x[i + 1]", "x.npy", "--target", TARGET, "--quiet")
        self.assertEqual(self.ok(*words, "--shape", "2", "--check"), "[2. 3.]\n")
        message = "kiln: kernel: raw operand 'x' was indexed at 3, where 0 to 2 were expected\n"
        self.assertEqual(self.refused(1, *words, "--shape", "3", "--check"), message)
        self.assertEqual(self.refused(1, *words, "--shape", "3", KILN_CHECK="1"), message)

    def test_raw_outputs_of_a_size(self):
        self.write("x.npy", npy_bytes("<f4", (6,), floats(1, 2, 3, 4, 5, 6)))
        words = ("map", "raw float32 x", "raw float32 z", "z[i] = x[n - 1 - i] + 10 * _ind.size()", "x.npy", "-o", "z.npy", "--target", TARGET)
        for size, shape, values in (("6", "(6,)", range(6, 0, -1)), ("2,3", "(2, 3)", range(6, 0, -1)), ("0", "(0,)", ()), ("2,0", "(2, 0)", ())):
            self.ok(*words, "--size", size)
            written = (self.folder / "z.npy").read_bytes()
            self.assertIn(shape.encode(), written)
            self.assertEqual(written[128:], floats(*(v + 60.0 for v in values)))
        self.assertIn("where every array is raw, --size", self.refused(1, *words))
        for size in ("", "-1", "2,,3", "x"):
            self.assertIn("--size takes a number of elements", self.refused(2, *words, "--size", size))

    def test_complex_scalars(self):
        for text, expected in (("1+2j", (-3, 4)), ("2j", (-4, 0)), ("-1.5-1e0j", (1.25, 3)), ("3", (9, 0))):
            with self.subTest(text=text):
                self.ok("map", "complex64 c", "complex64 z", "z = c * c", text, "--shape", "1", "-o", "z.npy", "--target",
                        TARGET)
                self.assertEqual((self.folder / "z.npy").read_bytes()[-8:], floats(*expected))

    def test_options_take_values_both_ways(self):
        self.write("x.npy", npy_bytes("<f4", (1,), floats(3)))
        self.ok("map", "T x", "T z", "z = twice(x)", "x.npy", "-o", "z.npy", f"--target={TARGET}", "--name=doubled",
                "--preamble", "#define twice(v) ((v) + (v))")
        self.assertEqual((self.folder / "z.npy").read_bytes()[-4:], floats(6))

    def test_source_for_each_target(self):
        for words in (["--arch", "sm_90"], ["--target", "host"]):
            text = self.ok("source", *DIFFERENCE, "--name", "squared_diff", *words)
            self.assertIn("(x - y) * (x - y)", text)
            self.assertIn("squared_diff", text)
        self.assertIn("double", self.ok("source", *DIFFERENCE, "--arch", "sm_90", "--type", "T=float64"))
        self.assertIn("source", self.json("source", *DIFFERENCE, "float32[4,5]", "2", "--arch", "sm_80"))

    def test_source_includes_no_headers(self):
        self.assertNotIn("#include", self.ok("source", *DIFFERENCE, "--arch", "sm_90"))

    def test_explain_shows_the_key_and_the_launches(self):
        for words in (["--arch", "sm_90"], ["--target", "host"]):
            text = self.ok("explain", *DIFFERENCE, *words)
            key, launches = text.split("\n", 1)
            self.assertEqual(self.json("explain", *DIFFERENCE, *words), {"specialisation": key, "launches": launches})
            self.assertRegex(launches, r'^elements="\d+"')

    def test_reductions_are_explained_along_their_axes(self):
        for words, kind, figure in (((), "reduce_rows", 'items="4194304"'), (("--axis", "-1"), "reduce_rows", 'items="1024"'),
                                    (("--axis", "0"), "reduce_columns", 'columns="64 of 4096"'),
                                    (("--axis", "0,1", "--keepdims"), "reduce_rows", 'items="4194304"')):
            with self.subTest(words=words):
                report = self.json("explain", "reduce", *TOTAL, "float32[4096,4096]", "--arch", "sm_90", *words)
                self.assertIn(f'schedule="{kind}"', report["specialisation"])
                self.assertIn(figure, report["launches"])
        text = self.ok("explain", "reduce", *TOTAL[:2], "x * x", *TOTAL[3:], "--reduce-type", "float64", "--target", "host")
        self.assertIn('body="x * x"', text)
        self.assertIn('values="float64 _kn_mapped, float64 _a"', text)

    def test_sources_of_reductions(self):
        for words, expected in ((("--arch", "sm_90"), "__global__"), (("--target", "host"), "kn_reduce_piece_of_row")):
            with self.subTest(words=words):
                self.assertIn(expected, self.ok("source", "reduce", *TOTAL, "--name", "total", *words))
        text = self.refused(1, "source", "reduce", *TOTAL, "float32[2,3]", "--axis", "2", "--target", "host")
        self.assertIn("axis 2 was given", text)
        self.assertEqual(self.ok("source", *DIFFERENCE, "--arch", "sm_90"), self.ok("source", "map", *DIFFERENCE, "--arch", "sm_90"))

    def test_operations(self):
        lines = self.ok("operations").splitlines()
        self.assertIn("add            elementwise  15 variants", lines)
        self.assertIn("argmax         reduction    15 variants", lines)
        self.assertIn("ptp            reduction    14 variants", lines)  # not of booleans
        names = [line.split()[0] for line in lines]
        self.assertEqual(len(names), len(set(names)))
        all_of_them = self.json("operations")["definitions"]
        self.assertEqual(list(dict.fromkeys(o["name"] for o in all_of_them)), names)
        mean = self.json("operations", "mean")["definitions"]
        self.assertEqual(mean, [o for o in all_of_them if o["name"] == "mean"])
        self.assertEqual({(o["form"], o["reduce"], o["identity"]) for o in mean}, {("reduction", "a + b", "0")})
        text = self.ok("operations", "ptp")
        self.assertIn("ptp: reduction, refused for these types\n  in           T x\n", text)
        self.assertRegex(text, r"ptp: reduction\n(  .*\n)*  preamble +struct range { T low, high; .*};\n {15}__device__")

    def test_operations_that_are_not_there(self):
        self.assertIn("there is no operation 'nothing'", self.refused(1, "operations", "nothing"))
        run = self.kiln("operations", "nothing", "--json")
        self.assertEqual(json.loads(run.stdout)["error"], "KILN_ERROR_NOT_FOUND")

    def test_explain_does_not_depend_on_extents(self):
        small = self.ok("explain", *DIFFERENCE, "float32[1000,4]", "float32[1000,4]", "--arch", "sm_90")
        large = self.ok("explain", *DIFFERENCE, "float32[20,40,80]", "float32[20,40,80]", "--arch", "sm_90")
        self.assertEqual(small.split("\n")[0], large.split("\n")[0])
        self.assertNotEqual(small, large)

    def test_info(self):
        text = self.ok("info")
        for expected in ("kiln ", "target: ", "host: ", "compiler for cuda", "compiler for host", "cache: "):
            self.assertIn(expected, text)
        report = self.json("info")
        self.assertEqual(report["devices"][-1]["device"], "host")
        self.assertEqual(report["cache"]["path"][:len(self.cache)], self.cache)
        self.assertEqual([c["backend"] for c in report["compilers"]], ["cuda", "host"])
        if len(report["devices"]) == 1:
            self.assertNotEqual(report["why_no_cuda"], "")

    def test_cache(self):
        self.write("x.npy", npy_bytes("<f4", (1,), floats(3)))
        words = ("map", *DIFFERENCE, "x.npy", "7", "-o", "z.npy", "--target", TARGET)
        private = {"KILN_CACHE_DIR": str(self.folder / "cache")}
        self.assertIn("from compiler", self.terminal_of(*words, **private))
        self.assertIn("from disk", self.terminal_of(*words, **private))
        path = self.ok("cache", "path", **private).strip()
        self.assertTrue(os.path.isfile(path), path)
        self.assertEqual(self.json("cache", "path", **private), {"path": path})
        self.assertEqual(self.json("cache", "stats", **private)["entries"], 1)
        entries = self.json("cache", "list", **private)["entries"]
        self.assertEqual(len(entries), 1)
        self.assertIn("z = (x - y) * (x - y)", entries[0]["what"])
        self.assertIn("bytes", self.ok("cache", "list", **private))
        self.assertIn("1 kernel removed", self.ok("cache", "clear", **private))
        self.assertEqual(self.json("cache", "stats", **private)["entries"], 0)
        self.assertIn("from compiler", self.terminal_of(*words, **private))

    def test_a_full_output_is_a_failure(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        import subprocess
        from commanding import COMMAND
        with open("/dev/full", "w") as full:
            run = subprocess.run([COMMAND, "--help"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 1)


main()
