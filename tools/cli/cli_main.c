/* cli_main.c - the command `kiln`: the table of subcommands, and help. */
#include "bench_command.h"
#include <stdio.h>
#include <string.h>

const cli_command cli_commands[] = {
    {CLI_MAP, "map", "IN OUT BODY [ARGUMENT...] [-o FILE...]", "run an elementwise kernel over files",
     "IN and OUT are the kernel's parameters (\"T x, float32 s\"), BODY is what happens to one element\n"
     "('kiln help language').\n"
     "An ARGUMENT that is a number (3, -0.5, 1e-3, true, 1+2j) is a scalar that does not widen the arrays;\n"
     "any other is a file ('kiln help files'), or - for standard input. Each -o takes the next output;\n"
     "without -o the results are printed, those of more than 1000 elements without their middle. The report\n"
     "goes to standard error.\n"
     "A quoted pattern of several files runs the kernel over each, and {} in -o stands for their names.\n"
     "\n"
     "  kiln map 'T x, T y, float32 s' 'T z, bool hit' 'z = (x - y) * s; hit = z > 0' \\\n"
     "       x.npy y.npy 0.5 -o z.npy -o hit.npy\n"
     "  kiln map 'T x' 'T y' 'y = x * x' 'in/*.npy' -o 'out/{}.npy'\n",
     3, -1, cli_map_run},
    {CLI_REDUCE, "reduce", "IN OUT MAP REDUCE POST IDENTITY [ARGUMENT...] [--axis N] [-o FILE...]",
     "run a reduction over files",
     "MAP, an expression of the inputs, is taken of each element; REDUCE, an expression of a and b, makes "
     "one\n"
     "value of two, and in the end one along the reduced axes; POST, statements, assigns the outputs from "
     "it, a.\n"
     "IDENTITY is the result where there is nothing to reduce, - where there is none. ARGUMENTs are as for\n"
     "`kiln map`. Without -o the results are printed, those of more than 1000 elements without their "
     "middle.\n"
     "A text that begins with a dash needs parentheses: '(-x)'.\n"
     "\n"
     "a and b have the dtype of the first output, or the one that --reduce-type names. Integers of 8 or 16 "
     "bits\n"
     "wrap: to sum a picture of uint8, write 'float32 y' or 'int64 y' rather than 'T y'.\n"
     "\n"
     "  kiln reduce 'T x' 'float32 y' 'x * x' 'a + b' 'y = sqrt(a)' 0 photo.npy --axis -1 -o norms.npy\n",
     6, -1, cli_reduce_run},
    {CLI_SCAN, "scan", "IN OUT MAP SCAN POST IDENTITY [ARGUMENT...] [--axis N] [-o FILE...]",
     "run a scan over files",
     "MAP, an expression of the inputs, is taken of each element; SCAN, an associative expression of a and "
     "b,\n"
     "makes one value of two, and in the end one for each element, of it and those before it; POST,\n"
     "statements, assigns the outputs from it, a. IDENTITY is what an exclusive scan begins with, - where\n"
     "there is none. ARGUMENTs are as for `kiln map`. Without -o the results are printed, those of more\n"
     "than 1000 elements without their middle. A text that begins with a dash needs parentheses: '(-x)'.\n"
     "\n"
     "a and b have the dtype of the first output, or the one that --reduce-type names.\n"
     "\n"
     "  kiln scan 'T x' 'float64 y' x 'a + b' 'y = a' 0 x.npy --axis -1 -o sums.npy\n"
     "  kiln scan 'T x' 'T y' x 'a > b ? a : b' 'y = a' - x.npy --reverse -o greatest_from_here.npy\n",
     6, -1, cli_scan_run},
    {CLI_SELECT, "select", "IN OUT KEEP BODY [ARGUMENT...] [-o FILE...]",
     "keep the elements of files for which an expression holds",
     "KEEP, an expression of the inputs, says which elements are kept; BODY, statements, assigns the "
     "outputs\n"
     "of each that is, in C order; i is its index. The results have one axis; behind them comes their "
     "count,\n"
     "which needs no -o. ARGUMENTs are as for `kiln map`. Without -o the results are printed, those of more\n"
     "than 1000 elements without their middle.\n"
     "\n"
     "  kiln select 'T x, T least' 'T y, int64 at' 'x >= least' 'y = x; at = i' x.npy 0.5 -o y.npy -o "
     "at.npy\n",
     4, -1, cli_select_run},
    {CLI_SORT, "sort", "IN OUT KEYS BODY [ARGUMENT...] [--axis N] [--descending] [-o FILE...]",
     "sort the elements of files by keys",
     "KEYS, expressions of the inputs with semicolons between, say the order, the most important one first; "
     "one\n"
     "that ends with 'desc' goes down. Each has the dtype of the first input, or that in front of a colon:\n"
     "'float32: abs(x) desc; y'. BODY, statements, assigns the outputs for the element that comes at their\n"
     "place; i is its index along the axis before. Sorts are stable, and NaN comes last. ARGUMENTs are as "
     "for\n"
     "`kiln map`. Without -o the results are printed, those of more than 1000 elements without their "
     "middle.\n"
     "\n"
     "  kiln sort 'T x' 'T y, int64 at' 'x' 'y = x; at = i' x.npy --axis 0 -o y.npy -o at.npy\n"
     "  kiln sort 'T price, int32 shop' 'int32 best' 'shop; price desc' 'best = i' p.npy s.npy -o "
     "order.npy\n",
     4, -1, cli_sort_run},
    {CLI_EVAL, "eval", "EXPRESSION [NAME=ARGUMENT...] [-o [NAME=]FILE...]",
     "compute an expression in NumPy's syntax over files",
     "EXPRESSION is NumPy's: operators, functions and methods, slices, casts, reductions with axis= and "
     "keepdims=.\n"
     "Statements are separated by semicolons, and several results by commas. Each NAME that it uses is a\n"
     "file ('kiln help files'), or a number (3, -0.5, 1e-3, true, 1+2j), which does not widen the arrays.\n"
     "Results without a -o are\n"
     "printed, those of more than 1000 elements without their middle. One that begins with a dash needs\n"
     "parentheses: '(-x)'.\n"
     "\n"
     "  kiln eval 'sqrt(sum(astype(a, float32)**2, axis=-1))' a=photo.npy -o norms.npy --explain\n"
     "  kiln eval 'm = mean(x, axis=0); s = std(x, axis=0); (x - m) / s, m, s' x=x.npy -o m=m.npy -o "
     "s=s.npy\n",
     1, -1, cli_eval_run},
    {CLI_SHOW, "show", "FILE...", "print what files hold: dtype, shape, values, least, greatest, NaNs",
     "Any file of 'kiln help files', or - for standard input; of an archive each array, of a structured .npy "
     "file\n"
     "each field, or the one that is named behind a colon. Of more than 1000 elements the middle is left "
     "out.\n"
     "\n"
     "  kiln show photo.png data.npz data.npz:mean\n",
     1, -1, cli_show_run},
    {CLI_SOURCE, "source",
     "[map] IN OUT BODY [ARGUMENT...] | reduce IN OUT MAP REDUCE POST IDENTITY [ARGUMENT...] [--axis N] | "
     "scan IN OUT MAP SCAN POST IDENTITY [ARGUMENT...] [--axis N] | select IN OUT KEEP BODY [ARGUMENT...] | "
     "sort IN OUT KEYS BODY [ARGUMENT...] [--axis N] | eval EXPRESSION "
     "[NAME=ARGUMENT...]",
     "print the source that kiln generates for a kernel",
     "What follows is what `kiln map`, `reduce`, `scan`, `select`, `sort` or `eval` takes, and "
     "\"float32[200,300]\" "
     "for an "
     "array of that "
     "dtype\n"
     "and shape. Without arguments each parameter is a contiguous array; placeholders are float32, or what "
     "--type\n"
     "or --dtype says.\n"
     "\n"
     "  kiln source 'T x, T y' 'T z' 'z = x + y' --arch sm_90 --type T=float64\n"
     "  kiln source reduce 'T x' 'T y' x 'a + b' 'y = a' 0 'float32[200,300]' --axis 0 --arch sm_90\n"
     "  kiln source eval 'sqrt(sum(x**2, axis=-1))' 'x=float32[200,300]' --arch sm_90\n",
     2, -1, cli_source_run},
    {CLI_EXPLAIN, "explain",
     "[map] IN OUT BODY [ARGUMENT...] | reduce IN OUT MAP REDUCE POST IDENTITY [ARGUMENT...] [--axis N] | "
     "scan IN OUT MAP SCAN POST IDENTITY [ARGUMENT...] [--axis N] | select IN OUT KEEP BODY [ARGUMENT...] | "
     "sort IN OUT KEYS BODY [ARGUMENT...] [--axis N] | eval EXPRESSION "
     "[NAME=ARGUMENT...]",
     "print the specialisation that a call needs, and what it launches",
     "Arguments as for `kiln source`. The first line is the key of the cache, each of the others a launch.\n",
     2, -1, cli_explain_run},
    {CLI_OPERATIONS, "operations", "[NAME]", "list the operations by name, or how one is defined",
     "An operation is a list of definitions, and each of variants: the dtypes that it takes and gives, in "
     "NumPy's\n"
     "letters (E is bfloat16), \"ff->f\". The first to which all inputs can be cast safely computes.\n"
     "\n"
     "  kiln operations argmax\n",
     0, 1, cli_operations_run},
    {CLI_INFO, "info", "", "print versions, devices, compilers and the cache", "", 0, 0, cli_info_run},
    {CLI_CACHE, "cache",
     "path|stats|list|verify|gc|clear|inspect NAME|export -o BUNDLE|import BUNDLE|explain ...",
     "look into or change the cache of compiled kernels",
     "  path     the cache's file\n"
     "  stats    how much it holds\n"
     "  list     its kernels, newest first\n"
     "  inspect  all that is known of the kernels of a name\n"
     "  explain  why a call finds its kernel in the cache or not: 'kiln help cache explain'\n"
     "  verify   reads every kernel, and removes those that are damaged\n"
     "  gc       removes what compilers left that nobody used for a week, and what is beyond KILN_CACHE_MAX\n"
     "  clear    removes every kernel\n"
     "  export   writes the kernels into a bundle (see 'kiln help bake')\n"
     "  import   takes a bundle's kernels into the cache\n",
     1, 2, cli_cache_run},
    {CLI_CACHE_EXPLAIN, "cache explain",
     "[map] IN OUT BODY [ARGUMENT...] | reduce IN OUT MAP REDUCE POST IDENTITY [ARGUMENT...] [--axis N] | "
     "scan IN OUT MAP SCAN POST IDENTITY [ARGUMENT...] [--axis N] | select IN OUT KEEP BODY [ARGUMENT...] | "
     "sort IN OUT KEYS BODY [ARGUMENT...] [--axis N] | eval EXPRESSION "
     "[NAME=ARGUMENT...]",
     "say why a call finds its kernel in the cache or not",
     "Arguments as for `kiln source`. Where there is no entry, it compares the most similar entry of the "
     "same "
     "name\n"
     "with the one that is wanted, field by field. Where the best form is not there yet, but the quick one "
     "with\n"
     "which calls begin, it says 'quick form'. The exit code is 0 where a call finds what it begins with, "
     "and "
     "1\n"
     "where it would have to compile that first.\n",
     2, -1, cli_cache_explain_run},
    {CLI_BAKE, "bake",
     "RECORD... -o BUNDLE | --check BUNDLE RECORD... | --list BUNDLE... | merge BUNDLE... -o BUNDLE | diff "
     "BUNDLE BUNDLE",
     "compile recorded kernels into a bundle, for any targets, without a device",
     "A RECORD is what a program wrote where KILN_RECORD named a file, or is written by hand: lines of words "
     "as\n"
     "for `kiln explain`, quoted as in a shell, such as\n"
     "\n"
     "  map 'T x, T y' 'T z' 'z = x + y' 'float32[1000]' 'float32[1000]' --name add\n"
     "  reduce 'T x' 'T y' x 'a + b' 'y = a' 0 'float32[200,300]' --axis 0\n"
     "  eval 'sqrt(sum(x**2, axis=-1)) * s' 'x=float32[200,300]' s=0.5\n"
     "\n"
     "Of each line those targets are compiled on which such a call needs it. What fails is named, once for "
     "each cause;\n"
     "then nothing is written and the exit code is 1, but with --partial, which writes the rest. CUDA "
     "targets "
     "need\n"
     "NVRTC, which `pip install nvidia-cuda-nvrtc` brings, and no device. The same records and compilers "
     "give "
     "the\n"
     "same bytes. merge makes one bundle of several: of equal kernels that of the first. diff names what one "
     "has and the other has not, or "
     "otherwise.\n"
     "\n"
     "  KILN_RECORD=app.record ./app\n"
     "  kiln bake app.record --arch sm_80,sm_90,sm_100,ptx --host x86-64-v3 -o app.kiln\n"
     "  KILN_BUNDLE_PATH=app.kiln KILN_COMPILE=never ./app\n",
     1, -1, cli_bake_run},
    BENCH_COMMAND(NULL),
};
const int cli_command_count = sizeof cli_commands / sizeof *cli_commands;

/* ---- help ---- */

static void print_files_help(void)
{
    puts("Files are read and written by their suffixes:\n");
    cli_formats_help(stdout);
    puts("\nA file is replaced as a whole, when its result is there, and keeps its owner and permissions; "
         "symbolic\n"
         "links stay, pipes, devices and /dev/stdout are written to. What another call of a pattern reads is "
         "not\n"
         "written over.");
    puts(
        "\n- is standard input, whose format its first bytes tell, and as -o standard output, of NumPy's\n"
        "format. --from and --to say otherwise, for all files. Reports go to standard error.\n"
        "\n"
        "A .csv or .tsv file is UTF-8, its lines end as any system's do, and cells may be quoted. Its array "
        "is\n"
        "int64, uint64, float64 or complex128, as the cells need. A cell that is empty, NA or null is nan. "
        "What\n"
        "changes or leaves out anything is said on standard error: a first line of words, which names the "
        "columns\n"
        "(--header), columns of text, which are left out or numbered (--text), and lines that begin with #.\n"
        "Decimals stand behind a point, and nothing between digits.\n"
        "\n"
        "  kiln eval 'x * 2' x=- --to csv -o - <numbers.csv");
}

extern const char cli_language_text[]; /* docs/language.md */

static void print_language(void)
{
    fputs(cli_language_text, stdout);
}

/* The topics of `kiln help` besides the commands. */
static const struct topic {
    const char *name, *summary;
    void (*print)(void);
} topics[] = {{"language", "what kernels are written in: types, names, functions, indices", print_language},
              {"files", "the formats of files, and - for standard input and output", print_files_help},
              {"environment", "the environment variables that kiln reads", cli_environment_print}};
enum { TOPICS = sizeof topics / sizeof *topics };

static const struct topic *find_topic(const char *name)
{
    for (int t = 0; t < TOPICS && name; t++)
        if (strcmp(topics[t].name, name) == 0)
            return &topics[t];
    return NULL;
}

static void print_help(FILE *file)
{
    fputs("usage: kiln COMMAND [ARGUMENT...]\n\nFast kernels from C strings, on CUDA devices and on the "
          "host.\n\n",
          file);
    for (int i = 0; i < cli_command_count; i++)
        fprintf(file, "  %-10s %s\n", cli_commands[i].name, cli_commands[i].summary);
    fputs("\n", file);
    for (int t = 0; t < TOPICS; t++)
        fprintf(file, "  help %-11s %s\n", topics[t].name, topics[t].summary);
    fputs("  help man         all of it as a page, as man reads it\n"
          "  help completion bash, zsh or fish: what completes the words of this command there\n",
          file);
    fputs("\n  --help     this text; 'kiln COMMAND --help' says more about a command\n"
          "  --version  the version\n"
          "\nExit codes: 0 success, 1 failed, 2 wrong usage.\n",
          file);
}

/* By the first word, or by the first two, which are taken first; *words how many. */
static const cli_command *find_command(int *words, int argc, char **argv)
{
    char both[64];
    for (*words = 2; *words > 0; --*words) {
        if (*words > argc)
            continue;
        snprintf(both, sizeof both, *words == 2 ? "%s %s" : "%s", argv[0], *words == 2 ? argv[1] : "");
        for (int i = 0; i < cli_command_count; i++)
            if (strcmp(cli_commands[i].name, both) == 0)
                return &cli_commands[i];
    }
    return NULL;
}

static int help_about(int argc, char **argv)
{
    int unused;
    const cli_command *command = find_command(&unused, argc, argv);
    const struct topic *topic = find_topic(argc > 0 ? argv[0] : NULL);
    if (argc > 0 && strcmp(argv[0], "man") == 0)
        return cli_manual_print();
    if (argc > 0 && strcmp(argv[0], "completion") == 0)
        return cli_completion_print(argc > 1 ? argv[1] : NULL);
    if (topic)
        topic->print();
    else if (command)
        cli_command_help(command);
    else if (argc > 0)
        return cli_usage_error(NULL, "there is no help about '%s'", argv[0]);
    else
        print_help(stdout);
    return CLI_OK;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    cli_begin(argc, argv);
    if (!name) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(name, "--version") == 0) {
        printf("kiln %s\n", kiln_version());
        return cli_finish(CLI_OK);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return cli_finish(help_about(argc - 2, argv + 2));
    int words;
    const cli_command *command = find_command(&words, argc - 1, argv + 1);
    if (!command) {
        kiln_variables_check();
        return cli_finish(cli_usage_error(NULL, "there is no command '%s'", name));
    }
    return cli_finish(command->run ? cli_run(command, argc - 1 - words, argv + 1 + words)
                                   : cli_program_start(command->name, argv + 1));
}
