// SPDX-License-Identifier: Apache-2.0
// suspend.c: render passes that several encoders record: one suspends, the next resumes, in the
// command buffers of one commit. The first one runs the draws of all: their memory is that of
// command buffers which are done later, so it is there. What loads is said by the first, what is
// stored by the last.
#include <string.h>
#include "runtime/metal4/recording_int.h"
#include "runtime/object/validation.h"

static bool same_view(const DevTarget *a, const DevTarget *b) {
    return a->texture == b->texture && a->level == b->level && a->slice == b->slice;
}

static bool same_targets(const DevPass *a, const DevPass *b) {
    for (unsigned i = 0; i < ABI_MAX_COLORS; i++)
        if (!same_view(&a->colors[i].view, &b->colors[i].view)) return false;
    return same_view(&a->depth.view, &b->depth.view) &&
           same_view(&a->stencil.view, &b->stencil.view) && a->width == b->width &&
           a->height == b->height && a->n_samples == b->n_samples && a->n_layers == b->n_layers;
}

typedef struct Chain {
    RtRenderPass *first, *last; // suspended; NULL: none
    MTLCommandBuffer *commands; // of the last
} Chain;

static void refuse(MTLCommandBuffer *commands, const char *what) {
    rt_misuse_encoding(commands, RT_RULE_metal4_suspended, "mtl4_command_queue_commit", "%s", what);
}

static void visit(Chain *c, MTLCommandBuffer *commands, RtRenderPass *pass) {
    if (pass->resumes && !c->first) {
        refuse(commands, "an encoder resumes, none is suspended");
        return;
    }
    if (c->first && !pass->resumes) {
        refuse(c->commands, "another pass begins before it is resumed");
        c->first = NULL;
    }
    if (pass->resumes && !same_targets(&c->first->dev, &pass->dev)) {
        refuse(commands, "attachments of the resuming encoder are others");
        c->first = NULL;
        return;
    }
    if (pass->resumes) {
        pass->first = c->first;
        // Draws of a command buffer that will not run are left out.
        if (!commands->encode_error) {
            c->last->continuation = pass;
            c->last = pass;
        }
    } else if (pass->suspends) {
        c->first = c->last = pass;
    }
    c->commands = commands;
    if (!pass->suspends) c->first = NULL;
}

void rt_link_suspended(MTL4CommandBuffer *const *buffers, size_t count) {
    Chain chain = {0};
    bool any = false;
    for (size_t i = 0; i < count; i++) any = any || buffers[i]->recording->commands.suspends;
    for (size_t i = 0; any && i < count; i++) {
        MTLCommandBuffer *commands = &buffers[i]->recording->commands;
        for (RtOp *op = commands->first_op; op; op = op->next) {
            if (op->cls == &rt_op_render) {
                visit(&chain, commands, (RtRenderPass *)(void *)op);
            } else if (chain.first && (op->cls->joins || strcmp(op->cls->name, "barrier") == 0)) {
                refuse(chain.commands, "kernels run before it is resumed");
                chain.first = NULL;
            }
        }
    }
    if (chain.first) refuse(chain.commands, "no encoder of the commit resumes it");
}
