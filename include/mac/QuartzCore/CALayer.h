// SPDX-License-Identifier: Apache-2.0
// QuartzCore/CALayer.h: what CAMetalLayer stands on: a tree of layers and their properties, which
// are remembered. Only a CAMetalLayer is seen.
#ifndef INGOT_MAC_QUARTZCORE_CALAYER_H
#define INGOT_MAC_QUARTZCORE_CALAYER_H
#include <CoreFoundation/CoreFoundation.h>
#include <CoreGraphics/CoreGraphics.h>
#include <QuartzCore/CABase.h>
#ifdef __OBJC__
#import <Foundation/Foundation.h>
typedef NSString *CALayerContentsGravity;
extern CALayerContentsGravity const kCAGravityCenter, kCAGravityTop, kCAGravityBottom,
    kCAGravityLeft, kCAGravityRight, kCAGravityTopLeft, kCAGravityTopRight, kCAGravityBottomLeft,
    kCAGravityBottomRight, kCAGravityResize, kCAGravityResizeAspect, kCAGravityResizeAspectFill;
typedef NS_OPTIONS(unsigned int, CAAutoresizingMask) {
    kCALayerNotSizable = 0,
    kCALayerMinXMargin = 1,
    kCALayerWidthSizable = 2,
    kCALayerMaxXMargin = 4,
    kCALayerMinYMargin = 8,
    kCALayerHeightSizable = 16,
    kCALayerMaxYMargin = 32,
};
@interface CALayer : NSObject
+ (instancetype)layer;
@property CGRect bounds;
@property CGRect frame; // in the layer above
@property CGPoint position;
@property CGFloat contentsScale;
@property CGFloat zPosition;
@property(getter=isOpaque) BOOL opaque;
@property(getter=isHidden) BOOL hidden;
@property BOOL needsDisplayOnBoundsChange;
@property BOOL masksToBounds;
@property CAAutoresizingMask autoresizingMask;
@property CGColorRef backgroundColor; // retained
@property CGFloat cornerRadius;
@property float opacity;
@property(copy) NSString *name;
@property(copy) CALayerContentsGravity contentsGravity;
@property(weak) id delegate;
@property(readonly) CALayer *superlayer;
@property(copy, readonly) NSArray<__kindof CALayer *> *sublayers;
- (void)addSublayer:(CALayer *)layer;
- (void)removeFromSuperlayer;
- (void)setNeedsDisplay; // nothing is drawn of a layer itself
- (void)setNeedsLayout;
@end
#endif
#endif
