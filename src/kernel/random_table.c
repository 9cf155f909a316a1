/* The distributions of random numbers: names, whether an element's number begins with
 * words of the block that neighbours share, parameters with their usual values and ranges. */
#include "kernel/random.h"

#include <math.h>
#include <string.h>

#define GIVEN NAN
#define ANY -INFINITY, INFINITY, false
#define FROM_0 0, INFINITY, false
#define ABOVE_0 0, INFINITY, true
#define SHARE 0, 1, false
#define ODDS 0, 1, true

static const kn_law rows[] = {
    {"binomial", KN_LAW_COUNT, false, 2, {{"n", GIVEN, FROM_0}, {"p", GIVEN, SHARE}}},
    {"chisquare", KN_LAW_REAL, false, 1, {{"df", GIVEN, ABOVE_0}}},
    {"exponential", KN_LAW_REAL, true, 1, {{"scale", 1, FROM_0}}},
    {"geometric", KN_LAW_COUNT, true, 1, {{"p", GIVEN, ODDS}}},
    {"gumbel", KN_LAW_REAL, true, 2, {{"loc", 0, ANY}, {"scale", 1, FROM_0}}},
    {"hypergeometric",
     KN_LAW_COUNT,
     false,
     3,
     {{"ngood", GIVEN, FROM_0}, {"nbad", GIVEN, FROM_0}, {"nsample", GIVEN, FROM_0}}},
    {"integers", KN_LAW_INTEGERS, true, 2, {{"low", GIVEN, ANY}, {"high", GIVEN, ANY}}},
    {"laplace", KN_LAW_REAL, true, 2, {{"loc", 0, ANY}, {"scale", 1, FROM_0}}},
    {"logistic", KN_LAW_REAL, true, 2, {{"loc", 0, ANY}, {"scale", 1, FROM_0}}},
    {"lognormal", KN_LAW_REAL, true, 2, {{"mean", 0, ANY}, {"sigma", 1, FROM_0}}},
    {"logseries", KN_LAW_COUNT, false, 1, {{"p", GIVEN, SHARE}}},
    {"negative_binomial", KN_LAW_COUNT, false, 2, {{"n", GIVEN, ABOVE_0}, {"p", GIVEN, ODDS}}},
    {"noncentral_chisquare", KN_LAW_REAL, false, 2, {{"df", GIVEN, ABOVE_0}, {"nonc", GIVEN, FROM_0}}},
    {"noncentral_f",
     KN_LAW_REAL,
     false,
     3,
     {{"dfnum", GIVEN, ABOVE_0}, {"dfden", GIVEN, ABOVE_0}, {"nonc", GIVEN, FROM_0}}},
    {"normal", KN_LAW_REAL, true, 2, {{"loc", 0, ANY}, {"scale", 1, FROM_0}}},
    {"pareto", KN_LAW_REAL, true, 1, {{"a", GIVEN, ABOVE_0}}},
    {"poisson", KN_LAW_COUNT, false, 1, {{"lam", 1, FROM_0}}},
    {"random", KN_LAW_REAL, true, 0, {{0}}},
    {"random_beta", KN_LAW_REAL, false, 2, {{"a", GIVEN, ABOVE_0}, {"b", GIVEN, ABOVE_0}}},
    {"random_bits", KN_LAW_BITS, true, 0, {{0}}},
    {"random_f", KN_LAW_REAL, false, 2, {{"dfnum", GIVEN, ABOVE_0}, {"dfden", GIVEN, ABOVE_0}}},
    {"random_gamma", KN_LAW_REAL, false, 2, {{"shape", GIVEN, FROM_0}, {"scale", 1, FROM_0}}},
    {"random_power", KN_LAW_REAL, true, 1, {{"a", GIVEN, ABOVE_0}}},
    {"rayleigh", KN_LAW_REAL, true, 1, {{"scale", 1, FROM_0}}},
    {"standard_cauchy", KN_LAW_REAL, true, 0, {{0}}},
    {"standard_exponential", KN_LAW_REAL, true, 0, {{0}}},
    {"standard_gamma", KN_LAW_REAL, false, 1, {{"shape", GIVEN, FROM_0}}},
    {"standard_normal", KN_LAW_REAL, true, 0, {{0}}},
    {"standard_t", KN_LAW_REAL, false, 1, {{"df", GIVEN, ABOVE_0}}},
    {"triangular", KN_LAW_REAL, true, 3, {{"left", GIVEN, ANY}, {"mode", GIVEN, ANY}, {"right", GIVEN, ANY}}},
    {"uniform", KN_LAW_REAL, true, 2, {{"low", 0, ANY}, {"high", 1, ANY}}},
    {"vonmises", KN_LAW_REAL, false, 2, {{"mu", GIVEN, ANY}, {"kappa", GIVEN, FROM_0}}},
    {"wald", KN_LAW_REAL, false, 2, {{"mean", GIVEN, ABOVE_0}, {"scale", GIVEN, ABOVE_0}}},
    {"weibull", KN_LAW_REAL, true, 1, {{"a", GIVEN, FROM_0}}},
    {"zipf", KN_LAW_COUNT, false, 1, {{"a", GIVEN, 1, INFINITY, true}}},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

const kn_law *kn_law_at(int k)
{
    return k < ROWS ? &rows[k] : NULL;
}

const kn_law *kn_law_find(const char *name, size_t length)
{
    for (int k = 0; k < ROWS; ++k)
        if (strlen(rows[k].name) == length && memcmp(rows[k].name, name, length) == 0)
            return &rows[k];
    return NULL;
}
