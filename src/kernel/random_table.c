/* The distributions of random numbers: names, whether the words of an element are all that its number
 * uses, parameters with their usual values and ranges. */
#include "kernel/random.h"

#include <math.h>
#include <string.h>

#define ANY -INFINITY, INFINITY, false
#define FROM_0 0, INFINITY, false
#define ABOVE_0 0, INFINITY, true
#define SHARE 0, 1, false
#define ODDS 0, 1, true

static const kn_law rows[] = {
    {"binomial", KN_LAW_COUNT, false, 2, {{"n", NULL, FROM_0}, {"p", NULL, SHARE}}},
    {"chisquare", KN_LAW_REAL, false, 1, {{"df", NULL, ABOVE_0}}},
    {"exponential", KN_LAW_REAL, true, 1, {{"scale", "1", FROM_0}}},
    {"geometric", KN_LAW_COUNT, false, 1, {{"p", NULL, ODDS}}},
    {"gumbel", KN_LAW_REAL, true, 2, {{"loc", "0", ANY}, {"scale", "1", FROM_0}}},
    {"hypergeometric",
     KN_LAW_COUNT,
     false,
     3,
     {{"ngood", NULL, FROM_0}, {"nbad", NULL, FROM_0}, {"nsample", NULL, FROM_0}}},
    {"integers", KN_LAW_INTEGERS, false, 2, {{"low", NULL, ANY}, {"high", NULL, ANY}}},
    {"laplace", KN_LAW_REAL, true, 2, {{"loc", "0", ANY}, {"scale", "1", FROM_0}}},
    {"logistic", KN_LAW_REAL, true, 2, {{"loc", "0", ANY}, {"scale", "1", FROM_0}}},
    {"lognormal", KN_LAW_REAL, true, 2, {{"mean", "0", ANY}, {"sigma", "1", FROM_0}}},
    {"logseries", KN_LAW_COUNT, false, 1, {{"p", NULL, SHARE}}},
    {"negative_binomial", KN_LAW_COUNT, false, 2, {{"n", NULL, ABOVE_0}, {"p", NULL, ODDS}}},
    {"noncentral_chisquare", KN_LAW_REAL, false, 2, {{"df", NULL, ABOVE_0}, {"nonc", NULL, FROM_0}}},
    {"noncentral_f",
     KN_LAW_REAL,
     false,
     3,
     {{"dfnum", NULL, ABOVE_0}, {"dfden", NULL, ABOVE_0}, {"nonc", NULL, FROM_0}}},
    {"normal", KN_LAW_REAL, true, 2, {{"loc", "0", ANY}, {"scale", "1", FROM_0}}},
    {"pareto", KN_LAW_REAL, true, 1, {{"a", NULL, ABOVE_0}}},
    {"poisson", KN_LAW_COUNT, false, 1, {{"lam", "1", FROM_0}}},
    {"random", KN_LAW_REAL, true, 0, {{0}}},
    {"random_beta", KN_LAW_REAL, false, 2, {{"a", NULL, ABOVE_0}, {"b", NULL, ABOVE_0}}},
    {"random_bits", KN_LAW_BITS, true, 0, {{0}}},
    {"random_f", KN_LAW_REAL, false, 2, {{"dfnum", NULL, ABOVE_0}, {"dfden", NULL, ABOVE_0}}},
    {"random_gamma", KN_LAW_REAL, false, 2, {{"shape", NULL, FROM_0}, {"scale", "1", FROM_0}}},
    {"random_power", KN_LAW_REAL, true, 1, {{"a", NULL, ABOVE_0}}},
    {"rayleigh", KN_LAW_REAL, true, 1, {{"scale", "1", FROM_0}}},
    {"standard_cauchy", KN_LAW_REAL, true, 0, {{0}}},
    {"standard_exponential", KN_LAW_REAL, true, 0, {{0}}},
    {"standard_gamma", KN_LAW_REAL, false, 1, {{"shape", NULL, FROM_0}}},
    {"standard_normal", KN_LAW_REAL, true, 0, {{0}}},
    {"standard_t", KN_LAW_REAL, false, 1, {{"df", NULL, ABOVE_0}}},
    {"triangular", KN_LAW_REAL, true, 3, {{"left", NULL, ANY}, {"mode", NULL, ANY}, {"right", NULL, ANY}}},
    {"uniform", KN_LAW_REAL, true, 2, {{"low", "0", ANY}, {"high", "1", ANY}}},
    {"vonmises", KN_LAW_REAL, false, 2, {{"mu", NULL, ANY}, {"kappa", NULL, FROM_0}}},
    {"wald", KN_LAW_REAL, false, 2, {{"mean", NULL, ABOVE_0}, {"scale", NULL, ABOVE_0}}},
    {"weibull", KN_LAW_REAL, true, 1, {{"a", NULL, FROM_0}}},
    {"zipf", KN_LAW_COUNT, false, 1, {{"a", NULL, 1, INFINITY, true}}},
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
