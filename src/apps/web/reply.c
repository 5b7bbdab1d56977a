// SPDX-License-Identifier: Apache-2.0
// reply.c: kinds of replies: our pages, errors, bytes beside JSON.
#include "base/json.h"
#include "apps/web/server.h"
#include "web_pages.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const WebPage web_play = {
    "play.html",
    "Ingot play",
    {"style.css", "play.css"},
    {"data.js", "editor.js", "controls.js", "lesson.js", "play.js"},
};
const WebPage web_view = {
    "view.html",
    "Ingot view",
    {"style.css", "view.css"},
    {"data.js", "editor.js", "picture.js", "inspect.js", "view.js"},
};

void web_page_begin(const WebPage *page, bool alone, Text *t) {
    text_printf(t,
                "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<title>%s</title>\n<link rel=\"icon\" href=\"data:,\">\n",
                page->title);
    for (size_t i = 0; i < WEB_MAX_PARTS && page->styles[i]; i++)
        if (alone)
            text_printf(t, "<style>\n%s</style>\n", embedded_text(web_pages, page->styles[i]));
        else
            text_printf(t, "<link rel=\"stylesheet\" href=\"%s\">\n", page->styles[i]);
    for (size_t i = 0; !alone && i < WEB_MAX_PARTS && page->scripts[i]; i++)
        text_printf(t, "<script src=\"%s\" defer></script>\n", page->scripts[i]);
    text_printf(t, "</head>\n%s", embedded_text(web_pages, page->body));
}

void web_page_scripts(const WebPage *page, Text *t) {
    for (size_t i = 0; i < WEB_MAX_PARTS && page->scripts[i]; i++)
        text_printf(t, "<script>\n%s</script>\n", embedded_text(web_pages, page->scripts[i]));
}

bool web_page_reply(const WebPage *page, const char *name, WebReply *reply) {
    const char *text = embedded_text(web_pages, name), *suffix = strrchr(name, '.');
    if (!*name || !strcmp(name, page->body)) {
        reply->type = "text/html; charset=utf-8";
        web_page_begin(page, false, &reply->body);
        text_add(&reply->body, "</html>\n");
        return true;
    }
    if (!text || !suffix || !strcmp(suffix, ".html")) return false;
    reply->type =
        !strcmp(suffix, ".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
    text_add(&reply->body, text);
    return true;
}

void web_reply_error(WebReply *reply, int status, const char *format, ...) {
    char message[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    text_free(&reply->body);
    reply->status = status;
    reply->type = NULL;
    text_add(&reply->body, "{\"error\": ");
    json_string(&reply->body, message);
    text_add(&reply->body, "}");
}

void web_reply_bytes(WebReply *reply, Text *json, const Text *bytes) {
    unsigned char n[4];
    for (int i = 0; i < 4; i++) n[i] = (unsigned char)(json->n_bytes >> 8 * i);
    text_free(&reply->body);
    if (json->failed || bytes->failed || json->n_bytes > UINT32_MAX) {
        web_reply_error(reply, 503, "out of memory");
        return;
    }
    reply->type = "application/octet-stream";
    text_add_bytes(&reply->body, (const char *)n, sizeof n);
    text_add_bytes(&reply->body, json->data, json->n_bytes);
    if (bytes->n_bytes) text_add_bytes(&reply->body, bytes->data, bytes->n_bytes);
}
