/* compile/nvrtc_options.h - what NVRTC is told. */
#ifndef KN_COMPILE_NVRTC_OPTIONS_H
#define KN_COMPILE_NVRTC_OPTIONS_H

#include "compile/compile_request.h"

typedef struct kn_nvrtc_options {
    const char **items;
    int n;
    int first_lean, n_lean; /* where the lean options are */
    char architecture[48];
    int first_trace, n_trace; /* and those that make it say what it reads */
    kn_str include_options;
    kn_str listing_option;
    bool is_ptx;
} kn_nvrtc_options;

/* NVRTC is loaded. listing: the file in which it is to say what it reads; NULL: nowhere. To be freed whatever
 * comes of it. */
kiln_status kn_nvrtc_options_make(kn_nvrtc_options *list, const kn_compile_request *request,
                                  const char *listing);
void kn_nvrtc_options_free(kn_nvrtc_options *list);

/* The lean options only save time, and a listing only serves the next process: a version that refuses one of
 * them compiles without. False where there are none. */
bool kn_nvrtc_options_drop_lean(kn_nvrtc_options *list);
bool kn_nvrtc_options_drop_listing(kn_nvrtc_options *list);

#endif
