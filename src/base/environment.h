// SPDX-License-Identifier: Apache-2.0
// environment.h: what a process that we start learns of our environment: no more than it reads. The
// rest is the user's, and may be secrets of a build server.
#ifndef INGOT_BASE_ENVIRONMENT_H
#define INGOT_BASE_ENVIRONMENT_H

// Settings for posix_spawn, borrowed from `environ`; the list is malloc'd. NULL: no memory.
char **environment_of_compiler(void); // mslc: its own, and its loader's
// Another command of ours, with our settings, places for files, and `more` ("NAME=VALUE", up to
// NULL), which wins.
char **environment_of_command(char *const *more);
#endif
