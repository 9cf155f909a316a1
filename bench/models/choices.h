/* choices.h - the choices that the models of schedules/transpose/tile_sides.c and
 * schedules/transpose/window_tiles.c have for one call, listed and taken one after the other: the library's
 * own planning runs, with its models replaced. */
#ifndef BENCH_MODELS_CHOICES_H
#define BENCH_MODELS_CHOICES_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_CHOICES = 128, MAX_TAGS = 200, MAX_TEXT = 120 };

/* tags: the ways to search that lead to it ("model|fixed_8x8"; "" for a sample); text: its columns. */
typedef struct choice_list {
    int count;
    char tags[MAX_CHOICES][MAX_TAGS];
    char text[MAX_CHOICES][MAX_TEXT];
} choice_list;

enum { LIST = -1, MODEL = -2 };

extern choice_list choices;
extern const char *choice_kind; /* of schedule, that made the list: "tile" */
extern int choice_wanted;       /* of the list; LIST: the model's, and the list is made; MODEL: the model's */
extern bool choice_is_strided; /* whatever the layout, one element a thread: what results are compared with */
extern uint64_t choice_seed;   /* of the samples */

/* The number of the choice in the list, whose tag is added; -1 where it is full or there already. */
int choice_add(const char *tag, const char *text);
/* Below `below`. */
int choice_roll(int below);

/* For shared-memory tiles: is_straight: ranges and rows never cross; is_crossed: those of the last list do.
 */
extern bool choice_is_straight, choice_is_crossed;

#endif
