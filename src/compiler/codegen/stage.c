// SPDX-License-Identifier: Apache-2.0
// stage.c: from a vertex or fragment function as the front end wrote it to a thread function.
//   purpose   void thread(ptr slot0, ..., ptr slotN-1, ptr step): what kernels find in parameters
//             is loaded from the step (abi/cpu_stage.h), results are stored to its rows. A row is
//             an array of lanes addressed by the lane's index, so that the vectoriser makes one
//             vector access of it; planes are uniform loads.
//   requires  msl_load, msl_specialise; entry.c calls it for parameters that are no resources
// Fragment inputs: value = at + dx * x + dy * y in the primitive's own coordinates; perspective
// ones are then divided by the interpolated 1 / w, one division for each place (centre, centroid,
// sample) of a step.
#include "compiler/codegen/stage_int.h"
#include "abi/data_types.h"
#include <stddef.h>
#include <string.h>

LLVMTypeRef msl_float(const MslContext *cx) { return LLVMFloatTypeInContext(cx->llvm); }

StageScalar msl_stage_scalar(Cg *cg, uint32_t data_type) {
    MslContext *cx = &cg->cx;
    uint32_t n, scalar = rf_scalar_of(data_type, &n);
    switch (scalar) {
    case DT_FLOAT: return (StageScalar){msl_float(cx), 32, true, true};
    case DT_HALF: return (StageScalar){LLVMHalfTypeInContext(cx->llvm), 16, true, true};
    case DT_INT: return (StageScalar){msl_int(cx, 32), 32, false, true};
    case DT_UINT: return (StageScalar){msl_int(cx, 32), 32, false, false};
    case DT_SHORT: return (StageScalar){msl_int(cx, 16), 16, false, true};
    case DT_USHORT: return (StageScalar){msl_int(cx, 16), 16, false, false};
    case DT_CHAR: return (StageScalar){msl_int(cx, 8), 8, false, true};
    case DT_UCHAR:
    case DT_BOOL: return (StageScalar){msl_int(cx, 8), 8, false, false};
    default: msl_fail(cx, "internal error: a stage value of type %u", data_type);
    }
}

LLVMValueRef msl_stage_step(Cg *cg) { return LLVMGetParam(cg->thread, cg->fn->n_slots); }

LLVMValueRef msl_stage_offset(Cg *cg, LLVMValueRef base, uint64_t offset) {
    LLVMValueRef at = msl_const(&cg->cx, 64, offset);
    if (!offset) return base;
    return LLVMBuildInBoundsGEP2(cg->cx.builder, msl_int(&cg->cx, 8), base, &at, 1, "");
}

LLVMValueRef msl_stage_load(Cg *cg, LLVMTypeRef type, LLVMValueRef base, uint64_t offset) {
    MslContext *cx = &cg->cx;
    LLVMValueRef v = LLVMBuildLoad2(cx->builder, type, msl_stage_offset(cg, base, offset), "");
    LLVMSetAlignment(v, LLVMGetTypeKind(type) == LLVMPointerTypeKind ? 8 : 4);
    LLVMSetMetadata(v, LLVMGetMDKindIDInContext(cx->llvm, "invariant.load", 14),
                    LLVMMetadataAsValue(cx->llvm, LLVMMDNodeInContext2(cx->llvm, NULL, 0)));
    return v;
}

LLVMValueRef msl_stage_launch(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef type = LLVMFunctionType(msl_ptr(cx), NULL, 0, 0);
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, "__ingot_launch");
    if (!f) {
        f = LLVMAddFunction(cx->module, "__ingot_launch", type);
        static const char *const pure[] = {"nounwind", "willreturn", "nofree", "nosync"};
        for (size_t i = 0; i < sizeof pure / sizeof *pure; i++)
            msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, pure[i], 0);
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "memory", 0);
    }
    return LLVMBuildCall2(cx->builder, type, f, NULL, 0, "");
}

static LLVMValueRef lane_index(Cg *cg) {
    return msl_call_position(cg, RF_THREAD_INDEX_IN_SIMDGROUP, 0);
}

LLVMValueRef msl_stage_lane(Cg *cg) {
    return LLVMBuildZExt(cg->cx.builder, lane_index(cg), msl_int(&cg->cx, 64), "lane");
}

LLVMValueRef msl_stage_row(Cg *cg, LLVMValueRef rows, unsigned row) {
    MslContext *cx = &cg->cx;
    LLVMValueRef lane = msl_stage_lane(cg);
    LLVMValueRef first = msl_stage_offset(cg, rows, (uint64_t)row * CPU_STAGE_LANES * 4);
    return LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 32), first, &lane, 1, "");
}

static LLVMValueRef fma3(Cg *cg, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef f32 = msl_float(cx), in[3] = {f32, f32, f32};
    LLVMTypeRef type = LLVMFunctionType(f32, in, 3, 0);
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, "llvm.fma.f32"), args[3] = {a, b, c};
    if (!f) f = LLVMAddFunction(cx->module, "llvm.fma.f32", type);
    return LLVMBuildCall2(cx->builder, type, f, args, 3, "");
}

// A row word (i32) or interpolated number (float) as one component of the program's type.
static LLVMValueRef to_scalar(Cg *cg, LLVMValueRef v, const StageScalar *s) {
    MslContext *cx = &cg->cx;
    bool is_float = LLVMTypeOf(v) == msl_float(cx);
    if (s->is_float) {
        if (!is_float) v = LLVMBuildBitCast(cx->builder, v, msl_float(cx), "");
        return s->bits == 32 ? v : LLVMBuildFPTrunc(cx->builder, v, s->type, "");
    }
    if (is_float) v = LLVMBuildBitCast(cx->builder, v, msl_int(cx, 32), "");
    return s->bits == 32 ? v : LLVMBuildTrunc(cx->builder, v, s->type, "");
}

static LLVMValueRef to_word(Cg *cg, LLVMValueRef v, const StageScalar *s) {
    MslContext *cx = &cg->cx;
    if (s->is_float && s->bits < 32) v = LLVMBuildFPExt(cx->builder, v, msl_float(cx), "");
    if (s->is_float) return LLVMBuildBitCast(cx->builder, v, msl_int(cx, 32), "");
    return LLVMBuildIntCast2(cx->builder, v, msl_int(cx, 32), s->is_signed, "");
}

// ---- fragment inputs ----

// The lane's pixel in the block: quads of 2 x 2, four in a row of quads.
static LLVMValueRef lane_part(Cg *cg, bool y) {
    MslContext *cx = &cg->cx;
    LLVMValueRef l = lane_index(cg), one = msl_const(cx, 32, 1);
    LLVMValueRef low = y ? LLVMBuildLShr(cx->builder, l, one, "") : l;
    low = LLVMBuildAnd(cx->builder, low, one, "");
    LLVMValueRef high = LLVMBuildLShr(cx->builder, l, msl_const(cx, 32, y ? 4 : 2), "");
    high = LLVMBuildAnd(cx->builder, high, msl_const(cx, 32, y ? 1 : 3), "");
    high = LLVMBuildShl(cx->builder, high, one, "");
    return LLVMBuildUIToFP(cx->builder, LLVMBuildOr(cx->builder, low, high, ""), msl_float(cx), "");
}

// Coordinates in which planes are given, of a place in the lane's pixel.
static LLVMValueRef plane_coordinate(Cg *cg, unsigned place, bool y) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef f32 = msl_float(cx);
    LLVMValueRef step = msl_stage_step(cg), in, at = lane_part(cg, y);
    if (place == ABI_AT_CENTROID)
        in = msl_stage_load(
            cg, f32,
            msl_stage_row(
                cg, msl_stage_load(cg, msl_ptr(cx), step, offsetof(CpuFragmentStep, centroid)), y),
            0);
    else if (place == ABI_AT_SAMPLE)
        in = msl_stage_load(cg, f32, step, offsetof(CpuFragmentStep, sample) + (y ? 4 : 0));
    else
        in = LLVMConstReal(f32, 0.5);
    LLVMValueRef from =
        msl_stage_load(cg, f32, step, offsetof(CpuFragmentStep, from) + (y ? 4 : 0));
    return LLVMBuildFAdd(cx->builder, LLVMBuildFAdd(cx->builder, at, in, ""), from, "");
}

static LLVMValueRef plane_value(Cg *cg, LLVMValueRef planes, uint64_t offset, unsigned place) {
    LLVMTypeRef f32 = msl_float(&cg->cx);
    LLVMValueRef at = msl_stage_load(cg, f32, planes, offset + offsetof(CpuPlane, at));
    LLVMValueRef dx = msl_stage_load(cg, f32, planes, offset + offsetof(CpuPlane, dx));
    LLVMValueRef dy = msl_stage_load(cg, f32, planes, offset + offsetof(CpuPlane, dy));
    LLVMValueRef y = fma3(cg, dy, plane_coordinate(cg, place, true), at);
    return fma3(cg, dx, plane_coordinate(cg, place, false), y);
}

// The optimiser makes one of all equal ones.
static LLVMValueRef w_at(Cg *cg, unsigned place) {
    LLVMValueRef w = plane_value(cg, msl_stage_step(cg), offsetof(CpuFragmentStep, w), place);
    return LLVMBuildFDiv(cg->cx.builder, LLVMConstReal(msl_float(&cg->cx), 1.0), w, "");
}

static LLVMValueRef interpolate(Cg *cg, const RfValue *v, unsigned component) {
    MslContext *cx = &cg->cx;
    LLVMValueRef planes =
        msl_stage_load(cg, msl_ptr(cx), msl_stage_step(cg), offsetof(CpuFragmentStep, planes));
    uint64_t offset = (uint64_t)(v->row + component) * sizeof(CpuPlane);
    if (v->interpolation == ABI_FLAT || msl_is_of_primitive(cg, v->row)) // the bits
        return msl_stage_load(cg, msl_int(cx, 32), planes, offset + offsetof(CpuPlane, at));
    LLVMValueRef value = plane_value(cg, planes, offset, v->place);
    if (v->interpolation == ABI_LINEAR) return value;
    return LLVMBuildFMul(cx->builder, value, w_at(cg, v->place), "");
}

static LLVMValueRef fragment_position(Cg *cg, unsigned component) {
    MslContext *cx = &cg->cx;
    LLVMValueRef step = msl_stage_step(cg);
    if (component == 2) return plane_value(cg, step, offsetof(CpuFragmentStep, z), ABI_AT_CENTER);
    if (component == 3) return plane_value(cg, step, offsetof(CpuFragmentStep, w), ABI_AT_CENTER);
    bool y = component == 1;
    LLVMValueRef first = msl_stage_load(
        cg, msl_int(cx, 32), step, y ? offsetof(CpuFragmentStep, y) : offsetof(CpuFragmentStep, x));
    LLVMValueRef at =
        LLVMBuildFAdd(cx->builder, lane_part(cg, y), LLVMConstReal(msl_float(cx), 0.5), "");
    return LLVMBuildFAdd(cx->builder, LLVMBuildSIToFP(cx->builder, first, msl_float(cx), ""), at,
                         "");
}

static LLVMValueRef barycentric(Cg *cg, const RfValue *v, unsigned component) {
    MslContext *cx = &cg->cx;
    bool linear = v->interpolation == ABI_LINEAR;
    uint64_t first = linear ? offsetof(CpuFragmentStep, barycentric_linear)
                            : offsetof(CpuFragmentStep, barycentric);
    LLVMValueRef part[2];
    for (unsigned k = 0; k < 2; k++) {
        part[k] = plane_value(cg, msl_stage_step(cg), first + k * sizeof(CpuPlane), v->place);
        if (!linear) part[k] = LLVMBuildFMul(cx->builder, part[k], w_at(cg, v->place), "");
    }
    if (component < 2) return part[component];
    LLVMValueRef one = LLVMConstReal(msl_float(cx), 1.0);
    return LLVMBuildFSub(cx->builder, LLVMBuildFSub(cx->builder, one, part[0], ""), part[1], "");
}

static LLVMValueRef row_in(Cg *cg, uint64_t field, unsigned row) {
    MslContext *cx = &cg->cx;
    LLVMValueRef rows = msl_stage_load(cg, msl_ptr(cx), msl_stage_step(cg), field);
    return msl_stage_load(cg, msl_int(cx, 32), msl_stage_row(cg, rows, row), 0);
}

static LLVMValueRef field(Cg *cg, uint64_t offset) {
    return msl_stage_load(cg, msl_int(&cg->cx, 32), msl_stage_step(cg), offset);
}

// ---- tiles: those of the program ----

static LLVMValueRef block_corner(Cg *cg, bool y) {
    return field(cg, y ? offsetof(CpuFragmentStep, y) : offsetof(CpuFragmentStep, x));
}

static LLVMValueRef tile_side(Cg *cg, bool y) {
    return field(cg, offsetof(CpuFragmentStep, tile_size) + (y ? 4 : 0));
}

// A block lies in one tile as a whole, and tile sizes are powers of two.
static LLVMValueRef pixel_in_tile(Cg *cg, bool y) {
    MslContext *cx = &cg->cx;
    LLVMValueRef most = LLVMBuildSub(cx->builder, tile_side(cg, y), msl_const(cx, 32, 1), "");
    LLVMValueRef first = LLVMBuildAnd(cx->builder, block_corner(cg, y), most, "");
    LLVMValueRef lane = LLVMBuildFPToUI(cx->builder, lane_part(cg, y), msl_int(cx, 32), "");
    return LLVMBuildAdd(cx->builder, first, lane, "");
}

static LLVMValueRef tile_index(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMValueRef at[2];
    for (int y = 0; y < 2; y++)
        at[y] = LLVMBuildUDiv(cx->builder, block_corner(cg, y), tile_side(cg, y), "");
    LLVMValueRef row =
        LLVMBuildMul(cx->builder, at[1], field(cg, offsetof(CpuFragmentStep, tile_columns)), "");
    return LLVMBuildAdd(cx->builder, row, at[0], "");
}

LLVMValueRef msl_stage_threadgroup(Cg *cg, LLVMValueRef offset) {
    MslContext *cx = &cg->cx;
    LLVMValueRef base =
        msl_stage_load(cg, msl_ptr(cx), msl_stage_step(cg), offsetof(CpuFragmentStep, threadgroup));
    return LLVMBuildGEP2(cx->builder, msl_int(cx, 8), base, &offset, 1, "");
}

static LLVMValueRef scaled(Cg *cg, LLVMValueRef n, uint64_t stride_field) {
    MslContext *cx = &cg->cx;
    LLVMValueRef product = LLVMBuildMul(cx->builder, n, field(cg, stride_field), "");
    return LLVMBuildZExt(cx->builder, product, msl_int(cx, 64), "");
}

// Bytes that are copied at once: no more than are left, and as the pixel's address allows.
static unsigned piece(const RfValue *v, uint32_t at) {
    uint32_t left = v->stride - at, from = v->row + at;
    return left >= 4 && from % 4 == 0 ? 4 : left >= 2 && from % 2 == 0 ? 2 : 1;
}

static void load_pixel(Cg *cg, const RfValue *v, LLVMValueRef memory) {
    MslContext *cx = &cg->cx;
    LLVMValueRef part[2], pixel = msl_stage_load(cg, msl_ptr(cx), msl_stage_step(cg),
                                                 offsetof(CpuFragmentStep, imageblock));
    for (int y = 0; y < 2; y++) {
        LLVMValueRef lane = LLVMBuildFPToUI(cx->builder, lane_part(cg, y), msl_int(cx, 32), "");
        part[y] = scaled(cg, lane,
                         y ? offsetof(CpuFragmentStep, imageblock_row)
                           : offsetof(CpuFragmentStep, imageblock_stride));
    }
    LLVMValueRef offset = LLVMBuildAdd(cx->builder, part[0], part[1], "");
    pixel = LLVMBuildGEP2(cx->builder, msl_int(cx, 8), pixel, &offset, 1, "");
    // In pieces: a structure in memory of the thread goes away if it is copied so.
    for (uint32_t at = 0, n; at < v->stride; at += n) {
        n = piece(v, at);
        LLVMValueRef from = msl_stage_offset(cg, pixel, v->row + at);
        LLVMValueRef word = LLVMBuildLoad2(cx->builder, msl_int(cx, n * 8), from, "");
        LLVMSetAlignment(word, n);
        LLVMValueRef to = msl_stage_offset(cg, memory, v->offset + at);
        LLVMSetAlignment(LLVMBuildStore(cx->builder, word, to), 1);
    }
}

static void store_pixel(Cg *cg, const RfValue *v, LLVMValueRef memory) {
    MslContext *cx = &cg->cx;
    LLVMValueRef rows = msl_stage_load(cg, msl_ptr(cx), msl_stage_step(cg),
                                       offsetof(CpuFragmentStep, imageblock_out));
    for (uint32_t at = 0; at < v->stride; at += 4) {
        LLVMValueRef word = msl_const(cx, 32, 0);
        for (uint32_t n, k = at; k < at + 4 && k < v->stride; k += n) {
            n = piece(v, k);
            LLVMValueRef from = msl_stage_offset(cg, memory, v->offset + k);
            LLVMValueRef part = LLVMBuildLoad2(cx->builder, msl_int(cx, n * 8), from, "");
            LLVMSetAlignment(part, 1);
            if (n < 4) part = LLVMBuildZExt(cx->builder, part, msl_int(cx, 32), "");
            part = LLVMBuildShl(cx->builder, part, msl_const(cx, 32, (k - at) * 8), "");
            word = LLVMBuildOr(cx->builder, word, part, "");
        }
        LLVMSetAlignment(LLVMBuildStore(cx->builder, word, msl_stage_row(cg, rows, at / 4)), 4);
    }
}

// The members of a view go into the pixel as it was when the function began.
static void store_view(Cg *cg, LLVMValueRef memory) {
    MslContext *cx = &cg->cx;
    const RfValue whole = {.stride = cg->fn->imageblock_bytes};
    LLVMValueRef pixel =
        LLVMBuildAlloca(cx->builder, LLVMArrayType2(msl_int(cx, 8), cg->fn->imageblock_bytes), "");
    LLVMSetAlignment(pixel, 16);
    load_pixel(cg, &whole, pixel);
    for (uint32_t i = 0; i < cg->fn->n_outputs; i++) {
        const RfValue *v = &cg->fn->outputs[i];
        for (uint32_t at = 0, n; v->role == RF_IMAGEBLOCK && at < v->stride; at += n) {
            n = piece(v, at);
            LLVMValueRef part = LLVMBuildLoad2(cx->builder, msl_int(cx, n * 8),
                                               msl_stage_offset(cg, memory, v->offset + at), "");
            LLVMSetAlignment(part, 1);
            LLVMSetAlignment(
                LLVMBuildStore(cx->builder, part, msl_stage_offset(cg, pixel, v->row + at)), 1);
        }
    }
    store_pixel(cg, &whole, pixel);
}

// One component of an input of a fragment function, before it takes the program's type.
static LLVMValueRef fragment_input(Cg *cg, const RfValue *v, unsigned component) {
    MslContext *cx = &cg->cx;
    switch (v->role) {
    case RF_VALUE: return interpolate(cg, v, component);
    case RF_POSITION: return fragment_position(cg, component);
    case RF_BARYCENTRIC: return barycentric(cg, v, component);
    case RF_COLOR: return row_in(cg, offsetof(CpuFragmentStep, color_in), 4 * v->index + component);
    case RF_POINT_COORD: return row_in(cg, offsetof(CpuFragmentStep, point_coord), component);
    case RF_SAMPLE_MASK: return row_in(cg, offsetof(CpuFragmentStep, coverage), 0);
    case RF_FRONT_FACING: {
        LLVMValueRef on =
            LLVMBuildICmp(cx->builder, LLVMIntNE, field(cg, offsetof(CpuFragmentStep, front)),
                          msl_const(cx, 32, 0), "");
        return LLVMBuildZExt(cx->builder, on, msl_int(cx, 32), "");
    }
    case RF_PRIMITIVE_ID: return field(cg, offsetof(CpuFragmentStep, primitive_id));
    case RF_SAMPLE_ID: return field(cg, offsetof(CpuFragmentStep, sample_id));
    case RF_LAYER: return field(cg, offsetof(CpuFragmentStep, layer));
    case RF_VIEWPORT: return field(cg, offsetof(CpuFragmentStep, viewport));
    case RF_AMPLIFICATION_ID: return field(cg, offsetof(CpuFragmentStep, amplification_id));
    case RF_AMPLIFICATION_COUNT: return field(cg, offsetof(CpuFragmentStep, amplification_count));
    case RF_PIXELS_PER_TILE:
        return field(cg, offsetof(CpuFragmentStep, tile_size) + component * 4ull);
    case RF_PIXEL_IN_TILE: return pixel_in_tile(cg, component == 1);
    case RF_TILE_INDEX: return tile_index(cg);
    default: return msl_const(cx, 32, 0); // point size and clip distances end at the rasteriser
    }
}

static LLVMValueRef vertex_input(Cg *cg, const RfValue *v, unsigned component) {
    MslContext *cx = &cg->cx;
    switch (v->role) {
    case RF_POSITION_IN_PATCH: return row_in(cg, offsetof(CpuVertexStep, domain), component);
    case RF_PATCH_ID:
    case RF_VERTEX_ID: return row_in(cg, offsetof(CpuVertexStep, vertices), 0);
    case RF_INSTANCE_ID: return field(cg, offsetof(CpuVertexStep, instance));
    case RF_BASE_VERTEX: return field(cg, offsetof(CpuVertexStep, base_vertex));
    case RF_BASE_INSTANCE: return field(cg, offsetof(CpuVertexStep, base_instance));
    case RF_AMPLIFICATION_ID: return field(cg, offsetof(CpuVertexStep, amplification_id));
    case RF_AMPLIFICATION_COUNT: return field(cg, offsetof(CpuVertexStep, amplification_count));
    default: msl_fail(cx, "internal error: input '%s' of '%s'", v->name, cg->fn->name);
    }
}

// ---- parameters and results ----

// A patch_control_point<T>: an array of the points, which the values that follow fill in, and how
// many there are.
static LLVMValueRef begin_points(Cg *cg, const RfValue *v, LLVMValueRef memory) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef type = LLVMArrayType2(msl_int(cx, 8), (uint64_t)v->points * v->stride);
    LLVMValueRef points = LLVMBuildAlloca(cx->builder, type, "");
    LLVMSetAlignment(points, 16);
    LLVMBuildStore(cx->builder, LLVMConstNull(type), points);
    LLVMBuildStore(cx->builder, points, msl_stage_offset(cg, memory, v->offset));
    LLVMValueRef n = msl_const(cx, 64, v->points);
    if (!cg->fn->patch_points)
        n = LLVMBuildZExt(cx->builder, field(cg, offsetof(CpuVertexStep, n_control_points)),
                          msl_int(cx, 64), "");
    LLVMBuildStore(cx->builder, n, msl_stage_offset(cg, memory, v->offset + 8));
    return points;
}

static void store_point(Cg *cg, const RfValue *v, LLVMValueRef points) {
    StageScalar s = msl_stage_scalar(cg, v->data_type);
    LLVMValueRef part[ABI_MAX_CLIP];
    for (uint32_t i = 0; i < v->points; i++) {
        msl_fetch_attribute(cg, v, i, part);
        for (unsigned k = 0; k < v->n; k++) {
            LLVMValueRef at =
                msl_stage_offset(cg, points, (uint64_t)i * v->stride + v->offset + k * s.bits / 8);
            LLVMSetAlignment(LLVMBuildStore(cg->cx.builder, part[k], at), s.bits / 8);
        }
    }
}

static void store_float(Cg *cg, LLVMValueRef memory, uint64_t at, LLVMValueRef value) {
    LLVMSetAlignment(LLVMBuildStore(cg->cx.builder, value, msl_stage_offset(cg, memory, at)), 4);
}

// An interpolant<T, P>, as stdlib/detail/graphics.h has it.
static void store_interpolant(Cg *cg, const RfValue *v, LLVMValueRef memory) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef f32 = msl_float(cx);
    LLVMValueRef step = msl_stage_step(cg);
    LLVMValueRef planes = msl_stage_load(cg, msl_ptr(cx), step, offsetof(CpuFragmentStep, planes));
    for (uint32_t k = 0; k < 3 * (v->n + 1); k++) {
        bool w = k >= 3 * v->n;
        uint64_t from = w ? offsetof(CpuFragmentStep, w) + (k - 3 * v->n) * 4ull
                          : (uint64_t)v->row * sizeof(CpuPlane) + k * 4ull;
        store_float(cg, memory, v->offset + k * 4ull,
                    msl_stage_load(cg, f32, w ? step : planes, from));
    }
    uint64_t corner = v->offset + 12ull * (v->n + 1);
    for (unsigned y = 0; y < 2; y++) {
        LLVMValueRef from =
            msl_stage_load(cg, f32, step, offsetof(CpuFragmentStep, from) + y * 4ull);
        store_float(cg, memory, corner + y * 4ull,
                    LLVMBuildFAdd(cx->builder, lane_part(cg, y), from, ""));
        LLVMValueRef rows =
            msl_stage_load(cg, msl_ptr(cx), step, offsetof(CpuFragmentStep, centroid));
        store_float(cg, memory, corner + 8 + y * 4ull,
                    msl_stage_load(cg, f32, msl_stage_row(cg, rows, y), 0));
    }
}

static void store_components(Cg *cg, const RfValue *v, LLVMValueRef memory) {
    MslContext *cx = &cg->cx;
    StageScalar s = msl_stage_scalar(cg, v->data_type);
    LLVMValueRef part[ABI_MAX_CLIP];
    if (v->n > ABI_MAX_CLIP) msl_fail(cx, "internal error: %u components", v->n);
    if (v->role == RF_ATTRIBUTE) msl_fetch_attribute(cg, v, 0, part);
    for (unsigned k = 0; k < v->n; k++) {
        if (v->role != RF_ATTRIBUTE)
            part[k] = to_scalar(
                cg, cg->fn->stage == RF_VERTEX ? vertex_input(cg, v, k) : fragment_input(cg, v, k),
                &s);
        LLVMValueRef at = msl_stage_offset(cg, memory, v->offset + k * s.bits / 8);
        LLVMSetAlignment(LLVMBuildStore(cx->builder, part[k], at), s.bits / 8);
    }
}

LLVMValueRef msl_build_stage_input(Cg *cg, uint32_t param, LLVMTypeRef want, LLVMTypeRef byval) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef memory_type = byval ? byval : want;
    if (LLVMGetTypeKind(want) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(want) < 8)
        memory_type = msl_int(cx, 8); // bool
    LLVMValueRef memory = LLVMBuildAlloca(cx->builder, memory_type, "");
    LLVMSetAlignment(memory, 16);
    LLVMBuildStore(cx->builder, LLVMConstNull(memory_type), memory);
    bool found = false;
    LLVMValueRef points = NULL;
    for (uint32_t i = 0; i < cg->fn->n_inputs; i++) {
        const RfValue *v = &cg->fn->inputs[i];
        if (v->param != param) continue;
        found = true;
        if (!msl_condition_holds(cg, v->condition)) continue;
        if (v->role == RF_CONTROL_POINTS)
            points = begin_points(cg, v, memory);
        else if (v->points && points)
            store_point(cg, v, points);
        else if (v->pull)
            store_interpolant(cg, v, memory);
        else if (v->role == RF_IMAGEBLOCK)
            load_pixel(cg, v, memory);
        else
            store_components(cg, v, memory);
    }
    if (!found && !byval) return NULL;
    if (byval) return memory;
    LLVMValueRef value = LLVMBuildLoad2(cx->builder, memory_type, memory, "");
    return memory_type == want ? value : LLVMBuildTrunc(cx->builder, value, want, "");
}

// Offset in the step of the pointer to the rows a value goes to, and the first row.
static uint64_t rows_of(Cg *cg, const RfValue *v, unsigned *row) {
    *row = 0;
    if (cg->fn->stage == RF_VERTEX) {
        *row = rf_vertex_row(v);
        return offsetof(CpuVertexStep, out);
    }
    switch (v->role) {
    case RF_DEPTH: return offsetof(CpuFragmentStep, depth);
    case RF_STENCIL: return offsetof(CpuFragmentStep, stencil);
    case RF_SAMPLE_MASK: return offsetof(CpuFragmentStep, sample_mask);
    default:
        *row = v->source ? CPU_COLOR_DUAL : 4 * v->index;
        return offsetof(CpuFragmentStep, colors);
    }
}

static void store_output(Cg *cg, const RfValue *v, LLVMValueRef memory) {
    MslContext *cx = &cg->cx;
    if (v->role == RF_IMAGEBLOCK) {
        store_pixel(cg, v, memory);
        return;
    }
    StageScalar s = msl_stage_scalar(cg, v->data_type);
    unsigned row;
    uint64_t offset = rows_of(cg, v, &row);
    LLVMValueRef rows = msl_stage_load(cg, msl_ptr(cx), msl_stage_step(cg), offset);
    unsigned n = v->role == RF_COLOR ? 4 : v->n;
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef word;
        if (k < v->n) {
            LLVMValueRef at = msl_stage_offset(cg, memory, v->offset + k * s.bits / 8);
            LLVMValueRef part = LLVMBuildLoad2(cx->builder, s.type, at, "");
            LLVMSetAlignment(part, s.bits / 8);
            word = to_word(cg, part, &s);
        } else { // a colour of fewer components: 0, 0, 0, 1
            word = msl_const(cx, 32, k < 3 ? 0 : s.is_float ? 0x3f800000u : 1);
        }
        LLVMSetAlignment(LLVMBuildStore(cx->builder, word, msl_stage_row(cg, rows, row + k)), 4);
    }
}

void msl_store_stage_outputs(Cg *cg, LLVMValueRef memory) {
    bool view = false;
    for (uint32_t i = 0; i < cg->fn->n_outputs; i++) {
        const RfValue *v = &cg->fn->outputs[i];
        bool of_view = v->role == RF_IMAGEBLOCK && v->source;
        view |= of_view;
        if (!of_view && msl_condition_holds(cg, v->condition)) store_output(cg, v, memory);
    }
    if (view) store_view(cg, memory);
}
