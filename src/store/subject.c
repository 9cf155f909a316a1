#include "store/subject.h"

#include <string.h>

#include "base/error.h"
#include "codegen/codegen.h"

kiln_status kn_subject_check_generator(const char *name, const char *generator)
{
    if (strcmp(generator, kn_codegen_generator()) == 0)
        return KILN_OK;
    return kn_error(KILN_ERROR_UNSUPPORTED,
                    "%s was specialised for the code generator %s, and this library has %s: such code can be "
                    "found, but not made",
                    name, generator, kn_codegen_generator());
}

void kn_subject_free(kn_subject *subject)
{
    kn_str_free(&subject->what);
    if (subject->own)
        subject->free_own(subject->own);
    subject->own = NULL;
}
