/* compile/nvrtc_search.c - finds NVRTC by looking at files alone: a warm start needs its identity
 * and must not pay for loading it. */
#include "compile/compiler.h"

#include "base/os.h"
#include "base/setting.h"
#include "base/shortage.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Newest first: each is the SONAME of one generation. */
static const char *const file_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                         "libnvrtc.so"};

/* Folders to look in, in this order. $NAME is replaced by that variable (the line is skipped where it is not
 * set); the rest is a glob pattern. Where several folders match a pattern the highest version comes first. */
static const char *const patterns[] = {
    "$CUDA_HOME/lib64",
    "$CUDA_HOME/lib",
    "$CUDA_HOME/targets/*/lib",
    "$CUDA_PATH/lib64",
    "$CUDA_PATH/lib",
    "$CUDA_PATH/targets/*/lib",
    "/usr/local/cuda/lib64",
    "/usr/local/cuda-*/lib64",
    "/opt/cuda/lib64",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/cu[0-9]*/lib",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib",
    "$CONDA_PREFIX/lib",
    "$HOME/.local/lib/python3*/site-packages/nvidia/cu[0-9]*/lib",
    "$HOME/.local/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib",
    "/usr/local/lib/python3*/*-packages/nvidia/cu[0-9]*/lib",
    "/usr/local/lib/python3*/*-packages/nvidia/cuda_nvrtc/lib",
    "/usr/lib/python3*/*-packages/nvidia/cu[0-9]*/lib",
    "/usr/lib/python3*/*-packages/nvidia/cuda_nvrtc/lib",
};

/* Folders that the loader searches by itself, after LD_LIBRARY_PATH. */
static const char *const system_folders[] = {
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib",
};

/* Below a folder that KILN_NVRTC names. */
static const char *const below_named[] = {
    "",
    "/lib64",
    "/lib",
    "/targets/*/lib",
    "/nvidia/cu[0-9]*/lib",
    "/nvidia/cuda_nvrtc/lib",
    "/lib/python3*/site-packages/nvidia/*/lib",
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* The file itself, behind all links, so that one library has one identity. */
static bool take_file(kn_compiler_place *place, const char *file)
{
    char real[PATH_MAX];
    if (!kn_os_is_file(file))
        return false;
    if (!kn_shortage_unless(realpath(file, real)))
        return false;
    snprintf(place->path, sizeof place->path, "%s", real);
    place->is_found = true;
    return true;
}

static bool look_in_folder(kn_compiler_place *place, const char *folder, size_t length)
{
    for (size_t i = 0; i < COUNT(file_names); i++) {
        char file[PATH_MAX];
        int written = snprintf(file, sizeof file, "%.*s/%s", (int)length, folder, file_names[i]);
        if (written > 0 && (size_t)written < sizeof file && take_file(place, file))
            return true;
    }
    return false;
}

static int by_version_descending(const void *a, const void *b)
{
    return -strverscmp(*(char *const *)a, *(char *const *)b);
}

/* A folder that cannot be read is passed over. */
static int note_reason(const char *path, int reason)
{
    (void)path;
    kn_shortage_note(reason);
    return 0;
}

static bool look_in_pattern(kn_compiler_place *place, const char *pattern)
{
    if (!strpbrk(pattern, "*?["))
        return look_in_folder(place, pattern, strlen(pattern));
    glob_t found;
    int failure = glob(pattern, GLOB_NOSORT, note_reason, &found);
    if (failure == GLOB_NOSPACE)
        kn_shortage_note(ENOMEM);
    if (failure != 0)
        return false;
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_version_descending);
    for (size_t i = 0; i < found.gl_pathc && !place->is_found; i++)
        look_in_folder(place, found.gl_pathv[i], strlen(found.gl_pathv[i]));
    globfree(&found);
    return place->is_found;
}

/* "$NAME/rest" with the variable's value put in; false where it is not set. */
static bool expand(const char *pattern, char *out, size_t size)
{
    if (pattern[0] != '$') {
        snprintf(out, size, "%s", pattern);
        return true;
    }
    const char *rest = pattern + strcspn(pattern, "/");
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)(rest - pattern - 1), pattern + 1);
    const char *value = kn_os_env(name);
    if (!value)
        return false;
    int written = snprintf(out, size, "%s%s", value, rest);
    return written > 0 && (size_t)written < size;
}

/* KILN_NVRTC is the only candidate: a user who sets it does not want another library silently. */
static void look_where_told(kn_compiler_place *place, const char *told)
{
    if (take_file(place, told))
        return;
    for (size_t i = 0; i < COUNT(below_named); i++) {
        char pattern[PATH_MAX];
        int written = snprintf(pattern, sizeof pattern, "%s%s", told, below_named[i]);
        if (written > 0 && (size_t)written < sizeof pattern && look_in_pattern(place, pattern))
            return;
    }
    snprintf(place->location, sizeof place->location,
             "NVRTC was not found: KILN_NVRTC=%.3000s is neither libnvrtc nor a folder with it", told);
}

static bool look_in_list(kn_compiler_place *place, const char *list)
{
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (length > 0 && look_in_folder(place, list, length))
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

static void look_everywhere(kn_compiler_place *place)
{
    for (size_t i = 0; i < COUNT(patterns); i++) {
        char pattern[PATH_MAX];
        if (expand(patterns[i], pattern, sizeof pattern) && look_in_pattern(place, pattern))
            return;
    }
    if (look_in_list(place, kn_os_env("LD_LIBRARY_PATH")))
        return;
    for (size_t i = 0; i < COUNT(system_folders); i++)
        if (look_in_folder(place, system_folders[i], strlen(system_folders[i])))
            return;
    snprintf(place->location, sizeof place->location,
             "NVRTC (libnvrtc.so.13, .12 or .11.2) was not found: looked in CUDA_HOME, CUDA_PATH, "
             "/usr/local/cuda*, /opt/cuda, "
             "nvidia-cuda-nvrtc of pip (VIRTUAL_ENV, CONDA_PREFIX, ~/.local, /usr/local, /usr), "
             "LD_LIBRARY_PATH and the system's library "
             "folders; pip install nvidia-cuda-nvrtc brings it, and KILN_NVRTC names the file or its folder");
}

void kn_nvrtc_search(kn_compiler_place *place)
{
    const char *told = kn_setting("KILN_NVRTC");
    if (told)
        look_where_told(place, told);
    else
        look_everywhere(place);
}

/* ---- the toolkit's headers, for sources that include some ---- */

static int append_include(kn_str *out, const char *base, const char *below)
{
    char folder[PATH_MAX], real[PATH_MAX];
    struct stat info;
    int written = snprintf(folder, sizeof folder, "%s%s", base, below);
    if (written < 0 || (size_t)written >= sizeof folder || !realpath(folder, real) ||
        stat(real, &info) != 0 || !S_ISDIR(info.st_mode))
        return 0;
    kn_str_append(out, "-I");
    kn_str_append_n(out, real, strlen(real) + 1);
    return 1;
}

static bool has_cuda_headers(const char *base)
{
    char file[PATH_MAX];
    int written = snprintf(file, sizeof file, "%s/cuda_fp16.h", base);
    return written > 0 && (size_t)written < sizeof file && kn_os_is_file(file);
}

int kn_nvrtc_include_options(kn_str *out, const char *library_path)
{
    /* Beside the library's folder: a toolkit, its targets/<name>/lib, pip's nvidia/cu13 and pip's older one
     * folder a package. */
    static const char *const beside[] = {"/include", "/../include", "/../../include",
                                         "/../cuda_runtime/include"};
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", library_path);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(folder, '/');
        if (slash)
            *slash = 0;
    }
    for (size_t i = 0; i < COUNT(beside); i++) {
        char base[PATH_MAX];
        int written = snprintf(base, sizeof base, "%s%s", folder, beside[i]);
        if (written > 0 && (size_t)written < sizeof base && has_cuda_headers(base))
            return append_include(out, base, "") + append_include(out, base, "/cccl");
    }
    const char *home = kn_os_env("CUDA_HOME");
    return home ? append_include(out, home, "/include") + append_include(out, home, "/include/cccl") : 0;
}
