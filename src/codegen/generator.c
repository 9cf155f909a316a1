/* generator.c - the identity of the generator. */
#include "codegen/codegen.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/setting.h"
#include "codegen/templates.h"
#include "codegen/generator_sources.h"

static char generator[96];

/* A hash of the code that writes sources and of the templates, made when kiln was built; with
 * KILN_TEMPLATE_DIR, also of the templates as they are read. */
static void make_generator(void)
{
    kn_str all = KN_STR_INIT;
    char hex[33];
    snprintf(generator, sizeof generator, KN_GENERATOR_SOURCES);
    if (!kn_setting("KILN_TEMPLATE_DIR"))
        return;
    for (size_t k = 0; k < kn_template_count; ++k) {
        kn_str_append(&all, kn_templates[k].name);
        if (kn_template_read(&all, kn_templates[k].name) != KILN_OK)
            kn_str_append_n(&all, kn_templates[k].text, kn_templates[k].length);
    }
    kn_hash hash = kn_hash_128(kn_str_text(&all), all.length);
    kn_hash_hex(&hash, hex);
    snprintf(generator, sizeof generator, KN_GENERATOR_SOURCES "-%s", hex);
    kn_str_free(&all);
}

static const char unknown[] = "unknown";

bool kn_codegen_knows_generator(const char *text)
{
    return strcmp(text, unknown) != 0;
}

const char *kn_codegen_generator(void)
{
    static atomic_bool is_made;
    return kn_lock_once(&is_made, KN_LOCK_GENERATOR, make_generator) ? generator : unknown;
}
