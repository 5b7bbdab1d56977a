// SPDX-License-Identifier: Apache-2.0
// token_kinds.h: names for MslToken.kind. Clang's own list is an X-macro file that C can read, so
// the numbers are those of the Clang we link: T_l_paren, T_identifier, T_kw_struct, ...
#ifndef INGOT_FRONTEND_TOKEN_KINDS_H
#define INGOT_FRONTEND_TOKEN_KINDS_H

enum {
#define TOK(X) T_##X,
#include "clang/Basic/TokenKinds.def"
    T_N_KINDS
};

#endif
