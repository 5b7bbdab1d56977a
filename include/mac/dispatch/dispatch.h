// SPDX-License-Identifier: Apache-2.0
// dispatch/dispatch.h: queues of work on a pool of threads, groups, semaphores, data. Dispatch
// objects are Objective-C objects: with ARC they are counted by the compiler.
#ifndef INGOT_MAC_DISPATCH_H
#define INGOT_MAC_DISPATCH_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>
#include <objc/objc-api.h>
#define DISPATCH_EXPORT OBJC_EXPORT

#ifdef __OBJC__
#include <objc/NSObject.h>
#define OS_OBJECT_USE_OBJC 1
#define DISPATCH_DECL(name, base)                                                                  \
    @protocol OS_                                                                                  \
    ##name<OS_##base> @end                                                                         \
    typedef NSObject<OS_##name> *name##_t
@protocol OS_dispatch_object <NSObject>
@end
typedef NSObject<OS_dispatch_object> *dispatch_object_t;
#define DISPATCH_GLOBAL_OBJECT(type, object) ((__bridge type)(void *)&(object))
#define DISPATCH_RETURNS_RETAINED __attribute__((ns_returns_retained))
#else
#define OS_OBJECT_USE_OBJC 0
#define DISPATCH_DECL(name, base) typedef struct name##_s *name##_t
typedef void *dispatch_object_t;
#define DISPATCH_GLOBAL_OBJECT(type, object) ((type)(void *)&(object))
#define DISPATCH_RETURNS_RETAINED
#endif
DISPATCH_DECL(dispatch_queue, dispatch_object);
DISPATCH_DECL(dispatch_queue_attr, dispatch_object);
DISPATCH_DECL(dispatch_group, dispatch_object);
DISPATCH_DECL(dispatch_semaphore, dispatch_object);
DISPATCH_DECL(dispatch_data, dispatch_object);
typedef dispatch_queue_t dispatch_queue_main_t;
typedef dispatch_queue_t dispatch_queue_global_t;
typedef dispatch_queue_t dispatch_queue_serial_t;
typedef dispatch_queue_t dispatch_queue_concurrent_t;

typedef void (*dispatch_function_t)(void *context);
typedef uint64_t dispatch_time_t;
typedef intptr_t dispatch_once_t;
typedef unsigned int dispatch_qos_class_t;
typedef unsigned int qos_class_t;
#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define USEC_PER_SEC 1000000ull
#define NSEC_PER_USEC 1000ull
#define DISPATCH_TIME_NOW (0ull)
#define DISPATCH_TIME_FOREVER (~0ull)
#define DISPATCH_WALLTIME_NOW (~1ull)
enum {
    QOS_CLASS_USER_INTERACTIVE = 0x21,
    QOS_CLASS_USER_INITIATED = 0x19,
    QOS_CLASS_DEFAULT = 0x15,
    QOS_CLASS_UTILITY = 0x11,
    QOS_CLASS_BACKGROUND = 0x09,
    QOS_CLASS_UNSPECIFIED = 0x00
};
#define DISPATCH_QUEUE_PRIORITY_HIGH 2
#define DISPATCH_QUEUE_PRIORITY_DEFAULT 0
#define DISPATCH_QUEUE_PRIORITY_LOW (-2)
#define DISPATCH_QUEUE_PRIORITY_BACKGROUND INT16_MIN
struct dispatch_global_s;
DISPATCH_EXPORT struct dispatch_global_s _dispatch_queue_attr_concurrent;
DISPATCH_EXPORT struct dispatch_global_s _dispatch_data_empty;
DISPATCH_EXPORT struct dispatch_queue_s _dispatch_main_q; // what dispatch_get_main_queue() gives
#define DISPATCH_QUEUE_SERIAL NULL
#define DISPATCH_QUEUE_SERIAL_WITH_AUTORELEASE_POOL NULL
#define DISPATCH_QUEUE_CONCURRENT                                                                  \
    DISPATCH_GLOBAL_OBJECT(dispatch_queue_attr_t, _dispatch_queue_attr_concurrent)
#define DISPATCH_QUEUE_CONCURRENT_WITH_AUTORELEASE_POOL DISPATCH_QUEUE_CONCURRENT
#define DISPATCH_TARGET_QUEUE_DEFAULT NULL
#define DISPATCH_CURRENT_QUEUE_LABEL NULL
#define DISPATCH_APPLY_AUTO NULL
#define dispatch_data_empty DISPATCH_GLOBAL_OBJECT(dispatch_data_t, _dispatch_data_empty)

// Objects. Not with ARC, which counts them itself.
#if !(defined(__OBJC__) && __has_feature(objc_arc))
DISPATCH_EXPORT void dispatch_retain(dispatch_object_t object);
DISPATCH_EXPORT void dispatch_release(dispatch_object_t object);
#endif
DISPATCH_EXPORT void dispatch_suspend(dispatch_object_t queue);
DISPATCH_EXPORT void dispatch_resume(dispatch_object_t queue);
DISPATCH_EXPORT void dispatch_activate(dispatch_object_t object);
DISPATCH_EXPORT void dispatch_set_context(dispatch_object_t object, void *context);
DISPATCH_EXPORT void *dispatch_get_context(dispatch_object_t object);
DISPATCH_EXPORT void dispatch_set_finalizer_f(dispatch_object_t object,
                                              dispatch_function_t finalizer);

// Queues
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED dispatch_queue_t
dispatch_queue_create(const char *label, dispatch_queue_attr_t attributes);
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED dispatch_queue_t dispatch_queue_create_with_target(
    const char *label, dispatch_queue_attr_t attributes, dispatch_queue_t target);
DISPATCH_EXPORT dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(
    dispatch_queue_attr_t attributes, dispatch_qos_class_t qos, int priority);
DISPATCH_EXPORT dispatch_queue_attr_t dispatch_queue_attr_make_with_autorelease_frequency(
    dispatch_queue_attr_t attributes, unsigned long frequency);
DISPATCH_EXPORT dispatch_queue_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);
DISPATCH_EXPORT dispatch_queue_t dispatch_get_main_queue(void);
DISPATCH_EXPORT void dispatch_main(void) __attribute__((noreturn));
DISPATCH_EXPORT const char *dispatch_queue_get_label(dispatch_queue_t queue);
DISPATCH_EXPORT void dispatch_set_target_queue(dispatch_object_t object, dispatch_queue_t target);
DISPATCH_EXPORT void dispatch_queue_set_specific(dispatch_queue_t queue, const void *key,
                                                 void *context, dispatch_function_t destructor);
DISPATCH_EXPORT void *dispatch_queue_get_specific(dispatch_queue_t queue, const void *key);
DISPATCH_EXPORT void *dispatch_get_specific(const void *key);
DISPATCH_EXPORT void dispatch_assert_queue(dispatch_queue_t queue);
DISPATCH_EXPORT void dispatch_async_f(dispatch_queue_t queue, void *context,
                                      dispatch_function_t work);
DISPATCH_EXPORT void dispatch_sync_f(dispatch_queue_t queue, void *context,
                                     dispatch_function_t work);
DISPATCH_EXPORT void dispatch_async_and_wait_f(dispatch_queue_t queue, void *context,
                                               dispatch_function_t work);
DISPATCH_EXPORT void dispatch_barrier_async_f(dispatch_queue_t queue, void *context,
                                              dispatch_function_t work);
DISPATCH_EXPORT void dispatch_barrier_sync_f(dispatch_queue_t queue, void *context,
                                             dispatch_function_t work);
DISPATCH_EXPORT void dispatch_apply_f(size_t n, dispatch_queue_t queue, void *context,
                                      void (*work)(void *context, size_t i));
DISPATCH_EXPORT void dispatch_after_f(dispatch_time_t when, dispatch_queue_t queue, void *context,
                                      dispatch_function_t work);
DISPATCH_EXPORT void dispatch_once_f(dispatch_once_t *once, void *context,
                                     dispatch_function_t work);
DISPATCH_EXPORT dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta_ns);
struct timespec;
DISPATCH_EXPORT dispatch_time_t dispatch_walltime(const struct timespec *when, int64_t delta_ns);
// Runs what waits on the main queue until `limit` or until something ran; true if something did.
DISPATCH_EXPORT bool dispatch_ingot_run_main(dispatch_time_t limit);
DISPATCH_EXPORT void dispatch_ingot_wake_main(void); // dispatch_ingot_run_main returns
// What works are called through. Foundation's takes exceptions and reports them: a block that
// fails does not take its queue down. `where` says what was called.
typedef void (*dispatch_ingot_guard)(dispatch_function_t call, void *context, const char *where);
DISPATCH_EXPORT void dispatch_ingot_set_guard(dispatch_ingot_guard guard);
DISPATCH_EXPORT void dispatch_ingot_guarded(dispatch_function_t call, void *context,
                                            const char *where);

// Groups and semaphores; waits return 0, or not 0 if the time is up
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED dispatch_group_t dispatch_group_create(void);
DISPATCH_EXPORT void dispatch_group_enter(dispatch_group_t group);
DISPATCH_EXPORT void dispatch_group_leave(dispatch_group_t group);
DISPATCH_EXPORT intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t limit);
DISPATCH_EXPORT void dispatch_group_async_f(dispatch_group_t group, dispatch_queue_t queue,
                                            void *context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_group_notify_f(dispatch_group_t group, dispatch_queue_t queue,
                                             void *context, dispatch_function_t work);
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED dispatch_semaphore_t
dispatch_semaphore_create(intptr_t value); // NULL: below 0
DISPATCH_EXPORT intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore,
                                                 dispatch_time_t limit);
DISPATCH_EXPORT intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);

// Data
DISPATCH_EXPORT size_t dispatch_data_get_size(dispatch_data_t data);
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED dispatch_data_t
dispatch_data_create_map(dispatch_data_t data, const void **bytes, size_t *n);
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED dispatch_data_t
dispatch_data_create_concat(dispatch_data_t a, dispatch_data_t b);
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED dispatch_data_t
dispatch_data_create_subrange(dispatch_data_t data, size_t offset, size_t n);

#ifdef __BLOCKS__
typedef void (^dispatch_block_t)(void);
typedef bool (^dispatch_data_applier_t)(dispatch_data_t region, size_t offset, const void *bytes,
                                        size_t n);
DISPATCH_EXPORT void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_sync(dispatch_queue_t queue,
                                   dispatch_block_t __attribute__((noescape)) block);
DISPATCH_EXPORT void dispatch_async_and_wait(dispatch_queue_t queue,
                                             dispatch_block_t __attribute__((noescape)) block);
DISPATCH_EXPORT void dispatch_barrier_async(dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_barrier_sync(dispatch_queue_t queue,
                                           dispatch_block_t __attribute__((noescape)) block);
DISPATCH_EXPORT void dispatch_apply(size_t n, dispatch_queue_t queue,
                                    void (^__attribute__((noescape)) block)(size_t i));
DISPATCH_EXPORT void dispatch_after(dispatch_time_t when, dispatch_queue_t queue,
                                    dispatch_block_t block);
DISPATCH_EXPORT void dispatch_once(dispatch_once_t *once,
                                   dispatch_block_t __attribute__((noescape)) block);
DISPATCH_EXPORT void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue,
                                          dispatch_block_t block);
DISPATCH_EXPORT void dispatch_group_notify(dispatch_group_t group, dispatch_queue_t queue,
                                           dispatch_block_t block);
// destructor DISPATCH_DATA_DESTRUCTOR_DEFAULT: the bytes are copied
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED dispatch_data_t dispatch_data_create(
    const void *bytes, size_t n, dispatch_queue_t queue, dispatch_block_t destructor);
DISPATCH_EXPORT bool dispatch_data_apply(dispatch_data_t data,
                                         dispatch_data_applier_t __attribute__((noescape)) applier);
DISPATCH_EXPORT const dispatch_block_t _dispatch_data_destructor_free;
DISPATCH_EXPORT const dispatch_block_t _dispatch_data_destructor_munmap;
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT NULL
#define DISPATCH_DATA_DESTRUCTOR_FREE (_dispatch_data_destructor_free)
#define DISPATCH_DATA_DESTRUCTOR_MUNMAP (_dispatch_data_destructor_munmap)
#endif
#endif
