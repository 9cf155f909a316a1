/* expr/parser.h - what the parts of the parser share: the values that an expression's text stands for while
 * it is read, the names that they have, and adding nodes. */
#ifndef KN_EXPR_PARSER_H
#define KN_EXPR_PARSER_H

#include "graph/graph.h"
#include "expr/lexer.h"

typedef enum kn_value_kind {
    KN_VALUE_ABSENT, /* of an argument: it was not given */
    KN_VALUE_NODE,
    KN_VALUE_TUPLE,
    KN_VALUE_NONE,
    KN_VALUE_DTYPE,
    KN_VALUE_SHAPE /* x.shape: only its elements are numbers, as many as a call alone says */
} kn_value_kind;

typedef struct kn_value {
    kn_value_kind kind;
    int node;         /* KN_VALUE_NODE; KN_VALUE_SHAPE: of what */
    kiln_dtype dtype; /* KN_VALUE_DTYPE */
    bool is_python;   /* of a dtype: int, float, complex or bool, which leave a weak number weak */
    int first, count; /* KN_VALUE_TUPLE: items of kn_parser */
    size_t at, length;
    size_t key_at, key_length; /* of an argument given by its name */
    int variable;              /* 1 + the variable that was mentioned, and nothing else; 0: none */
} kn_value;

typedef struct kn_variable {
    const char *name; /* in the text, or the graph's own */
    size_t length;
    kn_value value;
} kn_variable;

typedef struct kn_parser {
    kn_lexer word;
    kn_graph *graph;
    struct kiln_kernel *const *kernel;
    int n_kernels;
    int depth;       /* values inside one another */
    uintptr_t floor; /* of the stack; 0: not asked for yet */
    kn_variable *variable;
    int n_variables, variable_capacity;
    struct kn_map *names; /* of variables: 1 + their numbers */
    kn_value *item;       /* of tuples */
    int n_items, item_capacity;
    kn_value *argument; /* of the calls that are being read, the innermost last */
    int n_arguments, argument_capacity;
} kn_parser;

/* A call: what is called, and its arguments, which are the parser's last. */
typedef struct kn_called {
    const char *name; /* in the text */
    size_t at, length, name_length;
    int first, count;
} kn_called;

kiln_status kn_parser_refuse(const kn_parser *p, size_t at, size_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Appends to items or arguments. */
kiln_status kn_parser_push_item(kn_parser *p, const kn_value *value);
kiln_status kn_parser_push_argument(kn_parser *p, const kn_value *value);
/* Makes a variable, or gives it another value. The name has to outlive the parser. */
kiln_status kn_parser_assign(kn_parser *p, const char *name, size_t length, const kn_value *value);
/* NULL: there is none of that name. */
const kn_variable *kn_parser_find(const kn_parser *p, const char *name, size_t length);
void kn_parser_free(kn_parser *p);

/* The node that a value is; refused where it is none. */
kiln_status kn_parser_node(int *out, const kn_parser *p, const kn_value *value);
/* A whole number that stands in the text; `what` names it. */
kiln_status kn_parser_whole(int64_t *out, const kn_parser *p, const kn_value *value, const char *what);
/* Whether a value is a number that stands in the text. */
bool kn_parser_is_number(const kn_parser *p, const kn_value *value);
/* *out: what value is as a tuple, one that has one item where it is none. Items from *first on. */
int kn_parser_items(const kn_value **first, const kn_parser *p, const kn_value *value);

/* Adds a node, with its place, as a value. */
kiln_status kn_parser_add(kn_value *out, kn_parser *p, const kn_node *node);
kiln_status kn_parser_number(kn_value *out, kn_parser *p, kiln_arg number, size_t at, size_t length);
/* An operator, called as the operation of this name. */
kiln_status kn_parser_operator(kn_value *out, kn_parser *p, const char *name, const kn_value *in, int n_in,
                               size_t at, size_t length);

#endif
