/* expr/parser.h - the interface between the files of the parser: values, variables, and functions that add
 * nodes. */
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
    KN_VALUE_WORD,    /* in quotes: 'left', the method 'linear' */
    KN_VALUE_SHAPE,   /* x.shape: only its items are values; a call determines their number */
    KN_VALUE_NONZERO, /* nonzero(x): likewise */
    KN_VALUE_SLICE    /* slice(start, stop, step): three items of kn_parser, numbers or None */
} kn_value_kind;

typedef struct kn_value {
    kn_value_kind kind;
    int node;         /* KN_VALUE_NODE; KN_VALUE_SHAPE, _NONZERO: of this node */
    kiln_dtype dtype; /* KN_VALUE_DTYPE */
    bool is_list;     /* KN_VALUE_TUPLE: in square brackets */
    bool is_python;   /* of a dtype: int, float, complex or bool, which keep a weak number weak */
    const char *word; /* KN_VALUE_WORD: its first letter, in the text; `length` counts the quotes, too */
    int first, count; /* KN_VALUE_TUPLE, _SLICE: items of kn_parser */
    size_t at, length;
    size_t key_at, key_length; /* the name of an argument that is given by name */
    int variable;              /* 1 + the variable, if the value is just its name; 0: none */
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
    unsigned flags;  /* of the options: KILN_KERNEL_* */
    int depth;       /* levels of nested values */
    uintptr_t floor; /* the lowest stack address allowed; 0: not determined yet */
    kn_variable *variable;
    int n_variables, variable_capacity;
    struct kn_map *names; /* of variables: 1 + their index */
    kn_value *item;       /* the items of all tuples */
    int n_items, item_capacity;
    kn_value *argument; /* of the calls that are being read, the innermost last */
    int n_arguments, argument_capacity;
    /* The value of another text, whose names are the variables; where the parser stands stays (parse.c). */
    kiln_status (*read)(kn_value *out, struct kn_parser *p, const char *text);
    /* kn_graph_parse, for kernels that are made of a text when they are called. */
    kiln_status (*parse)(kn_graph **out, const char *params, const char *text, uint64_t whole_inputs,
                         const kiln_kernel_options *options);
    /* kn_list_value: a list, a tuple or a number becomes an array. */
    kiln_status (*array)(kn_value *value, struct kn_parser *p);
    const char *(*function_name)(int k); /* kn_function_name, for suggestions */
    /* The text of a function that is composed of others is read: nodes and errors stand at its call. */
    const struct kn_called *composed;
    /* The statement that is being read: where its value begins, and how many names it has in front of "=". */
    struct kn_targets {
        size_t value_at;
        int count;
    } targets;
    int n_given; /* how often a call has given a name to its result, by out= or as it changes an argument */
} kn_parser;

/* A call: the function's name, and its arguments, which are the last ones of the parser. */
typedef struct kn_called {
    const char *name; /* in the text */
    size_t at, length, name_length;
    int first, count;
    int n_targets;  /* names that the results are assigned to; 0: the call is not all of a value */
    bool is_method; /* x.NAME(...): x is the first argument */
    int which;      /* of the functions of one table entry's `call` (functions.c) */
    const struct kn_common *common; /* common_arguments.h; NULL: none is given */
} kn_called;

kiln_status kn_parser_refuse(const kn_parser *p, size_t at, size_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Append to items or to arguments. */
kiln_status kn_parser_push_item(kn_parser *p, const kn_value *value);
kiln_status kn_parser_push_argument(kn_parser *p, const kn_value *value);
/* Creates or changes a variable. The name must outlive the parser. */
kiln_status kn_parser_assign(kn_parser *p, const char *name, size_t length, const kn_value *value);
/* Gives a variable, as kn_value has it, to a value. */
kiln_status kn_parser_give(kn_value *value, kn_parser *p, int variable);
/* NULL: there is no variable of that name. */
const kn_variable *kn_parser_find(const kn_parser *p, const char *name, size_t length);
void kn_parser_free(kn_parser *p);

/* The node of a value; a list of numbers becomes an array. An error if it is none. */
kiln_status kn_parser_node(int *out, kn_parser *p, const kn_value *value);
/* A whole number literal; messages call it `what`. */
kiln_status kn_parser_whole(int64_t *out, const kn_parser *p, const kn_value *value, const char *what);
/* True for a number literal. */
bool kn_parser_is_number(const kn_parser *p, const kn_value *value);
/* The parts of a KN_VALUE_SLICE. */
kiln_status kn_parser_slice(kn_subscript *out, const kn_parser *p, const kn_value *slice);
/* The items of a tuple, from *first on; any other value counts as one item. Returns their number. */
int kn_parser_items(const kn_value **first, const kn_parser *p, const kn_value *value);

/* Adds a node, with its place in the text, as a value. */
kiln_status kn_parser_add(kn_value *out, kn_parser *p, const kn_node *node);
kiln_status kn_parser_number(kn_value *out, kn_parser *p, kiln_arg number, size_t at, size_t length);
/* Adds an operator, as a call of the operation of this name. */
kiln_status kn_parser_operator(kn_value *out, kn_parser *p, const char *name, const kn_value *in, int n_in,
                               size_t at, size_t length);

#endif
