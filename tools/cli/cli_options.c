/* cli_options.c - the table of options, and reading them. */
#include "cli.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef enum option_kind { FLAG, TEXT, LIST, NUMBER } option_kind;

typedef struct option {
    const char *name; /* without dashes; one letter takes one dash */
    const char *value;
    const char *help;
    option_kind kind;
    size_t offset; /* of the member of cli_options: bool, const char *, cli_list or int */
    unsigned commands;
    const char *forms; /* of commands that have several, those that take it; NULL: all */
} option;

#define MEMBER(name) offsetof(cli_options, name)
#define MAP_COMMANDS                                                                                         \
    (CLI_MAP | CLI_REDUCE | CLI_SCAN | CLI_SELECT | CLI_SORT) /* whose kernels are defined by C++ texts */
#define RUN_COMMANDS (MAP_COMMANDS | CLI_EVAL)
#define FILE_COMMANDS (RUN_COMMANDS | CLI_SHOW)
#define TEXT_COMMANDS (CLI_SOURCE | CLI_EXPLAIN | CLI_CACHE_EXPLAIN)
#define REDUCTION_COMMANDS (CLI_REDUCE | TEXT_COMMANDS)
#define SCAN_COMMANDS (CLI_SCAN | TEXT_COMMANDS)
#define DEFINED_COMMANDS (MAP_COMMANDS | TEXT_COMMANDS)
#define KERNEL_COMMANDS (DEFINED_COMMANDS | CLI_EVAL)

static const option table[] = {
    {"o", "FILE", "where the next output goes; - is standard output", LIST, MEMBER(outputs), MAP_COMMANDS,
     NULL},
    {"o", "[NAME=]FILE", "where the next result goes, or the one of that name; - is standard output", LIST,
     MEMBER(outputs), CLI_EVAL, NULL},
    {"from", "FORMAT", "how files that are read are written, in place of what their suffixes say", TEXT,
     MEMBER(from), FILE_COMMANDS, NULL},
    {"to", "FORMAT", "how results are written, in place of what their suffixes say; of - else npy", TEXT,
     MEMBER(to), RUN_COMMANDS, NULL},
    {"raw", "DTYPE", "files of raw elements have this dtype, and the shape of --shape, else one axis", TEXT,
     MEMBER(raw), FILE_COMMANDS, NULL},
    {"header", "yes|no|auto",
     "whether the first line of .csv and .tsv files names their columns; auto, the default: where it has "
     "words "
     "alone",
     TEXT, MEMBER(header), FILE_COMMANDS, NULL},
    {"text", "auto|skip|categories",
     "what becomes of columns of text: left out, numbered by their words in alphabetical order, or, the "
     "default, left out where they hold no number, and refused where they do",
     TEXT, MEMBER(text), FILE_COMMANDS, NULL},
    {"quiet", NULL, "print results alone, and no report", FLAG, MEMBER(quiet), RUN_COMMANDS, NULL},
    {"explain", NULL, "say which kernels run, what each reads and writes, and why there are several", FLAG,
     MEMBER(explain), CLI_EVAL, NULL},
    {"axis", "N[,N...]",
     "axes that are reduced, negative ones from the last on, or none; may be given again; default: all", LIST,
     MEMBER(axes), CLI_REDUCE, NULL},
    {"axis", "N[,N...]",
     "axes along which is scanned, negative ones from the last on; may be given again; default: all, in C "
     "order",
     LIST, MEMBER(axes), CLI_SCAN, NULL},
    {"axis", "N", "the axis along which is sorted, a negative one from the last on; default: the last", LIST,
     MEMBER(axes), CLI_SORT, NULL},
    {"axis", "N[,N...]",
     "axes that are reduced or scanned, or the one that is sorted along; negative ones from the last on, or "
     "none; may be given again; default: all",
     LIST, MEMBER(axes), TEXT_COMMANDS, "reduce scan sort"},
    {"exclusive", NULL, "each result is of the elements before its own, the first one's IDENTITY", FLAG,
     MEMBER(exclusive), SCAN_COMMANDS, "scan"},
    {"descending", NULL, "the largest key first; of several keys all", FLAG, MEMBER(descending),
     CLI_SORT | TEXT_COMMANDS, "sort"},
    {"reverse", NULL, "scans from the last element on", FLAG, MEMBER(reverse), SCAN_COMMANDS, "scan"},
    {"keepdims", NULL, "results have extent 1 along reduced axes", FLAG, MEMBER(keepdims), REDUCTION_COMMANDS,
     "reduce"},
    {"reduce-type", "TYPE",
     "the type of a and b: a dtype, a placeholder or a struct of the preamble; default: the first output's, "
     "float32 for float16 and bfloat16",
     TEXT, MEMBER(reduce_type), REDUCTION_COMMANDS | CLI_SCAN, "reduce scan"},
    {"target", "TARGET",
     "host, cuda or cuda:N; default: KILN_TARGET, else cuda:0 where there is one, else host", TEXT,
     MEMBER(target), KERNEL_COMMANDS | CLI_BENCH, NULL},
    {"arch", "ARCH", "an architecture to generate for without a device, for instance sm_90", TEXT,
     MEMBER(arch), TEXT_COMMANDS, NULL},
    {"type", "T=DTYPE", "the dtype of a placeholder of which no array says it", LIST, MEMBER(types),
     DEFINED_COMMANDS & ~(CLI_SELECT | CLI_SORT), "map reduce scan"},
    {"dtype", "DTYPE", "the dtype of the other placeholders; default float32", TEXT, MEMBER(dtype),
     TEXT_COMMANDS, "map reduce scan select sort"},
    {"shape", "N,M,...",
     "the shape of the outputs, with --raw that of the files; default: what the arguments make it", TEXT,
     MEMBER(shape), DEFINED_COMMANDS & ~(CLI_SELECT | CLI_SORT), "map reduce scan"},
    {"shape", "N,M,...", "with --raw: the shape of the files", TEXT, MEMBER(shape), CLI_SELECT | CLI_SORT,
     NULL},
    {"shape", "N,M,...", "with --raw: the shape of the files", TEXT, MEMBER(shape), CLI_EVAL | CLI_SHOW,
     NULL},
    {"name", "NAME", "the kernel's name; default: kernel", TEXT, MEMBER(name), DEFINED_COMMANDS,
     "map reduce scan select sort"},
    {"preamble", "TEXT", "declarations in front of the kernel", TEXT, MEMBER(preamble), KERNEL_COMMANDS,
     NULL},
    {"order", "C|F|A|K",
     "the outputs' memory order: C, Fortran's, A for Fortran's if all inputs have that, or K to keep the "
     "inputs'; default C",
     TEXT, MEMBER(order), RUN_COMMANDS, NULL},
    {"size", "N[,N...]", "the number of elements, or their shape, where every parameter is raw", TEXT,
     MEMBER(size), MAP_COMMANDS, NULL},
    {"repeat", "N", "call the kernel N more times and print the time of one call", NUMBER, MEMBER(repeat),
     RUN_COMMANDS, NULL},
    {"fast-math", NULL, "approximate division, square root and functions", FLAG, MEMBER(fast_math),
     KERNEL_COMMANDS, NULL},
    {"check", NULL, "check each index of raw operands (KILN_CHECK=1 does so everywhere)", FLAG,
     MEMBER(checks), DEFINED_COMMANDS, "map reduce scan select sort"},
    {"no-fma", NULL, "round a*b+c twice", FLAG, MEMBER(no_fma), KERNEL_COMMANDS, NULL},
    {"round-each", NULL,
     "round each operation on 16-bit floats, as NumPy does (KILN_ROUND=each does so everywhere)", FLAG,
     MEMBER(round_each), KERNEL_COMMANDS, NULL},
    {"row", "NAME,...", "rows: of that name, else those whose name contains it", TEXT, MEMBER(row), CLI_BENCH,
     "rows"},
    {"sweep", "NAME",
     "a sweep: reduce, rows, program, paper, E1, E2, B1, chain, graph, P1, P2, P4, P8, P16, Podd1, Podd2, "
     "Podd4, narrow1 to narrow8, narrowodd1 to narrowodd8",
     TEXT, MEMBER(sweep), CLI_BENCH, "rows"},
    {"size-scale", "S", "multiplies the number of elements", TEXT, MEMBER(size_scale), CLI_BENCH, "rows"},
    {"seconds", "S", "how long each row is measured; default 0.25, of a sweep 0.02", TEXT, MEMBER(seconds),
     CLI_BENCH, "rows"},
    {"list", NULL, "print the rows there are", FLAG, MEMBER(list), CLI_BENCH, NULL},
    {"o", "FILE", "the bundle that is written", LIST, MEMBER(outputs), CLI_BAKE | CLI_CACHE, NULL},
    {"arch", "ARCH[,ARCH...]",
     "CUDA targets: sm_90, sm_90a, sm_100f; compute_90 for PTX of this and later devices, or ptx for that of "
     "the newest of the others; may be given again",
     LIST, MEMBER(archs), CLI_BAKE, "bake --check"},
    {"host", "ARCH[,ARCH...]", "processors: x86-64-v3, or host for this machine's; may be given again", LIST,
     MEMBER(hosts), CLI_BAKE, "bake --check"},
    {"jobs", "N", "kernels that are compiled at the same time; default: as many as there are processors",
     NUMBER, MEMBER(jobs), CLI_BAKE, "bake"},
    {"time", "S", "seconds that a kernel may take; default 300", NUMBER, MEMBER(time), CLI_BAKE, "bake"},
    {"memory", "MIB", "MiB that a kernel's compiler may take; default 4096", NUMBER, MEMBER(memory), CLI_BAKE,
     "bake"},
    {"partial", NULL, "write the bundle although some kernels could not be compiled", FLAG, MEMBER(partial),
     CLI_BAKE, "bake"},
    {"include", "FOLDER", "where headers of raw modules lie; may be given again", LIST, MEMBER(includes),
     CLI_BAKE, "bake --check"},
    {"check", "BUNDLE", "compile nothing: say which kernels of the records this bundle lacks, and fail", TEXT,
     MEMBER(check), CLI_BAKE, "--check"},
    {"quiet", NULL, "print what fails alone, and no report", FLAG, MEMBER(quiet), CLI_BAKE, "bake merge"},
    {"list", NULL, "print what is in the bundles", FLAG, MEMBER(list), CLI_BAKE, "--list"},
    {"json", NULL, "print one JSON object, on one line, for errors too", FLAG, MEMBER(json),
     CLI_ALL & ~CLI_BENCH, NULL},
    {"json", NULL, "print a JSON object for the machine, and one for each row, each on a line", FLAG,
     MEMBER(json), CLI_BENCH, "rows"},
    {"help", NULL, "print this text", FLAG, MEMBER(help), CLI_ALL, NULL},
};
enum { OPTION_COUNT = sizeof table / sizeof *table };
_Static_assert(OPTION_COUNT <= 64, "cli_options.given has a bit for each");

static const char *dashes(const option *o)
{
    return o->name[1] ? "--" : "-";
}

void cli_options_help(FILE *file, const cli_command *command)
{
    char left[64];
    for (const option *o = table; o < table + OPTION_COUNT; o++) {
        if (!(o->commands & command->bit))
            continue;
        snprintf(left, sizeof left, "%s%s%s%s", dashes(o), o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        fprintf(file, "  %-18s %s\n", left, o->help);
    }
}

bool cli_option_at(cli_option_info *out, const cli_command *command, int n)
{
    for (const option *o = table; o < table + OPTION_COUNT; o++) {
        if (!(o->commands & command->bit) || n-- > 0)
            continue;
        snprintf(out->name, sizeof out->name, "%s%s", dashes(o), o->name);
        out->value = o->value;
        out->help = o->help;
        return true;
    }
    return false;
}

/* A word that begins with a dash but is an argument: a negative number, or a dash alone. */
static bool is_argument(const char *word)
{
    kiln_arg ignored;
    return word[0] != '-' || !word[1] || cli_number_read(&ignored, word);
}

/* The option that a word names; *value is the text behind '=', or NULL. */
static const option *find_option(const cli_command *command, const char *word, const char **value)
{
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t length = strcspn(name, "=");
    *value = name[length] ? name + length + 1 : NULL;
    for (const option *o = table; o < table + OPTION_COUNT; o++) {
        bool same = strlen(o->name) == length && strncmp(o->name, name, length) == 0;
        if (same && (o->commands & command->bit) && (word[1] == '-') == (o->name[1] != 0))
            return o;
    }
    return strcmp(word, "-h") == 0 ? &table[OPTION_COUNT - 1] : NULL;
}

static bool read_count(int *out, const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    *out = (int)value;
    return errno == 0 && *text && !*end && value > 0 && value <= INT_MAX;
}

static int store_option(cli_options *out, const cli_command *command, const option *o, const char *value)
{
    void *member = (char *)out + o->offset;
    out->given |= UINT64_C(1) << (o - table);
    if (o->kind == FLAG)
        *(bool *)member = true;
    else if (o->kind == TEXT)
        *(const char **)member = value;
    else if (o->kind == LIST)
        ((cli_list *)member)->items[((cli_list *)member)->count++] = value;
    else if (!value || !read_count(member, value))
        return cli_usage_error(command->name, "%s%s takes a number from 1, not '%s'", dashes(o), o->name,
                               value);
    return CLI_OK;
}

/* Reads the option at argv[*at] and moves *at to its last word. */
static int read_option(cli_options *out, const cli_command *command, int argc, char **argv, int *at)
{
    const char *word = argv[*at], *value;
    const option *o = find_option(command, word, &value);
    if (!o)
        return cli_usage_error(command->name, "there is no option '%s'", word);
    if (!o->value && value)
        return cli_usage_error(command->name, "%s%s takes no value", dashes(o), o->name);
    if (o->value && !value) {
        if (*at + 1 >= argc)
            return cli_usage_error(command->name, "%s%s needs %s", dashes(o), o->name, o->value);
        value = argv[++*at];
    }
    return store_option(out, command, o, value);
}

static const size_t lists[] = {MEMBER(positional), MEMBER(outputs), MEMBER(types),   MEMBER(axes),
                               MEMBER(archs),      MEMBER(hosts),   MEMBER(includes)};
enum { LISTS = sizeof lists / sizeof *lists };

static cli_list *list_of(cli_options *options, size_t l)
{
    return (cli_list *)(void *)((char *)options + lists[l]);
}

static bool make_list(cli_list *list, int capacity)
{
    list->items = calloc((size_t)capacity + 1, sizeof *list->items);
    return list->items != NULL;
}

int cli_options_read(cli_options *out, const cli_command *command, int argc, char **argv)
{
    bool has_memory = true, options_end = false;
    int code = CLI_OK;
    memset(out, 0, sizeof *out);
    for (size_t l = 0; l < LISTS; l++)
        has_memory = has_memory && make_list(list_of(out, l), argc);
    if (!has_memory)
        return cli_usage_error(command->name, "has no memory for %d words", argc);
    for (int i = 0; i < argc && code == CLI_OK; i++) {
        if (!options_end && strcmp(argv[i], "--") == 0)
            options_end = true;
        else if (options_end || is_argument(argv[i]))
            out->positional.items[out->positional.count++] = argv[i];
        else
            code = read_option(out, command, argc, argv, &i);
    }
    return code;
}

static bool has_form(const char *forms, const char *form)
{
    size_t length = strlen(form);
    for (const char *at = forms; (at = strstr(at, form)) != NULL; at += length)
        if ((at == forms || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

int cli_form_check(const char *command, const char *form, const cli_options *options)
{
    for (const option *o = table; o < table + OPTION_COUNT; o++) {
        bool is_given = options->given >> (o - table) & 1;
        if (is_given && o->forms && !has_form(o->forms, form))
            return cli_usage_error(command, "%s%s does not go with '%s'; it is for: %s", dashes(o), o->name,
                                   form, o->forms);
    }
    return CLI_OK;
}

void cli_options_free(cli_options *options)
{
    for (size_t l = 0; l < LISTS; l++)
        free(list_of(options, l)->items);
}
