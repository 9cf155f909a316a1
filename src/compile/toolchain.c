/* compile/toolchain.c - the public functions that describe compilers. */
#include <kiln/toolchain.h>

#include "base/error.h"
#include "base/sized.h"
#include "compile/compile.h"

#include <stdio.h>
#include <string.h>

static const struct backend_name {
    const char *name;
    kn_backend_kind backend;
} backends[] = {{"cuda", KN_CUDA}, {"host", KN_HOST}};

static kiln_status read_backend(kn_backend_kind *out, const char *name)
{
    for (size_t i = 0; name && i < sizeof backends / sizeof *backends; i++) {
        if (strcmp(backends[i].name, name) == 0) {
            *out = backends[i].backend;
            return KILN_OK;
        }
    }
    return kn_error(KILN_ERROR_INVALID,
                    "toolchain: backend '%s' was given; \"cuda\" or \"host\" was expected",
                    name ? name : "(null)");
}

static kiln_status describe(kiln_toolchain_info *info, kn_backend_kind backend)
{
    kn_str version = KN_STR_INIT;
    if (kn_compile_look(backend) != KILN_OK)
        return kiln_error_status();
    if (!*kn_compile_identity(backend))
        return kn_error(KILN_ERROR_NOT_FOUND, "%s", kn_compile_location(backend));
    kiln_status status = kn_compile_version(backend, &version);
    if (status == KILN_OK)
        status = kn_str_status(&version, "a compiler's version");
    snprintf(info->location, sizeof info->location, "%s", kn_compile_location(backend));
    snprintf(info->identity, sizeof info->identity, "%s", kn_compile_identity(backend));
    snprintf(info->version, sizeof info->version, "%s", kn_str_text(&version));
    kn_str_free(&version);
    return status;
}

kiln_status kiln_toolchain_get_info(const char *backend, kiln_toolchain_info *out)
{
    kn_backend_kind kind = KN_HOST;
    kiln_toolchain_info all = KILN_TOOLCHAIN_INFO_INIT;
    kiln_status status =
        kn_sized_check(out, sizeof *out, "kiln_toolchain_get_info: out", "KILN_TOOLCHAIN_INFO_INIT");
    if (status == KILN_OK)
        status = read_backend(&kind, backend);
    if (status == KILN_OK)
        status = describe(&all, kind);
    if (status == KILN_OK)
        kn_sized_answer(out, &all);
    return status;
}
