// SPDX-License-Identifier: Apache-2.0
// NSMenu.m: menus, which nobody sees here; their keys work.
#include "mac/appkit/appkit_int.h"

SHOWN @implementation NSMenuItem
+ (NSMenuItem *)separatorItem {
    return [[self alloc] initWithTitle:@"" action:NULL keyEquivalent:@""];
}
- (instancetype)initWithTitle:(NSString *)title action:(SEL)action keyEquivalent:(NSString *)key {
    if ((self = [super init])) {
        _title = [title copy], _action = action, _keyEquivalent = [key copy];
        _keyEquivalentModifierMask = NSEventModifierFlagCommand, _enabled = YES;
    }
    return self;
}
@end

SHOWN @implementation NSMenu { NSMutableArray<NSMenuItem *> *_items; }
- (instancetype)init {
    return [self initWithTitle:@""];
}
- (instancetype)initWithTitle:(NSString *)title {
    if ((self = [super init])) _title = [title copy], _items = [NSMutableArray new];
    return self;
}
- (NSArray *)itemArray {
    return [_items copy];
}
- (void)addItem:(NSMenuItem *)item {
    [_items addObject:item];
}
- (NSMenuItem *)addItemWithTitle:(NSString *)title
                          action:(SEL)action
                   keyEquivalent:(NSString *)key {
    NSMenuItem *item = [[NSMenuItem alloc] initWithTitle:title action:action keyEquivalent:key];
    [self addItem:item];
    return item;
}
- (BOOL)performKeyEquivalent:(NSEvent *)event {
    const NSEventModifierFlags counts = NSEventModifierFlagCommand | NSEventModifierFlagControl |
                                        NSEventModifierFlagOption | NSEventModifierFlagShift;
    for (NSMenuItem *item in _items) {
        if ([item.submenu performKeyEquivalent:event]) return YES;
        if (!item.enabled || !item.action || !item.keyEquivalent.length) continue;
        NSEventModifierFlags wanted = item.keyEquivalentModifierMask & counts;
        NSString *key = item.keyEquivalent;
        if (![key isEqualToString:key.lowercaseString]) wanted |= NSEventModifierFlagShift;
        if ((event.modifierFlags & counts) == wanted &&
            [event.charactersIgnoringModifiers caseInsensitiveCompare:key] == NSOrderedSame)
            return [NSApp sendAction:item.action to:item.target from:item];
    }
    return NO;
}
- (void)setSubmenu:(NSMenu *)menu forItem:(NSMenuItem *)item {
    item.submenu = menu;
}
@end
