/* emit_fold.c - fold_*.cu: what is loaded, mapped and folded is written alike for all of
 * them, but for where an element is. */
#include "codegen/writer.h"

#include <stdio.h>
#include <string.h>

#include "schedules/reduce/reduce_space.h"
#include "schedules/reduce/reduce_kinds.h"

enum { MAP, REDUCE, POST }; /* the stages */

/* ---- places ---- */

/* "*(const float *)((const char *)kn.x_ + kn_from.at[0])" */
static void put_at(const kn_writer *w, kn_str *out, int k, const char *place)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ";
    kn_str_printf(out, "*(%s%s *)((%schar *)kn.%s_ + %s.at[%d])", qualifier, kn_storage(w, k), qualifier,
                  w->program->param[k].name, place, kn_array_of(w, k));
}

/* Of a kept element: what is stored, and what the last stage reads beside what came of the reduction. */
static void place_kept(const kn_writer *w, kn_str *out, int k)
{
    put_at(w, out, k, "kn_here");
}

/* Whether the map reads it: others are read once a result. */
static bool is_mapped(const kn_writer *w, int k)
{
    const kn_stage *map = &w->program->stage[MAP];
    bool is = false;
    for (int v = 0; v < map->n_read; ++v)
        is = is || map->value[v] == k;
    return is;
}

/* An element by itself. */
static void place_single(const kn_writer *w, kn_str *out, int k)
{
    put_at(w, out, k, "kn_from");
}

/* Dense: rows begin anywhere, and vectors with the first boundary in them. */
static bool reads_vectors(const kn_writer *w, int k)
{
    return !kn_is_output(w, k) && is_mapped(w, k) &&
           (kn_access_of(w, k) == KN_VECTOR || kn_access_of(w, k) == KN_DENSE);
}

/* Vectors that begin anywhere. */
static bool gathers_vectors(const kn_writer *w, int k)
{
    return !kn_is_output(w, k) && is_mapped(w, k) && kn_access_of(w, k) == KN_GATHER &&
           w->spec->schedule.vector > 1;
}

/* Element kn_k of item kn_u, which has been loaded. */
static void place_loaded(const kn_writer *w, kn_str *out, int k)
{
    bool is_vector = reads_vectors(w, k) || gathers_vectors(w, k);
    kn_str_printf(out, "kn_%s_[kn_u]%s", w->program->param[k].name, is_vector ? ".at[kn_k]" : "");
}

/* Element kn_e of what is staged, as all inputs are but weights, which are the same for each result. */
static void place_staged(const kn_writer *w, kn_str *out, int k)
{
    const char *name = w->program->param[k].name;
    if (kn_access_of(w, k) != KN_STAGED) {
        kn_str_printf(out,
                      "*(const %s *)((const char *)kn.%s_ + kn_here.at[%d] + kn_j * kn.axis[0].stride[%d])",
                      kn_storage(w, k), name, kn_array_of(w, k), kn_array_of(w, k));
        return;
    }
    kn_str_printf(out, "kn_staged<%s, kn_is_padded>(kn_%s_room, kn_%s_off, kn_e)", kn_storage(w, k), name,
                  name);
}

/* ---- loads ---- */

/* Whether some inputs may stand still where others run. */
static bool may_repeat(const kn_writer *w)
{
    int arrays = 0;
    for (int k = 0; k < w->program->n_in; ++k)
        arrays += kn_array_of(w, k) >= 0 && is_mapped(w, k);
    return arrays > 1;
}

/* Where items and their elements are, in bytes from the start of an operand. */
typedef struct places {
    const char *axis; /* along which elements lie */
    const char *item; /* item kn_item; the format has the operand twice */
    bool is_run; /* one address for all items: an only input's that is read by vectors is kn_NAME_at + kn_q */
} places;

static const places along = {"kn.axis[0]", "kn_from.at[%d]", false},
                    beside = {"kn.axis[kn.fold_rank]", "kn_from.at[%d]", false};

/* Registers for the items of a thread, and how one is loaded. */
static void put_loads(kn_writer *w, const places *from)
{
    for (int k = 0; k < w->program->n_in; ++k) {
        const char *name = w->program->param[k].name, *type = kn_storage(w, k);
        int o = kn_array_of(w, k), vector = w->spec->schedule.vector;
        if (o < 0 || !is_mapped(w, k))
            continue;
        bool is_vector = reads_vectors(w, k), is_gathered = gathers_vectors(w, k);
        kn_str *packs = &w->slot[KN_SLOT_PACKS], *loads = &w->slot[KN_SLOT_LOADS];
        if (is_vector || is_gathered)
            kn_str_printf(packs, "kn_pack<%s, %d> kn_%s_[kn_steps];\n", type, vector, name);
        else
            kn_str_printf(packs, "%s kn_%s_[kn_steps];\n", type, name);
        kn_str_printf(loads, "kn_%s_[kn_u] = ", name);
        if (is_vector && from->is_run && !may_repeat(w)) {
            kn_str_printf(&w->slot[KN_SLOT_POINTERS],
                          "const auto *const kn_%s_at = (const kn_pack<%s, %d> *)((const char *)kn.%s_ + "
                          "kn_first.at[%d]);\n",
                          name, type, vector, name, o);
            kn_str_printf(loads, "(kn_%s_at + kn_q)[kn_u * %d];\n", name, w->spec->schedule.block);
            continue;
        }
        if (is_vector)
            kn_str_printf(loads, "%s<%s, %d>(", may_repeat(w) ? "kn_load_along" : "kn_load", type, vector);
        if (is_gathered)
            kn_str_printf(loads, "kn_gather<%s, %d>((const char *)kn.%s_ + (", type, vector, name);
        else
            kn_str_printf(loads, "%s(const %s *)((const char *)kn.%s_ + ", is_vector ? "" : "*", type, name);
        kn_str_printf(loads, from->item, o, o);
        kn_str_append(loads, ")");
        if (is_vector && may_repeat(w))
            kn_str_printf(loads, ", %s.stride[%d] != 0", from->axis, o);
        kn_str_append(loads, is_vector || is_gathered ? ");\n" : ";\n");
    }
}

/* Elements by which the first input that runs along the axis is off a vector's boundary, at a place. What
 * stands still there has an address that says nothing. */
static void put_off(const kn_writer *w, kn_str *out, const char *axis, const char *format, const char *place)
{
    for (int k = 0; k < w->program->n_in; ++k) {
        if (!reads_vectors(w, k))
            continue;
        if (may_repeat(w))
            kn_str_printf(out, "%s.stride[%d] != 0 ? ", axis, kn_array_of(w, k));
        kn_str_printf(out, format, w->program->param[k].name, place, kn_array_of(w, k), kn_item_size(w, k),
                      w->spec->schedule.vector - 1);
        if (!may_repeat(w))
            return;
        kn_str_append(out, " : ");
    }
    kn_str_append(out, "0");
}

static void put_stage(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_STAGE];
    for (int k = 0; k < w->program->n_in; ++k) {
        if (kn_access_of(w, k) != KN_STAGED || !is_mapped(w, k))
            continue;
        const char *name = w->program->param[k].name;
        int size = kn_item_size(w, k);
        kn_str_printf(
            out, "__shared__ __align__(16) unsigned char kn_%s_room[kn_tile_elements * %d / 8 * 9 + 48];\n",
            name, size);
        kn_str_printf(out,
                      "const unsigned kn_%s_off = kn_stage<kn_is_padded>(kn_%s_room, (const char *)(kn.%s_ + "
                      "kn_begun * kn_chunk), "
                      "kn_chunks * kn_chunk * %d);\n",
                      name, name, name, size);
    }
}

/* ---- what is folded ---- */

/* How a thread folds an element behind what it has: the fold is told where that is the order of `_J`. */
static void put_next(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_ELEMENT];
    const char *type = kn_str_text(&w->slot[KN_SLOT_TYPE]), *fold = kn_str_text(&w->slot[KN_SLOT_FOLD]);
    kn_str_append(&w->slot[KN_SLOT_NEXT], w->spec->schedule.order ? "kn_next" : fold);
    if (w->spec->schedule.order)
        kn_str_printf(out, "const auto kn_next = [&](const %s a, const %s b) { return %s(a, b, true); };\n",
                      type, type, fold);
}

/* Types, the function, and what nothing yields. */
static void put_names(kn_writer *w)
{
    const kn_stage *reduce = &w->program->stage[REDUCE];
    kn_put_type(w, &w->slot[KN_SLOT_TYPE], reduce->value[1]);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], reduce->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_RESULT], reduce->value[1]);
    kn_put_function(w, &w->slot[KN_SLOT_FOLD], REDUCE);
    put_next(w);
    if (reduce->identity[0])
        kn_str_printf(&w->slot[KN_SLOT_EMPTY], "if (!kn_some)\n    %s = kn_%s_identity;\n",
                      kn_str_text(&w->slot[KN_SLOT_RESULT]), reduce->label);
}

/* One element is mapped: the variable that it goes to, and the call. The format has an operand's number,
 * up to three times. */
static void put_mapped(kn_writer *w, enum kn_slot_id slot, kn_place_writer place, const char *index_format)
{
    kn_str index = KN_STR_INIT, fold_index = KN_STR_INIT, *out = &w->slot[slot];
    int at = w->spec->n_arrays, fold_at = kn_layout_space_operands(w->spec) - 1,
        mapped = w->program->stage[REDUCE].value[0];
    kn_str_append(&index, "kn.start + ");
    kn_str_printf(&index, index_format, at, at, at);
    kn_str_append(&fold_index, "kn.fold_start + ");
    kn_str_printf(&fold_index, index_format, fold_at, fold_at, fold_at);
    kn_put_type(w, out, mapped);
    kn_str_append(out, " ");
    kn_put_value(w, out, mapped);
    kn_str_append(out, ";\n");
    kn_put_map(w, out, MAP, place, kn_str_text(&index), kn_str_text(&fold_index));
    out->failed |= index.failed || fold_index.failed;
    kn_str_free(&index);
    kn_str_free(&fold_index);
}

static void fill_along(kn_writer *w, const places *from)
{
    kn_str lane = KN_STR_INIT;
    put_names(w);
    put_loads(w, from);
    kn_str_printf(&lane, "%s + kn_k * %s.stride[%%d]", from->item, from->axis);
    put_mapped(w, KN_SLOT_LANE, place_loaded, kn_str_text(&lane));
    w->slot[KN_SLOT_LANE].failed |= lane.failed;
    kn_put_map(w, &w->slot[KN_SLOT_STORES], POST, place_kept, "", "");
    kn_str_free(&lane);
}

/* Elements in front of the first aligned vector of a row that begins anywhere. */
static void put_until(kn_writer *w, bool is_anywhere)
{
    if (is_anywhere)
        put_off(w, &w->slot[KN_SLOT_UNTIL], "kn.axis[0]",
                "(long long)(-(((unsigned long long)kn.%s_ + %s.at[%d]) / %d) & %d)", "kn_here");
    else
        kn_str_append(&w->slot[KN_SLOT_UNTIL], "0");
}

/* Element kn_j of a row along one axis. */
static void place_end(const kn_writer *w, kn_str *out, int k)
{
    int o = kn_array_of(w, k);
    kn_str_printf(out, "*(const %s *)((const char *)kn.%s_ + kn_here.at[%d] + kn_j * ", kn_storage(w, k),
                  w->program->param[k].name, o);
    if (reads_vectors(w, k) && !may_repeat(w))
        kn_str_printf(out, "%d)", kn_item_size(w, k));
    else
        kn_str_printf(out, "kn.axis[0].stride[%d])", o);
}

static bool gathers_some(const kn_writer *w)
{
    bool some = false;
    for (int k = 0; k < w->program->n_in; ++k)
        some = some || (kn_array_of(w, k) >= 0 && gathers_vectors(w, k));
    return some;
}

/* Vectors that are gathered are shifted behind their loads. So all items that are in flight are found before
 * any is loaded, and loaded without a condition: in place of those behind the end, the last one. */
static void put_gathered(kn_writer *w, const char *go)
{
    kn_str *packs = &w->slot[KN_SLOT_PACKS], *loads = &w->slot[KN_SLOT_LOADS];
    kn_str_printf(
        packs,
        "kn_place kn_from_of[kn_steps];\n#pragma unroll\nfor (int kn_u = 0; kn_u < kn_steps; ++kn_u) "
        "{\nkn_place &kn_from = kn_from_of[kn_u] = kn_first;\n%s}\n",
        go);
    kn_str_printf(packs,
                  "#pragma unroll\nfor (int kn_u = 0; kn_u < kn_steps; ++kn_u) {\n"
                  "const kn_place &kn_from = kn_from_of[kn_u];\n%s}\n",
                  kn_str_text(loads));
    packs->failed |= loads->failed;
    kn_str_free(loads);
    *loads = (kn_str)KN_STR_INIT;
    kn_str_append(&w->slot[KN_SLOT_FROM], "const kn_place &kn_from = kn_from_of[kn_u];\n");
}

/* Rows along one axis: item kn_item lies so many vectors behind the first. */
static void fill_rows(kn_writer *w)
{
    int vector = w->spec->schedule.vector, block = w->spec->schedule.block,
        operands = kn_layout_space_operands(w->spec);
    bool several = w->spec->schedule.variant == KN_FOLD_SEVERAL_AXES, gathered = gathers_some(w);
    char item[112], go[160];
    snprintf(item, sizeof item,
             "kn_first.at[%%d] + ((long long)kn_q + kn_u * %d) * (%d * kn.axis[0].stride[%%d])", block,
             vector);
    const places of_run = {"kn.axis[0]", item, true};
    fill_along(w, several || gathered ? &along : &of_run);
    if (gathered) {
        snprintf(go, sizeof go,
                 several ? "kn_go_near<%d>(kn_from, kn, kn_column + min(kn_q + kn_u * %d, kn_count - 1), %d, "
                           "(unsigned)kn_row);\n"
                         : "kn_go<1, %d>(kn_from, kn, min(kn_q + kn_u * %d, kn_count - 1), %d, 0);\n",
                 operands, block, vector);
        put_gathered(w, go);
    } else if (several) {
        kn_str_printf(
            &w->slot[KN_SLOT_FROM],
            "kn_place kn_from = kn_first;\nkn_go<2, %d>(kn_from, kn, kn_column + kn_item, %d, kn_row);\n",
            operands, vector);
    }
    put_mapped(w, KN_SLOT_SINGLE, place_end, "kn_here.at[%d] + kn_j * kn.axis[0].stride[%d]");
    put_until(w, vector > 1 && !several);
}

static void fill_lanes(kn_writer *w)
{
    bool is_ragged = strchr(w->spec->schedule.access, KN_DENSE);
    fill_along(w, &along);
    put_mapped(w, KN_SLOT_SINGLE, place_single, "kn_from.at[%d]");
    kn_str_append(&w->slot[KN_SLOT_RAGGED], is_ragged ? "true" : "false");
    put_until(w, is_ragged);
}

static void fill_columns(kn_writer *w)
{
    int variant = w->spec->schedule.variant, operands = kn_layout_space_operands(w->spec);
    const char *at = "kn_row_column + kn_q + kn_u * kn.down";
    char go[160];
    fill_along(w, &beside);
    if (gathers_some(w)) {
        at = "kn_row_column + min(kn_q + kn_u * kn.down, kn_count - 1)";
        snprintf(go, sizeof go,
                 variant > 1 ? "kn_go_near<%d>(kn_from, kn, %s, 1, (unsigned)kn_row);\n"
                             : "kn_go<1, %d>(kn_from, kn, %s, 1, kn_row);\n",
                 operands, at);
        put_gathered(w, go);
    } else {
        kn_str_printf(&w->slot[KN_SLOT_FROM],
                      "kn_place kn_from = kn_first;\nkn_go<%d, %d>(kn_from, kn, %s, 1, kn_row);\n", variant,
                      operands, at);
    }
    put_mapped(w, KN_SLOT_SINGLE, place_single, "kn_from.at[%d]");
    put_off(w, &w->slot[KN_SLOT_OFF], "kn.axis[kn.fold_rank]",
            "(int)(((unsigned long long)kn.%s_ + %s.at[%d]) / %d & %d)", "kn_from");
}

/* Result kn_k of a thread: of a vector that is stored whole, or by itself, as all is that is read there. */
static void place_result(const kn_writer *w, kn_str *out, int k)
{
    const char *name = w->program->param[k].name, *qualifier = kn_is_output(w, k) ? "" : "const ";
    int o = kn_array_of(w, k);
    if (kn_is_output(w, k) && kn_access_of(w, k) == KN_VECTOR)
        kn_str_printf(out, "kn_%s_.at[kn_k]", name);
    else
        kn_str_printf(out,
                      "*(%s%s *)((%schar *)kn.%s_ + kn_here.at[%d] + kn_k * "
                      "kn.axis[kn.fold_rank].stride[%d])",
                      qualifier, kn_storage(w, k), qualifier, name, o, o);
}

/* What is not assigned stays as it was: the vector is loaded first, which costs nothing where all is. */
static void put_results(kn_writer *w)
{
    for (int k = w->program->n_in; k < kn_param_count(w); ++k) {
        const char *name = w->program->param[k].name, *type = kn_storage(w, k);
        int o = kn_array_of(w, k);
        if (o < 0 || kn_access_of(w, k) != KN_VECTOR)
            continue;
        kn_str_printf(&w->slot[KN_SLOT_RESULTS],
                      "%s *const kn_%s_to = (%s *)((char *)kn.%s_ + kn_here.at[%d]);\nauto kn_%s_ = "
                      "kn_load<%s, %d>(kn_%s_to);\n",
                      type, name, type, name, o, name, type, w->spec->schedule.vector, name);
        kn_str_printf(&w->slot[KN_SLOT_STORES], "kn_store(kn_%s_to, kn_%s_);\n", name, name);
    }
}

/* Element kn_u of row kn_k, of rows that were loaded as whole vectors; weights are the same for all rows. */
static void place_in_rows(const kn_writer *w, kn_str *out, int k)
{
    int vector = w->spec->schedule.vector, elements = w->spec->schedule.per_thread;
    const char *name = w->program->param[k].name;
    if (kn_access_of(w, k) == KN_STAGED)
        kn_str_printf(out, "kn_%s_[(kn_k * %d + kn_u) / %d].at[(kn_k * %d + kn_u) %% %d]", name, elements,
                      vector, elements, vector);
    else
        kn_str_printf(out, "kn_%s_[kn_u]", name);
}

static void put_loads_of_rows(kn_writer *w)
{
    kn_str *packs = &w->slot[KN_SLOT_PACKS], *loads = &w->slot[KN_SLOT_LOADS];
    int vector = w->spec->schedule.vector, elements = w->spec->schedule.per_thread;
    for (int k = 0; k < w->program->n_in; ++k) {
        const char *name = w->program->param[k].name, *type = kn_storage(w, k);
        int o = kn_array_of(w, k);
        if (o < 0 || !is_mapped(w, k))
            continue;
        if (kn_access_of(w, k) == KN_STAGED) {
            kn_str_printf(packs, "kn_pack<%s, %d> kn_%s_[%d];\n", type, vector, name, elements);
            kn_str_printf(
                loads,
                "kn_%s_[kn_u] = kn_load<%s, %d>((const %s *)((const char *)kn.%s_ + kn_here.at[%d]) + "
                "kn_u * %d);\n",
                name, type, vector, type, name, o, vector);
        } else {
            kn_str_printf(packs, "%s kn_%s_[%d];\n", type, name, elements);
            kn_str_printf(loads,
                          "kn_%s_[kn_u] = *(const %s *)((const char *)kn.%s_ + kn_here.at[%d] + kn_u * "
                          "kn.axis[0].stride[%d]);\n",
                          name, type, name, o, o);
        }
    }
}

/* Rows of a few elements have a template of their own: how many is known when it is compiled. */
static const char *template_of_threads(const kn_spec *spec)
{
    return spec->schedule.per_thread > 0 ? "schedules/reduce/fold_narrow.cu"
                                         : "schedules/reduce/fold_threads.cu";
}

static void fill_narrow(kn_writer *w)
{
    put_names(w);
    put_loads_of_rows(w);
    put_mapped(w, KN_SLOT_LANE, place_in_rows,
               "kn_here.at[%d] + kn_k * kn.axis[kn.fold_rank].stride[%d] + kn_u * kn.axis[0].stride[%d]");
    put_results(w);
    kn_put_map(w, &w->slot[KN_SLOT_POST], POST, place_result, "", "");
}

static void fill_threads(kn_writer *w)
{
    if (w->spec->schedule.per_thread > 0) {
        fill_narrow(w);
        return;
    }
    put_names(w);
    put_loads(w, &beside);
    put_mapped(w, KN_SLOT_LANE, place_loaded, "kn_from.at[%d] + kn_k * kn.axis[kn.fold_rank].stride[%d]");
    put_results(w);
    kn_put_map(w, &w->slot[KN_SLOT_POST], POST, place_result, "", "");
}

static void fill_tile(kn_writer *w)
{
    put_names(w);
    put_stage(w);
    put_mapped(w, KN_SLOT_SINGLE, place_staged, "kn_here.at[%d] + kn_j * kn.axis[0].stride[%d]");
    kn_put_map(w, &w->slot[KN_SLOT_STORES], POST, place_kept, "", "");
}

/* Where rows begin in memory, for all threads that copy them, and in shared memory; how they are copied. */
static void put_slice(kn_writer *w, int k)
{
    const char *name = w->program->param[k].name;
    int size = kn_item_size(w, k), o = kn_array_of(w, k);
    kn_str *stage = &w->slot[KN_SLOT_STAGE];
    kn_str_printf(stage, "__shared__ unsigned long long kn_%s_rows[%d];\n", name, w->spec->schedule.block);
    kn_str_printf(stage, "const unsigned kn_%s_pitch = kn_slice_pitch(kn.slice, %d);\n", name, size);
    kn_str_printf(stage, "unsigned char *const kn_%s_room = kn_next_room;\n", name);
    kn_str_printf(stage, "kn_next_room += kn.results * kn_%s_pitch;\n", name);
    kn_str_printf(stage, "if (kn_is_here && kn_lane == 0)\n");
    kn_str_printf(stage,
                  "    kn_%s_rows[kn_own] = (unsigned long long)((const char *)kn.%s_ + kn_here.at[%d]);\n",
                  name, name, o);
    kn_str_printf(&w->slot[KN_SLOT_LOADS],
                  "kn_stage_rows(kn_%s_room, kn_%s_rows, kn_step.at[%d], kn_count, kn_elements * %d, "
                  "kn_%s_pitch);\n",
                  name, name, o, size, name);
    kn_str_printf(&w->slot[KN_SLOT_POINTERS],
                  "const unsigned char *kn_%s_at = kn_%s_room + kn_own * kn_%s_pitch + "
                  "((unsigned)(kn_%s_rows[kn_own] + kn_step.at[%d]) & 15) + kn_lane * %d;\n",
                  name, name, name, name, o, size);
    kn_str_printf(&w->slot[KN_SLOT_STEP_LOADS], "kn_%s_at += kn.lanes * %d;\n", name, size);
}

/* What is read where it is: its first element for a thread, and how it goes on. */
static void put_across(kn_writer *w, int k)
{
    const char *name = w->program->param[k].name;
    int o = kn_array_of(w, k);
    kn_str_printf(&w->slot[KN_SLOT_POINTERS],
                  "const char *kn_%s_at = (const char *)kn.%s_ + (kn_here.at[%d] + kn_step.at[%d] + "
                  "kn_lane * kn.axis[0].stride[%d]);\n",
                  name, name, o, o, o);
    kn_str_printf(&w->slot[KN_SLOT_POINTERS],
                  "const long long kn_%s_on = kn.lanes * kn.axis[0].stride[%d];\n", name, o);
    kn_str_printf(&w->slot[KN_SLOT_STEP_LOADS], "kn_%s_at += kn_%s_on;\n", name, name);
}

static void fill_slices(kn_writer *w)
{
    put_names(w);
    kn_str_append(&w->slot[KN_SLOT_STAGE], "unsigned char *kn_next_room = kn_room;\n");
    for (int k = 0; k < w->program->n_in; ++k) {
        const char *name = w->program->param[k].name, *type = kn_storage(w, k);
        if (kn_array_of(w, k) < 0 || !is_mapped(w, k))
            continue;
        (kn_access_of(w, k) == KN_STAGED ? put_slice : put_across)(w, k);
        kn_str_printf(&w->slot[KN_SLOT_PACKS], "%s kn_%s_[kn_flight];\n", type, name);
        kn_str_printf(&w->slot[KN_SLOT_FROM], "kn_%s_[kn_u] = *(const %s *)kn_%s_at;\n", name, type, name);
    }
    put_mapped(w, KN_SLOT_SINGLE, place_loaded,
               "kn_here.at[%d] + kn_step.at[%d] + kn_j * kn.axis[0].stride[%d]");
    kn_put_map(w, &w->slot[KN_SLOT_STORES], POST, place_kept, "", "");
}

#define RECIPE(name, word)                                                                                   \
    const kn_recipe kn_recipe_fold_##name = {                                                                \
        .template_name = "schedules/reduce/fold_" #name ".cu", .fill = fill_##name, .preludes = word}
RECIPE(rows, "kn_fold_block");
RECIPE(lanes, "kn_fold_lanes");
RECIPE(columns, "kn_fold_lanes");
RECIPE(tile, "kn_stage");
const kn_recipe kn_recipe_fold_threads = {.template_name = "schedules/reduce/fold_threads.cu",
                                          .choose_template = template_of_threads,
                                          .fill = fill_threads,
                                          .preludes = "kn_fold_lanes"};
const kn_recipe kn_recipe_reduce_slices = {
    .template_name = "schedules/reduce/reduce_slices.cu", .fill = fill_slices, .preludes = "kn_stage"};
