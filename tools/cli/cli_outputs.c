/* cli_outputs.c - whether what is written would destroy what is still to be read, or another result: all
 * names are known, and compared as files, before the first call. */
#include "cli_glob.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file, as the system tells files apart: other spellings, links and other case are the same one. */
typedef struct used_file {
    dev_t device;
    ino_t inode;             /* of the file; of its folder where there is none yet */
    char name[NAME_MAX + 1]; /* in that folder; "" where it is there */
    char *word;
    const char *given; /* an output's -o, which may have {} in it */
    int iteration;     /* of a glob; EACH_TURN */
    bool is_output;
} used_file;

enum { EACH_TURN = -1 };

typedef struct file_list {
    used_file *items;
    int count, capacity;
    bool has_failed;
} file_list;

/* ---- which file a name is ---- */

/* A file that does not exist yet is identified by its folder; a dangling link by its target. */
static bool identify_missing(used_file *out, const char *given)
{
    char path[PATH_MAX], target[PATH_MAX];
    struct stat info;
    ssize_t length;
    if (snprintf(path, sizeof path, "%s", given) >= (int)sizeof path)
        return false;
    for (int links = 0; links < 40 && (length = readlink(path, target, sizeof target)) >= 0; links++) {
        char *slash = strrchr(path, '/');
        size_t at = slash && target[0] != '/' ? (size_t)(slash - path) + 1 : 0;
        if (at + (size_t)length >= sizeof path)
            return false;
        memcpy(path + at, target, (size_t)length);
        path[at + (size_t)length] = 0;
    }
    char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (strlen(name) >= sizeof out->name)
        return false; /* nothing can be there, as the call will say */
    strcpy(out->name, name);
    if (slash)
        slash[slash == path] = 0;
    if (stat(slash ? path : ".", &info) != 0)
        return false;
    out->device = info.st_dev;
    out->inode = info.st_ino;
    return true;
}

/* False for what is no file: a pipe, a device, a number. */
static bool identify(used_file *out, const char *path)
{
    struct stat info;
    out->name[0] = 0;
    if (stat(path, &info) != 0)
        return errno == ENOENT && out->is_output && identify_missing(out, path);
    out->device = info.st_dev;
    out->inode = info.st_ino;
    return S_ISREG(info.st_mode);
}

static void add_file(file_list *list, const char *word, int iteration, const char *output)
{
    char path[PATH_MAX];
    kiln_arg number;
    used_file file = {.iteration = iteration, .given = output, .is_output = output != NULL};
    if (!word || strcmp(word, "-") == 0 || (!output && cli_number_read(&number, word)) ||
        !cli_file_path(path, sizeof path, word) || !identify(&file, path))
        return;
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 64;
        used_file *items = realloc(list->items, (size_t)capacity * sizeof *items);
        list->has_failed = list->has_failed || !items;
        if (!items)
            return;
        list->items = items;
        list->capacity = capacity;
    }
    file.word = strdup(word);
    list->has_failed = list->has_failed || !file.word;
    list->items[list->count++] = file;
}

static void list_files(file_list *list, const cli_glob *glob, const cli_call *call)
{
    for (int k = 0; k < call->n_words; k++)
        for (int n = 0; n < (glob->path[k] ? glob->count : 1); n++)
            add_file(list, glob->path[k] ? glob->path[k][n] : call->word[k], glob->path[k] ? n : EACH_TURN,
                     NULL);
    for (int j = 0; j < call->n_out; j++)
        for (int n = 0; n < (glob->pattern[j] ? glob->count : 1); n++) {
            char *filled = glob->pattern[j] ? cli_glob_output(glob, j, n) : NULL;
            list->has_failed = list->has_failed || (glob->pattern[j] && !filled);
            add_file(list, glob->pattern[j] ? filled : call->file[j], n, call->file[j]);
            free(filled);
        }
}

/* ---- what meets ---- */

static int compare_identities(const used_file *a, const used_file *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int compare_files(const void *a, const void *b)
{
    const used_file *one = a, *other = b;
    int order = compare_identities(one, other);
    if (order == 0)
        order = (other->is_output > one->is_output) - (other->is_output < one->is_output); /* outputs first */
    return order ? order : (one->iteration > other->iteration) - (one->iteration < other->iteration);
}

static int refuse_outputs(const char *command, const cli_glob *glob, const used_file *one,
                          const used_file *other)
{
    if (one->iteration == other->iteration)
        return cli_usage_error(command,
                               "-o %s and -o %s are one file: the second result would replace the first",
                               one->word, other->word);
    return cli_usage_error(command, "-o %s: several files of '%s' have the same name, and would all go to %s",
                           one->given, glob->first, one->word);
}

static int refuse_input(const char *command, const cli_glob *glob, const used_file *output,
                        const used_file *input)
{
    return cli_usage_error(command,
                           "the result %s would replace %s, which %s: other names or another folder for the "
                           "results of '%s' keep it",
                           output->word, input->word,
                           input->iteration == EACH_TURN ? "every call reads" : "another call reads",
                           glob->first);
}

/* Files of the same identity, outputs first. A call may write what it alone has read. */
static int check_same(const char *command, const cli_glob *glob, const used_file *same, int count,
                      const cli_options *options)
{
    for (int k = 1; k < count && same[0].is_output; k++) {
        if (same[k].is_output && (same[k].iteration != same[0].iteration ||
                                  !cli_results_share_file(same[0].word, same[k].word, options)))
            return refuse_outputs(command, glob, &same[0], &same[k]);
        if (!same[k].is_output && glob->count > 1 && same[k].iteration != same[0].iteration)
            return refuse_input(command, glob, &same[0], &same[k]);
    }
    return CLI_OK;
}

int cli_outputs_check(const char *command, const cli_glob *glob, const cli_call *call,
                      const cli_options *options)
{
    file_list list = {NULL, 0, 0, false};
    int code = CLI_OK;
    list_files(&list, glob, call);
    if (list.has_failed)
        code = cli_complain("kiln: out of memory");
    else if (list.count > 0)
        qsort(list.items, (size_t)list.count, sizeof *list.items, compare_files);
    for (int first = 0, end; first < list.count && code == CLI_OK; first = end) {
        for (end = first + 1; end < list.count && !compare_identities(&list.items[first], &list.items[end]);
             end++)
            ;
        code = check_same(command, glob, &list.items[first], end - first, options);
    }
    for (int k = 0; k < list.count; k++)
        free(list.items[k].word);
    free(list.items);
    return code;
}
