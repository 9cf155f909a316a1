/* golden_limits - the limits of kinds: FOLDER/limits.expected says, for each example in FOLDER, how its plan
 * changes if one thing of its call does: an extent, a stride, an address, the threads of a block, the target.
 * Steps grow; where the schedules of two neighbouring steps differ, bisection finds the first value that has
 * the second one. A limit of a kind that moves by one moves such a value: examples of a new kind cover it.
 *
 * Kinds that are not asked for few elements (kn_kind's fewest) are asked here; of these limits it says where
 * they lie for the examples.
 *
 * usage: golden_limits [--update | --lines] FOLDER...
 *
 *     reduce_rows.txt extent 1 by 1: reduce_lanes <2 reduce_threads <33 1a2b3c4d
 *                                      reduce_lanes takes extents below 2, reduce_threads from 2 on; its
 *                                      schedule is another one from 33 on; last the checksum of all plans */
#include "description.h"
#include "golden.h"
#include "kernel/inspected.h"
#include "schedule/layout.h"
#include "schedules/choose.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIANTS = 2 /* of each example */ };
static bool shows_lines;

/* The call that is varied. Its space is made anew from extents and strides, as spaces of calls are. */
typedef struct call {
    const kn_resolved *from;
    kn_spec spec;
    int count, block; /* operands of the space without indices */
    kn_access access[KN_MAX_PARAMS];
    int64_t extent[KILN_MAX_NDIM], stride[KN_MAX_PARAMS][KILN_MAX_NDIM], after[KN_MAX_PARAMS];
    int64_t size; /* of the space, for the choice; 0: as many as it has */
} call;

/* Checksums: of a call's schedule, of the sort of its first launch, and of all of that launch. */
typedef struct plan {
    uint64_t schedule, sort, launch;
    const char *kind;
} plan;

/* FNV-1a. */
static uint64_t sum_of(uint64_t sum, const void *bytes, size_t size)
{
    for (size_t k = 0; k < size; ++k)
        sum = (sum ^ ((const unsigned char *)bytes)[k]) * UINT64_C(1099511628211);
    return sum;
}

static uint64_t sum_of_number(uint64_t sum, int64_t number)
{
    return sum_of(sum, &number, sizeof number);
}

/* ---- a plan ---- */

static kiln_status put_launch(void *user, const kn_part *part)
{
    plan *out = user;
    static kn_placement p; /* large */
    kiln_status status = kn_part_place(&p, part);
    if (status != KILN_OK)
        return status;
    const int64_t numbers[] = {p.rank,    p.size,  p.grid[0],      p.grid[1],
                               p.grid[2], p.block, p.shared_bytes, p.shared_percent,
                               p.cluster, p.grain, p.partials,     p.counters};
    out->launch = sum_of(out->launch, numbers, sizeof numbers);
    const int64_t sorts[] = {part->space->size<part->whole->size, p.grid[1]> 1,
                             p.grid[2] > 1,
                             p.cluster,
                             p.shared_percent,
                             p.partials > 0,
                             p.counters > 0};
    out->sort = sum_of(out->sort, sorts, sizeof sorts);
    out->launch =
        sum_of(out->launch, p.field, part->layout->own_size > 0 ? (size_t)part->layout->own_size : 0);
    kn_loop_nest_free(p.loop_nest);
    return KILN_ERROR_FORBIDDEN; /* one launch says enough of a call that is cut in many */
}

static void make_space(kn_space *out, kn_access *access, const call *c)
{
    const kn_space *from = &c->from->space;
    int64_t results[KILN_MAX_NDIM];
    kn_view view[KN_MAX_PARAMS];
    uint64_t reduced = 0;
    for (int a = 0; a < from->ndim; ++a) {
        bool is_reduced = a >= from->ndim - from->n_reduction_axes;
        reduced |= (uint64_t)is_reduced << a;
        results[a] = is_reduced ? 1 : c->extent[a];
    }
    for (int o = 0; o < c->count; ++o)
        view[o] = (kn_view){c->access[o].is_output ? results : c->extent, c->stride[o], from->ndim,
                            c->access[o].is_output};
    if (kn_program_scans(c->spec.program))
        kn_space_make_in_order(out, from->ndim, c->extent, reduced, view, c->count, from->indices,
                               kn_pattern_has_rows(c->spec.program->pattern) ? KN_IN_C_ORDER : KN_FORWARD);
    else
        kn_space_make(out, from->ndim, c->extent, reduced, view, c->count, from->indices);
    for (int o = 0; o < c->count; ++o) {
        access[o] = c->access[o];
        out->after[o] = c->after[o];
        if (o > 0 && c->after[o] != 0)
            access[o].address =
                access[o - 1].address + (c->after[o] == KN_SAME_ARRAY ? 0 : (uintptr_t)c->after[o]);
    }
    for (int o = 0; o < c->count; ++o)
        access[o].address += (uintptr_t)out->offset[o];
}

static plan plan_of(const call *c, bool is_placed)
{
    static kn_space space; /* large, as the specialisation is */
    static kn_spec spec;
    kn_access access[KN_MAX_PARAMS];
    kn_launch_params params = {{0}};
    kn_layout layout;
    plan out = {.schedule = UINT64_C(14695981039346656037), .kind = "none"};
    spec = c->spec;
    spec.schedule = (kn_schedule){0};
    make_space(&space, access, c);
    space.size = c->size > 0 ? c->size : space.size;
    if (kn_schedule_choose(&spec.schedule, &params, spec.program, &space, access, c->count, &spec.target,
                           c->block) != KILN_OK)
        return out;
    const kn_schedule *s = &spec.schedule;
    const int64_t numbers[] = {s->vector, s->block, s->index, s->order, s->rank};
    out.kind = s->kind->name;
    out.schedule = sum_of(out.schedule, out.kind, strlen(out.kind));
    out.schedule = sum_of(out.schedule, numbers, sizeof numbers);
    out.schedule = sum_of(out.schedule, s->config, sizeof s->config);
    out.schedule = sum_of(out.schedule, s->access, strlen(s->access));
    const kn_part whole = {&spec, &layout, &params, &space, &space, NULL};
    out.launch = out.schedule;
    if (!is_placed)
        return out;
    kiln_status status = kn_layout_make(&layout, &spec);
    if (status == KILN_OK && space.size > 0)
        status = kn_part_each(&whole, put_launch, &out);
    out.launch = sum_of_number(out.launch, status);
    trouble_unless(status == KILN_OK || status == KILN_ERROR_FORBIDDEN || status == KILN_ERROR_UNSUPPORTED,
                   "a launch of %s: %s", out.kind, kiln_error_message());
    return out;
}

/* ---- variation ---- */

/* A thing of a call, and the call with its value `value` instead of the example's. */
typedef struct thing {
    const char *name;
    int operand, axis;
    int64_t unit, last; /* values are multiples of unit */
} thing;

/* Views of one array that lie so many steps apart along each axis still do. */
static int64_t moved_distance(const call *to, const call *from, int o)
{
    int64_t rest = from->after[o], distance = 0, below = INT64_MAX;
    for (int turn = 0; turn < from->from->space.ndim; ++turn) {
        int axis = -1;
        for (int a = 0; a < from->from->space.ndim; ++a)
            if (llabs(from->stride[o][a]) < below &&
                (axis < 0 || llabs(from->stride[o][a]) > llabs(from->stride[o][axis])))
                axis = a;
        if (axis < 0 || from->stride[o][axis] == 0)
            break;
        below = llabs(from->stride[o][axis]);
        int64_t steps = (rest + (rest < 0 ? -below / 2 : below / 2)) / from->stride[o][axis];
        rest -= steps * from->stride[o][axis];
        distance += steps * to->stride[o][axis];
    }
    return distance + rest;
}

static void set_extent(call *to, const call *from, int axis, int64_t extent)
{
    to->extent[axis] = extent;
    for (int o = 0; o < to->count; ++o) {
        int64_t run = llabs(from->stride[o][axis]) * from->extent[axis];
        for (int a = 0; a < from->from->space.ndim && run > 0; ++a)
            if (a != axis && llabs(from->stride[o][a]) >= run)
                to->stride[o][a] = from->stride[o][a] / run * llabs(from->stride[o][axis]) * extent +
                                   from->stride[o][a] % run;
    }
}

static void vary(call *to, const call *from, const thing *t, int64_t value)
{
    *to = *from;
    if (!strcmp(t->name, "extent"))
        set_extent(to, from, t->axis, value);
    else if (!strcmp(t->name, "stride"))
        to->stride[t->operand][t->axis] += value * from->access[t->operand].item_size;
    else if (!strcmp(t->name, "address"))
        to->access[t->operand].address += (uintptr_t)value;
    else if (!strcmp(t->name, "block"))
        to->block = (int)value;
    else
        trouble_unless(kn_target_known(&to->spec.target, (int)value), "target %d", (int)value);
    for (int o = 1; o < to->count; ++o)
        if (from->after[o] != 0 && from->after[o] != KN_SAME_ARRAY)
            to->after[o] = moved_distance(to, from, o);
}

static plan plan_with(const call *from, const thing *t, int64_t step, bool is_placed, uint64_t *sum)
{
    static call varied;
    vary(&varied, from, t, step * t->unit);
    plan p = plan_of(&varied, is_placed);
    *sum = sum_of_number(*sum, (int64_t)p.launch);
    return p;
}

static bool differs(const plan *a, const plan *b)
{
    return a->schedule != b->schedule || a->sort != b->sort;
}

/* The first step behind low, which has the plan `one`, with another one; high has another one. Launches are
 * looked at only where schedules do not tell the two. */
static int64_t first_other(const call *from, const thing *t, int64_t low, int64_t high, const plan *one,
                           bool is_placed, uint64_t *sum)
{
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        plan p = plan_with(from, t, middle, is_placed, sum);
        bool is_other = is_placed ? differs(&p, one) : p.schedule != one->schedule;
        *(is_other ? &high : &low) = middle;
    }
    return high;
}

static void put_thing(kn_str *out, const char *name, const call *from, const thing *t)
{
    uint64_t sum = 0;
    int64_t before = !strcmp(t->name, "extent") ? 1 : 0;
    plan one = plan_with(from, t, before, true, &sum);
    kn_str_printf(out, "%s %s", name, t->name);
    if (t->operand >= 0)
        kn_str_printf(out, " of %d", t->operand);
    if (t->axis >= 0)
        kn_str_printf(out, " %d", t->axis);
    kn_str_printf(out, " by %" PRId64 ": %s", t->unit, one.kind);
    for (int64_t step = before + 1; step <= t->last && !in_trouble(); step += step < 20        ? 1
                                                                              : step < 1 << 14 ? step / 3
                                                                                               : step) {
        plan other = plan_with(from, t, step, true, &sum);
        while (differs(&other, &one) && !in_trouble()) {
            before = first_other(from, t, before, step, &one, other.schedule == one.schedule, &sum);
            plan next = before == step ? other : plan_with(from, t, before, true, &sum);
            kn_str_printf(out, " <%" PRId64, before * t->unit);
            if (strcmp(next.kind, one.kind) != 0)
                kn_str_printf(out, " %s", next.kind);
            one = next;
        }
        before = step;
    }
    kn_str_printf(out, " %08" PRIx32 "\n", (uint32_t)(sum ^ sum >> 32));
}

static void put_extents(kn_str *out, const char *name, const call *c)
{
    for (int a = 0; a < c->from->space.ndim; ++a) {
        put_thing(out, name, c, &(thing){"extent", -1, a, 1, INT64_C(1) << 33});
        put_thing(out, name, c, &(thing){"extent", -1, a, 16, 1 << 28});
    }
}

/* The known targets of CUDA, which come first. */
static int count_cuda_targets(void)
{
    kn_target target;
    int count = 0;
    while (kn_target_known(&target, count) && target.backend == KN_CUDA)
        ++count;
    return count;
}

static void put_things(kn_str *out, const char *name, const call *c)
{
    put_extents(out, name, c);
    for (int o = 0; o < c->count; ++o) {
        for (int a = 0; a < c->from->space.ndim; ++a)
            if (c->stride[o][a] != 0)
                put_thing(out, name, c, &(thing){"stride", o, a, 1, 1 << 10});
        put_thing(out, name, c, &(thing){"address", o, -1, c->access[o].item_size, 20});
    }
    if (c->spec.target.backend == KN_CUDA) {
        put_thing(out, name, c, &(thing){"block", -1, -1, 32, 32});
        put_thing(out, name, c, &(thing){"target", -1, -1, 1, count_cuda_targets() - 1});
    }
}

static int roll(uint64_t *dice, int count)
{
    *dice = *dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((*dice >> 33) % (uint64_t)count);
}

/* All elements half as large, or twice, and so on, with dtypes of these sizes. */
static void resize_elements(call *c, int log_to, int log_from)
{
    static const kiln_dtype of_size[] = {KILN_UINT8, KILN_FLOAT16, KILN_FLOAT32, KILN_FLOAT64,
                                         KILN_COMPLEX128};
    for (int o = 0; o < c->count; ++o) {
        int to = c->access[o].item_size << log_to >> log_from;
        if (to < 1 || to > 16)
            return;
    }
    for (int o = 0; o < c->count && log_to != log_from; ++o) {
        int *size = &c->access[o].item_size, log_size = 0;
        for (*size = *size << log_to >> log_from; 1 << log_size < *size;)
            ++log_size;
        for (int a = 0; a < c->from->space.ndim; ++a)
            c->stride[o][a] = c->stride[o][a] * (1 << log_to) / (1 << log_from);
        if (c->after[o] != KN_SAME_ARRAY)
            c->after[o] = c->after[o] * (1 << log_to) / (1 << log_from);
        for (int k = 0; k < c->spec.program->n_in + c->spec.program->n_out; ++k)
            if (c->spec.operand[k].array == o)
                c->spec.operand[k].dtype = c->spec.operand[k].seen = of_size[log_size];
    }
}

/* Inputs whose inner one of two axes becomes the outer one. */
static void transpose_inputs(call *c, int a, int b)
{
    for (int o = 0; o < c->count; ++o) {
        int64_t *stride = c->stride[o];
        bool is_free =
            !c->access[o].is_output && c->after[o] == 0 && (o + 1 == c->count || c->after[o + 1] == 0);
        int inner = llabs(stride[a]) < llabs(stride[b]) ? a : b, outer = a + b - inner;
        if (!is_free || a == b || stride[a] == 0 || stride[b] == 0)
            continue;
        stride[outer] = stride[inner];
        stride[inner] = stride[inner] * c->extent[outer];
    }
}

/* Elements of another size, other extents, inputs that are transposed or broadcast along another axis,
 * addresses off alignment; many elements. */
static void change_at_random(call *c, uint64_t *dice, bool is_large)
{
    int64_t size = 1;
    static const int extents[] = {2, 3, 4, 8, 15, 16, 32, 60, 64, 100, 128, 256, 1000, 1024, 4096, 30000};
    resize_elements(c, roll(dice, 4), roll(dice, 4));
    for (int a = 0; a < c->from->space.ndim; ++a)
        if (roll(dice, 2)) {
            call before = *c;
            set_extent(c, &before, a, extents[roll(dice, 16)]);
        }
    for (int a = 0; a < c->from->space.ndim; ++a)
        size *= c->extent[a];
    for (int turn = 0; is_large && turn < 64 && size < 1 << 23; ++turn, size *= 2) {
        call before = *c;
        int a = roll(dice, c->from->space.ndim);
        set_extent(c, &before, a, 2 * before.extent[a]);
    }
    if (roll(dice, 3) == 0)
        transpose_inputs(c, roll(dice, c->from->space.ndim), roll(dice, c->from->space.ndim));
    for (int o = 0; o < c->count; ++o) {
        int axis = roll(dice, 2 * c->from->space.ndim);
        bool is_free =
            !c->access[o].is_output && c->after[o] == 0 && (o + 1 == c->count || c->after[o + 1] == 0);
        if (is_free && axis < c->from->space.ndim)
            c->stride[o][axis] = 0;
        if (is_free && roll(dice, 4) == 0)
            c->access[o].address += (uintptr_t)(roll(dice, 20) * c->access[o].item_size);
    }
}

/* The number of elements from which on the example's plan is the one that it has without a limit; its extents
 * stay. */
static void put_fewest(kn_str *out, const char *name, const call *c)
{
    static call sized; /* large */
    const plan one = plan_of(c, false);
    const int64_t last = INT64_C(1) << 33; /* none of these */
    int64_t low = 0, high = last;
    sized = *c;
    setenv("KILN_KINDS", "", 1);
    while (high - low > 1) {
        sized.size = low + (high - low) / 2;
        *(plan_of(&sized, false).schedule == one.schedule ? &high : &low) = sized.size;
    }
    setenv("KILN_KINDS", "-fewest", 1);
    if (high > 1 && high < last)
        kn_str_printf(out, "%s from %lld elements on\n", name, (long long)high);
}

/* The example itself, line by line; and random calls that differ from it in several things, of which only the
 * checksum of their lines is stored (--lines shows these). */
static void put_all(kn_str *out, const char *name, const call *c)
{
    uint64_t dice = sum_of(0, name, strlen(name));
    put_fewest(out, name, c);
    put_things(out, name, c);
    for (int v = 1; v <= VARIANTS && !in_trouble(); ++v) {
        static call varied; /* large */
        kn_str lines = KN_STR_INIT;
        varied = *c;
        change_at_random(&varied, &dice, v % 2 == 0);
        put_extents(&lines, name, &varied);
        if (shows_lines)
            fputs(kn_str_text(&lines), stdout);
        kn_str_printf(out, "%s random %d: %08" PRIx32 "\n", name, v,
                      (uint32_t)sum_of(UINT64_C(14695981039346656037), kn_str_text(&lines), lines.length));
        kn_str_free(&lines);
    }
}

/* ---- examples ---- */

static void put_resolved(kn_str *out, const char *name, const kn_resolved *r)
{
    static call c; /* large */
    c = (call){.from = r, .spec = r->spec, .count = r->spec.n_arrays};
    kn_spec_access(c.access, &r->spec);
    memcpy(c.extent, r->space.extent, sizeof c.extent);
    memcpy(c.after, r->space.after, sizeof *c.after * (size_t)c.count);
    for (int o = 0; o < c.count; ++o) {
        memcpy(c.stride[o], r->space.stride[o], sizeof c.stride[o]);
        c.access[o].address = UINT64_C(1) << 32;
    }
    put_all(out, name, &c);
}

static void put_example(kn_str *out, const char *folder, const char *name)
{
    char path[512];
    int n_in = 0, n_out = 0, axes[KILN_MAX_NDIM];
    description d;
    kiln_call_options options;
    kn_inspected inspected = KN_INSPECTED_INIT;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    description_read(&d, path);
    kiln_kernel *kernel = description_kernel(&d);
    stage *s = description_stage(&d, kernel, 0);
    description_options(&options, axes, &d);
    if (s) {
        kiln_arg *in = stage_args(s, &n_in);
        kiln_array **outs = stage_outs(s, &n_out);
        succeeded(kn_inspect(&inspected, kernel, outs, n_out, in, n_in, &options, d.target, true),
                  "kn_inspect");
    }
    for (int p = 0; p < inspected.count && !in_trouble(); ++p)
        put_resolved(out, name, inspected.resolved[p]);
    kn_inspected_free(&inspected);
    stage_free(s);
    kiln_kernel_free(kernel);
    description_free(&d);
}

static int is_description(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && !strcmp(entry->d_name + length - 4, ".txt");
}

static bool check_folder(const char *folder, bool update)
{
    char path[512];
    struct dirent **entries = NULL;
    kn_str out = KN_STR_INIT;
    int count = scandir(folder, &entries, is_description, alphasort);
    trouble_clear();
    trouble_unless(count > 0, "%s has no examples", folder);
    for (int k = 0; k < count; ++k) {
        if (!in_trouble())
            put_example(&out, folder, entries[k]->d_name);
        if (in_trouble())
            printf("FAILED %s: %s\n", entries[k]->d_name, trouble_text());
        free(entries[k]);
    }
    free(entries);
    snprintf(path, sizeof path, "%s/limits.expected", folder);
    bool same = !in_trouble() && golden_matches(path, kn_str_text(&out), update);
    kn_str_free(&out);
    return same;
}

int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    bool update = argc > 2 && !strcmp(argv[1], "--update");
    int failed = 0;
    shows_lines = argc > 2 && !strcmp(argv[1], "--lines");
    if (argc < 2) {
        fprintf(stderr, "usage: golden_limits [--update | --lines] FOLDER...\n");
        return 2;
    }
    succeeded(kiln_set_forms(KILN_FORMS_BEST), "kiln_set_forms");
    for (int k = 1 + update + shows_lines; k < argc; ++k)
        failed += !check_folder(argv[k], update);
    return failed > 0;
}
