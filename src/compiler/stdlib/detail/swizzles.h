// SPDX-License-Identifier: Apache-2.0
// swizzles.h: made by generate_swizzles.py; see there.
#pragma once
#define __MSL_SWIZZLES_2(R, W2, W3, W4) \
    R(2, xx, rr) W2(x, y, xy, rg) W2(y, x, yx, gr) R(2, yy, gg) R(3, xxx, rrr) R(3, xxy, rrg) \
    R(3, xyx, rgr) R(3, xyy, rgg) R(3, yxx, grr) R(3, yxy, grg) R(3, yyx, ggr) R(3, yyy, ggg) \
    R(4, xxxx, rrrr) R(4, xxxy, rrrg) R(4, xxyx, rrgr) R(4, xxyy, rrgg) R(4, xyxx, rgrr) \
    R(4, xyxy, rgrg) R(4, xyyx, rggr) R(4, xyyy, rggg) R(4, yxxx, grrr) R(4, yxxy, grrg) \
    R(4, yxyx, grgr) R(4, yxyy, grgg) R(4, yyxx, ggrr) R(4, yyxy, ggrg) R(4, yyyx, gggr) \
    R(4, yyyy, gggg)
#define __MSL_SWIZZLES_3(R, W2, W3, W4) \
    R(2, xx, rr) W2(x, y, xy, rg) W2(x, z, xz, rb) W2(y, x, yx, gr) R(2, yy, gg) W2(y, z, yz, gb) \
    W2(z, x, zx, br) W2(z, y, zy, bg) R(2, zz, bb) R(3, xxx, rrr) R(3, xxy, rrg) R(3, xxz, rrb) \
    R(3, xyx, rgr) R(3, xyy, rgg) W3(x, y, z, xyz, rgb) R(3, xzx, rbr) W3(x, z, y, xzy, rbg) \
    R(3, xzz, rbb) R(3, yxx, grr) R(3, yxy, grg) W3(y, x, z, yxz, grb) R(3, yyx, ggr) \
    R(3, yyy, ggg) R(3, yyz, ggb) W3(y, z, x, yzx, gbr) R(3, yzy, gbg) R(3, yzz, gbb) \
    R(3, zxx, brr) W3(z, x, y, zxy, brg) R(3, zxz, brb) W3(z, y, x, zyx, bgr) R(3, zyy, bgg) \
    R(3, zyz, bgb) R(3, zzx, bbr) R(3, zzy, bbg) R(3, zzz, bbb) R(4, xxxx, rrrr) R(4, xxxy, rrrg) \
    R(4, xxxz, rrrb) R(4, xxyx, rrgr) R(4, xxyy, rrgg) R(4, xxyz, rrgb) R(4, xxzx, rrbr) \
    R(4, xxzy, rrbg) R(4, xxzz, rrbb) R(4, xyxx, rgrr) R(4, xyxy, rgrg) R(4, xyxz, rgrb) \
    R(4, xyyx, rggr) R(4, xyyy, rggg) R(4, xyyz, rggb) R(4, xyzx, rgbr) R(4, xyzy, rgbg) \
    R(4, xyzz, rgbb) R(4, xzxx, rbrr) R(4, xzxy, rbrg) R(4, xzxz, rbrb) R(4, xzyx, rbgr) \
    R(4, xzyy, rbgg) R(4, xzyz, rbgb) R(4, xzzx, rbbr) R(4, xzzy, rbbg) R(4, xzzz, rbbb) \
    R(4, yxxx, grrr) R(4, yxxy, grrg) R(4, yxxz, grrb) R(4, yxyx, grgr) R(4, yxyy, grgg) \
    R(4, yxyz, grgb) R(4, yxzx, grbr) R(4, yxzy, grbg) R(4, yxzz, grbb) R(4, yyxx, ggrr) \
    R(4, yyxy, ggrg) R(4, yyxz, ggrb) R(4, yyyx, gggr) R(4, yyyy, gggg) R(4, yyyz, gggb) \
    R(4, yyzx, ggbr) R(4, yyzy, ggbg) R(4, yyzz, ggbb) R(4, yzxx, gbrr) R(4, yzxy, gbrg) \
    R(4, yzxz, gbrb) R(4, yzyx, gbgr) R(4, yzyy, gbgg) R(4, yzyz, gbgb) R(4, yzzx, gbbr) \
    R(4, yzzy, gbbg) R(4, yzzz, gbbb) R(4, zxxx, brrr) R(4, zxxy, brrg) R(4, zxxz, brrb) \
    R(4, zxyx, brgr) R(4, zxyy, brgg) R(4, zxyz, brgb) R(4, zxzx, brbr) R(4, zxzy, brbg) \
    R(4, zxzz, brbb) R(4, zyxx, bgrr) R(4, zyxy, bgrg) R(4, zyxz, bgrb) R(4, zyyx, bggr) \
    R(4, zyyy, bggg) R(4, zyyz, bggb) R(4, zyzx, bgbr) R(4, zyzy, bgbg) R(4, zyzz, bgbb) \
    R(4, zzxx, bbrr) R(4, zzxy, bbrg) R(4, zzxz, bbrb) R(4, zzyx, bbgr) R(4, zzyy, bbgg) \
    R(4, zzyz, bbgb) R(4, zzzx, bbbr) R(4, zzzy, bbbg) R(4, zzzz, bbbb)
#define __MSL_SWIZZLES_4(R, W2, W3, W4) \
    R(2, xx, rr) W2(x, y, xy, rg) W2(x, z, xz, rb) W2(x, w, xw, ra) W2(y, x, yx, gr) R(2, yy, gg) \
    W2(y, z, yz, gb) W2(y, w, yw, ga) W2(z, x, zx, br) W2(z, y, zy, bg) R(2, zz, bb) \
    W2(z, w, zw, ba) W2(w, x, wx, ar) W2(w, y, wy, ag) W2(w, z, wz, ab) R(2, ww, aa) \
    R(3, xxx, rrr) R(3, xxy, rrg) R(3, xxz, rrb) R(3, xxw, rra) R(3, xyx, rgr) R(3, xyy, rgg) \
    W3(x, y, z, xyz, rgb) W3(x, y, w, xyw, rga) R(3, xzx, rbr) W3(x, z, y, xzy, rbg) \
    R(3, xzz, rbb) W3(x, z, w, xzw, rba) R(3, xwx, rar) W3(x, w, y, xwy, rag) \
    W3(x, w, z, xwz, rab) R(3, xww, raa) R(3, yxx, grr) R(3, yxy, grg) W3(y, x, z, yxz, grb) \
    W3(y, x, w, yxw, gra) R(3, yyx, ggr) R(3, yyy, ggg) R(3, yyz, ggb) R(3, yyw, gga) \
    W3(y, z, x, yzx, gbr) R(3, yzy, gbg) R(3, yzz, gbb) W3(y, z, w, yzw, gba) \
    W3(y, w, x, ywx, gar) R(3, ywy, gag) W3(y, w, z, ywz, gab) R(3, yww, gaa) R(3, zxx, brr) \
    W3(z, x, y, zxy, brg) R(3, zxz, brb) W3(z, x, w, zxw, bra) W3(z, y, x, zyx, bgr) \
    R(3, zyy, bgg) R(3, zyz, bgb) W3(z, y, w, zyw, bga) R(3, zzx, bbr) R(3, zzy, bbg) \
    R(3, zzz, bbb) R(3, zzw, bba) W3(z, w, x, zwx, bar) W3(z, w, y, zwy, bag) R(3, zwz, bab) \
    R(3, zww, baa) R(3, wxx, arr) W3(w, x, y, wxy, arg) W3(w, x, z, wxz, arb) R(3, wxw, ara) \
    W3(w, y, x, wyx, agr) R(3, wyy, agg) W3(w, y, z, wyz, agb) R(3, wyw, aga) \
    W3(w, z, x, wzx, abr) W3(w, z, y, wzy, abg) R(3, wzz, abb) R(3, wzw, aba) R(3, wwx, aar) \
    R(3, wwy, aag) R(3, wwz, aab) R(3, www, aaa) R(4, xxxx, rrrr) R(4, xxxy, rrrg) \
    R(4, xxxz, rrrb) R(4, xxxw, rrra) R(4, xxyx, rrgr) R(4, xxyy, rrgg) R(4, xxyz, rrgb) \
    R(4, xxyw, rrga) R(4, xxzx, rrbr) R(4, xxzy, rrbg) R(4, xxzz, rrbb) R(4, xxzw, rrba) \
    R(4, xxwx, rrar) R(4, xxwy, rrag) R(4, xxwz, rrab) R(4, xxww, rraa) R(4, xyxx, rgrr) \
    R(4, xyxy, rgrg) R(4, xyxz, rgrb) R(4, xyxw, rgra) R(4, xyyx, rggr) R(4, xyyy, rggg) \
    R(4, xyyz, rggb) R(4, xyyw, rgga) R(4, xyzx, rgbr) R(4, xyzy, rgbg) R(4, xyzz, rgbb) \
    W4(x, y, z, w, xyzw, rgba) R(4, xywx, rgar) R(4, xywy, rgag) W4(x, y, w, z, xywz, rgab) \
    R(4, xyww, rgaa) R(4, xzxx, rbrr) R(4, xzxy, rbrg) R(4, xzxz, rbrb) R(4, xzxw, rbra) \
    R(4, xzyx, rbgr) R(4, xzyy, rbgg) R(4, xzyz, rbgb) W4(x, z, y, w, xzyw, rbga) \
    R(4, xzzx, rbbr) R(4, xzzy, rbbg) R(4, xzzz, rbbb) R(4, xzzw, rbba) R(4, xzwx, rbar) \
    W4(x, z, w, y, xzwy, rbag) R(4, xzwz, rbab) R(4, xzww, rbaa) R(4, xwxx, rarr) \
    R(4, xwxy, rarg) R(4, xwxz, rarb) R(4, xwxw, rara) R(4, xwyx, ragr) R(4, xwyy, ragg) \
    W4(x, w, y, z, xwyz, ragb) R(4, xwyw, raga) R(4, xwzx, rabr) W4(x, w, z, y, xwzy, rabg) \
    R(4, xwzz, rabb) R(4, xwzw, raba) R(4, xwwx, raar) R(4, xwwy, raag) R(4, xwwz, raab) \
    R(4, xwww, raaa) R(4, yxxx, grrr) R(4, yxxy, grrg) R(4, yxxz, grrb) R(4, yxxw, grra) \
    R(4, yxyx, grgr) R(4, yxyy, grgg) R(4, yxyz, grgb) R(4, yxyw, grga) R(4, yxzx, grbr) \
    R(4, yxzy, grbg) R(4, yxzz, grbb) W4(y, x, z, w, yxzw, grba) R(4, yxwx, grar) \
    R(4, yxwy, grag) W4(y, x, w, z, yxwz, grab) R(4, yxww, graa) R(4, yyxx, ggrr) \
    R(4, yyxy, ggrg) R(4, yyxz, ggrb) R(4, yyxw, ggra) R(4, yyyx, gggr) R(4, yyyy, gggg) \
    R(4, yyyz, gggb) R(4, yyyw, ggga) R(4, yyzx, ggbr) R(4, yyzy, ggbg) R(4, yyzz, ggbb) \
    R(4, yyzw, ggba) R(4, yywx, ggar) R(4, yywy, ggag) R(4, yywz, ggab) R(4, yyww, ggaa) \
    R(4, yzxx, gbrr) R(4, yzxy, gbrg) R(4, yzxz, gbrb) W4(y, z, x, w, yzxw, gbra) \
    R(4, yzyx, gbgr) R(4, yzyy, gbgg) R(4, yzyz, gbgb) R(4, yzyw, gbga) R(4, yzzx, gbbr) \
    R(4, yzzy, gbbg) R(4, yzzz, gbbb) R(4, yzzw, gbba) W4(y, z, w, x, yzwx, gbar) \
    R(4, yzwy, gbag) R(4, yzwz, gbab) R(4, yzww, gbaa) R(4, ywxx, garr) R(4, ywxy, garg) \
    W4(y, w, x, z, ywxz, garb) R(4, ywxw, gara) R(4, ywyx, gagr) R(4, ywyy, gagg) \
    R(4, ywyz, gagb) R(4, ywyw, gaga) W4(y, w, z, x, ywzx, gabr) R(4, ywzy, gabg) \
    R(4, ywzz, gabb) R(4, ywzw, gaba) R(4, ywwx, gaar) R(4, ywwy, gaag) R(4, ywwz, gaab) \
    R(4, ywww, gaaa) R(4, zxxx, brrr) R(4, zxxy, brrg) R(4, zxxz, brrb) R(4, zxxw, brra) \
    R(4, zxyx, brgr) R(4, zxyy, brgg) R(4, zxyz, brgb) W4(z, x, y, w, zxyw, brga) \
    R(4, zxzx, brbr) R(4, zxzy, brbg) R(4, zxzz, brbb) R(4, zxzw, brba) R(4, zxwx, brar) \
    W4(z, x, w, y, zxwy, brag) R(4, zxwz, brab) R(4, zxww, braa) R(4, zyxx, bgrr) \
    R(4, zyxy, bgrg) R(4, zyxz, bgrb) W4(z, y, x, w, zyxw, bgra) R(4, zyyx, bggr) \
    R(4, zyyy, bggg) R(4, zyyz, bggb) R(4, zyyw, bgga) R(4, zyzx, bgbr) R(4, zyzy, bgbg) \
    R(4, zyzz, bgbb) R(4, zyzw, bgba) W4(z, y, w, x, zywx, bgar) R(4, zywy, bgag) \
    R(4, zywz, bgab) R(4, zyww, bgaa) R(4, zzxx, bbrr) R(4, zzxy, bbrg) R(4, zzxz, bbrb) \
    R(4, zzxw, bbra) R(4, zzyx, bbgr) R(4, zzyy, bbgg) R(4, zzyz, bbgb) R(4, zzyw, bbga) \
    R(4, zzzx, bbbr) R(4, zzzy, bbbg) R(4, zzzz, bbbb) R(4, zzzw, bbba) R(4, zzwx, bbar) \
    R(4, zzwy, bbag) R(4, zzwz, bbab) R(4, zzww, bbaa) R(4, zwxx, barr) \
    W4(z, w, x, y, zwxy, barg) R(4, zwxz, barb) R(4, zwxw, bara) W4(z, w, y, x, zwyx, bagr) \
    R(4, zwyy, bagg) R(4, zwyz, bagb) R(4, zwyw, baga) R(4, zwzx, babr) R(4, zwzy, babg) \
    R(4, zwzz, babb) R(4, zwzw, baba) R(4, zwwx, baar) R(4, zwwy, baag) R(4, zwwz, baab) \
    R(4, zwww, baaa) R(4, wxxx, arrr) R(4, wxxy, arrg) R(4, wxxz, arrb) R(4, wxxw, arra) \
    R(4, wxyx, argr) R(4, wxyy, argg) W4(w, x, y, z, wxyz, argb) R(4, wxyw, arga) \
    R(4, wxzx, arbr) W4(w, x, z, y, wxzy, arbg) R(4, wxzz, arbb) R(4, wxzw, arba) \
    R(4, wxwx, arar) R(4, wxwy, arag) R(4, wxwz, arab) R(4, wxww, araa) R(4, wyxx, agrr) \
    R(4, wyxy, agrg) W4(w, y, x, z, wyxz, agrb) R(4, wyxw, agra) R(4, wyyx, aggr) \
    R(4, wyyy, aggg) R(4, wyyz, aggb) R(4, wyyw, agga) W4(w, y, z, x, wyzx, agbr) \
    R(4, wyzy, agbg) R(4, wyzz, agbb) R(4, wyzw, agba) R(4, wywx, agar) R(4, wywy, agag) \
    R(4, wywz, agab) R(4, wyww, agaa) R(4, wzxx, abrr) W4(w, z, x, y, wzxy, abrg) \
    R(4, wzxz, abrb) R(4, wzxw, abra) W4(w, z, y, x, wzyx, abgr) R(4, wzyy, abgg) \
    R(4, wzyz, abgb) R(4, wzyw, abga) R(4, wzzx, abbr) R(4, wzzy, abbg) R(4, wzzz, abbb) \
    R(4, wzzw, abba) R(4, wzwx, abar) R(4, wzwy, abag) R(4, wzwz, abab) R(4, wzww, abaa) \
    R(4, wwxx, aarr) R(4, wwxy, aarg) R(4, wwxz, aarb) R(4, wwxw, aara) R(4, wwyx, aagr) \
    R(4, wwyy, aagg) R(4, wwyz, aagb) R(4, wwyw, aaga) R(4, wwzx, aabr) R(4, wwzy, aabg) \
    R(4, wwzz, aabb) R(4, wwzw, aaba) R(4, wwwx, aaar) R(4, wwwy, aaag) R(4, wwwz, aaab) \
    R(4, wwww, aaaa)
