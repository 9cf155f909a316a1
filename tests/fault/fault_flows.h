/* fault/fault_flows.h - what a program does with kiln, as functions that check every result they get and
 * leave nothing behind. */
#ifndef FAULT_FLOWS_H
#define FAULT_FLOWS_H

#include <kiln/kiln.h>

typedef struct fault_flow {
    const char *name;
    /* KILN_OK, or the status of the first call that failed: its results are then what they were before. A
     * wrong result ends the test. */
    kiln_status (*run)(void);
    bool compiles; /* slow where nothing is cached */
} fault_flow;

extern const fault_flow fault_flows[];
extern const int fault_flow_count;

/* A cache, temporary files and outputs in a private folder. */
int fault_set_up(void **state);
int fault_tear_down(void **state);
extern char fault_folder[256];

/* As a new process: nothing loaded, the cache as it is. */
void fault_forget(void);
void fault_empty_cache(void);

#endif
