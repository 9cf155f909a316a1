/* compile/host_compiler_reads.c - which files the host's compiler and linker read, from their own reports. */
#include "compile/host_compiler_reads.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/os.h"
#include "compile/compiler.h"
#include "compile/host_compiler_folder.h"
#include "compile/host_compiler_search.h"
#include "compile/reads.h"

static void take_rule(kn_compile_reads *reads, const char *folder, const char *name)
{
    char path[PATH_MAX];
    kn_blob rule = KN_BLOB_INIT;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (kn_os_read_plain_file(&rule, path, KN_HOST_FILE_MAX_BYTES, true) == KILN_OK)
        kn_reads_take_rule(reads, rule.data, rule.size, folder);
    else
        reads->is_unknown = true;
    kn_blob_free(&rule);
}

static kiln_status ask_search_list(kn_compile_reads *reads, const char *folder,
                                   const kn_compile_request *request)
{
    kn_host_line line;
    kn_str text = KN_STR_INIT;
    int exit_code = 0;
    kiln_status status = kn_host_line_ask(&line, folder, request);
    if (status == KILN_OK)
        status = kn_host_line_run(&line, folder, &text, &exit_code);
    if (status == KILN_OK &&
        (exit_code != 0 ||
         !kn_reads_take_search_list(reads, kn_str_text(&text), kn_host_compiler_find()->installation)))
        reads->is_unknown = true;
    kn_str_free(&text);
    kn_host_line_free(&line);
    return status;
}

/* Files named by a word are read in some way: "@options", "-specs=x", "x.o". Files that a list of options
 * names are unknown. */
static void take_named_file(kn_compile_reads *reads, const char *word)
{
    const char *equals = strchr(word, '=');
    const char *file = word[0] == '@' ? word + 1 : word[0] != '-' ? word : equals ? equals + 1 : "";
    kn_blob content = KN_BLOB_INIT;
    if (!kn_os_is_file(file))
        return;
    kn_reads_add_file(reads, file, strlen(file));
    if (word[0] != '@')
        return;
    if (kn_os_read_plain_file(&content, file, KN_HOST_FILE_MAX_BYTES, false) != KILN_OK ||
        memchr(content.data, '@', content.size))
        reads->is_unknown = true;
    kn_blob_free(&content);
}

static void take_named_files(kn_compile_reads *reads, const kn_compile_request *request)
{
    const kn_host_compiler *host = kn_host_compiler_find();
    const char *word = kn_host_next_word(host->command.data);
    for (int i = 1; i < host->n_words; i++, word = kn_host_next_word(word))
        take_named_file(reads, word);
    for (int i = 0; i < request->n_options; i++)
        take_named_file(reads, request->options[i]);
}

/* The source lies in a folder of our own, so that names in quotes are looked for in the caller's only where
 * an option asks for that: "-Iinclude", "-include x.h". Elsewhere the same kernel serves in any folder. */
static bool looks_here(const char *option)
{
    const char *folder = strncmp(option, "-I", 2) == 0 ? option + 2 : option;
    return folder[0] != '/' && kn_compile_option_reaches(option);
}

static void take_folder_of_caller(kn_compile_reads *reads, const kn_compile_request *request)
{
    bool is_asked = kn_host_compiler_find()->words_reach;
    for (int i = 0; i < request->n_options && !is_asked; i++)
        is_asked = looks_here(request->options[i]);
    if (is_asked)
        kn_reads_add_folder(reads, ".", 1, false);
}

kiln_status kn_host_take_reads(kn_compile_reads *reads, const char *folder, const kn_compile_request *request,
                               kn_host_trace trace, const struct timespec *began)
{
    char environment_now[33];
    kn_error_state before;
    reads->is_traced = reads->uses_environment = true;
    kn_error_save(&before);
    take_rule(reads, folder, KN_HOST_RULE_FILE);
    if (trace == KN_HOST_TRACE_ALL)
        take_rule(reads, folder, KN_HOST_LINK_RULE_FILE);
    take_named_files(reads, request);
    take_folder_of_caller(reads, request);
    kn_error_restore(&before);
    kiln_status status = ask_search_list(reads, folder, request);
    kn_compile_environment_hash(environment_now, KN_ENVIRONMENT_OF_CODE);
    if (kn_reads_are_newer(reads, began) ||
        strcmp(environment_now, kn_host_compiler_find()->environment) != 0)
        reads->is_unknown = true;
    return status;
}

static bool is_below(const char *path, size_t length, const char *folder)
{
    size_t n = strlen(folder);
    return n > 0 && length > n && memcmp(path, folder, n) == 0;
}

/* Appends only the user's headers: all names that there are occur in the system's. */
static void put_users(kn_str *out, const char *lines)
{
    for (size_t length; *lines; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        if (!is_below(lines, length, "/usr/include/") && !is_below(lines, length, "/usr/lib/") &&
            !is_below(lines, length, kn_host_compiler_find()->installation))
            kn_str_printf(out, "%.*s\n", (int)length, lines);
    }
}

void kn_host_list_headers(kn_str *out, const char *folder, const kn_compile_request *request)
{
    kn_compile_reads reads = KN_COMPILE_READS_INIT;
    kn_host_line line;
    kn_str text = KN_STR_INIT;
    int exit_code = 0;
    kiln_status status = kn_host_line_list(&line, folder, request);
    if (status == KILN_OK)
        status = kn_host_line_run(&line, folder, &text, &exit_code);
    if (status == KILN_OK && exit_code == 0)
        take_rule(&reads, folder, KN_HOST_RULE_FILE);
    put_users(out, kn_str_text(&reads.files));
    kn_str_free(&reads.files);
    kn_str_free(&text);
    kn_host_line_free(&line);
}

kn_host_trace kn_host_trace_of(const kn_compile_request *request)
{
    static const char *const prefixes[] = {"-l", "-L", "-Wl,", "-X", "-T", "-B", "@", "-specs", "--"};
    if (!kn_host_compiler_find()->words_reach && !kn_compile_reaches(request))
        return KN_HOST_TRACE_NOTHING;
    for (int i = 0; i < request->n_options; i++) {
        for (size_t f = 0; f < sizeof prefixes / sizeof *prefixes; f++)
            if (strncmp(request->options[i], prefixes[f], strlen(prefixes[f])) == 0)
                return KN_HOST_TRACE_ALL;
        if (request->options[i][0] != '-' && kn_os_is_file(request->options[i]))
            return KN_HOST_TRACE_ALL;
    }
    return KN_HOST_TRACE_HEADERS;
}
