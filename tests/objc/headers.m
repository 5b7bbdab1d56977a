// SPDX-License-Identifier: Apache-2.0
// The headers of include/mac compile as Objective-C: all of them in one file, without a warning.
#include <objc/objc.h>
#include <objc/runtime.h>
#include <objc/message.h>
#include <objc/objc-arc.h>
#include <objc/objc-exception.h>
#include <objc/objc-sync.h>
#include <objc/objc-ingot.h>
#include <Block.h>
#include <dispatch/dispatch.h>
#include <CoreFoundation/CoreFoundation.h>
#include <CoreGraphics/CoreGraphics.h>
#include <Availability.h>
#include <TargetConditionals.h>
#include <mach/mach_time.h>
#include <os/lock.h>
#include <os/log.h>
#include <os/signpost.h>
#include <simd/simd.h>
#include <Foundation/Foundation.h>

int main(void) { return TARGET_OS_LINUX ? 0 : 1; }
