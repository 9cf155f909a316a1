# setup.sh - what tools/test, tools/demo, tools/soak and tools/lint share: the machine made ready, the build, the dependencies.
# To be sourced (. "$(dirname "$0")/setup.sh"). POSIX sh. Quiet where nothing is to be done.
#
# Afterwards: KILN_ROOT is the tree and the working directory; KILN_NVRTC names libnvrtc where there is one outside the system's usual
# places; KILN_PYTHON is a Python that has NumPy 2, or unset.

set -eu
KILN_ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$KILN_ROOT"
deps=$KILN_ROOT/build/deps
exec </dev/null

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
fail() { say "$*" >&2; exit 1; }

# ---- what goes on ----

# Runs a command with its output in a file; its end is shown where the command fails. On a terminal a line says meanwhile how it goes.
quietly() {
    mkdir -p "$deps"
    if [ -t 1 ]; then
        watched hidden "$@"
    else
        "$@" >"$deps/last.log" 2>&1
    fi || { tail -n 80 "$deps/last.log" >&2; return 1; }
}

# Runs a command that prints what it does. On a terminal no three seconds pass without a word.
shown() {
    mkdir -p "$deps"
    if [ -t 1 ]; then
        watched shown "$@"
    else
        "$@"
    fi
}

# watched shown|hidden COMMAND...: output goes to a file, from which lines are shown; below them the seconds since the last one, and of what is hidden
# the last line. What is interrupted ends with all that it began.
watched() {
    mode=$1 count=0 waited=0
    shift
    rm -f "$deps/last.status"
    : >"$deps/last.log"
    {
        if "$@" >"$deps/last.log" 2>&1; then status=0; else status=$?; fi
        echo $status >"$deps/last.status.new"
        mv "$deps/last.status.new" "$deps/last.status"
    } &
    trap 'trap "" TERM; kill -TERM 0; exit 130' HUP INT TERM
    while [ ! -e "$deps/last.status" ]; do
        sleep 0.2
        waited=$((waited + 1))
        show_lines
        [ $((waited % 5)) -ne 0 ] || [ $waited = 0 ] || printf '\r\033[K%s: %d s  %.60s' "${0##*/}" $((waited / 5)) "$([ "$mode" = shown ] || tail -n 1 "$deps/last.log")"
    done
    wait $! || true
    trap - HUP INT TERM
    show_lines
    printf '\r\033[K'
    return "$(cat "$deps/last.status")"
}

show_lines() {
    [ "$mode" = shown ] || return 0
    lines=$(wc -l <"$deps/last.log")
    [ "$lines" -gt "$count" ] || return 0
    printf '\r\033[K'
    sed -n "$((count + 1)),${lines}p" "$deps/last.log"
    count=$lines waited=0
}

# ---- packages ----

has_program() { command -v "$1" >/dev/null 2>&1; }
has_header() { has_program "${CC:-cc}" && printf '#include <stddef.h>\n#include <stdint.h>\n#include <stdarg.h>\n#include <setjmp.h>\n#include <%s>\n' "$1" | "${CC:-cc}" -E -x c - >/dev/null 2>&1; }
has_cmake() { has_program cmake && cmake --version | awk 'NR == 1 {split($3, v, "."); exit !(v[1] > 3 || (v[1] == 3 && v[2] >= 24))}'; }
has_venv() { has_program python3 && python3 -c 'import venv, ensurepip' >/dev/null 2>&1; }

# One package name a line for everything that is not there.
missing_packages() {
    has_program "${CC:-cc}" || echo gcc
    has_program "${CXX:-c++}" || echo g++
    has_program clang++ || echo clang
    has_program "${CC:-cc}" && ! has_header stdio.h && echo libc6-dev
    has_cmake || echo cmake
    has_program ninja || echo ninja-build
    has_program make || echo make
    has_header sqlite3.h || echo libsqlite3-dev
    has_header xxhash.h || echo libxxhash-dev
    has_header cmocka.h || echo libcmocka-dev
    has_header png.h || echo libpng-dev
    has_header zip.h || echo libzip-dev
    has_program pkg-config || echo pkg-config
    has_program python3 || echo python3
    has_venv || echo python3-venv
    [ -e /etc/ssl/certs/ca-certificates.crt ] || echo ca-certificates
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

install_packages() {
    list=$(missing_packages | tr '\n' ' ')
    [ -n "$list" ] || return 0
    has_program apt-get || fail "these packages are missing, and there is no apt-get to install them: $list"
    [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null || fail "these packages are missing, and only root can install them: $list"
    say "installing $list"
    quietly as_root apt-get update -qq || say "apt-get update failed; going on with the lists at hand"
    # shellcheck disable=SC2086 # a list of words
    quietly as_root apt-get install -y -qq --no-install-recommends $list || true
    still=$(missing_packages | grep -v -x -e clang -e python3-venv -e ca-certificates | tr '\n' ' ')
    [ -z "$still" ] || fail "could not be installed: $still(cmake has to be 3.24 or newer)"
}

# What some tests run and are skipped without, programs (program:package where the names differ): installed where that needs nobody's leave.
install_if_possible() {
    list=""
    for program in "$@"; do
        has_program "${program%:*}" || list="$list ${program#*:}"
    done
    [ -n "$list" ] && [ "$(id -u)" = 0 ] && has_program apt-get || return 0
    say "installing$list"
    # shellcheck disable=SC2086 # a list of words
    quietly as_root apt-get install -y -qq --no-install-recommends $list 2>/dev/null || say "could not be installed:$list"
}

# ---- Python packages, in folders of the build tree ----

# Makes build/deps/venv where it is missing; fails where Python cannot.
make_venv() {
    [ -x "$deps/venv/bin/pip" ] || { has_venv && quietly python3 -m venv --clear "$deps/venv"; }
}

# Without an index there is no use in many tries; what pip said is kept in a file.
pip_install() {
    quietly "$deps/venv/bin/pip" install -q --disable-pip-version-check --no-input --timeout 20 --retries 1 "$@" 2>/dev/null && failed=0 || failed=1
    cp "$deps/last.log" "$deps/pip.log"
    return $failed
}

has_numpy() { "$1" -c 'import numpy; assert int(numpy.__version__.split(".")[0]) >= 2' >/dev/null 2>&1; }

find_numpy() {
    for python in "${KILN_PYTHON:-}" "$deps/venv/bin/python" python3; do
        [ -z "$python" ] || ! has_numpy "$python" || { KILN_PYTHON=$python; export KILN_PYTHON; return 0; }
    done
    unset KILN_PYTHON
    say "fetching NumPy for the tests that compare with it"
    if make_venv && pip_install 'numpy>=2'; then
        KILN_PYTHON=$deps/venv/bin/python
        export KILN_PYTHON
    else
        say "NumPy could not be had (see build/deps/pip.log): the tests that compare with it are skipped"
    fi
}

# ---- NVRTC ----

# The first file that is there among the arguments.
first_file() {
    for file in "$@"; do
        [ ! -e "$file" ] || { echo "$file"; return 0; }
    done
    return 1
}

toolkit_nvrtc() {
    nvcc=$(command -v nvcc || true)
    [ -z "$nvcc" ] || nvcc=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" "$nvcc" /usr/local/cuda /usr/local/cuda-* /opt/cuda; do
        [ -n "$folder" ] || continue
        first_file "$folder"/lib64/libnvrtc.so.[0-9]* "$folder"/lib/libnvrtc.so.[0-9]* \
            "$folder"/targets/*/lib/libnvrtc.so.[0-9]* && return 0
    done
    first_file "/usr/lib/$(uname -m)-linux-gnu"/libnvrtc.so.[0-9]*
}

wheel_nvrtc() { first_file "$deps"/nvrtc/nvidia/*/lib/libnvrtc.so.[0-9]*; }

# Leaves KILN_NVRTC alone where a toolkit has the library: kiln finds that by itself.
find_nvrtc() {
    nvrtc=${KILN_NVRTC:-}
    [ -z "$nvrtc" ] || [ ! -e "$nvrtc" ] || return 0
    nvrtc=$(toolkit_nvrtc) && return 0
    if ! nvrtc=$(wheel_nvrtc); then
        say "no CUDA toolkit here: fetching NVRTC with pip"
        make_venv && pip_install --no-deps --target "$deps/nvrtc" 'nvidia-cuda-nvrtc==13.0.*' && nvrtc=$(wheel_nvrtc) || nvrtc=
    fi
    [ -n "$nvrtc" ] || { say "NVRTC could not be had (see build/deps/pip.log): going on with the host target alone"; return 0; }
    KILN_NVRTC=$nvrtc
    export KILN_NVRTC
}

# ---- build ----

# Tests neither use what an earlier build left in the user's cache nor add to it.
private_cache() {
    KILN_CACHE_DIR=$KILN_ROOT/build/$1/cache
    export KILN_CACHE_DIR
    rm -rf "$KILN_CACHE_DIR" "$KILN_ROOT/build/$1/compiled"
    mkdir "$KILN_ROOT/build/$1/compiled"
}

jobs() { nproc 2>/dev/null || echo 2; }

# Configures (where needed) and builds one preset; ccache is used where it is installed.
build_preset() {
    if has_program ccache; then
        CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
        export CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
    fi
    say "building build/$1"
    quietly cmake --preset "$1" || fail "cmake --preset $1 failed"
    quietly cmake --build --preset "$1" || fail "the build of $1 failed"
}
