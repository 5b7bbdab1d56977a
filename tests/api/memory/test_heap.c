// SPDX-License-Identifier: Apache-2.0
// test_heap.c: MTLHeap: sizes that are true, places that come back, aliasing, placement, purgeable
// state, and descriptors and resources that a heap refuses.
#include <sys/mman.h>
#include <unistd.h>
#include "api_test.h"

#define MB ((size_t)1 << 20)

static MTLHeap *new_heap(size_t size, MTLHeapType type) {
    MTLHeap *heap = mtl_device_new_heap(
        device, &(MTLHeapDescriptor){.size = size, .storage_mode_is_set = true, .type = type});
    assert_non_null(heap);
    return heap;
}

static MTLBuffer *take(MTLHeap *heap, size_t length) {
    return mtl_heap_new_buffer(heap, length, 0);
}

static void defaults(void **state) {
    (void)state;
    uint64_t before = mtl_device_current_allocated_size(device);
    MTLHeap *heap = mtl_device_new_heap(device, &(MTLHeapDescriptor){.size = MB});
    assert_string_equal(mtl_class_name(heap), "MTLHeap");
    assert_ptr_equal(mtl_heap_device(heap), device);
    assert_int_equal(mtl_heap_storage_mode(heap), MTLStorageModePrivate); // as Apple has it
    assert_int_equal(mtl_heap_cpu_cache_mode(heap), MTLCPUCacheModeDefaultCache);
    assert_int_equal(mtl_heap_hazard_tracking_mode(heap), MTLHazardTrackingModeUntracked);
    assert_int_equal(mtl_heap_resource_options(heap),
                     MTLResourceStorageModePrivate | MTLResourceHazardTrackingModeUntracked);
    assert_int_equal(mtl_heap_type(heap), MTLHeapTypeAutomatic);
    assert_int_equal(mtl_heap_size(heap), MB);
    assert_int_equal(mtl_heap_current_allocated_size(heap), MB);
    assert_int_equal(mtl_heap_used_size(heap), 0);
    assert_int_equal(mtl_heap_max_available_size(heap, 256), MB);
    assert_int_equal(mtl_allocation_allocated_size((MTLAllocation *)heap), MB);
    assert_int_equal(mtl_device_current_allocated_size(device), before + MB);
    mtl_heap_set_label(heap, "the heap");
    assert_string_equal(mtl_heap_label(heap), "the heap");
    MTLBuffer *buffer = mtl_heap_new_buffer(heap, 1000, MTLResourceStorageModePrivate);
    assert_non_null(buffer);
    assert_ptr_equal(mtl_resource_heap((MTLResource *)buffer), heap);
    assert_int_equal(mtl_buffer_hazard_tracking_mode(buffer), MTLHazardTrackingModeUntracked);
    // Its memory was counted with the heap's.
    assert_int_equal(mtl_device_current_allocated_size(device), before + MB);
    mtl_release(heap); // lives while the buffer does
    mtl_release(buffer);
    assert_int_equal(mtl_device_current_allocated_size(device), before);
    heap = mtl_device_new_heap(device, &(MTLHeapDescriptor){.size = 1});
    assert_true(mtl_heap_size(heap) >= 4096);
    mtl_release(heap);
}

static void sizes_are_true(void **state) {
    (void)state;
    MTLHeap *heap = new_heap(MB, MTLHeapTypeAutomatic);
    MTLSizeAndAlign need = mtl_device_heap_buffer_size_and_align(device, 1000, 0);
    assert_true(need.size >= 1000 && need.align > 0 && need.size % need.align == 0);
    MTLBuffer *a = take(heap, 1000);
    assert_int_equal(mtl_heap_used_size(heap), need.size);
    assert_int_equal(mtl_buffer_allocated_size(a), need.size);
    assert_int_equal(mtl_buffer_length(a), 1000);
    assert_int_equal(mtl_heap_max_available_size(heap, need.align), MB - need.size);
    // What is said to fit fits, and nothing more.
    size_t rest = mtl_heap_max_available_size(heap, need.align);
    clear_messages();
    assert_null(take(heap, rest + 1));
    assert_string_equal(last_rule, "heap_full");
    MTLBuffer *b = take(heap, rest);
    assert_non_null(b);
    assert_int_equal(mtl_heap_used_size(heap), MB);
    assert_int_equal(mtl_heap_max_available_size(heap, 1), 0);
    assert_null(take(heap, 1));
    memset(mtl_buffer_contents(a), 1, 1000);
    memset(mtl_buffer_contents(b), 2, rest);
    assert_int_equal(((char *)mtl_buffer_contents(a))[999], 1);
    assert_int_equal((size_t)mtl_buffer_contents(a) % need.align, 0);
    mtl_release(a);
    assert_int_equal(mtl_heap_used_size(heap), rest);
    assert_int_equal(mtl_heap_max_available_size(heap, need.align), need.size);
    a = take(heap, need.size);
    assert_non_null(a);
    mtl_release(a), mtl_release(b);
    assert_int_equal(mtl_heap_used_size(heap), 0);
    assert_int_equal(mtl_heap_max_available_size(heap, 65536), MB); // neighbours have joined
    mtl_release(heap);
}

// A thousand takes and returns at random, against a map of who owns which unit.
static void random_takes_and_returns(void **state) {
    (void)state;
    enum { SLOTS = 60, UNITS = 4096 };
    MTLHeap *heap = new_heap(UNITS * 256, MTLHeapTypeAutomatic);
    MTLBuffer *buffers[SLOTS] = {NULL};
    static unsigned char owner[UNITS];
    memset(owner, 0, sizeof owner);
    unsigned seed = 7;
    size_t used = 0;
    for (int round = 0; round < 3000; round++) {
        seed = seed * 1664525u + 1013904223u;
        unsigned slot = (seed >> 8) % SLOTS, n = 1 + (seed >> 16) % 150;
        MTLBuffer **b = &buffers[slot];
        bool add = !*b;
        if (add) *b = take(heap, n * 256 - (seed >> 5) % 256);
        if (*b) {
            size_t at = mtl_resource_heap_offset((MTLResource *)*b) / 256;
            size_t units = mtl_buffer_allocated_size(*b) / 256;
            assert_true(at + units <= UNITS);
            for (size_t u = at; u < at + units; u++) {
                assert_int_equal(owner[u], add ? 0 : slot + 1);
                owner[u] = add ? (unsigned char)(slot + 1) : 0;
            }
            used += add ? units : -units;
            if (!add) {
                mtl_release(*b);
                *b = NULL;
            }
        } else { // no room: the map says so too
            size_t largest = 0;
            for (size_t u = 0, run = 0; u < UNITS; u++) {
                run = owner[u] ? 0 : run + 1;
                largest = run > largest ? run : largest;
            }
            assert_true(largest < n);
            assert_int_equal(mtl_heap_max_available_size(heap, 256), largest * 256);
        }
        assert_int_equal(mtl_heap_used_size(heap), used * 256);
    }
    for (int i = 0; i < SLOTS; i++) mtl_release(buffers[i]);
    assert_int_equal(mtl_heap_used_size(heap), 0);
    assert_int_equal(mtl_heap_max_available_size(heap, 4096), UNITS * 256);
    mtl_release(heap);
}

static size_t resident(const void *memory, size_t n_bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = n_bytes / page, in = 0;
    unsigned char *map = malloc(n);
    assert_int_equal(mincore((void *)memory, n_bytes, map), 0);
    for (size_t i = 0; i < n; i++) in += map[i] & 1;
    free(map);
    return in * page;
}

static void memory_goes_back(void **state) {
    (void)state;
    NEEDS_RESULTS();
    NEEDS_HOST_MEMORY();
    MTLHeap *heap = new_heap(8 * MB, MTLHeapTypeAutomatic);
    MTLBuffer *a = take(heap, 6 * MB);
    char *memory = mtl_buffer_contents(a);
    memset(memory, 1, 6 * MB);
    assert_true(resident(memory, 6 * MB) == 6 * MB);
    mtl_release(a);
    assert_true(resident(memory, 6 * MB) < MB);
    mtl_release(heap);
}

static void aliasing(void **state) {
    (void)state;
    MTLHeap *heap = new_heap(MB, MTLHeapTypeAutomatic);
    MTLBuffer *a = take(heap, MB);
    memset(mtl_buffer_contents(a), 7, MB);
    assert_false(mtl_resource_is_aliasable((MTLResource *)a));
    assert_null(take(heap, 256));
    mtl_resource_make_aliasable((MTLResource *)a);
    assert_true(mtl_resource_is_aliasable((MTLResource *)a));
    mtl_resource_make_aliasable((MTLResource *)a); // once is enough
    assert_int_equal(mtl_heap_used_size(heap), 0);
    assert_int_equal(mtl_heap_max_available_size(heap, 256), MB);
    assert_int_equal(((char *)mtl_buffer_contents(a))[5000], 7); // until somebody takes it
    MTLBuffer *b = take(heap, MB / 2);
    assert_ptr_equal(mtl_buffer_contents(a), mtl_buffer_contents(b)); // the same memory
    assert_int_equal(mtl_heap_used_size(heap), MB / 2);
    mtl_release(a); // gives nothing back: it was given
    assert_int_equal(mtl_heap_used_size(heap), MB / 2);
    assert_int_equal(mtl_heap_max_available_size(heap, 256), MB / 2);
    mtl_release(b);
    assert_int_equal(mtl_heap_max_available_size(heap, 256), MB);
    clear_messages();
    MTLBuffer *own = mtl_device_new_buffer(device, 100, 0);
    mtl_resource_make_aliasable((MTLResource *)own);
    assert_string_equal(last_rule, "heap_aliasable");
    assert_false(mtl_resource_is_aliasable((MTLResource *)own));
    mtl_resource_make_aliasable(NULL);
    assert_string_equal(last_rule, "null_object");
    mtl_resource_make_aliasable((MTLResource *)heap);
    assert_string_equal(last_rule, "wrong_class");
    mtl_release(own), mtl_release(heap);
}

static void placement(void **state) {
    (void)state;
    MTLHeap *heap = new_heap(MB, MTLHeapTypePlacement);
    assert_int_equal(mtl_heap_type(heap), MTLHeapTypePlacement);
    MTLBuffer *a = mtl_heap_new_buffer_with_offset(heap, 4096, 0, 65536);
    MTLBuffer *b = mtl_heap_new_buffer_with_offset(heap, 8192, 0, 65536 + 2048); // over it
    assert_int_equal(mtl_resource_heap_offset((MTLResource *)b), 65536 + 2048);
    assert_ptr_equal((char *)mtl_buffer_contents(a) + 2048, mtl_buffer_contents(b));
    assert_int_equal(mtl_heap_used_size(heap), 2048 + 8192); // what they share counts once
    assert_int_equal(mtl_heap_max_available_size(heap, 256), MB - 65536 - 2048 - 8192);
    MTLBuffer *c = mtl_heap_new_buffer_with_offset(heap, MB, 0, 0);
    assert_int_equal(mtl_heap_used_size(heap), MB);
    assert_int_equal(mtl_heap_max_available_size(heap, 256), 0);
    // c's pages stay while others lie in them.
    memset(mtl_buffer_contents(b), 9, 8192);
    mtl_release(c);
    assert_int_equal(((char *)mtl_buffer_contents(b))[8191], 9);
    mtl_release(a);
    assert_int_equal(mtl_heap_used_size(heap), 8192);
    mtl_release(b);
    assert_int_equal(mtl_heap_used_size(heap), 0);
    assert_int_equal(mtl_heap_max_available_size(heap, 16384), MB);

    static const struct {
        size_t length, offset;
    } bad[] = {
        {4096, 100}, {4096, MB}, {4096, MB - 2048}, {4096, SIZE_MAX & ~(size_t)255}, {2 * MB, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        clear_messages();
        assert_null(mtl_heap_new_buffer_with_offset(heap, bad[i].length, 0, bad[i].offset));
        assert_string_equal(last_rule, "heap_offset");
    }
    clear_messages();
    assert_null(take(heap, 256));
    assert_string_equal(last_rule, "heap_type");
    mtl_release(heap);
    heap = new_heap(MB, MTLHeapTypeAutomatic);
    clear_messages();
    assert_null(mtl_heap_new_buffer_with_offset(heap, 256, 0, 0));
    assert_string_equal(last_rule, "heap_type");
    mtl_release(heap);
}

static MTLTextureDescriptor square(size_t side) {
    return (MTLTextureDescriptor){.texture_type = MTLTextureType2D,
                                  .pixel_format = MTLPixelFormatRGBA8Unorm,
                                  .width = side,
                                  .height = side,
                                  .usage = MTLTextureUsageShaderRead};
}

static void textures(void **state) {
    (void)state;
    MTLTextureDescriptor d = square(64);
    MTLSizeAndAlign need = mtl_device_heap_texture_size_and_align(device, &d);
    assert_true(need.size >= 64 * 64 * 4);
    MTLHeap *heap = new_heap(MB, MTLHeapTypeAutomatic);
    MTLBuffer *first = take(heap, 256); // so that the texture's place is not that of the heap
    MTLTexture *texture = mtl_heap_new_texture(heap, &d);
    assert_non_null(texture);
    assert_ptr_equal(mtl_texture_heap(texture), heap);
    assert_int_equal(mtl_texture_heap_offset(texture) % need.align, 0);
    assert_int_equal(mtl_resource_allocated_size((MTLResource *)texture), need.size);
    uint32_t texels[64], back[64];
    for (uint32_t i = 0; i < 64; i++) texels[i] = i * 0x01010101u;
    mtl_texture_replace_region(texture, mtl_region_make_2d(0, 63, 64, 1), 0, texels, 256);
    mtl_texture_get_bytes(texture, back, 256, mtl_region_make_2d(0, 63, 64, 1), 0);
    assert_memory_equal(texels, back, sizeof texels);
    size_t used = mtl_heap_used_size(heap);
    mtl_release(texture);
    assert_int_equal(mtl_heap_used_size(heap), used - need.size);
    clear_messages();
    d = square(1024);
    assert_null(mtl_heap_new_texture(heap, &d));
    assert_string_equal(last_rule, "heap_full");
    assert_null(mtl_heap_new_texture(heap, NULL));
    assert_string_equal(last_rule, "null_argument");
    d = square(64);
    d.storage_mode = MTLStorageModePrivate;
    assert_null(mtl_heap_new_texture(heap, &d));
    assert_string_equal(last_rule, "heap_options");
    mtl_release(first), mtl_release(heap);

    heap = new_heap(MB, MTLHeapTypePlacement);
    d = square(64);
    texture = mtl_heap_new_texture_with_offset(heap, &d, 8 * need.align);
    assert_int_equal(mtl_texture_heap_offset(texture), 8 * need.align);
    assert_int_equal(mtl_heap_used_size(heap), need.size);
    clear_messages();
    if (need.align > 1) {
        assert_null(mtl_heap_new_texture_with_offset(heap, &d, 1));
        assert_string_equal(last_rule, "heap_offset");
    }
    mtl_release(texture), mtl_release(heap);
}

static void purgeable(void **state) {
    (void)state;
    MTLHeap *heap = new_heap(MB, MTLHeapTypeAutomatic);
    mtl_heap_set_label(heap, "purse");
    MTLBuffer *a = take(heap, 4096);
    memset(mtl_buffer_contents(a), 1, 4096);
    assert_int_equal(mtl_heap_set_purgeable_state(heap, MTLPurgeableStateKeepCurrent),
                     MTLPurgeableStateNonVolatile);
    assert_int_equal(mtl_heap_set_purgeable_state(heap, MTLPurgeableStateVolatile),
                     MTLPurgeableStateNonVolatile);
    assert_int_equal(mtl_buffer_set_purgeable_state(a, MTLPurgeableStateKeepCurrent),
                     MTLPurgeableStateVolatile); // its heap's
    clear_messages();
    assert_int_equal(mtl_buffer_set_purgeable_state(a, MTLPurgeableStateNonVolatile),
                     MTLPurgeableStateVolatile);
    assert_string_equal(last_rule, "purgeable_in_heap");
    assert_non_null(strstr(last_text, "purse"));
    assert_int_equal(mtl_heap_set_purgeable_state(heap, MTLPurgeableStateEmpty),
                     MTLPurgeableStateVolatile);
    assert_int_equal(*(char *)mtl_buffer_contents(a), 0); // dropped
    assert_int_equal(mtl_heap_set_purgeable_state(heap, MTLPurgeableStateNonVolatile),
                     MTLPurgeableStateEmpty);
    clear_messages();
    mtl_heap_set_purgeable_state(heap, (MTLPurgeableState)17);
    assert_string_equal(last_rule, "purgeable_state");
    mtl_release(a), mtl_release(heap);

    // Buffers and textures of their own memory, small and large.
    const size_t lengths[] = {100, 5000, 3 * MB};
    for (size_t i = 0; i < 3; i++) {
        MTLBuffer *b = mtl_device_new_buffer(device, lengths[i], 0);
        MTLBuffer *neighbour = mtl_device_new_buffer(device, lengths[i], 0);
        memset(mtl_buffer_contents(b), 1, lengths[i]);
        memset(mtl_buffer_contents(neighbour), 2, lengths[i]);
        assert_int_equal(mtl_buffer_set_purgeable_state(b, MTLPurgeableStateVolatile),
                         MTLPurgeableStateNonVolatile);
        assert_int_equal(mtl_buffer_set_purgeable_state(b, MTLPurgeableStateEmpty),
                         MTLPurgeableStateVolatile);
        const char *bytes = mtl_buffer_contents(b), *others = mtl_buffer_contents(neighbour);
        for (size_t k = 0; k < lengths[i]; k++) assert_true(bytes[k] == 0 && others[k] == 2);
        assert_int_equal(mtl_buffer_set_purgeable_state(b, MTLPurgeableStateNonVolatile),
                         MTLPurgeableStateEmpty);
        mtl_release(b), mtl_release(neighbour);
    }
}

static void bad_input(void **state) {
    (void)state;
    NEEDS_RESULTS();
    static const struct {
        MTLHeapDescriptor d;
        const char *rule;
    } bad[] = {
        {{.size = 0}, "heap_descriptor"},
        {{.size = SIZE_MAX}, "heap_descriptor"},
        {{.size = (size_t)1 << 50}, "heap_descriptor"},
        {{.size = MB, .type = MTLHeapTypeSparse, .storage_mode_is_set = true}, "heap_sparse"},
        {{.size = MB, .type = (MTLHeapType)9}, "heap_descriptor"},
        {{.size = MB, .storage_mode = MTLStorageModeManaged}, "heap_descriptor"},
        {{.size = MB, .storage_mode = MTLStorageModeMemoryless}, "heap_descriptor"},
        {{.size = MB, .cpu_cache_mode = (MTLCPUCacheMode)5}, "heap_descriptor"},
        {{.size = MB, .hazard_tracking_mode = (MTLHazardTrackingMode)3}, "heap_descriptor"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        clear_messages();
        assert_null(mtl_device_new_heap(device, &bad[i].d));
        assert_string_equal(last_rule, bad[i].rule);
    }
    clear_messages();
    assert_null(mtl_device_new_heap(device, NULL));
    assert_string_equal(last_rule, "null_argument");
    assert_null(mtl_device_new_heap(NULL, &(MTLHeapDescriptor){.size = MB}));
    assert_string_equal(last_rule, "null_object");
    assert_int_equal(mtl_device_heap_buffer_size_and_align(device, 0, 0).size, 0);
    assert_string_equal(last_rule, "buffer_length");

    MTLHeap *heap = new_heap(MB, MTLHeapTypeAutomatic);
    mtl_heap_set_label(heap, "small");
    assert_null(mtl_heap_new_buffer(heap, 0, 0));
    assert_string_equal(last_rule, "buffer_length");
    assert_null(mtl_heap_new_buffer(heap, 100, MTLResourceStorageModePrivate));
    assert_string_equal(last_rule, "heap_options");
    assert_null(mtl_heap_new_buffer(heap, 100, MTLResourceCPUCacheModeWriteCombined));
    assert_string_equal(last_rule, "heap_options");
    assert_null(mtl_heap_new_buffer(heap, 100, MTLResourceHazardTrackingModeTracked));
    assert_string_equal(last_rule, "heap_options");
    assert_null(mtl_heap_new_buffer(heap, 2 * MB, 0));
    assert_string_equal(last_rule, "heap_full");
    assert_non_null(strstr(last_text, "'small'"));
    assert_null(mtl_heap_new_buffer(NULL, 100, 0));
    assert_string_equal(last_rule, "null_object");
    assert_null(mtl_heap_new_buffer((MTLHeap *)device, 100, 0));
    assert_string_equal(last_rule, "wrong_class");
    assert_int_equal(mtl_heap_max_available_size(heap, 3), 0);
    assert_string_equal(last_rule, "heap_alignment");
    MTLBuffer *near = mtl_device_new_buffer(device, 16, 0);
    assert_null(mtl_buffer_new_remote_buffer_view_for_device(near, device));
    assert_string_equal(last_rule, "buffer_remote");
    assert_null(mtl_buffer_remote_storage_buffer(near));
    mtl_release(near);
    assert_int_equal(mtl_heap_used_size(NULL), 0);
    assert_int_equal(mtl_heap_size(NULL), 0);
    mtl_release(heap);
}

// Small buffers share pages: each is zeroed, aligned and its own, also when its place was used
// before.
static void many_small_buffers(void **state) {
    (void)state;
    NEEDS_RESULTS();
    enum { N = 100000 }; // more than a process may have mappings
    uint64_t before = mtl_device_current_allocated_size(device);
    MTLBuffer **buffers = calloc(N, sizeof *buffers);
    assert_non_null(buffers);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < N; i++) {
            size_t length = 1 + i * 37 % 700;
            buffers[i] = mtl_device_new_buffer(device, length, 0);
            assert_non_null(buffers[i]);
            unsigned char *bytes = mtl_buffer_contents(buffers[i]);
            assert_int_equal((uintptr_t)bytes % 256, 0);
            // Kernels may read whole vectors at the end.
            for (size_t k = 0; k < (length + 15) / 16 * 16; k++) assert_true(bytes[k] == 0);
            memset(bytes, (int)(i % 255 + 1), length);
        }
        for (size_t i = 0; i < N; i++) {
            const unsigned char *bytes = mtl_buffer_contents(buffers[i]);
            size_t length = mtl_buffer_length(buffers[i]);
            assert_true(bytes[0] == i % 255 + 1 && bytes[length - 1] == i % 255 + 1);
        }
        for (size_t i = 0; i < N; i++) mtl_release(buffers[i * 7919 % N]);
    }
    free(buffers);
    assert_int_equal(mtl_device_current_allocated_size(device), before);
    char text[40];
    memset(text, 'x', sizeof text);
    for (int i = 0; i < 100; i++) { // not zeroed first, but behind its end
        MTLBuffer *b = mtl_device_new_buffer_with_bytes(device, text, 5, 0);
        const char *bytes = mtl_buffer_contents(b);
        assert_memory_equal(bytes, "xxxxx\0\0\0\0\0\0\0\0\0\0\0", 16);
        mtl_release(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(sizes_are_true),
        cmocka_unit_test(random_takes_and_returns),
        cmocka_unit_test(memory_goes_back),
        cmocka_unit_test(aliasing),
        cmocka_unit_test(placement),
        cmocka_unit_test(textures),
        cmocka_unit_test(purgeable),
        cmocka_unit_test(many_small_buffers),
        cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
