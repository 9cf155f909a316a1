/* scan_tiles.c - tiles of rows that are scanned on CUDA. */
#include "schedules/scan/scan_tiles.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "program/program.h"
#include "schedules/reduce/reduce_space.h"
#include "space/numbers.h"

enum {
    WORD = 32,     /* flags */
    GROUP_BITS = 8 /* of the tiles of a group, if a block has one row: cuda_look_back.cu */
};

int kn_scan_block(const kn_choice *c, int most)
{
    return c->block && c->block < most ? kn_power_below(c->block) : most;
}

/* Bytes that operands move from one element to the next; a broadcast one moves none. */
static double bytes_along(const kn_choice *c, int axis)
{
    double bytes = 0;
    for (int o = 0; o < c->count; ++o)
        bytes += (double)llabs(c->space->stride[o][axis]);
    return bytes;
}

int kn_scan_across_axis(const kn_choice *c)
{
    const kn_space *s = c->space;
    int outputs = s->ndim - s->n_reduction_axes, best = -1;
    if (s->n_reduction_axes == 0)
        return -1;
    double least = bytes_along(c, s->ndim - 1);
    for (int a = 0; a < outputs; ++a)
        if (bytes_along(c, a) < least) {
            least = bytes_along(c, a);
            best = a;
        }
    return best;
}

int kn_scan_bits(int64_t power)
{
    int bits = 0;
    while (INT64_C(1) << bits < power)
        ++bits;
    return bits;
}

int64_t kn_scan_flags(int64_t row_blocks, int64_t tiles, int64_t rows)
{
    if (tiles <= 1)
        return 0;
    int64_t size = INT64_C(1) << (GROUP_BITS - kn_scan_bits(rows));
    int64_t groups = kn_divide_up(tiles, size), sets = kn_divide_up(groups, size);
    int64_t words = kn_divide_up(tiles, WORD) + kn_divide_up(groups, WORD) + kn_divide_up(sets, WORD);
    return kn_least(row_blocks * words, KN_MAX_COUNTERS);
}

kiln_status kn_scan_place_flags(kn_placement *out, const kn_part *part, int64_t flags, int64_t rows)
{
    if (flags == 0)
        return KILN_OK;
    if (flags + KN_SCAN_OTHER_COUNTERS > KN_MAX_COUNTERS)
        return kn_error(KILN_ERROR_UNSUPPORTED, "%s: a row of %lld elements is too long to be scanned",
                        part->spec->program->name, (long long)kn_reduce_size(part->space));
    out->counters = (int)flags + KN_SCAN_OTHER_COUNTERS;
    out->partials = flags * WORD * rows;
    return KILN_OK;
}

int kn_scan_across_of(const kn_part *part)
{
    kn_scan_params chosen;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    return chosen.across;
}

int kn_scan_cut(int64_t *align, const kn_part *part, int64_t flags, int across)
{
    const kn_space *s = part->space;
    int longest = -1;
    if (kn_space_output_size(s) < KN_MAX_INDEX && flags + KN_SCAN_OTHER_COUNTERS <= KN_MAX_COUNTERS)
        return -1;
    for (int a = 0; a < s->ndim - s->n_reduction_axes; ++a)
        if (s->extent[a] > 1 && (longest < 0 || s->extent[a] > s->extent[longest]))
            longest = a;
    if (longest < 0) /* a single row, which is too long to be placed */
        return -1;
    *align = longest == across && s->extent[longest] >= 2 * KN_SCAN_COLUMNS ? KN_SCAN_COLUMNS : 1;
    return longest;
}
