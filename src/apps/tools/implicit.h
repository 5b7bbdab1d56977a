// SPDX-License-Identifier: Apache-2.0
// implicit.h: the parts of `ingot implicit`, one function each, and what they share.
#ifndef INGOT_TOOLS_IMPLICIT_H
#define INGOT_TOOLS_IMPLICIT_H
#include "base/chart.h"
#include "image/image.h"
#include "apps/neural/render.h"
#include "apps/neural/train.h"
#include "apps/neural/weights.h"
#include "apps/tools/tools.h"

int implicit_render(int argc, char **argv);
int implicit_eval(int argc, char **argv);
int implicit_train(int argc, char **argv);
int implicit_sdf(int argc, char **argv);
int implicit_picture(int argc, char **argv);

// train_steps.c: so many steps, `at_once` (up to 32) between two updates of the line of progress;
// their losses go to the curve, if there is one.
bool train_steps(NeuralTrainer *trainer, uint64_t steps, uint32_t at_once, ChartCurve *curve,
                 char *message);
// The same, and what was learnt goes to the network; the trainer is gone afterwards.
bool train_to_end(NeuralTrainer *trainer, NeuralNetwork *net, uint64_t steps, uint32_t at_once,
                  ChartCurve *curve, char *message);
#endif
