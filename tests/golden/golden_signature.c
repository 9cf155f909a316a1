/* golden_signature - signatures and what becomes of them: FOLDER/signatures.txt has one a line,
 * signatures.expected each with its parameters or its error.
 *
 * usage: golden_signature [--update] FOLDER */
#include "base/str.h"
#include "golden.h"
#include "program/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_signature(kn_str *out, const char *text)
{
    kn_param param[KN_MAX_PARAMS];
    int count = 0;
    kn_str_printf(out, "> %s\n", text);
    kiln_status status =
        kn_signature_parse(param, 0, KN_MAX_PARAMS, &count, text, "input", "struct point { float x, y; };");
    if (status != KILN_OK)
        kn_str_printf(out, "%s: %s\n", kiln_status_name(status), kiln_error_message());
    for (int k = 0; k < count; ++k) {
        kn_str_append(out, "    ");
        kn_param_format(out, &param[k]);
        kn_str_append(out, "\n");
    }
}

int main(int argc, char **argv)
{
    bool update = argc > 1 && !strcmp(argv[1], "--update");
    char path[512];
    if (argc != 2 + update) {
        fprintf(stderr, "usage: golden_signature [--update] FOLDER\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/signatures.txt", argv[1 + update]);
    char *text = golden_read(path), *at = text;
    kn_str all = KN_STR_INIT;
    while (at && *at) {
        char *end = at + strcspn(at, "\n");
        char *next = *end ? end + 1 : end;
        *end = '\0';
        put_signature(&all, at);
        at = next;
    }
    snprintf(path, sizeof path, "%s/signatures.expected", argv[1 + update]);
    bool same = text && golden_matches(path, kn_str_text(&all), update);
    kn_str_free(&all);
    free(text);
    printf("signatures: %s\n", same ? "as expected" : "FAILED");
    return !same;
}
