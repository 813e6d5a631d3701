# make            list the targets
# make run        install what is missing, build, and reverse INPUT into OUTPUT
# make test       install what is missing, build, and run all tests

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
CORPUS ?= ../shared/media
BIN = .build/command/retrograde
PLUGIN = .build/plugin/libgstretrograde.so
VERSION := $(shell sed -n 's/^.define RETROGRADE_VERSION "\(.*\)"/\1/p' Sources/CVersion/include/CVersion.h)
LIBDIR ?= $(PREFIX)/lib
# Where GStreamer's own plugins would be, had it this prefix; in a user's own prefix, where GStreamer looks for that user's.
PLUGINDIR ?= $(if $(filter $(HOME)/.local,$(PREFIX)),$(PREFIX)/share/gstreamer-1.0/plugins,$(shell \
  pkg-config --define-variable=prefix='$(PREFIX)' --variable=pluginsdir gstreamer-1.0 2>/dev/null))

PACKAGES = libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libgif-dev libimagequant-dev libwebp-dev zlib1g-dev libpango1.0-dev libsoup-3.0-dev \
  gstreamer1.0-plugins-base gstreamer1.0-plugins-good \
  gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly glib-networking gstreamer1.0-libav gstreamer1.0-tools gstreamer1.0-x gstreamer1.0-alsa fonts-dejavu-core pkgconf
# Only corpus and benchmarks use these: an oracle that shares no code with GStreamer, GNU time, and peers to be compared with.
BENCH_PACKAGES = ffmpeg python3-numpy python3-matplotlib time melt mpv sox
# What the tests load the plugin into.
TEST_PACKAGES = xvfb chromium chromium-driver curl gstreamer1.0-plugins-base-apps gstreamer1.0-plugins-bad-apps ges1.0-tools python3-gi gir1.2-gstreamer-1.0 \
  gcc libc6-dev ffmpeg
# Packages to build and check Debian packages.
DEB_PACKAGES = build-essential debhelper lintian python3
# What a cluster of the tests' own is made of.
CLUSTER_PACKAGES = slurm-wlm munge python3
# Code name of this system's release, as in bookworm.
CODENAME := $(shell . /etc/os-release && echo $$VERSION_CODENAME)
# Folder of the Debian packages for RELEASE, or for this system.
DEBS = .build/deb/$(or $(RELEASE),$(CODENAME))
DOCS = .build/docs/site

.PHONY: help setup setup-tools setup-cluster build plugin run test test-cluster lint architecture elements format corpus hostile fuzz faults bench bench-quick bench-containers bench-serve serve-load quality install install-plugin uninstall \
  deb test-deb test-on quirks readme-picture docs clean

help:
	@echo "make setup      install the Debian packages that are missing"
	@echo "make build      build the command (release)"
	@echo "make run        reverse a clip: INPUT=clip.mp4 OUTPUT=pilc.mp4; without INPUT, one made for the purpose"
	@echo "make test       run all tests; SANITIZE=thread or SANITIZE=address: under that sanitizer"
	@echo "make test-cluster  start a Slurm cluster of two nodes here, and have it make a mirror while a node dies"
	@echo "make lint       check the code's format, that targets import only what they may, and that all say one version"
	@echo "make architecture  draw the targets in docs/how-it-works.md anew"
	@echo "make elements   write the reference in docs/elements.md anew, from the plugin"
	@echo "make format     put it right"
	@echo "make corpus     reverse every file of CORPUS=folder, and check each; MODE=lossless|default|budgets: only in that mode"
	@echo "make hostile    reverse N=500 damaged files, and check how each run ends: SEED=1 FIRST=0"
	@echo "make fuzz       run each of libFuzzer's targets for SECONDS=60; ONLY=names"
	@echo "make faults     let the disk fail at one call after the other, and check how each run ends: CALLS=12 a kind;"
	@echo "                kill it at random moments, and cancel it: KILLS=200 CANCELS=500"
	@echo "make bench      time, memory, size and likeness beside other programs', into docs/benchmarks.md; bench-quick: three lines"
	@echo "make bench-containers  time, disk and memory for the same film in each container"
	@echo "make bench-serve  how a mirror plays in Chromium while it is made, into docs/serve.md; serve-load: 200 clients at once"
	@echo "make quality    SSIM and size of the default quality over CORPUS=folder, and the curves of encoders' speeds"
	@echo "make plugin     build the GStreamer plugin, $(PLUGIN)"
	@echo "make install    install the command, its manual and completions, pipeline files, the plugin, the Swift package: PREFIX=$(PREFIX)"
	@echo "                LIBDIR= PLUGINDIR= DESTDIR="
	@echo "make install-plugin  install the plugin alone"
	@echo "make uninstall  remove what make install put into PREFIX"
	@echo "make deb        build the Debian packages, in .build/deb/RELEASE: RELEASE=bookworm|trixie|forky;"
	@echo "                without RELEASE, for this system"
	@echo "make test-deb   install the packages in a new Debian of that release, and reverse a clip there"
	@echo "make test-on    test on another Debian release, RELEASE=bookworm|trixie|forky:"
	@echo "                STEPS='$(STEPS)'"
	@echo "make quirks     write docs/quirks.md anew, from Sources/Quirks"
	@echo "make readme-picture  draw the picture in README.md anew"
	@echo "make docs       make the library's documentation, in $(DOCS)"
	@echo "make clean      remove what was built"

setup:
	@scripts/install-packages $(PACKAGES)

setup-tools:
	@scripts/install-packages $(PACKAGES) $(TEST_PACKAGES) $(BENCH_PACKAGES)

setup-cluster:
	@scripts/install-packages $(PACKAGES) $(CLUSTER_PACKAGES)

# Command, plugin and tests are built with the same flags in one folder, so that nothing is compiled twice.
# Tests need -enable-testing. Optimized: comparing frames takes most of the tests' time otherwise.
# The toolchain's lld is the linker on all releases. It makes relocated data read-only (relro), as
# lintian asks, which GNU ld of Debian 13 does not; and Debian 13 has no gold by default.
# The interface of a module is written apart from its code, so that other modules need not wait for the code: two
# processors build in 0.8 of the time. This leaves no room for optimisation across modules (cmo). Without file lists,
# whose names are random, a command stays the same from build to build, and its result is used again.
BUILD_FLAGS = -c release -Xswiftc -enable-testing -Xswiftc -use-ld=lld --use-integrated-swift-driver \
  -Xswiftc -emit-module-separately-wmo -Xswiftc -disable-cmo -Xswiftc -driver-filelist-threshold=100000

comma = ,
# libraries PACKAGES: what the linker needs for them, without options that swiftc does not know.
libraries = $(filter-out -pthread -Wl$(comma)%,$(shell pkg-config --libs $(1)))
GSTREAMER = gstreamer-1.0 gstreamer-app-1.0 gstreamer-pbutils-1.0 gstreamer-video-1.0 gstreamer-audio-1.0
# link PRODUCT: its objects, with the Swift runtime: the result runs where no Swift is. SwiftPM would compile all of them anew
# for that, and again for the tests (--static-swift-stdlib).
link = @.build/release/$(1).product/Objects.LinkFileList -static-stdlib -l_FoundationCollections -l_FoundationCShims \
  -use-ld=lld -Xlinker --gc-sections

build: setup
	$(SWIFT) build $(BUILD_FLAGS) --product retrograde
	mkdir -p $(dir $(BIN))
	$(SWIFT)c -emit-executable -o $(BIN) $(call link,retrograde) -Xlinker --defsym=main=RetrogradeCommand_main \
	  $(call libraries,$(GSTREAMER) pangocairo libsoup-3.0)

# One file that exports GStreamer's entry points only.
plugin: setup
	$(SWIFT) build $(BUILD_FLAGS) --product gstretrograde
	mkdir -p $(dir $(PLUGIN))
	$(SWIFT)c -emit-library -o $(PLUGIN) $(call link,gstretrograde) -Xlinker -s \
	  -Xlinker --version-script=scripts/plugin-exports.map $(call libraries,$(GSTREAMER))

run: build
	@scripts/run $(BIN) "$(INPUT)" "$(OUTPUT)"

# make test SANITIZE=thread, or address: a build of its own. A report is an error: of the tests themselves, and of each command
# that they run. The plugin, which they load into other programs, is built as ever. The build is optimised:
# else threads wait for each other in Swift's runtime, at each step of a generic loop, until tests give up. GLib's slices are left
# out, so that the sanitizer knows what is freed (G_SLICE). Leaks are not looked for: GLib and GStreamer keep what they register
# for the life of the process. ThreadSanitizer keeps a copy of constants in a file, unless there is no such folder (TEST_TMPDIR),
# and would crash under the `ulimit -f` of one of the tests. It does not wait for a second at each exit, when other threads would
# go on. AddressSanitizer keeps 16 MiB of what was freed, so that a test can measure memory.
SANITIZE ?=
# The tests with a server.
SERVING = RetrogradeServerTests|ServeTests
TEST_FLAGS = $(if $(SANITIZE),--sanitize=$(SANITIZE) --scratch-path .build/$(SANITIZE) -Xswiftc -O,$(BUILD_FLAGS))
ifeq ($(SANITIZE),thread)
TEST_FLAGS += -Xlinker $(CURDIR)/.build/thread/locks.o
test: .build/thread/locks.o
endif
ifneq ($(SANITIZE),)
test: export G_SLICE = always-malloc
test: export TEST_TMPDIR = /nonexistent
test: export TSAN_OPTIONS = exitcode=99:atexit_sleep_ms=0
test: export ASAN_OPTIONS = exitcode=99:detect_leaks=0:quarantine_size_mb=16:suppressions=$(CURDIR)/scripts/asan-suppressions.txt
endif

# testable FLAGS: writes the interface of the command, which is no library. SwiftPM 6.3 with the integrated driver does not
# know that tests wait for it.
testable = $(SWIFT) build $(1) --target RetrogradeCommand

test: plugin
	@scripts/install-packages $(PACKAGES) $(TEST_PACKAGES)
	$(call testable,$(TEST_FLAGS))
	RETROGRADE_PLUGIN_DIR=$(CURDIR)/$(dir $(PLUGIN)) scripts/test $(SWIFT) test $(TEST_FLAGS) --skip '$(SERVING)'
# By themselves: the other tests keep the threads waiting that a server in their process answers on, and a browser from what it is to show.
	scripts/test $(SWIFT) test $(TEST_FLAGS) --skip-build --filter '$(SERVING)'
	$(if $(SANITIZE),@echo "SANITIZE=$(SANITIZE): all tests passed without a report")

test-cluster: build setup-cluster
	/usr/bin/python3 scripts/cluster_test.py $(BIN)

# Swift's own clang, which knows Swift's calling convention.
.build/thread/locks.o: scripts/tsan-locks.c
	mkdir -p $(@D)
	$(dir $(shell command -v $(SWIFT)))clang -Wall -O1 -fPIC -c $< -o $@

lint: setup
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Examples
	$(SWIFT) package dump-package | scripts/architecture.py
	scripts/check-version $(VERSION)
	@! grep -rnE '^([a-z]+ )?import Foundation$$' Sources --exclude-dir=Retrograde.docc || { echo "import FoundationEssentials: Foundation links ICU in, 40 MB" >&2; exit 1; }
	@! grep -rnE '(^|[^.A-Za-z_])(l?stat|open|access|unlink|mkdir|rmdir|rename|statvfs|pathconf|realpath|fopen|opendir|inotify_add_watch|EGifOpenFileName|gst_filename_to_uri|gst_encoding_target_load_from_file|g_key_file_load_from_file|system_(open_unnamed|rename_new|exchange))\(([^)]|$$)|FileManager' Sources --include='*.swift' | grep -vE '\.cPath|: *///|func (open|stat)|open\((until|for|"/dev/null"|OutputRequirements)|try open\($$' || { echo "give C a path as its bytes (cPath in Sources/Paths), not a string that has to be UTF-8" >&2; exit 1; }
	$(call testable,$(BUILD_FLAGS))
	$(SWIFT) build $(BUILD_FLAGS) --build-tests --explicit-target-dependency-import-check error

# The picture of the targets in docs/how-it-works.md.
architecture:
	$(SWIFT) package dump-package | scripts/architecture.py --write

# The reference of the elements in docs/elements.md.
elements: plugin
	@scripts/install-packages $(TEST_PACKAGES)
	GST_PLUGIN_PATH=$(CURDIR)/$(dir $(PLUGIN)) /usr/bin/python3 scripts/elements.py --write

# The table of workarounds in docs/quirks.md.
quirks: setup
	RETROGRADE_WRITE_QUIRKS=1 $(SWIFT) test $(TEST_FLAGS) --filter QuirkTable

format:
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests Examples

corpus: build setup-tools
	/usr/bin/python3 scripts/corpus.py $(BIN) $(CORPUS) $(if $(MODE),--mode $(MODE))

hostile: build setup-tools
	/usr/bin/python3 scripts/hostile.py $(BIN) -n $(or $(N),500) --first $(or $(FIRST),0) --seed $(or $(SEED),1)

# libFuzzer's own main takes the place of the program's; coverage has to be asked for, or it would mutate blindly.
FUZZ_FLAGS = --sanitize fuzzer --sanitize address -Xswiftc -enable-testing \
  -Xswiftc -sanitize-coverage=edge,indirect-calls,trace-cmp,inline-8bit-counters,pc-table

fuzz: setup-tools
	RETROGRADE_FUZZ=1 $(SWIFT) build -c release --scratch-path .build/fuzz --product fuzz $(FUZZ_FLAGS)
	/usr/bin/python3 scripts/fuzz.py .build/fuzz/release/fuzz --seconds $(or $(SECONDS),60) $(if $(ONLY),--only $(ONLY))

faults: build setup-tools
	/usr/bin/python3 scripts/disk_faults.py $(BIN) --calls $(or $(CALLS),12)
	/usr/bin/python3 scripts/faults.py kill --count $(or $(KILLS),200) $(BIN)
	/usr/bin/python3 scripts/faults.py cancel --count $(or $(CANCELS),500) $(BIN)
	/usr/bin/python3 scripts/chunk_kills.py $(BIN) --count $(or $(KILLS),200)

bench: build setup-tools
	/usr/bin/python3 scripts/bench.py $(BIN) $(CORPUS) --write docs/benchmarks.md

bench-containers: build setup-tools
	/usr/bin/python3 scripts/containers.py $(BIN)

bench-serve: build setup-tools
	/usr/bin/python3 scripts/serve_bench.py $(BIN) --write docs/serve.md

serve-load: build setup-tools
	@test -f .build/serve-bench/clip.mp4 || { mkdir -p .build/serve-bench && ffmpeg -v error -y -f lavfi -i testsrc2=size=640x360:rate=30:duration=120 \
	  -f lavfi -i anoisesrc=duration=120 -g 60 -pix_fmt yuv420p .build/serve-bench/clip.mp4; }
	/usr/bin/python3 scripts/serve_load.py $(BIN) .build/serve-bench/clip.mp4 --seconds $(or $(SECONDS),60)

bench-quick: build setup-tools
	/usr/bin/python3 scripts/bench.py $(BIN) $(CORPUS) --quick

quality: build setup-tools
	/usr/bin/python3 scripts/quality.py defaults $(BIN) $(CORPUS)
	/usr/bin/python3 scripts/quality.py curves $(BIN) $(CORPUS)

INSTALL = PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' PLUGINDIR='$(PLUGINDIR)' DESTDIR='$(DESTDIR)' VERSION=$(VERSION) \
  COMMAND=$(BIN) PLUGIN=$(PLUGIN) scripts/install

# Where there is no Swift, as in sudo's PATH, what was built before is installed.
install: $(if $(shell command -v $(SWIFT)),build plugin)
	@$(INSTALL) all

install-plugin: $(if $(shell command -v $(SWIFT)),plugin)
	@$(INSTALL) plugin

uninstall:
	@$(INSTALL) --remove

ifneq ($(RELEASE),)
deb:
	scripts/on-release $(RELEASE) make deb
else
deb: build plugin
	@scripts/install-packages $(DEB_PACKAGES)
	rm -rf $(DEBS)
	mkdir -p $(DEBS)
	DEBS=$(DEBS) dpkg-buildpackage --build=binary --no-sign \
	  --buildinfo-option=-u$(DEBS) --buildinfo-file=$(DEBS)/retrograde_$(VERSION).buildinfo \
	  --changes-option=-u$(DEBS) --changes-file=$(DEBS)/retrograde_$(VERSION).changes
	dh_clean
	lintian --fail-on error,warning $(DEBS)/retrograde_$(VERSION).changes
endif

test-deb: deb
	scripts/on-release --fresh $(or $(RELEASE),$(CODENAME)) sh -c 'scripts/test-deb $(DEBS)/*.deb'

# Steps of test-on: targets of this file. corpus runs only if there is a folder CORPUS.
STEPS = setup-tools test corpus test-deb
INNER_STEPS = $(filter-out test-deb $(if $(wildcard $(CORPUS)),,corpus),$(STEPS))

test-on:
	@test -n '$(RELEASE)' || { echo "usage: make test-on RELEASE=bookworm|trixie|forky [STEPS='$(STEPS)']" >&2; exit 64; }
	$(if $(filter corpus,$(STEPS)),$(if $(wildcard $(CORPUS)),,@echo "test-on: corpus is left out: no folder $(CORPUS)"))
	$(if $(INNER_STEPS),scripts/on-release $(addprefix --with ,$(wildcard $(CORPUS) $(CORPUS)/../tools)) $(RELEASE) \
	  make $(INNER_STEPS) CORPUS='$(realpath $(CORPUS))' MODE='$(MODE)')
	$(if $(filter test-deb,$(STEPS)),$(MAKE) test-deb RELEASE=$(RELEASE))

# Drawn, mirrored and put together by the library itself: Examples/FilmStrips.
readme-picture: setup
	$(SWIFT) run example-film-strips docs/strips.png

# Of all that `import Retrograde` and `import RetrogradePlayer` bring; Sources/Retrograde/Retrograde.docc has the articles. Whatever DocC
# warns of, such as a name that is none, is an error. To look at it: python3 -m http.server -d .build/docs/site
docs: setup
	RETROGRADE_DOCS=1 $(SWIFT) package --scratch-path .build/docs --allow-writing-to-directory $(DOCS) generate-documentation \
	  --target Retrograde --target RetrogradePlayer --target RetrogradeEngine --target Drawing --target MediaTime --target GStreamer \
	  --enable-experimental-combined-documentation --transform-for-static-hosting --warnings-as-errors --output-path $(DOCS)

clean:
	rm -rf .build
