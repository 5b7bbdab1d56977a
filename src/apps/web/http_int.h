// SPDX-License-Identifier: Apache-2.0
// http_int.h: requests and replies as bytes; shared by the files of the server.
#ifndef INGOT_WEB_HTTP_INT_H
#define INGOT_WEB_HTTP_INT_H
#include "apps/web/server.h"

enum { WEB_TOKEN_BYTES = 32 }; // hexadecimal digits

// Who may ask: what the addresses of this server are made of.
typedef struct HttpAddress {
    char token[WEB_TOKEN_BYTES + 1];
    uint32_t port;
} HttpAddress;

typedef struct HttpHead {
    bool post, keep, refused; // refused: status says why
    int status;
    size_t n_body;
    char path[1024], query[1024];
} HttpHead;

// Reads the head of a request, zero-terminated, without the empty line at its end.
void http_read_head(const HttpAddress *address, char *text, HttpHead *head);
// The head of a reply.
char *http_reply_head(const WebReply *reply, bool keep);
#endif
