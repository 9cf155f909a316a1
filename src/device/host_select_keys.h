/* device/host_select_keys.h - host_select.c for keys of one size: KEY, and NAME(of) for its functions. It has
 * no guard: it is meant to be included again. */

/* Shell's sort, for few keys. */
static void NAME(sort)(KEY *key, int64_t n)
{
    static const int gaps[] = {301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; ++g)
        for (int64_t k = gaps[g]; k < n; ++k) {
            const KEY x = key[k];
            int64_t at = k;
            for (; at >= gaps[g] && key[at - gaps[g]] > x; at -= gaps[g])
                key[at] = key[at - gaps[g]];
            key[at] = x;
        }
}

/* Stores the keys from `least` to `most`, also in the place of `from`; returns their number, and adds that of
 * the keys before. */
static int64_t NAME(filter)(KEY *to, int64_t *before, const KEY *from, int64_t n, KEY least, KEY most)
{
    const KEY width = (KEY)(most - least);
    int64_t found = 0, less = 0;
    for (int64_t k = 0; k < n; ++k) {
        const KEY x = from[k];
        to[found] = x;
        found += (KEY)(x - least) <= width;
        less += x < least;
    }
    *before += less;
    return found;
}

#ifdef LANES
/* The same by vectors. A whole one is stored: what is too much there has been read. */
WITH_VECTORS static int64_t NAME(filter_vectors)(KEY *to, int64_t *before, const KEY *from, int64_t n,
                                                 KEY least, KEY most)
{
    const __m512i low = LANE(set1)((NUMBER)least), width = LANE(set1)((NUMBER)(KEY)(most - least));
    int64_t found = 0, less = 0, k = 0;
    for (; k + LANES <= n; k += LANES) {
        const __m512i x = _mm512_loadu_si512(from + k);
        const MASK in = LANE_COMPARED(cmple)(LANE(sub)(x, low), width);
        less += __builtin_popcount(LANE_COMPARED(cmplt)(x, low));
        _mm512_storeu_si512(to + found, LANE(maskz_compress)(in, x));
        found += __builtin_popcount(in);
    }
    *before += less;
    return found + NAME(filter)(to + found, before, from + k, n - k, least, most);
}
#endif

static int64_t NAME(filter_by)(bool has_vectors, KEY *to, int64_t *before, const KEY *from, int64_t n,
                               KEY least, KEY most)
{
#ifdef LANES
    if (has_vectors)
        return NAME(filter_vectors)(to, before, from, n, least, most);
#endif
    (void)has_vectors;
    return NAME(filter)(to, before, from, n, least, most);
}

static void NAME(filter_pieces)(void *user, int64_t begin, int64_t end)
{
    filtering *f = user;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t first = k * f->piece, left = f->n - first;
        f->less[k] = 0;
        f->found[k] =
            NAME(filter_by)(f->has_vectors, (KEY *)f->to + first, &f->less[k], (const KEY *)f->from + first,
                            left < f->piece ? left : f->piece, (KEY)f->least, (KEY)f->most);
    }
}

/* The same of a long row, by all threads, a piece each. */
static int64_t NAME(filter_long)(bool has_vectors, KEY *to, int64_t *before, const KEY *from, int64_t n,
                                 KEY least, KEY most)
{
    filtering f = {.from = from,
                   .to = to,
                   .n = n,
                   .piece = n / PIECES + 1,
                   .has_vectors = has_vectors,
                   .least = least,
                   .most = most};
    const int64_t pieces = (n + f.piece - 1) / f.piece;
    int64_t found = 0;
    kn_host_parallel(pieces, 1, NAME(filter_pieces), &f);
    for (int64_t k = 0; k < pieces; ++k) {
        memmove(to + found, to + k * f.piece, (size_t)f.found[k] * sizeof(KEY));
        found += f.found[k];
        *before += f.less[k];
    }
    return found;
}

/* Two keys between which a place most likely is, as some of all keys tell. */
static void NAME(bracket)(KEY *least, KEY *most, const KEY *from, int64_t n, int64_t place, uint64_t *random)
{
    KEY sample[MANY];
    const int count = n > LONG_ROW ? MANY : FEW, margin = n > LONG_ROW ? MANY_APART : FEW_APART;
    for (int k = 0; k < count; ++k) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        sample[k] = from[(int64_t)((*random >> 33) % (uint64_t)n)];
    }
    NAME(sort)(sample, count);
    const int64_t middle = (int64_t)((double)place / (double)n * count);
    if (middle >= margin && sample[middle - margin] > *least)
        *least = sample[middle - margin];
    if (middle + margin < count && sample[middle + margin] < *most)
        *most = sample[middle + margin];
}

/* A key that is among `n` sorted ones. */
static void NAME(tell)(const kn_host_places *of, int64_t to, const KEY *sorted, int64_t n, int64_t place)
{
    int64_t first = place, last = place + 1;
    while (first > 0 && sorted[first - 1] == sorted[place])
        --first;
    while (last < n && sorted[last] == sorted[place])
        ++last;
    of->key[to] = sorted[place];
    of->rank[to] = (uint32_t)(place - first);
    of->total[to] = (uint32_t)(last - first);
}

/* The place's key is from `least` to `most`. Those keys alone are looked at again, as long as the place is
 * among them; where it is not, all keys are, and it is known on which side it is. */
static void NAME(find)(const kn_host_places *of, int64_t row, int64_t to, bool is_long)
{
    const KEY *const all = (const KEY *)of->keys + row * of->length, *from = all;
    KEY *const few = (KEY *)of->beside + row * of->length;
    int64_t n = of->length, place = of->place[to];
    uint64_t random = (uint64_t)row;
    KEY least = 0, most = (KEY)-1;
    bool is_stuck = false;
    while (n > FEW && (least < most || from == all)) {
        KEY low = least, high = most;
        if (is_stuck)
            high = (KEY)(least + (KEY)(most - least) / 2);
        else
            NAME(bracket)(&low, &high, from, n, place, &random);
        if (low > high)
            low = least, high = most;
        int64_t before = 0;
        const int64_t found = is_long && from == all
                                  ? NAME(filter_long)(of->has_vectors, few, &before, from, n, low, high)
                                  : NAME(filter_by)(of->has_vectors, few, &before, from, n, low, high);
        if (place >= before && place < before + found) {
            is_stuck = found == n && low == least && high == most;
            least = low;
            most = high;
            from = few;
            place -= before;
            n = found;
        } else {
            if (place < before)
                most = (KEY)(low - 1);
            else
                least = (KEY)(high + 1);
            is_stuck = false;
            from = all;
            place = of->place[to];
            n = of->length;
        }
    }
    if (n <= FEW && from == all)
        memcpy(few, all, (size_t)n * sizeof *few);
    if (n <= FEW)
        NAME(sort)(few, n);
    NAME(tell)(of, to, few, n, place);
}

/* ---- partitions ---- */

static void NAME(count)(parting *p, int64_t k, const KEY *from, int64_t n, KEY of)
{
    int64_t less = 0, equal = 0;
    for (int64_t i = 0; i < n; ++i) {
        less += from[i] < of;
        equal += from[i] == of;
    }
    p->less[k] = less;
    p->equal[k] = equal;
}

#ifdef LANES
WITH_VECTORS static void NAME(count_vectors)(parting *p, int64_t piece, const KEY *from, int64_t n, KEY of)
{
    const __m512i key = LANE(set1)((NUMBER)of);
    int64_t less = 0, equal = 0, k = 0;
    for (; k + LANES <= n; k += LANES) {
        const __m512i x = _mm512_loadu_si512(from + k);
        less += __builtin_popcount(LANE_COMPARED(cmplt)(x, key));
        equal += __builtin_popcount(LANE_COMPARED(cmpeq)(x, key));
    }
    NAME(count)(p, piece, from + k, n - k, of);
    p->less[piece] += less;
    p->equal[piece] += equal;
}
#endif

static void NAME(count_pieces)(void *user, int64_t begin, int64_t end)
{
    parting *p = user;
    const KEY *const keys = (const KEY *)p->of->keys + p->row * p->of->length;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t first = k * p->piece, left = p->of->length - first;
        const int64_t n = left < p->piece ? left : p->piece;
#ifdef LANES
        if (p->of->has_vectors) {
            NAME(count_vectors)(p, k, keys + first, n, (KEY)p->of->key[p->row]);
            continue;
        }
#endif
        NAME(count)(p, k, keys + first, n, (KEY)p->of->key[p->row]);
    }
}

/* Elements first to last of a row; less, equal, more: where the next ones of these go. No branch depends on
 * the order of keys, which random ones would mispredict. */
static inline __attribute__((always_inline)) void NAME(put)(const kn_host_partition *of, int64_t row,
                                                            int64_t first, int64_t last, int64_t less,
                                                            int64_t equal, int64_t more, const bool has_to,
                                                            const bool has_at, const bool is_whole)
{
    typedef KEY __attribute__((aligned(1), may_alias)) element;
    const KEY *const keys = (const KEY *)of->keys + row * of->length, key = (KEY)of->key[row];
    const element *const x = (const element *)of->element + row * of->length;
    const int64_t stored = of->stored;
    element *const to = (element *)of->to + (has_to ? row * stored : 0);
    int64_t *const at = of->at + (has_at ? row * stored : 0);
    for (int64_t k = first; k < last; ++k) {
        const int64_t is_less = keys[k] < key, is_equal = keys[k] == key;
        const int64_t place = (less & -is_less) | (equal & -is_equal) | (more & (is_less + is_equal - 1));
        less += is_less;
        equal += is_equal;
        more += 1 - is_less - is_equal;
        if (!is_whole && place >= stored)
            continue;
        if (has_to)
            to[place] = x[k];
        if (has_at)
            at[place] = k;
    }
}

#ifdef LANES
/* Elements of keys that `which` has, the next ones of theirs. */
INLINE int64_t NAME(put_lanes)(void *to, int64_t at, MASK which, __m512i x)
{
    const int count = __builtin_popcount(which);
    LANE(mask_storeu)
    ((char *)to + at * (int64_t)sizeof(KEY), (MASK)((1u << count) - 1), LANE(maskz_compress)(which, x));
    return at + count;
}

/* Elements alone, as put; what is left over is put as there. */
WITH_VECTORS static void NAME(put_vectors)(const kn_host_partition *of, int64_t row, int64_t first,
                                           int64_t last, int64_t less, int64_t equal, int64_t more)
{
    const KEY *const keys = (const KEY *)of->keys + row * of->length;
    const char *const x = (const char *)of->element + row * of->length * (int64_t)sizeof(KEY);
    char *const to = (char *)of->to + row * of->stored * (int64_t)sizeof(KEY);
    const __m512i key = LANE(set1)((NUMBER)(KEY)of->key[row]);
    for (; first + LANES <= last; first += LANES) {
        const __m512i of_lanes = _mm512_loadu_si512(keys + first),
                      elements = _mm512_loadu_si512(x + first * (int64_t)sizeof(KEY));
        const MASK is_less = LANE_COMPARED(cmplt)(of_lanes, key),
                   is_equal = LANE_COMPARED(cmpeq)(of_lanes, key);
        less = NAME(put_lanes)(to, less, is_less, elements);
        more = NAME(put_lanes)(to, more, (MASK) ~(is_less | is_equal), elements);
        if (is_equal)
            equal = NAME(put_lanes)(to, equal, is_equal, elements);
    }
    NAME(put)(of, row, first, last, less, equal, more, true, false, true);
}
#endif

static void NAME(put_piece)(const kn_host_partition *of, int64_t row, int64_t first, int64_t last,
                            int64_t less, int64_t equal, int64_t more)
{
#ifdef LANES
    if (of->has_vectors && of->stored == of->length && !of->at) {
        NAME(put_vectors)(of, row, first, last, less, equal, more);
        return;
    }
#endif
    if (of->stored < of->length)
        NAME(put)(of, row, first, last, less, equal, more, of->to, of->at, false);
    else if (of->to && of->at)
        NAME(put)(of, row, first, last, less, equal, more, true, true, true);
    else if (of->to)
        NAME(put)(of, row, first, last, less, equal, more, true, false, true);
    else
        NAME(put)(of, row, first, last, less, equal, more, false, true, true);
}

static void NAME(put_pieces)(void *user, int64_t begin, int64_t end)
{
    const parting *p = user;
    const kn_host_partition *of = p->of;
    const int64_t first = of->kth - of->rank[p->row], behind = first + of->total[p->row];
    for (int64_t k = begin; k < end; ++k) {
        const int64_t at = k * p->piece, end_of_piece = at + p->piece,
                      last = end_of_piece < of->length ? end_of_piece : of->length;
        NAME(put_piece)
        (of, p->row, at, last, p->less[k], first + p->equal[k], behind + at - p->less[k] - p->equal[k]);
    }
}

#undef KEY
#undef NAME
#undef LANES
#undef MASK
#undef NUMBER
#undef NUMBERS
#undef LANE
#undef LANE_UNSIGNED
#undef LANE_BY_MASK
#undef LANE_COMPARED
