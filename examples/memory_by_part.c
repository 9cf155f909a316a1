/*
 * memory_by_part.c - the memory of a program's parts: the pool's statistics, and a table by label, which a
 * hook fills as blocks are handed out and come back.
 */
#include <kiln/kiln.h>
#include <kiln/ops.h>
#include <stdio.h>
#include <stdlib.h>

static void must(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n", kiln_status_name(status), kiln_error_message());
    exit(EXIT_FAILURE);
}

/* A part of the program: what it has allocated, and the most it had at once. */
typedef struct part {
    const char *label;
    size_t used, peak;
    int allocations;
} part;

enum { PARTS = 3, MOST_BLOCKS = 256 };
static part parts[PARTS] = {{.label = "inputs"}, {.label = "forward"}, {.label = "totals"}};

/* Blocks that are out, and whose they are. The program has one thread; others would need a lock here. */
static struct {
    void *pointer;
    part *owner;
} blocks[MOST_BLOCKS];
static int n_blocks;

static void note(kiln_device device, void *pointer, size_t bytes, bool freed, void *user)
{
    part *owner = *(part **)user;
    (void)device;
    if (!freed && n_blocks < MOST_BLOCKS) {
        blocks[n_blocks].pointer = pointer;
        blocks[n_blocks++].owner = owner;
        ++owner->allocations;
        owner->used += bytes;
        owner->peak = owner->used > owner->peak ? owner->used : owner->peak;
    }
    for (int k = 0; freed && k < n_blocks; ++k)
        if (blocks[k].pointer == pointer) {
            blocks[k].owner->used -= bytes;
            blocks[k] = blocks[--n_blocks];
            return;
        }
}

int main(void)
{
    kiln_memory_stats before = KILN_MEMORY_STATS_INIT, after = KILN_MEMORY_STATS_INIT;
    kiln_array *x = NULL, *y = NULL, *z = NULL, *total = NULL;
    part *now = &parts[0];
    kiln_device device;
    must(kiln_device_current(&device));
    must(kiln_memory_get_stats(device, &before));
    kiln_memory_set_hook(note, &now);
    must(kiln_array_arange(&x, 0, 1 << 20, 1, KILN_FLOAT32, device));
    now = &parts[1];
    for (int layer = 0; layer < 4;
         ++layer) { /* each layer's array is freed as soon as the next one is there */
        must(kiln_multiply(&z, layer == 0 ? x : y, 0.5));
        kiln_array_free(y);
        y = z;
        z = NULL;
    }
    now = &parts[2];
    must(kiln_sum(&total, y, NULL));
    must(kiln_memory_get_stats(device, &after));
    printf("%-8s %12s %12s %12s\n", "part", "allocations", "used KiB", "peak KiB");
    for (int k = 0; k < PARTS; ++k)
        printf("%-8s %12d %12zu %12zu\n", parts[k].label, parts[k].allocations, parts[k].used >> 10,
               parts[k].peak >> 10);
    printf("pool: %zu KiB in use, %zu at most, %zu held; %llu requests\n", after.used_bytes >> 10,
           after.peak_used_bytes >> 10, after.held_bytes >> 10,
           (unsigned long long)(after.allocations - before.allocations));
    const bool is_right = parts[0].used == 4u << 20 && parts[1].used == 4u << 20 &&
                          parts[1].allocations == 4 && parts[1].peak == 8u << 20 &&
                          after.used_bytes >= (8u << 20);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(total);
    must(kiln_device_synchronize(device));
    kiln_memory_set_hook(NULL, NULL);
    if (!is_right)
        fprintf(stderr, "the table is not what the program allocates\n");
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
