// SPDX-License-Identifier: Apache-2.0
// Availability.h: the system that programs are built for, as far as they ask: macOS 26.
#ifndef INGOT_MAC_AVAILABILITY_H
#define INGOT_MAC_AVAILABILITY_H
#include <os/availability.h>
#include <AvailabilityMacros.h>
#define __MAC_10_15 101500
#define __MAC_11_0 110000
#define __MAC_12_0 120000
#define __MAC_13_0 130000
#define __MAC_14_0 140000
#define __MAC_15_0 150000
#define __MAC_26_0 260000
#define __MAC_OS_X_VERSION_MAX_ALLOWED __MAC_26_0
#define __MAC_OS_X_VERSION_MIN_REQUIRED __MAC_26_0
#define __OSX_AVAILABLE(v)
#define __IOS_AVAILABLE(v)
#define __OSX_AVAILABLE_STARTING(mac, ios)
#define __OSX_AVAILABLE_BUT_DEPRECATED(...)
#endif
