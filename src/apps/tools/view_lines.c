// SPDX-License-Identifier: Apache-2.0
// view_lines.c: what the lines of a capture's shaders cost (see view_int.h). The capture is
// replayed by a process of its own, `ingot replay`, under the profiler: once with samples, often
// enough for some thousand of them, and once with code that counts lanes. What its commands did
// lies in the files of the profile then (profile_data.c).
#include "base/json.h"
#include "apps/tools/profile.h"
#include "apps/tools/view_int.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_TURNS = 200 };
#define WANTED_NS UINT64_C(1500000000) // that is replayed while samples are taken

// ---- The process ----

static bool is_ours(const char *setting) { return !strncmp(setting, "INGOT_PROFILE", 13); }

// The environment with our settings in it. The strings are the callers'.
static char **environment_with(char *folder, char *lanes) {
    size_t n = 0, k = 0;
    while (environ[n]) n++;
    char **env = must_alloc(n + 3, sizeof *env);
    for (size_t i = 0; i < n; i++)
        if (!is_ours(environ[i])) env[k++] = environ[i];
    env[k++] = folder;
    if (lanes) env[k++] = lanes;
    return env;
}

static bool replay(const View *v, const char *folder, bool lanes, unsigned turns) {
    char self[64], repeat[16], *setting = text_format("INGOT_PROFILE=%s", folder);
    char *argv[] = {self, "replay", (char *)(uintptr_t)v->path, "--repeat", repeat, NULL,
                    NULL, NULL};
    if (v->device_name) argv[5] = "--device", argv[6] = (char *)(uintptr_t)v->device_name;
    char **env = environment_with(setting, lanes ? "INGOT_PROFILE_LANES=1" : NULL);
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int how = -1;
    snprintf(self, sizeof self, "/proc/%ld/exe", (long)getpid());
    snprintf(repeat, sizeof repeat, "%u", turns);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int e = setting ? posix_spawn(&pid, self, &actions, NULL, argv, env) : ENOMEM;
    posix_spawn_file_actions_destroy(&actions);
    while (!e && waitpid(pid, &how, 0) < 0 && errno == EINTR) {
    }
    free(env);
    free(setting);
    return !e && how == 0;
}

// ---- What it found ----

typedef struct Names { // each once, by their number
    const char *items[256];
    size_t n;
} Names;

static size_t number_of(Names *names, const char *name) {
    size_t i = 0;
    while (i < names->n && strcmp(names->items[i], name)) i++;
    if (i == names->n && i + 1 < sizeof names->items / sizeof *names->items)
        names->items[names->n++] = name;
    return i;
}

static void put_names(Text *t, const char *key, const Names *names) {
    text_printf(t, ",\"%s\":[", key);
    for (size_t i = 0; i < names->n; i++) {
        text_add(t, i ? "," : "");
        json_string(t, names->items[i]);
    }
    text_add(t, "]");
}

// A pass is one command for the profile; its draws are those behind it.
static int64_t command_of(int64_t command, uint32_t draw) { return command + draw; }

static void put_samples(Text *t, const Profile *p, Names *kernels, Names *files) {
    const char *gap = "";
    text_add(t, ",\"samples\":[");
    for (size_t i = 0; i < p->n_stacks; i++) {
        const ProfileStack *s = &p->stacks[i];
        const ProfileFrame *f = &s->frames[s->n_frames - 1];
        if (s->command < 0) continue;
        text_printf(t, "%s[%" PRId64 ",%zu,%zu,%" PRIu32 ",%" PRIu64 "]", gap,
                    command_of(s->command, s->draw), number_of(kernels, s->kernel),
                    number_of(files, f->file), f->line, s->count);
        gap = ",";
    }
    text_add(t, "]");
}

static void put_counts(Text *t, const Profile *p, Names *kernels, Names *files) {
    const char *gap = "";
    text_add(t, ",\"counts\":[");
    for (size_t i = 0; i < p->n_lines; i++) {
        const ProfileLine *l = &p->lines[i];
        if (l->command < 0) continue;
        text_printf(t, "%s{\"at\":[%" PRId64 ",%zu,%zu,%" PRIu32 "],", gap,
                    command_of(l->command, l->draw), number_of(kernels, l->kernel),
                    number_of(files, l->file), l->line);
        profile_counts_json(&l->counts, t);
        text_add(t, "}");
        gap = ",";
    }
    text_add(t, "]");
}

static void put_remarks(Text *t, const Profile *p, Names *files) {
    text_add(t, ",\"remarks\":[");
    for (size_t i = 0; i < p->n_remarks; i++) {
        const ProfileRemark *r = &p->remarks[i];
        text_printf(t, "%s[%zu,%" PRIu32 ",", i ? "," : "", number_of(files, r->file), r->line);
        json_string(t, r->kind);
        text_add(t, ",");
        json_string(t, r->text);
        text_add(t, "]");
    }
    text_add(t, "]");
}

static bool measure(View *v, Text *t, char why[CAP_WHY]) {
    char sampled[] = "/tmp/ingot-view-XXXXXX", counted[] = "/tmp/ingot-view-XXXXXX";
    pthread_mutex_lock(&v->lock);
    uint64_t turns = v->total_ns ? WANTED_NS / v->total_ns + 1 : 1;
    pthread_mutex_unlock(&v->lock);
    if (turns > MOST_TURNS) turns = MOST_TURNS;
    if (!mkdtemp(sampled) || !mkdtemp(counted)) {
        snprintf(why, CAP_WHY, "no folder for samples: %s", strerror(errno));
        return false;
    }
    bool ran = replay(v, sampled, false, (unsigned)turns) && replay(v, counted, true, 1);
    Profile p = {0}, q = {0};
    bool ok = ran && profile_read(&p, sampled) && profile_read(&q, counted);
    if (ok) {
        Names kernels = {0}, files = {0};
        text_printf(t, "{\"intervalUs\":%u,\"turns\":%" PRIu64, p.interval_us, turns);
        put_samples(t, &p, &kernels, &files);
        put_counts(t, &q, &kernels, &files);
        put_remarks(t, &p, &files);
        put_names(t, "kernels", &kernels);
        put_names(t, "files", &files);
        text_add(t, "}");
    } else {
        snprintf(why, CAP_WHY,
                 ran ? "lines are measured on the CPU device only"
                     : "the capture could not be replayed under the profiler");
    }
    profile_free(&p);
    profile_free(&q);
    profile_remove_folder(sampled);
    profile_remove_folder(counted);
    return ok;
}

bool view_lines(View *v, Text *to, char why[CAP_WHY]) {
    pthread_mutex_lock(&v->lines_lock);
    if (!v->lines) {
        Text t = {0};
        if (measure(v, &t, why)) v->lines = text_take(&t);
        text_free(&t);
    }
    bool ok = v->lines != NULL;
    if (ok) text_add(to, v->lines);
    pthread_mutex_unlock(&v->lines_lock);
    return ok;
}
