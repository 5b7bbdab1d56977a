// SPDX-License-Identifier: Apache-2.0
// cfg.c: blocks in reverse post-order, dominators, post-dominators and natural loops of a function.
// Purpose: what LLVM-C does not offer. Requires: terminators are br and ret.
// Dominators: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001.
// msl_cfg_analyse further requires the shape prepare.c makes (one return, loops with one entry
// whose only exit is at the latch, values that leave a loop through phis of the exit) and fails
// otherwise: a wrong shape must never become wrong code.
#include "compiler/passes/passes_int.h"

int msl_block_ix(const Vec *x, Block b) { return msl_map_get(&x->block_ix, b); }

bool msl_dominates(const Vec *x, int a, int b) {
    return x->blocks[a].dom_in <= x->blocks[b].dom_in &&
           x->blocks[b].dom_out <= x->blocks[a].dom_out;
}

bool msl_in_loop(const Vec *x, int loop, int block) {
    int l = x->blocks[block].loop;
    while (l > loop) l = x->loops[l].parent; // an inner loop has the greater number
    return l == loop;
}

// Numbers the reachable blocks in reverse post-order.
static void number_blocks(Vec *x, Value f) {
    unsigned n = LLVMCountBasicBlocks(f);
    Block *post = vec_alloc(x, n, sizeof *post), *stack = vec_alloc(x, n + 1, sizeof *stack);
    unsigned *next = vec_alloc(x, n + 1, sizeof *next);
    Map seen = {0};
    int n_post = 0, depth = 0;
    stack[0] = LLVMGetEntryBasicBlock(f);
    msl_map_put(x->cx, &x->arena, &seen, stack[0], 0);
    while (depth >= 0) {
        Value t = LLVMGetBasicBlockTerminator(stack[depth]);
        unsigned n_succ = t ? LLVMGetNumSuccessors(t) : 0;
        if (next[depth] == n_succ) {
            post[n_post++] = stack[depth--];
            continue;
        }
        Block s = LLVMGetSuccessor(t, n_succ - 1 - next[depth]++); // last first: keeps source order
        if (msl_map_get(&seen, s) >= 0) continue;
        msl_map_put(x->cx, &x->arena, &seen, s, 0);
        stack[++depth] = s;
        next[depth] = 0;
    }
    x->n_blocks = n_post;
    x->blocks = vec_alloc(x, (size_t)n_post, sizeof *x->blocks);
    x->block_ix = (Map){0};
    for (int i = 0; i < n_post; i++) {
        x->blocks[i] = (Blk){.old = post[n_post - 1 - i],
                             .idom = -1,
                             .ipdom = -1,
                             .loop = -1,
                             .header = -1,
                             .latch = -1,
                             .exit = -1};
        msl_map_put(x->cx, &x->arena, &x->block_ix, x->blocks[i].old, i);
    }
}

static void connect(Vec *x) {
    for (int i = 0; i < x->n_blocks; i++) {
        Blk *b = &x->blocks[i];
        Value t = LLVMGetBasicBlockTerminator(b->old);
        LLVMOpcode op = LLVMGetInstructionOpcode(t);
        if (op != LLVMRet && op != LLVMBr) msl_fail_at(x, "unsupported terminator", t);
        b->n_succ = (int)LLVMGetNumSuccessors(t);
        for (int s = 0; s < b->n_succ; s++) {
            b->succ[s] = msl_block_ix(x, LLVMGetSuccessor(t, (unsigned)s));
            x->blocks[b->succ[s]].n_pred++;
        }
    }
    for (int i = 0; i < x->n_blocks; i++) {
        x->blocks[i].pred = vec_alloc(x, (size_t)x->blocks[i].n_pred, sizeof(int));
        x->blocks[i].n_pred = 0;
    }
    for (int i = 0; i < x->n_blocks; i++)
        for (int s = 0; s < x->blocks[i].n_succ; s++) {
            Blk *to = &x->blocks[x->blocks[i].succ[s]];
            to->pred[to->n_pred++] = i;
        }
}

static void dominators(Vec *x) {
    Blk *bl = x->blocks;
    bl[0].idom = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 1; i < x->n_blocks; i++) {
            int d = -1;
            for (int p = 0; p < bl[i].n_pred; p++) {
                int y = bl[i].pred[p];
                if (bl[y].idom < 0) continue;
                if (d < 0) d = y;
                while (d != y) {
                    while (d > y) d = bl[d].idom;
                    while (y > d) y = bl[y].idom;
                }
            }
            if (d != bl[i].idom) {
                bl[i].idom = d;
                changed = true;
            }
        }
    }
    // Intervals: children have greater numbers, so sizes add up backwards and starts forwards.
    int *size = vec_alloc(x, (size_t)x->n_blocks, sizeof *size);
    int *used = vec_alloc(x, (size_t)x->n_blocks, sizeof *used);
    for (int i = x->n_blocks - 1; i >= 0; i--) {
        size[i]++;
        if (i) size[bl[i].idom] += size[i];
    }
    bl[0].dom_in = 0;
    bl[0].dom_out = size[0];
    for (int i = 1; i < x->n_blocks; i++) {
        int d = bl[i].idom;
        bl[i].dom_in = bl[d].dom_in + 1 + used[d];
        bl[i].dom_out = bl[i].dom_in + size[i];
        used[d] += size[i];
    }
}

void msl_cfg_build(Vec *x, Value f) {
    number_blocks(x, f);
    connect(x);
    dominators(x);
}

bool msl_cfg_reducible(Vec *x) {
    for (int h = 0; h < x->n_blocks; h++)
        for (int p = 0; p < x->blocks[h].n_pred; p++) {
            int u = x->blocks[h].pred[p];
            if (u >= h && !msl_dominates(x, h, u)) return false;
        }
    return true;
}

// On the reverse graph from the one return.
static void post_dominators(Vec *x, int last) {
    Blk *bl = x->blocks;
    int n = x->n_blocks, n_order = 0, depth = 0;
    int *rank = vec_alloc(x, (size_t)n, sizeof *rank),
        *order = vec_alloc(x, (size_t)n, sizeof *order);
    int *stack = vec_alloc(x, (size_t)n + 1, sizeof *stack),
        *next = vec_alloc(x, (size_t)n + 1, sizeof *next);
    for (int i = 0; i < n; i++) rank[i] = -1;
    stack[0] = last;
    rank[last] = -2;
    while (depth >= 0) {
        int b = stack[depth];
        if (next[depth] == bl[b].n_pred) {
            order[n_order++] = b;
            depth--;
            continue;
        }
        int p = bl[b].pred[next[depth]++];
        if (rank[p] != -1) continue;
        rank[p] = -2;
        stack[++depth] = p;
        next[depth] = 0;
    }
    if (n_order != n) msl_fail(x->cx, "internal error: a loop without an exit");
    for (int i = 0; i < n; i++) rank[order[i]] = n - 1 - i;
    bl[last].ipdom = last;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = n - 2; i >= 0; i--) {
            int b = order[i], d = -1;
            for (int s = 0; s < bl[b].n_succ; s++) {
                int y = bl[b].succ[s];
                if (bl[y].ipdom < 0) continue;
                if (d < 0) d = y;
                while (d != y) {
                    while (rank[d] > rank[y]) d = bl[d].ipdom;
                    while (rank[y] > rank[d]) y = bl[y].ipdom;
                }
            }
            if (bl[b].ipdom != d) {
                bl[b].ipdom = d;
                changed = true;
            }
        }
    }
}

// The natural loop of the back edge latch -> header, checked for the structured form.
static void add_loop(Vec *x, int header, int latch, int *stack) {
    Blk *bl = x->blocks;
    int l = x->n_loops++, n = 0;
    Loop *loop = &x->loops[l];
    *loop = (Loop){
        .header = header, .latch = latch, .preheader = -1, .exit = -1, .parent = bl[header].loop};
    bl[header].loop = l;
    stack[n++] = latch;
    while (n) {
        int y = stack[--n];
        if (bl[y].loop == l) continue;
        bl[y].loop = l;
        for (int q = 0; q < bl[y].n_pred; q++)
            if (bl[bl[y].pred[q]].loop != l) stack[n++] = bl[y].pred[q];
    }
    for (int q = 0; q < bl[header].n_pred; q++) {
        if (bl[header].pred[q] == latch) continue;
        if (loop->preheader >= 0) msl_fail(x->cx, "internal error: loop with two entries");
        loop->preheader = bl[header].pred[q];
    }
    for (int y = header; y < x->n_blocks; y++) {
        if (bl[y].loop != l) continue;
        for (int s = 0; s < bl[y].n_succ; s++) {
            if (bl[bl[y].succ[s]].loop == l) continue;
            if (y != latch || loop->exit >= 0)
                msl_fail(x->cx, "internal error: loop exit outside the latch");
            loop->exit = bl[y].succ[s];
        }
    }
    if (loop->exit < 0 || loop->preheader < 0)
        msl_fail(x->cx, "internal error: loop without exit or entry");
    bl[header].header = bl[latch].latch = bl[loop->exit].exit = l;
}

// Whether `user` reads i within the loop l, or as a phi behind it on the way out.
static bool reads_in_loop(const Vec *x, int l, Value i, Value user) {
    int b = msl_block_ix(x, LLVMGetInstructionParent(user));
    if (b < 0) return true; // nothing leads there
    if (!LLVMIsAPHINode(user)) return msl_in_loop(x, l, b);
    for (unsigned k = 0; k < LLVMCountIncoming(user); k++)
        if (LLVMGetIncomingValue(user, k) == i &&
            !msl_in_loop(x, l, msl_block_ix(x, LLVMGetIncomingBlock(user, k))))
            return false;
    return true;
}

static void check_ways_out(Vec *x) {
    for (int b = 0; b < x->n_blocks; b++) {
        int l = x->blocks[b].loop;
        if (l < 0) continue;
        for (Value i = LLVMGetFirstInstruction(x->blocks[b].old); i; i = LLVMGetNextInstruction(i))
            for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u))
                if (!reads_in_loop(x, l, i, LLVMGetUser(u)))
                    msl_fail_at(x, "used behind its loop", i);
    }
}

void msl_cfg_analyse(Vec *x, Value f) {
    msl_cfg_build(x, f);
    int last = -1, edges = 0;
    for (int i = 0; i < x->n_blocks; i++) {
        Blk *b = &x->blocks[i];
        edges += b->n_pred;
        if (b->n_succ == 0) {
            if (last >= 0) msl_fail(x->cx, "internal error: two returns");
            last = i;
        }
        if (b->n_succ == 2 && b->succ[0] == b->succ[1])
            msl_fail_at(x, "branch with one target", LLVMGetBasicBlockTerminator(b->old));
    }
    if (last < 0) msl_fail(x->cx, "internal error: no return");
    post_dominators(x, last);
    x->loops = vec_alloc(x, (size_t)x->n_blocks, sizeof *x->loops);
    x->n_loops = 0;
    int *stack = vec_alloc(x, (size_t)edges + 2, sizeof *stack);
    for (int h = 0; h < x->n_blocks; h++)
        for (int p = 0; p < x->blocks[h].n_pred; p++)
            if (x->blocks[h].pred[p] >= h) add_loop(x, h, x->blocks[h].pred[p], stack);
    check_ways_out(x);
}

int msl_taken_side(Vec *x, int b) {
    const Blk *k = &x->blocks[b];
    if (k->succ[0] == k->ipdom) return k->succ[1];
    if (k->succ[1] == k->ipdom) return k->succ[0];
    msl_fail_at(x, "branch without a join", LLVMGetBasicBlockTerminator(k->old));
}
