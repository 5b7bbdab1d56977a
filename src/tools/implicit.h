// SPDX-License-Identifier: Apache-2.0
// implicit.h: the parts of `ingot implicit`, one function each, and what they share.
#ifndef INGOT_TOOLS_IMPLICIT_H
#define INGOT_TOOLS_IMPLICIT_H
#include "neural/image.h"
#include "neural/render.h"
#include "neural/weights.h"
#include "tools/tools.h"

int implicit_render(int argc, char **argv);
int implicit_eval(int argc, char **argv);
int implicit_train(int argc, char **argv);
int implicit_sdf(int argc, char **argv);
int implicit_picture(int argc, char **argv);
#endif
