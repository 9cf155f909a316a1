/* Bundles: code that was made elsewhere and shipped. Only read. */
#include "store/store_bundles.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/os.h"
#include "base/setting.h"
#include "base/shortage.h"
#include "store/bundle_label.h"
#include "schedules/spec_text.h"

#define ENDING ".kiln"

/* The folders of the system's administrator for bundles. */
static const char system_folders[] = "/usr/local/share/kiln:/usr/share/kiln";

kn_bundles *kn_bundles_of(kn_build_state *state)
{
    for (int s = 0; s < state->n_stores; s++)
        if (state->store[s].store == &kn_store_bundles)
            return state->store[s].self;
    return NULL;
}

kiln_status kn_bundles_add(kn_bundles *bundles, kn_bundle *bundle)
{
    kn_attached *node = kn_calloc(1, sizeof *node);
    if (!node) {
        kn_bundle_free(bundle);
        return kn_error_memory("a bundle");
    }
    node->bundle = bundle;
    node->next = atomic_load(&bundles->first);
    while (!atomic_compare_exchange_weak(&bundles->first, &node->next, node))
        ;
    return KILN_OK;
}

void kn_bundles_fill_stats(kiln_cache_stats *stats, kn_build_state *state)
{
    for (int s = 0; s < state->n_stores; s++) {
        if (state->store[s].store != &kn_store_bundles)
            continue;
        kn_bundles *bundles = state->store[s].self;
        stats->bundle_hits = atomic_load(&state->store[s].counts.hits);
        stats->bundles_refused = atomic_load(&bundles->refused);
        for (kn_attached *a = atomic_load(&bundles->first); a; a = a->next)
            stats->bundles++;
    }
}

/* ---- those that the environment and the system name ---- */

/* One that cannot be used is said, and is no reason for anything to fail; a shortage is (open_store). */
static void add_file(kn_bundles *bundles, const char *path)
{
    kn_bundle *bundle = NULL;
    unsigned before = kn_shortages();
    kiln_status status = kn_bundle_open(&bundle, path);
    if (status == KILN_OK)
        status = kn_bundles_add(bundles, bundle);
    if (status == KILN_OK) {
        kn_log(KILN_LOG_INFO, "kernels are looked for in the bundle %s, which has %d", path,
               kn_bundle_rows(bundle));
        return;
    }
    if (kn_shortages() != before)
        return;
    atomic_fetch_add(&bundles->refused, 1);
    kn_store_add_refusal(&bundles->refusals, "left out: %s", kiln_error_message());
    kn_log(KILN_LOG_WARNING, "a bundle is left out: %s", kiln_error_message());
}

static int is_bundle_name(const struct dirent *file)
{
    size_t length = strlen(file->d_name), ending = sizeof ENDING - 1;
    return length > ending && strcmp(file->d_name + length - ending, ENDING) == 0;
}

/* All bundles of a folder; of two for the same kernel the one whose name comes first counts. */
static void add_folder(kn_bundles *bundles, const char *folder, struct dirent **files, int count)
{
    char path[PATH_MAX];
    while (count-- > 0) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, files[count]->d_name) < sizeof path)
            add_file(bundles, path);
        free(files[count]);
    }
    free(files);
}

static void add_place(kn_bundles *bundles, const char *place, bool may_be_missing)
{
    struct dirent **files = NULL;
    int count = scandir(place, &files, is_bundle_name, alphasort);
    if (count < 0 && kn_shortage_note(errno))
        return;
    if (count == 0 && !may_be_missing)
        kn_log(KILN_LOG_WARNING, "KILN_BUNDLE_PATH: there is no file *%s in %s", ENDING, place);
    if (count >= 0)
        add_folder(bundles, place, files, count);
    else if (!may_be_missing)
        add_file(bundles, place);
}

/* From the last to the first, since each is put at the front. */
static void add_places(kn_bundles *bundles, const char *list, bool may_be_missing)
{
    char place[PATH_MAX];
    const char *end = list + strlen(list);
    while (end > list) {
        const char *begin = end;
        while (begin > list && begin[-1] != ':')
            begin--;
        size_t length = (size_t)(end - begin);
        if (length > 0 && length < sizeof place) {
            memcpy(place, begin, length);
            place[length] = '\0';
            add_place(bundles, place, may_be_missing);
        }
        end = begin > list ? begin - 1 : list;
    }
}

static bool find_own_place(char *out, char *resolved, bool without_links)
{
    char folder[PATH_MAX - 8];
    if (!kn_os_library_own_folder(folder, sizeof folder, without_links))
        return false;
    snprintf(out, PATH_MAX, "%s/kiln", folder);
    return realpath(out, resolved) != NULL;
}

/* The bundle that was installed with the library, of its own operations, is in a folder beside it; where
 * links lead to the library, beside these or beside their file. */
static void add_own_places(kn_bundles *bundles)
{
    char place[PATH_MAX], resolved[PATH_MAX], other[PATH_MAX] = "";
    if (find_own_place(place, resolved, true))
        add_place(bundles, place, true);
    else
        resolved[0] = '\0';
    if (find_own_place(place, other, false) && strcmp(resolved, other) != 0)
        add_place(bundles, place, true);
}

/* ---- the store ---- */

static bool open_store(void **self)
{
    const char *setting = kn_setting("KILN_BUNDLE_PATH");
    kn_error_state before;
    kn_bundles *bundles = *self = kn_calloc(1, sizeof *bundles);
    if (!bundles)
        return false;
    kn_error_save(&before);
    unsigned shortages = kn_shortages();
    add_own_places(bundles);
    add_places(bundles, system_folders, true);
    if (setting)
        add_places(bundles, setting, false);
    kn_error_restore(&before);
    return kn_shortages() == shortages;
}

static void close_store(void *self)
{
    kn_bundles *bundles = self;
    kn_attached *next;
    if (!bundles)
        return;
    for (kn_attached *a = atomic_load(&bundles->first); a; a = next) {
        next = a->next;
        kn_bundle_free(a->bundle);
        kn_free(a);
    }
    kn_str_free(&bundles->refusals);
    kn_free(bundles);
}

/* Collects the targets of rows for other devices, for the message. */
static int note_target(const char *text, size_t size, void *targets)
{
    kn_bundle_label label;
    char target[48];
    if (!kn_bundle_label_read(&label, text, size))
        return 0;
    kn_target_format(&label.target, target, sizeof target);
    kn_str_printf(targets, "%s%s%s", ((kn_str *)targets)->length > 0 ? ", " : "", target,
                  kn_bundle_label_is_current(&label) ? "" : " of another kiln");
    return 0;
}

/* Those that have the kernel for other targets, too. */
static void list_refusals(kn_str *out, void *self, const kn_code_search *search)
{
    kn_bundles *bundles = self;
    kn_str key = KN_STR_INIT;
    int unused;
    kn_str_append(out, kn_str_text(&bundles->refusals));
    if (kn_spec_make_portable(&key, kn_str_text(&search->job->what)) == KILN_OK)
        for (kn_attached *a = atomic_load(&bundles->first); a; a = a->next) {
            kn_str targets = KN_STR_INIT;
            kn_bundle_find(a->bundle, key.data, key.length, note_target, &targets, 0, &unused);
            if (targets.length > 0)
                kn_store_add_refusal(out, "%s has it for %s", kn_bundle_name(a->bundle), targets.data);
            kn_str_free(&targets);
        }
    kn_str_free(&key);
}

static void list_places(kn_str *out, void *self)
{
    kn_bundles *bundles = self;
    for (kn_attached *a = atomic_load(&bundles->first); a; a = a->next)
        kn_store_add_place(out, kn_bundle_name(a->bundle));
}

/* A row's rank among those of all bundles: how well it fits, and of equal ones those of the first bundle. */
typedef struct ranking {
    kn_target target;
    int place; /* of the bundle */
} ranking;

enum { MOST_PLACES = 256 };

static int rank(const char *text, size_t size, void *user)
{
    ranking *r = user;
    int fit = kn_bundle_label_rank(text, size, &r->target);
    return fit ? fit * MOST_PLACES + MOST_PLACES - 1 - r->place : 0;
}

static const kn_bundle *find_best(int *row, int *ranked, kn_bundles *bundles, const kn_str *key,
                                  const kn_code_search *search, int below)
{
    const kn_bundle *best = NULL;
    ranking r = {search->job->target, 0};
    *ranked = 0;
    for (kn_attached *a = atomic_load(&bundles->first); a; a = a->next) {
        int here, found = kn_bundle_find(a->bundle, key->data, key->length, rank, &r, below, &here);
        if (r.place < MOST_PLACES - 1)
            r.place++;
        if (found < 0 || here <= *ranked)
            continue;
        best = a->bundle;
        *row = found;
        *ranked = here;
    }
    return best;
}

static kiln_status take(kn_code **out, kn_code_search *search, kn_bundle_row *row, int ranked)
{
    kn_bundle_label label;
    kn_code *code = kn_code_new(search);
    if (!code)
        return KILN_ERROR_MEMORY;
    kn_bundle_label_read(&label, row->label.data, row->label.size);
    code->code = row->code;
    code->dependencies = row->aux;
    row->code = row->aux = (kn_blob)KN_BLOB_INIT;
    code->rank = ranked;
    code->waits_for_kernels = label.target.waits_for_kernels;
    *out = code;
    return KILN_OK;
}

/* A damaged row is passed over, for the next best. */
static kiln_status find_row(kn_code **out, kn_bundles *bundles, kn_code_search *search, const kn_str *key)
{
    int number = 0, ranked, below = search->below;
    const kn_bundle *bundle;
    while ((bundle = find_best(&number, &ranked, bundles, key, search, below))) {
        kn_bundle_row row;
        kiln_status status = kn_bundle_read(&row, bundle, number);
        if (status == KILN_OK) {
            status = take(out, search, &row, ranked);
            kn_bundle_row_free(&row);
            return status;
        }
        if (status == KILN_ERROR_MEMORY)
            return status;
        kn_log(KILN_LOG_WARNING, "%s is not taken from a bundle: %s", search->job->name,
               kiln_error_message());
        kn_search_add_refusal(search, "a damaged row: %s", kiln_error_message());
        below = ranked;
    }
    return KILN_OK;
}

static kiln_status find(kn_code **out, void *self, kn_code_search *search)
{
    kn_bundles *bundles = self;
    kn_str key = KN_STR_INIT;
    kn_error_state before;
    if (!atomic_load(&bundles->first))
        return KILN_OK;
    kn_error_save(&before);
    kiln_status status = kn_spec_make_portable(&key, kn_str_text(&search->job->what));
    if (status == KILN_OK)
        status = find_row(out, bundles, search, &key);
    kn_str_free(&key);
    if (status == KILN_ERROR_MEMORY) {
        kn_free(before.log);
        return status;
    }
    kn_error_restore(&before);
    return KILN_OK;
}

/* The next best of the same bundles is asked for. */
static bool pass_over(void *self, kn_code_search *search, const kn_code *code)
{
    (void)self;
    search->below = code->rank;
    return true;
}

const kn_store kn_store_bundles = {.name = "a bundle",
                                   .roles = KN_STORE_READS,
                                   .open = open_store,
                                   .close = close_store,
                                   .list_places = list_places,
                                   .list_refusals = list_refusals,
                                   .find = find,
                                   .pass_over = pass_over};
