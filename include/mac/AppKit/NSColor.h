// SPDX-License-Identifier: Apache-2.0
// AppKit/NSColor.h: colours, in sRGB whatever space they were named in. Those of the system are
// of its light appearance.
#ifndef INGOT_MAC_APPKIT_NSCOLOR_H
#define INGOT_MAC_APPKIT_NSCOLOR_H
#import <Foundation/Foundation.h>
#include <CoreGraphics/CoreGraphics.h>
@interface NSColor : NSObject <NSCopying>
+ (NSColor *)colorWithRed:(CGFloat)red green:(CGFloat)green blue:(CGFloat)blue alpha:(CGFloat)alpha;
+ (NSColor *)colorWithSRGBRed:(CGFloat)red
                        green:(CGFloat)green
                         blue:(CGFloat)blue
                        alpha:(CGFloat)alpha;
+ (NSColor *)colorWithDeviceRed:(CGFloat)red
                          green:(CGFloat)green
                           blue:(CGFloat)blue
                          alpha:(CGFloat)alpha;
+ (NSColor *)colorWithCalibratedRed:(CGFloat)red
                              green:(CGFloat)green
                               blue:(CGFloat)blue
                              alpha:(CGFloat)alpha;
+ (NSColor *)colorWithHue:(CGFloat)hue
               saturation:(CGFloat)saturation
               brightness:(CGFloat)brightness
                    alpha:(CGFloat)alpha;
+ (NSColor *)colorWithWhite:(CGFloat)white alpha:(CGFloat)alpha;
+ (NSColor *)colorWithCGColor:(CGColorRef)color; // nil: none
@property(class, readonly, strong) NSColor *blackColor, *darkGrayColor, *lightGrayColor,
    *whiteColor, *grayColor, *redColor, *greenColor, *blueColor, *cyanColor, *yellowColor,
    *magentaColor, *orangeColor, *purpleColor, *brownColor, *clearColor;
@property(class, readonly, strong) NSColor *windowBackgroundColor, *controlBackgroundColor,
    *textColor, *labelColor;
@property(readonly) CGFloat redComponent, greenComponent, blueComponent, alphaComponent;
@property(readonly) CGFloat whiteComponent; // how bright it is
@property(readonly) CGFloat hueComponent, saturationComponent, brightnessComponent;
@property(readonly) CGColorRef CGColor; // as long as the colour
- (void)getRed:(CGFloat *)red
         green:(CGFloat *)green
          blue:(CGFloat *)blue
         alpha:(CGFloat *)alpha; // NULL: not wanted
- (NSColor *)colorWithAlphaComponent:(CGFloat)alpha;
- (NSColor *)blendedColorWithFraction:(CGFloat)fraction ofColor:(NSColor *)color;
@end
#endif
