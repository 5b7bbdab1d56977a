// SPDX-License-Identifier: Apache-2.0
// xvfb.h: for tests of windows: a display of Xvfb's, and a second client of it, which reads back
// what is shown, resizes windows and asks them to close.
#ifndef INGOT_TESTS_XVFB_H
#define INGOT_TESTS_XVFB_H
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77 }; // for CTest

// ---- The client, by the library that windows use ----

typedef struct Cookie {
    unsigned sequence;
} Cookie;
typedef struct ImageReply {
    uint8_t response_type, depth;
    uint16_t sequence;
    uint32_t length, visual;
} ImageReply;
typedef struct AtomReply {
    uint8_t response_type, pad;
    uint16_t sequence;
    uint32_t length, atom;
} AtomReply;
static struct {
    void *connection;
    void *(*connect)(const char *, int *);
    int (*has_error)(void *);
    int (*flush)(void *);
    Cookie (*get_image)(void *, uint8_t, uint32_t, int16_t, int16_t, uint16_t, uint16_t, uint32_t);
    ImageReply *(*get_image_reply)(void *, Cookie, void **);
    uint8_t *(*get_image_data)(const ImageReply *);
    Cookie (*configure_window)(void *, uint32_t, uint16_t, const void *);
    Cookie (*send_event)(void *, uint8_t, uint32_t, uint32_t, const char *);
    Cookie (*intern_atom)(void *, uint8_t, uint16_t, const char *);
    AtomReply *(*intern_atom_reply)(void *, Cookie, void **);
    void (*disconnect)(void *);
} x;

static bool find(void *library, const char *name, void *to) {
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(to, &found, sizeof found);
    return found != NULL;
}

static bool load_xcb(void) {
    void *l = dlopen("libxcb.so.1", RTLD_NOW);
    return find(l, "xcb_connect", &x.connect) && find(l, "xcb_flush", &x.flush) &&
           find(l, "xcb_connection_has_error", &x.has_error) &&
           find(l, "xcb_get_image", &x.get_image) &&
           find(l, "xcb_get_image_reply", &x.get_image_reply) &&
           find(l, "xcb_get_image_data", &x.get_image_data) &&
           find(l, "xcb_configure_window", &x.configure_window) &&
           find(l, "xcb_send_event", &x.send_event) && find(l, "xcb_intern_atom", &x.intern_atom) &&
           find(l, "xcb_intern_atom_reply", &x.intern_atom_reply) &&
           find(l, "xcb_disconnect", &x.disconnect);
}

static pid_t server;

// Its display is in DISPLAY afterwards.
static bool start_server(void) {
    int ends[2];
    char number[16] = "", display[32];
    if (pipe(ends)) return false;
    server = fork();
    if (server == 0) {
        char fd[16];
        close(ends[0]);
        snprintf(fd, sizeof fd, "%d", ends[1]);
        int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, 2);
        execlp("Xvfb", "Xvfb", "-displayfd", fd, "-screen", "0", "400x300x24", "-nolisten", "tcp",
               (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n + 1 < sizeof number && (got = read(ends[0], number + n, 1)) == 1; n++)
        if (number[n] == '\n') break;
    close(ends[0]);
    number[n] = 0;
    snprintf(display, sizeof display, ":%s", number);
    setenv("DISPLAY", display, 1);
    return n > 0;
}

static void stop_server(void) {
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
}

// NULL; else why there is no display.
static const char *open_display(void) {
    if (!load_xcb()) return "libxcb.so.1 is not installed";
    if (!start_server()) return "Xvfb is not installed, or does not start";
    x.connection = x.connect(NULL, NULL);
    if (x.connection && !x.has_error(x.connection)) return NULL;
    stop_server();
    return "Xvfb does not answer";
}

// ---- What it does ----

// The pixels of a window as the server has them, four bytes each, blue first; `reply` is to be
// freed.
static inline const uint8_t *seen_pixels(uint32_t window, uint16_t width, uint16_t height,
                                         ImageReply **reply) {
    *reply = x.get_image_reply(
        x.connection, x.get_image(x.connection, 2, window, 0, 0, width, height, 0xffffff), NULL);
    return *reply ? x.get_image_data(*reply) : NULL;
}

static inline void resize_window(uint32_t window, uint32_t width, uint32_t height) {
    x.configure_window(x.connection, window, 4 | 8, (uint32_t[]){width, height});
    x.flush(x.connection);
}

// As if its user had done it: `kind` 2 and 3 a key is pressed and let go, 4 and 5 a button, 6 the
// pointer moves; `detail` the key or button, `state` what is held. A key that is let go is sent
// with what follows it: a server tells both halves of a held key's repetition at once.
static inline void send_input(uint32_t window, uint8_t kind, uint8_t detail, int16_t at_x,
                              int16_t at_y, uint16_t state, uint32_t time) {
    struct {
        uint8_t kind, detail;
        uint16_t sequence;
        uint32_t time, root, event, child;
        int16_t root_x, root_y, x, y;
        uint16_t state;
        uint8_t same_screen, pad;
    } event = {kind, detail, 0, time, window, window, 0, at_x, at_y, at_x, at_y, state, 1, 0};
    x.send_event(x.connection, 0, window, 0, (const char *)&event);
    if (kind != 3) x.flush(x.connection);
}

static inline bool ask_to_close(uint32_t window) {
    uint32_t atoms[2];
    const char *names[2] = {"WM_PROTOCOLS", "WM_DELETE_WINDOW"};
    for (int i = 0; i < 2; i++) {
        AtomReply *reply = x.intern_atom_reply(
            x.connection, x.intern_atom(x.connection, 0, (uint16_t)strlen(names[i]), names[i]),
            NULL);
        if (!reply) return false;
        atoms[i] = reply->atom;
        free(reply);
    }
    struct {
        uint8_t type, format;
        uint16_t sequence;
        uint32_t window, kind, data[5];
    } message = {33, 32, 0, window, atoms[0], {atoms[1]}};
    x.send_event(x.connection, 0, message.window, 0, (const char *)&message);
    x.flush(x.connection);
    return true;
}
#endif
