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

/* True if the loads of single elements of vectors touch so few lines that memory is waited for rather than
 * the L1 cache: an instruction of a warp touches lines in proportion to the distance of its lanes. Elements
 * that are a sector apart have lines of their own however they are loaded. */
static bool may_gather(const kn_choice *c, int vector)
{
    int64_t apart = 0;
    int misalignment = kn_choice_misalignment(c, vector);
    for (int o = 0; o < c->count; ++o) {
        int64_t item = c->access[o].item_size, bytes = item * vector;
        bool is_run = step_of(c, o) == item && (bytes == 8 || bytes == 16);
        if (!c->access[o].is_output && !is_run && step_of(c, o) < SECTOR &&
            !kn_choice_is_vector(c, o, vector) &&
            !(kn_choice_is_dense(c, o) && kn_choice_agrees(c, o, vector, misalignment)))
            apart += step_of(c, o);
    }
    return (double)(apart * vector) <= LINES_RATIO * bytes_moved(c);
}

/* Elements of a thread: fewer where single ones are gathered from too many lines. */
static int vector_of(const kn_choice *c)
{
    int vector = kn_choice_vector(c);
    while (vector > LOCATED_VECTOR && c->space->size > 0 && !may_gather(c, vector))
        vector /= 2;
    return vector;
}

/* Results are one contiguous range, stored in vectors at the element's index. Rows of whole vectors are left
 * to kn_rows_choose_located: otherwise there would be two binaries for the same layouts. */
static bool choose_dense(kn_schedule *out, launch_params *f, const kn_choice *c)
{
    int vector = vector_of(c);
    bool apart = vector > KN_MAX_LOCATED && !are_inputs_runs(c, vector);
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
        int64_t item = c->access[o].item_size, bytes = item * s->vector;
        if (s->access[o] == KN_GATHER &&
            (iterated->stride[o][iterated->ndim - 1] != item || (bytes != 8 && bytes != 16)))
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

static int gathered(const kn_schedule *s)
{
    int count = 0;
    for (const char *at = s->access; *at; ++at)
        count += *at == KN_GATHER;
    return count;
}

/* Each element is located, from the one before where that seldom ends the second axis. */
static int located_class(const kn_schedule *s, const kn_space *iterated, int64_t row)
{
    int second = iterated->ndim - 2;
    bool are_many = second <= 0 || row * iterated->extent[second] >= LONG_PASSED * (int64_t)s->vector;
    return are_many ? KN_ROWS_PASSED : KN_ROWS_SHORT;
}

/* The class of layouts (KN_ROWS_*). The logical index counts as a gathered operand. */
static int find_class(const kn_schedule *s, const kn_choice *c, int misalignment)
{
    kn_space storage;
    const kn_space *iterated = kn_rows_space(&storage, c->space, s);
    int64_t row = iterated->ndim > 0 ? iterated->extent[iterated->ndim - 1] : 1;
    bool is_whole = misalignment == 0 && row % s->vector == 0;
    if (!strchr(s->access, KN_GATHER) && !(c->space->indices & KN_WITH_INDEX))
        return KN_ROWS_VECTORS;
    if (row < s->vector)
        return located_class(s, iterated, row);
    if (are_gathered_repeated(s, c, iterated))
        return KN_ROWS_REPEATED;
    if (!are_gathered_runs(s, c, iterated))
        return is_whole || row >= LONG_STEPPED * (int64_t)s->vector ? KN_ROWS_APART : KN_ROWS_STEPPED;
    if (row >= LONG_ROW * (int64_t)s->vector)
        return KN_ROWS_RUNS;
    return s->vector <= LOCATED_VECTOR && gathered(s) >= MANY_GATHERED ? KN_ROWS_SHORT : KN_ROWS_CROSSED;
}

/* The elements of a vector of each of many operands are read one by one, from as many lines as the vectors of
 * a warp lie in: then the lanes of a warp have neighbours. Words are stored so as fast as vectors. */
static bool is_better_spread(const kn_schedule *s, const kn_choice *c)
{
    bool is = kn_rows_config_of(s)->gathers == KN_ROWS_SHORT && gathered(s) >= MANY_GATHERED &&
              !(c->space->indices & KN_WITH_INDEX);
    for (int o = 0; o < c->count; ++o)
        is = is && (!c->access[o].is_output || c->access[o].item_size >= WORD);
    return is;
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
    if (is_better_spread(out, c)) {
        kn_rows_config_in(out)->gathers = c->space->ndim == 2 ? KN_ROWS_SPREAD_ROWS : KN_ROWS_SPREAD;
        for (int o = 0; o < c->count; ++o)
            out->access[o] = c->access[o].is_output ? out->access[o] : KN_GATHER;
    }
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
