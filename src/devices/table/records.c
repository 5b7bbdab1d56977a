// SPDX-License-Identifier: Apache-2.0
// records.c: the records of the device table, field by field (schema.h). Limits are those of
// Metal's enumerations and of the runtime's checks: what a device may assume of its input holds for
// whatever is read by these rows. Their order is that of a capture's bytes: a new field of a record
// that captures have goes to a new version of the format (docs/internals/capture.md).
#include "devices/table/records.h"
#include "abi/pixel_format.h"
#include "abi/texture_layout.h"
#include "devices/table/pass.h"
#include "devices/table/rays.h"
#include "devices/table/schema_rows.h"

enum {
    MAX_ARGS = 1 << 16,
    MAX_VALUES = 1 << 12,
    MAX_WIDTH = 1 << 28, // of a texture buffer
    MAX_EXTENT = 1 << 16,
    MAX_SLICES = 1 << 16,
    MAX_THREADGROUP_BYTES = 1 << 20,
    MAX_IMAGEBLOCK = 1 << 16, // bytes of a pixel, or of a tile's threadgroup memory
    MAX_ITEMS = 1 << 24,      // geometries, instances
    MAX_PRIMITIVES = 1 << 28,
    MAX_KEYFRAMES = 129,
    MAX_DATA = 4096, // bytes of a primitive
};

// ---- Items of lists ----

#define WHOLE(k, limit) {.kind = (k), .n = 1, .n_bytes = sizeof(Record), .most = (limit)}
SCHEMA(uint64_t, .plain = true, WHOLE(SCHEMA_U64, UINT64_MAX));
SCHEMA(uint16_t, .plain = true, WHOLE(SCHEMA_U16, UINT16_MAX));
SCHEMA(float, .plain = true, WHOLE(SCHEMA_U32, UINT32_MAX));

// ---- Textures and samplers ----

#define EXTENTS U32(width, MAX_WIDTH), U32(height, MAX_EXTENT), U32(depth, MAX_EXTENT)

static bool check_texture(const void *record) {
    const AbiTexture *t = record;
    return t->n_levels && t->n_samples && abi_pixel_format(t->pixel_format);
}

static SCHEMA(AbiTextureLevel, .check = NULL, ADDRESS(data), U64(row_bytes), U64(layer_bytes),
              EXTENTS, KEPT(reserved));
SCHEMA(AbiTexture, .check = check_texture, EXTENTS, U32(array_length, MAX_EXTENT),
       U32(n_levels, ABI_MAX_LEVELS), U32(n_samples, ABI_MAX_SAMPLES), U16(pixel_format, 1023),
       U8(type, ABI_TEXTURE_N_TYPES - 1), U8(swizzled, 1), U8S(swizzle, 4, ABI_SWIZZLE_ALPHA),
       U64(sample_bytes), WORD(sparse_level), WORD(sparse_slice),
       FIRST(levels, AbiTextureLevel, ABI_MAX_LEVELS, n_levels), HOST(format), HOST(sparse));
SCHEMA(AbiSampler, .plain = true, U8(min_filter, 1), U8(mag_filter, 1), U8(mip_filter, 2),
       U8S(address, 3, 5), U8(compare, ABI_COMPARE_ALWAYS), U8(border, 2), U8(unnormalized, 1),
       U8(lod_average, 1), U8(max_anisotropy, 16), U8(reduction, 2), F32(lod_min), F32(lod_max),
       F32(lod_bias));

// ---- Dispatches and copies ----

static bool check_dispatch(const void *record) {
    const uint32_t *n = ((const DevDispatch *)record)->group_size;
    const uint64_t group = (uint64_t)n[0] * n[1] * n[2];
    return group && group <= ABI_MAX_THREADS;
}

static SCHEMA(DevImageblock, .plain = true, WORD(slot), U32(at, MAX_THREADGROUP_BYTES),
              U32(width, 65535), U32(height, 65535), U32(pixel_bytes, MAX_IMAGEBLOCK));
SCHEMA(DevDispatch, .check = check_dispatch, CODE(code), U32(n_args, MAX_ARGS),
       U32(static_bytes, MAX_THREADGROUP_BYTES), ARGUMENTS(args, n_args),
       WORDS(threads_per_grid, 3), WORDS(groups_per_grid, 3), U32S(group_size, 3, ABI_MAX_THREADS),
       WORDS(grid_origin, 3), WORDS(grid_size, 3), U32(threadgroup_bytes, MAX_THREADGROUP_BYTES),
       RECORD(imageblock, DevImageblock), HOST(optimised), HOST(want_optimised), HOST(want_context),
       KEPT(want_ns), KEPT(indirect), KEPT(indirect_group), KEPT(max_threads), KEPT(schedule),
       LOCAL_LIST(lengths, uint64_t, n_args), LIVE(live), CONTEXT(context));

static SCHEMA(DevSide, .check = NULL, ADDRESS(at), U64(row), U64(plane), U64(step),
              TEXTURE(texture), FLAG(twiddled), U32(level, ABI_MAX_LEVELS - 1),
              U32(slice, MAX_SLICES), U32(sample, ABI_MAX_SAMPLES), U32(x, MAX_WIDTH),
              U32(y, MAX_WIDTH), U32(z, MAX_WIDTH));
SCHEMA(DevMove, .check = NULL, RECORD(from, DevSide), RECORD(to, DevSide), U64(row), U64(element),
       U64(fill), U64(n_elements), U64(n_rows), U64(n_planes));

// ---- Passes ----

#define ATTACHMENT                                                                                 \
    RECORD(view, DevTarget), RECORD(resolve, DevTarget), U8(load, DEV_LOAD_CLEAR),                 \
        U8(store, DEV_STORE_STORE_AND_RESOLVE)
COUNT(n_columns, DevRateLayer, 2 * ((uint64_t)r->n_columns + 1));
COUNT(n_rows, DevRateLayer, 2 * ((uint64_t)r->n_rows + 1));

static SCHEMA(DevTarget, .check = NULL, TEXTURE(texture), U32(level, ABI_MAX_LEVELS - 1),
              U32(slice, MAX_SLICES));
static SCHEMA(DevColor, .check = NULL, ATTACHMENT, F64S(clear, 4));
static SCHEMA(DevDepth, .check = NULL, ATTACHMENT, U8(resolve_filter, DEV_RESOLVE_MAX), F64(clear));
static SCHEMA(DevRateLayer, .check = NULL, U32(n_columns, 1 << 14), U32(n_rows, 1 << 14),
              LIST_BY(columns, float, n_columns), LIST_BY(rows, float, n_rows));
static SCHEMA(DevRates, .check = NULL, U32(n_layers, 1 << 12), WORD(width), WORD(height),
              LIST(layers, DevRateLayer, n_layers));
SCHEMA(DevPass, .check = NULL, RECORDS(colors, DevColor, ABI_MAX_COLORS), RECORD(depth, DevDepth),
       RECORD(stencil, DevDepth), U32(width, MAX_EXTENT), U32(height, MAX_EXTENT),
       U32(n_layers, MAX_SLICES), U32(n_samples, ABI_MAX_SAMPLES),
       U32(n_sample_positions, ABI_MAX_SAMPLES), F32S(sample_positions, 2 * ABI_MAX_SAMPLES),
       U32(tile_width, 64), U32(tile_height, 64), U32(imageblock_bytes, MAX_IMAGEBLOCK),
       U32(threadgroup_bytes, MAX_IMAGEBLOCK), ONE(rates, DevRates));

// ---- State ----

#define BLEND(i) RECORD(blend[i], DevBlend), U8(color_map[i], ABI_MAX_COLORS)

static SCHEMA(DevViewport, .plain = true, F64(x), F64(y), F64(width), F64(height), F64(znear),
              F64(zfar));
static SCHEMA(DevScissor, .plain = true, U32(x, MAX_EXTENT), U32(y, MAX_EXTENT),
              U32(width, MAX_EXTENT), U32(height, MAX_EXTENT));
static SCHEMA(DevStencil, .plain = true, U8(compare, ABI_COMPARE_ALWAYS),
              U8(fail, DEV_STENCIL_DECREMENT_WRAP), U8(depth_fail, DEV_STENCIL_DECREMENT_WRAP),
              U8(pass, DEV_STENCIL_DECREMENT_WRAP), U8(read_mask, 255), U8(write_mask, 255),
              U8(reference, 255));
static SCHEMA(DevBlend, .plain = true, FLAG(enabled), U8(rgb_op, DEV_BLEND_MAX),
              U8(alpha_op, DEV_BLEND_MAX), U8(src_rgb, DEV_BLEND_ONE_MINUS_SRC1_ALPHA),
              U8(dst_rgb, DEV_BLEND_ONE_MINUS_SRC1_ALPHA),
              U8(src_alpha, DEV_BLEND_ONE_MINUS_SRC1_ALPHA),
              U8(dst_alpha, DEV_BLEND_ONE_MINUS_SRC1_ALPHA), U8(write_mask, 255));
static SCHEMA(DevState, .plain = true, U32(n_viewports, DEV_MAX_VIEWPORTS),
              U32(n_scissors, DEV_MAX_VIEWPORTS),
              FIRST(viewports, DevViewport, DEV_MAX_VIEWPORTS, n_viewports),
              FIRST(scissors, DevScissor, DEV_MAX_VIEWPORTS, n_scissors),
              U8(primitive, DEV_TRIANGLE_STRIP), U8(cull, DEV_CULL_BACK),
              U8(winding, DEV_COUNTER_CLOCKWISE), U8(fill, DEV_FILL_LINES),
              U8(depth_clip, DEV_DEPTH_CLAMP), FLAG(discard_all), FLAG(alpha_to_coverage),
              FLAG(alpha_to_one), FLAG(depth_write), FLAG(depth_bounds), FLAG(stencil),
              F32(depth_bias), F32(depth_slope), F32(depth_bias_clamp), F32(depth_low),
              F32(depth_high), U8(depth_compare, ABI_COMPARE_ALWAYS), RECORD(front, DevStencil),
              RECORD(back, DevStencil), BLEND(0), BLEND(1), BLEND(2), BLEND(3), BLEND(4), BLEND(5),
              BLEND(6), BLEND(7), F32S(blend_color, 4));
_Static_assert(ABI_MAX_COLORS == 8, "a BLEND for each");

// ---- Functions ----

COUNT(n_vertex_buffers, DevVertexStage, r->info ? r->info->n_vertex_buffers : 0);
COUNT(n_inputs, DevFragmentStage, r->info ? r->info->n_inputs : 0);

static bool check_function(const void *record) {
    const DevMeshFunction *f = record;
    return f->n_slots == f->arguments.n_args && f->threadgroup_bytes <= MAX_THREADGROUP_BYTES;
}

static SCHEMA(AbiStageInfo, .plain = true, WORD(stage), WORD(flags),
              U32(n_inputs, ABI_MAX_VARYINGS), U32(n_outputs, ABI_MAX_VARYINGS),
              U32(n_clip, ABI_MAX_CLIP), WORD(colors), WORD(colors_in),
              U32(n_vertex_buffers, SCHEMA_SIZE(vertex_buffers)), WORD(imageblock_words),
              RAW(vertex_buffers), RAW(inputs));
static SCHEMA(DevArguments, .check = NULL, U32(n_args, MAX_ARGS),
              U32(static_bytes, MAX_THREADGROUP_BYTES), ARGUMENTS(args, n_args), U64(stack_bytes),
              MAYBE(lengths, uint64_t, n_args), LIVE(live), CONTEXT(context));
static SCHEMA(DevVertexStage, .check = NULL, CODE(code), ONE(info, AbiStageInfo), WHEN(code),
              RECORD(arguments, DevArguments), MAYBE_BY(strides, uint64_t, n_vertex_buffers));
static SCHEMA(DevFragmentStage, .check = NULL, CODE(code), WHEN(code), ONE(info, AbiStageInfo),
              RECORD(arguments, DevArguments), MAYBE_BY(rows, uint16_t, n_inputs));
static SCHEMA(DevMeshFunction, .check = check_function, CODE(code), WHEN(code), WORD(n_slots),
              WORD(payload_slot), WORD(output_slot), RECORD(arguments, DevArguments),
              U64(threadgroup_bytes));
static SCHEMA(DevMeshValue, .plain = true, WORD(offset), U16(row, UINT16_MAX),
              U8(type, DEV_MESH_UCHAR), U8(n, 16), FLAG(primitive));
static SCHEMA(DevMeshStage, .check = NULL, RECORD(object, DevMeshFunction),
              RECORD(mesh, DevMeshFunction), U32(payload_bytes, 1 << 16), WORD(max_groups),
              U8(topology, DEV_TRIANGLE), U32(n_vertices, 256), U32(n_primitives, 512),
              WORD(index_offset), WORD(vertex_offset), WORD(vertex_stride), WORD(primitive_offset),
              WORD(primitive_stride), WORD(n_bytes), U32(n_values, MAX_VALUES),
              LIST(values, DevMeshValue, n_values));
static SCHEMA(DevTileStage, .check = NULL, RECORD(function, DevMeshFunction),
              U32(pixel_bytes, MAX_IMAGEBLOCK), FLAG(is_explicit), U32(n_values, MAX_VALUES),
              LIST(values, DevMeshValue, n_values), RAW(colors));

// ---- Draws ----

#define GROUP(i)                                                                                   \
    U32(grid.object_size[i], ABI_MAX_THREADS), U32(grid.mesh_size[i], ABI_MAX_THREADS),            \
        U32(tile_threads[i], ABI_MAX_THREADS)
COUNT(counter_bytes, DevDraw, sizeof *r->visibility);

static bool check_draw(const void *record) {
    const DevDraw *d = record;
    return (!d->indices || d->index_bytes == 2 || d->index_bytes == 4) &&
           (d->tile || (d->vertex && d->state));
}

static SCHEMA(DevPatches, .check = NULL, U8(type, DEV_PATCH_QUAD),
              U8(partition, DEV_PARTITION_EVEN), U8(step, DEV_FACTORS_PER_PATCH_AND_INSTANCE),
              U8(winding, DEV_COUNTER_CLOCKWISE), U32(n_control_points, ABI_MAX_CONTROL_POINTS),
              U32(max_factor, 64), F32(scale), MEMORY(factors, factors_bytes), U64(factors_bytes),
              U64(instance_stride), MEMORY(patch_indices, patch_indices_bytes),
              U64(patch_indices_bytes), MEMORY(control_indices, control_indices_bytes),
              U64(control_indices_bytes), U8(control_index_bytes, 4));
static SCHEMA(DevView, .plain = true, WORD(viewport), WORD(layer));
SCHEMA(DevDraw, .check = check_draw, TEXT(label), ONE(vertex, DevVertexStage),
       ONE(fragment, DevFragmentStage), ONE(state, DevState), ONE(patches, DevPatches),
       ONE(mesh, DevMeshStage), WORDS(grid.groups, 3), WORDS(grid.threads, 3), GROUP(0), GROUP(1),
       GROUP(2), ONE(tile, DevTileStage), WORD(n_vertices), WORD(first_vertex), WORD(n_instances),
       WORD(base_instance), MEMORY(indices, indices_bytes), U64(indices_bytes), U8(index_bytes, 4),
       U8(amplification, DEV_MAX_VIEWS), RECORDS(views, DevView, DEV_MAX_VIEWS), FLAG(barrier),
       FLAG(counts_any), WRITTEN_BY(visibility, counter_bytes));

// ---- Acceleration structures ----

COUNT(is_geometry, DevRayBuild, !r->instanced);
// Of elements of a geometry of a build.
static uint64_t n_keyframes(const SchemaFrame *frame) {
    return ((const DevRayBuild *)frame->outer->outer->record)->n_keyframes;
}

static bool check_geometry(const void *record) {
    const DevGeometry *g = record;
    const bool curves = g->shape == DEV_CURVES;
    return !(curves && (g->segment_points < 2 || !g->radii.frames)) &&
           g->n_primitives <= MAX_PRIMITIVES && g->n_points <= UINT32_MAX - 1 &&
           g->data_bytes <= MAX_DATA && g->elements.frames &&
           (!g->indices.at || g->index_bytes == 2 || g->index_bytes == 4);
}

static bool check_build(const void *record) {
    const DevRayBuild *b = record;
    return b->instanced || b->n_keyframes;
}

static SCHEMA(DevRange, .check = NULL, MEMORY(at, n_bytes), U64(n_bytes));
static SCHEMA(DevElements, .check = NULL, U64(stride), U32(format, 255),
              MAYBE_BY(frames, DevRange, n_keyframes));
static SCHEMA(DevGeometry, .check = check_geometry, U8(shape, DEV_CURVES), FLAG(opaque),
              WORD(function_offset), U64(n_primitives), RECORD(elements, DevElements),
              RECORD(indices, DevRange), U32(index_bytes, 4), RECORD(transform, DevRange),
              FLAG(row_major), RECORD(radii, DevElements), U64(n_points), U32(curve_type, 1),
              U32(curve_basis, 3), U32(curve_caps, 2), U32(segment_points, 4),
              RECORD(data, DevRange), U64(data_bytes), U64(data_stride));
static SCHEMA(DevInstances, .check = NULL, U32(type, 4), FLAG(row_major), RECORD(records, DevRange),
              U64(stride), U32(n, MAX_ITEMS), RECORD(count, DevRange), U32(n_structures, MAX_ITEMS),
              LIST(structures, uint64_t, n_structures), RECORD(transforms, DevRange),
              U64(transform_stride), U32(n_transforms, MAX_ITEMS), U32(transform_type, 1),
              RECORD(transform_count, DevRange));
SCHEMA(DevRayBuild, .check = check_build, FLAG(instanced), WORD(usage),
       U32(n_keyframes, MAX_KEYFRAMES), F32(start), F32(end), WORD(start_border), WORD(end_border),
       FIRST(instances, DevInstances, 1, instanced), WHEN_BY(is_geometry),
       U32(n_geometries, MAX_ITEMS), LIST(geometries, DevGeometry, n_geometries));
