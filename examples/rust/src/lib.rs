// SPDX-License-Identifier: Apache-2.0
//! `y = a * x + y` on the GPU.
#[cfg(target_os = "macos")]
pub mod objc;

#[cfg(target_os = "macos")]
mod metal {
    use crate::objc::{describe, objc_release, string, with_pool, Id, MTLCreateSystemDefaultDevice};
    use crate::send;
    use std::{os::raw::c_void, ptr::null_mut};

    const SOURCE: &str = "
#include <metal_stdlib>
kernel void saxpy(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant float &a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = a * x[i] + y[i];
}";

    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Size {
        width: usize,
        height: usize,
        depth: usize,
    }

    unsafe fn compile(device: Id) -> Result<Id, String> {
        let mut error: Id = null_mut();
        let library = send!(Id; device, "newLibraryWithSource:options:error:", string(SOURCE) => Id, null_mut() => Id,
                            &mut error => *mut Id);
        if library.is_null() {
            return Err(describe(error));
        }
        let function = send!(Id; library, "newFunctionWithName:", string("saxpy") => Id);
        let pipeline = send!(Id; device, "newComputePipelineStateWithFunction:error:", function => Id,
                             &mut error => *mut Id);
        objc_release(function);
        objc_release(library);
        if pipeline.is_null() { Err(describe(error)) } else { Ok(pipeline) }
    }

    unsafe fn buffer(device: Id, values: &[f32]) -> Id {
        send!(Id; device, "newBufferWithBytes:length:options:", values.as_ptr().cast() => *const c_void,
              std::mem::size_of_val(values) => usize, 0 => usize)
    }

    unsafe fn run(a: f32, x: &[f32], y: &mut [f32]) -> Result<(), String> {
        let device = MTLCreateSystemDefaultDevice();
        if device.is_null() {
            return Err("there is no Metal device".into());
        }
        let pipeline = compile(device)?;
        let (input, output) = (buffer(device, x), buffer(device, y));
        let queue = send!(Id; device, "newCommandQueue");
        let commands = send!(Id; queue, "commandBuffer");
        let encoder = send!(Id; commands, "computeCommandEncoder");
        send!((); encoder, "setComputePipelineState:", pipeline => Id);
        send!((); encoder, "setBuffer:offset:atIndex:", input => Id, 0 => usize, 0 => usize);
        send!((); encoder, "setBuffer:offset:atIndex:", output => Id, 0 => usize, 1 => usize);
        send!((); encoder, "setBytes:length:atIndex:", (&a as *const f32).cast() => *const c_void, 4 => usize,
              2 => usize);
        let grid = Size { width: x.len(), height: 1, depth: 1 };
        let group = Size { width: x.len().min(64), height: 1, depth: 1 };
        send!((); encoder, "dispatchThreads:threadsPerThreadgroup:", grid => Size, group => Size);
        send!((); encoder, "endEncoding");
        send!((); commands, "commit");
        send!((); commands, "waitUntilCompleted");
        let error = send!(Id; commands, "error");
        let result = if error.is_null() { Ok(()) } else { Err(describe(error)) };
        if result.is_ok() {
            let from = send!(*const f32; output, "contents");
            y.copy_from_slice(std::slice::from_raw_parts(from, y.len()));
        }
        for object in [input, output, queue, pipeline, device] {
            objc_release(object);
        }
        result
    }

    pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) -> Result<(), String> {
        with_pool(|| unsafe { run(a, x, y) })
    }
}

/// On a system without Metal it says so.
///
/// ```
/// let (x, mut y) = ([1.0, 2.0, 3.0], [10.0; 3]);
/// if saxpy::saxpy(2.0, &x, &mut y).is_ok() {
///     assert_eq!(y, [12.0, 14.0, 16.0]);
/// }
/// ```
pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) -> Result<(), String> {
    assert!(!x.is_empty() && x.len() == y.len());
    #[cfg(target_os = "macos")]
    return metal::saxpy(a, x, y);
    #[cfg(not(target_os = "macos"))]
    {
        let _ = a;
        Err("this is not a Mac: there is no Metal".into())
    }
}

#[cfg(all(test, target_os = "macos"))]
mod tests {
    #[test]
    fn many() {
        let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let mut y = vec![1.0; 1000];
        super::saxpy(2.0, &x, &mut y).unwrap();
        assert!(y.iter().enumerate().all(|(i, &v)| v == 2.0 * i as f32 + 1.0));
    }
}
