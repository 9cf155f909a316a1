/* schedule/config.h - the configuration of a kind: numbers of its own, of which each combination is a binary.
 * A kind lists them once, as names and largest values. From the list follow its struct, the text of a
 * specialisation, and the slots of templates (${items}).
 *
 *   #define LIST(X) X(items, 8) X(is_long, 1)
 *   KN_CONFIG(kn_rows_config, LIST);         the struct, and the functions that find it in a schedule
 *   KN_CONFIG_TABLE(kn_rows_config, LIST);   beside the recipe; the kind has .config = &kn_rows_config_table
 *
 * No kind can read the numbers of another: in a schedule of a kind with another table there are none. */
#ifndef KN_SCHEDULE_CONFIG_H
#define KN_SCHEDULE_CONFIG_H

#include "schedule/schedule.h"

typedef struct kn_config_table {
    int count;
    struct {
        const char *name;
        int most; /* the least is 0 */
    } number[KN_MAX_CONFIG];
} kn_config_table;

/* The schedule's numbers; NULL: its kind has another table. The first is for a kind that chooses them. */
int *kn_config_in(kn_schedule *schedule, const kn_config_table *table);
const int *kn_config_of(const kn_schedule *schedule, const kn_config_table *table);

#define KN_CONFIG_MEMBER(name, most) int name;
#define KN_CONFIG(type, list)                                                                                \
    typedef struct type {                                                                                    \
        list(KN_CONFIG_MEMBER)                                                                               \
    } type;                                                                                                  \
    extern const kn_config_table type##_table;                                                               \
    __attribute__((unused)) static inline type *type##_in(kn_schedule *schedule)                             \
    {                                                                                                        \
        return (type *)kn_config_in(schedule, &type##_table);                                                \
    }                                                                                                        \
    __attribute__((unused)) static inline const type *type##_of(const kn_schedule *schedule)                 \
    {                                                                                                        \
        return (const type *)kn_config_of(schedule, &type##_table);                                          \
    }                                                                                                        \
    _Static_assert(sizeof(type) <= KN_MAX_CONFIG * sizeof(int), "KN_MAX_CONFIG")

#define KN_CONFIG_ROW(name, most) {#name, most},
#define KN_CONFIG_TABLE(type, list)                                                                          \
    const kn_config_table type##_table = {sizeof(type) / sizeof(int), {list(KN_CONFIG_ROW)}}

#endif
