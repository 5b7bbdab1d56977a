// SPDX-License-Identifier: Apache-2.0
// execution.h: execution scopes: how many threads carry out an operation on tensors together. One
// thread, or a number of SIMD-groups of 32.
#pragma once

namespace metal {
namespace __execution {
constexpr constant size_t dynamic_size = ~size_t(0);
template <size_t Size> class fixed_size {
public:
    static constexpr constant size_t static_size = Size;
    METAL_FUNC constexpr uint size() const { return static_size; }
};
class any_size {
    uint __size;

public:
    static constexpr constant size_t static_size = dynamic_size;
    METAL_FUNC any_size(uint size) : __size(size) {}
    METAL_FUNC uint size() const { return __size; }
};
}
template <size_t Size> class execution_simdgroups : public __execution::fixed_size<Size> {
    static_assert(Size != 0, "execution_simdgroups<0> is not supported");
};
template <>
class execution_simdgroups<__execution::dynamic_size> : public __execution::any_size {
public:
    METAL_FUNC execution_simdgroups(uint size) : any_size(size) {}
};
template <size_t Size> class execution_threads : public __execution::fixed_size<Size> {
    static_assert(Size == 1, "execution_threads<1> is the only number that is supported");
};
template <> class execution_threads<__execution::dynamic_size> : public __execution::any_size {
public:
    template <size_t Size>
    METAL_FUNC execution_threads(execution_simdgroups<Size> groups) : any_size(groups.size() * 32) {}
};
using execution_dsimdgroups = execution_simdgroups<__execution::dynamic_size>;
using execution_simdgroup = execution_simdgroups<1>;
using execution_dthreads = execution_threads<__execution::dynamic_size>;
using execution_thread = execution_threads<1>;
template <class T, class = enable_if_t<is_integral_v<T>>>
execution_simdgroups(T) -> execution_simdgroups<__execution::dynamic_size>;
template <size_t Size>
execution_threads(execution_simdgroups<Size>) -> execution_threads<__execution::dynamic_size>;

namespace __execution {
template <class T> struct of {
    static constexpr constant bool threads = false, simdgroups = false;
    static constexpr constant size_t size = 0;
};
template <size_t Size> struct of<execution_threads<Size>> {
    static constexpr constant bool threads = true, simdgroups = false;
    static constexpr constant size_t size = Size;
};
template <size_t Size> struct of<execution_simdgroups<Size>> {
    static constexpr constant bool threads = false, simdgroups = true;
    static constexpr constant size_t size = Size;
};
template <class T> using scope = of<__bare<T>>;
} // namespace __execution
#define __MSL_T(NAME, VALUE) \
    template <class T> struct NAME : bool_constant<(VALUE)> {}; \
    template <class T> constexpr constant bool NAME##_v = (VALUE);
__MSL_T(is_execution_threads, __execution::scope<T>::threads)
__MSL_T(is_execution_simdgroups, __execution::scope<T>::simdgroups)
__MSL_T(is_execution_dthreads,
        __execution::scope<T>::threads && __execution::scope<T>::size == __execution::dynamic_size)
__MSL_T(is_execution_dsimdgroups, __execution::scope<T>::simdgroups &&
                                      __execution::scope<T>::size == __execution::dynamic_size)
__MSL_T(is_execution_thread, __execution::scope<T>::threads && __execution::scope<T>::size == 1)
__MSL_T(is_execution_simdgroup,
        __execution::scope<T>::simdgroups && __execution::scope<T>::size == 1)
#undef __MSL_T
} // namespace metal
