// SPDX-License-Identifier: Apache-2.0
// test_int.h: shared by the files behind `ingot test`.
#ifndef INGOT_TOOLS_TEST_INT_H
#define INGOT_TOOLS_TEST_INT_H
#include "base/text.h"
#include "apps/tools/test_toml.h"
#include "apps/tools/tools.h"

typedef struct TestJob {
    Strings words; // folders and files
    Strings include_dirs, defines;
    const char *junit;
    uint32_t timeout_ms;
    bool trusted;
} TestJob;

// One result: a file that was compiled, or a kernel that was run.
typedef struct TestCase {
    char *file, *name; // as the report says them
    char *message;     // NULL: it is fine
    double seconds;
} TestCase;

// test_report.c: a case is written at once, the rest at the end.
typedef struct TestReport {
    TestCase *cases;
    size_t n, n_failed;
} TestReport;
// Takes message (malloc'd, or NULL).
void report_case(TestReport *r, const char *file, const char *name, char *message, double seconds);
int report_end(TestReport *r, const char *junit); // exit status

// test_kernel.c: the tests of FILE.metal in FILE.test.toml.
void test_kernels(const TestJob *job, const char *metal, const char *toml, TestReport *r);
// Runs a program in a folder (NULL: here) and keeps what it prints. Exit status; -1: it did not end
// by itself, and *said ends with why. said: malloc'd. environment: malloc'd, and freed.
int test_child(char **argv, char **environment, const char *folder, char **said);
#endif
