/* base/target.c - the table of GPU architectures, target names, and which code runs on which target. */
#include "base/target.h"

#include <kiln/device.h>
#include "base/error.h"
#include "base/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the CUDA programming guide's table of compute capabilities, in kilobytes and threads; tests/compile
 * holds the threads against ptxas. A product: its multiprocessors and its L2 in megabytes, from NVIDIA's data
 * sheets. */
static const struct cuda_limits {
    int compute_capability;
    int shared_of_block, shared_of_multiprocessor, threads;
    int multiprocessors, l2;
    bool is_board; /* of a processor of NVIDIA's boards: cubins are for it alone (CUDA programming guide) */
} cuda_table[] = {
    {75, 64, 64, 1024, 40, 4, false},       /* T4 */
    {80, 163, 164, 2048, 108, 40, false},   /* A100 */
    {86, 99, 100, 1536, 84, 6, false},      /* A40 */
    {87, 163, 164, 1536, 16, 4, true},      /* Orin */
    {88, 99, 100, 1536, 16, 4, true},       /* a board's, too */
    {89, 99, 100, 1536, 142, 96, false},    /* L40 */
    {90, 227, 228, 2048, 132, 50, false},   /* H100, H200 */
    {100, 227, 228, 2048, 148, 126, false}, /* B200 */
    {103, 227, 228, 2048, 148, 126, false}, /* B300 */
    {110, 227, 228, 1536, 20, 32, true},    /* Thor */
    {120, 99, 100, 1536, 188, 128, false},  /* RTX PRO 6000 */
    {121, 99, 100, 1536, 48, 24, false},    /* GB10 */
};
enum {
    CUDA_COUNT = sizeof cuda_table / sizeof *cuda_table,
    KILO = 1 << 10,
    MEGA = 1 << 20,
    REGISTERS = 64 * KILO, /* of a multiprocessor, all of them */
    FIRST_TO_RESERVE = 80, /* compute capability from which on the system takes a kilobyte of each block */
    FIRST_TO_WAIT = 90     /* and from which on kernels can wait for the one before them */
};

static const struct {
    const char *architecture;
    int vector_bytes;
} host_table[] = {
    {"x86-64", 16},    {"x86-64-v2", 16}, {"x86-64-v3", 32},
    {"x86-64-v4", 64}, {"armv8-a", 16},   {"armv8.2-a", 16},
};
enum { HOST_COUNT = sizeof host_table / sizeof *host_table };

/* Limits of a capability newer than the table: those of the smallest recent one; of an older one less. */
static const struct cuda_limits unknown_new = {0, 99, 100, 1536, 48, 24, false},
                                unknown_old = {0, 48, 48, 1024, 16, 1, false};

static const struct cuda_limits *find_cuda(int compute_capability)
{
    for (int i = 0; i < CUDA_COUNT; i++)
        if (cuda_table[i].compute_capability == compute_capability)
            return &cuda_table[i];
    return NULL;
}

static void fill_cuda(kn_target *out, int compute_capability, const char *suffix)
{
    memset(out, 0, sizeof *out);
    out->backend = KN_CUDA;
    snprintf(out->architecture, sizeof out->architecture, "sm_%d%s", compute_capability, suffix);
    out->compute_capability = compute_capability;
    out->vector_bytes = 16;
    const struct cuda_limits *known = find_cuda(compute_capability);
    if (!known)
        known = compute_capability < cuda_table[0].compute_capability ? &unknown_old : &unknown_new;
    out->shared_memory_per_block = known->shared_of_block * KILO;
    out->shared_memory_per_multiprocessor = known->shared_of_multiprocessor * KILO;
    out->shared_memory_reserved = compute_capability >= FIRST_TO_RESERVE ? KILO : 0;
    out->threads_per_multiprocessor = known->threads;
    out->registers_per_multiprocessor = REGISTERS;
    out->multiprocessors = known->multiprocessors;
    out->l2_bytes = (int64_t)known->l2 * MEGA;
    out->waits_for_kernels = compute_capability >= FIRST_TO_WAIT;
}

void kn_target_cuda(kn_target *out, int major, int minor)
{
    fill_cuda(out, major * 10 + minor, "");
}

void kn_target_set_limits(kn_target *target, const kn_target *limits)
{
    target->shared_memory_per_block = limits->shared_memory_per_block;
    target->shared_memory_per_multiprocessor = limits->shared_memory_per_multiprocessor;
    target->shared_memory_reserved = limits->shared_memory_reserved;
    target->threads_per_multiprocessor = limits->threads_per_multiprocessor;
    target->registers_per_multiprocessor = limits->registers_per_multiprocessor;
    target->multiprocessors = limits->multiprocessors;
    target->l2_bytes = limits->l2_bytes;
}

/* "a" (one chip's own features) exists from 9.0 on, "f" (a family's) from 10.0. */
static bool is_suffix(const char *text, int compute_capability)
{
    return *text == 0 || (!strcmp(text, "a") && compute_capability >= 90) ||
           (!strcmp(text, "f") && compute_capability >= 100);
}

static bool parse_cuda(kn_target *out, const char *text)
{
    char *end;
    long compute_capability;
    if (strncmp(text, "sm_", 3) != 0 || text[3] < '1' || text[3] > '9')
        return false;
    compute_capability = strtol(text + 3, &end, 10);
    if (compute_capability > 999 || !find_cuda((int)compute_capability))
        return false;
    if (!is_suffix(end, (int)compute_capability))
        return false;
    fill_cuda(out, (int)compute_capability, end);
    return true;
}

static bool parse_host(kn_target *out, const char *text)
{
    for (int i = 0; i < HOST_COUNT; i++) {
        if (strcmp(text, host_table[i].architecture) != 0)
            continue;
        memset(out, 0, sizeof *out);
        out->backend = KN_HOST;
        snprintf(out->architecture, sizeof out->architecture, "%s", text);
        out->vector_bytes = host_table[i].vector_bytes;
        return true;
    }
    return false;
}

void kn_target_host(kn_target *out)
{
    parse_host(out, kn_os_cpu_architecture());
}

bool kiln_architecture_at(char *buffer, size_t size, int index)
{
    int length = -1;
    if (!buffer || index < 0 || index >= CUDA_COUNT + HOST_COUNT)
        return false;
    if (index < CUDA_COUNT)
        length = snprintf(buffer, size, "sm_%d", cuda_table[index].compute_capability);
    else
        length = snprintf(buffer, size, "%s", host_table[index - CUDA_COUNT].architecture);
    return length >= 0 && (size_t)length < size;
}

static kiln_status unknown(const char *text)
{
    kn_str known = KN_STR_INIT;
    char name[32];
    for (int i = 0; kiln_architecture_at(name, sizeof name, i); i++)
        kn_str_printf(&known, ", %s", name);
    kiln_status status = kn_error(KILN_ERROR_INVALID, "target \"%s\" is not known; known are host%s", text,
                                  kn_str_text(&known));
    kn_str_free(&known);
    return status;
}

kiln_status kn_target_parse(kn_target *out, const char *text)
{
    if (!out || !text)
        return kn_error(KILN_ERROR_INVALID, "%s is NULL", out ? "text" : "out");
    if (!strcmp(text, "host")) {
        kn_target_host(out);
        return KILN_OK;
    }
    /* The output of kn_target_format is read as well. */
    if (!strncmp(text, "cuda:", 5) ? parse_cuda(out, text + 5) : parse_cuda(out, text))
        return KILN_OK;
    if (!strncmp(text, "host:", 5) ? parse_host(out, text + 5) : parse_host(out, text))
        return KILN_OK;
    return unknown(text);
}

void kn_target_format(const kn_target *target, char *out, size_t size)
{
    snprintf(out, size, "%s:%s", target->backend == KN_CUDA ? "cuda" : "host", target->architecture);
}

bool kn_target_equal(const kn_target *a, const kn_target *b)
{
    return a->backend == b->backend && !strcmp(a->architecture, b->architecture);
}

bool kn_target_known(kn_target *out, int number)
{
    if (number < 0 || number >= CUDA_COUNT + HOST_COUNT)
        return false;
    if (number < CUDA_COUNT)
        fill_cuda(out, cuda_table[number].compute_capability, "");
    else
        parse_host(out, host_table[number - CUDA_COUNT].architecture);
    return true;
}

/* ---- code for a target ---- */

static char suffix_of(const kn_target *t)
{
    char last = t->architecture[strlen(t->architecture) - 1];
    return last == 'a' || last == 'f' ? last : 0;
}

static bool is_of_board(const kn_target *t)
{
    const struct cuda_limits *known = find_cuda(t->compute_capability);
    return known && known->is_board;
}

/* Within a family code runs on devices whose minor number is not below its own. */
static bool is_in_family(const kn_target *made_for, const kn_target *t)
{
    return made_for->compute_capability / 10 == t->compute_capability / 10 &&
           made_for->compute_capability <= t->compute_capability;
}

static bool cubin_runs(const kn_target *made_for, const kn_target *t)
{
    return is_in_family(made_for, t) && !is_of_board(made_for) && !is_of_board(t);
}

static bool ptx_runs(const kn_target *made_for, const kn_target *t)
{
    return made_for->compute_capability <= t->compute_capability;
}

/* A suffix says on which devices besides its own code runs, in either format: "a" on none, "f" on its
 * family. */
static bool cuda_runs(const kn_target *made_for, kn_code_format format, const kn_target *t)
{
    char suffix = suffix_of(made_for);
    if (suffix_of(t)) /* code of just this name is wanted, for a machine that is not this one */
        return strcmp(made_for->architecture, t->architecture) == 0;
    if (made_for->compute_capability == t->compute_capability)
        return true;
    if (suffix)
        return suffix == 'f' && is_in_family(made_for, t) && !is_of_board(t);
    return format == KN_CODE_PTX ? ptx_runs(made_for, t) : cubin_runs(made_for, t);
}

/* A cubin before PTX, which the driver has yet to compile; the nearest device before others; more of its
 * features before fewer. */
static int cuda_fit(const kn_target *made_for, kn_code_format format, const kn_target *t)
{
    static const char by_features[] = {0, 'f', 'a'};
    int features = 0;
    if (!cuda_runs(made_for, format, t))
        return 0;
    for (int i = 1; i < (int)sizeof by_features; i++)
        if (suffix_of(made_for) == by_features[i])
            features = i;
    return (format == KN_CODE_BINARY ? 1 << 20 : 0) + made_for->compute_capability * 4 + features;
}

static int host_number(const kn_target *t)
{
    for (int i = 0; i < HOST_COUNT; i++)
        if (strcmp(host_table[i].architecture, t->architecture) == 0)
            return i;
    return -1;
}

/* A family of processors, each of which runs the code of its predecessors, is adjacent in the table. */
static int host_fit(const kn_target *made_for, const kn_target *t)
{
    int made = host_number(made_for), at = host_number(t);
    if (made < 0 || at < made || strncmp(made_for->architecture, t->architecture, 3) != 0)
        return 0;
    return made + 1;
}

int kn_target_fit(const kn_target *made_for, kn_code_format format, const kn_target *target)
{
    if (made_for->backend != target->backend)
        return 0;
    return target->backend == KN_CUDA ? cuda_fit(made_for, format, target)
           : format == KN_CODE_BINARY ? host_fit(made_for, target)
                                      : 0;
}
