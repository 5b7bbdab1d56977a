// SPDX-License-Identifier: Apache-2.0
// train_steps.c: training with a line of progress, for commands that train a network by the way.
#include "base/progress.h"
#include "apps/tools/implicit.h"

enum { MOST = 32 }; // steps between two updates of the line

bool train_steps(NeuralTrainer *trainer, uint64_t steps, uint32_t at_once, ChartCurve *curve,
                 char *message) {
    Progress progress;
    float losses[MOST];
    bool ok = true;
    if (at_once > MOST) at_once = MOST;
    progress_begin(&progress, "training", steps);
    for (uint64_t done = 0; ok && done < steps;) {
        uint32_t now = steps - done < at_once ? (uint32_t)(steps - done) : at_once;
        ok = neural_trainer_step(trainer, now, curve ? losses : NULL, message);
        for (uint32_t i = 0; ok && curve && i < now; i++)
            chart_curve_add(curve, (double)(done + i + 1), (double)losses[i]);
        done += now;
        progress_step(&progress, done, NULL);
    }
    progress_end(&progress);
    return ok;
}

bool train_to_end(NeuralTrainer *trainer, NeuralNetwork *net, uint64_t steps, uint32_t at_once,
                  ChartCurve *curve, char *message) {
    bool ok = train_steps(trainer, steps, at_once, curve, message);
    if (ok) neural_trainer_get_network(trainer, net);
    neural_trainer_free(trainer);
    return ok;
}
