# SPDX-License-Identifier: Apache-2.0
"""ggml's Metal back end, from the sdist of llama-cpp-python: its own operator tests against its CPU back end, and a
language model of random weights on both. Sources are unmodified: only a toolchain file and stand-ins for xcrun are given."""
import json
import os
import re

CHECKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "checks")
SETTINGS = ("-DGGML_METAL=ON -DGGML_BLAS=OFF -DGGML_OPENMP=OFF -DLLAMA_CURL=OFF "
            "-DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=OFF "
            "-DLLAMA_BUILD_SERVER=OFF -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Release")
TENSORS = {"GGML_METAL_TENSOR_ENABLE": "1"}
# What takes longest stands alone; the rest is one line.
GROUPS = {"MUL_MAT": "matrix multiplication", "MUL_MAT_ID": "mixture-of-experts matrix multiplication",
          "FLASH_ATTN_EXT": "flash attention"}


def build(p, llama):
    out = p.folder / "build"
    p.sh(f"cmake -G Ninja -S '{llama}' -B '{out}' -DCMAKE_TOOLCHAIN_FILE='{p.build}/ingot-mac.cmake' {SETTINGS} && "
         f"ninja -C '{out}' ggml llama", env=p.mac_env(), log="build")
    libraries = f"-L'{out}/bin' -lggml -lggml-base -Wl,-rpath,'{out}/bin' -Wl,-rpath-link,'{p.build}/lib/mac'"
    headers = f"-I'{llama}/ggml/include' -I'{llama}/ggml/src' -I'{llama}/include'"
    made = p.sh(f"'{p.ingot}' c++ -std=c++17 -O1 -w -include memory {headers} '{llama}/tests/test-backend-ops.cpp' "
                f"{libraries} -lggml-cpu -lggml-metal -lpthread -o test-backend-ops && "
                f"'{p.ingot}' cc -std=gnu17 -O2 {headers} '{CHECKS}/compare_logits.c' {libraries} -lllama -lm "
                f"-o compare_logits && cc -std=gnu17 -O2 -shared -fPIC {headers} '{CHECKS}/ggml_threads.c' "
                "-o ggml_threads.so", log="link")
    p.row("builds unmodified", passed=made.status == 0, failed=made.status != 0)
    return made.status == 0


def operators(p, environment, only="", way=""):
    """The operators (or `only` some), as rows whose names end in `way`."""
    out = p.folder / f"operators{way.replace(' ', '-')}{'-all' * p.all}.json"
    out.unlink(missing_ok=True)
    p.sh(f"python3 '{CHECKS}/ggml_ops.py' ./test-backend-ops '{out}' --jobs {os.cpu_count()} --op '{only}' "
         + ("--all --limit 20000" if p.all else "--limit 1500"), timeout=100000, log=out.stem,
         env={**environment, "LD_PRELOAD": str(p.folder / "ggml_threads.so")})
    rows = json.loads(out.read_text())
    for name, what in [*GROUPS.items(), (None, "its other operators")]:
        chosen = {n: r for n, r in rows.items() if n == name or (name is None and n not in GROUPS)}
        if not chosen:
            continue
        sampled = any(r["sample"] for r in chosen.values())
        unfinished = [f"{n}: {r['ended']}" for n, r in chosen.items() if r["ended"] != "yes"]
        passed, failed, unsupported = (sum(r[k] for r in chosen.values()) for k in ("passed", "failed", "unsupported"))
        p.row(f"test-backend-ops: {what}{' (a sample)' * sampled}{way}", passed, failed + len(unfinished), unsupported,
              seconds=sum(r["seconds"] for r in chosen.values()), note="; ".join(unfinished))


def speed(p, device, kind, environment):
    """GFLOP/s of a product of kind with 512 columns, by ggml's own measure; None if it has none."""
    r = p.sh(["./test-backend-ops", "perf", "-b", device, "-o", "MUL_MAT", "-p",
              f"type_a={kind},type_b=f32,m=4096,n=512,k=14336"], env=environment, log=f"perf-{kind}-{device}")
    found = re.search(r"([\d.]+) ([TG])FLOPS", re.sub(r"\x1b\[[0-9;]*m", "", r.text))
    return found and float(found[1]) * (1000 if found[2] == "T" else 1)


def products(p):
    """On its Metal back end with simdgroup matrices (its choice for chips it does not know) and with Metal's tensors
    (its choice for the newest), and on its CPU back end, to which the test program gives half of the processors."""
    for kind in ("f32", "f16", "q4_0"):
        figures = {"simdgroup matrices": speed(p, "MTL0", kind, {}),
                   "tensors": speed(p, "MTL0", kind, TENSORS),
                   "its CPU back end on half of the processors": speed(p, "CPU", kind, {})}
        ok = all(figures.values())
        p.row(f"perf: 4096 x 14336 weights of {kind}, 512 columns", passed=ok, failed=not ok,
              note=", ".join(f"{what} {gflops:.3g}" for what, gflops in figures.items() if gflops) + " GFLOP/s")


def model(p):
    python = p.python("gguf")
    for kind in ("f32", "f16", "q8_0", "q4_0"):
        path = p.folder / f"{kind}.gguf"
        p.sh([python, f"{CHECKS}/random_model.py", path, "--type", kind], log="model")
        r = p.sh(["./compare_logits", path], log=f"logits-{kind}")
        speed_of = re.compile(r"^  (.*?), \d+ tokens: CPU (\S+)/s, Metal (\S+)/s; .*: CPU (\S+), Metal (\S+)", re.MULTILINE)
        error = re.findall(r"normalised error (\S+)", r.text)
        p.row(f"logits of a random model, {kind}", passed=r.status == 0, failed=r.status != 0,
              note="; ".join([f"{what}: {metal} tokens/s, its CPU {cpu}; per second of processor time {metal_work}, its CPU {work}"
                              for what, cpu, metal, work, metal_work in speed_of.findall(r.text)]
                             + [f"normalised error {e}" for e in error]))


def run(p):
    llama = p.sdist("llama-cpp-python") / "vendor" / "llama.cpp"
    if not build(p, llama):
        return
    model(p)
    products(p)
    operators(p, {})
    operators(p, TENSORS, "MUL_MAT,MUL_MAT_ID", " with tensors")
