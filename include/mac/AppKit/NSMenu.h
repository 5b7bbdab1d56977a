// SPDX-License-Identifier: Apache-2.0
// AppKit/NSMenu.h: menus: trees of items, which nobody sees here; their keys work.
#ifndef INGOT_MAC_APPKIT_NSMENU_H
#define INGOT_MAC_APPKIT_NSMENU_H
#import <AppKit/NSEvent.h>
@class NSMenu;
@interface NSMenuItem : NSObject
+ (NSMenuItem *)separatorItem;
- (instancetype)initWithTitle:(NSString *)title action:(SEL)action keyEquivalent:(NSString *)key;
@property(copy) NSString *title;
@property SEL action;
@property(weak) id target;
@property(copy) NSString *keyEquivalent;
@property NSEventModifierFlags keyEquivalentModifierMask;
@property(strong) NSMenu *submenu;
@property(getter=isEnabled) BOOL enabled;
@end
@interface NSMenu : NSObject
- (instancetype)initWithTitle:(NSString *)title;
@property(copy) NSString *title;
@property(readonly, copy) NSArray<NSMenuItem *> *itemArray;
- (void)addItem:(NSMenuItem *)item;
- (NSMenuItem *)addItemWithTitle:(NSString *)title action:(SEL)action keyEquivalent:(NSString *)key;
- (BOOL)performKeyEquivalent:(NSEvent *)event;
- (void)setSubmenu:(NSMenu *)menu forItem:(NSMenuItem *)item;
@end
#endif
