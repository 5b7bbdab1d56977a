// SPDX-License-Identifier: Apache-2.0
// serve_page.h: a command whose face is a page: serves it until somebody ends it.
#ifndef INGOT_TOOLS_SERVE_PAGE_H
#define INGOT_TOOLS_SERVE_PAGE_H
#include "apps/web/server.h"

// Prints the address and, with `browser`, has the desktop show it. Returns the exit status.
int serve_page(const char *command, uint32_t port, bool browser, WebHandler *answer, void *context);
#endif
