/* program/stages.c - the names and letters of stage kinds. */
#include "program/stages.h"

#include <string.h>

static const struct {
    const char *name;
    char letter, result_letter; /* of a map of each element; of each result */
} stage_kinds[KN_STAGE_KINDS] = {[KN_MAP] = {"map", 'm', 'k'},
                                 [KN_MAP_EXPRESSION] = {"map_expression", 'm', 'k'},
                                 [KN_REDUCE] = {"reduce", 'r', 'r'},
                                 [KN_SCAN] = {"scan", 's', 's'},
                                 [KN_SCAN_EXCLUSIVE] = {"exclusive", 's', 's'},
                                 [KN_COUNT] = {"count", 'c', 'c'},
                                 [KN_PLACE] = {"place", 'p', 'p'},
                                 [KN_RANK] = {"rank", 'o', 'o'},
                                 [KN_TALLY] = {"tally", 't', 't'},
                                 [KN_COLUMNS] = {"columns", 'l', 'l'}};

const char *kn_stage_kind_name(kn_stage_kind kind)
{
    return stage_kinds[kind].name;
}

char kn_stage_letter(kn_stage_kind kind, kn_over over)
{
    return over == KN_OVER_RESULTS ? stage_kinds[kind].result_letter : stage_kinds[kind].letter;
}

bool kn_stage_combines(kn_stage_kind kind)
{
    return kind == KN_REDUCE || kn_stage_scans(kind);
}

bool kn_stage_scans(kn_stage_kind kind)
{
    return kind == KN_SCAN || kind == KN_SCAN_EXCLUSIVE;
}

bool kn_pattern_scans(const char *pattern)
{
    return strpbrk(pattern, "scpotl") != NULL;
}

bool kn_pattern_has_rows(const char *pattern)
{
    return strpbrk(pattern, "cpo") != NULL;
}

bool kn_program_scans(const kn_program *program)
{
    return kn_pattern_scans(program->pattern);
}

bool kn_stage_kind_find(kn_stage_kind *out, const char *name)
{
    for (int k = 0; k < KN_STAGE_KINDS; ++k)
        if (strcmp(stage_kinds[k].name, name) == 0) {
            *out = (kn_stage_kind)k;
            return true;
        }
    return false;
}

const char *kn_value_name(const kn_param *value)
{
    return value->name + (value->is_value && value->name[0] == '_');
}
