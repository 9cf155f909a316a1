#include "reference.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reference_call.h"
#include "schedule/row_strips.h"
#include "schedule/tally.h"
#include "stage_parts.h"

typedef void (*reference_function)(const reference_call *call);

struct references {
    void *library;
    int count;
    reference_function *function;
};

/* ---- declarations: "T x, _wide float32 _r" ---- */

enum { MOST_VALUES = 24 };

/* A parameter or a value of a program: its type and name in the texts. */
typedef struct declared {
    char type[32], name[32];
    bool of_results; /* a value: one for each result */
} declared;

typedef struct declarations {
    declared at[MOST_VALUES];
    int n_in, n_out, n_values, count;
} declarations;

static void take_declaration(declarations *l, const char *text, size_t length)
{
    declared *d = &l->at[l->count++];
    char word[100];
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    char *name = strrchr(word, ' ');
    *name++ = '\0';
    const char *type = strrchr(word, ' ') ? strrchr(word, ' ') + 1 : word;
    snprintf(d->type, sizeof d->type, "%.31s", type);
    snprintf(d->name, sizeof d->name, "%.31s", name);
}

static int take_declarations(declarations *l, const char *text)
{
    int before = l->count;
    while (text && *text && trouble_unless(l->count < MOST_VALUES, "more than %d values", MOST_VALUES)) {
        size_t length = strcspn(text, ",");
        take_declaration(l, text, length);
        text += length;
        text += strspn(text, ", ");
    }
    return l->count - before;
}

/* True if a list of names has this one. */
static bool lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

/* ---- stages: those of elementwise programs and reductions are made as others are written ---- */

typedef struct stages {
    kn_stage_text at[DESCRIBED_STAGES];
    int count;
    char outputs[300]; /* "z, w" */
} stages;

static void list_outputs(stages *s, const declarations *l)
{
    size_t used = 0;
    for (int j = 0; j < l->n_out; ++j)
        used += (size_t)snprintf(s->outputs + used, sizeof s->outputs - used, "%s%s", j ? ", " : "",
                                 l->at[l->n_in + j].name);
}

static void make_stages(stages *s, declarations *l, const description *d)
{
    *s = (stages){.count = d->n_stages};
    l->n_in = take_declarations(l, d->in);
    l->n_out = take_declarations(l, d->out);
    list_outputs(s, l);
    memcpy(s->at, d->stage, sizeof s->at);
    if (d->n_stages > 0) {
        l->n_values = take_declarations(l, d->values);
    } else if (d->reduce) {
        const char *type = d->options.reduce_type ? d->options.reduce_type : l->at[l->n_in].type;
        char values[100];
        snprintf(values, sizeof values, "%s _kn_mapped, %s _a", type, type);
        l->n_values = take_declarations(l, values);
        s->count = 3;
        s->at[0] = (kn_stage_text){.kind = KN_MAP_EXPRESSION, .gives = "_kn_mapped", .body = d->map};
        s->at[1] = (kn_stage_text){.kind = KN_REDUCE,
                                   .reads = "_kn_mapped",
                                   .gives = "_a",
                                   .body = d->reduce,
                                   .identity = d->identity};
        s->at[2] =
            (kn_stage_text){.kind = KN_MAP, .over = KN_OVER_RESULTS, .gives = s->outputs, .body = d->post};
    } else {
        s->count = 1;
        s->at[0] = (kn_stage_text){.kind = KN_MAP, .gives = s->outputs, .body = d->body};
    }
    for (int k = 0; k < s->count; ++k)
        for (int v = l->n_in + l->n_out; v < l->count; ++v)
            if (lists(s->at[k].gives, l->at[v].name))
                l->at[v].of_results = s->at[k].kind == KN_REDUCE || s->at[k].over == KN_OVER_RESULTS;
}

/* ---- writing ---- */

/* "_v" is `v` in the texts. */
static const char *text_name(const declared *d)
{
    return d->name + (d->name[0] == '_');
}

/* Placeholders, bound to the dtypes of the operands that have them. */
static void write_placeholders(FILE *to, const declarations *l, const description *d)
{
    bool is_written[128] = {false};
    for (int k = 0; k < l->n_in + l->n_out; ++k) {
        const char *type = l->at[k].type;
        if (type[1] != '\0' || is_written[(unsigned char)type[0] & 127])
            continue;
        is_written[(unsigned char)type[0] & 127] = true;
        fprintf(to, "typedef %.*s %s;\n", (int)strcspn(d->operand[k], " "), d->operand[k], type);
    }
}

static void write_values(FILE *to, const declarations *l)
{
    for (int v = l->n_in + l->n_out; v < l->count; ++v)
        fprintf(to,
                l->at[v].of_results ? "        %s kn_%s = %s();\n" : "        reference_row<%s> kn_%s(%s);\n",
                l->at[v].type, l->at[v].name, l->at[v].of_results ? l->at[v].type : "kn->length");
}

/* The names that a text may use. */
static void write_names(FILE *to, const declarations *l, const kn_stage_text *stage)
{
    bool is_of_results = stage->over == KN_OVER_RESULTS;
    fprintf(to, "const long long _J = kn_j, i = kn->row_number[kn_row] + kn->element_number[kn_j], "
                "n = kn->rows * kn->length;\nconst reference_size _in_ind{n}, _out_ind{kn->rows};\n"
                "(void)_J, (void)i, (void)_in_ind, (void)_out_ind;\n");
    for (int k = 0; k < l->n_in + l->n_out; ++k)
        fprintf(to, "%s %s = reference_get<%s>(kn, %d, kn_row, kn_j); (void)%s;\n", l->at[k].type,
                l->at[k].name, l->at[k].type, k, l->at[k].name);
    for (int v = l->n_in + l->n_out; v < l->count; ++v)
        if (l->at[v].of_results || !is_of_results)
            fprintf(to, "auto &%s = kn_%s%s; (void)%s;\n", text_name(&l->at[v]), l->at[v].name,
                    l->at[v].of_results ? "" : "[kn_j]", text_name(&l->at[v]));
}

static const declared *given_by(const declarations *l, const char *name)
{
    int v = 0;
    while (v < l->count && strcmp(l->at[v].name, name) != 0)
        ++v;
    trouble_unless(v < l->count, "no value is called '%s'", name);
    return &l->at[v < l->count ? v : 0];
}

static void write_reduce(FILE *to, const declarations *l, const kn_stage_text *stage)
{
    const declared *result = given_by(l, stage->gives), *value = given_by(l, stage->reads);
    if (stage->identity)
        fprintf(to, "kn_%s = %s;\n", result->name, stage->identity);
    else
        fprintf(to, "kn_%s = kn_%s[0];\n", result->name, value->name);
    fprintf(to,
            "for (long long kn_j = %d; kn_j < kn->length; ++kn_j) {\n"
            "const %s a = kn_%s, b = kn_%s[kn_j];\nconst bool _follows = true; (void)_follows;\n"
            "kn_%s = %s;\n}\n",
            !stage->identity, result->type, result->name, value->name, result->name, stage->body);
}

/* Each element and those before it, in their order. */
static void write_scan(FILE *to, const declarations *l, const description *d, const kn_stage_text *stage)
{
    const declared *result = given_by(l, stage->gives), *value = given_by(l, stage->reads);
    bool is_exclusive = stage->kind == KN_SCAN_EXCLUSIVE;
    const char *at = d->reversed ? "[kn->length - 1 - kn_k]" : "[kn_k]";
    fprintf(to, "%s kn_sum = %s();\nfor (long long kn_k = 0; kn_k < kn->length; ++kn_k) {\n", result->type,
            result->type);
    if (is_exclusive)
        fprintf(to, "kn_%s%s = kn_k ? kn_sum : %s;\n", result->name, at, stage->identity);
    fprintf(to, "const %s a = kn_sum, b = kn_%s%s;\nkn_sum = kn_k ? %s : b;\n", result->type, value->name, at,
            stage->body);
    if (!is_exclusive)
        fprintf(to, "kn_%s%s = kn_sum;\n", result->name, at);
    fprintf(to, "}\n");
}

/* Where a raw operand is, by its number. */
static int raw_number(const declarations *l, const char *list)
{
    int k = 0;
    while (k < l->n_in + l->n_out && !lists(list, l->at[k].name))
        ++k;
    trouble_unless(k < l->n_in + l->n_out, "no operand of a sort's stage is in '%s'", list);
    return k;
}

/* The digits of one value, by digit, row, and the digit's value. */
static void write_count(FILE *to, const declarations *l, const kn_stage_text *stage)
{
    const declared *key = given_by(l, stage->reads);
    fprintf(to,
            "for (long long kn_j = 0; kn_j < kn->length; ++kn_j)\nfor (int kn_d = 0; kn_d < (int)sizeof(%s); "
            "++kn_d)\n++((uint32 *)kn->view[%d].at)[(kn_d * kn->rows + kn_row) * 256 + (kn_%s[kn_j] >> 8 * "
            "kn_d & "
            "255)];\n",
            key->type, raw_number(l, stage->gives), key->name);
}

/* The elements with lesser digits, as the counts say, and those before with the same one. */
static void write_place(FILE *to, const declarations *l, const kn_stage_text *stage)
{
    char digit[32], place[32];
    snprintf(digit, sizeof digit, "%.*s", (int)strcspn(stage->reads, ","), stage->reads);
    snprintf(place, sizeof place, "%.*s", (int)strcspn(stage->gives, ","), stage->gives);
    fprintf(to,
            "long long kn_next[257] = {};\nfor (int kn_d = 0; kn_d < 256; ++kn_d)\nkn_next[kn_d + 1] = "
            "kn_next[kn_d] + ((const uint32 *)kn->view[%d].at)[kn_row * 256 + kn_d];\n"
            "for (long long kn_j = 0; kn_j < kn->length; ++kn_j)\nkn_%s[kn_j] = kn_row * kn->length + "
            "kn_next[kn_%s[kn_j] & 255]++;\n",
            raw_number(l, stage->reads), given_by(l, place)->name, given_by(l, digit)->name);
}

/* The elements with lesser values, and those before with the same one. */
static void write_rank(FILE *to, const declarations *l, const kn_stage_text *stage)
{
    const char *value = given_by(l, stage->reads)->name;
    fprintf(
        to,
        "for (long long kn_j = 0; kn_j < kn->length; ++kn_j) {\nlong long kn_rank = 0;\nfor (long long kn_k "
        "= "
        "0; kn_k < kn->length; ++kn_k)\nkn_rank += kn_%s[kn_k] < kn_%s[kn_j] || (kn_k < kn_j && kn_%s[kn_k] "
        "== kn_%s[kn_j]);\nkn_%s[kn_j] = kn_row * kn->length + kn_rank;\n}\n",
        value, value, value, value, given_by(l, stage->gives)->name);
}

/* The bins beyond which kernels combine in memory, into what is there: those that shared memory has, if there
 * is an atomic function. */
static int64_t most_shared(const description *d, const declared *bins)
{
    kn_target target;
    kiln_dtype dtype = kn_dtype_find(bins->type, strlen(bins->type));
    trouble_unless(kn_target_parse(&target, d->target) == KILN_OK && dtype, "a tally of %s for %s",
                   bins->type, d->target);
    return target.backend == KN_CUDA && kn_tally_atomic(d->stage[d->n_stages - 1].body, dtype)
               ? kn_tally_bins(&target, (int)kiln_dtype_size(dtype), true)
               : INT64_MAX;
}

/* The elements of a part, combined by bins, and its bins in the raw operand; those have no placeholder. */
static void write_tally(FILE *to, const declarations *l, const description *d, const kn_stage_text *stage)
{
    char bin[32];
    int raw = raw_number(l, stage->gives);
    const char *type = l->at[raw].type;
    snprintf(bin, sizeof bin, "%.*s", (int)strcspn(stage->reads, ","), stage->reads);
    fprintf(to,
            "%s *const kn_all = (%s *)kn->view[%d].at;\nconst long long kn_n_bins = kn->view[%d].shape[1];\n"
            "const bool kn_is_in_memory = kn_n_bins > %lldLL;\n"
            "const long long kn_parts = kn_is_in_memory ? 1 : kn->view[%d].shape[0];\n"
            "const long long kn_chunk = (kn->length + kn_parts - 1) / kn_parts;\n"
            "for (long long kn_k = 0; !kn_is_in_memory && kn_k < kn_parts * kn_n_bins; ++kn_k)\n"
            "kn_all[kn_k] = %s;\n",
            type, type, raw, raw, (long long)most_shared(d, &l->at[raw]), raw, stage->identity);
    fprintf(to,
            "for (long long kn_j = 0; kn_j < kn->length; ++kn_j) {\nconst long long kn_at = kn_%s[kn_j];\n"
            "if (kn_at < 0 || kn_at >= kn_n_bins) continue;\n"
            "%s &kn_of = kn_all[kn_j / kn_chunk * kn_n_bins + kn_at];\n"
            "const %s a = kn_of, b = kn_%s[kn_j];\nkn_of = %s;\n}\n",
            given_by(l, bin)->name, type, type, given_by(l, strchr(stage->reads, ',') + 2)->name,
            stage->body);
}

/* The elements of each column, combined by strips of rows. */
static void write_columns(FILE *to, const declarations *l, const kn_stage_text *stage)
{
    int raw = raw_number(l, stage->gives);
    const char *type = l->at[raw].type;
    fprintf(
        to,
        "{\nconst long long kn_most = kn->length < %d ? %d / kn->length : 1, kn_even = (kn->rows + kn_most - "
        "1) / kn_most, kn_rows = kn_even > %d ? kn_even : %d;\n"
        "for (long long kn_j = 0; kn_j < kn->length; ++kn_j) {\n"
        "%s &kn_of = ((%s *)kn->view[%d].at)[kn_row / kn_rows * kn->length + kn_j];\n"
        "const %s a = kn_of, b = kn_%s[kn_j];\nkn_of = kn_row %% kn_rows ? %s : b;\n}\n}\n",
        KN_STRIPS_PARTIALS, KN_STRIPS_PARTIALS, KN_STRIPS_LEAST_ROWS, KN_STRIPS_LEAST_ROWS, type, type, raw,
        type, given_by(l, stage->reads)->name, stage->body);
}

/* One iteration for each element, or for each result. */
static void write_map(FILE *to, const declarations *l, const description *d, const kn_stage_text *stage)
{
    fprintf(to, "for (long long kn_j = 0; kn_j < %s; ++kn_j) {\n",
            stage->over == KN_OVER_RESULTS ? "1" : "kn->length");
    write_names(to, l, stage);
    if (stage->kind == KN_MAP_EXPRESSION) {
        fprintf(to, "%s = %s;\n", text_name(given_by(l, stage->gives)), stage->body);
    } else {
        fprintf(to, "%s\n[&] { do {\n%s;\n} while (0); }();\n",
                d->options.loop_prep ? d->options.loop_prep : "", stage->body);
        for (int k = l->n_in; k < l->n_in + l->n_out; ++k)
            if (lists(stage->gives, l->at[k].name))
                fprintf(to, "reference_set(kn, %d, kn_row, kn_j, %s);\n", k, l->at[k].name);
    }
    fprintf(to, "}\n");
}

static void write_function(FILE *to, const description *d, int number)
{
    declarations l = {0};
    stages s;
    make_stages(&s, &l, d);
    fprintf(to, "namespace reference_in_%d {\n", number);
    write_placeholders(to, &l, d);
    fprintf(to,
            "%s\nextern \"C\" void reference_%d(const reference_call *kn)\n{\n"
            "for (long long kn_row = 0; kn_row < kn->rows; ++kn_row) {\n",
            d->options.preamble ? d->options.preamble : "", number);
    write_values(to, &l);
    for (int k = 0; k < s.count; ++k)
        if (s.at[k].kind == KN_REDUCE)
            write_reduce(to, &l, &s.at[k]);
        else if (kn_stage_scans(s.at[k].kind))
            write_scan(to, &l, d, &s.at[k]);
        else if (s.at[k].kind == KN_COUNT)
            write_count(to, &l, &s.at[k]);
        else if (s.at[k].kind == KN_PLACE)
            write_place(to, &l, &s.at[k]);
        else if (s.at[k].kind == KN_RANK)
            write_rank(to, &l, &s.at[k]);
        else if (s.at[k].kind == KN_TALLY)
            write_tally(to, &l, d, &s.at[k]);
        else if (s.at[k].kind == KN_COLUMNS)
            write_columns(to, &l, &s.at[k]);
        else
            write_map(to, &l, d, &s.at[k]);
    fprintf(to, "}\n}\n}\n");
}

/* ---- compiling ---- */

static void *compile(const description *list, int count, const bool *wanted)
{
    char folder[] = "/tmp/kiln-reference-XXXXXX", path[64], command[600];
    if (!trouble_unless(mkdtemp(folder) != NULL, "no folder for references"))
        return NULL;
    snprintf(path, sizeof path, "%s/reference.cpp", folder);
    FILE *to = fopen(path, "w");
    fprintf(to, "#include \"%s/reference_loops.h\"\n", REFERENCE_FOLDER);
    for (int k = 0; k < count && !in_trouble(); ++k)
        if (wanted[k])
            write_function(to, &list[k], k);
    fclose(to);
    snprintf(command, sizeof command,
             "c++ -std=c++17 -O1 -w -ffp-contract=off -shared -fPIC -I%s -I%s/../cases -I%s/../../include -o "
             "%s/reference.so %s",
             REFERENCE_FOLDER, REFERENCE_FOLDER, REFERENCE_FOLDER, folder, path);
    void *library = NULL;
    if (trouble_unless(system(command) == 0, "%s does not compile", path)) {
        snprintf(path, sizeof path, "%s/reference.so", folder);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        trouble_unless(library != NULL, "%s", dlerror());
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (library)
        trouble_unless(system(command) == 0, "%s is left", folder);
    return library;
}

static bool is_in_texts(const description *d, const char *words)
{
    bool is = d->body && strstr(d->body, words);
    for (int k = 0; k < d->n_stages; ++k)
        is = is || (d->stage[k].body && strstr(d->stage[k].body, words));
    return is;
}

/* Random numbers, and elements that a text stores where it says: both have tests of their own
 * (tests/numpy/check_random.py, check_sorts.py). */
bool references_have(const description *d)
{
    static const char raw[] = "raw ";
    bool have = !is_in_texts(d, "normal<");
    for (const char *at = d->out; at && (at = strstr(at, raw)) != NULL; at += sizeof raw - 1) {
        const char *name = strchr(at + sizeof raw - 1, ' ');
        char words[40];
        if (!name)
            break;
        snprintf(words, sizeof words, "%.*s[", (int)strcspn(name + 1, ", "), name + 1);
        have = have && !is_in_texts(d, words);
    }
    return have;
}

references *references_compile(const description *list, int count, const bool *wanted)
{
    references *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    r->count = count;
    r->function = calloc((size_t)count + 1, sizeof *r->function);
    r->library = compile(list, count, wanted);
    for (int k = 0; k < count && r->library; ++k) {
        char name[40];
        if (!wanted[k])
            continue;
        snprintf(name, sizeof name, "reference_%d", k);
        *(void **)&r->function[k] = dlsym(r->library, name);
    }
    return r;
}

void references_free(references *r)
{
    if (r && r->library)
        dlclose(r->library);
    if (r)
        free(r->function);
    free(r);
}

/* ---- a call ---- */

/* Axes of the call, those that are reduced too. */
typedef struct axes {
    int ndim;
    int64_t shape[KILN_MAX_NDIM];
    bool is_reduced[KILN_MAX_NDIM];
    int64_t rows, length;
} axes;

static void find_axes(axes *x, const description *d, const stage *s)
{
    kiln_call_options call;
    int list[KILN_MAX_NDIM];
    bool reduces = d->reduce || d->n_stages > 0;
    *x = (axes){.rows = 1, .length = 1};
    for (int k = 0; k < s->n_operands; ++k) {
        const operand *o = &s->operand[k];
        if (o->is_scalar || o->is_raw || (reduces && o->is_output))
            continue;
        x->ndim = o->ndim > x->ndim ? o->ndim : x->ndim;
    }
    for (int k = 0; k < s->n_operands; ++k)
        for (int a = 0;
             a < s->operand[k].ndim && !s->operand[k].is_raw && !(reduces && s->operand[k].is_output); ++a) {
            int64_t *extent = &x->shape[x->ndim - s->operand[k].ndim + a];
            *extent = s->operand[k].shape[a] == 1 && *extent > 1 ? *extent : s->operand[k].shape[a];
        }
    description_options(&call, list, d);
    for (int a = 0; a < x->ndim && reduces; ++a)
        x->is_reduced[a] = call.n_axes == 0;
    for (int k = 0; k < call.n_axes; ++k)
        x->is_reduced[list[k]] = true;
    for (int a = 0; a < x->ndim; ++a)
        *(x->is_reduced[a] ? &x->length : &x->rows) *= x->shape[a];
}

/* The offset of each row, or of each element of one, in C order, for an operand with these strides. */
static int64_t *list_offsets(const axes *x, const int64_t *stride, bool reduced)
{
    int64_t count = reduced ? x->length : x->rows, done = 1;
    int64_t *at = calloc((size_t)count + 1, sizeof *at);
    if (!at)
        abort();
    for (int a = x->ndim; a-- > 0;) {
        if (x->is_reduced[a] != reduced)
            continue;
        for (int64_t k = x->shape[a] * done; k-- > 0;)
            at[k] = at[k % done] + k / done * stride[a];
        done *= x->shape[a];
    }
    return at;
}

/* Along all axes of the call: 0 where the operand has none, or one element. Results have those that are not
 * reduced, or all. */
static void spread_strides(int64_t *stride, const axes *x, const operand *o)
{
    int from = o->ndim - 1;
    bool has_all = !o->is_output || o->ndim == x->ndim;
    for (int a = x->ndim; a-- > 0;) {
        bool has = from >= 0 && (has_all || !x->is_reduced[a]);
        stride[a] = has && o->shape[from] > 1 ? o->stride[from] : 0;
        from -= has;
    }
}

static void make_view(reference_view *v, const axes *x, const stage *s, const operand *o)
{
    int64_t stride[KILN_MAX_NDIM] = {0};
    v->dtype = o->dtype;
    v->shape = o->shape;
    if (o->is_scalar)
        v->at = (char *)(uintptr_t)o->scalar;
    else
        v->at = (char *)(o->is_output ? s->buffer[o->buffer].expected : s->buffer[o->buffer].before) + o->at;
    if (!o->is_scalar && !o->is_raw)
        spread_strides(stride, x, o);
    v->row = list_offsets(x, stride, false);
    v->element = list_offsets(x, stride, true);
}

static void count_elements(reference_call *c, const axes *x)
{
    int64_t stride[KILN_MAX_NDIM], step = 1;
    for (int a = x->ndim; a-- > 0; step *= x->shape[a])
        stride[a] = step;
    c->rows = x->rows;
    c->length = x->length;
    c->row_number = list_offsets(x, stride, false);
    c->element_number = list_offsets(x, stride, true);
}

/* ---- comparing ---- */

static double tolerance_of(kiln_dtype dtype)
{
    return !dtype_is_float(dtype)   ? 0
           : dtype == KILN_BFLOAT16 ? 8e-3
           : dtype == KILN_FLOAT16  ? 1e-3
           : dtype == KILN_FLOAT32  ? 1e-5
                                    : 1e-12;
}

/* Elements that are right are made equal, so that every other byte can be compared too. */
static void compare_operand(const stage *s, int k)
{
    const operand *o = &s->operand[k];
    const buffer *b = &s->buffer[o->buffer];
    int64_t index[KILN_MAX_NDIM] = {0}, at = o->at, count = 1;
    for (int a = 0; a < o->ndim; ++a)
        count *= o->shape[a];
    for (int64_t i = 0; i < count; ++i) {
        if (!elements_agree(b->after + at, b->expected + at, o->dtype, tolerance_of(o->dtype))) {
            trouble("operand %d, element %lld in C order: %s came, %s was expected", k, (long long)i,
                    element_text(b->after + at, o->dtype), element_text(b->expected + at, o->dtype));
            return;
        }
        memcpy(b->expected + at, b->after + at, kiln_dtype_size(o->dtype));
        for (int a = o->ndim; a-- > 0;) {
            at += o->stride[a];
            if (++index[a] < o->shape[a])
                break;
            at -= o->stride[a] * o->shape[a];
            index[a] = 0;
        }
    }
}

/* The words of tiles, which kinds of sorts have for themselves. */
static void leave_words(const stage *s)
{
    for (int k = 0; k < s->n_operands; ++k) {
        const buffer *b = &s->buffer[s->operand[k].buffer];
        if (s->operand[k].is_output && s->operand[k].is_raw)
            memcpy(b->expected, b->after, b->size);
    }
}

static void compare(const stage *s)
{
    for (int k = 0; k < s->n_operands; ++k)
        if (s->operand[k].is_output)
            compare_operand(s, k);
    for (int b = 0; b < s->n_buffers && !in_trouble(); ++b)
        trouble_unless(!memcmp(s->buffer[b].after, s->buffer[b].expected, s->buffer[b].size),
                       "a byte of buffer %d that belongs to no result has changed", b);
}

void reference_check(const references *r, int number, const description *d, stage *s)
{
    reference_call c = {.load = number_load, .store = number_store};
    axes x;
    if (in_trouble())
        return;
    find_axes(&x, d, s);
    count_elements(&c, &x);
    for (int k = 0; k < s->n_operands; ++k)
        make_view(&c.view[k], &x, s, &s->operand[k]);
    r->function[number](&c);
    for (int k = 0; k < s->n_operands; ++k) {
        free((void *)(uintptr_t)c.view[k].row);
        free((void *)(uintptr_t)c.view[k].element);
    }
    free((void *)(uintptr_t)c.row_number);
    free((void *)(uintptr_t)c.element_number);
    for (int k = 0; k < d->n_stages; ++k)
        if (d->stage[k].kind == KN_PLACE)
            leave_words(s);
    compare(s);
}
