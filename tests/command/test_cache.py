"""kiln cache: what is in it, why a call misses, and moving kernels in and out."""
import json
import os
import pathlib
import sqlite3

from commanding import TARGET, CommandCase, floats, main, npy_bytes

ADD = ("T x, T y", "T z", "z = x + y")


class Cache(CommandCase):
    def setUp(self):
        super().setUp()
        self.cache = str(self.folder / "cache")
        (self.folder / "x.npy").write_bytes(npy_bytes("<f4", (3,), floats(1, 2, 3)))

    def call(self, *words, name="add", **changes):
        """A command that ends leaves its best form to others where it has not begun: here it waits."""
        changes.setdefault("KILN_FORMS", "best")
        self.ok("map", *(words or ADD), "x.npy", "x.npy", "-o", "z.npy", "--target", "host", "--name", name, **changes)

    def database(self):
        return sqlite3.connect(pathlib.Path(self.cache) / "kernels.sqlite")

    def test_verify(self):
        self.call()
        self.call(name="other")
        self.assertEqual(self.ok("cache", "verify"), "2 right, 0 damaged and removed\n")
        with self.database() as db:
            db.execute("UPDATE code SET code=substr(code, 1, length(code) - 1) || x'99' WHERE id=1")
        self.assertEqual(self.json("cache", "verify"), {"checked": 1, "damaged": 1})
        self.assertEqual(self.json("cache", "stats")["entries"], 1)
        self.assertEqual(self.json("cache", "stats")["collisions"], 0)
        self.assertIn("collisions: 0\n", self.ok("cache", "stats"))
        self.call()  # compiled anew
        self.assertEqual(self.json("cache", "verify"), {"checked": 2, "damaged": 0})

    def test_gc(self):
        self.call()
        self.call(name="other")
        self.assertEqual(self.ok("cache", "gc"), "0 kernels removed\n")
        with self.database() as db:
            db.execute("UPDATE code SET used=used-8*86400, producer='a compiler of old' WHERE id=1")
        self.assertEqual(self.json("cache", "gc"), {"removed": 1})
        for i in range(8):
            self.call(name=f"kernel{i}")
        self.assertEqual(self.json("cache", "gc", KILN_CACHE_MAX="1T")["removed"], 0)
        self.assertGreater(self.json("cache", "gc", KILN_CACHE_MAX="16K")["removed"], 4)
        run = self.kiln("cache", "gc", KILN_CACHE_MAX="much")
        self.assertIn("KILN_CACHE_MAX is \"much\"; bytes such as 512M or 2G was expected, and 1G is taken", run.stderr)
        self.assertEqual(run.returncode, 0)

    def test_inspect(self):
        self.call()
        text = self.ok("cache", "inspect", "add")
        for expected in ("name: add\n", "operands: array:float32 array:float32 array:float32\n", "compiler: ", "code bytes: ",
                         "body: z = x + y\n"):
            self.assertIn(expected, text)
        self.assertEqual(len(self.json("cache", "inspect", "add")["entries"]), 1)
        self.assertIn("no kernel of the name ad", self.ok("cache", "inspect", "ad"))

    def test_export_and_import(self):
        self.call()
        self.call("T x, T y", "T z", "z = x * y", name="mul")
        self.ok("cache", "export", "-o", "all.kiln")
        self.assertEqual({k["name"] for k in self.json("bake", "--list", "all.kiln")["kernels"]}, {"add", "mul"})
        alone = {"KILN_COMPILE": "never"}
        elsewhere = str(self.folder / "elsewhere")
        self.refused(1, "map", *ADD, "x.npy", "x.npy", "-o", "z.npy", "--target", "host", "--name", "add",
                     KILN_CACHE_DIR=elsewhere, **alone)
        self.call(KILN_CACHE="off", KILN_BUNDLE_PATH="all.kiln", **alone)
        self.assertEqual(self.json("cache", "import", "all.kiln", KILN_CACHE_DIR=elsewhere), {"added": 2})
        self.call(KILN_CACHE_DIR=elsewhere, **alone)
        self.assertIn("No such file", self.refused(1, "cache", "import", "none.kiln"))
        self.assertIn("is no bundle", self.refused(1, "cache", "import", "x.npy"))
        self.assertIn("No such file", self.refused(1, "cache", "export", "-o", "no/folder/x"))

    def explain(self, *words, code=0, **changes):
        run = self.kiln("cache", "explain", *words, "--target", "host", "--json", **changes)
        self.assertEqual((run.returncode, run.stderr), (code, ""), run.stdout)
        one = json.loads(run.stdout)["specialisations"]
        self.assertEqual(len(one), 1)
        return one[0]["state"], {d["field"]: (d["wanted"], d["there"]) for d in one[0]["differences"]}

    def test_explain_says_why_a_call_misses(self):
        same = ("float32[3]", "float32[3]", "--name", "add")
        self.assertEqual(self.explain(*ADD, *same, code=1), ("missing", {}))
        self.assertIn("no entry has this kernel's name",
                      self.kiln("cache", "explain", *ADD, *same, "--target", "host").stdout)
        self.call()
        self.assertEqual(self.explain(*ADD, *same), ("found", {}))
        state, fields = self.explain(*ADD[:2], "z = y + x", *same, code=1)
        self.assertEqual((state, fields), ("missing", {"body": ("z = y + x", "z = x + y")}))
        state, fields = self.explain(*ADD, "int16[3]", "int16[3]", "--name", "add", code=1)
        self.assertEqual(fields["operands"][0], "array:int16 array:int16 array:int16")
        state, fields = self.explain(*ADD, *same, "--no-fma", code=1)
        self.assertEqual(fields, {"no_fma": ("1", "")})
        with self.database() as db:
            db.execute("UPDATE code SET producer='another compiler'")
        state, fields = self.explain(*ADD, *same, code=1)
        self.assertEqual((state, list(fields)), ("other compiler", ["compiler"]))
        self.assertEqual(fields["compiler"][1], "another compiler")
        text = self.kiln("cache", "explain", *ADD, *same, "--target", "host").stdout
        self.assertRegex(text, r"^other compiler: kiln/\d+ .*\n  compiler: wanted \S+ .*, there another compiler\n$")

    def test_explain_knows_the_form_that_calls_begin_with(self):
        """With the best form not there yet a call finds the quick one, and compiles nothing; not where calls wait for the best."""
        same = ("float32[3]", "float32[3]", "--name", "add")
        own = {"KILN_CACHE_DIR": str(self.folder / "own")}
        self.call(KILN_FORMS="quick", **own)
        self.assertEqual(self.explain(*ADD, *same, KILN_FORMS="both", **own), ("quick form", {"schedule": ("flat", "quick")}))
        self.assertRegex(self.ok("cache", "explain", *ADD, *same, "--target", "host", KILN_FORMS="both", **own), r"^quick form: .*\n  the best form is not there; the quick one is")
        self.assertEqual(self.explain(*ADD, *same, code=1, KILN_FORMS="best", **own)[0], "missing")
        self.assertEqual(self.explain(*ADD, *same, KILN_FORMS="quick", **own), ("found", {}))
        self.assertEqual(self.explain(*ADD[:2], "z = y + x", *same, code=1, **own)[0], "missing")

    def test_wrong_usage(self):
        for words, expected in [
                (("cache", "export"), "export needs one -o BUNDLE"),
                (("cache", "import"), "import needs BUNDLE"),
                (("cache", "inspect"), "inspect needs NAME"),
                (("cache", "path", "more"), "does not take 'more'"),
                (("cache", "stats", "-o", "x"), "stats takes no -o"),
                (("cache", "explain", "T x"), "needs [map] IN OUT BODY"),
        ]:
            with self.subTest(words=words):
                self.assertIn(expected, self.refused(2, *words))

    def test_help(self):
        self.assertIn("kiln cache explain", self.ok("help", "cache", "explain"))
        self.assertIn("verify", self.ok("help", "cache"))

    def test_without_a_cache_it_says_why(self):
        for action in (("verify",), ("gc",), ("inspect", "a"), ("export", "-o", "x")):
            with self.subTest(action=action):
                self.assertIn("switched off", self.refused(1, "cache", *action, KILN_CACHE="off"))


if __name__ == "__main__":
    main()
