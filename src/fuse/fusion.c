/* The cost model that decides whether a program over rows is one kernel or several. */
#include "fuse/fusion.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "program/cost.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/rowprog/row_space.h"
#include "space/numbers.h"

/* ---- the program ---- */

static bool is_over_all(const kn_stage *s)
{
    return s->kind != KN_REDUCE && s->over == KN_OVER_ALL;
}

/* The functions that the wanted values need; marks all that these are made of. */
static int follow(bool *wanted, const kn_program *p)
{
    uint32_t stages = kn_row_stages_for(p, wanted);
    int functions = 0;
    for (int t = 0; t < p->n_stages; ++t)
        functions += stages >> t & 1 ? kn_cost_stage_functions(p, t) : 0;
    return functions;
}

static void add_pass(kn_fusion *f, const kn_spec *spec, bool *wanted)
{
    const kn_program *p = spec->program;
    int pass = f->n_passes < KN_FUSION_PASSES ? f->n_passes++ : KN_FUSION_PASSES - 1;
    f->functions[pass] += follow(wanted, p);
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        if (wanted[k] && spec->operand[k].array >= 0)
            f->operand[spec->operand[k].array].passes |= 1u << pass;
}

static void add_passes(kn_fusion *f, const kn_spec *spec)
{
    const kn_program *p = spec->program;
    for (int t = 0; t < p->n_stages; ++t) {
        bool wanted[2 * KN_MAX_PARAMS] = {false};
        if (is_over_all(&p->stage[t]))
            f->all_functions += kn_cost_stage_functions(p, t);
        if (p->stage[t].kind != KN_REDUCE)
            continue;
        wanted[p->stage[t].value[0]] = true;
        if (kn_spec_value_dtype(spec, p->stage[t].value[1]) == KILN_DTYPE_NONE)
            f->structs |= 1u << f->n_passes;
        if (strstr(p->stage[t].body, "::")) /* a function of the preamble, beside other members or alone */
            f->moments |= 1u << f->n_passes;
        add_pass(f, spec, wanted);
    }
    bool wanted[2 * KN_MAX_PARAMS] = {false};
    for (int k = p->n_in; k < p->n_in + p->n_out; ++k) {
        wanted[k] = spec->operand[k].array >= 0 && kn_row_is_wide(p, k);
        f->has_map = f->has_map || wanted[k];
    }
    if (f->has_map)
        add_pass(f, spec, wanted);
}

/* ---- the space ---- */

enum {
    SECTOR = 32, /* bytes of the smallest transfer of CUDA */
    WARP = 32
};

static int64_t elements_of(const kn_space *s, int o)
{
    int64_t count = 1;
    for (int a = 0; a < s->ndim; ++a)
        count *= s->stride[o][a] != 0 ? s->extent[a] : 1;
    return count;
}

/* True if the rows that are loaded at once share the operand's sectors. */
static bool is_beside(const kn_fusion *f, int item, int64_t stride)
{
    bool is_near = !f->is_host && f->side >= WARP && stride != 0 && llabs(stride) < SECTOR;
    return stride == item || is_near;
}

bool kn_fusion_describe(kn_fusion *f, const kn_spec *spec, const kn_space *s)
{
    int inner = s->ndim - 1, across = s->ndim - s->n_reduction_axes - 1;
    kn_access access[KN_MAX_PARAMS];
    memset(f, 0, sizeof *f);
    if (s->n_reduction_axes == 0 || s->size == 0)
        return false;
    kn_spec_access(access, spec);
    f->is_host = spec->target.backend == KN_HOST;
    f->rows = kn_space_output_size(s);
    f->length = kn_reduce_size(s);
    f->piece = s->extent[inner];
    f->run = across >= 0 ? s->extent[across] : 1;
    f->side =
        spec->schedule.kind->rows_loaded ? spec->schedule.kind->rows_loaded(&spec->schedule, f->length) : 1;
    f->n_operands = spec->n_arrays;
    for (int o = 0; o < f->n_operands; ++o) {
        int item = access[o].item_size;
        f->operand[o] =
            (kn_fusion_operand){.item = item,
                                .elements = elements_of(s, o),
                                .is_output = access[o].is_output,
                                .moves = s->stride[o][inner] != 0,
                                .is_along = s->stride[o][inner] == item,
                                .is_across = across >= 0 && is_beside(f, item, s->stride[o][across]),
                                .apart = across >= 0 ? llabs(s->stride[o][across]) : 0,
                                .step = llabs(s->stride[o][inner])};
    }
    add_passes(f, spec);
    return f->n_passes > 1;
}

/* A space that is cut fills the device with its first launch. */
kiln_status kn_fusion_place(kn_fusion *f, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_row_config *config = kn_row_config_of(s);
    if (f->is_host)
        return KILN_OK;
    kn_placement *placed = kn_malloc(sizeof *placed);
    if (!placed)
        return kn_error_memory("a launch");
    f->multiprocessors = part->spec->target.multiprocessors;
    f->blocks = f->multiprocessors;
    f->is_single = s->vector == 1;
    f->vector = s->vector;
    f->has_pieces = part->space->n_reduction_axes > 1;
    f->is_read_again = s->kind->reads_again;
    kiln_status status = KILN_OK;
    if (part->space->size < KN_MAX_INDEX) {
        status = kn_part_place(placed, part);
        f->blocks = placed->grid[0];
        f->slots = config ? f->blocks * placed->block * config->items * s->vector : 0;
        f->is_exchanged = placed->cluster > 1;
        f->beside = f->rows * kn_most(placed->cluster, 1) / kn_most(f->blocks, 1);
    }
    kn_free(placed);
    return status;
}

/* ---- the host ---- */

/* Picoseconds of one thread, measured on two machines (AMD Zen 3 and Zen 5):
 * bench/results/host-anyaxis.md. Threads share memory bandwidth, not arithmetic. The model is that of one
 * thread, so that results do not depend on the number of threads. */
enum {
    BYTE = 20,              /* a byte loaded or stored by vectors, in a cache */
    BYTE_OF_MEMORY = 60,    /* a byte of main memory */
    CACHED = 8 << 20,       /* bytes moved by a program, above which they come from main memory */
    NEAR = 1500,            /* an element in a cache line of its own, where the line is in a near cache */
    FEW_LINES = 2048,       /* the most lines of a row for that; at worst each is on a page of its own */
    FAR = 6000,             /* the same element where the line is not in a near cache */
    FUNCTION = 600,         /* a function of an element, in vectors */
    ROW = 20000,            /* one kernel of all reductions: a row, for each reduction, twice that where it
                               reduces structs (its lanes are combined), */
    STRUCT = 200,           /* and an element of these; */
    MOMENTS_BYTE = 20000,   /* a byte of an element of a row whose lanes are joined by divisions */
    PIECE = 12000,          /* a row of several axes: a contiguous piece, in each pass */
    BESIDE = 150,           /* rows side by side: an element that goes to a tile, or comes from one, */
    GROUP = 20000,          /* and a group of them, for each reduction */
    LONG_REDUCTION = 30000, /* a kernel for each reduction: a row that it reduces */
    SHORT_REDUCTION = 8000, /* short rows, many at once: at most so much */
    SHORT = 256,            /* the most elements of a short row */
    SHORT_ELEMENT = 250,    /* an element of a short row, */
    SHORT_PIECE = 64,       /* and one of pieces of so many elements, whose steps go from piece to piece */
    PIECE_ELEMENT = 100,
    STRUCT_ELEMENT = 200, /* the same of a struct, of which each member is a vector of its own */
    RESULT_RANGE = 1500,  /* a contiguous range of results that a reduction accumulates into */
    RESULT = 1000,
    RUN_OF_MAP = 4000,  /* a contiguous range of a map */
    START = 2000000,    /* the launch of one more kernel */
    LINE = 64,          /* bytes of a cache line */
    HELD = 256 << 10,   /* bytes of a row that a cache keeps from one pass to the next */
    LONG_ROW = 1 << 15, /* elements, above which one kernel keeps no values of them; and */
    FEW_ROWS = 8        /* rows, below which threads are idle */
};

static int64_t bytes_of(const kn_fusion_operand *o)
{
    return o->elements * o->item;
}

static bool is_in(const kn_fusion_operand *o, int pass)
{
    return o->passes >> pass & 1;
}

static int64_t bytes_of_pass(const kn_fusion *f, int pass)
{
    int64_t bytes = 0;
    for (int o = 0; o < f->n_operands; ++o)
        bytes += is_in(&f->operand[o], pass) ? bytes_of(&f->operand[o]) : 0;
    return bytes;
}

static int64_t all_bytes(const kn_fusion *f)
{
    int64_t bytes = 0;
    for (int o = 0; o < f->n_operands; ++o)
        bytes += bytes_of(&f->operand[o]);
    return bytes;
}

/* The time for so many bytes of memory, in a program that moves `size` bytes. */
static int64_t memory_time(const kn_fusion *f, int64_t bytes)
{
    return all_bytes(f) > CACHED ? bytes * BYTE_OF_MEMORY : 0;
}

/* The time of one element of an operand, where a thread follows a row. */
static int64_t time_along(const kn_fusion *f, const kn_fusion_operand *o)
{
    if (!o->moves || o->is_along)
        return o->moves ? (int64_t)o->item * BYTE : 0;
    return f->length <= FEW_LINES ? NEAR : FAR;
}

/* Short rows that one kernel has side by side. */
static int64_t fused_beside(const kn_fusion *f)
{
    int64_t size = f->rows * f->length, time = f->rows / f->side * GROUP * f->n_passes;
    for (int o = 0; o < f->n_operands; ++o) {
        const kn_fusion_operand *op = &f->operand[o];
        for (int pass = 0; pass < f->n_passes; ++pass)
            time += is_in(op, pass) ? size * op->item * BYTE : 0;
        time += op->passes != 0 && op->moves && !op->is_across ? size * BESIDE : 0;
    }
    time += size * FUNCTION * f->all_functions;
    return START + kn_most(time, memory_time(f, all_bytes(f)));
}

/* Bytes of the widest input; narrow ones are reduced as float32. */
static int64_t widest_input(const kn_fusion *f)
{
    int64_t widest = (int64_t)sizeof(float);
    for (int o = 0; o < f->n_operands; ++o)
        if (!f->operand[o].is_output)
            widest = kn_most(widest, f->operand[o].item);
    return widest;
}

/* Functions of an element of a row: values of a long one are computed again in each pass that needs them. */
static int64_t functions_of_rows(const kn_fusion *f)
{
    int64_t count = 0;
    for (int pass = 0; pass < f->n_passes; ++pass)
        count += f->functions[pass];
    return f->length > LONG_ROW ? count : f->all_functions;
}

static int64_t fused_on_host(const kn_fusion *f)
{
    if (f->side > 1)
        return fused_beside(f);
    int64_t size = f->rows * f->length, time = 0, footprint = 0, bytes = 0;
    for (int o = 0; o < f->n_operands; ++o) {
        const kn_fusion_operand *op = &f->operand[o];
        for (int pass = 0; pass < f->n_passes; ++pass)
            time += is_in(op, pass) ? size * time_along(f, op) : 0;
        footprint += !op->moves ? 0 : f->length * (op->is_along ? op->item : LINE);
    }
    for (int pass = 0; pass < f->n_passes; ++pass)
        bytes += bytes_of_pass(f, pass);
    time += f->rows * ROW * (f->n_passes - f->has_map) + size * FUNCTION * functions_of_rows(f);
    time += (size * STRUCT + f->rows * ROW) * __builtin_popcount(f->structs);
    time += f->rows * MOMENTS_BYTE * widest_input(f) * __builtin_popcount(f->moments);
    time += f->piece < f->length ? size / f->piece * PIECE * f->n_passes : 0;
    time = kn_most(time, memory_time(f, footprint > HELD ? bytes : all_bytes(f)));
    return START + (f->rows < FEW_ROWS ? 2 * time : time);
}

/* A reduction follows rows if its inputs do; else it accumulates results that are neighbours. */
static int64_t time_of_reduction(const kn_fusion *f, int pass)
{
    int64_t size = f->rows * f->length;
    bool is_along = true;
    for (int o = 0; o < f->n_operands; ++o)
        if (is_in(&f->operand[o], pass) && f->operand[o].moves)
            is_along = is_along && !f->operand[o].is_across;
    bool are_pieces = f->piece < f->length && f->piece <= SHORT_PIECE;
    if (is_along && are_pieces)
        return f->rows * RESULT + size * PIECE_ELEMENT;
    int64_t along = f->piece > SHORT ? LONG_REDUCTION : kn_least(SHORT_REDUCTION, f->piece * SHORT_ELEMENT);
    return f->rows * RESULT + (is_along ? size / f->piece * along : size / f->run * RESULT_RANGE);
}

static int64_t time_of_map(const kn_fusion *f, int pass)
{
    int64_t size = f->rows * f->length, run = f->piece;
    for (int o = 0; o < f->n_operands; ++o)
        if (is_in(&f->operand[o], pass) && f->operand[o].is_output && f->operand[o].is_across)
            run = f->run;
    return size / run * RUN_OF_MAP;
}

static int64_t split_on_host(const kn_fusion *f)
{
    int64_t size = f->rows * f->length, all = 0;
    for (int pass = 0; pass < f->n_passes; ++pass) {
        bool is_map = f->has_map && pass == f->n_passes - 1;
        int64_t time = is_map ? time_of_map(f, pass) : time_of_reduction(f, pass);
        for (int o = 0; o < f->n_operands; ++o)
            time += is_in(&f->operand[o], pass) && f->operand[o].moves ? size * f->operand[o].item * BYTE : 0;
        time += size * FUNCTION * f->functions[pass];
        time += f->structs >> pass & 1 ? size * STRUCT_ELEMENT : 0;
        all += START + kn_most(time, memory_time(f, bytes_of_pass(f, pass)));
    }
    return all;
}

/* ---- CUDA ---- */

/* An H200: bytes per nanosecond, and picoseconds of one more kernel. On other chips both differ by about
 * the same factor. */
enum {
    MEMORY_RATE = 4200,
    L2_RATE = 5500,
    ONE_RATE = 42,       /* of a multiprocessor, by which blocks that leave others idle load and store */
    SINGLE = 75,         /* picoseconds of a multiprocessor for an element that is loaded by itself, in each
                           pass, where a thread can hold one, */
    PIECED = 230,        /* for one whose place is computed, */
    PIECED_BESIDE = 150, /* where another block computes meanwhile: single elements then cost none, */
    AGAIN = 300,         /* for one that is read again, which waits for the pass before, */
    BOTH = 100,          /* and in a reduction of structs */
    EXCHANGE = 1000000,  /* picoseconds: blocks wait for each other, once for each reduction */
    L2_KEEPS = 28 << 20, /* bytes that the L2 still holds for the next kernel, besides its output */
    LAUNCH = 2500000,
    HALF_LINE = 64, /* bytes, */
    WIDE = 16,      /* of a vector, */
    FLOAT = 4,      /* of a float32; hundredths of the time of bytes: */
    WIDE_ELEMENTS = 100,
    NARROW_VECTORS = 100,
    WIDE_AND_NARROW = 175
};

static int64_t time_of_bytes(int64_t bytes, int rate)
{
    return bytes * 1000 / rate;
}

/* Elements that lie apart along the rows, but in one sector, come together: one of interleaved channels. If a
 * row has a block, the sectors of narrow rows side by side do not. */
static bool shares_sectors(const kn_fusion *f, const kn_fusion_operand *o)
{
    return o->moves && o->step < SECTOR && (o->is_along || !o->is_across || f->side > 1);
}

/* Bytes of the sectors that hold the operand's elements. */
static int64_t sectors_of(const kn_fusion *f, const kn_fusion_operand *o)
{
    if (shares_sectors(f, o))
        return o->elements * kn_most(o->step, o->item);
    return o->is_across ? o->elements * kn_most(o->apart, o->item) : bytes_of(o);
}

/* The time of the multiprocessor that has the most blocks: few rows leave the others idle. */
static int64_t time_of_blocks(const kn_fusion *f, int64_t near)
{
    int64_t most = kn_divide_up(f->blocks, f->multiprocessors), size = kn_most(f->slots, f->rows * f->length);
    bool is_alone = most == 1;
    int64_t each = f->is_read_again ? AGAIN
                   : !f->is_single  ? 0
                   : f->has_pieces  ? (is_alone ? PIECED : PIECED_BESIDE)
                                    : (is_alone ? SINGLE : 0);
    each = each * f->n_passes + (each > 0 ? (int64_t)BOTH * __builtin_popcount(f->structs) : 0);
    return kn_most(time_of_bytes(near / f->blocks * most, ONE_RATE), size / f->blocks * most * each) +
           (f->is_exchanged ? (int64_t)EXCHANGE * (f->n_passes - f->has_map) : 0);
}

/* Hundredths of the time of their bytes that tiles of rows side by side take: more with each reduction, where
 * clusters have wide elements or narrow vectors, or lines are cut into less than halves. */
static int64_t slowness_of_tiles(const kn_fusion *f, int64_t bytes)
{
    int widest = 0, each = 0;
    for (int o = 0; o < f->n_operands; ++o)
        if (f->operand[o].moves && f->operand[o].is_across && f->operand[o].item > widest)
            widest = f->operand[o].item;
    if (widest == 0 || f->is_read_again || bytes <= L2_KEEPS)
        return 100;
    if (f->is_exchanged)
        each = widest * f->vector >= WIDE ? (widest > FLOAT ? WIDE_ELEMENTS : 0)
               : widest > FLOAT           ? WIDE_AND_NARROW
                                          : NARROW_VECTORS;
    else if (f->side >= WARP && f->beside > 1 && f->beside * widest < HALF_LINE)
        each = WIDE_AND_NARROW;
    return 100 + (int64_t)each * (f->n_passes - f->has_map);
}

/* Rows are in registers and shared memory, so each operand is read once. An operand whose elements are not
 * neighbours along the rows moves a whole sector for the elements of few rows. */
static int64_t fused_on_cuda(const kn_fusion *f)
{
    int64_t near = 0, far = 0;
    for (int o = 0; o < f->n_operands; ++o) {
        const kn_fusion_operand *op = &f->operand[o];
        int64_t together = op->item * (op->is_across ? kn_least(f->side, f->run) : 1);
        bool is_apart = op->moves && !shares_sectors(f, op) && together < SECTOR;
        near += is_apart ? bytes_of(op) * kn_least(kn_most(op->step, op->item), SECTOR) / together
                         : sectors_of(f, op);
        far += sectors_of(f, op);
    }
    int64_t moved = time_of_bytes(far, MEMORY_RATE) / 100 * slowness_of_tiles(f, far);
    return LAUNCH + kn_most(moved, time_of_blocks(f, near));
}

static int64_t split_on_cuda(const kn_fusion *f)
{
    int64_t time = 0, read = 0;
    for (int o = 0; o < f->n_operands; ++o)
        read += f->operand[o].is_output ? 0 : sectors_of(f, &f->operand[o]);
    for (int pass = 0; pass < f->n_passes; ++pass) {
        if (pass > 0 && pass <= f->spared)
            continue;
        time += LAUNCH;
        for (int o = 0; o < f->n_operands; ++o) {
            const kn_fusion_operand *op = &f->operand[o];
            bool is_near = !op->is_output && pass > 0 && read <= L2_KEEPS;
            time += is_in(op, pass) ? time_of_bytes(sectors_of(f, op), is_near ? L2_RATE : MEMORY_RATE) : 0;
        }
    }
    return time;
}

kn_fusion_times kn_fusion_weigh(const kn_fusion *f)
{
    if (f->is_host)
        return (kn_fusion_times){fused_on_host(f), split_on_host(f)};
    return (kn_fusion_times){fused_on_cuda(f), split_on_cuda(f)};
}

bool kn_fusion_is_split(const kn_fusion_times *t)
{
    return t->split + t->split / 4 < t->fused;
}

/* ---- reductions that gather ---- */

enum {
    WORD = 4,      /* bytes */
    BLOCK = 1024,  /* bytes of neighbours that lanes of a warp read in any order */
    SHORT_RUN = 4, /* neighbours of an input, at least: a tile of a map may have two axes */
    APART = 4      /* times the bytes of the inputs, above which they lie too far apart */
};

/* True if the kernel of a reduction loads and stores all elements one by one. */
static bool are_all_gathered(const kn_spec *spec, const kn_space *s)
{
    const char *letters = spec->schedule.access;
    return s->size > 0 && !letters[strspn(letters, (const char[]){KN_GATHER, 0})];
}

/* Bytes that inputs move where the elements along an axis are read at a time: each of them alone moves a
 * sector, if its neighbours are further away. */
static double moved_along(const kn_access *access, const kn_space *s, int n_arrays, int axis)
{
    double bytes = 0;
    for (int o = 0; o < n_arrays; ++o) {
        int64_t step = llabs(s->stride[o][axis]), each = step < SECTOR ? step : SECTOR;
        if (!access[o].is_output)
            bytes +=
                (double)elements_of(s, o) * (double)(each < access[o].item_size ? access[o].item_size : each);
    }
    return bytes;
}

/* The output axes (bits) along which an operand's elements fill a few lines without gaps: lanes of a warp
 * share these, in whichever order they read. 0: there are none, or too few elements. */
static unsigned axes_of_block(const kn_space *s, int o, int item)
{
    unsigned axes = 0;
    int64_t count = 1, span = item;
    for (int a = 0; a < s->ndim - s->n_reduction_axes; ++a) {
        int64_t step = llabs(s->stride[o][a]);
        if (step == 0 || step * s->extent[a] > BLOCK)
            continue;
        axes |= 1u << a;
        count *= s->extent[a];
        span += step * (s->extent[a] - 1);
    }
    return count >= WARP && span == count * item ? axes : 0;
}

/* True if all operands have such a block along the same axes, and one input has most of the bytes: its copy
 * would move more than is gained. */
static bool have_blocks(const kn_access *access, const kn_space *s, int n_arrays)
{
    unsigned axes = n_arrays > 0 ? axes_of_block(s, 0, access[0].item_size) : 0;
    int64_t most = 0, all = 0;
    for (int o = 0; o < n_arrays; ++o) {
        int64_t bytes = access[o].is_output ? 0 : elements_of(s, o) * access[o].item_size;
        axes = axes_of_block(s, o, access[o].item_size) == axes ? axes : 0;
        most = bytes > most ? bytes : most;
        all += bytes;
    }
    return axes != 0 && 3 * most > 2 * all;
}

bool kn_fusion_gathers_apart(const kn_spec *spec, const kn_space *s)
{
    kn_access access[KN_MAX_PARAMS];
    if (!are_all_gathered(spec, s))
        return false;
    kn_spec_access(access, spec);
    if (have_blocks(access, s, spec->n_arrays))
        return false;
    double least = 0, bytes = 0;
    for (int o = 0; o < spec->n_arrays; ++o)
        bytes += access[o].is_output ? 0 : (double)elements_of(s, o) * access[o].item_size;
    for (int a = 0; a < s->ndim; ++a) {
        double moved = moved_along(access, s, spec->n_arrays, a);
        if (s->extent[a] >= WARP && (least == 0 || moved < least))
            least = moved;
    }
    return least > APART * bytes;
}

/* The output axis along which an operand has so many neighbours at least; -1: none. */
static int output_axis_of(const kn_space *s, int o, int item, int64_t least)
{
    int axis = -1;
    for (int a = 0; a < s->ndim - s->n_reduction_axes; ++a)
        axis = s->stride[o][a] == item && s->extent[a] >= least ? a : axis;
    return axis;
}

bool kn_fusion_is_map_of_terms(const kn_spec *spec, const kn_space *s)
{
    kn_access access[KN_MAX_PARAMS];
    if (!are_all_gathered(spec, s))
        return false;
    kn_spec_access(access, spec);
    /* a thread has one struct of words, and a vector of results of a map */
    const bool are_structs = kn_spec_value_dtype(spec, kn_spec_reduced_value(spec)) == KILN_DTYPE_NONE;
    for (int o = 0; o < spec->n_arrays; ++o)
        for (int i = 0; i < spec->n_arrays && access[o].is_output; ++i) {
            int of_result = output_axis_of(s, o, access[o].item_size, WARP),
                of_input = output_axis_of(s, i, access[i].item_size, SHORT_RUN);
            if (!access[i].is_output && of_result >= 0 && of_input >= 0 &&
                (of_input != of_result || access[i].item_size < WORD + are_structs) &&
                elements_of(s, i) >= elements_of(s, o))
                return true;
        }
    return false;
}
