/* store/search.h - a job: from its beginning, through the stores, to its end. */
#ifndef KN_STORE_SEARCH_H
#define KN_STORE_SEARCH_H

#include "store/build_state.h"

/* Begins a job: its state is there. */
kiln_status kn_build_begin(kn_build_job *job, const kn_build_request *request, kn_device *device,
                           kn_build_info *info);
/* The code of the subject: the stores are asked in order. It lives as long as the state. */
kiln_status kn_build_find_code(kn_build_job *job, kn_code **out);
/* Where the code came from a store that is read: takes it back, and bars the store, so that the others are
 * asked. False: there is no more to be hoped for. */
bool kn_build_bar(kn_build_job *job, const kn_code *code);
/* Hands on what the compiler said, once nobody waits for the job. */
void kn_build_log(kn_build_job *job);
/* What a job ends with that has found code: counts it. */
kiln_status kn_build_end(kn_build_job *job, const kn_code *code);

#endif
