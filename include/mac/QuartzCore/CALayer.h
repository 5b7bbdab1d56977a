// SPDX-License-Identifier: Apache-2.0
// QuartzCore/CALayer.h: the only layer here is CAMetalLayer, which stands on nothing else.
#ifndef INGOT_MAC_QUARTZCORE_CALAYER_H
#define INGOT_MAC_QUARTZCORE_CALAYER_H
#include <CoreFoundation/CoreFoundation.h>
#endif
