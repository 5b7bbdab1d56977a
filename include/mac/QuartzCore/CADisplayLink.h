// SPDX-License-Identifier: Apache-2.0
// QuartzCore/CADisplayLink.h: timers that fire once for each picture of the display, which shows
// 60 a second.
#ifndef INGOT_MAC_QUARTZCORE_CADISPLAYLINK_H
#define INGOT_MAC_QUARTZCORE_CADISPLAYLINK_H
#include <QuartzCore/CABase.h>
#include <QuartzCore/CAMetalLayer.h>
typedef struct CAFrameRateRange {
    float minimum, maximum, preferred;
} CAFrameRateRange;
static inline CAFrameRateRange CAFrameRateRangeMake(float minimum, float maximum, float preferred) {
    CAFrameRateRange r = {minimum, maximum, preferred};
    return r;
}
#define CAFrameRateRangeDefault CAFrameRateRangeMake(0, 0, 0)
#ifdef __OBJC__
@interface CADisplayLink : NSObject
+ (CADisplayLink *)displayLinkWithTarget:(id)target selector:(SEL)selector; // retains the target
- (void)addToRunLoop:(NSRunLoop *)loop forMode:(NSRunLoopMode)mode;
- (void)removeFromRunLoop:(NSRunLoop *)loop forMode:(NSRunLoopMode)mode;
- (void)invalidate;                           // lets go of the target
@property(readonly) CFTimeInterval timestamp; // of the picture shown, as CACurrentMediaTime
@property(readonly) CFTimeInterval duration;
@property(readonly) CFTimeInterval targetTimestamp; // of the next picture
@property(getter=isPaused) BOOL paused;
@property NSInteger preferredFramesPerSecond; // 0: as many as the display shows
@property CAFrameRateRange preferredFrameRateRange;
@end

@interface CAMetalDisplayLinkUpdate : NSObject
@property(readonly) id<CAMetalDrawable> drawable;
@property(readonly) CFTimeInterval targetTimestamp, targetPresentationTimestamp;
@end
@class CAMetalDisplayLink;
@protocol CAMetalDisplayLinkDelegate <NSObject>
- (void)metalDisplayLink:(CAMetalDisplayLink *)link needsUpdate:(CAMetalDisplayLinkUpdate *)update;
@end
@interface CAMetalDisplayLink : NSObject
- (instancetype)initWithMetalLayer:(CAMetalLayer *)layer;
@property(weak) id<CAMetalDisplayLinkDelegate> delegate;
@property float preferredFrameLatency; // remembered
@property CAFrameRateRange preferredFrameRateRange;
@property(getter=isPaused) BOOL paused;
- (void)addToRunLoop:(NSRunLoop *)loop forMode:(NSRunLoopMode)mode;
- (void)removeFromRunLoop:(NSRunLoop *)loop forMode:(NSRunLoopMode)mode;
- (void)invalidate;
@end
#endif
#endif
