// SPDX-License-Identifier: Apache-2.0
// os/signpost.h: marks for Instruments, which is not here: nobody records them, and
// os_signpost_enabled says so.
#ifndef INGOT_MAC_OS_SIGNPOST_H
#define INGOT_MAC_OS_SIGNPOST_H
#include <os/log.h>
typedef uint64_t os_signpost_id_t;
#define OS_SIGNPOST_ID_NULL ((os_signpost_id_t)0)
#define OS_SIGNPOST_ID_INVALID ((os_signpost_id_t)~0)
#define OS_SIGNPOST_ID_EXCLUSIVE ((os_signpost_id_t)0xEEEEB0B5B2B2EEEE)
#define OS_LOG_CATEGORY_POINTS_OF_INTEREST "PointsOfInterest"
#define OS_LOG_CATEGORY_DYNAMIC_TRACING "DynamicTracing"
#define OS_LOG_CATEGORY_DYNAMIC_STACK_TRACING "DynamicStackTracing"
#define os_signpost_enabled(log) ((void)(log), false)
#define os_signpost_id_generate(log) ((void)(log), OS_SIGNPOST_ID_EXCLUSIVE)
#define os_signpost_id_make_with_pointer(log, pointer)                                             \
    ((void)(log), (os_signpost_id_t)(uintptr_t)(pointer))
#define os_signpost_interval_begin(log, id, name, ...) ((void)(log), (void)(id), (void)(name))
#define os_signpost_interval_end(log, id, name, ...) ((void)(log), (void)(id), (void)(name))
#define os_signpost_event_emit(log, id, name, ...) ((void)(log), (void)(id), (void)(name))
#endif
