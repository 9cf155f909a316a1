#include "base/target.h"
#include "base/error.h"
#include "base/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opt-in shared memory of a block, from the CUDA programming guide's table of compute capabilities. */
static const struct {
    int compute_capability;
    int shared_kilobytes;
} cuda_table[] = {
    {75, 64},  {80, 163},  {86, 99},   {87, 163},  {88, 99},  {89, 99},
    {90, 227}, {100, 227}, {103, 227}, {110, 227}, {120, 99}, {121, 99},
};
enum { CUDA_COUNT = sizeof cuda_table / sizeof *cuda_table };

static const struct {
    const char *architecture;
    int vector_bytes;
} host_table[] = {
    {"x86-64", 16},    {"x86-64-v2", 16}, {"x86-64-v3", 32},
    {"x86-64-v4", 64}, {"armv8-a", 16},   {"armv8.2-a", 16},
};
enum { HOST_COUNT = sizeof host_table / sizeof *host_table };

/* A capability that is newer than the table can do at least what the smallest known one of its kind can. */
static int shared_bytes(int compute_capability)
{
    for (int i = 0; i < CUDA_COUNT; i++)
        if (cuda_table[i].compute_capability == compute_capability)
            return cuda_table[i].shared_kilobytes * 1024;
    return compute_capability < 75 ? 48 * 1024 : 99 * 1024;
}

static bool is_known_cuda(int compute_capability)
{
    for (int i = 0; i < CUDA_COUNT; i++)
        if (cuda_table[i].compute_capability == compute_capability)
            return true;
    return false;
}

static void fill_cuda(kn_target *out, int compute_capability, const char *suffix)
{
    memset(out, 0, sizeof *out);
    out->backend = KN_CUDA;
    snprintf(out->architecture, sizeof out->architecture, "sm_%d%s", compute_capability, suffix);
    out->compute_capability = compute_capability;
    out->vector_bytes = 16;
    out->shared_memory_per_block = shared_bytes(compute_capability);
}

void kn_target_cuda(kn_target *out, int major, int minor)
{
    fill_cuda(out, major * 10 + minor, "");
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
    if (compute_capability > 999 || !is_known_cuda((int)compute_capability))
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

static kiln_status unknown(const char *text)
{
    kn_str known = KN_STR_INIT;
    kiln_status status;
    for (int i = 0; i < CUDA_COUNT; i++)
        kn_str_printf(&known, ", sm_%d", cuda_table[i].compute_capability);
    for (int i = 0; i < HOST_COUNT; i++)
        kn_str_printf(&known, ", %s", host_table[i].architecture);
    status = kn_error(KILN_ERROR_INVALID, "target \"%s\" is not known; known are host%s", text,
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
    /* What kn_target_format wrote is read as well. */
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
