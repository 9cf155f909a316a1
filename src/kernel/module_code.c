/* What raw code is, and from source to code through the cache. */
#include "kernel/module.h"

#include <string.h>

#include "base/alloc.h"
#include "base/elf.h"
#include "base/error.h"
#include "codegen/codegen.h"
#include "codegen/prelude.h"
#include "plan/spec_text.h"

kiln_status kn_module_options_read(kiln_module_options *out, const kiln_module_options *given)
{
    *out = (kiln_module_options)KILN_MODULE_OPTIONS_INIT;
    if (given && (given->struct_size == 0 || given->struct_size > sizeof *out))
        return kn_error(KILN_ERROR_INVALID,
                        "options.struct_size: %zu was given; start from KILN_MODULE_OPTIONS_INIT",
                        given->struct_size);
    if (given)
        memcpy(out, given, given->struct_size);
    out->name = out->name ? out->name : "module";
    const struct {
        const char *what;
        const void *list;
        int n;
    } lists[] = {{"compile_options", out->compile_options, out->n_compile_options},
                 {"include_folders", out->include_folders, out->n_include_folders},
                 {"header_names", out->header_names, out->n_headers},
                 {"header_texts", out->header_texts, out->n_headers},
                 {"name_expressions", out->name_expressions, out->n_name_expressions}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].n < 0 || (lists[i].n > 0 && !lists[i].list))
            return kn_error(KILN_ERROR_INVALID, "options.%s: %d were announced, %s", lists[i].what,
                            lists[i].n, lists[i].n < 0 ? "0 or more expected" : "but it is NULL");
    if (out->flags & ~7u)
        return kn_error(KILN_ERROR_INVALID, "options.flags: 0x%x was given; only KILN_MODULE_* are known",
                        out->flags);
    return KILN_OK;
}

/* ---- what it is ---- */

enum { ELF_HEADER_SIZE = 64, ELF_MACHINE_CUDA = 190, CUBIN_ABI_OF_CUDA_13 = 8 };

static bool is_elf(const unsigned char *code, size_t size)
{
    return size >= ELF_HEADER_SIZE && memcmp(code, "\177ELF", 4) == 0;
}

static bool is_cuda_elf(const unsigned char *code, size_t size)
{
    return is_elf(code, size) && (code[18] | code[19] << 8) == ELF_MACHINE_CUDA;
}

static bool is_fat_binary(const unsigned char *code, size_t size)
{
    static const unsigned char magic[4] = {0x50, 0xed, 0x55, 0xba};
    return size >= sizeof magic && memcmp(code, magic, sizeof magic) == 0;
}

/* PTX begins with its version, behind comments. */
static bool is_ptx(const char *text, const char *end)
{
    static const char first[] = ".version";
    while (text < end) {
        if (strchr(" \t\r\n", *text) && *text) {
            text++;
        } else if (end - text > 1 && text[0] == '/' && text[1] == '/') {
            const char *line = memchr(text, '\n', (size_t)(end - text));
            text = line ? line : end;
        } else if (end - text > 1 && text[0] == '/' && text[1] == '*') {
            const char *close = memmem(text + 2, (size_t)(end - text - 2), "*/", 2);
            text = close ? close + 2 : end;
        } else {
            return (size_t)(end - text) >= sizeof first && memcmp(text, first, sizeof first - 1) == 0;
        }
    }
    return false;
}

static kiln_code_kind detect(const void *code, size_t size)
{
    if (is_cuda_elf(code, size) || is_fat_binary(code, size))
        return KILN_CODE_CUBIN;
    if (is_elf(code, size) || memchr(code, 0, size))
        return KILN_CODE_DETECT;
    return is_ptx(code, (const char *)code + size) ? KILN_CODE_PTX : KILN_CODE_SOURCE;
}

kiln_status kn_module_kind(kiln_code_kind *out, const void *code, size_t size, kiln_code_kind stated,
                           const char *name)
{
    static const char *const names[] = {"any kind", "CUDA source", "PTX", "a cubin"};
    if (stated < KILN_CODE_DETECT || stated > KILN_CODE_CUBIN)
        return kn_error(KILN_ERROR_INVALID, "options.kind: %d was given; one of KILN_CODE_* was expected",
                        (int)stated);
    kiln_code_kind found = detect(code, size);
    if (found == KILN_CODE_DETECT)
        return kn_error(
            KILN_ERROR_FORMAT,
            "module \"%s\": %zu bytes that are neither CUDA source, PTX, a cubin nor a fat binary", name,
            size);
    bool is_text = found == KILN_CODE_SOURCE || found == KILN_CODE_PTX;
    bool wants_text = stated == KILN_CODE_SOURCE || stated == KILN_CODE_PTX;
    if (stated != KILN_CODE_DETECT && is_text != wants_text)
        return kn_error(KILN_ERROR_FORMAT, "module \"%s\": options.kind says %s, but the code is %s", name,
                        names[stated], names[found]);
    *out = stated != KILN_CODE_DETECT ? stated : found;
    return KILN_OK;
}

/* The driver is told no size: it reads as far as the headers say. */
static kiln_status check_whole(const unsigned char *code, size_t size, const char *name)
{
    struct {
        uint32_t magic;
        uint16_t version, header_size;
        uint64_t size; /* of what follows the header */
    } fat;
    if (!is_fat_binary(code, size))
        return kn_elf_check(code, size, KN_ELF_CUBIN, name);
    if (size >= sizeof fat)
        memcpy(&fat, code, sizeof fat);
    if (size < sizeof fat || fat.header_size > size || fat.size > size - fat.header_size)
        return kn_error(KILN_ERROR_FORMAT,
                        "%s is not whole: the fat binary goes over the end of its %zu bytes", name, size);
    return KILN_OK;
}

/* A cubin runs on its own compute capability and on later minor ones. */
kiln_status kn_module_check_cubin(const void *code, size_t size, const kn_target *target, const char *name)
{
    const unsigned char *bytes = code;
    if (check_whole(bytes, size, name) != KILN_OK)
        return kn_error_context("module");
    if (!is_cuda_elf(bytes, size))
        return KILN_OK; /* a fat binary holds several */
    int made_for = bytes[8] >= CUBIN_ABI_OF_CUDA_13 ? bytes[49] : bytes[48],
        runs = target->compute_capability;
    if (made_for / 10 != runs / 10 || made_for % 10 > runs % 10)
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "module \"%s\": the cubin was made for sm_%d, the target is %s", name, made_for,
                        target->architecture);
    return KILN_OK;
}

/* ---- the specialisation ---- */

static const char types_header[] = "kiln/types.h";

/* Whether the source reaches headers whose texts are not known here. */
static bool reaches_files(const kiln_module_options *o)
{
    static const char *const options[] = {"-I", "--include-path", "-include", "--pre-include", "-isystem"};
    bool found = o->n_include_folders > 0;
    for (int i = 0; i < o->n_compile_options && !found; i++)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++)
            found = found || strncmp(o->compile_options[i], options[k], strlen(options[k])) == 0;
    return found;
}

/* kiln/types.h is there for whoever may include it: the source, a header, a macro that names it. */
static bool wants_types(const char *source, const kiln_module_options *o)
{
    bool found = strstr(source, types_header) || reaches_files(o);
    for (int i = 0; i < o->n_headers && !found; i++)
        found = strstr(o->header_texts[i], types_header);
    for (int i = 0; i < o->n_compile_options && !found; i++)
        found = strstr(o->compile_options[i], types_header);
    return found;
}

/* Everything that the code depends on, but for headers in folders: they are in the row's notes. */
static kn_module_spec spec_of(const kiln_module *module, const char *source, const kiln_module_options *o)
{
    return (kn_module_spec){.name = module->name,
                            .source = source,
                            .generator = wants_types(source, o) ? kn_codegen_generator() : NULL,
                            .target = module->target,
                            .flags = o->flags & (KILN_MODULE_FAST_MATH | KILN_MODULE_NO_FMA),
                            .option = o->compile_options,
                            .n_options = o->n_compile_options,
                            .header_name = o->header_names,
                            .header_text = o->header_texts,
                            .n_headers = o->n_headers,
                            .expression = o->name_expressions,
                            .n_expressions = o->n_name_expressions,
                            .has_folders = o->n_include_folders > 0};
}

/* ---- compiling ---- */

typedef struct module_build {
    const char *source;
    const kiln_module_options *options;
    const char **list; /* the user's options, then "-I" and each folder */
    char *folders;     /* what the latter point into */
    int n;
    const char **header; /* names, then texts: the user's headers and kiln/types.h */
    int n_headers;
    kn_str types; /* what the latter holds */
} module_build;

/* The types and functions that generated kernels have: as much as the module mentions, anywhere. What it
 * reaches beyond that is not known: then all types. */
static kiln_status write_types(module_build *b)
{
    static const char all_types[] = "float16 bfloat16 complex atomicAdd min";
    const kiln_module_options *o = b->options;
    int n = 0;
    size_t room = 2 + (size_t)o->n_headers + (size_t)o->n_compile_options + (size_t)o->n_name_expressions;
    const char **texts = kn_malloc(room * sizeof *texts);
    if (!texts)
        return kn_error_memory(room * sizeof *texts, "a module's texts");
    texts[n++] = b->source;
    if (reaches_files(o))
        texts[n++] = all_types;
    for (int i = 0; i < o->n_headers; i++)
        texts[n++] = o->header_texts[i];
    for (int i = 0; i < o->n_compile_options; i++)
        texts[n++] = o->compile_options[i];
    for (int i = 0; i < o->n_name_expressions; i++)
        texts[n++] = o->name_expressions[i];
    kn_str_append(&b->types, "#pragma once\n");
    kiln_status status = kn_prelude_append(&b->types, KN_CUDA, texts, n);
    kn_free(texts);
    return status == KILN_OK ? kn_str_status(&b->types, types_header) : status;
}

static kiln_status gather_headers(module_build *b)
{
    const kiln_module_options *o = b->options;
    size_t bytes = 2 * (size_t)(o->n_headers + 1) * sizeof *b->header;
    b->n_headers = o->n_headers;
    b->header = kn_malloc(bytes);
    if (!b->header)
        return kn_error_memory(bytes, "headers");
    bool has_types = wants_types(b->source, o);
    b->n_headers += has_types;
    for (int i = 0; i < o->n_headers; i++) {
        b->header[i] = o->header_names[i];
        b->header[b->n_headers + i] = o->header_texts[i];
    }
    if (!has_types)
        return KILN_OK;
    kiln_status status = write_types(b);
    b->header[o->n_headers] = types_header;
    b->header[b->n_headers + o->n_headers] = kn_str_text(&b->types);
    return status;
}

static kiln_status gather_options(module_build *b)
{
    const kiln_module_options *o = b->options;
    kn_str text = KN_STR_INIT;
    size_t count = (size_t)o->n_compile_options + (size_t)o->n_include_folders;
    b->list = kn_calloc(count + 1, sizeof *b->list);
    if (!b->list)
        return kn_error_memory((count + 1) * sizeof *b->list, "compiler options");
    for (int i = 0; i < o->n_include_folders; i++) {
        kn_str_append(&text, "-I");
        kn_str_append_n(&text, o->include_folders[i], strlen(o->include_folders[i]) + 1);
    }
    if (kn_str_status(&text, "include folders") != KILN_OK) {
        kn_str_free(&text);
        return KILN_ERROR_MEMORY;
    }
    for (int i = 0; i < o->n_compile_options; i++)
        b->list[b->n++] = o->compile_options[i];
    const char *folder = b->folders = text.data;
    for (int i = 0; i < o->n_include_folders; i++, folder += strlen(folder) + 1)
        b->list[b->n++] = folder;
    return KILN_OK;
}

static kiln_status generate(void *user, kn_compile_request *compile, kn_str *source)
{
    const module_build *b = user;
    const kiln_module_options *o = b->options;
    compile->flags |= KN_COMPILE_USER_MODULE |
                      (o->flags & KILN_MODULE_FAST_MATH ? KN_COMPILE_FAST_MATH : 0u) |
                      (o->flags & KILN_MODULE_NO_FMA ? KN_COMPILE_NO_FMA : 0u);
    compile->options = b->list;
    compile->n_options = b->n;
    compile->header_names = b->header;
    compile->header_texts = b->header + b->n_headers;
    compile->n_headers = b->n_headers;
    compile->name_expressions = o->name_expressions;
    compile->n_name_expressions = o->n_name_expressions;
    kn_str_append(source, b->source);
    return kn_str_status(source, "a module's source");
}

static kiln_status build(kiln_module *module, const module_build *b, const kn_str *what, kn_build_info *info)
{
    kn_build_request request = {.what = what->data,
                                .name = module->name,
                                .target = module->target,
                                .flags = b->options->flags & KILN_MODULE_NO_COMPILE ? KN_BUILD_NO_COMPILE : 0,
                                .generate = generate,
                                .user = (void *)(uintptr_t)b,
                                .options = b->list,
                                .n_options = b->n,
                                .notes = &module->notes};
    return module->device ? kn_build_module(&module->loaded, &module->code, &request, module->device, info)
                          : kn_build_code(&module->code, &request, info);
}

kiln_status kn_module_compile(kiln_module *module, const char *source, const kiln_module_options *options,
                              kn_build_info *info)
{
    module_build b = {source, options, NULL, NULL, 0, NULL, 0, KN_STR_INIT};
    kn_str what = KN_STR_INIT;
    const kn_module_spec spec = spec_of(module, source, options);
    kn_module_spec_format(&what, &spec);
    kiln_status status = kn_str_status(&what, "a module's key");
    if (status == KILN_OK)
        status = gather_options(&b);
    if (status == KILN_OK)
        status = gather_headers(&b);
    if (status == KILN_OK)
        status = build(module, &b, &what, info);
    kn_str_free(&what);
    kn_free(b.list);
    kn_free(b.folders);
    kn_free(b.header);
    kn_str_free(&b.types);
    return status;
}
