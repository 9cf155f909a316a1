/* The kernels of a sort, from the texts of its keys and of its body. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "kernel/sort_parts.h"
#include "types/dtype.h"

/* ---- texts ---- */

/* "float32 x, raw T w": all inputs, or outputs, raw ones for steps that find elements by their index. */
static void put_params(kn_str *out, const kn_program *p, int first, int end, bool are_raw)
{
    for (int k = first; k < end; ++k) {
        kn_param param = p->param[k];
        param.is_raw = param.is_raw || are_raw;
        kn_str_append(out, k > first ? ", " : "");
        kn_param_format(out, &param);
    }
}

/* The names of the inputs that are read element by element and that the text has. */
static void put_reads(kn_str *out, const kn_program *p, const char *text)
{
    const char *separator = "";
    for (int k = 0; k < p->n_in; ++k)
        if (!p->param[k].is_raw && kn_text_has_word(text, p->param[k].name)) {
            kn_str_printf(out, "%s%s", separator, p->param[k].name);
            separator = ", ";
        }
}

/* A function of the elements that the text names: its parameters, and the elements, at `at` for inputs, and
 * at their place for outputs. */
static void put_elements(kn_str *params, kn_str *elements, const kn_program *p, const char *text, int first,
                         int end, const char *at)
{
    for (int k = first; k < end; ++k) {
        bool is_output = k >= p->n_in;
        if ((p->param[k].is_raw && !is_output) || !kn_text_has_word(text, p->param[k].name))
            continue;
        kn_str_printf(params, "%sauto &%s, ", is_output ? "" : "const ", p->param[k].name);
        if (is_output)
            kn_str_printf(elements, "%s[kn_to], ", p->param[k].name);
        else
            kn_str_printf(elements, "%s[%s], ", p->param[k].name, at);
    }
}

/* ---- making ---- */

/* The kernel of a map expression, a stage of that kind, and a map. */
static kiln_status make_kernel(kiln_kernel **out, const kn_sort_making *m, const char *in, const char *outs,
                               const char *values, const kn_stage_text *stages)
{
    const kn_program_text text = {.name = m->name,
                                  .in = in,
                                  .out = outs,
                                  .values = values,
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = KN_REDUCED_BY_CALL,
                                  .options = m->options};
    return kn_kernel_create_text(out, &text);
}

typedef struct texts {
    kn_str in, outs, values, key, put, reads, params, elements;
} texts;
enum { TEXTS = sizeof(texts) / sizeof(kn_str) };

static kiln_status finish(texts *t, kiln_status status)
{
    kn_str *each = (kn_str *)t;
    for (int k = 0; k < TEXTS; ++k)
        kn_str_free(&each[k]);
    return status;
}

static kiln_status check(const texts *t)
{
    const kn_str *each = (const kn_str *)t;
    for (int k = 0; k < TEXTS; ++k)
        if (each[k].failed)
            return kn_error_memory("a sort's texts");
    return KILN_OK;
}

static void put_key_type(kn_str *out, const kn_param *type)
{
    if (type->type == KN_TYPE_PLACEHOLDER)
        kn_str_printf(out, "%c", type->placeholder);
    else
        kn_str_append(out, kn_dtype_info_of(type->dtype)->c_name);
}

static void put_key(texts *t, const kn_sort_making *m, int k, int part)
{
    kn_str_printf(&t->key, "kn_sort_key<%d, %d>(static_cast<", (m->keys[k].flags & KILN_SORT_DESCENDING) != 0,
                  part);
    put_key_type(&t->key, &m->s->key[k].type);
    kn_str_printf(&t->key, ">(%s\n))", m->keys[k].key);
}

/* The key of the element at `at`. */
static void put_ordered_key(texts *t, const kn_sort_making *m, int k, int part, const char *at)
{
    const kn_program *p = m->s->signature;
    kn_str inner = KN_STR_INIT;
    put_key(t, m, k, part);
    put_elements(&t->params, &t->elements, p, m->keys[k].key, 0, p->n_in, at);
    kn_str_printf(&inner, "[&](%sint) { return %s; }(%s0)", kn_str_text(&t->params), kn_str_text(&t->key),
                  kn_str_text(&t->elements));
    inner.failed |= t->key.failed;
    kn_str_free(&t->key);
    t->key = inner;
}

static kiln_status make_count(kiln_kernel **out, const kn_sort_making *m, int k, int part, int by,
                              bool has_keys)
{
    const kn_program *p = m->s->signature;
    texts t = {.in = KN_STR_INIT};
    const char *reads = "";
    if (by == KN_BY_ORDER) {
        kn_str_printf(&t.in, "%c _order, ", m->letter.order);
        put_ordered_key(&t, m, k, part, "i - _J + _order");
        reads = "_order";
    } else {
        put_key(&t, m, k, part);
        put_reads(&t.reads, p, m->keys[k].key);
        reads = kn_str_text(&t.reads);
    }
    if (!has_keys)
        kn_str_printf(&t.in, "raw %c _type, ", m->letter.key);
    put_params(&t.in, p, 0, p->n_in, by == KN_BY_ORDER);
    if (has_keys)
        kn_str_printf(&t.outs, "%c _keys, ", m->letter.key);
    kn_str_printf(&t.outs, "raw %c _counts", m->letter.word);
    kn_str_printf(&t.values, "%c _kn_key", m->letter.key);
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION,
         .label = "key",
         .reads = reads,
         .gives = "_kn_key",
         .body = kn_str_text(&t.key)},
        {.kind = KN_COUNT, .label = "count", .reads = "_kn_key", .gives = "_counts", .body = ""},
        {.kind = KN_MAP,
         .label = "put",
         .reads = has_keys ? "_kn_key" : "",
         .gives = has_keys ? "_keys" : "",
         .body = has_keys ? "_keys = kn_key" : ""}};
    kiln_status status = check(&t);
    if (status == KILN_OK)
        status =
            make_kernel(out, m, kn_str_text(&t.in), kn_str_text(&t.outs), kn_str_text(&t.values), stages);
    return finish(&t, status);
}

static bool has_results(const kn_sort_making *m)
{
    return m->s->along.count != KN_SORT_ALL;
}

static void put_results(kn_str *out, const kn_sort_making *m)
{
    kn_str_append(out, has_results(m) ? ", int64 _results" : "");
}

static const char place_along[] = "kn_to - (i - _J)";

/* The body at an element's place, if `along`, where that is along the axis, is one of the results: a call of
 * a function whose parameters have been written, and `i`, unless that is "". */
static void put_body(texts *t, const kn_sort_making *m, const char *along, const char *i, const char *at)
{
    if (has_results(m))
        kn_str_printf(&t->put, "if (%s < _results) ", along);
    kn_str_printf(&t->put, "[&](%s%s) {\n%s;\n}(%s%s)", kn_str_text(&t->params), i, m->body,
                  kn_str_text(&t->elements), at);
}

/* A pass: the digit of each element, its place by that, and what is put there. */
static kiln_status make_place(kiln_kernel **out, const kn_sort_making *m, const texts *t,
                              const char *digit_reads, const char *digit)
{
    const kn_stage_text stages[] = {{.kind = KN_MAP_EXPRESSION,
                                     .label = "bits",
                                     .reads = digit_reads,
                                     .gives = "_kn_digit",
                                     .body = digit},
                                    {.kind = KN_PLACE,
                                     .label = "place",
                                     .reads = "_kn_digit, _counts, _rest",
                                     .gives = "_kn_to, _words",
                                     .body = ""},
                                    {.kind = KN_MAP,
                                     .label = "put",
                                     .reads = kn_str_text(&t->reads),
                                     .gives = "",
                                     .body = kn_str_text(&t->put)}};
    kiln_status status = check(t);
    return status == KILN_OK ? make_kernel(out, m, kn_str_text(&t->in), kn_str_text(&t->outs),
                                           "uint32 _kn_digit, int64 _kn_to", stages)
                             : status;
}

/* A pass that stores `put`, whose parameters are the user's too if it is the last one. */
static kiln_status make_pass(kiln_kernel **out, const kn_sort_making *m, texts *t, bool has_order,
                             bool is_last)
{
    const kn_program *p = m->s->signature;
    kn_str_printf(&t->in, "%c _key, ", m->letter.key);
    if (has_order)
        kn_str_printf(&t->in, "%c _order, ", m->letter.order);
    kn_str_printf(&t->in, "raw %c _counts, int32 _shift, int32 _rest", m->letter.word);
    if (is_last) {
        put_results(&t->in, m);
        kn_str_append(&t->in, ", ");
        put_params(&t->in, p, 0, p->n_in, true);
        put_params(&t->outs, p, p->n_in, p->n_in + p->n_out, true);
    } else {
        kn_str_printf(&t->outs, "raw %c _keys, raw %c _orders", m->letter.key, m->letter.order);
    }
    kn_str_printf(&t->outs, ", raw %c _words", m->letter.word);
    kn_str_printf(&t->reads, "_kn_to%s%s%s", is_last ? "" : ", _key", has_order ? ", _order" : "",
                  is_last && has_results(m) ? ", _results" : "");
    return make_place(out, m, t, "_key, _shift", "kn_sort_low_bits(_key, _shift)");
}

/* ---- what has none of the user's texts: the same kernels for all sorts, of which bundles have some ---- */

static const kn_sort_letters own_letters = {'K', 'O', 'W'};

static kiln_status make_inner(kiln_kernel **out, kn_sorting *s, bool has_order)
{
    const kn_sort_making own = {.s = s, .name = "sort_pass", .letter = own_letters};
    texts t = {.in = KN_STR_INIT};
    kn_str_printf(&t.put, "_keys[kn_to] = _key; _orders[kn_to] = %s", has_order ? "_order" : "_J");
    return finish(&t, make_pass(out, &own, &t, has_order, false));
}

static kiln_status make_digits(kiln_kernel **out, kn_sorting *s)
{
    const kn_sort_making own = {.s = s, .name = "sort_digits", .letter = own_letters};
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION, .label = "key", .reads = "_key", .gives = "_kn_key", .body = "_key"},
        {.kind = KN_COUNT, .label = "count", .reads = "_kn_key", .gives = "_counts", .body = ""},
        {.kind = KN_MAP, .label = "put", .reads = "", .gives = "", .body = ""}};
    return make_kernel(out, &own, "K _key", "raw W _counts", "K _kn_key", stages);
}

/* ---- quick steps ---- */

static kiln_status make_map(kiln_kernel **out, const kn_sort_making *m, const texts *t)
{
    const kn_program *p = m->s->signature;
    const kn_stage_text stage = {.kind = KN_MAP,
                                 .label = "",
                                 .reads = kn_str_text(&t->reads),
                                 .gives = kn_str_text(&t->values),
                                 .body = kn_str_text(&t->put)};
    const kn_program_text text = {.name = p->name,
                                  .in = kn_str_text(&t->in),
                                  .out = kn_str_text(&t->outs),
                                  .values = "",
                                  .stage = &stage,
                                  .n_stages = 1,
                                  .options = m->options};
    kiln_status status = check(t);
    return status == KILN_OK ? kn_kernel_create_text(out, &text) : status;
}

/* The keys of elements as they lie, with their places as orders, or in the order that there is. */
static kiln_status make_key_map(kiln_kernel **out, const kn_sort_making *m, int k, int part, int by)
{
    const kn_program *p = m->s->signature;
    texts t = {.in = KN_STR_INIT};
    if (by == KN_BY_ORDER)
        kn_str_printf(&t.in, "%c _order, ", m->letter.order);
    put_params(&t.in, p, 0, p->n_in, by == KN_BY_ORDER);
    kn_str_printf(&t.outs, "%c _keys", m->letter.key);
    kn_str_append(&t.values, "_keys");
    if (by == KN_BY_ORDER) {
        put_ordered_key(&t, m, k, part, "_order");
        kn_str_append(&t.reads, "_order");
        kn_str_printf(&t.put, "_keys = %s", kn_str_text(&t.key));
    } else {
        put_key(&t, m, k, part);
        put_reads(&t.reads, p, m->keys[k].key);
        kn_str_printf(&t.outs, ", %c _orders", m->letter.order);
        kn_str_append(&t.values, ", _orders");
        kn_str_printf(&t.put, "_keys = %s; _orders = i", kn_str_text(&t.key));
    }
    return finish(&t, make_map(out, m, &t));
}

/* The number of an element in its row. Divisions are slow: those of the first row, often the only one, are
 * left out. */
#define ALONG(number) "(" number " < _length ? " number " : " number " % _length)"

static kiln_status make_put(kiln_kernel **out, const kn_sort_making *m)
{
    const kn_program *p = m->s->signature;
    texts t = {.in = KN_STR_INIT};
    kn_str_printf(&t.in, "%c _order, uint32 _length", m->letter.order);
    put_results(&t.in, m);
    kn_str_append(&t.in, ", ");
    put_params(&t.in, p, 0, p->n_in, true);
    put_params(&t.outs, p, p->n_in, p->n_in + p->n_out, true);
    put_elements(&t.params, &t.elements, p, m->body, 0, p->n_in + p->n_out, "_order");
    kn_str_printf(&t.reads, "_order, _length%s", has_results(m) ? ", _results" : "");
    kn_str_append(&t.put, "const long long kn_to = i; ");
    if (kn_text_has_word(m->body, "i"))
        put_body(&t, m, ALONG("(unsigned)i"), "const long long i", ALONG("_order"));
    else
        put_body(&t, m, ALONG("(unsigned)i"), "int", "0");
    return finish(&t, make_map(out, m, &t));
}

/* Names of parameters that quick steps alone have. */
static bool has_name_of_quick(const kn_program *p)
{
    bool has = false;
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        has = has || strcmp(p->param[k].name, "_length") == 0 || strcmp(p->param[k].name, "_orders") == 0;
    return has;
}

static kiln_status make_quick(const kn_sort_making *m)
{
    kn_sorting *s = m->s;
    if (m->options->flags & KILN_KERNEL_CHECK || has_name_of_quick(s->signature))
        return KILN_OK; /* reports are those of the best steps */
    kiln_status status = make_digits(&s->digits, s);
    for (int k = 0; k < s->n_keys; ++k)
        for (int part = 0; part < KN_KEY_PARTS; ++part)
            for (int by = KN_BY_NOTHING; by <= KN_BY_ORDER && status == KILN_OK; ++by)
                status = make_key_map(&s->key[k].map[part][by], m, k, part, by);
    return status == KILN_OK ? make_put(&s->put, m) : status;
}

static kiln_status make_last(kiln_kernel **out, const kn_sort_making *m, bool has_order)
{
    const kn_program *p = m->s->signature;
    texts t = {.in = KN_STR_INIT};
    put_elements(&t.params, &t.elements, p, m->body, 0, p->n_in + p->n_out,
                 has_order ? "i - _J + _order" : "i - _J + _J");
    put_body(&t, m, place_along, "const long long i", has_order ? "_order" : "_J");
    return finish(&t, make_pass(out, m, &t, has_order, true));
}

/* A pass that moves elements. Inputs that are not moved are raw. */
static kiln_status make_move(const kn_sort_making *m, bool is_last)
{
    const kn_program *p = m->s->signature;
    texts t = {.in = KN_STR_INIT};
    kn_str key_reads = KN_STR_INIT;
    kn_str_printf(&t.in, "raw %c _counts, int32 _shift, int32 _rest", m->letter.word);
    if (is_last)
        put_results(&t.in, m);
    for (int k = 0; k < p->n_in; ++k) {
        kn_param param = p->param[k];
        param.is_raw = kn_sort_moved_number(m->s, k) < 0;
        kn_str_append(&t.in, ", ");
        kn_param_format(&t.in, &param);
    }
    if (is_last) {
        put_params(&t.outs, p, p->n_in, p->n_in + p->n_out, true);
        put_elements(&t.params, &t.elements, p, m->body, p->n_in, p->n_in + p->n_out, "");
        put_body(&t, m, place_along, "int", "0");
    }
    for (int k = 0; k < m->s->n_moved && !is_last; ++k) {
        kn_param param = p->param[m->s->moved[k]];
        param.is_raw = true;
        kn_str_printf(&t.put, "_to%d[kn_to] = %s; ", k, param.name);
        snprintf(param.name, sizeof param.name, "_to%d", k);
        kn_str_append(&t.outs, k > 0 ? ", " : "");
        kn_param_format(&t.outs, &param);
    }
    kn_str_printf(&t.outs, ", raw %c _words", m->letter.word);
    put_key(&t, m, 0, 0);
    kn_str digit = KN_STR_INIT;
    kn_str_printf(&digit, "kn_sort_low_bits(%s, _shift)", kn_str_text(&t.key));
    put_reads(&key_reads, p, m->keys[0].key);
    kn_str_printf(&key_reads, "%s_shift", kn_str_text(&key_reads)[0] ? ", " : "");
    kn_str_append(&t.reads, is_last && has_results(m) ? "_kn_to, _results" : "_kn_to");
    for (int k = 0; k < m->s->n_moved; ++k)
        if (!is_last || kn_text_has_word(m->body, p->param[m->s->moved[k]].name))
            kn_str_printf(&t.reads, ", %s", p->param[m->s->moved[k]].name);
    kiln_status status =
        key_reads.failed || digit.failed
            ? kn_error_memory("a sort's texts")
            : make_place(&m->s->move[is_last], m, &t, kn_str_text(&key_reads), kn_str_text(&digit));
    kn_str_free(&key_reads);
    kn_str_free(&digit);
    return finish(&t, status);
}

/* Inputs are read at the element that comes to a place, outputs stored there. */
static kiln_status make_rank(const kn_sort_making *m)
{
    const kn_program *p = m->s->signature;
    const int most = kn_sort_most_wanted(m->s);
    texts t = {.in = KN_STR_INIT};
    kn_str body_reads = KN_STR_INIT;
    char wanted[16] = "";
    if (most)
        snprintf(wanted, sizeof wanted, "%d", most);
    kn_str_printf(&t.in, "raw %c _type", m->letter.key);
    put_results(&t.in, m);
    kn_str_append(&t.in, ", ");
    put_params(&t.in, p, 0, p->n_in, false);
    put_params(&t.outs, p, p->n_in, p->n_in + p->n_out, true);
    put_elements(&t.params, &t.elements, p, m->body, p->n_in, p->n_in + p->n_out, "");
    put_body(&t, m, place_along, "const long long i", "_J");
    put_key(&t, m, 0, 0);
    put_reads(&t.reads, p, m->keys[0].key);
    put_reads(&body_reads, p, m->body);
    kn_str_printf(&body_reads, "%s_kn_to%s", kn_str_text(&body_reads)[0] ? ", " : "",
                  has_results(m) ? ", _results" : "");
    kn_str_printf(&t.values, "%c _kn_key, int64 _kn_to", m->letter.key);
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION,
         .label = "key",
         .reads = kn_str_text(&t.reads),
         .gives = "_kn_key",
         .body = kn_str_text(&t.key)},
        {.kind = KN_RANK, .label = "rank", .reads = "_kn_key", .gives = "_kn_to", .body = wanted},
        {.kind = KN_MAP,
         .label = "put",
         .reads = kn_str_text(&body_reads),
         .gives = "",
         .body = kn_str_text(&t.put)}};
    kiln_status status = body_reads.failed ? kn_error_memory("a sort's texts") : check(&t);
    if (status == KILN_OK)
        status = make_kernel(&m->s->rank, m, kn_str_text(&t.in), kn_str_text(&t.outs), kn_str_text(&t.values),
                             stages);
    kn_str_free(&body_reads);
    return finish(&t, status);
}

/* The inputs that the key and the body name are moved, if these are few. */
static kiln_status make_moves(const kn_sort_making *m)
{
    kn_sorting *s = m->s;
    const kn_program *p = s->signature;
    if (s->n_keys != 1 || kn_text_has_word(m->body, "i") || kn_text_has_word(m->keys[0].key, "i"))
        return KILN_OK;
    for (int k = 0; k < p->n_in; ++k) {
        const char *name = p->param[k].name;
        if (p->param[k].is_raw ||
            (!kn_text_has_word(m->body, name) && !kn_text_has_word(m->keys[0].key, name)))
            continue;
        if (s->n_moved == KN_MOST_MOVED) {
            s->n_moved = 0;
            return KILN_OK;
        }
        s->moved[s->n_moved++] = k;
    }
    if (s->n_moved == 0)
        return KILN_OK;
    kiln_status status = make_count(&s->count_moved, m, 0, 0, KN_BY_NOTHING, false);
    for (int is_last = 0; is_last < 2 && status == KILN_OK; ++is_last)
        status = make_move(m, is_last);
    return status;
}

static bool has_same_type(const kn_param *a, const kn_param *b)
{
    return a->type == b->type &&
           (a->type == KN_TYPE_PLACEHOLDER ? a->placeholder == b->placeholder : a->dtype == b->dtype);
}

/* One input, which is the key, and is stored as it is. */
static bool is_key_alone(const kn_sort_making *m)
{
    const kn_program *p = m->s->signature;
    kn_str body = KN_STR_INIT;
    if (m->s->n_keys != 1 || p->n_in != 1 || p->n_out != 1 || strcmp(m->keys[0].key, p->param[0].name) != 0)
        return false;
    kn_str_printf(&body, "%s = %s", p->param[1].name, p->param[0].name);
    bool is_alone = !body.failed && strcmp(m->body, kn_str_text(&body)) == 0;
    kn_str_free(&body);
    return is_alone && has_same_type(&p->param[0], &p->param[1]) &&
           has_same_type(&p->param[0], &m->s->key[0].type);
}

/* Kernels that make sorted bytes of their counts. */
static kiln_status make_bytes(kn_sorting *s)
{
    const kn_sort_making own = {.s = s, .name = "sort_starts", .letter = own_letters};
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION,
         .label = "count",
         .reads = "_counts",
         .gives = "_kn_count",
         .body = "_counts"},
        {.kind = KN_SCAN, .label = "scan", .reads = "_kn_count", .gives = "_kn_sum", .body = "a + b"},
        {.kind = KN_MAP,
         .label = "start",
         .reads = "_counts, _kn_sum",
         .gives = "_starts",
         .body = "_starts = kn_sum - _counts"}};
    kiln_status status =
        make_kernel(&s->starts, &own, "W _counts", "W _starts", "W _kn_count, W _kn_sum", stages);
    if (status == KILN_OK)
        status = kiln_elementwise_create(
            &s->eight_bytes, "raw W starts, int32 bits", "uint64 y",
            "y = kn_sort_bytes(starts, 8 * (long long)i) ^ (unsigned long long)bits * 0x0101010101010101ull",
            "sorted_bytes", NULL);
    return status == KILN_OK
               ? kiln_elementwise_create(
                     &s->byte, "raw W starts, int32 bits, int64 length, int64 first", "uint8 y",
                     "const long long at = first + i;\n"
                     "y = (unsigned char)(kn_sort_byte(starts, at / length, at % length) ^ (unsigned)bits)",
                     "sorted_byte", NULL)
               : status;
}

static kiln_status make_alone(const kn_sort_making *m)
{
    static const char *const to[] = {"key = kn_sort_exact<0, T>(x)", "key = kn_sort_exact<1, T>(x)"};
    static const char *const back[] = {"y = kn_sort_element<0, T>(key)", "y = kn_sort_element<1, T>(key)"};
    const bool is_down = m->keys[0].flags & KILN_SORT_DESCENDING;
    m->s->is_descending = is_down;
    kiln_status status = kiln_elementwise_create(&m->s->exact, "T x", "K key", to[is_down], "keys", NULL);
    return status == KILN_OK
               ? kiln_elementwise_create(&m->s->element, "K key", "T y", back[is_down], "elements", NULL)
               : status;
}

kiln_status kn_sort_make_kernels(const kn_sort_making *m)
{
    kn_sorting *s = m->s;
    kiln_status status = s->n_keys == 1 ? make_rank(m) : KILN_OK;
    if (status == KILN_OK && is_key_alone(m))
        status = make_alone(m);
    if (status == KILN_OK && s->exact)
        status = make_bytes(s);
    if (status == KILN_OK)
        status = make_moves(m);
    if (status == KILN_OK)
        status = make_inner(&s->first, s, false);
    if (status == KILN_OK)
        status = make_inner(&s->middle, s, true);
    if (status == KILN_OK)
        status = make_quick(m);
    for (int by = KN_BY_NOTHING; by <= KN_BY_ORDER && status == KILN_OK; ++by)
        status = make_last(&s->last[by], m, by == KN_BY_ORDER);
    for (int k = 0; k < s->n_keys; ++k)
        for (int part = 0; part < KN_KEY_PARTS; ++part)
            for (int by = KN_BY_NOTHING; by <= KN_BY_ORDER && status == KILN_OK; ++by)
                status = make_count(&s->key[k].count[part][by], m, k, part, by, true);
    return status;
}

kiln_status kn_sort_make_signature(kn_sort_making *m, const char *in_params, const char *out_params)
{
    return kn_program_elementwise(&m->s->signature, in_params, out_params, m->body, m->name, m->options);
}
