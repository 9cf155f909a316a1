/* texts.c - texts that are written on the way to the source, and live as long as their writer. */
#include "codegen/writer.h"

#include "base/alloc.h"

/* Without memory all callers get one text, which has failed, and so no source comes of it. */
kn_str *kn_text(const kn_writer *w)
{
    kn_text_node *made = kn_calloc(1, sizeof *made);
    if (!made) {
        w->texts->spare.failed = true;
        return &w->texts->spare;
    }
    made->next = w->texts->first;
    w->texts->first = made;
    return &made->text;
}

const char *kn_text_by(const kn_writer *w, kn_place_writer put, int k)
{
    kn_str *text = kn_text(w);
    put(w, text, k);
    return kn_str_text(text);
}

kiln_status kn_texts_status(const kn_writer_texts *texts)
{
    kiln_status status = texts->status;
    if (status == KILN_OK)
        status = kn_str_status(&texts->spare, "generated source");
    for (const kn_text_node *n = texts->first; n && status == KILN_OK; n = n->next)
        status = kn_str_status(&n->text, "generated source");
    return status;
}

void kn_texts_free(kn_writer_texts *texts)
{
    for (kn_text_node *n = texts->first, *next; n; n = next) {
        next = n->next;
        kn_str_free(&n->text);
        kn_free(n);
    }
    kn_str_free(&texts->spare);
    for (int f = 0; f < KN_PART_FILES; ++f)
        kn_str_free(&texts->file[f]);
}
