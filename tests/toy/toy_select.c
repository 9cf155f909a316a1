/* A selection, whose result is as long as the data says: a function, two launches, and another algorithm. */
#include "toy_algorithms.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/algorithm.h"

typedef struct selection {
    kiln_kernel *flags, *elements, *scan;
    toy_select what;
} selection;

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    (void)context;
    if (in->is_number || in->ndim != 1)
        return kn_error(KILN_ERROR_SHAPE, "toy_select: 'x' has %d axes; an array of one was expected",
                        in->ndim);
    out->dtype = j == 0 ? in->dtype : KILN_INT64;
    out->ndim = j == 0 ? 1 : 0;
    out->shape[0] = in->shape[0];
    out->is_late = j == 0;
    return KILN_OK;
}

/* value: y, its bytes, the count. Queued, as all that steps do. */
static kiln_status clear(kn_device *device, const void *const *value, void *stream)
{
    static const unsigned char zero = 0;
    int64_t bytes;
    memcpy(&bytes, value[1], sizeof bytes);
    void *y = (void *)(uintptr_t)value[0], *count = (void *)(uintptr_t)value[2];
    kiln_status status = device->backend->fill(device, count, &zero, 1, sizeof(int64_t), stream);
    return status == KILN_OK && bytes > 0 ? device->backend->fill(device, y, &zero, 1, (size_t)bytes, stream)
                                          : status;
}

static kiln_status fail(kn_device *device, const void *const *value, void *stream)
{
    (void)device, (void)value, (void)stream;
    return kn_error(KILN_ERROR_UNSUPPORTED, "toy_select: this function fails");
}

/* The operands of the parts. */
typedef struct places {
    const kn_lowering_call *call;
    const kiln_array *x;
    kn_source from, y, count, flags, at;
} places;

static kiln_status bind_y(kn_lowered_part *part, int k, const places *p)
{
    const kiln_array *given = p->call->out ? p->call->out[0] : NULL;
    return kn_lowered_bind(part, k, p->call, &p->y, p->x->dtype, 1, p->x->shape,
                           given ? given->strides : NULL);
}

static kiln_status bind_count(kn_lowered_part *part, int k, const places *p)
{
    return kn_lowered_bind(part, k, p->call, &p->count, KILN_INT64, 0, NULL, NULL);
}

static kiln_status bind_whole(kn_lowered_part *part, int k, const places *p, const kn_source *source)
{
    return kn_lowered_bind(part, k, p->call, source, KILN_INT64, 1, p->x->shape, NULL);
}

static kiln_status bind_x(kn_lowered_part *part, const places *p)
{
    return kn_lowered_bind(part, 0, p->call, &p->from, p->x->dtype, 1, p->x->shape, p->x->strides);
}

static kiln_status add_clear(kn_lowered *out, const selection *s, const places *p)
{
    kn_lowered_part *part;
    const kiln_arg bytes = kiln_arg_int(p->x->size * p->x->item_size);
    kiln_status status =
        kn_lowered_add_function(&part, out, "toy_clear", s->what == TOY_WRONG_FUNCTION ? fail : clear, 3);
    if (status == KILN_OK)
        status = bind_y(part, 0, p);
    if (status == KILN_OK)
        kn_lowered_bind_number(part, 1, KILN_INT64, &bytes);
    return status == KILN_OK ? bind_count(part, 2, p) : status;
}

static kiln_status add_flags(kn_lowered *out, const selection *s, const places *p)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, s->flags);
    if (status == KILN_OK)
        status = bind_x(part, p);
    return status == KILN_OK ? bind_whole(part, 1, p, &p->flags) : status;
}

static kiln_status add_scan(kn_lowered *out, const selection *s, const places *p)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, s->scan);
    if (status == KILN_OK)
        status = bind_whole(part, 0, p, &p->flags);
    return status == KILN_OK ? bind_whole(part, 1, p, &p->at) : status;
}

static kiln_status add_elements(kn_lowered *out, const selection *s, const places *p)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, s->elements);
    if (status == KILN_OK)
        status = bind_x(part, p);
    if (status == KILN_OK)
        status = bind_whole(part, 1, p, &p->flags);
    if (status == KILN_OK)
        status = bind_whole(part, 2, p, &p->at);
    if (status == KILN_OK)
        status = bind_y(part, 3, p);
    return status == KILN_OK ? bind_count(part, 4, p) : status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const selection *s = context;
    places p = {.call = call,
                .x = call->in[0].value.array,
                .from = {.kind = KN_FROM_INPUT},
                .y = {.kind = KN_FROM_OUTPUT},
                .count = {.kind = KN_FROM_OUTPUT, .index = 1},
                .flags = {.kind = KN_FROM_BUFFER},
                .at = {.kind = KN_FROM_BUFFER}};
    size_t bytes = (size_t)p.x->size * sizeof(int64_t);
    if (call->out && call->out[0] && !call->out[0]->is_c_contiguous)
        return kn_error(KILN_ERROR_UNSUPPORTED, "toy_select: 'y' has steps; a C-ordered array was expected");
    kiln_status status = kn_lowered_add_buffer(&p.flags.index, out, bytes);
    if (status == KILN_OK)
        status = kn_lowered_add_buffer(&p.at.index, out, bytes);
    if (status == KILN_OK && s->what != TOY_SELECT) {
        p.count.kind = KN_FROM_BUFFER;
        status = kn_lowered_add_buffer(&p.count.index, out, sizeof(int64_t));
    }
    if (status == KILN_OK)
        status = add_clear(out, s, &p);
    if (status == KILN_OK)
        status = add_flags(out, s, &p);
    if (status == KILN_OK)
        status = add_scan(out, s, &p);
    if (status == KILN_OK)
        status = add_elements(out, s, &p);
    out->late[0] = (kn_late){true, p.count, 0};
    return status;
}

static void release(void *context)
{
    selection *s = context;
    kiln_kernel_free(s->flags);
    kiln_kernel_free(s->elements);
    kiln_kernel_free(s->scan);
    kn_free(s);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

kiln_status toy_select_create(kiln_kernel **out, toy_select what)
{
    static const char *const x = "x", *const results[] = {"y", "count"};
    selection *s = kn_calloc(1, sizeof *s);
    kn_program *prototype = NULL;
    if (!s)
        return kn_error_memory("toy_select");
    s->what = what;
    kiln_status status = toy_scan_create(&s->scan);
    if (status == KILN_OK)
        status = kiln_elementwise_create(&s->flags, "T x", "int64 flag", "flag = x > 0", "toy_flags", NULL);
    if (status == KILN_OK)
        status = kiln_elementwise_create(
            &s->elements, "T x, int64 flag, int64 at", "raw T y, raw int64 count",
            what == TOY_WRONG_COUNT ? "if (i == n - 1) count[0] = n + 1"
                                    : "if (flag) y[at] = x; if (i == n - 1) count[0] = at + flag",
            "toy_kept", NULL);
    if (status == KILN_OK)
        status = kn_prototype_create(&prototype, "toy_select", &x, 1, results, what == TOY_SELECT ? 2 : 1);
    if (status != KILN_OK) {
        release(s);
        return status;
    }
    return kn_kernel_create_algorithm(out, prototype, &algorithm, s);
}
