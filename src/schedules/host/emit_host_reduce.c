/* emit_host_reduce.c - fills host_reduce.cpp, or for the baseline tier host_reduce_quick.cpp. */
#include "codegen/writer.h"

#include <string.h>

#include "program/cost.h"
#include "program/extreme.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/host/kind_host_reduce.h"
#include "schedules/host/host_kinds.h"

enum { MAP, REDUCE, POST }; /* the stages */
enum { FEW_VECTORS = 4, VECTORS = 16, STRUCT_VECTORS = 64, SEARCHED_VECTORS = 32, TRUTH_VECTORS = 64 };

static const kn_host_reduce_config *config_of(const kn_writer *w)
{
    return kn_host_reduce_config_of(&w->spec->schedule);
}

static bool is_baseline(const kn_writer *w)
{
    return w->spec->schedule.baseline;
}

/* The place of an extreme is looked for in the end. */
static bool is_searched(const kn_writer *w)
{
    return config_of(w)->indices >= KN_HOST_REDUCE_SEARCHED;
}

/* The element of lane kn_k in step kn_j, from kn_row on. One that all lanes share has no kn_k: compilers
 * would gather it. */
static void put_element(const kn_writer *w, kn_str *out, int k)
{
    bool goes_across = config_of(w)->lanes_of_row == 1 || config_of(w)->short_rows == KN_HOST_REDUCE_RUNS;
    char access = kn_access_of(w, k);
    if (access == KN_VECTOR || access == KN_STAGED) {
        kn_put_part_with(w, out, goes_across ? "apart_lane" : "apart_lane_of_row", k, "step=%d",
                         access == KN_VECTOR ? 2 : 4);
        return;
    }
    kn_put_part(w, out,
                access == KN_BROADCAST ? "lane_shared"
                : access != KN_DENSE   ? "lane_along"
                : goes_across          ? "dense_lane"
                                       : "dense_lane_of_row",
                k);
}

/* Result kn_k from kn_here on, or an input with one element for each result. */
static void put_result(const kn_writer *w, kn_str *out, int k)
{
    bool is_dense = kn_access_of(w, k) == KN_DENSE && (config_of(w)->lanes_of_row == 1 || kn_is_output(w, k));
    kn_put_part(w, out, is_dense ? "dense_result" : "result", k);
}

static void put_reduced_type(const kn_writer *w, kn_str *out, int result)
{
    static const char *const types[] = {[1] = "unsigned char", [2] = "short", [4] = "int", [8] = "long long"};
    int size = kn_reduce_truth_size(w->spec);
    if (config_of(w)->half_width)
        kn_str_append(out, kn_spec_value_dtype(w->spec, result) == KILN_INT64 ? "int" : "unsigned");
    else if (size > 0)
        kn_str_append(out, types[size]);
    else
        kn_put_type(w, out, result);
}

/* Bytes of the sum of a series of terms that are 0 or 1: as many as the narrowest input has. */
static int truth_size(const kn_writer *w)
{
    int narrowest = 4;
    for (int k = 0; k < w->program->n_in; ++k)
        if (kn_array_of(w, k) >= 0 && kn_item_size(w, k) < narrowest)
            narrowest = kn_item_size(w, k);
    return narrowest;
}

/* The type in which the steps of a series are reduced. */
static void put_term_type(kn_writer *w, kn_str *out, int result)
{
    static const char *const types[] = {[1] = "unsigned char", [2] = "unsigned short", [4] = "int"};
    if (config_of(w)->half_width == KN_HOST_REDUCE_TRUTHS)
        kn_str_append(out, types[truth_size(w)]);
    else
        put_reduced_type(w, out, result);
}

/* Types, names of variables and functions of the values that are reduced, and their identity. */
static void put_names(kn_writer *w)
{
    const kn_stage *reduce = &w->program->stage[REDUCE];
    int mapped = reduce->value[0], result = reduce->value[1];
    put_reduced_type(w, &w->slot[KN_SLOT_TYPE], result);
    if (!is_baseline(w))
        put_term_type(w, &w->slot[KN_SLOT_ITEM], result);
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", mapped);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], mapped);
    kn_put_value(w, &w->slot[KN_SLOT_RESULT], result);
    kn_put_function(w, &w->slot[KN_SLOT_REDUCE], REDUCE);
    if (reduce->identity[0])
        kn_put_part_with(w, &w->slot[KN_SLOT_EMPTY], "empty", result, "label=%s", reduce->label);
}

/* Unroll factor, in vectors. Steps of a row are short and contiguous in memory; steps of results are as many
 * streams. A costly body is not unrolled too often. Structs of several lanes are split into members and
 * joined again at each store, so stores have to be rare: twice as many vectors are not faster (argmax), and
 * compile twice as long. */
static int depth_of(const kn_writer *w)
{
    bool are_few = config_of(w)->lanes_of_row == 1 || kn_cost_functions(w->program) > 0;
    bool is_struct = kn_spec_value_dtype(w->spec, kn_spec_reduced_value(w->spec)) == KILN_DTYPE_NONE;
    if (is_searched(w))
        return SEARCHED_VECTORS;
    if (config_of(w)->half_width == KN_HOST_REDUCE_TRUTHS)
        return TRUTH_VECTORS / truth_size(w);
    return are_few ? FEW_VECTORS : is_struct ? STRUCT_VECTORS : VECTORS;
}

static const char *index_type(const kn_writer *w)
{
    return w->spec->schedule.index == 32 ? "int" : "long long";
}

/* The operand of `_J`, its type, and its value at the first of a series of steps. */
static void put_order(kn_writer *w)
{
    int operand = w->program->uses & KN_USES_REDUCTION_INDEX ? kn_layout_space_operands(w->spec) - 1 : -1;
    kn_str_printf(&w->slot[KN_SLOT_ORDER], "%d", operand);
    if (is_baseline(w))
        return;
    kn_str_append(&w->slot[KN_SLOT_INDEX], index_type(w));
    if (operand < 0)
        kn_str_append(&w->slot[KN_SLOT_FIRST], "0");
    else
        kn_put_part_with(w, &w->slot[KN_SLOT_FIRST], "first_index", KN_NO_VALUE, "array=%d", operand);
}

/* In order, the index counts up along a row, and lanes that are results have the same one, but for their
 * groups. */
static const char *part_of_index(const kn_writer *w)
{
    const kn_host_reduce_config *config = config_of(w);
    if (config->indices == KN_HOST_REDUCE_GROUPED)
        return is_baseline(w) ? "index_in_group_quick" : "index_in_group";
    if (is_searched(w) && !is_baseline(w))
        return "index_of_block";
    return config->lanes_of_row == 1 ? "index_in_order" : "index_of_lane_in_order";
}

/* The function that combines two elements of a block: where this is searched, it does not compare places. */
static void put_extreme(kn_writer *w)
{
    bool is_least = (config_of(w)->indices - KN_HOST_REDUCE_SEARCHED) % 2 == KN_LEAST - KN_GREATEST;
    kn_str_append(&w->slot[KN_SLOT_SEARCH], is_least ? "<" : ">");
    if (is_searched(w))
        kn_put_part(w, &w->slot[KN_SLOT_EXTREME], "extreme", kn_spec_reduced_value(w->spec));
    else
        kn_put_function(w, &w->slot[KN_SLOT_EXTREME], REDUCE);
}

static void put_map(kn_writer *w)
{
    kn_str *index = kn_text(w), *along = kn_text(w), *reduction_index = kn_text(w);
    int last = kn_layout_space_operands(w->spec) - 1;
    kn_put_part_with(w, index, "index_along", KN_NO_VALUE, "start=%s array=%d", "start", w->spec->n_arrays);
    kn_put_part_with(w, along, "index_along", KN_NO_VALUE, "start=%s array=%d", "reduction_start", last);
    kn_put_part_with(w, reduction_index, part_of_index(w), KN_NO_VALUE, "array=%d index=%s otherwise=%s",
                     last, index_type(w), kn_str_text(along));
    bool is_alike = is_baseline(w) && config_of(w)->indices != KN_HOST_REDUCE_GROUPED;
    kn_put_map(w, &w->slot[KN_SLOT_SINGLE], MAP, put_element, kn_str_text(index),
               kn_str_text(is_alike ? along : reduction_index));
}

static const char *choose_template(const kn_spec *spec)
{
    return spec->schedule.baseline ? "schedules/host/host_reduce_quick.cpp"
                                   : "schedules/host/host_reduce.cpp";
}

/* The baseline tier: its loops, for their order. */
static void put_loops(kn_writer *w)
{
    static const kn_field loops = KN_FIELD(kn_host_reduce_loops, KN_HOST_REDUCE_LOOPS);
    kn_host_put_loops(w, &loops);
    kn_str_printf(&w->slot[KN_SLOT_BOTH], "%d", KN_HOST_REDUCE_BOTH);
    kn_str_printf(&w->slot[KN_SLOT_FINISH], "%d", KN_HOST_REDUCE_FINISH);
}

static void fill_host_reduce(kn_writer *w)
{
    put_names(w);
    put_order(w);
    kn_str_printf(&w->slot[KN_SLOT_DEPTH], "%d", depth_of(w));
    if (is_baseline(w)) {
        put_loops(w);
    } else {
        kn_str_printf(&w->slot[KN_SLOT_WIDE], "%d",
                      config_of(w)->short_rows || config_of(w)->beside ? KN_HOST_REDUCE_BATCH
                                                                       : KN_HOST_REDUCE_WIDE);
        put_extreme(w);
        kn_put_part(w, &w->slot[KN_SLOT_INDEPENDENT],
                    kn_cost_functions(w->program) > 0 ? "calling" : "independent", KN_NO_VALUE);
    }
    put_map(w);
    kn_put_map(w, &w->slot[KN_SLOT_STORES], POST, put_result, "", "");
}

static bool has_singles(const kn_writer *w)
{
    bool has = false;
    for (int k = 0; k < w->program->n_in; ++k)
        has = has || (kn_array_of(w, k) >= 0 && kn_access_of(w, k) == KN_GATHER);
    return has;
}

KN_CONFIG_TABLE(kn_host_reduce_config, KN_HOST_REDUCE_CONFIG);
const kn_recipe kn_recipe_host_reduce = {.choose_template = choose_template,
                                         .fill = fill_host_reduce,
                                         .preludes = "kn_line",
                                         .has_singles = has_singles,
                                         .single_preludes = "kn_singles",
                                         .parts = "schedules/host/host_reduce_parts.cpp",
                                         .repeats_stages = true};
