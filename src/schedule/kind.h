/* schedule/kind.h - a kind of schedule as a value: all that plan and launch know of one way to compute a
 * space. Each stands in the folder of its family, src/schedules/FAMILY, and in one line of the table in
 * schedules/kinds.c: kind_NAME.c chooses and places, NAME.cu or NAME.cpp is its template, emit_NAME.c fills
 * that.
 *
 * A call's space is given to the kinds of its target in turn; the first that takes it fills the schedule
 * (what the binary depends on) and its own figures (what needs no binary). Then the space is cut where a
 * launch cannot have all of it, and each part is placed: grid, axes that the kernel walks, the kind's own
 * field of the argument block. */
#ifndef KN_SCHEDULE_KIND_H
#define KN_SCHEDULE_KIND_H

#include "base/str.h"
#include "schedule/field.h"
#include "schedule/spec.h"
#include "space/loop_nest.h"

/* The most counters that a launch may have. */
enum { KN_MAX_COUNTERS = 4096 };

/* A part of a call's space that one launch goes over. */
typedef struct kn_part {
    const kn_spec *spec;
    const struct kn_layout *layout;
    const kn_launch_params *figures;
    const kn_space *whole, *space; /* the call's, this part's */
} kn_part;

/* How a part is launched. */
typedef struct kn_placement {
    kn_space room;          /* for `walked`, where the kernel walks other axes than the part's */
    const kn_space *walked; /* whose axes stand in the argument block; NULL: none do */
    int rank;               /* axes that the kernel walks by an index; others stand behind them */
    int64_t size;           /* what the kernel is told of it */
    unsigned grid[3], block, shared_bytes; /* CUDA */
    int shared_percent; /* of a multiprocessor's cache that should be shared memory; 0: the driver chooses */
    unsigned cluster;   /* blocks side by side that reach each other's shared memory; 0: none do */
    kn_loop_nest *walk;      /* host: how runs are made of what is none, to be freed; NULL: it is one */
    int64_t grain;      /* host: fewest elements that a thread is woken for */
    /* Scratch memory, for kinds that have workspace: values of the type that the program's reduce stage
     * gives; counters of 32 bits, at most KN_MAX_COUNTERS, which are zero before the launch and left so by
     * it. */
    int64_t partials;
    int counters;
    unsigned char field[KN_FIELD_SIZE]; /* the kind's own, as its struct in the kernel */
} kn_placement;

struct kn_kind {
    const char *name; /* in a specialisation; unique among the kinds of a back end */
    const char
        *pattern; /* of the programs that it computes: kn_program.pattern; "mr*": those that begin so */
    /* Of what its kernels expect of a launch: what its field's members mean, grid, block, shared memory,
     * workspace. Counted up where that changes: older code in bundles is passed over then. From 1. */
    int revision;
    /* How its source is written (codegen/writer.h). */
    const struct kn_recipe *recipe;
    /* Whether the kind takes the space; then it has filled the schedule, in which kind is set already, and
     * its figures (zero before). */
    bool (*choose)(kn_schedule *out, kn_launch_params *figures, const kn_choice *choice);
    /* The kind's own field of the argument block; size 0: it has none. */
    kn_field (*field)(const kn_schedule *schedule);
    /* Grid, axes, field. *out is zero but for what stands in every launch: size, a grid of one, the
     * schedule's block. */
    kiln_status (*place)(kn_placement *out, const kn_part *part);
    /* The axis along which the part has to be cut, at multiples of *align elements; -1: it is small enough.
     * NULL: it never is cut. */
    int (*cut)(int64_t *align, const kn_part *part);
    /* Extents and strides of its axes are 64 bits wide, rather than dividers and 32 bits (CUDA). */
    bool has_wide_axes;
    /* Appends what the kind's field says, for people: " tile=\"8x4 by 6x1\"". NULL: nothing. */
    void (*describe)(kn_str *out, const unsigned char *field);
    /* Its kernels are told where their workspace is: the fields `partials` and `counters`. */
    bool has_workspace;
    /* Of elementwise programs: its kernels compile hardly later than their quick form. */
    bool compiles_soon;
    bool holds_rows;  /* of row programs: reads a row once, whatever its reductions */
    bool reads_again; /* of row programs: reads a row once for each reduction and once more */
};

/* The kinds of a back end, in the order in which they are asked, ended by NULL. Of those of elementwise
 * programs the last one takes everything, by its number of operands and axes alone, and its kernels compile
 * soonest: their quick form. */
const kn_kind *const *kn_kinds_of(kn_backend_kind backend);
/* Cuts the part until what is left is small enough for a launch, and calls take(user, part) for each, in
 * order. An empty one has none. KILN_ERROR_MEMORY, or what take returns first. */
kiln_status kn_part_each(const kn_part *part, kiln_status (*take)(void *user, const kn_part *part),
                         void *user);
/* Fills *out for a part that needs no more cuts: what the kind of its specialisation makes of it. */
kiln_status kn_part_place(kn_placement *out, const kn_part *part);

/* ---- what kinds share ---- */

/* For `cut`: along the axis that reaches furthest until every index and every offset fits 32 bits; dense
 * results along the outermost alone. */
int kn_cut_reach(int64_t *align, const kn_part *part);
/* The same beside two axes (-1: none) that are never cut, along which no operand reaches far: it has to have
 * others. */
int kn_cut_beside(int64_t *align, const kn_part *part, int one, int other);
/* Elements to whose multiple a part is cut along an axis on which vectors lie. */
int64_t kn_cut_alignment(const kn_part *part, int axis);
/* Indices of a launch stay below this where they are 32 bits wide. */
#define KN_MAX_INDEX (INT64_C(0x7fffffff) - 0xffff)

/* Elements by which the first dense result of this part is off a vector's boundary, where the whole space's
 * is off by `skew`. */
int kn_part_misalignment(const kn_part *part, int skew);
/* For `field`: the kind has none. */
kn_field kn_field_none(const kn_schedule *schedule);
/* For `place`: the part's own axes, a vector a thread. */
kiln_status kn_place_axes(kn_placement *out, const kn_part *part);
/* For `place`: a block for each index of the axes of out->room behind its first `singles`, which are those of
 * what a block has; how many blocks. */
int64_t kn_place_tiles(kn_placement *out, int singles);
/* Of an operand that is woven (KN_STAGED): its number among those that are one array with it, which follow
 * each other, and in *first the parameter of the first of them. -1: it is none. */
int kn_interleaved_number(const kn_spec *spec, int param, int *first);
/* One thread a vector. */
void kn_place_along(kn_placement *out, const kn_part *part, int64_t elements);

#endif
