# Ingot: two commands do everything on a fresh Debian 12: `make demo` and `make test`.
# The build itself is CMake + Ninja; this file names the things a person wants.
B      ?= build
PREFIX ?= /usr/local
CMAKE  := cmake -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX)

.PHONY: all help build demo test test-long test-swift test-times bench bench-peers fuzz fuzz-sources chaos programs install uninstall dist wheel dist-test format asan tsan clean bootstrap
all: build

help:
	@echo 'make              build into $(B)'
	@echo 'make demo         train a network, run the examples, render images'
	@echo 'make test         run the test suite (DEVICE=cuda:0: the device tests on that device)'
	@echo 'make test-long    with fuzzers and exhaustive tests in full: hours'
	@echo 'make test-swift   the tests of Swift, with a Debian that has it (made in the cache)'
	@echo 'make test-times   processor time of each test'
	@echo 'make asan, tsan   the tests under a sanitizer'
	@echo 'make fuzz         libFuzzer on file parsers, then differential fuzzing of the vectoriser'
	@echo 'make fuzz-sources search for generated sources that crash the compiler'
	@echo 'make chaos        the tests with injected thread stalls'
	@echo 'make bench        run the benchmarks; bench-peers: compare with other libraries'
	@echo 'make programs     third-party Metal programs, unmodified'
	@echo 'make dist         tar file, wheel, Debian packages; dist-test: test them'
	@echo 'make install      to PREFIX ($(PREFIX)); uninstall'
	@echo 'make format       clang-format 22 and the house style'

bootstrap:
	@scripts/bootstrap

$(B)/build.ninja: | bootstrap
	@$(CMAKE) -S . -B $(B) -DCMAKE_BUILD_TYPE=Release >/dev/null

build: $(B)/build.ninja
	@ninja -C $(B) --quiet

demo: build
	@scripts/demo $(B)

# DEVICE=cuda:0: what any device must do, on that one.
test: build
ifdef DEVICE
	@scripts/test $(B) --device $(DEVICE)
else
	@scripts/sysroot $(B)-aarch64/sysroot || echo "no arm64 packages: the tests of AArch64 will be skipped"
	@scripts/test $(B)
endif

# All tests, and in full the fuzzers and exhaustive tests that `make test` takes samples of.
test-long: build
	@scripts/test $(B) --long

# The Swift tests, in a Debian with Swift that is made in the user's cache first (2.5 GB). `make test` runs them where
# there is a Swift, and SWIFT=1 makes them fail where there is none.
test-swift: build
	@scripts/swift-system >/dev/null
	@SWIFT=1 scripts/test $(B) -R '^swift\.'

# What every test costs in processor time.
test-times: build
	@scripts/test-times $(B)

bench: build
	@scripts/bench $(B)

bench-peers: build
	@scripts/bootstrap peers
	@scripts/bench $(B) --peers

# libFuzzer on every file parser, ten minutes each, T="npy elf": only these; then, without T, differential fuzzing of
# the vectoriser with random kernels until interrupted.
fuzz: build
	@scripts/fuzz $(B) --files $(T)
	@$(if $(T),,scripts/fuzz $(B))

# Generated sources that crash the compiler, until interrupted.
fuzz-sources: build
	@scripts/fuzz $(B) --sources --made

# The tests that wait for other threads, with injected stalls.
chaos: build
	@LD_PRELOAD=$(abspath $(B))/tests/chaos/libchaos.so ctest --test-dir $(B) -j4 --output-on-failure -R '^(api|base|tensor|neural)\.'

# Third-party programs, unmodified, from the package index: docs/programs.md. P="tinygrad" runs one; ALL=1 runs all
# cases of tests of which a sample is run otherwise (hours).
programs: build
	@python3 scripts/programs/run.py $(if $(ALL),--all) $(B) $(P)

install: build
	@cmake --install $(B) --prefix $(PREFIX)
	@mv $(B)/install_manifest.txt $(B)/installed.txt

uninstall:
	@cmake -DLIST=$(abspath $(B))/installed.txt -DPREFIX=$(PREFIX) -P cmake/uninstall.cmake

# What others install: dist/ gets a tar file, a wheel and Debian packages (docs/guide/install.md).
dist: build
	@python3 packaging/dist.py $(B) tar wheel deb

wheel: build
	@python3 packaging/dist.py $(B) wheel

# All of it, on Debian 12 and 13 that have never seen a compiler (debootstrap, root).
dist-test: dist
	@packaging/dist_test

format:
	@python3 tests/house/check_style.py --fix

asan tsan: bootstrap
	@$(CMAKE) -S . -B build-$@ -DCMAKE_BUILD_TYPE=RelWithDebInfo -DINGOT_SANITIZE=$@ >/dev/null
	@ninja -C build-$@ --quiet
	@scripts/test build-$@

clean:
	@rm -rf build build-llvm-free build-aarch64 build-asan build-tsan
