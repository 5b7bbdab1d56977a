// SPDX-License-Identifier: Apache-2.0
// server.h: pages of our own for a browser on this machine: `ingot play`, `ingot view`. HTTP/1.1 on
// 127.0.0.1 only. Every address begins with a random token, so that nobody else on the machine
// finds the pages; Host and Origin must be ours, so that no other page in the same browser can talk
// to the server, also not under a name that resolves to 127.0.0.1. A thread for each connection.
#ifndef INGOT_WEB_SERVER_H
#define INGOT_WEB_SERVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/text.h"

enum {
    WEB_MAX_BODY = 16 << 20,
    WEB_MAX_HEAD = 16 << 10,
    WEB_MAX_CONNECTIONS = 64,
    WEB_IDLE_SECONDS = 60,
    WEB_STRANGER_SECONDS = 5, // the same for who has not shown the token
};

typedef struct WebRequest {
    bool post;
    const char *path;  // behind the token, without a '/' before it: "api/run", "" for the page
    const char *query; // behind the '?'; "" if there is none
    const char *body;  // zero-terminated
    size_t n_body;
} WebRequest;

typedef struct WebReply {
    int status;       // 0: 200
    const char *type; // of the body; NULL: JSON
    Text body;
} WebReply;

// Called by several threads at a time.
typedef void WebHandler(void *context, const WebRequest *request, WebReply *reply);

typedef struct WebServer WebServer;
// port 0: any. NULL and *why (malloc'd): the port is taken, or the system refuses.
WebServer *web_server_new(uint32_t port, WebHandler *handler, void *context, char **why);
const char *web_server_address(const WebServer *server); // "http://127.0.0.1:8080/TOKEN/"
// Serves until SIGINT or SIGTERM comes; connections are closed then.
void web_server_run(WebServer *server);
void web_server_free(WebServer *server);

enum { WEB_MAX_PARTS = 8 };
typedef struct WebPage { // a page of ours, of texts in pages/
    const char *body, *title, *styles[WEB_MAX_PARTS], *scripts[WEB_MAX_PARTS];
} WebPage;
extern const WebPage web_play, web_view;
// The page (name "") or what belongs to one, "play.js"; false: there is no such text.
bool web_page_reply(const WebPage *page, const char *name, WebReply *reply);
// A page up to the end of its body. alone: with its styles in it, and without its scripts, which
// web_page_scripts gives.
void web_page_begin(const WebPage *page, bool alone, Text *t);
void web_page_scripts(const WebPage *page, Text *t);
// browse.c: asks the desktop to show an address while the caller goes on; says, for this program,
// if there is none that does. web_browse_end, with what that returned, takes its file away.
typedef struct WebBrowser WebBrowser;
WebBrowser *web_browse(const char *address, const char *program);
void web_browse_end(WebBrowser *browser);
// A JSON object {"error": text} with a status.
void web_reply_error(WebReply *reply, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- Replies with bytes beside the JSON ----

// The parts of such a body: four bytes (little-endian) say how long the JSON is, then come the JSON
// and the bytes, which the JSON names by their place among the bytes.
void web_reply_bytes(WebReply *reply, Text *json, const Text *bytes);
#endif
