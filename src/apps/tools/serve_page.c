// SPDX-License-Identifier: Apache-2.0
// serve_page.c: see serve_page.h.
#include "apps/tools/serve_page.h"
#include "apps/tools/tools.h"
#include <stdio.h>
#include <stdlib.h>

int serve_page(const char *command, uint32_t port, bool browser, WebHandler *answer,
               void *context) {
    char *why, program[32];
    WebServer *server = web_server_new(port, answer, context, &why);
    if (!server) {
        complain(EXIT_INPUT, command, "%s", why ? why : "out of memory");
        free(why);
        return EXIT_INPUT;
    }
    const char *address = web_server_address(server);
    printf("%s\n", address);
    fflush(stdout);
    snprintf(program, sizeof program, "ingot %s", command);
    WebBrowser *shown = browser ? web_browse(address, program) : NULL;
    web_server_run(server);
    web_browse_end(shown);
    web_server_free(server);
    return EXIT_FINE;
}
