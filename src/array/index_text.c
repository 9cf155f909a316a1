/* Python's basic indexing, from text.
 *
 *   index := [ item { "," item } [ "," ] ]
 *   item  := "..." | "None" | "newaxis" | integer | [ integer ] ":" [ integer ] [ ":" [ integer ] ]
 */
#include "array/array.h"
#include "base/error.h"
#include "base/caret.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS_MAX = 2 * KILN_MAX_NDIM + 1 };

typedef enum item_kind { ITEM_INTEGER, ITEM_SLICE, ITEM_NEW_AXIS, ITEM_ELLIPSIS } item_kind;

typedef struct item {
    item_kind kind;
    bool is_huge;     /* ITEM_INTEGER: does not fit int64 */
    int64_t value[3]; /* start, stop, step; or the integer */
    size_t at, length;
} item;

typedef struct index_parser {
    const char *text;
    size_t at;
    int count, axes, ellipsis; /* axes: items that use up an axis; ellipsis: its item, or -1 */
    item items[ITEMS_MAX];
} index_parser;

/* ---- text ---- */

static void skip_blanks(index_parser *p)
{
    p->at += strspn(p->text + p->at, " \t\r\n");
}

static bool take(index_parser *p, const char *token)
{
    size_t n = strlen(token);
    if (strncmp(p->text + p->at, token, n) ||
        (kn_is_name_char(*token) && kn_is_name_char(p->text[p->at + n])))
        return false;
    p->at += n;
    skip_blanks(p);
    return true;
}

static kiln_status syntax(const index_parser *p, size_t at, size_t length, const char *message)
{
    return kn_error_at(KILN_ERROR_SYNTAX, p->text, at, length ? length : 1, "index: %s", message);
}

static int digit_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

static int take_base(index_parser *p)
{
    static const char letters[] = "xXoObB";
    static const int bases[] = {16, 16, 8, 8, 2, 2};
    const char *letter =
        p->text[p->at] == '0' && p->text[p->at + 1] ? strchr(letters, p->text[p->at + 1]) : NULL;
    if (!letter)
        return 10;
    p->at += 2;
    return bases[letter - letters];
}

/* Digits with single underscores between them, as Python writes integers; stops at the ends of int64. */
static kiln_status take_digits(index_parser *p, bool negative, int64_t *value, bool *is_huge)
{
    size_t begin = p->at;
    int base = take_base(p);
    uint64_t magnitude = 0, limit = (uint64_t)INT64_MAX + negative;
    bool leading_zero = base == 10 && p->text[p->at] == '0', after_digit = base != 10, any = false;
    for (;; p->at++) {
        char c = p->text[p->at];
        int digit = digit_value(c);
        if (c == '_' && after_digit) {
            after_digit = false;
            continue;
        }
        if (digit >= base)
            break;
        after_digit = any = true;
        *is_huge |= magnitude > (limit - (unsigned)digit) / (unsigned)base;
        magnitude = *is_huge ? limit : magnitude * (unsigned)base + (unsigned)digit;
    }
    if (!any || !after_digit || kn_is_name_char(p->text[p->at]) || p->text[p->at] == '.')
        return syntax(p, begin, p->at - begin + 1, "expected an integer");
    if (leading_zero && magnitude)
        return syntax(p, begin, p->at - begin, "an integer does not begin with 0");
    *value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    skip_blanks(p);
    return KILN_OK;
}

static bool at_integer(const index_parser *p)
{
    char c = p->text[p->at];
    return (c >= '0' && c <= '9') || c == '-' || c == '+';
}

static kiln_status take_integer(index_parser *p, int64_t *value, bool *is_huge)
{
    bool negative = false;
    while (p->text[p->at] == '-' || p->text[p->at] == '+') {
        negative ^= p->text[p->at] == '-';
        p->at++;
        skip_blanks(p);
    }
    if (digit_value(p->text[p->at]) > 9)
        return syntax(p, p->at, 1, "expected an integer");
    return take_digits(p, negative, value, is_huge);
}

/* ---- items ---- */

/* Bounds beyond int64 are clipped, as Python does; INT64_MIN itself means "none" further on. */
static kiln_status take_bound(index_parser *p, int64_t *value)
{
    bool is_huge = false;
    if (take(p, "None") || !at_integer(p))
        return KILN_OK;
    kiln_status status = take_integer(p, value, &is_huge);
    if (!status && *value == KILN_SLICE_NONE)
        *value = -INT64_MAX;
    return status;
}

static kiln_status parse_slice(index_parser *p, item *it)
{
    kiln_status status = KILN_OK;
    it->kind = ITEM_SLICE;
    for (int k = 1; k < 3 && !status && take(p, ":"); k++)
        status = take_bound(p, &it->value[k]);
    if (!status && it->value[2] == 0)
        return syntax(p, it->at, p->at - it->at, "the step of a slice is 0");
    return status;
}

static kiln_status parse_item(index_parser *p, item *it)
{
    *it = (item){.at = p->at, .value = {KILN_SLICE_NONE, KILN_SLICE_NONE, KILN_SLICE_NONE}};
    if (take(p, "...")) {
        it->kind = ITEM_ELLIPSIS;
        return p->ellipsis >= 0 ? syntax(p, it->at, 3, "there can be one ellipsis only") : KILN_OK;
    }
    kiln_status status = KILN_OK;
    bool is_none = take(p, "None") || take(p, "newaxis"), is_integer = !is_none && at_integer(p);
    if (is_integer)
        status = take_integer(p, &it->value[0], &it->is_huge);
    if (status)
        return status;
    if (p->text[p->at] == ':') {
        it->value[0] += is_integer && it->value[0] == KILN_SLICE_NONE; /* as in take_bound */
        return parse_slice(p, it);
    }
    it->kind = is_none ? ITEM_NEW_AXIS : ITEM_INTEGER;
    return is_none || is_integer ? KILN_OK
                                 : syntax(p, p->at, 1, "expected an integer, a slice, None or '...'");
}

static kiln_status parse_items(index_parser *p)
{
    skip_blanks(p);
    if (!p->text[p->at])
        return KILN_OK; /* a[()]: all of it */
    do {
        if (p->count == ITEMS_MAX)
            return syntax(p, p->at, 1, "too many items");
        item *it = &p->items[p->count];
        kiln_status status = parse_item(p, it);
        if (status)
            return status;
        for (it->length = p->at - it->at;
             it->length > 1 && strchr(" \t\r\n", p->text[it->at + it->length - 1]);)
            it->length--;
        if (it->kind == ITEM_ELLIPSIS)
            p->ellipsis = p->count;
        p->axes += it->kind == ITEM_INTEGER || it->kind == ITEM_SLICE;
        p->count++;
    } while (take(p, ",") && p->text[p->at]);
    return p->text[p->at] ? syntax(p, p->at, 1, "expected ','") : KILN_OK;
}

/* ---- view ---- */

typedef struct view_builder {
    const kiln_array *array;
    int axis, ndim; /* next axis of the array; axes of the result so far */
    char *data;
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
} view_builder;

static void push_axis(view_builder *v, int64_t extent, int64_t stride)
{
    v->shape[v->ndim] = extent;
    v->strides[v->ndim++] = stride;
}

static kiln_status select_index(const index_parser *p, const item *it, view_builder *v)
{
    int64_t extent = v->array->shape[v->axis], k = it->value[0];
    if (it->is_huge || k < -extent || k >= extent)
        return kn_error_at(KILN_ERROR_SHAPE, p->text, it->at, it->length,
                           "index: %.*s is out of range for axis %d of extent %" PRId64, (int)it->length,
                           p->text + it->at, v->axis, extent);
    v->data += (k < 0 ? k + extent : k) * v->array->strides[v->axis++];
    return KILN_OK;
}

static void slice_axis(const item *it, view_builder *v)
{
    int64_t stride = v->array->strides[v->axis], start = it->value[0];
    int64_t step = it->value[2] == KILN_SLICE_NONE ? 1 : it->value[2];
    int64_t count = kn_slice_clip(v->array->shape[v->axis++], &start, it->value[1], step);
    v->data += start * stride;
    push_axis(v, count, kn_slice_stride(stride, step, count));
}

static void keep_axes(view_builder *v, int count)
{
    for (; count > 0; count--, v->axis++)
        push_axis(v, v->array->shape[v->axis], v->array->strides[v->axis]);
}

static kiln_status apply_items(const index_parser *p, view_builder *v)
{
    kiln_status status = KILN_OK;
    int left = v->array->ndim - p->axes;
    for (int k = 0; k < p->count && !status; k++) {
        const item *it = &p->items[k];
        if (it->kind == ITEM_INTEGER)
            status = select_index(p, it, v);
        else if (it->kind == ITEM_SLICE)
            slice_axis(it, v);
        else if (it->kind == ITEM_NEW_AXIS)
            push_axis(v, 1, 0);
        else
            keep_axes(v, left);
    }
    keep_axes(v, v->array->ndim - v->axis);
    return status;
}

/* Checks the number of axes of the result before any is added. */
static kiln_status check_axes(const index_parser *p, const kiln_array *array)
{
    int result = array->ndim;
    for (int k = 0; k < p->count; k++)
        result += p->items[k].kind == ITEM_NEW_AXIS ? 1 : p->items[k].kind == ITEM_INTEGER ? -1 : 0;
    if (p->axes > array->ndim)
        return kn_error(KILN_ERROR_SHAPE, "index: '%s' has %d indices, but the array has %d axes", p->text,
                        p->axes, array->ndim);
    if (result > KILN_MAX_NDIM)
        return kn_error(KILN_ERROR_SHAPE, "index: the result would have %d axes; %d are possible", result,
                        KILN_MAX_NDIM);
    return KILN_OK;
}

/* Records the items of an index of a traced array. */
static kiln_status record(kiln_array **out, const kiln_array *array, const index_parser *p)
{
    static const kn_subscript_kind kinds[] = {[ITEM_INTEGER] = KN_SUBSCRIPT_INDEX,
                                              [ITEM_SLICE] = KN_SUBSCRIPT_SLICE,
                                              [ITEM_NEW_AXIS] = KN_SUBSCRIPT_NEW,
                                              [ITEM_ELLIPSIS] = KN_SUBSCRIPT_REST};
    kn_subscript subscript[ITEMS_MAX + 1];
    for (int k = 0; k < p->count; k++)
        subscript[k] = (kn_subscript){kinds[p->items[k].kind], p->items[k].value[0], p->items[k].value[1],
                                      p->items[k].value[2]};
    return array->recorder->functions->index(out, array, subscript, p->count);
}

kiln_status kiln_array_index(kiln_array **out, const kiln_array *array, const char *index)
{
    if (!out || !array || !index)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_index: %s is NULL",
                        !out     ? "out"
                        : !array ? "array"
                                 : "index");
    index_parser p = {.text = index, .ellipsis = -1};
    view_builder v = {.array = array, .data = array->data};
    kiln_status status = parse_items(&p);
    if (!status)
        status = check_axes(&p, array);
    if (!status)
        status = apply_items(&p, &v);
    if (!status && array->recorder)
        return record(out, array, &p);
    return status ? status : kn_array_view(out, array, v.data, v.ndim, v.shape, v.strides);
}
