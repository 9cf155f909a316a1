/* golden_blocks.c - the bytes that the launches of each kind put into the argument block: its members for
 * operands of all sorts, and the launch parameters of the calls that golden_plans plans. */
#include "golden_blocks.h"
#include "base/hash.h"
#include "program/program.h"

#include <stdio.h>
#include <string.h>

enum { BACKENDS = 2, MOST_KINDS = 64 };

/* FNV-1a, 64 bits: grows launch by launch. */
static uint64_t launched[BACKENDS][MOST_KINDS];
static int launches[BACKENDS][MOST_KINDS];

static void add(uint64_t *sum, const void *bytes, size_t size)
{
    for (size_t k = 0; k < size; ++k)
        *sum = (*sum ^ ((const unsigned char *)bytes)[k]) * UINT64_C(1099511628211);
}

static int number_of(kn_backend_kind backend, const kn_kind *kind)
{
    int n = 0;
    for (const kn_kind *const *at = kn_kinds_of(backend); *at && *at != kind; ++at)
        ++n;
    return n;
}

void golden_add_launch(const kn_part *part, const kn_placement *p)
{
    kn_backend_kind backend = part->spec->target.backend;
    int k = number_of(backend, part->spec->schedule.kind);
    uint64_t *sum = &launched[backend == KN_HOST][k];
    const int64_t params[] = {p->size,    p->grid[0],      p->grid[1], p->grid[2],  p->block,
                              p->cluster, p->shared_bytes, p->rank,    p->partials, p->counters};
    ++launches[backend == KN_HOST][k];
    add(sum, params, sizeof params);
    add(sum, p->field, (size_t)part->layout->own_size);
    for (int a = 0; p->kernel_space && a < p->kernel_space->ndim; ++a) {
        add(sum, &p->kernel_space->extent[a], sizeof p->kernel_space->extent[a]);
        for (int o = 0; o < p->kernel_space->n_operands; ++o)
            add(sum, &p->kernel_space->stride[o][a], sizeof p->kernel_space->stride[o][a]);
    }
}

/* ---- members ---- */

/* Nothing if it is the last one again. */
static void put_block(kn_str *all, kn_spec *s)
{
    kn_layout l;
    kn_str text = KN_STR_INIT, *out = &text;
    if (kn_layout_make(&l, s) != KILN_OK)
        out->failed = true;
    kn_str_printf(out, "%d %d %d\n", s->schedule.vector, s->schedule.rank, l.size);
    kn_layout_declare(out, s);
    for (const int *at = (const int *)&l; at < (const int *)(&l + 1); at++)
        kn_str_printf(out, " %d", *at);
    kn_str_append(out, "\n");
    if (all->length < out->length ||
        memcmp(all->data + all->length - out->length, out->data, out->length) != 0)
        kn_str_append(all, kn_str_text(out));
    all->failed = all->failed || out->failed;
    kn_str_free(out);
}

static kn_spec spec_of(const kn_program *p, const char *target)
{
    static const struct {
        kn_pass pass;
        kiln_dtype dtype;
        int struct_size, raw_rank;
    } operands[] = {{KN_PASS_ARRAY, KILN_FLOAT16, 0, 0},    {KN_PASS_SCALAR, KILN_INT8, 0, 0},
                    {KN_PASS_SCALAR, KILN_COMPLEX64, 0, 0}, {KN_PASS_STRUCT, KILN_DTYPE_NONE, 20, 0},
                    {KN_PASS_RAW, KILN_INT32, 0, 3},        {KN_PASS_ARRAY, KILN_FLOAT64, 0, 0}};
    kn_spec s;
    memset(&s, 0, sizeof s);
    s.program = p;
    kn_target_parse(&s.target, target);
    for (int k = 0; k < 6; k++)
        s.operand[k] = (kn_operand){.pass = operands[k].pass,
                                    .dtype = operands[k].dtype,
                                    .struct_size = operands[k].struct_size,
                                    .raw_rank = operands[k].raw_rank};
    s.n_arrays = kn_operands_settle(s.operand, 6);
    return s;
}

/* A block of each shape that a kind's may have: all of its numbers are 0, or one has its largest value. */
static void put_shapes(kn_str *out, const kn_program *p, const kn_kind *kind, const char *target)
{
    kn_spec s = spec_of(p, target);
    int count = kind->config ? kind->config->count : 0;
    for (int vector = 1; vector <= 4; vector += 3)
        for (int rank = 0; rank <= 3; rank += 3)
            for (int number = -1; number < count; number++) {
                s.schedule = (kn_schedule){.kind = kind, .vector = vector, .rank = rank, .block = 128};
                if (number >= 0)
                    s.schedule.config[number] = kind->config->number[number].most;
                put_block(out, &s);
            }
}

static void put_members(kn_str *out, const kn_kind *kind, const char *target)
{
    static const char *const bodies[] = {"z = x", "z = i + n + _ind.size()"};
    for (int b = 0; b < 2; b++) {
        kn_program *p = NULL;
        kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
        options.preamble = "struct pair { int a[5]; };";
        kn_program_elementwise(&p, "float16 x, int8 small, complex64 w, pair q, raw int32 r", "float64 z",
                               bodies[b], "k", &options);
        if (p)
            put_shapes(out, p, kind, target);
        out->failed |= !p;
        kn_program_free(p);
    }
}

bool golden_put_blocks(kn_str *out)
{
    static const char *const targets[BACKENDS] = {"sm_90", "x86-64-v3"};
    bool is_good = true;
    for (int t = 0; t < BACKENDS; t++)
        for (const kn_kind *const *kind = kn_kinds_of(t ? KN_HOST : KN_CUDA); *kind; kind++) {
            kn_str members = KN_STR_INIT;
            char hex[33];
            int k = number_of(t ? KN_HOST : KN_CUDA, *kind);
            put_members(&members, *kind, targets[t]);
            kn_hash hash = kn_hash_128(members.data, members.length);
            kn_hash_hex(&hash, hex);
            kn_str_printf(out, "%s %s revision %d.%d: members %.16s, launches %016llx\n", t ? "host" : "cuda",
                          (*kind)->name, KN_BLOCK_REVISION, (*kind)->revision, hex,
                          (unsigned long long)launched[t][k]);
            if (launches[t][k] == 0)
                printf("FAILED: no call of plans.txt is launched by %s %s\n", t ? "host" : "cuda",
                       (*kind)->name);
            is_good = is_good && launches[t][k] > 0 && !members.failed;
            kn_str_free(&members);
        }
    return is_good;
}
