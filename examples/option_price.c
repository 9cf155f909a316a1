/*
 * option_price.c - the price of a European call option by a million random ends of its share, in one kernel
 * that reads nothing: random numbers are a function of a key and an element's number. Beside it stands the
 * formula of Black and Scholes.
 *
 *     example_option_price [SEED]
 */
#include <kiln/kiln.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double share = 100, strike = 105, rate = 0.03, volatility = 0.2, years = 1;

/* The mean of what the option pays, as it is worth today, and the standard error of that mean. */
static const char text[] =
    "n = 1000000\n"
    "z = normal(key, arange(n))\n"
    "end = share * exp((rate - volatility ** 2 / 2) * years + volatility * sqrt(years) * z)\n"
    "paid = exp(-rate * years) * maximum(end - strike, 0)\n"
    "mean(paid), std(paid) / sqrt(n)";

static int complain(const char *what)
{
    fprintf(stderr, "%s: %s\n%s\n", what, kiln_error_message(), kiln_error_log());
    return 1;
}

static double normal_below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static double by_formula(void)
{
    const double deviation = volatility * sqrt(years);
    const double d = (log(share / strike) + rate * years) / deviation + deviation / 2;
    return share * normal_below(d) - strike * exp(-rate * years) * normal_below(d - deviation);
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    const kiln_arg in[] = {kiln_arg_uint(seed),  kiln_arg_float(share),      kiln_arg_float(strike),
                           kiln_arg_float(rate), kiln_arg_float(volatility), kiln_arg_float(years)};
    kiln_kernel *price = NULL;
    kiln_array *out[2] = {NULL, NULL};
    double simulated = 0, error = 0;
    if (kiln_expression_create(&price, "key, share, strike, rate, volatility, years", text, NULL) != KILN_OK)
        return complain("the expression");
    if (kiln_kernel_call(price, out, 2, in, 6, NULL) != KILN_OK ||
        kiln_array_to_host(out[0], &simulated, sizeof simulated) != KILN_OK ||
        kiln_array_to_host(out[1], &error, sizeof error) != KILN_OK)
        return complain("the call");
    kiln_array_free(out[1]);
    kiln_array_free(out[0]);
    kiln_kernel_free(price);
    printf("simulated %.4f +- %.4f, by the formula %.4f\n", simulated, error, by_formula());
    return !(fabs(simulated - by_formula()) < 5 * error);
}
