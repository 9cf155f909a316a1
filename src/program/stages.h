/* program/stages.h - the computation of one element: stages over values, and the user's texts. Knows types at
 * most, never extents. program/program.h makes it. */
#ifndef KN_PROGRAM_STAGES_H
#define KN_PROGRAM_STAGES_H

#include <kiln/kernel.h>
#include <stdint.h>
#include "program/signature.h"

/* The computation of a stage. */
typedef enum kn_stage_kind {
    KN_MAP, /* statements, run for each element: assigns the values that it gives from those that it reads */
    KN_MAP_EXPRESSION, /* a map expression: the one value of the program's own that it gives */
    KN_REDUCE,         /* combines one value of all elements along the reduction axes, two by two */
    KN_SCAN,           /* the same of each element and those before it, in their order, for each element */
    KN_SCAN_EXCLUSIVE, /* ... of those before it alone; of the first one the identity */
    KN_COUNT, /* counts one value's digits of 8 bits in a raw output of zeros: by digit, row, and its value. A
                 signed value is one digit, and none if it is negative */
    KN_PLACE, /* gives the C-order index of an element's place, if its row is sorted stably by one value, a
                 digit. Reads their counts, a raw input, and needs a raw output of zeros: 256 words a tile */
    KN_RANK,  /* the same, if sorted by all of one value, an unsigned integer. Rows are short, or the
                 body says how many come first at most, and they are longer (CUDA) */
    KN_TALLY, /* combines the second value of all elements of a bin, which the first one numbers, two by two
                 in any order, in a raw output of two axes: parts of the elements, each with all bins */
    KN_COLUMNS /* combines one value of the elements of a column, those that have the same place along the
                  reduction axes, two by two, in a raw output: strips of neighbouring rows
                  (schedule/row_strips.h), each with all columns. The last stages of a program (CUDA) */
} kn_stage_kind;
enum { KN_STAGE_KINDS = 10, KN_MAX_STAGES = 32 };

/* The iterations of a stage: one for each element of the space, or one for each result, for all elements
 * along the reduction axes. */
typedef enum kn_over { KN_OVER_ALL, KN_OVER_RESULTS } kn_over;

/* Values are numbered: the parameters first, then the program's own. */
typedef struct kn_stage {
    kn_stage_kind kind;
    kn_over over;   /* KN_REDUCE: KN_OVER_ALL; it gives one value a result */
    char *label;    /* names the text in messages; "": by the kernel's name alone */
    char *body;     /* KN_MAP: statements; KN_MAP_EXPRESSION: an expression; others: one of `a` and `b` */
    char *identity; /* of those: an expression, the result of no elements; "": there is none */
    int n_read, n_given;
    int *value; /* those that it reads, then those that it gives */
} kn_stage;

/* The identifiers that the texts use, so that kernels carry only what they need. */
enum {
    KN_USES_INDEX = 1,            /* `i`, or `_ind` in a stage */
    KN_USES_COUNT = 2,            /* `n` or `_ind` */
    KN_USES_INDEXER = 4,          /* `_ind` */
    KN_USES_CONTINUE = 8,         /* `continue` or `break` */
    KN_USES_PLACE = 16,           /* `_ind`, for the index along each axis */
    KN_USES_INDEXER_OUTSIDE = 32, /* `_ind` in loop_prep or after_loop */
    KN_USES_REDUCTION_INDEX = 64, /* `_J`: the C-order index among the reduction axes */
    KN_USES_SIZES = 128,     /* `_in_ind`, `_out_ind`: how many elements are read, and how many results */
    KN_USES_INDEX_TYPE = 256 /* `_index`: a type that holds `_J` */
};

/* Each call says which axes are reduced. */
enum { KN_REDUCED_BY_CALL = -1 };

/* Stages over values, and the texts around them. Elementwise is one stage that maps all inputs to all
 * outputs. Owns all its texts; texts are never NULL. Immutable once made. */
typedef struct kn_program {
    char *name, *preamble, *loop_prep, *after_loop;
    kn_param *param; /* the inputs, then the outputs; behind them the program's own values */
    int n_in, n_out, n_values;
    kn_stage *stage;
    int n_stages;
    char pattern[KN_MAX_STAGES + 1]; /* a letter a stage: "m", "mrk"; kinds are chosen by it */
    int reduced; /* reduction axes of the broadcast shape, from the last on; KN_REDUCED_BY_CALL */
    bool casts;  /* arrays of other dtypes than declared are converted where they are loaded and stored, and
                    numbers as NumPy's operations do */
    bool is_reversed;         /* its scans begin with the last element; a matter of the space alone */
    bool is_selection;        /* it counts the selected elements by a scan, and stores each by its number */
    bool is_in_c_order;       /* outputs that calls allocate are in C order, whatever options.order says */
    uint64_t reduced_outputs; /* outputs (bits) without elements along the reduction axes */
    uint64_t left_outputs;    /* ... that an element may leave unassigned, or read before it assigns them */
    unsigned flags;           /* KILN_KERNEL_* */
    unsigned uses;            /* KN_USES_* */
    uint64_t
        indexed;   /* raw parameters (bits) that the texts index or ask for their shape: no scalar will do */
    char **option; /* for the compiler */
    int n_options;
    char **header_name, **header_text;
    int n_headers;
    const char **text; /* all texts of the user; there are kn_program_texts() of them */
} kn_program;

/* The positions of a program's texts in its list: the bodies of stages from KN_TEXT_STAGE on, then the
 * identities. */
enum { KN_TEXT_PREAMBLE, KN_TEXT_LOOP_PREP, KN_TEXT_AFTER_LOOP, KN_TEXT_STAGE };
static inline int kn_program_texts(const kn_program *program)
{
    return KN_TEXT_STAGE + 2 * program->n_stages;
}

/* The name of a value in the texts. */
const char *kn_value_name(const kn_param *value);

/* "map": a kind of stage, as specialisations write it. */
const char *kn_stage_kind_name(kn_stage_kind kind);
/* The stage's letter in a program's pattern: 'm' for a map of each element, 'k' for a map of each result,
 * 'r', 's' for a scan, 'c' for counts, 'p' for places, 'o' for ranks, 't' for a tally, and 'l' for columns.
 */
char kn_stage_letter(kn_stage_kind kind, kn_over over);
/* True if a stage of that kind combines values two by two; if it scans. */
bool kn_stage_combines(kn_stage_kind kind);
bool kn_stage_scans(kn_stage_kind kind);
/* True if some stage of the program scans, counts, places, ranks, tallies or combines columns: the axes of
 * the call are in C order then. */
bool kn_program_scans(const kn_program *program);
bool kn_pattern_scans(const char *pattern);
/* True if some stage counts or places: rows have numbers then, in C order. */
bool kn_pattern_has_rows(const char *pattern);
/* False: there is none of that name. */
bool kn_stage_kind_find(kn_stage_kind *out, const char *name);

#endif
