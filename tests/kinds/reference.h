/* reference.h - what a described call computes, by plain loops over its own texts: C++ that this test writes
 * and a compiler makes a library of, for all descriptions at once. Nothing of kiln's generator is in it. */
#ifndef KINDS_REFERENCE_H
#define KINDS_REFERENCE_H

#include "description.h"

typedef struct references references;

/* False for texts that call what the reference has not. */
bool references_have(const description *d);
/* One function for each description that is wanted. NULL in trouble. */
references *references_compile(const description *list, int count, const bool *wanted);
void references_free(references *r);

/* Fills the expected bytes of the stage's outputs, for description `number`, of which the stage's call is one
 * (extents may differ), and compares them with what came. */
void reference_check(const references *r, int number, const description *d, stage *s);

#endif
