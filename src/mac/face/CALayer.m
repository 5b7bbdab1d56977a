// SPDX-License-Identifier: Apache-2.0
// CALayer.m: the class above CAMetalLayer. Layers have no variables of their own, since those of
// Metal are libingot's memory: everything is in one object that hangs on the layer.
#import <QuartzCore/QuartzCore.h>
#import <objc/objc-arc.h>
#import <objc/runtime.h>
#include <time.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN CFTimeInterval CACurrentMediaTime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

@interface CALayerState : NSObject {
  @public
    CGRect frame, bounds;
    CGFloat scale, z, radius;
    float opacity;
    CGColorRef background;
    BOOL opaque, hidden, redisplays, masks;
    CAAutoresizingMask resizing;
    NSString *name, *gravity;
    id delegate;    // weak
    CALayer *above; // weak
    NSMutableArray *below;
}
@end
@implementation CALayerState
- (void)dealloc {
    objc_destroyWeak(&delegate), objc_destroyWeak((id *)&above);
    [name release], [gravity release], [below release];
    CGColorRelease(background);
    [super dealloc];
}
@end

#define GRAVITY(name, text) SHOWN CALayerContentsGravity const kCAGravity##name = @text;
GRAVITY(Center, "center")
GRAVITY(Top, "top")
GRAVITY(Bottom, "bottom")
GRAVITY(Left, "left")
GRAVITY(Right, "right")
GRAVITY(TopLeft, "topLeft")
GRAVITY(TopRight, "topRight")
GRAVITY(BottomLeft, "bottomLeft")
GRAVITY(BottomRight, "bottomRight")
GRAVITY(Resize, "resize")
GRAVITY(ResizeAspect, "resizeAspect")
GRAVITY(ResizeAspectFill, "resizeAspectFill")

static char state_key;
static CALayerState *state(CALayer *layer) {
    @synchronized(layer) {
        CALayerState *s = objc_getAssociatedObject(layer, &state_key);
        if (s) return s;
        s = [[CALayerState new] autorelease];
        s->scale = 1, s->opacity = 1, s->gravity = [kCAGravityResize retain];
        objc_setAssociatedObject(layer, &state_key, s, OBJC_ASSOCIATION_RETAIN);
        return s;
    }
}

SHOWN @implementation CALayer
+ (instancetype)layer {
    return [[[self alloc] init] autorelease];
}
- (CGRect)frame {
    return state(self)->frame;
}
- (void)setFrame:(CGRect)frame {
    CALayerState *s = state(self);
    s->frame = frame, s->bounds.size = frame.size;
}
- (CGRect)bounds {
    return state(self)->bounds;
}
- (void)setBounds:(CGRect)bounds {
    CALayerState *s = state(self);
    s->bounds = bounds, s->frame.size = bounds.size;
}
- (CGPoint)position { // of its middle
    CGRect f = state(self)->frame;
    return CGPointMake(f.origin.x + f.size.width / 2, f.origin.y + f.size.height / 2);
}
- (void)setPosition:(CGPoint)p {
    CGRect *f = &state(self)->frame;
    f->origin = CGPointMake(p.x - f->size.width / 2, p.y - f->size.height / 2);
}

#define PLAIN(type, getter, setter, field)                                                         \
    -(type)getter {                                                                                \
        return state(self)->field;                                                                 \
    }                                                                                              \
    -(void)setter : (type)value {                                                                  \
        state(self)->field = value;                                                                \
    }
PLAIN(CGFloat, contentsScale, setContentsScale, scale)
PLAIN(CGFloat, zPosition, setZPosition, z)
PLAIN(CGFloat, cornerRadius, setCornerRadius, radius)
PLAIN(float, opacity, setOpacity, opacity)
PLAIN(BOOL, isOpaque, setOpaque, opaque)
PLAIN(BOOL, isHidden, setHidden, hidden)
PLAIN(BOOL, needsDisplayOnBoundsChange, setNeedsDisplayOnBoundsChange, redisplays)
PLAIN(BOOL, masksToBounds, setMasksToBounds, masks)
PLAIN(CAAutoresizingMask, autoresizingMask, setAutoresizingMask, resizing)

- (CGColorRef)backgroundColor {
    return state(self)->background;
}
- (void)setBackgroundColor:(CGColorRef)color {
    CALayerState *s = state(self);
    CGColorRetain(color);
    CGColorRelease(s->background);
    s->background = color;
}

#define TEXT(getter, setter, field)                                                                \
    -(NSString *)getter {                                                                          \
        return [[state(self)->field retain] autorelease];                                          \
    }                                                                                              \
    -(void)setter : (NSString *)value {                                                            \
        CALayerState *s = state(self);                                                             \
        [s->field autorelease];                                                                    \
        s->field = [value copy];                                                                   \
    }
TEXT(name, setName, name)
TEXT(contentsGravity, setContentsGravity, gravity)

- (id)delegate {
    return objc_loadWeak(&state(self)->delegate);
}
- (void)setDelegate:(id)delegate {
    objc_storeWeak(&state(self)->delegate, delegate);
}

// ---- The tree ----

- (CALayer *)superlayer {
    return objc_loadWeak((id *)&state(self)->above);
}
- (NSArray *)sublayers {
    return [[state(self)->below copy] autorelease];
}
- (void)addSublayer:(CALayer *)layer {
    if (!layer || layer == self) return;
    CALayerState *s = state(self);
    [layer retain];
    [layer removeFromSuperlayer];
    if (!s->below) s->below = [NSMutableArray new];
    [s->below addObject:layer];
    objc_storeWeak((id *)&state(layer)->above, self);
    [layer release];
}
- (void)removeFromSuperlayer {
    CALayer *above = self.superlayer;
    if (!above) return;
    objc_storeWeak((id *)&state(self)->above, nil);
    [state(above)->below removeObjectIdenticalTo:self];
}
- (void)setNeedsDisplay {
}
- (void)setNeedsLayout {
}
@end
