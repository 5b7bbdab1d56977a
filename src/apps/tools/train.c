// SPDX-License-Identifier: Apache-2.0
// train.c: the command `train_siren`, which is also `ingot implicit train` (train.h): a picture in,
// a network that draws it out.
//
// Everything that can go wrong early does: options, the picture, whether the results can be
// written. Then steps and evaluations alternate, with lines on standard output and a bar on
// standard error; train_data.c has what is learnt, train_results.c what is written in the end.
#include "apps/tools/train_int.h"
#include "base/options.h"
#include "base/progress.h"
#include "image/image.h"
#include "base/outputs.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
static void on_interrupt(int signal_number) {
    interrupted = signal_number;
    signal(signal_number, SIG_DFL); // a second one ends the program at once
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int complain_of(const TrainJob *j, const char *message) {
    fprintf(stderr, "%s: %s\n", j->name->name, message);
    return EXIT_FAILURE;
}

// Several processes train one network: the first one speaks, draws and writes.
static bool leads(const TrainJob *j) { return ig_group_rank(j->group) == 0; }
static bool go_on_waiting(void *context) {
    (void)context;
    return !interrupted;
}

static bool find_group(TrainJob *j) {
    MTLError *error = NULL;
    j->group = ig_group_world(&error);
    if (j->group)
        ig_group_set_poll(j->group, go_on_waiting, NULL);
    else
        message_fail(j->message, "%s", mtl_error_localized_description(error));
    mtl_release(error);
    return j->group != NULL;
}

// ---- Before training ----

static bool check_outputs(TrainJob *j) {
    const TrainOptions *o = &j->o;
    // --resume and --weights may be one file: that is how a run goes on.
    const char *all[] = {o->weights, o->output_image, o->curve},
               *others[] = {o->output_image, o->curve};
    const char *input[] = {o->input}, *resumed[] = {o->resume};
    return outputs_check(all, 3, input, 1, j->message) &&
           outputs_check(others, 2, resumed, 1, j->message);
}

static bool find_device(TrainJob *j) {
    const char *wanted = j->o.device;
    MTLDevice *devices[16] = {0};
    j->device = wanted ? mtl_create_device_named(wanted, NULL) : mtl_create_system_default_device();
    size_t n = mtl_copy_all_devices(devices, 16);
    if (n > 16) n = 16;
    char *end;
    unsigned long number = wanted ? strtoul(wanted, &end, 10) : 0;
    bool numeric = wanted && end != wanted && !*end;
    for (size_t i = 0; i < n; i++) {
        bool is = wanted &&
                  (numeric ? number == i : strcasestr(mtl_device_name(devices[i]), wanted) != NULL);
        if (is && !j->device)
            j->device = devices[i];
        else
            mtl_release(devices[i]);
    }
    if (!j->device && wanted)
        return message_fail(j->message, "no device '%s' (of %zu; `ingot info` lists them)", wanted,
                            n);
    if (!j->device) return message_fail(j->message, "no Metal device");
    return true; // one without tensors says so when the kernels are made
}

// A SIREN's rate is the one asked for until the last fifth, where it falls: what is left of the
// noise of small batches goes. 500 steps on the picture of the demo: 30.5 dB with a constant rate,
// 30.9 dB so, 29.9 dB when it falls from the beginning.
static bool make_trainer(TrainJob *j) {
    const TrainOptions *o = &j->o;
    if (!o->resume && !o->said[TRAIN_PRECISION])
        j->o.precision = neural_trainer_precision(j->device, &j->w.net);
    const bool siren = o->model == NEURAL_SIREN;
    NeuralTrainOptions t = {.batch = (uint32_t)o->batch,
                            .learning_rate = (float)o->rate,
                            .decay_from = siren ? o->steps - o->steps / 5 : 0,
                            .decay_steps = o->steps,
                            .final_rate = siren ? 0.05f : 0.1f,
                            .seed = o->seed,
                            .precision = o->precision,
                            .group = j->group};
    const NeuralNetwork *net = &j->w.net;
    NeuralDataset data = {j->n, 2, 3, j->positions, j->targets};
    float *features = NULL;
    if (net->fourier.matrix) {
        if (!(features = train_features(j))) return false;
        data.inputs = features, data.n_in = net->layers[0].n_in;
    }
    j->trainer = neural_trainer_new(j->device, net, &data, &t, j->message);
    free(features);
    if (!j->trainer || !o->resume) return j->trainer != NULL;
    return train_resume_state(j);
}

// ---- Training ----

static void line(TrainJob *j) { // before a line on standard output
    if (j->shows_bar) progress_end(&j->bar);
}

static bool evaluate(TrainJob *j, float loss) {
    if (!neural_trainer_evaluate(j->trainer, &j->evaluation, j->rgba, NULL, j->message))
        return false;
    if (!j->evaluated || j->evaluation.psnr > j->best_psnr) {
        j->best_psnr = j->evaluation.psnr;
        j->best_loss = isnan(loss) ? j->evaluation.mse : (double)loss; // no step was taken yet
    }
    j->evaluated = true;
    return chart_curve_add(&j->psnrs, (double)neural_trainer_steps_done(j->trainer),
                           j->evaluation.psnr) ||
           message_fail(j->message, "out of memory");
}

static uint64_t next_multiple(uint64_t n, uint64_t of) { return n - n % of + of; }

// Why a portion of n steps failed, behind `done` earlier ones.
static bool explain(TrainJob *j, uint64_t done, const float *losses, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!isfinite(losses[i]))
            return message_fail(j->message,
                                "Loss is not finite at step %llu: training diverged. Try a lower "
                                "--learning-rate (now %g)%s",
                                (unsigned long long)(done + i + 1), j->o.rate,
                                j->o.precision == NEURAL_FLOAT ? "" : " or --precision float");
    return false;
}

// Steps up to the next line of output, a few at a time so that Ctrl-C is heard.
static bool train_until(TrainJob *j, uint64_t until, float *loss) {
    enum { MOST = 64 };
    float losses[MOST] = {0};
    for (uint64_t done; (done = neural_trainer_steps_done(j->trainer)) < until && !interrupted &&
                        !neural_trainer_is_alone(j->trainer);) {
        // a quarter of a second's worth, by the steps so far
        double fit = j->steps_here ? 250 * (double)j->steps_here / (j->training_ms + 1e-3) : 1;
        uint32_t n = fit < 1 ? 1 : fit > MOST ? MOST : (uint32_t)fit;
        if (n > until - done) n = (uint32_t)(until - done);
        double began = now_ms();
        bool ok = neural_trainer_step(j->trainer, n, losses, j->message);
        j->training_ms += now_ms() - began;
        if (!ok && neural_trainer_is_alone(j->trainer)) return true; // finish() says it
        if (!ok) return explain(j, done, losses, n);
        for (uint32_t i = 0; j->o.curve && i < n; i++)
            if (!chart_curve_add(&j->losses, (double)(done + i + 1), (double)losses[i]))
                return message_fail(j->message, "out of memory");
        *loss = losses[n - 1];
        j->steps_here += n;
        if (j->shows_bar) {
            char what[40];
            snprintf(what, sizeof what, "loss %.6f", (double)*loss);
            progress_step(&j->bar, done + n, what);
        }
    }
    return true;
}

static bool train(TrainJob *j) {
    const TrainOptions *o = &j->o;
    float loss = NAN;
    uint64_t done = neural_trainer_steps_done(j->trainer);
    j->shows_bar = leads(j) && isatty(STDERR_FILENO);
    if (j->shows_bar) progress_begin(&j->bar, "training", (size_t)o->steps);
    while (done < o->steps) {
        uint64_t log_at = done ? next_multiple(done, o->log_interval) : 1;
        uint64_t eval_at = next_multiple(done, o->eval_interval), until = o->steps;
        if (log_at < until) until = log_at;
        if (eval_at < until) until = eval_at;
        if (!train_until(j, until, &loss)) return false;
        done = neural_trainer_steps_done(j->trainer);
        if (done < until) break; // Ctrl-C
        if (!leads(j)) continue;
        if (done == 1 || done % o->log_interval == 0 || done == o->steps) {
            line(j);
            printf("step %4llu  loss %.6f\n", (unsigned long long)done, (double)loss);
        }
        if (done % o->eval_interval == 0 || done == o->steps) {
            if (!evaluate(j, loss)) return false;
            line(j);
            printf("          psnr %.2f dB  mse %.6f\n", j->evaluation.psnr, j->evaluation.mse);
        }
        fflush(stdout);
    }
    line(j);
    if (done < o->steps && ig_group_size(j->group) == 1 && !evaluate(j, loss))
        return false; // what there is
    return true;
}

// The other processes are gone, or this one is told to go: what there is, at once.
static int finish_alone(TrainJob *j) {
    const unsigned long long done = neural_trainer_steps_done(j->trainer);
    const int rank = ig_group_rank(j->group), size = ig_group_size(j->group);
    if (!train_save_weights(j, true)) return complain_of(j, j->message);
    fprintf(stderr,
            "%s: process %d of %d ends after step %llu of %llu, since %s; to go on, add: --resume "
            "%s\n",
            j->name->name, rank, size, done, (unsigned long long)j->o.steps,
            interrupted ? "it was told to (another one may have ended)" : "another one ended",
            j->o.weights);
    return interrupted ? 128 + interrupted : EXIT_FAILURE;
}

static int finish(TrainJob *j) {
    const uint64_t done = neural_trainer_steps_done(j->trainer);
    const bool whole = done >= j->o.steps;
    if (!whole && ig_group_size(j->group) > 1) return finish_alone(j);
    if (!leads(j)) return EXIT_SUCCESS;
    if (!train_save(j, !whole)) return complain_of(j, j->message);
    train_print_results(j);
    if (fflush(stdout) || ferror(stdout)) return complain_of(j, "cannot write to standard output");
    if (whole) return EXIT_SUCCESS;
    fprintf(stderr, "%s: interrupted after step %llu of %llu; to go on, add: --resume %s\n",
            j->name->name, (unsigned long long)done, (unsigned long long)j->o.steps, j->o.weights);
    return 128 + interrupted;
}

static bool prepare(TrainJob *j) {
    TrainOptions *o = &j->o;
    if (!image_load(&j->image, o->input, j->message)) return false;
    if (o->limit >= (uint64_t)j->image.width * j->image.height) o->limit = 0; // all
    if (o->resume && !train_resume(j)) return false;
    train_options_complete(o);
    if (!check_outputs(j)) return false;
    if (!o->resume && !train_make_network(j)) return false;
    return train_make_data(j) && find_device(j) && make_trainer(j);
}

static int run_job(TrainJob *j) {
    if (!find_group(j) || !prepare(j)) return complain_of(j, j->message);
    if (j->name->any_model && leads(j)) {
        const size_t n = j->w.net.n_params, n_table = neural_network_table_size(&j->w.net);
        printf("%zu parameters", n + n_table);
        if (n_table) printf(" (hash encoder %zu, MLP %zu)", n_table, n);
        putchar('\n');
    }
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    if (!train(j)) {
        line(j);
        fflush(stdout);
        return complain_of(j, j->message);
    }
    if (!neural_trainer_steps_done(j->trainer)) { // nothing to keep
        fprintf(stderr, "%s: interrupted before the first step\n", j->name->name);
        return 128 + interrupted;
    }
    return finish(j);
}

int train_command(const TrainName *name, int argc, char **argv) {
    static TrainJob job;
    job.name = name;
    int status = train_options_read(&job.o, name, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    status = run_job(&job);
    neural_trainer_free(job.trainer);
    mtl_release(job.device);
    image_free(&job.image);
    neural_weights_free(&job.w);
    chart_curve_free(&job.losses), chart_curve_free(&job.psnrs);
    free(job.positions), free(job.targets), free(job.rgba);
    return status;
}
