// SPDX-License-Identifier: Apache-2.0
// stage_fetch.c: attributes of vertices, and of a kernel's threads. The pipeline's descriptor is
// part of the request, so that formats, offsets and strides are constants of the code.
//   address = buffer + offset + stride * index; index: the vertex, the instance / rate, or 0; of a
//   kernel: the thread's x or y, or what the index buffer holds there, from the region's origin on
//   an attribute that does not lie in its buffer as a whole is not read, nor by a thread outside
//   the region of a kernel's stage inputs: its bits are 0
// Formats of whole words are read as words and taken apart by shifts. Conversion as Metal has it:
// any format to float or half; integers to wider integers of the same sign; missing components are
// 0, 0, 0, 1.
#include "compiler/codegen/stage_int.h"
#include "abi/cpu_kernel.h"
#include "abi/stage_in.h"
#include <stddef.h>
#include <string.h>

typedef enum Kind { UINT, SINT, UNORM, SNORM, FLOAT, PACKED } Kind;
typedef struct Format {
    const char *name;
    uint32_t value;
    unsigned n, bits;
    Kind kind;
} Format;
static const Format formats[] = {
#define V(name, value, n, bits, kind) {#name, value, n, bits, kind},
#include "abi/vertex_formats.def"
#undef V
};

static const Format *find_format(uint32_t value) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].value == value) return &formats[i];
    return NULL;
}

static unsigned format_bytes(const Format *f) { return f->kind == PACKED ? 4 : f->n * f->bits / 8; }

static bool is_kernel(const Cg *cg) { return cg->fn->stage == RF_KERNEL; }
static const char *stage_word(const Cg *cg) { return is_kernel(cg) ? "kernel" : "vertex"; }

// The place of a buffer among those attributes are fetched from.
static unsigned buffer_place(Cg *cg, uint32_t buffer) {
    unsigned n = cg->stage.n_vertex_buffers;
    for (unsigned i = 0; i < n; i++)
        if (cg->stage.vertex_buffers[i] == buffer) return i;
    if (n >= sizeof cg->stage.vertex_buffers) msl_fail(&cg->cx, "too many vertex buffers");
    cg->stage.vertex_buffers[n] = (uint8_t)buffer;
    cg->stage.n_vertex_buffers++;
    return n;
}

// Step and attribute of the descriptor, or the end.
static const MslVertexAttribute *find_attribute(Cg *cg, const RfValue *v, const Format **format,
                                                const StageScalar *s) {
    MslContext *cx = &cg->cx;
    const MslVertexDescriptor *d = cg->request->vertex;
    if (!d)
        msl_fail(cx, "%s function '%s' has stage inputs: it needs a %s descriptor", stage_word(cg),
                 cg->fn->name, is_kernel(cg) ? "stage input" : "vertex");
    const MslVertexAttribute *a = &d->attributes[v->index];
    if (!a->format)
        msl_fail(cx,
                 "the descriptor has no attribute %u, which '%s' of %s function '%s' is read from",
                 v->index, v->name, stage_word(cg), cg->fn->name);
    *format = find_format(a->format);
    if (!*format)
        msl_fail(cx, "attribute %u of the descriptor has the unknown format %u", v->index,
                 a->format);
    if (a->buffer > 30)
        msl_fail(cx, "attribute %u of the descriptor is in buffer %u: the last one is 30", v->index,
                 a->buffer);
    Kind k = (*format)->kind;
    if (!s->is_float) {
        bool whole = k == UINT || k == SINT;
        if (!whole || (k == SINT) != s->is_signed || (*format)->bits > s->bits)
            msl_fail(cx,
                     "attribute %u ('%s') of %s function '%s': MTLVertexFormat%s cannot be "
                     "read as %s%s integers of %u bits",
                     v->index, v->name, stage_word(cg), cg->fn->name, (*format)->name,
                     s->is_signed ? "" : "un", "signed", s->bits);
    }
    return a;
}

// ---- where it lies ----

// point: which control point.
static LLVMValueRef load_index(Cg *cg, const MslVertexLayout *layout, uint32_t point) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef i32 = msl_int(cx, 32);
    LLVMValueRef step = msl_stage_step(cg);
    if (layout->step == MSL_STEP_CONSTANT) return msl_const(cx, 32, 0);
    bool patch = cg->fn->patch != 0;
    if (layout->step == MSL_STEP_PER_CONTROL_POINT && patch) {
        LLVMValueRef points =
            msl_stage_load(cg, msl_ptr(cx), step, offsetof(CpuVertexStep, control_points));
        return msl_stage_load(cg, i32, msl_stage_row(cg, points, point), 0);
    }
    if (layout->step == (patch ? MSL_STEP_PER_PATCH : MSL_STEP_PER_VERTEX)) {
        LLVMValueRef ids = msl_stage_load(cg, msl_ptr(cx), step, offsetof(CpuVertexStep, vertices));
        return msl_stage_load(cg, i32, msl_stage_row(cg, ids, 0), 0);
    }
    if (layout->step != MSL_STEP_PER_INSTANCE)
        msl_fail(cx, "vertex function '%s': step function %u %s patches", cg->fn->name,
                 layout->step, patch ? "is not for" : "is for");
    LLVMValueRef base = msl_stage_load(cg, i32, step, offsetof(CpuVertexStep, base_instance));
    LLVMValueRef instance = msl_stage_load(cg, i32, step, offsetof(CpuVertexStep, instance));
    if (!layout->rate) return base; // all instances read the first
    LLVMValueRef past = LLVMBuildSub(cx->builder, instance, base, "");
    return LLVMBuildAdd(cx->builder, base,
                        LLVMBuildUDiv(cx->builder, past, msl_const(cx, 32, layout->rate), ""), "");
}

typedef struct Place {
    LLVMValueRef address, inside; // inside: i1
} Place;

static LLVMValueRef slot_of(Cg *cg, RfArgKind kind, uint32_t buffer) {
    uint32_t slot = abi_stage_in_slot(cg->fn, kind, buffer);
    if (slot == UINT32_MAX) msl_fail(&cg->cx, "internal error: no slot of buffer %u", buffer);
    return LLVMGetParam(cg->thread, slot);
}

// The element at p + at * bytes as i64.
static LLVMValueRef load_element(Cg *cg, LLVMValueRef p, LLVMValueRef at, unsigned bytes) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef type = msl_int(cx, 8 * bytes);
    LLVMValueRef element = LLVMBuildGEP2(cx->builder, type, p, &at, 1, "");
    element = LLVMBuildLoad2(cx->builder, type, element, "");
    LLVMSetAlignment(element, 1);
    return LLVMBuildZExt(cx->builder, element, msl_int(cx, 64), "");
}

// Where the attribute of a kernel's thread lies. The index buffer is read here, so everything
// happens behind the check whether the thread is in the region; *outside gets to the end.
static LLVMValueRef find_in_kernel(Cg *cg, const MslVertexAttribute *a, LLVMBasicBlockRef outside) {
    MslContext *cx = &cg->cx;
    const MslVertexDescriptor *d = cg->request->vertex;
    const MslVertexLayout *l = &d->layouts[a->buffer];
    LLVMValueRef index = msl_const(cx, 64, 0), base = slot_of(cg, RF_ARG_BUFFER, a->buffer);
    if (l->step != MSL_STEP_CONSTANT) {
        bool indexed = l->step >= MSL_STEP_THREAD_X_INDEXED;
        unsigned dim = l->step == MSL_STEP_THREAD_Y || l->step == MSL_STEP_THREAD_Y_INDEXED;
        LLVMValueRef at = msl_call_position(cg, RF_THREAD_POSITION_IN_GRID, dim);
        LLVMValueRef size = msl_call_position(cg, RF_GRID_SIZE, dim);
        LLVMBasicBlockRef in = LLVMAppendBasicBlockInContext(cx->llvm, cg->thread, "region");
        LLVMBuildCondBr(cx->builder, LLVMBuildICmp(cx->builder, LLVMIntULT, at, size, ""), in,
                        outside);
        LLVMPositionBuilderAtEnd(cx->builder, in);
        if (l->rate > 1) at = LLVMBuildUDiv(cx->builder, at, msl_const(cx, 32, l->rate), "");
        index = LLVMBuildZExt(cx->builder, at, msl_int(cx, 64), "");
        if (indexed)
            index = load_element(cg, slot_of(cg, RF_ARG_BUFFER, d->index_buffer), index,
                                 d->index_bytes);
        LLVMValueRef origin = msl_call_position(cg, RF_GRID_ORIGIN, dim);
        origin = LLVMBuildZExt(cx->builder, origin, msl_int(cx, 64), "");
        index = LLVMBuildAdd(cx->builder, index, origin, "");
    }
    LLVMValueRef stride = msl_const(cx, 64, l->stride);
    if (l->stride == MSL_STRIDE_DYNAMIC)
        stride = LLVMBuildPtrToInt(cx->builder, slot_of(cg, RF_ARG_STRIDE, a->buffer),
                                   msl_int(cx, 64), "");
    LLVMValueRef at = LLVMBuildAdd(cx->builder, LLVMBuildMul(cx->builder, index, stride, ""),
                                   msl_const(cx, 64, a->offset), "");
    return LLVMBuildGEP2(cx->builder, msl_int(cx, 8), base, &at, 1, "");
}

static Place find_place(Cg *cg, const MslVertexAttribute *a, uint32_t point, unsigned bytes) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef i64 = msl_int(cx, 64);
    const MslVertexLayout *layout = &cg->request->vertex->layouts[a->buffer];
    unsigned place = buffer_place(cg, a->buffer), slot = cg->fn->n_slots + place;
    LLVMValueRef launch = msl_stage_launch(cg);
    LLVMValueRef args = msl_stage_load(cg, msl_ptr(cx), launch, offsetof(CpuLaunch, args));
    LLVMValueRef lengths = msl_stage_load(cg, msl_ptr(cx), launch, offsetof(CpuLaunch, lengths));
    LLVMValueRef base = msl_stage_load(cg, msl_ptr(cx), args, slot * 8ull);
    LLVMValueRef length = msl_stage_load(cg, i64, lengths, slot * 8ull);
    LLVMValueRef stride = msl_const(cx, 64, layout->stride);
    if (layout->stride == MSL_STRIDE_DYNAMIC) {
        LLVMValueRef strides =
            msl_stage_load(cg, msl_ptr(cx), msl_stage_step(cg), offsetof(CpuVertexStep, strides));
        stride = msl_stage_load(cg, i64, strides, place * 8ull);
    }
    LLVMValueRef index = LLVMBuildZExt(cx->builder, load_index(cg, layout, point), i64, "");
    LLVMValueRef at = LLVMBuildAdd(cx->builder, LLVMBuildMul(cx->builder, index, stride, ""),
                                   msl_const(cx, 64, a->offset), "");
    LLVMValueRef end = LLVMBuildAdd(cx->builder, at, msl_const(cx, 64, bytes), "");
    return (Place){.address = LLVMBuildGEP2(cx->builder, msl_int(cx, 8), base, &at, 1, ""),
                   .inside = LLVMBuildICmp(cx->builder, LLVMIntULE, end, length, "")};
}

// Words of the attribute from the given one on, as many as one access has. Two or four whole ones
// are one vector: the vectoriser reads it at once for each lane.
static unsigned read_words(Cg *cg, const MslVertexAttribute *a, LLVMValueRef address, unsigned from,
                           unsigned bytes, LLVMValueRef *words) {
    MslContext *cx = &cg->cx;
    uint32_t stride = cg->request->vertex->layouts[a->buffer].stride; // dynamic: odd
    unsigned left = bytes - 4 * from, n = left >= 16 ? 4 : left >= 8 ? 2 : 1;
    LLVMTypeRef i32 = msl_int(cx, 32);
    LLVMValueRef word = NULL;
    if (left >= 4) {
        word = LLVMBuildLoad2(cx->builder, n > 1 ? LLVMVectorType(i32, n) : i32,
                              msl_stage_offset(cg, address, 4 * from), "");
        LLVMSetAlignment(word, 1);
    }
    // Attributes of two bytes are aligned to two (Metal's rule); others byte by byte.
    unsigned piece = left == 2 ? 2 : 1;
    for (unsigned k = 0; left < 4 && k < left; k += piece) {
        LLVMValueRef part = LLVMBuildLoad2(cx->builder, msl_int(cx, piece * 8),
                                           msl_stage_offset(cg, address, 4 * from + k), "");
        LLVMSetAlignment(part, piece == 2 && a->offset % 2 == 0 && stride % 2 == 0 ? 2 : 1);
        part = LLVMBuildZExt(cx->builder, part, i32, "");
        part = LLVMBuildShl(cx->builder, part, msl_const(cx, 32, 8 * k), "");
        word = word ? LLVMBuildOr(cx->builder, word, part, "") : part;
    }
    words[0] = word;
    for (unsigned i = 0; n > 1 && i < n; i++)
        words[i] = LLVMBuildExtractElement(cx->builder, word, msl_const(cx, 32, i), "");
    return n;
}

// The attribute's bytes as words, the last one perhaps shorter; 0 where it is not in its buffer.
static unsigned load_words(Cg *cg, const MslVertexAttribute *a, uint32_t point, unsigned bytes,
                           LLVMValueRef *words) {
    MslContext *cx = &cg->cx;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(cx->builder);
    LLVMBasicBlockRef join = LLVMAppendBasicBlockInContext(cx->llvm, cg->thread, "fetched");
    Place p = {0};
    if (is_kernel(cg)) {
        p.address = find_in_kernel(cg, a, join);
    } else {
        p = find_place(cg, a, point, bytes);
        LLVMBasicBlockRef in = LLVMAppendBasicBlockInContext(cx->llvm, cg->thread, "fetch");
        LLVMBuildCondBr(cx->builder, p.inside, in, join);
        LLVMPositionBuilderAtEnd(cx->builder, in);
    }
    LLVMBasicBlockRef in = LLVMGetInsertBlock(cx->builder);
    unsigned n = (bytes + 3) / 4, read = 0;
    while (read < n) read += read_words(cg, a, p.address, read, bytes, words + read);
    LLVMBuildBr(cx->builder, join);
    LLVMPositionBuilderAtEnd(cx->builder, join);
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef phi = LLVMBuildPhi(cx->builder, msl_int(cx, 32), "");
        LLVMAddIncoming(phi, (LLVMValueRef[]){words[i], msl_const(cx, 32, 0)},
                        (LLVMBasicBlockRef[]){in, before}, in == before ? 1 : 2);
        words[i] = phi;
    }
    return n;
}

// ---- what it means ----

static LLVMValueRef bits_of(Cg *cg, LLVMValueRef word, unsigned first, unsigned n, bool is_signed) {
    MslContext *cx = &cg->cx;
    if (n == 32) return word;
    if (is_signed) {
        word = LLVMBuildShl(cx->builder, word, msl_const(cx, 32, 32 - first - n), "");
        return LLVMBuildAShr(cx->builder, word, msl_const(cx, 32, 32 - n), "");
    }
    word = LLVMBuildLShr(cx->builder, word, msl_const(cx, 32, first), "");
    return LLVMBuildAnd(cx->builder, word, msl_const(cx, 32, (1u << n) - 1), "");
}

static LLVMValueRef normalised(Cg *cg, LLVMValueRef v, unsigned bits, bool is_signed) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef f32 = msl_float(cx);
    double greatest = is_signed ? (double)((1u << (bits - 1)) - 1) : (double)((1u << bits) - 1);
    LLVMValueRef x = is_signed ? LLVMBuildSIToFP(cx->builder, v, f32, "")
                               : LLVMBuildUIToFP(cx->builder, v, f32, "");
    x = LLVMBuildFDiv(cx->builder, x, LLVMConstReal(f32, greatest), "");
    if (!is_signed) return x;
    LLVMValueRef least = LLVMConstReal(f32, -1.0);
    LLVMValueRef below = LLVMBuildFCmp(cx->builder, LLVMRealOLT, x, least, "");
    return LLVMBuildSelect(cx->builder, below, least, x, "");
}

// The low 16 bits as half, widened.
static LLVMValueRef half_bits(Cg *cg, LLVMValueRef v) {
    MslContext *cx = &cg->cx;
    v = LLVMBuildTrunc(cx->builder, v, msl_int(cx, 16), "");
    v = LLVMBuildBitCast(cx->builder, v, LLVMHalfTypeInContext(cx->llvm), "");
    return LLVMBuildFPExt(cx->builder, v, msl_float(cx), "");
}

static LLVMValueRef packed(Cg *cg, uint32_t format, LLVMValueRef word, unsigned k) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef f32 = msl_float(cx);
    if (format ==
        MSL_VERTEX_FloatRG11B10) { // floats without a sign: halves with fewer bits at the end
        LLVMValueRef v = bits_of(cg, word, 11 * k, k < 2 ? 11 : 10, false);
        return half_bits(cg, LLVMBuildShl(cx->builder, v, msl_const(cx, 32, k < 2 ? 4 : 5), ""));
    }
    if (format == MSL_VERTEX_FloatRGB9E5) { // m * 2^(e - 24)
        LLVMValueRef e = bits_of(cg, word, 27, 5, false), m = bits_of(cg, word, 9 * k, 9, false);
        e = LLVMBuildAdd(cx->builder, e, msl_const(cx, 32, 127 - 24), "");
        e = LLVMBuildShl(cx->builder, e, msl_const(cx, 32, 23), "");
        return LLVMBuildFMul(cx->builder, LLVMBuildUIToFP(cx->builder, m, f32, ""),
                             LLVMBuildBitCast(cx->builder, e, f32, ""), "");
    }
    bool is_signed = format == MSL_VERTEX_Int1010102Normalized;
    unsigned n = k < 3 ? 10 : 2;
    return normalised(cg, bits_of(cg, word, 10 * k, n, is_signed), n, is_signed);
}

// Component k of the format: i32 of integer formats, else float.
static LLVMValueRef component(Cg *cg, const Format *f, const LLVMValueRef *words, unsigned k) {
    MslContext *cx = &cg->cx;
    if (f->kind == PACKED) return packed(cg, f->value, words[0], k);
    if (f->value == MSL_VERTEX_UChar4Normalized_BGRA && k < 3) k = 2 - k;
    unsigned bit = k * f->bits;
    bool is_signed = f->kind == SINT || f->kind == SNORM;
    LLVMValueRef v = bits_of(cg, words[bit / 32], bit % 32, f->bits, is_signed);
    if (f->kind == UNORM || f->kind == SNORM) return normalised(cg, v, f->bits, is_signed);
    if (f->kind != FLOAT) return v;
    return f->bits == 16 ? half_bits(cg, v) : LLVMBuildBitCast(cx->builder, v, msl_float(cx), "");
}

void msl_fetch_attribute(Cg *cg, const RfValue *v, uint32_t point, LLVMValueRef *out) {
    MslContext *cx = &cg->cx;
    StageScalar s = msl_stage_scalar(cg, v->data_type);
    const Format *f;
    const MslVertexAttribute *a = find_attribute(cg, v, &f, &s);
    LLVMValueRef words[4];
    load_words(cg, a, point, format_bytes(f), words);
    for (unsigned k = 0; k < v->n; k++) {
        if (k >= f->n) {
            out[k] = s.is_float ? LLVMConstReal(s.type, k == 3 ? 1.0 : 0.0)
                                : LLVMConstInt(s.type, k == 3, 0);
            continue;
        }
        LLVMValueRef x = component(cg, f, words, k);
        bool whole = LLVMTypeOf(x) == msl_int(cx, 32);
        if (!s.is_float)
            x = LLVMBuildIntCast2(cx->builder, x, s.type, s.is_signed, "");
        else if (whole && f->kind == SINT)
            x = LLVMBuildSIToFP(cx->builder, x, s.type, "");
        else if (whole)
            x = LLVMBuildUIToFP(cx->builder, x, s.type, "");
        else if (s.bits == 16)
            x = LLVMBuildFPTrunc(cx->builder, x, s.type, "");
        out[k] = x;
    }
}
