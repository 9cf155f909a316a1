/*
 * embed.c - writes the templates into one C file at build time.
 *
 *     kiln_embed TEMPLATE_ROOT OUTPUT.c FILE...
 *     kiln_embed --text OUTPUT.c NAME FILE
 *
 * The second way the C file defines one text, `const char NAME[]`. The first way the C file defines
 * kn_templates and kn_template_count (src/codegen/templates.h), an entry for each FILE, named by its path
 * below TEMPLATE_ROOT. Text becomes an array of character codes: ISO C promises no string literal longer than
 * 4095 characters.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes the codes of in to out; *length counts them. Returns NULL, or what is wrong. */
static const char *write_codes(FILE *out, FILE *in, size_t *length)
{
    int c;
    *length = 0;
    while ((c = getc(in)) != EOF) {
        /* Beyond ASCII the code would depend on whether char is signed, and a NUL would end the text early.
         */
        if (c == 0 || c > 127)
            return "holds a byte that is not ASCII text";
        fprintf(out, "%d,%s", c, ++*length % 32 == 0 ? "\n" : "");
    }
    return ferror(in) ? "could not be read" : NULL;
}

static const char *write_text(FILE *out, const char *path, const char *name, size_t *length)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return "could not be opened";
    fprintf(out, "const char %s[] = {\n", name);
    const char *trouble = write_codes(out, in, length);
    fputs("0};\n", out);
    fclose(in);
    return trouble;
}

/* The part of path below root; NULL where it lies elsewhere. */
static const char *name_below(const char *root, const char *path)
{
    size_t n = strlen(root);
    while (n > 0 && root[n - 1] == '/')
        n--;
    return strncmp(root, path, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

static int complain(const char *path, const char *trouble)
{
    fprintf(stderr, "kiln_embed: %s %s\n", path, trouble);
    return 1;
}

static int embed(FILE *out, const char *root, char **paths, int count)
{
    size_t *lengths = calloc((size_t)count + 1, sizeof *lengths);
    int failed = lengths ? 0 : complain("the list of files", "needs more memory");
    fputs("/* Written by tools/embed.c from the templates. */\n#include \"codegen/templates.h\"\n\n", out);
    for (int i = 0; i < count && !failed; i++) {
        const char *trouble = name_below(root, paths[i]) ? NULL : "does not lie below the template folder";
        char name[32];
        snprintf(name, sizeof name, "text_%d", i);
        fputs("static ", out);
        if (!trouble)
            trouble = write_text(out, paths[i], name, &lengths[i]);
        if (trouble)
            failed = complain(paths[i], trouble);
    }
    /* The last entry is a terminator, so that the array is never empty. */
    fputs("\nconst kn_template kn_templates[] = {\n", out);
    for (int i = 0; i < count && !failed; i++)
        fprintf(out, "    {\"%s\", text_%d, %zu},\n", name_below(root, paths[i]), i, lengths[i]);
    fprintf(out, "    {0, 0, 0},\n};\n\nconst size_t kn_template_count = %d;\n", count);
    free(lengths);
    return failed;
}

/* FILE under NAME. */
static int embed_text(FILE *out, const char *name, const char *path)
{
    size_t length;
    fprintf(out, "/* Written by tools/embed.c. */\nextern const char %s[];\n", name);
    const char *trouble = write_text(out, path, name, &length);
    return trouble ? complain(path, trouble) : 0;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: kiln_embed TEMPLATE_ROOT OUTPUT.c FILE...\n", stderr);
        return 2;
    }
    FILE *out = fopen(argv[2], "w");
    if (!out)
        return complain(argv[2], "could not be written");
    bool is_text = argc == 5 && strcmp(argv[1], "--text") == 0;
    if (!is_text)
        qsort(argv + 3, (size_t)argc - 3, sizeof *argv, compare_paths); /* templates are found by bisection */
    int failed = is_text ? embed_text(out, argv[3], argv[4]) : embed(out, argv[1], argv + 3, argc - 3);
    int broken = ferror(out);
    if (fclose(out) != 0 || broken)
        failed = complain(argv[2], "could not be written");
    if (failed)
        remove(argv[2]);
    return failed;
}
