/* bake.h - what the files of `kiln bake` share. */
#ifndef KILN_CLI_BAKE_H
#define KILN_CLI_BAKE_H

#include "cli.h"

/* ---- a list that grows ---- */

/* One kernel for one target. */
typedef struct bake_job {
    char *name, *types, *key, *line; /* the record's */
    const char *target;
    uint64_t hash;   /* of key and target */
    kiln_bytes made; /* a bundle of one, when it is done; malloc'd */
    char *failure;   /* or why it is not */
} bake_job;

typedef struct bake_plan {
    bake_job *jobs;
    int count, capacity;
    const char **targets; /* "sm_90", "compute_121"; strings of `words` */
    int n_targets;
    char **words;
    int n_words;
    uint64_t damaged; /* lines of records that are not whole */
} bake_plan;

void bake_plan_free(bake_plan *plan);
/* The targets of --arch and --host; CLI_USAGE, with a message, where one is none. */
int bake_read_targets(bake_plan *plan, const cli_options *options);
/* The jobs of the records, each once; a message and CLI_FAILED where one cannot be read. */
int bake_read_records(bake_plan *plan, const cli_options *options);

/* Compiles all jobs in processes of their own, which the limits of the options hold. CLI_FAILED where none
 * could be started, after a message. */
int bake_run_jobs(bake_plan *plan, const cli_options *options);
/* The other side of it: answers jobs from standard input until that ends. The name is BAKE_CHILD. */
#define BAKE_CHILD "child-"
int bake_child_run(const cli_options *options);

/* ---- the other forms of the command ---- */

int bake_check(bake_plan *plan, const cli_options *options);
int bake_list(const cli_options *options);
int bake_merge(const cli_options *options);
int bake_diff(const cli_options *options);

#endif
