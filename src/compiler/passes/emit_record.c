// SPDX-License-Identifier: Apache-2.0
// emit_record.c: accesses that a machine without masks or gathers for them does lane by lane.
//   records   half4, float4, char4 at addresses without an order: a gather for each component
//             would read each address n times. One of 8 or 16 bytes is one access for each lane,
//             one of 4 bytes an element of one gather; they come out packed (emit_packed.c).
//   narrow    bytes and halfwords under a mask, which AVX2 has no instruction for
// With a full mask that is a plain access for each lane, or one for all. Otherwise a loop over the
// lanes that are on copies through memory on the stack; split.c sees to it that this is seldom.
#include "compiler/passes/passes_int.h"

// Elements of a record of n that is accessed whole; 0: it is not. Three elements that are aligned
// as four are read as four: they cannot lie at the end of a page.
int msl_record_size(const Vec *x, int n, int element, unsigned align, bool store) {
    int whole = n == 3 && !store && align >= 16 && element == 4 ? 4 : n, bytes = whole * element;
    bool narrow = bytes == 4 && !store && (x->cx->avx512 || x->cx->avx2);
    bool wide = bytes == 8 || bytes == 16;
    return whole > 1 && whole <= MAX_RECORD && (whole & (whole - 1)) == 0 && (narrow || wide)
               ? whole
               : 0;
}

bool msl_is_narrow(const Vec *x, Type element) {
    return x->cx->avx2 && !x->cx->avx512 && LLVMABISizeOfType(x->dl, element) < 4;
}

// ---- the two ways ----

typedef struct Ways {
    Block full, some, join; // join: behind both
    Value buffer;           // of the way of some lanes: a record for each lane
    Type lane, all;         // a record, all of them
    unsigned bytes, align;
} Ways;

static Ways begin(Vec *x, Type element, unsigned n, unsigned align) {
    Ways w = {.full = msl_new_block(x, "full"),
              .some = msl_new_block(x, "some"),
              .join = msl_new_block(x, "both"),
              .lane = n > 1 ? LLVMVectorType(element, n) : element,
              .all = LLVMVectorType(element, n * x->width),
              .bytes = (unsigned)LLVMABISizeOfType(x->dl, element) * n,
              .align = align};
    w.buffer = msl_entry_alloca(x, w.all, 64);
    Value full = msl_is_full(x, &x->mask, 1);
    if (LLVMIsAInstruction(full)) msl_map_put(x->cx, &x->arena, &x->full_tests, full, 1);
    LLVMBuildCondBr(x->b, full, w.full, w.some);
    return w;
}

static Value ahead(Vec *x, Value p, Value lane, int64_t stride) {
    Value o =
        LLVMBuildMul(x->b, LLVMBuildZExt(x->b, lane, x->i64, ""), const_int(x->i64, stride), "");
    return LLVMBuildGEP2(x->b, x->i8, p, &o, 1, "");
}

// For each lane that is on: from memory to the buffer, or back. `p`: addresses, or that of lane 0,
// the others `stride` behind each other.
static void copy_lanes(Vec *x, const Ways *w, Value p, int64_t stride, bool load) {
    Lanes l = msl_begin_lanes(x);
    Value lane = msl_lane_number(x, &l), place = ahead(x, w->buffer, lane, w->bytes);
    Value at = is_vector(LLVMTypeOf(p)) ? LLVMBuildExtractElement(x->b, p, lane, "")
                                        : ahead(x, p, lane, stride);
    Value v = LLVMBuildLoad2(x->b, w->lane, load ? at : place, "");
    LLVMSetAlignment(v, load ? w->align : 1);
    LLVMSetAlignment(LLVMBuildStore(x->b, v, load ? place : at), load ? 1 : w->align);
    msl_end_lanes(x, &l);
}

// The way of some lanes, and the end of both. `full`: what the other way loaded, in its last block.
static Value end_load(Vec *x, const Ways *w, Value full, Value p, int64_t stride) {
    Block last = LLVMGetInsertBlock(x->b);
    LLVMBuildBr(x->b, w->join);
    LLVMPositionBuilderAtEnd(x->b, w->some);
    copy_lanes(x, w, p, stride, true);
    Value some = LLVMBuildLoad2(x->b, w->all, w->buffer, "");
    LLVMSetAlignment(some, 64);
    Block other = LLVMGetInsertBlock(x->b);
    LLVMBuildBr(x->b, w->join);
    LLVMPositionBuilderAtEnd(x->b, w->join);
    Value v = LLVMBuildPhi(x->b, w->all, "");
    LLVMAddIncoming(v, (Value[]){full, some}, (Block[]){last, other}, 2);
    return v;
}

static void end_store(Vec *x, const Ways *w, Value v, Value p, int64_t stride) {
    LLVMBuildBr(x->b, w->join);
    LLVMPositionBuilderAtEnd(x->b, w->some);
    LLVMSetAlignment(LLVMBuildStore(x->b, v, w->buffer), 64);
    copy_lanes(x, w, p, stride, false);
    LLVMBuildBr(x->b, w->join);
    LLVMPositionBuilderAtEnd(x->b, w->join);
}

// ---- records ----

static Value gather_words(Vec *x, Value p, Type element, unsigned n, unsigned align) {
    Value ptrs = msl_vector(x, p, 0);
    Type words = msl_vector_type(x, x->i32), overload[] = {words, LLVMTypeOf(ptrs)};
    Value a[] = {ptrs, x->mask, LLVMGetPoison(words)};
    Value w = msl_intrinsic(x, "llvm.masked.gather", overload, 2, a, 3);
    msl_set_align(x, w, 1, align);
    return LLVMBuildBitCast(x->b, w, LLVMVectorType(element, n * x->width), "");
}

// Addresses that have one distance: that of lane 0; else all of them.
static Value places(Vec *x, Value p, int64_t *stride) {
    Class c = msl_class(x, p);
    *stride = c.stride;
    return c.kind == LINEAR && !c.segmented ? msl_part_base(x, p) : msl_vector(x, p, 0);
}

static Value place_of(Vec *x, Value places, int64_t stride, unsigned lane) {
    if (is_vector(LLVMTypeOf(places)))
        return LLVMBuildExtractElement(x->b, places, const_int(x->i32, lane), "");
    Value o = const_int(x->i64, (int64_t)lane * stride);
    return LLVMBuildGEP2(x->b, x->i8, places, &o, 1, "");
}

Value msl_load_records(Vec *x, Value p, Type element, unsigned n, unsigned align) {
    if (n * LLVMABISizeOfType(x->dl, element) == 4) return gather_words(x, p, element, n, align);
    int64_t stride;
    Value at = places(x, p, &stride), all[MAX_WIDTH];
    Ways w = begin(x, element, n, align);
    LLVMPositionBuilderAtEnd(x->b, w.full);
    for (unsigned l = 0; l < x->width; l++) {
        all[l] = LLVMBuildLoad2(x->b, w.lane, place_of(x, at, stride, l), "");
        LLVMSetAlignment(all[l], align);
    }
    return end_load(x, &w, msl_concat(x, all, x->width), at, stride);
}

void msl_store_records(Vec *x, Value packed, Value p, unsigned n, unsigned align) {
    int64_t stride;
    Value at = places(x, p, &stride);
    Ways w = begin(x, LLVMGetElementType(LLVMTypeOf(packed)), n, align);
    LLVMPositionBuilderAtEnd(x->b, w.full);
    for (unsigned l = 0; l < x->width; l++) // in the order of the lanes
        LLVMSetAlignment(
            LLVMBuildStore(x->b, msl_part(x, packed, l * n, n), place_of(x, at, stride, l)), align);
    end_store(x, &w, packed, at, stride);
}

// ---- narrow elements that lie one behind the other, n of each lane ----

Value msl_load_narrow(Vec *x, Value p, Type element, unsigned n, unsigned align) {
    Ways w = begin(x, element, n, align);
    LLVMPositionBuilderAtEnd(x->b, w.full);
    Value full = LLVMBuildLoad2(x->b, w.all, p, "");
    LLVMSetAlignment(full, align);
    return end_load(x, &w, full, p, w.bytes);
}

void msl_store_narrow(Vec *x, Value v, Value p, unsigned n, unsigned align) {
    Ways w = begin(x, LLVMGetElementType(LLVMTypeOf(v)), n, align);
    LLVMPositionBuilderAtEnd(x->b, w.full);
    LLVMSetAlignment(LLVMBuildStore(x->b, v, p), align);
    end_store(x, &w, v, p, w.bytes);
}
