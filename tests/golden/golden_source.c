/* golden_source - generated sources: FOLDER/NAME.txt describes a call (description.h), NAME.expected is its
 * source, without preludes. Three or more neighbouring lines of templates are their number alone, "// (12)".
 *
 * usage: golden_source [--update] FOLDER...
 *        golden_source --sources FILE FOLDER...   writes down each call's specialisation and whole source,
 *                                                 for tests/identity: "LINE\nBYTES\nSOURCE\n"
 * Each call is also made with one more input, a struct by value, which has neither an array nor a dtype. */
#include "description.h"
#include "golden.h"
#include "template_lines.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *sources; /* NULL: none are written down */

static void write_source(const char *line, const char *source)
{
    fprintf(sources, "%s\n%zu\n%s\n", line, strlen(source), source);
}

static char *make_source(const description *d)
{
    int n_in = 0, n_out = 0, axes[KILN_MAX_NDIM];
    char *source = NULL, *line = NULL;
    kiln_call_options call;
    kiln_kernel *kernel = description_kernel(d);
    stage *s = description_stage(d, kernel, 0);
    description_options(&call, axes, d);
    if (s && succeeded(kiln_set_forms(d->tier ? KILN_FORMS_QUICK : KILN_FORMS_BEST), "kiln_set_forms")) {
        kiln_arg *in = stage_args(s, &n_in);
        kiln_array **out = stage_outs(s, &n_out);
        succeeded(kiln_kernel_source(&source, kernel, out, n_out, in, n_in, &call, d->target),
                  "kiln_kernel_source");
        if (sources && !in_trouble() &&
            succeeded(kiln_kernel_explain(&line, kernel, out, n_out, in, n_in, &call, d->target),
                      "kiln_kernel_explain"))
            write_source(line, source);
    }
    free(line);
    stage_free(s);
    kiln_kernel_free(kernel);
    return source;
}

/* The same call with a struct behind its inputs. The kind that takes it may be another one. */
static void check_with_struct(description *d)
{
    char in[400], preamble[1000];
    int n_in = d->in[0] != '\0';
    for (const char *at = d->in; *at; ++at)
        n_in += *at == ',';
    if (!trouble_unless(d->n_operands < STAGE_OPERANDS && n_in <= d->n_operands, "%d operands",
                        d->n_operands))
        return;
    snprintf(in, sizeof in, "%s%sadded_struct added", d->in, n_in > 0 ? ", " : "");
    snprintf(preamble, sizeof preamble, "struct added_struct { double x[2]; };\n%s",
             d->options.preamble ? d->options.preamble : "");
    for (int k = d->n_operands++; k > n_in; --k) {
        d->kind[k] = d->kind[k - 1];
        d->operand[k] = d->operand[k - 1];
    }
    d->kind[n_in] = "struct";
    d->operand[n_in] = "16";
    d->in = in;
    d->options.preamble = preamble;
    char *source = make_source(d);
    if (!in_trouble())
        trouble_unless(strstr(source, "added_struct added") != NULL, "the source has no such parameter");
    if (in_trouble())
        printf("FAILED with a struct: %s\n", trouble_text());
    free(source);
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
    description d;
    bool same = false;
    trouble_clear();
    snprintf(path, sizeof path, "%s/%s", folder, name);
    description_read(&d, path);
    char *source = in_trouble() ? NULL : make_source(&d);
    if (source)
        check_line_numbers(source);
    if (source)
        cut_preludes(source);
    if (source)
        forget_line_numbers(source);
    if (source)
        template_lines_cut(source);
    if (!in_trouble()) {
        snprintf(path, sizeof path, "%s/%.*s.expected", folder, (int)(strlen(name) - 4), name);
        same = golden_matches(path, source, update);
    } else {
        printf("FAILED %s: %s\n", name, trouble_text());
    }
    free(source);
    if (same && !update && !sources) {
        check_with_struct(&d);
        same = !in_trouble();
    }
    description_free(&d);
    return same;
}

static int is_description(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && !strcmp(entry->d_name + length - 4, ".txt") &&
           strcmp(entry->d_name, "signatures.txt") != 0 && strcmp(entry->d_name, "plans.txt") != 0 &&
           strcmp(entry->d_name, "CMakeLists.txt") != 0;
}

static int check_folder(const char *folder, bool update, int *failed)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_description, alphasort);
    for (int k = 0; k < count; ++k) {
        *failed += !check_file(folder, entries[k]->d_name, update);
        free(entries[k]);
    }
    free(entries);
    *failed += count <= 0;
    return count;
}

int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    bool update = argc > 2 && !strcmp(argv[1], "--update");
    bool writes = argc > 3 && !strcmp(argv[1], "--sources");
    int failed = 0, count = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: golden_source [--update | --sources FILE] FOLDER...\n");
        return 2;
    }
    if (writes && (sources = fopen(argv[2], "w")) == NULL) {
        perror(argv[2]);
        return 2;
    }
    if (!template_lines_read(KILN_SOURCES)) {
        fprintf(stderr, "golden_source: no templates are below " KILN_SOURCES "\n");
        return 2;
    }
    for (int k = 1 + update + 2 * writes; k < argc; ++k)
        count += check_folder(argv[k], update, &failed);
    if (sources && fclose(sources) != 0)
        failed++;
    template_lines_free();
    printf("%d texts, %d failed\n", count, failed);
    return failed > 0;
}
