/* spec_text.c - writes and reads the text of a specialisation. */
#include "schedules/spec_text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "schedules/choose.h"
#include "program/program.h"
#include "types/dtype.h"

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

/* "array:float32 array:float16>float32 scalar:float64 struct:12 raw1c:int32 raw2:int32"; behind '>' the dtype
 * in which the program sees what lies in memory as another. */
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
        if (o->seen != o->dtype)
            kn_str_printf(&list, ">%s", kiln_dtype_name(o->seen));
    }
    put_text(out, "operands", kn_str_text(&list));
    out->failed = out->failed || list.failed;
    kn_str_free(&list);
}

/* The numbers that all kinds have, in one table for both directions. */
static const struct {
    const char *key;
    size_t at;
    int most;
} schedule_fields[] = {
    {"vector", offsetof(kn_schedule, vector), 4096},  {"block", offsetof(kn_schedule, block), 4096},
    {"index", offsetof(kn_schedule, index), 64},      {"order", offsetof(kn_schedule, order), 1},
    {"baseline", offsetof(kn_schedule, baseline), 1}, {"rank", offsetof(kn_schedule, rank), 4096}};
enum { SCHEDULE_FIELDS = sizeof schedule_fields / sizeof schedule_fields[0] };

static int *schedule_field(const kn_schedule *s, int f)
{
    return (int *)((char *)(uintptr_t)s + schedule_fields[f].at);
}

static void put_number(kn_str *out, const char *key, int number)
{
    if (number > 0)
        kn_str_printf(out, " %s=\"%d\"", key, number);
}

static void put_schedule(kn_str *out, const kn_schedule *s)
{
    const kn_config_table *config = s->kind->config;
    put_text(out, "schedule", s->kind->name);
    for (int n = 0; config && n < config->count; ++n)
        put_number(out, config->number[n].name, s->config[n]);
    for (int f = 0; f < SCHEDULE_FIELDS; ++f)
        put_number(out, schedule_fields[f].key, *schedule_field(s, f));
    put_if(out, "access", s->access);
}

static void put_list(kn_str *out, const char *key, const char *const *list, int count)
{
    for (int k = 0; k < count; ++k)
        put_text(out, key, list[k]);
}

static void put_headers(kn_str *out, const char *const *name, const char *const *text, int count)
{
    for (int k = 0; k < count; ++k) {
        put_text(out, "header", name[k]);
        put_text(out, "header_text", text[k]);
    }
}

/* Names of values; nothing where they are all inputs or outputs, as in most programs. */
static void put_values(kn_str *out, const char *key, const kn_program *p, const int *value, int count,
                       int first, int usual)
{
    bool is_usual = count == usual;
    for (int k = 0; k < count && is_usual; ++k)
        is_usual = value[k] == first + k;
    if (is_usual)
        return;
    kn_str list = KN_STR_INIT;
    for (int k = 0; k < count; ++k)
        kn_str_printf(&list, "%s%s", k > 0 ? ", " : "", p->param[value[k]].name);
    put_text(out, key, kn_str_text(&list));
    out->failed = out->failed || list.failed;
    kn_str_free(&list);
}

static void put_stage(kn_str *out, const kn_program *p, const kn_stage *s)
{
    put_text(out, "stage", kn_stage_kind_name(s->kind));
    put_if(out, "label", s->label);
    put_if(out, "over", s->over == KN_OVER_RESULTS ? "results" : "");
    put_values(out, "reads", p, s->value, s->n_read, 0, p->n_in);
    put_values(out, "gives", p, s->value + s->n_read, s->n_given, p->n_in, p->n_out);
    put_text(out, "body", s->body);
    put_if(out, "identity", s->identity);
}

static void put_program(kn_str *out, const kn_program *p, bool rounds_each)
{
    put_text(out, "name", p->name);
    put_params(out, "in", p->param, p->n_in);
    put_params(out, "out", p->param + p->n_in, p->n_out);
    if (p->n_values > 0)
        put_params(out, "values", p->param + p->n_in + p->n_out, p->n_values);
    put_number(out, "reduced", p->reduced);
    put_if(out, "reduced", p->reduced == KN_REDUCED_BY_CALL ? "by call" : "");
    put_if(out, "casts", p->casts ? "1" : "");
    for (int s = 0; s < p->n_stages; ++s)
        put_stage(out, p, &p->stage[s]);
    put_if(out, "preamble", p->preamble);
    put_if(out, "loop_prep", p->loop_prep);
    put_if(out, "after_loop", p->after_loop);
    put_if(out, "fast_math", p->flags & KILN_KERNEL_FAST_MATH ? "1" : "");
    put_if(out, "no_fma", p->flags & KILN_KERNEL_NO_FMA ? "1" : "");
    put_if(out, "check", p->flags & KILN_KERNEL_CHECK ? "1" : "");
    put_if(out, "round_each", rounds_each ? "1" : "");
    put_list(out, "option", (const char *const *)p->option, p->n_options);
    put_headers(out, (const char *const *)p->header_name, (const char *const *)p->header_text, p->n_headers);
}

static void put_head(kn_str *out, const char *generator, const kn_target *target, const char *kind)
{
    char text[48];
    kn_target_format(target, text, sizeof text);
    kn_str_append(out, KN_SPEC_FORMAT);
    if (generator)
        put_text(out, "generator", generator);
    put_text(out, "target", text);
    put_text(out, "kind", kind);
}

void kn_spec_format(kn_str *out, const kn_spec *spec)
{
    put_head(out, spec->generator, &spec->target, "program");
    put_program(out, spec->program, kn_spec_rounds_each(spec));
    put_operands(out, spec);
    put_number(out, "loop_rank", spec->loop_rank);
    put_schedule(out, &spec->schedule);
}

void kn_module_spec_format(kn_str *out, const kn_module_spec *spec)
{
    put_head(out, spec->generator, &spec->target, "module");
    put_text(out, "name", spec->name);
    put_if(out, "fast_math", spec->flags & KILN_MODULE_FAST_MATH ? "1" : "");
    put_if(out, "no_fma", spec->flags & KILN_MODULE_NO_FMA ? "1" : "");
    put_list(out, "option", spec->option, spec->n_options);
    put_headers(out, spec->header_name, spec->header_text, spec->n_headers);
    put_list(out, "expression", spec->expression, spec->n_expressions);
    put_if(out, "folders", spec->has_folders ? "1" : "");
    put_text(out, "source", spec->source);
}

/* ---- without generator and target ---- */

/* The part behind the head. No name of a generator or a target contains the text that is searched for. */
static const char *after_head(const char *line)
{
    const char *kind =
        strncmp(line, KN_SPEC_FORMAT " ", sizeof KN_SPEC_FORMAT) == 0 ? strstr(line, " kind=\"") : NULL;
    if (!kind)
        kn_error(KILN_ERROR_FORMAT,
                 "a specialisation begins with '" KN_SPEC_FORMAT "' and says its kind; '%.40s' was given",
                 line);
    return kind;
}

kiln_status kn_spec_make_portable(kn_str *out, const char *line)
{
    const char *rest = after_head(line);
    if (!rest)
        return KILN_ERROR_FORMAT;
    kn_str_append(out, KN_SPEC_FORMAT);
    kn_str_append(out, rest);
    return kn_str_status(out, "a specialisation");
}

kiln_status kn_spec_make_line(kn_str *out, const char *portable, const kn_target *target,
                              const char *generator)
{
    char text[48];
    const char *rest = after_head(portable);
    if (!rest)
        return KILN_ERROR_FORMAT;
    kn_target_format(target, text, sizeof text);
    kn_str_append(out, KN_SPEC_FORMAT);
    if (generator)
        put_text(out, "generator", generator);
    put_text(out, "target", text);
    kn_str_append(out, rest);
    return kn_str_status(out, "a specialisation");
}

/* A quote within a value has a backslash in front: what follows a key can be nothing else. */
const char *kn_spec_field(const char *line, const char *key, size_t *length)
{
    size_t n = strlen(key);
    for (const char *at = line; (at = strchr(at, ' ')); at++) {
        if (strncmp(at + 1, key, n) != 0 || strncmp(at + 1 + n, "=\"", 2) != 0)
            continue;
        const char *value = at + n + 3, *end = value;
        while (*end && *end != '"')
            end += *end == '\\' && end[1] ? 2 : 1;
        *length = (size_t)(end - value);
        return *end ? value : NULL;
    }
    return NULL;
}

/* ---- reading ---- */

/* The line, cut into keys and values in place. */
typedef struct fields {
    char *text;
    int count;
    const char **key, **value;
} fields;

static void fields_free(fields *f)
{
    kn_free(f->text);
    kn_free(f->key);
    kn_free(f->value);
}

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
    size_t head = strlen(KN_SPEC_FORMAT);
    size_t most = 1;
    for (const char *c = line; *c; ++c)
        most += *c == '=';
    *f = (fields){.text = kn_strdup(line),
                  .key = kn_malloc(most * sizeof *f->key),
                  .value = kn_malloc(most * sizeof *f->value)};
    if (!f->text || !f->key || !f->value)
        return kn_error_memory("a specialisation");
    if (strncmp(line, KN_SPEC_FORMAT, head) != 0)
        return kn_error(KILN_ERROR_FORMAT,
                        "a specialisation begins with '" KN_SPEC_FORMAT "'; '%.20s' was given", line);
    char *at = f->text + head;
    while (*at == ' ') {
        char *key = ++at, *equals = strchr(key, '=');
        if (!equals || equals[1] != '"')
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

/* All values of a key, in order. The list is the caller's (kn_free), with capacity for one more. */
static kiln_status field_list(const char ***list, int *count, const fields *f, const char *key)
{
    *count = 0;
    *list = kn_malloc(((size_t)f->count + 1) * sizeof **list);
    if (!*list)
        return kn_error_memory("a specialisation");
    for (int k = 0; k < f->count; ++k)
        if (strcmp(f->key[k], key) == 0)
            (*list)[(*count)++] = f->value[k];
    return KILN_OK;
}

/* Options, header names, header texts and name expressions. */
enum { OPTIONS, HEADERS, HEADER_TEXTS, EXPRESSIONS, LISTS };
typedef struct lists {
    const char **list[LISTS];
    int count[LISTS];
} lists;

static void lists_free(lists *l)
{
    for (int k = 0; k < LISTS; ++k)
        kn_free((void *)l->list[k]);
}

static kiln_status read_lists(lists *l, const fields *f)
{
    static const char *const key[LISTS] = {"option", "header", "header_text", "expression"};
    *l = (lists){{NULL}, {0}};
    for (int k = 0; k < LISTS; ++k) {
        kiln_status status = field_list(&l->list[k], &l->count[k], f, key[k]);
        if (status != KILN_OK)
            return status;
    }
    if (l->count[HEADERS] != l->count[HEADER_TEXTS])
        return kn_error(KILN_ERROR_FORMAT, "specialisation: as many 'header_text' as 'header' were expected");
    return KILN_OK;
}

static kiln_status require(const fields *f, const char *const *key, size_t count)
{
    for (size_t k = 0; k < count; ++k)
        if (!field(f, key[k]))
            return kn_error(KILN_ERROR_FORMAT, "specialisation: '%s' is missing", key[k]);
    return KILN_OK;
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

/* ---- reading a program ---- */

/* The fields that follow `stage` up to the next one or what belongs to no stage. */
static kiln_status read_stage(kn_stage_text *out, const fields *f, int at)
{
    kn_stage_text s = {.kind = KN_MAP};
    const char *over = NULL;
    const struct {
        const char *key, **to;
    } texts[] = {{"label", &s.label}, {"reads", &s.reads},       {"gives", &s.gives},
                 {"body", &s.body},   {"identity", &s.identity}, {"over", &over}};
    if (!kn_stage_kind_find(&s.kind, f->value[at]))
        return kn_error(KILN_ERROR_FORMAT, "specialisation: stage '%s' is unknown", f->value[at]);
    for (bool is_own = true; is_own && ++at < f->count;) {
        is_own = false;
        for (size_t k = 0; k < sizeof texts / sizeof texts[0] && !is_own; ++k) {
            is_own = strcmp(f->key[at], texts[k].key) == 0;
            if (is_own)
                *texts[k].to = f->value[at];
        }
    }
    if (!s.body)
        return kn_error(KILN_ERROR_FORMAT, "specialisation: a stage's 'body' is missing");
    if (over && strcmp(over, "results") != 0)
        return kn_error(KILN_ERROR_FORMAT, "specialisation: over '%s'; 'results' was expected", over);
    s.over = over ? KN_OVER_RESULTS : KN_OVER_ALL;
    *out = s;
    return KILN_OK;
}

static kiln_status read_stages(kn_stage_text *stage, int *count, const fields *f)
{
    *count = 0;
    for (int k = 0; k < f->count; ++k) {
        if (strcmp(f->key[k], "stage") != 0)
            continue;
        if (*count == KN_MAX_STAGES)
            return kn_error(KILN_ERROR_FORMAT, "specialisation: more than %d stages", KN_MAX_STAGES);
        kiln_status status = read_stage(&stage[(*count)++], f, k);
        if (status != KILN_OK)
            return status;
    }
    return KILN_OK;
}

static kiln_status make_program(kn_program **out, const fields *f, const lists *l, int reduced)
{
    kn_stage_text stage[KN_MAX_STAGES];
    kn_program_text text = {.name = field(f, "name"),
                            .in = field(f, "in"),
                            .out = field(f, "out"),
                            .values = field(f, "values"),
                            .stage = stage,
                            .reduced = reduced,
                            .casts = field(f, "casts") != NULL};
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.flags = (field(f, "fast_math") ? KILN_KERNEL_FAST_MATH : 0u) |
              (field(f, "no_fma") ? KILN_KERNEL_NO_FMA : 0u) | (field(f, "check") ? KILN_KERNEL_CHECK : 0u) |
              (field(f, "round_each") ? KILN_KERNEL_ROUND_EACH : 0u);
    o.preamble = field(f, "preamble");
    o.loop_prep = field(f, "loop_prep");
    o.after_loop = field(f, "after_loop");
    o.n_compile_options = l->count[OPTIONS];
    o.compile_options = l->list[OPTIONS];
    o.n_headers = l->count[HEADERS];
    o.header_names = l->list[HEADERS];
    o.header_texts = l->list[HEADER_TEXTS];
    text.options = &o;
    kiln_status status = read_stages(stage, &text.n_stages, f);
    return status == KILN_OK ? kn_program_create(out, &text) : status;
}

static kiln_status read_program(kn_program **out, const fields *f)
{
    lists l;
    int reduced = 0;
    const char *text = field(f, "reduced");
    kiln_status status = read_lists(&l, f);
    if (text && strcmp(text, "by call") == 0)
        reduced = KN_REDUCED_BY_CALL;
    else if (status == KILN_OK && text)
        status = read_number(&reduced, text, "reduced", 0, KILN_MAX_NDIM);
    if (status == KILN_OK)
        status = make_program(out, f, &l, reduced);
    lists_free(&l);
    return status;
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
    *o = (kn_operand){.pass = KN_PASS_ARRAY};
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
    char *seen = strchr(type, '>');
    if (seen)
        *seen++ = '\0';
    if (status == KILN_OK && seen)
        status = kiln_dtype_from_name(&o->seen, seen);
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
    spec->n_arrays = kn_operands_settle(spec->operand, count);
    return KILN_OK;
}

/* A number that is not there is 0. */
static kiln_status read_if(int *out, const fields *f, const char *key, int most)
{
    const char *value = field(f, key);
    return value ? read_number(out, value, key, 0, most) : KILN_OK;
}

static kiln_status read_numbers(kn_schedule *s, const fields *f)
{
    const kn_config_table *config = s->kind->config;
    kiln_status status = KILN_OK;
    for (int k = 0; k < SCHEDULE_FIELDS && status == KILN_OK; ++k)
        status = read_if(schedule_field(s, k), f, schedule_fields[k].key, schedule_fields[k].most);
    for (int n = 0; config && n < config->count && status == KILN_OK; ++n)
        status = read_if(&s->config[n], f, config->number[n].name, config->number[n].most);
    return status;
}

static kiln_status read_schedule(kn_schedule *s, const fields *f, kn_backend_kind backend)
{
    *s = (kn_schedule){.kind = kn_kind_find(backend, field(f, "schedule"))};
    if (!s->kind)
        return kn_error(KILN_ERROR_FORMAT, "specialisation: there is no schedule '%s' for the target '%s'",
                        field(f, "schedule"), field(f, "target"));
    kiln_status status = read_numbers(s, f);
    if (status != KILN_OK)
        return status;
    const char *access = field(f, "access");
    if (access && (strlen(access) > KN_MAX_PARAMS || strspn(access, KN_ACCESS_LETTERS) != strlen(access)))
        return kn_error(KILN_ERROR_FORMAT, "specialisation: access '%s'; letters d, v, g, t, s were expected",
                        access);
    if (access)
        strcpy(s->access, access);
    return KILN_OK;
}

static kiln_status read_target(kn_target *target, const char *text)
{
    const char *colon = strchr(text, ':');
    if (!colon)
        return kn_error(KILN_ERROR_FORMAT, "specialisation: target '%s' is not backend:architecture", text);
    return kn_target_parse(target, colon + 1);
}

static kiln_status read_spec(kn_parsed_spec *out, const fields *f)
{
    static const char *const required[] = {"generator", "name", "in", "out", "operands", "schedule"};
    kn_spec *s = &out->spec;
    kiln_status status = require(f, required, sizeof required / sizeof required[0]);
    if (status == KILN_OK)
        status = read_program(&out->program, f);
    s->program = out->program;
    if (status == KILN_OK)
        status = read_operands(s, field(f, "operands"));
    if (status == KILN_OK)
        status = read_if(&s->loop_rank, f, "loop_rank", KILN_MAX_NDIM);
    if (status == KILN_OK)
        status = read_target(&s->target, field(f, "target"));
    if (status == KILN_OK)
        status = read_schedule(&s->schedule, f, s->target.backend);
    s->generator = field(f, "generator");
    return status;
}

static kiln_status read_module(kn_parsed_spec *out, const fields *f)
{
    static const char *const required[] = {"name", "source"};
    kn_module_spec *m = &out->module;
    kiln_status status = require(f, required, sizeof required / sizeof required[0]);
    if (status == KILN_OK)
        status = read_target(&m->target, field(f, "target"));
    lists *l = status == KILN_OK ? kn_calloc(1, sizeof *l) : NULL;
    if (status == KILN_OK && !l)
        status = kn_error_memory("a specialisation");
    out->lists = l;
    if (status == KILN_OK)
        status = read_lists(l, f);
    if (status != KILN_OK)
        return status;
    m->name = field(f, "name");
    m->source = field(f, "source");
    m->generator = field(f, "generator");
    m->flags =
        (field(f, "fast_math") ? KILN_MODULE_FAST_MATH : 0u) | (field(f, "no_fma") ? KILN_MODULE_NO_FMA : 0u);
    m->has_folders = field(f, "folders") != NULL;
    m->option = l->list[OPTIONS];
    m->n_options = l->count[OPTIONS];
    m->header_name = l->list[HEADERS];
    m->header_text = l->list[HEADER_TEXTS];
    m->n_headers = l->count[HEADERS];
    m->expression = l->list[EXPRESSIONS];
    m->n_expressions = l->count[EXPRESSIONS];
    return KILN_OK;
}

/* Readers, by the value of "kind": the sorts of specialisations. */
static const struct {
    const char *name;
    kiln_status (*read)(kn_parsed_spec *out, const fields *f);
} readers[] = {[KN_SPEC_PROGRAM] = {"program", read_spec}, [KN_SPEC_MODULE] = {"module", read_module}};

kiln_status kn_spec_parse(kn_parsed_spec *out, const char *line)
{
    static const char *const required[] = {"target", "kind"};
    *out = (kn_parsed_spec){0};
    fields *f = kn_calloc(1, sizeof *f);
    if (!f)
        return kn_error_memory("a specialisation");
    out->fields = f;
    kiln_status status = read_fields(f, line);
    if (status == KILN_OK)
        status = require(f, required, sizeof required / sizeof required[0]);
    size_t kind = 0, kinds = sizeof readers / sizeof readers[0];
    while (status == KILN_OK && kind < kinds && strcmp(readers[kind].name, field(f, "kind")) != 0)
        ++kind;
    if (status == KILN_OK && kind == kinds)
        status = kn_error(KILN_ERROR_FORMAT,
                          "specialisation: kind '%s' is unknown; 'program' or 'module' was expected",
                          field(f, "kind"));
    out->kind = (kn_spec_kind)kind;
    if (status == KILN_OK)
        status = readers[kind].read(out, f);
    if (status != KILN_OK)
        kn_parsed_spec_free(out);
    return status;
}

void kn_parsed_spec_free(kn_parsed_spec *parsed)
{
    kn_program_free(parsed->program);
    if (parsed->lists)
        lists_free(parsed->lists);
    kn_free(parsed->lists);
    if (parsed->fields)
        fields_free(parsed->fields);
    kn_free(parsed->fields);
    *parsed = (kn_parsed_spec){0};
}
