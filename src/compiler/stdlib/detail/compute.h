// SPDX-License-Identifier: Apache-2.0
// compute.h: <metal_compute>: barriers, fences, function constants.
#pragma once

namespace metal {
enum class mem_flags {
    mem_none = 0,
    mem_device = 1,
    mem_threadgroup = 2,
    mem_texture = 4,
    mem_threadgroup_imageblock = 8,
    mem_object_data = 16
};
METAL_FUNC constexpr mem_flags operator|(mem_flags a, mem_flags b) {
    return (mem_flags)((uint)a | (uint)b);
}
METAL_FUNC constexpr mem_flags operator&(mem_flags a, mem_flags b) {
    return (mem_flags)((uint)a & (uint)b);
}

METAL_FUNC __MSL_BUILTIN void threadgroup_barrier(mem_flags flags) {
    __ingot_threadgroup_barrier((uint)flags);
}
METAL_FUNC __MSL_BUILTIN void threadgroup_barrier(mem_flags flags, thread_scope) {
    __ingot_threadgroup_barrier((uint)flags);
}
METAL_FUNC __MSL_BUILTIN void simdgroup_barrier(mem_flags flags) {
    __ingot_simdgroup_barrier((uint)flags);
}
METAL_FUNC __MSL_BUILTIN void simdgroup_barrier(mem_flags flags, thread_scope) {
    __ingot_simdgroup_barrier((uint)flags);
}
// All memory kinds are one here; the scope only ever widens.
METAL_FUNC void atomic_thread_fence(mem_flags, memory_order order,
                                    thread_scope = thread_scope_device) {
    __atomic_thread_fence(order);
}

// A built-in at program scope (frontend/token_globals.c): uint, ushort, or two or three of them.
template <class T, uint BUILTIN> METAL_FUNC T __builtin_at() {
    if constexpr (__is_vec<T>) {
        using E = __element_t<T>;
        T r((E)0);
        r.x = (E)__ingot_position(BUILTIN, 0);
        r.y = (E)__ingot_position(BUILTIN, 1);
        if constexpr (sizeof(T) > 2 * sizeof(E)) r.z = (E)__ingot_position(BUILTIN, 2);
        return r;
    } else {
        return (T)__ingot_position(BUILTIN, 0);
    }
}

template <class T> METAL_FUNC bool is_function_constant_defined(const constant T &c) {
    return __ingot_fc_defined(&c) != 0;
}
} // namespace metal
