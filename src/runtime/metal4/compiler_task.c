// SPDX-License-Identifier: Apache-2.0
// compiler_task.c: MTL4CompilerTask: work of a compiler in the background.
#include <limits.h>
#include "runtime/metal4/compiler_int.h"
#include "runtime/object/async.h"
#include "runtime/object/validation.h"
#include "os/futex.h"

struct MTL4CompilerTask {
    RtObject object;
    MTL4Compiler *compiler; // retained
    atomic_uint status;     // MTL4CompilerTaskStatus; the futex word
    void (*work)(void *job);
    void (*free_job)(void *job);
    void *job;
};

static void task_destroy(void *self) {
    MTL4CompilerTask *task = self;
    mtl_release(task->compiler);
    rt_free(task);
}

static RT_CLASS task_class = {.name = "MTL4CompilerTask", .destroy = task_destroy};

MTL4CompilerTask *rt_task_new(MTL4Compiler *compiler) {
    MTL4CompilerTask *task = rt_new(&task_class, sizeof *task);
    if (!task) return NULL;
    task->compiler = mtl_retain(compiler);
    atomic_store(&task->status, MTL4CompilerTaskStatusScheduled);
    return task;
}

void rt_task_finish(MTL4CompilerTask *task) {
    atomic_store(&task->status, MTL4CompilerTaskStatusFinished);
    os_futex_wake(&task->status, INT_MAX);
    mtl_release(task);
}

static void run_task(void *context) {
    MTL4CompilerTask *task = context;
    atomic_store(&task->status, MTL4CompilerTaskStatusCompiling);
    task->work(task->job);
    task->free_job(task->job);
    rt_task_finish(task);
}

MTL4CompilerTask *rt_task_start(MTL4Compiler *compiler, void (*work)(void *job),
                                void (*free_job)(void *job), void *job) {
    MTL4CompilerTask *task = rt_task_new(compiler);
    if (!task) return NULL;
    task->work = work;
    task->free_job = free_job;
    task->job = job;
    mtl_retain(task);
    if (rt_async(run_task, task)) return task;
    mtl_release(task);
    mtl_release(task);
    return NULL;
}

MTL4CompilerTask *rt_task_run(MTL4Compiler *compiler, void (*work)(void *job),
                              void (*free_job)(void *job), void *job) {
    MTL4CompilerTask *task = rt_task_start(compiler, work, free_job, job);
    if (task) return task;
    work(job);
    free_job(job);
    return NULL;
}

void mtl4_compiler_task_wait_until_completed(MTL4CompilerTask *task) {
    if (!rt_is(task, &task_class)) {
        rt_misuse(NULL, task ? RT_RULE_wrong_class : RT_RULE_null_object, __func__, "%s",
                  mtl_class_name(task));
        return;
    }
    for (unsigned now; (now = atomic_load(&task->status)) != MTL4CompilerTaskStatusFinished;)
        os_futex_wait(&task->status, now);
}

#include "accessors/metal4/compiler_task.inc" // plain accessors, from the table
