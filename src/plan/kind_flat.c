/* kind_flat.c - every operand is one run: wide accesses at the element's index, one vector a thread. */
#include "plan/kind.h"

#include <string.h>

#include "plan/choice.h"
#include "plan/cost.h"

/* Threads, where the body takes functions: small blocks end one by one, so that some are always reading.
 * Measured: bench/results/nvidia-h200-blocks.md. */
enum { DEAR_BLOCK = 128 };

typedef struct figures {
    int skew; /* elements by which the results are off a vector's boundary */
} figures;

/* Inputs that are off by something else than the results are gathered, all alike: those that are aligned lose
 * little, and a binary for each mixture is saved. */
static void set_access(char *access, const kn_choice *c, int vector, int skew)
{
    bool agree = true;
    for (int o = 0; vector > 1 && o < c->count; ++o)
        agree = agree && (c->access[o].is_output || kn_choice_agrees(c, o, vector, skew));
    for (int o = 0; o < c->count; ++o)
        access[o] = c->access[o].is_output || agree ? KN_DENSE : KN_GATHER;
}

static bool choose(kn_schedule *out, kn_figures *kept, const kn_choice *c)
{
    int vector = kn_choice_vector(c);
    figures f = {kn_choice_skew(c, vector)};
    if (!kn_choice_is_flat(c))
        return false;
    if (vector == 1 || f.skew < 0) {
        vector = 1;
        f.skew = 0;
    }
    bool is_dear = vector > 1 && c->program && kn_cost_functions(c->program) > 0;
    out->vector = vector;
    out->block = is_dear && !c->block ? DEAR_BLOCK : kn_choice_block(c);
    set_access(out->access, c, vector, f.skew);
    memcpy(kept, &f, sizeof f);
    return true;
}

static kn_field field(const kn_schedule *schedule)
{
    return schedule->vector > 1 ? (kn_field){"alignas(8) int skew;\n", 4, 8} : KN_NO_FIELD;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    figures f;
    memcpy(&f, part->figures, sizeof f);
    int32_t skew = part->spec->schedule.vector > 1 ? kn_part_skew(part, f.skew) : 0;
    memcpy(out->field, &skew, sizeof skew);
    kn_place_along(out, part, part->space->size + skew);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    int32_t skew;
    memcpy(&skew, at, sizeof skew);
    kn_str_printf(out, " skew=\"%d\"", (int)skew);
}

const kn_kind kn_kind_flat = {"flat", "m", choose, field, place, NULL, false, describe, false};
