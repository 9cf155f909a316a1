/* schedule/kind.h - a kind of schedule as a value: all that plan and launch know of one way to compute a
 * space. Each stands in the folder of its family, src/schedules/FAMILY, and in one line of the table in
 * schedules/kinds.c: kind_NAME.c chooses and places, NAME.cu or NAME.cpp is its template, emit_NAME.c fills
 * that.
 *
 * A call's space is given to the kinds of its target in turn; the first that takes it fills the schedule (the
 * binary depends on it) and its launch parameters (the binary does not). Then the space is cut where one
 * launch cannot compute all of it, and each part is placed: grid, axes of the kernel's loop nest, the kind's
 * own field of the argument block. */
#ifndef KN_SCHEDULE_KIND_H
#define KN_SCHEDULE_KIND_H

#include "base/str.h"
#include "schedule/config.h"
#include "schedule/field.h"
#include "schedule/spec.h"
#include "space/loop_nest.h"

/* The most counters that a launch may have. */
enum { KN_MAX_COUNTERS = 1 << 17 };

/* A part of a call's space, computed by one launch. */
typedef struct kn_part {
    const kn_spec *spec;
    const struct kn_layout *layout;
    const kn_launch_params *launch_params;
    const kn_space *whole, *space; /* the call's, this part's */
    /* The specialisation of the kind in whose order this one reduces: the launch parameters are of that. */
    const kn_spec *order;
} kn_part;

/* The launch of a part. */
typedef struct kn_placement {
    kn_space own_space;           /* for `kernel_space`, where the kernel has other axes than the part */
    const kn_space *kernel_space; /* its axes stand in the argument block; NULL: none do */
    int rank;                     /* axes that the kernel locates by an index; others stand behind them */
    int64_t size;                 /* the size that the kernel is told */
    unsigned grid[3], block, shared_bytes; /* CUDA */
    int shared_percent; /* of a multiprocessor's cache that should be shared memory; 0: the driver chooses */
    unsigned cluster;   /* blocks side by side that reach each other's shared memory; 0: none do */
    kn_loop_nest *loop_nest; /* host: around the kernel, to be freed; NULL: operands are contiguous */
    int64_t grain;           /* host: the fewest elements for which a thread is woken */
    /* Scratch memory, for kinds that have workspace: values of the type that the program's reduce stage
     * gives; counters of 32 bits, at most KN_MAX_COUNTERS, which are zero before the launch and left so by
     * it. */
    int64_t partials;
    int counters;
    unsigned char field[KN_FIELD_SIZE]; /* the kind's own, as its struct in the kernel */
} kn_placement;

/* Takes a launch of the part, placed; both are read only during the call. */
typedef kiln_status (*kn_take_launch)(void *user, const kn_part *part, const kn_placement *placed);
/* The levels of a reduction's tree, as a kind lists them: schedules/reduce/levels.h. */
typedef struct kn_levels kn_levels;

struct kn_kind {
    const char *name; /* in a specialisation; unique among the kinds of a back end */
    /* Its programs: kn_program.pattern; "mr*": those that begin so, and scan nothing; "*l": those that end
     * by combining columns. */
    const char *pattern;
    /* Counted up where its kernels expect something else of a launch: the members of its field, grid, block,
     * shared memory, workspace. Older code in bundles is passed over then. From 1. */
    int revision;
    /* The writer of its source (codegen/writer.h). */
    const struct kn_recipe *recipe;
    /* True if the kind takes the space; then it has filled the schedule, in which kind is set already, and
     * its launch parameters (zero before). */
    bool (*choose)(kn_schedule *out, kn_launch_params *launch_params, const kn_choice *choice);
    /* Elements of a space below which it is not asked, since a kernel with a thread for each element is
     * faster: little code, and no thread that waits for several loads. */
    int64_t fewest;
    const kn_config_table *config;                  /* its numbers in a schedule; NULL: none */
    kn_field field;                                 /* the kind's own, of the argument block */
    bool (*has_field)(const kn_schedule *schedule); /* NULL: always */
    /* Grid, axes, field. *out is zero but for the members that every launch has: size, a grid of one, the
     * schedule's block. */
    kiln_status (*place)(kn_placement *out, const kn_part *part);
    /* Kinds of several launches a part, which share workspace, in their order; NULL: one, by `place`. */
    kiln_status (*place_each)(const kn_part *part, kn_take_launch take, void *user);
    /* True if a kind that is a baseline tier alone, and keeps the order of another (kn_part.order), computes
     * the part. NULL: the kind is asked as others are. */
    bool (*keeps_order)(const kn_part *part);
    /* Lists the levels of the tree by which a reduction combines the part, in the order of its kernels.
     * False: no list says it. NULL: none ever does. */
    bool (*list_levels)(kn_levels *levels, const kn_part *part);
    /* The axis along which the part has to be cut, at multiples of *align elements; -1: it is small enough.
     * NULL: it never is cut. */
    int (*cut)(int64_t *align, const kn_part *part);
    /* Extents and strides of its axes are 64 bits wide, rather than dividers and 32 bits (CUDA). */
    bool has_wide_axes;
    /* Appends what the kind's field says, for people: " tile=\"8x4 by 6x1\"". NULL: nothing. */
    void (*describe)(kn_str *out, const unsigned char *field);
    /* Its kernels are told where their workspace is: the fields `partials` and `counters`. */
    bool has_workspace;
    /* Elementwise programs: its kernels compile hardly later than their baseline tier. */
    bool compiles_soon;
    bool has_baseline; /* it writes a baseline tier of its own kernels (kn_schedule.baseline) */
    /* Takes out of such a schedule what only the optimised tier knows, so that one binary serves. NULL: there
     * is nothing. */
    void (*make_baseline)(kn_schedule *schedule);
    /* True if that tier computes such a space with the other's bits. NULL: any. */
    bool (*baseline_takes)(const kn_spec *spec, const kn_space *space);
    /* The largest value, in bytes, that a baseline tier combines in the other tier's order; 0: any. */
    size_t largest_value;
    /* The kernels of that tier are loops alone, and call this with what they have, by an address in the
     * argument block, for the order in which they run. NULL: their source has all. */
    void (*in_order)(const void *loops);
    bool reads_again;      /* of row programs: reads a row once for each reduction and once more */
    bool takes_turns;      /* of row programs: blocks hold long rows, so that they load, reduce and store in
                              turn, which costs more than one pass where they only read */
    bool takes_any_layout; /* of reductions: reads each input along the axis along which it is contiguous */
    bool takes_apart;    /* of maps: takes narrow elements that lie across the results one by one, which costs
                              more than to copy a small input in their order first */
    bool takes_unrolled; /* of reductions: many inputs that are neighbours in memory cost it one load */
    bool gathers_singly; /* of reductions: inputs with KN_GATHER cost it a load for each element, more than to
                            copy them first */
    bool contracts; /* of reductions: arithmetic bounds it, so sums are contracted with products of the map */
    /* The rows, of `length` elements each, that a warp, or the host's thread, loads at once, element by
     * element. NULL: one. */
    int (*rows_loaded)(const kn_schedule *schedule, int64_t length);
};

/* Members that the values of most maps have. */
#define KN_MAP_KIND .pattern = "m", .choose = choose, .place = place

/* The kinds of a back end, in the order in which they are asked, ended by NULL. Of those of elementwise
 * programs the last one takes everything, by its number of operands and axes alone, and its kernels compile
 * soonest: their baseline tier. */
const kn_kind *const *kn_kinds_of(kn_backend_kind backend);
/* Cuts the part until each piece is small enough for a launch, and calls take(user, part) for each, in order.
 * An empty part has none. KILN_ERROR_MEMORY, or the first error of take. */
kiln_status kn_part_each(const kn_part *part, kiln_status (*take)(void *user, const kn_part *part),
                         void *user);
/* The same for each launch of each piece. */
kiln_status kn_part_each_launch(const kn_part *part, kn_take_launch take, void *user);
/* Fills *out for a part that needs no more cuts, by the kind of its specialisation. */
kiln_status kn_part_place(kn_placement *out, const kn_part *part);
/* A launch before its kind places it: of one block, without axes, workspace and field. */
void kn_placement_begin(kn_placement *out, const kn_part *part);

/* ---- shared by kinds ---- */

/* For `cut`: along the axis with the largest span until every index and every offset fits 32 bits; dense
 * results along the outermost alone. */
int kn_cut_reach(int64_t *align, const kn_part *part);
/* The same where two axes (-1: none) are never cut, along which no operand spans much: the space has to have
 * others. */
int kn_cut_beside(int64_t *align, const kn_part *part, int one, int other);
/* A part is cut at multiples of so many elements along an axis on which vectors lie. */
int64_t kn_cut_alignment(const kn_part *part, int axis);
/* Indices of a launch stay below this where they are 32 bits wide. */
#define KN_MAX_INDEX (INT64_C(0x7fffffff) - 0xffff)

/* Misalignment of this part: elements by which its first dense result is off a vector's boundary, where the
 * whole space's is off by `misalignment`. */
int kn_part_misalignment(const kn_part *part, int misalignment);
/* For `place`: the part's own axes, a vector a thread. */
kiln_status kn_place_axes(kn_placement *out, const kn_part *part);
/* An axis along which a tile spans `step` elements; 0: all of them, so that no tiles lie along it. */
typedef struct kn_tile_axis {
    int axis; /* of the space; -1: none, of extent 1 */
    int64_t step;
    bool is_outermost; /* tiles along it come before the other axes of the space rather than behind them */
} kn_tile_axis;
/* The space cut in tiles, outermost first: the axes of a tile, element by element, then the other axes of the
 * space, then those from tile to tile, both in the order of `axis`. */
void kn_tile_axes(kn_space *out, const kn_space *space, const kn_tile_axis *axis, int count);
/* For `place`: a thread block for each tile, an index of the axes of out->own_space behind its first
 * `tile_axes`, which are those within a tile; returns the number of blocks. */
int64_t kn_place_tiles(kn_placement *out, int tile_axes);
/* The number of an interleaved operand (KN_STAGED) among the `count` that are one array with it, which follow
 * each other, and in *first the parameter of the first of them. -1: it is not interleaved. */
int kn_interleaved_number(const kn_spec *spec, int param, int count, int *first);
/* One thread a vector. */
void kn_place_along(kn_placement *out, const kn_part *part, int64_t elements);

#endif
