# SPDX-License-Identifier: Apache-2.0
"""Enumerations and constants: names and numbers are Apple's, and those PyMetal programs use."""

import enum

import pytest

import pymetal as pm
from pymetal import _pymetal

ENUMS = {
    "StorageMode": "Shared 0, Managed 1, Private 2, Memoryless 3",
    "CPUCacheMode": "DefaultCache 0, WriteCombined 1",
    "LoadAction": "DontCare 0, Load 1, Clear 2",
    "StoreAction": "DontCare 0, Store 1, MultisampleResolve 2, StoreAndMultisampleResolve 3, "
                   "Unknown 4, CustomSampleDepthStore 5",
    "CommandBufferStatus": "NotEnqueued 0, Enqueued 1, Committed 2, Scheduled 3, Completed 4, "
                           "Error 5",
    "FunctionType": "Vertex 1, Fragment 2, Kernel 3",
    "PixelFormat": "Invalid 0, A8Unorm 1, R8Unorm 10, R8Snorm 12, R8Uint 13, R8Sint 14, "
                   "R16Unorm 20, R16Snorm 22, R16Uint 23, R16Sint 24, R16Float 25, RG8Unorm 30, "
                   "RG8Snorm 32, RG8Uint 33, RG8Sint 34, R32Uint 53, R32Sint 54, R32Float 55, "
                   "RG16Unorm 60, RG16Snorm 62, RG16Uint 63, RG16Sint 64, RG16Float 65, "
                   "RGBA8Unorm 70, RGBA8Unorm_sRGB 71, RGBA8Snorm 72, RGBA8Uint 73, RGBA8Sint 74, "
                   "BGRA8Unorm 80, BGRA8Unorm_sRGB 81, RGB10A2Unorm 90, RGB10A2Uint 91, "
                   "RG11B10Float 92, RGB9E5Float 93, RG32Uint 103, RG32Sint 104, RG32Float 105, "
                   "RGBA16Unorm 110, RGBA16Snorm 112, RGBA16Uint 113, RGBA16Sint 114, "
                   "RGBA16Float 115, RGBA32Uint 123, RGBA32Sint 124, RGBA32Float 125, "
                   "Depth16Unorm 250, Depth32Float 252, Stencil8 253, Depth24Unorm_Stencil8 255, "
                   "Depth32Float_Stencil8 260",
    "PrimitiveType": "Point 0, Line 1, LineStrip 2, Triangle 3, TriangleStrip 4",
    "IndexType": "UInt16 0, UInt32 1",
    "VertexFormat": "Invalid 0, UChar2 1, UChar3 2, UChar4 3, Char2 4, Char3 5, Char4 6, "
                    "UChar2Normalized 7, UChar3Normalized 8, UChar4Normalized 9, "
                    "Char2Normalized 10, Char3Normalized 11, Char4Normalized 12, UShort2 13, "
                    "UShort3 14, UShort4 15, Short2 16, Short3 17, Short4 18, "
                    "UShort2Normalized 19, UShort3Normalized 20, UShort4Normalized 21, "
                    "Short2Normalized 22, Short3Normalized 23, Short4Normalized 24, Half2 25, "
                    "Half3 26, Half4 27, Float 28, Float2 29, Float3 30, Float4 31, Int 32, "
                    "Int2 33, Int3 34, Int4 35, UInt 36, UInt2 37, UInt3 38, UInt4 39",
    "VertexStepFunction": "Constant 0, PerVertex 1, PerInstance 2, PerPatch 3, "
                          "PerPatchControlPoint 4",
    "CullMode": "None 0, None_ 0, Front 1, Back 2",
    "Winding": "Clockwise 0, CounterClockwise 1",
    "TextureType": "Type1D 0, Type1DArray 1, Type2D 2, Type2DArray 3, Type2DMultisample 4, "
                   "TypeCube 5, TypeCubeArray 6, Type3D 7, Type2DMultisampleArray 8, "
                   "TypeTextureBuffer 9",
    "SamplerMinMagFilter": "Nearest 0, Linear 1",
    "SamplerMipFilter": "NotMipmapped 0, Nearest 1, Linear 2",
    "SamplerAddressMode": "ClampToEdge 0, MirrorClampToEdge 1, Repeat 2, MirrorRepeat 3, "
                          "ClampToZero 4, ClampToBorderColor 5",
    "CompareFunction": "Never 0, Less 1, Equal 2, LessEqual 3, Greater 4, NotEqual 5, "
                       "GreaterEqual 6, Always 7",
    "BlendFactor": "Zero 0, One 1, SourceColor 2, OneMinusSourceColor 3, SourceAlpha 4, "
                   "OneMinusSourceAlpha 5, DestinationColor 6, OneMinusDestinationColor 7, "
                   "DestinationAlpha 8, OneMinusDestinationAlpha 9, SourceAlphaSaturated 10, "
                   "BlendColor 11, OneMinusBlendColor 12, BlendAlpha 13, OneMinusBlendAlpha 14",
    "BlendOperation": "Add 0, Subtract 1, ReverseSubtract 2, Min 3, Max 4",
    "StencilOperation": "Keep 0, Zero 1, Replace 2, IncrementClamp 3, DecrementClamp 4, Invert 5, "
                        "IncrementWrap 6, DecrementWrap 7",
    "DataType": "None 0, None_ 0, Struct 1, Array 2, Float 3, Float2 4, Float3 5, Float4 6, "
                "Float2x2 7, Float4x4 15, Half 16, Half4 19, Int 29, Int2 30, Int3 31, Int4 32, "
                "UInt 33, UInt2 34, UInt3 35, UInt4 36, Short 37, UShort 41, Char 45, UChar 49, "
                "Bool 53, Bool4 56, Texture 58, Sampler 59, Pointer 60",
    "BindingAccess": "ReadOnly 0, ReadWrite 1, WriteOnly 2",
}

CONSTANTS = {
    "ResourceCPUCacheModeDefaultCache": 0, "ResourceCPUCacheModeWriteCombined": 1,
    "ResourceStorageModeShared": 0, "ResourceStorageModeManaged": 16,
    "ResourceStorageModePrivate": 32, "ResourceStorageModeMemoryless": 48,
    "ResourceHazardTrackingModeUntracked": 256,
    "ColorWriteMaskNone": 0, "ColorWriteMaskAlpha": 1, "ColorWriteMaskBlue": 2,
    "ColorWriteMaskGreen": 4, "ColorWriteMaskRed": 8, "ColorWriteMaskAll": 15,
    "IndirectCommandTypeDraw": 1, "IndirectCommandTypeDrawIndexed": 2,
    "IndirectCommandTypeDrawPatches": 4, "IndirectCommandTypeDrawIndexedPatches": 8,
    "IndirectCommandTypeConcurrentDispatch": 32,
    "IndirectCommandTypeConcurrentDispatchThreads": 64,
    "TextureUsageUnknown": 0, "TextureUsageShaderRead": 1, "TextureUsageShaderWrite": 2,
    "TextureUsageRenderTarget": 4, "TextureUsagePixelFormatView": 16,
    "GPUFamilyCommon1": 3001, "GPUFamilyCommon2": 3002, "GPUFamilyCommon3": 3003,
    "GPUFamilyMac2": 2002, "GPUFamilyMetal3": 5001, "GPUFamilyMetal4": 5002,
    **{f"GPUFamilyApple{i}": 1000 + i for i in range(1, 10)},
}


def members(name):
    return [(part.split()[0], int(part.split()[1])) for part in ENUMS[name].split(", ")]


@pytest.mark.parametrize("name", ENUMS)
def test_enum(name):
    kind = getattr(pm, name)
    assert issubclass(kind, enum.Enum) and not issubclass(kind, int)
    assert getattr(pm.enums, name) is kind and kind.__name__ == name
    for member, value in members(name):
        assert kind[member].value == value, member
        assert kind[member] is getattr(kind, member) is kind(value)
        assert kind[member] != value  # as upstream: members are no ints
    with pytest.raises(ValueError, match=f"4242 is not a valid .*{name}"):
        kind(4242)


def test_every_enum_is_documented():
    for name in pm.enums.__all__:
        kind = getattr(pm, name)
        if isinstance(kind, type):
            assert kind.__doc__ and kind.__doc__ != "An enumeration.", name


@pytest.mark.parametrize("name", CONSTANTS)
def test_constant(name):
    value = getattr(pm, name)
    assert type(value) is int and value == CONSTANTS[name] == getattr(pm.enums, name)


def test_members_stay_out_of_the_package():
    assert not [name for name in vars(pm) if isinstance(vars(pm)[name], enum.Enum)]
    assert isinstance(_pymetal.Triangle, pm.PrimitiveType)


class TestConversion:
    """An argument of an enumeration takes a member or the number of a member, nothing else."""

    def test_member_and_number(self):
        descriptor = pm.SamplerDescriptor.sampler_descriptor()
        descriptor.min_filter = pm.SamplerMinMagFilter.Linear
        assert descriptor.min_filter is pm.SamplerMinMagFilter.Linear
        descriptor.min_filter = 0
        assert descriptor.min_filter is pm.SamplerMinMagFilter.Nearest

    @pytest.mark.parametrize("bad", [7, -1, 1.0, "Linear", None, 2**70,
                                     pm.SamplerMipFilter.Linear])
    def test_others(self, bad):
        descriptor = pm.SamplerDescriptor.sampler_descriptor()
        with pytest.raises(TypeError):
            descriptor.min_filter = bad
        with pytest.raises(TypeError, match="incompatible function arguments"):
            pm.TextureDescriptor.texture2d_descriptor(bad if bad not in (7, -1) else 9999, 4, 4,
                                                      False)

    def test_a_number_in_a_call(self):
        descriptor = pm.TextureDescriptor.texture2d_descriptor(70, 4, 4, False)
        assert descriptor.pixel_format is pm.PixelFormat.RGBA8Unorm
