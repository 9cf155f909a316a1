/* compile/host_compiler_folder.c - writes the source and the headers into the private folder. */
#include "compile/host_compiler_folder.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/os.h"
#include "compile/compiler.h"

/* A header may be named with folders ("math/constants.h"), but must stay inside. */
static bool is_safe_header_name(const char *name)
{
    if (name[0] == '/' || name[0] == 0)
        return false;
    for (const char *part = name; *part;) {
        size_t length = strcspn(part, "/");
        if (length == 0 || (length == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        part += length + (part[length] == '/');
    }
    return strcmp(name, KN_HOST_SOURCE_FILE) != 0 && strcmp(name, KN_HOST_CODE_FILE) != 0 &&
           strcmp(name, KN_HOST_RULE_FILE) != 0 && strcmp(name, KN_HOST_LINK_RULE_FILE) != 0;
}

/* #line makes messages name the kernel, or the header, and not our file. */
static kiln_status write_text(const char *path, const kn_str *name, const char *content)
{
    kn_str text = KN_STR_INIT;
    kn_str_printf(&text, "#line 1 \"%s\"\n", kn_str_text(name));
    kn_str_append(&text, content);
    kn_str_append(&text, "\n");
    kiln_status status =
        name->failed ? kn_error_memory("a source's name") : kn_str_status(&text, "source text");
    if (status == KILN_OK)
        status = kn_os_replace_file(path, text.data, text.length, false);
    kn_str_free(&text);
    return status;
}

static kiln_status write_header(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    if (!is_safe_header_name(name))
        return kn_error(KILN_ERROR_INVALID, "header name \"%s\": expected a relative path without \"..\"",
                        name);
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return kn_error(KILN_ERROR_INVALID, "header name is too long: \"%.80s...\"", name);
    char *slash = strrchr(path, '/');
    kiln_status status = KILN_OK;
    if (strchr(name, '/')) {
        *slash = 0;
        status = kn_os_make_folders(path, 0700);
        *slash = '/';
    }
    kn_str as_written = KN_STR_INIT;
    kn_str_append(&as_written, name);
    if (status == KILN_OK)
        status = write_text(path, &as_written, text);
    kn_str_free(&as_written);
    return status;
}

static kiln_status write_source(const char *folder, const kn_compile_request *request)
{
    char path[PATH_MAX];
    kn_str name = KN_STR_INIT;
    snprintf(path, sizeof path, "%s/%s", folder, KN_HOST_SOURCE_FILE);
    kn_compile_source_name(&name, request);
    kiln_status status = write_text(path, &name, request->source);
    kn_str_free(&name);
    return status;
}

kiln_status kn_host_fill_folder(const char *folder, const kn_compile_request *request)
{
    kiln_status status = write_source(folder, request);
    for (int i = 0; i < request->n_headers && status == KILN_OK; i++)
        status = write_header(folder, request->header_names[i], request->header_texts[i]);
    return status;
}

kiln_status kn_host_read_code(kn_blob *out, const char *folder, const char *file, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    kiln_status status = kn_os_read_plain_file(out, path, KN_HOST_FILE_MAX_BYTES, true);
    return status == KILN_OK ? status : kn_error_context("%s: what the C++ compiler made", name);
}
