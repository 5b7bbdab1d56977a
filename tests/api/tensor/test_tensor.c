// SPDX-License-Identifier: Apache-2.0
// test_tensor.c: MTLTensor: what descriptors may say, memory of its own and of buffers, slices of
// every rank and type against a plain loop. Kernels: test_tensor_kernels.c.
#include "api_test.h"

static const struct {
    MTLTensorDataType type;
    unsigned bits;
} types[] = {
    {MTLTensorDataTypeFloat32, 32}, {MTLTensorDataTypeFloat16, 16}, {MTLTensorDataTypeBFloat16, 16},
    {MTLTensorDataTypeInt8, 8},     {MTLTensorDataTypeUInt8, 8},    {MTLTensorDataTypeInt16, 16},
    {MTLTensorDataTypeUInt16, 16},  {MTLTensorDataTypeInt32, 32},   {MTLTensorDataTypeUInt32, 32},
    {MTLTensorDataTypeInt4, 4},     {MTLTensorDataTypeUInt4, 4},
};
enum { N_TYPES = sizeof types / sizeof *types };

static unsigned random_state = 1;
static unsigned random_below(unsigned n) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

static MTLTensorDescriptor described(size_t rank, const ptrdiff_t *sizes, MTLTensorDataType type) {
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    d.dimensions = mtl_tensor_extents_make(rank, sizes);
    d.data_type = type;
    return d;
}

// ---- Extents and descriptors ----

static void extents_are_numbers_per_dimension(void **state) {
    (void)state;
    const ptrdiff_t sizes[] = {4, 3, 2};
    MTLTensorExtents e = mtl_tensor_extents_make(3, sizes);
    assert_int_equal(e.rank, 3);
    assert_int_equal(mtl_tensor_extents_extent_at_dimension_index(&e, 0), 4);
    assert_int_equal(mtl_tensor_extents_extent_at_dimension_index(&e, 2), 2);
    assert_int_equal(mtl_tensor_extents_extent_at_dimension_index(&e, 3), -1);
    assert_int_equal(mtl_tensor_extents_extent_at_dimension_index(NULL, 0), -1);
    MTLTensorExtents s = mtl_tensor_extents_packed_strides(&e);
    assert_int_equal(s.rank, 3);
    assert_int_equal(s.extents[0], 1);
    assert_int_equal(s.extents[1], 4);
    assert_int_equal(s.extents[2], 12);
    assert_int_equal(mtl_tensor_extents_make(0, NULL).rank, 0);
    assert_true(mtl_tensor_extents_make(17, sizes).rank == SIZE_MAX);
    assert_true(mtl_tensor_extents_make(1, NULL).rank == SIZE_MAX);
    assert_int_equal(mtl_tensor_extents_packed_strides(NULL).rank, 0);
}

static void defaults_are_apples(void **state) {
    (void)state;
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    assert_int_equal(d.dimensions.rank, 1);
    assert_int_equal(d.dimensions.extents[0], 1);
    assert_int_equal(d.strides.rank, 0);
    assert_int_equal(d.data_type, MTLTensorDataTypeFloat32);
    assert_int_equal(d.usage, MTLTensorUsageCompute | MTLTensorUsageRender);
    assert_int_equal(d.storage_mode, MTLStorageModeShared);
    assert_int_equal(MTLTensorDataTypeFloat16, MTLDataTypeHalf);
    assert_int_equal(MTLTensorDataTypeBFloat16, MTLDataTypeBFloat);
    assert_int_equal(MTLTensorDataTypeUInt8, MTLDataTypeUChar);
    MTLTensor *t = mtl_device_new_tensor(device, &(MTLTensorDescriptor){0}, NULL); // rank 0
    assert_non_null(t);
    assert_int_equal(mtl_tensor_dimensions(t).rank, 0);
    assert_int_equal(mtl_tensor_data_type(t), MTLTensorDataTypeFloat32);
    assert_int_equal(mtl_tensor_usage(t), MTLTensorUsageCompute | MTLTensorUsageRender);
    float in = 3.5f, out = 0;
    const MTLTensorExtents none = {0};
    mtl_tensor_replace_slice(t, &none, &none, &in, &none);
    mtl_tensor_get_bytes(t, &out, &none, &none, &none);
    assert_true(out == 3.5f);
    mtl_release(t);
}

// ---- Objects ----

static void own_memory_has_no_strides(void **state) {
    (void)state;
    size_t before = mtl_device_current_allocated_size(device);
    MTLTensorDescriptor d = described(2, (ptrdiff_t[]){100, 50}, MTLTensorDataTypeFloat16);
    d.usage = MTLTensorUsageCompute;
    MTLError *error = NULL;
    MTLTensor *t = mtl_device_new_tensor(device, &d, &error);
    assert_non_null(t);
    assert_null(error);
    assert_ptr_equal(mtl_tensor_device(t), device);
    assert_null(mtl_tensor_buffer(t));
    assert_int_equal(mtl_tensor_buffer_offset(t), 0);
    assert_int_equal(mtl_tensor_strides(t).rank, 0);
    MTLTensorExtents sizes = mtl_tensor_dimensions(t);
    assert_int_equal(sizes.rank, 2);
    assert_int_equal(sizes.extents[0], 100);
    assert_int_equal(sizes.extents[1], 50);
    assert_int_equal(mtl_tensor_data_type(t), MTLTensorDataTypeFloat16);
    assert_int_equal(mtl_tensor_usage(t), MTLTensorUsageCompute);
    assert_int_equal(mtl_tensor_storage_mode(t), MTLStorageModeShared);
    assert_true(mtl_tensor_allocated_size(t) >= 10000);
    assert_true(mtl_device_current_allocated_size(device) == before + mtl_tensor_allocated_size(t));
    assert_true(mtl_tensor_gpu_resource_id(t).impl != 0);
    mtl_tensor_set_label(t, "weights");
    assert_string_equal(mtl_tensor_label(t), "weights");
    MTLResource *resource = (MTLResource *)t;
    assert_string_equal(mtl_resource_label(resource), "weights");
    assert_int_equal(mtl_resource_allocated_size(resource), mtl_tensor_allocated_size(t));
    assert_string_equal(mtl_class_name(t), "MTLTensor");
    assert_int_equal(mtl_tensor_set_purgeable_state(t, MTLPurgeableStateVolatile),
                     MTLPurgeableStateNonVolatile);
    assert_int_equal(mtl_tensor_set_purgeable_state(t, MTLPurgeableStateNonVolatile),
                     MTLPurgeableStateVolatile);
    mtl_release(t);
    assert_true(mtl_device_current_allocated_size(device) == before);
}

static void buffers_lend_their_memory(void **state) {
    (void)state;
    MTLBuffer *buffer = mtl_device_new_buffer(device, 1024, MTLResourceHazardTrackingModeUntracked);
    float *x = mtl_buffer_contents(buffer);
    for (int i = 0; i < 256; i++) x[i] = (float)i;
    MTLTensorDescriptor d = described(2, (ptrdiff_t[]){5, 4}, MTLTensorDataTypeFloat32);
    d.strides = mtl_tensor_extents_make(2, (ptrdiff_t[]){1, 10});
    MTLSizeAndAlign size = mtl_device_tensor_size_and_align(device, &d);
    assert_int_equal(size.size, 4 * 35);
    assert_int_equal(size.align, 4);
    MTLTensor *t = mtl_buffer_new_tensor(buffer, &d, 40, NULL);
    assert_non_null(t);
    assert_ptr_equal(mtl_tensor_buffer(t), buffer);
    assert_int_equal(mtl_tensor_buffer_offset(t), 40);
    assert_int_equal(mtl_tensor_strides(t).extents[1], 10);
    assert_int_equal(mtl_tensor_allocated_size(t), 0);
    assert_int_equal(mtl_tensor_hazard_tracking_mode(t), MTLHazardTrackingModeUntracked);
    mtl_release(buffer); // the tensor keeps it
    float out[4];
    mtl_tensor_get_bytes(t, out, &(MTLTensorExtents){2, {1, 2}}, &(MTLTensorExtents){2, {3, 2}},
                         &(MTLTensorExtents){2, {2, 2}});
    assert_true(out[0] == 33 && out[1] == 34 && out[2] == 43 && out[3] == 44);
    mtl_release(t);
}

static void residency_sets_hold_tensors(void **state) {
    (void)state;
    MTLTensorDescriptor d = described(1, (ptrdiff_t[]){100000}, MTLTensorDataTypeInt8);
    MTLTensor *t = mtl_device_new_tensor(device, &d, NULL);
    MTLResidencySet *set =
        mtl_device_new_residency_set(device, &(MTLResidencySetDescriptor){0}, NULL);
    clear_messages();
    mtl_residency_set_add_allocation(set, (MTLAllocation *)t);
    mtl_residency_set_commit(set);
    mtl_residency_set_request_residency(set);
    assert_int_equal(n_messages, 0);
    assert_true(mtl_residency_set_contains_allocation(set, (MTLAllocation *)t));
    assert_true(mtl_residency_set_allocated_size(set) == mtl_tensor_allocated_size(t));
    mtl_release(set);
    mtl_release(t);
}

// ---- Descriptors that are wrong ----

// In a buffer of 4096 bytes where offset is not SIZE_MAX. `word`: what the message says.
static void assert_refused(const MTLTensorDescriptor *d, size_t offset, const char *word) {
    MTLBuffer *buffer = mtl_device_new_buffer(device, 4096, 0);
    MTLError *error = NULL;
    MTLTensor *t = offset == SIZE_MAX ? mtl_device_new_tensor(device, d, &error)
                                      : mtl_buffer_new_tensor(buffer, d, offset, &error);
    if (t) fail_msg("made, though %s", word);
    assert_non_null(error);
    assert_string_equal(mtl_error_domain(error), MTLTensorDomain);
    assert_int_equal(mtl_error_code(error), MTLTensorErrorInvalidDescriptor);
    if (!strstr(mtl_error_localized_description(error), word))
        fail_msg("no '%s' in: %s", word, mtl_error_localized_description(error));
    mtl_release(error);
    mtl_release(buffer);
}

static void wrong_dimensions(void **state) {
    (void)state;
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    d.dimensions.rank = 17;
    assert_refused(&d, SIZE_MAX, "rank");
    d.dimensions = mtl_tensor_extents_make(3, NULL);
    assert_refused(&d, SIZE_MAX, "rank");
    d = described(2, (ptrdiff_t[]){4, 0}, MTLTensorDataTypeFloat32);
    assert_refused(&d, SIZE_MAX, "dimensions[1] is 0");
    d = described(2, (ptrdiff_t[]){-1, 4}, MTLTensorDataTypeFloat32);
    assert_refused(&d, SIZE_MAX, "dimensions[0] is -1");
    d = described(3, (ptrdiff_t[]){INT32_MAX, INT32_MAX, INT32_MAX}, MTLTensorDataTypeInt8);
    assert_refused(&d, SIZE_MAX, "larger than");
    ptrdiff_t rows = (ptrdiff_t)(mtl_device_max_buffer_length(device) / 4096 + 1);
    d = described(2, (ptrdiff_t[]){1024, rows}, MTLTensorDataTypeFloat32);
    assert_refused(&d, SIZE_MAX, "larger than");
    d = described(1, (ptrdiff_t[]){PTRDIFF_MAX}, MTLTensorDataTypeInt8);
    assert_refused(&d, SIZE_MAX, "dimensions[0]");
    d = described(2, (ptrdiff_t[]){33, 2}, MTLTensorDataTypeInt4);
    assert_refused(&d, SIZE_MAX, "multiple of 32");
    d = described(0, NULL, MTLTensorDataTypeUInt4);
    assert_refused(&d, SIZE_MAX, "multiple of 32");
}

static void wrong_fields(void **state) {
    (void)state;
    MTLTensorDescriptor d = described(1, (ptrdiff_t[]){4}, (MTLTensorDataType)7);
    assert_refused(&d, SIZE_MAX, "data_type 7");
    d = described(1, (ptrdiff_t[]){4}, (MTLTensorDataType)MTLDataTypeLong); // Metal has none
    assert_refused(&d, SIZE_MAX, "data_type 81");
    d = described(1, (ptrdiff_t[]){4}, MTLTensorDataTypeInt8);
    d.usage = 8;
    assert_refused(&d, SIZE_MAX, "usage");
    d = described(1, (ptrdiff_t[]){4}, MTLTensorDataTypeInt8);
    d.storage_mode = MTLStorageModeMemoryless;
    assert_refused(&d, SIZE_MAX, "storage_mode");
    d = described(1, (ptrdiff_t[]){4}, MTLTensorDataTypeInt8);
    d.cpu_cache_mode = (MTLCPUCacheMode)9;
    assert_refused(&d, SIZE_MAX, "cpu_cache_mode");
    d = described(1, (ptrdiff_t[]){4}, MTLTensorDataTypeInt8);
    d.resource_options = 1u << 12;
    assert_refused(&d, SIZE_MAX, "resource options");
    d = described(1, (ptrdiff_t[]){4}, MTLTensorDataTypeInt8);
    d.strides = mtl_tensor_extents_make(1, (ptrdiff_t[]){1});
    assert_refused(&d, SIZE_MAX, "from buffers only");
}

static void wrong_strides(void **state) {
    (void)state;
    MTLTensorDescriptor d = described(2, (ptrdiff_t[]){8, 4}, MTLTensorDataTypeFloat32);
    assert_refused(&d, 0, "strides");
    d.strides = mtl_tensor_extents_make(1, (ptrdiff_t[]){1});
    assert_refused(&d, 0, "strides have rank 1, dimensions 2");
    d.strides = mtl_tensor_extents_make(2, (ptrdiff_t[]){2, 16});
    assert_refused(&d, 0, "strides[0] is 2; the first is 1");
    d.strides = mtl_tensor_extents_make(2, (ptrdiff_t[]){1, -8});
    assert_refused(&d, 0, "strides[1] is -8");
    d.strides = mtl_tensor_extents_make(2, (ptrdiff_t[]){1, PTRDIFF_MAX / 2});
    assert_refused(&d, 0, "larger than");
    d.strides = mtl_tensor_extents_make(2, (ptrdiff_t[]){1, 8});
    d.usage = MTLTensorUsageMachineLearning;
    assert_refused(&d, 0, "multiple of 64 bytes");
    d = described(3, (ptrdiff_t[]){8, 4, 2}, MTLTensorDataTypeFloat32);
    d.strides = mtl_tensor_extents_make(3, (ptrdiff_t[]){1, 16, 80});
    d.usage = MTLTensorUsageMachineLearning;
    assert_refused(&d, 0, "strides[2] is 80");
    d = described(2, (ptrdiff_t[]){32, 2}, MTLTensorDataTypeInt4);
    d.strides = mtl_tensor_extents_make(2, (ptrdiff_t[]){1, 32});
    assert_refused(&d, 0, "multiples of 128 bytes");
}

static void wrong_places_in_buffers(void **state) {
    (void)state;
    MTLTensorDescriptor d = described(2, (ptrdiff_t[]){8, 4}, MTLTensorDataTypeFloat32);
    d.strides = mtl_tensor_extents_make(2, (ptrdiff_t[]){1, 8});
    assert_refused(&d, 2, "offset 2 is no multiple of 4");
    assert_refused(&d, 4096 - 124, "exceed buffer");
    assert_refused(&d, SIZE_MAX / 16 * 8, "exceed buffer");
    d.storage_mode = MTLStorageModePrivate;
    assert_refused(&d, 0, "storage_mode");
    d = described(2, (ptrdiff_t[]){32, 2}, MTLTensorDataTypeUInt4);
    d.strides = mtl_tensor_extents_make(2, (ptrdiff_t[]){1, 256});
    assert_refused(&d, 64, "multiple of 128");
    d = described(1, (ptrdiff_t[]){8}, MTLTensorDataTypeFloat32);
    d.strides = mtl_tensor_extents_make(1, (ptrdiff_t[]){1});
    d.usage = MTLTensorUsageMachineLearning;
    assert_refused(&d, 64, "offset is 0 with usage machine learning");
}

static void absent_things(void **state) {
    (void)state;
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    MTLBuffer *buffer = mtl_device_new_buffer(device, 64, 0);
    clear_messages();
    assert_null(mtl_device_new_tensor(NULL, &d, NULL));
    assert_string_equal(last_rule, "null_object");
    assert_null(mtl_device_new_tensor(device, NULL, NULL));
    assert_string_equal(last_rule, "null_argument");
    assert_null(mtl_buffer_new_tensor(NULL, &d, 0, NULL));
    assert_string_equal(last_rule, "null_object");
    assert_null(mtl_buffer_new_tensor(buffer, NULL, 0, NULL));
    assert_string_equal(last_rule, "null_argument");
    assert_null(mtl_buffer_new_tensor((MTLBuffer *)device, &d, 0, NULL));
    assert_string_equal(last_rule, "wrong_class");
    assert_int_equal(mtl_device_tensor_size_and_align(device, &d).size, 0); // no strides
    assert_string_equal(last_rule, "tensor_descriptor");
    assert_int_equal(n_messages, 6);
    assert_int_equal(mtl_tensor_gpu_resource_id(NULL).impl, 0);
    assert_int_equal(mtl_tensor_dimensions(NULL).rank, 0);
    mtl_tensor_set_label(NULL, "x");
    mtl_release(buffer);
}

// ---- Slices ----

static void slices_outside_are_refused(void **state) {
    (void)state;
    MTLTensorDescriptor d = described(2, (ptrdiff_t[]){64, 3}, MTLTensorDataTypeInt4);
    MTLTensor *t = mtl_device_new_tensor(device, &d, NULL);
    mtl_tensor_set_label(t, "codes");
    char bytes[256] = {0};
    const MTLTensorExtents zero = {2, {0, 0}}, all = {2, {64, 3}}, packed = {2, {1, 64}};
    const struct {
        MTLTensorExtents origin, size, strides;
        const char *rule;
    } wrong[] = {
        {{1, {0}}, all, packed, "tensor_slice"},
        {zero, {3, {1, 1, 1}}, packed, "tensor_slice"},
        {{2, {2, 0}}, all, packed, "tensor_slice"},
        {{2, {-2, 0}}, {2, {2, 1}}, packed, "tensor_slice"},
        {zero, {2, {0, 1}}, packed, "tensor_slice"},
        {{2, {0, PTRDIFF_MAX}}, {2, {2, 1}}, packed, "tensor_slice"},
        {{2, {1, 0}}, {2, {2, 1}}, packed, "tensor_slice_bytes"},
        {zero, {2, {3, 1}}, packed, "tensor_slice_bytes"},
        {zero, all, {1, {1}}, "tensor_slice_strides"},
        {zero, all, {2, {1, 62}}, "tensor_slice_strides"},
        {zero, all, {2, {2, 128}}, "tensor_slice_strides"},
        {zero, all, {2, {1, 65}}, "tensor_slice_strides"},
        {zero, all, {2, {1, PTRDIFF_MAX - 1}}, "tensor_slice_strides"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        for (int way = 0; way < 2; way++) {
            clear_messages();
            if (way)
                mtl_tensor_get_bytes(t, bytes, &wrong[i].strides, &wrong[i].origin, &wrong[i].size);
            else
                mtl_tensor_replace_slice(t, &wrong[i].origin, &wrong[i].size, bytes,
                                         &wrong[i].strides);
            if (n_messages != 1 || strcmp(last_rule, wrong[i].rule) != 0)
                fail_msg("case %zu: %d messages, %s", i, (int)n_messages, last_rule);
            assert_non_null(strstr(last_text, "codes"));
        }
    }
    clear_messages();
    mtl_tensor_get_bytes(t, NULL, &packed, &zero, &all);
    mtl_tensor_get_bytes(t, bytes, NULL, &zero, &all);
    mtl_tensor_replace_slice(t, &zero, NULL, bytes, &packed);
    mtl_tensor_replace_slice(NULL, &zero, &all, bytes, &packed);
    assert_int_equal(n_messages, 4);
    mtl_release(t);
    d.storage_mode = MTLStorageModePrivate;
    t = mtl_device_new_tensor(device, &d, NULL);
    mtl_tensor_get_bytes(t, bytes, &packed, &zero, &all);
    assert_string_equal(last_rule, "tensor_private");
    mtl_release(t);
}

// Element `at` of memory, as a number.
static unsigned load(const unsigned char *memory, int64_t at, unsigned bits) {
    if (bits == 4) return memory[at / 2] >> at % 2 * 4 & 15;
    unsigned value = 0;
    memcpy(&value, memory + at * (int64_t)(bits / 8), bits / 8);
    return value;
}

static int64_t place(size_t rank, const ptrdiff_t *index, const ptrdiff_t *strides) {
    int64_t at = 0;
    for (size_t i = 0; i < rank; i++) at += (int64_t)index[i] * strides[i];
    return at;
}

// A random slice there and back, by a plain loop over its elements.
static void check_random_slice(size_t rank, MTLTensorDataType type, unsigned bits, bool in_buffer) {
    ptrdiff_t sizes[MTL_TENSOR_MAX_RANK], pitch[MTL_TENSOR_MAX_RANK];
    MTLTensorExtents origin = {.rank = rank}, n = {.rank = rank}, strides = {.rank = rank};
    ptrdiff_t stride = 1, pack = 1, unit = bits == 4 ? 2 : 1;
    for (size_t i = 0; i < rank; i++) {
        sizes[i] = 1 + (ptrdiff_t)random_below(i == 0 ? 9 : rank > 6 ? 2 : 4);
        if (i == 0 && bits == 4) sizes[i] = 32 * (1 + (ptrdiff_t)random_below(2));
        ptrdiff_t step = i == 0 ? unit : 1, most = sizes[i] / step;
        origin.extents[i] = (ptrdiff_t)random_below((unsigned)most) * step;
        most -= origin.extents[i] / step;
        n.extents[i] = (1 + (ptrdiff_t)random_below((unsigned)most)) * step;
        pitch[i] = stride;
        stride *= sizes[i];
        if (bits == 4 && i == 0)
            stride = (stride + 255) / 256 * 256;
        else
            stride += in_buffer ? (ptrdiff_t)random_below(3) * (bits == 4 ? 256 : 1) : 0;
        bool gap = random_below(3) == 0 && !(bits == 4 && i == 0);
        strides.extents[i] = pack + (gap ? (ptrdiff_t)random_below(3) * (i ? unit : 1) : 0);
        pack = strides.extents[i] * n.extents[i];
    }
    MTLTensorDescriptor d = described(rank, sizes, type);
    MTLBuffer *buffer = NULL;
    MTLTensor *t;
    size_t offset = 128 * random_below(3);
    if (in_buffer) {
        d.strides = mtl_tensor_extents_make(rank, pitch);
        size_t n_bytes = mtl_device_tensor_size_and_align(device, &d).size;
        buffer = mtl_device_new_buffer(device, offset + n_bytes, 0);
        t = mtl_buffer_new_tensor(buffer, &d, offset, NULL);
    } else {
        t = mtl_device_new_tensor(device, &d, NULL);
    }
    assert_non_null(t);
    size_t n_bytes = (size_t)pack * 4 + 64;
    unsigned char *in = malloc(n_bytes), *out = malloc(n_bytes);
    for (size_t i = 0; i < n_bytes; i++) in[i] = (unsigned char)random_below(256), out[i] = 0xa5;
    mtl_tensor_replace_slice(t, &origin, &n, in, &strides);
    mtl_tensor_get_bytes(t, out, &strides, &origin, &n);
    const unsigned char *memory =
        buffer ? (unsigned char *)mtl_buffer_contents(buffer) + offset : NULL;
    ptrdiff_t index[MTL_TENSOR_MAX_RANK] = {0};
    for (bool more = true; more;) {
        int64_t at = place(rank, index, strides.extents);
        unsigned want = load(in, at, bits), got = load(out, at, bits);
        if (want != got) fail_msg("rank %zu, type %d: %u, not %u", rank, (int)type, got, want);
        if (memory) {
            ptrdiff_t shifted[MTL_TENSOR_MAX_RANK];
            for (size_t i = 0; i < rank; i++) shifted[i] = index[i] + origin.extents[i];
            got = load(memory, place(rank, shifted, pitch), bits);
            if (want != got) fail_msg("rank %zu, type %d in the buffer", rank, (int)type);
        }
        size_t r = 0;
        while (r < rank && ++index[r] == n.extents[r]) index[r++] = 0;
        more = r < rank;
    }
    free(in);
    free(out);
    mtl_release(t);
    mtl_release(buffer);
}

static void slices_of_every_rank_and_type(void **state) {
    (void)state;
    clear_messages();
    for (int k = 0; k < N_TYPES; k++)
        for (size_t rank = types[k].bits == 4; rank <= MTL_TENSOR_MAX_RANK;
             rank += rank < 6 ? 1 : 5)
            for (int i = 0; i < 12; i++)
                check_random_slice(rank, types[k].type, types[k].bits, i % 2);
    if (n_messages) fail_msg("%s", last_text);
}

// What lies beside a slice stays as it is.
static void slices_touch_nothing_else(void **state) {
    (void)state;
    MTLTensorDescriptor d = described(2, (ptrdiff_t[]){6, 4}, MTLTensorDataTypeUInt16);
    MTLTensor *t = mtl_device_new_tensor(device, &d, NULL);
    const uint16_t nine[2] = {9, 8};
    mtl_tensor_replace_slice(t, &(MTLTensorExtents){2, {2, 1}}, &(MTLTensorExtents){2, {1, 2}},
                             nine, &(MTLTensorExtents){2, {1, 1}});
    uint16_t all[24];
    mtl_tensor_get_bytes(t, all, &(MTLTensorExtents){2, {1, 6}}, &(MTLTensorExtents){2, {0, 0}},
                         &(MTLTensorExtents){2, {6, 4}});
    for (int i = 0; i < 24; i++) assert_int_equal(all[i], i == 8 ? 9 : i == 14 ? 8 : 0);
    mtl_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extents_are_numbers_per_dimension),
        cmocka_unit_test(defaults_are_apples),
        cmocka_unit_test(own_memory_has_no_strides),
        cmocka_unit_test(buffers_lend_their_memory),
        cmocka_unit_test(residency_sets_hold_tensors),
        cmocka_unit_test(wrong_dimensions),
        cmocka_unit_test(wrong_fields),
        cmocka_unit_test(wrong_strides),
        cmocka_unit_test(wrong_places_in_buffers),
        cmocka_unit_test(absent_things),
        cmocka_unit_test(slices_outside_are_refused),
        cmocka_unit_test(slices_of_every_rank_and_type),
        cmocka_unit_test(slices_touch_nothing_else),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
