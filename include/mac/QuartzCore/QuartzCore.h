// SPDX-License-Identifier: Apache-2.0
// QuartzCore/QuartzCore.h: layers that Metal draws into.
#ifndef INGOT_MAC_QUARTZCORE_QUARTZCORE_H
#define INGOT_MAC_QUARTZCORE_QUARTZCORE_H
#import <QuartzCore/CABase.h>
#import <QuartzCore/CADisplayLink.h>
#import <QuartzCore/CAMetalLayer.h>
#endif
