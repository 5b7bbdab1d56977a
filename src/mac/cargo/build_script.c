// SPDX-License-Identifier: Apache-2.0
// build_script.c: an object file that `ingot cargo` links into build scripts, once for a Mac's
// crates and once for the others (CMakeLists.txt). Cargo is told that the target is macOS and Linux
// at once and says so, "linux,macos"; a script sees the one its crate is compiled for.
#include <stdlib.h>

__attribute__((constructor)) static void one_system(void) {
    if (!getenv("CARGO_CFG_TARGET_OS")) return;
    setenv("CARGO_CFG_TARGET_OS", BUILD_OS, 1);
    setenv("CARGO_CFG_TARGET_VENDOR", BUILD_VENDOR, 1);
}
