// SPDX-License-Identifier: Apache-2.0
// AppKit/NSEvent.h: what the user did with mouse and keyboard.
#ifndef INGOT_MAC_APPKIT_NSEVENT_H
#define INGOT_MAC_APPKIT_NSEVENT_H
#import <Foundation/Foundation.h>
@class NSWindow;
typedef NS_ENUM(NSUInteger, NSEventType) {
    NSEventTypeLeftMouseDown = 1,
    NSEventTypeLeftMouseUp = 2,
    NSEventTypeRightMouseDown = 3,
    NSEventTypeRightMouseUp = 4,
    NSEventTypeMouseMoved = 5,
    NSEventTypeLeftMouseDragged = 6,
    NSEventTypeRightMouseDragged = 7,
    NSEventTypeMouseEntered = 8,
    NSEventTypeMouseExited = 9,
    NSEventTypeKeyDown = 10,
    NSEventTypeKeyUp = 11,
    NSEventTypeFlagsChanged = 12,
    NSEventTypeApplicationDefined = 15,
    NSEventTypeScrollWheel = 22,
    NSEventTypeOtherMouseDown = 25,
    NSEventTypeOtherMouseUp = 26,
    NSEventTypeOtherMouseDragged = 27,
};
typedef NS_OPTIONS(unsigned long long, NSEventMask) {
    NSEventMaskLeftMouseDown = 1ULL << NSEventTypeLeftMouseDown,
    NSEventMaskLeftMouseUp = 1ULL << NSEventTypeLeftMouseUp,
    NSEventMaskRightMouseDown = 1ULL << NSEventTypeRightMouseDown,
    NSEventMaskRightMouseUp = 1ULL << NSEventTypeRightMouseUp,
    NSEventMaskMouseMoved = 1ULL << NSEventTypeMouseMoved,
    NSEventMaskLeftMouseDragged = 1ULL << NSEventTypeLeftMouseDragged,
    NSEventMaskRightMouseDragged = 1ULL << NSEventTypeRightMouseDragged,
    NSEventMaskKeyDown = 1ULL << NSEventTypeKeyDown,
    NSEventMaskKeyUp = 1ULL << NSEventTypeKeyUp,
    NSEventMaskFlagsChanged = 1ULL << NSEventTypeFlagsChanged,
    NSEventMaskScrollWheel = 1ULL << NSEventTypeScrollWheel,
    NSEventMaskAny = ~0ULL,
};
typedef NS_OPTIONS(NSUInteger, NSEventModifierFlags) {
    NSEventModifierFlagCapsLock = 1 << 16,
    NSEventModifierFlagShift = 1 << 17,
    NSEventModifierFlagControl = 1 << 18,
    NSEventModifierFlagOption = 1 << 19,
    NSEventModifierFlagCommand = 1 << 20, // Super of X11
    NSEventModifierFlagFunction = 1 << 23,
};
#define NSEventModifierFlagDeviceIndependentFlagsMask ((NSEventModifierFlags)0xffff0000UL)
enum { // characters of keys that write none
    NSUpArrowFunctionKey = 0xF700,
    NSDownArrowFunctionKey = 0xF701,
    NSLeftArrowFunctionKey = 0xF702,
    NSRightArrowFunctionKey = 0xF703,
    NSF1FunctionKey = 0xF704,
    NSF12FunctionKey = 0xF70F,
    NSInsertFunctionKey = 0xF727,
    NSDeleteFunctionKey = 0xF728,
    NSHomeFunctionKey = 0xF729,
    NSEndFunctionKey = 0xF72B,
    NSPageUpFunctionKey = 0xF72C,
    NSPageDownFunctionKey = 0xF72D,
};
@interface NSEvent : NSObject
@property(readonly) NSEventType type;
@property(readonly) NSPoint locationInWindow; // from the lower left corner
@property(readonly) NSEventModifierFlags modifierFlags;
@property(readonly) NSTimeInterval timestamp;
@property(readonly, weak) NSWindow *window;
@property(readonly) NSInteger windowNumber;
@property(readonly) NSInteger buttonNumber;
@property(readonly) NSInteger clickCount;
@property(readonly) CGFloat deltaX, deltaY, deltaZ; // moved since, down is positive; of the wheel
@property(readonly) CGFloat scrollingDeltaX, scrollingDeltaY;
@property(readonly) BOOL hasPreciseScrollingDeltas; // never: a wheel turns in steps
@property(readonly) NSString *characters, *charactersIgnoringModifiers;
@property(readonly) unsigned short keyCode; // of Apple's keyboards
@property(readonly, getter=isARepeat) BOOL ARepeat;
@property(class, readonly) NSEventModifierFlags modifierFlags; // of the last event
@end
#endif
