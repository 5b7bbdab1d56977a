// SPDX-License-Identifier: Apache-2.0
// emit_memory.c: loads, stores and address computations. The class of the pointer chooses:
//   uniform                   one scalar access; a store of varying values keeps the last lane's
//   uniform in each segment   one scalar load for each segment
//   stride = element size     one vector access for each run of lanes (a run: all lanes, or a
//   segment) stride = 2..4 elements    records: one wide access for each run and shuffles anything
//   else             gather and scatter
#include "compiler/passes/passes_int.h"
#include "abi/cpu_kernel.h"

Value msl_set_align(Vec *x, Value call, unsigned parameter, unsigned align) {
    unsigned kind =
        LLVMGetEnumAttributeKindForName("align", 5); // LLVM 22: no operand for it any more
    LLVMAddCallSiteAttribute(call, parameter, LLVMCreateEnumAttribute(x->llvm, kind, align));
    return call;
}

static Value at_offset(Vec *x, Value p, int64_t offset) {
    if (!offset) return p;
    Value o = const_int(x->i64, offset);
    return LLVMBuildGEP2(x->b, x->i8, p, &o, 1, "");
}

// Lanes to add to an access so that it fills registers of 16 bytes. LLVM 22.1 widens a masked
// store of <8 x i8> itself, but leaves the mask of the added lanes undefined: it wrote eight bytes
// too many. Made wide here, with a mask that says no.
static unsigned lanes_to_fill(Vec *x, Type t) {
    unsigned n = LLVMGetVectorSize(t), wide = n;
    if (n % 16) // records of three in short segments
        for (wide = 1; wide < n;) wide *= 2;
    while (wide * LLVMABISizeOfType(x->dl, LLVMGetElementType(t)) < 16) wide *= 2;
    return wide - n;
}

static Value widened(Vec *x, Value v, Value rest, unsigned more) {
    int ix[MAX_WIDE];
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(v));
    for (unsigned i = 0; i < n + more; i++) ix[i] = i < n ? (int)i : (int)n;
    return msl_shuffle(x, v, rest, ix, n + more);
}

// What masked accesses are made of: a bfloat is moved as a number, or LLVM brings each to float and
// back where there are no instructions for them.
static Type moved_as(Vec *x, Type t) {
    bool bfloats = LLVMGetTypeKind(LLVMGetElementType(t)) == LLVMBFloatTypeKind;
    return bfloats ? LLVMVectorType(LLVMInt16TypeInContext(x->llvm), LLVMGetVectorSize(t)) : t;
}

static Value masked_load(Vec *x, Type t, Value p, Value mask, unsigned align) {
    Type moved = moved_as(x, t);
    if (moved != t) return LLVMBuildBitCast(x->b, masked_load(x, moved, p, mask, align), t, "");
    unsigned more = lanes_to_fill(x, t);
    if (more) {
        unsigned n = LLVMGetVectorSize(t);
        mask = widened(x, mask, LLVMConstNull(LLVMTypeOf(mask)), more);
        return msl_part(
            x, masked_load(x, LLVMVectorType(LLVMGetElementType(t), n + more), p, mask, align), 0,
            n);
    }
    Type overload[] = {t, LLVMTypeOf(p)};
    Value a[] = {p, mask, LLVMGetPoison(t)};
    return msl_set_align(x, msl_intrinsic(x, "llvm.masked.load", overload, 2, a, 3), 1, align);
}

static void masked_store(Vec *x, Value v, Value p, Value mask, unsigned align) {
    Type moved = moved_as(x, LLVMTypeOf(v));
    if (moved != LLVMTypeOf(v)) v = LLVMBuildBitCast(x->b, v, moved, "");
    unsigned more = lanes_to_fill(x, LLVMTypeOf(v));
    if (more) {
        v = widened(x, v, LLVMGetPoison(LLVMTypeOf(v)), more);
        mask = widened(x, mask, LLVMConstNull(LLVMTypeOf(mask)), more);
    }
    Type overload[] = {LLVMTypeOf(v), LLVMTypeOf(p)};
    Value a[] = {v, p, mask};
    msl_set_align(x, msl_intrinsic(x, "llvm.masked.store", overload, 2, a, 3), 2, align);
}

// One access of the program.
typedef struct Access {
    Value p; // pointer operand
    Type element;
    int n;                       // elements
    int room;                    // those there is room for: of a vector of three, four
    int bytes;                   // of an element
    unsigned align, whole_align; // of an element, of all together
    Val *to;                     // load: gets v[0..n-1]
    Value from;                  // store: the value
    bool soa;
    bool row;     // of a stage, for all lanes (cx->rows)
    bool own;     // by no other thread of the machine seen: a row, or near (cx->local)
    int64_t step; // bytes from one element to the next
    Value array;  // private: stay inside (private.c); NULL: anywhere
} Access;

// A row is there for all lanes. Threadgroup memory is there where a lane is active, and as far
// around it as other lanes may reach: that much lies before and behind it (abi/cpu_kernel.h).
static Value own_place(Vec *x, Value p, Value mask) {
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(mask));
    if (x->cx->rows || ((x->parts == 1 || x->part_on) && n == x->width)) return p;
    Type bits = LLVMIntTypeInContext(x->llvm, n);
    Value any = LLVMBuildICmp(x->b, LLVMIntNE, LLVMBuildBitCast(x->b, mask, bits, ""),
                              LLVMConstNull(bits), "");
    return LLVMBuildSelect(x->b, any, p, msl_scalar_of(x, LLVMGetLastParam(x->thread), 0), "");
}

// Of memory that is the step's own. Without AVX-512 a masked store is slow (sixteen of a fragment
// function's on Zen 4: a third of the time of a picture), or a branch for each lane.
static void store_own(Vec *x, Value v, Value p, Value mask, unsigned align) {
    if (!x->cx->avx512 && !LLVMIsConstant(mask)) {
        p = own_place(x, p, mask);
        Value old = LLVMBuildLoad2(x->b, LLVMTypeOf(v), p, "");
        LLVMSetAlignment(old, align);
        LLVMSetVolatile(old, 1); // else LLVM makes a masked store of it again
        v = LLVMBuildSelect(x->b, mask, v, old, "");
        mask = LLVMConstAllOnes(LLVMTypeOf(mask));
    }
    masked_store(x, v, p, mask, align);
}

// The mask of n out of every k consecutive elements.
static Value wide_mask(Vec *x, Value mask, int n, int k) {
    int ix[MAX_WIDE], lanes = (int)LLVMGetVectorSize(LLVMTypeOf(mask));
    for (int i = 0; i < lanes * k; i++) ix[i] = i % k < n ? i / k : lanes;
    return msl_shuffle(x, mask, LLVMConstNull(LLVMTypeOf(mask)), ix, (unsigned)(lanes * k));
}

static Value reversed(Vec *x, Value v) {
    int ix[MAX_WIDTH], n = (int)LLVMGetVectorSize(LLVMTypeOf(v));
    for (int i = 0; i < n; i++) ix[i] = n - 1 - i;
    return msl_shuffle(x, v, LLVMGetPoison(LLVMTypeOf(v)), ix, (unsigned)n);
}

// Address of the first lane of run r of this part: the whole part, or one of its segments.
static Value run_base(Vec *x, Value p, unsigned runs, unsigned r) {
    return runs == 1 ? msl_part_base(x, p) : msl_scalar_of(x, p, x->part * runs + r);
}

// Whether the access through a private array, so many bytes behind its pointer, is inside: i1, or
// one for each lane.
static Value is_inside(Vec *x, const Access *a, int64_t behind, int bytes, bool vector,
                       unsigned segment) {
    int64_t size = (int64_t)LLVMABISizeOfType(x->dl, LLVMGetAllocatedType(a->array));
    if (size < bytes) return LLVMConstNull(vector ? x->mask_type : x->i1);
    Value offset = msl_offset_of(x, a->p, vector, segment), by = const_int(x->i64, behind),
          last = const_int(x->i64, size - bytes);
    offset = LLVMBuildAdd(x->b, offset, vector ? msl_splat(x, by) : by, "");
    return LLVMBuildICmp(x->b, LLVMIntULE, offset, vector ? msl_splat(x, last) : last, "");
}

// A run whose lanes are all inside their private arrays or all outside: then a load reads what
// comes first in them, and a store writes to the cell behind all of them, or does nothing.
static void stay_inside(Vec *x, const Access *a, Value *p, Value *mask, Value in, Value first) {
    if (a->to)
        *p = LLVMBuildSelect(x->b, in, *p, first, "");
    else if (a->soa)
        *p = LLVMBuildSelect(x->b, in, *p, at_offset(x, first, msl_soa_end(x, a->array)), "");
    else
        *mask = LLVMBuildSelect(x->b, in, *mask, LLVMConstNull(LLVMTypeOf(*mask)), "");
}

static void access_consecutive(Vec *x, const Access *a, unsigned runs, bool backwards) {
    unsigned lanes = x->width / runs;
    Type t = LLVMVectorType(a->element, lanes);
    for (int k = 0; k < a->n; k++) {
        Value part[MAX_SEGMENTS], whole = a->from ? msl_vector(x, a->from, k) : NULL;
        for (unsigned r = 0; r < runs; r++) {
            int64_t offset = k * a->step - (backwards ? (int64_t)(lanes - 1) * a->bytes : 0);
            Value p = at_offset(x, run_base(x, a->p, runs, r), offset);
            Value m = msl_part(x, x->mask, r * lanes, lanes);
            // Nobody looks at lanes that the function did not begin with. A store of all is faster,
            // and the loads that follow it need not wait until it is done.
            if (a->from && a->row && x->started) m = LLVMConstAllOnes(LLVMTypeOf(m));
            // private memory is there for inactive lanes too, at an index some lane uses
            if (a->soa && a->to && !msl_class(x, a->p).segmented)
                m = LLVMConstAllOnes(LLVMTypeOf(m));
            if (a->array)
                stay_inside(x, a, &p, &m,
                            is_inside(x, a, k * a->bytes, a->bytes, false, x->part * runs + r),
                            run_base(x, a->array, runs, r));
            bool narrow = runs == 1 && !backwards && !a->array && msl_is_narrow(x, a->element) &&
                          !LLVMIsConstant(m);
            if (narrow && a->to) {
                part[r] = msl_load_narrow(x, p, a->element, 1, a->align);
                continue;
            }
            if (narrow && !a->own) {
                msl_store_narrow(x, whole, p, 1, a->align);
                continue;
            }
            if (a->to && a->own && !x->cx->avx512 && !x->cx->rows && !LLVMIsConstant(m)) {
                p = own_place(x, p, m);
                m = LLVMConstAllOnes(LLVMTypeOf(m));
            }
            if (backwards) m = reversed(x, m);
            if (a->to) {
                part[r] = masked_load(x, t, p, m, a->align);
                if (backwards) part[r] = reversed(x, part[r]);
            } else {
                Value v = msl_part(x, whole, r * lanes, lanes);
                (a->own ? store_own : masked_store)(x, backwards ? reversed(x, v) : v, p, m,
                                                    a->align);
            }
        }
        if (a->to) a->to->v[k] = msl_concat(x, part, runs);
    }
}

// An element that is smaller than its cell: all cells are loaded, and stored with it in them. They
// are the thread's own.
static void access_cells(Vec *x, const Access *a, unsigned runs) {
    unsigned lanes = x->width / runs, cell = (unsigned)msl_soa_cell(x, a->p);
    int64_t rest = msl_soa_rest(x, a->p);
    Type word = LLVMIntTypeInContext(x->llvm, 8 * cell), words = LLVMVectorType(word, lanes);
    Type narrow = LLVMVectorType(LLVMIntTypeInContext(x->llvm, 8 * (unsigned)a->bytes), lanes);
    Value part[MAX_SEGMENTS], whole = a->from ? msl_vector(x, a->from, 0) : NULL;
    Value shift[MAX_WIDTH], keep[MAX_WIDTH];
    for (unsigned l = 0; l < lanes; l++) {
        shift[l] = const_int(word, 8 * rest);
        keep[l] = const_int(word, (int64_t)~(((1ull << 8 * a->bytes) - 1) << 8 * rest));
    }
    for (unsigned r = 0; r < runs; r++) {
        Value p = at_offset(x, run_base(x, a->p, runs, r), -rest);
        Value m = msl_part(x, x->mask, r * lanes, lanes), load = m;
        if (!msl_class(x, a->p).segmented) load = LLVMConstAllOnes(LLVMTypeOf(m));
        if (a->array)
            stay_inside(x, a, &p, &m, is_inside(x, a, 0, a->bytes, false, x->part * runs + r),
                        run_base(x, a->array, runs, r));
        Value v = masked_load(x, words, p, load, cell), by = LLVMConstVector(shift, lanes);
        if (a->to) {
            v = LLVMBuildTrunc(x->b, LLVMBuildLShr(x->b, v, by, ""), narrow, "");
            part[r] = LLVMBuildBitCast(x->b, v, LLVMVectorType(a->element, lanes), "");
            continue;
        }
        Value own = LLVMBuildBitCast(x->b, msl_part(x, whole, r * lanes, lanes), narrow, "");
        own = LLVMBuildZExt(x->b, LLVMBuildFreeze(x->b, own, ""), words, "");
        v = LLVMBuildAnd(x->b, v, LLVMConstVector(keep, lanes), "");
        v = LLVMBuildOr(x->b, v, LLVMBuildShl(x->b, own, by, ""), "");
        masked_store(x, v, p, m, cell);
    }
    if (a->to) a->to->v[0] = msl_concat(x, part, runs);
}

// Interleaves up to four vectors of `lanes`: pairs first, then both.
Value msl_interleave(Vec *x, Value *v, int n, int g, int lanes) {
    if (g == 1) return v[0];
    int ix[MAX_WIDE];
    for (int k = n; k < 4; k++) v[k] = LLVMGetPoison(LLVMTypeOf(v[0]));
    for (int i = 0; i < 2 * lanes; i++) ix[i] = i;
    Value low = msl_shuffle(x, v[0], v[1], ix, (unsigned)(2 * lanes));
    Value high = g > 2 ? msl_shuffle(x, v[2], v[3], ix, (unsigned)(2 * lanes))
                       : LLVMGetPoison(LLVMTypeOf(low));
    for (int i = 0; i < lanes * g; i++) ix[i] = i % g * lanes + i / g;
    return msl_shuffle(x, low, high, ix, (unsigned)(lanes * g));
}

static void access_records(Vec *x, const Access *a, unsigned runs, int g) {
    int lanes = (int)(x->width / runs);
    Type wide = LLVMVectorType(a->element, (unsigned)(lanes * g));
    int reach = a->from ? a->n : a->room; // a load may read what is not its own
    Value part[MAX_RECORD][MAX_SEGMENTS], whole[MAX_RECORD], packed[MAX_SEGMENTS];
    Value from = a->from && g == a->room ? msl_records_of(x, a->from, g) : NULL;
    for (int k = 0; a->from && k < a->n; k++) whole[k] = msl_vector(x, a->from, k);
    for (unsigned r = 0; r < runs; r++) {
        Value p = run_base(x, a->p, runs, r);
        Value m =
            wide_mask(x, msl_part(x, x->mask, r * (unsigned)lanes, (unsigned)lanes), reach, g);
        if (a->array)
            stay_inside(x, a, &p, &m,
                        is_inside(x, a, 0, a->n * a->bytes, false, x->part * runs + r),
                        run_base(x, a->array, runs, r));
        bool narrow = runs == 1 && g == reach && !a->array && msl_is_narrow(x, a->element) &&
                      !LLVMIsConstant(m);
        if (from && narrow) {
            msl_store_narrow(x, from, p, (unsigned)g, a->align);
            continue;
        }
        if (from) {
            unsigned n = (unsigned)(lanes * g);
            masked_store(x, msl_part(x, from, r * n, n), p, m, a->align);
            continue;
        }
        if (a->from) {
            Value v[MAX_RECORD];
            for (int k = 0; k < a->n; k++)
                v[k] = msl_part(x, whole[k], r * (unsigned)lanes, (unsigned)lanes);
            Value all = msl_interleave(x, v, a->n, g, lanes);
            if (narrow)
                msl_store_narrow(x, all, p, (unsigned)g, a->align);
            else
                masked_store(x, all, p, m, a->align);
            continue;
        }
        packed[r] = narrow ? msl_load_narrow(x, p, a->element, (unsigned)g, a->align)
                           : masked_load(x, wide, p, m, a->align);
        Value leaves[MAX_RECORD];
        msl_unpack(x, packed[r], g, leaves);
        for (int k = 0; k < a->n; k++) part[k][r] = leaves[k];
    }
    for (int k = 0; a->to && k < a->n; k++) a->to->v[k] = msl_concat(x, part[k], runs);
    if (a->to && g == a->room && g > 1) msl_set_packed(x, a->to, msl_concat(x, packed, runs));
}

// What lanes read that are masked off although they run: pixels that are not covered
// (emit_helper.c), indices outside a private array.
static Value load_missing(const Vec *x, const Access *a, Type t) {
    return x->covered || a->array ? LLVMConstNull(t) : LLVMGetPoison(t);
}

// Bytes and halfwords have no gather: the aligned word around each is gathered (it lies in the same
// page, so it cannot fault) and the element shifted out.
static Value gather_narrow(Vec *x, const Access *access, Value p, Value mask, Type t) {
    Type words = msl_vector_type(x, x->i32), ptrs = LLVMTypeOf(p),
         masks = msl_vector_type(x, x->i64);
    Type overload[] = {words, ptrs};
    // not llvm.ptrmask: instcombine (22.1) gives a vector of pointers `nonnull`, which is not valid
    Value address = LLVMBuildPtrToInt(x->b, p, masks, "");
    Value past = LLVMBuildAnd(x->b, address, msl_splat(x, const_int(x->i64, 3)), "");
    Value back = LLVMBuildNeg(x->b, past, "");
    Value word = LLVMBuildGEP2(x->b, LLVMInt8TypeInContext(x->llvm), p, &back, 1, "");
    Value a[] = {word, mask, load_missing(x, access, words)};
    Value v = msl_set_align(x, msl_intrinsic(x, "llvm.masked.gather", overload, 2, a, 3), 1, 4);
    Value low = LLVMBuildTrunc(x->b, address, words, "");
    Value shift = LLVMBuildShl(
        x->b,
        LLVMBuildAnd(x->b, low, msl_splat(x, const_int(x->i32, access->bytes == 1 ? 3 : 2)), ""),
        msl_splat(x, const_int(x->i32, 3)), "");
    Type narrow = msl_vector_type(x, LLVMIntTypeInContext(x->llvm, (unsigned)access->bytes * 8));
    v = LLVMBuildTrunc(x->b, LLVMBuildLShr(x->b, v, shift, ""), narrow, "");
    return LLVMBuildBitCast(x->b, v, t, "");
}

static bool seldom_cut(const Vec *x) {
    return !LLVMIsConstant(x->mask) || x->mask == msl_full_mask(x);
}

// The elements there is room for in a record that is accessed whole; 0: it is not.
static int whole_size(const Vec *x, const Access *a) {
    // a mask of constants that is not full: a gather of just those lanes
    bool shaped = x->asked.split && msl_class(x, a->p).kind == SHAPED && seldom_cut(x);
    if (a->soa || a->array || x->covered || is_pointer(a->element)) return 0;
    if (a->n == 1) return shaped;
    return msl_record_size(x, a->n, a->bytes, a->whole_align, a->from != NULL);
}

// Whole records, a lane or a run of lanes at a time; false: their components.
static bool access_whole(Vec *x, const Access *a) {
    int n = whole_size(x, a);
    bool one = a->n == 1;
    if (!n) return false;
    if (a->from) {
        Value w = one ? msl_vector(x, a->from, 0) : msl_records_of(x, a->from, n), v[MAX_RECORD];
        for (int k = 0; !w && k < a->n; k++) v[k] = msl_vector(x, a->from, k);
        msl_store_records(x, w ? w : msl_interleave(x, v, a->n, n, (int)x->width), a->p,
                          (unsigned)a->n, a->align);
        return true;
    }
    Value w = msl_load_records(x, a->p, a->element, (unsigned)n, a->align), leaves[MAX_RECORD];
    if (one) {
        a->to->v[0] = w;
        return true;
    }
    msl_unpack(x, w, n, leaves);
    for (int k = 0; k < a->n; k++) a->to->v[k] = leaves[k];
    if (n == a->room) msl_set_packed(x, a->to, w);
    return true;
}

// The addresses of all lanes. What is the same in all of them is added to the base: it costs no
// vector, and the vector of a[y * n + x[i]] serves other rows too.
static Value scattered_address(Vec *x, Value p) {
    bool one = LLVMIsAGetElementPtrInst(p) && LLVMGetNumOperands(p) == 2;
    Value index = one ? operand(p, 1) : p, sum = LLVMIsASExtInst(index) ? operand(index, 0) : NULL;
    if (!sum || !LLVMIsAInstruction(sum) || LLVMGetInstructionOpcode(sum) != LLVMAdd ||
        !LLVMGetNSW(sum) || is_vector(LLVMTypeOf(sum)) || !msl_uniform(x, operand(p, 0)))
        return msl_vector(x, p, 0);
    int flat = msl_uniform(x, operand(sum, 0)) ? 0 : 1;
    if (!msl_uniform(x, operand(sum, flat))) return msl_vector(x, p, 0);
    Value k = LLVMBuildSExt(x->b, msl_scalar(x, operand(sum, flat)), x->i64, "");
    Value lanes = LLVMBuildSExt(x->b, msl_vector(x, operand(sum, 1 - flat), 0),
                                msl_vector_type(x, x->i64), "");
    Type type = LLVMGetGEPSourceElementType(p);
    Value base = LLVMBuildGEP2(x->b, type, msl_scalar(x, operand(p, 0)), &k, 1, "");
    return LLVMBuildGEP2(x->b, type, base, &lanes, 1, "");
}

static void access_scattered(Vec *x, const Access *a) {
    if (access_whole(x, a)) return;
    Value clamped = a->to && a->n == 1 && !a->soa && !a->array
                        ? msl_load_clamped(x, a->p, a->element, a->align)
                        : NULL;
    if (clamped) {
        a->to->v[0] = clamped;
        return;
    }
    Value p = scattered_address(x, a->p);
    if (x->covered) p = LLVMBuildFreeze(x->b, p, ""); // of lanes that count for nothing: anything
    Type t = msl_vector_type(x, a->element), overload[] = {t, LLVMTypeOf(p)};
    bool has_gather = x->cx->avx512 || (x->cx->features && strstr(x->cx->features, "+avx2"));
    for (int k = 0; k < a->n; k++) {
        Value q = at_offset(x, p, k * a->step),
              mask = msl_helper_mask(x, a->p, (int64_t)k * a->bytes, a->bytes);
        if (a->array) {
            Value in = is_inside(x, a, (int64_t)k * a->bytes, a->bytes, true, 0);
            mask = LLVMBuildAnd(x->b, mask, in, "");
        }
        if (a->from) {
            Value args[] = {msl_vector(x, a->from, k), q, mask};
            msl_set_align(x, msl_intrinsic(x, "llvm.masked.scatter", overload, 2, args, 3), 2,
                          a->align);
        } else if (a->bytes < 4 && has_gather && (int)a->align >= a->bytes &&
                   !is_pointer(a->element)) {
            a->to->v[k] = gather_narrow(x, a, q, mask, t);
        } else {
            Value args[] = {q, mask, load_missing(x, a, t)};
            a->to->v[k] = msl_set_align(
                x, msl_intrinsic(x, "llvm.masked.gather", overload, 2, args, 3), 1, a->align);
        }
    }
}

// All lanes of a run have the same indices.
static bool same_index(const Vec *x, Value p) {
    for (; LLVMIsAGetElementPtrInst(p); p = operand(p, 0))
        for (int k = 1; k < LLVMGetNumOperands(p); k++) {
            Class c = msl_class(x, operand(p, k));
            if (c.kind != LINEAR || c.stride != 0) return false;
        }
    return true;
}

// Bytes or halfwords with gaps between the lanes, not all of which are on: one access for all would
// be a branch for each lane, and shuffles.
static bool is_thin(const Vec *x, const Access *a, int g) {
    return a->to && g != a->room && msl_is_narrow(x, a->element) && x->cx->avx2 &&
           !LLVMIsConstant(x->mask);
}

// Three of four elements to be stored, and the fourth left alone, without a masked store for that:
// two stores for each lane.
static bool is_broken(const Vec *x, const Access *a, int g) {
    bool masks = x->cx->avx512 || x->cx->sve_bits || (x->cx->avx2 && a->bytes >= 4);
    return a->from && a->n < a->room && g == a->room && !masks && whole_size(x, a);
}

static void emit_access(Vec *x, Access *a) {
    Class c = msl_class(x, a->p);
    unsigned runs = c.segmented ? x->n_segments / x->parts : 1;
    int64_t g =
        c.kind == LINEAR && c.stride > 0 && c.stride % a->bytes == 0 ? c.stride / a->bytes : 0;
    bool alone = a->n == 1 || a->soa;
    a->array = msl_unsure_private(a->p);
    // at one index in all lanes, then one question answers for all of them
    bool together = !a->array || same_index(x, a->p);
    if (!together) {
        access_scattered(x, a);
    } else if (c.kind == LINEAR && (c.stride == a->bytes || c.stride == -a->bytes) && alone) {
        access_consecutive(x, a, runs, c.stride < 0);
    } else if (a->soa && c.kind == LINEAR && c.stride == msl_soa_cell(x, a->p) &&
               a->bytes < c.stride) {
        access_cells(x, a, runs);
    } else if (g >= a->n && g <= MAX_RECORD && !a->soa && !is_thin(x, a, (int)g) &&
               !is_broken(x, a, (int)g)) {
        access_records(x, a, runs, (int)g);
    } else {
        access_scattered(x, a);
    }
}

static Value root_of(Value p) {
    while (LLVMIsAGetElementPtrInst(p)) p = operand(p, 0);
    return p;
}

static bool is_row(const Vec *x, Value p) {
    Value from = root_of(p);
    return x->cx->rows && LLVMIsALoadInst(from) &&
           root_of(operand(from, 0)) == LLVMGetLastParam(x->thread);
}

// In elements of which a vector of all lanes reaches no further than CPU_THREADGROUP_MARGIN.
static bool is_near(const Vec *x, Value p, int bytes) {
    return x->cx->local && root_of(p) == LLVMGetLastParam(x->thread) &&
           (unsigned)bytes * x->width <= CPU_THREADGROUP_MARGIN;
}

static Access access_of(Vec *x, Value p, Type t, unsigned align) {
    Access a = {.p = p,
                .element = is_vector(t) ? LLVMGetElementType(t) : t,
                .n = msl_leaves(t),
                .soa = msl_is_soa(x, p)};
    a.bytes = (int)LLVMABISizeOfType(x->dl, a.element);
    a.whole_align = align;
    a.room = a.n == 3 && align >= 4 * (unsigned)a.bytes ? 4 : a.n;
    a.align = align > (unsigned)a.bytes ? (unsigned)a.bytes : align;
    a.step = a.soa ? (int64_t)a.bytes * x->lanes : a.bytes;
    a.row = is_row(x, p);
    a.own = a.row || is_near(x, p, a.bytes);
    return a;
}

// The same questions as emit_access asks, before there are masks: in a block of some lanes, or in a
// copy of the function for some, they are no constants.
bool msl_copies_by_lane(Vec *x, Value i, bool some) {
    bool store = LLVMIsAStoreInst(i) != NULL;
    Value p = operand(i, store);
    Access a = access_of(x, p, LLVMTypeOf(store ? operand(i, 0) : i), LLVMGetAlignment(i));
    Class c = msl_class(x, p);
    int64_t g =
        c.kind == LINEAR && c.stride > 0 && c.stride % a.bytes == 0 ? c.stride / a.bytes : 0;
    bool narrow = some && !c.segmented && msl_is_narrow(x, a.element) && !(store && a.own);
    if (msl_uniform(x, p) || a.soa || msl_unsure_private(p) || is_pointer(a.element)) return false;
    if (c.kind == LINEAR && c.stride == a.bytes && a.n == 1) return narrow;
    if (c.kind == LINEAR && c.stride == -a.bytes && a.n == 1) return false;
    if (!store && msl_is_striped(x, i)) return true;
    if (g >= a.n && g <= MAX_RECORD && !(some && !store && g != a.n && narrow))
        return narrow && g == a.n;
    if (a.n == 1) return x->asked.split && c.kind == SHAPED;
    int n = msl_record_size(x, a.n, a.bytes, a.whole_align, store);
    return n && (n * a.bytes > 4 || store || (c.kind == SHAPED && !x->cx->avx512));
}

// Uniform within each segment: a scalar load for each. A segment without active lanes must not
// touch memory, so it reads where the first segment with one does.
static void load_by_segment(Vec *x, Value i, Val *o) {
    Value on[MAX_SEGMENTS], p[MAX_SEGMENTS], safe = NULL;
    for (unsigned g = 0; g < x->n_segments; g++) {
        Value m = msl_segment_mask(x, g);
        Type bits = LLVMIntTypeInContext(x->llvm, x->segment);
        on[g] = LLVMBuildICmp(x->b, LLVMIntNE, LLVMBuildBitCast(x->b, m, bits, ""),
                              LLVMConstNull(bits), "");
        p[g] = msl_scalar_of(x, operand(i, 0), g);
    }
    for (unsigned g = x->n_segments; g-- > 0;)
        safe = safe ? LLVMBuildSelect(x->b, on[g], p[g], safe, "") : p[g];
    for (unsigned g = 0; g < x->n_segments; g++) {
        Value copy = LLVMInstructionClone(i);
        LLVMSetOperand(copy, 0, LLVMBuildSelect(x->b, on[g], p[g], safe, ""));
        LLVMInsertIntoBuilder(x->b, copy);
        o->base[g] = copy;
    }
}

void msl_emit_load(Vec *x, Value i, Val *o) {
    if (o->c.kind == LINEAR) {
        load_by_segment(x, i, o);
        return;
    }
    if (LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic || LLVMGetVolatile(i)) {
        msl_lane_loop(x, i, o);
        return;
    }
    Value p = operand(i, 0);
    if (msl_uniform(x, p)) { // its value was joined to varying
        Value s = msl_clone(x, i, false, 0);
        for (int c = 0; c < o->n; c++) o->v[c] = msl_splat(x, msl_extract_leaf(x, s, c));
        return;
    }
    if (msl_load_stripe(x, i)) return;
    Access a = access_of(x, p, LLVMTypeOf(i), LLVMGetAlignment(i));
    a.to = o;
    emit_access(x, &a);
}

// One place for all: as if the lanes stored in their order.
static void store_last_lane(Vec *x, const Access *a) {
    Value last[MAX_PARTS], on[MAX_PARTS];
    for (unsigned p = 0; p < x->parts; p++) {
        on[p] = msl_any(x, x->masks[p]);
        last[p] = msl_last_lane(x, x->masks[p]);
    }
    for (int k = 0; k < a->n; k++) {
        Value e = NULL;
        for (unsigned p = 0; p < x->parts; p++) {
            msl_set_part(x, p);
            Value here = LLVMBuildExtractElement(x->b, msl_vector(x, a->from, k), last[p], "");
            e = e ? LLVMBuildSelect(x->b, on[p], here, e, "") : here;
        }
        LLVMSetAlignment(LLVMBuildStore(x->b, e, at_offset(x, msl_scalar(x, a->p), k * a->step)),
                         a->align);
    }
}

// Called once for all parts.
void msl_emit_store(Vec *x, Value i) {
    Value v = operand(i, 0), p = operand(i, 1);
    if (msl_uniform(x, v) && msl_uniform(x, p)) {
        msl_clone(x, i, false, 0);
        return;
    }
    if (LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic || LLVMGetVolatile(i)) {
        for (unsigned r = 0; r < x->parts; r++) {
            msl_set_part(x, r);
            msl_lane_loop(x, i, NULL);
        }
        return;
    }
    Access a = access_of(x, p, LLVMTypeOf(v), LLVMGetAlignment(i));
    a.from = v;
    if (msl_uniform(x, p)) {
        store_last_lane(x, &a);
        return;
    }
    for (unsigned r = 0; r < x->parts; r++) {
        msl_set_part(x, r);
        emit_access(x, &a);
    }
}

// Of a store to a pointer that is not uniform: the part set.
void msl_emit_store_part(Vec *x, Value i) {
    if (LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic || LLVMGetVolatile(i)) {
        msl_lane_loop(x, i, NULL);
        return;
    }
    Access a = access_of(x, operand(i, 1), LLVMTypeOf(operand(i, 0)), LLVMGetAlignment(i));
    a.from = operand(i, 0);
    emit_access(x, &a);
}

// ---- addresses ----

// An index as i64 (divergence.c admits no linear ones that are narrower).
static Value index_64(Vec *x, Value ix, bool vector, unsigned segment) {
    unsigned bits = int_bits(LLVMTypeOf(ix));
    if (vector) {
        Value v = msl_vector(x, ix, 0);
        return bits < 64 ? LLVMBuildSExt(x->b, v, msl_vector_type(x, x->i64), "") : v;
    }
    Value v = msl_scalar_of(x, ix, segment);
    return bits < 64 ? LLVMBuildSExt(x->b, v, x->i64, "") : v;
}

// Of one GEP, times `scale`.
static Value gep_offset(Vec *x, Value g, int64_t scale, bool vector, unsigned segment) {
    Type t = LLVMGetGEPSourceElementType(g);
    Value sum = LLVMConstNull(vector ? msl_vector_type(x, x->i64) : x->i64);
    for (int k = 1; k < LLVMGetNumOperands(g); k++) {
        Value ix = operand(g, k), o;
        if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            unsigned field = (unsigned)LLVMConstIntGetZExtValue(ix);
            o = const_int(x->i64, (int64_t)LLVMOffsetOfElement(x->dl, t, field) * scale);
            if (vector) o = msl_splat(x, o);
            t = LLVMStructGetTypeAtIndex(t, field);
        } else {
            if (k > 1) t = LLVMGetElementType(t);
            Value size = const_int(x->i64, (int64_t)LLVMABISizeOfType(x->dl, t) * scale);
            o = LLVMBuildMul(x->b, index_64(x, ix, vector, segment),
                             vector ? msl_splat(x, size) : size, "");
        }
        sum = LLVMBuildAdd(x->b, sum, o, "");
    }
    return sum;
}

Value msl_offset_of(Vec *x, Value p, bool vector, unsigned segment) {
    Value sum = LLVMConstNull(vector ? msl_vector_type(x, x->i64) : x->i64);
    for (; LLVMIsAGetElementPtrInst(p); p = operand(p, 0))
        sum = LLVMBuildAdd(x->b, sum, gep_offset(x, p, 1, vector, segment), "");
    return sum;
}

// SoA: byte offsets times the lanes of a step, those inside a cell as they are.
static Value soa_offset(Vec *x, Value g, bool vector, unsigned segment) {
    int inside = msl_soa_rest(x, g) - msl_soa_rest(x, operand(g, 0));
    Value o = gep_offset(x, g, x->lanes, vector, segment);
    if (!inside) return o;
    Value back = const_int(x->i64, inside * (1 - (int64_t)x->lanes));
    return LLVMBuildAdd(x->b, o, vector ? msl_splat(x, back) : back, "");
}

static Value gep_scalar(Vec *x, Value g, unsigned segment) {
    Value p = msl_scalar_of(x, operand(g, 0), segment), ix[32];
    if (msl_is_soa(x, g)) {
        Value o = soa_offset(x, g, false, segment);
        return LLVMBuildGEP2(x->b, x->i8, p, &o, 1, "");
    }
    int n = LLVMGetNumOperands(g);
    if (n > 32) msl_fail_at(x, "too many indices", g);
    for (int k = 1; k < n; k++) {
        Value v = operand(g, k);
        ix[k - 1] = LLVMIsAConstantInt(v) ? v : index_64(x, v, false, segment);
    }
    return LLVMBuildGEP2(x->b, LLVMGetGEPSourceElementType(g), p, ix, (unsigned)n - 1, "");
}

static Value gep_vector(Vec *x, Value g) {
    Value p = operand(g, 0), ix[32];
    Class c = msl_class(x, p);
    int n = LLVMGetNumOperands(g);
    if (msl_is_soa(x, g)) {
        Value o = soa_offset(x, g, true, 0);
        if (c.kind == LINEAR && !c.segmented) { // one scalar base: shorter gathers
            o = LLVMBuildAdd(x->b, o, msl_lane_offsets(x, x->i64, c.stride, x->width), "");
            return LLVMBuildGEP2(x->b, x->i8, msl_part_base(x, p), &o, 1, "");
        }
        return LLVMBuildGEP2(x->b, x->i8, msl_vector(x, p, 0), &o, 1, "");
    }
    if (n > 32) msl_fail_at(x, "too many indices", g);
    for (int k = 1; k < n; k++) {
        Value v = operand(g, k);
        ix[k - 1] = msl_uniform(x, v) ? msl_scalar(x, v) : msl_vector(x, v, 0);
    }
    Value base = msl_uniform(x, p) ? msl_scalar(x, p) : msl_vector(x, p, 0);
    return LLVMBuildGEP2(x->b, LLVMGetGEPSourceElementType(g), base, ix, (unsigned)n - 1, "");
}

void msl_emit_gep(Vec *x, Value g, Val *o) {
    if (o->c.kind == VARYING) {
        o->v[0] = gep_vector(x, g);
        // all operands uniform, yet joined to varying: the GEP above came out scalar
        if (!is_vector(LLVMTypeOf(o->v[0]))) o->v[0] = msl_splat(x, o->v[0]);
        return;
    }
    for (unsigned k = 0; k < msl_n_bases(x, o->c); k++) o->base[k] = gep_scalar(x, g, k);
}
