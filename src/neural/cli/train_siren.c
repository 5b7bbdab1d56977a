// SPDX-License-Identifier: Apache-2.0
// train_siren.c: the command: a picture in, a network that draws it out.
//
// Everything that can go wrong early does: options, the picture, whether the results can be
// written. Then steps and evaluations alternate, with lines on standard output and a bar on
// standard error. Exit status: 0, 1 for failures, 2 for a bad command line, 130 after Ctrl-C (143
// after SIGTERM).
#include "base/progress.h"
#include "neural/image.h"
#include "neural/weights.h"
#include "options.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, SAMPLES_IN_FILE = 256, SAMPLE_SEED = 1337 };

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

static int complain(const char *message) {
    fprintf(stderr, "train_siren: %s\n", message);
    return EXIT_FAILURE;
}

// ---- What is learnt -----------------------------------------------------------------------------

typedef struct Job {
    Options o;
    NeuralImage image;
    NeuralNetwork net;
    uint32_t n; // pixels learnt
    float *inputs, *targets;
    unsigned char *rgba; // the last evaluation's picture
    uint32_t out_width, out_height;
    MTLDevice *device;
    NeuralTrainer *trainer;
    NeuralWeights resumed; // what --resume gave
    Progress bar;
    bool shows_bar;
    // results
    NeuralEvaluation evaluation;
    double best_loss, best_psnr;
    bool evaluated;
    double training_ms;
    uint64_t steps_here; // of this process
    char message[NEURAL_ERROR_BYTES];
} Job;

// The pixels to learn, in the order of the picture. --limit: a sample of them without repetition,
// the same for training and evaluation.
static bool make_data(Job *j) {
    const NeuralImage *image = &j->image;
    uint64_t total = (uint64_t)image->width * image->height;
    bool limited = j->o.limit && j->o.limit < total; // a file may say anything
    j->n = (uint32_t)(limited ? j->o.limit : total);
    j->out_width = limited ? j->n : image->width;
    j->out_height = limited ? 1 : image->height;
    j->inputs = malloc((size_t)j->n * 2 * sizeof *j->inputs);
    j->targets = malloc((size_t)j->n * 3 * sizeof *j->targets);
    j->rgba = malloc((size_t)j->n * 4);
    if (!j->inputs || !j->targets || !j->rgba) return neural_fail(j->message, "out of memory");
    NeuralRandom r;
    neural_random_init(&r, j->o.seed, 2);
    uint32_t at = 0;
    for (uint64_t i = 0; i < total && at < j->n; i++) {
        if (limited && !neural_random_selects(&r, total - i, j->n - at)) continue;
        uint32_t x = (uint32_t)(i % image->width), y = (uint32_t)(i / image->width);
        j->inputs[at * 2] = (float)(((double)x + 0.5) / image->width * 2 - 1);
        j->inputs[at * 2 + 1] = (float)(((double)y + 0.5) / image->height * 2 - 1);
        for (int k = 0; k < 3; k++) j->targets[at * 3 + k] = (float)image->rgb[i * 3 + k] / 255.0f;
        at++;
    }
    return true;
}

// ---- Before training ----------------------------------------------------------------------------

static bool check_outputs(Job *j) {
    const Options *o = &j->o;
    // --resume and --weights may be one file: that is how a run goes on.
    const char *weights[] = {o->weights, o->output_image}, *pictures[] = {o->output_image};
    const char *input[] = {o->input}, *resumed[] = {o->resume};
    return neural_outputs_check(weights, 2, input, 1, j->message) &&
           neural_outputs_check(pictures, 1, resumed, 1, j->message);
}

// Takes over what the interrupted run was; what the command line says must agree with it, except
// the learning rate and the number of steps, which may change.
static bool resume(Job *j) {
    Options *o = &j->o;
    NeuralWeights *w = &j->resumed;
    if (!neural_weights_load(w, o->resume, j->message)) return false;
    const NeuralTraining *t = &w->training;
    if (!t->first_moments || !t->second_moments || !t->step)
        return neural_fail(j->message,
                           "%s: training: the key is missing: only the weights of an "
                           "interrupted run can be resumed",
                           o->resume);
    const NeuralLayer *last = &w->net.layers[w->net.n_layers - 1];
    if (w->net.model != NEURAL_SIREN || w->net.n_layers < 2 || w->net.layers[0].n_in != 2 ||
        last->n_out != 3)
        return neural_fail(j->message, "%s: not a SIREN of a picture", o->resume);
    if (w->width && (w->width != j->image.width || w->height != j->image.height))
        return neural_fail(j->message,
                           "%s is %u x %u, not %u x %u as the picture of the run to "
                           "resume, %s",
                           o->input, j->image.width, j->image.height, w->width, w->height,
                           o->resume);
    uint32_t hidden = w->net.layers[0].n_out, layers = w->net.n_layers - 2;
    const char *other = o->has_hidden && o->hidden != hidden               ? "--hidden"
                        : o->has_layers && o->layers != layers             ? "--layers"
                        : o->has_seed && o->seed != t->seed                ? "--seed"
                        : o->has_batch && o->batch != t->batch             ? "--train-batch"
                        : o->has_limit && o->limit != t->limit             ? "--limit"
                        : o->has_precision && o->precision != t->precision ? "--precision"
                                                                           : NULL;
    if (other)
        return neural_fail(j->message, "%s differs from that of the run to resume, %s", other,
                           o->resume);
    o->hidden = hidden, o->layers = layers, o->seed = t->seed, o->limit = t->limit;
    o->batch = t->batch ? t->batch : o->batch;
    o->precision = (NeuralPrecision)t->precision;
    if (!o->has_rate && t->learning_rate > 0) o->learning_rate = t->learning_rate;
    if (!o->has_steps && t->planned) o->steps = t->planned;
    if (o->steps <= t->step)
        return neural_fail(j->message, "%s has had %llu steps already: give more with --steps",
                           o->resume, (unsigned long long)t->step);
    return neural_network_copy(&j->net, &w->net) || neural_fail(j->message, "out of memory");
}

static bool find_device(Job *j) {
    const char *wanted = j->o.device;
    MTLDevice *devices[16] = {0};
    size_t n = mtl_copy_all_devices(devices, 16);
    if (n > 16) n = 16;
    char *end;
    unsigned long number = wanted ? strtoul(wanted, &end, 10) : 0;
    bool numeric = wanted && end != wanted && !*end;
    for (size_t i = 0; i < n; i++) {
        bool is = !wanted ||
                  (numeric ? number == i : strcasestr(mtl_device_name(devices[i]), wanted) != NULL);
        if (is && !j->device)
            j->device = devices[i];
        else
            mtl_release(devices[i]);
    }
    if (!j->device && wanted)
        return neural_fail(
            j->message, "there is no device '%s' (%zu in all; ingot info lists them)", wanted, n);
    if (!j->device) return neural_fail(j->message, "there is no Metal device");
    if (!mtl_device_supports_family(j->device, MTLGPUFamilyMetal4))
        return neural_fail(j->message, "GPU does not support Metal 4 tensor operations");
    return true;
}

// The rate is the one asked for until the last fifth, where it falls: what is left of the noise of
// small batches goes. 500 steps on the picture of the demo: 30.5 dB with a constant rate, 30.9 dB
// so, 29.9 dB when it falls from the beginning.
static bool make_trainer(Job *j) {
    const Options *o = &j->o;
    NeuralDataset data = {j->n, 2, 3, j->inputs, j->targets};
    NeuralTrainOptions t = {.batch = o->batch,
                            .learning_rate = (float)o->learning_rate,
                            .decay_from = o->steps - o->steps / 5,
                            .decay_steps = o->steps,
                            .final_rate = 0.05f,
                            .seed = o->seed,
                            .precision = o->precision};
    j->trainer = neural_trainer_new(j->device, &j->net, &data, &t, j->message);
    if (!j->trainer || !o->resume) return j->trainer != NULL;
    NeuralTrainState s = {j->resumed.training.step, j->net.n_params, j->net.params,
                          j->resumed.training.first_moments, j->resumed.training.second_moments};
    return neural_trainer_set_state(j->trainer, &s) || neural_fail(j->message, "out of memory");
}

// ---- Training -----------------------------------------------------------------------------------

static void line(Job *j) { // before a line on standard output
    if (j->shows_bar) progress_end(&j->bar);
}

static bool evaluate(Job *j, float loss) {
    if (!neural_trainer_evaluate(j->trainer, &j->evaluation, j->rgba, NULL, j->message))
        return false;
    if (!j->evaluated || j->evaluation.psnr > j->best_psnr) {
        j->best_psnr = j->evaluation.psnr;
        j->best_loss = isnan(loss) ? j->evaluation.mse : (double)loss; // no step was taken yet
    }
    j->evaluated = true;
    return true;
}

static uint64_t next_multiple(uint64_t n, uint64_t of) { return n - n % of + of; }

// Steps up to the next line of output, a few at a time so that Ctrl-C is heard.
static bool train_until(Job *j, uint64_t until, float *loss) {
    float losses[16] = {0};
    for (uint64_t done; (done = neural_trainer_steps_done(j->trainer)) < until && !interrupted;) {
        // a quarter of a second's worth, by the steps so far
        double fit = j->steps_here ? 250 * (double)j->steps_here / (j->training_ms + 1e-3) : 1;
        uint32_t n = fit < 1 ? 1 : fit > 16 ? 16 : (uint32_t)fit;
        if (n > until - done) n = (uint32_t)(until - done);
        double began = now_ms();
        bool ok = neural_trainer_step(j->trainer, n, losses, j->message);
        j->training_ms += now_ms() - began;
        if (!ok) {
            for (uint32_t i = 0; i < n; i++)
                if (!isfinite(losses[i]))
                    return neural_fail(
                        j->message,
                        "Loss is not finite at step %llu: training diverged. Try a lower "
                        "--learning-rate (now %g) or --precision float",
                        (unsigned long long)(done + i + 1), j->o.learning_rate);
            return false;
        }
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

static bool train(Job *j) {
    const Options *o = &j->o;
    float loss = NAN;
    uint64_t done = neural_trainer_steps_done(j->trainer);
    j->shows_bar = isatty(STDERR_FILENO);
    if (j->shows_bar) progress_begin(&j->bar, "training", (size_t)o->steps);
    while (done < o->steps) {
        uint64_t log_at = done ? next_multiple(done, o->log_interval) : 1;
        uint64_t eval_at = next_multiple(done, o->eval_interval), until = o->steps;
        if (log_at < until) until = log_at;
        if (eval_at < until) until = eval_at;
        if (!train_until(j, until, &loss)) return false;
        done = neural_trainer_steps_done(j->trainer);
        if (done < until) break; // Ctrl-C
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
    if (done < o->steps && !evaluate(j, loss)) return false; // what there is
    return true;
}

// ---- Results ------------------------------------------------------------------------------------

// Pixels of the picture and what they are, so that a reader of the file can check itself.
static bool add_samples(Job *j, NeuralWeights *w) {
    uint32_t n = j->n < SAMPLES_IN_FILE ? j->n : SAMPLES_IN_FILE;
    w->samples = calloc(n, sizeof *w->samples);
    if (!w->samples) return neural_fail(j->message, "out of memory");
    w->n_samples = n;
    w->sample_seed = SAMPLE_SEED;
    NeuralRandom r;
    neural_random_init(&r, SAMPLE_SEED, 3);
    for (uint32_t i = 0; i < n; i++) { // one of each n-th part: none twice
        uint64_t from = (uint64_t)j->n * i / n, to = (uint64_t)j->n * (i + 1) / n;
        size_t at = (size_t)(from + neural_random_u32(&r) % (to - from));
        for (int k = 0; k < 2; k++) w->samples[i].position[k] = j->inputs[at * 2 + k];
        for (int k = 0; k < 3; k++) w->samples[i].value[k] = j->targets[at * 3 + k];
    }
    return true;
}

static bool save_weights(Job *j, bool resumable) {
    NeuralWeights w = {.width = j->image.width,
                       .height = j->image.height,
                       .aspect_ratio = (float)j->image.width / (float)j->image.height};
    NeuralTrainState s = {0};
    bool ok = neural_train_state_init(&s, j->net.n_params) &&
              neural_training_alloc(&w.training, j->net.n_params);
    if (!ok) neural_fail(j->message, "out of memory");
    if (ok) {
        neural_trainer_get_state(j->trainer, &s);
        memcpy(j->net.params, s.params, s.n_params * sizeof *s.params);
        memcpy(w.training.first_moments, s.moment1, s.n_params * sizeof *s.moment1);
        memcpy(w.training.second_moments, s.moment2, s.n_params * sizeof *s.moment2);
        w.training.step = s.step, w.training.seed = j->o.seed, w.training.planned = j->o.steps;
        w.training.batch = j->o.batch, w.training.precision = j->o.precision;
        w.training.learning_rate = j->o.learning_rate, w.training.limit = j->o.limit;
    }
    if (!resumable) { // the moments are twice as large as the weights
        free(w.training.first_moments), free(w.training.second_moments);
        w.training = (NeuralTraining){0};
    }
    w.net = j->net; // lent
    ok = ok && add_samples(j, &w) && neural_weights_save(&w, j->o.weights, j->message);
    memset(&w.net, 0, sizeof w.net);
    neural_weights_free(&w);
    neural_train_state_free(&s);
    return ok;
}

static bool save_picture(Job *j) {
    NeuralImage image;
    if (!neural_image_create(&image, j->out_width, j->out_height, j->message)) return false;
    for (size_t i = 0; i < j->n; i++) memcpy(image.rgb + i * 3, j->rgba + i * 4, 3);
    bool ok = neural_image_save(&image, j->o.output_image, true, j->message);
    neural_image_free(&image);
    return ok;
}

static void print_path(const char *what, const char *path) {
    char *whole = realpath(path, NULL);
    printf("%s saved to %s\n", what, whole ? whole : path);
    free(whole);
}

static int finish(Job *j) {
    bool whole = neural_trainer_steps_done(j->trainer) >= j->o.steps;
    if (!save_weights(j, !whole) || !save_picture(j)) return complain(j->message);
    const NeuralLayer *first = &j->net.layers[0];
    printf("Sample weights [");
    for (uint32_t i = 0; i < 8 && i < first->n_out; i++)
        printf("%s%.6f", i ? ", " : "", (double)first->weights[i * first->n_in]);
    printf("]\nSample pixel RGBA: [%d, %d, %d, %d]\n", j->rgba[0], j->rgba[1], j->rgba[2],
           j->rgba[3]);
    printf("Finished. Best loss %.6f, PSNR %.2f dB\n", j->best_loss, j->best_psnr);
    print_path("Weights", j->o.weights);
    print_path("Reconstruction", j->o.output_image);
    printf("Average training step %.3f ms\n",
           j->steps_here ? j->training_ms / (double)j->steps_here : 0);
    if (fflush(stdout) || ferror(stdout)) return complain("cannot write to standard output");
    if (whole) return EXIT_SUCCESS;
    fprintf(stderr,
            "train_siren: interrupted after step %llu of %llu; to go on, add: --resume %s\n",
            (unsigned long long)neural_trainer_steps_done(j->trainer),
            (unsigned long long)j->o.steps, j->o.weights);
    return 128 + interrupted;
}

static int run(Job *j) {
    Options *o = &j->o;
    if (!neural_image_load(&j->image, o->input, j->message) || !check_outputs(j))
        return complain(j->message);
    if (o->limit >= (uint64_t)j->image.width * j->image.height) o->limit = 0; // all
    if (o->resume && !resume(j)) return complain(j->message);
    if (!o->resume &&
        !neural_network_init_siren(&j->net, o->hidden, o->layers, o->seed, j->message))
        return complain(j->message);
    if (!make_data(j) || !find_device(j)) return complain(j->message);
    if (!make_trainer(j)) return complain(j->message);
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    if (!train(j)) {
        line(j);
        fflush(stdout);
        return complain(j->message);
    }
    if (!neural_trainer_steps_done(j->trainer)) { // nothing to keep
        fprintf(stderr, "train_siren: interrupted before the first step\n");
        return 128 + interrupted;
    }
    return finish(j);
}

int main(int argc, char **argv) {
    static Job job;
    bool show_usage;
    if (!options_parse(&job.o, argc, argv, job.message, &show_usage)) {
        complain(job.message);
        if (show_usage) fputs(usage_text, stderr);
        return EXIT_USAGE;
    }
    if (job.o.help) {
        fputs(usage_text, stdout);
        return EXIT_SUCCESS;
    }
    int status = run(&job);
    neural_trainer_free(job.trainer);
    mtl_release(job.device);
    neural_image_free(&job.image);
    neural_network_free(&job.net);
    neural_weights_free(&job.resumed);
    free(job.inputs), free(job.targets), free(job.rgba);
    return status;
}
