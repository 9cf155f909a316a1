/* Functions of expressions that read elements by indices: each is a node of a kernel that is remembered. */
#include "expr/call.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "expr/composed.h"
#include "expr/indexing.h"
#include "expr/lists.h"
#include "kernel/sort.h"

/* Ways with indices that are outside, behind the one that counts from the end. What is taken of no elements
 * is zero. */
typedef enum mode { RAISE, WRAP, CLIP, MODES } mode;
static const char *const mode_words[] = {[RAISE] = "raise", [WRAP] = "wrap", [CLIP] = "clip", [MODES] = NULL};
static const struct {
    const char *text, *guard;
} modes[MODES] = {[RAISE] = {"k = k < 0 ? k + n : k;", ""},
                  [WRAP] = {"k = n > 0 ? k % n : k; k = k < 0 ? k + n : k;", "n == 0 ? (T)0 : "},
                  [CLIP] = {"k = k < 0 ? 0 : k >= n ? n - 1 : k;", "n == 0 ? (T)0 : "}};

enum { NO_AXIS = KILN_MAX_NDIM, PLACES = 1 /* which */ };

/* Elements of all axes, in C order, or of one axis, at the place that the others have. */
static void write_body(kn_str *out, mode m, int axis, bool gives_places)
{
    if (axis == NO_AXIS) {
        kn_str_printf(out, "const int64 n = a.size(); int64 k = (int64)index; %s y = %sa[k]", modes[m].text,
                      modes[m].guard);
        return;
    }
    kn_str_printf(out,
                  "auto place = _ind.get();\n"
                  "for (int d = 0; d < a.ndim; ++d) place.at[d] = a.shape()[d] == 1 ? 0 : place.at[d];\n"
                  "const int axis = %d%s; const int64 n = a.shape()[axis]; int64 k = (int64)index;\n"
                  "%s\nplace.at[axis] = k;\n",
                  axis, axis < 0 ? " + a.ndim" : "", modes[m].text);
    if (gives_places)
        kn_str_append(out, "int64 number = 0;\n(void)a[place];\n"
                           "for (int d = 0; d < a.ndim; ++d) number = number * a.shape()[d] + place.at[d];\n"
                           "y = number");
    else
        kn_str_printf(out, "y = %sa[place]", modes[m].guard);
}

typedef struct taking {
    const char *name, *body;
    mode mode;
    bool has_axis, gives_places;
} taking;

static kiln_status make(kiln_kernel **out, const void *of)
{
    const taking *t = of;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.flags = t->mode == RAISE ? KILN_KERNEL_CHECK : 0;
    kiln_status status =
        kiln_elementwise_create(out, t->has_axis ? "raw T a, T like, I index" : "raw T a, I index",
                                t->gives_places ? "int64 y" : "T y", t->body, t->name, &o);
    if (status == KILN_OK)
        (*out)->whole_inputs = t->has_axis ? 4 : 2;
    return status;
}

static kiln_status find_kernel(kiln_kernel **out, const char *name, mode m, int axis, bool gives_places)
{
    kn_str body = KN_STR_INIT, key = KN_STR_INIT;
    write_body(&body, m, axis, gives_places);
    kn_str_printf(&key, "%s %d %s", name, (int)m, kn_str_text(&body));
    const taking t = {name, kn_str_text(&body), m, axis != NO_AXIS, gives_places};
    kiln_status status = kn_str_status(&body, "a text");
    if (status == KILN_OK)
        status = kn_kernel_remembered(out, &key, make, &t);
    kn_str_free(&body);
    kn_str_free(&key);
    return status;
}

static kiln_status read_mode(mode *out, const kn_parser *p, const kn_value *value)
{
    int number = 0;
    kiln_status status = kn_call_word(&number, p, value, mode_words, "mode");
    *out = (mode)number;
    return status;
}

/* `like`: the array with extent 1 along the axis, so that the other axes broadcast with those of indices. */
static kiln_status add_along(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *a,
                             const kn_value *index, mode m, int axis)
{
    const kn_subscript first = {KN_SUBSCRIPT_SLICE, 0, 1, KILN_SLICE_NONE};
    kn_value like = *a;
    kiln_kernel *kernel = NULL;
    char name[32];
    int in[3], n_in = 0;
    kiln_status status = KILN_OK;
    snprintf(name, sizeof name, "%.*s", (int)c->name_length, c->name);
    if (axis != NO_AXIS)
        status = kn_call_add_part(&like, p, c, a, first, axis);
    if (status == KILN_OK)
        status = kn_parser_node(&in[n_in++], p, a);
    if (status == KILN_OK && axis != NO_AXIS)
        status = kn_parser_node(&in[n_in++], p, &like);
    if (status == KILN_OK)
        status = kn_parser_node(&in[n_in++], p, index);
    if (status == KILN_OK)
        status = find_kernel(&kernel, name, m, axis, c->which == PLACES);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, n_in, 1) : status;
}

/* Indices that wrap, or are clipped, are inside afterwards. */
static kiln_status bring_inside(kn_value *index, kn_parser *p, const kn_called *c, const kn_value *a, mode m,
                                int axis)
{
    static const char *const names[] = {"i", "x"};
    kn_value part[2] = {*index, *a};
    char text[64];
    if (m == RAISE)
        return KILN_OK;
    snprintf(text, sizeof text,
             m == WRAP ? "astype(i, int64) %% x.shape[%d]" : "clip(astype(i, int64), 0, x.shape[%d] - 1)",
             axis);
    return kn_compose(index, p, c, text, names, part, 2);
}

/* take(a, indices, axis=None, mode='raise') */
kiln_status kn_call_take(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "indices", "axis", "mode"};
    const kn_subscript whole = {KN_SUBSCRIPT_SLICE, KILN_SLICE_NONE, KILN_SLICE_NONE, KILN_SLICE_NONE};
    kn_value slot[4] = {{0}};
    int axis = NO_AXIS;
    mode m = RAISE;
    kiln_status status = kn_call_match(slot, p, c, names, 4, 3, 2);
    if (status == KILN_OK)
        status = read_mode(&m, p, &slot[3]);
    if (status == KILN_OK)
        status = kn_list_array(&slot[1], p);
    if (status != KILN_OK || !kn_call_is_given(&slot[2]))
        return status == KILN_OK ? add_along(out, p, c, &slot[0], &slot[1], m, axis) : status;
    status = kn_call_axis(&axis, p, &slot[2]);
    if (status == KILN_OK)
        status = bring_inside(&slot[1], p, c, &slot[0], m, axis);
    kn_index_text *index = status == KILN_OK ? kn_calloc(1, sizeof *index) : NULL;
    if (status == KILN_OK && !index)
        return kn_error_memory("an index");
    if (status != KILN_OK)
        return status;
    index->at = c->at;
    index->length = c->length;
    if (axis < 0)
        index->item[index->n_items++] = (kn_subscript){.kind = KN_SUBSCRIPT_REST};
    for (int a = 0; a < axis; ++a)
        index->item[index->n_items++] = whole;
    status = kn_index_add(index, p, &slot[1]);
    for (int a = axis; a < -1; ++a)
        index->item[index->n_items++] = whole;
    if (status == KILN_OK)
        status = kn_index_read(out, p, &slot[0], index);
    kn_free(index);
    return status;
}

/* take_along_axis(arr, indices, axis=-1): both have the same number of axes, and broadcast. places_along: the
 * numbers of those elements among all of arr. */
kiln_status kn_call_take_along_axis(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"arr", "indices", "axis"};
    kn_value slot[3] = {{0}};
    int axis = -1;
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 2);
    if (status == KILN_OK && slot[2].kind == KN_VALUE_NONE)
        axis = NO_AXIS;
    else if (status == KILN_OK && slot[2].kind != KN_VALUE_ABSENT)
        status = kn_call_axis(&axis, p, &slot[2]);
    return status == KILN_OK ? add_along(out, p, c, &slot[0], &slot[1], RAISE, axis) : status;
}

/* ---- values where a mask is ---- */

/* putmask(a, mask, values), and placed_by(arr, mask, vals, counts), whose counts are of the mask's elements
 * up to each: values are taken again and again. */
kiln_status kn_call_put_mask(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "mask", "values", "counts"}, *const numbers[] = {
                                                                              "i", "(counts[i] - 1)"};
    const int n_in = 3 + c->which;
    kn_value slot[4] = {{0}};
    kiln_kernel *kernel = NULL;
    kn_str body = KN_STR_INIT;
    int in[4];
    kiln_status status = kn_call_match(slot, p, c, names, n_in, n_in, n_in);
    if (status == KILN_OK) {
        kn_value given[] = {slot[0], slot[1]}; /* as many elements, in any shape */
        status = kn_compose(&slot[1], p, c, "shaped_as(mask, a)", names, given, 2);
    }
    if (status == KILN_OK) { /* a number, of the call, has no elements */
        kn_value given = slot[2];
        status = kn_compose(&slot[2], p, c, "atleast_1d(values)", names + 2, &given, 1);
    }
    for (int k = 0; k < n_in && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &slot[k]);
    kn_str_printf(&body, "const int64 n = values.size(); y = mask != (M)0 && n > 0 ? (T)values[%s %% n] : a",
                  numbers[c->which]);
    if (status == KILN_OK)
        status = kn_str_status(&body, "a text");
    if (status == KILN_OK)
        status = kn_map_find(&kernel, &(kn_map_texts){c->which ? "T a, M mask, raw V values, raw int64 counts"
                                                               : "T a, M mask, raw V values",
                                                      "T y", kn_str_text(&body),
                                                      c->which ? "place" : "putmask", 0, 0});
    kn_str_free(&body);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, n_in, 1) : status;
}
