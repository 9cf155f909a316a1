/* template_lines.c - leaves out of a generated source what templates say: a golden then holds what the code
 * generator wrote, and a template's comment changes no golden. */
#include "template_lines.h"

#include "golden.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_CUT = 3 /* neighbouring lines */ };

static char **line; /* of all templates, without indentation, sorted */
static size_t count;
static char **text; /* of each template, in which they are */
static size_t n_texts;

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_line(char *begin)
{
    begin += strspn(begin, " ");
    if (!begin[0] || strstr(begin, "${"))
        return;
    if ((count & (count - 1)) == 0)
        line = realloc(line, 2 * (count + 1) * sizeof *line);
    line[count++] = begin;
}

static void add_template(const char *path)
{
    char *own = golden_read(path);
    if (!own)
        return;
    text = realloc(text, (n_texts + 1) * sizeof *text);
    text[n_texts++] = own;
    for (char *next; own; own = next) {
        next = strchr(own, '\n');
        if (next)
            *next++ = '\0';
        add_line(own);
    }
}

bool template_lines_read(const char *root)
{
    static const char *const patterns[] = {"schedules/*/*.cu", "schedules/*/*.cpp", "codegen/shared/*"};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; ++k) {
        char pattern[512];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/%s", root, patterns[k]);
        if (glob(pattern, 0, NULL, &found) != 0)
            continue;
        for (size_t f = 0; f < found.gl_pathc; ++f)
            add_template(found.gl_pathv[f]);
        globfree(&found);
    }
    if (count > 0)
        qsort(line, count, sizeof *line, compare);
    return count > 0;
}

void template_lines_free(void)
{
    for (size_t k = 0; k < n_texts; ++k)
        free(text[k]);
    free(text);
    free(line);
}

/* Empty lines count as lines of templates: they are between others. */
static bool is_cut(const char *begin, size_t length)
{
    char copy[1024], *wanted = copy;
    if (length >= sizeof copy)
        return false;
    memcpy(copy, begin, length);
    copy[length] = '\0';
    wanted += strspn(wanted, " ");
    return !wanted[0] || bsearch(&wanted, line, count, sizeof *line, compare);
}

/* The end of the lines from `begin` on that are cut, and their number. */
static char *end_of_cut(char *begin, int *n_lines)
{
    for (*n_lines = 0; *begin; ++*n_lines) {
        size_t length = strcspn(begin, "\n");
        if (!is_cut(begin, length))
            break;
        begin += length + (begin[length] == '\n');
    }
    return begin;
}

void template_lines_cut(char *source)
{
    char *to = source;
    while (*source) {
        int n_lines;
        char *end = end_of_cut(source, &n_lines);
        if (n_lines >= LEAST_CUT) {
            to += sprintf(to, "// (%d)\n", n_lines);
            source = end;
            continue;
        }
        size_t length = n_lines > 0 ? (size_t)(end - source) : strcspn(source, "\n");
        length += n_lines == 0 && source[length] == '\n';
        memmove(to, source, length);
        to += length;
        source += length;
    }
    *to = '\0';
}
