#include "plan/windows.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum {
    ACCESS = 16,          /* bytes of a piece of a row */
    BOX_BYTES = 58 << 10, /* of shared memory, about; */
    SMALL_BOX = 8 << 10,  /* fewer where there would be fewer boxes */
    BOXES = 512,          /* than so many */
    SHORTEST_ROW = 96,    /* bytes of a row for which crossing is worth it */
    CROSSED_BYTES = 512,  /* longest results of the fastest axis that cross */
    LONGEST_ROW = 4096,   /* bytes of a row in a box */
    SHORT_ROW = 160,      /* and the fewest, where there are more */
    MORE_PARTS = 4,       /* ways to cut beyond the fewest parts that are looked at */
    SLOT_LANES = 5,       /* log2 of threads side by side along a run, at least: a warp has one run; */
    BYTE_LANES = 3,       /* of bytes, whose boxes are shorter */
    FINALISTS = 4,        /* boxes whose conflicts are counted */
    WARPS = 3,            /* by so many warps */
    MOST_LONGER = 48,     /* bytes that a pitch may be longer than it has to */
    PIECE_LANES = 5,      /* log2 of threads along a row, at most */
    BANKS = 32,           /* of shared memory, 4 bytes wide */
    WARP = 32,
    BLOCKS = 4,             /* on a multiprocessor, as registers allow; */
    SMALL_BLOCKS = 3,       /* of elements below 4 bytes */
    CACHE_BYTES = 32 << 10, /* of a multiprocessor that shared memory leaves to a cache of some size */
    MOST_BYTES = 63 << 10,  /* of a box: larger ones were not measured */
    WRITTEN_ROW = 50,       /* instructions in the time that the ends of a run of results take, */
    READ_ROW = 8            /* and those of a row of the input */
};

/* The axes that a box has, of its space: the fastest, the one on which runs go on, and the two along which
 * the runs lie. -1: none. */
typedef struct box_axes {
    int fastest, run, row[2];
    bool crossed;
} box_axes;

/* What is being cut. */
typedef struct cut {
    const kn_space *space;
    const kn_schedule *schedule;
    const kn_target *target;
    const kn_access *access;
    int staged, item; /* the staged operand; its bytes an element */
    int result;       /* the first result */
    int64_t box_bytes;
    box_axes axes;
    int64_t run_size, n_rows; /* of the space */
} cut;

/* One way to cut. Counts of elements; rows of the input are `columns` long and `input_rows` many. */
typedef struct box {
    int64_t run, rows, columns, input_rows;
    int64_t count; /* of boxes, in all directions that are cut */
    int64_t pitch; /* bytes from one row of the input to the next in shared memory */
    uint32_t piece_lanes, slot_lanes, row_shift;
    double cost;
} box;

/* The boxes that a first guess found best, the best one first. */
typedef struct finalists {
    box at[FINALISTS];
    int count;
} finalists;

static int64_t extent(const cut *c, int axis)
{
    return axis < 0 ? 1 : c->space->extent[axis];
}

static int64_t divide_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static uint32_t log2_above(int64_t n)
{
    uint32_t log = 0;
    while ((INT64_C(1) << log) < n)
        ++log;
    return log;
}

/* Whether each result goes on along the axis after `step` elements. */
static bool results_go_on(const cut *c, int axis, int64_t step)
{
    for (int o = 0; o < c->space->n_operands - c->space->has_index; ++o)
        if (c->access[o].is_output && c->space->stride[o][axis] != step * c->access[o].item_size)
            return false;
    return true;
}

static int next_of_results(const cut *c)
{
    for (int a = c->axes.fastest; a-- > 0;)
        if (results_go_on(c, a, extent(c, c->axes.fastest)))
            return a;
    return -1;
}

static int next_of_input(const cut *c, int axis)
{
    for (int a = c->axes.fastest; a-- > 0;)
        if (a != axis && a != c->axes.run &&
            c->space->stride[c->staged][a] == c->space->extent[axis] * c->item)
            return a;
    return -1;
}

/* Of the axes that a box has not got the one along which the input's steps are smallest. */
static int nearest_of_input(const cut *c)
{
    int best = -1;
    for (int a = c->axes.fastest; a-- > 0;) {
        int64_t stride = llabs(c->space->stride[c->staged][a]);
        if (a != c->axes.run && (best < 0 || stride < llabs(c->space->stride[c->staged][best])))
            best = a;
    }
    return best;
}

/* The least distance of two rows in shared memory that has the low bits of their distance in memory, so that
 * both have the same pieces of 16 bytes. */
static int64_t pitch_for(const cut *c, int64_t columns)
{
    int64_t low = c->space->stride[c->staged][c->axes.fastest] & (ACCESS - 1);
    int64_t least_pitch = columns * c->item + 2 * (ACCESS - 1);
    return least_pitch + ((low - least_pitch) & (ACCESS - 1));
}

static void size_boxes(cut *c)
{
    int64_t share = c->space->size * c->item / BOXES;
    int64_t most = least(share, BOX_BYTES);
    c->box_bytes = most > SMALL_BOX ? most : SMALL_BOX;
}

/* Elements of each row for which a crossed box, which takes all rows along the fastest axis, has room. */
static int64_t crossed_columns(const cut *c, int axis)
{
    int64_t room = least(LONGEST_ROW, c->box_bytes / extent(c, c->axes.fastest) - 3 * ACCESS);
    return least(room / c->item, extent(c, axis));
}

static void find_axes(cut *c, int axis)
{
    c->axes = (box_axes){.fastest = c->space->ndim - 1, .run = -1, .row = {axis, -1}};
    int next = next_of_results(c);
    if (next != axis) {
        c->axes.run = next;
    } else if (extent(c, c->axes.fastest) * c->item <= CROSSED_BYTES &&
               crossed_columns(c, axis) * c->item >= SHORTEST_ROW) {
        c->axes.run = axis;
        c->axes.crossed = true;
        c->axes.row[0] = nearest_of_input(c);
        return;
    }
    c->axes.row[1] = next_of_input(c, axis);
}

/* Runs begin up to a vector less one element before a box's part: the first slot may begin so early. */
static int64_t halo(const cut *c)
{
    return c->schedule->vector - 1;
}

static int64_t whole_vectors(const cut *c, int64_t elements)
{
    return divide_up(elements, c->schedule->vector) * c->schedule->vector;
}

/* What the slots of a box take of a warp, in instructions and in the time in which as many would be issued:
 * of words that lie in one bank one is loaded a cycle, in which four instructions are issued. */
static double slot_work(const cut *c, const box *b, uint32_t lanes, double conflicts)
{
    int64_t block = c->schedule->block, vector = c->schedule->vector, slots = b->run / vector;
    double passes = (double)divide_up(slots, INT64_C(1) << lanes),
           turns = (double)divide_up(b->rows, block >> lanes), words = c->item > 4 ? c->item / 4 : 1,
           one = c->item <= 2 ? 54 + 5 * (double)vector : 42 + 2 * (double)vector;
    double loading = passes * turns * (double)vector * 4 * conflicts * words,
           issued = passes * (50 + turns * one);
    return issued > loading ? issued : loading;
}

/* Bytes of shared memory; blocks side by side on a multiprocessor may leave its cache too little, by which
 * adjacent rows are read once. */
static bool starves_cache(const cut *c, int shared)
{
    int all = c->target->shared_memory_per_multiprocessor, each = shared + c->target->shared_memory_reserved,
        blocks = c->item < 4 ? SMALL_BLOCKS : BLOCKS;
    blocks = all / each < blocks ? all / each : blocks;
    return blocks * each > all - CACHE_BYTES;
}

/* Each time that rows go on along their second axis up to 15 bytes are left out. */
static int shared_for(const box *b, const cut *c)
{
    int64_t seconds = b->input_rows / extent(c, c->axes.fastest) + 2;
    return (int)(b->input_rows * b->pitch + seconds * ACCESS + b->columns * c->item + 2 * ACCESS);
}

/* Of a row, wherever it begins. */
static int64_t pieces_of(const cut *c, const box *b)
{
    return divide_up(b->columns * c->item + ACCESS - c->item, ACCESS);
}

/* What all boxes take; the weights follow from 2,500 boxes of transposes with odd extents, measured on an
 * H200. */
static double cost_of(const cut *c, const box *b, double work)
{
    int64_t block = c->schedule->block, pieces = pieces_of(c, b);
    double staging = (double)(divide_up(b->input_rows, block >> b->piece_lanes) *
                              divide_up(pieces, INT64_C(1) << b->piece_lanes));
    double each = (double)block / WARP * (45 + 40 * staging + work) + WRITTEN_ROW * (double)b->rows +
                  READ_ROW * (double)b->input_rows;
    double starved = c->item < ACCESS ? 1.5 : 1.15; /* elements of 16 bytes share no sectors */
    return (double)b->count * each * (starves_cache(c, shared_for(b, c)) ? starved : 1);
}

static uint32_t fewest_lanes(const cut *c)
{
    return c->item < 2 ? BYTE_LANES : SLOT_LANES;
}

/* Of shared memory. */
static int64_t most_bytes(const cut *c)
{
    return least(MOST_BYTES, c->target->shared_memory_per_block);
}

/* A guess at the cost: vectors of a run begin in an eighth of the banks, so that conflicts are few where a
 * warp has several runs. */
static void guess(box *b, const cut *c)
{
    double least_work = DBL_MAX;
    b->pitch = pitch_for(c, b->columns);
    b->piece_lanes = (uint32_t)least(log2_above(pieces_of(c, b)), PIECE_LANES);
    for (uint32_t lanes = fewest_lanes(c); (c->schedule->block >> lanes) > 0; ++lanes) {
        double work = slot_work(c, b, lanes, 2);
        least_work = work < least_work ? work : least_work;
    }
    b->cost = cost_of(c, b, least_work);
}

static void keep_better(finalists *best, box *b, const cut *c)
{
    guess(b, c);
    if (shared_for(b, c) > most_bytes(c))
        return;
    if (best->count == FINALISTS && best->at[FINALISTS - 1].cost <= b->cost)
        return;
    int at = best->count < FINALISTS ? best->count++ : FINALISTS - 1;
    for (; at > 0 && best->at[at - 1].cost > b->cost; --at)
        best->at[at] = best->at[at - 1];
    best->at[at] = *b;
}

/* Rows of the input lie along the runs. */
static void try_straight(finalists *best, const cut *c, int64_t columns)
{
    int64_t whole = whole_vectors(c, c->run_size + halo(c));
    int64_t room =
        (c->box_bytes / pitch_for(c, columns) - halo(c)) / c->schedule->vector * c->schedule->vector;
    int64_t fewest = room > 0 ? divide_up(whole, room) : whole;
    for (int64_t parts = fewest; parts < fewest + MORE_PARTS && room > 0; ++parts) {
        box b = {.rows = columns, .columns = columns, .run = whole_vectors(c, divide_up(whole, parts))};
        b.input_rows = least(b.run + halo(c), c->run_size);
        b.count = divide_up(whole, b.run) * divide_up(c->n_rows, columns);
        keep_better(best, &b, c);
    }
}

/* A run takes all rows along the fastest axis, one element of each after the other. */
static void try_crossed(finalists *best, const cut *c, int64_t columns)
{
    int64_t fastest = extent(c, c->axes.fastest), vector = c->schedule->vector,
            whole = extent(c, c->axes.run);
    box b = {.columns = columns};
    b.run = columns == whole ? whole_vectors(c, c->run_size + halo(c)) : columns * fastest / vector * vector;
    b.columns = least((b.run + vector - 2) / fastest + 2, whole);
    int64_t room = c->box_bytes / (fastest * pitch_for(c, b.columns));
    for (int more = 0; more < MORE_PARTS; ++more) {
        b.rows = divide_up(c->n_rows, divide_up(c->n_rows, room > 0 ? room : 1) + more);
        b.input_rows = b.rows * fastest;
        b.count = divide_up(c->run_size + halo(c), b.run) * divide_up(c->n_rows, b.rows);
        keep_better(best, &b, c);
    }
}

/* One slot of one run: worse than any that is found. */
static box least_box(const cut *c)
{
    int64_t vector = c->schedule->vector, fastest = extent(c, c->axes.fastest);
    return (box){.run = vector,
                 .rows = 1,
                 .columns = c->axes.crossed ? least(2 * vector / fastest + 2, extent(c, c->axes.run)) : 1,
                 .input_rows = c->axes.crossed ? fastest : vector + halo(c),
                 .count = 1};
}

/* The columns are cut in equal parts: in the fewest for which there is room, or in some more. */
static void find_boxes(finalists *best, const cut *c)
{
    bool crossed = c->axes.crossed;
    int64_t whole = crossed ? extent(c, c->axes.run) : c->n_rows;
    int64_t most = crossed ? crossed_columns(c, c->axes.run)
                           : least(LONGEST_ROW, c->box_bytes / (4 * halo(c) + 1)) / c->item;
    int64_t columns = 0;
    for (int64_t parts = divide_up(whole, most); columns != 1; ++parts) {
        columns = divide_up(whole, parts);
        if (best->count > 0 && columns * c->item < SHORT_ROW)
            return;
        (crossed ? try_crossed : try_straight)(best, c, columns);
        parts += parts / 16;
    }
}

/* Along the second axis of the rows too shared memory keeps the low bits of the distance in memory. */
static uint32_t congruent_step(const cut *c, uint32_t step)
{
    int second = c->axes.crossed ? c->axes.row[0] : c->axes.run;
    int64_t low = second < 0 ? 0 : c->space->stride[c->staged][second];
    return step + ((uint32_t)((uint64_t)low - step) & (ACCESS - 1));
}

/* ---- which threads a warp has, and where rows begin ---- */

/* The word of shared memory, relative to the box, that a thread takes first of a slot; small elements begin
 * with the word of the result that is the thread's turn. */
static uint32_t word_of(const cut *c, const box *b, uint32_t step, uint32_t slot, uint32_t row, uint32_t turn)
{
    uint32_t size = (uint32_t)c->access[c->result].item_size, first = (uint32_t)extent(c, c->axes.row[0]),
             vector = (uint32_t)c->schedule->vector, fastest = (uint32_t)extent(c, c->axes.fastest);
    int64_t place = row % first * (c->axes.row[0] < 0 ? 0 : c->space->stride[c->result][c->axes.row[0]]) +
                    row / first * (c->axes.row[1] < 0 ? 0 : c->space->stride[c->result][c->axes.row[1]]);
    uint32_t skew = (uint32_t)(place / size) % vector, t = (slot + 1) * vector - skew + turn * vector / 4,
             x = t / fastest, item = (uint32_t)c->item;
    return ((t - x * fastest) * (uint32_t)b->pitch + x * (c->axes.crossed ? item : step) +
            row * (c->axes.crossed ? step : item)) /
           4;
}

/* Turns that a warp's first load takes: the most words that lie in one bank. */
static uint32_t count_turns(const cut *c, const box *b, uint32_t warp)
{
    uint32_t held[BANKS][WARP], count[BANKS] = {0}, most = 0, all_lanes = log2_above(c->schedule->block),
                                row_lanes = all_lanes > b->slot_lanes ? all_lanes - b->slot_lanes : 0,
                                step = congruent_step(c, (uint32_t)(extent(c, c->axes.fastest) * b->pitch));
    bool turns = c->item <= 2 && c->schedule->vector * c->item == ACCESS;
    for (uint32_t lane = 0; lane < WARP; ++lane) {
        uint32_t thread = warp * WARP + lane, slot = thread & ((1u << b->slot_lanes) - 1), k = 0;
        uint32_t word =
            word_of(c, b, step, slot, kn_windows_row(thread >> b->slot_lanes, row_lanes, b->row_shift),
                    turns ? lane >> 3 : 0);
        uint32_t *bank = held[word % BANKS], *there = &count[word % BANKS];
        while (k < *there && bank[k] != word)
            ++k;
        if (k == *there)
            bank[(*there)++] = word;
        most = *there > most ? *there : most;
    }
    return most;
}

/* Neighbouring rows share words of shared memory, but their vectors begin at different elements: what is best
 * depends on all distances, and is counted. A longer pitch may help where there is room. */
static void settle(box *b, const cut *c)
{
    box best = *b;
    int64_t room = least(most_bytes(c) - shared_for(b, c), c->box_bytes / 4) / b->input_rows;
    best.cost = DBL_MAX;
    for (int64_t longer = 0; longer <= MOST_LONGER && longer <= room; longer += ACCESS)
        for (uint32_t lanes = fewest_lanes(c); lanes <= SLOT_LANES; ++lanes)
            for (uint32_t shift = 0; shift < (lanes < SLOT_LANES ? 5 : 1); ++shift) {
                box tried = *b;
                double turns = 0;
                tried.pitch += longer;
                tried.slot_lanes = lanes;
                tried.row_shift = shift;
                for (uint32_t warp = 0; warp < WARPS; ++warp)
                    turns += count_turns(c, &tried, warp) / (double)WARPS;
                /* A warp of one run meets the same conflicts however many such there are. */
                for (; tried.slot_lanes == lanes ||
                       (lanes == SLOT_LANES && c->schedule->block >> tried.slot_lanes > 0);
                     ++tried.slot_lanes) {
                    tried.cost = cost_of(c, &tried, slot_work(c, b, tried.slot_lanes, turns));
                    if (tried.cost < best.cost)
                        best = tried;
                }
            }
    *b = best;
}

static box settled_best(finalists *f, const cut *c)
{
    box best = {.cost = DBL_MAX};
    if (f->count == 0) {
        f->at[f->count++] = least_box(c);
        guess(f->at, c);
    }
    for (int k = 0; k < f->count; ++k) {
        box *b = &f->at[k];
        settle(b, c);
        if (b->cost < best.cost)
            best = *b;
    }
    return best;
}

/* Boxes are counted; where they begin the kernel finds by itself. */
static void put_boxes(kn_space *out, int to, int64_t count)
{
    kn_space_put_axis(out, to, out, -1, 1);
    out->extent[to] = count;
}

static void make_space(kn_space *out, const cut *c, const kn_windows *w)
{
    const box_axes *x = &c->axes;
    int to = 0;
    kn_space_start(out, c->space);
    for (int a = 0; a < x->fastest; ++a)
        if (a != x->row[1] && a != x->row[0] && a != x->run)
            kn_space_put_axis(out, to++, c->space, a, 1);
    int64_t runs = divide_up(c->run_size + halo(c), w->run), rows = divide_up(w->n_rows, w->rows);
    put_boxes(out, to++, w->rows_first ? runs : rows);
    put_boxes(out, to++, w->rows_first ? rows : runs);
    kn_space_put_axis(out, to++, c->space, x->row[1], 1);
    kn_space_put_axis(out, to++, c->space, x->row[0], 1);
    kn_space_put_axis(out, to++, c->space, x->run, 1);
    kn_space_put_axis(out, to++, c->space, x->fastest, 1);
    out->ndim = to;
}

static void set_steps(kn_windows *w, const cut *c)
{
    uint32_t turn = (uint32_t)c->schedule->block >> w->piece_lanes, row_turn = UINT32_C(1) << w->row_lanes,
             fastest = (uint32_t)extent(c, c->axes.fastest), rows = (uint32_t)extent(c, c->axes.row[0]);
    w->p_step = turn % fastest;
    w->x_step = turn / fastest;
    w->q_step = row_turn % rows;
    w->q2_step = row_turn / rows;
}

void kn_windows_make(kn_windows *out, kn_space *boxes, int *shared_bytes, const kn_space *space,
                     const kn_spec *spec, const kn_access *access, int axis)
{
    const kn_schedule *schedule = &spec->schedule;
    cut c = {.space = space, .schedule = schedule, .target = &spec->target, .access = access};
    c.staged = (int)(strchr(schedule->access, KN_STAGED) - schedule->access);
    c.item = access[c.staged].item_size;
    while (!access[c.result].is_output)
        ++c.result;
    size_boxes(&c);
    find_axes(&c, axis);
    c.run_size = extent(&c, c.axes.fastest) * extent(&c, c.axes.run);
    c.n_rows = extent(&c, c.axes.row[0]) * extent(&c, c.axes.row[1]);
    finalists found = {.count = 0};
    find_boxes(&found, &c);
    box best = settled_best(&found, &c);
    int64_t fastest = extent(&c, c.axes.fastest);
    *out = (kn_windows){.run = (uint32_t)best.run,
                        .rows = (uint32_t)best.rows,
                        .run_size = (uint32_t)c.run_size,
                        .n_rows = (uint32_t)c.n_rows,
                        .slots = (uint32_t)(best.run / schedule->vector),
                        .pitch = (uint32_t)best.pitch,
                        .pitch2 = 2 * (uint32_t)best.pitch,
                        .pitch3 = 3 * (uint32_t)best.pitch,
                        .step = congruent_step(&c, (uint32_t)(fastest * best.pitch)),
                        .crossed = c.axes.crossed,
                        .piece_lanes = best.piece_lanes,
                        .slot_lanes = best.slot_lanes,
                        .row_lanes = log2_above(schedule->block) - best.slot_lanes,
                        .row_shift = best.row_shift};
    out->rows_first = divide_up(out->n_rows, out->rows) < divide_up(c.run_size + halo(&c), out->run);
    *shared_bytes = shared_for(&best, &c);
    set_steps(out, &c);
    make_space(boxes, &c, out);
}

int64_t kn_windows_count(const kn_space *boxes)
{
    int64_t count = 1;
    for (int a = 0; a < boxes->ndim - KN_WINDOWS_AXES; ++a)
        count *= boxes->extent[a];
    return count;
}
