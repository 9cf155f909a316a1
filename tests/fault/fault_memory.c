/* The nth allocation fails, for every n, in every flow: a clean KILN_ERROR_MEMORY or, where something else
 * can be done, the right result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "drawn.h"
#include "fault_flows.h"
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if an allocation was left to fail. */
static bool run_failing(const fault_flow *flow, unsigned long nth, int forever)
{
    unsigned long made;
    kiln_status status;
    kiln_error_clear();
    kn_alloc_fail_at(nth, forever);
    status = flow->run();
    made = kn_alloc_fail_at(0, 0);
    if (made < nth && status != KILN_OK)
        fail_msg("%s: %s without a failing allocation: %s", flow->name, kiln_status_name(status),
                 kiln_error_message());
    if (status != KILN_OK && (status != KILN_ERROR_MEMORY || !strstr(kiln_error_message(), "memory")))
        fail_msg("%s: allocation %lu fails: %s: %s", flow->name, nth, kiln_status_name(status),
                 kiln_error_message());
    return made >= nth;
}

static void run_flow(const fault_flow *flow, int forever, void (*before)(void), unsigned share)
{
    unsigned long nth = 1;
    for (before(); run_failing(flow, nth, forever); nth = drawn_next(nth, share))
        before();
    print_message("             %s: %lu allocations\n", flow->name, nth - 1);
}

/* One allocation in so many fails, others at each run, and each in tools/soak: most of a cold flow is
 * compiling. */
enum { WARM_SHARE = 3, COLD_SHARE = 11 };

static void nothing(void)
{
}

static void warm_flows(void **state)
{
    (void)state;
    for (int i = 0; i < fault_flow_count; i++)
        assert_int_equal(fault_flows[i].run(), KILN_OK);
    for (int i = 0; i < fault_flow_count; i++) {
        const fault_flow *flow = &fault_flows[i];
        if (strcmp(flow->name, "compile_nonsense") == 0)
            continue; /* is never warm */
        run_flow(flow, 0, flow->compiles ? fault_forget : nothing, WARM_SHARE);
        run_flow(flow, 1, flow->compiles ? fault_forget : nothing, WARM_SHARE);
    }
}

/* Loaded, planned, called again. */
static void repeated_flows(void **state)
{
    (void)state;
    for (int i = 0; i < fault_flow_count; i++)
        if (strcmp(fault_flows[i].name, "compile_nonsense") != 0)
            run_flow(&fault_flows[i], 0, nothing, WARM_SHARE);
}

static void cold_flows(void **state)
{
    (void)state;
    for (int i = 0; i < fault_flow_count; i++)
        if (fault_flows[i].compiles)
            run_flow(&fault_flows[i], 1, fault_empty_cache, COLD_SHARE);
}

/* A single failure in a cold flow that goes on afterwards. */
static void cold_call(void **state)
{
    (void)state;
    for (int i = 0; i < fault_flow_count; i++)
        if (strcmp(fault_flows[i].name, "call_kernel") == 0)
            run_flow(&fault_flows[i], 0, fault_empty_cache, COLD_SHARE);
}

/* Where both forms are begun; before anything is compiled. */
static void both_forms(void **state)
{
    enum { BEGINNING = 60 };
    (void)state;
    assert_int_equal(kiln_set_forms(KILN_FORMS_BOTH), KILN_OK);
    for (int i = 0; i < fault_flow_count; i++)
        for (unsigned long nth = 1; nth <= BEGINNING && strcmp(fault_flows[i].name, "call_kernel") == 0;
             nth++) {
            fault_empty_cache();
            assert_true(run_failing(&fault_flows[i], nth, 0));
        }
    assert_int_equal(kiln_set_forms(KILN_FORMS_BEST), KILN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(warm_flows, fault_set_up, fault_tear_down),
        cmocka_unit_test_setup_teardown(repeated_flows, fault_set_up, fault_tear_down),
        cmocka_unit_test_setup_teardown(cold_flows, fault_set_up, fault_tear_down),
        cmocka_unit_test_setup_teardown(cold_call, fault_set_up, fault_tear_down),
        cmocka_unit_test_setup_teardown(both_forms, fault_set_up, fault_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
