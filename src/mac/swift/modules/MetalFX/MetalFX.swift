// SPDX-License-Identifier: Apache-2.0
// MetalFX.swift: not here. A program that imports it is told so, where it would else look for a missing file.
@available(*, unavailable, message: "Ingot has no MetalFX: draw at the full size instead of scaling up")
public enum MTLFXSpatialScalerDescriptor {}
@available(*, unavailable, message: "Ingot has no MetalFX: draw at the full size instead of scaling up")
public enum MTLFXTemporalScalerDescriptor {}
@available(*, unavailable, message: "Ingot has no MetalFX: draw at the full size instead of scaling up")
public enum MTLFXFrameInterpolatorDescriptor {}
