// SPDX-License-Identifier: Apache-2.0
// memory.c: heaps and residency sets.
#include "buffer.h"

static const Field HeapDescriptor_fields[] = {
    {SIZE_OR("size", 0), "Bytes.", false},
    {ENUM_OR("storage_mode", StorageMode, Private, 2), "Shared or Private.", false},
    {ENUM_OR("cpu_cache_mode", CPUCacheMode, DefaultCache, 0), "How the CPU caches it.", false},
    {ENUM_OR("hazard_tracking_mode", HazardTrackingMode, Default, 0), "Default: untracked.", false},
    {ENUM_OR("type", HeapType, Automatic, 0), "Who finds places for resources.", false},
    NO_FIELD,
};
DEFINE_CLASS(HeapDescriptor, "How a heap is made.", .fields = HeapDescriptor_fields,
             .factory = "heap_descriptor");

#define HEAP_PROPS(RO, RW)                                                                         \
    NUMBER(RO, Heap, heap, size, "Bytes.")                                                         \
    NUMBER(RO, Heap, heap, used_size, "Bytes that resources occupy.")                              \
    NUMBER(RO, Heap, heap, current_allocated_size, "Bytes of memory taken.")                       \
    RO(Heap, storage_mode, "StorageMode", "Where its memory is.",                                  \
       from_enum(state, E_StorageMode, mtl_heap_storage_mode(self->native)))                       \
    RO(Heap, cpu_cache_mode, "CPUCacheMode", "How the CPU caches it.",                             \
       from_enum(state, E_CPUCacheMode, mtl_heap_cpu_cache_mode(self->native)))                    \
    RO(Heap, hazard_tracking_mode, "HazardTrackingMode", "Whether work is ordered by itself.",     \
       from_enum(state, E_HazardTrackingMode, mtl_heap_hazard_tracking_mode(self->native)))        \
    RO(Heap, type, "HeapType", "Who finds places for resources.",                                  \
       from_enum(state, E_HeapType, mtl_heap_type(self->native)))                                  \
    NUMBER(RO, Heap, heap, resource_options, "Its modes as bits.")                                 \
    DEVICE(RO, Heap, heap)                                                                         \
    LABEL(RW, Heap, heap)
PROPS(Heap, HEAP_PROPS);

METHOD(Heap, max_available_size, "int", "The largest resource of an alignment there is room for.",
       SIZE("alignment")) {
    (void)state;
    return from_u64(mtl_heap_max_available_size(self->native, a[0].u));
}

METHOD(Heap, new_buffer, "Buffer | None",
       "A buffer in the heap; None if there is no room. In a placement heap: at offset.",
       SIZE("length"), U32("options"), {"offset", K_U64, 0, "None", 0, true}) {
    MTLResourceOptions options = (MTLResourceOptions)a[1].u;
    if (a[2].py && a[2].py != Py_None)
        return wrap_new(state, C_Buffer,
                        mtl_heap_new_buffer_with_offset(self->native, a[0].u, options, a[2].u));
    return wrap_new(state, C_Buffer, mtl_heap_new_buffer(self->native, a[0].u, options));
}

METHOD(Heap, new_texture, "Texture | None",
       "A texture in the heap; None if there is no room. In a placement heap: at offset.",
       OBJECT("descriptor", TextureDescriptor), {"offset", K_U64, 0, "None", 0, true}) {
    MTLTextureDescriptor d = texture_descriptor(a[0].o);
    if (a[1].py && a[1].py != Py_None)
        return wrap_new(state, C_Texture,
                        mtl_heap_new_texture_with_offset(self->native, &d, a[1].u));
    return wrap_new(state, C_Texture, mtl_heap_new_texture(self->native, &d));
}

METHOD(Heap, set_purgeable_state, "PurgeableState", "Sets the state and returns the one before.",
       ENUMERATION("state", PurgeableState)) {
    return from_enum(state, E_PurgeableState,
                     mtl_heap_set_purgeable_state(self->native, (MTLPurgeableState)a[0].u));
}

static const Method *const Heap_methods[] = {&Heap_max_available_size, &Heap_new_buffer,
                                             &Heap_new_texture, &Heap_set_purgeable_state, NULL};
DEFINE_CLASS(Heap, "Memory from which buffers and textures are made.", .methods = Heap_methods,
             .props = Heap_props);

// ---- ResidencySet ----

#define RESIDENCY_SET_PROPS(RO, RW)                                                                \
    RO(ResidencySet, label, "str", "Its name.", from_str(mtl_residency_set_label(self->native)))   \
    NUMBER(RO, ResidencySet, residency_set, allocation_count, "How many allocations it has.")      \
    NUMBER(RO, ResidencySet, residency_set, allocated_size, "Bytes of what was committed.")        \
    DEVICE(RO, ResidencySet, residency_set)
PROPS(ResidencySet, RESIDENCY_SET_PROPS);

MTLResource *to_resource(State *state, PyObject *o, const char *name) {
    static const ClassId kinds[] = {C_Buffer,
                                    C_Texture,
                                    C_Tensor,
                                    C_IndirectCommandBuffer,
                                    C_VisibleFunctionTable,
                                    C_AccelerationStructure,
                                    C_IntersectionFunctionTable};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (object_is(state, o, kinds[i])) return ((Object *)o)->native;
    PyErr_Format(PyExc_TypeError,
                 "%s(): incompatible function arguments: %R is not a resource (Buffer, Texture, "
                 "Tensor, IndirectCommandBuffer, VisibleFunctionTable, AccelerationStructure, "
                 "IntersectionFunctionTable)",
                 name, o);
    return NULL;
}

// A resource or a heap. NULL: TypeError.
static MTLAllocation *to_allocation(State *state, PyObject *o) {
    if (object_is(state, o, C_Heap)) return ((Object *)o)->native;
    return (MTLAllocation *)to_resource(state, o, "ResidencySet");
}

METHOD(ResidencySet, add_allocation, "None", "Adds a resource or a Heap, from commit on.",
       ANY("allocation")) {
    MTLAllocation *allocation = to_allocation(state, a[0].py);
    if (!allocation) return NULL;
    mtl_residency_set_add_allocation(self->native, allocation);
    return none(state);
}

METHOD(ResidencySet, remove_allocation, "None", "Takes one away, from commit on.",
       ANY("allocation")) {
    MTLAllocation *allocation = to_allocation(state, a[0].py);
    if (!allocation) return NULL;
    mtl_residency_set_remove_allocation(self->native, allocation);
    return none(state);
}

METHOD(ResidencySet, contains_allocation, "bool", "Whether it has it.", ANY("allocation")) {
    MTLAllocation *allocation = to_allocation(state, a[0].py);
    if (!allocation) return NULL;
    return from_bool(mtl_residency_set_contains_allocation(self->native, allocation));
}

METHOD0(ResidencySet, remove_all_allocations, "None", "Empties it, from commit on.") {
    (void)a;
    mtl_residency_set_remove_all_allocations(self->native);
    return none(state);
}

METHOD0(ResidencySet, commit, "None", "Additions and removals count from now on.") {
    (void)a;
    mtl_residency_set_commit(self->native);
    return none(state);
}

METHOD0(ResidencySet, request_residency, "None", "Brings the allocations in.") {
    (void)a;
    mtl_residency_set_request_residency(self->native);
    return none(state);
}

METHOD0(ResidencySet, end_residency, "None", "Lets the allocations go out.") {
    (void)a;
    mtl_residency_set_end_residency(self->native);
    return none(state);
}

static const Method *const ResidencySet_methods[] = {&ResidencySet_add_allocation,
                                                     &ResidencySet_remove_allocation,
                                                     &ResidencySet_contains_allocation,
                                                     &ResidencySet_remove_all_allocations,
                                                     &ResidencySet_commit,
                                                     &ResidencySet_request_residency,
                                                     &ResidencySet_end_residency,
                                                     NULL};
DEFINE_CLASS(ResidencySet, "Allocations that are kept resident.", .methods = ResidencySet_methods,
             .props = ResidencySet_props);
