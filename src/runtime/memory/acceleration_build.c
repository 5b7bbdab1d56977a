// SPDX-License-Identifier: Apache-2.0
// acceleration_build.c: descriptors of acceleration structures, checked rule by rule and put into
// the device's words (devices/table/rays.h). Buffers become addresses and how many bytes there are
// from there on: what indices and records point to is only known, and cut, when the command runs.
#include <stdio.h>
#include <string.h>
#include "runtime/memory/acceleration.h"

enum { MAX_PRIMITIVES = 1 << 28, MAX_GEOMETRIES = 1 << 24, MAX_INSTANCES = 1 << 24 };

typedef struct Convert {
    RtRayBuild *to;
    const MTLAccelerationStructureDescriptor *from;
    const RtSite *site;
    const char *where; // "geometry_descriptors[3]", or ""
    char text[48];
} Convert;

static bool wrong(const Convert *c, const char *field, unsigned long long value) {
    rt_misuse_at(c->site, RT_RULE_acceleration_descriptor, "%s%s is %llu", c->where, field, value);
    return false;
}

static void visit(const RtSpan *span, void *context) {
    MTLResource **found = context;
    *found = mtl_retain((void *)(uintptr_t)span->resource);
}

// What stands in a descriptor for a buffer at an address. The command buffer holds it.
static bool find_buffer(const Convert *c, MTLBuffer **buffer, size_t *offset, const char *field) {
    MTLResource *found = NULL;
    const char *at = (const char *)(uintptr_t)*offset;
    if (!rt_span_find(c->site->device, at, visit, &found) || !rt_is(found, &rt_buffer_class)) {
        rt_misuse_at(c->site, RT_RULE_acceleration_range, "%s%s: 0x%llx is in no buffer", c->where,
                     field, (unsigned long long)*offset);
        mtl_release(found);
        return false;
    }
    *buffer = (MTLBuffer *)(void *)found;
    *offset = (size_t)(at - (*buffer)->memory);
    bool ok = c->to->use(c->to->context, found);
    mtl_release(found);
    return ok;
}

// n_bytes at an offset of a buffer, which may be missing where it is not `needed`.
static bool take_range(const Convert *c, DevRange *to, MTLBuffer *buffer, size_t offset,
                       size_t n_bytes, bool needed, const char *field) {
    if (!buffer && c->from->buffers_are_addresses && offset &&
        !find_buffer(c, &buffer, &offset, field))
        return false;
    if (!buffer) {
        if (!needed) return true;
        rt_misuse_at(c->site, RT_RULE_null_argument, "%s%s", c->where, field);
        return false;
    }
    if (!rt_is(buffer, &rt_buffer_class)) {
        rt_misuse_at(c->site, RT_RULE_wrong_class, "%s%s is a %s", c->where, field,
                     mtl_class_name(buffer));
        return false;
    }
    if (offset > buffer->length || n_bytes > buffer->length - offset) {
        rt_misuse_at(c->site, RT_RULE_acceleration_range, "%s%s '%s': %zu bytes at %zu of %zu",
                     c->where, field, rt_label(&buffer->resource.label), n_bytes, offset,
                     buffer->length);
        return false;
    }
    *to = (DevRange){buffer->memory + offset, buffer->length - offset};
    return c->to->use(c->to->context, &buffer->resource);
}

static unsigned format_bytes(MTLAttributeFormat format) {
    switch ((unsigned)format) {
#define V(name, value, components, bits, kind)                                                     \
    case value: return components * bits / 8;
#include "abi/vertex_formats.def"
#undef V
    default: return 0;
    }
}

// One range, or one for each keyframe, of n elements (0: as many as there are).
static bool take_elements(const Convert *c, DevElements *to, MTLBuffer *buffer, size_t offset,
                          const MTLMotionKeyframeData *frames, size_t n_frames, size_t n,
                          size_t each, const char *field) {
    uint32_t keyframes = c->to->build.n_keyframes;
    DevRange *ranges = c->to->alloc(c->to->context, keyframes * sizeof *ranges);
    size_t n_bytes = n ? (n - 1) * to->stride + each : 0;
    if (!ranges) return false;
    to->frames = ranges;
    MTLMotionKeyframeData *read = NULL;
    if (!frames && n_frames && c->from->buffers_are_addresses) { // the list is in memory
        DevRange list;
        read = c->to->alloc(c->to->context, n_frames * sizeof *read);
        if (!read ||
            !take_range(c, &list, buffer, offset, n_frames * sizeof(MTL4BufferRange), true, field))
            return false;
        for (size_t k = 0; k < n_frames; k++) {
            MTL4BufferRange r;
            memcpy(&r, list.at + k * sizeof r, sizeof r);
            read[k].offset = (size_t)r.buffer_address;
        }
        frames = read;
    }
    if (frames && n_frames != keyframes) return wrong(c, "keyframes in motion buffers", n_frames);
    for (uint32_t k = 0; k < keyframes; k++) {
        const MTLMotionKeyframeData one =
            frames ? frames[k] : (MTLMotionKeyframeData){buffer, offset};
        if (!take_range(c, &ranges[k], one.buffer, one.offset, n_bytes, true, field)) return false;
    }
    return true;
}

static bool take_triangles(const Convert *c, DevGeometry *to,
                           const MTLAccelerationStructureGeometryDescriptor *g) {
    MTLAttributeFormat format = g->vertex_format ? g->vertex_format : MTLVertexFormatFloat3;
    size_t each = format_bytes(format), n = g->triangle_count;
    bool indexed = g->index_buffer || (c->from->buffers_are_addresses && g->index_buffer_offset);
    to->shape = DEV_TRIANGLES;
    to->n_primitives = n;
    if (!each) return wrong(c, ".vertex_format", (unsigned long long)format);
    if (n > MAX_PRIMITIVES) return wrong(c, ".triangle_count", n);
    if (g->vertex_stride && g->vertex_stride < each)
        return wrong(c, ".vertex_stride", g->vertex_stride);
    if (g->index_buffer && (unsigned)g->index_type > MTLIndexTypeUInt32)
        return wrong(c, ".index_type", (unsigned)g->index_type);
    to->index_bytes = g->index_type == MTLIndexTypeUInt32 ? 4 : 2;
    to->elements.format = (uint32_t)format;
    to->elements.stride = g->vertex_stride ? g->vertex_stride : each;
    to->row_major = g->transformation_matrix_layout == MTLMatrixLayoutRowMajor;
    return take_elements(c, &to->elements, g->vertex_buffer, g->vertex_buffer_offset,
                         g->vertex_buffers, g->vertex_buffer_count, indexed ? 0 : n * 3, each,
                         ".vertex_buffer") &&
           take_range(c, &to->indices, g->index_buffer, g->index_buffer_offset,
                      n * 3 * to->index_bytes, false, ".index_buffer") &&
           take_range(c, &to->transform, g->transformation_matrix_buffer,
                      g->transformation_matrix_buffer_offset, 48, false,
                      ".transformation_matrix_buffer");
}

static bool take_boxes(const Convert *c, DevGeometry *to,
                       const MTLAccelerationStructureGeometryDescriptor *g) {
    const size_t each = sizeof(MTLAxisAlignedBoundingBox);
    to->shape = DEV_BOXES;
    to->n_primitives = g->bounding_box_count;
    to->elements.stride = g->bounding_box_stride ? g->bounding_box_stride : each;
    if (g->bounding_box_count > MAX_PRIMITIVES)
        return wrong(c, ".bounding_box_count", g->bounding_box_count);
    if (to->elements.stride < each) return wrong(c, ".bounding_box_stride", to->elements.stride);
    return take_elements(c, &to->elements, g->bounding_box_buffer, g->bounding_box_buffer_offset,
                         g->bounding_box_buffers, g->bounding_box_buffer_count,
                         g->bounding_box_count, each, ".bounding_box_buffer");
}

static bool valid_curve(const Convert *c, const MTLAccelerationStructureGeometryDescriptor *g) {
    size_t n = g->segment_control_point_count;
    bool linear = g->curve_basis == MTLCurveBasisLinear,
         degree = linear                                      ? n == 2
                  : g->curve_basis == MTLCurveBasisCatmullRom ? n == 4
                                                              : n == 3 || n == 4;
    if ((unsigned)g->curve_type > MTLCurveTypeFlat)
        return wrong(c, ".curve_type", (unsigned)g->curve_type);
    if ((unsigned)g->curve_basis > MTLCurveBasisBezier)
        return wrong(c, ".curve_basis", (unsigned)g->curve_basis);
    if (!degree) return wrong(c, ".segment_control_point_count", n);
    if ((unsigned)g->curve_end_caps > MTLCurveEndCapsSphere)
        return wrong(c, ".curve_end_caps", (unsigned)g->curve_end_caps);
    if (g->segment_count > MAX_PRIMITIVES) return wrong(c, ".segment_count", g->segment_count);
    if (g->control_point_count > UINT32_MAX - 1)
        return wrong(c, ".control_point_count", g->control_point_count);
    return true;
}

static bool take_curves(const Convert *c, DevGeometry *to,
                        const MTLAccelerationStructureGeometryDescriptor *g) {
    MTLAttributeFormat points = g->control_point_format ? g->control_point_format
                                                        : (MTLAttributeFormat)MTLVertexFormatFloat3,
                       radii = g->radius_format ? g->radius_format
                                                : (MTLAttributeFormat)MTLVertexFormatFloat;
    size_t point = format_bytes(points), radius = format_bytes(radii);
    if (!valid_curve(c, g)) return false;
    if (!point) return wrong(c, ".control_point_format", (unsigned long long)points);
    if (!radius) return wrong(c, ".radius_format", (unsigned long long)radii);
    to->shape = DEV_CURVES;
    to->n_primitives = g->segment_count, to->n_points = g->control_point_count;
    to->curve_type = (uint32_t)g->curve_type, to->curve_basis = (uint32_t)g->curve_basis;
    to->curve_caps = (uint32_t)g->curve_end_caps;
    to->segment_points = (uint32_t)g->segment_control_point_count;
    to->index_bytes = g->index_type == MTLIndexTypeUInt32 ? 4 : 2;
    to->elements.format = (uint32_t)points, to->radii.format = (uint32_t)radii;
    to->elements.stride = g->control_point_stride ? g->control_point_stride : point;
    to->radii.stride = g->radius_stride ? g->radius_stride : radius;
    if (to->elements.stride < point) return wrong(c, ".control_point_stride", to->elements.stride);
    if (to->radii.stride < radius) return wrong(c, ".radius_stride", to->radii.stride);
    return take_elements(c, &to->elements, g->control_point_buffer, g->control_point_buffer_offset,
                         g->control_point_buffers, g->control_point_buffer_count,
                         g->control_point_count, point, ".control_point_buffer") &&
           take_elements(c, &to->radii, g->radius_buffer, g->radius_buffer_offset,
                         g->radius_buffers, g->radius_buffer_count, g->control_point_count, radius,
                         ".radius_buffer") &&
           take_range(c, &to->indices, g->index_buffer, g->index_buffer_offset,
                      g->segment_count * to->index_bytes, false, ".index_buffer");
}

static bool take_geometry(const Convert *c, DevGeometry *to,
                          const MTLAccelerationStructureGeometryDescriptor *g) {
    to->opaque = !g->non_opaque;
    to->function_offset = (uint32_t)g->intersection_function_table_offset;
    bool ok = g->kind == MTLAccelerationStructureGeometryKindTriangles ? take_triangles(c, to, g)
              : g->kind == MTLAccelerationStructureGeometryKindBoundingBoxes ? take_boxes(c, to, g)
              : g->kind == MTLAccelerationStructureGeometryKindCurves
                  ? take_curves(c, to, g)
                  : wrong(c, ".kind", (unsigned)g->kind);
    size_t each = g->primitive_data_element_size,
           stride = g->primitive_data_stride ? g->primitive_data_stride : each;
    bool data = g->primitive_data_buffer ||
                (c->from->buffers_are_addresses && g->primitive_data_buffer_offset);
    if (!ok || !data || !each) return ok;
    if (stride < each || each > 4096) return wrong(c, ".primitive_data_stride", stride);
    to->data_bytes = each, to->data_stride = stride;
    return take_range(c, &to->data, g->primitive_data_buffer, g->primitive_data_buffer_offset,
                      to->n_primitives ? (to->n_primitives - 1) * stride + each : 0, true,
                      ".primitive_data_buffer");
}

static bool take_primitives(Convert *c) {
    const MTLAccelerationStructureDescriptor *d = c->from;
    DevRayBuild *to = &c->to->build;
    size_t n = d->geometry_descriptor_count;
    to->n_keyframes = d->motion_keyframe_count > 1 ? (uint32_t)d->motion_keyframe_count : 1;
    to->start = d->motion_start_time, to->end = d->motion_end_time;
    if (to->start == 0 && to->end == 0) to->end = 1;
    to->start_border = (uint32_t)d->motion_start_border_mode;
    to->end_border = (uint32_t)d->motion_end_border_mode;
    if (n > MAX_GEOMETRIES || (n && !d->geometry_descriptors))
        return wrong(c, "geometry_descriptor_count", n);
    if (d->motion_keyframe_count > 129) // as many as the library's structures hold
        return wrong(c, "motion_keyframe_count", d->motion_keyframe_count);
    DevGeometry *all = c->to->alloc(c->to->context, (n + 1) * sizeof *all);
    if (!all) return false;
    to->geometries = all;
    to->n_geometries = (uint32_t)n;
    c->where = c->text;
    for (size_t i = 0; i < n; i++) {
        snprintf(c->text, sizeof c->text, "geometry_descriptors[%zu]", i);
        if (!take_geometry(c, &all[i], &d->geometry_descriptors[i])) return false;
    }
    return true;
}

static bool take_structures(const Convert *c, DevInstances *to) {
    const MTLAccelerationStructureDescriptor *d = c->from;
    size_t n = d->instanced_acceleration_structure_count;
    uint64_t *handles = c->to->alloc(c->to->context, (n + 1) * sizeof *handles);
    if (!handles) return false;
    if (n > MAX_INSTANCES || (n && !d->instanced_acceleration_structures))
        return wrong(c, "instanced_acceleration_structure_count", n);
    for (size_t i = 0; i < n; i++) {
        MTLAccelerationStructure *s = d->instanced_acceleration_structures[i];
        if (!rt_is(s, &rt_acceleration_class)) {
            rt_misuse_at(c->site, s ? RT_RULE_wrong_class : RT_RULE_null_argument,
                         "instanced_acceleration_structures[%zu]%s%s", i, s ? " is a " : "",
                         mtl_class_name(s));
            return false;
        }
        if (!c->to->use(c->to->context, &s->resource)) return false;
        handles[i] = s->handle.value;
    }
    to->structures = handles;
    to->n_structures = (uint32_t)n;
    return true;
}

static size_t record_bytes(MTLAccelerationStructureInstanceDescriptorType type) {
    switch (type) {
    case MTLAccelerationStructureInstanceDescriptorTypeDefault:
        return sizeof(MTLAccelerationStructureInstanceDescriptor);
    case MTLAccelerationStructureInstanceDescriptorTypeUserID:
        return sizeof(MTLAccelerationStructureUserIDInstanceDescriptor);
    case MTLAccelerationStructureInstanceDescriptorTypeMotion:
        return sizeof(MTLAccelerationStructureMotionInstanceDescriptor);
    case MTLAccelerationStructureInstanceDescriptorTypeIndirect:
        return sizeof(MTLIndirectAccelerationStructureInstanceDescriptor);
    case MTLAccelerationStructureInstanceDescriptorTypeIndirectMotion:
        return sizeof(MTLIndirectAccelerationStructureMotionInstanceDescriptor);
    default: return 0;
    }
}

static bool take_motion(const Convert *c, DevInstances *to, size_t n) {
    const MTLAccelerationStructureDescriptor *d = c->from;
    if ((unsigned)d->motion_transform_type > MTLTransformTypeComponent)
        return wrong(c, "motion_transform_type", (unsigned)d->motion_transform_type);
    const size_t each = d->motion_transform_type == MTLTransformTypeComponent
                            ? sizeof(MTLComponentTransform)
                            : sizeof(MTLPackedFloat4x3);
    to->transform_type = (uint32_t)d->motion_transform_type;
    to->transform_stride = d->motion_transform_stride ? d->motion_transform_stride : each;
    if (to->transform_stride < each)
        return wrong(c, "motion_transform_stride", d->motion_transform_stride);
    if (n > MAX_INSTANCES) return wrong(c, "motion_transform_count", n);
    to->n_transforms = (uint32_t)n;
    return take_range(
               c, &to->transforms, d->motion_transform_buffer, d->motion_transform_buffer_offset,
               n ? (n - 1) * to->transform_stride + each : 0, n > 0, "motion_transform_buffer") &&
           take_range(c, &to->transform_count, d->motion_transform_count_buffer,
                      d->motion_transform_count_buffer_offset, 4, false,
                      "motion_transform_count_buffer");
}

static bool take_instances(const Convert *c) {
    const MTLAccelerationStructureDescriptor *d = c->from;
    bool indirect = d->kind == MTLAccelerationStructureKindIndirectInstance;
    DevInstances *to = &c->to->build.instances;
    size_t n = indirect ? d->max_instance_count : d->instance_count,
           each = record_bytes(d->instance_descriptor_type);
    c->to->build.instanced = true;
    c->to->build.n_keyframes = 1;
    if (!each) return wrong(c, "instance_descriptor_type", (unsigned)d->instance_descriptor_type);
    to->stride = d->instance_descriptor_stride ? d->instance_descriptor_stride : each;
    if (to->stride < each) return wrong(c, "instance_descriptor_stride", to->stride);
    if (n > MAX_INSTANCES) return wrong(c, indirect ? "max_instance_count" : "instance_count", n);
    to->type = (uint32_t)d->instance_descriptor_type;
    to->row_major = d->instance_transformation_matrix_layout == MTLMatrixLayoutRowMajor;
    to->n = (uint32_t)n;
    return take_structures(c, to) &&
           take_range(c, &to->records, d->instance_descriptor_buffer,
                      d->instance_descriptor_buffer_offset, n ? (n - 1) * to->stride + each : 0,
                      n > 0, "instance_descriptor_buffer") &&
           (!indirect ||
            take_range(c, &to->count, d->instance_count_buffer, d->instance_count_buffer_offset, 4,
                       true, "instance_count_buffer")) &&
           take_motion(c, to, indirect ? d->max_motion_transform_count : d->motion_transform_count);
}

bool rt_ray_build(RtRayBuild *to, const MTLAccelerationStructureDescriptor *descriptor,
                  const RtSite *site) {
    Convert c = {.to = to, .from = descriptor, .site = site, .where = ""};
    to->build.usage = descriptor->usage;
    switch (descriptor->kind) {
    case MTLAccelerationStructureKindPrimitive: return take_primitives(&c);
    case MTLAccelerationStructureKindInstance:
    case MTLAccelerationStructureKindIndirectInstance: return take_instances(&c);
    default: return wrong(&c, "kind", (unsigned)descriptor->kind);
    }
}
