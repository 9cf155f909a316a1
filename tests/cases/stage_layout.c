/* Layouts and shapes from their texts. */
#include "stage_parts.h"

#include <stdlib.h>
#include <string.h>

void layout_plain(layout *l, int ndim)
{
    memset(l, 0, sizeof *l);
    for (int a = 0; a < ndim; ++a) {
        l->order[a] = a;
        l->step[a] = 1;
    }
}

int shape_from_text(int64_t *shape, const char *text)
{
    int ndim = 0;
    while (*text) {
        char *end;
        shape[ndim++] = strtoll(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
    }
    return ndim;
}

static void read_order(layout *l, const char *word, int ndim)
{
    char *at = (char *)(uintptr_t)word;
    for (int a = 0; a < ndim; ++a)
        l->order[a] = word[0] == 'F' ? ndim - 1 - a : (int)strtol(at + 1, &at, 10);
}

static void read_axis_word(layout *l, const char *word, int ndim)
{
    char *end;
    int axis = word[1] == '*' ? 0 : (int)strtol(word + 1, &end, 10), last = word[1] == '*' ? ndim - 1 : axis;
    for (; axis <= last; ++axis) {
        if (word[0] == '-')
            l->reversed[axis] = true;
        else if (word[0] == '=')
            l->broadcast[axis] = true;
        else
            l->step[axis] = word[1] != '*' && *end == 'x' ? atoi(end + 1) : 2;
    }
}

void layout_from_text(layout *l, const char *text, int ndim)
{
    layout_plain(l, ndim);
    while (*text) {
        if (strchr("FP", *text))
            read_order(l, text, ndim);
        else if (strchr("-=/", *text))
            read_axis_word(l, text, ndim);
        else if (*text == '+')
            l->shift = atoi(text + 1);
        else if (*text == '@')
            l->at = atoi(text + 1);
        text += strcspn(text, " ");
        text += *text == ' ';
    }
}

void layout_strides(const layout *l, int ndim, const int64_t *shape, int64_t item_size, int64_t *strides)
{
    int64_t run = item_size;
    for (int k = ndim; k-- > 0;) {
        int a = l->order[k];
        int64_t step = run * l->step[a];
        strides[a] = l->broadcast[a] ? 0 : l->reversed[a] ? -step : step;
        if (!l->broadcast[a])
            run = step * (shape[a] > 1 ? shape[a] : 1) + (k == ndim - 1 ? l->pad * item_size : 0);
    }
}

void view_range(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size, int64_t *low,
                int64_t *high)
{
    *low = *high = 0;
    for (int a = 0; a < ndim; ++a)
        if (shape[a] == 0) {
            *low = *high = 0;
            return;
        } else {
            *(strides[a] < 0 ? low : high) += (shape[a] - 1) * strides[a];
        }
    *high += item_size;
}
