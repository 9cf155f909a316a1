/* compile/nvrtc_options.c - builds the list of options that NVRTC is given. */
#include "compile/nvrtc_options.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "compile/nvrtc_library.h"

/* Options that make compiling faster, and the first version that takes each. */
static const struct {
    const char *option;
    int since;
    bool with_includes; /* for sources with includes, and a user's modules, too */
    bool drops_textures;
} lean_options[] = {
    /* The driver's own cache on disk would store each compile a second time: ours serves as well. */
    {"-no-cache", 12090, true, false},
    /* The limit is the whole process's: other threads would see it change. */
    {"-modify-stack-limit=false", 11020, false, false},
    {"-no-source-include", 12040, false, false},
    {"-minimal", 12060, false, true},
};

enum { MAX_OWN_OPTIONS = 24 };

/* The newest architecture below this one that NVRTC knows; 0: none. */
static int newest_known_below(int compute_capability)
{
    int best = 0;
    for (int i = 0; i < kn_nvrtc.n_known; i++)
        if (kn_nvrtc.known[i] <= compute_capability && kn_nvrtc.known[i] > best)
            best = kn_nvrtc.known[i];
    return best;
}

/* A device newer than NVRTC gets PTX of the newest architecture that both know: the driver translates it. */
static kiln_status choose_architecture(kn_nvrtc_options *list, const kn_compile_request *request)
{
    const kn_target *target = &request->target;
    const char *number = target->architecture + (strncmp(target->architecture, "sm_", 3) == 0 ? 3 : 0);
    int best = kn_nvrtc.n_known ? newest_known_below(target->compute_capability) : target->compute_capability;
    if (best == 0)
        return kn_error(KILN_ERROR_UNSUPPORTED, "NVRTC %d.%d compiles for sm_%d and newer, not for %s",
                        kn_nvrtc.version / 1000, kn_nvrtc.version % 1000 / 10, kn_nvrtc.known[0],
                        target->architecture);
    list->is_ptx = (request->flags & KN_COMPILE_TO_PTX) || best != target->compute_capability;
    if (best != target->compute_capability)
        snprintf(list->architecture, sizeof list->architecture, "-arch=compute_%d", best);
    else
        snprintf(list->architecture, sizeof list->architecture, "-arch=%s_%s",
                 list->is_ptx ? "compute" : "sm", number);
    return KILN_OK;
}

static bool names_standard(const kn_compile_request *request)
{
    for (int i = 0; i < request->n_options; i++)
        if (strncmp(request->options[i], "-std", 4) == 0 || strncmp(request->options[i], "--std", 5) == 0)
            return true;
    return false;
}

static void add(kn_nvrtc_options *list, const char *option)
{
    list->items[list->n++] = option;
}

/* True if texts have words such as "tex2D", "surf2Dread", "cudaTextureObject_t", which -minimal leaves out.
 * Yes too often costs milliseconds. */
static bool uses_textures(const kn_compile_request *request)
{
    static const char *const words[] = {"tex", "surf", "cuda"};
    for (int t = 0; t < request->n_user_texts; t++)
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (strstr(request->user_texts[t], words[w]))
                return true;
    return false;
}

static void add_lean_options(kn_nvrtc_options *list, bool has_includes, bool has_textures)
{
    list->first_lean = list->n;
    for (size_t i = 0; i < sizeof lean_options / sizeof *lean_options; i++)
        if (kn_nvrtc.version >= lean_options[i].since && (lean_options[i].with_includes || !has_includes) &&
            !(lean_options[i].drops_textures && has_textures))
            add(list, lean_options[i].option);
    list->n_lean = list->n - list->first_lean;
}

static bool drop_options(kn_nvrtc_options *list, int first, int *n)
{
    int end = first + *n;
    if (*n == 0)
        return false;
    memmove(list->items + first, list->items + end, (size_t)(list->n - end) * sizeof *list->items);
    list->n -= *n;
    *n = 0;
    return true;
}

bool kn_nvrtc_options_drop_lean(kn_nvrtc_options *list)
{
    list->first_trace -= list->n_lean;
    return drop_options(list, list->first_lean, &list->n_lean);
}

bool kn_nvrtc_options_drop_listing(kn_nvrtc_options *list)
{
    return drop_options(list, list->first_trace, &list->n_trace);
}

/* Has NVRTC list the files that it reads. It has no option for that, but its front end has: a raw listing, in
 * which each file begins with a line (`L 1 "folder/file.h" 1`). Tried with NVRTC 11.7, 12.0, 12.4 and
 * 13.0. */
static void add_listing(kn_nvrtc_options *list, const char *file)
{
    list->first_trace = list->n;
    kn_str_printf(&list->listing_option, "--list=%s", file);
    add(list, "-Xcudafe");
    add(list, kn_str_text(&list->listing_option));
    list->n_trace = 2;
}

static void add_include_options(kn_nvrtc_options *list)
{
    int n = kn_nvrtc_include_options(&list->include_options, kn_nvrtc.place.path);
    const char *option = list->include_options.data;
    for (int i = 0; option && i < n; i++, option += strlen(option) + 1)
        add(list, option);
}

kiln_status kn_nvrtc_options_make(kn_nvrtc_options *list, const kn_compile_request *request,
                                  const char *listing)
{
    *list = (kn_nvrtc_options){.include_options = KN_STR_INIT, .listing_option = KN_STR_INIT};
    size_t bytes = (size_t)(request->n_options + MAX_OWN_OPTIONS) * sizeof *list->items;
    list->items = kn_malloc(bytes);
    if (!list->items)
        return kn_error_memory("compiler options");
    kiln_status status = choose_architecture(list, request);
    if (status != KILN_OK)
        return status;
    add(list, list->architecture);
    if (!names_standard(request))
        add(list, "-std=c++17");
    if (request->flags & KN_COMPILE_FAST_MATH)
        add(list, "-use_fast_math");
    if (request->flags & KN_COMPILE_NO_FMA)
        add(list, "-fmad=false");
    bool is_module = request->flags & KN_COMPILE_USER_MODULE;
    bool is_lean = !is_module && !listing;
    if (!is_module)
        add(list, "-default-device");
    add_lean_options(list, !is_lean, uses_textures(request));
    for (int i = 0; i < request->n_options; i++)
        add(list, request->options[i]);
    if (!is_lean) /* after the user's own folders */
        add_include_options(list);
    if (listing)
        add_listing(list, listing);
    if (list->listing_option.failed)
        return kn_error_memory("compiler options");
    return kn_str_status(&list->include_options, "include folders");
}

void kn_nvrtc_options_free(kn_nvrtc_options *list)
{
    kn_free(list->items);
    kn_str_free(&list->include_options);
    kn_str_free(&list->listing_option);
}
