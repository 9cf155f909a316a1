/* A store that the library does not have, and the list with one line more, which stands here in place of the
 * library's. */
#include "toy_store.h"

#include <stdlib.h>
#include <string.h>

struct toy_bundle toy_bundle;

void toy_store_add(const char *what, const void *code, size_t size, const char *notes)
{
    toy_row *row = &toy_bundle.row[toy_bundle.rows++];
    row->what = strdup(what);
    kn_blob_copy(&row->code, code, size);
    kn_blob_copy(&row->notes, notes, strlen(notes));
}

void toy_store_empty(void)
{
    for (int r = 0; r < toy_bundle.rows; r++) {
        free(toy_bundle.row[r].what);
        kn_blob_free(&toy_bundle.row[r].code);
        kn_blob_free(&toy_bundle.row[r].notes);
    }
    toy_bundle.rows = 0;
    atomic_store(&toy_bundle.asked, 0);
    atomic_store(&toy_bundle.found, 0);
}

/* ---- the store: build/store_NAME.c of a real one ---- */

static bool open_store(void **self)
{
    *self = &toy_bundle;
    return true;
}

static void list_places(kn_str *out, void *self)
{
    (void)self;
    kn_store_add_place(out, "/toy/bundle");
}

static kiln_status find(kn_code **out, void *self, kn_build_job *job)
{
    struct toy_bundle *bundle = self;
    atomic_fetch_add(&bundle->asked, 1);
    for (int r = 0; r < bundle->rows; r++) {
        const toy_row *row = &bundle->row[r];
        if (strcmp(row->what, kn_str_text(&job->subject->what)) != 0)
            continue;
        atomic_fetch_add(&bundle->found, 1);
        *out = kn_code_new(job);
        if (!*out || !kn_blob_copy(&(*out)->code, row->code.data, row->code.size) ||
            !kn_blob_copy(&(*out)->notes, row->notes.data, row->notes.size))
            abort();
        return KILN_OK;
    }
    return KILN_OK;
}

static const kn_store toy_store = {.name = "the toy",
                                   .origin = KILN_ORIGIN_DISK,
                                   .open = open_store,
                                   .list_places = list_places,
                                   .find = find};

/* ---- the list: store/stores.c, with one line more ---- */

bool toy_list_is_without_compiler;

const kn_store *const *kn_stores(void)
{
    static const kn_store *const order[] = {&kn_store_memory, &toy_store, &kn_store_cache, &kn_store_compiler,
                                            NULL},
                                 *const found_alone[] = {&kn_store_memory, &toy_store, NULL};
    return toy_list_is_without_compiler ? found_alone : order;
}
