// SPDX-License-Identifier: Apache-2.0
// matmul.c: matmul2d on tensor cores. Three ways to a fragment, from the best on:
//   staged   both operands in global memory, in lines of 16 bytes: all SIMD-groups of the
//   threadgroup bring
//            them to shared memory together, some chunks of 128 bytes along k ahead of the sums
//   near     16-bit operands in threadgroup memory in lines of 16 bytes: read where they are
//   else     element by element: any strides, edges, types, cooperative tensors
// On sm_90a halves and bfloats that are staged are multiplied by four SIMD-groups at once (wide).
// In shared memory an operand is lines of 128 bytes: of an index along k, or of one k and 64 or 32
// indices, panel by panel. Pieces of 16 bytes are exchanged within a line against conflicts of
// banks.
#include "compiler/codegen/nvptx/library/tensor.h"
#ifndef INGOT_WARP
#include "compiler/codegen/nvptx/library/bulk.h"
#include "compiler/codegen/nvptx/library/wgmma.h"
#endif

enum { LINE = 128, PIECE = 16, MAX_SUMS = 128 };

u32 ingot_group_threads(void); // position.c

// ---- operands in shared memory ----

typedef struct Tile {
    u32 at;      // address
    u32 step;    // bytes between lines
    _Bool along; // lines are along k
    _Bool mixed; // pieces are exchanged
    u32 panel;   // bytes between panels of lines that are not along k
} Tile;

INLINE u32 exchanged(const Tile *t, Kind kind, u32 line, u32 byte) {
    u32 by = !t->mixed ? 0 : !t->along && kind == FLOATS ? (line & 3) * 2 : line & 7;
    return byte ^ by * PIECE;
}
INLINE u32 address_along(const Tile *t, Kind kind, u32 index, u32 byte) {
    return t->at + index * t->step + exchanged(t, kind, index, byte);
}
INLINE u32 address_across(const Tile *t, Kind kind, u32 index, u32 k) {
    u32 byte = index * bytes_of(kind);
    if (!t->mixed) return t->at + k * t->step + byte;
    return t->at + byte / LINE * t->panel + k * t->step + exchanged(t, kind, k, byte % LINE);
}
INLINE void fragment_of_tile(u32 *q, const Tile *t, Kind kind, u32 index, u32 k, _Bool of_b) {
    u32 l = lane(), i = l / 8, half = of_b ? i / 2 : i & 1, part = of_b ? i & 1 : i / 2;
    if (t->along) {
        load_matrices(q, address_along(t, kind, index + half * 8 + (l & 7),
                                       k * bytes_of(kind) + part * PIECE));
    } else if (kind <= BFLOATS) {
        load_matrices_transposed(q,
                                 address_across(t, kind, index + half * 8, k + part * 8 + (l & 7)));
    } else {
        UNROLL for (u32 w = 0; w < 4; w++) {
            u32 below = of_b ? w / 2 : w % 2, behind = of_b ? w % 2 : w / 2;
            q[w] = shared_word(
                address_across(t, kind, index + l / 4 + below * 8, k + l % 4 + behind * 4));
        }
    }
}

// ---- what a SIMD-group computes ----

typedef struct Work {
    Operand a, b;
    Result c;
    Kind kind;
    i32 m, n, k, first,
        share; // rows of all, of which `share` from `first` on are this SIMD-group's
    u32 groups, stages;
    _Bool relaxed, wide;
} Work;

typedef struct Panel { // columns that are summed at a time
    i32 column, row_tiles, col_tiles;
} Panel;

// One step along k; tiles of A begin at row `row`, those of B at `column`.
#define STEP(name, OPERAND, LOAD)                                                                  \
    INLINE void name(f32 *sum, const OPERAND *a, const OPERAND *b, const Work *w, const Panel *p,  \
                     i32 row, i32 column, i32 k) {                                                 \
        Factor y[16], x;                                                                           \
        UNROLL for (i32 j = 0; j < p->col_tiles; j += 2) {                                         \
            LOAD(y[j / 2].x, b, w->kind, column + j * 8, k, 1);                                    \
            ready(&y[j / 2], w->kind, w->relaxed);                                                 \
        }                                                                                          \
        UNROLL for (i32 i = 0; i < p->row_tiles; i++) {                                            \
            LOAD(x.x, a, w->kind, row + i * 16, k, 0);                                             \
            ready(&x, w->kind, w->relaxed);                                                        \
            UNROLL for (i32 j = 0; j < p->col_tiles; j++) multiply(                                \
                sum + (i * p->col_tiles + j) * 4, &x, &y[j / 2], (u32)j & 1, w->kind, w->relaxed); \
        }                                                                                          \
    }
#define LOAD_TILE(q, t, kind, index, k, of_b)                                                      \
    fragment_of_tile(q, t, kind, (u32)(index), (u32)(k), of_b)
STEP(step_any, Operand, fragment)
STEP(step_shared, Tile, LOAD_TILE)

INLINE i32 step_of(const Work *w) { return 32 / (i32)bytes_of(w->kind); }

// Four tiles at a time, which keeps this way short: it is in every kernel that has the others.
INLINE void sum_any(f32 *sum, const Work *w, const Panel *p) {
    enum { TILES = 4 };
    f32 done[MAX_SUMS + TILES * 4];
    for (i32 i = 0; i < p->row_tiles; i++)
        for (i32 j = 0; j < p->col_tiles; j += TILES) {
            f32 s[TILES * 4];
            Panel part = {p->column + j * 8, 1, TILES};
            UNROLL for (i32 e = 0; e < TILES * 4; e++) s[e] = 0;
            for (i32 k = 0; k < w->k; k += step_of(w))
                step_any(s, &w->a, &w->b, w, &part, w->first + i * 16, part.column, k);
            for (i32 e = 0; e < TILES * 4; e++)
                if (e / 4 + j < p->col_tiles) done[(i * p->col_tiles + j) * 4 + e] = s[e];
        }
    UNROLL for (i32 e = 0; e < p->row_tiles * p->col_tiles * 4; e++) sum[e] =
        w->kind >= BYTES ? float_of(bits_of(sum[e]) + bits_of(done[e])) : sum[e] + done[e];
}

// ---- near ----

// Lines are along k. Where a step of 1 is known when the kernel is compiled, so is the answer.
INLINE _Bool is_along(const Operand *o) {
    return __builtin_constant_p(o->step) && o->step == 1 ? 0 : o->step_k == 1;
}
INLINE _Bool is_lined(const Operand *o, u64 address, u32 bytes) {
    i64 step = is_along(o) ? o->step : o->step_k;
    return (o->step_k == 1 || o->step == 1) && ((address | (u64)step * bytes) & (PIECE - 1)) == 0;
}
// By its address in shared memory, whose low bits are known when the kernel is compiled.
INLINE _Bool is_near(const Work *w, const Operand *o, i32 size) {
    return !o->layout && in_shared(o->data) && is_lined(o, shared_address(o->data), 2) &&
           o->size >= size && o->size_k >= w->k;
}
INLINE _Bool is_lined_far(const Operand *o, u32 bytes) {
    return is_lined(o, (u64)(uintptr_t)o->data, bytes) && !in_shared(o->data);
}
INLINE _Bool both_near(const Work *w) {
    return w->kind <= BFLOATS && w->a.type == w->b.type && w->k % 16 == 0 && w->n % 16 == 0 &&
           w->share % 16 == 0 && w->m % w->share == 0 && is_near(w, &w->a, w->m) &&
           is_near(w, &w->b, w->n);
}
INLINE Tile tile_near(const Operand *o) {
    _Bool along = is_along(o);
    Tile t = {shared_address(o->data), (u32)(along ? o->step : o->step_k) * 2, along, 0, 0};
    return t;
}
INLINE void sum_near(f32 *sum, const Work *w, const Panel *p) {
    Tile a = tile_near(&w->a), b = tile_near(&w->b);
    FOUR_TIMES for (i32 k = 0; k < w->k; k += 16)
        step_shared(sum, &a, &b, w, p, w->first, p->column, k);
}

// ---- staged ----

INLINE u32 padded(i32 n) { return ((u32)n + 63) & ~63u; }
INLINE _Bool can_stage(const Work *w) {
    u32 bytes = bytes_of(w->kind);
    return w->stages && w->kind <= FLOATS && w->a.type == w->b.type && !w->a.layout &&
           !w->b.layout && w->n % 16 == 0 && w->share % 16 == 0 && is_lined_far(&w->a, bytes) &&
           is_lined_far(&w->b, bytes) && ingot_group_threads() == w->groups * 32;
}
// The row of A in line `line`. Four SIMD-groups at once take 64 lines, 16 of each; so their rows
// lie there tile by tile.
INLINE i32 row_of_line(const Work *w, u32 line) {
    u32 tiles = (u32)w->share / 16, block = line / 64;
    return (i32)((block / tiles * 4 + line % 64 / 16) * (u32)w->share + block % tiles * 16 +
                 line % 16);
}
// An operand's pieces of the chunk that begins at k; what does not exist is 0.
INLINE void fetch(const Work *w, const Operand *o, u32 at, i32 size, i32 k, u32 thread,
                  _Bool of_a) {
    _Bool along = is_along(o);
    u32 bytes = bytes_of(w->kind), in_line = LINE / bytes, in_piece = PIECE / bytes;
    u32 n = padded(size) * (LINE / PIECE), threads = w->groups * 32;
    i32 end = w->k < o->size_k ? w->k : o->size_k;
    Tile t = {at, LINE, along, 1, in_line * LINE};
    UNROLL for (u32 i = 0; i < (n + threads - 1) / threads; i++) {
        u32 p = i * threads + thread, line = p / (LINE / PIECE), piece = p % (LINE / PIECE);
        if (p >= n) break;
        i32 index = (i32)line, start = k + (i32)(piece * in_piece), left;
        u32 to;
        if (along && of_a && w->wide) index = row_of_line(w, line);
        if (along) {
            left = index < o->size ? end - start : 0;
            to = address_along(&t, w->kind, line, piece * PIECE);
        } else {
            index = (i32)(line / in_line * in_line + piece * in_piece);
            start = k + (i32)(line % in_line);
            left = start < end ? o->size - index : 0;
            to = address_across(&t, w->kind, (u32)index, line % in_line);
        }
        left = left<0 ? 0 : left>(i32) in_piece ? (i32)in_piece : left;
        i64 from = left ? index * o->step + start * o->step_k : 0;
        copy_async(to, (const u8 *)o->data + from * (i64)bytes, (u32)left * bytes);
    }
}
// The same where all of the chunk exists: places differ by what is the same for all threads.
INLINE void fetch_whole(const Work *w, const Operand *o, u32 at, i32 size, i32 k, _Bool of_a) {
    _Bool along = is_along(o);
    i32 bytes = (i32)bytes_of(w->kind), in_line = LINE / bytes, in_piece = PIECE / bytes;
    i32 threads = (i32)w->groups * 32, lines = threads / (LINE / PIECE);
    i32 line = (i32)thread_at(0) / (LINE / PIECE), piece = (i32)thread_at(0) % (LINE / PIECE);
    Tile t = {at, LINE, along, 1, (u32)in_line * LINE};
    const u8 *from = (const u8 *)o->data +
                     (k * o->step_k + piece * in_piece * (along ? o->step_k : o->step)) * bytes;
    i64 step = o->step * bytes, step_k = o->step_k * bytes;
    if (!along)
        from += line / in_line * in_line * step + line % in_line * step_k;
    else if (!(of_a && w->wide))
        from += line * step;
    u32 to = along ? address_along(&t, w->kind, (u32)line, (u32)piece * PIECE)
                   : address_across(&t, w->kind, (u32)(line / in_line * in_line + piece * in_piece),
                                    (u32)(line % in_line));
    UNROLL for (i32 i = 0; i < size / lines; i++) {
        i64 more = !along ? i * lines / in_line * in_line * step + i * lines % in_line * step_k
                   : of_a && w->wide ? row_of_line(w, (u32)(line + i * lines)) * step
                                     : i * lines * step;
        copy_async(to + (u32)(i * lines * LINE), from + more, PIECE);
    }
}
// Lines of threads must be whole panels, or panels of them; rows in turn, a multiple of what is
// exchanged.
INLINE _Bool is_whole_chunk(const Work *w, const Operand *o, i32 size) {
    i32 lines = (i32)w->groups * 4, in_line = LINE / (i32)bytes_of(w->kind);
    return lines % 8 == 0 && size % lines == 0 && size % 64 == 0 && o->size >= size &&
           (is_along(o) || lines % in_line == 0 || in_line % lines == 0);
}
INLINE void fetch_both(const Work *w, const Operand *b, u32 at, i32 columns, i32 k) {
    i32 in_line = LINE / (i32)bytes_of(w->kind);
    _Bool whole = k + in_line <= w->k && k + in_line <= w->a.size_k && k + in_line <= b->size_k &&
                  is_whole_chunk(w, &w->a, w->m) && is_whole_chunk(w, b, columns);
    if (whole) {
        fetch_whole(w, &w->a, at, w->m, k, 1);
        fetch_whole(w, b, at + padded(w->m) * LINE, columns, k, 0);
    } else {
        fetch(w, &w->a, at, w->m, k, thread_at(0), 1);
        fetch(w, b, at + padded(w->m) * LINE, columns, k, thread_at(0), 0);
    }
}

// The products of a chunk; of those that are wide, the last may still be under way.
INLINE void multiply_chunk(f32 *sum, const Work *w, const Panel *p, u32 at) {
    i32 in_line = LINE / (i32)bytes_of(w->kind);
    u32 of_a = padded(w->m) * LINE;
    Tile x = {at, LINE, is_along(&w->a), 1, (u32)in_line * LINE},
         y = {at + of_a, LINE, is_along(&w->b), 1, (u32)in_line * LINE};
    UNROLL for (i32 k = 0; k < in_line; k += step_of(w))
        step_shared(sum, &x, &y, w, p, w->first, 0, k);
}
#ifdef INGOT_NVPTX_WGMMA_H
INLINE void multiply_chunk_wide(f32 *sum, const Work *w, const Panel *p, u32 at) {
    _Bool across = !is_along(&w->b), bfloats = w->kind == BFLOATS;
    u32 b = at + padded(w->m) * LINE, four = thread_at(0) / 128;
    i32 columns = p->col_tiles * 8;
    start_products();
    UNROLL for (u32 k = 0; k < 4; k++) {
        u64 right =
            across ? describe_lines(b + k * 16 * LINE, 64 * LINE) : describe_lines(b + k * 32, 0);
        UNROLL for (i32 i = 0; i < p->row_tiles; i++) {
            u64 left =
                describe_lines(at + (four * (u32)p->row_tiles + (u32)i) * 64 * LINE + k * 32, 0);
            f32 *s = sum + i * columns / 2;
            if (columns == 64) multiply_wide_64(s, left, right, bfloats, across);
            if (columns == 128) multiply_wide_128(s, left, right, bfloats, across);
            if (columns == 256) multiply_wide_256(s, left, right, bfloats, across);
        }
    }
    end_products();
    finish_products(1);
}

// Long sums: the copy engine brings the chunks. A thread asks it for those that find room; whoever
// has waited for one multiplies it, and says when it was read.
enum { CONTROL = 512, LEAST_CHUNKS = 32, MOST_STAGES = 4 };
INLINE Matrix matrix_of(const Work *w, const Operand *o, u32 box) {
    _Bool along = is_along(o);
    i32 end = w->k < o->size_k ? w->k : o->size_k;
    Matrix m = {o->data, (u32)(along ? end : o->size), (u32)(along ? o->size : end),
                (u64)(along ? o->step : o->step_k) * 2, box};
    return m;
}
INLINE i32 rows_of_box(const Work *w) { return w->share > 16 ? 16 : w->m < 256 ? w->m : 256; }
INLINE void ask(const Work *w, const Operand *b, u32 at, i32 columns, i32 k, u32 full) {
    i32 rows = rows_of_box(w);
    expect_bytes(full, (u32)(w->m + columns) * LINE);
    UNROLL for (i32 i = 0; i < w->m; i += rows)
        copy_box(at + (u32)i * LINE, map_of_block(0), k, row_of_line(w, (u32)i), full);
    at += (u32)w->m * LINE;
    UNROLL for (i32 j = 0; j < columns; j += 64) copy_box(
        at + (u32)j * LINE, map_of_block(1), is_along(b) ? k : j, is_along(b) ? j : k, full);
}
INLINE void sum_bulk(f32 *sum, const Work *w, const Panel *p) {
    i32 chunks = (w->k + 63) / 64, columns = p->col_tiles * 8, stages = (i32)w->stages;
    u32 base = library_memory(), stage = (padded(w->m) + padded(columns)) * LINE;
    u32 control = base + w->stages * (padded(w->m) + padded(w->n)) * LINE, thread = thread_at(0);
    u32 full = control + 2 * MAP, empty = full + MOST_STAGES * 8;
    Operand b = w->b;
    b.data = (const u8 *)b.data + p->column * b.step * 2;
    b.size -= p->column;
    if (thread / 32 < 2) {
        Matrix m = thread < 32 ? matrix_of(w, &w->a, (u32)rows_of_box(w)) : matrix_of(w, &b, 64);
        make_map(map_of_block(thread / 32), control + thread / 32 * MAP, &m, w->kind == BFLOATS);
    }
    if (thread == 0) {
        for (u32 i = 0; i < w->stages; i++) {
            make_barrier(full + i * 8, 1);
            make_barrier(empty + i * 8, w->groups / 4);
        }
        show_barriers();
    }
    show_copies();
    barrier_of(w->groups * 32);
    if (thread == 0) {
        take_map(map_of_block(0));
        take_map(map_of_block(1));
        ONCE for (i32 s = 0; s < stages; s++)
            ask(w, &b, base + (u32)s * stage, columns, s * 64, full + (u32)s * 8);
    }
    warp_barrier(ALL_LANES);
    u32 slot = 0, turn = 0; // of this chunk: its place, and how often that was used before
    for (i32 s = 0; s < chunks; s++) {
        u32 before = slot ? slot - 1 : w->stages - 1, turn_before = slot ? turn : turn - 1;
        wait_for_barrier(full + slot * 8, turn & 1);
        multiply_chunk_wide(sum, w, p, base + slot * stage); // the chunk before is done then
        if (s && thread % 128 == 0) arrive(empty + before * 8);
        if (s && thread == 0 && s - 1 + stages < chunks) {
            wait_for_barrier(empty + before * 8, turn_before & 1);
            ask(w, &b, base + before * stage, columns, (s - 1 + stages) * 64, full + before * 8);
        }
        warp_barrier(ALL_LANES);
        if (++slot == w->stages) slot = 0, turn++;
    }
    finish_products(0);
    barrier_of(w->groups * 32);
    for (u32 i = 0; thread == 0 && i < w->stages * 2; i++)
        end_barrier(i < w->stages ? full + i * 8 : empty + (i - w->stages) * 8);
    warp_barrier(ALL_LANES);
}
INLINE _Bool is_bulk(const Work *w) { // and wide
    enum { EXCLUSIVE = 116 << 10 };
    return w->k > (LEAST_CHUNKS - 1) * 64 && w->m % 64 == 0 && w->m % rows_of_box(w) == 0 &&
           w->a.size > 0 && w->b.size > 0 && w->a.size_k > 0 && w->b.size_k > 0 &&
           w->stages <= MOST_STAGES && w->stages * (padded(w->m) + padded(w->n)) * LINE > EXCLUSIVE;
}

// Floats: A's parts in registers, those of B in shared memory behind the chunks, along k, twice.
enum { SPLIT_SUMS = 64, SPLIT_COLUMNS = 128, STEPS = 4 };
typedef struct Rows { // of A, of a chunk
    u32 high[SPLIT_SUMS / 16][STEPS][4], low[SPLIT_SUMS / 16][STEPS][4];
} Rows;
INLINE void split_rows(Rows *r, const Work *w, const Panel *p, u32 at) {
    Tile x = {at, LINE, is_along(&w->a), 1, 32 * LINE};
    UNROLL for (i32 i = 0; i < p->row_tiles; i++) UNROLL for (u32 k = 0; k < STEPS; k++) {
        u32 q[4];
        fragment_of_tile(q, &x, FLOATS, (u32)(w->first + i * 16), k * 8, 0);
        split_float(q, r->high[i][k], r->low[i][k], w->relaxed);
    }
}
INLINE void split_columns(const Work *w, u32 from, u32 to, u32 columns) {
    Tile y = {from, LINE, is_along(&w->b), 1, 32 * LINE};
    Tile z = {to, LINE, 1, 1, 0};
    u32 threads = w->groups * 32, pieces = columns * (LINE / PIECE);
    UNROLL for (u32 i = 0; i < (pieces + threads - 1) / threads; i++) {
        u32 p = i * threads + thread_at(0), index = p % columns, k = p / columns * 4;
        u32 q[4], high[4], low[4];
        if (p >= pieces) break;
        if (y.along)
            shared_words(q, address_along(&y, FLOATS, index, k * 4));
        else
            UNROLL for (u32 e = 0; e < 4; e++) q[e] =
                shared_word(address_across(&y, FLOATS, index, k + e));
        split_float(q, high, low, w->relaxed);
        u32 at = address_along(&z, FLOATS, index, k * 4);
        set_shared_words(at, high);
        if (!w->relaxed) set_shared_words(at + columns * LINE, low);
    }
}
// The small products first: what they add up to is not cut by what is large.
INLINE void multiply_split(f32 *sum, const Work *w, const Panel *p, const Rows *r, u32 at) {
    u32 columns = (u32)p->col_tiles * 8;
    start_products();
    UNROLL for (u32 part = w->relaxed ? 2 : 0; part < 3; part++)
        UNROLL for (u32 k = 0; k < STEPS; k++) {
        u64 right = describe_lines(at + (part == 1 ? columns * LINE : 0) + k * 32, 0);
        UNROLL for (i32 i = 0; i < p->row_tiles; i++) {
            const u32 *left = part == 0 ? r->low[i][k] : r->high[i][k];
            _Bool is_first = k == 0 && part == (w->relaxed ? 2u : 0u);
            f32 *s = sum + i * (i32)columns / 2;
            if (columns == 64) multiply_tf32_64(s, left, right, is_first);
            if (columns == 128) multiply_tf32_128(s, left, right, is_first);
        }
    }
    end_products();
}
INLINE void sum_split(f32 *sum, const Work *w, const Panel *p) {
    i32 chunks = (w->k + 31) / 32, columns = p->col_tiles * 8, stages = (i32)w->stages;
    u32 base = library_memory(), stage = (padded(w->m) + padded(columns)) * LINE;
    u32 b_at = padded(w->m) * LINE, parts = base + w->stages * (padded(w->m) + padded(w->n)) * LINE;
    Operand b = w->b;
    b.data = (const u8 *)b.data + p->column * b.step * 4;
    b.size -= p->column;
    for (i32 s = 0; s < stages; s++) {
        if (s < chunks) fetch_both(w, &b, base + (u32)s * stage, columns, s * 32);
        end_copies();
    }
    Rows rows;
    wait_for_copies(w->stages - 1);
    barrier_of(w->groups * 32);
    split_columns(w, base + b_at, parts, (u32)columns);
    split_rows(&rows, w, p, base);
    show_copies();
    barrier_of(w->groups * 32);
    for (i32 s = 0; s < chunks; s++) {
        f32 part[SPLIT_SUMS];
        u32 now = parts + (u32)(s & 1) * (u32)columns * 2 * LINE,
            next = parts + (u32)(~s & 1) * (u32)columns * 2 * LINE,
            at = base + (u32)(s + 1) % w->stages * stage;
        multiply_split(part, w, p, &rows, now);
        if (s + stages < chunks) // in the place of this one
            fetch_both(w, &b, base + (u32)s % w->stages * stage, columns, (s + stages) * 32);
        end_copies();
        wait_for_copies(w->stages - 1);
        barrier_of(w->groups * 32);
        if (s + 1 < chunks) split_columns(w, at + b_at, next, (u32)columns);
        finish_products(0);
        UNROLL for (i32 e = 0; e < p->row_tiles * columns / 2; e++) sum[e] += part[e];
        if (s + 1 < chunks) split_rows(&rows, w, p, at);
        show_copies();
        barrier_of(w->groups * 32);
    }
    wait_for_copies(0);
    barrier_of(w->groups * 32);
}
INLINE _Bool is_split(const Work *w, const Panel *p, u32 asked) {
    i32 columns = p->col_tiles * 8;
    return asked && w->stages >= 2 && w->kind == FLOATS && w->groups % 4 == 0 &&
           w->share % 16 == 0 && w->share * (i32)w->groups == w->m &&
           p->row_tiles * columns <= SPLIT_SUMS * 2 && (columns == 64 || columns == 128);
}
INLINE _Bool is_wide(const Work *w, i32 columns, u32 asked) {
    return asked && w->stages > 2 && w->kind <= BFLOATS && w->groups % 4 == 0 &&
           w->share % 16 == 0 && w->share * (i32)w->groups == w->m && is_along(&w->a) &&
           (columns == 64 || columns == 128 || columns == 256);
}
#else
#define multiply_chunk_wide multiply_chunk
#define is_wide(w, columns, asked) ((void)(asked), 0)
#define is_split(w, p, asked) 0
#define sum_split sum_staged
#define is_bulk(w) 0
#define sum_bulk sum_staged
#define show_copies() ((void)0)
#define finish_products(but_one) ((void)0)
#endif

INLINE void sum_staged(f32 *sum, const Work *w, const Panel *p) {
    i32 in_line = LINE / (i32)bytes_of(w->kind), chunks = (w->k + in_line - 1) / in_line;
    i32 columns = p->col_tiles * 8;
    // A wide product may still read the chunk before the last one: it has no place to spare.
    i32 ahead = (i32)w->stages - (w->wide ? 2 : 1);
    u32 base = library_memory(), stage = (padded(w->m) + padded(columns)) * LINE;
    Operand b = w->b;
    b.data = (const u8 *)b.data + p->column * b.step * (i64)bytes_of(w->kind);
    b.size -= p->column;
    for (i32 s = 0; s < ahead; s++) {
        if (s < chunks) fetch_both(w, &b, base + (u32)s * stage, columns, s * in_line);
        end_copies();
    }
    for (i32 s = 0; s < chunks; s++) {
        wait_for_copies((u32)ahead - 1);
        if (w->wide) show_copies();
        barrier_of(w->groups *
                   32); // and all are done with the chunk whose place the next one takes
        i32 next = s + ahead;
        if (next < chunks)
            fetch_both(w, &b, base + (u32)next % w->stages * stage, columns, next * in_line);
        end_copies();
        u32 at = base + (u32)s % w->stages * stage;
        if (w->wide)
            multiply_chunk_wide(sum, w, p, at);
        else
            multiply_chunk(sum, w, p, at);
    }
    if (w->wide) finish_products(0);
    wait_for_copies(0);
    barrier_of(w->groups * 32);
}

// ---- the whole ----

// Two neighbours are one store where all of the panel exists, and pairs lie at multiples of pairs.
INLINE _Bool has_pairs(const Result *c, const Panel *p) {
    u64 bytes = c->type == ABI_TENSOR_FLOAT16 || c->type == ABI_TENSOR_BFLOAT16 ? 2 : 4;
    return c->column == 1 && !(c->flags & CPU_MATMUL_ACCUMULATE) && c->rows >= p->row_tiles * 16 &&
           c->columns >= p->column + p->col_tiles * 8 &&
           (((u64)(uintptr_t)c->data | (u64)c->row * bytes) & (2 * bytes - 1)) == 0;
}
INLINE void store_pairs(const Result *c, const f32 *sum, const Panel *p) {
    i32 l = (i32)lane();
    UNROLL for (i32 i = 0; i < p->row_tiles; i++) UNROLL for (i32 j = 0; j < p->col_tiles; j++)
        UNROLL for (i32 e = 0; e < 4; e += 2) {
        i64 at = (i * 16 + l / 4 + e / 2 * 8) * c->row + p->column + j * 8 + l % 4 * 2;
        const f32 *x = sum + (i * p->col_tiles + j) * 4 + e;
        if (c->type == ABI_TENSOR_FLOAT16)
            ((u32 *)c->data)[at / 2] = to_halves(x[0], x[1]);
        else if (c->type == ABI_TENSOR_BFLOAT16)
            ((u32 *)c->data)[at / 2] = to_bfloats(x[0], x[1]);
        else
            ((f32x2 *)c->data)[at / 2] = (f32x2){x[0], x[1]};
    }
}
INLINE void store_each(const Result *c, const f32 *sum, const Panel *p) {
    f32 kept[MAX_SUMS]; // a loop that goes around keeps this way short
    i32 l = (i32)lane(), n = p->row_tiles * p->col_tiles * 4;
    UNROLL for (i32 e = 0; e < n; e++) kept[e] = sum[e];
    ONCE for (i32 e = 0; e < n; e++) {
        i32 tile = e / 4, row = tile / p->col_tiles * 16 + l / 4 + e % 4 / 2 * 8,
            column = p->column + tile % p->col_tiles * 8 + l % 4 * 2 + e % 2;
        if (row >= c->rows || column >= c->columns) continue;
        i64 at = row * c->row + column * c->column;
        f32 x = kept[e];
        if (c->flags & CPU_MATMUL_ACCUMULATE) x = add_to(c->data, c->type, at, x);
        set_element(c->data, c->type, at, x);
    }
}
INLINE void store_sums(const Result *c, const f32 *sum, const Panel *p) {
    if (has_pairs(c, p))
        store_pairs(c, sum, p);
    else
        store_each(c, sum, p);
}
INLINE void compute_panel(Work *w, const Panel *p, u32 wide) {
    f32 sum[MAX_SUMS];
    _Bool tiled = tensor_kind(w->c.layout) == TENSOR_TILES;
    UNROLL for (i32 i = 0; i < p->row_tiles; i++) {
        UNROLL for (i32 j = 0; j < p->col_tiles; j++) {
            f32 *s = sum + (i * p->col_tiles + j) * 4;
            u32 tile = (u32)(i * (w->n / 8) + p->column / 8 + j);
            if (tiled)
                tile_begun(&w->c, tile, s);
            else
                s[0] = s[1] = s[2] = s[3] = 0;
        }
    }
    w->wide = is_wide(w, p->col_tiles * 8, wide);
    if (both_near(w))
        sum_near(sum, w, p);
    else if (is_split(w, p, wide) && can_stage(w))
        sum_split(sum, w, p);
    else if (can_stage(w) && w->wide && is_bulk(w))
        sum_bulk(sum, w, p);
    else if (can_stage(w) && w->wide)
        sum_staged(sum, w, p);
    else if (w->wide = 0, can_stage(w))
        sum_staged(sum, w, p);
    else
        sum_any(sum, w, p);
    if (!w->c.layout) store_sums(&w->c, sum, p);
    if (w->c.layout && !tiled) spread(&w->c, sum, 0, p->column, p->row_tiles, p->col_tiles);
    UNROLL for (i32 i = 0; i < p->row_tiles && tiled; i++)
        UNROLL for (i32 j = 0; j < p->col_tiles; j++) tile_done(
            &w->c, (u32)(i * (w->n / 8) + p->column / 8 + j), sum + (i * p->col_tiles + j) * 4);
}

// `stages`: how many chunks of both operands the library's memory has room for; 0: there is none.
// `wide`: the processor is sm_90a.
API void ingot_tensor_matmul(const void *a, i64 a_row, i64 a_col, i32 a_rows, i32 a_cols,
                             const void *b, i64 b_row, i64 b_col, i32 b_rows, i32 b_cols, void *c,
                             i64 c_row, i64 c_col, i32 c_rows, i32 c_cols, i32 first, i32 n_rows,
                             i32 n, i32 k, u32 types, u32 flags, u32 layout_a, u32 layout_b,
                             u32 layout_c, i32 m, u32 groups, u32 stages, u32 wide) {
    i32 share = (m + (i32)groups - 1) / (i32)groups, left = c_rows - first;
    left = left < n_rows ? left : n_rows;
    Work w = {
        .a = {a, a_row, a_col, a_rows, a_cols, types & 255, layout_a, 0},
        .b = {b, b_col, b_row, b_cols, b_rows, types >> 8 & 255, layout_b, 0},
        .c = {c, c_row, c_col, left, c_cols < n ? c_cols : n, types >> 16 & 255, layout_c, flags},
        .kind = kind_of(types),
        .m = m,
        .n = n,
        .k = k,
        .first = first,
        .share = share,
        .groups = groups,
        .stages = stages,
        .relaxed = (flags & CPU_MATMUL_RELAXED) != 0};
    i32 row_tiles = (share + 15) / 16;
    // Floats are summed in twice as many registers where four SIMD-groups multiply at once.
    i32 sums = wide && w.kind == FLOATS && groups % 4 == 0 ? MAX_SUMS / 2 : MAX_SUMS,
        most = sums / 4 / row_tiles & ~1;
    most = most < 2 ? 2 : most;
    i32 col_tiles = (n + 7) / 8;
    // Panels of a result in memory are alike; those of registers are registers of their own.
    _Bool alike = !layout_c && col_tiles % most == 0;
    ONCE for (i32 j = 0; alike && j < col_tiles; j += most) {
        Panel p = {j * 8, row_tiles, most};
        compute_panel(&w, &p, wide);
    }
    UNROLL for (i32 j = 0; !alike && j < col_tiles; j += most) {
        Panel p = {j * 8, row_tiles, col_tiles - j < most ? col_tiles - j : most};
        compute_panel(&w, &p, wide);
    }
    warp_barrier(ALL_LANES); // results in memory are seen by all of the SIMD-group
}
