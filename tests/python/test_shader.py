# SPDX-License-Identifier: Apache-2.0
"""pymetal.shader: preprocessor, templates, kernel generator, hash. No device but for compiling."""

import hashlib

import pytest

import pymetal as pm
from pymetal.shader import (COMMON_SNIPPETS, ShaderPreprocessor, ShaderTemplate,
                            compute_shader_hash, create_compute_kernel)


def process(source, pre=None, **keywords):
    keywords.setdefault("process_includes", False)
    return (pre or ShaderPreprocessor()).process(source, **keywords)


class TestDefines:
    def test_words_only(self):
        pre = ShaderPreprocessor().define("N", 4)
        assert process("a[N] aN Nb N_ N", pre) == "a[4] aN Nb N_ 4"

    def test_default_value_is_one(self):
        assert process("F", ShaderPreprocessor().define("F")) == "1"

    def test_values_become_text(self):
        assert process("A B", ShaderPreprocessor().define("A", 2.5).define("B", None)) == "2.5 None"

    def test_backslashes_are_literal(self):
        assert process("A", ShaderPreprocessor().define("A", r"\1\n")) == r"\1\n"

    def test_longest_first_then_one_pass_each(self):
        pre = ShaderPreprocessor().define("AB", "A").define("A", "x")
        assert process("AB A", pre) == "x x"
        pre = ShaderPreprocessor().define("A", "AB").define("AB", "y")
        assert process("A AB", pre) == "AB y"

    def test_lines_are_removed(self):
        assert process("#define N 8\n#  define FLAG\nint a[N]; FLAG") == "int a[8]; 1"

    def test_line_wins_over_python(self):
        assert process("#define N 2\nN", ShaderPreprocessor().define("N", 1)) == "2"

    def test_function_like_macro_is_a_word(self):
        assert process("#define F(x) x*2\nF;") == "(x) x*2;"

    def test_last_line_without_newline(self):
        assert process("N\n#define N 3") == "3\n"

    def test_define_many_and_undefine(self):
        pre = ShaderPreprocessor().define_many({"A": 1, "B": "two"}).undefine("A").undefine("none")
        assert process("A B", pre) == "A two"

    def test_lines_do_not_stay(self):
        pre = ShaderPreprocessor()
        process("#define N 3\n", pre)
        assert process("N", pre) == "N"

    def test_switched_off(self):
        pre = ShaderPreprocessor().define("N", 4)
        assert process("#define M 1\nN M", pre, process_defines=False) == "#define M 1\nN M"

    def test_macro_functions_are_last(self):
        seen = []

        def twice(arguments):
            seen.append(arguments)
            return f"2*({arguments})"

        pre = ShaderPreprocessor().define("N", 7).register_macro_function("TWICE", twice)
        assert process("TWICE(N, b) + TWICE (x) + TWICE + xTWICE(1)", pre) == (
            "2*(7, b) + 2*(x) + TWICE + xTWICE(1)")
        assert seen == ["7, b", "x"]


class TestConditionals:
    @pytest.mark.parametrize("word, defined, kept", [
        ("ifdef", True, "yes"), ("ifdef", False, "no"),
        ("ifndef", True, "no"), ("ifndef", False, "yes")])
    def test_else(self, word, defined, kept):
        pre = ShaderPreprocessor()
        if defined:
            pre.define("FEATURE")
        source = f"a\n#{word} FEATURE\nyes\n#else\nno\n#endif\nb"
        assert process(source, pre, process_defines=False) == f"a\n{kept}\nb"

    def test_names_of_the_text_do_not_count(self):
        assert process("#define F\n#ifdef F\nx\n#endif\ny", process_defines=False) == "#define F\ny"

    def test_if_passes(self):
        source = "#if N > 2\na\n#elif N\nb\n#else\nc\n#endif"
        assert process(source) == source

    def test_nested(self):
        pre = ShaderPreprocessor().define("A")
        source = ("#ifdef A\n1\n#ifdef B\n2\n#else\n3\n#endif\n#else\n#ifndef B\n4\n#endif\n"
                  "5\n#endif\n6")
        assert process(source, pre, process_defines=False) == "1\n3\n6"

    def test_stray_endif_passes(self):
        assert process("a\n#endif\nb") == "a\n#endif\nb"

    def test_switched_off(self):
        assert process("#ifdef A\nx\n#endif", process_conditionals=False) == "#ifdef A\nx\n#endif"


class TestIncludes:
    def test_standard_header_is_not_found(self):
        with pytest.raises(FileNotFoundError, match="metal_stdlib"):
            ShaderPreprocessor().process("#include <metal_stdlib>\n")

    def test_both_forms_and_once_only(self, tmp_path):
        (tmp_path / "a.h").write_text("int a;")
        (tmp_path / "b.h").write_text('#include "a.h"\nint b;')
        pre = ShaderPreprocessor([tmp_path])
        text = pre.process('#include <b.h>\n#include "a.h"\nint c;')
        assert text.count("int a;") == 1 and text.count("int b;") == 1 and text.endswith("int c;")
        lines = [line.lower() for line in text.splitlines()]
        assert [line for line in lines if line.startswith("//")] == [
            "// begin include: b.h", "// begin include: a.h", "// end include: a.h",
            "// end include: b.h", "// already included: a.h"]
        # A new run begins afresh.
        assert "int a;" in pre.process('#include "a.h"')

    def test_cycle_ends(self, tmp_path):
        (tmp_path / "a.h").write_text('#include "b.h"\nA')
        (tmp_path / "b.h").write_text('#include "a.h"\nB')
        text = ShaderPreprocessor([str(tmp_path)]).process('#include "a.h"')
        assert text.count("A\n") == 1 and text.count("B\n") == 1

    def test_too_deep(self, tmp_path):
        for i in range(60):
            (tmp_path / f"{i}.h").write_text(f'#include "{i + 1}.h"')
        with pytest.raises(RecursionError):
            ShaderPreprocessor([tmp_path]).process('#include "0.h"')

    def test_folder_of_the_file_comes_first(self, tmp_path):
        for name in ("near", "far"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "x.h").write_text(f"from {name}")
        main = tmp_path / "near" / "main.metal"
        main.write_text('#include "x.h"\n#define N 3\nN')
        pre = ShaderPreprocessor().add_include_path(tmp_path / "far")
        assert "from near" in pre.process_file(main)
        assert "N" in pre.process_file(str(main), process_defines=False)
        # The cache goes by the name as written, until it is cleared.
        assert "from near" in pre.process('#include "x.h"')
        assert "from far" in pre.clear_cache().process('#include "x.h"')

    def test_order_of_paths(self, tmp_path):
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "x.h").write_text(name)
        assert "two" in ShaderPreprocessor([tmp_path / "two"]).add_include_path(
            tmp_path / "one").process('#include "x.h"')

    def test_macros_of_included_files(self, tmp_path):
        (tmp_path / "n.h").write_text("#define N 12\n")
        assert "int a[12];" in ShaderPreprocessor([tmp_path]).process('#include "n.h"\nint a[N];')


def test_every_setter_returns_itself(tmp_path):
    pre = ShaderPreprocessor()
    assert pre.add_include_path(tmp_path) is pre and pre.define("A") is pre
    assert pre.define_many({}) is pre and pre.undefine("A") is pre
    assert pre.register_macro_function("F", str) is pre and pre.clear_cache() is pre
    template = ShaderTemplate("")
    assert template.set_default("a", 1) is template and template.set_defaults({}) is template


class TestTemplate:
    def test_render(self):
        template = ShaderTemplate("kernel void {name}(device {type} *a) {{}}")
        template.set_defaults({"type": "float", "name": "f"})
        assert template.render() == "kernel void f(device float *a) {}"
        assert template.render(type="int") == "kernel void f(device int *a) {}"
        assert template.set_default("name", "g").render() == "kernel void g(device float *a) {}"

    def test_missing_value(self):
        with pytest.raises(KeyError, match="name"):
            ShaderTemplate("{name}").render(other=1)

    def test_with_preprocessor(self):
        pre = ShaderPreprocessor().define("N", 16)
        assert ShaderTemplate("{t} a[N];").render_with_preprocessor(pre, t="half") == "half a[16];"


def test_hash():
    assert compute_shader_hash("é") == hashlib.sha256("é".encode()).hexdigest()
    assert len(compute_shader_hash("")) == 64
    assert compute_shader_hash("a") != compute_shader_hash("b")


class TestKernel:
    def test_text(self):
        source = create_compute_kernel("add", "\nc[idx] = a[idx]\n    + b[idx];\n", [
            ("a", "float", "read"), ("b", "float", "write"), ("c", "half4", "readwrite")])
        assert "#include <metal_stdlib>" in source and "using namespace metal;" in source
        for part in ("kernel void add(device const float* a [[buffer(0)]],",
                     "device float* b [[buffer(1)]],", "device half4* c [[buffer(2)]],",
                     "uint idx [[thread_position_in_grid]])", "    c[idx] = a[idx]"):
            assert part in source

    def test_without(self):
        source = create_compute_kernel("f", ";", [("a", "int", "read")], threads_per_grid=False,
                                       include_stdlib=False)
        assert "include" not in source and "thread_position" not in source

    def test_no_buffers(self):
        assert "kernel void f(uint idx" in create_compute_kernel("f", ";", [])
        assert "kernel void f()" in create_compute_kernel("f", ";", [], threads_per_grid=False)

    def test_compiles(self, device):
        source = create_compute_kernel("square", "data[idx] *= data[idx];",
                                       [("data", "float", "readwrite")])
        assert device.new_library_with_source(source).new_function("square") is not None


def test_snippets(device):
    assert set(COMMON_SNIPPETS) == {"metal_stdlib", "float_constants", "int_constants"}
    for name in ("PI", "TAU", "E", "SQRT2"):
        assert f"constant float {name} = " in COMMON_SNIPPETS["float_constants"]
    for name in ("INT_MAX", "INT_MIN", "UINT_MAX"):
        assert f" {name} = " in COMMON_SNIPPETS["int_constants"]
    kernel = "kernel void k(device float *o [[buffer(0)]]) { o[0] = PI + TAU + E + SQRT2; }"
    source = COMMON_SNIPPETS["metal_stdlib"] + COMMON_SNIPPETS["float_constants"] + kernel
    assert device.new_library_with_source(source).function_names == ["k"]
    kernel = "kernel void k(device int *o [[buffer(0)]]) { o[0] = INT_MAX; o[1] = INT_MIN; }"
    assert device.new_library_with_source(COMMON_SNIPPETS["int_constants"] + kernel)
    assert pm.shader.COMMON_SNIPPETS is COMMON_SNIPPETS
