/* compile/reads.c - parses the three formats in which compilers list the files that they read. */
#include "compile/reads.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Lists are lines, as in the dependency file: a name that is two lines cannot be told. */
static void add_line(kn_compile_reads *reads, kn_str *list, const char *text, size_t length)
{
    if (length == 0 || memchr(text, '\n', length))
        reads->is_unknown = true;
    kn_str_append_n(list, text, length);
    kn_str_append_n(list, "\n", 1);
}

void kn_reads_add_file(kn_compile_reads *reads, const char *path, size_t length)
{
    add_line(reads, &reads->files, path, length);
}

void kn_reads_add_folder(kn_compile_reads *reads, const char *path, size_t length, bool is_system)
{
    add_line(reads, is_system ? &reads->system_folders : &reads->folders, path, length);
}

/* ---- a rule for make: "code.so: a.h dir/b\ c.h \<newline> d$$.h" ---- */

/* The next name of a rule, its escapes undone; the rule ends with its line, which gives an empty one. */
static const char *next_name(kn_str *name, const char *at, const char *end)
{
    kn_str_clear(name);
    while (at < end && (strchr(" \t\r", *at) || (*at == '\\' && at + 1 < end && at[1] == '\n')))
        at += *at == '\\' ? 2 : 1;
    while (at < end && !strchr(" \t\r\n", *at)) {
        if (at + 1 < end && ((*at == '\\' && strchr(" #\\:", at[1])) || (*at == '$' && at[1] == '$')))
            at++;
        else if (*at == '\\' && at + 1 < end && at[1] == '\n')
            break;
        kn_str_append_n(name, at++, 1);
    }
    return at;
}

void kn_reads_take_rule(kn_compile_reads *reads, const char *text, size_t size, const char *private_folder)
{
    kn_str name = KN_STR_INIT;
    const char *end = text + size, *at = memmem(text, size, ": ", 2);
    size_t skipped = strlen(private_folder);
    if (!at)
        reads->is_unknown = true;
    for (at = at ? next_name(&name, at + 2, end) : end; name.length > 0; at = next_name(&name, at, end))
        if (strncmp(name.data, private_folder, skipped) != 0 || name.data[skipped] != '/')
            kn_reads_add_file(reads, name.data, name.length);
    if (name.failed)
        reads->files.failed = true;
    kn_str_free(&name);
}

/* ---- -v ---- */

static bool begins_with(const char *text, size_t length, const char *prefix)
{
    size_t n = strlen(prefix);
    return length >= n && memcmp(text, prefix, n) == 0;
}

/* The folders of a line: ` /usr/include` in the list, or `ignoring nonexistent directory "/x"`, which may
 * come to be. */
static bool folder_of_line(const char **begin, size_t *length, bool is_in_list)
{
    static const char missing[] = "ignoring nonexistent directory \"";
    if (is_in_list && **begin == ' ') {
        ++*begin, --*length;
        return true;
    }
    if (!begins_with(*begin, *length, missing) || (*begin)[*length - 1] != '"')
        return false;
    *begin += sizeof missing - 1;
    *length -= sizeof missing;
    return true;
}

bool kn_reads_take_search_list(kn_compile_reads *reads, const char *text, const char *installation)
{
    bool is_in_list = false, is_ended = false;
    for (const char *line = text; *line && !is_ended;) {
        const char *stop = strchrnul(line, '\n'), *folder = line;
        size_t length = (size_t)(stop - line);
        if (begins_with(line, length, "#include "))
            is_in_list = true;
        else if (begins_with(line, length, "End of search list"))
            is_ended = true;
        else if (folder_of_line(&folder, &length, is_in_list))
            kn_reads_add_folder(reads, folder, length,
                                begins_with(folder, length, "/usr/") ||
                                    begins_with(folder, length, installation));
        line = *stop ? stop + 1 : stop;
    }
    return is_ended;
}

/* ---- the raw listing of NVRTC's front end ---- */

static bool is_in_memory(const kn_compile_request *request, const char *name, size_t length)
{
    for (int i = 0; i < request->n_headers; i++)
        if (strlen(request->header_names[i]) == length && memcmp(request->header_names[i], name, length) == 0)
            return true;
    return false;
}

/* NVRTC's own texts ("__nv_nvrtc_builtin_header.h") have names as if they were files here. */
static bool is_built_in(const char *name, size_t length)
{
    return begins_with(name, length, "__nv_") && !memchr(name, '/', length);
}

/* `L 1 "folder/file.h" 1` says that a file begins here. All other lines begin with another letter. */
void kn_reads_take_listing(kn_compile_reads *reads, const char *text, size_t size,
                           const kn_compile_request *request)
{
    const char *end = text + size;
    if (!begins_with(text, size, "L 1 \""))
        reads->is_unknown = true;
    for (const char *line = text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        size_t length = (size_t)(stop - line);
        if (begins_with(line, length, "L 1 \"") && length > 8 && memcmp(stop - 3, "\" 1", 3) == 0) {
            const char *name = line + 5;
            length -= 8;
            if (!is_in_memory(request, name, length) && !is_built_in(name, length))
                kn_reads_add_file(reads, name, length);
        }
        line = stop + 1;
    }
}

/* ---- changes meanwhile ---- */

bool kn_reads_are_newer(const kn_compile_reads *reads, const struct timespec *since)
{
    const char *path = kn_str_text(&reads->files);
    while (*path) {
        char name[PATH_MAX];
        struct stat info;
        size_t length = strcspn(path, "\n");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        if (length >= sizeof name || stat(name, &info) != 0 || info.st_ctim.tv_sec > since->tv_sec ||
            (info.st_ctim.tv_sec == since->tv_sec && info.st_ctim.tv_nsec > since->tv_nsec))
            return true;
        path += length + (path[length] == '\n');
    }
    return false;
}
