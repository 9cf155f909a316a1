/* codegen/templates.h - the templates, embedded at build time; KILN_TEMPLATE_DIR names a folder that
 * overrides them. */
#ifndef KN_CODEGEN_TEMPLATES_H
#define KN_CODEGEN_TEMPLATES_H

#include <kiln/base.h>
#include "base/str.h"

typedef struct kn_template {
    const char *name; /* "schedules/contiguous/flat.cu" */
    const char *text;
    size_t length;
} kn_template;

/* Made by tools/embed.c, sorted by name. */
extern const kn_template kn_templates[];
extern const size_t kn_template_count;

/* Appends the text of a template: from KILN_TEMPLATE_DIR where it is set and has it, else the embedded one.
 */
kiln_status kn_template_read(kn_str *out, const char *name);

/* A slot's value. */
typedef struct kn_slot {
    const char *name;
    const char *value;
    bool is_used; /* set where a template has the slot; the caller's to clear */
} kn_slot;

/* Appends text with each ${name} replaced. The value of a slot that is alone on its line is indented as the
 * line is (except preprocessor lines and user text under #line); if it is empty, the line is left out.
 * KILN_ERROR_INTERNAL for a slot that is not in the list. */
kiln_status kn_template_expand(kn_str *out, const char *text, kn_slot *slots, int count);

#endif
