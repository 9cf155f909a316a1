/* cli_narrow.c - a warning where `kiln reduce` sums or multiplies in integers of 8 or 16 bits, which wrap. */
#include "cli.h"
#include <ctype.h>
#include <string.h>

static const struct narrow {
    kiln_dtype dtype;
    int most;
} narrow[] = {{KILN_INT8, 127}, {KILN_UINT8, 255}, {KILN_INT16, 32767}, {KILN_UINT16, 65535}};

/* The number of the first parameter of a signature that has the placeholder; -1. */
static int find_placeholder(const char *signature, char letter)
{
    int number = 0;
    for (const char *at = signature; *at; at++) {
        bool begins = at == signature || at[-1] == ' ' || at[-1] == ',';
        if (*at == letter && begins && at[1] == ' ')
            return number;
        number += *at == ',';
    }
    return -1;
}

static bool dtype_of_placeholder(kiln_dtype *out, const cli_call *call, const char *const *text, char letter)
{
    int result = find_placeholder(text[1], letter), given = find_placeholder(text[0], letter);
    if (result >= 0 && result < call->n_out)
        *out = kiln_array_dtype(call->out[result]);
    else if (given >= 0 && given < call->n_in && call->in[given].kind == KILN_ARG_ARRAY)
        *out = kiln_array_dtype(call->in[given].value.array);
    else
        return false;
    return true;
}

/* The dtype of `a` and `b`; false where it is a struct's, or not known. */
static bool reduce_dtype(kiln_dtype *out, const cli_call *call, const cli_options *options)
{
    const char *type = options->reduce_type;
    if (type && isupper((unsigned char)type[0]) && !type[1])
        return dtype_of_placeholder(out, call, options->positional.items, type[0]);
    if (!type) {
        *out = kiln_array_dtype(call->out[0]);
        return true;
    }
    bool is_dtype = kiln_dtype_from_name(out, type) == KILN_OK;
    kiln_error_clear();
    return is_dtype;
}

void cli_narrow_warn(const cli_call *call, const cli_options *options)
{
    const char *const *text = options->positional.items;
    kiln_dtype dtype;
    bool is_reduction = call->n_texts == 6;
    if (!is_reduction || !strpbrk(text[3], "+*") || !reduce_dtype(&dtype, call, options))
        return;
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        if (narrow[i].dtype != dtype)
            continue;
        cli_progress_hide();
        fprintf(stderr,
                "kiln: warning: '%s' is computed in %s, which wraps beyond %d: give the output a wider type "
                "('float32 y', 'int64 y'), or say --reduce-type\n",
                text[3], kiln_dtype_name(dtype), narrow[i].most);
    }
}
