/* A kind with workspace, for programs that reduce one long axis to one number: chunks of the axis by any
 * number of threads, their results by index among the partials, which the last one reduces in order. */
#include "codegen/writer.h"

#include <string.h>

#include "schedule/choice.h"

enum { MAX_OPERANDS = 4, CHUNK = 1000, LEAST = 4 * CHUNK };

/* The kernel's field: elements, and bytes from one to the next. */
typedef struct split {
    int64_t length;
    int64_t step[MAX_OPERANDS];
} split;

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    const kn_space *s = c->space;
    if (s->n_reduction_axes != 1 || s->ndim != 1 || s->n_operands > MAX_OPERANDS || s->extent[0] < LEAST)
        return false;
    bool is_cuda = c->target->backend == KN_CUDA;
    out->vector = is_cuda ? 1 : 0;
    out->block = is_cuda ? kn_choice_block(c) : 0;
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    split s = {.length = part->space->extent[0]};
    out->size = (s.length + CHUNK - 1) / CHUNK;
    out->partials = out->size;
    out->counters = 1;
    out->grain = 1;
    if (part->spec->target.backend == KN_CUDA)
        kn_place_along(out, part, out->size);
    for (int o = 0; o < part->space->n_operands; ++o)
        s.step[o] = part->space->stride[o][0];
    memcpy(out->field, &s, sizeof s);
    return KILN_OK;
}

/* ---- its recipe ---- */

static void put_place(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ";
    kn_str_printf(out, "*(%s%s *)((%schar *)kn.%s_ + kn_j * kn.toy_step[%d])", qualifier, kn_storage(w, k),
                  qualifier, w->program->param[k].name, kn_array_of(w, k));
}

static void fill(kn_writer *w)
{
    const kn_program *p = w->program;
    int mapped = p->stage[1].value[0], folded = p->stage[1].value[1];
    kn_put_type(w, &w->slot[KN_SLOT_TYPE], folded);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], mapped);
    kn_put_value(w, &w->slot[KN_SLOT_RESULT], folded);
    kn_put_function(w, &w->slot[KN_SLOT_REDUCE], 1);
    kn_put_type(w, &w->slot[KN_SLOT_LOADS], mapped);
    kn_str_printf(&w->slot[KN_SLOT_LOADS], " %s;\n", kn_str_text(&w->slot[KN_SLOT_MAPPED]));
    kn_put_map(w, &w->slot[KN_SLOT_SINGLE], 0, put_place, "kn_j", NULL);
    kn_put_map(w, &w->slot[KN_SLOT_STORES], 2, put_place, "", NULL);
}

static const kn_recipe on_host = {.template_name = "host/toy_split.cpp", .fill = fill};
static const kn_recipe on_cuda = {.template_name = "cuda/toy_split.cu", .fill = fill};

/* ---- its value, for each target ---- */

extern const kn_kind toy_split_on_host, toy_split_on_cuda;
const kn_kind toy_split_on_host = {
    .name = "toy_split",
    .recipe = &on_host,
    .pattern = "mrk",
    .revision = 1,
    .choose = choose,
    .field = {"long long toy_length; long long toy_step[4];", sizeof(split), 8},
    .place = place,
    .has_workspace = true};
const kn_kind toy_split_on_cuda = {
    .name = "toy_split",
    .recipe = &on_cuda,
    .pattern = "mrk",
    .revision = 1,
    .choose = choose,
    .field = {"long long toy_length; long long toy_step[4];", sizeof(split), 8},
    .place = place,
    .has_workspace = true};
