# SPDX-License-Identifier: Apache-2.0
"""ggml's Metal back end, from the sdist of llama-cpp-python: its own operator tests against its CPU back end, and a
language model of random weights on both. Only settings from outside: the toolchain file and stand-ins for xcrun."""
import json
import os
import re

CHECKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "checks")
# The Metal library is a file beside the program: ggml's way to embed it is assembly of Mach-O.
SETTINGS = ("-DGGML_METAL=ON -DGGML_METAL_EMBED_LIBRARY=OFF -DGGML_BLAS=OFF -DGGML_OPENMP=OFF -DLLAMA_CURL=OFF "
            "-DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=OFF "
            "-DLLAMA_BUILD_SERVER=OFF -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Release")
# What takes longest stands alone; the rest is one line.
GROUPS = {"MUL_MAT": "products of matrices", "MUL_MAT_ID": "products chosen by experts",
          "FLASH_ATTN_EXT": "flash attention"}


def build(p, llama):
    out = p.folder / "build"
    p.sh(f"cmake -G Ninja -S '{llama}' -B '{out}' -DCMAKE_TOOLCHAIN_FILE='{p.build}/ingot-mac.cmake' {SETTINGS} && "
         f"ninja -C '{out}' ggml llama ggml-metal-lib", env=p.mac_env(), log="build")
    libraries = f"-L'{out}/bin' -lggml -lggml-base -Wl,-rpath,'{out}/bin' -Wl,-rpath-link,'{p.build}/lib/mac'"
    headers = f"-I'{llama}/ggml/include' -I'{llama}/ggml/src' -I'{llama}/include'"
    made = p.sh(f"'{p.ingot}' c++ -std=c++17 -O1 -w -include memory {headers} '{llama}/tests/test-backend-ops.cpp' "
                f"{libraries} -lggml-cpu -lggml-metal -lpthread -o test-backend-ops && "
                f"'{p.ingot}' cc -std=gnu17 -O2 {headers} '{CHECKS}/compare_logits.c' {libraries} -lllama -lm "
                "-o compare_logits", log="link")
    p.row("builds with settings from outside", passed=made.status == 0, failed=made.status != 0)
    return made.status == 0


def operators(p, environment):
    out = p.folder / "operators.json"
    p.sh(f"python3 '{CHECKS}/ggml_ops.py' ./test-backend-ops '{out}' --limit 3000", env=environment, timeout=20000,
         log="operators")
    rows = json.loads(out.read_text())
    for name, what in [*GROUPS.items(), (None, "its other operators")]:
        chosen = [r for n, r in rows.items() if n == name or (name is None and n not in GROUPS)]
        p.row(f"test-backend-ops: {what}", *(sum(r[k] for r in chosen) for k in ("passed", "failed", "unsupported")),
              seconds=sum(r["seconds"] for r in chosen),
              note="; ".join(f"{n}: {r['ended']}" for n, r in rows.items() if r in chosen and r["ended"] != "yes"))


def model(p, environment):
    python = p.python("gguf")
    for kind in ("f32", "f16", "q8_0", "q4_0"):
        path = p.folder / f"{kind}.gguf"
        p.sh([python, f"{CHECKS}/random_model.py", path, "--type", kind], log="model")
        r = p.sh(["./compare_logits", path], env=environment, log=f"logits-{kind}")
        speed = re.findall(r"^  (.*?), \d+ tokens: CPU (\S+)/s, Metal (\S+)/s", r.text, re.MULTILINE)
        p.row(f"logits of a random model, {kind}", passed=r.status == 0, failed=r.status != 0,
              note="; ".join(f"{what}: {metal} tokens/s, its CPU {cpu}" for what, cpu, metal in speed))


def run(p):
    llama = p.sdist("llama-cpp-python") / "vendor" / "llama.cpp"
    if not build(p, llama):
        return
    environment = {"GGML_METAL_PATH_RESOURCES": str(p.folder / "build" / "bin")}
    model(p, environment)
    operators(p, environment)
