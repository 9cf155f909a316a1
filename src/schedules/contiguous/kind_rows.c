/* kind_rows.c - wide stores along the fastest axis; operands are located by their strides. Each one is read
 * as vectors, as one element that is repeated, or element by element. */
#include "schedules/contiguous/kind_rows.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedule/kind.h"
#include "schedules/contiguous/contiguous_kinds.h"

enum {
    LINE = 128,           /* bytes that memory and caches of a GPU move together */
    LONG_ROW = 128,       /* vectors of a row, from which on most warps are within one row, */
    LONG_STEPPED = 16,    /* and from which on enough are that a path of their own pays */
    LONG_PASSED = 128,    /* vectors of two axes, from which on few warps go beyond them */
    SHORTEST_ROW = 32,    /* bytes of a row: the results of joined shorter rows would fill no sector */
    SHORT_ROW = 512,      /* bytes of a row, from which on it is read alone */
    ROWS_TOGETHER = 1024, /* bytes of shorter rows that are joined, at most */
    MANY_GATHERED = 3,    /* operands for which a thread locates each of its elements once, */
    LOCATED_VECTOR = 4,   /* if it has so many at most */
    WORD = 4,             /* bytes */
    VECTOR_BYTES = 16,
    MOST_NEIGHBOURS = 16, /* bytes of inputs that are loaded together */
    SECTOR = 32,          /* bytes that are read at least */
    LINES_RATIO = 10,     /* bytes between lanes for each byte of an element that is moved: see may_gather */
    RASTER_VECTOR = 4,    /* elements of a vector, at most, for rasterised blocks */
    RASTER_LEAST = 128,   /* vectors of a row, from which on blocks are rasterised */
    RASTER_BLOCKS = 65535 /* blocks along the second axis of a grid, at most */
};

typedef struct launch_params {
    int misalignment; /* elements by which dense results are off a vector's boundary */
} launch_params;

/* The kind's field. row_vectors: vectors from row to row in rasterised blocks; 0: they are not. */
#define MEMBERS                                                                                              \
    int misalignment;                                                                                        \
    unsigned row_vectors;
typedef struct rows_field {
    MEMBERS
} rows_field;

/* ---- the choice ---- */

static bool are_outputs_dense(const kn_choice *c)
{
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output && !kn_choice_is_dense(c, o))
            return false;
    return true;
}

/* A cut of the outermost axis must be enough for 32-bit offsets: dense results allow no other cut. */
static bool can_cut_outermost(const kn_choice *c)
{
    for (int o = 0; o < c->space->n_operands; ++o)
        if (kn_space_reach(c->space, o, 1) > KN_MAX_OFFSET)
            return false;
    return true;
}

/* Every input is contiguous or broadcast along the fastest axis, and a row has at least one vector. */
static bool are_inputs_runs(const kn_choice *c, int vector)
{
    int inner = kn_choice_inner(c);
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && c->space->stride[o][inner] != 0 &&
            c->space->stride[o][inner] != c->access[o].item_size)
            return false;
    return c->space->extent[inner] >= vector;
}

static void set_block(kn_schedule *out, const kn_choice *c, int vector)
{
    out->vector = vector;
    out->block = kn_choice_block(c);
    out->rank = kn_choice_rank(c->space->ndim);
}

/* ---- how far apart the lanes of a warp may gather ---- */

static int64_t step_of(const kn_choice *c, int o)
{
    int64_t step = c->space->stride[o][kn_choice_inner(c)];
    return step < 0 ? -step : step;
}

/* Bytes of memory that an element of the space takes, of all operands. */
static double bytes_moved(const kn_choice *c)
{
    double bytes = 0;
    for (int o = 0; o < c->count; ++o) {
        int64_t item = c->access[o].item_size, step = step_of(c, o) < SECTOR ? step_of(c, o) : SECTOR;
        double apart = c->access[o].is_output || step < item ? 1 : (double)step / (double)item;
        bytes += apart * (double)kn_choice_footprint(c, o) / (double)c->space->size;
    }
    return bytes;
}

/* A vector of the operand is put together of two aligned ones where it begins anywhere. Four bytes take as
 * long so as one by one. */
static bool is_run_of(const kn_choice *c, int o, int vector)
{
    int bytes = c->access[o].item_size * vector;
    return bytes == VECTOR_BYTES / 2 || bytes == VECTOR_BYTES;
}

/* True if the loads of single elements of vectors touch so few lines that memory is waited for rather than
 * the L1 cache: an instruction of a warp touches lines in proportion to the distance of its lanes. Elements
 * that are a sector apart have lines of their own however they are loaded. */
static bool may_gather(const kn_choice *c, int vector)
{
    int64_t apart = 0;
    int misalignment = kn_choice_misalignment(c, vector);
    for (int o = 0; o < c->count; ++o) {
        int64_t item = c->access[o].item_size;
        bool is_run = step_of(c, o) == item && is_run_of(c, o, vector);
        if (!c->access[o].is_output && !is_run && step_of(c, o) < SECTOR &&
            !kn_choice_is_vector(c, o, vector) &&
            !(kn_choice_is_dense(c, o) && kn_choice_agrees(c, o, vector, misalignment)))
            apart += step_of(c, o);
    }
    return (double)(apart * vector) <= LINES_RATIO * bytes_moved(c);
}

/* ---- interleaved inputs ---- */

/* Inputs that are one range: their number, and where they lie in it. */
typedef struct interleaved {
    int count; /* 0: there are none */
    bool is_backward;
} interleaved;

/* The inputs from `first` on are narrow elements side by side, of one array without gaps (interleaved
 * channels), along the only axis. */
static bool are_interleaved(const kn_choice *c, int first, interleaved own)
{
    const kn_space *s = c->space;
    int64_t item = c->access[first].item_size, next = own.is_backward ? -item : item;
    if (first + own.count > c->count || item >= WORD)
        return false;
    for (int o = first; o < first + own.count; ++o)
        if (c->access[o].is_output || c->access[o].item_size != item || s->stride[o][0] != own.count * item ||
            (o > first && s->after[o] != next))
            return false;
    return true;
}

/* Such inputs are read together, and a thread takes what its elements need. All ranges of a kernel are alike.
 * `letters`: of all operands. */
static interleaved join_interleaved(char *letters, const kn_choice *c)
{
    interleaved found = {.count = 0};
    for (int o = 0; o + 1 < c->count && c->space->ndim == 1; ++o) {
        int64_t count = c->space->stride[o][0] / c->access[o].item_size;
        interleaved own = {.count = (int)count, .is_backward = c->space->after[o + 1] < 0};
        if (count < 2 || count > KN_ROWS_MOST_INTERLEAVED ||
            (found.count > 0 && (own.count != found.count || own.is_backward != found.is_backward)) ||
            !are_interleaved(c, o, own))
            continue;
        found = own;
        memset(letters + o, KN_STAGED, (size_t)count);
        o += own.count - 1;
    }
    return found;
}

/* True if there are such inputs, and no others. */
static bool are_all_interleaved(const kn_choice *c)
{
    char letters[KN_MAX_PARAMS + 1] = {0};
    bool are = join_interleaved(letters, c).count > 0;
    for (int o = 0; o < c->count; ++o)
        are = are && (c->access[o].is_output || letters[o] == KN_STAGED);
    return are;
}

/* Elements of a thread: fewer where single ones are gathered from too many lines. */
static int vector_of(const kn_choice *c)
{
    int vector = kn_choice_vector(c);
    while (vector > LOCATED_VECTOR && c->space->size > 0 && !may_gather(c, vector) && !are_all_interleaved(c))
        vector /= 2;
    return vector;
}

/* Results are one contiguous range, stored in vectors at the element's index. Rows of whole vectors are left
 * to kn_rows_choose_located: otherwise there would be two binaries for the same layouts. */
static bool choose_dense(kn_schedule *out, launch_params *f, const kn_choice *c)
{
    int vector = vector_of(c);
    bool apart = vector > KN_MAX_LOCATED && !are_inputs_runs(c, vector) && !are_all_interleaved(c);
    vector = apart ? KN_MAX_LOCATED : vector;
    f->misalignment = kn_choice_misalignment(c, vector);
    if (!are_outputs_dense(c) || vector == 1 || f->misalignment < 0 || c->space->size == 0 ||
        (f->misalignment == 0 && kn_choice_has_vector_input(c, vector)) || !can_cut_outermost(c) ||
        !kn_choice_is_near(c, vector))
        return false;
    set_block(out, c, vector);
    for (int o = 0; o < c->count; ++o) {
        bool dense = kn_choice_is_dense(c, o) && !apart && kn_choice_agrees(c, o, vector, f->misalignment);
        out->access[o] = c->access[o].is_output || dense
                             ? KN_DENSE
                             : KN_GATHER; /* gathered element by element: all inputs alike */
    }
    interleaved joined = join_interleaved(out->access, c);
    kn_rows_config_in(out)->interleaved = joined.count;
    kn_rows_config_in(out)->backward = joined.is_backward;
    return true;
}

static bool are_all_vectors(const kn_choice *c, int vector)
{
    for (int o = 0; o < c->count; ++o)
        if (!kn_choice_is_vector(c, o, vector))
            return false;
    return true;
}

bool kn_rows_choose_located(kn_schedule *out, const kn_choice *c)
{
    int vector = vector_of(c);
    bool apart = vector > KN_MAX_LOCATED && !are_all_vectors(c, vector);
    vector = apart ? KN_MAX_LOCATED : vector;
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output && !kn_choice_is_vector(c, o, vector))
            return false;
    if (vector == 1 || !kn_choice_is_near(c, vector) ||
        (kn_choice_widest(c, false) > 0 && !kn_choice_has_vector_input(c, vector)))
        return false;
    set_block(out, c, vector);
    /* If inputs of small elements are gathered, all are: this saves a binary for each mixture. */
    for (int o = 0; o < c->count; ++o)
        out->access[o] =
            kn_choice_is_vector(c, o, vector) && (!apart || c->access[o].is_output) ? KN_VECTOR : KN_GATHER;
    return true;
}

/* Every gathered operand is contiguous along rows, in vectors that are loaded as two aligned ones. */
static bool are_gathered_runs(const kn_schedule *s, const kn_choice *c, const kn_space *iterated)
{
    for (int o = 0; o < c->count; ++o) {
        if (s->access[o] == KN_GATHER && (iterated->stride[o][iterated->ndim - 1] != c->access[o].item_size ||
                                          !is_run_of(c, o, s->vector)))
            return false;
    }
    return true;
}

/* Every gathered operand is broadcast along rows, and there is no index. */
static bool are_gathered_repeated(const kn_schedule *s, const kn_choice *c, const kn_space *iterated)
{
    bool are = !(c->space->indices & KN_WITH_INDEX);
    for (int o = 0; o < c->count; ++o)
        are = are && (s->access[o] != KN_GATHER || iterated->stride[o][iterated->ndim - 1] == 0);
    return are;
}

/* Marks those of gathered operands that are broadcast along rows, if the others are runs: one element of
 * each row. */
static void mark_repeated(kn_schedule *s, const kn_choice *c, const kn_space *iterated)
{
    int inner = iterated->ndim - 1;
    char marked[KN_MAX_PARAMS + 1];
    memcpy(marked, s->access, sizeof marked);
    for (int o = 0; o < c->count; ++o)
        if (marked[o] == KN_GATHER && iterated->stride[o][inner] == 0)
            marked[o] = KN_BROADCAST;
    kn_schedule runs = *s;
    memcpy(runs.access, marked, sizeof marked);
    if (strchr(marked, KN_GATHER) && are_gathered_runs(&runs, c, iterated))
        memcpy(s->access, marked, sizeof marked);
}

static int gathered(const kn_schedule *s)
{
    int count = 0;
    for (const char *at = s->access; *at; ++at)
        count += *at == KN_GATHER || *at == KN_BROADCAST;
    return count;
}

/* Each element is located, from the one before where that seldom ends the second axis. */
static int located_class(const kn_schedule *s, const kn_space *iterated, int64_t row)
{
    int second = iterated->ndim - 2;
    bool are_many = second <= 0 || row * iterated->extent[second] >= LONG_PASSED * (int64_t)s->vector;
    return are_many ? KN_ROWS_PASSED : KN_ROWS_SHORT;
}

/* Rows are parts of a vector, and each input has one aligned vector of each, or one element. */
static bool are_pieces(const kn_schedule *s, const kn_choice *c, const kn_space *iterated, int64_t row)
{
    int inner = kn_choice_inner(c);
    bool are = iterated == c->space && row > 1 && row <= KN_ROWS_MOST_OF_PIECE && s->vector % row == 0 &&
               !(c->space->indices & KN_WITH_INDEX);
    for (int o = 0; are && o < c->count; ++o) {
        int64_t item = c->access[o].item_size, step = c->space->stride[o][inner];
        are = s->access[o] != KN_GATHER || step == 0 ||
              (step == item && row * item <= VECTOR_BYTES && kn_choice_is_aligned(c, o, inner, row * item));
    }
    return are;
}

/* The class of layouts (KN_ROWS_*). The logical index counts as a gathered operand. */
static int find_class(kn_schedule *s, const kn_choice *c, int misalignment)
{
    kn_space storage;
    const kn_space *iterated = kn_rows_space(&storage, c->space, s);
    int64_t row = iterated->ndim > 0 ? iterated->extent[iterated->ndim - 1] : 1;
    bool is_whole = misalignment == 0 && row % s->vector == 0;
    if (!strchr(s->access, KN_GATHER) && !(c->space->indices & KN_WITH_INDEX))
        return KN_ROWS_VECTORS;
    if (row < s->vector && misalignment == 0 && are_pieces(s, c, iterated, row)) {
        kn_rows_config_in(s)->interleaved = (int)row;
        return KN_ROWS_PIECES;
    }
    if (row < s->vector)
        return located_class(s, iterated, row);
    if (are_gathered_repeated(s, c, iterated))
        return KN_ROWS_REPEATED;
    mark_repeated(s, c, iterated);
    if (!are_gathered_runs(s, c, iterated))
        return is_whole || row >= LONG_STEPPED * (int64_t)s->vector ? KN_ROWS_APART : KN_ROWS_STEPPED;
    if (row >= LONG_ROW * (int64_t)s->vector)
        return KN_ROWS_RUNS;
    return s->vector <= LOCATED_VECTOR && gathered(s) >= MANY_GATHERED ? KN_ROWS_SHORT : KN_ROWS_CROSSED;
}

/* The elements of a vector of each of many operands are read one by one, from as many lines as the
 * vectors of a warp lie in: then the lanes of a warp have neighbours. Words are stored so as fast as
 * vectors, and so are pairs of halves of them, which are in one row. */
static bool is_better_spread(const kn_schedule *s, const kn_choice *c, bool *are_pairs)
{
    int class = kn_rows_config_of(s)->gathers;
    bool is = (class == KN_ROWS_SHORT || class == KN_ROWS_STEPPED ||
               (*are_pairs && (class == KN_ROWS_PASSED || class == KN_ROWS_CROSSED))) &&
              gathered(s) >= MANY_GATHERED && !(c->space->indices & KN_WITH_INDEX);
    *are_pairs = *are_pairs && is;
    for (int o = 0; o < c->count; ++o)
        is = is && (!c->access[o].is_output || c->access[o].item_size >= WORD || *are_pairs);
    return is;
}

/* Results are aligned pairs of halves of a word, in rows of whole pairs. */
static bool may_have_pairs(const kn_schedule *s, const kn_choice *c, int misalignment)
{
    bool may = misalignment == 0 && c->space->extent[kn_choice_inner(c)] % 2 == 0;
    for (int o = 0; o < c->count; ++o)
        may = may &&
              (!c->access[o].is_output || (2 * c->access[o].item_size == WORD && s->access[o] == KN_DENSE));
    return may;
}

/* 1: all inputs have the same strides; 2: and are contiguous along rows. */
static int alike(const kn_choice *c)
{
    const kn_space *s = c->space;
    int first = -1;
    for (int o = 0; o < c->count; ++o) {
        if (c->access[o].is_output)
            continue;
        first = first < 0 ? o : first;
        if (c->access[o].item_size != c->access[first].item_size ||
            memcmp(s->stride[o], s->stride[first], (size_t)s->ndim * sizeof *s->stride[o]) != 0)
            return 0;
    }
    return first >= 0 && s->stride[first][kn_choice_inner(c)] == c->access[first].item_size ? 2 : 1;
}

/* Inputs side by side in memory, of the same places: two or four that are one aligned vector, or three. */
static bool are_neighbours(const kn_choice *c, int first, int count)
{
    const kn_space *s = c->space;
    int64_t item = c->access[first].item_size;
    if (first + count > c->count || count * item > MOST_NEIGHBOURS ||
        (count != 3 && !kn_choice_is_aligned(c, first, -1, count * item)))
        return false;
    for (int o = first; o < first + count; ++o)
        if (c->access[o].is_output || c->access[o].item_size != item ||
            (o > first && (s->after[o] != item || memcmp(s->stride[o], s->stride[first],
                                                         (size_t)s->ndim * sizeof *s->stride[o]) != 0)))
            return false;
    return true;
}

/* Returns the number of inputs that are so. */
static int mark_neighbours(char *letters, const kn_choice *c, int count)
{
    int marked = 0;
    for (int o = 0; o < c->count; ++o)
        if (are_neighbours(c, o, count)) {
            memset(letters + o, KN_STAGED, (size_t)count);
            marked += count;
            o += count - 1;
        }
    return marked;
}

/* Neighbours of spread elements are located and loaded together: as many together as most inputs are. */
static void join_neighbours(kn_schedule *out, const kn_choice *c)
{
    int most = 0;
    for (int count = KN_ROWS_MOST_INTERLEAVED; count >= 2; --count) {
        char letters[KN_MAX_PARAMS + 1];
        memcpy(letters, out->access, sizeof letters);
        int marked = mark_neighbours(letters, c, count);
        if (marked > most)
            kn_rows_config_in(out)->interleaved = count;
        most = marked > most ? marked : most;
    }
    if (most > 0)
        mark_neighbours(out->access, c, kn_rows_config_of(out)->interleaved);
}

static void spread(kn_schedule *out, const kn_choice *c, bool are_pairs)
{
    kn_rows_config *config = kn_rows_config_in(out);
    int ndim = c->space->ndim, most = KN_ROWS_SPREAD_MOST - KN_ROWS_SPREAD_ROWS + 2;
    bool are_counted = ndim == 2 || (ndim > 2 && ndim <= most && are_outputs_dense(c));
    config->gathers = are_counted ? KN_ROWS_SPREAD_ROWS + ndim - 2 : KN_ROWS_SPREAD;
    config->alike = alike(c);
    config->pairs = are_pairs;
    for (int o = 0; o < c->count; ++o)
        out->access[o] = c->access[o].is_output ? out->access[o] : KN_GATHER;
    if (!are_pairs)
        join_neighbours(out, c);
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    launch_params f = {0};
    if (!choose_dense(out, &f, c)) {
        f.misalignment = 0;
        if (!kn_rows_choose_located(out, c))
            return false;
    }
    kn_rows_config_in(out)->gathers = find_class(out, c, f.misalignment);
    bool are_pairs = may_have_pairs(out, c, f.misalignment);
    if (is_better_spread(out, c, &are_pairs))
        spread(out, c, are_pairs);
    memcpy(params, &f, sizeof f);
    return true;
}

/* ---- the axes that are iterated ---- */

/* The number of rows of `bytes` each that are joined, a divisor of `rows`; preferably whole lines, then more
 * rows. 1: none are joined. */
static int64_t rows_together(int64_t rows, int64_t bytes)
{
    int64_t best = 1;
    for (int64_t some = 2; some <= rows && some * bytes <= ROWS_TOGETHER; ++some)
        if (rows % some == 0 && (best * bytes % LINE != 0 || some * bytes % LINE == 0))
            best = some;
    return best;
}

/* The axis along which an input has neighbouring short rows, if it differs from that of the results, and the
 * number of rows that are joined; -1: there is none. */
static int find_short_rows(int64_t *together, const kn_space *space, const kn_schedule *schedule)
{
    int inner = space->ndim - 1;
    if (inner < 2 || strchr(schedule->access, KN_DENSE) || space->ndim >= schedule->rank)
        return -1;
    for (int o = 0; schedule->access[o]; ++o) {
        int axis = kn_space_nearest_axis(space, o, -1, -1);
        int64_t bytes = space->stride[o][inner] * space->extent[inner];
        *together = axis >= 0 && bytes >= SHORTEST_ROW ? rows_together(space->extent[axis], bytes) : 1;
        if (schedule->access[o] == KN_VECTOR && bytes < SHORT_ROW && axis != inner - 1 && *together > 1)
            return axis;
    }
    return -1;
}

const kn_space *kn_rows_space(kn_space *out, const kn_space *space, const kn_schedule *schedule)
{
    int64_t together;
    int inner = space->ndim - 1, axis = find_short_rows(&together, space, schedule);
    if (axis < 0)
        return space;
    kn_space_start(out, space);
    for (int a = 0; a < inner; ++a)
        kn_space_put_axis(out, a, space, a, a == axis ? together : 1);
    kn_space_put_axis(out, inner, space, axis, 1);
    out->extent[inner] = together;
    kn_space_put_axis(out, inner + 1, space, inner, 1);
    out->ndim = inner + 2;
    return out;
}

/* ---- the launch ---- */

/* Two inputs at least are gathered beside dense results, and have elements along rows. */
static bool may_share_rows(const kn_schedule *s)
{
    const char *first = strchr(s->access, KN_GATHER);
    int gathers = kn_rows_config_of(s)->gathers;
    return gathers != KN_ROWS_REPEATED && gathers < KN_ROWS_SPREAD && s->vector > 1 &&
           s->vector <= RASTER_VECTOR && strchr(s->access, KN_DENSE) && first && strchr(first + 1, KN_GATHER);
}

/* Block rasterisation: neighbouring rows are often read twice, so a block takes KN_RASTER_WIDTH vectors of
 * several rows below each other, which share its cache. Returns the vectors from one row to the next; 0: rows
 * are too short or too many, and blocks follow the results. */
static int64_t set_raster(kn_placement *out, const kn_part *part, int misalignment)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    int64_t inner = space->extent[space->ndim - 1], row_vectors = (inner + s->vector / 2) / s->vector;
    int64_t rows = row_vectors > 0 ? (space->size + misalignment + row_vectors * s->vector - 1) /
                                         (row_vectors * s->vector)
                                   : 0;
    int64_t height = s->block / KN_RASTER_WIDTH, blocks = (rows + height - 1) / height;
    if (!may_share_rows(s) || space->ndim < 2 || row_vectors < RASTER_LEAST || blocks > RASTER_BLOCKS ||
        (blocks + 1) * height * row_vectors * s->vector > KN_MAX_INDEX)
        return 0;
    out->grid[0] = (unsigned)((row_vectors + KN_RASTER_WIDTH - 1) / KN_RASTER_WIDTH);
    out->grid[1] = (unsigned)blocks;
    return row_vectors;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    launch_params f;
    memcpy(&f, part->launch_params, sizeof f);
    rows_field own = {.misalignment = kn_part_misalignment(part, f.misalignment)};
    kn_place_along(out, part, part->space->size + own.misalignment);
    own.row_vectors = (uint32_t)set_raster(out, part, own.misalignment);
    memcpy(out->field, &own, sizeof own);
    out->kernel_space = kn_rows_space(&out->own_space, part->space, &part->spec->schedule);
    out->rank = out->kernel_space->ndim;
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    rows_field own;
    memcpy(&own, at, sizeof own);
    kn_str_printf(out, " misalignment=\"%d\" row_vectors=\"%u\"", (int)own.misalignment,
                  (unsigned)own.row_vectors);
}

const kn_kind kn_kind_rows = {.name = "rows",
                              .recipe = &kn_recipe_rows,
                              KN_MAP_KIND,
                              .revision = 1,
                              .fewest = 1 << 17,
                              .config = &kn_rows_config_table,
                              .field = KN_FIELD(rows_field, MEMBERS),
                              .cut = kn_cut_reach,
                              .describe = describe};
