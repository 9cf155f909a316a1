/* cases.h - one list of cases for every target. A case is a function that builds stages and lets them
 * complain. */
#ifndef CASES_CASES_H
#define CASES_CASES_H

#include "drawn.h"
#include "stage.h"

/* A case that names no target runs on each; CASE_LONG with KILN_SOAK=1 alone; CASE_DEVICE not where kernels
 * run on the processor (CASES_EMULATED): it needs what the device's compiler knows, or its speed. */
enum { CASE_HOST = 1, CASE_CUDA = 2, CASE_LONG = 4, CASE_DEVICE = 8 };

typedef struct test_case {
    const char *name;
    void (*run)(void);
    int when; /* CASE_* */
} test_case;

typedef struct case_list {
    const char *name;
    const test_case *cases; /* the last has no name */
    bool of_meaning;        /* of what texts mean: the same in either form */
} case_list;

extern const test_case layout_cases[], dtype_cases[], snippet_cases[], scalar_cases[], overlap_cases[],
    option_cases[], check_cases[], refusal_cases[], call_cases[], guide_cases[], raw_cases[], large_cases[],
    graph_cases[], cast_cases[], half_cases[], complex_cases[], stream_cases[], array_cases[], fill_cases[],
    integer_cases[], capture_cases[], module_cases[], reduction_cases[], reduction_together_cases[],
    reduction_large_cases[], left_cases[];

/* A number that is the same for the case that is running, whatever else runs. */
uint64_t case_seed(void);
/* "host" or "cuda:0": the target that is running. */
const char *case_target(void);

/* True on a GPU, and on the host, where compiling takes most of the time, for one in `share` (drawn.h). */
static inline bool is_run_here(size_t number, unsigned share)
{
    return KILN_DEVICE_IS_CUDA(stage_device) || is_drawn(number, share);
}

/* Operands of an expectation. */
#define IN(type, k) (*(const type *)e->in[k])
#define OUT(type, k) (*(type *)e->out[k])
/* Any dtype, as a number. */
static inline number in_number(const element *e, int k)
{
    return number_load(e->in[k], e->in_dtype[k]);
}
static inline number out_number(const element *e, int k)
{
    return number_load(e->out[k], e->out_dtype[k]);
}
static inline void set_out(const element *e, int k, double re)
{
    number_store(e->out[k], e->out_dtype[k], number_real(re));
}

/* A stage over one kernel with the seed of the case. */
#define STAGE(in, out, body) stage_create(in, out, body, NULL, case_seed())

#endif
