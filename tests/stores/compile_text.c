/* compile_text FILE: compiles each line, the text of a specialisation, into the cache: what a bake does. It
 * is linked without kernels, arrays, launches and devices, none of which that needs. Says how each was
 * found. */
#include "base/blob.h"
#include "base/error.h"
#include "base/os.h"
#include "store/build.h"
#include "schedules/spec_text.h"

#include <stdio.h>
#include <string.h>

static kiln_status make_job(kn_compile_job *out, const kn_parsed_spec *parsed)
{
    return parsed->kind == KN_SPEC_MODULE ? kn_compile_job_of_module(out, &parsed->module, NULL, 0)
                                          : kn_compile_job_of_program(out, &parsed->spec);
}

/* The text that is written equals the one that was read: otherwise nobody would find it. */
static kiln_status check_text(const kn_compile_job *job, const char *line)
{
    return strcmp(kn_str_text(&job->what), line) == 0
               ? KILN_OK
               : kn_error(KILN_ERROR_INTERNAL, "written as %s", kn_str_text(&job->what));
}

static kiln_status compile_line(const char *line)
{
    static const char *const origins[] = {"nowhere", "memory", "disk", "compiler"};
    kn_parsed_spec parsed;
    kn_compile_job job = {0};
    const kn_build_request request = {.job = &job};
    kn_build_info info = {0};
    kn_blob code = KN_BLOB_INIT;
    kiln_status status = kn_spec_parse(&parsed, line);
    if (status != KILN_OK)
        return status;
    status = make_job(&job, &parsed);
    if (status == KILN_OK)
        status = check_text(&job, line);
    if (status == KILN_OK)
        status = kn_build_code(&code, &request, &info);
    if (status == KILN_OK)
        printf("%s %zu %s\n", origins[info.origin], code.size, job.name);
    kn_blob_free(&code);
    kn_compile_job_free(&job);
    kn_parsed_spec_free(&parsed);
    return status;
}

int main(int argc, char **argv)
{
    kn_blob text = KN_BLOB_INIT;
    int failures = 0;
    if (argc != 2 || kn_os_read_file(&text, argv[1]) != KILN_OK) {
        fprintf(stderr, "usage: compile_text FILE\n");
        return 2;
    }
    char *lines = text.data; /* the last one ends with a newline */
    for (char *end; (end = memchr(lines, '\n', text.size - (size_t)(lines - (char *)text.data)));
         lines = end + 1) {
        *end = '\0';
        if (compile_line(lines) != KILN_OK) {
            fprintf(stderr, "%s\n%s\nin %.300s\n", kiln_error_message(), kiln_error_log(), lines);
            failures++;
        }
    }
    kn_blob_free(&text);
    kn_build_shutdown();
    return failures > 0;
}
