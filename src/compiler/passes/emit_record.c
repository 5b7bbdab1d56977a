// SPDX-License-Identifier: Apache-2.0
// emit_record.c: accesses that a machine without masks or gathers for them does lane by lane.
//   records   half4, float4, char4 at addresses without an order: a gather for each component
//             would read each address n times. One of 8 or 16 bytes is one access for each lane,
//             one of 4 bytes an element of one gather; they come out packed (emit_packed.c).
//   shaped    anything at one address plus constants of the lanes (shape.c): lanes that lie in a
//             row, or at one place, are one access
//   narrow    bytes and halfwords under a mask, which AVX2 has no instruction for; with NEON,
//             which has no masks, elements of any size
// With a full mask that is a plain access for each lane, or one for all. Otherwise a loop over the
// lanes that are on copies through memory on the stack; split.c sees to it that this is seldom.
// Where code is to be short the loop is the only way of what would be an access for each lane.
#include "compiler/passes/passes_int.h"

// Elements there is room for in a record of n that is accessed whole; 0: it is not. Three elements
// that are aligned as four are read as four: they cannot lie at the end of a page.
int msl_record_size(const Vec *x, int n, int element, unsigned align, bool store) {
    int whole = n == 3 && align >= 4 * (unsigned)element ? 4 : n, bytes = whole * element;
    bool narrow =
        bytes == 4 && (!store || whole != n) && (x->cx->avx512 || x->cx->avx2 || x->cx->aarch64);
    bool wide = bytes == 8 || bytes == 16;
    return whole > 1 && whole <= MAX_RECORD && (whole & (whole - 1)) == 0 && (narrow || wide)
               ? whole
               : 0;
}

bool msl_is_narrow(const Vec *x, Type element) {
    if (x->cx->aarch64) return !x->cx->sve_bits;
    return x->cx->avx2 && !x->cx->avx512 && LLVMABISizeOfType(x->dl, element) < 4;
}

// ---- the two ways ----

typedef struct Ways {
    Block full, some, join; // join: behind both
    Value buffer;           // of the way of some lanes: a record for each lane
    Type lane, all;         // a record, all of them
    unsigned bytes, align;  // from one record to the next in the buffer
} Ways;

// room: elements from one record to the next where there are all of them.
static Ways by_loop(Vec *x, Type element, unsigned n, unsigned room, unsigned align) {
    Ways w = {.lane = n > 1 ? LLVMVectorType(element, n) : element,
              .all = LLVMVectorType(element, room * x->width),
              .bytes = (unsigned)LLVMABISizeOfType(x->dl, element) * room,
              .align = align};
    w.buffer = msl_entry_alloca(x, w.all, 64);
    return w;
}

static Ways begin(Vec *x, Type element, unsigned n, unsigned room, unsigned align) {
    Ways w = by_loop(x, element, n, room, align);
    w.full = msl_new_block(x, "full"), w.some = msl_new_block(x, "some");
    w.join = msl_new_block(x, "both");
    Value full = msl_is_full(x, &x->mask, 1);
    if (LLVMIsAInstruction(full)) msl_map_put(x->cx, &x->arena, &x->full_tests, full, 1);
    LLVMBuildCondBr(x->b, full, w.full, w.some);
    return w;
}

// Where the lanes' records are: addresses, or that of lane 0 and a class that says how the others
// follow.
typedef struct Places {
    Value p;
    Class c;
} Places;

static Places places(Vec *x, Value p) {
    Places s = {.c = msl_class(x, p)};
    s.p = s.c.kind == VARYING || s.c.segmented ? msl_vector(x, p, 0)
          : s.c.kind == SHAPED                 ? msl_scalar(x, p)
                                               : msl_part_base(x, p);
    return s;
}

static Places in_a_row(Value p, unsigned bytes) {
    return (Places){.p = p, .c = msl_linear(bytes, true, true)};
}

static Value behind(Vec *x, Value p, Value bytes) {
    return LLVMBuildGEP2(x->b, x->i8, p, &bytes, 1, "");
}

static Value times(Vec *x, Value lane, int64_t stride) {
    return LLVMBuildMul(x->b, LLVMBuildZExt(x->b, lane, x->i64, ""), const_int(x->i64, stride), "");
}

static Value place_of(Vec *x, const Places *s, unsigned lane) {
    if (is_vector(LLVMTypeOf(s->p)))
        return LLVMBuildExtractElement(x->b, s->p, const_int(x->i32, lane), "");
    int64_t o =
        s->c.kind == SHAPED ? s->c.shape[x->part * x->width + lane] : (int64_t)lane * s->c.stride;
    return behind(x, s->p, const_int(x->i64, o));
}

// The same for a lane that is not a constant, of places that are no vector.
static Value place_at(Vec *x, const Places *s, Value lane) {
    if (s->c.kind != SHAPED) return behind(x, s->p, times(x, lane, s->c.stride));
    Value of_step = LLVMBuildAdd(x->b, LLVMBuildZExt(x->b, lane, x->i64, ""),
                                 const_int(x->i64, x->part * x->width), "");
    return behind(x, s->p, msl_shape_at(x, s->c, of_step));
}

// For each lane that is on: from memory to the buffer, or back.
static void copy_lanes(Vec *x, const Ways *w, const Places *s, bool load) {
    Value listed = is_vector(LLVMTypeOf(s->p)) ? msl_to_read_by_lane(x, s->p, 0) : NULL;
    Lanes l = msl_begin_lanes(x);
    Value lane = msl_lane_number(x, &l), place = behind(x, w->buffer, times(x, lane, w->bytes));
    Value at = listed ? msl_of_lane(x, listed, x->ptr, lane) : place_at(x, s, lane);
    Value v = LLVMBuildLoad2(x->b, w->lane, load ? at : place, "");
    LLVMSetAlignment(v, load ? w->align : 1);
    LLVMSetAlignment(LLVMBuildStore(x->b, v, load ? place : at), load ? 1 : w->align);
    msl_end_lanes(x, &l);
}

static Value load_by_loop(Vec *x, const Ways *w, const Places *s) {
    copy_lanes(x, w, s, true);
    Value v = LLVMBuildLoad2(x->b, w->all, w->buffer, "");
    LLVMSetAlignment(v, 64);
    return v;
}

static void store_by_loop(Vec *x, const Ways *w, Value v, const Places *s) {
    LLVMSetAlignment(LLVMBuildStore(x->b, v, w->buffer), 64);
    copy_lanes(x, w, s, false);
}

// The way of some lanes, and the end of both. `full`: what the other way loaded, in its last block.
static Value end_load(Vec *x, const Ways *w, Value full, const Places *s) {
    Block last = LLVMGetInsertBlock(x->b);
    LLVMBuildBr(x->b, w->join);
    LLVMPositionBuilderAtEnd(x->b, w->some);
    Value some = load_by_loop(x, w, s);
    Block other = LLVMGetInsertBlock(x->b);
    LLVMBuildBr(x->b, w->join);
    LLVMPositionBuilderAtEnd(x->b, w->join);
    Value v = LLVMBuildPhi(x->b, w->all, "");
    LLVMAddIncoming(v, (Value[]){full, some}, (Block[]){last, other}, 2);
    return v;
}

static void end_store(Vec *x, const Ways *w, Value v, const Places *s) {
    LLVMBuildBr(x->b, w->join);
    LLVMPositionBuilderAtEnd(x->b, w->some);
    store_by_loop(x, w, v, s);
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

// The places of all lanes in the order of memory, each once: they are accessed `run` at a time.
typedef struct Order {
    unsigned n, run;           // places, a power of two; those that lie one behind the other
    unsigned lane[MAX_WIDTH];  // of each place: the first of its lanes
    unsigned place[MAX_WIDTH]; // of each lane
} Order;

static void in_order(const Vec *x, const int64_t *at, unsigned *lane) {
    for (unsigned l = 0; l < x->width; l++) {
        unsigned k = l;
        for (; k && at[lane[k - 1]] > at[l]; k--) lane[k] = lane[k - 1];
        lane[k] = l;
    }
}

// `apart`: bytes of each place, which must not overlap another. False: no better than lane by lane.
static bool find_order(const Vec *x, const Places *s, int64_t apart, Order *o) {
    if (s->c.kind != SHAPED) return false;
    const int64_t *at = s->c.shape + x->part * x->width;
    unsigned lane[MAX_WIDTH];
    in_order(x, at, lane);
    o->n = 0;
    for (unsigned k = 0; k < x->width; k++) {
        int64_t step = k ? at[lane[k]] - at[lane[k - 1]] : apart;
        if (step && step < apart) return false;
        if (step) o->lane[o->n++] = lane[k];
        o->place[lane[k]] = o->n - 1;
    }
    if (o->n & (o->n - 1)) return false;
    o->run = o->n;
    for (unsigned k = 1; k < o->n; k++)
        while (k % o->run && at[o->lane[k]] - at[o->lane[k - 1]] != apart) o->run /= 2;
    return o->n < x->width || o->run > 1;
}

static Order lane_by_lane(const Vec *x) {
    Order o = {.n = x->width, .run = 1};
    for (unsigned l = 0; l < x->width; l++) o.lane[l] = o.place[l] = l;
    return o;
}

static Value load_order(Vec *x, const Ways *w, const Places *s, unsigned n, const Order *o) {
    Type element = LLVMGetElementType(w->all);
    Value all[MAX_WIDTH];
    unsigned runs = o->n / o->run, each = n * o->run;
    for (unsigned r = 0; r < runs; r++) {
        Type t = each > 1 ? LLVMVectorType(element, each) : element;
        all[r] = LLVMBuildLoad2(x->b, t, place_of(x, s, o->lane[r * o->run]), "");
        LLVMSetAlignment(all[r], w->align);
    }
    if (each == 1) {
        Value v = LLVMGetPoison(LLVMVectorType(element, runs));
        for (unsigned r = 0; r < runs; r++)
            v = LLVMBuildInsertElement(x->b, v, all[r], const_int(x->i32, r), "");
        all[0] = v;
    } else {
        msl_concat(x, all, runs);
    }
    int ix[MAX_WIDE];
    bool as_is = o->n == x->width;
    for (unsigned i = 0; i < x->width * n; i++) {
        ix[i] = (int)(o->place[i / n] * n + i % n);
        as_is &= ix[i] == (int)i;
    }
    return as_is ? all[0]
                 : msl_shuffle(x, all[0], LLVMGetPoison(LLVMTypeOf(all[0])), ix, x->width * n);
}

Value msl_load_records(Vec *x, Value p, Type element, unsigned n, unsigned align) {
    unsigned bytes = n * (unsigned)LLVMABISizeOfType(x->dl, element);
    Places s = places(x, p);
    Order o;
    if (!find_order(x, &s, bytes, &o)) {
        if (bytes == 4 && (s.c.kind != SHAPED || x->cx->avx512))
            return gather_words(x, p, element, n, align);
        if (x->asked.terse) {
            Ways w = by_loop(x, element, n, n, align);
            return load_by_loop(x, &w, &s);
        }
        o = lane_by_lane(x);
    }
    Ways w = begin(x, element, n, n, align);
    LLVMPositionBuilderAtEnd(x->b, w.full);
    return end_load(x, &w, load_order(x, &w, &s, n, &o), &s);
}

// Where records of all lanes, `behind_p` bytes from p, lie one behind the other: there, or in a
// copy of those of the lanes that are on.
Value msl_records_in_line(Vec *x, Value p, int64_t behind_p, Type element, unsigned n,
                          unsigned align) {
    Places s = places(x, p);
    s.p = behind(x, s.p, const_int(x->i64, behind_p));
    Ways w = begin(x, element, n, n, align);
    LLVMPositionBuilderAtEnd(x->b, w.full);
    LLVMBuildBr(x->b, w.join);
    LLVMPositionBuilderAtEnd(x->b, w.some);
    copy_lanes(x, &w, &s, true);
    Block last = LLVMGetInsertBlock(x->b);
    LLVMBuildBr(x->b, w.join);
    LLVMPositionBuilderAtEnd(x->b, w.join);
    Value line = LLVMBuildPhi(x->b, x->ptr, "");
    LLVMAddIncoming(line, (Value[]){s.p, w.buffer}, (Block[]){w.full, last}, 2);
    return line;
}

// The first n elements of a record. Three words: one store, where there are masks.
static void store_record(Vec *x, Value record, unsigned n, Value p, unsigned align) {
    unsigned room = LLVMGetVectorSize(LLVMTypeOf(record));
    Type element = LLVMGetElementType(LLVMTypeOf(record)),
         overload[] = {LLVMTypeOf(record), x->ptr};
    if (n == room || !x->cx->avx2 || LLVMABISizeOfType(x->dl, element) != 4) {
        LLVMSetAlignment(LLVMBuildStore(x->b, msl_part(x, record, 0, n), p), align);
        return;
    }
    Value on[MAX_RECORD];
    for (unsigned k = 0; k < room; k++) on[k] = const_int(x->i1, k < n);
    Value a[] = {record, p, LLVMConstVector(on, room)};
    msl_set_align(x, msl_intrinsic(x, "llvm.masked.store", overload, 2, a, 3), 2, align);
}

// n elements of each record. Where lanes share a place the last one's value stays: lane by lane.
void msl_store_records(Vec *x, Value packed, Value p, unsigned n, unsigned align) {
    Places s = places(x, p);
    Type element = LLVMGetElementType(LLVMTypeOf(packed));
    unsigned room = LLVMGetVectorSize(LLVMTypeOf(packed)) / x->width;
    Order o;
    if (!find_order(x, &s, (int64_t)room * (int64_t)LLVMABISizeOfType(x->dl, element), &o) ||
        o.n < x->width) {
        if (x->asked.terse) {
            Ways w = by_loop(x, element, n, room, align);
            store_by_loop(x, &w, packed, &s);
            return;
        }
        o = lane_by_lane(x);
    }
    if (n < room) o.run = 1;
    Ways w = begin(x, element, n, room, align);
    LLVMPositionBuilderAtEnd(x->b, w.full);
    int ix[MAX_WIDE];
    for (unsigned i = 0; i < x->width * room; i++)
        ix[i] = (int)(o.lane[i / room] * room + i % room);
    Value sorted = o.run > 1 ? msl_shuffle(x, packed, packed, ix, x->width * room) : packed;
    for (unsigned k = 0, each = o.run * n; k < o.n; k += o.run) {
        unsigned from = o.run > 1 ? k : o.lane[k];
        Value to = place_of(x, &s, o.lane[k]);
        if (each > 1)
            store_record(x, msl_part(x, sorted, from * room, o.run * room), each, to, align);
        else
            LLVMSetAlignment(
                LLVMBuildStore(
                    x->b, LLVMBuildExtractElement(x->b, packed, const_int(x->i32, from), ""), to),
                align);
    }
    end_store(x, &w, packed, &s);
}

// ---- narrow elements that lie one behind the other, n of each lane ----

Value msl_load_narrow(Vec *x, Value p, Type element, unsigned n, unsigned align) {
    Ways w = begin(x, element, n, n, align);
    LLVMPositionBuilderAtEnd(x->b, w.full);
    Value full = LLVMBuildLoad2(x->b, w.all, p, "");
    LLVMSetAlignment(full, align);
    Places s = in_a_row(p, w.bytes);
    return end_load(x, &w, full, &s);
}

void msl_store_narrow(Vec *x, Value v, Value p, unsigned n, unsigned align) {
    Ways w = begin(x, LLVMGetElementType(LLVMTypeOf(v)), n, n, align);
    LLVMPositionBuilderAtEnd(x->b, w.full);
    LLVMSetAlignment(LLVMBuildStore(x->b, v, p), align);
    Places s = in_a_row(p, w.bytes);
    end_store(x, &w, v, &s);
}
