/* The file of a bundle: rows in, rows out, and whatever else its bytes may be. */
#include "cache/bundle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/os.h"
#include "ok.h"

enum { ROWS = 40 };

/* Row n: key "key n/2" (so that two share one), a label that ends in a digit, which is its rank. */
static void add_row(kn_bundle_writer *w, int n, const char *code)
{
    kn_bundle_row row = KN_BUNDLE_ROW_INIT;
    char what[32], label[32];
    snprintf(what, sizeof what, "key %d", n / 2);
    snprintf(label, sizeof label, "row %d\nmore", 1 + n % 2);
    assert_true(
        kn_blob_copy(&row.what, what, strlen(what)) && kn_blob_copy(&row.label, label, strlen(label)) &&
        kn_blob_copy(&row.aux, "aux", (size_t)(n % 4)) && kn_blob_copy(&row.code, code, strlen(code)));
    OK(kn_bundle_writer_add(w, &row));
    assert_null(row.code.data);
}

static void code_of(char out[32], int n)
{
    snprintf(out, 32, "code of %d", n);
}

static kn_blob make_file(bool backward)
{
    kn_bundle_writer *w = kn_bundle_writer_create();
    kn_blob file = KN_BLOB_INIT;
    char code[32];
    for (int i = 0; i < ROWS; i++) {
        int n = backward ? ROWS - 1 - i : i;
        code_of(code, n);
        add_row(w, n, code);
    }
    add_row(w, 3, "another"); /* is there already */
    assert_int_equal(kn_bundle_writer_rows(w), ROWS);
    OK(kn_bundle_writer_finish(&file, w));
    kn_bundle_writer_free(w);
    return file;
}

static int by_digit(const char *label, size_t size, void *user)
{
    (void)user;
    return size > 4 ? label[4] - '0' : 0;
}

static int none(const char *label, size_t size, void *user)
{
    (void)label;
    (void)size;
    (void)user;
    return 0;
}

/* The code that is found for key n; "" for none. */
static void expect_code(const kn_bundle *b, int key, int below, const char *code)
{
    char what[32];
    int best;
    snprintf(what, sizeof what, "key %d", key);
    int row = kn_bundle_find(b, what, strlen(what), by_digit, NULL, below, &best);
    if (!*code) {
        assert_int_equal(row, -1);
        return;
    }
    kn_bundle_row found;
    assert_true(row >= 0);
    OK(kn_bundle_read(&found, b, row));
    assert_int_equal(found.code.size, strlen(code));
    assert_memory_equal(found.code.data, code, found.code.size);
    assert_string_equal(found.what.data, what);
    kn_bundle_row_free(&found);
}

static void expect_all(const kn_bundle *b)
{
    char code[32];
    for (int n = 0; n < ROWS; n++) {
        code_of(code, n);
        expect_code(b, n / 2, n % 2 ? 0 : 2, code);
    }
    expect_code(b, ROWS / 2, 0, "");
    expect_code(b, 0, 1, "");
    int best;
    assert_int_equal(kn_bundle_find(b, "key 0", 5, none, NULL, 0, &best), -1);
}

static void rows_are_found(void **state)
{
    kn_blob file = make_file(false);
    kn_bundle *b = NULL;
    (void)state;
    OK(kn_bundle_open_memory(&b, file.data, file.size, "it"));
    assert_int_equal(kn_bundle_rows(b), ROWS);
    assert_string_equal(kn_bundle_name(b), "it");
    expect_all(b);
    kn_bundle_free(b);
    kn_blob_free(&file);
}

static void equal_rows_give_equal_bytes(void **state)
{
    kn_blob one = make_file(false), other = make_file(true), again = KN_BLOB_INIT;
    kn_bundle_writer *w = kn_bundle_writer_create();
    kn_bundle *b = NULL;
    (void)state;
    assert_int_equal(one.size, other.size);
    assert_memory_equal(one.data, other.data, one.size);
    OK(kn_bundle_open_memory(&b, one.data, one.size, "it"));
    OK(kn_bundle_writer_add_all(w, b));
    OK(kn_bundle_writer_finish(&again, w));
    assert_int_equal(one.size, again.size);
    assert_memory_equal(one.data, again.data, one.size);
    kn_bundle_writer_free(w);
    kn_bundle_free(b);
    kn_blob_free(&one);
    kn_blob_free(&other);
    kn_blob_free(&again);
}

static void a_bundle_may_be_empty(void **state)
{
    kn_bundle_writer *w = kn_bundle_writer_create();
    kn_blob file = KN_BLOB_INIT;
    kn_bundle *b = NULL;
    (void)state;
    OK(kn_bundle_writer_finish(&file, w));
    OK(kn_bundle_open_memory(&b, file.data, file.size, "it"));
    expect_code(b, 0, 0, "");
    kn_bundle_free(b);
    kn_bundle_writer_free(w);
    kn_blob_free(&file);
}

/* An index of 8 bits: keys are told apart all the same. */
static void collisions_give_no_wrong_row(void **state)
{
    (void)state;
    kn_hash_set_index_bits(8);
    for (int bits = 0; bits <= 8; bits += 8) {
        kn_hash_set_index_bits(bits);
        kn_blob file = make_file(false);
        kn_bundle *b = NULL;
        OK(kn_bundle_open_memory(&b, file.data, file.size, "it"));
        expect_all(b);
        kn_bundle_free(b);
        kn_blob_free(&file);
    }
    kn_hash_set_index_bits(128);
}

/* Every byte of the file changed in turn, in a copy of exactly its size: refused, or a row that says so. */
static void every_damage_is_seen(void **state)
{
    kn_blob file = make_file(false);
    unsigned char *copy = malloc(file.size);
    int opened = 0;
    (void)state;
    for (size_t at = 0; at < file.size; at++) {
        kn_bundle *b = NULL;
        kn_bundle_row row;
        int bad = 0;
        memcpy(copy, file.data, file.size);
        copy[at] ^= (unsigned char)(1 << at % 8);
        kiln_status status = kn_bundle_open_memory(&b, copy, file.size, "it");
        if (status != KILN_OK) {
            assert_int_equal(status, KILN_ERROR_FORMAT);
            continue;
        }
        opened++;
        for (int r = 0; r < kn_bundle_rows(b); r++) {
            bad += kn_bundle_read(&row, b, r) != KILN_OK;
            kn_bundle_row_free(&row);
        }
        assert_int_equal(bad, 1);
        kn_bundle_free(b);
    }
    assert_true(opened > ROWS * 10);
    free(copy);
    kn_blob_free(&file);
}

static void every_cut_is_seen(void **state)
{
    kn_blob file = make_file(false);
    (void)state;
    for (size_t size = 0; size < file.size; size++) {
        unsigned char *copy = malloc(size ? size : 1);
        kn_bundle *b = NULL;
        memcpy(copy, file.data, size);
        assert_int_equal(kn_bundle_open_memory(&b, copy, size, "it"), KILN_ERROR_FORMAT);
        free(copy);
    }
    kn_blob_free(&file);
}

static void expect_refused(const void *data, size_t size, const char *reason)
{
    kn_bundle *b = NULL;
    assert_int_equal(kn_bundle_open_memory(&b, data, size, "/a/b.kiln"), KILN_ERROR_FORMAT);
    if (!strstr(kiln_error_message(), reason) || !strstr(kiln_error_message(), "/a/b.kiln"))
        fail_msg("%s, rather than: %s", kiln_error_message(), reason);
}

static void what_is_wrong_is_said(void **state)
{
    kn_blob file = make_file(false);
    unsigned char *bytes = file.data;
    (void)state;
    expect_refused("SQLite format 3\0and so on", 25, "but a database");
    expect_refused("", 0, "is no bundle: its 0 bytes");
    expect_refused("some text", 9, "do not begin with KILNBNDL");
    expect_refused(bytes, 40, "was cut off");
    expect_refused(bytes, file.size - 1, "it was not copied whole");
    bytes[8] = 2;
    expect_refused(bytes, file.size, "format 2, and this library reads format 1");
    bytes[8] = 1;
    bytes[20] ^= 1;
    expect_refused(bytes, file.size, "the checksum of its head");
    bytes[20] ^= 1;
    bytes[70] ^= 1;
    expect_refused(bytes, file.size, "the checksum of its index");
    kn_blob_free(&file);
}

/* ---- files ---- */

static void files_are_read_as_they_were(void **state)
{
    kn_blob file = make_file(false);
    char folder[256], path[300];
    kn_bundle *b = NULL;
    kn_bundle_row row;
    (void)state;
    OK(kn_os_make_temporary_folder(folder, sizeof folder));
    snprintf(path, sizeof path, "%s/a.kiln", folder);
    OK(kn_os_write_file(path, file.data, file.size));
    chmod(path, 0600);
    OK(kn_bundle_open(&b, path));
    expect_all(b);
    OK(kn_os_write_file(path, "new", 3)); /* another file in its place: the one that is open stays */
    expect_all(b);
    kn_bundle_free(b);
    OK(kn_os_write_file(path, file.data, file.size));
    chmod(path, 0600);
    OK(kn_bundle_open(&b, path));
    assert_int_equal(truncate(path, (off_t)file.size / 2), 0); /* cut off under our hands: rows are missed */
    assert_int_equal(kn_bundle_read(&row, b, ROWS - 1), KILN_ERROR_IO);
    kn_bundle_free(b);
    assert_int_equal(kn_bundle_open(&b, path), KILN_ERROR_FORMAT);
    kn_os_remove_folder(folder);
    assert_int_equal(kn_bundle_open(&b, path), KILN_ERROR_NOT_FOUND);
    kn_blob_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_found),        cmocka_unit_test(equal_rows_give_equal_bytes),
        cmocka_unit_test(a_bundle_may_be_empty), cmocka_unit_test(collisions_give_no_wrong_row),
        cmocka_unit_test(every_damage_is_seen),  cmocka_unit_test(every_cut_is_seen),
        cmocka_unit_test(what_is_wrong_is_said), cmocka_unit_test(files_are_read_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
