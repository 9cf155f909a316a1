/* A kind that is added from outside: its value, its recipe, and a line in the table, which stands
 * here in place of the library's. */
#include "codegen/writer.h"

#include <stddef.h>
#include <string.h>

#include "schedule/choice.h"
#include "schedules/kinds.h"

enum { STRIDE = 7 };

#define TOY_CONFIG(X) X(toy_backwards, 1)
KN_CONFIG(toy_config, TOY_CONFIG);

/* ---- the kind: schedules/FAMILY/kind_NAME.c of a real one ---- */

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    if (!kn_choice_is_flat(c))
        return false;
    bool is_cuda = c->target->backend == KN_CUDA;
    out->vector = is_cuda ? 1 : 0;
    toy_config_in(out)->toy_backwards = !is_cuda;
    out->block = is_cuda ? kn_choice_block(c) : 0;
    if (is_cuda)
        memset(out->access, KN_DENSE, (size_t)c->count);
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    bool is_cuda = part->spec->target.backend == KN_CUDA;
    int64_t stride = is_cuda ? part->spec->schedule.block : STRIDE;
    memcpy(out->field, &stride, sizeof stride);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    int64_t stride;
    memcpy(&stride, at, sizeof stride);
    kn_str_printf(out, " toy_stride=\"%lld\"", (long long)stride);
}

/* ---- its recipe: schedules/FAMILY/emit_NAME.c of a real one ---- */

static void fill(kn_writer *w)
{
    for (int k = 0; !w->is_cuda && k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0)
            kn_str_printf(&w->slot[KN_SLOT_POINTERS], "%s%s *const kn_%s_ = kn.%s_;\n",
                          kn_is_output(w, k) ? "" : "const ", kn_storage(w, k), w->program->param[k].name,
                          w->program->param[k].name);
    kn_put_call(w, &w->slot[KN_SLOT_SINGLE], kn_place_flat, "kn.start + kn_at");
}

KN_CONFIG_TABLE(toy_config, TOY_CONFIG);
static const kn_recipe on_host = {.template_name = "host/toy.cpp", .fill = fill};
static const kn_recipe on_cuda = {.template_name = "cuda/toy.cu", .fill = fill};

/* ---- its value, for each target ---- */

static const kn_kind toy_on_host = {.name = "toy",
                                    .recipe = &on_host,
                                    .pattern = "m",
                                    .revision = 1,
                                    .choose = choose,
                                    .config = &toy_config_table,
                                    .field = {"long long toy_stride;", 8, 8},
                                    .place = place,
                                    .describe = describe};
static const kn_kind toy_on_cuda = {.name = "toy",
                                    .recipe = &on_cuda,
                                    .pattern = "m",
                                    .revision = 1,
                                    .choose = choose,
                                    .config = &toy_config_table,
                                    .field = {"long long toy_stride;", 8, 8},
                                    .place = place,
                                    .describe = describe};

/* ---- the table: schedules/kinds.c, with a line more for each of three kinds ---- */

extern const kn_kind toy_reduce_on_host, toy_reduce_on_cuda, toy_split_on_host, toy_split_on_cuda;

const kn_kind *const *kn_kinds_of(kn_backend_kind backend)
{
    static const kn_kind *const host_kinds[] = {&toy_on_host,          &kn_kind_host_runs,
                                                &kn_kind_host_indices, &toy_split_on_host,
                                                &toy_reduce_on_host,   NULL};
    static const kn_kind *const cuda_kinds[] = {&toy_on_cuda, &kn_kind_strided, &toy_split_on_cuda,
                                                &toy_reduce_on_cuda, NULL};
    return backend == KN_HOST ? host_kinds : cuda_kinds;
}
