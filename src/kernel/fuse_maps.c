/* Maps that are fused into steps of algorithms. A part of an expression that is one map, and stores its only
 * result in a buffer, is a function of its inputs. Programs of algorithms that read this buffer element by
 * element in their own maps read the inputs instead, and call the function: keys of a sort, conditions of a
 * selection and bins of a histogram are expressions then, as they are in kiln_sort_create and its like. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/algorithm.h"
#include "program/cost.h"
#include "program/program.h"
#include "schedule/sort_tile.h"
#include "space/shape.h"
#include "types/dtype.h"

enum { MOST_READERS = 16, MOST_RESULTS = 4 };

typedef struct reader {
    int part, param;
} reader;

/* One result of a map, and the parameters that read its buffer. */
typedef struct fusing {
    kn_lowered *lowered;
    int at, buffer, n_readers; /* at: the part */
    reader reader[MOST_READERS];
    kn_lowered_part map; /* the part as if it had this result alone; nothing in it is its own */
    kn_program program;  /* ... of which this is the program */
    kn_param param[KN_MAX_PARAMS];
    const kn_program *whole;
} fusing;

static const kn_lowered_part *map_of(const fusing *f)
{
    return &f->map;
}

static void begin(fusing *f, kn_lowered *l, int at, int result)
{
    const kn_lowered_part *part = &l->part[at];
    const int first = part->program->n_in;
    f->lowered = l;
    f->at = at;
    f->n_readers = 0;
    f->whole = part->program;
    f->map = *part;
    f->program = *part->program;
    f->program.n_out = 1;
    f->program.param = f->param;
    memcpy(f->param, part->program->param, (size_t)first * sizeof *f->param);
    f->param[first] = part->program->param[first + result];
    f->map.program = &f->program;
    f->map.source[first] = part->source[first + result];
    f->map.binding.operand[first] = part->binding.operand[first + result];
    f->map.binding.array[first] = part->binding.array[first + result];
    f->buffer = f->map.source[first].index;
}

/* ---- what can be fused ---- */

static bool is_half(kiln_dtype dtype)
{
    return kn_dtype_is_half(dtype);
}

/* Elements and numbers that the text sees as they are in memory. */
static bool has_plain_params(const kn_lowered_part *part)
{
    const kn_program *p = part->program;
    bool is_plain = true, has_array = false;
    for (int k = 0; k < p->n_in + p->n_out; ++k) {
        const kn_operand *o = &part->binding.operand[k];
        is_plain = is_plain && p->param[k].type == KN_TYPE_DTYPE && !p->param[k].is_raw &&
                   !p->param[k].is_non_const && (o->pass == KN_PASS_ARRAY || o->pass == KN_PASS_SCALAR) &&
                   (!o->seen || o->seen == o->dtype) && !is_half(o->dtype);
        has_array = has_array || (k < p->n_in && o->pass == KN_PASS_ARRAY);
    }
    return is_plain && has_array;
}

static bool is_map(const kn_lowered_part *part)
{
    const kn_program *p = part->program;
    if (!p || part->kernel || part->is_inner || p->n_stages != 1 || p->stage[0].kind != KN_MAP ||
        p->n_out > MOST_RESULTS || p->n_values > 0)
        return false;
    bool is_stored = true;
    for (int k = p->n_in; k < p->n_in + p->n_out; ++k)
        is_stored = is_stored && part->source[k].kind == KN_FROM_BUFFER && part->source[k].shift == 0;
    const unsigned others = KILN_KERNEL_FAST_MATH | KILN_KERNEL_ROUND_EACH | KILN_KERNEL_CHECK;
    return p->uses == 0 && p->indexed == 0 && p->left_outputs == 0 && !p->loop_prep[0] && !p->after_loop[0] &&
           p->n_options == 0 && p->n_headers == 0 && !(p->flags & others) && !part->options.shape &&
           is_stored && has_plain_params(part) &&
           kn_shape_size(part->binding.array[p->n_in]->ndim, part->binding.array[p->n_in]->shape) >=
               KN_FEWEST_FUSED;
}

/* The stages that read a parameter are maps of each element. */
static bool is_read_by_maps(const kn_program *p, int k)
{
    bool is = true;
    for (int s = 0; s < p->n_stages; ++s)
        for (int v = 0; v < p->stage[s].n_read; ++v)
            is = is && (p->stage[s].value[v] != k ||
                        ((p->stage[s].kind == KN_MAP || p->stage[s].kind == KN_MAP_EXPRESSION) &&
                         p->stage[s].over == KN_OVER_ALL));
    return is;
}

/* ---- places ---- */

/* An axis that an order sorts by its stride in the buffer. */
typedef struct axis {
    int64_t extent, stride, in; /* in: the stride of the map's input */
    int at;
} axis;

/* The axes of a view of more than one element, the outermost in the buffer first. */
static int sort_axes(axis *out, const kiln_array *view, const kiln_array *in)
{
    int count = 0;
    for (int a = 0; a < view->ndim; ++a) {
        const axis one = {view->shape[a], view->strides[a], in ? in->strides[a] : 0, a};
        int to = count;
        if (one.extent == 1)
            continue;
        for (; to > 0 && out[to - 1].stride < one.stride; --to)
            out[to] = out[to - 1];
        out[to] = one;
        ++count;
    }
    return count;
}

static bool is_dense(const axis *a, int count, int64_t item)
{
    bool is = true;
    for (int k = count; k-- > 0; item *= a[k].extent)
        is = is && a[k].stride == item;
    return is;
}

/* The strides along the axes of `view`, a view of the buffer that the map writes as `out`, of an input that
 * the map reads as `in`. False: they are no strides. */
static bool find_strides(int64_t *strides, const kiln_array *view, const kiln_array *out,
                         const kiln_array *in)
{
    axis from[KILN_MAX_NDIM], to[KILN_MAX_NDIM];
    if (in->ndim != out->ndim || memcmp(in->shape, out->shape, (size_t)in->ndim * sizeof *in->shape) != 0)
        return false;
    int n_from = sort_axes(from, out, in), n_to = sort_axes(to, view, NULL);
    memset(strides, 0, (size_t)view->ndim * sizeof *strides);
    if (!is_dense(from, n_from, (int64_t)out->item_size) || !is_dense(to, n_to, (int64_t)view->item_size))
        return false;
    for (; n_to > 0; --n_to) {
        const axis *t = &to[n_to - 1];
        while (n_from > 1 && from[n_from - 1].extent < t->extent) { /* two axes are one */
            const axis inner = from[--n_from];
            if (from[n_from - 1].in != inner.in * inner.extent)
                return false;
            from[n_from - 1].extent *= inner.extent;
            from[n_from - 1].in = inner.in;
        }
        if (n_from == 0 || from[n_from - 1].extent % t->extent != 0)
            return false;
        axis *f = &from[n_from - 1];
        strides[t->at] = f->in;
        f->in *= t->extent;
        f->extent /= t->extent;
        n_from -= f->extent == 1;
    }
    return n_from == 0;
}

/* ---- readers ---- */

static int element_bytes(const kn_lowered_part *part)
{
    int bytes = 0;
    for (int k = 0; k < part->program->n_in; ++k)
        bytes += part->binding.operand[k].pass == KN_PASS_ARRAY
                     ? (int)kiln_dtype_size(part->binding.operand[k].dtype)
                     : 0;
    return bytes;
}

/* A sort's pass holds a tile's inputs in shared memory: with more bytes of them it has smaller tiles, thus
 * more of these than the algorithm has words for. */
static bool keeps_tiles(const kn_lowered_part *part, const kn_lowered_part *map, int k)
{
    bool places = false;
    for (int s = 0; s < part->program->n_stages; ++s)
        places = places || part->program->stage[s].kind == KN_PLACE;
    const int before = element_bytes(part);
    const int after = before + element_bytes(map) - (int)kiln_dtype_size(part->binding.operand[k].dtype);
    return !places || kn_sort_items(after) >= kn_sort_items(before);
}

/* True if the part reads the buffer by this parameter in a way that the map can serve. */
static bool can_read(const fusing *f, const kn_lowered_part *part, int k)
{
    const kn_program *p = part->program, *map = map_of(f)->program;
    const kiln_array *out = map_of(f)->binding.array[map->n_in], *view = part->binding.array[k];
    int64_t strides[KILN_MAX_NDIM];
    bool can = part->is_inner && p && k < p->n_in && !p->param[k].is_raw && p->n_options == 0 &&
               p->n_headers == 0 && !(p->flags & (KILN_KERNEL_FAST_MATH | KILN_KERNEL_ROUND_EACH)) &&
               p->param[k].type != KN_TYPE_STRUCT && part->source[k].shift == 0 &&
               part->binding.operand[k].dtype == out->dtype &&
               (!part->binding.operand[k].seen || part->binding.operand[k].seen == out->dtype) &&
               p->n_in + p->n_out + map->n_in < KN_MAX_PARAMS && is_read_by_maps(p, k) &&
               keeps_tiles(part, map_of(f), k) &&
               kn_shape_size(view->ndim, view->shape) == kn_shape_size(out->ndim, out->shape);
    for (int i = 0; i < map->n_in && can; ++i)
        can = map_of(f)->binding.operand[i].pass == KN_PASS_SCALAR ||
              find_strides(strides, view, out, map_of(f)->binding.array[i]);
    return can;
}

/* False: something reads the buffer otherwise. */
static bool find_readers(fusing *f)
{
    for (int p = 0; p < f->lowered->n_parts; ++p) {
        const kn_lowered_part *part = &f->lowered->part[p];
        for (int k = 0; k < kn_lowered_params(part); ++k) {
            if (p == f->at || part->source[k].kind != KN_FROM_BUFFER || part->source[k].index != f->buffer)
                continue;
            if (p < f->at || f->n_readers == MOST_READERS || !can_read(f, part, k))
                return false;
            f->reader[f->n_readers++] = (reader){p, k};
        }
    }
    return f->n_readers > 0;
}

/* The parameter of a part that reads what input i of the map reads, at the same places; -1: there is none. */
static int find_same(const kn_lowered_part *part, const kn_lowered_part *map, int i, int k)
{
    const kn_source *s = &map->source[i];
    int64_t strides[KILN_MAX_NDIM];
    const kiln_array *view = part->binding.array[k];
    if (map->binding.operand[i].pass != KN_PASS_ARRAY ||
        !find_strides(strides, view, map->binding.array[map->program->n_in], map->binding.array[i]))
        return -1;
    for (int j = 0; j < part->program->n_in; ++j) {
        const kiln_array *own = part->binding.array[j];
        if (j != k && part->binding.operand[j].pass == KN_PASS_ARRAY && part->source[j].kind == s->kind &&
            part->source[j].index == s->index && part->source[j].shift == s->shift &&
            part->binding.operand[j].dtype == map->binding.operand[i].dtype && own->ndim == view->ndim &&
            memcmp(own->shape, view->shape, (size_t)own->ndim * sizeof *own->shape) == 0 &&
            memcmp(own->strides, strides, (size_t)own->ndim * sizeof *strides) == 0)
            return j;
    }
    return -1;
}

/* The bytes that the map reads, and that the first readers read in its place: inputs that they have not. */
static void count_inputs(double *inputs, double *fused, const fusing *f, int n_readers)
{
    const kn_lowered_part *map = map_of(f);
    *inputs = *fused = 0;
    for (int i = 0; i < map->program->n_in; ++i) {
        if (map->binding.operand[i].pass != KN_PASS_ARRAY)
            continue;
        const double bytes = kn_lowered_bytes(map->binding.array[i]);
        *inputs += bytes;
        for (int r = 0; r < n_readers; ++r)
            *fused +=
                find_same(&f->lowered->part[f->reader[r].part], map, i, f->reader[r].param) < 0 ? bytes : 0;
    }
}

static double bytes_of_result(const fusing *f)
{
    return kn_lowered_bytes(map_of(f)->binding.array[map_of(f)->program->n_in]);
}

/* Each reader reads the inputs in place of the result, which nobody writes. Functions that take tens of
 * instructions are not computed twice. */
static bool moves_less(const fusing *f, int n_results)
{
    double inputs = 0, fused = 0, stored = 0;
    bool is_cheap = n_results * f->n_readers == 1 || kn_cost_functions(f->whole) == 0;
    for (int r = 0; r < n_results; ++r) {
        double of_readers;
        count_inputs(&inputs, &of_readers, &f[r], f[r].n_readers);
        fused += of_readers;
        stored += bytes_of_result(&f[r]) * (1 + f[r].n_readers);
    }
    return is_cheap && fused < inputs + stored;
}

/* The lines for people count an algorithm as one kernel, which reads each input once. */
static void count_moved(kn_moved *moved, const fusing *f, int n_results)
{
    double inputs = 0, fused;
    for (int r = 0; r < n_results; ++r) {
        count_inputs(&inputs, &fused, &f[r], 1);
        moved->bytes += fused - 2 * bytes_of_result(&f[r]);
    }
    moved->bytes -= inputs;
    --moved->n_kernels;
}

/* ---- programs ---- */

/* A reader's parameters after the fusion: by place, its own before, or an input of the map. */
typedef struct merged {
    int own[KN_MAX_PARAMS], of_map[KN_MAX_PARAMS]; /* -1: of the other */
    char name[KN_MAX_PARAMS][KN_NAME_MAX];
    char argument[KN_MAX_PARAMS][KN_NAME_MAX]; /* by input of the map: its name in the reader */
    int count, n_in, type_of; /* type_of: the place that says the dtype of the reader's placeholder; -1 */
    int number;               /* of the function */
    const kn_program *whole;  /* the map with all of its results, of which one counts here */
} merged;

static void add_param(merged *m, int own, int of_map, const char *name)
{
    m->own[m->count] = own;
    m->of_map[m->count] = of_map;
    memcpy(m->name[m->count], name, strlen(name) + 1);
    ++m->count;
}

static bool is_settled(const kn_program *p, int k)
{
    bool is = p->param[k].type != KN_TYPE_PLACEHOLDER;
    for (int j = 0; j < p->n_in + p->n_out; ++j)
        is = is || (j != k && p->param[j].type == KN_TYPE_PLACEHOLDER &&
                    p->param[j].placeholder == p->param[k].placeholder);
    return is;
}

/* A number that no function and no parameter of an earlier fusion has. */
static int free_number(const kn_program *p)
{
    char name[KN_NAME_MAX];
    int number = -KN_MAX_PARAMS;
    do {
        number += KN_MAX_PARAMS;
        snprintf(name, sizeof name, "kn_fused_%d", number);
    } while (kn_text_has_word(p->preamble, name));
    return number;
}

static void merge(merged *m, const kn_lowered_part *part, const kn_lowered_part *map, int k)
{
    const kn_program *p = part->program;
    memset(m, 0, sizeof *m);
    m->number = free_number(p);
    m->type_of = -1;
    for (int j = 0; j < p->n_in; ++j)
        if (j != k)
            add_param(m, j, -1, p->param[j].name);
    for (int i = 0; i < map->program->n_in; ++i) {
        const int same = find_same(part, map, i, k);
        char name[KN_NAME_MAX];
        snprintf(name, sizeof name, "_fused%d", m->number + i);
        memcpy(m->argument[i], same >= 0 ? p->param[same].name : name, KN_NAME_MAX);
        if (same < 0)
            add_param(m, -1, i, name);
    }
    if (!is_settled(p, k)) {
        char name[KN_NAME_MAX];
        snprintf(name, sizeof name, "_fused%d", m->number + map->program->n_in);
        m->type_of = m->count;
        add_param(m, -1, -1, name);
    }
    m->n_in = m->count;
    for (int j = p->n_in; j < p->n_in + p->n_out; ++j)
        add_param(m, j, -1, p->param[j].name);
}

static void put_comma(kn_str *out, int k)
{
    kn_str_append(out, k > 0 ? ", " : "");
}

static void put_signature(kn_str *out, const merged *m, const kn_program *p, const kn_program *map, int k,
                          int first, int end)
{
    for (int at = first; at < end; ++at) {
        kn_param param = m->own[at] >= 0      ? p->param[m->own[at]]
                         : m->of_map[at] >= 0 ? map->param[m->of_map[at]]
                                              : p->param[k];
        param.is_raw = param.is_raw || at == m->type_of;
        memcpy(param.name, m->name[at], sizeof param.name);
        put_comma(out, at - first);
        kn_param_format(out, &param);
    }
}

/* The map as a function of its inputs. */
static void put_function(kn_str *out, const merged *m, const kn_program *map)
{
    const kn_program *whole = m->whole;
    kn_str_printf(out, "%s\nstatic __device__ inline %s kn_fused_%d(", map->preamble,
                  kiln_dtype_name(map->param[map->n_in].dtype), m->number);
    for (int i = 0; i < map->n_in; ++i) {
        put_comma(out, i);
        kn_str_printf(out, "const %s %s", kiln_dtype_name(map->param[i].dtype), map->param[i].name);
    }
    kn_str_append(out, ") {\n");
    for (int k = whole->n_in; k < whole->n_in + whole->n_out; ++k)
        kn_str_printf(out, "%s %s;\n", kiln_dtype_name(whole->param[k].dtype), whole->param[k].name);
    kn_str_printf(out, "%s\nreturn %s;\n}\n", map->stage[0].body, map->param[map->n_in].name);
}

static void put_call(kn_str *out, const merged *m, const kn_program *p, const kn_program *map, int k)
{
    kn_str_printf(out, "const %s %s = kn_fused_%d(", kiln_dtype_name(map->param[map->n_in].dtype),
                  p->param[k].name, m->number);
    for (int i = 0; i < map->n_in; ++i) {
        put_comma(out, i);
        kn_str_append(out, m->argument[i]);
    }
    kn_str_append(out, "); ");
}

static bool reads(const kn_stage *s, int k)
{
    bool does = false;
    for (int v = 0; v < s->n_read; ++v)
        does = does || s->value[v] == k;
    return does;
}

/* The values that a stage reads: the arguments of the function in place of the parameter. */
static void put_reads(kn_str *out, const merged *m, const kn_program *p, const kn_program *map, int k,
                      const kn_stage *s)
{
    int count = 0;
    for (int v = 0; v < s->n_read; ++v)
        if (s->value[v] != k) {
            put_comma(out, count++);
            kn_str_append(out, p->param[s->value[v]].name);
        }
    for (int i = 0; i < map->n_in && reads(s, k); ++i) {
        bool is_there = false;
        for (int v = 0; v < s->n_read; ++v)
            is_there = is_there || strcmp(p->param[s->value[v]].name, m->argument[i]) == 0;
        if (is_there)
            continue;
        put_comma(out, count++);
        kn_str_append(out, m->argument[i]);
    }
}

/* The texts of a stage, which the program's making reads. */
typedef struct stage_texts {
    kn_str reads, gives, body;
} stage_texts;

static void put_stage(kn_stage_text *to, stage_texts *t, const merged *m, const kn_program *p,
                      const kn_program *map, int k, const kn_stage *s)
{
    const bool is_expression = s->kind == KN_MAP_EXPRESSION;
    put_reads(&t->reads, m, p, map, k, s);
    for (int v = 0; v < s->n_given; ++v) {
        put_comma(&t->gives, v);
        kn_str_append(&t->gives, p->param[s->value[s->n_read + v]].name);
    }
    if (reads(s, k)) {
        kn_str_append(&t->body, is_expression ? "[&] { " : "");
        put_call(&t->body, m, p, map, k);
        kn_str_printf(&t->body, is_expression ? "return %s; }()" : "%s", s->body);
    }
    *to = (kn_stage_text){.kind = s->kind,
                          .over = s->over,
                          .label = s->label,
                          .body = reads(s, k) ? kn_str_text(&t->body) : s->body,
                          .identity = s->identity[0] ? s->identity : NULL,
                          .reads = kn_str_text(&t->reads),
                          .gives = kn_str_text(&t->gives)};
}

static kiln_status make_program(kn_program **out, const merged *m, const kn_program *p, const kn_program *map,
                                int k)
{
    kn_stage_text stage[KN_MAX_STAGES];
    stage_texts texts[KN_MAX_STAGES];
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT, values = KN_STR_INIT, preamble = KN_STR_INIT;
    memset(texts, 0, sizeof texts);
    bool failed = false;
    put_signature(&in, m, p, map, k, 0, m->n_in);
    put_signature(&outs, m, p, map, k, m->n_in, m->count);
    for (int v = 0; v < p->n_values; ++v) {
        put_comma(&values, v);
        kn_param_format(&values, &p->param[p->n_in + p->n_out + v]);
    }
    put_function(&preamble, m, map);
    kn_str_append(&preamble, p->preamble);
    for (int s = 0; s < p->n_stages; ++s) {
        put_stage(&stage[s], &texts[s], m, p, map, k, &p->stage[s]);
        failed = failed || texts[s].reads.failed || texts[s].gives.failed || texts[s].body.failed;
    }
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.flags = p->flags;
    o.preamble = kn_str_text(&preamble);
    const kn_program_text text = {.name = p->name,
                                  .in = kn_str_text(&in),
                                  .out = kn_str_text(&outs),
                                  .values = kn_str_text(&values),
                                  .stage = stage,
                                  .n_stages = p->n_stages,
                                  .reduced = p->reduced,
                                  .casts = p->casts || map->casts,
                                  .is_reversed = p->is_reversed,
                                  .is_selection = p->is_selection,
                                  .options = &o};
    failed = failed || in.failed || outs.failed || values.failed || preamble.failed;
    kiln_status status = failed ? kn_error_memory("a fused map") : kn_program_create(out, &text);
    if (status == KILN_OK) {
        (*out)->left_outputs = p->left_outputs;
        (*out)->is_in_c_order = p->is_in_c_order;
    }
    for (int s = 0; s < p->n_stages; ++s) {
        kn_str_free(&texts[s].reads);
        kn_str_free(&texts[s].gives);
        kn_str_free(&texts[s].body);
    }
    kn_str_free(&in);
    kn_str_free(&outs);
    kn_str_free(&values);
    kn_str_free(&preamble);
    return status;
}

/* ---- bindings ---- */

/* A view of an input of the map along the axes of the reader's view of the buffer. */
static kiln_status view_input(kiln_array **out, const kn_lowered_part *part, const kn_lowered_part *map,
                              int i, int k)
{
    const kiln_array *view = part->binding.array[k];
    kiln_array *in = map->binding.array[i];
    int64_t strides[KILN_MAX_NDIM];
    find_strides(strides, view, map->binding.array[map->program->n_in], in);
    return kn_lowered_view(out, in->storage ? in : NULL, in->data, in->dtype, view->ndim, view->shape,
                           strides);
}

/* The parameter that says a dtype has the place of an output, which is not read. */
static kiln_status bind_type(kn_lowered_part *to, int at, const kn_lowered_part *part, int k)
{
    const int64_t one = 1, stride = (int64_t)kiln_dtype_size(part->binding.operand[k].dtype);
    to->source[at] = part->source[part->program->n_in];
    to->binding.operand[at] = (kn_operand){
        .pass = KN_PASS_RAW, .dtype = part->binding.operand[k].dtype, .raw_rank = 1, .raw_contiguous = true};
    return kn_lowered_view(&to->binding.array[at], NULL, NULL, part->binding.operand[k].dtype, 1, &one,
                           &stride);
}

/* Moves the bindings of a part to their places in `to`, and adds those of the map. */
static kiln_status bind(kn_lowered_part *to, const merged *m, kn_lowered_part *part,
                        const kn_lowered_part *map, int k)
{
    kiln_status status = KILN_OK;
    for (int at = 0; at < m->count && status == KILN_OK; ++at) {
        const int own = m->own[at], i = m->of_map[at];
        if (own < 0 && i < 0) {
            status = bind_type(to, at, part, k);
            continue;
        }
        const kn_lowered_part *from = own >= 0 ? part : map;
        const int n = own >= 0 ? own : i;
        to->source[at] = from->source[n];
        to->binding.operand[at] = from->binding.operand[n];
        to->binding.array[at] = own >= 0 ? from->binding.array[n] : NULL;
        to->binding.after[at] = 0;
        if (own < 0 && map->binding.operand[n].pass == KN_PASS_ARRAY)
            status = view_input(&to->binding.array[at], part, map, n, k);
    }
    return status;
}

/* Arrays that `to` has taken over leave the part; of a fusion that failed, `to` gives back what it made. */
static void drop_arrays(kn_lowered_part *part, const merged *m, bool is_new)
{
    for (int at = 0; at < m->count; ++at) {
        if (is_new && m->own[at] < 0)
            kiln_array_free(part->binding.array[at]);
        else if (!is_new && m->own[at] >= 0)
            part->binding.array[m->own[at]] = NULL;
    }
}

static kiln_status fuse_into(const fusing *f, const reader *r)
{
    kn_lowered_part *part = &f->lowered->part[r->part], *to = kn_malloc(sizeof *to);
    merged *m = kn_malloc(sizeof *m);
    kn_program *program = NULL;
    kiln_status status = to && m ? KILN_OK : kn_error_memory("a fused map");
    if (status == KILN_OK) {
        merge(m, part, map_of(f), r->param);
        m->whole = f->whole;
        *to = *part;
        memset(&to->binding, 0, sizeof to->binding);
        memset(to->source, 0, sizeof to->source);
        status = make_program(&program, m, part->program, map_of(f)->program, r->param);
    }
    if (status == KILN_OK) {
        status = bind(to, m, part, map_of(f), r->param);
        if (status != KILN_OK)
            drop_arrays(to, m, true);
    }
    if (status == KILN_OK) {
        to->kernel = NULL;
        to->program = program;
        to->binding.program = program;
        to->binding.device = part->binding.device;
        to->label = NULL;
        program = NULL;
        kn_lowered_part old = *part;
        drop_arrays(&old, m, false);
        to->label = old.label;
        old.label = NULL;
        *part = *to;
        kn_lowered_free_part(&old);
        if (f->buffer < f->lowered->n_stored && f->lowered->stored[f->buffer].what)
            status = kn_lowered_add_label(part, ", which computes ", f->lowered->stored[f->buffer].what);
    }
    kn_program_free(program);
    kn_free(to);
    kn_free(m);
    return status;
}

static void remove_part(kn_lowered *l, int at)
{
    kn_lowered_free_part(&l->part[at]);
    memmove(&l->part[at], &l->part[at + 1], (size_t)(l->n_parts - at - 1) * sizeof *l->part);
    --l->n_parts;
}

static bool is_read(const fusing *f)
{
    bool is = false;
    for (int p = 0; p < f->lowered->n_parts; ++p)
        for (int k = 0; k < kn_lowered_params(&f->lowered->part[p]); ++k) {
            const kn_source *s = &f->lowered->part[p].source[k];
            is = is || (p != f->at && s->kind == KN_FROM_BUFFER && s->index == f->buffer);
        }
    return is;
}

/* One reader at a time: the parameters of a part that reads the buffer twice have other places afterwards. */
static kiln_status fuse_result(fusing *f)
{
    kiln_status status = KILN_OK;
    for (f->n_readers = 0; status == KILN_OK && find_readers(f); f->n_readers = 0)
        status = fuse_into(f, &f->reader[0]);
    return status;
}

/* A map of which something is still read, since parameters are too many, stays. */
static kiln_status fuse(fusing *f, kn_lowered *l, int at)
{
    const int n_results = l->part[at].program->n_out;
    bool can = true;
    for (int r = 0; r < n_results && can; ++r) {
        begin(&f[r], l, at, r);
        can = find_readers(&f[r]);
    }
    if (!can || !moves_less(f, n_results))
        return KILN_OK;
    kn_moved moved = l->moved;
    kiln_status status = KILN_OK;
    bool is_left = false;
    count_moved(&moved, f, n_results);
    for (int r = 0; r < n_results && status == KILN_OK; ++r) {
        status = fuse_result(&f[r]);
        is_left = is_left || is_read(&f[r]);
    }
    if (status != KILN_OK || is_left)
        return status;
    for (int r = 0; r < n_results; ++r)
        kn_lowered_drop_stored(l, f[r].buffer);
    l->moved = moved;
    remove_part(l, at);
    return KILN_OK;
}

kiln_status kn_fuse_maps(kn_lowered *l)
{
    kiln_status status = KILN_OK;
    bool any = false;
    for (int p = 0; p < l->n_parts; ++p)
        any = any || is_map(&l->part[p]);
    if (!any)
        return KILN_OK;
    fusing *f = kn_malloc(MOST_RESULTS * sizeof *f);
    if (!f)
        return kn_error_memory("a fused map");
    for (int p = l->n_parts; p-- > 0 && status == KILN_OK;)
        if (is_map(&l->part[p]))
            status = fuse(f, l, p);
    kn_free(f);
    return status;
}
