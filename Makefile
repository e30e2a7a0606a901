# Thin front for CMake; everything is built below $(BUILD), programs in $(BUILD)/bin.
#
#   make                    all programs
#   make model=laminar      one fitter: build/bin/homodyne-laminar, and homodyne   (also model=path/to/own.lua)
#   make demo               fit the bundled experiment, truth beside the result; its report
#   make test               all tests
#   make fuzz seconds=60    the readers of files of strangers, fuzzed for a minute each (clang)
#   make sanitize           the tests with the sanitizers of addresses, of undefined behaviour, of threads
#   make valgrind           tests and small fits under valgrind (hours)
#   make lint               cppcheck and clang-tidy
#   make test-arm64         for aarch64 with a cross compiler, tests in qemu-user (hours; Debian)
#   make study              coverage of intervals, calibration of the sampler, at full size
#   make faults             memory that runs out, at every single allocation; full disks, SIGKILL (two hours)
#   make bench              times: kernels, threads, whole fits, model compilation
#   make install            to $(DESTDIR)$(PREFIX)
#   make deb                a Debian package of everything: $(BUILD)/homodyne-gen_VERSION_ARCH.deb
#   make docs                the documentation as HTML: $(BUILD)/docs/index.html
#   make wheel              the Python package: $(BUILD)/dist/homodyne_gen-VERSION-py3-none-any.whl
#   make binary-wheel       programs, models and package for pip on any Linux with glibc 2.28: $(BUILD)/wheel
#   make binary-wheel arch=aarch64      the same for 64-bit ARM
#   make dist               the source archive, its parts (SPDX) and checksums: $(BUILD)/dist
#   make reproducible       two builds in two folders: the same bytes?
#   make clean
BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
CMAKE  ?= cmake
CTEST  ?= ctest
PYTHON ?= python3
GENERATOR ?= $(if $(shell command -v ninja 2>/dev/null),Ninja,Unix Makefiles)

# A configure that failed leaves a cache without the file of the build tool.
cached     = $(wildcard $(BUILD)/CMakeCache.txt)
configured = $(wildcard $(BUILD)/build.ninja $(BUILD)/Makefile)
CONFIGURE = $(CMAKE) -S . -B $(BUILD) $(if $(cached),,-G "$(GENERATOR)" -DCMAKE_BUILD_TYPE=Release) \
            -DCMAKE_INSTALL_PREFIX=$(PREFIX)
COMPILE   = $(CMAKE) --build $(BUILD) --parallel $(JOBS)

# Other names of a model; a path to a model file of one's own.
alias_laminar_flow   = laminar
alias_two_component  = heterodyne
alias_static         = static_isotropic
file  = $(filter %.lua,$(model))
name  = $(or $(alias_$(model)),$(basename $(notdir $(model))))
extra = $(if $(file),-DFIT_ADD_MODEL=$(abspath $(file)))

.PHONY: all configure dependencies demo test test-arm64 fuzz sanitize valgrind lint study faults bench install \
    deb docs wheel binary-wheel dist reproducible clean
ifdef model
all: configure
	@$(COMPILE) --target homodyne-$(name) homodyne homodyne-report
else
all: configure
	@$(COMPILE)
endif

# Before the first build: packages that are missing are installed (Debian, Ubuntu) or named.
dependencies:
	@$(if $(configured),:,build-aux/install-deps)

# CMake itself notices changes of its files later; so this runs once, or when a model of one's own is named.
configure: dependencies
ifneq ($(file),)
	@test -f $(file) || { echo "make: no file $(file)" >&2; exit 1; }
	@$(CONFIGURE) $(extra)
else
	@$(if $(configured),:,$(CONFIGURE))
endif

demo: configure
	@$(COMPILE) --target homodyne homodyne-laminar homodyne-static_isotropic homodyne-report
	@$(BUILD)/bin/homodyne demo $(BUILD)/demo

test: configure
	@$(COMPILE)
	@cd $(BUILD) && $(CTEST) --output-on-failure --parallel 2

# Left out, with the reason, where there is no cross compiler or no qemu-user.
test-arm64: configure
	@$(CMAKE) --build $(BUILD) --parallel $(JOBS) --target homodyne-gen homodyne homodyne-laminar homodyne-heterodyne \
	    homodyne-static_isotropic homodyne-kww
	@FIT_GENERATOR=$(abspath $(BUILD)/bin/homodyne-gen) JOBS=$(JOBS) build-aux/arm64.sh $(BUILD)/arm64 || test $$? -eq 77

# Its own folder of the build; targets=npz names some of them only.
seconds = 60
fuzz: dependencies
	@$(CMAKE) --preset fuzz -B $(BUILD)/fuzz $(if $(wildcard $(BUILD)/fuzz/CMakeCache.txt),,-G "$(GENERATOR)")
	@$(CMAKE) --build $(BUILD)/fuzz --parallel $(JOBS) --target fuzzers
	@tests/fuzz/run.sh $(BUILD)/fuzz/tests/fuzz $(seconds) $(targets)

# Folders of their own in the build, as in CMakePresets.json; with=asan or with=tsan: one of the two.
with = asan tsan
sanitize: export LSAN_OPTIONS = suppressions=$(CURDIR)/build-aux/lint/lsan.supp:print_suppressions=0
sanitize: dependencies
	@for p in $(with); do \
	    CMAKE_GENERATOR="$${CMAKE_GENERATOR-$(GENERATOR)}" $(CMAKE) --preset $$p -B $(BUILD)/$$p && \
	    $(CMAKE) --build $(BUILD)/$$p --parallel $(JOBS) && \
	    (cd $(BUILD)/$$p && $(CTEST) --output-on-failure) || exit; \
	done

# A folder of its own, too; tests="test_npz e2e-words": some of the tests only.
valgrind: dependencies
	@CMAKE_GENERATOR="$${CMAKE_GENERATOR-$(GENERATOR)}" $(CMAKE) --preset valgrind -B $(BUILD)/valgrind
	@$(CMAKE) --build $(BUILD)/valgrind --parallel $(JOBS)
	@JOBS=$(JOBS) build-aux/valgrind.sh $(BUILD)/valgrind $(tests)

# files="runtime/fit/fit.c": some files only.
lint: configure
	@$(COMPILE) --target homodyne-laminar homodyne-kww
	@JOBS=$(JOBS) build-aux/lint.sh $(BUILD) $(files)

study: configure
	@$(COMPILE) --target study

faults: configure
	@$(COMPILE)
	@$(COMPILE) --target faults

bench: configure
	@$(COMPILE) --target homodyne-laminar homodyne-static_isotropic bench-rat43 bench-heterodyne \
	    bench-coreshell bench-peak bench-shard test_nist homodyne-gen-api module-kww
	@BUILD=$(BUILD) build-aux/bench.sh

install: configure
	@$(COMPILE)
	@DESTDIR=$(DESTDIR) $(CMAKE) --install $(BUILD) --prefix $(PREFIX)

deb: configure
	@$(COMPILE)
	@cd $(BUILD) && cpack -G DEB

docs: configure
	@$(COMPILE) --target docs

wheel:
	@$(PYTHON) python/wheel_backend.py $(BUILD)/dist

binary-wheel:
	@build-aux/wheel/wheel.sh $(BUILD)/wheel $(arch)

dist:
	@build-aux/dist.sh $(BUILD)/dist

reproducible:
	@JOBS=$(JOBS) build-aux/reproducible.sh $(BUILD)/twice

clean:
	rm -rf $(BUILD)
