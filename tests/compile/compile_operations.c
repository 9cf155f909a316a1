/* The table of operations through NVRTC, without a device: a variant of every third row, drawn, with
 * KILN_SOAK=1 all. `compile_operations sources` writes one of each row, and compiles none. */
#include <kiln/kiln.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawn.h"

enum { MAX_INPUTS = 8 };
static const char target[] = "sm_90";
static int compiled, failed, warned;
static int only_sources;

static kiln_dtype dtype_of(char letter)
{
    static const char letters[] = "?bhilBHILeEfdFD";
    const char *at = strchr(letters, letter);
    return at ? (kiln_dtype)(KILN_BOOL + (at - letters)) : KILN_DTYPE_NONE;
}

/* Arrays of five rows, which are reduced; what a reduction has beside its first input is a number. */
static kiln_status prepare(const kiln_operation *d, const char *letters)
{
    const int64_t shape[] = {5, 100};
    const int last = 1;
    kiln_dtype dtype[MAX_INPUTS];
    kiln_arg in[MAX_INPUTS];
    kiln_array *array[MAX_INPUTS] = {NULL};
    kiln_kernel *kernel = NULL;
    char *text = NULL;
    kiln_call_options call = KILN_CALL_OPTIONS_INIT;
    kiln_prepare_options options = KILN_PREPARE_OPTIONS_INIT;
    kiln_status status = KILN_OK;
    int n_in = (int)strcspn(letters, "-");
    for (int k = 0; k < n_in && status == KILN_OK; k++) {
        dtype[k] = dtype_of(letters[k]);
        status = kiln_array_zeros(&array[k], dtype[k], 2, shape, KILN_DEVICE_HOST);
        in[k] = d->reduce && k > 0 ? kiln_arg_float(1) : kiln_arg_array(array[k]);
    }
    call.axes = d->reduce ? &last : NULL;
    call.n_axes = d->reduce ? 1 : 0;
    options.target = target;
    if (status == KILN_OK)
        status = kiln_operation_kernel(&kernel, d->name, dtype, n_in);
    if (status == KILN_OK)
        status =
            only_sources
                ? kiln_kernel_source(&text, kernel, NULL, kiln_kernel_n_out(kernel), in, n_in, &call, target)
                : kiln_kernel_prepare(kernel, NULL, kiln_kernel_n_out(kernel), in, n_in, &call, &options);
    free(text);
    for (int k = 0; k < n_in; k++)
        kiln_array_free(array[k]);
    return status;
}

/* A warning about the library's own texts would help no user. */
static void on_log(kiln_log_level level, const char *message, void *user)
{
    (void)user;
    if (level < KILN_LOG_WARNING)
        return;
    warned++;
    fprintf(stderr, "%s\n", message);
}

/* 77 where there is no NVRTC. */
static int compile_row(const kiln_operation *d, int row)
{
    int n_variants = 0, k = 0;
    for (const char *at = d->types; *(at += strspn(at, " ")); at += strcspn(at, " "))
        n_variants++;
    for (const char *at = d->types; *(at += strspn(at, " ")); at += strcspn(at, " "), k++) {
        if (!drawn_all() && (unsigned)k != ((unsigned)row + drawn_seed()) % (unsigned)n_variants)
            continue;
        kiln_status status = prepare(d, at);
        if (status == KILN_ERROR_NOT_FOUND && !getenv("KILN_REQUIRE_NVRTC")) {
            printf("skipped: %s\n", kiln_error_message());
            return 77;
        }
        compiled++;
        if (status == KILN_OK)
            continue;
        failed++;
        fprintf(stderr, "%s %.*s: %s\n%s\n", d->name, (int)strcspn(at, " "), at, kiln_error_message(),
                kiln_error_log());
    }
    return 0;
}

int main(int argc, char **argv)
{
    kiln_log_set_callback(on_log, NULL);
    only_sources = argc > 1 && !strcmp(argv[1], "sources");
    kiln_operation d = KILN_OPERATION_INIT;
    for (int row = 0; row < kiln_operation_count(); row++) {
        if (kiln_operation_at(&d, row) != KILN_OK) {
            fprintf(stderr, "%s\n", kiln_error_message());
            return 1;
        }
        if (d.map && (only_sources || is_drawn((size_t)row, 9)) && compile_row(&d, row))
            return 77;
    }
    printf("%d kernels %s, %d failed, %d warnings\n", compiled, only_sources ? "written" : "compiled", failed,
           warned);
    return failed || warned ? 1 : 0;
}
