// SPDX-License-Identifier: Apache-2.0
// NSColor.m: colours: four numbers of sRGB.
#include <math.h>
#include "mac/appkit/appkit_int.h"

SHOWN @implementation NSColor {
    CGFloat _c[4]; // red, green, blue, alpha
    CGColorRef _shared;
}

+ (NSColor *)colorWithRed:(CGFloat)red
                    green:(CGFloat)green
                     blue:(CGFloat)blue
                    alpha:(CGFloat)alpha {
    NSColor *color = [self new];
    const CGFloat c[4] = {red, green, blue, MIN(MAX(alpha, 0), 1)};
    memcpy(color->_c, c, sizeof c);
    color->_shared = CGColorCreateSRGB(c[0], c[1], c[2], c[3]);
    return color;
}
#define NAMED_SPACE(method)                                                                        \
    +(NSColor *)method : (CGFloat)red green : (CGFloat)green blue : (CGFloat)blue alpha            \
        : (CGFloat)alpha {                                                                         \
        return [self colorWithRed:red green:green blue:blue alpha:alpha];                          \
    }
NAMED_SPACE(colorWithSRGBRed)
NAMED_SPACE(colorWithDeviceRed)
NAMED_SPACE(colorWithCalibratedRed)

+ (NSColor *)colorWithHue:(CGFloat)hue
               saturation:(CGFloat)saturation
               brightness:(CGFloat)brightness
                    alpha:(CGFloat)alpha {
    CGFloat c[3];
    for (int i = 0; i < 3; i++) { // a third of the circle apart, each up, level and down
        CGFloat at = fmod(hue * 6 + (i == 0 ? 0 : i == 1 ? 4 : 2), 6);
        CGFloat full = MIN(MAX(fabs(at - 3) - 1, 0), 1);
        c[i] = brightness * (1 - saturation + saturation * full);
    }
    return [self colorWithRed:c[0] green:c[1] blue:c[2] alpha:alpha];
}
+ (NSColor *)colorWithWhite:(CGFloat)white alpha:(CGFloat)alpha {
    return [self colorWithRed:white green:white blue:white alpha:alpha];
}
+ (NSColor *)colorWithCGColor:(CGColorRef)color {
    const CGFloat *c = CGColorGetComponents(color);
    if (!c) return nil;
    return CGColorGetNumberOfComponents(color) == 2
               ? [self colorWithWhite:c[0] alpha:c[1]]
               : [self colorWithRed:c[0] green:c[1] blue:c[2] alpha:c[3]];
}
- (void)dealloc {
    CGColorRelease(_shared);
}
- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    return self;
}
- (BOOL)isEqual:(id)other {
    return [other isKindOfClass:NSColor.class] && !memcmp(_c, ((NSColor *)other)->_c, sizeof _c);
}
- (NSUInteger)hash {
    return (NSUInteger)(_c[0] * 255) << 16 ^ (NSUInteger)(_c[1] * 255) << 8 ^
           (NSUInteger)(_c[2] * 255);
}
- (NSString *)description {
    return [NSString stringWithFormat:@"sRGB %g %g %g %g", _c[0], _c[1], _c[2], _c[3]];
}

#define NAMED(name, r, g, b, a)                                                                    \
    +(NSColor *)name##Color {                                                                      \
        return [self colorWithRed:r green:g blue:b alpha:a];                                       \
    }
NAMED(black, 0, 0, 0, 1)
NAMED(darkGray, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1)
NAMED(lightGray, 2.0 / 3, 2.0 / 3, 2.0 / 3, 1)
NAMED(white, 1, 1, 1, 1)
NAMED(gray, 0.5, 0.5, 0.5, 1)
NAMED(red, 1, 0, 0, 1)
NAMED(green, 0, 1, 0, 1)
NAMED(blue, 0, 0, 1, 1)
NAMED(cyan, 0, 1, 1, 1)
NAMED(yellow, 1, 1, 0, 1)
NAMED(magenta, 1, 0, 1, 1)
NAMED(orange, 1, 0.5, 0, 1)
NAMED(purple, 0.5, 0, 0.5, 1)
NAMED(brown, 0.6, 0.4, 0.2, 1)
NAMED(clear, 0, 0, 0, 0)
NAMED(windowBackground, 236.0 / 255, 236.0 / 255, 236.0 / 255, 1)
NAMED(controlBackground, 1, 1, 1, 1)
NAMED(text, 0, 0, 0, 1)
NAMED(label, 0, 0, 0, 0.85)

- (CGFloat)redComponent {
    return _c[0];
}
- (CGFloat)greenComponent {
    return _c[1];
}
- (CGFloat)blueComponent {
    return _c[2];
}
- (CGFloat)alphaComponent {
    return _c[3];
}
- (CGFloat)whiteComponent { // by the weights of sRGB's primaries
    return 0.2126 * _c[0] + 0.7152 * _c[1] + 0.0722 * _c[2];
}
- (CGFloat)brightnessComponent {
    return MAX(MAX(_c[0], _c[1]), _c[2]);
}
- (CGFloat)saturationComponent {
    CGFloat most = self.brightnessComponent, least = MIN(MIN(_c[0], _c[1]), _c[2]);
    return most > 0 ? (most - least) / most : 0;
}
- (CGFloat)hueComponent {
    CGFloat most = self.brightnessComponent, range = most - MIN(MIN(_c[0], _c[1]), _c[2]);
    if (range == 0) return 0;
    CGFloat at = most == _c[0]   ? (_c[1] - _c[2]) / range
                 : most == _c[1] ? 2 + (_c[2] - _c[0]) / range
                                 : 4 + (_c[0] - _c[1]) / range;
    return (at < 0 ? at + 6 : at) / 6;
}
- (CGColorRef)CGColor {
    return _shared;
}
- (void)getRed:(CGFloat *)red green:(CGFloat *)green blue:(CGFloat *)blue alpha:(CGFloat *)alpha {
    CGFloat *to[] = {red, green, blue, alpha};
    for (int i = 0; i < 4; i++)
        if (to[i]) *to[i] = _c[i];
}
- (NSColor *)colorWithAlphaComponent:(CGFloat)alpha {
    return [NSColor colorWithRed:_c[0] green:_c[1] blue:_c[2] alpha:alpha];
}
- (NSColor *)blendedColorWithFraction:(CGFloat)fraction ofColor:(NSColor *)color {
    CGFloat c[4], f = MIN(MAX(fraction, 0), 1);
    if (!color) return nil;
    for (int i = 0; i < 4; i++) c[i] = _c[i] * (1 - f) + color->_c[i] * f;
    return [NSColor colorWithRed:c[0] green:c[1] blue:c[2] alpha:c[3]];
}
@end
