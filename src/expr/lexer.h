/* expr/lexer.h - the words of an expression string: Python's names, numbers, texts and operators. */
#ifndef KN_EXPR_LEXER_H
#define KN_EXPR_LEXER_H

#include <kiln/arg.h>

typedef enum kn_word_kind {
    KN_WORD_END,
    KN_WORD_LINE, /* the end of a statement: a newline outside brackets, or a semicolon */
    KN_WORD_NAME,
    KN_WORD_NUMBER,
    KN_WORD_TEXT, /* 'float32', quotes included */
    KN_WORD_SIGN  /* an operator or a bracket */
} kn_word_kind;

typedef struct kn_lexer {
    const char *text;
    kn_word_kind kind; /* of the current word */
    size_t at, length;
    size_t end;      /* of the previous word */
    kiln_arg number; /* KN_WORD_NUMBER */
    int brackets;    /* open ones before it */
} kn_lexer;

/* Moves to the first word, or to the next. KILN_ERROR_SYNTAX with a caret. */
kiln_status kn_lexer_start(kn_lexer *lexer, const char *text);
kiln_status kn_lexer_next(kn_lexer *lexer);

/* True if the current word is this sign or name. */
bool kn_lexer_at(const kn_lexer *lexer, const char *word);

#endif
