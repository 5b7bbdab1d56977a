// SPDX-License-Identifier: Apache-2.0
// AppKit/NSViewController.h: what looks after a view.
#ifndef INGOT_MAC_APPKIT_NSVIEWCONTROLLER_H
#define INGOT_MAC_APPKIT_NSVIEWCONTROLLER_H
#import <AppKit/NSView.h>
@interface NSViewController : NSResponder
- (instancetype)initWithNibName:(NSString *)name bundle:(NSBundle *)bundle; // files are not read
@property(strong) NSView *view; // made by loadView when first asked for
@property(readonly, getter=isViewLoaded) BOOL viewLoaded;
@property(copy) NSString *title;
@property(strong) id representedObject;
- (void)loadView; // a NSView, unless a subclass makes another
- (void)viewDidLoad;
- (void)viewWillAppear;
- (void)viewDidAppear;
- (void)viewWillDisappear;
- (void)viewDidDisappear;
- (void)viewDidLayout;
@end
#endif
