/* golden_source - what generated code looks like: FOLDER/NAME.txt describes a call, NAME.expected is its
 * source, preludes left out.
 *
 * usage: golden_source [--update] FOLDER
 *        golden_source --sources FILE FOLDER   writes down each call's specialisation and whole source, for
 *                                              tests/identity: "LINE\nBYTES\nSOURCE\n"
 *
 * A description has one "key: value" a line, and the body after "body:" to the end:
 *     target: sm_90
 *     in: T x, float32 s
 *     out: T z
 *     operand: float32 64,100 F -0      dtype, shape ("-": no axes), layout as in cases/stage.h; in the order
 *     of the parameters
 *     shared: float32 64,96 @-4         the same in the buffer of the operand before it that has one
 *     raw: int32 64                     the same for raw parameters
 *     scalar: float32
 *     preamble:, loop_prep:, after_loop: one line each
 * A reduction has, in place of a body, a line each of
 *     map: x * x
 *     reduce: a + b
 *     post: z = sqrt(a)
 *     identity: 0                       without it there is none
 *     reduce_type: float64              without it the first output's
 *     axes: 0,2                         without it all
 */
#include "golden.h"
#include "stage.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct description {
    char *text; /* cut up in place */
    const char *target, *in, *out, *body, *map, *reduce, *post, *identity, *axes;
    kiln_kernel_options options;
    const char *operand[16], *kind[16];
    int n_operands;
} description;

static void take_line(description *d, char *key, char *value)
{
    const struct {
        const char *key, **to;
    } texts[] = {{"target", &d->target},
                 {"in", &d->in},
                 {"out", &d->out},
                 {"map", &d->map},
                 {"reduce", &d->reduce},
                 {"post", &d->post},
                 {"identity", &d->identity},
                 {"reduce_type", &d->options.reduce_type},
                 {"axes", &d->axes},
                 {"preamble", &d->options.preamble},
                 {"loop_prep", &d->options.loop_prep},
                 {"after_loop", &d->options.after_loop}};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; ++k)
        if (!strcmp(key, texts[k].key)) {
            *texts[k].to = value;
            return;
        }
    if (trouble_unless(!strcmp(key, "operand") || !strcmp(key, "shared") || !strcmp(key, "raw") ||
                           !strcmp(key, "scalar"),
                       "unknown key '%s'", key)) {
        d->kind[d->n_operands] = key;
        d->operand[d->n_operands++] = value;
    }
}

static void read_description(description *d)
{
    char *at = d->text;
    d->in = d->out = d->body = "";
    d->options = (kiln_kernel_options)KILN_KERNEL_OPTIONS_INIT;
    while (*at && !in_trouble()) {
        char *line = at, *colon = strchr(line, ':');
        if (!trouble_unless(colon != NULL, "no 'key:' at '%.20s'", line))
            return;
        *colon = '\0';
        if (!strcmp(line, "body")) {
            d->body = colon + 1 + (colon[1] == '\n');
            char *last = colon + strlen(colon + 1);
            if (*last == '\n')
                *last = '\0';
            return;
        }
        at = colon + 1 + strcspn(colon + 1, "\n");
        if (*at)
            *at++ = '\0';
        take_line(d, line, colon + 1 + (colon[1] == ' '));
    }
}

/* *owner: the operand whose buffer those that are shared lie in. */
static void place_operand(stage *s, const char *kind, const char *text, bool is_output, int *owner)
{
    char name[16] = "", shape[64] = "";
    int used = 0;
    kiln_dtype dtype = KILN_DTYPE_NONE;
    sscanf(text, "%15s %63s %n", name, shape, &used);
    if (!succeeded(kiln_dtype_from_name(&dtype, name), text))
        return;
    const char *layout_text = used ? text + used : "";
    if (!strcmp(shape, "-"))
        shape[0] = '\0';
    if (!strcmp(kind, "scalar"))
        stage_real(s, kiln_arg_int(1), dtype, 1);
    else if (!strcmp(kind, "raw"))
        stage_raw(s, is_output, dtype, shape, layout_text, FILL_SMALL);
    else if (!strcmp(kind, "shared"))
        (is_output ? stage_out_shared : stage_in_shared)(s, *owner, dtype, shape, layout_text);
    else
        *owner = is_output ? stage_out(s, dtype, shape, layout_text)
                           : stage_in(s, dtype, shape, layout_text, FILL_SMALL);
}

static kiln_kernel *make_kernel(const description *d)
{
    kiln_kernel *kernel = NULL;
    if (d->reduce)
        succeeded(kiln_reduction_create(&kernel, d->in, d->out, d->map, d->reduce, d->post, d->identity,
                                        "case_kernel", &d->options),
                  "kiln_reduction_create");
    else
        succeeded(kiln_elementwise_create(&kernel, d->in, d->out, d->body, "case_kernel", &d->options),
                  "kiln_elementwise_create");
    return kernel;
}

/* "0,2" */
static void read_axes(kiln_call_options *call, int *axes, const char *text)
{
    int used = 0;
    for (; text && sscanf(text, "%d%n", &axes[call->n_axes], &used) == 1;
         text += used + (text[used] == ',')) {
        call->axes = axes;
        call->n_axes++;
    }
}

static FILE *sources; /* NULL: none are written down */

static void write_source(const char *line, const char *source)
{
    fprintf(sources, "%s\n%zu\n%s\n", line, strlen(source), source);
}

static char *make_source(const description *d)
{
    int n_in = 0, n_out = 0, owner = -1, axes[KILN_MAX_NDIM];
    char *source = NULL;
    kiln_call_options call = KILN_CALL_OPTIONS_INIT;
    kiln_kernel *kernel = make_kernel(d);
    if (in_trouble())
        return NULL;
    stage *s = stage_over(kernel, 1);
    read_axes(&call, axes, d->axes);
    kiln_arg *in = stage_args(s, &n_in);
    kiln_array **out = stage_outs(s, &n_out);
    trouble_unless(d->n_operands == n_in + n_out, "%d operands, but %d parameters", d->n_operands,
                   n_in + n_out);
    for (int k = 0; k < d->n_operands && !in_trouble(); ++k)
        place_operand(s, d->kind[k], d->operand[k], k >= n_in, &owner);
    if (!in_trouble())
        succeeded(kiln_kernel_source(&source, kernel, out, n_out, in, n_in, &call, d->target),
                  "kiln_kernel_source");
    char *line = NULL;
    if (sources && !in_trouble() &&
        succeeded(kiln_kernel_explain(&line, kernel, out, n_out, in, n_in, &call, d->target),
                  "kiln_kernel_explain"))
        write_source(line, source);
    free(line);
    stage_free(s);
    kiln_kernel_free(kernel);
    return source;
}

/* Preludes end where the user's types, preamble or the argument block begin. */
static bool ends_preludes(const char *line)
{
    size_t length = strcspn(line, "\n");
    bool placeholder = !strncmp(line, "typedef ", 8) && length > 3 && line[length - 1] == ';' &&
                       line[length - 3] == ' ' && line[length - 2] >= 'A' && line[length - 2] <= 'Z';
    return placeholder || !strncmp(line, "#line 1 ", 8) || !strncmp(line, "struct kn_axis ", 15) ||
           !strncmp(line, "struct kn_args ", 15);
}

static void cut_preludes(char *source)
{
    static const char mark[] = "// (preludes)\n\n";
    size_t first = strcspn(source, "\n") + 1; /* where the second line begins */
    char *end = source[first - 1] ? source + first : NULL;
    while (end && *end && !ends_preludes(end)) {
        end = strchr(end, '\n');
        end = end ? end + 1 : NULL;
    }
    if (!trouble_unless(end && *end && (size_t)(end - source) >= first + sizeof mark,
                        "the source has no argument block"))
        return;
    memcpy(source + first, mark, sizeof mark - 1);
    memmove(source + first + sizeof mark - 1, end, strlen(end) + 1);
}

/* A line that goes on counting says the number of the next one. */
static void check_line_numbers(const char *source)
{
    int number = 1;
    for (const char *line = source; *line; line += strcspn(line, "\n") + 1, ++number) {
        int said = 0, used = 0;
        sscanf(line, "#line %d \"kiln_%n", &said, &used);
        trouble_unless(!used || said == number + 1, "line %d says that %d follows", number, said);
        if (!strchr(line, '\n'))
            break;
    }
}

/* Where the generated text goes on counting depends on how long the preludes are: that number becomes N. */
static void forget_line_numbers(char *source)
{
    for (char *at = source; (at = strstr(at, "#line ")) != NULL; at += 6) {
        char *number = at + 6;
        size_t digits = strspn(number, "0123456789");
        if (digits && !strncmp(number + digits, " \"kiln_", 7)) {
            *number = 'N';
            memmove(number + 1, number + digits, strlen(number + digits) + 1);
        }
    }
}

static bool check_file(const char *folder, const char *name, bool update)
{
    char path[512];
    description d = {0};
    bool same = false;
    trouble_clear();
    snprintf(path, sizeof path, "%s/%s", folder, name);
    d.text = golden_read(path);
    char *source = NULL;
    if (trouble_unless(d.text != NULL, "%s cannot be read", path)) {
        read_description(&d);
        source = in_trouble() ? NULL : make_source(&d);
    }
    if (source)
        check_line_numbers(source);
    if (source)
        cut_preludes(source);
    if (source)
        forget_line_numbers(source);
    if (!in_trouble()) {
        snprintf(path, sizeof path, "%s/%.*s.expected", folder, (int)(strlen(name) - 4), name);
        same = golden_matches(path, source, update);
    } else {
        printf("FAILED %s: %s\n", name, trouble_text());
    }
    free(source);
    free(d.text);
    return same;
}

static int is_description(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && !strcmp(entry->d_name + length - 4, ".txt") &&
           strcmp(entry->d_name, "signatures.txt") != 0 && strcmp(entry->d_name, "plans.txt") != 0 &&
           strcmp(entry->d_name, "CMakeLists.txt") != 0;
}

int main(int argc, char **argv)
{
    bool update = argc == 3 && !strcmp(argv[1], "--update");
    bool writes = argc == 4 && !strcmp(argv[1], "--sources");
    const char *folder = argv[argc - 1];
    struct dirent **entries = NULL;
    int failed = 0;
    if (argc != 2 && !update && !writes) {
        fprintf(stderr, "usage: golden_source [--update | --sources FILE] FOLDER\n");
        return 2;
    }
    if (writes && (sources = fopen(argv[2], "w")) == NULL) {
        perror(argv[2]);
        return 2;
    }
    int count = scandir(folder, &entries, is_description, alphasort);
    for (int k = 0; k < count; ++k) {
        failed += !check_file(folder, entries[k]->d_name, update);
        free(entries[k]);
    }
    free(entries);
    if (sources && fclose(sources) != 0)
        failed++;
    printf("%d texts, %d failed\n", count, failed);
    return failed > 0 || count <= 0;
}
