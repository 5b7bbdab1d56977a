// SPDX-License-Identifier: Apache-2.0
// QuartzCore/CABase.h: the clock of animations.
#ifndef INGOT_MAC_QUARTZCORE_CABASE_H
#define INGOT_MAC_QUARTZCORE_CABASE_H
#include <CoreFoundation/CFBase.h>
#ifdef __cplusplus
extern "C" {
#endif
CF_EXPORT CFTimeInterval CACurrentMediaTime(void); // seconds since some moment; never back
#ifdef __cplusplus
}
#endif
#endif
