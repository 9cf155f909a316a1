/* schedules/reduce/reduce_space.h - questions of CUDA's reductions about a space, and the order of its axes
 * in their kernels. */
#ifndef KN_SCHEDULES_REDUCE_REDUCE_SPACE_H
#define KN_SCHEDULES_REDUCE_REDUCE_SPACE_H

#include "schedule/kind.h"
#include "schedule/layout.h"
#include "space/numbers.h"

/* Members that the values of all kinds of reductions have. */
#define KN_REDUCE_KIND .pattern = "mrk", .choose = choose, .place = place, .has_wide_axes = true

/* Indices that a kernel counts by 32 bits stay below this, those of a row and of its remainder together. */
#define KN_REDUCE_STEPS (INT64_C(1) << 30)

/* Launch parameters of kinds whose results are contiguous along an output axis. */
typedef struct kn_reduce_params {
    int axis;          /* the output axis along which columns lie */
    int inner;         /* the innermost reduction axis, if it lies inside that one; -1 */
    int copies;        /* rows that are joined, so that they are whole vectors; 1: none are */
    bool is_unaligned; /* rows begin anywhere */
} kn_reduce_params;

/* Alignment of operands' vectors along an axis. */
typedef enum kn_reduce_fit {
    KN_FIT_NONE,      /* some operand is not contiguous along it, or they disagree */
    KN_FIT_UNALIGNED, /* all have the same misalignment everywhere */
    KN_FIT_ALIGNED    /* all are aligned everywhere */
} kn_reduce_fit;

/* Elements of 16 bytes of the widest input; 1 if there is none. */
int kn_reduce_vector(const kn_choice *c);
/* The same of inputs that move along the axis: a weight that does not is one element, however wide. */
int kn_reduce_vector_along(const kn_choice *c, int axis);
/* True for vectors of two elements of a word at most: their structs leave registers for more threads. */
bool kn_reduce_has_half_vectors(const kn_spec *spec);
/* Access of operands in vectors of inputs that move along the axis: the others are single elements. */
void kn_reduce_set_access_along(kn_schedule *out, const kn_choice *c, int axis);
/* True if the operand's address and its strides along all axes but this one have the same misalignment as
 * those of operand `as`; as < 0: they are aligned. */
bool kn_reduce_is_off_as(const kn_choice *c, int operand, int as, int axis, int vector);
/* Inputs, and outputs too if wanted, count unless they are broadcast along the axis. */
kn_reduce_fit kn_reduce_fit_of(const kn_choice *c, int axis, int vector, bool with_outputs);
/* Bytes read of the inputs that are contiguous along the axis: a weight that all rows share counts little. */
double kn_reduce_bytes_along(const kn_choice *c, int axis);
/* The output axis along which most bytes are contiguous, if more are than along the innermost reduction axis.
 * If none are along any axis, the one with the smallest stride. -1: columns are of no use. */
int kn_reduce_output_axis(const kn_choice *c);
/* True if results have different elements of the operand. */
bool kn_reduce_is_of_each_result(const kn_choice *c, int operand);
/* True if the operand is an input that all results share: a weight of each element. */
bool kn_reduce_is_weight(const kn_choice *c, int operand);
/* True if some input is broadcast along the axis. */
bool kn_reduce_has_broadcast(const kn_choice *c, int axis);
/* True if the reduced value is a struct of the user's, whose size is unknown here. */
bool kn_reduce_is_struct(const kn_choice *c);
/* True if truth values are reduced. */
bool kn_reduce_is_bool(const kn_choice *c);
/* Bytes of a truth value as kernels of the host reduce it: compilers do not vectorise a byte beside wide
 * inputs. 0: the program reduces values of another type, or some input has one byte. */
int kn_reduce_truth_size(const kn_spec *spec);
/* Bytes of the reduced value, or of another one in a computation: halves take four; of a struct a guess. */
int kn_reduce_value_size(const kn_choice *c);
int kn_reduce_size_of_value(const kn_choice *c, int value);

/* Letters of the operands: vectors (or one element repeated, by the stride), or single elements. */
void kn_reduce_set_access(kn_schedule *out, const kn_choice *c, int vector);

/* Elements of vectors that may be unaligned, as many as divide the axis, along which all inputs are
 * contiguous or broadcast; 1: they are not. */
int kn_reduce_unaligned_vector(const kn_choice *c, int axis);
/* The same for the rows of reduce_lanes, which may lie backward, too; 1: they are read by single elements. */
int kn_reduce_lanes_vector(const kn_choice *c);
/* True if they are no whole vectors: those of the first input begin at a row's first boundary, others are
 * gathered. */
bool kn_reduce_lanes_mixes(const kn_choice *c);
/* Sets the letters of operands that are read by such vectors. Vectors of inputs that are aligned, or
 * misaligned as the first one (`as_first`), are loaded; of inputs that are broadcast one element is; the
 * others are gathered, or reversed (KN_STAGED). */
void kn_reduce_set_gathered(kn_schedule *out, const kn_choice *c, int axis, bool as_first);

/* Sets the width of indices in texts: 32 bits hold those of most reductions. */
void kn_reduce_set_index_type(kn_schedule *out, const kn_choice *c);
/* The same, and whether a thread meets the indices along the only reduction axis in their order: set only if
 * a text asks for it, since it is another binary. */
void kn_reduce_set_index(kn_schedule *out, const kn_choice *c);

/* Sets rank, accesses and index type of a kind that goes along one reduction axis element by element:
 * operands are dense along it, or gathered, as all are along several. True if there is one axis. */
bool kn_reduce_set_elements(kn_schedule *out, const kn_choice *c);

/* Elements of a result: along all reduction axes. */
int64_t kn_reduce_size(const kn_space *space);
/* Reduction axes, as kernels know their number: the place of an element along two takes no loop. Kinds that
 * do not find it for each element know only that there are several. */
enum { KN_REDUCE_ONE_AXIS = 1, KN_REDUCE_TWO_AXES = 2, KN_REDUCE_NEAR_AXES = 3, KN_REDUCE_SEVERAL_AXES = 4 };
int kn_reduce_known_axes(const kn_space *space, int axes);
int kn_reduce_one_or_several(int axes);
/* The configuration of kinds that have no other numbers. */
/* True for sums of 64 bits over so few terms of 16 bits or less, which are converted, that 32 are enough:
 * expressions write such texts. */
bool kn_reduce_are_terms_narrow(const kn_choice *c);
/* True for sums of 64 bits of truth values, which expressions write for counts. */
bool kn_reduce_are_terms_truths(const kn_choice *c);

#define KN_REDUCE_AXES_CONFIG(X) X(reduction_axes, KN_REDUCE_SEVERAL_AXES)
KN_CONFIG(kn_reduce_axes_config, KN_REDUCE_AXES_CONFIG);
/* Capacity for axes of the argument block. */
int kn_reduce_rank(const kn_space *space);

/* Append the output axes, outermost first, with axis `last` (-1: none) behind the others; and the reduction
 * axes but the one that is left out (-1: none), of which there is always one. They return the number of
 * output axes and of appended reduction axes. */
int kn_reduce_put_output_axes(kn_space *out, const kn_space *space, int last);
int kn_reduce_put_reduction_axes(kn_space *out, const kn_space *space, int left_out);

/* An innermost axis that is too long for divisions of 32 bits, which is put outside the other reduction axes;
 * -1. */
int kn_reduce_long_axis(const kn_space *space, int reduction_axes);
/* For `place`: the size, and the axes of the kernel, as these functions put them; a reduction axis that is
 * outside the others (-1: none) comes before them. Returns the number of reduction axes. */
int kn_reduce_place_axes(kn_placement *out, const kn_space *space, int last, int outside);

/* The field of kinds with a thread for some results beside each other, all of whose elements it reduces.
 * rows: elements of a result; across: blocks, or vectors, of a row of results. */
#define KN_REDUCE_BESIDE                                                                                     \
    int reduction_rank;                                                                                      \
    unsigned rows;                                                                                           \
    kn_divider across, per_row;
typedef struct kn_reduce_beside {
    KN_REDUCE_BESIDE
} kn_reduce_beside;
/* For `place` and `describe` of these kinds, whose launch parameters are kn_reduce_params: axes and field.
 * per_place: results of a block, or of a vector; returns the number of these. */
int64_t kn_reduce_place_beside(kn_placement *out, const kn_part *part, int64_t per_place);
void kn_reduce_describe_beside(kn_str *out, const unsigned char *field);

/* For `cut`: limits the results to the size of a grid. The first cuts along the outermost axis. The second,
 * of kinds whose parameters are kn_reduce_params, cuts along an axis without vectors, or at whole vectors. */
int kn_reduce_cut_outermost(int64_t *align, const kn_part *part);
int kn_reduce_cut_beside(int64_t *align, const kn_part *part);

/* A partial last wave costs as much time as a full one. */
enum { KN_REDUCE_FULL_WAVE = 92 }; /* per cent of all places in waves that are used; enough */

/* The share of the places in their waves that so many blocks use, in per cent. */
static inline int64_t kn_reduce_wave_share(int64_t blocks, int64_t wave)
{
    return 100 * blocks / (kn_divide_up(blocks, wave) * wave);
}

#endif
