/* kernel/histogram.c - elements combined by bins, by an algorithm of two steps.
 *
 * A tally combines each part of the elements into bins of its own; a reduction combines these. On CUDA bins
 * of integers that do not fit in shared memory are combined by atomic functions in memory, as one part. If
 * the order would matter there, elements are sorted by their bins and scanned, so that each bin's last one
 * has what they are combined to. Sums of floats have another way: one tally finds the largest element of each
 * bin, a second one sums all as whole multiples of a unit that follows from it
 * (src/codegen/prelude/cuda_fixed.cu): integers, whose order does not matter. */
#include <string.h>

#include <kiln/histogram.h>
#include <kiln/sort.h>
#include "base/alloc.h"
#include "base/error.h"
#include "kernel/algorithm.h"
#include "kernel/histogram.h"
#include "program/program.h"
#include "schedule/tally.h"
#include "space/shape.h"
#include "types/dtype.h"

/* Names of kiln's own, which no text of the user's has. */
#define SUMS "_sums" /* what bins are combined to, by part and bin */
#define MOST "_most" /* the size of the largest element, by bin */

enum {
    DIGITS = 2,           /* of a float64 that is summed as an integer; a float32 has one */
    FIXED_LEAST = 1 << 20 /* elements for which two more launches are little */
};

typedef struct histogram {
    int64_t bins;  /* 0: as the given result says */
    int edges;     /* 1 + the input that has them, of one axis; 0: none has */
    int sized;     /* 1 + the input that has as many elements as there are bins; 0: none */
    int whole;     /* 1 + the input whose elements have to be whole numbers; 0: none */
    int real;      /* the same of real numbers */
    kn_param type; /* of what is combined */
    bool is_count; /* each element counts one */
    bool is_sum;   /* from 0 on */
    bool in_any_order;
    bool is_greatest, is_least; /* NaN if there is one */
    char *reduce;
    kiln_kernel *tally, *last;       /* elements to bins of parts; these to the result */
    kiln_kernel *clear;              /* gives bins the identity */
    kiln_kernel *read, *sort, *scan; /* elements to bins by their order */
    kiln_kernel *halves;             /* counts: elements to bins of parts, by bins of 16 bits */
    kiln_kernel *arrived;            /* sums of floats in any order: elements to bins in memory */
    kiln_kernel *keys,
        *last_key; /* greatest or least floats: elements to keys by bins, these to the result */
    /* Sums of floats by integers: the largest of parts of the elements, of all; digits, the result */
    kiln_kernel *sizes, *most, *digit[DIGITS], *last_fixed;
} histogram;

/* ---- results ---- */

static const kn_program *inputs_of(const histogram *h)
{
    return h->tally->program;
}

static const kn_param *output_of(const histogram *h, int j)
{
    return &h->last->program->param[h->last->program->n_in + j];
}

/* The dtype of a parameter that may have the placeholder of an input. */
static kiln_status find_dtype(kiln_dtype *out, const histogram *h, const kn_param *param,
                              const kn_described *in)
{
    *out = kn_described_dtype(inputs_of(h), param, in);
    return *out ? KILN_OK
                : kn_error(KILN_ERROR_TYPE, "%s: output '%s': no input settles type %c", inputs_of(h)->name,
                           param->name, param->placeholder);
}

/* 0: the given result says how many. */
static kiln_status count_bins(int64_t *out, const histogram *h, const kn_described *in)
{
    const kn_described *edges = h->edges ? &in[h->edges - 1] : NULL;
    *out = h->sized ? kn_shape_size(in[h->sized - 1].ndim, in[h->sized - 1].shape) : h->bins;
    if (!edges)
        return KILN_OK;
    if (edges->ndim != 1 || edges->shape[0] < 2)
        return kn_error(KILN_ERROR_SHAPE,
                        "%s: '%s' has %d axes%s; one axis of at least two edges was expected",
                        inputs_of(h)->name, inputs_of(h)->param[h->edges - 1].name, edges->ndim,
                        edges->ndim == 1 ? ", of fewer than two elements" : "");
    *out = edges->shape[0] - 1;
    return KILN_OK;
}

/* The elements of an input, by its number and one, are of this kind or of one before it. Booleans count as
 * whole numbers, as indices of NumPy's do. */
static kiln_status check_kind(const histogram *h, const kn_described *in, int input, kn_dtype_kind most,
                              const char *expected)
{
    if (!input)
        return KILN_OK;
    const kn_param *param = &inputs_of(h)->param[input - 1];
    const kiln_dtype dtype = kn_described_dtype(inputs_of(h), param, in);
    return kn_dtype_info_of(dtype)->kind <= most
               ? KILN_OK
               : kn_error(KILN_ERROR_TYPE, "%s: '%s' is of %s; %s numbers were expected", inputs_of(h)->name,
                          param->name, kiln_dtype_name(dtype), expected);
}

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    const histogram *h = context;
    int64_t shape[KILN_MAX_NDIM];
    int ndim;
    kiln_status status = kn_describe_elements(&ndim, shape, inputs_of(h), in, "count");
    if (status == KILN_OK)
        status = kn_describe_check_inputs(inputs_of(h), in);
    if (status == KILN_OK)
        status = check_kind(h, in, h->whole, KN_KIND_UINT, "whole");
    if (status == KILN_OK)
        status = check_kind(h, in, h->real, KN_KIND_FLOAT, "real");
    if (status == KILN_OK)
        status = find_dtype(&out->dtype, h, output_of(h, j), in);
    if (status == KILN_OK)
        status = count_bins(&out->shape[0], h, in);
    out->ndim = 1;
    if (status == KILN_OK && h->sized) {
        const kn_described *of = &in[h->sized - 1];
        out->ndim = of->ndim;
        memcpy(out->shape, of->shape, (size_t)of->ndim * sizeof *of->shape);
    }
    out->takes_any = !h->sized && out->shape[0] == 0;
    return status;
}

/* ---- lowering ---- */

typedef struct lowering {
    kn_lowered *out;
    const histogram *h;
    const kn_lowering_call *call;
    kn_described *in;
    int ndim;
    int64_t shape[KILN_MAX_NDIM], elements; /* that the inputs broadcast to */
    int64_t bins;
    kiln_dtype combined;
    int sums; /* the buffer, and its extents: parts and bins */
    int64_t extents[2];
} lowering;

static kiln_status find_bins(lowering *l)
{
    const kiln_array *given = l->call->out ? l->call->out[0] : NULL;
    const kn_program *last = l->h->last->program;
    kiln_status status = count_bins(&l->bins, l->h, l->in);
    if (status != KILN_OK || l->bins > 0 || l->h->sized)
        return status;
    if (!given)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: the number of bins was not given; neither when the kernel was made, nor by an "
                        "array for '%s'",
                        last->name, output_of(l->h, 0)->name);
    l->bins = given->shape[0];
    for (int j = 1; j < last->n_out; ++j)
        if (!l->call->out[j] || l->call->out[j]->shape[0] != l->bins)
            return kn_error(KILN_ERROR_SHAPE, "%s: '%s': an array of %lld elements was expected, as '%s' has",
                            last->name, output_of(l->h, j)->name, (long long)l->bins,
                            output_of(l->h, 0)->name);
    return KILN_OK;
}

static kiln_status find_combined(lowering *l)
{
    kiln_dtype dtype = KILN_UINT32;
    kiln_status status = l->h->is_count ? KILN_OK : find_dtype(&dtype, l->h, &l->h->type, l->in);
    l->combined = kn_dtype_is_half(dtype) ? KILN_FLOAT32 : dtype;
    return status;
}

/* Binds parameter k to a buffer that has the bins of all parts, or, flat, those of the only one. */
static kiln_status bind_bins(kn_lowered_part *part, int k, const lowering *l, int buffer, kiln_dtype dtype,
                             bool is_flat)
{
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = buffer};
    return kn_lowered_bind(part, k, l->call, &source, dtype, is_flat ? 1 : 2, l->extents + is_flat, NULL);
}

static kiln_status bind_sums(kn_lowered_part *part, int k, const lowering *l, bool is_flat)
{
    return bind_bins(part, k, l, l->sums, l->combined, is_flat);
}

static kiln_status bind_inputs(kn_lowered_part *part, const lowering *l)
{
    const kn_program *p = inputs_of(l->h);
    kiln_status status = KILN_OK;
    for (int k = 0; k < p->n_in && status == KILN_OK; ++k)
        status = kn_lowered_bind_input(part, k, l->call, k, kn_described_dtype(p, &p->param[k], l->in));
    return status;
}

static kiln_status add_buffer(lowering *l)
{
    size_t size = (size_t)(l->extents[0] * l->extents[1]) * kiln_dtype_size(l->combined);
    return kn_lowered_add_buffer(&l->sums, l->out, size);
}

static kiln_status add_clear(lowering *l)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->h->clear);
    return status == KILN_OK ? bind_sums(part, 0, l, true) : status;
}

static kiln_status add_tally(lowering *l, const kiln_kernel *kernel)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, kernel);
    if (status == KILN_OK)
        status = bind_inputs(part, l);
    return status == KILN_OK ? bind_sums(part, inputs_of(l->h)->n_in, l, false) : status;
}

/* The narrowest number of a bin, with one more for elements that are left out: each byte is a pass. */
static kiln_dtype key_of(int64_t bins)
{
    return bins < UINT8_MAX ? KILN_UINT8 : bins < UINT16_MAX ? KILN_UINT16 : KILN_UINT32;
}

/* Binds a parameter to one of the buffers of all elements, flat or in their shape. */
static kiln_status bind_elements(kn_lowered_part *part, int k, const lowering *l, int buffer,
                                 kiln_dtype dtype, bool is_flat)
{
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = buffer};
    return kn_lowered_bind(part, k, l->call, &source, dtype, is_flat ? 1 : l->ndim,
                           is_flat ? &l->elements : l->shape, NULL);
}

/* Binds parameters from k on to the keys and the values. */
static kiln_status bind_pair(kn_lowered_part *part, int k, const lowering *l, const int *buffer, bool is_flat)
{
    kiln_status status = bind_elements(part, k, l, buffer[0], key_of(l->bins), is_flat);
    return status == KILN_OK ? bind_elements(part, k + 1, l, buffer[1], l->combined, is_flat) : status;
}

static kiln_status add_scan(lowering *l, const int *sorted)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->h->scan);
    if (status == KILN_OK)
        status = bind_pair(part, 0, l, sorted, true);
    if (status == KILN_OK)
        status = bind_elements(part, 2, l, sorted[0], key_of(l->bins), true);
    return status == KILN_OK ? bind_sums(part, 3, l, true) : status;
}

/* Keys and values of all elements, in the order of keys; the last one of a key has what all are combined
 * to. */
static kiln_status add_ordered(lowering *l)
{
    kn_lowered_part *part;
    int pair[4]; /* keys and values, then those that are sorted */
    kiln_status status = KILN_OK;
    for (int b = 0; b < 4 && status == KILN_OK; ++b)
        status = kn_lowered_add_buffer(&pair[b], l->out,
                                       (size_t)l->elements *
                                           kiln_dtype_size(b % 2 == 0 ? key_of(l->bins) : l->combined));
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, l->out, l->h->read);
    if (status == KILN_OK)
        status = bind_inputs(part, l);
    if (status == KILN_OK)
        status = bind_pair(part, inputs_of(l->h)->n_in, l, pair, false);
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, l->out, l->h->sort);
    if (status == KILN_OK)
        status = bind_pair(part, 0, l, pair, true);
    if (status == KILN_OK)
        status = bind_pair(part, 2, l, pair + 2, true);
    return status == KILN_OK ? add_scan(l, pair + 2) : status;
}

/* An input of the last step: a buffer of bins, of all parts, or of one that all have in common. */
typedef struct of_bins {
    int buffer;
    kiln_dtype dtype;
    bool is_common;
} of_bins;

/* The bins, or, where an input says how many there are, one for each of its elements, in its shape. */
static kiln_status add_last(lowering *l, const kiln_kernel *kernel, const of_bins *in, int count)
{
    static const int parts_axis = 0;
    int64_t extents[KILN_MAX_NDIM + 1] = {l->extents[0]};
    kn_described result = {.ndim = 0};
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, kernel);
    if (status == KILN_OK)
        status = describe(&result, l->h, 0, l->in);
    if (status != KILN_OK)
        return status;
    if (!l->h->sized)
        result.shape[0] = l->bins;
    memcpy(extents + 1, result.shape, (size_t)result.ndim * sizeof *extents);
    part->options.axes = &parts_axis;
    part->options.n_axes = 1;
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        const kn_source source = {.kind = KN_FROM_BUFFER, .index = in[k].buffer};
        const int skipped = in[k].is_common;
        status = kn_lowered_bind(part, k, l->call, &source, in[k].dtype, 1 + result.ndim - skipped,
                                 extents + skipped, NULL);
    }
    for (int j = 0; j < kernel->program->n_out && status == KILN_OK; ++j) {
        status = describe(&result, l->h, j, l->in);
        if (status == KILN_OK)
            status =
                kn_lowered_bind_output(part, count + j, l->call, j, result.dtype, result.ndim, extents + 1);
    }
    return status;
}

/* ---- sums of floats as integers ---- */

static kiln_dtype size_of(const lowering *l)
{
    return l->combined == KILN_FLOAT32 ? KILN_UINT32 : KILN_UINT64;
}

/* A tally of the user's inputs, and of the largest elements if there are some (most: -1: none), to a new
 * buffer of bins, of zeros at first: those of all parts, or one that all blocks share, in memory. */
static kiln_status add_integers(int *out, lowering *l, const kiln_kernel *kernel, kiln_dtype dtype, int most)
{
    int k = inputs_of(l->h)->n_in;
    const int64_t words = l->bins * (int64_t)(kiln_dtype_size(dtype) / sizeof(uint32_t));
    kn_source to = {.kind = KN_FROM_BUFFER};
    kn_lowered_part *part;
    l->extents[0] = l->bins <= kn_tally_bins(l->call->target, (int)kiln_dtype_size(dtype), true)
                        ? kn_tally_parts(l->elements)
                        : 1;
    kiln_status status =
        kn_lowered_add_buffer(out, l->out, (size_t)(l->extents[0] * l->bins) * kiln_dtype_size(dtype));
    to.index = *out;
    if (status == KILN_OK && l->extents[0] == 1)
        status = kn_lowered_add_fill(l->out, l->call, &to, 0, words);
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, l->out, kernel);
    if (status == KILN_OK)
        status = bind_inputs(part, l);
    if (status == KILN_OK && most >= 0)
        status = bind_bins(part, k++, l, most, size_of(l), true);
    return status == KILN_OK ? bind_bins(part, k, l, *out, dtype, false) : status;
}

/* The largest element of each bin, of all parts. */
static kiln_status add_most(int *out, lowering *l)
{
    static const int parts_axis = 0;
    kn_lowered_part *part;
    int sizes;
    kiln_status status = add_integers(&sizes, l, l->h->sizes, size_of(l), -1);
    *out = sizes;
    if (status != KILN_OK || l->extents[0] == 1)
        return status;
    status = kn_lowered_add_buffer(out, l->out, (size_t)l->bins * kiln_dtype_size(size_of(l)));
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, l->out, l->h->most);
    if (status != KILN_OK)
        return status;
    part->options.axes = &parts_axis;
    part->options.n_axes = 1;
    status = bind_bins(part, 0, l, sizes, size_of(l), false);
    return status == KILN_OK ? bind_bins(part, 1, l, *out, size_of(l), true) : status;
}

/* Keys are integers in the order of floats, of which 0 is no float's. */
static kiln_status add_keys(lowering *l)
{
    int keys = 0;
    kiln_status status = add_integers(&keys, l, l->h->keys, size_of(l), -1);
    const of_bins in = {keys, size_of(l), false};
    return status == KILN_OK ? add_last(l, l->h->last_key, &in, 1) : status;
}

static kiln_status add_fixed(lowering *l)
{
    const int digits = l->combined == KILN_FLOAT32 ? 1 : DIGITS;
    int most = 0, digit[DIGITS] = {0};
    kiln_status status = add_most(&most, l);
    for (int d = 0; d < digits && status == KILN_OK; ++d)
        status = add_integers(&digit[d], l, l->h->digit[d], KILN_INT64, most);
    const of_bins in[] = {
        {digit[0], KILN_INT64, false}, {digit[digits - 1], KILN_INT64, false}, {most, size_of(l), true}};
    return status == KILN_OK ? add_last(l, l->h->last_fixed, in, 3) : status;
}

/* The ways to combine elements, with the steps that they have. */
typedef enum way {
    OWN,     /* bins of a part: of tasks, threads, or warps */
    SHARED,  /* atomic functions: bins of a part */
    HALVES,  /* ... of counts, of 16 bits */
    MEMORY,  /* ... bins of all */
    ARRIVED, /* atomic functions of floats: bins of all */
    FIXED,   /* sums of floats: two or three tallies of integers */
    KEYS,    /* greatest or least floats: a tally of integers */
    SORTED
} way;

/* For people. */
static const char *const way_text[] = {
    [OWN] = "each part of the elements has bins of its own",
    [SHARED] = "atomic functions on bins of each part",
    [HALVES] = "elements are counted in bins of 16 bits, all of a part at once",
    [MEMORY] = "atomic functions on bins in memory",
    [ARRIVED] = "atomic functions add floats as they arrive",
    [FIXED] = "floats are added as integers, in the unit of their bin's largest one",
    [KEYS] = "floats are compared as integers",
    [SORTED] = "elements are sorted by their bins"};

/* Floats are read for each range of bins, which takes longer than two tallies of integers where there are
 * many (H200, 2^26 of float32: 572 us for one range, 1,763 for three, 985 for the two tallies). Those of 8
 * bytes are three tallies. */
static bool is_slower_by_ranges(const lowering *l, int size)
{
    const int64_t ranges = KN_TALLY_OWN_RANGES;
    return l->elements >= FIXED_LEAST && size <= 4 &&
           l->bins > kn_tally_bins(l->call->target, size, false) / ranges;
}

/* Counts of more bins than a part has in one range, of which the elements would be read again. */
static bool is_counted_in_halves(const lowering *l)
{
    const kn_target *target = l->call->target;
    const int size = (int)kiln_dtype_size(l->combined);
    return l->h->halves && l->elements >= KN_TALLY_HALVES_LEAST && l->bins > kn_tally_shared(target) / size &&
           l->bins * 2 <= kn_tally_halves_shared(target);
}

/* One that gives the same bits on every run, or need not. Threads and warps with bins of their own need one
 * tally alone; tallies of integers, one after the other, are less work than a sort. Shared memory makes
 * atomic functions of floats slow. */
static way choose_way(const lowering *l)
{
    const kn_target *target = l->call->target;
    const kn_dtype_info *info = kn_dtype_info_of(l->combined);
    const bool is_atomic = kn_tally_atomic(l->h->reduce, l->combined) != NULL;
    const bool fits = l->bins <= kn_tally_bins(target, info->size, is_atomic);
    if (target->backend == KN_HOST)
        return OWN;
    if (is_counted_in_halves(l))
        return HALVES;
    if (is_atomic)
        return fits && l->elements > 0 ? SHARED : MEMORY;
    if (l->elements == 0)
        return MEMORY;
    if (l->h->is_sum && info->kind == KN_KIND_FLOAT) {
        if (l->h->in_any_order && l->bins > kn_tally_shared(target) / info->size)
            return ARRIVED;
        if ((!fits || is_slower_by_ranges(l, info->size)) && l->elements <= KN_TALLY_FIXED_MOST)
            return FIXED;
    }
    if (l->h->keys && info->kind == KN_KIND_FLOAT && !fits)
        return KEYS;
    return fits ? OWN : SORTED;
}

static kiln_status add_sums(lowering *l, way w)
{
    const bool has_parts = l->elements > 0 && (w == OWN || w == SHARED || w == HALVES);
    l->extents[0] = !has_parts                            ? 1
                    : w == HALVES                         ? KN_TALLY_HALVES_PARTS
                    : l->call->target->backend == KN_HOST ? kn_tally_tasks(l->elements, l->bins)
                                                          : kn_tally_parts(l->elements);
    kiln_status status = add_buffer(l);
    if (status == KILN_OK && !has_parts)
        status = add_clear(l);
    if (status == KILN_OK && l->elements > 0)
        status = w == SORTED ? add_ordered(l)
                             : add_tally(l, w == ARRIVED  ? l->h->arrived
                                            : w == HALVES ? l->h->halves
                                                          : l->h->tally);
    const of_bins in = {l->sums, l->combined, false};
    return status == KILN_OK ? add_last(l, l->h->last, &in, 1) : status;
}

static kiln_status lower_call(lowering *l)
{
    kiln_status status = kn_describe_elements(&l->ndim, l->shape, inputs_of(l->h), l->in, "count");
    if (status == KILN_OK)
        status = find_bins(l);
    if (status == KILN_OK)
        status = find_combined(l);
    if (status != KILN_OK || l->bins == 0)
        return status;
    l->extents[1] = l->bins;
    l->elements = kn_shape_size(l->ndim, l->shape);
    const way w = choose_way(l);
    kn_str_printf(&l->out->explanation, "# %s: %s\n", inputs_of(l->h)->name, way_text[w]);
    status = kn_str_status(&l->out->explanation, "a lowered histogram");
    if (status != KILN_OK)
        return status;
    return w == FIXED ? add_fixed(l) : w == KEYS ? add_keys(l) : add_sums(l, w);
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    lowering l = {.out = out, .h = context, .call = call};
    size_t bytes = (size_t)(inputs_of(l.h)->n_in + 1) * sizeof *l.in;
    l.in = kn_calloc(1, bytes);
    if (!l.in)
        return kn_error_memory("a histogram");
    kn_describe_arguments(l.in, call->in, inputs_of(l.h)->n_in);
    kiln_status status = lower_call(&l);
    kn_free(l.in);
    return status;
}

static void release(void *context)
{
    histogram *h = context;
    if (!h)
        return;
    kiln_kernel *const kernels[] = {h->keys,  h->last_key, h->arrived,  h->tally,    h->halves,
                                    h->last,  h->clear,    h->read,     h->sort,     h->scan,
                                    h->sizes, h->most,     h->digit[0], h->digit[1], h->last_fixed};
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; ++k)
        kiln_kernel_free(kernels[k]);
    kn_free(h->reduce);
    kn_free(h);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

/* ---- making ---- */

typedef struct making {
    histogram *h;
    const char *in, *outs, *bin, *value, *reduce, *post, *identity, *name;
    const kiln_kernel_options *options; /* without reduce_type */
    const char *reduce_type;
    char combined, key; /* placeholders of kiln's own: of what is combined, and of a bin's number */
    kn_str names;       /* of the inputs: "x, w, " */
} making;

/* A tally of values of this type, which may read inputs of kiln's own; combined to integers of that type. */
static kiln_status make_tally_of(kiln_kernel **out, const making *m, const char *more_inputs,
                                 const char *type, const char *value, const char *reduce,
                                 const char *identity)
{
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT, values = KN_STR_INIT, reads = KN_STR_INIT;
    kn_str_printf(&in, "%s%s%s", m->in, m->in[strspn(m->in, " ")] && more_inputs[0] ? ", " : "", more_inputs);
    kn_str_printf(&outs, "raw %s " SUMS, type);
    kn_str_printf(&values, "int64 _kn_bin, %s _kn_value", type);
    kn_str_printf(&reads, "%s_kn_bin", kn_str_text(&m->names));
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION, .label = "bin", .gives = "_kn_bin", .body = m->bin},
        {.kind = KN_MAP_EXPRESSION,
         .label = "value",
         .reads = kn_str_text(&reads),
         .gives = "_kn_value",
         .body = value},
        {.kind = KN_TALLY,
         .label = "reduce",
         .reads = "_kn_bin, _kn_value",
         .gives = SUMS,
         .body = reduce,
         .identity = identity}};
    const kn_program_text text = {.name = m->name,
                                  .in = kn_str_text(&in),
                                  .out = kn_str_text(&outs),
                                  .values = kn_str_text(&values),
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = KN_REDUCED_BY_CALL,
                                  .options = m->options};
    kiln_status status = in.failed || outs.failed || values.failed || reads.failed
                             ? kn_error_memory("a histogram's texts")
                             : kn_kernel_create_text(out, &text);
    kn_str_free(&in);
    kn_str_free(&outs);
    kn_str_free(&values);
    kn_str_free(&reads);
    return status;
}

static kiln_status make_tally(const making *m)
{
    const char type[] = {m->combined, 0};
    return make_tally_of(&m->h->tally, m, "", type, m->value, m->reduce, m->identity);
}

/* A kernel of a program's own function, which is given what all of them take. */
static kiln_status made(kiln_kernel **out, kiln_status status, kn_program *program)
{
    return status == KILN_OK ? kn_kernel_create(out, program) : status;
}

static kiln_status make_arrived(const making *m)
{
    const char type[] = {m->combined, 0};
    return m->h->is_sum && m->h->in_any_order
               ? make_tally_of(&m->h->arrived, m, "", type, m->value, KN_TALLY_ARRIVED, m->identity)
               : KILN_OK;
}

static kiln_status make_halves(const making *m)
{
    const char type[] = {m->combined, 0};
    return m->h->is_count
               ? make_tally_of(&m->h->halves, m, "", type, m->value, KN_TALLY_IN_HALVES, m->identity)
               : KILN_OK;
}

static kiln_status make_last_of(kiln_kernel **out, const making *m, const char *in, const char *map)
{
    kiln_kernel_options o = *m->options;
    kn_program *program = NULL;
    o.reduce_type = m->h->is_count ? "int64" : m->reduce_type;
    kiln_status status =
        kn_program_reduction(&program, in, m->outs, map, m->reduce, m->post, m->identity, m->name, &o);
    return made(out, status, program);
}

static kiln_status make_last(const making *m)
{
    char in[] = "? _sum";
    in[0] = m->combined;
    return make_last_of(&m->h->last, m, in, "_sum");
}

static kiln_status make_most(const making *m)
{
    char in[] = "? _size", outs[] = "? " MOST, most[] = MOST " = a";
    kiln_kernel_options o = *m->options;
    kn_program *program = NULL;
    in[0] = outs[0] = m->key;
    o.reduce_type = NULL;
    kiln_status status =
        kn_program_reduction(&program, in, outs, "_size", "max(a, b)", most, "0", m->name, &o);
    return made(&m->h->most, status, program);
}

/* The kernels of sums by integers: the key's letter has the words of sizes. */
static kiln_status make_fixed(const making *m)
{
    kn_str value = KN_STR_INIT, most = KN_STR_INIT, in = KN_STR_INIT;
    const char word[] = {m->key, 0};
    kiln_kernel_options o = *m->options;
    making later = *m;
    if (!m->h->is_sum)
        return KILN_OK;
    o.flags &= ~(unsigned)KILN_KERNEL_CHECK; /* the first tally sees all indices */
    later.options = &o;
    kn_str_printf(&value, "kn_fixed_size<%c>(static_cast<kn_fixed_real<%c> >(%s\n))", m->key, m->key,
                  m->value);
    kn_str_printf(&most, "raw %c " MOST, m->key);
    kn_str_printf(&in, "int64 _high, int64 _low, %c _of_all", m->key);
    kiln_status status =
        value.failed || most.failed || in.failed
            ? kn_error_memory("a histogram's texts")
            : make_tally_of(&m->h->sizes, m, "", word, kn_str_text(&value), "max(a, b)", "0");
    for (int d = 0; d < DIGITS && status == KILN_OK; ++d) {
        kn_str_free(&value);
        kn_str_printf(&value, "kn_fixed<%d, %c>(static_cast<kn_fixed_real<%c> >(%s\n), " MOST ", kn_bin)", d,
                      m->key, m->key, m->value);
        status = kn_str_status(&value, "a histogram's texts");
        if (status == KILN_OK)
            status = make_tally_of(&m->h->digit[d], &later, kn_str_text(&most), "int64", kn_str_text(&value),
                                   "a + b", "0");
    }
    if (status == KILN_OK)
        status = make_most(m);
    if (status == KILN_OK)
        status = make_last_of(&m->h->last_fixed, m, kn_str_text(&in), "kn_unfixed(_high, _low, _of_all)");
    kn_str_free(&value);
    kn_str_free(&most);
    kn_str_free(&in);
    return status;
}

/* Sorts' keys, of which NaN has the last one in either order. */
static kiln_status make_keys(const making *m)
{
    kn_str value = KN_STR_INIT, map = KN_STR_INIT;
    const char word[] = {m->key, 0};
    char in[] = "? _key";
    in[0] = m->key;
    if (!m->h->is_greatest && !m->h->is_least)
        return KILN_OK;
    kn_str_printf(&value, "kn_sort_key<%d, 0>(static_cast<kn_fixed_real<%c> >(%s\n))", m->h->is_least, m->key,
                  m->value);
    kn_str_printf(
        &map,
        "_key == 0 ? static_cast<kn_fixed_real<%c> >(%s\n) : kn_sort_value<kn_fixed_real<%c>, %d>(_key)",
        m->key, m->identity, m->key, m->h->is_least);
    kiln_status status = value.failed || map.failed
                             ? kn_error_memory("a histogram's texts")
                             : make_tally_of(&m->h->keys, m, "", word, kn_str_text(&value), "max(a, b)", "0");
    if (status == KILN_OK)
        status = make_last_of(&m->h->last_key, m, in, kn_str_text(&map));
    kn_str_free(&value);
    kn_str_free(&map);
    return status;
}

static kiln_status make_clear(const making *m)
{
    kn_str ins = KN_STR_INIT, outs = KN_STR_INIT, body = KN_STR_INIT;
    kn_program *program = NULL;
    kn_str_printf(&outs, "%c _sum", m->combined);
    if (m->h->type.type == KN_TYPE_PLACEHOLDER) /* the identity may name it */
        kn_str_printf(&body, "[[maybe_unused]] typedef %c %c;\n", m->combined, m->h->type.placeholder);
    kn_str_printf(&body, "_sum = %s", m->identity);
    kiln_status status = kn_program_written(&program, &ins, &outs, &body, m->name, m->options);
    return made(&m->h->clear, status, program);
}

static kiln_status make_read(const making *m)
{
    kn_str ins = KN_STR_INIT, outs = KN_STR_INIT, body = KN_STR_INIT;
    kn_program *program = NULL;
    kn_str_append(&ins, m->in);
    kn_str_printf(&outs, "%c _key, %c _value", m->key, m->combined);
    kn_str_printf(&body,
                  "const int64 kn_bin = (%s\n), kn_most = static_cast<%c>(~static_cast<%c>(0));\n"
                  "_key = kn_bin < 0 || kn_bin > kn_most ? kn_most : kn_bin;\n_value = (%s\n)",
                  m->bin, m->key, m->key, m->value);
    kiln_status status = kn_program_written(&program, &ins, &outs, &body, m->name, m->options);
    return made(&m->h->read, status, program);
}

static kiln_status make_sort(const making *m)
{
    static const kiln_sort_key key = {"key", NULL, 0};
    char in[] = "? key, ? value", outs[] = "? key_there, ? value_there";
    in[0] = outs[0] = m->key;
    strchr(in + 1, '?')[0] = strchr(outs + 1, '?')[0] = m->combined;
    return kiln_sort_create(&m->h->sort, in, outs, &key, 1, "key_there = key; value_there = value", m->name,
                            m->options);
}

static kiln_status make_scan(const making *m)
{
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT, reduce = KN_STR_INIT, preamble = KN_STR_INIT;
    kiln_kernel_options o = *m->options;
    kn_program *program = NULL;
    kn_str_printf(&in, "%c _key, %c _value, raw %c _keys", m->key, m->combined, m->key);
    kn_str_printf(&outs, "raw %c " SUMS, m->combined);
    kn_str_printf(&preamble, "%s\nstruct kn_of_bin {\n    unsigned bin;\n    %c value;\n};",
                  o.preamble ? o.preamble : "", m->combined);
    kn_str_printf(&reduce,
                  "a.bin == b.bin ? kn_of_bin{b.bin, [&](const %c a, const %c b) { return %s\n; }(a.value, "
                  "b.value)} : b",
                  m->combined, m->combined, m->reduce);
    o.preamble = kn_str_text(&preamble);
    o.reduce_type = "kn_of_bin";
    kiln_status status =
        in.failed || outs.failed || preamble.failed || reduce.failed
            ? kn_error_memory("a histogram's texts")
            : kn_program_scan(&program, kn_str_text(&in), kn_str_text(&outs), "kn_of_bin{_key, _value}",
                              kn_str_text(&reduce),
                              "if ((uint64)_key < (uint64)" SUMS
                              ".size() && (_J + 1 == _keys.size() || _keys[_J + 1] != _key)) " SUMS
                              "[_key] = a.value",
                              NULL, m->name, &o);
    kn_str_free(&in);
    kn_str_free(&outs);
    kn_str_free(&reduce);
    kn_str_free(&preamble);
    if (status == KILN_OK)
        program->left_outputs = 0;
    return made(&m->h->scan, status, program);
}

static kiln_status make_kernels(const making *m)
{
    static kiln_status (*const make[])(const making *) = {make_tally, make_last, make_clear,  make_read,
                                                          make_sort,  make_scan, make_halves, make_arrived,
                                                          make_fixed, make_keys};
    kiln_status status = KILN_OK;
    for (size_t k = 0; k < sizeof make / sizeof make[0] && status == KILN_OK; ++k)
        status = make[k](m);
    return status;
}

/* The type of what is combined: that of the option, else the first output's. */
static kiln_status find_type(making *m, const kn_param *param, int n_in)
{
    const char *type = m->reduce_type;
    m->h->type = param[n_in];
    if (!type)
        return KILN_OK;
    m->h->type.type = type[0] && !type[1] ? KN_TYPE_PLACEHOLDER : KN_TYPE_DTYPE;
    m->h->type.placeholder = type[0];
    m->h->type.dtype = kn_dtype_find(type, strlen(type));
    bool is_known = m->h->type.type == KN_TYPE_DTYPE && m->h->type.dtype;
    for (int k = 0; k < n_in; ++k)
        is_known = is_known || (m->h->type.type == KN_TYPE_PLACEHOLDER &&
                                param[k].type == KN_TYPE_PLACEHOLDER && param[k].placeholder == type[0]);
    return is_known ? KILN_OK
                    : kn_error(KILN_ERROR_TYPE,
                               "%s: options.reduce_type: '%s' was given; a dtype, or the placeholder of an "
                               "input, was expected",
                               m->name, type);
}

static kiln_status check_params(const making *m, const kn_param *param, int n_in, int n_out)
{
    for (int k = 0; k < n_in + n_out; ++k)
        if (param[k].type == KN_TYPE_STRUCT || param[k].is_non_const || (k >= n_in && param[k].is_raw))
            return kn_error(KILN_ERROR_INVALID,
                            "%s: '%s' is %s; a histogram has inputs of a dtype, and outputs that are not raw",
                            m->name, param[k].name,
                            param[k].type == KN_TYPE_STRUCT ? "a struct"
                            : param[k].is_non_const         ? "_non_const"
                                                            : "a raw output");
    return n_out > 0 ? KILN_OK
                     : kn_error(KILN_ERROR_INVALID,
                                "%s: the output signature is empty: a histogram needs at "
                                "least one output",
                                m->name);
}

/* Letters that neither the user's signatures nor texts have. */
static void choose_letters(making *m, const kn_param *param, int count)
{
    const char *const texts[] = {m->bin,  m->value,    m->reduce,
                                 m->post, m->identity, m->options->preamble ? m->options->preamble : "",
                                 NULL};
    m->combined = kn_free_letter('A', param, count, texts);
    m->key = kn_free_letter((char)(m->combined + 1), param, count, texts);
}

/* The texts that were not given are those of a count, or of a sum. */
static kiln_status settle_texts(making *m, kn_str *post, const char *first_output)
{
    if (m->reduce && !m->identity)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: identity: NULL was given with reduce: \"%s\"; what a bin without elements has "
                        "was expected, an expression",
                        m->name, m->reduce);
    kn_str_printf(post, "%s = a", first_output);
    m->value = m->value ? m->value : "1";
    m->reduce = m->reduce ? m->reduce : "a + b";
    m->identity = m->identity ? m->identity : "0";
    m->post = m->post ? m->post : kn_str_text(post);
    m->h->is_count = strcmp(m->value, "1") == 0 && strcmp(m->reduce, "a + b") == 0 &&
                     strcmp(m->identity, "0") == 0 && !m->reduce_type;
    m->h->is_sum = !m->h->is_count && strcmp(m->reduce, "a + b") == 0 && strcmp(m->identity, "0") == 0;
    m->h->is_greatest = strcmp(m->reduce, "kn_greatest(a, b)") == 0;
    m->h->is_least = strcmp(m->reduce, "kn_least(a, b)") == 0;
    m->h->reduce = kn_strdup(m->reduce);
    return m->h->reduce ? kn_str_status(post, "a histogram's texts") : kn_error_memory("a histogram");
}

static kiln_status make_histogram(making *m)
{
    kn_param param[KN_MAX_PARAMS];
    kn_str post = KN_STR_INIT;
    int n_in = 0, n_out = 0;
    kiln_status status =
        kn_signature_parse(param, 0, KN_MAX_PARAMS, &n_in, m->in, "input", m->options->preamble);
    if (status == KILN_OK)
        status = kn_signature_parse(param, n_in, KN_MAX_PARAMS - 1, &n_out, m->outs, "output",
                                    m->options->preamble);
    if (status != KILN_OK) {
        kn_error_context("%s", m->name);
        return status;
    }
    status = check_params(m, param, n_in, n_out);
    if (status == KILN_OK)
        status = settle_texts(m, &post, param[n_in].name);
    if (status == KILN_OK)
        status = find_type(m, param, n_in);
    if (status == KILN_OK) {
        choose_letters(m, param, n_in + n_out);
        for (int k = 0; k < n_in; ++k)
            kn_str_printf(&m->names, "%s, ", param[k].name);
        status = kn_str_status(&m->names, "a histogram's texts");
    }
    if (status == KILN_OK)
        status = make_kernels(m);
    kn_str_free(&m->names);
    kn_str_free(&post);
    return status;
}

static kiln_status make_prototype(kiln_kernel **out, histogram *h)
{
    const kn_program *in = inputs_of(h), *last = h->last->program;
    const char *names[KN_MAX_PARAMS];
    kn_program *prototype = NULL;
    for (int k = 0; k < in->n_in; ++k)
        names[k] = in->param[k].name;
    for (int j = 0; j < last->n_out; ++j)
        names[in->n_in + j] = output_of(h, j)->name;
    kiln_status status =
        kn_prototype_create(&prototype, in->name, names, in->n_in, names + in->n_in, last->n_out);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, h);
    release(h);
    return status;
}

kiln_status kn_histogram_create(kiln_kernel **out, const kn_histogram_text *text,
                                const kiln_kernel_options *options)
{
    kiln_kernel_options o;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a kiln_kernel * was expected");
    kiln_status status =
        kn_require_texts("in_params", text->in, "out_params", text->outs, "bin", text->bin, NULL);
    if (status == KILN_OK)
        status = kn_program_read_own_options(&o, options);
    if (status != KILN_OK)
        return status;
    const char *name = text->name ? text->name : "kernel";
    if (text->bins < 0)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: bins: %lld was given; a number that is not negative was expected", name,
                        (long long)text->bins);
    histogram *h = kn_calloc(1, sizeof *h);
    if (!h)
        return kn_error_memory("a histogram");
    h->in_any_order = o.flags & KILN_KERNEL_ANY_ORDER;
    o.flags &= ~(unsigned)KILN_KERNEL_ANY_ORDER;
    h->bins = text->bins;
    h->edges = text->edges;
    h->sized = text->sized;
    h->whole = text->whole;
    h->real = text->real;
    making m = {.h = h,
                .in = text->in,
                .outs = text->outs,
                .bin = text->bin,
                .value = text->value,
                .reduce = text->reduce,
                .post = text->post,
                .identity = text->identity,
                .name = name,
                .options = &o,
                .reduce_type = o.reduce_type};
    o.reduce_type = NULL;
    status = make_histogram(&m);
    if (status == KILN_OK)
        return make_prototype(out, h);
    release(h);
    return status;
}

kiln_status kiln_histogram_create(kiln_kernel **out, const char *in_params, const char *out_params,
                                  const char *bin, const char *value, const char *reduce, const char *post,
                                  const char *identity, int64_t bins, const char *name,
                                  const kiln_kernel_options *options)
{
    const kn_histogram_text text = {.in = in_params,
                                    .outs = out_params,
                                    .bin = bin,
                                    .value = value,
                                    .reduce = reduce,
                                    .post = post,
                                    .identity = identity,
                                    .name = name,
                                    .bins = bins};
    return kn_histogram_create(out, &text, options);
}
