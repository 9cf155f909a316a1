/* kind_windows.c - the same as a tile where rows begin anywhere: a box of the input is read in aligned
 * chunks of 16 bytes, results are stored in aligned vectors. */
#include "plan/kind.h"

#include <string.h>

#include "plan/choice.h"
#include "plan/windows.h"

enum {
    WINDOWS_BLOCK = 512,   /* threads */
    WINDOWS_SIZE = 1 << 14 /* fewest elements for boxes of shared memory */
};

typedef struct figures {
    int axis; /* of the space, along which the staged input runs */
} figures;

static bool is_whole_elements(const kn_choice *c, int o)
{
    int64_t item = c->access[o].item_size;
    for (int a = 0; a < c->space->ndim; ++a)
        if (c->space->stride[o][a] % item != 0)
            return false;
    return c->access[o].address % (uintptr_t)item == 0;
}

/* Whether the vectors of all results begin at the same elements of each run. */
static bool do_results_agree(const kn_choice *c, int vector)
{
    int first = -1;
    for (int o = 0; o < c->count; ++o) {
        int64_t item = c->access[o].item_size;
        if (!c->access[o].is_output)
            continue;
        if (!is_whole_elements(c, o) || c->space->stride[o][kn_choice_inner(c)] != item)
            return false;
        for (int a = 0; first >= 0 && a < c->space->ndim; ++a)
            if ((c->space->stride[o][a] / item - c->space->stride[first][a] / c->access[first].item_size) %
                vector)
                return false;
        first = first < 0 ? o : first;
    }
    return first >= 0 && kn_choice_skew(c, vector) >= 0;
}

/* One operand is staged, the others are gathered. False: there is none. */
static bool set_access(char *access, const kn_choice *c, int axis)
{
    bool found = false;
    for (int o = 0; o < c->count; ++o) {
        bool can =
            !found && !c->access[o].is_output && kn_choice_other_run(c, o) == axis && is_whole_elements(c, o);
        access[o] = can ? KN_STAGED : c->access[o].is_output ? KN_VECTOR : KN_GATHER;
        found = found || can;
    }
    return found;
}

static bool choose(kn_schedule *out, kn_figures *kept, const kn_choice *c)
{
    figures f = {kn_choice_turned_axis(c)};
    int vector = kn_choice_vector(c);
    if (f.axis < 0 || c->space->size < WINDOWS_SIZE || c->space->extent[kn_choice_inner(c)] < vector ||
        !do_results_agree(c, vector) || !kn_choice_fits_turned(c, f.axis, vector) ||
        !kn_choice_is_near(c, vector) || !set_access(out->access, c, f.axis))
        return false;
    out->vector = vector;
    out->block = WINDOWS_BLOCK;
    out->rank = KN_STAGED_RANK;
    memcpy(kept, &f, sizeof f);
    return true;
}

static kn_field field(const kn_schedule *schedule)
{
    (void)schedule;
    return (kn_field){"alignas(8) kn_windows windows;\n", sizeof(kn_windows), 8};
}

/* A block a box. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    kn_access access[KN_MAX_PARAMS];
    int shared_bytes;
    kn_windows windows;
    figures f;
    memcpy(&f, part->figures, sizeof f);
    kn_spec_access(access, part->spec);
    kn_windows_make(&windows, &out->room, &shared_bytes, part->space, part->spec, access, f.axis);
    out->walked = &out->room;
    out->rank = out->room.ndim;
    out->grid[0] = (unsigned)kn_windows_count(&out->room);
    out->shared_bytes = (unsigned)shared_bytes;
    memcpy(out->field, &windows, sizeof windows);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    kn_windows w;
    memcpy(&w, at, sizeof w);
    kn_str_printf(out, " box=\"%u runs of %u%s\" pitch=\"%u\" lanes=\"%ux%u\"", w.rows, w.run,
                  w.crossed ? ", crossed" : "", w.pitch, 1u << w.slot_lanes, 1u << w.row_lanes);
}

const kn_kind kn_kind_windows = {"windows", "m", choose, field, place, kn_cut_reach, false, describe, false};
