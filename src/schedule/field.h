/* schedule/field.h - a field of the argument block, as a kind declares its own. */
#ifndef KN_SCHEDULE_FIELD_H
#define KN_SCHEDULE_FIELD_H

/* One field, or some that belong together. */
typedef struct kn_field {
    const char *declaration; /* in C, each name ended by ";\n" */
    int size, align;         /* bytes */
} kn_field;
#define KN_NO_FIELD ((kn_field){"", 0, 1})
enum { KN_FIELD_SIZE = 96 /* bytes of a kind's own field, at most */ };

#endif
