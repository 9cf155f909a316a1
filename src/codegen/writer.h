/* codegen/writer.h - the source that is being written: the slots of a template and their texts. For codegen
 * and the kinds. codegen.c writes the slots that every kernel has, a kind's `fill` (emit_NAME.c) those of its
 * template. */
#ifndef KN_CODEGEN_WRITER_H
#define KN_CODEGEN_WRITER_H

#include "base/str.h"
#include "codegen/prelude.h"
#include "schedule/kind.h"
#include "schedule/layout.h"
#include "types/dtype.h"

/* The slots that templates may have. Text in a slot that the template does not have is an error, except in
 * `offered` slots, which are filled for every kernel. */
#define KN_SLOTS(X)                                                                                          \
    X(HEAD, head, false)                                                                                     \
    X(BEGIN, begin, false)                                                                                   \
    X(ELEMENTS, elements, false)                                                                             \
    X(AXES, axes, false)                                                                                     \
    X(ENTRY, entry, true)                                                                                    \
    X(BLOCK, block, true)                                                                                    \
    X(VECTOR, vector, true)                                                                                  \
    X(RANK, rank, true)                                                                                      \
    X(UNTIL, until, false)                                                                                   \
    X(OFF, off, false)                                                                                       \
    X(UNALIGNED, unaligned, false)                                                                           \
    X(POST, post, false)                                                                                     \
    X(RESULTS, results, false)                                                                               \
    X(OPERANDS, operands, true)                                                                              \
    X(WAIT, wait, false)                                                                                     \
    X(FIELDS, fields, false)                                                                                 \
    X(VALUES, values, false)                                                                                 \
    X(LOOP_PREP, loop_prep, false)                                                                           \
    X(ELEMENT, element, false)                                                                               \
    X(AFTER_LOOP, after_loop, false)                                                                         \
    X(STEPS, steps, false)                                                                                   \
    X(KEEP_STEPS, keep_steps, false)                                                                         \
    X(MOVES, moves, false)                                                                                   \
    X(LOCATE, locate, false)                                                                                 \
    X(CORNER, corner, false)                                                                                 \
    X(SINGLE, single, false)                                                                                 \
    X(TYPE, type, false)                                                                                     \
    X(REDUCE, reduce, true)                                                                                  \
    X(NEXT, next, true)                                                                                      \
    X(EMPTY, empty, true)                                                                                    \
    X(DEPTH, depth, false)                                                                                   \
    X(WIDE, wide, false)                                                                                     \
    X(ORDER, order, false)                                                                                   \
    X(INDEX, index, false)                                                                                   \
    X(FIRST, first, false)                                                                                   \
    X(MAPPED, mapped, true)                                                                                  \
    X(RESULT, result, false)                                                                                 \
    X(FROM, from, false)                                                                                     \
    X(LOOPS, loops, false)                                                                                   \
    X(BOTH, both, false)                                                                                     \
    X(FINISH, finish, false)                                                                                 \
    X(LOADS, loads, false)                                                                                   \
    X(PACKS, packs, false)                                                                                   \
    X(GATHER, gather, false)                                                                                 \
    X(LANE, lane, false)                                                                                     \
    X(LANES, lanes, false)                                                                                   \
    X(UNSTAGE, unstage, false)                                                                               \
    X(STORES, stores, false)                                                                                 \
    X(BLOCKS, blocks, false)                                                                                 \
    X(RASTER_WIDTH, raster_width, false)                                                                     \
    X(INVARIANT, invariant, false)                                                                           \
    X(STEP_PACKS, step_packs, false)                                                                         \
    X(STEP_LOADS, step_loads, false)                                                                         \
    X(TILES, tiles, false)                                                                                   \
    X(STAGE, stage, false)                                                                                   \
    X(ROW_UNROLL, row_unroll, false)                                                                         \
    X(STAGED, staged, false)                                                                                 \
    X(STAGED_SIZE, staged_size, false)                                                                       \
    X(STAGED_FROM, staged_from, false)                                                                       \
    X(RESULT_FROM, result_from, false)                                                                       \
    X(RESULT_SIZE, result_size, false)                                                                       \
    X(POINTERS, pointers, false)                                                                             \
    X(INDEPENDENT, independent, false)                                                                       \
    X(WIDEN, widen, false)                                                                                   \
    X(NARROW, narrow, false)                                                                                 \
    X(ITEM, item, false)                                                                                     \
    X(ROW, row, false)                                                                                       \
    X(LEVELS, levels, false)                                                                                 \
    X(WRITES_ROW, writes_row, false)                                                                         \
    X(IDENTITY, identity, false)                                                                             \
    X(EXCLUSIVE, exclusive, false)                                                                           \
    X(IS_ATOMIC, is_atomic, false)                                                                           \
    X(IS_COUNT, is_count, false)                                                                             \
    X(IS_SUM, is_sum, false)                                                                                 \
    X(TOGETHER, together, false)                                                                             \
    X(COUNTED, counted, false)                                                                               \
    X(TALLY, tally, false)                                                                                   \
    X(SEARCH, search, false)                                                                                 \
    X(EXTREME, extreme, false)
enum kn_slot_id {
#define KN_SLOT_ID(id, name, offered) KN_SLOT_##id,
    KN_SLOTS(KN_SLOT_ID)
#undef KN_SLOT_ID
        KN_SLOT_CONFIG, /* the first of the kind's numbers (schedule/config.h) */
    KN_SLOT_COUNT = KN_SLOT_CONFIG + KN_MAX_CONFIG
};

typedef struct kn_writer kn_writer;

typedef struct kn_text_node {
    kn_str text;
    struct kn_text_node *next;
} kn_text_node;
enum { KN_PART_FILES = 3 /* the recipe's two and the shared one */ };
/* Texts on the way to the source (texts.c). */
typedef struct kn_writer_texts {
    kiln_status status; /* the first error of a part */
    kn_text_node *first;
    kn_str spare;
    kn_str file[KN_PART_FILES]; /* of parts; empty: not yet read */
} kn_writer_texts;

/* The writer of a kind's source. */
typedef struct kn_recipe {
    const char *template_name;
    /* For kinds with several templates; NULL: it has one. */
    const char *(*choose_template)(const kn_spec *spec);
    void (*fill)(kn_writer *w);
    /* The axis along which a thread's elements lie, if operands are located: "kn.axis[0]". NULL: they are
     * found by the index. */
    const char *fast_axis;
    /* The axis along which a thread takes several steps, kn_m being the number of one; NULL: it takes one. */
    const char *step_axis;
    const char *preludes;           /* words that select preludes, not of baseline tiers; NULL: none */
    const char *quick_preludes;     /* the same of baseline tiers */
    const char *staged_preludes;    /* more of them for kernels that stage an operand; NULL: none */
    const char *gathered_preludes;  /* the same for kernels that gather vectors of an input */
    const char *single_preludes;    /* the same for kernels for which has_singles is true */
    const char *parts, *more_parts; /* files of parts, which are searched before the shared one; NULL: none */
    bool has_places_alone;  /* needs places of elements, but no steps along axes; gathers no vectors */
    bool takes_divisors;    /* broadcast numbers may be kn_divisor: its `lane` names them so */
    bool takes_staged;      /* elements of a staged operand are read one by one */
    bool vectors_are_whole; /* an input that is a vector is never one element that repeats */
    bool has_rows_beside;   /* row programs: a thread's vector has an element of each of several rows */
    /* True if the place of operand k has the dtype that the program sees. NULL: no place has, if that is
     * another than the dtype in memory. */
    bool (*is_seen_place)(const kn_writer *w, int k);
    bool (*has_singles)(const kn_writer *w); /* elements of an operand are loaded one by one */
    bool repeats_stages; /* host: stages are called at several places, and inlined at each */
    /* Loads a vector of operand k in a way of its own; false, or NULL: the usual way. */
    bool (*load)(kn_writer *w, int k);
    /* The condition, besides the stride along the fast axis, for a gathered operand to be contiguous. NULL:
     * none. */
    void (*put_run_condition)(kn_str *out, int array, int size);
} kn_recipe;

struct kn_writer {
    const kn_spec *spec;
    const kn_program *program;
    const kn_recipe *recipe;
    const kn_layout *layout; /* of the argument block; NULL: nobody can launch it */
    bool is_cuda;
    const kn_failed_try *failed; /* NULL: this is the first try */
    kn_str *user;                /* the program's texts as they are in the source, in its order */
    int n_drawn;                 /* blocks of random numbers that a thread keeps: kn_drawn_0 ... */
    int result;                  /* the one of a thread's results that is being written, if it has several */
    kn_str slot[KN_SLOT_COUNT];
    kn_writer_texts *texts;
};

static inline int kn_param_count(const kn_writer *w)
{
    return w->program->n_in + w->program->n_out;
}

static inline bool kn_is_output(const kn_writer *w, int k)
{
    return k >= w->program->n_in;
}

/* The parameter's number among the space's operands; -1 if it is no array. */
static inline int kn_array_of(const kn_writer *w, int k)
{
    return w->spec->operand[k].array;
}

static inline bool kn_is_bool(const kn_writer *w, int k)
{
    return w->spec->operand[k].dtype == KILN_BOOL;
}

static inline const char *kn_storage(const kn_writer *w, int k)
{
    return kn_dtype_info_of(w->spec->operand[k].dtype)->storage;
}

static inline int kn_item_size(const kn_writer *w, int k)
{
    return kn_dtype_info_of(w->spec->operand[k].dtype)->size;
}

/* The letter of an array; 0 for other parameters. */
static inline char kn_access_of(const kn_writer *w, int k)
{
    return kn_array_of(w, k) < 0 ? '\0' : w->spec->schedule.access[kn_array_of(w, k)];
}

/* True for signed bytes in vectors: src/codegen/prelude/cuda_extended.cu. */
bool kn_is_extended(const kn_writer *w, int k);
/* True if some operand is gathered. */
bool kn_gathers(const kn_writer *w);

/* ---- texts on the way to the source (texts.c) ---- */

/* Appends an array's element, as an lvalue, or another text of an operand. */
typedef void (*kn_place_writer)(const kn_writer *w, kn_str *out, int k);
/* An empty text. It lives as long as the writer, which also fails if the text does. */
kn_str *kn_text(const kn_writer *w);
/* The text that `put` appends for operand k. */
const char *kn_text_by(const kn_writer *w, kn_place_writer put, int k);
kiln_status kn_texts_status(const kn_writer_texts *texts);
void kn_texts_free(kn_writer_texts *texts);

/* ---- parts: pieces of source for an operand, from files of them (parts.c) ---- */

enum { KN_NO_VALUE = -1 };
/* Appends the part with its slots replaced: ${name}, ${value} (kn_value_NAME) and ${value_type} of value k,
 * if there is one; of arrays also ${type} (in memory), ${const}, ${array} (its number) and ${size} (bytes);
 * and ${vector}, ${block}, ${arrays}, ${axis} and the kind's numbers of the schedule. */
void kn_put_part(const kn_writer *w, kn_str *out, const char *part, int k);
/* The same with slots of one's own before these, as "place=%s count=%d". */
void kn_put_part_with(const kn_writer *w, kn_str *out, const char *part, int k, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- stages: functions in the source, and calls of them ---- */

/* `_J` of an element at the offset that the part gives. */
void kn_put_reduction_index(const kn_writer *w, kn_str *out, const char *offset);
/* "kn_element(...);": the call of a map or map expression. The program's own values are variables,
 * kn_value_NAME. Stages over results have no index; reduction_index is for programs that use it. */
void kn_put_map(const kn_writer *w, kn_str *out, int stage, kn_place_writer place, const char *index,
                const char *reduction_index);
/* The same, with both indices at the offset that the part gives of their operand, ${array}, as it gives that
 * of an array: "kn.start + kn_from.at[2]". */
void kn_put_map_at(const kn_writer *w, kn_str *out, int stage, kn_place_writer place, const char *offset);
/* The same for the first stage, the only one of elementwise programs. */
void kn_put_call(const kn_writer *w, kn_str *out, kn_place_writer place, const char *index);
/* "kn_sum": the function of a stage. */
void kn_put_function(const kn_writer *w, kn_str *out, int stage);
/* "kn_value_sum": the variable of one of the program's own values. */
void kn_put_value(const kn_writer *w, kn_str *out, int value);
/* One of the program's texts, by number, on lines of its own, which messages of compilers number as lines of
 * "NAME.label"; a statement is ended. */
void kn_put_user_text(const kn_writer *w, kn_str *out, int text, const char *label, bool is_statement);
/* "float64": the type of any value in the source. */
void kn_put_type(const kn_writer *w, kn_str *out, int value);
/* Declares the functions of all stages, and the identities of reductions: kn_NAME_identity. */
void kn_put_stages(kn_writer *w);
/* Declares `_ind` for that index: "const kn_indexer _ind = ...". */
void kn_put_indexer(const kn_writer *w, kn_str *out, const char *index);
/* "n", unless a value has taken that name. */
const char *kn_count_name(const kn_writer *w);
void kn_place_lane(const kn_writer *w, kn_str *out, int k);    /* element kn_k of a thread's vector */
void kn_place_flat(const kn_writer *w, kn_str *out, int k);    /* at the index kn_at */
void kn_place_located(const kn_writer *w, kn_str *out, int k); /* at kn_here */

/* Slot `single`: the call for the element at kn_here. */
void kn_put_single(kn_writer *w);

/* Slot `blocks`: the number of blocks on a multiprocessor that registers have to suffice for, by the number
 * of threads. */
void kn_put_blocks(kn_writer *w, int threads);

/* True if no operator of the text divides integers or shifts them. (reals.c) */
bool kn_divides_reals(const kn_writer *w, const char *text);

/* ---- a thread's vectors (vectors.c) ---- */

/* Declares, loads and stores all operands; gathered ones are declared only. */
void kn_put_vectors(kn_writer *w);
/* "kn_load<float, 4>(kn.x_ + kn_first)". */
void kn_put_vector_load(const kn_writer *w, kn_str *out, int k);
/* Gathers the operands by `function`. more: a part with further arguments, "crossing" (the next row) or
 * "stride"; NULL: none. */
void kn_put_gathers(const kn_writer *w, kn_str *out, const char *function, const char *more);
/* Gathers elements of one row, along the fast axis; it is known whether all operands are contiguous. */
void kn_put_gather_known(const kn_writer *w, kn_str *out, bool are_runs);
/* Gathers element kn_k at kn_here. */
void kn_put_gather_lane(const kn_writer *w, kn_str *out);
/* The condition for all gathered operands to be contiguous: "a.stride[0] == 4 && a.stride[1] == 4". Empty if
 * they cannot be loaded as vectors. */
void kn_put_all_runs(const kn_writer *w, kn_str *out);

/* True if some operands of bytes or halves are gathered as words. */
bool kn_are_some_packed_in_words(const kn_writer *w);
/* Conversions: of elements that were gathered one by one, and back, after any way to gather. */
void kn_put_words_of_lanes(const kn_writer *w, kn_str *out);
void kn_put_lanes_of_words(const kn_writer *w, kn_str *out);

/* Slot `locate` of the axes' template: the places of the element whose index is `index` (CUDA). */
void kn_put_locate(kn_writer *w);
/* Rows of vectors: `carry` bytes are added behind the first `left` vectors, and then behind each `row`. */
typedef struct kn_transpose_rows {
    const char *left, *row, *carry;
} kn_transpose_rows;
/* Loads `count` vectors of as many elements of `size` bytes, `step` bytes apart from the address `from` on,
 * and stores them, transposed, to shared memory at `to`, `pitch` bytes apart. rows NULL: all are of one row.
 * False if vectors are no words. (transposed_vectors.c) */
bool kn_put_transposed(const kn_writer *w, kn_str *out, int count, int size, const char *from,
                       const char *step, const kn_transpose_rows *rows, const char *to, const char *pitch);
/* Slot `corner`: the places of a tile's corner, and the steps along its first axes. */
enum { KN_CORNER_STEPS = 4 };
void kn_put_corner(kn_writer *w);

/* All slots of a kernel whose operands are located; `gather` writes the gathers of a thread. */
void kn_fill_located(kn_writer *w, void (*gather)(const kn_writer *w, kn_str *out));
/* The same with a kind's own lanes. */
void kn_fill_located_by(kn_writer *w, void (*gather)(const kn_writer *w, kn_str *out), kn_place_writer lane);
/* A `gather` for kernels whose vectors lie in one row. */
void kn_put_gather_of_one_row(const kn_writer *w, kn_str *out);

#endif
