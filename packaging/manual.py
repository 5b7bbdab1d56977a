#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages and bash completion of the commands, generated from their --help.

    packaging/manual.py BIN OUT VERSION

writes OUT/man/man1/{ingot,mslc,train_siren}.1 and OUT/bash-completion/completions/{...} for the programs in BIN.
"""
import pathlib
import re
import subprocess
import sys

SUMMARY = {"ingot": "Metal without a Mac: compile and run Metal shaders",
           "mslc": "compiler for the Metal Shading Language",
           "train_siren": "fit a neural network to an image"}
END = """.SH ENVIRONMENT
.B INGOT_CACHE_DIR
is the directory of the compile cache,
.B off
disables it. Ingot's guide lists all variables.
.SH EXIT STATUS
0 success, 1 error in the shader or the input, 2 usage error.
"""


def help_of(*command):
    done = subprocess.run([*map(str, command), "--help"], capture_output=True, text=True, timeout=60)
    if done.returncode or not done.stdout.strip():
        sys.exit(f"{' '.join(map(str, command))} --help says nothing: {done.stderr}")
    return done.stdout.rstrip()


def parts(program):
    """{words of the command: its help}: the program's, and those of its sub-commands, theirs included."""
    name, found = program.name, {}

    def add(words):
        text = found[words] = help_of(program, *words[1:])
        if words != (name,) and " COMMAND ..." not in text.split("\n")[0]:
            return
        for sub in dict.fromkeys(re.findall(rf"^  {' '.join(words)} ([a-z+]+) ", text, re.M)):
            if sub not in ("serve", "precompile"):  # mslc's, for other programs
                add((*words, sub))
    add((name,))
    return found


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(re.sub(r"^([.'])", r"\\&\1", line) for line in text.split("\n"))


def page(name, found, version):
    out = [f'.TH {name.upper()} 1 "" "Ingot {version}" "User Commands"', ".SH NAME", f"{name} \\- {roff(SUMMARY[name])}"]
    usage = dict.fromkeys(line for text in found.values() for line in re.findall(r"^usage: (.*)$", text, re.M))
    out += [".SH SYNOPSIS", ".nf", *map(roff, usage), ".fi"]
    for words, text in found.items():
        out += [".SH DESCRIPTION" if words == (name,) else f".SH {roff(' '.join(words)).upper()}", ".nf", roff(text), ".fi"]
    return "\n".join(out) + "\n" + END


def options(text):
    return sorted(set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*=?", text)))


def completion(name, found):
    """Sub-commands first, then the options of the one that stands there; files otherwise."""
    cases = []
    for words, text in found.items():
        subs = [w[-1] for w in found if w[:-1] == words]
        cases.append(f'    "{" ".join(words)}") words="{" ".join(subs + options(text))}" ;;')
    return "\n".join([
        f"# Completion of {name} for bash, made of its --help.",
        f"_{name}() {{",
        '    local current=${COMP_WORDS[COMP_CWORD]} command="' + name + '" words="" i',
        "    for ((i = 1; i < COMP_CWORD && i < 3; i++)); do",
        '        case "$command ${COMP_WORDS[i]}" in',
        *(f'        "{" ".join(words)}") command="{" ".join(words)}" ;;' for words in found if len(words) > 1),
        "        esac",
        "    done",
        '    case "$command" in', *cases, "    esac",
        '    [[ $current == -* || $COMP_CWORD -eq 1 ]] || words="$words $(compgen -f -- "$current")"',
        '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
        "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace",
        "    return 0",
        "}",
        f"complete -o filenames -F _{name} {name}", ""])


def main():
    programs, out, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    for folder in ("man/man1", "bash-completion/completions"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for name in SUMMARY:
        found = parts(programs / name)
        (out / "man/man1" / f"{name}.1").write_text(page(name, found, version))
        (out / "bash-completion/completions" / name).write_text(completion(name, found))


if __name__ == "__main__":
    main()
