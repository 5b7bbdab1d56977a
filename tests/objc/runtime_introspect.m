// SPDX-License-Identifier: Apache-2.0
// Questions to classes (objc/runtime.h), classes made at run time, methods replaced and made of blocks; good and
// bad input.
#include <objc/NSObject.h>
#include <objc/message.h>
#include <stdlib.h>
#include "check.h"

@protocol Walking <NSObject>
- (int)walk:(int)steps;
+ (int)legs;
@optional
- (void)rest;
@property(readonly) double speed;
@end
@protocol Running <Walking>
- (void)run;
@end

@interface Animal : NSObject <Walking> {
    int age;
    double weight;
}
@property(nonatomic, copy, getter=theName) NSObject *name;
@property(readonly) double speed;
@end
@implementation Animal
- (int)walk:(int)steps {
    return steps + 1;
}
- (double)speed {
    return 2;
}
+ (int)legs {
    return 4;
}
- (void)dealloc {
    [_name release];
    [super dealloc];
}
@end
@interface Animal (Sound) <Running>
- (int)loud;
@end
@implementation Animal (Sound)
- (int)loud {
    return 9;
}
- (void)run {
}
@end

static void classes(void) {
    Class cls = [Animal class];
    CHECK(objc_getClass("Animal") == cls && objc_lookUpClass("NoSuchClass") == Nil);
    CHECK(objc_getClass(NULL) == Nil);
    CHECK_TEXT(class_getName(cls), "Animal");
    CHECK_TEXT(class_getName(Nil), "nil");
    CHECK(class_getSuperclass(cls) == [NSObject class]);
    CHECK(class_isMetaClass(object_getClass(cls)) && !class_isMetaClass(cls));
    CHECK(class_getSuperclass(object_getClass([NSObject class])) == [NSObject class]);
    CHECK(class_getInstanceSize(cls) >= 8 + 4 + 8 + 8);
    unsigned n;
    Class *all = objc_copyClassList(&n);
    bool found = false;
    for (unsigned i = 0; i < n; i++) found |= all[i] == cls;
    CHECK(found && (int)n == objc_getClassList(NULL, 0));
    free(all);
}

static void members(void) {
    Class cls = [Animal class];
    unsigned n;
    Ivar *ivars = class_copyIvarList(cls, &n);
    CHECK_NUMBER(n, 3);
    free(ivars);
    Ivar weight = class_getInstanceVariable(cls, "weight");
    CHECK_TEXT(ivar_getTypeEncoding(weight), "d");
    CHECK(class_getInstanceVariable(cls, "height") == NULL);
    Method walk = class_getInstanceMethod(cls, @selector(walk:));
    CHECK_TEXT(method_getTypeEncoding(walk), "i20@0:8i16");
    CHECK_NUMBER(method_getNumberOfArguments(walk), 3);
    char *type = method_copyArgumentType(walk, 2);
    CHECK_TEXT(type, "i");
    free(type);
    CHECK(method_copyArgumentType(walk, 3) == NULL);
    CHECK(class_getClassMethod(cls, @selector(legs)) &&
          !class_getClassMethod(cls, @selector(walk:)));
    CHECK(class_getInstanceMethod(cls, @selector(loud)) != NULL);
    objc_property_t name = class_getProperty(cls, "name");
    CHECK_TEXT(property_getAttributes(name), "T@\"NSObject\",C,N,GtheName,V_name");
    char *value = property_copyAttributeValue(name, "G");
    CHECK_TEXT(value, "theName");
    free(value);
    objc_property_attribute_t *list = property_copyAttributeList(name, &n);
    CHECK_NUMBER(n, 5);
    CHECK_TEXT(list[0].value, "@\"NSObject\"");
    CHECK_TEXT(list[2].value, "");
    free(list);
    CHECK(class_getProperty(cls, "none") == NULL);
}

static void protocols(void) {
    Class cls = [Animal class];
    CHECK(objc_getProtocol("Walking") == @protocol(Walking));
    CHECK([cls conformsToProtocol:@protocol(Walking)] &&
          [cls conformsToProtocol:@protocol(Running)]);
    CHECK([cls conformsToProtocol:@protocol(NSObject)]);
    CHECK(!class_conformsToProtocol([NSObject class], @protocol(Walking)));
    CHECK(protocol_conformsToProtocol(@protocol(Running), @protocol(Walking)));
    CHECK_TEXT(protocol_getName(@protocol(Running)), "Running");
    unsigned n;
    struct objc_method_description *list =
        protocol_copyMethodDescriptionList(@protocol(Walking), YES, YES, &n);
    CHECK_NUMBER(n, 1);
    CHECK(list[0].name == @selector(walk:));
    free(list);
    CHECK(protocol_getMethodDescription(@protocol(Running), @selector(rest), NO, YES).name);
    CHECK(!protocol_getMethodDescription(@protocol(Running), @selector(rest), YES, YES).name);
    Protocol *made = objc_allocateProtocol("MadeProtocol");
    protocol_addMethodDescription(made, @selector(loud), "i16@0:8", YES, YES);
    protocol_addProtocol(made, @protocol(Walking));
    objc_registerProtocol(made);
    CHECK(objc_getProtocol("MadeProtocol") == made && !objc_allocateProtocol("MadeProtocol"));
    CHECK(protocol_conformsToProtocol(made, @protocol(Walking)));
}

static int double_walk(id self, SEL name, int steps) {
    struct objc_super above = {self, [Animal class]};
    return 2 *
           ((int (*)(struct objc_super *, SEL, int))(void *)objc_msgSendSuper)(&above, name, steps);
}
static void made_class(void) {
    Class cls = objc_allocateClassPair([Animal class], "Dog", 0);
    CHECK(objc_allocateClassPair([Animal class], "Animal", 0) == Nil);
    CHECK(class_addIvar(cls, "tail", sizeof(double), 3, "d"));
    CHECK(!class_addIvar(cls, "tail", sizeof(double), 3, "d"));
    CHECK(class_addMethod(cls, @selector(walk:), (IMP)double_walk, "i20@0:8i16"));
    CHECK(!class_addMethod(cls, @selector(walk:), (IMP)double_walk, "i20@0:8i16"));
    objc_registerClassPair(cls);
    CHECK(!class_addIvar(cls, "late", 8, 3, "d"));
    Animal *dog = [[cls alloc] init];
    CHECK_NUMBER([dog walk:4], 10);
    CHECK_NUMBER([dog loud], 9);
    *(double *)(void *)((char *)dog + ivar_getOffset(class_getInstanceVariable(cls, "tail"))) = 3;
    [dog release];
    objc_disposeClassPair(cls);
    CHECK(objc_getClass("Dog") == Nil);
}

static void replaced(void) {
    Animal *a = [Animal new];
    CHECK_NUMBER([a walk:1], 2);
    int offset = 100;
    IMP imp = imp_implementationWithBlock(^(id self, int steps) {
      return self == a ? steps + offset : -1;
    });
    IMP before = class_replaceMethod([Animal class], @selector(walk:), imp, "i20@0:8i16");
    CHECK_NUMBER([a walk:1], 101);
    CHECK(imp_getBlock(imp) != nil);
    method_setImplementation(class_getInstanceMethod([Animal class], @selector(walk:)), before);
    CHECK_NUMBER([a walk:1], 2);
    CHECK(imp_removeBlock(imp) && !imp_removeBlock(imp));
    IMP big = imp_implementationWithBlock(^(id self) {
      (void)self;
      return (struct { double v[4]; }){{1, 2, 3, 4}};
    });
    class_addMethod([Animal class], sel_registerName("four"), big, "{?=[4d]}16@0:8");
    typedef struct {
        double v[4];
    } Four;
    CHECK_NUMBER(((Four (*)(id, SEL))class_getMethodImplementation(
                     [Animal class], sel_registerName("four")))(a, NULL)
                     .v[3],
                 4);
    Method one = class_getInstanceMethod([Animal class], @selector(loud));
    Method two = class_getClassMethod([Animal class], @selector(legs));
    method_exchangeImplementations(one, two);
    CHECK_NUMBER([a loud], 4);
    CHECK_NUMBER([Animal legs], 9);
    method_exchangeImplementations(one, two);
    CHECK_NUMBER([a loud], 9);
    [a release];
}

int main(void) {
    @autoreleasepool {
        classes(), members(), protocols(), made_class(), replaced();
    }
    return check_result();
}
