// SPDX-License-Identifier: Apache-2.0
// mach/mach_time.h: the clock that programs measure with. A tick is a nanosecond.
#ifndef INGOT_MAC_MACH_MACH_TIME_H
#define INGOT_MAC_MACH_MACH_TIME_H
#include <mach/mach.h>
struct mach_timebase_info {
    uint32_t numer, denom; // ticks times numer / denom are nanoseconds
};
typedef struct mach_timebase_info *mach_timebase_info_t;
typedef struct mach_timebase_info mach_timebase_info_data_t;
#ifdef __cplusplus
extern "C" {
#endif
kern_return_t mach_timebase_info(mach_timebase_info_t info);
uint64_t mach_absolute_time(void);   // stops while the machine sleeps
uint64_t mach_continuous_time(void); // does not
uint64_t mach_approximate_time(void);
kern_return_t mach_wait_until(uint64_t deadline); // of mach_absolute_time
#ifdef __cplusplus
}
#endif
#endif
