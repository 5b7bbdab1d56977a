// SPDX-License-Identifier: Apache-2.0
// replay.h: a replay of a capture (devices/capture/replay.h) on a device of the program's: what
// libingot gives to the tools. No part of Metal.
#ifndef INGOT_ABI_REPLAY_H
#define INGOT_ABI_REPLAY_H

struct Capture;
struct CapReplay;
struct MTLDevice;

// The device is to outlive it. NULL and a sentence in `why`, which has CAP_WHY bytes.
__attribute__((visibility("default"))) struct CapReplay *rt_replay_open(
    const struct Capture *capture, struct MTLDevice *device, char *why);
#endif
