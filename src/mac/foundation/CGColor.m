// SPDX-License-Identifier: Apache-2.0
// CGColor.m: colours of Core Graphics, which layers and views remember. A space is its name; spaces
// of grey have one component, all others three.
#import <CoreGraphics/CoreGraphics.h>
#include "mac/foundation/foundation_int.h"

enum { MAX_COMPONENTS = 4 }; // with alpha
@interface CGColorObject : NSObject {
  @public
    CGColorSpaceRef space;
    CGFloat components[MAX_COMPONENTS];
    size_t n;
}
@end
@implementation CGColorObject
- (void)dealloc {
    CGColorSpaceRelease(space);
    [super dealloc];
}
- (BOOL)isEqual:(id)other {
    if (![other isKindOfClass:[CGColorObject class]]) return NO;
    CGColorObject *o = other;
    return n == o->n && [(id)space isEqual:(id)o->space] &&
           !memcmp(components, o->components, n * sizeof *components);
}
- (NSUInteger)hash {
    return (NSUInteger)(components[0] * 255) + ((NSUInteger)(components[n - 1] * 255) << 8);
}
@end

static bool is_gray(CGColorSpaceRef space) {
    NSString *name = [(id)CGColorSpaceCopyName(space) autorelease];
    return [name rangeOfString:@"Gray"].location != NSNotFound;
}

CGColorRef CGColorCreate(CGColorSpaceRef space, const CGFloat *components) {
    if (!space || !components) return NULL;
    CGColorObject *color = [CGColorObject new];
    color->space = CGColorSpaceRetain(space);
    color->n = is_gray(space) ? 2 : MAX_COMPONENTS;
    memcpy(color->components, components, color->n * sizeof *components);
    return (CGColorRef)color;
}

static CGColorRef color_in(CFStringRef name, const CGFloat *components) {
    CGColorSpaceRef space = CGColorSpaceCreateWithName(name);
    CGColorRef color = CGColorCreate(space, components);
    CGColorSpaceRelease(space);
    return color;
}
CGColorRef CGColorCreateGenericRGB(CGFloat red, CGFloat green, CGFloat blue, CGFloat alpha) {
    return color_in(kCGColorSpaceSRGB, (CGFloat[]){red, green, blue, alpha});
}
CGColorRef CGColorCreateSRGB(CGFloat red, CGFloat green, CGFloat blue, CGFloat alpha) {
    return color_in(kCGColorSpaceSRGB, (CGFloat[]){red, green, blue, alpha});
}
CGColorRef CGColorCreateGenericGray(CGFloat gray, CGFloat alpha) {
    return color_in(kCGColorSpaceGenericGrayGamma2_2, (CGFloat[]){gray, alpha});
}
CGColorRef CGColorCreateCopyWithAlpha(CGColorRef color, CGFloat alpha) {
    if (!color) return NULL;
    CGColorObject *from = (CGColorObject *)color;
    CGColorObject *copy = (CGColorObject *)CGColorCreate(from->space, from->components);
    copy->components[copy->n - 1] = alpha;
    return (CGColorRef)copy;
}
CGColorRef CGColorRetain(CGColorRef color) { return (CGColorRef)objc_retain((id)color); }
void CGColorRelease(CGColorRef color) { objc_release((id)color); }
bool CGColorEqualToColor(CGColorRef a, CGColorRef b) {
    return a == b || (a && b && [(id)a isEqual:(id)b]);
}
size_t CGColorGetNumberOfComponents(CGColorRef color) {
    return color ? ((CGColorObject *)color)->n : 0;
}
const CGFloat *CGColorGetComponents(CGColorRef color) {
    return color ? ((CGColorObject *)color)->components : NULL;
}
CGFloat CGColorGetAlpha(CGColorRef color) {
    return color ? ((CGColorObject *)color)->components[((CGColorObject *)color)->n - 1] : 0;
}
CGColorSpaceRef CGColorGetColorSpace(CGColorRef color) {
    return color ? ((CGColorObject *)color)->space : NULL;
}
