/* schedule/field.h - a field of the argument block, as a kind declares its own. */
#ifndef KN_SCHEDULE_FIELD_H
#define KN_SCHEDULE_FIELD_H

/* One field, or some that belong together. */
typedef struct kn_field {
    const char *declaration; /* in C; its first member is one name, which is aligned */
    int size, align;         /* bytes; 0: there is none */
} kn_field;

/* A kind's field from `#define MEMBERS int first; unsigned rows, columns;`, the members of its struct in C
 * and in kernels; their types are those that both know. */
#define KN_FIELD_TEXT(...) #__VA_ARGS__
#define KN_FIELD(type, members)                                                                              \
    {                                                                                                        \
        KN_FIELD_TEXT(members), KN_FIELD_BYTES(type), 8                                                      \
    }
enum { KN_FIELD_SIZE = 128 /* bytes of a kind's own field, at most: a larger one does not compile */ };
#define KN_FIELD_BYTES(type) (sizeof(type) * sizeof(char[sizeof(type) <= KN_FIELD_SIZE ? 1 : -1]))

#endif
