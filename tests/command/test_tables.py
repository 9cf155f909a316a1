"""CSV and TSV as people have them: what is read, as which dtype, and what is said. Nothing that stands in a file is left out in silence."""
import json
import re

from commanding import CommandCase, main

# Text -> dtype, values, what is said on standard error (a regular expression for each line).
READ = [
    (b"1,2\n3,4\n", "int64", "[[1 2]\n [3 4]]", []),
    (b"\xef\xbb\xbf1,2\n3,4\n", "int64", "[[1 2]\n [3 4]]", []),  # a byte order mark
    (b"\xef\xbb\xbfa,b\n3,4\n", "int64", "[[3 4]]", [r"line 1 names the columns \(a, b\); --header no takes it as data"]),
    (b"1,2\r\n3,4", "int64", "[[1 2]\n [3 4]]", []),
    (b"1,2\r3,4\r", "int64", "[[1 2]\n [3 4]]", []),
    (b"1;2\n3;4", "int64", "[[1 2]\n [3 4]]", []),
    (b"1\t2\n3\t4\n", "int64", "[[1 2]\n [3 4]]", []),
    (b" 1 , \"2\" \n", "int64", "[[1 2]]", []),
    (b'"a ""q""","b\nc"\n1,2\n', "int64", "[[1 2]]", [r'line 1 names the columns \(a ""q"", b c\)']),
    (b"1\n2\n", "int64", "[1 2]", []),
    (b"true\nFalse\n", "int64", "[1 0]", []),
    (b"x\n1\n", "int64", "[1]", [r"line 1 names the columns \(x\)"]),
    (b"\xc3\xa4,b,c\n1,2,3\n", "int64", "[[1 2 3]]", [r"line 1 names the columns \(\xe4, ..., c\)"]),
    (b",a\n0,1\n", "int64", "[[0 1]]", [r"line 1 names the columns \(a\)"]),
    (b"inf\nnan\n", "float64", "[inf nan]", []),
    (b"-0\n1\n", "float64", "[-0.  1.]", []),
    (b"9223372036854775808\n1\n", "uint64", "[9223372036854775808                   1]", []),
    (b"-9223372036854775808\n", "int64", "[-9223372036854775808]", []),
    (b"18446744073709551616\n0.5\n", "float64", "[1.84467441e+19 5.00000000e-01]", []),
    (b"9007199254740993,0.5\n", "float64", "[[9.00719925e+15 5.00000000e-01]]", [r"1 integer is rounded to float64, as the table has floats: the first is 9007199254740993 in line 1"]),
    (b"1+2j,3\n", "complex128", "[[1.+2.j 3.+0.j]]", []),
    (b"a,b\n1,2\n3,\n", "float64", "[[ 1.  2.]\n [ 3. nan]]", [r"names the columns", r"1 cell without a value is nan"]),
    (b"1,NA\nnull,3\n", "float64", "[[ 1. nan]\n [nan  3.]]", [r"2 cells without a value are nan"]),
    (b"1,2,\n3,4,\n", "float64", "[[ 1.  2. nan]\n [ 3.  4. nan]]", [r"2 cells without a value are nan"]),
    (b"# x\n1\n", "int64", "[1]", [r"1 line that begins with # is left out"]),
    (b"1\n\n2\n\n", "int64", "[1 2]", [r"1 blank line is left out"]),
    (b"city,n\nBerlin,1\nParis,2\n", "int64", "[1 2]", [r"names the columns \(city, n\)", r"column 1 'city' is left out: it holds text, 'Berlin' in line 2 \(--text categories numbers it\)"]),
    (b"1,Berlin\n2,Paris\n", "int64", "[1 2]", [r"column 2 is left out: it holds text, 'Berlin' in line 1"]),
    (b"2024-01-01,5\n2024-01-02,6\n", "int64", "[5 6]", [r"column 1 is left out: it holds text, '2024-01-01' in line 1"]),
    (b"1.2.3,5\n4.5.6,6\n", "int64", "[5 6]", [r"column 1 is left out: it holds text, '1.2.3' in line 1"]),
]

REFUSED = [
    (b"1.2.3\n4\n", "line 1, column 1: '1.2.3' is no number; --header yes takes the line as names of columns, --text skip leaves"),
    (b"$5\n$6\n", "line 1, column 1: '$5' is no number (a number has digits, a sign, a point and an exponent alone)"),
    (b"1 000\n2\n", "line 1, column 1: '1 000' is no number (a number has digits"),
    (b"100%\n", "line 1, column 1: '100%' is no number (a number has digits"),
    (b'"1,5"\n"2,5"\n', "line 1, column 1: '1,5' is no number (decimals stand behind a point)"),
    (b"1,5;2,5\n3,5;4\n", "line 1, column 1: '1,5' is no number (decimals stand behind a point)"),
    (b"a;b\n1,5;2\n", "line 2, column 1 'a': '1,5' is no number (decimals stand behind a point)"),
    (b"1,x\n2,3\n", "line 1, column 2: 'x' is no number; --header yes takes"),
    (b"year,2020\n3,4\n", "line 1, column 1: 'year' is no number; --header yes takes"),
    (b"a,b\n1,x\n2,3\n", "line 2, column 2 'b': 'x' is no number; --text skip leaves such columns out, and --text categories numbers"),
    (b"9223372036854775808\n-1\n", "line 1: no integer of 64 bits is 9223372036854775808 and, elsewhere, negative"),
    (b"18446744073709551616\n1\n", "line 1: 18446744073709551616 is beyond integers of 64 bits"),
    (b"1e400\n", "line 1: 1e400 is beyond what float64 holds"),
    (b"1,2\n3\n", "line 2 has 1 cell, and the lines above have 2"),
    (b'1\n"a,1\n', "line 2, column 1: a quote is not closed"),
    (b"a,b\nc,d\n", "there are no numbers in it: 'c' in line 2 is none"),
    (b"a,b\n", "there are no numbers in it"),
    (b"\n\n", "there are no numbers in it"),
    (b"\xff\xfe1\0\n\0", "it is UTF-16, and UTF-8 was expected"),
]


class Tables(CommandCase):
    def test_what_is_read(self):
        names = [self.write(f"t{k}.csv", text) for k, (text, *_) in enumerate(READ)]
        run = self.kiln("show", *names, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        for name, shown, (text, dtype, values, notes) in zip(names, json.loads(run.stdout)["files"], READ):
            with self.subTest(text=text):
                self.assertEqual((shown["file"], shown["dtype"], shown["text"]), (name, dtype, values))
                said = [line for line in run.stderr.splitlines() if line.startswith(f"kiln: {name}: ")]
                self.assertEqual(len(said), len(notes), said)
                for line, note in zip(said, notes):
                    self.assertRegex(line, note)

    def test_what_is_refused(self):
        for text, message in REFUSED:
            with self.subTest(text=text):
                self.assertIn(f"kiln: t.csv: {message}", self.refused(1, "show", self.write("t.csv", text)))

    def test_headers(self):
        self.write("t.csv", b"2019,2020\n1,2\n")
        self.assertIn("[[2019 2020]\n [   1    2]]", self.ok("show", "t.csv"))
        self.assertIn("[[1 2]]", self.ok("show", "t.csv", "--header", "yes"))
        self.write("w.csv", b"a,b\n1,2\n")
        self.assertIn("[[1 2]]", self.ok("show", "w.csv", "--header", "yes"))
        self.assertIn("line 1, column 1: 'a' is no number", self.refused(1, "show", "w.csv", "--header", "no"))
        self.assertIn("--header takes one of yes|no|auto, not 'maybe'", self.refused(2, "eval", "x", "x=w.csv", "--header", "maybe"))
        # what is said goes to standard error, and --quiet silences it
        self.assertEqual(self.ok("eval", "x", "x=w.csv", "--target", "host", warning=r"^kiln: w.csv: line 1 names the columns \(a, b\)"), "[[1 2]]\n")
        self.assertEqual(self.ok("eval", "x", "x=w.csv", "--target", "host", "--quiet"), "[[1 2]]\n")

    def test_columns_of_text(self):
        self.write("t.csv", b'city,n,m\nParis,1,x\nBerlin,2,\n"Paris",3,4\n')
        self.assertIn("column 3 'm': 'x' is no number", self.refused(1, "show", "t.csv"))
        run = self.kiln("show", "t.csv", "--text", "skip")
        self.assertIn("[1 2 3]", run.stdout)
        self.assertEqual(re.findall(r"column \d '\w+' is left out", run.stderr), ["column 1 'city' is left out", "column 3 'm' is left out"])
        run = self.kiln("show", "t.csv", "--text", "categories")
        self.assertIn("[[ 1.  1.  1.]\n [ 0.  2. nan]\n [ 1.  3.  0.]]", run.stdout)
        self.assertIn("column 1 'city' has 2 categories, in alphabetical order: 0 'Berlin', 1 'Paris'\n", run.stderr)
        self.assertIn("column 3 'm' has 2 categories, in alphabetical order: 0 '4', 1 'x'\n", run.stderr)
        self.assertIn("--text takes one of auto|skip|categories, not 'all'", self.refused(2, "show", "t.csv", "--text", "all"))


main()
