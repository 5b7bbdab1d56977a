// SPDX-License-Identifier: Apache-2.0
// watch.c: code that tells the device what it does, for races and undefined behaviour
// (MTL_SHADER_VALIDATION=races).
//   requires  accesses noted and checked (validate.c), threadgroup memory still as __ingot_place
//   gives     void __ingot_observe(i32 site, value) before each access to memory that threads
//             share, around barriers, before SIMD-group functions and texel accesses; the
//             vectoriser makes one call a step of each (passes/emit_observe.c). The places are a
//             table of the code, CPU_SITES_SYMBOL. Also: notes (notes.c) become branches and
//             reports.
// Reads of a buffer stand behind a branch that asks whether anybody writes it: the device knows
// which slots the kernel stores to and what memory they share. So a product of matrices pays for
// what it writes only.
#include "abi/texture_layout.h"
#include "compiler/codegen/validate_int.h"
#include <stdio.h>
#include <string.h>

// An address: a pointer, numbers times sizes, and a distance.
enum { MAX_TERMS = 4 };
typedef struct Place {
    Value root, term[MAX_TERMS];
    uint64_t scale[MAX_TERMS];
    int n;
    int64_t at;
} Place;

// Reads at one line of the program, one behind the other: a loop that was unrolled. They are told
// of once, at the first.
typedef struct Series {
    Place place; // of the last one
    uint32_t site;
} Series;

typedef struct Watch {
    Validation *v;
    CpuSite *sites;
    size_t n, max;
    Value reads;         // CpuWatch.reads, loaded at the entry
    bool writes_texture; // some texel is written
    Series *series;      // of this block, that may go on
    size_t n_series, max_series;
} Watch;

// ---- notes ----

static bool is_no(Value bit) { return LLVMIsAConstantInt(bit) && !LLVMConstIntGetZExtValue(bit); }

static void expand_note(Validation *v, Value i, AbiBadAccess what, Value bad) {
    MslContext *cx = &v->cg->cx;
    LLVMBuilderRef b = cx->builder;
    Value nowhere = LLVMConstNull(msl_ptr(cx)), zero = msl_const(cx, 64, 0);
    Root none = {.space = ABI_SPACE_THREAD, .slot = UINT32_MAX, .start = nowhere, .length = zero};
    if (LLVMGetBasicBlockParent(LLVMGetInstructionParent(i)) == v->cg->thread && !is_no(bad)) {
        Block before = LLVMGetInstructionParent(i), rest = bridge_split_before(i);
        LLVMPositionBuilderAtEnd(b, before);
        bad = LLVMBuildFreeze(b, bad, "");
        msl_report_unless(v, LLVMBuildNot(b, bad, ""), i, what, zero, nowhere, &none);
        LLVMBuildBr(b, rest);
    }
    LLVMInstructionEraseFromParent(i);
}

static bool watches_accesses(const Cg *cg) {
    return cg->request->watch & MSL_WATCH_RACES && cg->fn->stage == RF_KERNEL;
}

void msl_expand_notes(Validation *v) {
    Value f = LLVMGetNamedFunction(v->cg->cx.module, MSL_NOTE);
    for (LLVMUseRef use; f && (use = LLVMGetFirstUse(f));) {
        Value i = LLVMGetUser(use);
        expand_note(v, i, (AbiBadAccess)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0)),
                    LLVMGetOperand(i, 1));
    }
    if (watches_accesses(v->cg)) return; // the others come with their names, below
    f = LLVMGetNamedFunction(v->cg->cx.module, MSL_UNINITIALISED);
    for (LLVMUseRef use; f && (use = LLVMGetFirstUse(f));) {
        Value i = LLVMGetUser(use);
        expand_note(v, i, ABI_UNWRITTEN, LLVMGetOperand(i, 0));
    }
}

// ---- sites ----

static uint32_t add_site(Watch *w, Value i, CpuSiteKind kind, unsigned flags, const char *name) {
    Validation *v = w->v;
    if (w->n == w->max) {
        size_t max = 2 * w->max + 64;
        CpuSite *more = msl_validate_alloc(v, max, sizeof *more);
        if (w->n) memcpy(more, w->sites, w->n * sizeof *more);
        w->sites = more;
        w->max = max;
    }
    if (w->n >= CPU_MAX_SITES)
        msl_fail(&v->cg->cx, "'%s' has too many accesses to be watched", v->cg->fn->name);
    unsigned line = 0, column = 0;
    if (i) msl_source_place(v, i, &line, &column);
    CpuSite *s = &w->sites[w->n];
    *s = (CpuSite){.id = (uint32_t)w->n++,
                   .kind = (uint16_t)kind,
                   .flags = (uint16_t)flags,
                   .space = ABI_SPACE_THREAD,
                   .slot = UINT32_MAX,
                   .line = line,
                   .column = column};
    snprintf(s->name, sizeof s->name, "%s", name);
    return s->id;
}

// Constants of the program, the thread's own variables and `constant` arguments are nobody's race.
static bool is_shared(Watch *w, const Root *r) {
    const RfFunction *fn = w->v->cg->fn;
    if (r->trusted || r->space == ABI_SPACE_THREAD || r->space == ABI_SPACE_CONSTANT) return false;
    for (uint32_t a = 0; r->space == ABI_SPACE_BUFFER && a < fn->n_args; a++)
        if (r->slot >= fn->args[a].slot && r->slot - fn->args[a].slot < fn->args[a].count &&
            fn->args[a].kind != RF_ARG_BUILTIN)
            return fn->args[a].kind == RF_ARG_BUFFER && fn->args[a].space != RF_CONSTANT;
    return r->space != ABI_SPACE_BUFFER;
}

// Where an access goes, if all it may reach is memory that threads share.
static bool find_space(Watch *w, Root *const *roots, int n, Root *found) {
    for (int k = 0; k < n; k++) {
        if (!is_shared(w, roots[k])) return false;
        if (k && (roots[k]->space != found->space || roots[k]->slot != found->slot))
            *found = (Root){.space = ABI_SPACE_POINTER, .slot = UINT32_MAX};
        else
            *found = *roots[k];
    }
    return n > 0;
}

static uint32_t add_access(Watch *w, Value i, CpuSiteKind kind, unsigned flags, uint64_t bytes,
                           const Root *r) {
    const Cg *cg = w->v->cg;
    uint32_t id = add_site(w, i, kind, flags, "");
    CpuSite *s = &w->sites[id];
    s->space = r->space;
    s->slot = r->slot;
    s->n_bytes = (uint32_t)bytes;
    if (r->space != ABI_SPACE_THREADGROUP || r->slot != UINT32_MAX || !r->value) return id;
    s->at = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(r->value, 0));
    for (size_t k = 0; k < cg->report.n_variables; k++)
        if (cg->report.variables[k].at == s->at)
            memcpy(s->name, cg->report.variables[k].name, sizeof cg->report.variables[k].name);
    return id;
}

// ---- calls ----

static Value load_pointer(Watch *w, Value base, size_t offset) {
    MslContext *cx = &w->v->cg->cx;
    Value o = msl_const(cx, 64, offset);
    Value load =
        LLVMBuildLoad2(cx->builder, msl_ptr(cx),
                       LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 8), base, &o, 1, ""), "");
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(cx->llvm, "invariant.load", 14), w->v->empty);
    return load;
}

// At the builder's place. In the function of one thread (ingot_slow...) launch and position are the
// first parameters.
static void observe(Watch *w, Value f, uint32_t site, Value value) {
    Validation *v = w->v;
    MslContext *cx = &v->cg->cx;
    LLVMBuilderRef b = cx->builder;
    Type none = LLVMVoidTypeInContext(cx->llvm), i64 = msl_int(cx, 64);
    value = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind
                ? value
                : LLVMBuildIntCast2(b, value, i64, 0, "");
    if (f == v->cg->thread) {
        Type type = LLVMFunctionType(none, NULL, 0, 1); // a pointer, or a number
        const CpuSite *s = &w->sites[site];
        uint32_t tell = s->kind == CPU_SITE_BARRIER ? CPU_TELL_BARRIER
                        : s->kind <= CPU_SITE_ATOMIC && s->space == ABI_SPACE_THREADGROUP
                            ? CPU_TELL_GROUP
                            : CPU_TELL_ANY;
        Value callee = LLVMGetNamedFunction(cx->module, "__ingot_observe"),
              args[2] = {msl_const(cx, 32, site | tell << CPU_TELL_SHIFT), value};
        if (!callee) {
            callee = LLVMAddFunction(cx->module, "__ingot_observe", type);
            msl_add_attribute(cx, callee, LLVMAttributeFunctionIndex, "nounwind", 0);
        }
        LLVMBuildCall2(b, type, callee, args, 2, "");
        return;
    }
    Value launch = LLVMGetParam(f, 0),
          args[6] = {launch, msl_const(cx, 32, site),
                     LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind
                         ? LLVMBuildPtrToInt(b, value, i64, "")
                         : value};
    for (unsigned d = 0; d < 3; d++) args[3 + d] = LLVMGetParam(f, 1 + d);
    Type types[6];
    for (int k = 0; k < 6; k++) types[k] = LLVMTypeOf(args[k]);
    Value one = load_pointer(w, load_pointer(w, launch, offsetof(CpuLaunch, watch)),
                             offsetof(CpuWatch, one));
    LLVMBuildCall2(b, LLVMFunctionType(none, types, 6, 0), one, args, 6, "");
}

static Value parent(Value i) { return LLVMGetBasicBlockParent(LLVMGetInstructionParent(i)); }

// A branch around what the builder will write: only if somebody writes what the access reads. The
// builder stands in the new block, which has its end.
static void guard_read(Watch *w, Value i, const Root *r) {
    Cg *cg = w->v->cg;
    MslContext *cx = &cg->cx;
    LLVMBuilderRef b = cx->builder;
    if (!w->reads) {
        Value first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(cg->thread));
        while (LLVMIsAAllocaInst(first)) first = LLVMGetNextInstruction(first);
        LLVMPositionBuilderBefore(b, first);
        Value watch = load_pointer(w, msl_launch(w->v, NULL), offsetof(CpuLaunch, watch));
        w->reads = load_pointer(w, watch, offsetof(CpuWatch, reads));
    }
    Value slot = msl_const(cx, 64, r->space == ABI_SPACE_BUFFER ? r->slot : cg->fn->n_slots);
    Block before = LLVMGetInstructionParent(i), rest = bridge_split_before(i),
          tell = LLVMAppendBasicBlockInContext(cx->llvm, cg->thread, "tell");
    LLVMMoveBasicBlockAfter(tell, before);
    LLVMPositionBuilderAtEnd(b, before);
    Value told = LLVMBuildLoad2(
        b, msl_int(cx, 8), LLVMBuildInBoundsGEP2(b, msl_int(cx, 8), w->reads, &slot, 1, ""), "");
    LLVMSetMetadata(told, LLVMGetMDKindIDInContext(cx->llvm, "invariant.load", 14), w->v->empty);
    LLVMBuildCondBr(b, LLVMBuildIsNotNull(b, told, ""), tell, rest);
    LLVMPositionBuilderAtEnd(b, tell);
    LLVMPositionBuilderBefore(b, LLVMBuildBr(b, rest));
}

// ---- series ----

// One index of a GEP: the type it steps in, and behind it the type that it chooses.
static bool add_index(const Watch *w, Place *p, Type *t, Value ix, bool first) {
    LLVMTargetDataRef layout = w->v->cg->cx.layout;
    if (!first && LLVMGetTypeKind(*t) == LLVMStructTypeKind) {
        unsigned k = (unsigned)LLVMConstIntGetZExtValue(ix);
        p->at += (int64_t)LLVMOffsetOfElement(layout, *t, k);
        *t = LLVMStructGetTypeAtIndex(*t, k);
        return true;
    }
    if (!first) *t = LLVMGetElementType(*t);
    uint64_t size = LLVMABISizeOfType(layout, *t);
    if (LLVMIsAConstantInt(ix)) {
        p->at += LLVMConstIntGetSExtValue(ix) * (int64_t)size;
        return true;
    }
    if (p->n == MAX_TERMS) return false;
    p->term[p->n] = ix;
    p->scale[p->n++] = size;
    return true;
}

static bool place_of(const Watch *w, Value p, Place *out) {
    *out = (Place){0};
    for (; LLVMIsAGetElementPtrInst(p); p = LLVMGetOperand(p, 0)) {
        Type t = LLVMGetGEPSourceElementType(p);
        for (int k = 1; k < LLVMGetNumOperands(p); k++)
            if (!add_index(w, out, &t, LLVMGetOperand(p, (unsigned)k), k == 1)) return false;
    }
    out->root = p;
    return true;
}

static bool differs_by_number(const Place *a, const Place *b) {
    bool used[MAX_TERMS] = {false};
    if (a->root != b->root || a->n != b->n) return false;
    for (int i = 0; i < a->n; i++) {
        int k = 0;
        while (k < b->n && (used[k] || a->term[i] != b->term[k] || a->scale[i] != b->scale[k])) k++;
        if (k == b->n) return false;
        used[k] = true;
    }
    return true;
}

// The read goes on with a series of this block; otherwise it may begin one.
static bool joins_series(Watch *w, Value i, Value p, uint64_t bytes) {
    enum { MAX_PITCH = 1 << 15, MAX_REPEAT = 255 };
    Place place;
    unsigned line, column;
    msl_source_place(w->v, i, &line, &column);
    if (!line || !place_of(w, p, &place)) return false;
    for (size_t k = 0; k < w->n_series; k++) {
        Series *s = &w->series[k];
        CpuSite *site = &w->sites[s->site];
        int64_t step = place.at - s->place.at;
        if (site->line != line || site->column != column || site->n_bytes != bytes ||
            site->repeat == MAX_REPEAT || step <= 0 || step > MAX_PITCH ||
            (site->repeat && step != (int64_t)site->pitch) || !differs_by_number(&s->place, &place))
            continue;
        site->repeat++;
        site->pitch = (uint32_t)step;
        s->place = place;
        return true;
    }
    if (w->n_series == w->max_series) {
        size_t max = 2 * w->max_series + 16;
        Series *more = msl_validate_alloc(w->v, max, sizeof *more);
        if (w->n_series) memcpy(more, w->series, w->n_series * sizeof *more);
        w->series = more;
        w->max_series = max;
    }
    w->series[w->n_series++] = (Series){place, (uint32_t)w->n}; // the site that comes next
    return false;
}

// What may write threadgroup memory, or order accesses to it.
static bool ends_series(Value i) {
    if (LLVMIsACallInst(i)) return !msl_starts(msl_callee(i), "llvm.");
    return LLVMIsAStoreInst(i) || LLVMIsAFenceInst(i) || LLVMIsAAtomicRMWInst(i) ||
           LLVMIsAAtomicCmpXchgInst(i);
}

// ---- accesses ----

static bool is_relaxed(Value i) {
    return (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) &&
           LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
}

static void watch_pointer(Watch *w, Value i, CpuSiteKind kind, Value p, uint64_t bytes, Value n,
                          Root *const *roots, int n_roots) {
    Root r;
    if (!find_space(w, roots, n_roots, &r)) return;
    if (r.space == ABI_SPACE_POINTER && msl_keeps_thread(w->v)) return; // it may be nobody else's
    unsigned flags = kind == CPU_SITE_ATOMIC || is_relaxed(i) ? CPU_SITE_RELAXED : 0;
    if (kind == CPU_SITE_READ && r.space == ABI_SPACE_THREADGROUP && bytes && !flags &&
        parent(i) == w->v->cg->thread && joins_series(w, i, p, bytes))
        return;
    uint32_t site = add_access(w, i, kind, flags, bytes, &r);
    LLVMPositionBuilderBefore(w->v->cg->cx.builder, i);
    if (kind == CPU_SITE_READ && r.space != ABI_SPACE_THREADGROUP && parent(i) == w->v->cg->thread)
        guard_read(w, i, &r);
    if (!bytes) observe(w, parent(i), add_site(w, i, CPU_SITE_SIZE, 0, ""), n);
    observe(w, parent(i), site, p);
}

static void watch_access(Watch *w, Value i, const Access *a) {
    if (a->bytes) {
        CpuSiteKind kind = a->kind == ABI_BAD_LOAD     ? CPU_SITE_READ
                           : a->kind == ABI_BAD_ATOMIC ? CPU_SITE_ATOMIC
                                                       : CPU_SITE_WRITE;
        if (a->kind != ABI_BAD_CALL)
            watch_pointer(w, i, kind, LLVMGetOperand(i, (unsigned)a->operand), a->bytes, NULL,
                          a->roots, a->n_roots);
        return;
    }
    Value n = LLVMGetOperand(i, 2);
    uint64_t bytes = LLVMIsAConstantInt(n) ? LLVMConstIntGetZExtValue(n) : 0;
    if (LLVMIsAConstantInt(n) && !bytes) return;
    if (a->n_from)
        watch_pointer(w, i, CPU_SITE_READ, LLVMGetOperand(i, 1), bytes, n, a->from, a->n_from);
    watch_pointer(w, i, CPU_SITE_WRITE, LLVMGetOperand(i, 0), bytes, n, a->roots, a->n_roots);
}

// ---- barriers and SIMD-group functions ----

static void watch_barrier(Watch *w, Value i, bool simd) {
    Value f = parent(i), flags = LLVMGetOperand(i, 0);
    const char *name = simd ? "simdgroup_barrier" : "threadgroup_barrier";
    uint32_t site = add_site(w, i, simd ? CPU_SITE_SIMD_BARRIER : CPU_SITE_BARRIER, 0, name);
    LLVMPositionBuilderBefore(w->v->cg->cx.builder, i);
    observe(w, f, site, flags);
}

// "__ingot_simd_shuffle_up_f32" -> "simd_shuffle_up"
static void metal_name(const char *name, char *out, size_t n_bytes) {
    static const char *const types[] = {"_i32", "_u32", "_i64", "_u64", "_f32"};
    snprintf(out, n_bytes, "%s", name + strlen("__ingot_"));
    size_t n = strlen(out);
    for (size_t k = 0; n > 4 && k < sizeof types / sizeof *types; k++)
        if (!strcmp(out + n - 4, types[k])) {
            out[n - 4] = 0;
            return;
        }
}

static void watch_simd(Watch *w, Value i, const char *name) {
    static const struct {
        const char *name;
        CpuSiteKind kind;
        unsigned flags;
    } table[] = {
        {"broadcast", CPU_SITE_LANE, CPU_SITE_UNIFORM},
        {"shuffle", CPU_SITE_LANE, 0},
        {"shuffle_up", CPU_SITE_UP, CPU_SITE_UNIFORM},
        {"shuffle_down", CPU_SITE_DOWN, CPU_SITE_UNIFORM},
        {"shuffle_xor", CPU_SITE_XOR, CPU_SITE_UNIFORM},
        {"shuffle_rotate_up", CPU_SITE_ROTATE_UP, CPU_SITE_UNIFORM},
        {"shuffle_rotate_down", CPU_SITE_ROTATE_DOWN, CPU_SITE_UNIFORM},
        {"shuffle_and_fill_up", CPU_SITE_FILL_UP, CPU_SITE_UNIFORM},
        {"shuffle_and_fill_down", CPU_SITE_FILL_DOWN, CPU_SITE_UNIFORM},
    };
    LLVMBuilderRef b = w->v->cg->cx.builder;
    Type i64 = msl_int(&w->v->cg->cx, 64);
    char plain[32];
    metal_name(name, plain, sizeof plain);
    bool quad = msl_starts(plain, "quad_");
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        if (strcmp(plain + 5, table[k].name) != 0) continue;
        bool fill = table[k].kind == CPU_SITE_FILL_UP || table[k].kind == CPU_SITE_FILL_DOWN;
        uint32_t site = add_site(w, i, table[k].kind,
                                 table[k].flags | (quad ? (unsigned)CPU_SITE_QUAD : 0u), plain);
        LLVMPositionBuilderBefore(b, i);
        Value n = LLVMBuildIntCast2(b, LLVMGetOperand(i, fill ? 2 : 1), i64, 0, "");
        if (fill) {
            Value of = LLVMBuildIntCast2(b, LLVMGetOperand(i, 3), i64, 0, "");
            n = LLVMBuildOr(b, n, LLVMBuildShl(b, of, LLVMConstInt(i64, 32, 0), ""), "");
        }
        observe(w, parent(i), site, n);
        return;
    }
}

// ---- texels ----

static void watch_texel(Watch *w, Value i, unsigned what, unsigned op) {
    enum { ROWS = 2 };
    MslContext *cx = &w->v->cg->cx;
    LLVMBuilderRef b = cx->builder;
    Type i64 = msl_int(cx, 64);
    bool sampled = (op & CPU_TEX_TYPE_MASK) == ABI_TEXTURE_2D_MS ||
                   (op & CPU_TEX_TYPE_MASK) == ABI_TEXTURE_2D_MS_ARRAY;
    unsigned type = op & CPU_TEX_TYPE_MASK, high = sampled ? CPU_TEX_SAMPLE : CPU_TEX_LEVEL,
             low = type == ABI_TEXTURE_3D ? CPU_TEX_Z : CPU_TEX_SLICE;
    CpuSiteKind kind = what == 'w'   ? CPU_SITE_TEXEL_WRITE
                       : what == 'a' ? CPU_SITE_TEXEL_ATOMIC
                                     : CPU_SITE_TEXEL_READ;
    if (what == 'a' && (op >> CPU_TEX_ATOMIC & 15) == CPU_TEX_LOAD) kind = CPU_SITE_TEXEL_READ;
    if (what == 'a' && (op >> CPU_TEX_ATOMIC & 15) == CPU_TEX_STORE) kind = CPU_SITE_TEXEL_WRITE;
    unsigned flags = (what == 'a' ? (unsigned)CPU_SITE_RELAXED : 0u) |
                     (w->writes_texture ? 0u : (unsigned)CPU_SITE_BOUNDS);
    Value f = parent(i), shift = LLVMConstInt(i64, 32, 0);
    LLVMPositionBuilderBefore(b, i);
    Value word[4] = {LLVMGetOperand(i, ROWS + CPU_TEX_X), LLVMGetOperand(i, ROWS + CPU_TEX_Y),
                     LLVMGetOperand(i, ROWS + low), LLVMGetOperand(i, ROWS + high)};
    for (int k = 0; k < 4; k++) word[k] = LLVMBuildZExt(b, word[k], i64, "");
    Value xy = LLVMBuildOr(b, word[0], LLVMBuildShl(b, word[1], shift, ""), ""),
          rest = LLVMBuildOr(b, word[2], LLVMBuildShl(b, word[3], shift, ""), "");
    Value handle = LLVMGetOperand(i, 0), bound = handle;
    observe(w, f, add_site(w, i, CPU_SITE_TEXTURE, 0, ""), handle);
    observe(w, f, add_site(w, i, CPU_SITE_TEXEL_XY, 0, ""), xy);
    uint32_t id = add_site(w, i, kind, flags, "");
    w->sites[id].type = op;
    w->sites[id].space = ABI_SPACE_HANDLE;
    if (LLVMIsAPtrToIntInst(bound) && LLVMIsAArgument(LLVMGetOperand(bound, 0)))
        for (uint32_t k = 0; k < w->v->cg->fn->n_slots; k++)
            if (LLVMGetParam(w->v->cg->thread, k) == LLVMGetOperand(bound, 0))
                w->sites[id].slot = k;
    observe(w, f, id, rest);
}

static bool writes_textures(Watch *w) {
    for (Block b = LLVMGetFirstBasicBlock(w->v->cg->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            unsigned op, what = LLVMIsACallInst(i) ? msl_texture_call(i, &op) : 0;
            if (what == 'w' || what == 'a') return true;
        }
    return false;
}

// ---- variables of the thread ----

static void watch_uninitialised(Watch *w, Value i) {
    Cg *cg = w->v->cg;
    MslContext *cx = &cg->cx;
    LLVMBuilderRef b = cx->builder;
    Value bad = LLVMGetOperand(i, 0);
    if (!is_no(bad)) {
        size_t name = (size_t)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1));
        uint32_t site = add_site(w, i, CPU_SITE_UNWRITTEN, 0, cg->report.names[name].text);
        Block before = LLVMGetInstructionParent(i), rest = bridge_split_before(i),
              tell = LLVMAppendBasicBlockInContext(cx->llvm, cg->thread, "tell");
        LLVMMoveBasicBlockAfter(tell, before);
        LLVMPositionBuilderAtEnd(b, before);
        LLVMBuildCondBr(b, LLVMBuildFreeze(b, bad, ""), tell, rest);
        LLVMPositionBuilderAtEnd(b, tell);
        observe(w, cg->thread, site, msl_const(cx, 64, 0));
        LLVMBuildBr(b, rest);
    }
    LLVMInstructionEraseFromParent(i);
}

static void watch_call(Watch *w, Value i) {
    const char *name = msl_callee(i);
    unsigned op, what = msl_texture_call(i, &op);
    if (!strcmp(name, MSL_UNINITIALISED))
        watch_uninitialised(w, i);
    else if (msl_starts(name, "__ingot_threadgroup_barrier"))
        watch_barrier(w, i, false);
    else if (msl_starts(name, "__ingot_simdgroup_barrier"))
        watch_barrier(w, i, true);
    else if (msl_starts(name, "__ingot_simd_") || msl_starts(name, "__ingot_quad_"))
        watch_simd(w, i, name);
    else if (!strstr(name, "__ingot_rays_") &&
             (what == 'r' || what == 'l' || what == 'w' || what == 'a'))
        watch_texel(w, i, what, op);
    else if (msl_starts(name, "__ingot_simdgroup_mma")) {
        LLVMPositionBuilderBefore(w->v->cg->cx.builder, i);
        observe(w, parent(i), add_site(w, i, CPU_SITE_WHOLE, 0, "simdgroup_multiply"),
                msl_const(&w->v->cg->cx, 64, 0));
    }
}

static void watch_instruction(Watch *w, Value i) {
    const Access *a = msl_access_of(w->v, i);
    if (a) {
        watch_access(w, i, a);
    } else if (LLVMIsACallInst(i)) {
        watch_call(w, i);
    } else if (LLVMIsAFenceInst(i)) {
        LLVMPositionBuilderBefore(w->v->cg->cx.builder, i);
        observe(w, parent(i), add_site(w, i, CPU_SITE_FENCE, 0, "atomic_thread_fence"),
                msl_const(&w->v->cg->cx, 64, 0));
    }
}

// ---- the pass ----

static void watch_function(Watch *w, Value f) {
    Value *all = NULL; // watching adds instructions
    size_t n = 0, max = 0;
    for (Block b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            all = msl_validate_grow(w->v, all, n, &max);
            all[n++] = i;
        }
    for (size_t k = 0; k < n; k++) {
        bool ends = ends_series(all[k]) || LLVMIsATerminatorInst(all[k]);
        watch_instruction(w, all[k]);
        if (ends) w->n_series = 0;
    }
}

static void write_table(const Watch *w) {
    MslContext *cx = &w->v->cg->cx;
    w->sites[0].id = (uint32_t)w->n;
    Value bytes =
        LLVMConstStringInContext2(cx->llvm, (const char *)w->sites, w->n * sizeof *w->sites, 1);
    Value g = LLVMAddGlobal(cx->module, LLVMTypeOf(bytes), CPU_SITES_SYMBOL);
    LLVMSetInitializer(g, bytes);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetAlignment(g, 8);
}

void msl_watch_accesses(Validation *v) {
    Cg *cg = v->cg;
    if (!watches_accesses(cg)) return;
    Watch w = {.v = v};
    add_site(&w, NULL, CPU_SITE_HEAD, 0, "");
    w.writes_texture = writes_textures(&w);
    watch_function(&w, cg->thread);
    for (Value f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        if (!LLVMIsDeclaration(f) && msl_starts(LLVMGetValueName2(f, &n), "ingot_slow"))
            watch_function(&w, f);
    }
    write_table(&w);
    // Which threads share a SIMD-group is what reports are about.
    cg->uses.group = cg->uses.packing = true;
}
