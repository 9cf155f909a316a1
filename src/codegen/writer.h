/* codegen/writer.h - what is being written: a specialisation's texts on their way into the slots of its
 * template. Internal to this folder.
 *
 * codegen.c writes what every kernel has, the fill of a kind (emit_NAME.c) the slots that its template has
 * besides. */
#ifndef KN_CODEGEN_WRITER_H
#define KN_CODEGEN_WRITER_H

#include "base/str.h"
#include "codegen/prelude.h"
#include "schedule/kind.h"
#include "schedule/layout.h"
#include "types/dtype.h"

/* The slots that templates may have. A fill that puts text into one that its template has not got is an
 * error; `offered` ones, which every kernel fills, are there for those templates that want them. */
#define KN_SLOTS(X)                                                                                          \
    X(HEAD, head, false)                                                                                     \
    X(AXES, axes, false)                                                                                     \
    X(ENTRY, entry, true)                                                                                    \
    X(BLOCK, block, true)                                                                                    \
    X(VECTOR, vector, true)                                                                                  \
    X(RANK, rank, true)                                                                                      \
    X(PER_THREAD, per_thread, true)                                                                          \
    X(VARIANT, variant, true)                                                                                \
    X(UNTIL, until, false)                                                                                   \
    X(OFF, off, false)                                                                                       \
    X(RAGGED, ragged, false)                                                                                 \
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
    X(FOLD, fold, true)                                                                                      \
    X(NEXT, next, false)                                                                                     \
    X(EMPTY, empty, true)                                                                                    \
    X(DEPTH, depth, false)                                                                                   \
    X(WIDE, wide, false)                                                                                     \
    X(ORDER, order, false)                                                                                   \
    X(INDEX, index, false)                                                                                   \
    X(FIRST, first, false)                                                                                   \
    X(MAPPED, mapped, false)                                                                                 \
    X(RESULT, result, false)                                                                                 \
    X(FROM, from, false)                                                                                     \
    X(LOADS, loads, false)                                                                                   \
    X(PACKS, packs, false)                                                                                   \
    X(GATHER, gather, false)                                                                                 \
    X(LANE, lane, false)                                                                                     \
    X(STORES, stores, false)                                                                                 \
    X(BLOCKS, blocks, false)                                                                                 \
    X(STRIPE_WIDTH, stripe_width, false)                                                                     \
    X(THREAD_STEPS, thread_steps, false)                                                                     \
    X(STILL, still, false)                                                                                   \
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
    X(LEVELS, levels, false)
enum kn_slot_id {
#define KN_SLOT_ID(id, name, offered) KN_SLOT_##id,
    KN_SLOTS(KN_SLOT_ID)
#undef KN_SLOT_ID
        KN_SLOT_COUNT
};

typedef struct kn_writer kn_writer;

/* How the source of a kind is written. */
typedef struct kn_recipe {
    const char *template_name;
    /* Where a kind has several templates; NULL: it has one. */
    const char *(*choose_template)(const kn_spec *spec);
    void (*fill)(kn_writer *w);
    /* The axis along which a thread's elements lie, where operands are located: "kn.axis[0]". NULL: they are
     * found by the index. */
    const char *fast_axis;
    /* along which a thread takes several steps, kn_m the number of one; NULL: it takes one */
    const char *step_axis;
    const char *preludes;  /* words that call for preludes; NULL: none */
    bool has_places_alone; /* of where an element is it asks for the places, not for steps along axes; nothing
                             is gathered in vectors */
    bool takes_divisors;   /* numbers that stand still may be kn_divisor: its `lane` names them so */
    bool takes_staged;     /* elements of a staged operand are taken one by one */
    bool has_rows_beside;  /* row programs: a thread's vector lies across rows, an element of each */
    bool repeats_stages;   /* host: stages are called at several places, and inlined at each */
    /* True if the place of operand k holds it in the dtype that the program sees. NULL: no place does where
     * that is another than the dtype in memory. */
    bool (*is_seen_place)(const kn_writer *w, int k);
    /* Loads a vector of operand k in a way of its own; false, or NULL: as the others do. */
    bool (*load)(kn_writer *w, int k);
    /* What has to hold beside the step along the fast axis for a gathered operand to be one run. NULL:
     * nothing. */
    void (*put_run_condition)(kn_str *out, int array, int size);
} kn_recipe;

struct kn_writer {
    const kn_spec *spec;
    const kn_program *program;
    const kn_recipe *recipe;
    const kn_layout *layout; /* of the argument block; NULL: nobody can launch it */
    bool is_cuda;
    const kn_failed_try *failed; /* NULL: this is the first try */
    kn_str *user;                /* the program's texts as they stand in the source, in its order */
    int result;                  /* of each operand, where a thread has several: the one that is written */
    kn_str slot[KN_SLOT_COUNT];
};

static inline int kn_param_count(const kn_writer *w)
{
    return w->program->n_in + w->program->n_out;
}

static inline bool kn_is_output(const kn_writer *w, int k)
{
    return k >= w->program->n_in;
}

/* Its number among the space's operands; -1 for what is no array. */
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

/* The letter of an array operand; 0 for what is none. */
static inline char kn_access_of(const kn_writer *w, int k)
{
    return kn_array_of(w, k) < 0 ? '\0' : w->spec->schedule.access[kn_array_of(w, k)];
}

/* Whether it is a signed byte of a vector: src/codegen/prelude/cuda_extended.cu. */
bool kn_is_extended(const kn_writer *w, int k);
/* Whether some operand is gathered. */
bool kn_gathers(const kn_writer *w);

/* ---- calls of stages, which stand in the source as functions ---- */

/* Where an array's element is. */
typedef void (*kn_place_writer)(const kn_writer *w, kn_str *out, int k);
/* "kn_element(...);": a stage that maps or yields; values of the program's own are variables, kn_value_NAME.
 * What runs once for all reduced elements has no index, nor has a program fold_index that does not use it. */
void kn_put_map(const kn_writer *w, kn_str *out, int stage, kn_place_writer place, const char *index,
                const char *fold_index);
/* The same of the first stage, all that elementwise programs have. */
void kn_put_call(const kn_writer *w, kn_str *out, kn_place_writer place, const char *index);
/* "kn_fold": the function that a stage is. */
void kn_put_function(const kn_writer *w, kn_str *out, int stage);
/* "kn_value_sum": the variable of a value of the program's own. */
void kn_put_value(const kn_writer *w, kn_str *out, int value);
/* One of the program's texts, by number, on lines of its own which messages count as those of "NAME.label";
 * `end` stands behind it. */
void kn_put_user_text(const kn_writer *w, kn_str *out, int text, const char *label, const char *end);
/* "float64": the type of any value in the source. */
void kn_put_type(const kn_writer *w, kn_str *out, int value);
/* Declares the functions of all stages, and what nothing yields: kn_NAME_identity. */
void kn_put_stages(kn_writer *w);
/* "const kn_indexer _ind = ...": what `_ind` means at that index. */
void kn_put_indexer(const kn_writer *w, kn_str *out, const char *index);
/* "n", unless a value has taken that name. */
const char *kn_count_name(const kn_writer *w);
void kn_place_lane(const kn_writer *w, kn_str *out, int k);    /* element kn_k of a thread's vector */
void kn_place_flat(const kn_writer *w, kn_str *out, int k);    /* at the index kn_at */
void kn_place_located(const kn_writer *w, kn_str *out, int k); /* at kn_here */

/* One element at kn_here. */
void kn_put_single(kn_writer *w);

/* Blocks side by side on a multiprocessor for which registers are to be left, by the threads that are wanted
 * there. */
void kn_put_blocks(kn_writer *w, int threads);

/* Whether no operator of the text can divide integers or shift them. (reals.c) */
bool kn_divides_reals(const kn_writer *w, const char *text);

/* ---- vectors.c: a thread's vectors, loaded, gathered and stored ---- */

/* Declares, loads and stores all operands. What is gathered is declared alone. */
void kn_put_vectors(kn_writer *w);
void kn_put_vector_load(const kn_writer *w, kn_str *out, int k);
/* The gathered operands, by `function`: of one row, or of this one and the next; one that takes runs alone
 * needs no step. */
void kn_put_gathers(const kn_writer *w, kn_str *out, const char *function, bool two_rows, bool with_step);
/* Elements of one row: at steps of the fast axis. */
void kn_put_gather_in_row(const kn_writer *w, kn_str *out);
/* The same where it is known whether all are runs. */
void kn_put_gather_known(const kn_writer *w, kn_str *out, bool are_runs);
/* What element kn_k gathers at kn_here. */
void kn_put_gather_lane(const kn_writer *w, kn_str *out);
/* "a.stride[0] == 4 && a.stride[1] == 4": all gathered operands are runs. Empty where they cannot be loaded
 * as such. */
void kn_put_all_runs(const kn_writer *w, kn_str *out);

/* Bytes and halves that are gathered in one of several ways are kept as words meanwhile: the compiler would
 * take them apart and put them together again. */
bool kn_is_kept_in_words(const kn_writer *w, int k);
bool kn_are_some_kept_in_words(const kn_writer *w);
/* After elements have been gathered one by one; after all ways to gather. */
void kn_put_words_of_lanes(const kn_writer *w, kn_str *out);
void kn_put_lanes_of_words(const kn_writer *w, kn_str *out);

/* Where the element is whose index is `index`, into `place`: the axes' template has it (CUDA). */
void kn_put_locate(kn_writer *w);
/* Vectors that lie `carry` bytes further behind `left` of them, and then behind each `row`. */
typedef struct kn_turn_rows {
    const char *left, *row, *carry;
} kn_turn_rows;
/* `count` vectors of as many elements of `size` bytes, one `step` bytes behind the other from the address
 * `from`, turned, to shared memory at `to`, one `pitch` bytes behind the other; false: they are no words.
 * rows: NULL where all lie in one. (turn.c) */
bool kn_put_turn(kn_str *out, int count, int size, const char *from, const char *step,
                 const kn_turn_rows *rows, const char *to, const char *pitch);
/* Of a tile: ${corner}. */
enum { KN_CORNER_STEPS = 4 };
void kn_put_corner(kn_writer *w);

/* Everything of a kernel whose operands are located; `gather` writes what a thread gathers. */
void kn_fill_located(kn_writer *w, void (*gather)(const kn_writer *w, kn_str *out));
/* A `gather` for kernels whose vectors lie in one row. */
void kn_put_gather_of_one_row(const kn_writer *w, kn_str *out);

#endif
