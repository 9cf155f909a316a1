/* kind_interleaved.c - several results are interleaved in one array (the two of each pair that a rotary
 * embedding rotates). A thread stores vectors that cover all of them, and loads interleaved inputs
 * likewise. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedules/interleave/interleave_kinds.h"
#include "space/numbers.h"

enum {
    VECTOR_BYTES = 16,
    MOST_INPUT = 64, /* bytes of an operand that a thread has */
    MANY = 1 << 18,  /* elements, from which on a thread has several turns: the source compiles longer */
    MOST_TURNS = 2,  /* of a thread that reads no arrays: both share what the kernel computes first */
    BLOCK = 128      /* threads; 256 are 3 % slower, 512 are 9 % slower */
};

/* The `count` operands from `first` on fill one array: each is one element behind the one before. */
static bool are_interleaved(const kn_choice *c, int first, int count, int vector)
{
    int64_t item = c->access[first].item_size, bytes = count * vector * item,
            alignment = bytes < VECTOR_BYTES ? bytes : VECTOR_BYTES;
    int inner = kn_choice_inner(c);
    if (first + count > c->count || c->space->stride[first][inner] != count * item ||
        !kn_choice_is_aligned(c, first, inner, alignment))
        return false;
    for (int o = first + 1; o < first + count; ++o) {
        if (c->access[o].is_output != c->access[first].is_output || c->access[o].item_size != item ||
            c->space->after[o] != item)
            return false;
        for (int a = 0; a <= inner; ++a)
            if (c->space->stride[o][a] != c->space->stride[first][a])
                return false;
    }
    return true;
}

static int first_result(const kn_choice *c)
{
    int o = 0;
    while (o < c->count && !c->access[o].is_output)
        ++o;
    return o;
}

/* The number of results in one array; 0: they are not interleaved. A power of two, as vectors are. */
static int count_interleaved(const kn_choice *c)
{
    int first = first_result(c);
    if (first == c->count || c->space->size == 0)
        return 0;
    int64_t count = c->space->stride[first][kn_choice_inner(c)] / c->access[first].item_size;
    return count >= 2 && count <= KN_MOST_INTERLEAVED && (count & (count - 1)) == 0 ? (int)count : 0;
}

/* Inputs that are not interleaved are vectors, or gathered. */
static bool set_access(kn_schedule *out, const kn_choice *c, int count)
{
    int o = 0;
    while (o < c->count) {
        bool is_interleaved = are_interleaved(c, o, count, out->vector);
        if (!is_interleaved && c->access[o].is_output)
            return false;
        out->access[o] = is_interleaved                           ? KN_STAGED
                         : kn_choice_is_vector(c, o, out->vector) ? KN_VECTOR
                                                                  : KN_GATHER;
        for (int j = 1; is_interleaved && j < count; ++j)
            out->access[o + j] = KN_STAGED;
        o += is_interleaved ? count : 1;
    }
    return true;
}

static bool reads_something(const kn_choice *c)
{
    return first_result(c) > 0;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    int inner = kn_choice_inner(c), widest = kn_choice_widest(c, false);
    int count = count_interleaved(c);
    if (count == 0)
        return false;
    kn_interleaved_config *config = kn_interleaved_config_in(out);
    config->interleaved = count;
    config->turns = reads_something(c) || c->space->size < MANY ? 1 : MOST_TURNS;
    int bytes = count * c->access[first_result(c)].item_size;
    out->vector = bytes < VECTOR_BYTES ? VECTOR_BYTES / bytes : 1;
    while (out->vector > 1 && out->vector * widest > MOST_INPUT)
        out->vector /= 2;
    if (c->space->extent[inner] % out->vector != 0 || !kn_choice_is_near(c, out->vector) ||
        !set_access(out, c, count))
        return false;
    out->block = c->block ? c->block : BLOCK;
    out->rank = kn_choice_rank(c->space->ndim);
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    kiln_status status = kn_place_axes(out, part);
    out->grid[0] = (unsigned)kn_divide_up(part->space->size,
                                          (int64_t)s->block * s->vector * kn_interleaved_config_of(s)->turns);
    return status;
}

const kn_kind kn_kind_interleaved = {.name = "interleaved",
                                     .recipe = &kn_recipe_interleaved,
                                     .pattern = "m",
                                     .revision = 2,
                                     .choose = choose,
                                     .config = &kn_interleaved_config_table,
                                     .place = place,
                                     .cut = kn_cut_reach};
