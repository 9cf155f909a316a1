/* cli.h - what the files of the command share: options, JSON, arguments, and the subcommands. */
#ifndef KILN_CLI_H
#define KILN_CLI_H

#include <kiln/kiln.h>
#include <stdio.h>

/* Exit codes of the command. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/* ---- options ---- */

typedef struct cli_list {
    const char **items;
    int count;
} cli_list;

typedef struct cli_options {
    cli_list positional, outputs, types, axes, archs, hosts, includes;
    const char *target, *arch, *name, *preamble, *dtype, *shape, *size, *order, *reduce_type, *row, *sweep,
        *size_scale, *seconds, *check, *from, *to, *raw, *header, *text;
    int repeat, jobs, time, memory;
    bool help, json, fast_math, no_fma, round_each, keepdims, exclusive, reverse, descending, list, explain,
        quiet, checks, partial;
    uint64_t given; /* a bit for each row of the table of options that was read */
} cli_options;

/* One bit for each subcommand, to say which options it takes. */
enum {
    CLI_MAP = 1,
    CLI_SOURCE = 2,
    CLI_EXPLAIN = 4,
    CLI_INFO = 8,
    CLI_CACHE = 16,
    CLI_BENCH = 32,
    CLI_REDUCE = 64,
    CLI_OPERATIONS = 128,
    CLI_EVAL = 256,
    CLI_BAKE = 512,
    CLI_CACHE_EXPLAIN = 1024,
    CLI_SHOW = 2048,
    CLI_SCAN = 4096,
    CLI_SELECT = 8192,
    CLI_SORT = 16384,
    CLI_ALL = 32767
};

typedef struct cli_command {
    unsigned bit;
    const char *name;
    const char *usage;   /* what follows the name on the usage line */
    const char *summary; /* one line */
    const char *details; /* the rest of its help, lines that end in \n */
    int min_positional, max_positional;
    int (*run)(const cli_options *options); /* NULL: a program of its own, kiln-NAME */
} cli_command;

extern const cli_command cli_commands[];
extern const int cli_command_count;

/* Reads the words behind the subcommand's name. CLI_OK or CLI_USAGE, then a message has been printed. Free
 * *out either way. */
int cli_options_read(cli_options *out, const cli_command *command, int argc, char **argv);
void cli_options_free(cli_options *options);
/* For commands of several forms ('map', 'reduce'; 'merge', '--list'): CLI_USAGE, with a message, where an
 * option was given that this one has no use for. */
int cli_form_check(const char *command, const char *form, const cli_options *options);
void cli_options_help(FILE *file, const cli_command *command);
typedef struct cli_option_info {
    char name[32];     /* with its dashes */
    const char *value; /* NULL: it takes none */
    const char *help;
} cli_option_info;
/* The nth option of a command; false where there is none. */
bool cli_option_at(cli_option_info *out, const cli_command *command, int n);

/* ---- how a program begins and ends (cli_start.c) ---- */

/* First of all: standard descriptors, and whether errors are printed in JSON. */
void cli_begin(int argc, char **argv);
/* Runs a command over the words behind its name. */
int cli_run(const cli_command *command, int argc, char **argv);
/* What the process ends with: output that could not be written is a failure. */
int cli_finish(int code);
void cli_command_help(const cli_command *command);

/* ---- programs of their own (cli_program.c) ---- */

/* Becomes kiln-NAME with these words, of which the first is its name. Returns where that fails, after a
 * message. */
int cli_program_start(const char *name, char **argv);
/* What kiln-NAME prints for a word, cut where it is longer. False where it failed; *out is a string either
 * way. */
bool cli_program_read(char *out, size_t size, const char *name, const char *word);

/* The variables of the environment, a paragraph each. */
void cli_environment_print(void);
/* The manual page; the completion of a shell. CLI_OK, or CLI_USAGE after a message. */
int cli_manual_print(void);
int cli_completion_print(const char *shell);

/* Records that --json is among the words: errors are printed as an object too, at the end. */
void cli_errors_in_json(bool wanted);
void cli_errors_finish(int code);
/* Ends the object that is a command's whole output, with what was complained of as members, and its line. */
struct cli_json;
void cli_json_finish(struct cli_json *json);
/* Prints a line on standard error, and keeps it for --json; returns CLI_FAILED. */
int cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The command's own error, for cli_library_error; returns status. */
kiln_status cli_fail(kiln_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The message of the last cli_fail, else the library's. */
const char *cli_fail_message(void);

/* Prints "kiln NAME: ..." and where help is; returns CLI_USAGE. */
int cli_usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the last error of cli_fail, else the library's; returns CLI_FAILED. */
int cli_library_error(const cli_options *options);
/* ... a message about a value that was given, in the same way. */
int cli_input_error(const cli_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

double cli_now_ms(void);

/* Shows the current action on the last line of the terminal that standard error is: at once with a bar if
 * count is not 0, else after a second, with the elapsed seconds. Nothing with --quiet. Long texts are cut. */
void cli_progress(const cli_options *options, int done, int count, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The line goes away for good; the command's thread alone says so, before it prints what it has. */
void cli_progress_end(void);
/* The line goes away for as long as a message needs; any thread. */
void cli_progress_hide(void);

/* ---- JSON ---- */

/* Writes one JSON value by nested calls. key is NULL inside a list and for the outermost value. */
typedef struct cli_json {
    FILE *file;
    bool not_first;
} cli_json;

void cli_json_open(cli_json *json, const char *key, char bracket);
/* True if any has been begun. */
bool cli_json_was_printed(void);
void cli_json_close(cli_json *json, char bracket);
void cli_json_text(cli_json *json, const char *key, const char *value);
void cli_json_number(cli_json *json, const char *key, double value);
void cli_json_integer(cli_json *json, const char *key, int64_t value);
void cli_json_boolean(cli_json *json, const char *key, bool value);
/* dtype and shape of an array as two members. */
void cli_json_array(cli_json *json, const kiln_array *array);

/* ---- arguments of a kernel ---- */

/* The arguments and outputs of one call; owns the arrays. */
typedef struct cli_call {
    kiln_kernel *kernel;
    kiln_arg *in;
    kiln_array **out;
    int n_in, n_out;
    const char **word; /* the arguments, as they were given */
    int n_words;
    const char **file; /* by output: where it goes, as -o has it; NULL: it is shown */
    int n_texts;       /* words that define the kernel: those of a reduction are 6 */
    bool reduces;      /* results lack the axes that are reduced */
} cli_call;
#define CLI_CALL_INIT                                                                                        \
    {                                                                                                        \
        NULL, NULL, NULL, 0, 0, NULL, 0, NULL, 0, false                                                      \
    }

/* Warns where a reduction that has run sums or multiplies in integers of 8 or 16 bits. */
void cli_narrow_warn(const cli_call *call, const cli_options *options);
/* Reads text as a weak scalar: 3, -0.5, 1e-3, true, 1+2j. False: it is no number. */
bool cli_number_read(kiln_arg *out, const char *text);

/* Defines the kernel of `IN OUT BODY` and its options. */
kiln_status cli_call_define(cli_call *call, const cli_options *options);
/* ... of `IN OUT MAP REDUCE POST IDENTITY`; "-" or nothing as identity: there is none. */
kiln_status cli_call_define_reduction(cli_call *call, const cli_options *options);
/* The same for kernels that scan, and for those that select. */
kiln_status cli_call_define_scan(cli_call *call, const cli_options *options);
kiln_status cli_call_define_selection(cli_call *call, const cli_options *options);
/* ... of `IN OUT KEYS BODY`, where KEYS are "[TYPE:] EXPRESSION [desc]; ...". */
kiln_status cli_call_define_sort(cli_call *call, const cli_options *options);
/* CLI_FAILED, with a message, where a number among the arguments is beyond what 64 bits hold. */
int cli_numbers_check(const cli_call *call, const cli_options *options);
/* ... of `EXPRESSION NAME=ARGUMENT...`, where the words are known to be such. */
kiln_status cli_call_define_expression(cli_call *call, const cli_options *options);
/* CLI_FAILED, with a message, where there are more arguments than parameters, and they look like what a shell
 * makes of a pattern of file names. */
int cli_words_check(const cli_call *call, const cli_options *options);
/* CLI_USAGE, with a message, where a word behind the expression is no NAME=ARGUMENT. */
int cli_names_check(const char *command, const cli_options *options);
/* True if a word is NAME=REST; *length is that of the name. */
bool cli_word_has_name(const char *word, size_t *length);
/* Reads the arguments: numbers and files; with descriptions also "float32[2,3]",
 * and, where there are no arguments at all, arrays that fit the signature. */
kiln_status cli_call_read(cli_call *call, const cli_options *options, kiln_device device, bool descriptions);
/* CLI_USAGE, with a message, where --dtype or --type is none, or names a placeholder that neither of the
 * signatures, the first two words, has. */
int cli_types_check(const char *command, const cli_options *options);
/* CLI_USAGE, with a message, where --shape is no shape. */
int cli_shape_check(const char *command, const cli_options *options);
/* Reads "2,3", the text of --shape or --size. Returns the number of extents, -1 where the text is none. */
int cli_shape_read(int64_t *shape, const char *text);
/* Reads every --axis ("-1", "0,2", or "none" alone) into axes, KILN_MAX_NDIM at most; CLI_USAGE, with a
 * message, where one is none. */
int cli_axes_read(int *axes, int *count, const char *command, const cli_options *options);
/* Makes the outputs of --shape, where it was given. */
kiln_status cli_call_make_outputs(cli_call *call, const cli_options *options, kiln_device device);
/* Frees its arrays, for other ones. */
void cli_call_drop_arrays(cli_call *call);
void cli_call_free(cli_call *call);

/* ---- files of arrays (formats.c) ---- */

/* Reads FILE, FILE.npz:NAME, FILE.npy:FIELD, or -, standard input. */
kiln_status cli_array_read(kiln_array **out, const char *word, const cli_options *options,
                           kiln_device device);

typedef struct cli_result {
    const char *name;
    kiln_array *array;
    const char *word; /* where it goes, as it was given; NULL: nowhere */
} cli_result;
/* Writes those that go somewhere; into a .npz file all that go there. The words are NULL afterwards. */
kiln_status cli_results_write(cli_result *results, int n, const cli_options *options);
/* CLI_USAGE, with a message: the suffix of what -o was given is that of no format. */
int cli_result_check(const char *command, const char *word, const cli_options *options);
/* The part behind the colon in "photo.npz:mean"; NULL: the word names no part of a file. */
const char *cli_file_member(const char *word);
/* The path of a word, without the part that stands behind the colon; false where it is too long. */
bool cli_file_path(char *out, size_t size, const char *word);
/* True if two results are put into one file together: parts of one archive, spelt alike. */
bool cli_results_share_file(const char *word, const char *other, const cli_options *options);
/* CLI_USAGE, with a message, where --from, --to or --raw is none. */
int cli_formats_check(const char *command, const cli_options *options);
/* A line for each format; their names, with blanks between. */
void cli_formats_help(FILE *file);
const char *cli_formats_names(void);
/* With as few digits as are needed to read the same number back. */
void cli_number_text(char text[40], double value, bool is_float32);

/* ---- the report of a run ---- */

/* Results of at most this many elements are shown in full, as NumPy does. */
enum { CLI_SCREENFUL = 1000 };

typedef struct cli_times {
    double read_ms, define_ms, call_ms, finish_ms, write_ms;
    kiln_benchmark repeat; /* of --repeat */
    kiln_call_info info;
    int files, compiled; /* of a glob: how many there were, and calls that compiled */
} cli_times;

/* Prints the results that no -o takes, on standard error where another of them went to standard output; and,
 * unless --quiet is given, on standard error what the run took and the explanation of --explain (NULL: none).
 * With --json all of it is an object, in place of the results. */
kiln_status cli_report(const cli_call *call, const cli_options *options, const cli_times *times,
                       const char *explanation);

/* ---- subcommands ---- */

int cli_map_run(const cli_options *options);
int cli_reduce_run(const cli_options *options);
/* True for a word that begins a definition: map, reduce and so on. */
bool cli_is_form(const char *word);
int cli_scan_run(const cli_options *options);
int cli_select_run(const cli_options *options);
int cli_sort_run(const cli_options *options);
int cli_eval_run(const cli_options *options);
int cli_show_run(const cli_options *options);
int cli_source_run(const cli_options *options);
int cli_explain_run(const cli_options *options);
int cli_operations_run(const cli_options *options);
int cli_info_run(const cli_options *options);
int cli_cache_run(const cli_options *options);
int cli_cache_explain_run(const cli_options *options);
int cli_bake_run(const cli_options *options);

/* The specialisations that a call needs which such words define, as `kiln explain` prints them. *out is to
 * be freed, after a failure too. */
int cli_explain_lines(char **out, const cli_options *options);
/* The whole file, with a NUL behind it; NULL, after a message. */
void *cli_file_read(size_t *size, const char *path);
/* True if both are there, and one file. */
bool cli_files_are_same(const char *path, const char *other);
/* True if a file can be written there: said before hours of work; false, after a message. */
bool cli_file_can_write(const char *path);
/* kiln_file_write, durable; false, after a message. */
bool cli_file_write(const char *path, const void *data, size_t size);

/* Bytes that grow; a failed allocation is remembered. */
typedef struct cli_bytes {
    unsigned char *data;
    size_t size, capacity;
    bool failed;
} cli_bytes;
void cli_bytes_put(cli_bytes *bytes, const void *data, size_t size);
/* At most 255 characters. */
void cli_bytes_printf(cli_bytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A file, or "-", standard input, with a NUL behind it; of one that has more than `most` bytes what it begins
 * with. bytes->data is to be freed. */
kiln_status cli_bytes_read(cli_bytes *bytes, const char *path, size_t most);
/* The names of the arrays of an archive that is named whole, or of the fields of a structured .npy file, with
 * a NUL behind each, to be freed; else none. */
kiln_status cli_parts_list(cli_bytes *out, const char *word, const cli_options *options);

/* ---- the fields of a specialisation: key="value", escapes as they are ---- */

typedef struct cli_field {
    const char *key, *value;
    int key_length, value_length, nth; /* nth: of those with this key */
} cli_field;
/* The field that begins at *at, which moves behind it; false where there is none. nth is 0. */
bool cli_field_next(cli_field *out, const char **at);

/* The record's lines for the call that such words define: `map`, `reduce` or `eval` with its words, as for
 * `kiln explain`. *out is to be freed, after a failure too. */
int cli_record_lines(char **out, const cli_options *options);

#endif
