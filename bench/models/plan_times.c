/* plan_times - host time of a plan for a new layout, over the layouts of layouts.c: space, schedule, and the
 * placing of its launches, those of arrays of more than 2 GB being several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layouts.h"
#include "schedules/choose.h"
#include "schedule/layout.h"
#include "program/program.h"

enum { REPEATS = 41, MOST = 1000 };

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static kiln_status place(void *user, const kn_part *part)
{
    return kn_part_place(user, part);
}

/* The times of planning a transposed copy of the layout: the median, and the first, with cold caches; and the
 * kind that took it. */
static double time_of(double *first, const kn_program *program, const layout *l, int item, const char **kind)
{
    static kn_placement placed;
    static const kiln_dtype dtypes[] = {KILN_UINT8, KILN_UINT16, KILN_UINT32, KILN_UINT64, KILN_COMPLEX128};
    int64_t extent[LAYOUT_AXES], stride[LAYOUT_AXES], shape[LAYOUT_AXES], in[LAYOUT_AXES], out[LAYOUT_AXES];
    int64_t step = item;
    double us[REPEATS];
    int log_item = 0;
    layout_extents(extent, l, item);
    for (int a = l->ndim; a-- > 0; step *= extent[a] + (a == l->ndim - 1 ? l->cut : 0))
        stride[a] = step;
    for (int a = 0; a < l->ndim; ++a) {
        shape[a] = extent[l->axes[a]];
        in[a] = stride[l->axes[a]];
    }
    step = item;
    for (int a = l->ndim; a-- > 0; step *= shape[a])
        out[a] = step;
    while (1 << log_item < item)
        ++log_item;
    kn_spec spec = {.program = program,
                    .operand = {{KN_PASS_ARRAY, dtypes[log_item]}, {KN_PASS_ARRAY, dtypes[log_item]}}};
    const kn_view view[] = {{shape, in, l->ndim, false}, {shape, out, l->ndim, true}};
    const kn_access access[] = {{item, (uintptr_t)1 << 40 | (uintptr_t)(l->cut * item), false},
                                {item, (uintptr_t)1 << 41, true}};
    kn_space space;
    kn_launch_params launch_params;
    kn_layout layout;
    if (kn_target_parse(&spec.target, "sm_90") != KILN_OK)
        exit(1);
    for (int k = 0; k < REPEATS; ++k) {
        double begin = now_us();
        kn_space_make(&space, l->ndim, shape, 0, view, 2, false);
        if (kn_schedule_choose(&spec.schedule, &launch_params, program, &space, access, 2, &spec.target, 0) !=
                KILN_OK ||
            kn_layout_make(&layout, &spec) != KILN_OK)
            exit(1);
        const kn_part whole = {&spec, &layout, &launch_params, &space, &space, NULL};
        if (kn_part_each(&whole, place, &placed) != KILN_OK)
            exit(1);
        us[k] = now_us() - begin;
    }
    *kind = spec.schedule.kind->name;
    *first = us[0];
    qsort(us, REPEATS, sizeof *us, compare);
    return us[REPEATS / 2];
}

int main(void)
{
    static const char *const kinds[] = {"tile", "windows", "rows"};
    static double us[3][MOST], first[3][MOST];
    int count[3] = {0};
    kn_program *program = NULL;
    if (kn_program_elementwise(&program, "T x", "T z", "z = x", "copied", NULL) != KILN_OK)
        return 1;
    for (int l = 0; l < n_layouts; ++l)
        for (const char *item = layouts[l].items; *item; ++item) {
            const char *kind;
            double time_of_first,
                time = time_of(&time_of_first, program, &layouts[l], *item == 'g' ? 16 : *item - '0', &kind);
            for (int k = 0; k < 3; ++k)
                if (strcmp(kind, kinds[k]) == 0 && count[k] < MOST) {
                    first[k][count[k]] = time_of_first;
                    us[k][count[k]++] = time;
                }
        }
    for (int k = 0; k < 3; ++k) {
        qsort(us[k], (size_t)count[k], sizeof *us[k], compare);
        qsort(first[k], (size_t)count[k], sizeof *first[k], compare);
        if (count[k] > 0)
            printf("%-8s %3d layouts: median %.1f us, slowest %.1f us; the first time: median %.1f us, "
                   "slowest %.1f us\n",
                   kinds[k], count[k], us[k][count[k] / 2], us[k][count[k] - 1], first[k][count[k] / 2],
                   first[k][count[k] - 1]);
    }
    kn_program_free(program);
    return 0;
}
