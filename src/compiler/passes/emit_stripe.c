// SPDX-License-Identifier: Apache-2.0
// emit_stripe.c: interleaved accesses, coalesced: loads that together fill the space between lanes.
//   purpose   a thread that reads sixteen halfs in a row as four half4 (GEMV): alone, each of these
//             loads is a strided access per lane, put together by shuffles. Together they cover
//             all memory from the first lane's address to the end of the last one's: full-width
//             vector loads and a transpose in registers.
//   requires  classes; one load of each kind at every position of the stripe, in one block, with
//             no store between them that may alias
//   leaves    the values of all of them at the first one, packed (emit_packed.c)
#include "compiler/passes/passes_int.h"

enum { MOST = 4, MAX_PER_REGISTER = 8, WORD = 8 }; // records of a lane; of a register; bytes

typedef struct Stripe {
    Value loads[MOST]; // in the order of memory
    int n;
    int64_t before; // bytes from the first one to that which is emitted now
} Stripe;

// Bytes of a register, if records of so many are turned over there; AVX2 puts 16 bytes into each
// half of a register from memory as fast.
static int register_of(const Vec *x, int64_t bytes) {
    int size = x->cx->avx512 && (bytes == 8 || bytes == 16) ? 64
               : x->cx->avx2 && bytes == 8                  ? 32
                                                            : 0;
    return size && x->width % (unsigned)(size / bytes) == 0 ? size : 0;
}

// Whether records lie one behind the other as elements do: not those of three, nor addresses.
static bool is_dense(const Vec *x, Type t) {
    if (!is_vector(t) || is_pointer(LLVMGetElementType(t))) return false;
    unsigned n = LLVMGetVectorSize(t);
    return n <= MAX_RECORD &&
           n * LLVMABISizeOfType(x->dl, LLVMGetElementType(t)) == LLVMABISizeOfType(x->dl, t);
}

static bool is_plain(Value i) {
    return LLVMIsALoadInst(i) && !LLVMGetVolatile(i) &&
           LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
}

// The load that v was emitted with, by its number; 0: none.
static int leader_of(const Vec *x, Value v) {
    int k = msl_map_get(&x->striped, v);
    return k > 0 ? k : 0;
}

static int number_of(const Vec *x, Value v) { return msl_map_get(&x->val_ix, v) + 1; }

static bool find_stripe(Vec *x, Value i, Stripe *s) {
    Type t = LLVMTypeOf(i);
    Class c = msl_class(x, operand(i, 0));
    int64_t bytes = (int64_t)LLVMABISizeOfType(x->dl, t), at, other;
    int n = bytes && c.stride % bytes == 0 ? (int)(c.stride / bytes) : 0;
    if (!x->asked.split || x->covered || !is_dense(x, t) || c.kind != LINEAR || c.segmented ||
        (n != 2 && n != MOST) || !register_of(x, bytes) || msl_is_soa(x, operand(i, 0)) ||
        msl_unsure_private(operand(i, 0)))
        return false;
    Value base = msl_base_of(x, operand(i, 0), &at), found[2 * MOST] = {[MOST] = i};
    for (Value j = LLVMGetNextInstruction(i); j && !msl_may_write(j);
         j = LLVMGetNextInstruction(j)) {
        int leader = leader_of(x, j); // i, of another part
        if (!is_plain(j) || LLVMTypeOf(j) != t || (leader && leader != number_of(x, i))) continue;
        Value its = msl_base_of(x, operand(j, 0), &other);
        int64_t away = (other - at) / bytes;
        if ((other - at) % bytes == 0 && away > -n && away < n && msl_is_computed_alike(its, base))
            found[MOST + away] = j;
    }
    for (int first = MOST - n + 1; first <= MOST; first++) {
        int have = 0;
        while (have < n && found[first + have]) have++;
        if (have < n) continue;
        *s = (Stripe){.n = n, .before = (MOST - first) * bytes};
        memcpy(s->loads, found + first, (size_t)n * sizeof *s->loads);
        return true;
    }
    return false;
}

// A shuffle of two registers of `per` records each, by records of so many words.
static Value shuffle_records(Vec *x, Value a, Value b, const int *ix, int per, int words) {
    int all[2 * MAX_PER_REGISTER];
    for (int i = 0; i < per * words; i++) all[i] = ix[i / words] * words + i % words;
    return msl_shuffle(x, a, b, all, (unsigned)(per * words));
}

// Four registers of four records of each lane -> four of one record of all these lanes. First two
// records of each pair of registers, then one of both pairs.
static void turn_four(Vec *x, const Value *in, Value *out, int per, int words) {
    static const int low[] = {0, 4, 2, 6}, high[] = {1, 5, 3, 7}; // in halves of AVX2's registers
    Value two[2][2];
    bool halves = !x->cx->avx512;
    int ix[MAX_PER_REGISTER];
    for (int pair = 0; pair < 2; pair++)
        for (int c = 0; c < 2; c++) {
            for (int i = 0; i < per; i++) ix[i] = i % (per / 2) * 4 + 2 * c + i / (per / 2);
            two[pair][c] = shuffle_records(x, in[2 * pair], in[2 * pair + 1],
                                           !halves ? ix
                                           : c     ? high
                                                   : low,
                                           per, words);
        }
    for (int r = 0; r < 4; r++) {
        int from = halves ? r % 2 : r / 2, side = halves ? r / 2 : r % 2;
        for (int i = 0; i < per; i++)
            ix[i] = side * (per / 2) + i % (per / 2) + i / (per / 2) * per;
        out[r] = shuffle_records(x, two[0][from], two[1][from], ix, per, words);
    }
}

static void turn_two(Vec *x, const Value *in, Value *out, int per, int words) {
    int ix[MAX_PER_REGISTER];
    for (int r = 0; r < 2; r++) {
        for (int i = 0; i < per; i++) ix[i] = 2 * i + r;
        out[r] = shuffle_records(x, in[0], in[1], ix, per, words);
    }
}

// What lies at p, n records of each lane: record r of all lanes.
static void load_turned(Vec *x, Value p, const Stripe *s, Type record, unsigned align,
                        Value *packed) {
    int64_t bytes = (int64_t)LLVMABISizeOfType(x->dl, record);
    int size = register_of(x, bytes), per = size / (int)bytes, words = (int)bytes / WORD;
    Value out[MOST][MAX_WIDTH];
    unsigned chunks = x->width / (unsigned)per;
    Type all = LLVMVectorType(LLVMGetElementType(record), x->width * LLVMGetVectorSize(record));
    for (unsigned c = 0; c < chunks; c++) {
        Value in[MOST], to[MOST];
        for (int r = 0; r < s->n; r++) {
            Value at = const_int(x->i64, ((int64_t)c * s->n + r) * size);
            in[r] = LLVMBuildLoad2(x->b, LLVMVectorType(x->i64, (unsigned)(size / WORD)),
                                   LLVMBuildGEP2(x->b, x->i8, p, &at, 1, ""), "");
            LLVMSetAlignment(in[r], align);
        }
        (s->n == 2 ? turn_two : turn_four)(x, in, to, per, words);
        for (int r = 0; r < s->n; r++) out[r][c] = to[r];
    }
    for (int r = 0; r < s->n; r++)
        packed[r] = LLVMBuildBitCast(x->b, msl_concat(x, out[r], chunks), all, "");
}

bool msl_load_stripe(Vec *x, Value i) {
    Stripe s;
    if (leader_of(x, i)) return true;
    if (!find_stripe(x, i, &s)) return false;
    Type t = LLVMTypeOf(i), element = LLVMGetElementType(t);
    unsigned n = LLVMGetVectorSize(t), align = LLVMGetAlignment(i),
             least = (unsigned)LLVMABISizeOfType(x->dl, element);
    align = align < least ? align : least;
    Value packed[MOST];
    Value p = msl_records_in_line(x, operand(i, 0), -s.before, element, n * (unsigned)s.n, align);
    load_turned(x, p, &s, t, align, packed);
    for (int r = 0; r < s.n; r++) {
        Val *o = msl_val(x, s.loads[r]);
        msl_unpack(x, packed[r], (int)n, o->all + (size_t)x->part * n);
        msl_set_packed(x, o, packed[r]);
        if (s.loads[r] != i)
            msl_map_put(x->cx, &x->arena, &x->striped, s.loads[r], number_of(x, i));
    }
    return true;
}

bool msl_is_striped(Vec *x, Value load) {
    Stripe s;
    return is_plain(load) && find_stripe(x, load, &s);
}
