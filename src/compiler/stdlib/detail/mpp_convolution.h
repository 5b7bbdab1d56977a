// SPDX-License-Identifier: Apache-2.0
// mpp_convolution.h: mpp::tensor_ops::convolution2d: activations (channels, width, height, batch),
// weights (output channels, input channels, kernel width, kernel height), dimension 0 innermost.
// Output (x, y) is the sum over the window at (x, y) * strides + offsets, dilated; what lies
// outside the activations is 0. Each SIMD-group computes positions of its own.
#pragma once

// compiler/tensor_call.h has the order of the arguments.
#define __MSL_TENSOR(T) T, int, int, int, int, long, long, long, long
template <class Source, class Weights, class Result>
__attribute__((convergent, nothrow)) void
__ingot_tensor_convolution(__MSL_TENSOR(Source), __MSL_TENSOR(Weights), __MSL_TENSOR(Result), int,
                           int, int, int, int, int, int, int, int, int, int first, int count,
                           uint types, uint flags, uint layout);
#undef __MSL_TENSOR

namespace mpp {
namespace tensor_ops {
enum class convolution2d_activation_layout { nhwc };
enum class convolution2d_weights_layout { hwio };

struct convolution2d_descriptor {
    enum class mode { multiply, multiply_accumulate };
    // of a tile: output channels, width, height, batch
    int4 destination_dimensions;
    int4 source_dimensions;
    int2 kernel_dimensions;
    convolution2d_activation_layout activation_layout;
    convolution2d_weights_layout weights_layout;
    int2 strides;
    int2 dilations;
    int groups;
    bool relaxed_precision;
    mode conv2d_mode;

    constexpr convolution2d_descriptor(
        int4 _destination_dimensions, int4 _source_dimensions, int2 _kernel_dimensions,
        convolution2d_activation_layout _activation_layout = convolution2d_activation_layout::nhwc,
        convolution2d_weights_layout _weights_layout = convolution2d_weights_layout::hwio,
        int2 _strides = int2(1, 1), int2 _dilations = int2(1, 1), int _groups = 1,
        bool _relaxed_precision = false, mode _convolution2d_mode = mode::multiply)
        : destination_dimensions(_destination_dimensions), source_dimensions(_source_dimensions),
          kernel_dimensions(_kernel_dimensions), activation_layout(_activation_layout),
          weights_layout(_weights_layout), strides(_strides), dilations(_dilations),
          groups(_groups), relaxed_precision(_relaxed_precision),
          conv2d_mode(_convolution2d_mode) {}
};

template <convolution2d_descriptor Descriptor, class Scope, class... ConvArgs> class convolution2d {
    using __scope = metal::__execution::scope<Scope>;
    static_assert(__scope::simdgroups && __scope::size <= 32,
                  "the scope of convolution2d is execution_simdgroups<N>, a whole threadgroup");
    static_assert(Descriptor.activation_layout == convolution2d_activation_layout::nhwc,
                  "convolution2d supports the activation layout nhwc");
    static_assert(Descriptor.weights_layout == convolution2d_weights_layout::hwio,
                  "convolution2d supports the weights layout hwio");
    static_assert(Descriptor.groups == 1, "convolution2d supports one group");
    static constexpr constant int __groups = int(__scope::size);
    static constexpr constant int __channels = Descriptor.destination_dimensions.x,
                                  __width = Descriptor.destination_dimensions.y,
                                  __height = Descriptor.destination_dimensions.z,
                                  __batch = Descriptor.destination_dimensions.w;
    static_assert(__channels > 0 && __width > 0 && __height > 0 && __batch > 0,
                  "the destination of convolution2d has no elements");
    static_assert(Descriptor.strides.x > 0 && Descriptor.strides.y > 0 &&
                      Descriptor.dilations.x > 0 && Descriptor.dilations.y > 0 &&
                      Descriptor.kernel_dimensions.x > 0 && Descriptor.kernel_dimensions.y > 0,
                  "strides, dilations and kernel of convolution2d are positive");
    int2 __offset;

public:
    static constexpr constant convolution2d_descriptor descriptor = Descriptor;
    using scope = Scope;
    METAL_FUNC convolution2d() : __offset(0) {}
    METAL_FUNC void set_offsets(int2 offset) { __offset = offset; }

    template <class ActivationOperandType, class WeightsOperandType, class ElementType,
              class CoordType = int, class... CoopArgs>
    using cooperative_tensor_destination_t = metal::cooperative_tensor<
        ElementType, metal::extents<CoordType, __channels, __width, __height, __batch>,
        metal::__coop::image<__channels, __width, __height, __batch, __groups>>;
    template <class ActivationOperandType, class WeightsOperandType, class ElementType,
              class CoordType = int, class... CoopArgs>
    METAL_FUNC cooperative_tensor_destination_t<ActivationOperandType, WeightsOperandType,
                                                ElementType, CoordType>
    get_destination_cooperative_tensor() const {
        cooperative_tensor_destination_t<ActivationOperandType, WeightsOperandType, ElementType,
                                         CoordType>
            t; // elements are not set, unless they are added to
        if constexpr (Descriptor.conv2d_mode ==
                      convolution2d_descriptor::mode::multiply_accumulate)
            t.fill(0);
        return t;
    }

    template <class ActivationTensorType, class WeightsTensorType, class DestinationTensorType,
              class... RunArgs>
    __MSL_GROUP void run(thread ActivationTensorType &activation, thread WeightsTensorType &weights,
                         thread DestinationTensorType &destination) const {
        static_assert(__ops::go_together(__ops::code_of<ActivationTensorType>,
                                         __ops::code_of<WeightsTensorType>,
                                         __ops::code_of<DestinationTensorType>),
                      "convolution2d does not support this combination of element types");
        static_assert(!__ops::is_coop<ActivationTensorType> && !__ops::is_coop<WeightsTensorType>,
                      "cooperative tensors are no inputs of convolution2d");
        static_assert(!__ops::in_thread_memory<ActivationTensorType> &&
                          !__ops::in_thread_memory<WeightsTensorType>,
                      "convolution2d cannot use tensors in thread memory");
        static_assert(__ops::operand_t<ActivationTensorType>::rank() == 4 &&
                          __ops::operand_t<WeightsTensorType>::rank() == 4,
                      "convolution2d needs tensors of rank 4");
        if constexpr (__ops::is_coop<DestinationTensorType>) {
            using pointer = thread __ops::value_of<DestinationTensorType> *;
            __run(activation, weights, (pointer)destination.__elements, __channels, __width,
                  __height, __batch, 1, __channels, __channels * __width,
                  __channels * __width * __height, __ops::code_of<DestinationTensorType>,
                  __ops::layout_code<DestinationTensorType>());
        } else {
            static_assert(!__ops::in_thread_memory<DestinationTensorType>,
                          "convolution2d cannot use tensors in thread memory");
            static_assert(__ops::operand_t<DestinationTensorType>::rank() == 4,
                          "convolution2d needs tensors of rank 4");
            __run(activation, weights, destination.data_handle(), destination.get_extent(0),
                  destination.get_extent(1), destination.get_extent(2), destination.get_extent(3),
                  destination.__stride(0), destination.__stride(1), destination.__stride(2),
                  destination.__stride(3), __ops::code_of<DestinationTensorType>, 0);
        }
    }

private:
    template <class Source, class Weights, class Pointer>
    __MSL_GROUP void __run(thread Source &a, thread Weights &w, Pointer to, int e0, int e1, int e2,
                           int e3, long s0, long s1, long s2, long s3, uint type,
                           uint layout) const {
        constexpr int positions = __width * __height * __batch,
                      share = (positions + __groups - 1) / __groups;
        int first = __groups > 1 ? int(metal::__coop::simdgroup()) * share : 0;
        int count = positions - first < share ? positions - first : share;
        // the window of a tile is no larger than the kernel, whatever the tensor of weights has
        int kw = w.get_extent(2), kh = w.get_extent(3);
        kw = kw < Descriptor.kernel_dimensions.x ? kw : Descriptor.kernel_dimensions.x;
        kh = kh < Descriptor.kernel_dimensions.y ? kh : Descriptor.kernel_dimensions.y;
        __ingot_tensor_convolution(
            a.data_handle(), int(a.get_extent(0)), int(a.get_extent(1)), int(a.get_extent(2)),
            int(a.get_extent(3)), a.__stride(0), a.__stride(1), a.__stride(2), a.__stride(3),
            w.data_handle(), int(w.get_extent(0)), int(w.get_extent(1)), kw, kh, w.__stride(0),
            w.__stride(1), w.__stride(2), w.__stride(3), to, e0, e1, e2, e3, s0, s1, s2, s3,
            __channels, __width, __height, __batch, __offset.x, __offset.y, Descriptor.strides.x,
            Descriptor.strides.y, Descriptor.dilations.x, Descriptor.dilations.y, first, count,
            __ops::code_of<Source> | __ops::code_of<Weights> << 8 | type << 16,
            uint(Descriptor.conv2d_mode == convolution2d_descriptor::mode::multiply_accumulate) |
                uint(Descriptor.relaxed_precision) << 1,
            layout);
    }
};
} // namespace tensor_ops
} // namespace mpp
