/* schedules/host/host_row_levels.h - the levels of the host's row programs: those of one row, and those of
 * neighbouring rows side by side, differ in the places of elements and in a part of their own. */
#ifndef KN_SCHEDULES_HOST_HOST_ROW_LEVELS_H
#define KN_SCHEDULES_HOST_HOST_ROW_LEVELS_H

#include "schedules/rowprog/row_stages.h"

typedef struct kn_host_levels {
    const kn_element_places *places;
    kn_place_writer put_element; /* the element of an array */
    void (*put_pointers)(const kn_writer *w, kn_str *out, const kn_level *level);
    const char *reduction; /* the part that reduces a level's elements */
    const char *last;      /* the part of the last pass */
    bool declares;         /* the former declares the reduced value, too */
} kn_host_levels;

/* True for an array of the row's elements that the level reads or gives. */
bool kn_host_is_in_level(const kn_writer *w, const kn_level *level, int k);

/* A level that ends in a reduction, and the last one; for kn_put_levels. */
void kn_host_put_reduction(const kn_writer *w, kn_str *out, const kn_level *level, const kn_host_levels *by);
void kn_host_put_last(const kn_writer *w, kn_str *out, const kn_level *level, const kn_host_levels *by);

/* The program's own values that a later level needs: on the thread's stack. */
void kn_host_put_held_values(kn_writer *w);

#endif
