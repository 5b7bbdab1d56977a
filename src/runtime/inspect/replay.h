// SPDX-License-Identifier: Apache-2.0
// replay.h: a replay on a device of the program's (devices/capture/replay.h), for the tools.
#ifndef INGOT_RUNTIME_REPLAY_H
#define INGOT_RUNTIME_REPLAY_H
#include "devices/capture/replay.h"
#include "ingot/metal.h"

// The device is to outlive it.
CAP_API CapReplay *rt_replay_open(const Capture *capture, MTLDevice *device, char why[CAP_WHY]);
#endif
