"""kiln, a C library: where this package has its headers, its library and its files for CMake and pkg-config.

    cc program.c $(python -m kiln --cflags --libs)
    cmake -DCMAKE_PREFIX_PATH="$(python -m kiln --prefix)" ...
    library = ctypes.CDLL(kiln.library())
"""
import os
import shlex
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_libdir = os.path.join(_here, *"@LIBDIR@".split("/"))
__version__ = "@VERSION@"


def prefix():
    """The folder of the installation: CMAKE_PREFIX_PATH."""
    return _here


def include_dir():
    return os.path.join(_here, "include")


def library_dir():
    return _libdir


def library():
    """The shared library itself, for dlopen and ctypes."""
    return os.path.join(_libdir, "@LIBRARY@")


def pkgconfig_dir():
    """For PKG_CONFIG_PATH."""
    return os.path.join(_libdir, "pkgconfig")


def cflags():
    return "-I" + shlex.quote(include_dir())


def libs():
    """With the path by which the program finds the library when it runs."""
    folder = shlex.quote(_libdir)
    return f"-L{folder} -Wl,-rpath,{folder} -lkiln"


def _run(name):
    program = os.path.join(_here, "bin", name)
    os.execv(program, [program] + sys.argv[1:])


def run_kiln():
    _run("kiln")


def run_kiln_bench():
    _run("kiln-bench")
