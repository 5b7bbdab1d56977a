// SPDX-License-Identifier: Apache-2.0
// NSMenu.m: menus, which nobody sees here.
#include "appkit/appkit_int.h"

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
- (void)setSubmenu:(NSMenu *)menu forItem:(NSMenuItem *)item {
    item.submenu = menu;
}
@end
