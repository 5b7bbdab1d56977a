// SPDX-License-Identifier: Apache-2.0
// train_siren.c: the trainer of pictures as a program of its own (train.h).
#include "apps/tools/train.h"

int main(int argc, char **argv) {
    static const TrainName name = {
        .name = "train_siren",
        .usage = "--input IMAGE [options]",
        .classic = true,
    };
    return train_command(&name, argc, argv);
}
