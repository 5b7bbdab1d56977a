// SPDX-License-Identifier: Apache-2.0
// gil.h: runs statements while other threads of Python go on.
#ifndef PYMETAL_GIL_H
#define PYMETAL_GIL_H
#include <Python.h>

#define WITHOUT_GIL(...)                                                                           \
    do {                                                                                           \
        PyThreadState *python_thread = PyEval_SaveThread();                                        \
        __VA_ARGS__;                                                                               \
        PyEval_RestoreThread(python_thread);                                                       \
    } while (0)
#endif
