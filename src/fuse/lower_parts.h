/* fuse/lower_parts.h - the interface between lower.c and lower_*.c, which lower a call of an expression. */
#ifndef KN_FUSE_LOWER_PARTS_H
#define KN_FUSE_LOWER_PARTS_H

#include "base/error.h"
#include "fuse/cut.h"
#include "fuse/fusion.h"
#include "fuse/lower_expression.h"
#include "fuse/report.h"
#include "fuse/text.h"

/* A root whose own group computes a node; one entry of the node's list. */
typedef struct kn_root_user {
    struct kn_root_user *next;
    int root;
} kn_root_user;

typedef struct kn_placed {
    kn_group group;
    bool is_joined;        /* several roots: the group's memory is its own, otherwise it belongs to the
                              root's own group */
    kn_fusion_times times; /* of one kernel and of several, if these were compared */
    bool only_reads;       /* its one kernel holds rows though no element is stored */
} kn_placed;

/* The forms of an expression's graph. Variances are written for kernels that hold rows (held.h); if one of
 * these would be several kernels after all, as they were, or so that reductions need one reading
 * (direct.h). */
typedef enum kn_form { KN_FORM_HELD, KN_FORM_AS_WRITTEN, KN_FORM_DIRECT } kn_form;

/* The form that is wanted, and its graph, if that is not the expression's. */
typedef struct kn_replacement {
    kn_arena arena;
    kn_graph graph, strips; /* strips: in place of either graph, with reductions cut into strips (strips.h) */
    kn_form form;
    bool *refused;   /* reductions (by node) that are not cut; NULL: none is refused */
    bool is_refused; /* one is, since the lowering began */
} kn_replacement;

typedef struct kn_lowering {
    kn_lower_state state;
    const kn_expression *expression;
    const kn_graph *graph; /* the expression's, or that of the replacement */
    kn_form form;
    bool is_held; /* variances are written for kernels that hold rows, which have one more reduction then */
    int n_nodes;  /* of the graph without strips */
    kn_replacement *replacement;
    const kn_lowering_call *call;
    kn_arena arena;
    kn_typed *typed;
    kiln_array *array[KN_MAX_PARAMS];
    bool *is_alone;   /* by node: it joins no other group */
    bool *is_apart;   /* by stored node: a map whose reductions are stored, so that algorithms compute it */
    int *group_of;    /* by stored node: its group */
    int *output_of;   /* by node: the first result that it is; -1: none */
    int *buffer_of;   /* by node: its buffer */
    kn_group **own;   /* by stored node: the group of this node alone */
    bool *is_pending; /* by stored node: that group is still to be built. One entry more, which is false */
    kn_root_user **users; /* by node: the roots whose own groups compute it */
    kn_group **old;       /* groups that are out of date, but still in use by parts that are being made */
    int n_old;
    kn_placed *group;
    kn_text *text; /* by group */
    int n_groups;
    kn_why *why;            /* by node */
    kn_fusion_times *times; /* by node: the times behind KN_WHY_MOVES */
    bool is_again;          /* a node was stored since the groups were built */
    kn_lowered *out;
} kn_lowering;

static inline kiln_status kn_lowering_no_memory(void)
{
    return kn_error_memory("a lowered expression");
}

/* ---- lower_groups.c ---- */

void kn_lowering_drop_own(kn_lowering *l, int root);
/* Only groups of roots are in use. */
void kn_lowering_free_old(kn_lowering *l);
/* Stores a node. The groups that would compute it are built again. */
void kn_lowering_add_buffer(kn_lowering *l, int node, kn_why why);
/* The same, its axes in the order of these strides; NULL: as kn_lowering_add_buffer. */
void kn_lowering_add_buffer_like(kn_lowering *l, int node, kn_why why, const int64_t *like);
kn_why kn_lowering_why_buffered(const kn_lowering *l, const kn_group *own, int buffered);
void kn_lowering_drop_groups(kn_lowering *l);
kiln_status kn_lowering_find_groups(kn_lowering *l);

/* ---- lower_bind.c ---- */

/* Byte strides along the axes of the group's space, for an array of the root's shape. */
void kn_lowering_spread(int64_t *out, const kn_lowering *l, const kn_group *g, int r, const int64_t *stride);
kiln_status kn_lowering_bind_part(kn_lowering *l, kn_lowered_part *part, const kn_text *t, const kn_group *g);
/* Output j of an opaque kernel. The outputs of an algorithm have shapes of their own. */
kiln_status kn_lowering_describe_output(kn_described *out, const kn_lowering *l, const kn_group *g, int j);
kiln_status kn_lowering_make_opaque(kn_lowering *l, kn_lowered_part *part, kn_text *t, const kn_group *g);

/* ---- lower_layouts.c ---- */

/* Stores an input of a reduction that lies along another axis than a second one does, if it would lie along
 * that axis then: copied in tiles it is read and written once more, gathered it moves a sector for each
 * element. A short axis counts only where all inputs are gathered. False: there is none. */
bool kn_lowering_turn_input(kn_lowering *l, const kn_lowered_part *part, const kn_group *g,
                            const kn_resolved *r);
/* Stores such an input in the order of the rest, if the map's kernel would take its elements one by one. */
kiln_status kn_lowering_turn_narrow(kn_lowering *l, kn_lowered_part *part, const kn_group *g);
/* Makes a reduction of few elements a map of so many terms, if it has more results than it reads elements,
 * since kinds of reductions are made for results that are fewer, if its inputs lie crosswise, or if it would
 * gather what a map does not. False: it is none. */
bool kn_lowering_make_terms(kn_lowering *l, const kn_lowered_part *part, const kn_group *g,
                            const kn_resolved *r);

/* ---- lower_results.c ---- */

kiln_status kn_lowering_make_buffers(kn_lowering *l);
/* The layouts of all results, with their extents behind them in the same allocation. Strides are those of C
 * order or, if the call or the expression asks for it, of another one; all 0 if there are no elements. */
kiln_status kn_lowering_make_layouts(kn_lowering *l);
/* A single map may write in place if it reads and writes element by element. */
void kn_lowering_find_in_place(kn_lowering *l);

#endif
