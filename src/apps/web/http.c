// SPDX-License-Identifier: Apache-2.0
// http.c: what a request may be, and what every reply says. Only what browsers send to pages of
// ours is understood: GET, and POST with a length; everything else is refused with its status.
#include "apps/web/http_int.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---- Requests ----

static void refuse(HttpHead *head, int status) {
    if (!head->refused) head->status = status;
    head->refused = true;
}

// The time it takes says nothing about how much of the token was right.
static bool same_token(const char *a, const char *b) {
    unsigned char differ = 0;
    for (size_t i = 0; i < WEB_TOKEN_BYTES; i++) {
        differ |= (unsigned char)(a[i] ^ b[i]);
        if (!a[i]) return false;
    }
    return !differ;
}

// Letters, digits and a few signs: there is nothing to decode, and no way up.
static bool plain_path(const char *path) {
    static const char signs[] = "-_./";
    for (const char *p = path; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        bool digit = *p >= '0' && *p <= '9';
        if (!letter && !digit && !strchr(signs, *p)) return false;
    }
    return !strstr(path, "..");
}

static void read_target(const HttpAddress *address, char *target, HttpHead *head) {
    char *query = strchr(target, '?');
    if (query) *query++ = 0;
    if (*target != '/' || strlen(target) < WEB_TOKEN_BYTES + 1 ||
        !same_token(target + 1, address->token)) {
        refuse(head, 403);
        return;
    }
    const char *rest = target + 1 + WEB_TOKEN_BYTES;
    if (*rest != '/' || !plain_path(rest) || strlen(rest) >= sizeof head->path ||
        (query && strlen(query) >= sizeof head->query)) {
        refuse(head, 404);
        return;
    }
    snprintf(head->path, sizeof head->path, "%s", rest + 1);
    snprintf(head->query, sizeof head->query, "%s", query ? query : "");
}

// "127.0.0.1:PORT" or "localhost:PORT": a page of another site may have a name that resolves to
// this machine, but then it says that name.
static bool own_host(const HttpAddress *address, const char *host) {
    char own[64];
    snprintf(own, sizeof own, "127.0.0.1:%u", address->port);
    if (!strcasecmp(host, own)) return true;
    snprintf(own, sizeof own, "localhost:%u", address->port);
    return !strcasecmp(host, own);
}

static void read_field(const HttpAddress *address, const char *name, const char *value,
                       HttpHead *head, bool *host) {
    static const char scheme[] = "http://";
    if (!strcasecmp(name, "Host")) {
        *host = true;
        if (!own_host(address, value)) refuse(head, 403);
    } else if (!strcasecmp(name, "Origin")) {
        if (strncasecmp(value, scheme, sizeof scheme - 1) ||
            !own_host(address, value + sizeof scheme - 1))
            refuse(head, 403);
    } else if (!strcasecmp(name, "Sec-Fetch-Site")) {
        if (strcmp(value, "same-origin") && strcmp(value, "none")) refuse(head, 403);
    } else if (!strcasecmp(name, "Connection")) {
        if (strcasestr(value, "close")) head->keep = false;
    } else if (!strcasecmp(name, "Transfer-Encoding")) {
        refuse(head, 501);
    } else if (!strcasecmp(name, "Content-Length")) {
        char *end;
        unsigned long long n = strtoull(value, &end, 10);
        if (*value < '0' || *value > '9' || *end)
            refuse(head, 400);
        else if (n > WEB_MAX_BODY)
            refuse(head, 413);
        else
            head->n_body = (size_t)n;
    }
}

void http_read_head(const HttpAddress *address, char *text, HttpHead *head) {
    *head = (HttpHead){.keep = true};
    bool host = false;
    char *rest = text, *line = strsep(&rest, "\n"), *method = strsep(&line, " ");
    char *target = line ? strsep(&line, " ") : NULL;
    if (!target || !line || strncmp(line, "HTTP/1.1", 8)) {
        refuse(head, 400);
        return;
    }
    head->post = !strcmp(method, "POST");
    if (!head->post && strcmp(method, "GET")) refuse(head, 405);
    while (rest && (line = strsep(&rest, "\n"))) {
        char *value = strchr(line, ':');
        if (!value) {
            refuse(head, 400);
            return;
        }
        *value++ = 0;
        value += strspn(value, " \t");
        size_t n = strlen(value);
        while (n && strchr(" \t\r", value[n - 1])) value[--n] = 0;
        read_field(address, line, value, head, &host);
    }
    if (!host) refuse(head, 400);
    // Only now: who comes from elsewhere does not learn whether the token was right.
    if (!head->refused) read_target(address, target, head);
}

// ---- Replies ----

static const char *reason(int status) {
    switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 410: return "Gone";
    case 413: return "Content Too Large";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    default: return "Error";
    }
}

char *http_reply_head(const WebReply *reply, bool keep) {
    int status = reply->status ? reply->status : 200;
    return text_format(
        "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: %s\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
        "Cross-Origin-Opener-Policy: same-origin\r\n"
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
        "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'\r\n\r\n",
        status, reason(status), reply->type ? reply->type : "application/json", reply->body.n_bytes,
        keep ? "keep-alive" : "close");
}
