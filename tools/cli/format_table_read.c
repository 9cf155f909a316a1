/* format_table_read.c - reading tables of numbers: records of cells, as RFC 4180 has them, into one array.
 * Nothing that stands in the file is left out or changed without a line that says so. */
#include "formats.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum cell_kind { MISSING, WHOLE, BIG /* beyond int64 */, REAL, COMPLEX, TEXT } cell_kind;

/* A large file has many of them: 24 bytes. */
typedef struct cell {
    const char *text; /* without blanks and quotes around it */
    union {
        int64_t whole;
        uint64_t big;
        double real;
    } is;
    uint32_t length;
    uint32_t line : 29, kind : 3; /* the line of the file, from 1 */
} cell;

/* The use of a column. */
typedef enum column_use { NUMBERS, LEFT_OUT, CATEGORIES } column_use;

typedef struct column {
    int64_t count[TEXT + 1]; /* of cells of each kind */
    const cell *text;        /* the first that is text */
    column_use use;
} column;

typedef struct table {
    const format_input *in;
    char separator;
    cell *cells; /* names of columns in front, where it has a header */
    size_t count, capacity;
    int64_t rows, columns;
    bool has_header;
    column *column;
    int64_t comments, blanks; /* lines that are left out; the latter in front of others */
} table;

enum { SHOWN = 40 /* characters of a cell in messages */ };

/* ---- what is said of a file that is read all the same ---- */

/* A line on standard error, unless --quiet is given. */
static void note(const table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(const table *t, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    if (t->in->options->quiet)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++)
        *c = iscntrl((unsigned char)*c) ? ' ' : *c; /* a quoted cell may have lines */
    cli_progress_hide();
    fprintf(stderr, "kiln: %s: %s\n", t->in->name, text);
}

static int shown(const cell *c)
{
    return c->length < SHOWN ? (int)c->length : SHOWN;
}

/* ---- cells ---- */

/* The texts of other programs for a missing value, in any case. */
static bool is_missing(const char *text)
{
    static const char *const words[] = {"", "NA", "N/A", "#N/A", "null", "none"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcasecmp(text, words[k]) == 0)
            return true;
    return false;
}

/* "-0" has a sign that no integer has. */
static void set_number(cell *out, const kiln_arg *number, const char *text)
{
    bool is_negative_zero = *text == '-' && number->kind == KILN_ARG_WEAK_INT && number->value.i == 0;
    if (number->kind == KILN_ARG_WEAK_COMPLEX) {
        out->kind = COMPLEX;
    } else if (number->kind == KILN_ARG_WEAK_UINT) {
        out->kind = BIG;
        out->is.big = number->value.u;
    } else if (number->kind == KILN_ARG_WEAK_FLOAT || is_negative_zero) {
        out->kind = REAL;
        out->is.real = strtod(text, NULL);
    } else {
        out->kind = WHOLE;
        out->is.whole = number->value.i;
    }
}

enum { LONGEST = 128 /* text of a number, its NUL among it */ };

/* False where it is longer than any number. */
static bool copy_text(char out[LONGEST], const cell *c)
{
    if (c->length >= LONGEST || memchr(c->text, 0, c->length))
        return false;
    memcpy(out, c->text, c->length);
    out[c->length] = 0;
    return true;
}

static cell make_cell(const char *begin, size_t length, int line)
{
    char text[LONGEST];
    kiln_arg number;
    cell c = {.text = begin, .length = (uint32_t)length, .line = (uint32_t)line & 0x1fffffff, .kind = TEXT};
    if (!copy_text(text, &c))
        return c;
    if (is_missing(text))
        c.kind = MISSING;
    else if (cli_number_read(&number, text))
        set_number(&c, &number, text);
    return c;
}

static bool add_cell(table *t, const cell *c)
{
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 1024;
        cell *more = realloc(t->cells, capacity * sizeof *more);
        if (!more)
            return false;
        t->cells = more;
        t->capacity = capacity;
    }
    t->cells[t->count++] = *c;
    return true;
}

/* ---- records ---- */

/* Behind the quote that closes the one at `at`; NULL where none does. Two of them are one within. */
static const char *behind_quotes(const char *at, const char *end)
{
    for (at++; at < end; at++)
        if (*at == '"' && (at + 1 == end || at[1] != '"'))
            return at + 1;
        else if (*at == '"')
            at++;
    return NULL;
}

/* Where the cell that begins at `at` ends: at a separator, a line's end or the text's. NULL: a quote in front
 * of it is not closed. */
static const char *cell_end(const table *t, const char *at, const char *end)
{
    while (at < end && (*at == ' ' || (*at == '\t' && t->separator != '\t')))
        at++;
    if (at < end && *at == '"' && !(at = behind_quotes(at, end)))
        return NULL;
    while (at < end && *at != t->separator && *at != '\n' && *at != '\r')
        at++;
    return at;
}

static cell read_cell(const char *begin, const char *end, int line)
{
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    bool is_quoted = end - begin >= 2 && *begin == '"' && end[-1] == '"';
    return make_cell(begin + is_quoted, (size_t)(end - begin) - 2 * (size_t)is_quoted, line);
}

static int count_lines(const char *at, const char *end)
{
    int lines = 0;
    for (; at < end; at++)
        lines += *at == '\n' || (*at == '\r' && !(at + 1 < end && at[1] == '\n'));
    return lines;
}

/* Behind a line's end of any system's. */
static const char *behind_line(const char *at, const char *end)
{
    at += at < end && *at == '\r';
    return at + (at < end && *at == '\n');
}

/* Reads the record at *at and moves there behind its line; *cells how many it has. */
static kiln_status read_record(table *t, const char **at, const char *end, int *line, int64_t *cells)
{
    const char *begin = *at;
    int first = *line;
    for (*cells = 0;; begin++) {
        const char *stop = cell_end(t, begin, end);
        if (!stop)
            return cli_fail(KILN_ERROR_FORMAT, "line %d, column %lld: a quote is not closed", *line,
                            (long long)*cells + 1);
        cell c = read_cell(begin, stop, first);
        if (!add_cell(t, &c))
            return cli_fail(KILN_ERROR_MEMORY, "out of memory for %zu cells", t->count);
        *line += count_lines(begin, stop);
        ++*cells;
        begin = stop;
        if (begin == end || *begin != t->separator)
            break;
    }
    *at = behind_line(begin, end);
    *line += *at > begin;
    return KILN_OK;
}

typedef enum line_kind { RECORD, BLANK, COMMENT } line_kind;

static line_kind kind_of_line(const table *t, const char *line, const char *end)
{
    while (line < end && isspace((unsigned char)*line) && *line != '\n' && *line != '\r' &&
           *line != t->separator)
        line++;
    return line == end || *line == '\n' || *line == '\r' ? BLANK : *line == '#' ? COMMENT : RECORD;
}

static const char *next_line(const char *at, const char *end)
{
    while (at < end && *at != '\n' && *at != '\r')
        at++;
    return behind_line(at, end);
}

static kiln_status check_width(const table *t, int64_t cells, int line)
{
    if (t->rows == 0 || cells == t->columns)
        return KILN_OK;
    return cli_fail(KILN_ERROR_FORMAT, "line %d has %lld cell%s, and the lines above have %lld", line,
                    (long long)cells, cells == 1 ? "" : "s", (long long)t->columns);
}

static kiln_status read_records(table *t, const char *at, const char *end)
{
    kiln_status status = KILN_OK;
    int64_t blanks = 0, cells;
    for (int line = 1; at < end && status == KILN_OK;) {
        line_kind kind = kind_of_line(t, at, end);
        int first = line;
        t->comments += kind == COMMENT;
        blanks += kind == BLANK;
        if (kind != RECORD) {
            at = next_line(at, end);
            line++;
            continue;
        }
        status = read_record(t, &at, end, &line, &cells);
        if (status == KILN_OK)
            status = check_width(t, cells, first);
        t->columns = cells;
        t->blanks = blanks;
        t->rows++;
    }
    return status;
}

/* ---- the header ---- */

/* Begins with a letter, of any language. */
static bool is_word(const cell *c)
{
    unsigned char first = c->kind == TEXT ? (unsigned char)*c->text : 0;
    return isalpha(first) || first == '_' || first >= 0x80;
}

/* Words alone, but for empty cells. */
static bool looks_like_header(const table *t)
{
    int64_t words = 0;
    for (int64_t k = 0; k < t->columns; k++) {
        words += is_word(&t->cells[k]);
        if (!is_word(&t->cells[k]) && t->cells[k].kind != MISSING)
            return false;
    }
    return words > 0;
}

static void settle_header(table *t)
{
    const char *wish = t->in->options->header;
    bool is_auto = !wish || strcmp(wish, "auto") == 0;
    t->has_header = is_auto ? looks_like_header(t) : strcmp(wish, "yes") == 0;
    t->rows -= t->has_header;
    if (!t->has_header || !is_auto)
        return;
    const cell *first = &t->cells[0], *last = &t->cells[t->columns - 1];
    const cell *from = first->kind == TEXT || t->columns == 1 ? first : first + 1;
    note(t, "line %d names the columns (%.*s%s%.*s); --header no takes it as data", first->line,
         from->kind == TEXT ? shown(from) : 0, from->text,
         last == from                       ? ""
         : t->columns - (from - first) == 2 ? ", "
                                            : ", ..., ",
         last != from && last->kind == TEXT ? shown(last) : 0, last->text);
}

/* "column 2 'city'". */
static const char *column_name(char out[96], const table *t, int64_t k)
{
    const cell *c = &t->cells[k];
    bool has_name = t->has_header && c->kind == TEXT;
    snprintf(out, 96, "column %lld%s%.*s%s", (long long)k + 1, has_name ? " '" : "", has_name ? shown(c) : 0,
             has_name ? c->text : "", has_name ? "'" : "");
    return out;
}

/* ---- columns ---- */

static const cell *data_of(const table *t)
{
    return t->cells + (t->has_header ? t->columns : 0);
}

static void count_kinds(table *t)
{
    const cell *c = data_of(t);
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t k = 0; k < t->columns; k++, c++) {
            t->column[k].count[c->kind]++;
            if (c->kind == TEXT && !t->column[k].text)
                t->column[k].text = c;
        }
}

/* The reason why a cell that was meant as a number is none; "" for a word, a date, a version. */
static const char *hint_of(const cell *c)
{
    static const char between[] = ".,' $%";
    size_t digits = 0, points = 0, commas = 0, others = 0;
    for (const char *at = c->text; at < c->text + c->length; at++) {
        bool is_other = (unsigned char)*at >= 0x80; /* a currency, a narrow blank */
        digits += isdigit((unsigned char)*at) != 0;
        points += *at == '.';
        commas += *at == ',';
        others += is_other || (strchr(between, *at) && *at != '.' && *at != ',');
        if (!is_other && !isdigit((unsigned char)*at) && !strchr("+-", *at) && !strchr(between, *at))
            return "";
    }
    if (digits == 0 || points > 1 || commas + others == 0)
        return "";
    return commas == 1 && points + others == 0
               ? " (decimals stand behind a point)"
               : " (a number has digits, a sign, a point and an exponent alone)";
}

static bool is_wish(const table *t, const char *wish)
{
    return t->in->options->text && strcmp(t->in->options->text, wish) == 0;
}

static kiln_status refuse_cell(const table *t, int64_t k)
{
    const cell *c = t->column[k].text;
    bool is_first = !t->has_header && c == &t->cells[k];
    char name[96];
    return cli_fail(KILN_ERROR_FORMAT,
                    "line %d, %s: '%.*s' is no number%s; %s--text skip leaves such columns out, and --text "
                    "categories numbers what stands in them",
                    c->line, column_name(name, t, k), shown(c), c->text, hint_of(c),
                    is_first ? "--header yes takes the line as names of columns, " : "");
}

/* A column of text among columns of numbers is no damage; a word among numbers is, and so are numbers that
 * are written in another way. */
static kiln_status settle_column(table *t, int64_t k)
{
    column *column = &t->column[k];
    bool has_numbers = column->count[TEXT] + column->count[MISSING] < t->rows;
    if (!column->text)
        return KILN_OK;
    column->use = is_wish(t, "categories") ? CATEGORIES : LEFT_OUT;
    bool is_wanted = column->use == CATEGORIES || is_wish(t, "skip");
    return is_wanted || (!has_numbers && !*hint_of(column->text)) ? KILN_OK : refuse_cell(t, k);
}

static void note_left_out(const table *t)
{
    char name[96];
    for (int64_t k = 0; k < t->columns; k++) {
        const cell *c = t->column[k].text;
        if (t->column[k].use == LEFT_OUT)
            note(t, "%s is left out: it holds text, '%.*s' in line %d (--text categories numbers it)",
                 column_name(name, t, k), shown(c), c->text, c->line);
    }
}

static kiln_status settle_columns(table *t)
{
    int64_t used = 0;
    kiln_status status = KILN_OK;
    count_kinds(t);
    for (int64_t k = 0; k < t->columns && status == KILN_OK; k++) {
        status = settle_column(t, k);
        used += t->column[k].use != LEFT_OUT;
    }
    if (status != KILN_OK)
        return status;
    if (used > 0 && t->rows > 0) {
        note_left_out(t);
        return KILN_OK;
    }
    const cell *c = t->column[0].text;
    return c ? cli_fail(KILN_ERROR_FORMAT, "there are no numbers in it: '%.*s' in line %d is none", shown(c),
                        c->text, c->line)
             : cli_fail(KILN_ERROR_FORMAT, "there are no numbers in it");
}

/* ---- categories ---- */

static int compare_texts(const void *left, const void *right)
{
    const cell *a = *(const cell *const *)left, *b = *(const cell *const *)right;
    size_t least = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, least);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static void note_categories(const table *t, int64_t k, const cell *const *texts, int64_t count)
{
    enum { MOST = 8 };
    char name[96], list[512] = "";
    for (int64_t n = 0; n < count && n < MOST; n++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%lld '%.*s'", n ? ", " : "",
                 (long long)n, shown(texts[n]), texts[n]->text);
    note(t, "%s has %lld categories, in alphabetical order: %s%s", column_name(name, t, k), (long long)count,
         list, count > MOST ? ", ..." : "");
}

/* The texts of a column, each once, sorted; how many there are. */
static int64_t sort_texts(const cell **texts, const table *t, int64_t k)
{
    const cell *first = data_of(t) + k;
    int64_t count = 0, unique = 0;
    for (int64_t r = 0; r < t->rows; r++)
        if (first[r * t->columns].kind != MISSING)
            texts[count++] = &first[r * t->columns];
    qsort(texts, (size_t)count, sizeof *texts, compare_texts);
    for (int64_t n = 0; n < count; n++)
        if (n == 0 || compare_texts(&texts[n], &texts[unique - 1]) != 0)
            texts[unique++] = texts[n];
    return unique;
}

/* The cells of a column become numbers: the place of their text among all of them. */
static kiln_status number_categories(table *t, int64_t k)
{
    const cell **texts = malloc(((size_t)t->rows + 1) * sizeof *texts);
    if (!texts)
        return cli_fail(KILN_ERROR_MEMORY, "out of memory for %lld categories", (long long)t->rows);
    int64_t count = sort_texts(texts, t, k);
    note_categories(t, k, texts, count);
    for (int64_t r = 0; r < t->rows; r++) {
        cell *c = &t->cells[(r + t->has_header) * t->columns + k];
        const cell *key = c;
        if (c->kind == MISSING)
            continue;
        const cell **found = bsearch(&key, texts, (size_t)count, sizeof *texts, compare_texts);
        c->kind = WHOLE;
        c->is.whole = found - texts;
    }
    free(texts);
    return KILN_OK;
}

static kiln_status number_all_categories(table *t)
{
    kiln_status status = KILN_OK;
    for (int64_t k = 0; k < t->columns && status == KILN_OK; k++)
        if (t->column[k].use == CATEGORIES)
            status = number_categories(t, k);
    return status;
}

/* ---- the array ---- */

/* The numbers of columns that are read, and what was noticed on the way. */
typedef struct result {
    kiln_dtype dtype;
    int64_t columns;
    void *data;
    int64_t n_missing, n_rounded;
    const cell *rounded; /* the first */
} result;

/* Digits behind a sign or none. */
static bool is_whole(const char *text)
{
    text += *text == '-' || *text == '+';
    return *text && text[strspn(text, "0123456789")] == 0;
}

/* A number that float64 does not hold: "1e400", which "inf" is not; and an integer beyond 64 bits among
 * integers, which would be another one. */
static kiln_status check_range(const cell *c, bool has_floats)
{
    char text[LONGEST];
    if (c->kind != REAL || !copy_text(text, c))
        return KILN_OK;
    if (isinf(c->is.real) && !strpbrk(text, "iI"))
        return cli_fail(KILN_ERROR_FORMAT, "line %d: %s is beyond what float64 holds", c->line, text);
    if (is_whole(text) && c->is.real != 0 && !has_floats)
        return cli_fail(
            KILN_ERROR_FORMAT,
            "line %d: %.40s is beyond integers of 64 bits (with a point behind it, it is a float)", c->line,
            text);
    return KILN_OK;
}

/* An integer beyond 64 bits reads as a float, and does not make one of the others. */
static bool is_float(const cell *c)
{
    char text[LONGEST];
    return c->kind == MISSING ||
           (c->kind == REAL && copy_text(text, c) && (!is_whole(text) || c->is.real == 0));
}

static bool is_read(const table *t, int64_t k)
{
    return t->column[k].use != LEFT_OUT;
}

/* Sums of counts, over all columns that are read: complex, float64, uint64, else int64. */
static kiln_status choose_dtype(result *out, const table *t)
{
    int64_t n_big = 0, n_negative = 0, n_complex = 0, n_float = 0;
    const cell *c = data_of(t), *big = NULL;
    kiln_status status = KILN_OK;
    for (int64_t k = 0; k < t->rows * t->columns; k++, c++) {
        if (!is_read(t, k % t->columns))
            continue;
        n_float += is_float(c);
        n_complex += c->kind == COMPLEX;
        n_negative += c->kind == WHOLE && c->is.whole < 0;
        n_big += c->kind == BIG;
        big = c->kind == BIG && !big ? c : big;
    }
    out->dtype = n_complex ? KILN_COMPLEX128 : n_float ? KILN_FLOAT64 : n_big ? KILN_UINT64 : KILN_INT64;
    if (out->dtype == KILN_UINT64 && n_negative)
        return cli_fail(
            KILN_ERROR_FORMAT,
            "line %d: no integer of 64 bits is %.*s and, elsewhere, negative (with a point behind "
            "it, it is a float)",
            big->line, shown(big), big->text);
    c = data_of(t);
    for (int64_t k = 0; k < t->rows * t->columns && status == KILN_OK; k++, c++)
        if (is_read(t, k % t->columns))
            status = check_range(c, n_float + n_complex > 0);
    return status;
}

static double real_of(result *out, const cell *c)
{
    double value = c->kind == WHOLE ? (double)c->is.whole : c->kind == BIG ? (double)c->is.big : c->is.real;
    bool is_exact = c->kind == WHOLE ? value < 0x1p63 && (int64_t)value == c->is.whole
                    : c->kind == BIG ? value < 0x1p64 && (uint64_t)value == c->is.big
                                     : true;
    out->n_missing += c->kind == MISSING;
    out->n_rounded += !is_exact;
    if (!is_exact && !out->rounded)
        out->rounded = c;
    return c->kind == MISSING ? NAN : value;
}

static void put_complex(double *out, result *r, const cell *c)
{
    char text[LONGEST];
    kiln_arg number;
    bool is_complex = c->kind == COMPLEX && copy_text(text, c) && cli_number_read(&number, text);
    out[0] = is_complex ? number.value.d[0] : real_of(r, c);
    out[1] = is_complex ? number.value.d[1] : 0;
}

static void put_numbers(result *out, const table *t)
{
    const cell *c = data_of(t);
    int64_t n = 0;
    for (int64_t k = 0; k < t->rows * t->columns; k++, c++) {
        if (!is_read(t, k % t->columns))
            continue;
        if (out->dtype == KILN_COMPLEX128)
            put_complex((double *)out->data + 2 * n, out, c);
        else if (out->dtype == KILN_FLOAT64)
            ((double *)out->data)[n] = real_of(out, c);
        else
            ((uint64_t *)out->data)[n] = c->kind == BIG ? c->is.big : (uint64_t)c->is.whole;
        n++;
    }
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static void note_result(const table *t, const result *r)
{
    if (r->n_missing > 0)
        note(t, "%lld cell%s without a value %s nan", (long long)r->n_missing, plural(r->n_missing),
             r->n_missing == 1 ? "is" : "are");
    if (r->n_rounded > 0)
        note(t, "%lld integer%s %s rounded to float64, as the table has floats: the first is %.*s in line %d",
             (long long)r->n_rounded, plural(r->n_rounded), r->n_rounded == 1 ? "is" : "are",
             shown(r->rounded), r->rounded->text, r->rounded->line);
    if (t->comments > 0)
        note(t, "%lld line%s that begin%s with # %s left out", (long long)t->comments, plural(t->comments),
             t->comments == 1 ? "s" : "", t->comments == 1 ? "is" : "are");
    if (t->blanks > 0 && t->columns == 1)
        note(t, "%lld blank line%s %s left out", (long long)t->blanks, plural(t->blanks),
             t->blanks == 1 ? "is" : "are");
}

static kiln_status make_array(kiln_array **out, const table *t)
{
    result r = {0};
    kiln_status status = choose_dtype(&r, t);
    if (status != KILN_OK)
        return status;
    for (int64_t k = 0; k < t->columns; k++)
        r.columns += is_read(t, k);
    const int64_t shape[2] = {t->rows, r.columns}, count = t->rows * r.columns;
    r.data = calloc((size_t)count + 1, kiln_dtype_size(r.dtype));
    if (!r.data)
        return cli_fail(KILN_ERROR_MEMORY, "out of memory for %lld numbers", (long long)count);
    put_numbers(&r, t);
    note_result(t, &r);
    status = kiln_array_from_host(out, r.data, r.dtype, r.columns == 1 ? 1 : 2, shape, t->in->device);
    free(r.data);
    return status;
}

/* ---- the file ---- */

/* Where the first line of a .csv file has no commas but semicolons or tabulators, these stand between its
 * cells; semicolons too where it has numbers with decimal commas alone, of which the reader will complain. */
static char find_separator(const char *text, const char *end, char separator)
{
    size_t length = 0, numeric = strspn(text, "0123456789+-.,;\" ");
    while (text + length < end && text[length] != '\n' && text[length] != '\r')
        length++;
    bool has_own = memchr(text, separator, length), has_semicolon = memchr(text, ';', length);
    if (separator != ',' || (has_own && !(has_semicolon && numeric >= length)))
        return separator;
    return has_semicolon ? ';' : memchr(text, '\t', length) ? '\t' : separator;
}

static kiln_status skip_mark(const char **text, const format_input *in)
{
    const unsigned char *data = in->data;
    bool is_wide =
        in->size >= 2 && ((data[0] == 0xff && data[1] == 0xfe) || (data[0] == 0xfe && data[1] == 0xff));
    if (is_wide)
        return cli_fail(KILN_ERROR_FORMAT,
                        "it is UTF-16, and UTF-8 was expected ('iconv -f UTF-16' makes it so)");
    bool has_mark = in->size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0;
    *text = (const char *)data + (has_mark ? 3 : 0);
    return KILN_OK;
}

static kiln_status read_table(kiln_array **out, table *t, const char *text, const char *end)
{
    kiln_status status = read_records(t, text, end);
    if (status == KILN_OK && t->rows > 0)
        settle_header(t);
    if (status != KILN_OK)
        return status;
    if (t->rows == 0 || t->columns == 0)
        return cli_fail(KILN_ERROR_FORMAT, "there are no numbers in it");
    t->column = calloc((size_t)t->columns, sizeof *t->column);
    if (!t->column)
        return cli_fail(KILN_ERROR_MEMORY, "out of memory for %lld columns", (long long)t->columns);
    status = settle_columns(t);
    if (status == KILN_OK)
        status = number_all_categories(t);
    return status == KILN_OK ? make_array(out, t) : status;
}

kiln_status format_table_read(kiln_array **out, const format_input *in, char separator)
{
    const char *text = "", *end = (const char *)in->data + in->size;
    table t = {.in = in};
    kiln_status status = skip_mark(&text, in);
    if (status == KILN_OK) {
        t.separator = find_separator(text, end, separator);
        status = read_table(out, &t, text, end);
    }
    free(t.column);
    free(t.cells);
    return status;
}
