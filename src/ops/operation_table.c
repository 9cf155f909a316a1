/* ops/operation_table.c - the built-in operations: a row for each group of dtypes that have their texts in
 * common. Rows of one name are one operation, and variants are tried in the order in which they stand. */
#include "ops/variant.h"
#include "program/extreme.h"

#include <string.h>

#define ROW_WITH(traits, name, in, out, types, map, reduce, post, identity, reduce_type, preamble)           \
    {                                                                                                        \
        {sizeof(kiln_operation),                                                                             \
         name,                                                                                               \
         in,                                                                                                 \
         out,                                                                                                \
         types,                                                                                              \
         map,                                                                                                \
         reduce,                                                                                             \
         post,                                                                                               \
         identity,                                                                                           \
         reduce_type,                                                                                        \
         preamble,                                                                                           \
         0,                                                                                                  \
         NULL,                                                                                               \
         NULL,                                                                                               \
         NULL,                                                                                               \
         0,                                                                                                  \
         NULL,                                                                                               \
         NULL,                                                                                               \
         0},                                                                                                 \
            traits                                                                                           \
    }
#define ROW(name, in, out, types, map, reduce, post, identity, reduce_type, preamble)                        \
    ROW_WITH(0, name, in, out, types, map, reduce, post, identity, reduce_type, preamble)
#define MAP_WITH(traits, name, in, out, types, body)                                                         \
    ROW_WITH(traits, name, in, out, types, body, NULL, NULL, NULL, NULL, NULL)
#define MAP(name, in, out, types, body) MAP_WITH(0, name, in, out, types, body)
#define MAP1(name, types, body) MAP(name, "T x", "U y", types, body)
#define MAP2(name, types, body) MAP(name, "T x, T y", "U z", types, body)
/* Dtypes for which an elementwise operation has no meaning. */
#define NO_MAP1(name, types) MAP1(name, types, NULL)
#define NO_MAP2(name, types) MAP2(name, types, NULL)
#define REDUCTION_WITH(traits, name, types, map, reduce, post, identity)                                     \
    ROW_WITH(traits, name, "T x", "U y", types, map, reduce, post, identity, NULL, NULL)
#define REDUCTION(name, types, map, reduce, post, identity)                                                  \
    REDUCTION_WITH(0, name, types, map, reduce, post, identity)
#define SCAN_WITH(traits, name, types, map, scan)                                                            \
    REDUCTION_WITH(KN_OP_SCANS | (traits), name, types, map, scan, "y = a", NULL)
#define SCAN(name, types, map, scan) SCAN_WITH(0, name, types, map, scan)
/* Dtypes for which a reduction has no meaning. */
#define NO_REDUCTION(name, types) ROW(name, "T x", "U y", types, NULL, "", NULL, NULL, NULL, NULL)

/* ---- lists of variants ---- */

#define INTEGERS "b->b B->B h->h H->H i->i I->I l->l L->L "
#define FLOATS "e->e E->E f->f d->d "
#define COMPLEX "F->F D->D "
#define ALL "?->? " INTEGERS FLOATS COMPLEX

#define WIDENED "?->l b->l B->L h->l H->L i->l I->L l->l L->L "
#define TO_BOOL "?->? b->? B->? h->? H->? i->? I->? l->? L->? e->? E->? f->? d->? F->? D->? "
#define TO_INT64 "?->l b->l B->l h->l H->l i->l I->l l->l L->l e->l E->l f->l d->l F->l D->l "
#define SIGNED "b->b h->h i->i l->l "
#define UNSIGNED "B->B H->H I->I L->L "
#define INTEGERS_TO_BOOL "?->? b->? B->? h->? H->? i->? I->? l->? L->? "
#define FLOATS_TO_BOOL "e->? E->? f->? d->? "
/* As SciPy has it, but for 16-bit floats, which stay as they are. */
#define SPECIAL "?->f b->f B->f h->f H->f e->e E->E f->f d->d "
#define SPECIAL_PAIRS "?\?->f bb->f BB->f hh->f HH->f ee->e EE->E ff->f dd->d "
#define INTEGERS_TO_DOUBLE "?->d b->d B->d h->d H->d i->d I->d l->d L->d "
#define COMPLEX_TO_REAL "F->f D->d "

#define INTEGER_PAIRS "bb->b BB->B hh->h HH->H ii->i II->I ll->l LL->L "
#define FLOAT_PAIRS "ee->e EE->E ff->f dd->d "
#define COMPLEX_PAIRS "FF->F DD->D "
#define BESIDE_INT32 "ei->e Ei->E fi->f di->d "
#define BESIDE_INT64 "el->e El->E fl->f dl->d "
#define INTEGER_PAIRS_TO_PAIRS "bb->bb BB->BB hh->hh HH->HH ii->ii II->II ll->ll LL->LL "
#define FLOAT_PAIRS_TO_PAIRS "ee->ee EE->EE ff->ff dd->dd "
#define INTEGER_PAIR_TESTS "bb->? BB->? hh->? HH->? ii->? II->? ll->? LL->? "
#define INTEGER_TESTS "?\?->? " INTEGER_PAIR_TESTS
#define OTHER_TESTS "ee->? EE->? ff->? dd->? FF->? DD->? "
#define BESIDE_BOOL "b?->? B?->? h?->? H?->? i?->? I?->? l?->? L?->? e?->? E?->? f?->? d?->? F?->? D?->? "
#define BEHIND_BOOL "?b->? ?B->? ?h->? ?H->? ?i->? ?I->? ?l->? ?L->? ?e->? ?E->? ?f->? ?d->? ?F->? ?D->? "

/* ---- sums ---- */

/* The number of elements reduced to one result; 0 if there are none. */
#define COUNT "(_in_ind.size() / _out_ind.size())"

/* ---- extremes: a NaN wins, and of equal ones the first ---- */

#define LESSER "a <= b || kn_is_nan(a) ? a : b"
#define GREATER "a >= b || kn_is_nan(a) ? a : b"
#define LESSER_NUMBER "a <= b || kn_is_nan(b) ? a : b"
#define GREATER_NUMBER "a >= b || kn_is_nan(b) ? a : b"

#define RANGE                                                                                                \
    "struct range { T low, high; };\n"                                                                       \
    "__device__ __forceinline__ range both(const range a, const range b) {\n"                                \
    "    return {a.low <= b.low || kn_is_nan(a.low) ? a.low : b.low,\n"                                      \
    "            a.high >= b.high || kn_is_nan(a.high) ? a.high : b.high};\n"                                \
    "}\n"

#define PLACE(name, after)                                                                                   \
    ROW_WITH(KN_OP_IN_C_ORDER, name, "T x", "int64 y", TO_INT64, "best{x, (_index)_J}",                      \
             "better(a, b, _follows)", "y = a.at", NULL, "best", KN_PLACE_TEXT(after))

/* log(exp(a) + exp(b)), of infinities too. */
#define LOGADDEXP                                                                                            \
    "a > b ? a + log1p(exp(b - a)) : a < b ? b + log1p(exp(a - b)) "                                         \
    ": a == b ? a + (decltype(a))0.69314718055994530942 : a + b"

/* ---- variances ----
 *
 * The moments of elements are relative to a pilot, one of them: the distance of two pilots is nearly always
 * exact, and what is left of a mean is so small that float32 holds it well where it could not hold the mean
 * itself (1e6, with a deviation of 1, has 4 bits behind the point). What joins two (cuda_moments.cu,
 * host_moments.cpp) has no product that a compiler may contract with a sum, or not: a constant n would decide
 * that, and the baseline tier has other constants.
 *
 * Where an element is infinite the mean is no number that can be subtracted, and the result, by way of
 * mean - mean, a NaN as in NumPy. */
#define MOMENTS(wide, real, sum)                                                                             \
    "typedef " wide " W;\n"                                                                                  \
    "typedef " real " R;\n"                                                                                  \
    "struct moments { R n; W pilot, offset; R squares; };\n"                                                 \
    "__device__ __forceinline__ R sum_of(const W u) { return " sum "; }\n"                                   \
    "__device__ __forceinline__ moments join(const moments a, const moments b) {\n"                          \
    "    return kn_joined_moments(a, b);\n"                                                                  \
    "}\n"                                                                                                    \
    "__device__ __forceinline__ R variance_of(const moments a, const R left) {\n"                            \
    "    const W mean = kn_mean_of_moments(a);\n"                                                            \
    "    const R squares = kn_squares_of_moments(a);\n"                                                      \
    "    return kn_no_product(squares / left + sum_of(mean - mean));\n"                                      \
    "}\n"                                                                                                    \
    "__device__ __forceinline__ R left_of(const long long count, const double ddof) {\n"                     \
    "    const double left = kn_no_product(kn_float64_of(count) - ddof);\n"                                  \
    "    return (R)(left > 0 ? left : 0);\n"                                                                 \
    "}\n"
#define REAL_MOMENTS(real) MOMENTS(real, real, "u")
#define COMPLEX_MOMENTS(real) MOMENTS("complex<" real ">", real, "kn_no_product(u.re + u.im)")

/* The number of elements, as float or double, without ddof and with it. */
#define ALL_LEFT(to) to "(" COUNT ")"
#define LEFT_BY_DDOF(to) "left_of(" COUNT ", ddof)"
#define MOMENTS_ROW(name, in, types, left, before, behind, preamble)                                         \
    ROW_WITH(KN_OP_TAKES_DTYPE, name, in, "U y", types, "moments{1, (W)x, (W)(R)-0.0, (R)-0.0}",             \
             "join(a, b)", "y = " before "variance_of(a, " left ")" behind, "moments{0, (W)0, (W)0, 0}",     \
             "moments", preamble)
#define MOMENTS_ROWS(name, in, with, left, before, behind)                                                   \
    MOMENTS_ROW(name, in,                                                                                    \
                with("?", "d") with("b", "d") with("B", "d") with("h", "d") with("H", "d") with("i", "d")    \
                    with("I", "d") with("l", "d") with("L", "d"),                                            \
                left("kn_float64_of"), before, behind, REAL_MOMENTS("double")),                              \
        MOMENTS_ROW(name, in, with("e", "e") with("E", "E") with("f", "f"), left("kn_float32_of_count"),     \
                    before, behind, REAL_MOMENTS("float")),                                                  \
        MOMENTS_ROW(name, in, with("d", "d"), left("kn_float64_of"), before, behind,                         \
                    REAL_MOMENTS("double")),                                                                 \
        MOMENTS_ROW(name, in, with("F", "f"), left("kn_float32_of_count"), before, behind,                   \
                    COMPLEX_MOMENTS("float")),                                                               \
        MOMENTS_ROW(name, in, with("D", "d"), left("kn_float64_of"), before, behind,                         \
                    COMPLEX_MOMENTS("double"))
/* Exponentials of distances from the greatest element, summed up in one pass: where a part has a greater one,
 * the sum of the other fades. A NaN is in the sum; beside an infinite element, as in NumPy, there is one. */
#define PEAK                                                                                                 \
    "struct peak { U top, sum; };\n"                                                                         \
    "__device__ __forceinline__ peak higher(const peak a, const peak b) {\n"                                 \
    "    const bool rises = b.top > a.top;\n"                                                                \
    "    const U apart = b.top == a.top ? (U)0 : -fabs(b.top - a.top);\n"                                    \
    "    const U fade = (U)kn_fade(exp(apart), apart);\n"                                                    \
    "    return {rises ? b.top : a.top, rises ? a.sum * fade + b.sum : b.sum * fade + a.sum};\n"             \
    "}\n"

#define ALONE(from, to) from "->" to " "
#define WITH_DDOF(from, to) from "d->" to " "

/* ---- elementwise ---- */

#define FUNCTION(name, function) MAP1(name, FLOATS COMPLEX, "y = " function "(x)")
#define REAL_FUNCTION(name, function) MAP1(name, FLOATS, "y = " function "(x)")
#define REAL_FUNCTION_OF_TWO(name, function) MAP2(name, FLOAT_PAIRS, "z = " function "(x, y)")
#define WHOLE(name) MAP1(name, "?->? " INTEGERS, "y = x"), REAL_FUNCTION(name, name)
#define EVEN_BOOLS(name, body) MAP2(name, "?\?->? " INTEGER_PAIRS FLOAT_PAIRS COMPLEX_PAIRS, body)
#define BITS(name, op) MAP2(name, "?\?->? " INTEGER_PAIRS, "z = x " op " y")

/* int64 beside uint64 have no integer in common: where one is negative the answer is known. */
#define COMPARE(name, op, where_x_is_negative, where_y_is_negative)                                          \
    MAP2(name, INTEGER_TESTS, "z = x " op " y"),                                                             \
        MAP(name, "T x, V y", "U z", "lL->?", "z = x < 0 ? " where_x_is_negative " : (V)x " op " y"),        \
        MAP(name, "T x, V y", "U z", "Ll->?", "z = y < 0 ? " where_y_is_negative " : x " op " (T)y"),        \
        MAP2(name, OTHER_TESTS, "z = x " op " y")
/* A number for a parameter declared bool counts as its truth value, even if the other dtype cannot hold it.
 */
#define LOGICAL(name, op)                                                                                    \
    MAP2(name, "?\?->?", "z = x " op " y"),                                                                  \
        MAP(name, "T x, bool y", "U z", BESIDE_BOOL, "z = (x != (T)0) " op " y"),                            \
        MAP(name, "bool x, T y", "U z", BEHIND_BOOL, "z = x " op " (y != (T)0)"),                            \
        MAP2(name, INTEGER_PAIR_TESTS OTHER_TESTS, "z = (x != (T)0) " op " (y != (T)0)")

/* As in Python: the quotient is rounded down, and the remainder has the sign of y. */
#define INTEGER_FLOOR_DIVIDE(z) z " = x / y - (x % y != 0 && kn_is_negative(x) != kn_is_negative(y))"
#define INTEGER_REMAINDER(z)                                                                                 \
    z " = x % y; " z " += " z " != 0 && kn_is_negative(" z ") != kn_is_negative(y) ? y : 0"
#define FLOOR_DIVIDE(z)                                                                                      \
    "const auto p = +x, q = +y, left = fmod(p, q), part = (p - left) / q;\n"                                 \
    "const auto whole = left != 0 && (q < 0) != (left < 0) ? part - 1 : part, below = floor(whole);\n" z     \
    " = q == 0 ? p / q : whole == 0 ? copysign(whole, p / q) : whole - below > 0.5f ? below + 1 : below"
#define REMAINDER_OF(z)                                                                                      \
    z " = left == 0 && q != 0 ? copysign(left, q) : left != 0 && (q < 0) != (left < 0) ? left + q : left"
#define REMAINDER(z) "const auto q = +y, left = fmod(+x, q);\n" REMAINDER_OF(z)
/* Smith's method, as in NumPy: the quotient of the parts is below 1. */
#define COMPLEX_RECIPROCAL                                                                                   \
    "const bool is_wide = abs(x.re) >= abs(x.im);\n"                                                         \
    "const auto p = is_wide ? x.re : x.im, q = is_wide ? x.im : x.re, part = q / p, size = p + q * part;\n"  \
    "y = is_wide ? T(1 / size, -part / size) : T(part / size, -1 / size)"
#define SINC(x)                                                                                              \
    "const auto turn = " x " * (decltype(" x "))3.14159265358979323846;\n"                                   \
    "y = x == (T)0 ? (U)1 : (U)(sin(turn) / turn)"
/* Euclid's algorithm; remainders of negative numbers are negative, and so may be the last. */
#define GREATEST_DIVISOR                                                                                     \
    "T a = x, b = y;\n"                                                                                      \
    "while (b != 0) {\n"                                                                                     \
    "    const T left = a % b;\n"                                                                            \
    "    a = b;\n"                                                                                           \
    "    b = left;\n"                                                                                        \
    "}\n"
#define GCD GREATEST_DIVISOR "z = kn_is_negative(a) ? 0 - a : a"
/* Magnitudes are unsigned: such a type holds that of the least number, too. */
#define LCM(magnitude)                                                                                       \
    GREATEST_DIVISOR                                                                                         \
    "typedef " magnitude " M;\n"                                                                             \
    "const M p = kn_is_negative(x) ? (M)0 - (M)x : (M)x, q = kn_is_negative(y) ? (M)0 - (M)y : (M)y;\n"      \
    "const M divisor = kn_is_negative(a) ? (M)0 - (M)a : (M)a;\n"                                            \
    "z = (T)(p / divisor * q)"
/* log(exp(x) + exp(y)) to the base of `exp`; `one` is the logarithm of 2, `per` that of e. Equal infinities
 * have no difference. */
#define LOGADDEXP_OF(exp, one, per)                                                                          \
    "const auto p = +x, q = +y, apart = p - q;\n"                                                            \
    "typedef decltype(+x) R;\n"                                                                              \
    "z = p == q ? p + (R)" one " : apart > 0 ? p + log1p(" exp "(-apart))" per                               \
    " : apart <= 0 ? q + log1p(" exp "(apart))" per " : apart"
#define INTEGER_POWER                                                                                        \
    "T base = x, left = y;\n"                                                                                \
    "z = 1;\n"                                                                                               \
    "if (kn_is_negative(y))\n"                                                                               \
    "    z = x == 1 ? 1 : x != (T)-1 ? 0 : y % 2 ? -1 : 1;\n"                                                \
    "for (; left > 0; left /= 2, base *= base)\n"                                                            \
    "    z *= left % 2 ? base : (T)1"
/* x is in the dtype of the result, and 16-bit floats are computed in float32. */
#define SPECIAL_FUNCTION(name, body) MAP1(name, SPECIAL, "const auto p = +(U)x;\ny = " body)
#define SPECIAL_OF_TWO(name, body) MAP2(name, SPECIAL_PAIRS, "const auto p = +(U)x, q = +(U)y;\nz = " body)
/* x rounded by way of x * 10^decimals, as NumPy has it; the power is exact up to 10^22. */
#define DECIMAL "double scale = 1;\nfor (int k = 0; k < fabs(decimals) && k < 400; ++k)\n    scale *= 10;\n"
#define TO_DECIMALS(v, R)                                                                                    \
    "(decimals >= 0 ? rint(" v " * (" R ")scale) / (" R ")scale : rint(" v " / (" R ")scale) * (" R ")scale" \
    ")"
/* The substitutes of NaN and of the infinities are numbers of float64; the greatest numbers of the dtype,
 * where none is given. */
#define FINITE(v, nan, high, low)                                                                            \
    "(" v " != " v " ? " nan " : isinf(" v ") ? " v " > 0 ? " high " : " low " : " v ")"
#define FLOAT_END "3.40282347e38f"
#define DOUBLE_END "1.7976931348623157e308"
#define FINITE_FLOAT(v, nan, high, low, end) FINITE(v, "(float)" nan, high(end), low("-" end))
#define FINITE_DOUBLE(v, nan, high, low) FINITE(v, nan, high(DOUBLE_END), low("-" DOUBLE_END))
#define FINITE_ROW(in, types, body) MAP("nan_to_num", in, "U y", types, body)
#define FINITE_ROWS(in, with, nan, high, low)                                                                \
    FINITE_ROW(in,                                                                                           \
               with("?", "?") with("b", "b") with("B", "B") with("h", "h") with("H", "H") with("i", "i")     \
                   with("I", "I") with("l", "l") with("L", "L"),                                             \
               "y = x"),                                                                                     \
        FINITE_ROW(in, with("e", "e"),                                                                       \
                   "const float p = +x;\ny = " FINITE_FLOAT("p", nan, high, low, "65504.0f")),               \
        FINITE_ROW(in, with("E", "E"),                                                                       \
                   "const float p = +x;\ny = " FINITE_FLOAT("p", nan, high, low, "3.38953139e38f")),         \
        FINITE_ROW(in, with("f", "f"), "y = " FINITE_FLOAT("x", nan, high, low, FLOAT_END)),                 \
        FINITE_ROW(in, with("d", "d"), "y = " FINITE_DOUBLE("x", nan, high, low)),                           \
        FINITE_ROW(in, with("F", "F"),                                                                       \
                   "y = U(" FINITE_FLOAT("x.re", nan, high, low, FLOAT_END) ", " FINITE_FLOAT(               \
                       "x.im", nan, high, low, FLOAT_END) ")"),                                              \
        FINITE_ROW(                                                                                          \
            in, with("D", "D"),                                                                              \
            "y = U(" FINITE_DOUBLE("x.re", nan, high, low) ", " FINITE_DOUBLE("x.im", nan, high, low) ")")
#define WITH_NUMBER(from, to) from "d->" to " "
#define WITH_NUMBERS(from, to) from "ddd->" to " "
#define OWN_END(end) end
#define GIVEN_HIGH(end) "(float64)posinf"
#define GIVEN_LOW(end) "(float64)neginf"
#define WHERE(c)                                                                                             \
    c "?\?->? " c "bb->b " c "BB->B " c "hh->h " c "HH->H " c "ii->i " c "II->I " c "ll->l " c "LL->L " c    \
      "ee->e " c "EE->E " c "ff->f " c "dd->d " c "FF->F " c "DD->D "
#define CLIP "z = kn_smaller(kn_larger(x, low), high)"

/* clang-format off */
const kn_operation_row kn_operation_table[] = {
    REDUCTION_WITH(KN_OP_TAKES_DTYPE | KN_OP_TRUTH, "sum", WIDENED FLOATS COMPLEX, "(U)x", "a + b", "y = a",
                   "0"),
    REDUCTION_WITH(KN_OP_TAKES_DTYPE | KN_OP_TRUTH, "prod", WIDENED FLOATS COMPLEX, "(U)x", "a * b", "y = a",
                   "1"),
    REDUCTION_WITH(KN_OP_TRUTH, "nansum", WIDENED FLOATS COMPLEX, "!kn_is_nan(x) ? (U)x : (U)0", "a + b",
                   "y = a", "0"),
    /* sums of small integers are exact in 64 bits, and need no conversion of each element */
    ROW_WITH(KN_OP_TAKES_DTYPE, "mean", "T x", "U y", "?->d b->d B->d h->d H->d ", "(long long)x", "a + b",
             "y = kn_float64_of(a) / kn_float64_of(" COUNT ")", "0", "int64", NULL),
    REDUCTION_WITH(KN_OP_TAKES_DTYPE, "mean", "i->d I->d l->d L->d ", "kn_float64_of(x)", "a + b",
                   "y = a / kn_float64_of(" COUNT ")", "0"),
    REDUCTION_WITH(KN_OP_TAKES_DTYPE, "mean", "e->e E->E f->f F->F", "x", "a + b",
                   "y = a / kn_float32_of_count(" COUNT ")", "0"),
    REDUCTION_WITH(KN_OP_TAKES_DTYPE, "mean", "d->d D->D", "x", "a + b",
                   "y = a / kn_float64_of(" COUNT ")", "0"),

    REDUCTION("min", "?->? " INTEGERS, "x", LESSER, "y = a", NULL),
    REDUCTION("min", FLOATS, "x", "kn_least(a, b)", "y = a", NULL),
    REDUCTION("min", COMPLEX, "x", LESSER, "y = a", NULL),
    REDUCTION("max", "?->? " INTEGERS, "x", GREATER, "y = a", NULL),
    REDUCTION("max", FLOATS, "x", "kn_greatest(a, b)", "y = a", NULL),
    REDUCTION("max", COMPLEX, "x", GREATER, "y = a", NULL),
    REDUCTION("nanmin", ALL, "x", LESSER_NUMBER, "y = a", NULL),
    REDUCTION("nanmax", ALL, "x", GREATER_NUMBER, "y = a", NULL),
    NO_REDUCTION("ptp", "?->?"),
    ROW("ptp", "T x", "U y", INTEGERS FLOATS COMPLEX, "range{x, x}", "both(a, b)", "y = a.high - a.low", NULL,
        "range", RANGE),
    PLACE("argmin", ">="),
    PLACE("argmax", "<="),

    REDUCTION("all", TO_BOOL, "x != (T)0", "a & b", "y = a", "true"), /* no branch: a vector of conditions */
    REDUCTION("any", TO_BOOL, "x != (T)0", "a | b", "y = a", "false"),
    REDUCTION("count_nonzero", TO_INT64, "x != (T)0", "a + b", "y = a", "0"),

    SCAN_WITH(KN_OP_TAKES_DTYPE, "cumsum", WIDENED FLOATS COMPLEX, "(U)x", "a + b"),
    SCAN_WITH(KN_OP_TAKES_DTYPE, "cumprod", WIDENED FLOATS COMPLEX, "(U)x", "a * b"),
    SCAN("cummin", "?->? " INTEGERS, "x", LESSER),
    SCAN("cummin", FLOATS, "x", "kn_least(a, b)"),
    SCAN("cummin", COMPLEX, "x", LESSER),
    SCAN("cummax", "?->? " INTEGERS, "x", GREATER),
    SCAN("cummax", FLOATS, "x", "kn_greatest(a, b)"),
    SCAN("cummax", COMPLEX, "x", GREATER),
    SCAN("logcumsumexp", INTEGERS_TO_DOUBLE FLOATS, "(U)x", LOGADDEXP),

    REDUCTION("norm_1", INTEGERS_TO_DOUBLE FLOATS, "abs((U)x)", "a + b", "y = a", "0"),
    REDUCTION("norm_1", COMPLEX_TO_REAL, "abs(x)", "a + b", "y = a", "0"),
    REDUCTION("norm_2", INTEGERS_TO_DOUBLE FLOATS, "(U)x * (U)x", "a + b", "y = sqrt(a)", "0"),
    REDUCTION("norm_2", COMPLEX_TO_REAL, "x.re * x.re + x.im * x.im", "a + b", "y = sqrt(a)", "0"),
    REDUCTION("norm_inf", INTEGERS_TO_DOUBLE FLOATS, "abs((U)x)", "kn_greatest(a, b)", "y = a", "0"),
    REDUCTION("norm_inf", COMPLEX_TO_REAL, "abs(x)", "kn_greatest(a, b)", "y = a", "0"),

    ROW("softmax_sum", "T x", "U y", INTEGERS_TO_DOUBLE FLOATS, "peak{(U)x, 1}", "higher(a, b)",
        "y = a.sum + (a.top - a.top)", NULL, "peak", PEAK),

    MOMENTS_ROWS("var", "T x", ALONE, ALL_LEFT, "", ""),
    MOMENTS_ROWS("var", "T x, float64 ddof", WITH_DDOF, LEFT_BY_DDOF, "", ""),
    MOMENTS_ROWS("std", "T x", ALONE, ALL_LEFT, "sqrt(", ")"),
    MOMENTS_ROWS("std", "T x, float64 ddof", WITH_DDOF, LEFT_BY_DDOF, "sqrt(", ")"),

    EVEN_BOOLS("add", "z = x + y"),
    NO_MAP2("subtract", "?\?->?"),
    MAP2("subtract", INTEGER_PAIRS FLOAT_PAIRS COMPLEX_PAIRS, "z = x - y"),
    EVEN_BOOLS("multiply", "z = x * y"),
    MAP("divide", "T x, V y", "U z", "ll->d LL->d lL->d Ll->d",
        "z = kn_float64_of(x) / kn_float64_of(y)"),
    MAP2("divide", FLOAT_PAIRS COMPLEX_PAIRS, "z = x / y"),
    MAP2("floor_divide", INTEGER_PAIRS, INTEGER_FLOOR_DIVIDE("z")),
    MAP2("floor_divide", FLOAT_PAIRS, FLOOR_DIVIDE("z")),
    MAP2("remainder", INTEGER_PAIRS, INTEGER_REMAINDER("z")),
    MAP2("remainder", FLOAT_PAIRS, REMAINDER("z")),
    MAP("divmod", "T x, T y", "U z, U r", INTEGER_PAIRS_TO_PAIRS,
        INTEGER_FLOOR_DIVIDE("z") ";\n" INTEGER_REMAINDER("r")),
    MAP("divmod", "T x, T y", "U z, U r", FLOAT_PAIRS_TO_PAIRS, FLOOR_DIVIDE("z") ";\n" REMAINDER_OF("r")),
    MAP2("fmod", INTEGER_PAIRS, "z = x % y"),
    MAP2("fmod", FLOAT_PAIRS, "z = fmod(x, y)"),
    NO_MAP2("gcd", "?\?->?"),
    MAP2("gcd", INTEGER_PAIRS, GCD),
    NO_MAP2("lcm", "?\?->?"),
    MAP2("lcm", "bb->b BB->B hh->h HH->H ii->i II->I ", LCM("unsigned int")),
    MAP2("lcm", "ll->l LL->L ", LCM("unsigned long long")),
    MAP2("power", INTEGER_PAIRS, INTEGER_POWER),
    MAP2("power", FLOAT_PAIRS COMPLEX_PAIRS, "z = pow(x, y)"),
    MAP2("float_power", "dd->d DD->D ", "z = pow(x, y)"),
    MAP1("reciprocal", INTEGERS, "y = 1 / x"),
    MAP1("reciprocal", FLOATS, "y = (T)1 / x"),
    MAP1("reciprocal", COMPLEX, COMPLEX_RECIPROCAL),
    NO_MAP1("negative", "?->?"),
    MAP1("negative", INTEGERS FLOATS COMPLEX, "y = -x"),
    NO_MAP1("positive", "?->?"),
    MAP1("positive", INTEGERS FLOATS COMPLEX, "y = x"),
    MAP1("abs", "?->? " UNSIGNED, "y = x"),
    MAP1("abs", SIGNED, "y = x < 0 ? 0 - x : x"),
    MAP1("abs", FLOATS COMPLEX_TO_REAL, "y = abs(x)"),
    MAP1("square", INTEGERS FLOATS COMPLEX, "y = x * x"),
    NO_MAP1("sign", "?->?"),
    MAP1("sign", INTEGERS, "y = (x > 0) - kn_is_negative(x)"),
    MAP1("sign", FLOATS, "y = x > 0 ? 1.0f : x < 0 ? -1.0f : x + 0.0f"),
    MAP1("sign", COMPLEX, "y = kn_sign(x)"),
    MAP1("conjugate", INTEGERS FLOATS, "y = x"),
    MAP1("conjugate", COMPLEX, "y = conj(x)"),
    MAP1("real", "?->? " INTEGERS FLOATS, "y = x"),
    MAP1("real", COMPLEX_TO_REAL, "y = x.re"),
    MAP1("imag", "?->? " INTEGERS FLOATS, "y = 0"),
    MAP1("imag", COMPLEX_TO_REAL, "y = x.im"),
    MAP1("angle", "?->d ", "y = 0"),
    MAP1("angle", FLOATS, "y = atan2((decltype(+x))0, +x)"),
    MAP1("angle", COMPLEX_TO_REAL, "y = atan2(x.im, x.re)"),

    FUNCTION("sqrt", "sqrt"),
    FUNCTION("exp", "exp"),
    FUNCTION("exp2", "exp2"),
    FUNCTION("expm1", "expm1"),
    FUNCTION("log", "log"),
    FUNCTION("log2", "log2"),
    FUNCTION("log10", "log10"),
    FUNCTION("log1p", "log1p"),
    FUNCTION("sin", "sin"),
    FUNCTION("cos", "cos"),
    FUNCTION("tan", "tan"),
    FUNCTION("arcsin", "asin"),
    FUNCTION("arccos", "acos"),
    FUNCTION("arctan", "atan"),
    FUNCTION("sinh", "sinh"),
    FUNCTION("cosh", "cosh"),
    FUNCTION("tanh", "tanh"),
    FUNCTION("arcsinh", "asinh"),
    FUNCTION("arccosh", "acosh"),
    FUNCTION("arctanh", "atanh"),
    FUNCTION("rint", "rint"),
    REAL_FUNCTION("cbrt", "cbrt"),
    REAL_FUNCTION("fabs", "fabs"),
    MAP1("deg2rad", FLOATS, "y = x * (decltype(+x))0.01745329251994329577"),
    MAP1("rad2deg", FLOATS, "y = x * (decltype(+x))57.29577951308232088"),
    MAP1("spacing", FLOATS, "y = nextafter(x, x < 0 ? (T)-INFINITY : (T)INFINITY) - x"),
    MAP1("sinc", INTEGERS_TO_DOUBLE, SINC("(U)x")),
    MAP1("sinc", FLOATS COMPLEX, SINC("+x")),
    MAP1("i0", INTEGERS_TO_DOUBLE FLOATS, "y = cyl_bessel_i0((U)x)"),
    MAP1("round", "?->e " INTEGERS, "y = x"),
    FUNCTION("round", "rint"),
    MAP("round", "T x, float64 decimals", "U y", "?d->e ", "y = x"),
    MAP("round", "T x, float64 decimals", "U y", "bd->b Bd->B hd->h Hd->H id->i Id->I ld->l Ld->L ",
        DECIMAL "y = decimals >= 0 ? x : (T)(rint((double)x / scale) * scale)"),
    MAP("round", "T x, float64 decimals", "U y", "ed->e Ed->E fd->f ",
        DECIMAL "const float p = +x;\ny = " TO_DECIMALS("p", "float")),
    MAP("round", "T x, float64 decimals", "U y", "dd->d ", DECIMAL "y = " TO_DECIMALS("x", "double")),
    MAP("round", "T x, float64 decimals", "U y", "Fd->F ",
        DECIMAL "y = U(" TO_DECIMALS("x.re", "float") ", " TO_DECIMALS("x.im", "float") ")"),
    MAP("round", "T x, float64 decimals", "U y", "Dd->D ",
        DECIMAL "y = U(" TO_DECIMALS("x.re", "double") ", " TO_DECIMALS("x.im", "double") ")"),
    FINITE_ROWS("T x", ALONE, "0", OWN_END, OWN_END),
    FINITE_ROWS("T x, float64 nan", WITH_NUMBER, "nan", OWN_END, OWN_END),
    FINITE_ROWS("T x, float64 nan, float64 posinf, float64 neginf", WITH_NUMBERS, "nan", GIVEN_HIGH, GIVEN_LOW),
    SPECIAL_FUNCTION("erf", "erf(p)"),
    SPECIAL_FUNCTION("erfc", "erfc(p)"),
    SPECIAL_FUNCTION("erfcx", "erfcx(p)"),
    SPECIAL_FUNCTION("erfinv", "erfinv(p)"),
    SPECIAL_FUNCTION("erfcinv", "erfcinv(p)"),
    SPECIAL_FUNCTION("gamma", "tgamma(p)"),
    SPECIAL_FUNCTION("gammaln", "lgamma(p)"),
    SPECIAL_FUNCTION("digamma", "kn_digamma(p)"),
    SPECIAL_OF_TWO("polygamma", "kn_polygamma(p, q)"),
    SPECIAL_OF_TWO("zeta", "kn_zeta(p, q)"),
    SPECIAL_FUNCTION("expit", "p < 0 ? exp(p) / (1 + exp(p)) : 1 / (1 + exp(-p))"),
    SPECIAL_FUNCTION("logit", "kn_logit(p)"),
    SPECIAL_FUNCTION("log_expit", "kn_log_expit(p)"),
    SPECIAL_FUNCTION("ndtr", "normcdf(p)"),
    SPECIAL_FUNCTION("ndtri", "normcdfinv(p)"),
    SPECIAL_FUNCTION("log_ndtr", "kn_log_ndtr(p)"),
    SPECIAL_FUNCTION("i0e", "kn_bessel_ie(0, p)"),
    SPECIAL_FUNCTION("i1", "cyl_bessel_i1(p)"),
    SPECIAL_FUNCTION("i1e", "kn_bessel_ie(1, p)"),
    SPECIAL_FUNCTION("j0", "j0(p)"),
    SPECIAL_FUNCTION("j1", "j1(p)"),
    SPECIAL_FUNCTION("y0", "y0(p)"),
    SPECIAL_FUNCTION("y1", "y1(p)"),
    SPECIAL_FUNCTION("entr", "p > 0 ? -p * log(p) : p == 0 ? 0 : p < 0 ? -INFINITY : p"),
    SPECIAL_OF_TWO("rel_entr",
        "p > 0 && q > 0 ? p * log(p / q) : p == 0 && q >= 0 ? 0 : p != p || q != q ? p + q : INFINITY"),
    SPECIAL_OF_TWO("kl_div",
        "p > 0 && q > 0 ? p * log(p / q) - p + q : p == 0 && q >= 0 ? q : p != p || q != q ? p + q : INFINITY"),
    SPECIAL_OF_TWO("xlogy", "p == 0 && q == q ? 0 : p * log(q)"),
    SPECIAL_OF_TWO("xlog1py", "p == 0 && q == q ? 0 : p * log1p(q)"),
    WHOLE("floor"),
    WHOLE("ceil"),
    WHOLE("trunc"),
    REAL_FUNCTION_OF_TWO("arctan2", "atan2"),
    REAL_FUNCTION_OF_TWO("hypot", "hypot"),
    REAL_FUNCTION_OF_TWO("copysign", "copysign"),
    REAL_FUNCTION_OF_TWO("nextafter", "nextafter"),
    MAP2("heaviside", FLOAT_PAIRS, "z = x == 0 ? +y : x < 0 ? 0 : x > 0 ? 1 : +x"),
    MAP2("logaddexp", FLOAT_PAIRS, LOGADDEXP_OF("exp", "0.69314718055994530942", "")),
    MAP2("logaddexp2", FLOAT_PAIRS, LOGADDEXP_OF("exp2", "1", " * (R)1.44269504088896340736")),
    MAP("ldexp", "T x, V y", "U z", BESIDE_INT32, "z = ldexp(x, y)"),
    MAP("ldexp", "T x, V y", "U z", BESIDE_INT64,
        "z = ldexp(x, (int)(y < -99999 ? -99999 : y > 99999 ? 99999 : y))"),
    MAP("frexp", "T x", "T mantissa, int32 exponent", "e->ei E->Ei f->fi d->di",
        "int power = 0;\nmantissa = frexp(+x, &power);\nexponent = isfinite(x) ? power : 0"),
    MAP("modf", "T x", "T fraction, T whole", "e->ee E->EE f->ff d->dd",
        "const auto cut = trunc(+x);\nfraction = copysign(isinf(x) ? 0 : x - cut, +x);\nwhole = cut"),

    EVEN_BOOLS("maximum", "z = kn_larger(x, y)"),
    EVEN_BOOLS("minimum", "z = kn_smaller(x, y)"),
    EVEN_BOOLS("fmax", "z = kn_larger_number(x, y)"),
    EVEN_BOOLS("fmin", "z = kn_smaller_number(x, y)"),
    MAP_WITH(KN_OP_BOUNDS, "clip", "T x, T low, T high", "T z",
        "??\?->? bbb->b BBB->B hhh->h HHH->H iii->i III->I lll->l LLL->L eee->e EEE->E fff->f ddd->d FFF->F "
        "DDD->D",
        CLIP),
    MAP_WITH(KN_OP_CONDITION, "where", "bool condition, T x, T y", "T z", WHERE("?"),
             "z = kn_either(condition, x, y)"),
    MAP_WITH(KN_OP_CONDITION, "where", "C condition, T x, T y", "T z",
        WHERE("b") WHERE("B") WHERE("h") WHERE("H") WHERE("i") WHERE("I") WHERE("l") WHERE("L") WHERE("e") WHERE("E")
            WHERE("f") WHERE("d") WHERE("F") WHERE("D"),
        "z = kn_either(condition != (C)0, x, y)"),

    COMPARE("equal", "==", "false", "false"),
    COMPARE("not_equal", "!=", "true", "true"),
    COMPARE("less", "<", "true", "false"),
    COMPARE("less_equal", "<=", "true", "false"),
    COMPARE("greater", ">", "false", "true"),
    COMPARE("greater_equal", ">=", "false", "true"),
    LOGICAL("logical_and", "&&"),
    LOGICAL("logical_or", "||"),
    LOGICAL("logical_xor", "!="),
    MAP1("logical_not", TO_BOOL, "y = x == (T)0"),
    BITS("bitwise_and", "&"),
    BITS("bitwise_or", "|"),
    BITS("bitwise_xor", "^"),
    MAP1("invert", "?->?", "y = !x"),
    MAP1("invert", INTEGERS, "y = ~x"),
    MAP2("left_shift", INTEGER_PAIRS, "z = x << y"),
    MAP2("right_shift", INTEGER_PAIRS, "z = x >> y"),
    MAP1("bitwise_count", "b->B B->B h->B H->B i->B I->B l->B L->B",
         "y = __popcll(kn_is_negative(x) ? 0ull - (unsigned long long)x : (unsigned long long)x)"),
    MAP1("isnan", INTEGERS_TO_BOOL, "y = false"),
    MAP1("isnan", FLOATS_TO_BOOL "F->? D->?", "y = x != x"),
    MAP1("isinf", INTEGERS_TO_BOOL, "y = false"),
    MAP1("isinf", FLOATS_TO_BOOL "F->? D->?", "y = isinf(x)"),
    MAP1("isfinite", INTEGERS_TO_BOOL, "y = true"),
    MAP1("isfinite", FLOATS_TO_BOOL "F->? D->?", "y = isfinite(x)"),
    MAP1("isposinf", INTEGERS_TO_BOOL, "y = false"),
    MAP1("isposinf", FLOATS_TO_BOOL, "y = isinf(x) && x > 0"),
    MAP1("isneginf", INTEGERS_TO_BOOL, "y = false"),
    MAP1("isneginf", FLOATS_TO_BOOL, "y = isinf(x) && x < 0"),
    MAP1("signbit", FLOATS_TO_BOOL, "y = signbit(x)"),
};
/* clang-format on */
const int kn_operation_table_count = sizeof kn_operation_table / sizeof kn_operation_table[0];

unsigned kn_operation_traits(const char *name)
{
    for (int k = 0; k < kn_operation_table_count; ++k)
        if (strcmp(kn_operation_table[k].definition.name, name) == 0)
            return kn_operation_table[k].traits;
    return strncmp(name, KN_ACCUMULATE_OF, sizeof KN_ACCUMULATE_OF - 1) == 0 ? KN_OP_SCANS : 0;
}

unsigned kn_operation_traits_of(const kiln_operation *d)
{
    const kn_operation_row *row = (const kn_operation_row *)(const void *)d;
    bool is_own = row >= kn_operation_table && row < kn_operation_table + kn_operation_table_count;
    return is_own ? row->traits : kn_operation_traits(d->name);
}
