// SPDX-License-Identifier: Apache-2.0
// matmul.c: GEMM and batched GEMM (products of matrices and of stacks), by matmul2d of Metal
// Performance Primitives: a threadgroup makes a tile of the result. Element-wise operations that
// follow (a bias, an activation, a residual) run on the tile before it is stored.
//
// A tile is one SIMD-group's: the more rows meet a panel of B while it is in a cache the better.
// Large tiles are for products with enough of them (f32 2048 on two cores of 1 MB L2, GFLOP/s each:
// 64 x 64 by four SIMD-groups 75 to 81, by one 84, 128 x 128 94, 256 x 128 99; OpenBLAS 101). Four
// for each thread are enough: 128 x 512 in 8 tiles of 128 x 64 brings B to its order half as often
// as in 16 of 64 x 64 (Zen 4: 86 to 91 % of a core's peak), 256 x 512 in 8 of 256 x 64 half as
// often as in 16 of 128 x 64 (93.6 to 95.6 %). Small ones are for what would keep few threads busy:
// 64 x 64 of 4,096 steps takes 414 us as one tile, 209 as four on two threads, 126 as eight of 16 x
// 32 on sixteen (Xeon).
// Halfs are converted once per row and tile, so their small tiles are wider (512: 95, then 100).
// A sum goes in the order of k in every tile: its bits do not depend on the choice.
// A GPU's SIMD-groups have no cache of their own and few registers: there four or eight of them
// share a tile, 16 or 32 rows each. Small products of floats are plain multiply-adds there (H200,
// 256 x 784 x 512: 35 us through matmul2d in tiles of 32 x 32).
#include "tensor/matmul.h"
#include "ig_texts.h"
#include <stdlib.h>
#include <string.h>

// Which of the kernels: gemm.metal, gemm_simt.metal, gemv.metal.
typedef enum Kind { TENSOR, PLAIN, VECTOR } Kind;
typedef struct Tile {
    int m, n, groups; // by so many SIMD-groups
    Kind kind;
} Tile;

// C (batch.., M, N) = A (batch.., M, K) B (batch.., K, N). Matrices whose rows are not contiguous
// but whose columns are, are read as transposed.
typedef struct Product {
    int64_t m, n, k;
    IgShape batch;
    bool transposed[2];
    int64_t leading[2]; // stride between rows (columns if transposed)
    int64_t batch_strides[2][IG_MAX_RANK];
} Product;

static bool run_product(IgDevice *device, IgData *data, MTLError **error);
bool ig_is_product(const IgExpr *expr) { return expr && expr->run == run_product; }

// ---- Source ----

typedef struct Source {
    const IgFused *f;
    const Product *product;
    IgType type; // of the operands
    IgType result;
    int words; // those of the leaves begin here
    Tile tile;
    bool stored;  // the product too, beside what follows it
    bool aligned; // lines of both operands are read in pieces of 16 bytes
} Source;

enum { N_WORDS = 7 }; // of gemm.metal, before those of the stack

// What each output is: the product itself where nothing follows it.
static IgType output_type(const Source *s, int output) {
    for (int i = 0; i < s->f->n_nodes; i++)
        if (s->f->nodes[i].output == output) return s->f->nodes[i].type;
    return s->result;
}

// What follows the product needs parameters: those of the kernel are handed on to a function.
typedef enum List { OF_KERNEL, OF_FUNCTION, OF_CALL } List;

static void write_parameter(Text *out, List list, const char *pointer, IgType type,
                            const char *name, int number, int *at) {
    if (list != OF_KERNEL) text_printf(out, ", ");
    if (list != OF_CALL) text_printf(out, "%s %s *", pointer, ig_type_metal(type));
    text_printf(out, "%s%d", name, number);
    if (list == OF_KERNEL) text_printf(out, " [[buffer(%d)]], ", (*at)++);
}

static void write_parameters(Text *out, List list, const Source *s) {
    const IgFused *f = s->f;
    int at = 3;
    for (int l = 0; l < f->n_leaves; l++) {
        if (l == f->product_leaf) continue;
        write_parameter(out, list, "device const", f->leaves[l].view.data->type, "a", l, &at);
    }
    for (int o = 0; o < (f->n_nodes ? f->n_outputs : 1); o++)
        write_parameter(out, list, "device", output_type(s, o), "o", o, &at);
    if (!s->stored) return;
    write_parameter(out, list, "device", s->result, "product", f->product_leaf, &at);
}

// The function that is called with each element, and the macro by which gemm.metal calls it.
static void write_store(Text *out, const Source *s) {
    const IgFused *f = s->f;
    text_printf(out,
                "inline void store(constant int *p, int i, int i0, int i1, int i2, const %s l%d",
                ig_type_metal(s->result), f->product_leaf);
    write_parameters(out, OF_FUNCTION, s);
    text_printf(out, ") {\n");
    ig_fuse_write_value(out, f);
    for (int i = 0; i < f->n_nodes; i++)
        if (f->nodes[i].output >= 0)
            text_printf(out, "    o%d[i] = %s(n%d);\n", f->nodes[i].output,
                        ig_type_metal(f->nodes[i].type), i);
    if (s->stored) text_printf(out, "    product%d[i] = l%d;\n", f->product_leaf, f->product_leaf);
    text_printf(out, "}\n#define STORE(VALUE) store(p + %d, at, column, row, int(group.z), VALUE",
                s->words);
    write_parameters(out, OF_CALL, s);
    text_printf(out, ")\n");
}

static char *source(void *context) {
    static const char *const boolean[] = {"false", "true"};
    const Source *s = context;
    Text text = {0}, *out = &text;
    // Before the prelude, whose pragmas are for what follows it alone.
    if (s->tile.kind == TENSOR)
        text_add(out, "#include <metal_tensor>\n"
                      "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n");
    ig_fuse_write_prelude(out);
    text_printf(out, "#define ELEMENT %s\n#define RESULT %s\n", ig_type_metal(s->type),
                ig_type_metal(s->result));
    text_printf(out, "#define TILE_M %d\n#define TILE_N %d\n#define SIMD_GROUPS %d\n", s->tile.m,
                s->tile.n, s->tile.groups);
    text_printf(out, "#define TILE %d\n#define ALIGNED %d\n", s->tile.m, s->aligned);
    text_printf(out, "#define SHARE %d\n#define ROWS %d\n", s->tile.m == 1 ? 8 : 1,
                s->tile.m > 8 ? s->tile.m / 8 : 1);
    text_printf(out, "#define RANK %d\n", s->product->batch.rank);
    text_printf(out, "#define A_T %s\n#define B_T %s\n#define OTHERS ",
                boolean[s->product->transposed[0]], boolean[s->product->transposed[1]]);
    write_parameters(out, OF_KERNEL, s);
    text_printf(out, "\n");
    if (s->f->n_nodes) write_store(out, s);
    text_add(out, s->tile.kind == VECTOR  ? ig_text_gemv_metal
                  : s->tile.kind == PLAIN ? ig_text_gemm_simt_metal
                                          : ig_text_gemm_metal);
    return text_take(out);
}

// ---- Running ----

static size_t write_words(const IgExpr *expr, const Product *p, int32_t *words) {
    const int64_t fixed[N_WORDS] = {p->m,
                                    p->n,
                                    p->k,
                                    p->leading[0],
                                    p->leading[1],
                                    expr->inputs[0].offset,
                                    expr->inputs[1].offset};
    size_t n = 0;
    for (int i = 0; i < N_WORDS; i++) words[n++] = (int32_t)fixed[i];
    for (int i = p->batch.rank - 1; i >= 0; i--) {
        words[n++] = (int32_t)p->batch.n[i];
        words[n++] = (int32_t)p->batch_strides[0][i];
        words[n++] = (int32_t)p->batch_strides[1][i];
    }
    return n;
}

static int64_t n_tiles(const Product *p, Tile tile) {
    return (p->m + tile.m - 1) / tile.m * ((p->n + tile.n - 1) / tile.n);
}

typedef struct Choice {
    Tile tile;
    int64_t least; // tiles that keep threads busy; 0: the last one
} Choice;

// Too little work for a GPU's tensor cores: floats are three products there, and wait for operands
// unless sums are long and there are two tiles for each of its parts.
static bool is_small(const Product *p) {
    enum { TILES = 264, LONG = 256 };
    int64_t batch = ig_shape_numel(&p->batch);
    bool many = p->k >= LONG && n_tiles(p, (Tile){64, 64, 4, TENSOR}) * batch >= TILES;
    return !many && (double)p->m * (double)p->n * (double)p->k * (double)batch <= 0x1p31;
}

// A matrix by a vector: all of it is read once. Where there are few rows a threadgroup shares one;
// where there are many and short ones a SIMD-group takes eight, so that it has enough to wait for.
#define MANY_ROWS 2048
#define SHORT_ROW 512
static Tile vector_tile(const Product *p) {
    int64_t rows = p->m * ig_shape_numel(&p->batch);
    bool eight = rows >= 16 * MANY_ROWS && p->k <= SHORT_ROW && p->m >= 64;
    return (Tile){rows < MANY_ROWS ? 1 : eight ? 64 : 8, 1, 8, VECTOR};
}
static bool is_vector(const IgDevice *device, const Product *p) {
    return device->gpu && p->n == 1 && !p->transposed[0] && p->k >= 64;
}

// Half of a large tile or more would be rows that are not there.
static bool is_mostly_empty(const Product *p, Tile tile) {
    return tile.m > 64 && tile.m >= 2 * p->m;
}

// More would be spent on handing out parts of it than is gained.
static bool is_short(const Product *p) {
    return (double)p->m * (double)p->n * (double)p->k * (double)ig_shape_numel(&p->batch) < 0x1p20;
}

static Tile choose_tile(const IgDevice *device, const Product *p, IgType type) {
    const int64_t n = device->n_workers;
    const bool wide = type == IgFloat16;
    const Choice here[] = {{{256, 128, 1, TENSOR}, 16 * n},
                           {{128, 128, 1, TENSOR}, 8 * n},
                           {{256, 64, 1, TENSOR}, 4 * n},
                           {{128, 64, 1, TENSOR}, 4 * n},
                           {{64, wide ? 128 : 64, 1, TENSOR},
                            is_short(p) ? 0
                            : wide      ? n
                                        : 4 * n},
                           {{32, 64, 1, TENSOR}, 4 * n},
                           {{16, 64, 1, TENSOR}, n},
                           {{16, 32, 1, TENSOR}, 0}};
    static const Choice there[] = {{{256, 64, 8, TENSOR}, 128}, {{64, 64, 4, TENSOR}, 0}};
    static const Choice there_half[] = {{{128, 256, 8, TENSOR}, 96},
                                        {{128, 128, 4, TENSOR}, 96},
                                        {{64, 64, 4, TENSOR}, 64},
                                        {{32, 32, 2, TENSOR}, 0}};
    static const Choice plain[] = {{{64, 64, 8, PLAIN}, 132}, {{32, 32, 8, PLAIN}, 0}};
    if (is_vector(device, p)) return vector_tile(p);
    bool half = type == IgFloat16 || type == IgBFloat16;
    const Choice *c = device->gpu ? (half ? there_half : is_small(p) ? plain : there) : here;
    while (c->least && (n_tiles(p, c->tile) * ig_shape_numel(&p->batch) < c->least ||
                        is_mostly_empty(p, c->tile)))
        c++;
    return c->tile;
}

static bool is_aligned(const IgExpr *expr, const Product *p, Tile tile) {
    bool all = tile.kind != VECTOR || p->k % 4 == 0;
    for (int i = 0; i < 2; i++) {
        bool line = tile.kind == VECTOR && i == 1; // of b there is one
        all &= line ? p->transposed[1] || p->leading[1] == 1 : p->leading[i] % 4 == 0;
        all &= expr->inputs[i].offset % 4 == 0;
        all &= !expr->inputs[i].data->memory->foreign || (p->m | p->n | p->k) % 4 == 0;
        for (int k = 0; k < p->batch.rank; k++) all &= p->batch_strides[i][k] % 4 == 0;
    }
    return all;
}

bool ig_matmul_encode(IgDevice *device, IgFused *f, MTLError **error) {
    IgExpr *expr = f->product->expr;
    const Product *p = expr->extra;
    for (int i = 0; i < 2; i++)
        if (!ig_data_make(expr->inputs[i].data, error)) return false;
    int32_t words[N_WORDS + 3 * IG_MAX_RANK + IG_FUSE_WORDS];
    size_t n_words = write_words(expr, p, words);
    IgType type = expr->inputs[0].data->type;
    Tile tile = choose_tile(device, p, type);
    Source s = {f,
                p,
                type,
                f->product->type,
                (int)n_words,
                tile,
                f->n_nodes > 0 && f->product->wanted,
                tile.kind != TENSOR && is_aligned(expr, p, tile)};
    // Axes of the leaves: column, row, place in the stack.
    f->n_axes = 0;
    int last = f->shape.rank - 1;
    for (int i = last; f->n_nodes && i >= 0 && i > last - 3; i--) {
        f->axes[f->n_axes] = f->shape.n[i];
        for (int l = 0; l < f->n_leaves; l++)
            f->strides[l][f->n_axes] = f->leaves[l].view.strides[i];
        f->n_axes++;
    }
    unsigned char key[8 + IG_FUSE_KEY] = {
        'm',
        (unsigned char)s.type,
        (unsigned char)s.result,
        (unsigned char)(p->transposed[0] + 2 * p->transposed[1] + 4 * s.stored +
                        8 * (int)tile.kind + 32 * s.aligned),
        (unsigned char)p->batch.rank,
        (unsigned char)f->product_leaf,
        (unsigned char)(tile.kind == VECTOR ? tile.m : tile.m / 16),
        (unsigned char)(s.tile.n / 16)};
    size_t n_key = 8 + ig_fuse_key(f, key + 8);
    if (f->n_nodes) n_words += ig_fuse_words(f, words + n_words);
    IgKernel *kernel = ig_kernel(device, key, n_key, "product", source, &s, error);
    if (!kernel) return false;
    IgBinding bindings[3 + IG_FUSE_LEAVES + IG_FUSE_OUTPUTS];
    size_t n = 0;
    for (int i = 0; i < 2; i++) bindings[n++] = (IgBinding){expr->inputs[i].data->memory, 0};
    for (int l = 0; l < f->n_leaves; l++)
        if (l != f->product_leaf) bindings[n++] = (IgBinding){f->leaves[l].view.data->memory, 0};
    if (f->n_nodes == 0) {
        if (!ig_data_allocate(f->product, error)) return false;
        bindings[n++] = (IgBinding){f->product->memory, 0};
    }
    for (int o = 0; o < f->n_outputs; o++)
        for (int i = 0; i < f->n_nodes; i++)
            if (f->nodes[i].output == o) {
                if (!ig_data_allocate(f->nodes[i].data, error)) return false;
                bindings[n++] = (IgBinding){f->nodes[i].data->memory, 0};
            }
    if (s.stored) {
        if (!ig_data_allocate(f->product, error)) return false;
        bindings[n++] = (IgBinding){f->product->memory, 0};
    }
    size_t batch = (size_t)ig_shape_numel(&p->batch);
    ig_more_work(device, p->m * p->n * p->k * (int64_t)batch);
    return ig_encode(device, kernel, words, n_words * 4, bindings, n,
                     mtl_size_make((size_t)((p->n + s.tile.n - 1) / s.tile.n),
                                   (size_t)((p->m + s.tile.m - 1) / s.tile.m), batch),
                     mtl_size_make(32 * (size_t)s.tile.groups, 1, 1), true, error);
}

static bool run_product(IgDevice *device, IgData *data, MTLError **error) {
    if (data->n == 0) return ig_data_allocate(data, error);
    IgFused f;
    f.n_leaves = f.n_nodes = f.n_outputs = f.n_axes = f.pack = 0;
    f.shape = data->expr->shape;
    f.product = data;
    f.product_leaf = 0;
    return ig_matmul_encode(device, &f, error);
}

// ---- Recording ----

// One of the two inner strides must be 1, the other at least the length of a row; else a copy.
static IgTensor *as_matrices(IgTensor *t, bool *transposed, int64_t *leading, MTLError **error) {
    const IgView *v = &t->view;
    int r = v->shape.rank;
    int64_t rows = v->shape.n[r - 2], columns = v->shape.n[r - 1];
    int64_t outer = v->strides[r - 2], inner = v->strides[r - 1];
    if ((inner == 1 || columns == 1) && (outer >= columns || rows == 1)) {
        *transposed = false;
        *leading = rows == 1 ? columns : outer;
        return ig_retain(t);
    }
    if ((outer == 1 || rows == 1) && (inner >= rows || columns == 1)) {
        *transposed = true;
        *leading = columns == 1 ? rows : inner;
        return ig_retain(t);
    }
    IgTensor *copy = ig_elementwise(IG_OP_cast, &t, NULL, ig_type(t), error);
    if (copy) ig_keep(copy);
    *transposed = false;
    *leading = columns;
    return copy;
}

static void drop(IgExpr *expr) { free(expr->extra); }

// Columns lie in line: a matrix that is used transposed.
static bool lies_across(const IgTensor *t) {
    const IgView *v = &t->view;
    int r = v->shape.rank;
    return v->strides[r - 2] == 1 && v->strides[r - 1] != 1;
}

// x y, or the transposed product y^T x^T seen the other way round: the gradient of a matrix lies as
// the matrix does. So that of weights that are used transposed is whole for the step of an
// optimiser, which joins the product (Linear 784-512, batch 128: instead of a kernel that reads
// across).
static IgTensor *gradient(bool across, IgTensor *x, IgTensor *y, MTLError **error) {
    if (!across) return ig_matmul(x, y, error);
    IgTensor *turned =
        ig_matmul(ig_transpose(y, -2, -1, error), ig_transpose(x, -2, -1, error), error);
    return ig_transpose(turned, -2, -1, error);
}

// dA = G B^T, dB = A^T G. For one matrix B and a stack of A the stack is one tall matrix, so that
// its sum is part of the product.
static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    IgTensor *a = ig_saved(node, 0), *b = ig_saved(node, 1);
    if (node->inputs[0])
        out[0] = gradient(node->numbers[0], g, ig_transpose(b, -2, -1, error), error);
    if (node->inputs[1]) {
        const IgShape *to = &node->inputs[1]->shape;
        if (to->rank == 2 && ig_rank(a) > 2 && ig_numel(a) > 0) {
            a = ig_reshape(a, 2, (int64_t[]){-1, to->n[0]}, error);
            g = ig_reshape(g, 2, (int64_t[]){ig_dim(a, 0), to->n[1]}, error);
        }
        out[1] = gradient(node->numbers[1], ig_transpose(a, -2, -1, error), g, error);
    }
    return (!node->inputs[0] || out[0]) && (!node->inputs[1] || out[1]);
}

static IgTensor *record(IgTensor *a, IgTensor *b, IgTensor *result, MTLError **error) {
    IgTensor *in[2] = {a, b};
    if (!result || !ig_grad_enabled_for(2, in)) return result;
    IgGradNode *node = ig_node_new("ig_matmul", rule, 2, in, error);
    for (int i = 0; node && i < 2; i++) {
        node->numbers[i] = lies_across(in[i]);
        if (node->inputs[1 - i] && !ig_node_save(node, i, in[i], error)) {
            ig_node_release(node);
            node = NULL;
        }
    }
    return ig_node_attach(result, node, false, error);
}

// Both have rank >= 2 and one floating type; the result may have another.
static IgTensor *multiply(IgTensor *a, IgTensor *b, IgType type, MTLError **error) {
    IgTensor *in[2] = {a, b}, *ready[2] = {NULL, NULL}, *result = NULL;
    Product *p = calloc(1, sizeof *p);
    IgShape outer[2];
    IgView views[2];
    if (!p) {
        ig_fail_no_memory(error);
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        outer[i] = in[i]->view.shape;
        outer[i].rank -= 2;
    }
    p->m = ig_dim(a, -2), p->k = ig_dim(a, -1), p->n = ig_dim(b, -1);
    if (ig_dim(b, -2) != p->k) {
        ig_fail(error, IgErrorShape, "ig_matmul: shapes %s and %s do not go together",
                ig_shape_text(ig_rank(a), ig_shape(a)), ig_shape_text(ig_rank(b), ig_shape(b)));
        goto fail;
    }
    if (!ig_broadcast("ig_matmul", &outer[0], &outer[1], &p->batch, error)) goto fail;
    for (int i = 0; i < 2; i++) {
        ready[i] = as_matrices(in[i], &p->transposed[i], &p->leading[i], error);
        if (!ready[i]) goto fail;
        views[i] = ready[i]->view;
        int added = p->batch.rank - outer[i].rank;
        for (int k = added; k < p->batch.rank; k++)
            p->batch_strides[i][k] = outer[i].n[k - added] == 1 ? 0 : views[i].strides[k - added];
    }
    int64_t n[IG_MAX_RANK + 2];
    memcpy(n, p->batch.n, sizeof p->batch.n);
    n[p->batch.rank] = p->m, n[p->batch.rank + 1] = p->n;
    IgShape shape;
    if (!ig_shape_check("ig_matmul", p->batch.rank + 2, n, &shape, error)) goto fail;
    IgExpr *expr = ig_expr_new(2, views, &shape, error);
    if (!expr) goto fail;
    expr->run = run_product;
    expr->dispatches = true;
    expr->extra = p;
    expr->drop = drop;
    p = NULL;
    result = record(a, b, ig_tensor_of_expr(ig_device(a), type, expr, error), error);
fail:
    free(p);
    ig_release(ready[0]);
    ig_release(ready[1]);
    return result;
}

// A product of whole numbers is exact: broadcast, multiply, and add in 64 bits.
static IgTensor *multiply_integers(IgTensor *a, IgTensor *b, MTLError **error) {
    IgTensor *rows = ig_unsqueeze(a, -1, error);    // (.., M, K, 1)
    IgTensor *columns = ig_unsqueeze(b, -3, error); // (.., 1, K, N)
    IgTensor *wide = ig_cast(rows, IgInt64, error);
    IgTensor *products = ig_mul(wide, columns, error); // (.., M, K, N)
    IgTensor *sum = ig_sum(products, -2, false, error);
    IgTensor *result = ig_cast(sum, ig_promote(ig_type(a), ig_type(b)), error);
    IgTensor *used[] = {rows, columns, wide, products, sum};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (used[i] && !used[i]->scope) ig_release(used[i]);
    return result;
}

IgTensor *ig_matmul_wide(IgTensor *a, IgTensor *b, MTLError **error) {
    return a && b ? multiply(a, b, IgFloat32, error) : NULL;
}

IgTensor *ig_matmul(IgTensor *a, IgTensor *b, MTLError **error) {
    if (!a || !b || !ig_same_device("ig_matmul", a, b, error)) return NULL;
    if (ig_rank(a) == 0 || ig_rank(b) == 0) {
        ig_fail(error, IgErrorShape, "ig_matmul: shapes %s and %s: a scalar is no matrix",
                ig_shape_text(ig_rank(a), ig_shape(a)), ig_shape_text(ig_rank(b), ig_shape(b)));
        return NULL;
    }
    // A vector is a row on the left and a column on the right, and its axis goes away.
    bool row = ig_rank(a) == 1, column = ig_rank(b) == 1;
    IgType type = ig_promote(ig_type(a), ig_type(b));
    IgTensor *made[5] = {row ? ig_unsqueeze(a, 0, error) : ig_retain(a),
                         column ? ig_unsqueeze(b, 1, error) : ig_retain(b), NULL, NULL, NULL};
    IgTensor *result = NULL;
    if (ig_is_float(type)) {
        made[2] = ig_cast(made[0], type, error);
        made[3] = ig_cast(made[1], type, error);
        result = made[2] && made[3] ? multiply(made[2], made[3], type, error) : NULL;
    } else {
        result = made[0] && made[1] ? multiply_integers(made[0], made[1], error) : NULL;
    }
    if (result && (row || column)) {
        made[4] = result;
        IgShape shape = result->view.shape;
        if (row) {
            shape.n[shape.rank - 2] = shape.n[shape.rank - 1];
            shape.rank--;
        }
        if (column) shape.rank--;
        result = ig_reshape(made[4], shape.rank, shape.n, error);
    }
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (made[i] && (!made[i]->scope || made[i] == a || made[i] == b)) ig_release(made[i]);
    return result;
}
