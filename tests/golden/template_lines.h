/* template_lines.h - the lines of templates in generated sources. */
#ifndef GOLDEN_TEMPLATE_LINES_H
#define GOLDEN_TEMPLATE_LINES_H

#include <stdbool.h>

/* Reads all templates below `root`, the library's src. False: there are none. */
bool template_lines_read(const char *root);
void template_lines_free(void);
/* Replaces three or more neighbouring lines that are in templates by their number, in place. */
void template_lines_cut(char *source);

#endif
