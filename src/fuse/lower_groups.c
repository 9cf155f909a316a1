/* Groups of a lowering. Each root starts as a group of its own; one that can share a kernel with an earlier
 * group joins it. If a group needs a node in memory, that node is stored too, and only the groups that
 * would have computed it are built again: the work is linear in the graph. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fuse/cut.h"
#include "fuse/lower_parts.h"
#include "fuse/opaque.h"
#include "fuse/strips.h"

void kn_lowering_drop_own(kn_lowering *l, int root)
{
    if (l->own[root])
        l->old[l->n_old++] = l->own[root];
    l->own[root] = NULL;
    l->is_pending[root] = true;
}

void kn_lowering_free_old(kn_lowering *l)
{
    while (l->old && l->n_old > 0) {
        kn_group *g = l->old[--l->n_old];
        kn_group_free(g);
        kn_free(g);
    }
}

void kn_lowering_add_buffer(kn_lowering *l, int node, kn_why why)
{
    kn_lowering_add_buffer_like(l, node, why, NULL);
}

void kn_lowering_add_buffer_like(kn_lowering *l, int node, kn_why why, const int64_t *like)
{
    kn_base_store(&l->state, node, like);
    l->why[node] = why;
    l->is_pending[node] = true;
    l->is_again = true;
    for (const kn_root_user *u = l->users[node]; u; u = u->next)
        kn_lowering_drop_own(l, u->root);
    l->users[node] = NULL;
}

kn_why kn_lowering_why_buffered(const kn_lowering *l, const kn_group *own, int buffered)
{
    const kn_node *n = &l->state.graph->node[buffered];
    bool is_apart = n->option_group != own->option_group &&
                    (n->option_group || n->kind == KN_NODE_CALL || n->kind == KN_NODE_CAST);
    return own->is_opaque || l->state.is_opaque[buffered] || is_apart ? KN_WHY_ALONE : KN_WHY_PLACE;
}

/* ---- groups ---- */

/* True if all buffers that the group reads are filled by groups before `before`. */
static bool comes_after_buffers(const kn_lowering *l, const kn_group *g, int before)
{
    bool does = true;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
        does = does && (leaf->kind != KN_BASE_BUFFER || l->group_of[leaf->node] < before);
    return does;
}

/* The limits of a search for a group to join: groups to look back at, and builds that are too large. */
enum { MOST_BACK = 64, MOST_TRIES = 8 };

/* True for a group that combines strips: one launch does so for several reductions, if they have as many. */
static bool reads_strips(const kn_lowering *l, const kn_group *g)
{
    bool reads = g->leaf != NULL;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
        reads = reads && leaf->kind == KN_BASE_BUFFER && kn_is_strips(&l->state, leaf->node);
    return reads;
}

/* A root joins a group with a leaf in common, or one of its shape if neither reduces. */
static bool joins(kn_lowering *l, int at, const kn_group *own, int root, int *tries)
{
    kn_group *g = &l->group[at].group;
    kn_group both;
    int roots[KN_MAX_PARAMS + 1];
    if (l->is_alone[root] || l->is_alone[g->root[0]] || g->n_roots >= KN_MAX_PARAMS ||
        !(kn_groups_share(g, own) || (reads_strips(l, g) && reads_strips(l, own))))
        return false;
    memcpy(roots, g->root, (size_t)g->n_roots * sizeof *roots);
    roots[g->n_roots] = root;
    if (kn_group_build(&both, &l->state, roots, g->n_roots + 1) != KN_GROUP_DONE ||
        !comes_after_buffers(l, &both, at)) {
        *tries += both.is_too_large;
        kn_group_free(&both);
        return false;
    }
    if (l->group[at].is_joined)
        kn_group_free(g);
    l->group[at] = (kn_placed){both, true, {0, 0}, false};
    l->group_of[root] = at;
    return true;
}

/* Adds a root to a group if it can. True: it has joined. */
static bool goes_along(kn_lowering *l, int at, const kn_group *own, int root, int *tries)
{
    const kn_group *g = &l->group[at].group;
    if (!own->is_opaque && !g->is_opaque)
        return joins(l, at, own, root, tries);
    if (!own->is_opaque || !kn_opaque_joins(&l->group[at].group, &l->state, root))
        return false;
    l->group_of[root] = at;
    return true;
}

/* The first group that a root may join: all buffers that it reads are filled by this group or an earlier
 * one; by an earlier one if they were stored to have a kernel of their own. */
static int first_to_join(const kn_lowering *l, const kn_group *own)
{
    int first = l->n_groups > MOST_BACK ? l->n_groups - MOST_BACK : 0;
    for (const kn_leaf *leaf = own->leaf; leaf; leaf = leaf->next) {
        if (leaf->kind != KN_BASE_BUFFER)
            continue;
        kn_why why = l->why[leaf->node];
        bool is_earlier = why == KN_WHY_ROWS || why == KN_WHY_MOVES || why == KN_WHY_READER;
        int least = l->group_of[leaf->node] + is_earlier;
        first = least > first ? least : first;
    }
    return first;
}

static void place_root(kn_lowering *l, int root)
{
    const kn_group *own = l->own[root];
    int tries = 0;
    for (int at = first_to_join(l, own); at < l->n_groups && tries < MOST_TRIES; ++at)
        if (goes_along(l, at, own, root, &tries))
            return;
    l->group_of[root] = l->n_groups;
    l->group[l->n_groups++] = (kn_placed){*own, false, {0, 0}, false};
}

static void note_user(kn_lowering *l, int node, int root)
{
    kn_root_user *by = node == root ? NULL : kn_arena_take(&l->arena, sizeof *by);
    if (!by)
        return;
    *by = (kn_root_user){l->users[node], root};
    l->users[node] = by;
}

/* Registers the root with all nodes that its group visits, ranges behind views included. */
static bool note_users(kn_lowering *l, const kn_group *own, int root)
{
    const kn_node *opaque = own->is_opaque ? &l->state.graph->node[root] : NULL;
    for (int k = 0; opaque && k < opaque->n_in; ++k)
        note_user(l, opaque->in[k], root);
    for (const kn_use *u = own->first_use; u; u = u->after) {
        note_user(l, u->node, root);
        if (u->leaf && u->leaf->kind == KN_BASE_RANGE && u->leaf->node != u->node)
            note_user(l, u->leaf->node, root);
    }
    return !l->arena.failed;
}

/* Builds the group of one root, or stores the nodes that it needs in memory first. */
static kiln_status build_own(kn_lowering *l, int root)
{
    kn_group *own = l->own[root] = kn_calloc(1, sizeof *own);
    if (!own)
        return kn_lowering_no_memory();
    l->is_pending[root] = false;
    kn_group_result result = l->state.is_opaque[root] ? kn_opaque_build(own, &l->state, root)
                                                      : kn_group_build(own, &l->state, &root, 1);
    int cut = result == KN_GROUP_TOO_LARGE ? kn_cut_choose(&l->state, own) : -1;
    if (result == KN_GROUP_REFUSED)
        return kn_error(KILN_ERROR_INTERNAL, "%s: node %d is computed by no kernel", l->state.graph->name,
                        root);
    if (result == KN_GROUP_FAILED)
        return kn_lowering_no_memory();
    if (result == KN_GROUP_DONE || (result == KN_GROUP_TOO_LARGE && cut < 0))
        return note_users(l, own, root) ? KILN_OK : kn_lowering_no_memory();
    if (cut >= 0)
        kn_lowering_add_buffer(l, cut, KN_WHY_LONG);
    const kn_group_scratch *c = l->state.scratch;
    for (int k = 0; k < c->n_asked && result == KN_GROUP_NEEDS_BUFFER; ++k) {
        if (l->state.is_buffered[c->asked[k]])
            return kn_error(KILN_ERROR_INTERNAL, "%s: node %d is stored, and asked for again",
                            l->state.graph->name, c->asked[k]);
        kn_lowering_add_buffer(l, c->asked[k], kn_lowering_why_buffered(l, own, c->asked[k]));
    }
    kn_lowering_drop_own(l, root);
    return KILN_OK;
}

/* From low roots to high ones: a node that a root asks for has a lower number, and is built before it. */
static kiln_status build_pending(kn_lowering *l)
{
    size_t nodes = (size_t)l->state.graph->n_nodes;
    const bool *at = l->is_pending;
    kiln_status status = KILN_OK;
    while (status == KILN_OK && !l->arena.failed &&
           (at = memchr(at, true, nodes - (size_t)(at - l->is_pending))) != NULL) {
        int root = (int)(at - l->is_pending);
        kn_lowering_free_old(l);
        status = build_own(l, root);
        for (int k = 0; l->is_pending[root] && k < l->state.scratch->n_asked; ++k)
            if (l->is_pending + l->state.scratch->asked[k] < at)
                at = l->is_pending + l->state.scratch->asked[k];
        if (l->is_pending[root] && l->state.scratch->n_asked == 0)
            at = l->is_pending; /* a cut is rare: start again */
    }
    return status == KILN_OK && l->arena.failed ? kn_lowering_no_memory() : status;
}

void kn_lowering_drop_groups(kn_lowering *l)
{
    for (int p = 0; p < l->n_groups; ++p)
        if (l->group[p].is_joined)
            kn_group_free(&l->group[p].group);
    kn_free(l->group);
    kn_free(l->text);
    l->group = NULL;
    l->text = NULL;
    l->n_groups = 0;
}

kiln_status kn_lowering_find_groups(kn_lowering *l)
{
    size_t roots = 0;
    int n_nodes = l->state.graph->n_nodes;
    kiln_status status = build_pending(l);
    kn_lowering_drop_groups(l);
    l->is_again = false;
    for (int n = 0; n < n_nodes; ++n)
        roots += l->own[n] != NULL;
    l->group = kn_calloc(roots + 1, sizeof *l->group);
    l->text = kn_calloc(roots + 1, sizeof *l->text);
    if (status == KILN_OK && (!l->group || !l->text))
        status = kn_lowering_no_memory();
    for (int n = 0; n < n_nodes && status == KILN_OK; ++n)
        if (l->own[n])
            place_root(l, n);
    return status == KILN_OK && l->arena.failed ? kn_lowering_no_memory() : status;
}
