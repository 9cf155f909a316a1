/* schedules/reduce/reduce_space.h - what the kinds that compute reductions on CUDA ask of a space, and how
 * they walk it. */
#ifndef KN_SCHEDULES_REDUCE_REDUCE_SPACE_H
#define KN_SCHEDULES_REDUCE_REDUCE_SPACE_H

#include "schedule/kind.h"
#include "schedule/layout.h"

/* Steps that a kernel walks by 32 bits stay below this, rows and what is left of one together. */
#define KN_FOLD_STEPS (INT64_C(1) << 30)

/* What is chosen with the schedule where results lie side by side along a kept axis, and needs no binary. */
typedef struct kn_fold_params {
    int axis;        /* the kept axis along which columns lie */
    int inner;       /* the innermost reduced axis, where it lies inside that one; -1 */
    int copies;      /* rows that are taken together, so that vectors fill them; 1 */
    bool is_shifted; /* rows begin anywhere */
} kn_fold_params;

/* How vectors of the inputs that run along an axis lie. */
typedef enum kn_fold_fit {
    KN_FIT_NONE,    /* some input does not run along it, or they disagree */
    KN_FIT_SHIFTED, /* wherever one begins, the others begin as far behind a vector's boundary */
    KN_FIT_ALIGNED  /* all begin at a vector's boundary everywhere */
} kn_fold_fit;

/* Elements of 16 bytes of the widest input; 1 where there is none. */
int kn_fold_vector(const kn_choice *c);
kn_fold_fit kn_fold_fit_of(const kn_choice *c, int axis, int vector);
/* Bytes that are read of those inputs that run along the axis: a weight a row is little beside the rows. */
double kn_fold_running(const kn_choice *c, int axis);
/* The kept axis along which most bytes run, where more do than along the innermost reduced one; where none do
 * anywhere the one that is nearest. -1: columns are of no use. */
int kn_fold_kept_axis(const kn_choice *c);
/* Whether the operand is an input that is the same for all results: a weight of each element. */
bool kn_fold_is_weight(const kn_choice *c, int operand);
/* Whether some input stands still along the axis. */
bool kn_fold_some_still(const kn_choice *c, int axis);
/* Whether what is folded is a struct of the user's, whose size nobody knows here. */
bool kn_fold_is_struct(const kn_choice *c);
/* Bytes of what is folded; of a struct a guess. */
int kn_fold_value_size(const kn_choice *c);

/* Letters of the operands: vectors, or one element repeated, as strides say; or elements one by one. */
void kn_fold_set_access(kn_schedule *out, const kn_choice *c, int vector);

/* Elements of vectors that begin anywhere, as many as divide the axis, along which all inputs are contiguous
 * or broadcast; 1: they are not. */
int kn_fold_vector_anywhere(const kn_choice *c, int axis);
/* Letters of the operands where these are taken: vectors of inputs that are at a boundary wherever the first
 * moving one is (`from_first`), or everywhere, and elements repeated; the others are gathered as vectors. */
void kn_fold_set_gathered(kn_schedule *out, const kn_choice *c, int axis, bool from_first);

/* The width of indices in texts, and whether a thread that goes along the only reduced axis meets its
 * indices in their order; of a schedule with its vector and lanes. The order is said only where a text
 * asks and a thread folds several items of vectors, since each is a binary more. */
void kn_fold_set_index(kn_schedule *out, const kn_choice *c);

/* Elements of a result: along all reduced axes. */
int64_t kn_fold_size(const kn_space *space);
/* Which of a kernel's loops go over so many axes: one, or more. */
enum {
    KN_FOLD_ONE_AXIS = 1,
    KN_FOLD_SEVERAL_AXES = 2,
    KN_FOLD_ALONE = 3 /* one; fold_rows: a block for each result */
};
int kn_fold_form(int axes);
/* Axes that the argument block has room for. */
int kn_fold_rank(const kn_space *space);

/* The axes in an order of one's own, outermost first. The inner of the reduced ones comes last; there always
 * is one. Returns how many there are. */
int kn_fold_put_kept(kn_space *out, const kn_space *space, int last);
int kn_fold_put_reduced(kn_space *out, const kn_space *space, int left_out);

/* For `cut`: so that the grid has room for the results. Along the outermost axis; for kinds whose parameters
 * are kn_fold_params along another than the one on which vectors lie, or in whole ones. */
int kn_fold_cut_outermost(int64_t *align, const kn_part *part);
int kn_fold_cut_beside(int64_t *align, const kn_part *part);

static inline int64_t kn_fold_ceil(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* A last wave that is not full costs as much time as a full one. */
enum { KN_FOLD_FULL_WAVE = 92 }; /* per cent of the places of all waves that are taken, which is enough */

/* Per cent of the places of all waves that so many blocks take. */
static inline int64_t kn_fold_wave_share(int64_t blocks, int64_t wave)
{
    return 100 * blocks / (kn_fold_ceil(blocks, wave) * wave);
}

static inline int64_t kn_fold_clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

#endif
