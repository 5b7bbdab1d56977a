// SPDX-License-Identifier: Apache-2.0
// traits.h: <metal_type_traits>, the C++ type traits MSL has, and those it adds for vectors. The
// traits on element kinds (is_integral, is_floating_point, ...) look through vec, as in Metal.
#pragma once

namespace metal {
template <class T, int N> struct vec;
template <class T, int N> struct packed_vec;
template <class T, int Cols, int Rows = Cols> struct matrix;

template <class T, T V> struct integral_constant {
    static constexpr constant T value = V;
    using value_type = T;
    using type = integral_constant;
    METAL_FUNC constexpr operator T() const { return V; }
    METAL_FUNC constexpr T operator()() const { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <class T> struct type_identity { using type = T; };
template <class T> using type_identity_t = typename type_identity<T>::type;
template <class T> T &&declval() noexcept;

// ---- address spaces
template <class T> struct remove_addrspace { using type = T; };
#define __MSL_T(S, C) \
    template <class T> struct remove_addrspace<C S T> { using type = C T; };
__MSL_T(device, ) __MSL_T(device, const) __MSL_T(device, volatile) __MSL_T(device, const volatile)
__MSL_T(threadgroup, ) __MSL_T(threadgroup, const)
__MSL_T(threadgroup, volatile) __MSL_T(threadgroup, const volatile)
__MSL_T(thread, ) __MSL_T(thread, const) __MSL_T(thread, volatile) __MSL_T(thread, const volatile)
__MSL_T(__generic, ) __MSL_T(__generic, const)
__MSL_T(__generic, volatile) __MSL_T(__generic, const volatile)
__MSL_T(__constant, ) __MSL_T(__constant, const) __MSL_T(__constant, const volatile)
#undef __MSL_T
template <class T> using remove_addrspace_t = typename remove_addrspace<T>::type;

// ---- qualifiers, references, pointers, arrays
template <class T> using remove_const_t = __remove_const(T);
template <class T> using remove_volatile_t = __remove_volatile(T);
template <class T> using remove_cv_t = __remove_cv(T);
template <class T> using remove_reference_t = __remove_reference_t(T);
template <class T> using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <class T> using remove_extent_t = __remove_extent(T);
template <class T> using remove_all_extents_t = __remove_all_extents(T);
template <class T> using add_const_t = const T;
template <class T> using add_volatile_t = volatile T;
template <class T> using add_cv_t = const volatile T;
template <class T> using make_signed_t = __make_signed(T);
template <class T> using make_unsigned_t = __make_unsigned(T);
template <class T> using underlying_type_t = __underlying_type(T);
template <class T> struct __pointee { using type = T; };
template <class T> struct __pointee<T *> { using type = T; };
template <class T>
using remove_pointer_t = typename __pointee<remove_cv_t<remove_addrspace_t<T>>>::type;
#define __MSL_T(N) \
    template <class T> struct N { using type = N##_t<T>; };
__MSL_T(remove_const) __MSL_T(remove_volatile) __MSL_T(remove_cv) __MSL_T(remove_reference)
__MSL_T(remove_cvref) __MSL_T(remove_extent) __MSL_T(remove_all_extents) __MSL_T(remove_pointer)
__MSL_T(add_const) __MSL_T(add_volatile) __MSL_T(add_cv) __MSL_T(underlying_type)
#undef __MSL_T
template <class T> struct make_signed { using type = make_signed_t<T>; };
template <class T> struct make_unsigned { using type = make_unsigned_t<T>; };
template <class T, int N>
struct make_signed<vec<T, N>> { using type = vec<make_signed_t<T>, N>; };
template <class T, int N>
struct make_unsigned<vec<T, N>> { using type = vec<make_unsigned_t<T>, N>; };
template <class T> struct add_lvalue_reference { using type = T &; };
template <class T> struct add_rvalue_reference { using type = T &&; };
template <class T> using add_lvalue_reference_t = T &;
template <class T> using add_rvalue_reference_t = T &&;
template <class T> struct add_pointer { using type = remove_reference_t<T> *; };
template <class T> using add_pointer_t = typename add_pointer<T>::type;
// A type without reference, qualifiers and address space.
template <class T> using __bare = remove_cv_t<remove_addrspace_t<remove_reference_t<T>>>;
template <class T> struct __decay { using type = __bare<T>; };
template <class T> struct __decay<T[]> { using type = T *; };
template <class T, size_t N> struct __decay<T[N]> { using type = T *; };
template <class T> struct decay : __decay<remove_reference_t<T>> {};
template <class T> using decay_t = typename decay<T>::type;

// ---- predicates: name<T>, name_v<T>
#define __MSL_T(N, ...) \
    template <class T> inline constexpr constant bool N##_v = __VA_ARGS__; \
    template <class T> struct N : bool_constant<N##_v<T>> {};
// what a predicate on element kinds looks at
template <class T> struct __element { using type = T; };
template <class T, int N> struct __element<vec<T, N>> { using type = T; };
template <class T, int N> struct __element<packed_vec<T, N>> { using type = T; };
template <class T> using __el = typename __element<remove_cv_t<T>>::type;
template <class T>
inline constexpr constant bool __floating =
    __is_floating_point(T) || __is_same(T, half) || __is_same(T, bfloat);
__MSL_T(is_void, __is_void(T))
__MSL_T(is_null_pointer, __is_same(remove_cv_t<T>, nullptr_t))
__MSL_T(is_integral, __is_integral(__el<T>))
__MSL_T(is_floating_point, __floating<__el<T>>)
__MSL_T(is_arithmetic, is_integral_v<T> || is_floating_point_v<T>)
__MSL_T(is_signed, __is_signed(__el<T>) || is_floating_point_v<T>)
__MSL_T(is_unsigned, __is_unsigned(__el<T>))
__MSL_T(is_array, __is_array(T))
__MSL_T(is_enum, __is_enum(T))
__MSL_T(is_union, __is_union(T))
__MSL_T(is_class, __is_class(T))
__MSL_T(is_function, __is_function(T))
__MSL_T(is_pointer, __is_pointer(T))
__MSL_T(is_lvalue_reference, __is_lvalue_reference(T))
__MSL_T(is_rvalue_reference, __is_rvalue_reference(T))
__MSL_T(is_reference, __is_reference(T))
__MSL_T(is_member_pointer, __is_member_pointer(T))
__MSL_T(is_fundamental, __is_void(T) || __is_integral(T) || __floating<remove_cv_t<T>>)
__MSL_T(is_scalar, __is_integral(T) || __floating<remove_cv_t<T>> || __is_enum(T) ||
                       __is_pointer(T) || is_null_pointer_v<T>)
__MSL_T(is_object, __is_object(T))
__MSL_T(is_compound, !is_fundamental_v<T>)
__MSL_T(is_const, __is_const(T))
__MSL_T(is_volatile, __is_volatile(T))
__MSL_T(is_trivial, __is_trivial(T))
__MSL_T(is_trivially_copyable, __is_trivially_copyable(T))
__MSL_T(is_standard_layout, __is_standard_layout(T))
__MSL_T(is_pod, __is_pod(T))
__MSL_T(is_literal_type, __is_literal(T))
__MSL_T(is_polymorphic, __is_polymorphic(T))
__MSL_T(is_abstract, __is_abstract(T))
__MSL_T(is_final, __is_final(T))
__MSL_T(is_default_constructible, __is_constructible(T))
__MSL_T(is_copy_constructible, __is_constructible(T, const T &))
__MSL_T(is_move_constructible, __is_constructible(T, T &&))
__MSL_T(is_copy_assignable, __is_assignable(T &, const T &))
__MSL_T(is_move_assignable, __is_assignable(T &, T &&))
__MSL_T(is_destructible, __is_destructible(T))
__MSL_T(is_trivially_default_constructible, __is_trivially_constructible(T))
__MSL_T(is_trivially_destructible, __is_trivially_destructible(T))
__MSL_T(is_trivially_copy_constructible, __is_trivially_constructible(T, const T &))
#undef __MSL_T
template <class T> inline constexpr constant bool is_vector_v = false;
template <class T, int N> inline constexpr constant bool is_vector_v<vec<T, N>> = true;
template <class T> struct is_vector : bool_constant<is_vector_v<remove_cv_t<T>>> {};
template <class T> inline constexpr constant bool is_matrix_v = false;
template <class T, int C, int R> inline constexpr constant bool is_matrix_v<matrix<T, C, R>> = true;
template <class T> struct is_matrix : bool_constant<is_matrix_v<remove_cv_t<T>>> {};

template <class A, class B> inline constexpr constant bool is_same_v = __is_same(A, B);
template <class A, class B> struct is_same : bool_constant<__is_same(A, B)> {};
template <class B, class D> inline constexpr constant bool is_base_of_v = __is_base_of(B, D);
template <class B, class D> struct is_base_of : bool_constant<__is_base_of(B, D)> {};
template <class F, class T>
inline constexpr constant bool is_convertible_v = __is_convertible(F, T);
template <class F, class T> struct is_convertible : bool_constant<__is_convertible(F, T)> {};
template <class T, class U> inline constexpr constant bool is_assignable_v = __is_assignable(T, U);
template <class T, class U> struct is_assignable : bool_constant<__is_assignable(T, U)> {};
template <class T, class... A>
inline constexpr constant bool is_constructible_v = __is_constructible(T, A...);
template <class T, class... A>
struct is_constructible : bool_constant<__is_constructible(T, A...)> {};

template <class T> struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <class T> inline constexpr constant size_t alignment_of_v = alignof(T);
template <class T> struct rank : integral_constant<size_t, __array_rank(T)> {};
template <class T> inline constexpr constant size_t rank_v = __array_rank(T);
template <class T, unsigned I = 0>
struct extent : integral_constant<size_t, __array_extent(T, I)> {};
template <class T, unsigned I = 0> inline constexpr constant size_t extent_v = __array_extent(T, I);

// ---- logic on traits
template <class...> struct conjunction : true_type {};
template <class B> struct conjunction<B> : B {};
template <class B, class... R>
struct conjunction<B, R...> : conditional_t<bool(B::value), conjunction<R...>, B> {};
template <class...> struct disjunction : false_type {};
template <class B> struct disjunction<B> : B {};
template <class B, class... R>
struct disjunction<B, R...> : conditional_t<bool(B::value), B, disjunction<R...>> {};
template <class B> struct negation : bool_constant<!bool(B::value)> {};
template <class... B> inline constexpr constant bool conjunction_v = conjunction<B...>::value;
template <class... B> inline constexpr constant bool disjunction_v = disjunction<B...>::value;
template <class B> inline constexpr constant bool negation_v = negation<B>::value;

// ---- what a function gives, what types have in common
template <class F, class... A> using invoke_result_t = decltype(declval<F>()(declval<A>()...));
template <class F, class... A> struct invoke_result { using type = invoke_result_t<F, A...>; };
template <class S> struct result_of;
template <class F, class... A> struct result_of<F(A...)> : invoke_result<F, A...> {};
template <class S> using result_of_t = typename result_of<S>::type;
template <class...> struct common_type {};
template <class T> struct common_type<T> { using type = decay_t<T>; };
template <class A, class B> struct common_type<A, B> {
    using type = decay_t<decltype(true ? declval<decay_t<A>>() : declval<decay_t<B>>())>;
};
template <class A, class B, class... R>
struct common_type<A, B, R...> : common_type<typename common_type<A, B>::type, R...> {};
template <class... T> using common_type_t = typename common_type<T...>::type;

// ---- vectors by element and count
template <class T> struct make_scalar { using type = __el<T>; };
template <class T> using make_scalar_t = __el<T>;
template <class T, int N> struct make_vector { using type = vec<T, N>; };
template <class T> struct make_vector<T, 1> { using type = T; };
template <class T, int N> using make_vector_t = typename make_vector<T, N>::type;

// ---- integer sequences
template <class T, T... I> struct integer_sequence {
    using value_type = T;
    static METAL_FUNC constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;
// The compiler makes them as long as it is told to, until there is no memory left.
template <class T, T N> struct __counted {
    static_assert(N >= 0 && N <= 65536, "a sequence has no more than 65536 numbers");
    using type = __make_integer_seq<integer_sequence, T, (N >= 0 && N <= 65536 ? N : 0)>;
};
template <class T, T N> using make_integer_sequence = typename __counted<T, N>::type;
template <size_t N> using make_index_sequence = make_integer_sequence<size_t, N>;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;
} // namespace metal
