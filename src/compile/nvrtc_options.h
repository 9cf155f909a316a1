/* compile/nvrtc_options.h - the options that NVRTC is given. */
#ifndef KN_COMPILE_NVRTC_OPTIONS_H
#define KN_COMPILE_NVRTC_OPTIONS_H

#include "compile/compile_request.h"

typedef struct kn_nvrtc_options {
    const char **items;
    int n;
    int first_lean, n_lean; /* position and number of the lean options */
    char architecture[48];
    int first_trace, n_trace; /* and of those that make it list the files it reads */
    kn_str include_options;
    kn_str listing_option;
    bool is_ptx;
} kn_nvrtc_options;

/* NVRTC must be loaded. listing: the file for its list of files; NULL: none. *list is to be freed, after a
 * failure too. */
kiln_status kn_nvrtc_options_make(kn_nvrtc_options *list, const kn_compile_request *request,
                                  const char *listing);
void kn_nvrtc_options_free(kn_nvrtc_options *list);

/* The lean options only save time, and a listing only serves the next process: a version that refuses one of
 * them compiles without. False where there are none. */
bool kn_nvrtc_options_drop_lean(kn_nvrtc_options *list);
bool kn_nvrtc_options_drop_listing(kn_nvrtc_options *list);

#endif
