/* kind_transpose_pairs.c - an array and its own transpose (x + x.T). A block has a tile and the one across
 * the diagonal: it reads each only one time, and transposes both. */

#include <string.h>

#include "schedule/choice.h"
#include "schedule/kind.h"
#include "schedules/transpose/transpose_kinds.h"

enum {
    LEAST_BYTES = 4 << 20, /* of the array: smaller ones are read again from the cache */
    NARROWEST = 4,         /* bytes of an element */
    WIDEST = 8,
    SIDE = 16, /* vectors of a tile's side: src/schedules/transpose/transpose_pairs.cu; a thread for each */
    AXES = 2   /* of single elements, behind those of the grid */
};

typedef struct launch_params {
    int straight, transposed; /* operands */
} launch_params;

/* The two inputs are one square array, with the two fastest axes exchanged. */
static bool find_pair(launch_params *f, const kn_choice *c)
{
    const kn_space *s = c->space;
    int p = s->ndim - 1, q = p - 1;
    if (kn_choice_inputs(c) != 2 || q < 0 || c->access[0].is_output || c->access[1].is_output ||
        s->after[1] != KN_SAME_ARRAY || s->offset[0] != s->offset[1] || s->extent[p] != s->extent[q])
        return false;
    f->straight = s->stride[0][p] == c->access[0].item_size ? 0 : 1;
    f->transposed = 1 - f->straight;
    for (int a = 0; a < q; ++a)
        if (s->stride[0][a] != s->stride[1][a])
            return false;
    return s->stride[f->straight][p] == c->access[0].item_size &&
           s->stride[f->transposed][q] == c->access[0].item_size &&
           s->stride[f->straight][q] == s->stride[f->transposed][p];
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    launch_params f;
    if (!find_pair(&f, c))
        return false;
    int item = c->access[f.straight].item_size, q = c->space->ndim - 2;
    /* A cut would separate the tiles of a pair. */
    if (item < NARROWEST || item > WIDEST || c->space->size * item < LEAST_BYTES ||
        c->space->ndim + AXES + 1 > KILN_MAX_NDIM || kn_space_axis_beyond(c->space, KN_MAX_OFFSET) >= 0)
        return false;
    out->vector = c->target->vector_bytes / item;
    for (int o = 0; o < c->count; ++o) {
        if (o != f.transposed && (c->access[o].item_size != item || !kn_choice_is_vector(c, o, out->vector)))
            return false;
        out->access[o] = o == f.transposed ? KN_STAGED : KN_VECTOR;
    }
    if (!kn_choice_fits_transposed(c, q, SIDE * out->vector) || !kn_choice_is_near(c, SIDE * out->vector))
        return false;
    out->block = SIDE * SIDE;
    out->rank = KN_STAGED_RANK;
    memcpy(params, &f, sizeof f);
    return true;
}

/* ---- the launch ---- */

/* The grid has an axis of pairs of tiles, which moves no operand. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    int p = space->ndim - 1;
    int64_t side = (int64_t)SIDE * s->vector, count = (space->extent[p] + side - 1) / side;
    uint32_t tiles = (uint32_t)count; /* along a side */
    const kn_tile_axis axis[] = {{p - 1, 0, false}, {p, 0, false}};
    kn_tile_axes(&out->own_space, space, axis, 2);
    kn_space_put_axis(&out->own_space, out->own_space.ndim, space, -1, 1);
    out->own_space.extent[out->own_space.ndim++] = count * (count + 1) / 2;
    out->size = kn_place_tiles(out, AXES);
    memcpy(out->field, &tiles, sizeof tiles);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    uint32_t tiles;
    memcpy(&tiles, at, sizeof tiles);
    kn_str_printf(out, " tiles=\"%ux%u\"", (unsigned)tiles, (unsigned)tiles);
}

const kn_kind kn_kind_transpose_pairs = {.name = "transpose_pairs",
                                         .recipe = &kn_recipe_transpose_pairs,
                                         KN_MAP_KIND,
                                         .revision = 1,
                                         .fewest = 1 << 17,
                                         .field = {"unsigned tiles;", 4, 8},
                                         .describe = describe};
