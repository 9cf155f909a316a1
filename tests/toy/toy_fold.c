/* A kind for programs of three stages, map, reduce, map: each result is reduced by one thread, element by
 * element. Not fast: it shows that a program of several stages over output and reduction axes needs new
 * files and a line of each table, and nothing else. */
#include "codegen/writer.h"

#include <string.h>

#include "schedule/choice.h"

enum { MAX_OPERANDS = 4 }; /* as many as the field holds */

/* The kernel's field: elements along the reduction axes, and bytes from one to the next along the output
 * and the reduction axes. */
typedef struct reduction {
    int64_t length;
    int64_t step[2][MAX_OPERANDS];
} reduction;

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    const kn_space *s = c->space;
    if (s->n_reduction_axes > 1 || s->ndim - s->n_reduction_axes > 1 || s->n_operands > MAX_OPERANDS)
        return false;
    bool is_cuda = c->target->backend == KN_CUDA;
    out->vector = is_cuda ? 1 : 0;
    out->block = is_cuda ? kn_choice_block(c) : 0;
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_space *s = part->space;
    reduction f = {.length = 1};
    out->size = kn_space_output_size(s);
    if (part->spec->target.backend == KN_CUDA)
        kn_place_along(out, part, out->size);
    for (int a = 0; a < s->ndim; ++a) {
        int is_reduced = a >= s->ndim - s->n_reduction_axes;
        f.length = is_reduced ? s->extent[a] : f.length;
        for (int o = 0; o < s->n_operands; ++o)
            f.step[is_reduced][o] = s->stride[o][a];
    }
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

/* ---- its recipe ---- */

/* "kn_at * kn.toy_step[0][2] + kn_j * kn.toy_step[1][2]" */
static void put_distance(kn_str *out, int operand)
{
    kn_str_printf(out, "kn_at * kn.toy_step[0][%d] + kn_j * kn.toy_step[1][%d]", operand, operand);
}

static void put_place(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ";
    kn_str_printf(out, "*(%s%s *)((%schar *)kn.%s_ + ", qualifier, kn_storage(w, k), qualifier,
                  w->program->param[k].name);
    put_distance(out, kn_array_of(w, k));
    kn_str_append(out, ")");
}

static void fill(kn_writer *w)
{
    const kn_program *p = w->program;
    int mapped = p->stage[1].value[0], folded = p->stage[1].value[1];
    kn_str index = KN_STR_INIT, *single = &w->slot[KN_SLOT_SINGLE], *loads = &w->slot[KN_SLOT_LOADS];
    kn_str_append(&index, "kn.start + ");
    put_distance(&index, w->spec->n_arrays);
    for (int v = 0; v < p->n_values; ++v) {
        kn_put_type(w, loads, kn_param_count(w) + v);
        kn_str_append(loads, " ");
        kn_put_value(w, loads, kn_param_count(w) + v);
        kn_str_printf(loads, " = kn_%s_identity;\n", p->stage[1].label);
    }
    kn_put_map(w, single, 0, put_place, kn_str_text(&index), NULL);
    kn_put_value(w, single, folded);
    kn_str_append(single, " = ");
    kn_put_function(w, single, 1);
    kn_str_append(single, "(");
    kn_put_value(w, single, folded);
    kn_str_append(single, ", ");
    kn_put_value(w, single, mapped);
    kn_str_append(single, ");\n");
    kn_put_map(w, &w->slot[KN_SLOT_STORES], 2, put_place, kn_str_text(&index), NULL);
    single->failed |= index.failed;
    kn_str_free(&index);
}

static const kn_recipe on_host = {.template_name = "host/toy_fold.cpp", .fill = fill};
static const kn_recipe on_cuda = {.template_name = "cuda/toy_fold.cu", .fill = fill};

/* ---- its value, for each target ---- */

extern const kn_kind toy_reduce_on_host, toy_reduce_on_cuda;
const kn_kind toy_reduce_on_host = {
    .name = "toy_fold",
    .recipe = &on_host,
    .pattern = "mrk",
    .revision = 1,
    .choose = choose,
    .field = {"long long toy_length; long long toy_step[2][4];", sizeof(reduction), 8},
    .place = place};
const kn_kind toy_reduce_on_cuda = {
    .name = "toy_fold",
    .recipe = &on_cuda,
    .pattern = "mrk",
    .revision = 1,
    .choose = choose,
    .field = {"long long toy_length; long long toy_step[2][4];", sizeof(reduction), 8},
    .place = place};
