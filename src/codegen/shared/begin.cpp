extern "C" __attribute__((visibility("default"))) void ${entry}(const kn_args *kn_given, long long kn_begin, long long kn_end)
{
    const kn_args kn = *kn_given; /* which no store changes: its numbers stay in registers */
    const kn_clean_up kn_at_end;
    ${values}
    ${loop_prep}
    ${element}
