/* Raw code: its kind, and the way from source to code through the cache. */
#include "module/module_code.h"

#include <string.h>

#include "base/elf.h"
#include "base/error.h"
#include "base/sized.h"
#include "codegen/codegen.h"
#include "kernel/used.h"

kiln_status kn_module_options_read(kiln_module_options *out, const kiln_module_options *given)
{
    *out = (kiln_module_options)KILN_MODULE_OPTIONS_INIT;
    kiln_status status = kn_sized_read(out, sizeof *out, given, "options", "KILN_MODULE_OPTIONS_INIT");
    if (status != KILN_OK)
        return status;
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
    return kn_sized_check_flags(out->flags, 7u, "KILN_MODULE");
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
        uint64_t size; /* of the part behind the header */
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

/* ---- compiling ---- */

static kn_module_spec make_spec(const kiln_module *module, const char *source, const kiln_module_options *o)
{
    kn_module_spec spec = {.name = module->name,
                           .source = source,
                           .target = module->target,
                           .flags = o->flags & (KILN_MODULE_FAST_MATH | KILN_MODULE_NO_FMA),
                           .option = o->compile_options,
                           .header_name = o->header_names,
                           .header_text = o->header_texts,
                           .expression = o->name_expressions,
                           .n_options = o->n_compile_options,
                           .n_headers = o->n_headers,
                           .n_expressions = o->n_name_expressions,
                           .has_folders = o->n_include_folders > 0};
    spec.generator = kn_module_wants_types(&spec) ? kn_codegen_generator() : NULL;
    return spec;
}

kiln_status kn_module_compile(kiln_module *module, const char *source, const kiln_module_options *options,
                              kn_build_info *info)
{
    kn_compile_job job;
    const kn_module_spec spec = make_spec(module, source, options);
    const kn_build_request request = {.job = &job,
                                      .flags =
                                          options->flags & KILN_MODULE_NO_COMPILE ? KN_BUILD_NO_COMPILE : 0,
                                      .dependencies = &module->dependencies};
    kiln_status status =
        kn_compile_job_of_module(&job, &spec, options->include_folders, options->n_include_folders);
    if (status == KILN_OK)
        kn_used_write_module(&job);
    if (status == KILN_OK && module->device)
        status = kn_build_module(&module->loaded, &module->code, &request, module->device, info);
    else if (status == KILN_OK)
        status = kn_build_code(&module->code, &request, info);
    kn_compile_job_free(&job);
    return status;
}
