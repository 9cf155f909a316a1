/* kind_sort_network.c - short rows whose elements are their own keys, of 4 bytes at most, sorted on CUDA: a
 * warp has a row, in registers, and sorts it by a network of least and greatest ones. Equal keys are equal
 * elements, but for -0 and NaN, which are put right where they are. */
#include "schedule/kind.h"

#include <stdio.h>
#include <string.h>

#include "program/program.h"
#include "schedule/choice.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/sort/sort_kinds.h"
#include "types/dtype.h"

/* The kind's field. */
#define MEMBERS                                                                                              \
    long long length;                                                                                        \
    int reduction_rank;                                                                                      \
    unsigned rows;
typedef struct network_field {
    MEMBERS
} network_field;

enum { LANES = 32, MOST_ITEMS = 32 /* of a lane */, BLOCK = 128, TEXT = 5 * KN_NAME_MAX + 64 };

static bool is_space(char c)
{
    return c == ' ' || c == '\n';
}

/* True if the texts differ in spaces at most. */
static bool is_same_text(const char *a, const char *b)
{
    for (;; ++a, ++b) {
        while (is_space(*a))
            ++a;
        while (is_space(*b))
            ++b;
        if (*a != *b || !*a)
            return *a == *b;
    }
}

/* True if the key is the one input's element, in that direction (kernel/sort_make.c). */
static bool is_own_key(const kn_program *p, bool is_down)
{
    char text[TEXT];
    const kn_param *x = &p->param[p->stage[KN_SORT_KEY].value[0]];
    const char letter[] = {x->placeholder, 0};
    snprintf(text, sizeof text, "kn_sort_key<%d, 0>(static_cast<%s>(%s))", is_down,
             x->type == KN_TYPE_PLACEHOLDER ? letter : kn_dtype_info_of(x->dtype)->c_name, x->name);
    return is_same_text(p->stage[KN_SORT_KEY].body, text);
}

/* True if that is stored as it is. */
static bool is_stored_alone(const kn_program *p)
{
    char text[TEXT];
    const kn_stage *rank = &p->stage[KN_SORT_SORT];
    const char *x = p->param[p->stage[KN_SORT_KEY].value[0]].name, *y = p->param[p->n_in].name;
    const char *to = p->param[rank->value[rank->n_read]].name + 1; /* values' names begin with _ */
    snprintf(text, sizeof text, "[&](auto &%s, const long long i) { %s = %s; }(%s[%s], _J)", y, y, x, y, to);
    return is_same_text(p->stage[KN_SORT_PUT].body, text);
}

static bool is_alone(const kn_program *p)
{
    return p->n_out == 1 && p->stage[KN_SORT_KEY].n_read == 1 && p->param[p->n_in].is_raw &&
           (is_own_key(p, false) || is_own_key(p, true)) && is_stored_alone(p);
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const int64_t length = kn_reduce_size(c->space);
    int items = 1;
    (void)params;
    if (length > LANES * MOST_ITEMS || kn_choice_widest(c, false) > 4 || !is_alone(c->program))
        return false;
    while ((int64_t)items * LANES < length)
        items *= 2;
    kn_sort_network_config *config = kn_sort_network_config_in(out);
    out->block = BLOCK;
    out->vector = 1;
    config->one_axis = kn_reduce_set_elements(out, c);
    config->items = items;
    config->down = is_own_key(c->program, true);
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    network_field f = {.length = kn_reduce_size(part->space)};
    f.rows = (uint32_t)kn_space_output_size(part->space);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->size = part->space->size;
    out->grid[0] = (uint32_t)kn_divide_up(f.rows, s->block / LANES);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_sort_network = {.name = "sort_network",
                                      .recipe = &kn_recipe_sort_network,
                                      .pattern = "mom",
                                      .revision = 1,
                                      .choose = choose,
                                      .place = place,
                                      .has_wide_axes = true,
                                      .config = &kn_sort_network_config_table,
                                      .field = KN_FIELD(network_field, MEMBERS)};
