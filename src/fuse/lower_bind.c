/* The parameters of each part's program: inputs, buffers and results of the call, as views along the axes
 * of its space. */
#include <string.h>

#include "base/error.h"
#include "fuse/lower_parts.h"
#include "fuse/opaque.h"
#include "fuse/strips.h"
#include "graph/op.h"
#include "space/shape.h"

/* ---- bindings ---- */

/* A view along the axes of the program's space. */
static kiln_status set_view(kiln_array **out, const kn_text *t, const kn_group *g, int count,
                            kiln_array *array, char *data, kiln_dtype dtype, const int64_t *stride)
{
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
    for (int k = 0; k < count; ++k) {
        shape[k] = g->extent[t->order[k]];
        strides[k] = stride[t->order[k]];
    }
    return kn_lowered_view(out, array, data, dtype, count, shape, strides);
}

/* The source of input k of a part, and its dtype there. *array: the array of the call that it views; NULL:
 * it is in a buffer. *data: its first element, in a buffer as an offset. */
static void find_source(const kn_lowering *l, kn_lowered_part *part, const kn_text *t, int k,
                        kiln_array **array, char **data)
{
    const kn_text_param *p = &t->in[k];
    kn_operand *o = &part->binding.operand[k];
    *array = NULL;
    *data = NULL;
    *o = (kn_operand){.pass = KN_PASS_SCALAR, .dtype = p->dtype};
    if (!p->leaf) {
        int n_in = l->state.graph->n_in;
        part->source[k] = (kn_source){.kind = p->input < 0      ? KN_FROM_NUMBER
                                              : p->input < n_in ? KN_FROM_INPUT
                                                                : KN_FROM_COMPUTED,
                                      .index = p->input < n_in ? p->input : p->input - n_in,
                                      .number = p->number,
                                      .bound = p->bound};
        return;
    }
    *data = (char *)(intptr_t)p->leaf->shift;
    *o = (kn_operand){.pass = KN_PASS_ARRAY, .seen = p->dtype};
    if (p->leaf->kind == KN_BASE_INPUT) {
        int input = l->state.graph->node[p->leaf->node].index;
        *array = l->array[input];
        *data = (*array)->data + p->leaf->shift;
        o->dtype = (*array)->dtype;
        part->source[k] = (kn_source){.kind = KN_FROM_INPUT, .index = input, .shift = p->leaf->shift};
    } else {
        o->dtype = kn_buffer_dtype(&l->state, p->leaf->node);
        part->source[k] = (kn_source){
            .kind = KN_FROM_BUFFER, .index = l->buffer_of[p->leaf->node], .shift = p->leaf->shift};
    }
}

static kiln_status bind_input(kn_lowering *l, kn_lowered_part *part, const kn_text *t, const kn_group *g,
                              int k)
{
    kiln_array *array;
    char *data;
    find_source(l, part, t, k, &array, &data);
    if (!t->in[k].leaf)
        return KILN_OK;
    return set_view(&part->binding.array[k], t, g, g->ndim, array, data, part->binding.operand[k].dtype,
                    t->in[k].leaf->stride);
}

void kn_lowering_spread(int64_t *out, const kn_lowering *l, const kn_group *g, int r, const int64_t *stride)
{
    memset(out, 0, KILN_MAX_NDIM * sizeof *out);
    for (int a = 0; a < l->typed[g->root[r]].ndim; ++a)
        if (g->root_use[r]->map[a].to >= 0)
            out[g->root_use[r]->map[a].to] = stride[a];
}

/* The destination of a root, its dtype and layout. *given: the array of the call; NULL: it is in a buffer,
 * or still to be allocated. */
static void find_target(const kn_lowering *l, kn_operand *o, kn_source *source, kiln_array **given,
                        int64_t *stride, int node)
{
    const kn_typed *typed = &l->typed[node];
    int j = l->output_of[node];
    bool is_buffered = l->state.is_buffered[node];
    *given = j >= 0 && !is_buffered && l->call->out ? l->call->out[j] : NULL;
    o->dtype = *given ? (*given)->dtype : is_buffered ? kn_buffer_dtype(&l->state, node) : typed->dtype;
    *source = is_buffered ? (kn_source){.kind = KN_FROM_BUFFER, .index = l->buffer_of[node]}
                          : (kn_source){.kind = KN_FROM_OUTPUT, .index = j};
    if (typed->ndim > 0)
        memcpy(stride,
               is_buffered ? l->state.base[node].stride
               : *given    ? (*given)->strides
                           : l->out->layout[j].extents + typed->ndim,
               (size_t)typed->ndim * sizeof *stride);
}

/* Strips of rows: a whole array. */
static kiln_status bind_strips(const kn_lowering *l, kn_lowered_part *part, int node, int k)
{
    const kn_typed *t = &l->typed[node];
    kn_operand *o = &part->binding.operand[k];
    *o = (kn_operand){.pass = KN_PASS_RAW,
                      .dtype = t->dtype,
                      .seen = t->dtype,
                      .raw_rank = t->ndim,
                      .raw_contiguous = true};
    part->source[k] = (kn_source){.kind = KN_FROM_BUFFER, .index = l->buffer_of[node]};
    return kn_lowered_view(&part->binding.array[k], NULL, NULL, t->dtype, t->ndim, t->shape,
                           l->state.base[node].stride);
}

static kiln_status bind_output(kn_lowering *l, kn_lowered_part *part, const kn_text *t, const kn_group *g,
                               int r)
{
    int node = g->root[r], k = t->n_in + r;
    int64_t own[KILN_MAX_NDIM] = {0}, stride[KILN_MAX_NDIM];
    kiln_array *given;
    kn_operand *o = &part->binding.operand[k];
    bool is_reduced = part->program->reduced_outputs >> r & 1;
    if (kn_is_strips(&l->state, node))
        return bind_strips(l, part, node, k);
    *o = (kn_operand){.pass = KN_PASS_ARRAY, .seen = kn_computed_dtype(l->typed[node].dtype)};
    find_target(l, o, &part->source[k], &given, own, node);
    kn_lowering_spread(stride, l, g, r, own);
    return set_view(&part->binding.array[k], t, g, is_reduced ? t->n_output_axes : g->ndim, given,
                    given ? given->data : NULL, o->dtype, stride);
}

/* Views of one array of the call have the same distance in each call of the same key; others need not. */
static void bind_distances(kn_lowered_part *part, int n_in)
{
    int before = -1;
    for (int k = 0; k < n_in; ++k) {
        const kn_source *own = &part->source[k], *other = before < 0 ? own : &part->source[before];
        if (!part->binding.array[k])
            continue;
        if (before >= 0 && own->kind == other->kind && own->index == other->index)
            part->binding.after[k] = kn_bytes_after(part->binding.array[k], part->binding.array[before]);
        before = k;
    }
}

kiln_status kn_lowering_bind_part(kn_lowering *l, kn_lowered_part *part, const kn_text *t, const kn_group *g)
{
    kiln_status status = KILN_OK;
    kn_binding *b = &part->binding;
    b->program = part->program;
    b->device = l->call->device;
    for (int k = 0; k < t->n_in && status == KILN_OK; ++k)
        status = bind_input(l, part, t, g, k);
    for (int r = 0; r < g->n_roots && status == KILN_OK; ++r)
        status = bind_output(l, part, t, g, r);
    if (status == KILN_OK)
        bind_distances(part, t->n_in);
    b->n_arrays = kn_operands_settle(b->operand, t->n_in + g->n_roots);
    part->options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    part->options.block = l->call->options->block;
    bool is_said = false; /* by an array that is no result of a reduction */
    for (int k = 0; k < t->n_in + g->n_roots; ++k)
        is_said |= b->array[k] && b->operand[k].pass != KN_PASS_RAW &&
                   !(k >= t->n_in && part->program->reduced_outputs >> (k - t->n_in) & 1);
    for (int k = 0; k < g->ndim; ++k)
        part->shape[k] = g->extent[t->order[k]];
    if (!is_said) {
        part->options.shape = part->shape;
        part->options.ndim = g->ndim;
    }
    return status;
}

/* ---- kernels as the user defined them ---- */

/* An array of an opaque kernel, in its own shape. */
static kiln_status bind_opaque(kn_lowered_part *part, int k, int ndim, const int64_t *shape,
                               kiln_array *array, char *data, const int64_t *stride)
{
    int64_t dense[KILN_MAX_NDIM];
    kn_operand *o = &part->binding.operand[k];
    if (part->program->param[k].is_raw) {
        kn_shape_c_strides(ndim, shape, (int64_t)kiln_dtype_size(o->dtype), dense);
        o->pass = KN_PASS_RAW;
        o->raw_rank = ndim;
        o->raw_contiguous = memcmp(dense, stride, (size_t)ndim * sizeof *dense) == 0;
        if (o->dtype != o->seen)
            return kn_error(KILN_ERROR_TYPE,
                            "%s: '%s' is raw, and of %s; an array of %s was given, which raw parameters do "
                            "not convert",
                            part->program->name, part->program->param[k].name, kiln_dtype_name(o->seen),
                            kiln_dtype_name(o->dtype));
    }
    return kn_lowered_view(&part->binding.array[k], array, data, o->dtype, ndim, shape, stride);
}

static kiln_status bind_opaque_input(kn_lowering *l, kn_lowered_part *part, const kn_text *t,
                                     const kn_group *g, int k)
{
    const kn_typed *typed = &l->typed[l->state.graph->node[g->root[0]].in[k]];
    kiln_array *array;
    char *data;
    find_source(l, part, t, k, &array, &data);
    return t->in[k].leaf ? bind_opaque(part, k, typed->ndim, typed->shape, array, data, t->in[k].leaf->stride)
                         : KILN_OK;
}

kiln_status kn_lowering_describe_output(kn_described *out, const kn_lowering *l, const kn_group *g, int j)
{
    const kn_node *node = &l->state.graph->node[g->root[0]];
    const kn_typed *t = &l->typed[g->root[0]];
    if (kn_node_algorithm(node))
        return kn_graph_describe(out, l->state.graph, l->typed, node, j);
    memset(out, 0, sizeof *out);
    out->dtype = node->kernel ? t->param[node->n_in + j] : t->variant.dtype[node->n_in + j];
    out->ndim = t->ndim;
    if (t->ndim > 0)
        memcpy(out->shape, t->shape, (size_t)t->ndim * sizeof *t->shape);
    return KILN_OK;
}

static kiln_status bind_opaque_output(kn_lowering *l, kn_lowered_part *part, const kn_group *g, int j)
{
    const kn_node *node = &l->state.graph->node[g->root[0]];
    int k = node->n_in + j, r = kn_opaque_root(g, &l->state, j);
    int64_t stride[KILN_MAX_NDIM];
    kiln_array *given = NULL;
    kn_operand *o = &part->binding.operand[k];
    kn_described own;
    kiln_status status = kn_lowering_describe_output(&own, l, g, j);
    if (status != KILN_OK)
        return status;
    *o = (kn_operand){.pass = KN_PASS_ARRAY, .seen = own.dtype, .dtype = own.dtype};
    if (r >= 0) {
        find_target(l, o, &part->source[k], &given, stride, g->root[r]);
    } else {
        part->source[k] = (kn_source){.kind = KN_FROM_BUFFER, .index = g->spare[j]};
        kn_shape_c_strides(own.ndim, own.shape, (int64_t)kiln_dtype_size(o->dtype), stride);
    }
    return bind_opaque(part, k, own.ndim, own.shape, given, given ? given->data : NULL, stride);
}

kiln_status kn_lowering_make_opaque(kn_lowering *l, kn_lowered_part *part, kn_text *t, const kn_group *g)
{
    const kn_node *node = &l->state.graph->node[g->root[0]];
    kn_binding *b = &part->binding;
    kiln_status status = kn_opaque_write(t, &part->kernel, g, &l->state);
    part->program = t->program;
    if (status != KILN_OK)
        return status;
    b->program = part->program;
    b->device = l->call->device;
    for (int k = 0; k < t->n_in && status == KILN_OK; ++k)
        status = bind_opaque_input(l, part, t, g, k);
    for (int j = 0; j < part->program->n_out && status == KILN_OK; ++j)
        status = bind_opaque_output(l, part, g, j);
    b->n_arrays = kn_operands_settle(b->operand, t->n_in + part->program->n_out);
    part->options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    part->options.block = l->call->options->block;
    part->options.axes = node->has_axes ? node->axis : NULL;
    part->options.n_axes = node->has_axes ? node->n_axes : 0;
    part->options.flags = node->keepdims ? KILN_CALL_KEEPDIMS : 0;
    return status;
}
