/* program/signature.h - "T x, raw float32 y, _non_const int64 m": CuPy's grammar.
 *
 *   signature := [ parameter { "," parameter } ]
 *   parameter := { "raw" | "_non_const" } type name
 *   type      := dtype name | one capital letter | struct
 *   struct    := name { "::" name } [ "<" anything "<" and ">" of which match ">" ]
 */
#ifndef KN_PROGRAM_SIGNATURE_H
#define KN_PROGRAM_SIGNATURE_H

#include <kiln/dtype.h>

#define KN_NAME_MAX 64
#define KN_MAX_PARAMS 64

typedef enum kn_param_type { KN_TYPE_DTYPE = 1, KN_TYPE_PLACEHOLDER = 2, KN_TYPE_STRUCT = 3 } kn_param_type;

/* A type's name by which C means another dtype. */
typedef struct kn_c_name {
    const char *name, *dtype; /* "float", "float32" */
} kn_c_name;

typedef struct kn_param {
    char name[KN_NAME_MAX];
    kn_param_type type;
    kiln_dtype dtype;              /* KN_TYPE_DTYPE */
    const kn_c_name *c_name;       /* the name as which it was written; NULL: none of them */
    char placeholder;              /* KN_TYPE_PLACEHOLDER */
    char struct_name[KN_NAME_MAX]; /* KN_TYPE_STRUCT */
    bool is_raw, is_non_const;
    bool is_value; /* of a program's own */
    bool is_wide;  /* a value: in float32 where its type is float16 or bfloat16 */
} kn_param;

/* Parses text into param[first .. first + *count). param[0 .. first) are parameters parsed before (the
 * inputs, when this is the output signature), whose names must not occur again; capacity is how many `param`
 * holds in all. `which` names the signature in messages ("input", "output"). A type that is neither dtype nor
 * placeholder is a struct where preamble (may be NULL) contains it as a word, or includes something, else an
 * unknown dtype.
 * KILN_ERROR_SYNTAX messages hold the text and, on a line of its own, a caret under the place;
 * KILN_ERROR_INVALID, likewise, for reserved names (`i`, `_ind` and its like, names that begin with `kn_`,
 * `__`, or `_` and a capital letter, C++ keywords, names of dtypes, a letter that is a placeholder),
 * for names that occur twice, and for too many parameters. *count is unchanged on failure. */
kiln_status kn_signature_parse(kn_param *param, int first, int capacity, int *count, const char *text,
                               const char *which, const char *preamble);

/* The same for a program's own values: "_wide T _sum, int64 count". A name may begin with '_', which the
 * texts leave out. */
kiln_status kn_signature_parse_values(kn_param *param, int first, int capacity, int *count, const char *text,
                                      const char *preamble);

/* True if word occurs in text as a whole identifier outside comments, string and character literals. */
bool kn_text_has_word(const char *text, const char *word);

/* Checks that brackets, strings and comments of a snippet close. KILN_ERROR_SYNTAX with the line, the column
 * and a caret. `what` names it: "body". */
kiln_status kn_snippet_check(const char *text, const char *what);

/* Writes one parameter as the grammar has it. */
struct kn_str;
void kn_param_format(struct kn_str *out, const kn_param *param);
/* A placeholder for a program that kiln writes around these: the next letter from `from` on that no parameter
 * and no text has; the texts end with NULL. '\0': there is none. */
char kn_free_letter(char from, const kn_param *param, int count, const char *const *texts);

#endif
