/* Relocatable code: code compiled with -dc (-rdc=true) must be linked, with libcudadevrt.a of the toolkit if
 * it launches kernels itself. The driver's linker does it when the code is loaded. */
#include "device/cuda_link.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "base/setting.h"

enum { LOG_SIZE = 8192, ELF_HEADER_SIZE = 64, ELF_RELOCATABLE = 1, ELF_MACHINE_CUDA = 190 };

/* ---- what has to be linked ---- */

static bool is_relocatable_cubin(const unsigned char *code, size_t size)
{
    return size >= ELF_HEADER_SIZE && memcmp(code, "\177ELF", 4) == 0 &&
           (code[16] | code[17] << 8) == ELF_RELOCATABLE && (code[18] | code[19] << 8) == ELF_MACHINE_CUDA;
}

/* PTX that launches kernels calls functions of cudadevrt, by the names of one generation or the other. */
static bool launches_by_itself(const char *text, size_t size)
{
    static const char *const names[] = {"__cudaCDP2LaunchDevice", "cudaLaunchDevice"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (memmem(text, size, names[i], strlen(names[i])))
            return true;
    return false;
}

bool kn_cuda_needs_link(const void *code, size_t size, bool is_binary)
{
    return is_binary ? is_relocatable_cubin(code, size) : launches_by_itself(code, size);
}

/* ---- libcudadevrt.a ---- */

/* Folders where the toolkit and pip's packages have it; $NAME as in the environment, the rest for glob. */
static const char *const folders[] = {
    "$CUDA_HOME/lib64",
    "$CUDA_HOME/lib",
    "$CUDA_HOME/targets/*/lib",
    "$CUDA_PATH/lib64",
    "$CUDA_PATH/lib",
    "$CUDA_PATH/targets/*/lib",
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/lib",
    "/opt/cuda/lib64",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/cu[0-9]*/lib",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/cuda_runtime/lib",
    "$CONDA_PREFIX/lib",
    "/usr/lib/*-linux-gnu",
    "/usr/lib64",
    "/usr/local/lib",
};
static const char devrt_name[] = "libcudadevrt.a";

static bool expand(const char *folder, char *out, size_t size)
{
    const char *rest = folder, *value = "";
    char name[32];
    if (folder[0] == '$') {
        rest = folder + strcspn(folder, "/");
        snprintf(name, sizeof name, "%.*s", (int)(rest - folder - 1), folder + 1);
        if (!(value = kn_os_env(name)))
            return false;
    }
    int written = snprintf(out, size, "%s%s/%s", value, rest, devrt_name);
    return written > 0 && (size_t)written < size;
}

/* KILN_CUDADEVRT decides alone. */
static bool find_devrt(char *out, size_t size)
{
    const char *told = kn_setting("KILN_CUDADEVRT");
    char pattern[PATH_MAX];
    bool is_found = false;
    if (told) {
        snprintf(out, size, "%s", told);
        return kn_os_is_file(out);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !is_found; i++) {
        glob_t found;
        if (!expand(folders[i], pattern, sizeof pattern) || glob(pattern, 0, NULL, &found) != 0)
            continue;
        is_found = kn_os_is_file(found.gl_pathv[0]);
        snprintf(out, size, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    return is_found;
}

/* ---- linking ---- */

static kiln_status add_inputs(kn_cu_link link, const void *code, size_t size, bool is_binary,
                              const char *name, const char *devrt)
{
    void *data = (void *)(uintptr_t)code; /* read alone */
    int kind = is_binary ? KN_CU_JIT_INPUT_CUBIN : KN_CU_JIT_INPUT_PTX;
    kiln_status status = KN_CU(LinkAddData, link, kind, data, size + !is_binary, name, 0, NULL, NULL);
    if (status == KILN_OK && devrt)
        status = KN_CU(LinkAddFile, link, KN_CU_JIT_INPUT_LIBRARY, devrt, 0, NULL, NULL);
    return status;
}

static kiln_status explain(kiln_status status, const char *log, const char *devrt)
{
    if (log[0])
        kn_error_set_log(log);
    return devrt ? status
                 : kn_error_context("%s of the CUDA toolkit, which kernels that launch kernels need, was not "
                                    "found (CUDA_HOME, /usr/local/cuda, pip's nvidia-cuda-runtime; "
                                    "KILN_CUDADEVRT names the file)",
                                    devrt_name);
}

kiln_status kn_cuda_link(kn_cuda_linked *out, const void *code, size_t size, bool is_binary, const char *name)
{
    char path[PATH_MAX];
    const char *devrt = find_devrt(path, sizeof path) ? path : NULL;
    size_t linked_size = 0;
    if (!kn_cuda.LinkCreate || !kn_cuda.LinkAddData || !kn_cuda.LinkAddFile || !kn_cuda.LinkComplete ||
        !kn_cuda.LinkDestroy)
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "the code is relocatable (-dc), and the driver has no linker; compile without -dc");
    out->log = kn_calloc(1, LOG_SIZE);
    if (!out->log)
        return kn_error_memory("a linker's log");
    int options[] = {KN_CU_JIT_ERROR_LOG_BUFFER, KN_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {out->log, (void *)(uintptr_t)LOG_SIZE};
    kiln_status status = KN_CU(LinkCreate, 2, options, values, &out->link);
    if (status == KILN_OK)
        status = add_inputs(out->link, code, size, is_binary, name, devrt);
    if (status == KILN_OK)
        status = KN_CU(LinkComplete, out->link, &out->image, &linked_size);
    return status == KILN_OK ? KILN_OK : explain(status, out->log, devrt);
}

void kn_cuda_linked_free(kn_cuda_linked *linked)
{
    if (linked->link)
        KN_CU_CALL(LinkDestroy, linked->link);
    kn_free(linked->log);
}
