/* Two stores that the library does not have, and the list with two more lines, which stands here in place of
 * the library's. */
#include "toy_store.h"

#include <stdlib.h>
#include <string.h>

toy_rows toy_bundle, toy_remote;

void toy_store_add(toy_rows *rows, const char *what, const void *code, size_t size, const char *dependencies)
{
    toy_row *row = &rows->row[rows->rows++];
    row->what = strdup(what);
    kn_blob_copy(&row->code, code, size);
    kn_blob_copy(&row->dependencies, dependencies, strlen(dependencies));
}

void toy_store_empty(toy_rows *rows)
{
    for (int r = 0; r < rows->rows; r++) {
        free(rows->row[r].what);
        kn_blob_free(&rows->row[r].code);
        kn_blob_free(&rows->row[r].dependencies);
    }
    rows->rows = 0;
    atomic_store(&rows->asked, 0);
    atomic_store(&rows->found, 0);
}

/* ---- the stores: store/store_NAME.c of a real one ---- */

static bool open_bundle(void **self)
{
    *self = &toy_bundle;
    return true;
}

static bool open_remote(void **self)
{
    *self = &toy_remote;
    return true;
}

static void list_places(kn_str *out, void *self)
{
    (void)self;
    kn_store_add_place(out, "/toy/bundle");
}

static kiln_status find(kn_code **out, void *self, kn_code_search *search)
{
    toy_rows *rows = self;
    atomic_fetch_add(&rows->asked, 1);
    for (int r = 0; r < rows->rows; r++) {
        const toy_row *row = &rows->row[r];
        if (strcmp(row->what, kn_str_text(&kn_search_job(search)->what)) != 0)
            continue;
        atomic_fetch_add(&rows->found, 1);
        *out = kn_code_new(search);
        if (!*out || !kn_blob_copy(&(*out)->code, row->code.data, row->code.size) ||
            !kn_blob_copy(&(*out)->dependencies, row->dependencies.data, row->dependencies.size))
            abort();
        return KILN_OK;
    }
    return KILN_OK;
}

static const kn_store toy_store = {.name = "the toy",
                                   .roles = KN_STORE_READS,
                                   .open = open_bundle,
                                   .list_places = list_places,
                                   .find = find};

static const kn_store toy_remote_store = {
    .name = "the far toy", .roles = KN_STORE_READS | KN_STORE_REMOTE, .open = open_remote, .find = find};

/* ---- the list: store/stores.c, with two more lines ---- */

bool toy_list_is_without_compiler;

const kn_store *const *kn_stores(void)
{
    static const kn_store *const order[] = {&kn_store_memory,  &toy_store,         &kn_store_cache,
                                            &toy_remote_store, &kn_store_compiler, NULL},
                                 *const found_alone[] = {&kn_store_memory, &toy_store, NULL};
    return toy_list_is_without_compiler ? found_alone : order;
}
