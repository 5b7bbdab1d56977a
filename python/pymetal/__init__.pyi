# SPDX-License-Identifier: Apache-2.0
# Made by python/pymetal_stubs.py from the module's docstrings: change those instead.
"""Metal for Python, on Linux: the names and behaviour of PyMetal on top of Ingot.

    import numpy as np
    import pymetal as pm

    device = pm.create_system_default_device()
    library = device.new_library_with_source(
        "kernel void twice(device float *a [[buffer(0)]], uint i [[thread_position_in_grid]])"
        "{ a[i] *= 2; }")
    pipeline = device.new_compute_pipeline_state(library.new_function("twice"))
    buffer = device.new_buffer(64 * 4, pm.ResourceStorageModeShared)
    values = buffer.contents().view(np.float32)      # a view, not a copy
    values[:] = np.arange(64)
    commands = device.new_command_queue().command_buffer()
    encoder = commands.compute_command_encoder()
    encoder.set_compute_pipeline_state(pipeline)
    encoder.set_buffer(buffer, 0, 0)
    encoder.dispatch_threads(64, 1, 1, 32, 1, 1)
    encoder.end_encoding()
    commands.commit()
    commands.wait_until_completed()

Every public name of the extension stands here; enums, types, compute, graphics, advanced,
exceptions and shader hold the same objects by subject. Descriptors come from static methods
(TextureDescriptor.texture2d_descriptor(...)), everything else from a Device.
"""

import enum
import os
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy
from _typeshed import ReadableBuffer as BytesLike

from . import advanced as advanced
from . import compute as compute
from . import enums as enums
from . import exceptions as exceptions
from . import graphics as graphics
from . import shader as shader
from . import types as types

__version__: str
__all__: list[str]

BarrierScopeBuffers: Final = 1
BarrierScopeRenderTargets: Final = 4
BarrierScopeTextures: Final = 2
BlitOptionDepthFromDepthStencil: Final = 1
BlitOptionNone: Final = 0
BlitOptionRowLinearPVRTC: Final = 4
BlitOptionStencilFromDepthStencil: Final = 2
ColorWriteMaskAll: Final = 15
ColorWriteMaskAlpha: Final = 1
ColorWriteMaskBlue: Final = 2
ColorWriteMaskGreen: Final = 4
ColorWriteMaskNone: Final = 0
ColorWriteMaskRed: Final = 8
CommandBufferErrorOptionEncoderExecutionStatus: Final = 1
CommandBufferErrorOptionNone: Final = 0
FunctionOptionCompileToBinary: Final = 1
FunctionOptionFailOnBinaryArchiveMiss: Final = 4
FunctionOptionNone: Final = 0
FunctionOptionPipelineIndependent: Final = 8
FunctionOptionStoreFunctionInMetalPipelinesScript: Final = 2
GPUFamilyApple1: Final = 1001
GPUFamilyApple10: Final = 1010
GPUFamilyApple2: Final = 1002
GPUFamilyApple3: Final = 1003
GPUFamilyApple4: Final = 1004
GPUFamilyApple5: Final = 1005
GPUFamilyApple6: Final = 1006
GPUFamilyApple7: Final = 1007
GPUFamilyApple8: Final = 1008
GPUFamilyApple9: Final = 1009
GPUFamilyCommon1: Final = 3001
GPUFamilyCommon2: Final = 3002
GPUFamilyCommon3: Final = 3003
GPUFamilyMac1: Final = 2001
GPUFamilyMac2: Final = 2002
GPUFamilyMacCatalyst1: Final = 4001
GPUFamilyMacCatalyst2: Final = 4002
GPUFamilyMetal3: Final = 5001
GPUFamilyMetal4: Final = 5002
IndirectCommandTypeConcurrentDispatch: Final = 32
IndirectCommandTypeConcurrentDispatchThreads: Final = 64
IndirectCommandTypeDraw: Final = 1
IndirectCommandTypeDrawIndexed: Final = 2
IndirectCommandTypeDrawIndexedPatches: Final = 8
IndirectCommandTypeDrawMeshThreadgroups: Final = 128
IndirectCommandTypeDrawMeshThreads: Final = 256
IndirectCommandTypeDrawPatches: Final = 4
PipelineOptionArgumentInfo: Final = 1
PipelineOptionBindingInfo: Final = 1
PipelineOptionBufferTypeInfo: Final = 2
PipelineOptionFailOnBinaryArchiveMiss: Final = 4
PipelineOptionNone: Final = 0
ResourceCPUCacheModeDefaultCache: Final = 0
ResourceCPUCacheModeWriteCombined: Final = 1
ResourceHazardTrackingModeDefault: Final = 0
ResourceHazardTrackingModeTracked: Final = 512
ResourceHazardTrackingModeUntracked: Final = 256
ResourceStorageModeManaged: Final = 16
ResourceStorageModeMemoryless: Final = 48
ResourceStorageModePrivate: Final = 32
ResourceStorageModeShared: Final = 0
ResourceUsageRead: Final = 1
ResourceUsageWrite: Final = 2
StitchedLibraryOptionFailOnBinaryArchiveMiss: Final = 1
StitchedLibraryOptionNone: Final = 0
StitchedLibraryOptionStoreLibraryInMetalPipelinesScript: Final = 2
TextureUsagePixelFormatView: Final = 16
TextureUsageRenderTarget: Final = 4
TextureUsageShaderAtomic: Final = 32
TextureUsageShaderRead: Final = 1
TextureUsageShaderWrite: Final = 2
TextureUsageUnknown: Final = 0

class ArgumentBuffersTier(enum.Enum):
    """How argument buffers can be filled."""
    Tier1 = 0
    Tier2 = 1

class BindingAccess(enum.Enum):
    """Whether an argument is read, written or both."""
    ReadOnly = 0
    ReadWrite = 1
    WriteOnly = 2

class BindingType(enum.Enum):
    """What kind of argument a binding is."""
    Buffer = 0
    ThreadgroupMemory = 1
    Texture = 2
    Sampler = 3
    ImageblockData = 16
    Imageblock = 17
    VisibleFunctionTable = 24
    PrimitiveAccelerationStructure = 25
    InstanceAccelerationStructure = 26
    IntersectionFunctionTable = 27
    ObjectPayload = 34
    Tensor = 37

class BlendFactor(enum.Enum):
    """What a colour is multiplied with when it is blended."""
    Zero = 0
    One = 1
    SourceColor = 2
    OneMinusSourceColor = 3
    SourceAlpha = 4
    OneMinusSourceAlpha = 5
    DestinationColor = 6
    OneMinusDestinationColor = 7
    DestinationAlpha = 8
    OneMinusDestinationAlpha = 9
    SourceAlphaSaturated = 10
    BlendColor = 11
    OneMinusBlendColor = 12
    BlendAlpha = 13
    OneMinusBlendAlpha = 14
    Source1Color = 15
    OneMinusSource1Color = 16
    Source1Alpha = 17
    OneMinusSource1Alpha = 18

class BlendOperation(enum.Enum):
    """How two colours are blended."""
    Add = 0
    Subtract = 1
    ReverseSubtract = 2
    Min = 3
    Max = 4

class CPUCacheMode(enum.Enum):
    """How the CPU caches the memory of a resource."""
    DefaultCache = 0
    WriteCombined = 1

class CaptureDestination(enum.Enum):
    """Where a capture goes."""
    DeveloperTools = 1
    GPUTraceDocument = 2

class CommandBufferStatus(enum.Enum):
    """How far a command buffer is."""
    NotEnqueued = 0
    Enqueued = 1
    Committed = 2
    Scheduled = 3
    Completed = 4
    Error = 5

class CompareFunction(enum.Enum):
    """When a comparison passes."""
    Never = 0
    Less = 1
    Equal = 2
    LessEqual = 3
    Greater = 4
    NotEqual = 5
    GreaterEqual = 6
    Always = 7

class CounterSamplingPoint(enum.Enum):
    """Where counters can be sampled."""
    AtStageBoundary = 0
    AtDrawBoundary = 1
    AtDispatchBoundary = 2
    AtTileDispatchBoundary = 3
    AtBlitBoundary = 4

class CullMode(enum.Enum):
    """Which triangles are dropped."""
    None_ = 0
    Front = 1
    Back = 2

class DataType(enum.Enum):
    """A type of MSL."""
    None_ = 0
    Struct = 1
    Array = 2
    Float = 3
    Float2 = 4
    Float3 = 5
    Float4 = 6
    Float2x2 = 7
    Float2x3 = 8
    Float2x4 = 9
    Float3x2 = 10
    Float3x3 = 11
    Float3x4 = 12
    Float4x2 = 13
    Float4x3 = 14
    Float4x4 = 15
    Half = 16
    Half2 = 17
    Half3 = 18
    Half4 = 19
    Half2x2 = 20
    Half2x3 = 21
    Half2x4 = 22
    Half3x2 = 23
    Half3x3 = 24
    Half3x4 = 25
    Half4x2 = 26
    Half4x3 = 27
    Half4x4 = 28
    Int = 29
    Int2 = 30
    Int3 = 31
    Int4 = 32
    UInt = 33
    UInt2 = 34
    UInt3 = 35
    UInt4 = 36
    Short = 37
    Short2 = 38
    Short3 = 39
    Short4 = 40
    UShort = 41
    UShort2 = 42
    UShort3 = 43
    UShort4 = 44
    Char = 45
    Char2 = 46
    Char3 = 47
    Char4 = 48
    UChar = 49
    UChar2 = 50
    UChar3 = 51
    UChar4 = 52
    Bool = 53
    Bool2 = 54
    Bool3 = 55
    Bool4 = 56
    Texture = 58
    Sampler = 59
    Pointer = 60
    RenderPipeline = 78
    ComputePipeline = 79
    IndirectCommandBuffer = 80
    Long = 81
    Long2 = 82
    Long3 = 83
    Long4 = 84
    ULong = 85
    ULong2 = 86
    ULong3 = 87
    ULong4 = 88
    VisibleFunctionTable = 115
    IntersectionFunctionTable = 116
    PrimitiveAccelerationStructure = 117
    InstanceAccelerationStructure = 118
    BFloat = 121
    BFloat2 = 122
    BFloat3 = 123
    BFloat4 = 124
    Tensor = 140

class DispatchType(enum.Enum):
    """Whether the dispatches of an encoder may overlap."""
    Serial = 0
    Concurrent = 1

class FunctionType(enum.Enum):
    """What kind of entry point a function is."""
    Vertex = 1
    Fragment = 2
    Kernel = 3
    Visible = 5
    Intersection = 6
    Mesh = 7
    Object = 8

class GPUFamily(enum.Enum):
    """A set of features of a device."""
    Apple1 = 1001
    Apple2 = 1002
    Apple3 = 1003
    Apple4 = 1004
    Apple5 = 1005
    Apple6 = 1006
    Apple7 = 1007
    Apple8 = 1008
    Apple9 = 1009
    Apple10 = 1010
    Mac1 = 2001
    Mac2 = 2002
    Common1 = 3001
    Common2 = 3002
    Common3 = 3003
    MacCatalyst1 = 4001
    MacCatalyst2 = 4002
    Metal3 = 5001
    Metal4 = 5002

class HazardTrackingMode(enum.Enum):
    """Whether work that uses a resource is ordered by itself."""
    Default = 0
    Untracked = 1
    Tracked = 2

class HeapType(enum.Enum):
    """How a heap places its resources."""
    Automatic = 0
    Placement = 1
    Sparse = 2

class IndexType(enum.Enum):
    """The type of an index."""
    UInt16 = 0
    UInt32 = 1

class LanguageVersion(enum.Enum):
    """A version of MSL."""
    Default = 0
    Version1_0 = 65536
    Version1_1 = 65537
    Version1_2 = 65538
    Version2_0 = 131072
    Version2_1 = 131073
    Version2_2 = 131074
    Version2_3 = 131075
    Version2_4 = 131076
    Version3_0 = 196608
    Version3_1 = 196609
    Version3_2 = 196610
    Version4_0 = 262144

class LibraryOptimizationLevel(enum.Enum):
    """What the compiler optimises for."""
    Default = 0
    Size = 1

class LibraryType(enum.Enum):
    """What a library is for."""
    Executable = 0
    Dynamic = 1

class LoadAction(enum.Enum):
    """What a render pass does with an attachment at its start."""
    DontCare = 0
    Load = 1
    Clear = 2

class MathFloatingPointFunctions(enum.Enum):
    """Which versions of math functions are called."""
    Fast = 0
    Precise = 1

class MathMode(enum.Enum):
    """How freely floating-point expressions may be rewritten."""
    Safe = 0
    Relaxed = 1
    Fast = 2

class PixelFormat(enum.Enum):
    """What a texel is."""
    Invalid = 0
    A8Unorm = 1
    R8Unorm = 10
    R8Unorm_sRGB = 11
    R8Snorm = 12
    R8Uint = 13
    R8Sint = 14
    R16Unorm = 20
    R16Snorm = 22
    R16Uint = 23
    R16Sint = 24
    R16Float = 25
    RG8Unorm = 30
    RG8Unorm_sRGB = 31
    RG8Snorm = 32
    RG8Uint = 33
    RG8Sint = 34
    B5G6R5Unorm = 40
    A1BGR5Unorm = 41
    ABGR4Unorm = 42
    BGR5A1Unorm = 43
    R32Uint = 53
    R32Sint = 54
    R32Float = 55
    RG16Unorm = 60
    RG16Snorm = 62
    RG16Uint = 63
    RG16Sint = 64
    RG16Float = 65
    RGBA8Unorm = 70
    RGBA8Unorm_sRGB = 71
    RGBA8Snorm = 72
    RGBA8Uint = 73
    RGBA8Sint = 74
    BGRA8Unorm = 80
    BGRA8Unorm_sRGB = 81
    RGB10A2Unorm = 90
    RGB10A2Uint = 91
    RG11B10Float = 92
    RGB9E5Float = 93
    BGR10A2Unorm = 94
    RG32Uint = 103
    RG32Sint = 104
    RG32Float = 105
    RGBA16Unorm = 110
    RGBA16Snorm = 112
    RGBA16Uint = 113
    RGBA16Sint = 114
    RGBA16Float = 115
    RGBA32Uint = 123
    RGBA32Sint = 124
    RGBA32Float = 125
    BC1_RGBA = 130
    BC1_RGBA_sRGB = 131
    BC2_RGBA = 132
    BC2_RGBA_sRGB = 133
    BC3_RGBA = 134
    BC3_RGBA_sRGB = 135
    BC4_RUnorm = 140
    BC4_RSnorm = 141
    BC5_RGUnorm = 142
    BC5_RGSnorm = 143
    BC6H_RGBFloat = 150
    BC6H_RGBUfloat = 151
    BC7_RGBAUnorm = 152
    BC7_RGBAUnorm_sRGB = 153
    PVRTC_RGB_2BPP = 160
    PVRTC_RGB_2BPP_sRGB = 161
    PVRTC_RGB_4BPP = 162
    PVRTC_RGB_4BPP_sRGB = 163
    PVRTC_RGBA_2BPP = 164
    PVRTC_RGBA_2BPP_sRGB = 165
    PVRTC_RGBA_4BPP = 166
    PVRTC_RGBA_4BPP_sRGB = 167
    EAC_R11Unorm = 170
    EAC_R11Snorm = 172
    EAC_RG11Unorm = 174
    EAC_RG11Snorm = 176
    EAC_RGBA8 = 178
    EAC_RGBA8_sRGB = 179
    ETC2_RGB8 = 180
    ETC2_RGB8_sRGB = 181
    ETC2_RGB8A1 = 182
    ETC2_RGB8A1_sRGB = 183
    ASTC_4x4_sRGB = 186
    ASTC_5x4_sRGB = 187
    ASTC_5x5_sRGB = 188
    ASTC_6x5_sRGB = 189
    ASTC_6x6_sRGB = 190
    ASTC_8x5_sRGB = 192
    ASTC_8x6_sRGB = 193
    ASTC_8x8_sRGB = 194
    ASTC_10x5_sRGB = 195
    ASTC_10x6_sRGB = 196
    ASTC_10x8_sRGB = 197
    ASTC_10x10_sRGB = 198
    ASTC_12x10_sRGB = 199
    ASTC_12x12_sRGB = 200
    ASTC_4x4_LDR = 204
    ASTC_5x4_LDR = 205
    ASTC_5x5_LDR = 206
    ASTC_6x5_LDR = 207
    ASTC_6x6_LDR = 208
    ASTC_8x5_LDR = 210
    ASTC_8x6_LDR = 211
    ASTC_8x8_LDR = 212
    ASTC_10x5_LDR = 213
    ASTC_10x6_LDR = 214
    ASTC_10x8_LDR = 215
    ASTC_10x10_LDR = 216
    ASTC_12x10_LDR = 217
    ASTC_12x12_LDR = 218
    ASTC_4x4_HDR = 222
    ASTC_5x4_HDR = 223
    ASTC_5x5_HDR = 224
    ASTC_6x5_HDR = 225
    ASTC_6x6_HDR = 226
    ASTC_8x5_HDR = 228
    ASTC_8x6_HDR = 229
    ASTC_8x8_HDR = 230
    ASTC_10x5_HDR = 231
    ASTC_10x6_HDR = 232
    ASTC_10x8_HDR = 233
    ASTC_10x10_HDR = 234
    ASTC_12x10_HDR = 235
    ASTC_12x12_HDR = 236
    GBGR422 = 240
    BGRG422 = 241
    Depth16Unorm = 250
    Depth32Float = 252
    Stencil8 = 253
    Depth24Unorm_Stencil8 = 255
    Depth32Float_Stencil8 = 260
    X32_Stencil8 = 261
    X24_Stencil8 = 262
    Unspecialized = 263
    BGRA10_XR = 552
    BGRA10_XR_sRGB = 553
    BGR10_XR = 554
    BGR10_XR_sRGB = 555

class PrimitiveType(enum.Enum):
    """What vertices are assembled to."""
    Point = 0
    Line = 1
    LineStrip = 2
    Triangle = 3
    TriangleStrip = 4

class PurgeableState(enum.Enum):
    """Whether the contents of a resource may be dropped."""
    KeepCurrent = 1
    NonVolatile = 2
    Volatile = 3
    Empty = 4

class ReadWriteTextureTier(enum.Enum):
    """Which formats kernels can read and write."""
    None_ = 0
    Tier1 = 1
    Tier2 = 2

class SamplerAddressMode(enum.Enum):
    """What lies outside a texture."""
    ClampToEdge = 0
    MirrorClampToEdge = 1
    Repeat = 2
    MirrorRepeat = 3
    ClampToZero = 4
    ClampToBorderColor = 5

class SamplerBorderColor(enum.Enum):
    """The colour outside a texture."""
    TransparentBlack = 0
    OpaqueBlack = 1
    OpaqueWhite = 2

class SamplerMinMagFilter(enum.Enum):
    """How texels of a level are mixed."""
    Nearest = 0
    Linear = 1

class SamplerMipFilter(enum.Enum):
    """How levels are mixed."""
    NotMipmapped = 0
    Nearest = 1
    Linear = 2

class SamplerReductionMode(enum.Enum):
    """How a filter combines its texels."""
    WeightedAverage = 0
    Minimum = 1
    Maximum = 2

class ShaderValidation(enum.Enum):
    """Whether kernels check their accesses to memory."""
    Default = 0
    Enabled = 1
    Disabled = 2

class StencilOperation(enum.Enum):
    """What happens to a stencil value."""
    Keep = 0
    Zero = 1
    Replace = 2
    IncrementClamp = 3
    DecrementClamp = 4
    Invert = 5
    IncrementWrap = 6
    DecrementWrap = 7

class StorageMode(enum.Enum):
    """Where the memory of a resource is."""
    Shared = 0
    Managed = 1
    Private = 2
    Memoryless = 3

class StoreAction(enum.Enum):
    """What a render pass does with an attachment at its end."""
    DontCare = 0
    Store = 1
    MultisampleResolve = 2
    StoreAndMultisampleResolve = 3
    Unknown = 4
    CustomSampleDepthStore = 5

class TextureCompressionType(enum.Enum):
    """Whether a texture may lose detail."""
    Lossless = 0
    Lossy = 1

class TextureSwizzle(enum.Enum):
    """Where a channel of a texture comes from."""
    Zero = 0
    One = 1
    Red = 2
    Green = 3
    Blue = 4
    Alpha = 5

class TextureType(enum.Enum):
    """Dimensions of a texture."""
    Type1D = 0
    Type1DArray = 1
    Type2D = 2
    Type2DArray = 3
    Type2DMultisample = 4
    TypeCube = 5
    TypeCubeArray = 6
    Type3D = 7
    Type2DMultisampleArray = 8
    TypeTextureBuffer = 9

class VertexFormat(enum.Enum):
    """The type of a vertex attribute."""
    Invalid = 0
    UChar2 = 1
    UChar3 = 2
    UChar4 = 3
    Char2 = 4
    Char3 = 5
    Char4 = 6
    UChar2Normalized = 7
    UChar3Normalized = 8
    UChar4Normalized = 9
    Char2Normalized = 10
    Char3Normalized = 11
    Char4Normalized = 12
    UShort2 = 13
    UShort3 = 14
    UShort4 = 15
    Short2 = 16
    Short3 = 17
    Short4 = 18
    UShort2Normalized = 19
    UShort3Normalized = 20
    UShort4Normalized = 21
    Short2Normalized = 22
    Short3Normalized = 23
    Short4Normalized = 24
    Half2 = 25
    Half3 = 26
    Half4 = 27
    Float = 28
    Float2 = 29
    Float3 = 30
    Float4 = 31
    Int = 32
    Int2 = 33
    Int3 = 34
    Int4 = 35
    UInt = 36
    UInt2 = 37
    UInt3 = 38
    UInt4 = 39
    Int1010102Normalized = 40
    UInt1010102Normalized = 41
    UChar4Normalized_BGRA = 42
    UChar = 45
    Char = 46
    UCharNormalized = 47
    CharNormalized = 48
    UShort = 49
    Short = 50
    UShortNormalized = 51
    ShortNormalized = 52
    Half = 53
    FloatRG11B10 = 54
    FloatRGB9E5 = 55

class VertexStepFunction(enum.Enum):
    """When a vertex buffer layout goes on to its next element."""
    Constant = 0
    PerVertex = 1
    PerInstance = 2
    PerPatch = 3
    PerPatchControlPoint = 4

class Winding(enum.Enum):
    """Which order of vertices is the front."""
    Clockwise = 0
    CounterClockwise = 1

class MetalError(RuntimeError):
    """What this module raises; a RuntimeError."""

class CompileError(MetalError):
    """Source that does not compile."""

class PipelineError(MetalError):
    """A pipeline that cannot be made."""

class ResourceError(MetalError):
    """A resource that cannot be made."""

class ValidationError(MetalError):
    """A call that breaks a rule."""

class ArgumentDescriptor:
    """A member of an argument buffer."""
    @property
    def access(self) -> BindingAccess:
        """How it is used."""
        ...
    @access.setter
    def access(self, value: BindingAccess) -> None: ...
    @classmethod
    def argument_descriptor(cls) -> ArgumentDescriptor:
        """One with Metal's defaults."""
        ...
    @property
    def array_length(self) -> int:
        """Elements of an array; 0: none."""
        ...
    @array_length.setter
    def array_length(self, value: int) -> None: ...
    @property
    def constant_block_alignment(self) -> int:
        """0: the type's own."""
        ...
    @constant_block_alignment.setter
    def constant_block_alignment(self, value: int) -> None: ...
    @property
    def data_type(self) -> DataType:
        """The member's type."""
        ...
    @data_type.setter
    def data_type(self, value: DataType) -> None: ...
    @property
    def index(self) -> int:
        """Its id."""
        ...
    @index.setter
    def index(self, value: int) -> None: ...
    @property
    def texture_type(self) -> TextureType:
        """Of textures."""
        ...
    @texture_type.setter
    def texture_type(self, value: TextureType) -> None: ...

class ArgumentEncoder:
    """Fills argument buffers."""
    @property
    def alignment(self) -> int:
        """What its offset is a multiple of."""
        ...
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def encoded_length(self) -> int:
        """Bytes of an argument buffer."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    def new_argument_encoder_for_buffer_at_index(self, index: int) -> ArgumentEncoder | None:
        """An encoder for the struct that the pointer with this id points to."""
        ...
    def set_argument_buffer(
        self,
        buffer: Buffer,
        offset: int,
        array_element: int | None = None,
    ) -> None:
        """Where the next calls write."""
        ...
    def set_buffer(self, buffer: Buffer, offset: int, index: int) -> None:
        """Stores a pointer."""
        ...
    def set_compute_pipeline_state(self, state: ComputePipelineState, index: int) -> None:
        """Stores a pipeline."""
        ...
    def set_constant_data(self, data: BytesLike, index: int) -> None:
        """Stores bytes at a data member and those behind it (Metal's constantDataAtIndex)."""
        ...
    def set_indirect_command_buffer(self, buffer: IndirectCommandBuffer, index: int) -> None:
        """Stores an indirect command buffer."""
        ...
    def set_sampler_state(self, sampler: SamplerState, index: int) -> None:
        """Stores a sampler."""
        ...
    def set_texture(self, texture: Texture, index: int) -> None:
        """Stores a texture."""
        ...
    def set_visible_function_table(self, table: VisibleFunctionTable, index: int) -> None:
        """Stores a function table."""
        ...

class ArrayType:
    """An array of the source."""
    @property
    def argument_index_stride(self) -> int:
        """Ids that an element takes."""
        ...
    @property
    def array_length(self) -> int:
        """Elements."""
        ...
    @property
    def element_array_type(self) -> ArrayType | None:
        """If elements are arrays."""
        ...
    @property
    def element_pointer_type(self) -> PointerType | None:
        """If elements are pointers."""
        ...
    @property
    def element_struct_type(self) -> StructType | None:
        """If elements are structs."""
        ...
    @property
    def element_type(self) -> DataType:
        """Type of an element."""
        ...
    @property
    def stride(self) -> int:
        """Bytes between elements."""
        ...

class BinaryArchive:
    """Pipelines with their machine code, for a file."""
    def add_compute_pipeline_functions(self, descriptor: ComputePipelineDescriptor) -> None:
        """Compiles a pipeline and keeps its code. PipelineError if that fails."""
        ...
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    def serialize_to_url(self, url: str | os.PathLike[str]) -> None:
        """Writes the archive to a file, in one step."""
        ...

class BinaryArchiveDescriptor:
    """How a binary archive is opened."""
    @classmethod
    def binary_archive_descriptor(cls) -> BinaryArchiveDescriptor:
        """One with Metal's defaults."""
        ...
    def set_url(self, path: str | os.PathLike[str]) -> None:
        """Sets the file to open."""
        ...
    @property
    def url(self) -> str | os.PathLike[str] | None:
        """The file to open; None: a new archive."""
        ...
    @url.setter
    def url(self, value: str | os.PathLike[str] | None) -> None: ...

class Binding:
    """An argument of a kernel."""
    @property
    def access(self) -> BindingAccess:
        """How the kernel uses it."""
        ...
    @property
    def array_length(self) -> int:
        """Indices taken."""
        ...
    @property
    def buffer_alignment(self) -> int:
        """Alignment of an element."""
        ...
    @property
    def buffer_data_size(self) -> int:
        """Bytes of an element."""
        ...
    @property
    def buffer_data_type(self) -> DataType:
        """Type of an element."""
        ...
    @property
    def buffer_pointer_type(self) -> PointerType | None:
        """The pointer's type."""
        ...
    @property
    def buffer_struct_type(self) -> StructType | None:
        """Its members, if it is a struct."""
        ...
    @property
    def index(self) -> int:
        """As in [[buffer(index)]]."""
        ...
    @property
    def is_argument(self) -> bool:
        """Whether it is an argument of the kernel."""
        ...
    @property
    def is_depth_texture(self) -> bool:
        """Whether it is a depth texture."""
        ...
    @property
    def is_used(self) -> bool:
        """False if a constant switched it off."""
        ...
    @property
    def name(self) -> str:
        """The parameter's name."""
        ...
    @property
    def texture_data_type(self) -> DataType:
        """Of a texture's component."""
        ...
    @property
    def texture_type(self) -> TextureType:
        """Of textures."""
        ...
    @property
    def threadgroup_memory_alignment(self) -> int:
        """Of threadgroup memory."""
        ...
    @property
    def threadgroup_memory_data_size(self) -> int:
        """Bytes of threadgroup memory."""
        ...
    @property
    def type(self) -> BindingType:
        """Buffer, texture, ..."""
        ...
    @property
    def type_name(self) -> str:
        """The type as MSL writes it."""
        ...

class BlitCommandEncoder:
    """Records copies and fills."""
    def copy_from_buffer(
        self,
        source_buffer: Buffer,
        source_offset: int,
        destination_buffer: Buffer,
        destination_offset: int,
        size: int,
    ) -> None:
        """Copies bytes between buffers."""
        ...
    def copy_from_buffer_to_buffer(
        self,
        source_buffer: Buffer,
        source_offset: int,
        destination_buffer: Buffer,
        destination_offset: int,
        size: int,
    ) -> None:
        """The same as copy_from_buffer."""
        ...
    def copy_from_buffer_to_texture(
        self,
        source_buffer: Buffer,
        source_offset: int,
        source_bytes_per_row: int,
        source_bytes_per_image: int,
        source_size: Size,
        destination_texture: Texture,
        destination_slice: int,
        destination_level: int,
        destination_origin: Origin,
        options: int = 0,
    ) -> None:
        """Copies texels out of a buffer."""
        ...
    def copy_from_texture(
        self,
        source_texture: Texture,
        source_slice: int,
        source_level: int,
        source_origin: Origin,
        source_size: Size,
        destination_texture: Texture,
        destination_slice: int,
        destination_level: int,
        destination_origin: Origin,
    ) -> None:
        """Copies a region between textures."""
        ...
    def copy_from_texture_to_buffer(
        self,
        source_texture: Texture,
        source_slice: int,
        source_level: int,
        source_origin: Origin,
        source_size: Size,
        destination_buffer: Buffer,
        destination_offset: int,
        destination_bytes_per_row: int,
        destination_bytes_per_image: int,
        options: int = 0,
    ) -> None:
        """Copies texels into a buffer."""
        ...
    def copy_from_texture_to_texture(
        self,
        source_texture: Texture,
        source_slice: int,
        source_level: int,
        source_origin: Origin,
        source_size: Size,
        destination_texture: Texture,
        destination_slice: int,
        destination_level: int,
        destination_origin: Origin,
    ) -> None:
        """The same as copy_from_texture."""
        ...
    def copy_indirect_command_buffer(
        self,
        source: IndirectCommandBuffer,
        source_range: Range,
        destination: IndirectCommandBuffer,
        destination_index: int,
    ) -> None:
        """Copies indirect commands."""
        ...
    def copy_whole_texture(self, source_texture: Texture, destination_texture: Texture) -> None:
        """Copies as many slices and levels as both textures have (Metal's
        copyFromTexture:toTexture:).
        """
        ...
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    def end_encoding(self) -> None:
        """Closes the encoder. Before the next one and before commit."""
        ...
    def fill_buffer(self, buffer: Buffer, range: Range, value: int) -> None:
        """Sets the bytes of a range."""
        ...
    def generate_mipmaps(self, texture: Texture) -> None:
        """Fills the levels below the first."""
        ...
    def insert_debug_signpost(self, name: str) -> None:
        """A mark in traces."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    def optimize_contents_for_cpu_access(self, texture: Texture) -> None:
        """A hint."""
        ...
    def optimize_contents_for_gpu_access(self, texture: Texture) -> None:
        """A hint."""
        ...
    def optimize_indirect_command_buffer(
        self,
        buffer: IndirectCommandBuffer,
        range: Range,
    ) -> None:
        """A hint."""
        ...
    def pop_debug_group(self) -> None:
        """Closes the last group."""
        ...
    def push_debug_group(self, name: str) -> None:
        """Opens a named group of commands."""
        ...
    def reset_commands_in_buffer(self, buffer: IndirectCommandBuffer, range: Range) -> None:
        """Empties indirect commands."""
        ...
    def synchronize_resource(self, buffer: Buffer) -> None:
        """For managed storage. Memory is one here: nothing to do."""
        ...
    def synchronize_texture(self, texture: Texture, slice: int, level: int) -> None:
        """For managed storage. Memory is one here: nothing to do."""
        ...
    def update_fence(self, fence: Fence) -> None:
        """The fence stands behind what was encoded so far."""
        ...
    def wait_for_fence(self, fence: Fence) -> None:
        """What is encoded from here on runs after the fence's last update."""
        ...

class Buffer:
    """Memory that kernels and Python share. It has the buffer protocol: memoryview(buffer) is
    its bytes.
    """
    def __dlpack__(
        self,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: Any = None,
    ) -> Any:
        """The bytes as a DLPack capsule, without a copy."""
        ...
    def __dlpack_device__(self) -> tuple[int, int]:
        """(1, 0): memory of the CPU."""
        ...
    @property
    def allocated_size(self) -> int:
        """Bytes taken, with rounding."""
        ...
    def contents(self) -> numpy.ndarray | None:
        """The memory as a writable NumPy array of bytes, without a copy; it keeps the buffer
        alive. None for a private buffer. Without NumPy: a memoryview.
        """
        ...
    @property
    def cpu_cache_mode(self) -> CPUCacheMode:
        """How the CPU caches its memory."""
        ...
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    def did_modify_range(self, offset: int, length: int) -> None:
        """Says that the CPU wrote a range of a managed buffer. Memory is one here: only checked."""
        ...
    @property
    def gpu_address(self) -> int:
        """The address that kernels see."""
        ...
    @property
    def hazard_tracking_mode(self) -> HazardTrackingMode:
        """Whether work is ordered by itself."""
        ...
    @property
    def heap(self) -> Heap | None:
        """The heap it is in."""
        ...
    @property
    def heap_offset(self) -> int:
        """Its place in the heap."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    @property
    def length(self) -> int:
        """Bytes."""
        ...
    def make_aliasable(self) -> None:
        """Lets later resources of its heap take its place while it lives on."""
        ...
    def new_texture(
        self,
        descriptor: TextureDescriptor,
        offset: int,
        bytes_per_row: int,
    ) -> Texture | None:
        """A texture over the buffer's memory, which it keeps alive."""
        ...
    @property
    def resource_options(self) -> int:
        """Its modes as bits."""
        ...
    def set_purgeable_state(self, state: PurgeableState) -> PurgeableState:
        """Sets the state and returns the one before."""
        ...
    @property
    def storage_mode(self) -> StorageMode:
        """Where its memory is."""
        ...
    def view(self, dtype: Any = "uint8", shape: Any = None, offset: int = 0) -> BufferView:
        """The memory as an array of a shape and an element type, for the buffer protocol
        (numpy.asarray) and DLPack. Without a shape: all of it from offset on.
        """
        ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class BufferView:
    """A buffer's memory with a shape and an element type."""
    def __dlpack__(
        self,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: Any = None,
    ) -> Any:
        """The array as a DLPack capsule, without a copy."""
        ...
    def __dlpack_device__(self) -> tuple[int, int]:
        """(1, 0): memory of the CPU."""
        ...
    @property
    def buffer(self) -> Buffer:
        """The buffer whose memory it is."""
        ...
    @property
    def dtype(self) -> str:
        """The element type, by NumPy's name."""
        ...
    @property
    def nbytes(self) -> int:
        """Bytes."""
        ...
    @property
    def offset(self) -> int:
        """Where in the buffer it begins."""
        ...
    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class CaptureDescriptor:
    """What is captured, and where to."""
    def __init__(
        self,
        capture_object: Device | CommandQueue | CaptureScope | None = None,
        destination: CaptureDestination = ...,
        output_url: str | os.PathLike[str] | None = None,
    ) -> None: ...
    @classmethod
    def capture_descriptor(cls) -> CaptureDescriptor:
        """One with Metal's defaults."""
        ...
    @property
    def capture_object(self) -> Device | CommandQueue | CaptureScope | None:
        """Whose work is captured."""
        ...
    @capture_object.setter
    def capture_object(self, value: Device | CommandQueue | CaptureScope | None) -> None: ...
    @property
    def destination(self) -> CaptureDestination:
        """Where it goes."""
        ...
    @destination.setter
    def destination(self, value: CaptureDestination) -> None: ...
    @property
    def output_url(self) -> str | os.PathLike[str] | None:
        """A file that does not exist yet."""
        ...
    @output_url.setter
    def output_url(self, value: str | os.PathLike[str] | None) -> None: ...

class CaptureManager:
    """Starts and stops captures."""
    @property
    def default_capture_scope(self) -> CaptureScope | None:
        """What a capture without an object captures."""
        ...
    @default_capture_scope.setter
    def default_capture_scope(self, value: CaptureScope | None) -> None: ...
    @property
    def is_capturing(self) -> bool:
        """Whether a capture is on."""
        ...
    def new_capture_scope_with_command_queue(self, queue: CommandQueue) -> CaptureScope:
        """A scope for one queue."""
        ...
    def new_capture_scope_with_device(self, device: Device) -> CaptureScope:
        """A scope for all queues."""
        ...
    def start_capture(self, descriptor: CaptureDescriptor) -> None:
        """Writes a trace file, as a descriptor says. MetalError if that cannot be."""
        ...
    def start_capture_with_command_queue(self, queue: CommandQueue) -> None:
        """The same for a queue."""
        ...
    def start_capture_with_device(self, device: Device) -> None:
        """The same for a device."""
        ...
    def start_capture_with_scope(self, scope: CaptureScope) -> None:
        """Captures until stop_capture. There are no developer tools: it is only noted."""
        ...
    def stop_capture(self) -> None:
        """Ends the capture and completes its file."""
        ...
    def supports_destination(self, destination: CaptureDestination) -> bool:
        """Whether captures can go there."""
        ...

class CaptureScope:
    """A stretch of work that can be captured."""
    def begin_scope(self) -> None:
        """What is committed from here on belongs to it."""
        ...
    @property
    def command_queue(self) -> CommandQueue | None:
        """The queue it is for."""
        ...
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    def end_scope(self) -> None:
        """Ends it, and a capture of it."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...

class ClearColor:
    """What a colour attachment is cleared to."""
    def __init__(self, red: float, green: float, blue: float, alpha: float) -> None: ...
    @property
    def alpha(self) -> float:
        """Opacity."""
        ...
    @alpha.setter
    def alpha(self, value: float) -> None: ...
    @property
    def blue(self) -> float:
        """Blue."""
        ...
    @blue.setter
    def blue(self, value: float) -> None: ...
    @property
    def green(self) -> float:
        """Green."""
        ...
    @green.setter
    def green(self, value: float) -> None: ...
    @property
    def red(self) -> float:
        """Red; any number."""
        ...
    @red.setter
    def red(self, value: float) -> None: ...

class CommandBuffer:
    """Commands recorded by encoders, run after commit."""
    def add_completed_handler(self, handler: Callable[..., object]) -> None:
        """Calls handler(command_buffer) when the commands are done, on another thread. Before
        commit.
        """
        ...
    def add_scheduled_handler(self, handler: Callable[..., object]) -> None:
        """Calls handler(command_buffer) when the commands are about to run. Before commit."""
        ...
    def blit_command_encoder(self) -> BlitCommandEncoder:
        """Opens an encoder for copies and fills. One encoder at a time."""
        ...
    @property
    def command_queue(self) -> CommandQueue:
        """The queue it came from."""
        ...
    def commit(self) -> None:
        """Hands the commands to the queue. Once."""
        ...
    def compute_command_encoder(
        self,
        dispatch_type: DispatchType = DispatchType.Serial,
    ) -> ComputeCommandEncoder:
        """Opens an encoder for kernels. One encoder at a time."""
        ...
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    def encode_signal_event(self, event: Any, value: int) -> None:
        """Raises an event (Event or SharedEvent) to a value after what was encoded so far."""
        ...
    def encode_wait_for_event(self, event: Any, value: int) -> None:
        """What is encoded from here on waits until an event (Event or SharedEvent) has a value."""
        ...
    def enqueue(self) -> None:
        """Takes a place in the queue. Commit does it too."""
        ...
    @property
    def error(self) -> MetalError | None:
        """What went wrong, once the status is Error; None before and otherwise."""
        ...
    @property
    def gpu_end_time(self) -> float:
        """When it was done, in seconds; 0.0 before."""
        ...
    @property
    def gpu_start_time(self) -> float:
        """When it began to run, in seconds; 0.0 before."""
        ...
    @property
    def kernel_end_time(self) -> float:
        """When its scheduling was done, in seconds."""
        ...
    @property
    def kernel_start_time(self) -> float:
        """When its scheduling began, in seconds."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    @property
    def logs(self) -> list[str]:
        """What shader validation found."""
        ...
    def pop_debug_group(self) -> None:
        """Closes the last group."""
        ...
    def present_drawable(self, drawable: MetalDrawable) -> None:
        """Shows a drawable when the commands are done."""
        ...
    def push_debug_group(self, name: str) -> None:
        """Opens a named group of commands."""
        ...
    def render_command_encoder(self, descriptor: RenderPassDescriptor) -> RenderCommandEncoder:
        """Opens an encoder for the draws of a render pass. One encoder at a time."""
        ...
    @property
    def retained_references(self) -> bool:
        """Whether it keeps what it uses alive."""
        ...
    @property
    def status(self) -> CommandBufferStatus:
        """How far it is."""
        ...
    def use_residency_set(self, residency_set: ResidencySet) -> None:
        """Keeps the set's allocations resident for these commands."""
        ...
    def wait_until_completed(self) -> None:
        """Waits until the commands are done and the completed handlers have returned."""
        ...
    def wait_until_scheduled(self) -> None:
        """Waits until the commands are about to run and the scheduled handlers have returned."""
        ...

class CommandQueue:
    """Runs command buffers one after the other, in the order of their commits."""
    def add_residency_set(self, residency_set: ResidencySet) -> None:
        """Keeps the set's allocations resident for what is committed from now on."""
        ...
    def command_buffer(self) -> CommandBuffer:
        """A new command buffer. Waits while the queue's limit of unfinished ones is reached."""
        ...
    def command_buffer_with_unretained_references(self) -> CommandBuffer:
        """A command buffer that does not keep what it uses alive."""
        ...
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    def remove_residency_set(self, residency_set: ResidencySet) -> None:
        """Takes a residency set away."""
        ...

class CommandQueueDescriptor:
    """How a command queue is made."""
    def __init__(self, max_command_buffer_count: int = 64, timeout_ms: int = 0) -> None: ...
    @classmethod
    def command_queue_descriptor(cls) -> CommandQueueDescriptor:
        """One with Metal's defaults."""
        ...
    @property
    def max_command_buffer_count(self) -> int:
        """Unfinished command buffers at a time."""
        ...
    @max_command_buffer_count.setter
    def max_command_buffer_count(self, value: int) -> None: ...
    @property
    def timeout_ms(self) -> int:
        """Time limit of a command buffer, 0: the device's."""
        ...
    @timeout_ms.setter
    def timeout_ms(self, value: int) -> None: ...

class CompileOptions:
    """How source is compiled."""
    def __init__(
        self,
        preprocessor_macros: dict[str, str | int | float | bool | None] | None = None,
        include_paths: Sequence[str] | None = None,
        language_version: LanguageVersion = ...,
        fast_math_enabled: bool = True,
        math_mode: MathMode = ...,
        math_floating_point_functions: MathFloatingPointFunctions = ...,
        library_type: LibraryType = ...,
        install_name: str = '',
        optimization_level: LibraryOptimizationLevel = ...,
        preserve_invariance: bool = False,
        warnings_as_errors: bool = False,
        max_total_threads_per_threadgroup: int = 0,
    ) -> None: ...
    @classmethod
    def compile_options(cls) -> CompileOptions:
        """One with Metal's defaults."""
        ...
    @property
    def fast_math_enabled(self) -> bool:
        """False: as MathMode.Safe."""
        ...
    @fast_math_enabled.setter
    def fast_math_enabled(self, value: bool) -> None: ...
    @property
    def include_paths(self) -> Sequence[str] | None:
        """Folders for #include."""
        ...
    @include_paths.setter
    def include_paths(self, value: Sequence[str] | None) -> None: ...
    @property
    def install_name(self) -> str:
        """Of a dynamic library."""
        ...
    @install_name.setter
    def install_name(self, value: str) -> None: ...
    @property
    def language_version(self) -> LanguageVersion:
        """The version of MSL."""
        ...
    @language_version.setter
    def language_version(self, value: LanguageVersion) -> None: ...
    @property
    def library_type(self) -> LibraryType:
        """What the library is for."""
        ...
    @library_type.setter
    def library_type(self, value: LibraryType) -> None: ...
    @property
    def math_floating_point_functions(self) -> MathFloatingPointFunctions:
        """Which math functions are called."""
        ...
    @math_floating_point_functions.setter
    def math_floating_point_functions(self, value: MathFloatingPointFunctions) -> None: ...
    @property
    def math_mode(self) -> MathMode:
        """How freely expressions are rewritten."""
        ...
    @math_mode.setter
    def math_mode(self, value: MathMode) -> None: ...
    @property
    def max_total_threads_per_threadgroup(self) -> int:
        """0: as the functions say."""
        ...
    @max_total_threads_per_threadgroup.setter
    def max_total_threads_per_threadgroup(self, value: int) -> None: ...
    @property
    def optimization_level(self) -> LibraryOptimizationLevel:
        """A hint."""
        ...
    @optimization_level.setter
    def optimization_level(self, value: LibraryOptimizationLevel) -> None: ...
    @property
    def preprocessor_macros(self) -> dict[str, str | int | float | bool | None] | None:
        """Macros and their values."""
        ...
    @preprocessor_macros.setter
    def preprocessor_macros(
        self,
        value: dict[str, str | int | float | bool | None] | None,
    ) -> None: ...
    @property
    def preserve_invariance(self) -> bool:
        """Code is always invariant here."""
        ...
    @preserve_invariance.setter
    def preserve_invariance(self, value: bool) -> None: ...
    @property
    def warnings_as_errors(self) -> bool:
        """Warnings make the compile fail."""
        ...
    @warnings_as_errors.setter
    def warnings_as_errors(self, value: bool) -> None: ...

class ComputeCommandEncoder:
    """Records dispatches of kernels."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    def dispatch_threadgroups(
        self,
        threadgroups_x: int,
        threadgroups_y: int,
        threadgroups_z: int,
        threads_x: int,
        threads_y: int,
        threads_z: int,
    ) -> None:
        """Runs a grid of whole threadgroups."""
        ...
    def dispatch_threadgroups_indirect(
        self,
        indirect_buffer: Buffer,
        indirect_buffer_offset: int,
        threads_x: int,
        threads_y: int,
        threads_z: int,
    ) -> None:
        """A grid whose three uint32 sizes are read from a buffer when the commands run."""
        ...
    def dispatch_threads(
        self,
        threads_x: int,
        threads_y: int,
        threads_z: int,
        threads_per_group_x: int,
        threads_per_group_y: int,
        threads_per_group_z: int,
    ) -> None:
        """Runs a grid of threads; threadgroups at its far edges are cut to fit."""
        ...
    @property
    def dispatch_type(self) -> DispatchType:
        """Serial or concurrent."""
        ...
    def end_encoding(self) -> None:
        """Closes the encoder. Before the next one and before commit."""
        ...
    def execute_commands_in_buffer(
        self,
        indirect_command_buffer: IndirectCommandBuffer,
        range: Range,
    ) -> None:
        """Runs commands of an indirect command buffer."""
        ...
    def insert_debug_signpost(self, name: str) -> None:
        """A mark in traces."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    def memory_barrier_with_resources(self, resources: Any) -> None:
        """The same for a list of resources."""
        ...
    def memory_barrier_with_scope(self, scope: int) -> None:
        """Later dispatches of a concurrent encoder see what earlier ones wrote."""
        ...
    def pop_debug_group(self) -> None:
        """Closes the last group."""
        ...
    def push_debug_group(self, name: str) -> None:
        """Opens a named group of commands."""
        ...
    def set_buffer(self, buffer: Buffer, offset: int, index: int) -> None:
        """Binds a buffer from an offset on."""
        ...
    def set_buffer_offset(self, offset: int, index: int) -> None:
        """A new offset for a bound buffer."""
        ...
    def set_bytes(self, data: bytes, index: int) -> None:
        """Copies bytes now and binds the copy."""
        ...
    def set_compute_pipeline_state(self, state: ComputePipelineState) -> None:
        """The kernel to dispatch."""
        ...
    def set_sampler_state(self, sampler: SamplerState, index: int) -> None:
        """Binds a sampler."""
        ...
    def set_texture(self, texture: Texture, index: int) -> None:
        """Binds a texture."""
        ...
    def set_threadgroup_memory_length(self, length: int, index: int) -> None:
        """Bytes for a threadgroup parameter, a multiple of 16."""
        ...
    def set_visible_function_table(self, table: VisibleFunctionTable, index: int) -> None:
        """Binds a function table."""
        ...
    def update_fence(self, fence: Fence) -> None:
        """The fence stands behind what was encoded so far."""
        ...
    def use_heap(self, heap: Heap) -> None:
        """Says that kernels read resources of a heap through pointers."""
        ...
    def use_resource(self, resource: Any, usage: int) -> None:
        """Says that kernels reach a resource through pointers, and whether they write it."""
        ...
    def wait_for_fence(self, fence: Fence) -> None:
        """What is encoded from here on runs after the fence's last update."""
        ...

class ComputePipelineDescriptor:
    """How a compute pipeline is made."""
    def __init__(
        self,
        label: str = '',
        compute_function: Function | None = None,
        thread_group_size_is_multiple_of_thread_execution_width: bool = False,
        max_total_threads_per_threadgroup: int = 0,
        required_threads_per_threadgroup: Size | None = None,
        linked_functions: Sequence[Function] | None = ...,
        max_call_stack_depth: int = 1,
        support_indirect_command_buffers: bool = False,
        binary_archives: Sequence[BinaryArchive] | None = ...,
        shader_validation: ShaderValidation = ...,
    ) -> None: ...
    @property
    def binary_archives(self) -> Sequence[BinaryArchive] | None:
        """Asked before the compiler."""
        ...
    @binary_archives.setter
    def binary_archives(self, value: Sequence[BinaryArchive] | None) -> None: ...
    @property
    def compute_function(self) -> Function | None:
        """The kernel."""
        ...
    @compute_function.setter
    def compute_function(self, value: Function | None) -> None: ...
    @classmethod
    def compute_pipeline_descriptor(cls) -> ComputePipelineDescriptor:
        """One with Metal's defaults."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    @property
    def linked_functions(self) -> Sequence[Function] | None:
        """Visible functions the kernel may call."""
        ...
    @linked_functions.setter
    def linked_functions(self, value: Sequence[Function] | None) -> None: ...
    @property
    def max_call_stack_depth(self) -> int:
        """Of visible functions that call others."""
        ...
    @max_call_stack_depth.setter
    def max_call_stack_depth(self, value: int) -> None: ...
    @property
    def max_total_threads_per_threadgroup(self) -> int:
        """0: as the kernel says."""
        ...
    @max_total_threads_per_threadgroup.setter
    def max_total_threads_per_threadgroup(self, value: int) -> None: ...
    @property
    def required_threads_per_threadgroup(self) -> Size | None:
        """The only size, None: any."""
        ...
    @required_threads_per_threadgroup.setter
    def required_threads_per_threadgroup(self, value: Size | None) -> None: ...
    @property
    def shader_validation(self) -> ShaderValidation:
        """Whether accesses are checked."""
        ...
    @shader_validation.setter
    def shader_validation(self, value: ShaderValidation) -> None: ...
    @property
    def support_indirect_command_buffers(self) -> bool:
        """For indirect commands."""
        ...
    @support_indirect_command_buffers.setter
    def support_indirect_command_buffers(self, value: bool) -> None: ...
    @property
    def thread_group_size_is_multiple_of_thread_execution_width(self) -> bool:
        """A promise."""
        ...
    @thread_group_size_is_multiple_of_thread_execution_width.setter
    def thread_group_size_is_multiple_of_thread_execution_width(self, value: bool) -> None: ...

class ComputePipelineReflection:
    """What a kernel's arguments are."""
    @property
    def bindings(self) -> list[Binding]:
        """The kernel's arguments, in the order of its parameters."""
        ...

class ComputePipelineState:
    """A kernel compiled for the device."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    def function_handle(self, function: Function) -> FunctionHandle | None:
        """The handle of a linked function, for function tables."""
        ...
    @property
    def gpu_resource_id(self) -> int:
        """What stands for it in argument buffers."""
        ...
    @property
    def label(self) -> str:
        """Its descriptor's label."""
        ...
    @property
    def max_total_threads_per_threadgroup(self) -> int:
        """The most threads a threadgroup can have."""
        ...
    def new_visible_function_table(self, function_count: int) -> VisibleFunctionTable | None:
        """An empty table of functions of this pipeline."""
        ...
    @property
    def reflection(self) -> ComputePipelineReflection | None:
        """The kernel's arguments."""
        ...
    @property
    def static_threadgroup_memory_length(self) -> int:
        """Bytes of threadgroup memory that the kernel declares."""
        ...
    @property
    def support_indirect_command_buffers(self) -> bool:
        """Whether indirect commands may use it."""
        ...
    @property
    def thread_execution_width(self) -> int:
        """Threads of a SIMD-group."""
        ...

class DepthStencilDescriptor:
    """How depth and stencil are tested."""
    @property
    def back_face_stencil(self) -> StencilDescriptor:
        """Of back faces."""
        ...
    @back_face_stencil.setter
    def back_face_stencil(self, value: StencilDescriptor) -> None: ...
    @property
    def depth_compare_function(self) -> CompareFunction:
        """The depth test."""
        ...
    @depth_compare_function.setter
    def depth_compare_function(self, value: CompareFunction) -> None: ...
    @classmethod
    def depth_stencil_descriptor(cls) -> DepthStencilDescriptor:
        """One with Metal's defaults."""
        ...
    @property
    def depth_write_enabled(self) -> bool:
        """Whether depth is written."""
        ...
    @depth_write_enabled.setter
    def depth_write_enabled(self, value: bool) -> None: ...
    @property
    def front_face_stencil(self) -> StencilDescriptor:
        """Of front faces."""
        ...
    @front_face_stencil.setter
    def front_face_stencil(self, value: StencilDescriptor) -> None: ...
    @property
    def label(self) -> str:
        """A name for messages and traces."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...

class DepthStencilState:
    """Tests of depth and stencil."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def label(self) -> str:
        """Its descriptor's label."""
        ...

class Device:
    """What runs kernels; everything is made by it."""
    @property
    def architecture_name(self) -> str:
        """The processor's architecture."""
        ...
    @property
    def argument_buffers_support(self) -> ArgumentBuffersTier:
        """How they can be filled."""
        ...
    @property
    def current_allocated_size(self) -> int:
        """Bytes of the resources alive now."""
        ...
    @property
    def has_unified_memory(self) -> bool:
        """Whether CPU and device share memory."""
        ...
    def heap_buffer_size_and_align(self, length: int, options: int) -> tuple[int, int]:
        """What a buffer takes in a heap: bytes and alignment."""
        ...
    def heap_texture_size_and_align(self, descriptor: TextureDescriptor) -> tuple[int, int]:
        """What a texture takes in a heap: bytes and alignment."""
        ...
    @property
    def is_depth24_stencil8_pixel_format_supported(self) -> bool:
        """Whether there is that format."""
        ...
    @property
    def is_headless(self) -> bool:
        """Whether it has no display."""
        ...
    @property
    def is_low_power(self) -> bool:
        """Whether it is a low-power device."""
        ...
    @property
    def is_removable(self) -> bool:
        """Whether it can be unplugged."""
        ...
    @property
    def max_argument_buffer_sampler_count(self) -> int:
        """Samplers in argument buffers."""
        ...
    @property
    def max_buffer_length(self) -> int:
        """The longest buffer, in bytes."""
        ...
    @property
    def max_threadgroup_memory_length(self) -> int:
        """Bytes of threadgroup memory."""
        ...
    @property
    def max_threads_per_threadgroup(self) -> Size:
        """The most threads in each dimension."""
        ...
    @property
    def max_transfer_rate(self) -> int:
        """Bytes a second."""
        ...
    def minimum_linear_texture_alignment_for_pixel_format(self, format: PixelFormat) -> int:
        """Alignment of rows in textures over buffers."""
        ...
    @property
    def name(self) -> str:
        """What it is called."""
        ...
    def new_argument_encoder(
        self,
        arguments: Sequence[ArgumentDescriptor],
    ) -> ArgumentEncoder | None:
        """An encoder for an argument buffer with these members."""
        ...
    def new_argument_encoder_with_buffer_binding(
        self,
        binding: Binding,
    ) -> ArgumentEncoder | None:
        """An encoder for a buffer argument of a pipeline."""
        ...
    def new_binary_archive(self, descriptor: BinaryArchiveDescriptor) -> BinaryArchive:
        """A new archive, or the one of a file. ResourceError if the file is none."""
        ...
    def new_buffer(self, length: int, options: int) -> Buffer | None:
        """A buffer of zeros."""
        ...
    def new_buffer_with_bytes_no_copy(
        self,
        data: BytesLike,
        length: int | None = None,
        options: int = 0,
    ) -> Buffer | None:
        """A buffer over the memory of a writable bytes-like object, which it keeps alive. With
        the debug layer the memory begins at a page and is whole pages long.
        """
        ...
    def new_buffer_with_data(
        self,
        data: BytesLike,
        length: int | None = None,
        options: int = 0,
    ) -> Buffer | None:
        """A buffer with a copy of the first length bytes of a bytes-like object; None: all."""
        ...
    def new_command_queue(
        self,
        descriptor: CommandQueueDescriptor | None = None,
    ) -> CommandQueue:
        """A queue for command buffers."""
        ...
    def new_compute_pipeline_state(self, function: Function) -> ComputePipelineState:
        """Compiles a kernel for the device. PipelineError if that fails."""
        ...
    def new_compute_pipeline_state_with_descriptor(
        self,
        descriptor: ComputePipelineDescriptor,
        options: int = 0,
    ) -> ComputePipelineState:
        """The same, as a descriptor says."""
        ...
    def new_default_library(self) -> Library | None:
        """The default.metallib beside the program or in the working folder."""
        ...
    def new_depth_stencil_state(self, descriptor: DepthStencilDescriptor) -> DepthStencilState:
        """The tests of depth and stencil that a descriptor says."""
        ...
    def new_event(self) -> Event:
        """Orders command buffers of several queues."""
        ...
    def new_fence(self) -> Fence:
        """Orders encoders."""
        ...
    def new_heap(self, descriptor: HeapDescriptor) -> Heap | None:
        """Memory from which buffers and textures are made."""
        ...
    def new_indirect_command_buffer(
        self,
        descriptor: IndirectCommandBufferDescriptor,
        max_count: int,
        options: int,
    ) -> IndirectCommandBuffer | None:
        """Room for commands that are encoded once and executed often."""
        ...
    def new_library_with_data(self, data: BytesLike) -> Library:
        """A library from the bytes of a metallib."""
        ...
    def new_library_with_source(
        self,
        source: str,
        options: CompileOptions | None = None,
    ) -> Library:
        """Compiles MSL. CompileError if that fails, with the compiler's messages."""
        ...
    def new_library_with_url(self, url: str | os.PathLike[str]) -> Library:
        """A library from a metallib or a .metal file."""
        ...
    def new_render_pipeline_state(
        self,
        descriptor: RenderPipelineDescriptor,
    ) -> RenderPipelineState:
        """A render pipeline. PipelineError if the descriptor does not make one."""
        ...
    def new_residency_set(self, label: str = "") -> ResidencySet | None:
        """A list of allocations to keep resident."""
        ...
    def new_sampler_state(self, descriptor: SamplerDescriptor) -> SamplerState | None:
        """A sampler."""
        ...
    def new_shared_event(self) -> SharedEvent:
        """An event that the CPU takes part in."""
        ...
    def new_texture(self, descriptor: TextureDescriptor) -> Texture | None:
        """A texture of zeros."""
        ...
    @property
    def read_write_texture_support(self) -> ReadWriteTextureTier:
        """Which formats kernels can read and write."""
        ...
    @property
    def recommended_max_working_set_size(self) -> int:
        """Bytes that fit without loss of speed."""
        ...
    @property
    def registry_id(self) -> int:
        """An id, the same for all processes."""
        ...
    def sample_timestamps(self) -> tuple[int, int]:
        """The clocks of CPU and device at one moment, in nanoseconds."""
        ...
    def set_timeout(self, milliseconds: int) -> None:
        """Time limit of command buffers made from now on, in milliseconds; 0: none. Not Apple's."""
        ...
    @property
    def supports_32_bit_float_filtering(self) -> bool:
        """Whether 32-bit floats are filtered."""
        ...
    @property
    def supports_bc_texture_compression(self) -> bool:
        """Whether there are BC formats."""
        ...
    @property
    def supports_dynamic_libraries(self) -> bool:
        """Whether there are dynamic libraries."""
        ...
    def supports_family(self, family: GPUFamily) -> bool:
        """Whether it has the features of a GPU family."""
        ...
    @property
    def supports_function_pointers(self) -> bool:
        """Whether there are function tables."""
        ...
    @property
    def supports_raytracing(self) -> bool:
        """Whether there is ray tracing."""
        ...
    def supports_texture_sample_count(self, count: int) -> bool:
        """Whether textures can have so many samples."""
        ...

class Event:
    """A number that grows and orders command buffers."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...

class Fence:
    """Orders encoders that use untracked resources."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...

class Function:
    """An entry point of a library."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def function_constants(self) -> dict[str, FunctionConstant]:
        """Its constants by name."""
        ...
    @property
    def function_type(self) -> FunctionType:
        """What kind of entry point it is."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    @property
    def name(self) -> str:
        """Its name."""
        ...
    def new_argument_encoder(self, buffer_index: int) -> ArgumentEncoder | None:
        """An encoder for the struct at a buffer index."""
        ...

class FunctionConstant:
    """A constant that gets its value with the function."""
    @property
    def index(self) -> int:
        """As in [[function_constant(index)]]."""
        ...
    @property
    def name(self) -> str:
        """As in the source."""
        ...
    @property
    def required(self) -> bool:
        """Whether the function needs a value."""
        ...
    @property
    def type(self) -> DataType:
        """Its type."""
        ...

class FunctionConstantValues:
    """Values for a function's constants."""
    @classmethod
    def function_constant_values(cls) -> FunctionConstantValues:
        """An empty set of values."""
        ...
    def reset(self) -> None:
        """Forgets all values."""
        ...
    def set_constant_value(self, value: Any, type: DataType, index: int) -> None:
        """Gives the constant with [[function_constant(index)]] a value: a number, a sequence of
        numbers for a vector, or bytes.
        """
        ...
    def set_constant_value_with_name(self, value: Any, type: DataType, name: str) -> None:
        """Gives the constant of that name a value."""
        ...

class FunctionHandle:
    """A visible function in a pipeline."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def function_type(self) -> FunctionType:
        """What kind of function it is."""
        ...
    @property
    def name(self) -> str:
        """The function's name."""
        ...

class Heap:
    """Memory from which buffers and textures are made."""
    @property
    def cpu_cache_mode(self) -> CPUCacheMode:
        """How the CPU caches it."""
        ...
    @property
    def current_allocated_size(self) -> int:
        """Bytes of memory taken."""
        ...
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def hazard_tracking_mode(self) -> HazardTrackingMode:
        """Whether work is ordered by itself."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    def max_available_size(self, alignment: int) -> int:
        """The largest resource of an alignment there is room for."""
        ...
    def new_buffer(self, length: int, options: int, offset: int | None = None) -> Buffer | None:
        """A buffer in the heap; None if there is no room. In a placement heap: at offset."""
        ...
    def new_texture(
        self,
        descriptor: TextureDescriptor,
        offset: int | None = None,
    ) -> Texture | None:
        """A texture in the heap; None if there is no room. In a placement heap: at offset."""
        ...
    @property
    def resource_options(self) -> int:
        """Its modes as bits."""
        ...
    def set_purgeable_state(self, state: PurgeableState) -> PurgeableState:
        """Sets the state and returns the one before."""
        ...
    @property
    def size(self) -> int:
        """Bytes."""
        ...
    @property
    def storage_mode(self) -> StorageMode:
        """Where its memory is."""
        ...
    @property
    def type(self) -> HeapType:
        """Who finds places for resources."""
        ...
    @property
    def used_size(self) -> int:
        """Bytes that resources occupy."""
        ...

class HeapDescriptor:
    """How a heap is made."""
    @property
    def cpu_cache_mode(self) -> CPUCacheMode:
        """How the CPU caches it."""
        ...
    @cpu_cache_mode.setter
    def cpu_cache_mode(self, value: CPUCacheMode) -> None: ...
    @property
    def hazard_tracking_mode(self) -> HazardTrackingMode:
        """Default: untracked."""
        ...
    @hazard_tracking_mode.setter
    def hazard_tracking_mode(self, value: HazardTrackingMode) -> None: ...
    @classmethod
    def heap_descriptor(cls) -> HeapDescriptor:
        """One with Metal's defaults."""
        ...
    @property
    def size(self) -> int:
        """Bytes."""
        ...
    @size.setter
    def size(self, value: int) -> None: ...
    @property
    def storage_mode(self) -> StorageMode:
        """Shared or Private."""
        ...
    @storage_mode.setter
    def storage_mode(self, value: StorageMode) -> None: ...
    @property
    def type(self) -> HeapType:
        """Who finds places for resources."""
        ...
    @type.setter
    def type(self, value: HeapType) -> None: ...

class IndirectCommandBuffer:
    """Commands encoded once and executed often."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def gpu_resource_id(self) -> int:
        """What stands for it in argument buffers."""
        ...
    def indirect_compute_command_at_index(self, index: int) -> IndirectComputeCommand | None:
        """A command, to encode."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    def reset_with_range(self, range: Range) -> None:
        """Empties commands."""
        ...
    @property
    def size(self) -> int:
        """The number of commands."""
        ...

class IndirectCommandBufferDescriptor:
    """How an indirect command buffer is made."""
    @property
    def command_types(self) -> int:
        """IndirectCommandType bits."""
        ...
    @command_types.setter
    def command_types(self, value: int) -> None: ...
    @classmethod
    def indirect_command_buffer_descriptor(cls) -> IndirectCommandBufferDescriptor:
        """One with Metal's defaults."""
        ...
    @property
    def inherit_buffers(self) -> bool:
        """Buffers are those of the encoder."""
        ...
    @inherit_buffers.setter
    def inherit_buffers(self, value: bool) -> None: ...
    @property
    def inherit_pipeline_state(self) -> bool:
        """So is the pipeline."""
        ...
    @inherit_pipeline_state.setter
    def inherit_pipeline_state(self, value: bool) -> None: ...
    @property
    def max_fragment_buffer_bind_count(self) -> int:
        """Fragment buffers of a draw."""
        ...
    @max_fragment_buffer_bind_count.setter
    def max_fragment_buffer_bind_count(self, value: int) -> None: ...
    @property
    def max_kernel_buffer_bind_count(self) -> int:
        """Buffers of a compute command."""
        ...
    @max_kernel_buffer_bind_count.setter
    def max_kernel_buffer_bind_count(self, value: int) -> None: ...
    @property
    def max_kernel_threadgroup_memory_bind_count(self) -> int:
        """Its threadgroup memories."""
        ...
    @max_kernel_threadgroup_memory_bind_count.setter
    def max_kernel_threadgroup_memory_bind_count(self, value: int) -> None: ...
    @property
    def max_vertex_buffer_bind_count(self) -> int:
        """Vertex buffers of a draw."""
        ...
    @max_vertex_buffer_bind_count.setter
    def max_vertex_buffer_bind_count(self, value: int) -> None: ...

class IndirectComputeCommand:
    """A dispatch in an indirect command buffer."""
    def clear_barrier(self) -> None:
        """They need not."""
        ...
    def concurrent_dispatch_threadgroups(
        self,
        threadgroups_x: int,
        threadgroups_y: int,
        threadgroups_z: int,
        threads_per_group_x: int,
        threads_per_group_y: int,
        threads_per_group_z: int,
    ) -> None:
        """A grid of whole threadgroups."""
        ...
    def concurrent_dispatch_threads(
        self,
        threads_x: int,
        threads_y: int,
        threads_z: int,
        threads_per_group_x: int,
        threads_per_group_y: int,
        threads_per_group_z: int,
    ) -> None:
        """A grid of threads."""
        ...
    def reset(self) -> None:
        """Makes it do nothing."""
        ...
    def set_barrier(self) -> None:
        """The commands before it end first."""
        ...
    def set_compute_pipeline_state(self, state: ComputePipelineState) -> None:
        """The kernel; made with support_indirect_command_buffers."""
        ...
    def set_kernel_buffer(self, buffer: Buffer, offset: int, index: int) -> None:
        """Binds a buffer."""
        ...
    def set_threadgroup_memory_length(self, length: int, index: int) -> None:
        """Bytes for a threadgroup parameter."""
        ...

class Library:
    """Compiled source."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def function_names(self) -> list[str]:
        """The names of its entry points."""
        ...
    @property
    def install_name(self) -> str:
        """Of a dynamic library."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    def new_function(
        self,
        name: str,
        constant_values: FunctionConstantValues | None = None,
    ) -> Function | None:
        """The entry point of that name, None if there is none. With values for its constants,
        which may be a CompileError.
        """
        ...
    def new_function_with_constant_values(
        self,
        name: str,
        constant_values: FunctionConstantValues,
    ) -> Function | None:
        """The entry point of that name with values for its constants."""
        ...
    def serialize(self) -> bytes:
        """The library as the bytes of a metallib."""
        ...
    @property
    def type(self) -> LibraryType:
        """What it is for."""
        ...

class MetalDrawable:
    """A texture that a layer shows."""
    @property
    def drawable_id(self) -> int:
        """Its number, from 0 on."""
        ...
    @property
    def layer(self) -> MetalLayer:
        """The layer it came from."""
        ...
    def present(self) -> None:
        """Shows it when the work on it is done."""
        ...
    def present_after_minimum_duration(self, duration: float) -> None:
        """When the one before has been seen for so many seconds."""
        ...
    def present_at_time(self, time: float) -> None:
        """Not before that moment (of time.monotonic())."""
        ...
    @property
    def presented_time(self) -> float:
        """When it was shown; 0 before."""
        ...
    @property
    def texture(self) -> Texture:
        """What is drawn into."""
        ...

class MetalLayer:
    """A layer that hands out drawables."""
    @property
    def allows_next_drawable_timeout(self) -> bool:
        """Whether next_drawable gives up after a second."""
        ...
    @allows_next_drawable_timeout.setter
    def allows_next_drawable_timeout(self, value: bool) -> None: ...
    def close_window(self) -> None:
        """Goes on off-screen."""
        ...
    @property
    def device(self) -> Device | None:
        """What the drawables are made by."""
        ...
    @device.setter
    def device(self, value: Device | None) -> None: ...
    @property
    def drawable_size(self) -> tuple[float, float]:
        """Width and height of the drawables."""
        ...
    @drawable_size.setter
    def drawable_size(self, value: tuple[float, float]) -> None: ...
    @property
    def framebuffer_only(self) -> bool:
        """Whether drawables are only drawn into."""
        ...
    @framebuffer_only.setter
    def framebuffer_only(self, value: bool) -> None: ...
    @classmethod
    def layer(cls) -> MetalLayer:
        """A new layer, off-screen."""
        ...
    @property
    def maximum_drawable_count(self) -> int:
        """Two or three."""
        ...
    @maximum_drawable_count.setter
    def maximum_drawable_count(self, value: int) -> None: ...
    def next_drawable(self) -> MetalDrawable | None:
        """A drawable, when one is free; None without a device and a size, or after a second."""
        ...
    def open_window(self, title: str = "") -> None:
        """Shows what is presented in a window (of X11); MetalError where there is no display."""
        ...
    @property
    def pixel_format(self) -> PixelFormat:
        """Of the drawables."""
        ...
    @pixel_format.setter
    def pixel_format(self, value: PixelFormat) -> None: ...
    def poll_window(self) -> bool:
        """Takes what happened to the window, such as a new size; False once it is closed."""
        ...
    @property
    def window_number(self) -> int:
        """The number of its X11 window, 0 if there is none."""
        ...

class Origin:
    """A place in a texture or a grid."""
    def __init__(self, x: int = 0, y: int = 0, z: int = 0) -> None: ...
    @property
    def x(self) -> int:
        """Column."""
        ...
    @x.setter
    def x(self, value: int) -> None: ...
    @property
    def y(self) -> int:
        """Row."""
        ...
    @y.setter
    def y(self, value: int) -> None: ...
    @property
    def z(self) -> int:
        """Plane."""
        ...
    @z.setter
    def z(self, value: int) -> None: ...

class PointerType:
    """A pointer of the source."""
    @property
    def access(self) -> BindingAccess:
        """How it is used."""
        ...
    @property
    def alignment(self) -> int:
        """Of what it points to."""
        ...
    @property
    def data_size(self) -> int:
        """Bytes of what it points to."""
        ...
    @property
    def element_array_type(self) -> ArrayType | None:
        """If it is an array."""
        ...
    @property
    def element_is_argument_buffer(self) -> bool:
        """Whether that holds resources."""
        ...
    @property
    def element_struct_type(self) -> StructType | None:
        """If it is a struct."""
        ...
    @property
    def element_type(self) -> DataType:
        """Type of what it points to."""
        ...

class Range:
    """Consecutive bytes or indices."""
    def __init__(self, location: int, length: int) -> None: ...
    @property
    def length(self) -> int:
        """How many there are."""
        ...
    @length.setter
    def length(self, value: int) -> None: ...
    @property
    def location(self) -> int:
        """Where it begins."""
        ...
    @location.setter
    def location(self, value: int) -> None: ...

class RenderCommandEncoder:
    """Records the draws of a render pass."""
    def draw_indexed_primitives(
        self,
        type: PrimitiveType,
        index_count: int,
        index_type: IndexType,
        index_buffer: Buffer,
        index_buffer_offset: int,
    ) -> None:
        """Draws vertices by index."""
        ...
    def draw_indexed_primitives_instanced(
        self,
        type: PrimitiveType,
        index_count: int,
        index_type: IndexType,
        index_buffer: Buffer,
        index_buffer_offset: int,
        instance_count: int,
        base_vertex: int = 0,
        base_instance: int = 0,
    ) -> None:
        """Draws instances by index."""
        ...
    def draw_primitives(self, type: PrimitiveType, start: int, count: int) -> None:
        """Draws vertices."""
        ...
    def draw_primitives_instanced(
        self,
        type: PrimitiveType,
        start: int,
        count: int,
        instance_count: int,
        base_instance: int = 0,
    ) -> None:
        """Draws instances."""
        ...
    def end_encoding(self) -> None:
        """Closes the encoder. Before the next one and before commit."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    def set_cull_mode(self, mode: CullMode) -> None:
        """Which triangles are dropped."""
        ...
    def set_depth_stencil_state(self, state: DepthStencilState) -> None:
        """The tests of depth and stencil."""
        ...
    def set_fragment_buffer(self, buffer: Buffer, offset: int, index: int) -> None:
        """A buffer for the fragment function."""
        ...
    def set_fragment_bytes(self, data: bytes, index: int) -> None:
        """Bytes for the fragment function."""
        ...
    def set_fragment_sampler_state(self, sampler: SamplerState, index: int) -> None:
        """A sampler for the fragment function."""
        ...
    def set_fragment_texture(self, texture: Texture, index: int) -> None:
        """A texture for the fragment function."""
        ...
    def set_front_facing_winding(self, winding: Winding) -> None:
        """Which triangles face the front."""
        ...
    def set_render_pipeline_state(self, state: RenderPipelineState) -> None:
        """The pipeline to draw with."""
        ...
    def set_scissor_rect(self, x: int, y: int, width: int, height: int) -> None:
        """Nothing is drawn outside."""
        ...
    def set_stencil_reference_value(self, value: int) -> None:
        """What stencil values are compared with."""
        ...
    def set_vertex_buffer(self, buffer: Buffer, offset: int, index: int) -> None:
        """A buffer for the vertex function."""
        ...
    def set_vertex_bytes(self, data: bytes, index: int) -> None:
        """Bytes for the vertex function."""
        ...
    def set_vertex_sampler_state(self, sampler: SamplerState, index: int) -> None:
        """A sampler for the vertex function."""
        ...
    def set_vertex_texture(self, texture: Texture, index: int) -> None:
        """A texture for the vertex function."""
        ...
    def set_viewport(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        near: float = 0.0,
        far: float = 1.0,
    ) -> None:
        """Where the image lies in the attachment."""
        ...
    def update_fence(self, fence: Fence) -> None:
        """The fence stands behind the fragment stage."""
        ...
    def wait_for_fence(self, fence: Fence) -> None:
        """The vertex stage runs after the fence."""
        ...

class RenderPassAttachmentDescriptor:
    """An attachment of a render pass."""
    @property
    def depth_plane(self) -> int:
        """Its plane."""
        ...
    @depth_plane.setter
    def depth_plane(self, value: int) -> None: ...
    @property
    def level(self) -> int:
        """Its level."""
        ...
    @level.setter
    def level(self, value: int) -> None: ...
    @property
    def load_action(self) -> LoadAction:
        """What happens at the start."""
        ...
    @load_action.setter
    def load_action(self, value: LoadAction) -> None: ...
    @property
    def resolve_texture(self) -> Texture | None:
        """Where samples are resolved to."""
        ...
    @resolve_texture.setter
    def resolve_texture(self, value: Texture | None) -> None: ...
    @property
    def slice(self) -> int:
        """Its slice."""
        ...
    @slice.setter
    def slice(self, value: int) -> None: ...
    @property
    def store_action(self) -> StoreAction:
        """What happens at the end."""
        ...
    @store_action.setter
    def store_action(self, value: StoreAction) -> None: ...
    @property
    def texture(self) -> Texture | None:
        """What is drawn into."""
        ...
    @texture.setter
    def texture(self, value: Texture | None) -> None: ...

class RenderPassDescriptor:
    """What a render pass draws into."""
    def color_attachment(self, index: int) -> RenderPassColorAttachmentDescriptor:
        """The colour attachment of an index."""
        ...
    @property
    def depth_attachment(self) -> RenderPassDepthAttachmentDescriptor:
        """Depth."""
        ...
    @classmethod
    def render_pass_descriptor(cls) -> RenderPassDescriptor:
        """One with Metal's defaults."""
        ...
    @property
    def stencil_attachment(self) -> RenderPassStencilAttachmentDescriptor:
        """Stencil."""
        ...

class RenderPipelineColorAttachmentDescriptor:
    """How a pipeline writes a colour attachment."""
    @property
    def alpha_blend_operation(self) -> BlendOperation:
        """How alphas combine."""
        ...
    @alpha_blend_operation.setter
    def alpha_blend_operation(self, value: BlendOperation) -> None: ...
    @property
    def blending_enabled(self) -> bool:
        """Whether colours are blended."""
        ...
    @blending_enabled.setter
    def blending_enabled(self, value: bool) -> None: ...
    @property
    def destination_alpha_blend_factor(self) -> BlendFactor:
        """Of the old."""
        ...
    @destination_alpha_blend_factor.setter
    def destination_alpha_blend_factor(self, value: BlendFactor) -> None: ...
    @property
    def destination_rgb_blend_factor(self) -> BlendFactor:
        """Of the old."""
        ...
    @destination_rgb_blend_factor.setter
    def destination_rgb_blend_factor(self, value: BlendFactor) -> None: ...
    @property
    def pixel_format(self) -> PixelFormat:
        """Of the attachment."""
        ...
    @pixel_format.setter
    def pixel_format(self, value: PixelFormat) -> None: ...
    @property
    def rgb_blend_operation(self) -> BlendOperation:
        """How colours combine."""
        ...
    @rgb_blend_operation.setter
    def rgb_blend_operation(self, value: BlendOperation) -> None: ...
    @property
    def source_alpha_blend_factor(self) -> BlendFactor:
        """Of the new alpha."""
        ...
    @source_alpha_blend_factor.setter
    def source_alpha_blend_factor(self, value: BlendFactor) -> None: ...
    @property
    def source_rgb_blend_factor(self) -> BlendFactor:
        """Of the new colour."""
        ...
    @source_rgb_blend_factor.setter
    def source_rgb_blend_factor(self, value: BlendFactor) -> None: ...
    @property
    def write_mask(self) -> int:
        """ColorWriteMask bits."""
        ...
    @write_mask.setter
    def write_mask(self, value: int) -> None: ...

class RenderPipelineDescriptor:
    """How a render pipeline is made."""
    def color_attachment(self, index: int) -> RenderPipelineColorAttachmentDescriptor:
        """The colour attachment of an index."""
        ...
    @property
    def depth_attachment_pixel_format(self) -> PixelFormat:
        """Of depth."""
        ...
    @depth_attachment_pixel_format.setter
    def depth_attachment_pixel_format(self, value: PixelFormat) -> None: ...
    @property
    def fragment_function(self) -> Function | None:
        """Run for each fragment; None: depth only."""
        ...
    @fragment_function.setter
    def fragment_function(self, value: Function | None) -> None: ...
    @property
    def label(self) -> str:
        """A name for messages and traces."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    @property
    def raster_sample_count(self) -> int:
        """Samples of a texel."""
        ...
    @raster_sample_count.setter
    def raster_sample_count(self, value: int) -> None: ...
    @classmethod
    def render_pipeline_descriptor(cls) -> RenderPipelineDescriptor:
        """One with Metal's defaults."""
        ...
    @property
    def stencil_attachment_pixel_format(self) -> PixelFormat:
        """Of stencil."""
        ...
    @stencil_attachment_pixel_format.setter
    def stencil_attachment_pixel_format(self, value: PixelFormat) -> None: ...
    @property
    def vertex_descriptor(self) -> VertexDescriptor | None:
        """How vertices are fetched."""
        ...
    @vertex_descriptor.setter
    def vertex_descriptor(self, value: VertexDescriptor | None) -> None: ...
    @property
    def vertex_function(self) -> Function | None:
        """Run for each vertex."""
        ...
    @vertex_function.setter
    def vertex_function(self, value: Function | None) -> None: ...

class RenderPipelineState:
    """Vertex and fragment functions, ready to draw."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def label(self) -> str:
        """Its descriptor's label."""
        ...

class ResidencySet:
    """Allocations that are kept resident."""
    def add_allocation(self, allocation: Any) -> None:
        """Adds a Buffer, Texture or Heap, from commit on."""
        ...
    @property
    def allocated_size(self) -> int:
        """Bytes of what was committed."""
        ...
    @property
    def allocation_count(self) -> int:
        """How many allocations it has."""
        ...
    def commit(self) -> None:
        """Additions and removals count from now on."""
        ...
    def contains_allocation(self, allocation: Any) -> bool:
        """Whether it has it."""
        ...
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    def end_residency(self) -> None:
        """Lets the allocations go out."""
        ...
    @property
    def label(self) -> str:
        """Its name."""
        ...
    def remove_all_allocations(self) -> None:
        """Empties it, from commit on."""
        ...
    def remove_allocation(self, allocation: Any) -> None:
        """Takes one away, from commit on."""
        ...
    def request_residency(self) -> None:
        """Brings the allocations in."""
        ...

class SamplerDescriptor:
    """How a sampler is made."""
    @property
    def border_color(self) -> SamplerBorderColor:
        """Of ClampToBorderColor."""
        ...
    @border_color.setter
    def border_color(self, value: SamplerBorderColor) -> None: ...
    @property
    def compare_function(self) -> CompareFunction:
        """Of depth textures."""
        ...
    @compare_function.setter
    def compare_function(self, value: CompareFunction) -> None: ...
    @property
    def label(self) -> str:
        """A name for messages and traces."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    @property
    def lod_average(self) -> bool:
        """May average the level of detail."""
        ...
    @lod_average.setter
    def lod_average(self, value: bool) -> None: ...
    @property
    def lod_bias(self) -> float:
        """Added to the level of detail."""
        ...
    @lod_bias.setter
    def lod_bias(self, value: float) -> None: ...
    @property
    def lod_max_clamp(self) -> float:
        """The greatest level of detail."""
        ...
    @lod_max_clamp.setter
    def lod_max_clamp(self, value: float) -> None: ...
    @property
    def lod_min_clamp(self) -> float:
        """The least level of detail."""
        ...
    @lod_min_clamp.setter
    def lod_min_clamp(self, value: float) -> None: ...
    @property
    def mag_filter(self) -> SamplerMinMagFilter:
        """For enlarging."""
        ...
    @mag_filter.setter
    def mag_filter(self, value: SamplerMinMagFilter) -> None: ...
    @property
    def max_anisotropy(self) -> int:
        """Samples along the longer axis, 1 .. 16."""
        ...
    @max_anisotropy.setter
    def max_anisotropy(self, value: int) -> None: ...
    @property
    def min_filter(self) -> SamplerMinMagFilter:
        """For shrinking."""
        ...
    @min_filter.setter
    def min_filter(self, value: SamplerMinMagFilter) -> None: ...
    @property
    def mip_filter(self) -> SamplerMipFilter:
        """Between levels."""
        ...
    @mip_filter.setter
    def mip_filter(self, value: SamplerMipFilter) -> None: ...
    @property
    def normalized_coordinates(self) -> bool:
        """0 .. 1, not texels."""
        ...
    @normalized_coordinates.setter
    def normalized_coordinates(self, value: bool) -> None: ...
    @property
    def r_address_mode(self) -> SamplerAddressMode:
        """Outside in z."""
        ...
    @r_address_mode.setter
    def r_address_mode(self, value: SamplerAddressMode) -> None: ...
    @property
    def reduction_mode(self) -> SamplerReductionMode:
        """How texels combine."""
        ...
    @reduction_mode.setter
    def reduction_mode(self, value: SamplerReductionMode) -> None: ...
    @property
    def s_address_mode(self) -> SamplerAddressMode:
        """Outside in x."""
        ...
    @s_address_mode.setter
    def s_address_mode(self, value: SamplerAddressMode) -> None: ...
    @classmethod
    def sampler_descriptor(cls) -> SamplerDescriptor:
        """One with Metal's defaults."""
        ...
    @property
    def support_argument_buffers(self) -> bool:
        """May stand in argument buffers."""
        ...
    @support_argument_buffers.setter
    def support_argument_buffers(self, value: bool) -> None: ...
    @property
    def t_address_mode(self) -> SamplerAddressMode:
        """Outside in y."""
        ...
    @t_address_mode.setter
    def t_address_mode(self, value: SamplerAddressMode) -> None: ...

class SamplerState:
    """How kernels sample textures."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def gpu_resource_id(self) -> int:
        """What stands for it in argument buffers."""
        ...
    @property
    def label(self) -> str:
        """Its descriptor's label."""
        ...

class SharedEvent:
    """An event that the CPU reads, raises and awaits too."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    def notify_listener(
        self,
        listener: SharedEventListener,
        value: int,
        handler: Callable[..., object],
    ) -> None:
        """Calls handler(event, value) once, on the listener's thread, when the value is reached."""
        ...
    @property
    def signaled_value(self) -> int:
        """The value; setting it lets those go on that wait."""
        ...
    @signaled_value.setter
    def signaled_value(self, value: int) -> None: ...
    def wait_until_signaled_value(self, value: int, timeout_ms: int | None = None) -> bool:
        """Waits until the value is reached. False: it was not within timeout_ms; None: no limit."""
        ...

class SharedEventListener:
    """Calls handlers when shared events are raised."""
    @classmethod
    def shared_event_listener(cls) -> SharedEventListener:
        """A listener with a thread of its own."""
        ...
    @classmethod
    def shared_listener(cls) -> SharedEventListener:
        """The one of the whole process."""
        ...

class Size:
    """An extent in three dimensions."""
    def __init__(self, width: int, height: int = 1, depth: int = 1) -> None: ...
    @property
    def depth(self) -> int:
        """Extent in z."""
        ...
    @depth.setter
    def depth(self, value: int) -> None: ...
    @property
    def height(self) -> int:
        """Extent in y."""
        ...
    @height.setter
    def height(self, value: int) -> None: ...
    @property
    def width(self) -> int:
        """Extent in x."""
        ...
    @width.setter
    def width(self, value: int) -> None: ...

class StencilDescriptor:
    """A stencil test."""
    @property
    def depth_failure_operation(self) -> StencilOperation:
        """If depth fails."""
        ...
    @depth_failure_operation.setter
    def depth_failure_operation(self, value: StencilOperation) -> None: ...
    @property
    def depth_stencil_pass_operation(self) -> StencilOperation:
        """If both pass."""
        ...
    @depth_stencil_pass_operation.setter
    def depth_stencil_pass_operation(self, value: StencilOperation) -> None: ...
    @property
    def read_mask(self) -> int:
        """Bits compared."""
        ...
    @read_mask.setter
    def read_mask(self, value: int) -> None: ...
    @property
    def stencil_compare_function(self) -> CompareFunction:
        """The test."""
        ...
    @stencil_compare_function.setter
    def stencil_compare_function(self, value: CompareFunction) -> None: ...
    @classmethod
    def stencil_descriptor(cls) -> StencilDescriptor:
        """One with Metal's defaults."""
        ...
    @property
    def stencil_failure_operation(self) -> StencilOperation:
        """If it fails."""
        ...
    @stencil_failure_operation.setter
    def stencil_failure_operation(self, value: StencilOperation) -> None: ...
    @property
    def write_mask(self) -> int:
        """Bits written."""
        ...
    @write_mask.setter
    def write_mask(self, value: int) -> None: ...

class StructMember:
    """A member of a struct."""
    @property
    def argument_index(self) -> int:
        """As in [[id(index)]]."""
        ...
    @property
    def array_type(self) -> ArrayType | None:
        """If it is an array."""
        ...
    @property
    def data_type(self) -> DataType:
        """Its type."""
        ...
    @property
    def name(self) -> str:
        """Its name."""
        ...
    @property
    def offset(self) -> int:
        """Bytes from the start of the struct."""
        ...
    @property
    def pointer_type(self) -> PointerType | None:
        """If it is a pointer."""
        ...
    @property
    def struct_type(self) -> StructType | None:
        """If it is a struct."""
        ...

class StructType:
    """A struct of the source."""
    def member_by_name(self, name: str) -> StructMember | None:
        """The member of that name."""
        ...
    @property
    def members(self) -> list[StructMember]:
        """In the order of the source."""
        ...
    @property
    def name(self) -> str:
        """The struct's name."""
        ...
    @property
    def size(self) -> int:
        """Bytes."""
        ...

class Texture:
    """An image, or several, for kernels to read and write."""
    @property
    def allocated_size(self) -> int:
        """Bytes taken."""
        ...
    @property
    def array_length(self) -> int:
        """Slices."""
        ...
    @property
    def buffer(self) -> Buffer | None:
        """The buffer whose memory it is."""
        ...
    @property
    def buffer_bytes_per_row(self) -> int:
        """Bytes between rows in its buffer."""
        ...
    @property
    def buffer_offset(self) -> int:
        """Where in its buffer it begins."""
        ...
    @property
    def depth(self) -> int:
        """Texels in z."""
        ...
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    def get_bytes(
        self,
        bytes_per_row: int,
        x: int,
        y: int,
        width: int,
        height: int,
        level: int = 0,
        slice: int = 0,
        z: int = 0,
        depth: int = 1,
        bytes_per_image: int = 0,
        out: Any = None,
    ) -> bytes | None:
        """Copies texels out, at once: rows of bytes_per_row bytes, as bytes, or into a writable
        bytes-like object (then None).
        """
        ...
    @property
    def gpu_resource_id(self) -> int:
        """What stands for it in argument buffers."""
        ...
    @property
    def heap(self) -> Heap | None:
        """The heap it is in."""
        ...
    @property
    def heap_offset(self) -> int:
        """Its place in the heap."""
        ...
    @property
    def height(self) -> int:
        """Texels in y."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    def make_aliasable(self) -> None:
        """Lets later resources of its heap take its place while it lives on."""
        ...
    @property
    def mipmap_level_count(self) -> int:
        """Levels."""
        ...
    def new_texture_view(
        self,
        pixel_format: PixelFormat,
        texture_type: TextureType | None = None,
        levels: Range | None = None,
        slices: Range | None = None,
    ) -> Texture | None:
        """The same texels in another format, type, range of levels or of slices."""
        ...
    @property
    def parent_texture(self) -> Texture | None:
        """The texture it is a view of."""
        ...
    @property
    def pixel_format(self) -> PixelFormat:
        """What a texel is."""
        ...
    def replace_region(
        self,
        data: bytes,
        bytes_per_row: int,
        x: int,
        y: int,
        width: int,
        height: int,
        level: int = 0,
        slice: int = 0,
        z: int = 0,
        depth: int = 1,
        bytes_per_image: int = 0,
    ) -> None:
        """Copies texels in, at once: data is rows of bytes_per_row bytes."""
        ...
    @property
    def resource_options(self) -> int:
        """Its modes as bits."""
        ...
    @property
    def sample_count(self) -> int:
        """Samples of a texel."""
        ...
    def set_purgeable_state(self, state: PurgeableState) -> PurgeableState:
        """Sets the state and returns the one before."""
        ...
    @property
    def storage_mode(self) -> StorageMode:
        """Where its memory is."""
        ...
    @property
    def texture_type(self) -> TextureType:
        """Dimensions."""
        ...
    @property
    def usage(self) -> int:
        """TextureUsage bits."""
        ...
    @property
    def width(self) -> int:
        """Texels in x."""
        ...

class TextureDescriptor:
    """How a texture is made."""
    @property
    def array_length(self) -> int:
        """Slices."""
        ...
    @array_length.setter
    def array_length(self, value: int) -> None: ...
    @property
    def cpu_cache_mode(self) -> CPUCacheMode:
        """How the CPU caches it."""
        ...
    @cpu_cache_mode.setter
    def cpu_cache_mode(self, value: CPUCacheMode) -> None: ...
    @property
    def depth(self) -> int:
        """Texels in z."""
        ...
    @depth.setter
    def depth(self, value: int) -> None: ...
    @property
    def hazard_tracking_mode(self) -> HazardTrackingMode:
        """Whether work is ordered by itself."""
        ...
    @hazard_tracking_mode.setter
    def hazard_tracking_mode(self, value: HazardTrackingMode) -> None: ...
    @property
    def height(self) -> int:
        """Texels in y."""
        ...
    @height.setter
    def height(self, value: int) -> None: ...
    @property
    def mipmap_level_count(self) -> int:
        """Levels."""
        ...
    @mipmap_level_count.setter
    def mipmap_level_count(self, value: int) -> None: ...
    @property
    def pixel_format(self) -> PixelFormat:
        """What a texel is."""
        ...
    @pixel_format.setter
    def pixel_format(self, value: PixelFormat) -> None: ...
    @property
    def sample_count(self) -> int:
        """Samples of a texel."""
        ...
    @sample_count.setter
    def sample_count(self, value: int) -> None: ...
    @property
    def storage_mode(self) -> StorageMode:
        """Where its memory is."""
        ...
    @storage_mode.setter
    def storage_mode(self, value: StorageMode) -> None: ...
    @classmethod
    def texture2d_descriptor(
        cls,
        format: PixelFormat,
        width: int,
        height: int,
        mipmapped: bool,
    ) -> TextureDescriptor:
        """For a 2D texture; mipmapped: with all levels."""
        ...
    @classmethod
    def texture_buffer_descriptor(
        cls,
        pixel_format: PixelFormat,
        width: int,
        options: int = 0,
        usage: int = 1,
    ) -> TextureDescriptor:
        """For a texture buffer."""
        ...
    @classmethod
    def texture_descriptor(cls) -> TextureDescriptor:
        """One with Metal's defaults."""
        ...
    @property
    def texture_type(self) -> TextureType:
        """Dimensions."""
        ...
    @texture_type.setter
    def texture_type(self, value: TextureType) -> None: ...
    @classmethod
    def texturecube_descriptor(
        cls,
        pixel_format: PixelFormat,
        size: int,
        mipmapped: bool,
    ) -> TextureDescriptor:
        """For a cube texture; mipmapped: with all levels."""
        ...
    @property
    def usage(self) -> int:
        """TextureUsage bits: what it is for."""
        ...
    @usage.setter
    def usage(self, value: int) -> None: ...
    @property
    def width(self) -> int:
        """Texels in x."""
        ...
    @width.setter
    def width(self, value: int) -> None: ...

class VertexAttributeDescriptor:
    """Where a vertex attribute lies."""
    @property
    def buffer_index(self) -> int:
        """Which buffer it is in."""
        ...
    @buffer_index.setter
    def buffer_index(self, value: int) -> None: ...
    @property
    def format(self) -> VertexFormat:
        """The attribute's type."""
        ...
    @format.setter
    def format(self, value: VertexFormat) -> None: ...
    @property
    def offset(self) -> int:
        """Bytes from the start of a vertex."""
        ...
    @offset.setter
    def offset(self, value: int) -> None: ...

class VertexBufferLayoutDescriptor:
    """How vertices lie in a buffer."""
    @property
    def step_function(self) -> VertexStepFunction:
        """When it goes on."""
        ...
    @step_function.setter
    def step_function(self, value: VertexStepFunction) -> None: ...
    @property
    def step_rate(self) -> int:
        """After how many."""
        ...
    @step_rate.setter
    def step_rate(self, value: int) -> None: ...
    @property
    def stride(self) -> int:
        """Bytes between vertices."""
        ...
    @stride.setter
    def stride(self, value: int) -> None: ...

class VertexDescriptor:
    """How vertex attributes lie in buffers."""
    def attribute(self, index: int) -> VertexAttributeDescriptor:
        """The attribute of an index."""
        ...
    def layout(self, index: int) -> VertexBufferLayoutDescriptor:
        """The layout of a buffer index."""
        ...
    def reset(self) -> None:
        """Back to the defaults."""
        ...
    @classmethod
    def vertex_descriptor(cls) -> VertexDescriptor:
        """One with Metal's defaults."""
        ...

class VisibleFunctionTable:
    """Functions that kernels call by number."""
    @property
    def device(self) -> Device:
        """The device it belongs to."""
        ...
    @property
    def function_count(self) -> int:
        """Entries."""
        ...
    @property
    def gpu_resource_id(self) -> int:
        """What stands for it in argument buffers."""
        ...
    @property
    def label(self) -> str:
        """A name for messages and traces, "" if there is none."""
        ...
    @label.setter
    def label(self, value: str) -> None: ...
    def set_function(self, function: FunctionHandle | None, index: int) -> None:
        """Fills in an entry; None empties it."""
        ...

class RenderPassColorAttachmentDescriptor(RenderPassAttachmentDescriptor):
    """A colour attachment of a render pass."""
    @property
    def clear_color(self) -> ClearColor:
        """What it is cleared to."""
        ...
    @clear_color.setter
    def clear_color(self, value: ClearColor) -> None: ...
    @property
    def depth_plane(self) -> int:
        """Its plane."""
        ...
    @depth_plane.setter
    def depth_plane(self, value: int) -> None: ...
    @property
    def level(self) -> int:
        """Its level."""
        ...
    @level.setter
    def level(self, value: int) -> None: ...
    @property
    def load_action(self) -> LoadAction:
        """What happens at the start."""
        ...
    @load_action.setter
    def load_action(self, value: LoadAction) -> None: ...
    @property
    def resolve_texture(self) -> Texture | None:
        """Where samples are resolved to."""
        ...
    @resolve_texture.setter
    def resolve_texture(self, value: Texture | None) -> None: ...
    @property
    def slice(self) -> int:
        """Its slice."""
        ...
    @slice.setter
    def slice(self, value: int) -> None: ...
    @property
    def store_action(self) -> StoreAction:
        """What happens at the end."""
        ...
    @store_action.setter
    def store_action(self, value: StoreAction) -> None: ...
    @property
    def texture(self) -> Texture | None:
        """What is drawn into."""
        ...
    @texture.setter
    def texture(self, value: Texture | None) -> None: ...

class RenderPassDepthAttachmentDescriptor(RenderPassAttachmentDescriptor):
    """The depth attachment of a render pass."""
    @property
    def clear_depth(self) -> float:
        """What it is cleared to."""
        ...
    @clear_depth.setter
    def clear_depth(self, value: float) -> None: ...
    @property
    def depth_plane(self) -> int:
        """Its plane."""
        ...
    @depth_plane.setter
    def depth_plane(self, value: int) -> None: ...
    @property
    def level(self) -> int:
        """Its level."""
        ...
    @level.setter
    def level(self, value: int) -> None: ...
    @property
    def load_action(self) -> LoadAction:
        """What happens at the start."""
        ...
    @load_action.setter
    def load_action(self, value: LoadAction) -> None: ...
    @property
    def resolve_texture(self) -> Texture | None:
        """Where samples are resolved to."""
        ...
    @resolve_texture.setter
    def resolve_texture(self, value: Texture | None) -> None: ...
    @property
    def slice(self) -> int:
        """Its slice."""
        ...
    @slice.setter
    def slice(self, value: int) -> None: ...
    @property
    def store_action(self) -> StoreAction:
        """What happens at the end."""
        ...
    @store_action.setter
    def store_action(self, value: StoreAction) -> None: ...
    @property
    def texture(self) -> Texture | None:
        """What is drawn into."""
        ...
    @texture.setter
    def texture(self, value: Texture | None) -> None: ...

class RenderPassStencilAttachmentDescriptor(RenderPassAttachmentDescriptor):
    """The stencil attachment of a render pass."""
    @property
    def clear_stencil(self) -> int:
        """What it is cleared to."""
        ...
    @clear_stencil.setter
    def clear_stencil(self, value: int) -> None: ...
    @property
    def depth_plane(self) -> int:
        """Its plane."""
        ...
    @depth_plane.setter
    def depth_plane(self, value: int) -> None: ...
    @property
    def level(self) -> int:
        """Its level."""
        ...
    @level.setter
    def level(self, value: int) -> None: ...
    @property
    def load_action(self) -> LoadAction:
        """What happens at the start."""
        ...
    @load_action.setter
    def load_action(self, value: LoadAction) -> None: ...
    @property
    def resolve_texture(self) -> Texture | None:
        """Where samples are resolved to."""
        ...
    @resolve_texture.setter
    def resolve_texture(self, value: Texture | None) -> None: ...
    @property
    def slice(self) -> int:
        """Its slice."""
        ...
    @slice.setter
    def slice(self, value: int) -> None: ...
    @property
    def store_action(self) -> StoreAction:
        """What happens at the end."""
        ...
    @store_action.setter
    def store_action(self, value: StoreAction) -> None: ...
    @property
    def texture(self) -> Texture | None:
        """What is drawn into."""
        ...
    @texture.setter
    def texture(self, value: Texture | None) -> None: ...

def copy_all_devices() -> list[Device]:
    """All devices of the computer."""
    ...

def create_system_default_device() -> Device | None:
    """The computer's device."""
    ...

def shared_capture_manager() -> CaptureManager:
    """The process's capture manager."""
    ...
