/* Raw modules: the source is the user's, with the types and functions of generated kernels in a header that
 * it may include. */
#include "store/compile_job.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "codegen/prelude.h"
#include "schedules/spec_text.h"

static const char types_header[] = "kiln/types.h";

/* ---- <kiln/types.h> ---- */

/* True if the source reaches headers whose texts are not known here. */
static bool reaches_files(const kn_module_spec *m)
{
    static const char *const options[] = {"-I", "--include-path", "-include", "--pre-include", "-isystem"};
    bool found = m->has_folders;
    for (int i = 0; i < m->n_options && !found; i++)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++)
            found = found || strncmp(m->option[i], options[k], strlen(options[k])) == 0;
    return found;
}

/* The types are present if the source, a header or a macro may include them. */
bool kn_module_wants_types(const kn_module_spec *m)
{
    bool found = strstr(m->source, types_header) || reaches_files(m);
    for (int i = 0; i < m->n_headers && !found; i++)
        found = strstr(m->header_text[i], types_header);
    for (int i = 0; i < m->n_options && !found; i++)
        found = strstr(m->option[i], types_header);
    return found;
}

/* The types and functions of generated kernels that the module names anywhere; all of them, if it may name
 * more than its text shows. */
static kiln_status write_types(kn_str *types, const kn_module_spec *m)
{
    static const char all_types[] = "float16 bfloat16 complex atomicAdd min int64_t";
    int n = 0;
    size_t capacity = 2 + (size_t)m->n_headers + (size_t)m->n_options + (size_t)m->n_expressions;
    const char **texts = kn_malloc(capacity * sizeof *texts);
    if (!texts)
        return kn_error_memory("a module's texts");
    texts[n++] = m->source;
    if (reaches_files(m))
        texts[n++] = all_types;
    for (int i = 0; i < m->n_headers; i++)
        texts[n++] = m->header_text[i];
    for (int i = 0; i < m->n_options; i++)
        texts[n++] = m->option[i];
    for (int i = 0; i < m->n_expressions; i++)
        texts[n++] = m->expression[i];
    kn_str_append(types, "#pragma once\n");
    kiln_status status = kn_prelude_append(types, KN_CUDA, texts, n, NULL);
    kn_free(texts);
    return status == KILN_OK ? kn_str_status(types, types_header) : status;
}

/* ---- the job ---- */

typedef struct own {
    const char **option; /* the user's, then "-I" and each folder */
    kn_str folders;      /* the memory of the folder list */
    const char **header; /* names, then texts: the user's headers and kiln/types.h */
    kn_str types;        /* the memory of the types */
} own;

static void free_own(void *user)
{
    own *o = user;
    kn_free(o->option);
    kn_str_free(&o->folders);
    kn_free(o->header);
    kn_str_free(&o->types);
    kn_free(o);
}

static kiln_status gather_headers(own *o, const kn_module_spec *m, int n_headers)
{
    size_t bytes = 2 * (size_t)(m->n_headers + 1) * sizeof *o->header;
    kn_free(o->header); /* the source is written anew where a first try of the compiler's failed */
    kn_str_clear(&o->types);
    o->header = kn_malloc(bytes);
    if (!o->header)
        return kn_error_memory("headers");
    for (int i = 0; i < m->n_headers; i++) {
        o->header[i] = m->header_name[i];
        o->header[n_headers + i] = m->header_text[i];
    }
    if (n_headers == m->n_headers)
        return KILN_OK;
    kiln_status status = write_types(&o->types, m);
    o->header[m->n_headers] = types_header;
    o->header[n_headers + m->n_headers] = kn_str_text(&o->types);
    return status;
}

static kiln_status write(kn_str *source, kn_compile_request *compile, const kn_compile_job *job)
{
    const kn_module_spec *m = job->spec;
    own *o = job->own;
    int n_headers = m->n_headers + (m->generator != NULL);
    kiln_status status = m->generator ? kn_compile_job_check_generator(m->name, m->generator) : KILN_OK;
    if (status == KILN_OK)
        status = gather_headers(o, m, n_headers);
    if (status != KILN_OK)
        return status;
    compile->flags |= KN_COMPILE_USER_MODULE |
                      (m->flags & KILN_MODULE_FAST_MATH ? KN_COMPILE_FAST_MATH : 0u) |
                      (m->flags & KILN_MODULE_NO_FMA ? KN_COMPILE_NO_FMA : 0u);
    compile->options = job->options;
    compile->n_options = job->n_options;
    compile->header_names = o->header;
    compile->header_texts = o->header + n_headers;
    compile->n_headers = n_headers;
    compile->name_expressions = m->expression;
    compile->n_name_expressions = m->n_expressions;
    kn_str_append(source, m->source);
    return KILN_OK;
}

static kiln_status gather_options(own *o, const kn_module_spec *m, const char *const *folders, int n_folders)
{
    size_t count = (size_t)m->n_options + (size_t)n_folders;
    int n = 0;
    o->option = kn_calloc(count + 1, sizeof *o->option);
    if (!o->option)
        return kn_error_memory("compiler options");
    for (int i = 0; i < n_folders; i++) {
        kn_str_append(&o->folders, "-I");
        kn_str_append_n(&o->folders, folders[i], strlen(folders[i]) + 1);
    }
    if (kn_str_status(&o->folders, "include folders") != KILN_OK)
        return KILN_ERROR_MEMORY;
    for (int i = 0; i < m->n_options; i++)
        o->option[n++] = m->option[i];
    const char *folder = o->folders.data;
    for (int i = 0; i < n_folders; i++, folder += strlen(folder) + 1)
        o->option[n++] = folder;
    return KILN_OK;
}

kiln_status kn_compile_job_of_module(kn_compile_job *out, const kn_module_spec *spec,
                                     const char *const *folders, int n_folders)
{
    own *o = kn_calloc(1, sizeof *o);
    *out = (kn_compile_job){.name = spec->name,
                            .target = spec->target,
                            .write = write,
                            .spec = spec,
                            .own = o,
                            .free_own = free_own};
    if (!o)
        return kn_error_memory("a module's specialisation");
    kiln_status status = gather_options(o, spec, folders, n_folders);
    out->options = o->option;
    out->n_options = spec->n_options + n_folders;
    kn_module_spec_format(&out->what, spec);
    return status == KILN_OK ? kn_str_status(&out->what, "a module's specialisation") : status;
}
