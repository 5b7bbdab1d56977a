// SPDX-License-Identifier: Apache-2.0
//! As much of the Objective-C runtime as a Metal program needs. Programs of some size use the crates `objc2-metal` or
//! `metal`, which declare all of it.
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};

pub type Id = *mut c_void;
pub type Sel = *const c_void;

#[link(name = "objc", kind = "dylib")]
extern "C" {
    fn objc_getClass(name: *const c_char) -> Id;
    fn sel_registerName(name: *const c_char) -> Sel;
    pub fn objc_msgSend();
    pub fn objc_release(object: Id);
    fn objc_autoreleasePoolPush() -> *mut c_void;
    fn objc_autoreleasePoolPop(pool: *mut c_void);
}
#[link(name = "Foundation", kind = "framework")]
extern "C" {}
#[link(name = "Metal", kind = "framework")]
extern "C" {
    pub fn MTLCreateSystemDefaultDevice() -> Id;
}

/// `send!(Type; object, "message:with:", argument: Type, ...)`: a message, as a call of the type that it has.
#[macro_export]
macro_rules! send {
    ($result:ty; $object:expr, $name:expr $(, $argument:expr => $type:ty)*) => {{
        let call: unsafe extern "C" fn($crate::objc::Id, $crate::objc::Sel $(, $type)*) -> $result =
            std::mem::transmute($crate::objc::objc_msgSend as unsafe extern "C" fn());
        call($object, $crate::objc::selector($name) $(, $argument)*)
    }};
}

pub fn selector(name: &str) -> Sel {
    let name = CString::new(name).unwrap();
    unsafe { sel_registerName(name.as_ptr()) }
}

pub fn string(text: &str) -> Id {
    let (class, text) = (CString::new("NSString").unwrap(), CString::new(text).unwrap());
    unsafe { send!(Id; objc_getClass(class.as_ptr()), "stringWithUTF8String:", text.as_ptr() => *const c_char) }
}

/// What an NSError or any other object says of itself.
///
/// # Safety
/// It must be an object.
pub unsafe fn describe(object: Id) -> String {
    let text = send!(*const c_char; send!(Id; object, "description"), "UTF8String");
    CStr::from_ptr(text).to_string_lossy().into_owned()
}

/// Runs `body`; what it left to the autorelease pool goes with its end.
pub fn with_pool<T>(body: impl FnOnce() -> T) -> T {
    unsafe {
        let pool = objc_autoreleasePoolPush();
        let result = body();
        objc_autoreleasePoolPop(pool);
        result
    }
}
