/* store/search.h - the search for a compile job's code: its beginning, the stores, its end. */
#ifndef KN_STORE_SEARCH_H
#define KN_STORE_SEARCH_H

#include "store/build_state.h"

/* Begins a search: its state is there. */
kiln_status kn_search_begin(kn_code_search *search, const kn_build_request *request, kn_device *device,
                            kn_build_info *info);
/* The code of the job: the stores are asked in order. It lives as long as the state. */
kiln_status kn_search_find(kn_code_search *search, kn_code **out);
/* Drops code from a store that is read, and bars that store, so that the others are asked. False: no other
 * can have it. */
bool kn_search_bar(kn_code_search *search, const kn_code *code);
/* Logs the compiler's output, when no other thread waits for the search. */
void kn_search_log(kn_code_search *search);
/* Ends a search that has found code, and counts it. */
kiln_status kn_search_end(kn_code_search *search, const kn_code *code);

#endif
