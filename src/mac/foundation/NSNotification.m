// SPDX-License-Identifier: Apache-2.0
// NSNotification.m: notifications inside the process.
#include "mac/foundation/foundation_int.h"

@implementation NSNotification {
    NSString *_name;
    id _object;
    NSDictionary *_userInfo;
}
@synthesize name = _name, object = _object, userInfo = _userInfo;
+ (instancetype)notificationWithName:(NSNotificationName)name object:(id)object {
    return [self notificationWithName:name object:object userInfo:nil];
}
+ (instancetype)notificationWithName:(NSNotificationName)name
                              object:(id)object
                            userInfo:(NSDictionary *)info {
    nil_check(self, _cmd, name);
    NSNotification *n = [self new];
    n->_name = [name copy], n->_object = [object retain], n->_userInfo = [info copy];
    return AUTORELEASED(n);
}
- (void)dealloc {
    [_name release], [_object release], [_userInfo release];
    [super dealloc];
}
COPIES_ITSELF
@end

@interface NSNotificationObserver : NSObject {
  @public
    id observer; // not counted; a block's token is itself
    SEL selector;
    NSString *name;
    id object; // not counted: only compared
    void (^block)(NSNotification *);
    NSOperationQueue *queue; // of the block; nil: where the notification is posted
}
@end
@implementation NSNotificationObserver
- (void)dealloc {
    [name release], [block release], [queue release];
    [super dealloc];
}
@end

@implementation NSNotificationCenter {
    NSMutableArray<NSNotificationObserver *> *_observers; // under @synchronized(self)
}
ONE_OBJECT(NSNotificationCenter, defaultCenter)
- (instancetype)init {
    if ((self = [super init])) _observers = [NSMutableArray new];
    return self;
}
- (void)dealloc {
    [_observers release];
    [super dealloc];
}
static NSNotificationObserver *add_observer(NSNotificationCenter *self, NSString *name, id object) {
    NSNotificationObserver *o = [NSNotificationObserver new];
    o->name = [name copy], o->object = object;
    @synchronized(self) {
        [self->_observers addObject:o];
    }
    return AUTORELEASED(o);
}
- (void)addObserver:(id)observer
           selector:(SEL)selector
               name:(NSNotificationName)name
             object:(id)object {
    nil_check(self, _cmd, observer);
    @synchronized(self) {
        NSNotificationObserver *o = add_observer(self, name, object);
        o->observer = observer, o->selector = selector;
    }
}
- (id<NSObject>)addObserverForName:(NSNotificationName)name
                            object:(id)object
                             queue:(NSOperationQueue *)queue
                        usingBlock:(void (^)(NSNotification *))block {
    @synchronized(self) {
        NSNotificationObserver *o = add_observer(self, name, object);
        o->observer = o, o->block = [block copy], o->queue = [queue retain];
        return o;
    }
}
- (void)postNotification:(NSNotification *)n {
    nil_check(self, _cmd, n);
    NSArray<NSNotificationObserver *> *all;
    @synchronized(self) {
        all = AUTORELEASED([_observers copy]);
    }
    for (NSNotificationObserver *o in all) {
        if ((o->name && ![o->name isEqualToString:n.name]) || (o->object && o->object != n.object))
            continue;
        if (o->queue) // the poster waits, as on a Mac
            [o->queue addOperations:@[ [NSBlockOperation blockOperationWithBlock:^{
                        o->block(n);
                      }] ]
                  waitUntilFinished:YES];
        else if (o->block)
            o->block(n);
        else
            [o->observer performSelector:o->selector withObject:n];
    }
}
- (void)postNotificationName:(NSNotificationName)name object:(id)object {
    [self postNotificationName:name object:object userInfo:nil];
}
- (void)postNotificationName:(NSNotificationName)name
                      object:(id)object
                    userInfo:(NSDictionary *)info {
    [self postNotification:[NSNotification notificationWithName:name object:object userInfo:info]];
}
- (void)removeObserver:(id)observer {
    [self removeObserver:observer name:nil object:nil];
}
- (void)removeObserver:(id)observer name:(NSNotificationName)name object:(id)object {
    @synchronized(self) {
        for (NSUInteger i = _observers.count; i-- > 0;) {
            NSNotificationObserver *o = _observers[i];
            if (o->observer == observer && (!name || [o->name isEqualToString:name]) &&
                (!object || o->object == object))
                [_observers removeObjectAtIndex:i];
        }
    }
}
@end
