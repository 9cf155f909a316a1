/* Names of a module's functions: from a name expression to the symbol in its code. */
#include "module/module_names.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

kiln_status kn_module_check_names(const void *out, const kiln_module *module, const char *name,
                                  const char *function)
{
    if (!out || !module || !name)
        return kn_error(KILN_ERROR_INVALID, "%s: %s is NULL", function,
                        !out      ? "out"
                        : !module ? "module"
                                  : "name");
    if (!module->loaded)
        return kn_error(KILN_ERROR_UNSUPPORTED, "%s: module \"%s\" was compiled for %s without a device",
                        function, module->name, module->target.architecture);
    return KILN_OK;
}

static bool is_of_word(int c)
{
    return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* The next character that counts, 0 at the end; last is the one before. Blanks count, as one, between words
 * alone. */
static int next_that_counts(const char **at, int last)
{
    const char *from = *at;
    *at += strspn(from, " \t\r\n");
    if (*at > from && is_of_word(last) && is_of_word(**at))
        return ' ';
    return **at ? *(*at)++ : 0;
}

/* Two spellings of one C++ expression: "t<complex<double> >" and "t< complex<double>>"; globals with or
 * without their "&". */
static bool is_same_expression(const char *a, const char *b)
{
    int of_a, of_b, last = 0;
    const char **both[] = {&a, &b};
    for (int k = 0; k < 2; k++) {
        *both[k] += strspn(*both[k], " \t\r\n");
        *both[k] += **both[k] == '&';
    }
    do {
        of_a = next_that_counts(&a, last);
        of_b = next_that_counts(&b, last);
        last = of_a;
    } while (of_a && of_a == of_b);
    return of_a == of_b;
}

char *kn_module_lower(const kiln_module *module, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < module->n_expressions; i++) {
        if (!is_same_expression(module->expression[i], name))
            continue;
        const char *lowered = kn_compile_dependencies_lowered(module->dependencies.data,
                                                              module->dependencies.length, i, &length);
        if (lowered)
            return kn_strndup(lowered, length);
    }
    return kn_strdup(name);
}

kiln_status kn_module_explain_missing(kiln_status status, const kiln_module *module, const char *name,
                                      const char *what)
{
    if (status != KILN_ERROR_NOT_FOUND)
        return status;
    kn_str known = KN_STR_INIT;
    for (int i = 0; i < module->n_expressions; i++)
        kn_str_printf(&known, "%s\"%s\"", i ? ", " : "; its name expressions are ", module->expression[i]);
    kn_error(status,
             "module \"%s\" has no %s \"%s\": C++ names are mangled unless they are extern \"C\" or given as "
             "name expressions%s",
             module->name, what, name, kn_str_text(&known));
    kn_str_free(&known);
    return status;
}
