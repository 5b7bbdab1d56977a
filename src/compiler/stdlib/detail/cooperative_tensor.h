// SPDX-License-Identifier: Apache-2.0
// cooperative_tensor.h: <metal_cooperative_tensor>: a matrix spread over the threads of an
// execution scope, each of which holds a few of its elements. Which ones is the implementation's
// business: programs ask (get_multidimensional_index, is_valid_element, map_iterator).
//
// Here SIMD-group s of S holds R = ceil(rows / S) rows, a slab, row after row; thread l of it holds
// as element i position i * 32 + l of the slab. The vectoriser keeps element i of all threads side
// by side, so that a slab is a matrix in memory: see compiler/tensor_call.h. With
// __INGOT_TENSOR_LAYOUT_RANDOM (INGOT_TENSOR_LAYOUT=random in the environment) positions are
// permuted, so that programs which rely on this layout fail.
//
// GPUs with tensor cores have slabs in tiles of 16 x 8, four elements of each thread, as their
// instructions leave them. A library serves all devices: which way it is, is asked of the compiler's
// back end (__ingot_tiled), and is a constant before anything is optimised.
#pragma once

// Where inputs are cooperative tensors too, and all sizes are multiples of 16, matrices are made of
// fragments of 16 x 16 instead: so they are on the GPUs whose programs pack registers themselves.
//
// The codes are the layout arguments of the compiler's tensor operations (tensor_call.h).
#define __MSL_SHIFT 13
#define __MSL_FRAGMENTS 0x8000
namespace metal {
namespace __coop {
METAL_FUNC uint lane() { return __ingot_position(__MSL_THREAD_INDEX_IN_SIMDGROUP, 0); }
METAL_FUNC uint simdgroup() { return __ingot_position(11, 0); }

#ifdef __INGOT_TENSOR_LAYOUT_RANDOM
constexpr constant bool random = true;
#else
constexpr constant bool random = false;
#endif
METAL_FUNC constexpr uint multiplier(uint capacity) {
    return !random || capacity == 0 ? 1 : capacity % 1009 ? 1009 : 997;
}

// A matrix of Rows x Cols over Groups SIMD-groups; 0 groups: one thread has it all.
template <int Rows, int Cols, int Groups> struct matrix {
    static constexpr constant int rows = Rows, cols = Cols, groups = Groups;
    static constexpr constant int rank = 2;
    static constexpr constant int share = Groups ? (Rows + Groups - 1) / Groups : Rows;
    static constexpr constant int capacity = Groups ? (share * Cols + 31) / 32 : Rows * Cols;
    static constexpr constant uint factor = Groups ? multiplier(capacity) : 1;
    static constexpr constant uint code = capacity + (factor << 16);
    static constexpr constant bool can_tile =
        Groups && !random && share % 16 == 0 && Cols % 8 == 0;
    static_assert(capacity > 0 && capacity < 65536,
                  "a cooperative tensor of this size is not possible");

    METAL_FUNC static bool tiled() {
        if constexpr (can_tile)
            return __ingot_tiled();
        else
            return false;
    }
    METAL_FUNC static uint layout() { return code + (uint(tiled()) << 16); }
    METAL_FUNC static int first_row() {
        if constexpr (Groups > 1)
            return int(simdgroup()) * share;
        else
            return 0;
    }
    static constexpr constant int across = Cols / 8 > 0 ? Cols / 8 : 1; // tiles in a row
    METAL_FUNC static int tile_row(uint i) {
        return i / 4 / across * 16 + (i / 2 & 1) * 8 + lane() / 4;
    }
    METAL_FUNC static int tile_column(uint i) {
        return i / 4 % across * 8 + lane() % 4 * 2 + (i & 1);
    }
    // Of the slab: position, row and column of this thread's element i.
    METAL_FUNC static uint position(uint i) {
        if (tiled()) return tile_row(i) * Cols + tile_column(i);
        if constexpr (!Groups)
            return i;
        else if constexpr (factor == 1)
            return i * 32 + lane();
        else
            return ((i * 32 + lane()) * factor + __MSL_SHIFT) % (capacity * 32);
    }
    METAL_FUNC static int slab_row(uint i) {
        if (tiled()) return tile_row(i);
        if constexpr (Groups && factor == 1 && Cols % 32 == 0)
            return i / (Cols / 32);
        else if constexpr (Groups && factor == 1 && 32 % Cols == 0)
            return i * (32 / Cols) + lane() / Cols;
        else
            return position(i) / Cols;
    }
    METAL_FUNC static int column(uint i) {
        if (tiled()) return tile_column(i);
        if constexpr (Groups && factor == 1 && Cols % 32 == 0)
            return i % (Cols / 32) * 32 + lane();
        else if constexpr (Groups && factor == 1 && 32 % Cols == 0)
            return lane() % Cols;
        else
            return position(i) % Cols;
    }
    METAL_FUNC static bool valid(uint i) {
        if (i >= capacity) return false;
        if constexpr (Groups > 1 && share * Cols % 32 == 0 && Rows % Groups == 0)
            return true;
        else if constexpr (Groups > 1)
            return slab_row(i) < share && first_row() + slab_row(i) < Rows;
        else if constexpr (Groups && Rows * Cols % 32)
            return position(i) < uint(Rows * Cols);
        else
            return true;
    }
    template <class T> METAL_FUNC static array<T, 2> index(uint i) {
        return {T(column(i)), T(first_row() + slab_row(i))};
    }
    // Which element of a reduction belongs to the row (column) of element i.
    METAL_FUNC static int along(uint i, bool by_row) {
        return by_row ? slab_row(i) : column(i);
    }
};

// Eight elements of each thread are a fragment: rows y and y + 8, four columns from x on. Fragments
// below each other follow each other.
template <int Rows, int Cols> struct fragments {
    static constexpr constant int rows = Rows, cols = Cols, groups = 1, rank = 2;
    static constexpr constant int down = Rows / 16, capacity = Rows * Cols / 32;
    static constexpr constant uint factor = 0, code = capacity + ((__MSL_FRAGMENTS + down) << 16);
    METAL_FUNC static bool tiled() { return false; }
    METAL_FUNC static uint layout() { return code; }
    METAL_FUNC static int slab_row(uint i) {
        return i / 8 % down * 16 + (i / 4 & 1) * 8 + lane() / 16 * 4 + (lane() / 2 & 3);
    }
    METAL_FUNC static int column(uint i) {
        return i / 8 / down * 16 + (lane() & 8) + (lane() & 1) * 4 + i % 4;
    }
    METAL_FUNC static bool valid(uint i) { return i < capacity; }
    template <class T> METAL_FUNC static array<T, 2> index(uint i) {
        return {T(column(i)), T(slab_row(i))};
    }
    METAL_FUNC static int along(uint i, bool by_row) { return by_row ? slab_row(i) : column(i); }
};
template <int Rows, int Cols, int Groups, bool Fragments> struct registers {
    using type = matrix<Rows, Cols, Groups>;
};
template <int Rows, int Cols, int Groups> struct registers<Rows, Cols, Groups, true> {
    using type = fragments<Rows, Cols>;
};
// Two ways to spread the same matrix over the same threads.
template <class First, class Second> METAL_FUNC constexpr bool are_alike() {
    if constexpr (First::rank != 2 || Second::rank != 2)
        return false;
    else
        return First::rows == Second::rows && First::cols == Second::cols &&
               First::groups == Second::groups;
}

// A result of convolution2d: channels by positions, which run over width, height and batch.
template <int Channels, int Width, int Height, int Batch, int Groups>
struct image : matrix<Width * Height * Batch, Channels, Groups> {
    using flat = matrix<Width * Height * Batch, Channels, Groups>;
    static constexpr constant int rank = 4;
    template <class T> METAL_FUNC static array<T, 4> index(uint i) {
        int p = flat::first_row() + flat::slab_row(i);
        return {T(flat::column(i)), T(p % Width), T(p / Width % Height), T(p / Width / Height)};
    }
};

// What a reduction of a matrix over one SIMD-group leaves: every thread has all of it, so that
// every element of the matrix finds its own in the same thread.
template <int Size, bool ByRow> struct vector {
    static constexpr constant int rank = 1;
    static constexpr constant int capacity = Size;
    static constexpr constant bool by_row = ByRow;
    static_assert(capacity > 0 && capacity < 65536,
                  "a cooperative tensor of this size is not possible");
    METAL_FUNC static bool valid(uint i) { return i < capacity; }
    template <class T> METAL_FUNC static array<T, 1> index(uint i) { return {T(i)}; }
};
} // namespace __coop

template <class ElementType, class Extents, class Layout> class cooperative_tensor;

// Walks over the elements of one thread, valid or not, in order.
template <class Tensor> class __coop_iterator {
    thread Tensor *__tensor;
    uint __at;

public:
    using value_type = typename Tensor::value_type;
    METAL_FUNC __coop_iterator(thread Tensor *tensor, uint at) : __tensor(tensor), __at(at) {}
    METAL_FUNC thread value_type &operator*() const { return (*__tensor)[__at]; }
    METAL_FUNC thread value_type *operator->() const { return &(*__tensor)[__at]; }
    METAL_FUNC thread value_type &operator[](int n) const { return (*__tensor)[__at + n]; }
    METAL_FUNC thread __coop_iterator &operator++() {
        ++__at;
        return (thread __coop_iterator &)*this;
    }
    METAL_FUNC thread __coop_iterator &operator--() {
        --__at;
        return (thread __coop_iterator &)*this;
    }
    METAL_FUNC __coop_iterator operator++(int) { return __coop_iterator(__tensor, __at++); }
    METAL_FUNC __coop_iterator operator--(int) { return __coop_iterator(__tensor, __at--); }
    METAL_FUNC thread __coop_iterator &operator+=(int n) {
        __at += n;
        return (thread __coop_iterator &)*this;
    }
    METAL_FUNC thread __coop_iterator &operator-=(int n) {
        __at -= n;
        return (thread __coop_iterator &)*this;
    }
    METAL_FUNC __coop_iterator operator+(int n) const { return {__tensor, __at + n}; }
    METAL_FUNC __coop_iterator operator-(int n) const { return {__tensor, __at - n}; }
    METAL_FUNC int operator-(const __coop_iterator &o) const { return int(__at) - int(o.__at); }
    METAL_FUNC bool operator==(const __coop_iterator &o) const { return __at == o.__at; }
    METAL_FUNC bool operator!=(const __coop_iterator &o) const { return __at != o.__at; }
    METAL_FUNC bool operator<(const __coop_iterator &o) const { return __at < o.__at; }
    METAL_FUNC uint __index() const { return __at; }
    using __layout = typename Tensor::layout;
};

template <class ElementType, class Extents, class Layout> class cooperative_tensor {
public:
    using element_type = ElementType;
    using value_type = __bare<ElementType>;
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using layout = Layout;
    using iterator = __coop_iterator<cooperative_tensor>;
    value_type __elements[Layout::capacity];

    METAL_FUNC static constexpr size_t get_rank() { return Layout::rank; }
    METAL_FUNC static constexpr uint16_t get_capacity() { return Layout::capacity; }
    METAL_FUNC static constexpr Extents extents() { return Extents(); }
    METAL_FUNC static bool is_valid_element(uint16_t i) { return Layout::valid(i); }
    METAL_FUNC static bool is_valid_element(iterator i) { return Layout::valid(i.__index()); }
    METAL_FUNC static bool get_mask(uint16_t i) { return Layout::valid(i); }
    METAL_FUNC static array<index_type, Layout::rank> get_multidimensional_index(uint16_t i) {
        return Layout::template index<index_type>(i);
    }
    METAL_FUNC static array<index_type, Layout::rank> get_multidimensional_index(iterator i) {
        return Layout::template index<index_type>(i.__index());
    }

    METAL_FUNC thread value_type &operator[](uint16_t i) {
        return (thread value_type &)__elements[i];
    }
    METAL_FUNC const thread value_type &operator[](uint16_t i) const {
        return (const thread value_type &)__elements[i];
    }
    METAL_FUNC value_type get(uint16_t i) const { return __elements[i]; }
    METAL_FUNC void set(uint16_t i, value_type v) { __elements[i] = v; }
    METAL_FUNC void fill(value_type v) {
        for (uint i = 0; i < Layout::capacity; i++) __elements[i] = v;
    }

    METAL_FUNC iterator begin() { return get_iterator(0); }
    METAL_FUNC iterator end() { return get_iterator(Layout::capacity); }
    METAL_FUNC iterator get_iterator(uint16_t i) {
        return iterator((thread cooperative_tensor *)this, i);
    }
    // The element of this tensor, the reduction of another along its rows or columns, that belongs
    // to an element of that one; or the element at the same place of one laid out alike.
    template <class Other> METAL_FUNC iterator map_iterator(__coop_iterator<Other> other) {
        using from = typename Other::layout;
        if constexpr (Layout::rank == 1 && from::rank == 2) {
            return get_iterator(from::along(other.__index(), Layout::by_row));
        } else {
            static_assert(__is_same(from, Layout),
                          "these cooperative tensors are laid out differently");
            return get_iterator(other.__index());
        }
    }

    // Elements outside the tensor in memory read as 0 and are not written. Tensors come by value: a
    // slice made in the call is no object in thread memory, to which a reference could be deduced.
    template <class Tensor> METAL_FUNC void load(Tensor from) {
        static_assert(Tensor::rank() == Layout::rank, "this tensor has another rank");
        for (uint i = 0; i < Layout::capacity; i++) {
            auto at = Layout::template index<int>(i);
            __elements[i] = __inside(from, i, at) ? value_type(from[at]) : value_type(0);
        }
    }
    template <class Tensor> METAL_FUNC void store(Tensor to) const {
        static_assert(Tensor::rank() == Layout::rank, "this tensor has another rank");
        for (uint i = 0; i < Layout::capacity; i++) {
            auto at = Layout::template index<int>(i);
            if (__inside(to, i, at)) to[at] = typename Tensor::value_type(__elements[i]);
        }
    }

private:
    template <class Tensor>
    METAL_FUNC static bool __inside(const thread Tensor &t, uint i,
                                    const thread array<int, Layout::rank> &at) {
        bool inside = Layout::valid(i);
#pragma unroll
        for (int d = 0; d < Layout::rank; d++) inside = inside && at[d] < int(t.get_extent(d));
        return inside;
    }
};

template <class T> struct is_cooperative_tensor : bool_constant<false> {};
template <class Element, class Extents, class Layout>
struct is_cooperative_tensor<cooperative_tensor<Element, Extents, Layout>> : bool_constant<true> {};
template <class T>
constexpr constant bool is_cooperative_tensor_v = is_cooperative_tensor<__bare<T>>::value;
} // namespace metal
