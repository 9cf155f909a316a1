/* divisor.c - finds broadcast divisors, and decides whether reciprocals pay. */
#include "codegen/divisor.h"

#include <string.h>

#include "program/pure.h"
#include "base/caret.h"

/* Measured on an H200: its 132 multiprocessors start 7.2 instructions per thread in the time of a byte of
 * memory. */
enum {
    DIVISION_COST = 15, /* instructions of IEEE's division */
    OTHER_COST = 10,    /* of everything else for an element */
    COST_OF_BYTE = 7
};

static const char *skip_space(const char *at)
{
    size_t length;
    while (kn_token_scan(at, &length) == KN_TOKEN_SPACE)
        at += length;
    return at;
}

/* The number of divisions by that name; -1 if the body uses it in any other way. */
static int count_divisions(const char *text, const char *name)
{
    int count = 0;
    char before = '\0';
    size_t length;
    for (const char *at = text;; at += length) {
        kn_token_kind kind = kn_token_scan(at, &length);
        if (kind == KN_TOKEN_END)
            return count;
        if (kind == KN_TOKEN_NAME && strlen(name) == length && strncmp(at, name, length) == 0) {
            char next = *skip_space(at + length);
            if (before != '/' || next == '.' || next == '(' || next == '[')
                return -1;
            ++count;
        }
        if (kind != KN_TOKEN_SPACE)
            before = kind == KN_TOKEN_OTHER ? *at : '\0';
    }
}

/* Bytes of an element, of all operands that are not broadcast. */
static int moving_bytes(const kn_writer *w)
{
    int bytes = 0;
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && kn_access_of(w, k) != KN_BROADCAST)
            bytes += kn_item_size(w, k);
    return bytes;
}

static int divisions_by(const kn_writer *w, int k)
{
    const kn_operand *o = &w->spec->operand[k];
    if (k >= w->program->n_in || kn_access_of(w, k) != KN_BROADCAST || o->dtype != KILN_FLOAT32 ||
        o->seen != o->dtype)
        return 0;
    int count = count_divisions(w->program->stage[0].body, w->program->param[k].name);
    return count > 0 ? count : 0;
}

bool kn_has_divisors(const kn_writer *w)
{
    int divisions = 0;
    if (!w->recipe->takes_divisors || w->program->flags & KILN_KERNEL_FAST_MATH ||
        !kn_body_is_pure(w->program))
        return false;
    for (int k = 0; k < kn_param_count(w); ++k)
        divisions += divisions_by(w, k);
    return divisions > 0 && divisions * DIVISION_COST + OTHER_COST > moving_bytes(w) * COST_OF_BYTE;
}

bool kn_is_divisor(const kn_writer *w, int k)
{
    return kn_has_divisors(w) && divisions_by(w, k) > 0;
}
