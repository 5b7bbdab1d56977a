#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes misuse_calls.h for test_misuse.c: one function for each declaration of the public headers,
which asks the test for every argument and hands it the result.

usage: misuse_calls.py INCLUDE-FOLDER OUTPUT

The headers are read, not compiled: the declarations are plain enough for a few patterns, and a
declaration that is none ends the build here.
"""
import pathlib
import re
import sys

# Memory behind pointers is the test's: the numbers that say how much of it there is must be true.
TRUE_NUMBERS = {"length", "bytes_per_row", "bytes_per_image", "count", "capacity", "n_bytes"}
# Calls that may rightly wait for ever, or that take the ground away from under the test.
LEFT_OUT = {"mtl_retain", "mtl_release", "mtl_set_allocator", "mtl_free_data",
            "mtl_device_set_log_callback", "mtl_shared_event_handle_new_with_file_descriptor",
            # Files: contexts are no objects, loads write to memory later, waits have no limit.
            "mtl_io_create_compression_context", "mtl_io_compression_context_append_data",
            "mtl_io_flush_and_destroy_compression_context", "mtl_io_command_buffer_load_bytes",
            "mtl_io_command_buffer_wait_until_completed", "mtl_io_command_queue_command_buffer",
            "mtl_io_command_queue_command_buffer_with_unretained_references"}


def declarations(text):
    """(name, result, [(type, name)]) of each MTL_API function."""
    for match in re.finditer(r"MTL_API\s+([^;(]*?)\b(mtl4?_\w+)\s*\(([^;]*)\);", text):
        result = " ".join(match.group(1).split())
        parameters = []
        for piece in match.group(3).split(","):
            piece = " ".join(piece.split())
            if piece in ("", "void"):
                continue
            found = re.fullmatch(r"(.*?)(\w+)(\[\w*\])?", piece)
            if not found or "(" in piece:
                sys.exit(f"misuse_calls.py: {match.group(2)}: cannot read '{piece}'")
            parameters.append((found.group(1).strip() + (" *" if found.group(3) else ""),
                               found.group(2)))
        yield match.group(2), result, parameters


def structures(text):
    """{name: [(type, name, array)]} of every plain struct."""
    found = {}
    for match in re.finditer(r"struct (MTL\w+) \{([^{}]*)\}", text):
        fields = []
        for line in match.group(2).split(";"):
            line = " ".join(line.split())
            field = re.fullmatch(r"((?:const )?\w+)(.*)", line)
            if not field or "(" in line:
                continue
            base, rest = field.groups()
            for one in rest.split(","):
                part = re.fullmatch(r"\s*(\**(?:const \*)?)\s*(\w+)(\[\w+\])?\s*", one)
                if part:
                    fields.append(((base + " " + part.group(1)).strip(), part.group(2),
                                   bool(part.group(3))))
        found[match.group(1)] = fields
    return found


def value(kind, name, place, objects, structs, is_true, is_self):
    """C statements that set `place`, a variable or field of that type."""
    plain = kind.replace("const ", "").replace(" *const *", " **")
    base = plain.rstrip("* ")
    depth = plain.count("*")
    if depth == 0 and base in structs:
        limit = "true" if is_true else "false"
        if base in ("MTLSize", "MTLRange", "MTLOrigin", "MTLRegion"):
            return f"give_sizes(&{place}, sizeof {place}, {limit});"
        return f"give_{base}(&{place});"
    if depth == 0 and base in ("float", "double"):
        return f"{place} = ({base})give_float();"
    if depth == 0 and base == "size_t":
        return f"{place} = give_size({'true' if is_true else 'false'});"
    if depth == 0 and base.endswith(("Handler", "Callback", "Deallocator", "Dispatch")):
        return f"{place} = NULL;"
    if depth == 0 and "timeout" in name:
        return f"{place} = 1;"
    if depth == 0:
        return f"give_number(&{place}, sizeof {place});"
    if depth == 2 and base == "char":
        return f"{place} = NULL;"
    if depth == 1 and base == "void" and "object" in name:
        return f"{place} = give_object((int)(give_size(true) % N_CLASSES), false);"
    if depth == 1 and base == "char":
        return f"{place} = give_text();" if "const" in kind else f"{place} = give_memory();"
    if depth == 1 and base in objects:
        return f"{place} = give_object(CLASS_{base}, {'true' if is_self else 'false'});"
    if depth == 2 and base in objects and "*const *" in kind:
        return f"{place} = ({kind.strip()})give_objects(CLASS_{base});"
    if depth == 1 and base in structs and "const" in kind:
        return (f"{base} {name}_s[8]; memset({name}_s, 0, sizeof {name}_s);\n"
                f"    for (int k = 0; k < 8; k++) give_{base}(&{name}_s[k]);\n"
                f"    {place} = give_null() ? NULL : {name}_s;")
    return f"{place} = give_memory();"


def main():
    folder, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = "\n".join(p.read_text() for p in sorted(folder.glob("ingot/*.h"))
                     if p.name != "classes.h")  # for runtimes, not for programs
    text = re.sub(r"//[^\n]*", "", text)
    objects = sorted(set(re.findall(r"typedef struct (MTL\w+) \1;", text)))
    structs = structures(text)
    objects = [o for o in objects if o not in structs and o != "MTLRenderPipelineDescriptor"]
    out = ["// Written by misuse_calls.py.", "enum {"]
    out += [f"    CLASS_{o}," for o in objects] + ["    N_CLASSES", "};"]
    out += ["static const char *const class_names[] = {"]
    out += [f'    "{o}",' for o in objects] + ["};"]
    for name, fields in structs.items():
        lists = any(kind.count("*") == 2 or (kind.count("*") == 1 and "char" not in kind and
                                             kind.replace("const ", "").rstrip("* ") in structs)
                    for kind, _, _ in fields)
        out.append(f"static inline void give_{name}({name} *s) {{\n    (void)s;")
        for kind, field, array in fields:
            base = kind.replace("const ", "").rstrip("* ")
            if array or ("*" in kind and base not in objects and base not in ("char", "void")):
                continue # zero
            if "*" not in kind and base in structs and base not in (
                    "MTLSize", "MTLRange", "MTLOrigin", "MTLRegion", "MTLTextureSwizzleChannels"):
                continue
            if field == "unretained_references": # the test holds nothing that long
                continue
            is_true = field == "length" or (lists and field.endswith("_count"))
            out.append("    " + value(kind, field, f"s->{field}", objects, structs, is_true, False))
        out.append("}")
    names = []
    for name, result, parameters in declarations(text):
        if name in LEFT_OUT:
            continue
        names.append(name)
        has_memory = any(kind.count("*") == 2 or (kind.count("*") and kind.replace(
            "const ", "").rstrip("* ") not in objects) for kind, _ in parameters)
        out.append(f"static void do_{name}(void) {{")
        outs = []
        for i, (kind, parameter) in enumerate(parameters):
            if kind == "MTLError **":
                out.append("    MTLError *failure = NULL;")
                out.append(f"    MTLError **a{i} = give_null() ? NULL : &failure;")
                continue
            if re.fullmatch(r"MTL\w+ \*\*", kind): # results, which are the caller's
                out.append(f"    {kind[:-1]}out{i}[64] = {{NULL}};")
                out.append(f"    {kind}a{i} = give_null() ? NULL : out{i};")
                outs.append(i)
                continue
            out.append(f"    {kind} a{i};")
            is_true = has_memory and (parameter in TRUE_NUMBERS or parameter.endswith(
                ("_per_row", "_per_image", "region", "range")))
            out.append("    " + value(kind, parameter, f"a{i}", objects, structs, is_true, i == 0))
        call = f"{name}({', '.join(f'a{i}' for i in range(len(parameters)))})"
        base = result.replace("const ", "").rstrip("* ")
        if "*" in result and base in objects:
            owned = re.search(r"_(new|copy|create)(_|$)", name) or re.search(
                r"command_queue_command_buffer", name)
            out.append(f"    keep(CLASS_{base}, {call}, {'true' if owned else 'false'});")
        elif result == "void *" and ("_copy_" in name or "_serialize_" in name):
            out.append(f"    mtl_free_data({call});")
        else:
            out.append(f"    {'' if result == 'void' else '(void)'}{call};")
        if any(kind == "MTLError **" for kind, _ in parameters):
            out.append("    drop_error(failure);")
        for i in outs:
            out.append(f"    for (int k = 0; k < 64; k++) mtl_release(out{i}[k]);")
        out.append("}")
    out += ["static const struct {", "    const char *name;", "    void (*call)(void);",
            "} calls[] = {"]
    out += [f'    {{"{n}", do_{n}}},' for n in names] + ["};", ""]
    if len(names) < 500:
        sys.exit(f"misuse_calls.py: only {len(names)} declarations found")
    output.write_text("\n".join(out))


if __name__ == "__main__":
    main()
