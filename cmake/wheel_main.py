"""python -m kiln: prints what a build needs of this package."""
import argparse

import kiln

ANSWERS = {"cflags": kiln.cflags, "libs": kiln.libs, "prefix": kiln.prefix, "include-dir": kiln.include_dir, "library-dir": kiln.library_dir,
           "library": kiln.library, "pkgconfig-dir": kiln.pkgconfig_dir, "version": lambda: kiln.__version__}

parser = argparse.ArgumentParser(prog="python -m kiln", description="Prints what a build needs of this package, on one line, in the order that is asked.")
for name in ANSWERS:
    parser.add_argument("--" + name, dest="asked", action="append_const", const=name)
asked = parser.parse_args().asked
if not asked:
    parser.error("one of --" + ", --".join(ANSWERS) + " was expected")
print(*(ANSWERS[name]() for name in asked))
