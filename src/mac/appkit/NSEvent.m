// SPDX-License-Identifier: Apache-2.0
// NSEvent.m: inputs of X11 as AppKit tells them: places from the lower left corner, keys by the
// numbers of Apple's keyboards, characters of Unicode.
#include "mac/appkit/appkit_int.h"

typedef struct Key {
    uint32_t symbol;     // of X11
    unsigned short code; // of Apple's keyboards
    unichar character;   // 0: the symbol itself
} Key;
static const Key keys[] = {
    {'a', 0x00, 0},
    {'s', 0x01, 0},
    {'d', 0x02, 0},
    {'f', 0x03, 0},
    {'h', 0x04, 0},
    {'g', 0x05, 0},
    {'z', 0x06, 0},
    {'x', 0x07, 0},
    {'c', 0x08, 0},
    {'v', 0x09, 0},
    {'b', 0x0B, 0},
    {'q', 0x0C, 0},
    {'w', 0x0D, 0},
    {'e', 0x0E, 0},
    {'r', 0x0F, 0},
    {'y', 0x10, 0},
    {'t', 0x11, 0},
    {'1', 0x12, 0},
    {'2', 0x13, 0},
    {'3', 0x14, 0},
    {'4', 0x15, 0},
    {'6', 0x16, 0},
    {'5', 0x17, 0},
    {'=', 0x18, 0},
    {'9', 0x19, 0},
    {'7', 0x1A, 0},
    {'-', 0x1B, 0},
    {'8', 0x1C, 0},
    {'0', 0x1D, 0},
    {']', 0x1E, 0},
    {'o', 0x1F, 0},
    {'u', 0x20, 0},
    {'[', 0x21, 0},
    {'i', 0x22, 0},
    {'p', 0x23, 0},
    {'l', 0x25, 0},
    {'j', 0x26, 0},
    {'\'', 0x27, 0},
    {'k', 0x28, 0},
    {';', 0x29, 0},
    {'\\', 0x2A, 0},
    {',', 0x2B, 0},
    {'/', 0x2C, 0},
    {'n', 0x2D, 0},
    {'m', 0x2E, 0},
    {'.', 0x2F, 0},
    {' ', 0x31, 0},
    {'`', 0x32, 0},
    {0xff0d, 0x24, '\r'},
    {0xff8d, 0x4C, 3},
    {0xff09, 0x30, '\t'},
    {0xff08, 0x33, 0x7f},
    {0xff1b, 0x35, 0x1b},
    {0xffff, 0x75, NSDeleteFunctionKey},
    {0xff52, 0x7E, NSUpArrowFunctionKey},
    {0xff54, 0x7D, NSDownArrowFunctionKey},
    {0xff51, 0x7B, NSLeftArrowFunctionKey},
    {0xff53, 0x7C, NSRightArrowFunctionKey},
    {0xff50, 0x73, NSHomeFunctionKey},
    {0xff57, 0x77, NSEndFunctionKey},
    {0xff55, 0x74, NSPageUpFunctionKey},
    {0xff56, 0x79, NSPageDownFunctionKey},
    {0xff63, 0x72, NSInsertFunctionKey},
    {0xffbe, 0x7A, NSF1FunctionKey},
    {0xffbf, 0x78, 0xF705},
    {0xffc0, 0x63, 0xF706},
    {0xffc1, 0x76, 0xF707},
    {0xffc2, 0x60, 0xF708},
    {0xffc3, 0x61, 0xF709},
    {0xffc4, 0x62, 0xF70A},
    {0xffc5, 0x64, 0xF70B},
    {0xffc6, 0x65, 0xF70C},
    {0xffc7, 0x6D, 0xF70D},
    {0xffc8, 0x67, 0xF70E},
    {0xffc9, 0x6F, NSF12FunctionKey},
    {0xffe1, 0x38, 0},
    {0xffe2, 0x3C, 0},
    {0xffe3, 0x3B, 0},
    {0xffe4, 0x3E, 0},
    {0xffe5, 0x39, 0},
    {0xffe9, 0x3A, 0},
    {0xffea, 0x3D, 0},
    {0xffeb, 0x37, 0},
    {0xffec, 0x36, 0},
};
enum { NO_KEY = 0xff, FIRST_MODIFIER = 0xffe1, LAST_MODIFIER = 0xffee };

static const Key *key_of(uint32_t symbol) {
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].symbol == symbol) return &keys[i];
    return NULL;
}

static NSString *text_of(uint32_t symbol) {
    const Key *key = key_of(symbol);
    uint32_t c = key && key->character                 ? key->character
                 : symbol >= 0x20 && symbol < 0x100    ? symbol
                 : (symbol & 0xff000000) == 0x01000000 ? symbol & 0xffffff // Unicode's own
                                                       : 0;
    if (!c) return @"";
    unichar units[2] = {(unichar)c};
    if (c < 0x10000) return [NSString stringWithCharacters:units length:1];
    c -= 0x10000;
    units[0] = (unichar)(0xD800 | c >> 10), units[1] = (unichar)(0xDC00 | (c & 0x3ff));
    return [NSString stringWithCharacters:units length:2];
}

static NSEventModifierFlags flags_of(uint32_t modifiers) {
    static const struct {
        uint32_t ours;
        NSEventModifierFlags apples;
    } pairs[] = {{LAYER_WINDOW_SHIFT, NSEventModifierFlagShift},
                 {LAYER_WINDOW_CAPS, NSEventModifierFlagCapsLock},
                 {LAYER_WINDOW_CONTROL, NSEventModifierFlagControl},
                 {LAYER_WINDOW_OPTION, NSEventModifierFlagOption},
                 {LAYER_WINDOW_COMMAND, NSEventModifierFlagCommand}};
    NSEventModifierFlags all = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (modifiers & pairs[i].ours) all |= pairs[i].apples;
    return all;
}

// X11 tells what was held before a key changed that.
static NSEventModifierFlags flag_of_key(uint32_t symbol) {
    switch (symbol) {
    case 0xffe1:
    case 0xffe2: return NSEventModifierFlagShift;
    case 0xffe3:
    case 0xffe4: return NSEventModifierFlagControl;
    case 0xffe9:
    case 0xffea: return NSEventModifierFlagOption;
    case 0xffeb:
    case 0xffec: return NSEventModifierFlagCommand;
    default: return 0;
    }
}

static NSEventModifierFlags last_flags;

SHOWN @implementation NSEvent
@synthesize modifierFlags = _modifierFlags;
+ (NSEventModifierFlags)modifierFlags {
    return last_flags;
}
// One of a button's three types.
static NSEventType of_button(NSInteger button, NSEventType left, NSEventType right,
                             NSEventType other) {
    return button == 0 ? left : button == 1 ? right : other;
}
- (instancetype)initWithInput:(const LayerWindowInput *)in
                       window:(NSWindow *)window
                        mouse:(MouseState *)mouse {
    if (!(self = [super init])) return nil;
    _window = window, _timestamp = in->time, _modifierFlags = flags_of(in->modifiers);
    _locationInWindow = NSMakePoint(in->x, window.frame.size.height - in->y);
    _characters = _charactersIgnoringModifiers = @"";
    _buttonNumber = in->kind == LAYER_WINDOW_MOVED ? mouse->button : (NSInteger)in->button;
    switch (in->kind) {
    case LAYER_WINDOW_BUTTON_DOWN:
        _type = of_button(_buttonNumber, NSEventTypeLeftMouseDown, NSEventTypeRightMouseDown,
                          NSEventTypeOtherMouseDown);
        // Twice in half a second at one place is a double click.
        mouse->clicks = in->time - mouse->pressed_at < 0.5 &&
                                mouse->button_before == _buttonNumber &&
                                fabs(in->x - mouse->press_x) < 4 && fabs(in->y - mouse->press_y) < 4
                            ? mouse->clicks + 1
                            : 1;
        mouse->pressed_at = in->time, mouse->press_x = in->x, mouse->press_y = in->y;
        mouse->button = mouse->button_before = _buttonNumber;
        break;
    case LAYER_WINDOW_BUTTON_UP:
        _type = of_button(_buttonNumber, NSEventTypeLeftMouseUp, NSEventTypeRightMouseUp,
                          NSEventTypeOtherMouseUp);
        mouse->button = NO_BUTTON;
        break;
    case LAYER_WINDOW_MOVED:
        _type = mouse->button == NO_BUTTON
                    ? NSEventTypeMouseMoved
                    : of_button(_buttonNumber, NSEventTypeLeftMouseDragged,
                                NSEventTypeRightMouseDragged, NSEventTypeOtherMouseDragged);
        _deltaX = in->x - mouse->x, _deltaY = in->y - mouse->y;
        break;
    case LAYER_WINDOW_SCROLLED:
        _type = NSEventTypeScrollWheel;
        _deltaX = _scrollingDeltaX = in->scroll_x, _deltaY = _scrollingDeltaY = in->scroll_y;
        break;
    case LAYER_WINDOW_KEY_DOWN:
    case LAYER_WINDOW_KEY_UP: {
        const Key *key = key_of(in->key);
        const bool down = in->kind == LAYER_WINDOW_KEY_DOWN;
        _type = down ? NSEventTypeKeyDown : NSEventTypeKeyUp;
        _keyCode = key ? key->code : NO_KEY;
        _ARepeat = in->repeats;
        if (in->key >= FIRST_MODIFIER && in->key <= LAST_MODIFIER) {
            _type = NSEventTypeFlagsChanged;
            const NSEventModifierFlags flag = flag_of_key(in->key);
            _modifierFlags = down ? _modifierFlags | flag : _modifierFlags & ~flag;
        } else {
            _characters = text_of(in->text);
            // Shift counts, as on a Mac; control and its like do not.
            _charactersIgnoringModifiers = _characters;
        }
        break;
    }
    }
    _clickCount = mouse->clicks;
    mouse->x = in->x, mouse->y = in->y;
    last_flags = _modifierFlags;
    return self;
}
- (NSInteger)windowNumber {
    return self.window.windowNumber;
}
- (CGFloat)deltaZ {
    return 0;
}
- (BOOL)hasPreciseScrollingDeltas {
    return NO;
}
- (NSString *)description {
    return
        [NSString stringWithFormat:@"NSEvent: type=%lu loc=(%g,%g) time=%.3f flags=%#lx \"%@\"",
                                   (unsigned long)_type, _locationInWindow.x, _locationInWindow.y,
                                   _timestamp, (unsigned long)_modifierFlags, _characters];
}
@end
