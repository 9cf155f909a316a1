/* compile/compiler.c - hashes all that a compiler's code depends on besides its build: environment and
 * options. */
#include "compile/compiler.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/os.h"
#include "compile/compiler_sources.h"

#include <stdio.h>
#include <string.h>

kiln_status kn_compiler_missing(const kn_compiler_place *place)
{
    return kn_error(place->is_unknown ? KILN_ERROR_MEMORY : KILN_ERROR_NOT_FOUND, "%s", place->location);
}

static const char *const file_variables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH",
                                             "SDKROOT"},
                         *const code_variables[] = {
                             "GCC_EXEC_PREFIX", "COMPILER_PATH",        "LD_RUN_PATH", "LDEMULATION",
                             "GNUTARGET",       "CCC_OVERRIDE_OPTIONS", "GCC_ROOT",    "COMPILER_OPTIONS"};

void kn_compile_environment_hash(char hex[33], kn_environment_part part)
{
    bool is_of_files = part == KN_ENVIRONMENT_OF_FILES;
    const char *const *names = is_of_files ? file_variables : code_variables;
    size_t n = is_of_files ? sizeof file_variables / sizeof *names : sizeof code_variables / sizeof *names;
    kn_hash parts[16] = {{{0}}};
    for (size_t i = 0; i < n; i++) {
        const char *value = kn_os_env(names[i]);
        if (value)
            parts[i] = kn_hash_128(value, strlen(value));
    }
    kn_hash all = kn_hash_128(parts, sizeof parts);
    kn_hash_hex(&all, hex);
}

void kn_compile_make_identity(kn_compiler_place *place, const char *name, const char *build,
                              const kn_str *text)
{
    kn_hash parts[3] = {kn_hash_128(kn_str_text(text), text->length),
                        kn_hash_128(KN_COMPILER_SOURCES, strlen(KN_COMPILER_SOURCES)),
                        kn_hash_128(name, strlen(name))};
    kn_hash all = kn_hash_128(parts, sizeof parts);
    char hex[33];
    kn_hash_hex(&all, hex);
    /* A name is for people: the hash has the part of it that is cut off. */
    snprintf(place->identity, sizeof place->identity, "%.40s %.140s %s", name, build, hex);
}
