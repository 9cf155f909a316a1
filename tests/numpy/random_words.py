"""Philox's words of elements, and permutations made of them, by NumPy: what kiln's random numbers are."""
import math

import numpy as np

WORD = np.uint64(0xffffffff)
RANKED, LEAST, MOVES = 64, 1024, 20
FACTORS = np.uint64(0x85EBCA6B), np.uint64(0x9E3779B1)


def philox(counter, key):
    """The four words of each block."""
    c = [np.asarray(x, np.uint64) for x in counter]
    k = [np.asarray(x, np.uint64) for x in key]
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [q >> np.uint64(32) ^ c[1] ^ k[0], q & WORD, p >> np.uint64(32) ^ c[3] ^ k[1], p & WORD]
        k = [(k[0] + np.uint64(0x9E3779B9)) & WORD, (k[1] + np.uint64(0xBB67AE85)) & WORD]
    return np.stack(c, -1)


def blocks(key, low, high):
    low, high = np.asarray(low, np.uint64), np.asarray(high, np.uint64)
    return philox((low & WORD, low >> np.uint64(32), high & WORD, high >> np.uint64(32)), (key & 0xffffffff, key >> 32))


def words(key, at, size):
    """The bits of each element: a word, or two."""
    at = np.asarray(at, np.uint64)
    if size < 8:
        return np.take_along_axis(blocks(key, at >> np.uint64(2), 0 * at), (at & np.uint64(3))[:, None].astype(int), -1)[:, 0]
    pairs = blocks(key, at >> np.uint64(1), 0 * at).reshape(-1, 2, 2)
    pairs = pairs[..., 0] | pairs[..., 1] << np.uint64(32)
    return pairs[np.arange(len(at)), (at & np.uint64(1)).astype(int)]


def enciphered(place, rows, columns, block):
    side, count = [place // columns, place % columns], (np.uint64(rows), np.uint64(columns))
    for k in range(MOVES):
        own, other = k % 2, 1 - k % 2
        key = (block[k % 4] + np.uint64(k * 0x9E3779B9 & 0xffffffff)) & WORD
        side[own] = (side[own] + ((((side[other] ^ key) * FACTORS[own] & WORD) * count[own]) >> np.uint64(32))) % count[own]
    return side[0] * np.uint64(columns) + side[1]


def permuted(keys, at, n):
    """The elements at the places `at`, all of them below n: keys and places are arrays of uint64, or numbers."""
    keys, at = np.broadcast_arrays(np.asarray(keys, np.uint64), np.asarray(at, np.uint64))
    if n <= RANKED:
        own = words(keys, at, 8)
        rank = np.zeros(keys.shape, np.int64)
        for k in range(n):
            other = words(keys, np.full(keys.shape, k, np.uint64), 8)
            rank += (other < own) | ((other == own) & (k < at))
        return rank
    places = max(n, LEAST)
    rows = math.isqrt(places - 1) + 1
    columns = (places + rows - 1) // rows
    block = blocks(keys.reshape(-1), np.full(keys.size, n, np.uint64), np.full(keys.size, 2 ** 64 - 1, np.uint64)).T
    place, left = at.reshape(-1).copy(), np.arange(at.size)
    while left.size:
        place[left] = enciphered(place[left], rows, columns, block[:, left])
        left = left[place[left] >= n]
    return np.where(place < 2, place ^ ((block[0] ^ block[1]) >> np.uint64(31)), place).astype(np.int64).reshape(keys.shape)
