/* measure - times what the models of plan could choose, over the layouts of layouts.c.
 *
 * usage: measure FOLDER [--class NAME] [--seed S] [--only-model]     on the current CUDA device
 *        measure FOLDER --without-device                             lists choices for sm_90, no times
 *
 * Writes FOLDER/layouts.csv, tile.csv, windows.csv and rows.csv: README.md beside this has the columns. Every
 * choice's result is compared with that of the strided kernel, every place of it having been overwritten
 * before. */
#include <kiln/kiln.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "layouts.h"

enum {
    WARM = 2,
    SAMPLES = 7,
    LAUNCHES = 4, /* a sample */
    SMALL_LAUNCHES = 20
};

static bool has_device = true, only_model;
static const char *wanted_class;
static int failures;

static bool check(kiln_status status, const char *what)
{
    if (status != KILN_OK) {
        fprintf(stderr, "%s: %s\n", what, kiln_error_message());
        ++failures;
    }
    return status == KILN_OK;
}

/* ---- arrays ---- */

typedef struct operands {
    const layout *of;
    int item;
    kiln_dtype dtype;
    kiln_array *x, *y, *z, *expected; /* y: the second input, where there is one */
    int64_t extent[LAYOUT_AXES];      /* of the input's memory */
} operands;

static kiln_dtype dtype_of(int item)
{
    static const struct {
        int item;
        kiln_dtype dtype;
    } all[] = {{1, KILN_UINT8}, {2, KILN_UINT16}, {4, KILN_UINT32}, {8, KILN_UINT64}, {16, KILN_COMPLEX128}};
    int k = 0;
    while (all[k].item != item)
        ++k;
    return all[k].dtype;
}

static kiln_array *filled(const operands *o, const int64_t *extent, int seed)
{
    kiln_kernel *fill = NULL;
    kiln_array *x = NULL;
    char body[160];
    snprintf(body, sizeof body,
             o->item == 16 ? "z = T((double)((i * 2654435761u + %d) >> 7), (double)i)"
                           : "z = (T)((i * 2654435761u + %d) >> 7)",
             seed);
    kiln_status status =
        has_device ? kiln_array_empty(&x, o->dtype, o->of->ndim, extent, KILN_DEVICE_DEFAULT) : KILN_OK;
    if (!has_device) {
        kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
        spec.dtype = o->dtype;
        spec.ndim = o->of->ndim;
        spec.shape = extent;
        spec.device = KILN_DEVICE_HOST;
        check(kiln_array_wrap(&x, (void *)((uintptr_t)seed << 40), &spec, NULL, NULL), "an array");
        return x;
    }
    if (check(status, "an array") &&
        check(kiln_elementwise_create(&fill, "", "T z", body, "fill", NULL), "fill"))
        check(kiln_kernel_call(fill, &x, 1, NULL, 0, NULL), "fill");
    kiln_kernel_free(fill);
    return x;
}

/* The array without its first `from` and its last `less - from` elements along each axis that is marked. */
static kiln_array *part_of(kiln_array *whole, const bool *marked, int from, int less)
{
    kiln_array *part = kiln_array_retain(whole);
    for (int a = 0; a < kiln_array_ndim(whole); ++a) {
        kiln_array *next = NULL;
        if (!marked[a])
            continue;
        check(kiln_array_slice(&next, part, a, from, kiln_array_shape(whole)[a] - less + from, 1), "a slice");
        kiln_array_free(part);
        part = next;
    }
    return part;
}

static void close_operands(operands *o)
{
    kiln_array_free(o->x);
    kiln_array_free(o->y);
    kiln_array_free(o->z);
    kiln_array_free(o->expected);
    if (has_device)
        check(kiln_memory_trim(KILN_DEVICE_DEFAULT, 0), "memory");
}

static void open_operands(operands *o)
{
    const layout *l = o->of;
    int64_t extent[LAYOUT_AXES], shape[LAYOUT_AXES];
    bool last[LAYOUT_AXES] = {false}, two[LAYOUT_AXES] = {false};
    layout_extents(o->extent, l, o->item);
    memcpy(extent, o->extent, sizeof extent);
    last[l->ndim - 1] = true;
    if (l->body == SHARED_ROWS)
        two[l->ndim - 2] = two[l->ndim - 1] = true;
    const bool *cut = l->body == SHARED_ROWS ? two : last;
    for (int a = 0; a < l->ndim; ++a)
        extent[a] += cut[a] ? l->cut : 0;
    kiln_array *whole = filled(o, extent, 1), *part = part_of(whole, cut, l->cut, l->cut);
    check(kiln_array_transpose(&o->x, part, l->axes), "an order");
    if (l->body == SHARED_ROWS)
        o->y = part_of(whole, cut, 0, l->cut);
    kiln_array_free(part);
    kiln_array_free(whole);
    memcpy(shape, kiln_array_shape(o->x), (size_t)l->ndim * sizeof *shape);
    if (l->body == WITH_BESIDE) { /* each row begins off a vector */
        ++shape[l->ndim - 1];
        whole = filled(o, shape, 2);
        o->y = part_of(whole, last, 1, 1);
        kiln_array_free(whole);
        --shape[l->ndim - 1];
    }
    if (has_device) {
        check(kiln_array_empty(&o->z, o->dtype, l->ndim, shape, KILN_DEVICE_DEFAULT), "a result");
        check(kiln_array_empty(&o->expected, o->dtype, l->ndim, shape, KILN_DEVICE_DEFAULT), "a result");
    }
}

/* ---- kernels ---- */

/* A new one each time: kernels remember their plans. */
static kiln_kernel *kernel_of(const operands *o)
{
    kiln_kernel *kernel = NULL;
    bool two = o->of->body != COPIED;
    /* not a mere copy, which would move interleaved channels as wider elements */
    check(kiln_elementwise_create(&kernel, two ? "T x, T y" : "T x", "T z", two ? "z = x - y" : "z = (T)x",
                                  two ? "two" : "copied", NULL),
          "a kernel");
    return kernel;
}

static bool call(const operands *o, kiln_kernel *kernel, kiln_array *z)
{
    const kiln_arg in[] = {kiln_arg_array(o->x), kiln_arg_array(o->y)};
    return check(kiln_kernel_call(kernel, &z, 1, in, o->of->body == COPIED ? 1 : 2, NULL), "a call");
}

static bool plan(const operands *o)
{
    const kiln_arg in[] = {kiln_arg_array(o->x), kiln_arg_array(o->y)};
    kiln_kernel *kernel = kernel_of(o);
    kiln_array *z = o->z;
    char *text = NULL;
    bool ok = check(kiln_kernel_launches(&text, kernel, &z, 1, in, o->of->body == COPIED ? 1 : 2, NULL,
                                         has_device ? NULL : "sm_90"),
                    "a plan");
    free(text);
    kiln_kernel_free(kernel);
    return ok;
}

static bool list_choices(const operands *o)
{
    choices.count = 0;
    choice_kind = NULL;
    choice_wanted = LIST;
    choice_is_straight = choice_is_crossed = false;
    bool ok = plan(o);
    if (ok && choice_is_crossed) {
        choice_is_straight = true;
        ok = plan(o);
        choice_is_straight = false;
    }
    choice_wanted = MODEL;
    return ok && choice_kind;
}

/* ---- results ---- */

static bool are_results_right(const operands *o)
{
    static kiln_kernel *compare;
    static kiln_array *wrong;
    static const int64_t one = 1;
    uint32_t count = 1;
    if (!compare) {
        check(kiln_elementwise_create(&compare, "T x, T y", "raw uint32 wrong",
                                      "if (x != y) atomicAdd(&wrong[0], 1u)", "compare", NULL),
              "compare");
        check(kiln_array_zeros(&wrong, KILN_UINT32, 1, &one, KILN_DEVICE_DEFAULT), "compare");
    }
    const kiln_arg in[] = {kiln_arg_array(o->z), kiln_arg_array(o->expected)};
    const uint32_t none = 0;
    return check(kiln_array_fill(wrong, &none), "compare") &&
           check(kiln_kernel_call(compare, &wrong, 1, in, 2, NULL), "compare") &&
           check(kiln_array_to_host(wrong, &count, sizeof count), "compare") && count == 0;
}

static int compare_times(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Microseconds of a launch, the median; below 0 where something failed. */
static double time_of(const operands *o, int wanted)
{
    static kiln_event *begin, *end;
    static const unsigned char poison[16] = {0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5,
                                             0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0x25};
    double ms[SAMPLES];
    int launches = layout_is_small(o->of) ? SMALL_LAUNCHES : LAUNCHES;
    choice_wanted = wanted;
    kiln_kernel *kernel = kernel_of(o);
    bool ok =
        (begin || (check(kiln_event_create(&begin, KILN_DEVICE_DEFAULT, KILN_EVENT_TIMING), "an event") &&
                   check(kiln_event_create(&end, KILN_DEVICE_DEFAULT, KILN_EVENT_TIMING), "an event"))) &&
        check(kiln_array_fill(o->z, poison), "fill") && call(o, kernel, o->z);
    choice_wanted = MODEL;
    if (ok && !are_results_right(o)) {
        fprintf(stderr, "%s, %d bytes: wrong results of %s\n", o->of->of_class, o->item,
                choices.text[wanted >= 0 ? wanted : 0]);
        ++failures;
        ok = false;
    }
    for (int k = 0; k < WARM && ok; ++k)
        ok = call(o, kernel, o->z);
    for (int s = 0; s < SAMPLES && ok; ++s) {
        ok = check(kiln_event_record(begin, NULL), "an event");
        for (int k = 0; k < launches && ok; ++k)
            ok = call(o, kernel, o->z);
        ok = ok && check(kiln_event_record(end, NULL), "an event") &&
             check(kiln_event_synchronize(end), "an event") &&
             check(kiln_event_elapsed(&ms[s], begin, end), "an event");
    }
    kiln_kernel_free(kernel);
    qsort(ms, SAMPLES, sizeof *ms, compare_times);
    return ok ? ms[SAMPLES / 2] * 1e3 / launches : -1;
}

static void expect(const operands *o)
{
    kiln_kernel *kernel = kernel_of(o);
    choice_is_strided = true;
    call(o, kernel, o->expected);
    choice_is_strided = false;
    kiln_kernel_free(kernel);
}

/* ---- files ---- */

static FILE *open_file(const char *folder, const char *name, const char *columns)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(2);
    }
    fprintf(file, "%s\n", columns);
    return file;
}

static void put_layout(FILE *out, const operands *o, int id)
{
    fprintf(out, "%d,%s,%s,%d,%d,", id, o->of->of_class, choice_kind, o->item, o->of->cut);
    for (int a = 0; a < o->of->ndim; ++a)
        fprintf(out, "%s%lld", a > 0 ? "x" : "", (long long)o->extent[a]);
    fprintf(out, ",");
    for (int a = 0; a < o->of->ndim; ++a)
        fprintf(out, "%d", o->of->axes[a]);
    fprintf(out, "\n");
}

static void put_choices(FILE *out, const operands *o, int id)
{
    if (has_device)
        expect(o);
    for (int k = 0; k < choices.count; ++k) {
        double us = has_device ? time_of(o, k) : 0;
        if (us >= 0)
            fprintf(out, "%d,%s,%s,%.*f\n", id, choices.tags[k], choices.text[k], us < 50 ? 2 : 1, us);
        if (only_model)
            return;
    }
}

int main(int argc, char **argv)
{
    int id = 0;
    uint64_t seed = 1;
    if (argc < 2) {
        fprintf(stderr,
                "usage: measure FOLDER [--class NAME] [--seed S] [--only-model] [--without-device]\n");
        return 2;
    }
    for (int k = 2; k < argc; ++k) {
        if (strcmp(argv[k], "--without-device") == 0)
            has_device = false;
        else if (strcmp(argv[k], "--only-model") == 0)
            only_model = true;
        else if (strcmp(argv[k], "--class") == 0 && k + 1 < argc)
            wanted_class = argv[++k];
        else if (strcmp(argv[k], "--seed") == 0 && k + 1 < argc)
            seed = strtoull(argv[++k], NULL, 10);
    }
    FILE *out = open_file(argv[1], "layouts", "layout,class,kind,item,cut,extents,axes");
    FILE *files[] = {open_file(argv[1], "tile",
                               "layout,tags,p_vectors,p_steps,q_vectors,q_steps,read,read_aligned,written,"
                               "written_aligned,over,tiles,cost,us"),
                     open_file(argv[1], "windows",
                               "layout,tags,crossed,run,rows,columns,input_rows,boxes,pitch,chunk_lanes,"
                               "slot_lanes,shared,cost,us"),
                     open_file(argv[1], "rows", "layout,tags,how,us")};
    for (int l = 0; l < n_layouts; ++l) {
        if (wanted_class && !strstr(layouts[l].of_class, wanted_class))
            continue;
        for (const char *item = layouts[l].items; *item; ++item, ++id) {
            operands o = {.of = &layouts[l], .item = *item == 'g' ? 16 : *item - '0'};
            o.dtype = dtype_of(o.item);
            choice_seed = seed * 1000003 + (uint64_t)id;
            open_operands(&o);
            if (list_choices(&o)) {
                put_layout(out, &o, id);
                put_choices(files[*choice_kind == 't' ? 0 : *choice_kind == 'w' ? 1 : 2], &o, id);
            }
            close_operands(&o);
        }
    }
    fclose(out);
    for (int k = 0; k < 3; ++k)
        fclose(files[k]);
    return failures > 0;
}
