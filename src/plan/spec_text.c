#include "plan/spec_text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "plan/kind.h"
#include "types/dtype.h"

#define FORMAT_VERSION "kiln/1"

/* ---- writing ---- */

static void put_text(kn_str *out, const char *key, const char *text)
{
    static const char escaped[] = "\n\t\r\\\"", letter[] = "ntr\\\"";
    kn_str_printf(out, " %s=\"", key);
    for (; *text; ++text) {
        const char *found = strchr(escaped, *text);
        if (found)
            kn_str_printf(out, "\\%c", letter[found - escaped]);
        else if ((unsigned char)*text < 32)
            kn_str_printf(out, "\\x%02x", (unsigned char)*text);
        else
            kn_str_append_n(out, text, 1);
    }
    kn_str_append(out, "\"");
}

static void put_if(kn_str *out, const char *key, const char *text)
{
    if (text[0])
        put_text(out, key, text);
}

static void put_params(kn_str *out, const char *key, const kn_param *param, int count)
{
    kn_str list = KN_STR_INIT;
    for (int k = 0; k < count; ++k) {
        if (k > 0)
            kn_str_append(&list, ", ");
        kn_param_format(&list, &param[k]);
    }
    put_text(out, key, kn_str_text(&list));
    out->failed = out->failed || list.failed;
    kn_str_free(&list);
}

/* "array:float32 scalar:float64 struct:12 raw1c:int32 raw2:int32" */
static void put_operands(kn_str *out, const kn_spec *spec)
{
    kn_str list = KN_STR_INIT;
    for (int k = 0; k < spec->program->n_in + spec->program->n_out; ++k) {
        const kn_operand *o = &spec->operand[k];
        kn_str_append(&list, k > 0 ? " " : "");
        if (o->pass == KN_PASS_STRUCT)
            kn_str_printf(&list, "struct:%d", o->struct_size);
        else if (o->pass == KN_PASS_RAW)
            kn_str_printf(&list, "raw%d%s:%s", o->raw_rank, o->raw_contiguous ? "c" : "",
                          kiln_dtype_name(o->dtype));
        else
            kn_str_printf(&list, "%s:%s", o->pass == KN_PASS_ARRAY ? "array" : "scalar",
                          kiln_dtype_name(o->dtype));
    }
    put_text(out, "operands", kn_str_text(&list));
    out->failed = out->failed || list.failed;
    kn_str_free(&list);
}

/* The numbers of a schedule, in one table for both directions. */
static const struct {
    const char *key;
    size_t at;
} schedule_fields[] = {{"vector", offsetof(kn_schedule, vector)},
                       {"block", offsetof(kn_schedule, block)},
                       {"rank", offsetof(kn_schedule, rank)}};
enum { SCHEDULE_FIELDS = sizeof schedule_fields / sizeof schedule_fields[0] };

static int *schedule_field(const kn_schedule *s, int f)
{
    return (int *)((char *)(uintptr_t)s + schedule_fields[f].at);
}

static void put_schedule(kn_str *out, const kn_schedule *s)
{
    put_text(out, "schedule", s->kind->name);
    for (int f = 0; f < SCHEDULE_FIELDS; ++f)
        if (*schedule_field(s, f) != 0)
            kn_str_printf(out, " %s=\"%d\"", schedule_fields[f].key, *schedule_field(s, f));
    put_if(out, "access", s->access);
}

void kn_spec_format(kn_str *out, const kn_spec *spec)
{
    const kn_program *p = spec->program;
    char target[48];
    kn_target_format(&spec->target, target, sizeof target);
    kn_str_append(out, FORMAT_VERSION);
    put_text(out, "generator", spec->generator);
    put_text(out, "target", target);
    put_text(out, "kind", "elementwise");
    put_text(out, "name", p->name);
    put_params(out, "in", p->param, p->n_in);
    put_params(out, "out", p->param + p->n_in, p->n_out);
    put_text(out, "body", p->body);
    put_if(out, "preamble", p->preamble);
    put_if(out, "loop_prep", p->loop_prep);
    put_if(out, "after_loop", p->after_loop);
    put_if(out, "fast_math", p->flags & KILN_KERNEL_FAST_MATH ? "1" : "");
    put_if(out, "no_fma", p->flags & KILN_KERNEL_NO_FMA ? "1" : "");
    for (int k = 0; k < p->n_options; ++k)
        put_text(out, "option", p->option[k]);
    for (int k = 0; k < p->n_headers; ++k) {
        put_text(out, "header", p->header_name[k]);
        put_text(out, "header_text", p->header_text[k]);
    }
    put_operands(out, spec);
    if (spec->loop_rank > 0)
        kn_str_printf(out, " loop_rank=\"%d\"", spec->loop_rank);
    put_schedule(out, &spec->schedule);
}

/* ---- reading ---- */

/* The line, cut into keys and values in place. */
enum { MAX_FIELDS = 512 };
typedef struct fields {
    char *text;
    int count;
    const char *key[MAX_FIELDS], *value[MAX_FIELDS];
} fields;

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes the escapes of a quoted value in place; NULL where it does not end, else what follows the closing
 * quote. */
static char *read_value(char *at)
{
    static const char escaped[] = "\n\t\r\\\"", letter[] = "ntr\\\"";
    char *to = at;
    for (; *at && *at != '"'; ++at) {
        if (*at != '\\') {
            *to++ = *at;
            continue;
        }
        const char *found = *++at ? strchr(letter, *at) : NULL;
        if (found) {
            *to++ = escaped[found - letter];
        } else if (*at == 'x' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0) {
            *to++ = (char)(hex_digit(at[1]) * 16 + hex_digit(at[2]));
            at += 2;
        } else {
            return NULL;
        }
    }
    if (*at != '"')
        return NULL;
    *to = '\0';
    return at + 1;
}

static kiln_status read_fields(fields *f, const char *line)
{
    size_t head = strlen(FORMAT_VERSION);
    f->count = 0;
    f->text = kn_strdup(line);
    if (!f->text)
        return kn_error_memory(strlen(line), "a specialisation");
    if (strncmp(line, FORMAT_VERSION, head) != 0)
        return kn_error(KILN_ERROR_FORMAT,
                        "a specialisation begins with '" FORMAT_VERSION "'; '%.20s' was given", line);
    char *at = f->text + head;
    while (*at == ' ') {
        char *key = ++at, *equals = strchr(key, '=');
        if (!equals || equals[1] != '"' || f->count == MAX_FIELDS)
            return kn_error(KILN_ERROR_FORMAT, "specialisation: key=\"value\" was expected at '%.30s'", key);
        *equals = '\0';
        f->key[f->count] = key;
        f->value[f->count++] = equals + 2;
        at = read_value(equals + 2);
        if (!at)
            return kn_error(KILN_ERROR_FORMAT,
                            "specialisation: the value of '%s' does not end or has an unknown escape", key);
    }
    if (*at)
        return kn_error(KILN_ERROR_FORMAT, "specialisation: a space was expected at '%.30s'", at);
    return KILN_OK;
}

static const char *field(const fields *f, const char *key)
{
    for (int k = 0; k < f->count; ++k)
        if (strcmp(f->key[k], key) == 0)
            return f->value[k];
    return NULL;
}

static int field_list(const fields *f, const char *key, const char **list)
{
    int count = 0;
    for (int k = 0; k < f->count; ++k)
        if (strcmp(f->key[k], key) == 0)
            list[count++] = f->value[k];
    return count;
}

static kiln_status check_fields(const fields *f)
{
    static const char *const required[] = {"generator", "target", "kind",     "name",    "in",
                                           "out",       "body",   "operands", "schedule"};
    for (size_t k = 0; k < sizeof required / sizeof required[0]; ++k)
        if (!field(f, required[k]))
            return kn_error(KILN_ERROR_FORMAT, "specialisation: '%s' is missing", required[k]);
    if (strcmp(field(f, "kind"), "elementwise") != 0)
        return kn_error(KILN_ERROR_FORMAT, "specialisation: kind '%s' is unknown; 'elementwise' was expected",
                        field(f, "kind"));
    return KILN_OK;
}

static kiln_status read_program(kn_program **out, const fields *f)
{
    const char *list[3][MAX_FIELDS];
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.flags =
        (field(f, "fast_math") ? KILN_KERNEL_FAST_MATH : 0u) | (field(f, "no_fma") ? KILN_KERNEL_NO_FMA : 0u);
    o.preamble = field(f, "preamble");
    o.loop_prep = field(f, "loop_prep");
    o.after_loop = field(f, "after_loop");
    o.n_compile_options = field_list(f, "option", list[0]);
    o.compile_options = list[0];
    o.n_headers = field_list(f, "header", list[1]);
    if (field_list(f, "header_text", list[2]) != o.n_headers)
        return kn_error(KILN_ERROR_FORMAT, "specialisation: as many 'header_text' as 'header' were expected");
    o.header_names = list[1];
    o.header_texts = list[2];
    return kn_program_elementwise(out, field(f, "in"), field(f, "out"), field(f, "body"), field(f, "name"),
                                  &o);
}

/* The number that text is, and nothing else, from low to high. */
static kiln_status read_number(int *out, const char *text, const char *what, int low, int high)
{
    bool is_number = text[0] && strspn(text, "0123456789") == strlen(text);
    errno = 0;
    long number = is_number ? strtol(text, NULL, 10) : -1;
    if (errno || number < low || number > high)
        return kn_error(KILN_ERROR_FORMAT, "specialisation: %s '%.40s'; a number from %d to %d was expected",
                        what, text, low, high);
    *out = (int)number;
    return KILN_OK;
}

static kiln_status read_operand(kn_operand *o, const char *word, size_t length)
{
    char text[64];
    const char *colon = memchr(word, ':', length);
    if (!colon || length >= sizeof text)
        return kn_error(KILN_ERROR_FORMAT, "specialisation: operand '%.*s' is not pass:dtype", (int)length,
                        word);
    memcpy(text, word, length);
    text[length] = '\0';
    char *type = text + (colon - word);
    *type++ = '\0';
    *o = (kn_operand){KN_PASS_ARRAY, KILN_DTYPE_NONE, 0, 0, false};
    if (strcmp(text, "struct") == 0) {
        o->pass = KN_PASS_STRUCT;
        return read_number(&o->struct_size, type, "struct size", 1, INT_MAX);
    }
    kiln_status status = KILN_OK;
    if (strncmp(text, "raw", 3) == 0) {
        char *last = type - 2;
        o->pass = KN_PASS_RAW;
        o->raw_contiguous = *last == 'c';
        *last = o->raw_contiguous ? '\0' : *last;
        status = read_number(&o->raw_rank, text + 3, "rank of a raw operand", 0, KILN_MAX_NDIM);
    } else if (strcmp(text, "scalar") == 0) {
        o->pass = KN_PASS_SCALAR;
    } else if (strcmp(text, "array") != 0) {
        return kn_error(KILN_ERROR_FORMAT, "specialisation: operand passing '%s' is unknown", text);
    }
    return status == KILN_OK ? kiln_dtype_from_name(&o->dtype, type) : status;
}

static kiln_status read_operands(kn_spec *spec, const char *text)
{
    int expected = spec->program->n_in + spec->program->n_out, count = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (count == expected)
            return kn_error(KILN_ERROR_FORMAT, "specialisation: more than %d operands", expected);
        kiln_status status = read_operand(&spec->operand[count++], text, length);
        if (status != KILN_OK)
            return status;
        text += length + (text[length] == ' ');
    }
    if (count != expected)
        return kn_error(KILN_ERROR_FORMAT, "specialisation: %d operands were given, %d expected", count,
                        expected);
    return KILN_OK;
}

static kiln_status read_schedule(kn_schedule *s, const fields *f, kn_backend_kind backend)
{
    *s = (kn_schedule){.kind = kn_kind_find(backend, field(f, "schedule"))};
    if (!s->kind)
        return kn_error(KILN_ERROR_FORMAT, "specialisation: there is no schedule '%s' for the target '%s'",
                        field(f, "schedule"), field(f, "target"));
    for (int k = 0; k < SCHEDULE_FIELDS; ++k) {
        const char *value = field(f, schedule_fields[k].key);
        kiln_status status =
            value ? read_number(schedule_field(s, k), value, schedule_fields[k].key, 0, 4096) : KILN_OK;
        if (status != KILN_OK)
            return status;
    }
    const char *access = field(f, "access");
    if (access && (strlen(access) > KN_MAX_PARAMS || strspn(access, KN_ACCESS_LETTERS) != strlen(access)))
        return kn_error(KILN_ERROR_FORMAT, "specialisation: access '%s'; letters d, v, g, t, s were expected",
                        access);
    if (access)
        strcpy(s->access, access);
    return KILN_OK;
}

static kiln_status read_loop_rank(kn_spec *spec, const fields *f)
{
    const char *value = field(f, "loop_rank");
    return value ? read_number(&spec->loop_rank, value, "loop_rank", 0, KILN_MAX_NDIM) : KILN_OK;
}

static kiln_status read_target(kn_target *target, const char *text)
{
    const char *colon = strchr(text, ':');
    if (!colon)
        return kn_error(KILN_ERROR_FORMAT, "specialisation: target '%s' is not backend:architecture", text);
    return kn_target_parse(target, colon + 1);
}

kiln_status kn_spec_parse(kn_parsed_spec *out, const char *line)
{
    *out = (kn_parsed_spec){0};
    fields *f = kn_malloc(sizeof *f);
    if (!f)
        return kn_error_memory(sizeof *f, "a specialisation");
    kiln_status status = read_fields(f, line);
    if (status == KILN_OK)
        status = check_fields(f);
    if (status == KILN_OK)
        status = read_program(&out->program, f);
    out->spec.program = out->program;
    if (status == KILN_OK)
        status = read_operands(&out->spec, field(f, "operands"));
    if (status == KILN_OK)
        status = read_loop_rank(&out->spec, f);
    if (status == KILN_OK)
        status = read_target(&out->spec.target, field(f, "target"));
    if (status == KILN_OK)
        status = read_schedule(&out->spec.schedule, f, out->spec.target.backend);
    if (status == KILN_OK) {
        out->generator = kn_strdup(field(f, "generator"));
        out->spec.generator = out->generator;
        if (!out->generator)
            status = kn_error_memory(40, "a specialisation");
    }
    kn_free(f->text);
    kn_free(f);
    if (status != KILN_OK)
        kn_parsed_spec_free(out);
    return status;
}

void kn_parsed_spec_free(kn_parsed_spec *parsed)
{
    kn_program_free(parsed->program);
    kn_free(parsed->generator);
    *parsed = (kn_parsed_spec){0};
}
