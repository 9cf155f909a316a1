/* expr/text_call.h - functions of C that are expressions, which are remembered by their texts. */
#ifndef KN_EXPR_TEXT_CALL_H
#define KN_EXPR_TEXT_CALL_H

#include <kiln/arg.h>
#include <kiln/array.h>

/* Calls the expression `text` of the inputs that `params` names. */
kiln_status kn_call_text(kiln_array **out, int n_out, const char *params, const char *text,
                         const kiln_arg *in, int n_in);

#endif
