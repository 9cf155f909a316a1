/* The label of a bundle's row decides whether this library launches its code. */
#include "store/bundle_label.h"
#include "schedule/kind.h"
#include "schedule/layout.h"
#include "schedules/kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int rank(const char *head, int block, const char *kind, int revision)
{
    kn_target target;
    char text[160];
    assert_int_equal(kn_target_parse(&target, "sm_90"), 0);
    int length = kind ? snprintf(text, sizeof text, "%s block=%d kind=%s revision=%d\ncompiler none\n", head,
                                 block, kind, revision)
                      : snprintf(text, sizeof text, "%s\ncompiler none\n", head);
    return kn_bundle_label_rank(text, (size_t)length, &target);
}

/* Code of another revision of either, or of an unknown kind, is passed over; other kinds' is not. */
static void revisions_decide(void **state)
{
    static const char head[] = "cuda:sm_90 binary";
    (void)state;
    for (const kn_kind *const *kind = kn_kinds_of(KN_CUDA); *kind; kind++) {
        assert_true((*kind)->revision > 0);
        assert_true(rank(head, KN_BLOCK_REVISION, (*kind)->name, (*kind)->revision) > 0);
        assert_int_equal(rank(head, KN_BLOCK_REVISION, (*kind)->name, (*kind)->revision + 1), 0);
        assert_int_equal(rank(head, KN_BLOCK_REVISION + 1, (*kind)->name, (*kind)->revision), 0);
    }
    assert_int_equal(rank(head, KN_BLOCK_REVISION, "unheard_of", 1), 0);
    assert_int_equal(rank("cuda:sm_80 binary", KN_BLOCK_REVISION, "flat", kn_kind_flat.revision), 0);
    assert_true(rank(head, 0, NULL, 0) > 0); /* a module's */
}

static void labels_are_read_as_written(void **state)
{
    kn_bundle_label label = {.format = KN_CODE_BINARY, .generator = "g", .compiler = "c"}, read;
    kn_str text = KN_STR_INIT;
    (void)state;
    assert_int_equal(kn_target_parse(&label.target, "sm_90"), 0);
    kn_bundle_label_set_kind(&label, "kiln-spec kind=\"program\" schedule=\"reduce_rows\"");
    assert_string_equal(label.kind, "reduce_rows");
    assert_int_equal(label.revision, kn_kind_reduce_rows.revision);
    kn_bundle_label_write(&text, &label);
    assert_true(kn_bundle_label_read(&read, kn_str_text(&text), text.length));
    assert_string_equal(read.kind, label.kind);
    assert_int_equal(read.revision, label.revision);
    assert_int_equal(read.block, KN_BLOCK_REVISION);
    kn_str_free(&text);
    assert_false(kn_bundle_label_read(&read, "cuda:sm_90 binary block=4 kind=flat\n", 36));
    assert_false(kn_bundle_label_read(&read, "cuda:sm_90 binary blocks=4\n", 27));
    assert_false(kn_bundle_label_read(&read, "cuda:sm_90\n", 11));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(revisions_decide),
                                       cmocka_unit_test(labels_are_read_as_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
