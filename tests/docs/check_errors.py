"""Whether each error that a public header names is provoked by a test.

    check_errors.py SOURCES                 names the pairs of a function and a status that no test provokes; exit code 1 where there are some
    check_errors.py --list SOURCES          each pair, and where it is provoked
    check_errors.py --self-test SOURCES     whether what is planted is found

The pairs are those of the headers: a function, and each KILN_ERROR_... in the comment that is about it (tools/doc_headers says which). A test provokes
a pair in a statement that calls the function and names the status: assert_int_equal(kiln_f(NULL), KILN_ERROR_INVALID). A table of faults does so where
each row names both, or where the function is called with the table's status beside it; a loop over a table whose rows name one status does not.
KILN_ERROR_MEMORY is provoked by tests/fault/fault_memory.c: it fails each allocation of each flow of fault_flows.c, and wants that status."""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

STATUS = r"INVALID|MEMORY|TYPE|SHAPE|SYNTAX|COMPILE|NOT_FOUND|IO|FORMAT|DEVICE|UNSUPPORTED|CAPTURE|FORBIDDEN|INTERNAL"
# A status after the first of a comment may be short: "KILN_ERROR_NOT_FOUND or _IO".
NAMED = re.compile(rf"(?:KILN_ERROR|(?<!\w))_({STATUS})\b")
# What calls of a kernel refuse is no error of the function that makes it.
CALLS = re.compile(r"^ \* A call refuses\b.*?(?=^ \*\s*$|\*/)", re.S | re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
FLOWS = "tests/fault/fault_flows.c"


def doc_headers(root):
    loader = importlib.machinery.SourceFileLoader("doc_headers", str(root / "tools" / "doc_headers"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("doc_headers", loader))
    sys.modules["doc_headers"] = module
    loader.exec_module(module)
    return module


def pairs_of(text, headers):
    """{(function, status)} that a header names."""
    return {(name, status) for name, item in headers.named_items(text) if re.search(rf"\b{name}\s*\(", item.text) and not item.text.lstrip().startswith("#")
            for status in NAMED.findall(CALLS.sub("", item.comment + item.trailing))}


def statements(text):
    """(line, statement) of a C source, without comments and strings. Braces of initialisers end none."""
    bare = STRING.sub(lambda m: '"' + " " * (len(m.group()) - 2) + '"', COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text))
    at = 0
    for end in re.finditer(r"[;]|\{\n|\}\n", bare):
        part = bare[at:end.start()]
        yield bare.count("\n", 0, at + len(part) - len(part.lstrip())) + 1, part
        at = end.end()


def provoked(text):
    """{(function, status): line} that the statements of a test's source provoke."""
    found = {}
    for line, statement in statements(text):
        words = set(re.findall(r"\w+", statement))
        for status in words:
            if status.startswith("KILN_ERROR_"):
                for function in words:
                    if function.startswith("kiln_"):
                        found.setdefault((function, status[len("KILN_ERROR_"):]), line)
    return found


def all_provoked(root):
    found = {}
    for path in sorted((root / "tests").rglob("*.c")):
        for pair, line in provoked(path.read_text()).items():
            found.setdefault(pair, f"{path.relative_to(root)}:{line}")
    for function in set(re.findall(r"\bkiln_\w+(?=\()", (root / FLOWS).read_text())):
        found.setdefault((function, "MEMORY"), FLOWS)
    return found


def wanted(root):
    headers, found = doc_headers(root), {}
    for path in sorted((root / "include" / "kiln").glob("*.h")):
        for pair in pairs_of(path.read_text(), headers):
            found[pair] = f"include/kiln/{path.name}"
    return found


def self_test(root):
    header = "/*\n * planted.h - nothing.\n */\n\n/* One. KILN_ERROR_INVALID (NULL),\n * KILN_ERROR_NOT_FOUND or _IO. */\nKILN_API kiln_status kiln_a(void);\n" \
             "KILN_API kiln_status kiln_b(void);\n\n/* None, with a _TYPEd word. */\nKILN_API kiln_status kiln_c(void);\n"
    pairs = pairs_of(header, doc_headers(root))
    assert pairs == {(f, s) for f in ("kiln_a", "kiln_b") for s in ("INVALID", "NOT_FOUND", "IO")}, pairs
    test = 'void f(void)\n{\n    assert_int_equal(kiln_a("KILN_ERROR_IO"), /* KILN_ERROR_IO */ KILN_ERROR_INVALID);\n    kiln_b();\n    g(KILN_ERROR_IO);\n}\n'
    assert set(provoked(test)) == {("kiln_a", "INVALID")}, provoked(test)


def main():
    root = pathlib.Path(sys.argv[-1])
    if "--self-test" in sys.argv:
        self_test(root)
        return 0
    pairs, found = wanted(root), all_provoked(root)
    missing = sorted((where, *pair) for pair, where in pairs.items() if pair not in found)
    if "--list" in sys.argv:
        for pair in sorted(pairs):
            print(f"{pair[0]} KILN_ERROR_{pair[1]}: {found.get(pair, 'no test')}")
    for where, function, status in missing:
        print(f"{where}: {function} names KILN_ERROR_{status}, which no test provokes")
    print(f"{len(pairs)} errors that headers name, {len(missing)} without a test")
    return 1 if missing or len(pairs) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
