# make            list the targets
# make run        install missing packages, build, and reverse INPUT into OUTPUT
# make test       install missing packages, build, and run all tests

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
CORPUS ?= ../shared/media
BIN = .build/command/retrograde
PLUGIN = .build/plugin/libgstretrograde.so
VERSION := $(shell sed -n 's/^.define RETROGRADE_VERSION "\(.*\)"/\1/p' Sources/CVersion/include/CVersion.h)
LIBDIR ?= $(PREFIX)/lib
# Where GStreamer's plugins would be if it had this prefix. With the prefix ~/.local, where
# GStreamer looks for the user's own plugins.
PLUGINDIR ?= $(if $(filter $(HOME)/.local,$(PREFIX)),$(PREFIX)/share/gstreamer-1.0/plugins,$(shell \
  pkg-config --define-variable=prefix='$(PREFIX)' --variable=pluginsdir gstreamer-1.0 2>/dev/null))

PACKAGES = libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libgif-dev libimagequant-dev libwebp-dev zlib1g-dev libpango1.0-dev libsoup-3.0-dev \
  gstreamer1.0-plugins-base gstreamer1.0-plugins-good \
  gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly glib-networking gstreamer1.0-libav gstreamer1.0-tools gstreamer1.0-x gstreamer1.0-alsa fonts-dejavu-core pkgconf
# For corpus and benchmarks only: ffmpeg, which checks results without GStreamer's code, GNU time,
# and other programs to compare with.
BENCH_PACKAGES = ffmpeg python3-numpy python3-matplotlib time melt mpv sox
# Programs that the tests use, many of them to load the plugin.
TEST_PACKAGES = xvfb chromium chromium-driver curl gstreamer1.0-plugins-base-apps gstreamer1.0-plugins-bad-apps ges1.0-tools python3-gi gir1.2-gstreamer-1.0 \
  gcc libc6-dev ffmpeg
# Packages to build and check Debian packages.
DEB_PACKAGES = build-essential debhelper lintian python3
# Packages for the cluster that test-cluster starts.
CLUSTER_PACKAGES = slurm-wlm munge python3
# Code name of this system's release, such as bookworm.
CODENAME := $(shell . /etc/os-release && echo $$VERSION_CODENAME)
# Folder of the Debian packages for RELEASE, or for this system.
DEBS = .build/deb/$(or $(RELEASE),$(CODENAME))
DOCS = .build/docs/site

.PHONY: help setup setup-tools setup-cluster build plugin run test test-cluster lint architecture elements format corpus hostile fuzz faults bench bench-quick bench-containers bench-serve serve-load quality install install-plugin uninstall \
  deb test-deb test-on quirks readme-picture docs clean

help:
	@echo "make setup      install missing Debian packages"
	@echo "make build      build the command (release)"
	@echo "make run        reverse a clip: INPUT=clip.mp4 OUTPUT=pilc.mp4; without INPUT, a generated one"
	@echo "make test       run all tests; SANITIZE=thread|address: with that sanitizer"
	@echo "make test-cluster  start a Slurm cluster of two nodes here, and reverse a film on it while a node dies"
	@echo "make lint       check the code's format, the imports of targets, and that all files have the same version"
	@echo "make architecture  update the diagram of the targets in docs/how-it-works.md"
	@echo "make elements   update docs/elements-reference.md from the plugin"
	@echo "make format     fix the code's format"
	@echo "make corpus     reverse every file in CORPUS=folder, and check each result; MODE=lossless|default|budgets: only in that mode"
	@echo "make hostile    reverse N=500 damaged files, and check how each run ends; SEED=1 and FIRST=0 choose the files"
	@echo "make fuzz       run each libFuzzer target for SECONDS=60; ONLY=names: only those"
	@echo "make faults     make the disk fail, at CALLS=12 calls of each kind, and check how each run ends;"
	@echo "                then kill runs at random moments (KILLS=200), and cancel others (CANCELS=500)"
	@echo "make bench      compare time, memory, size and SSIM with other programs, into docs/benchmarks-results.md; bench-quick: three lines"
	@echo "make bench-containers  measure time, disk space and memory for the same film in each container"
	@echo "make bench-serve  measure playback from serve in Chromium, into docs/serve-operators.md; serve-load: 200 clients at once"
	@echo "make quality    measure SSIM and size at the default quality for CORPUS=folder, and for each speed of the encoders"
	@echo "make plugin     build the GStreamer plugin, $(PLUGIN)"
	@echo "make install    install the command, its manual and completions, pipeline files, the plugin and the Swift package: PREFIX=$(PREFIX)"
	@echo "                LIBDIR= PLUGINDIR= DESTDIR="
	@echo "make install-plugin  install only the plugin"
	@echo "make uninstall  remove everything that make install put into PREFIX"
	@echo "make deb        build the Debian packages, in .build/deb/RELEASE: RELEASE=bookworm|trixie|forky;"
	@echo "                without RELEASE, for this system"
	@echo "make test-deb   install the packages in a new system of RELEASE, and reverse a clip there"
	@echo "make test-on    run these steps on another Debian release, RELEASE=bookworm|trixie|forky:"
	@echo "                STEPS='$(STEPS)'"
	@echo "make quirks     update docs/quirks.md from Sources/Quirks"
	@echo "make readme-picture  draw the image in README.md again"
	@echo "make docs       build the library's documentation in $(DOCS)"
	@echo "make clean      remove all built files"

setup:
	@scripts/install-packages $(PACKAGES)

setup-tools:
	@scripts/install-packages $(PACKAGES) $(TEST_PACKAGES) $(BENCH_PACKAGES)

setup-cluster:
	@scripts/install-packages $(PACKAGES) $(CLUSTER_PACKAGES)

# Command, plugin and tests are built with the same flags in one folder, so nothing is compiled
# twice.
# - -c release: otherwise the tests spend most of their time comparing frames.
# - -enable-testing: the tests need it.
# - -use-ld=lld: the toolchain's linker, on all releases. It makes relocated data read-only (relro),
#   as lintian requires; GNU ld of Debian 13 does not, and Debian 13 has no gold by default.
# - -emit-module-separately-wmo: a module's interface is emitted separately from its code, so other
#   modules need not wait for the code. Two processors build in 0.8 of the time.
# - -disable-cmo: separate interfaces exclude optimisation across modules.
# - -driver-filelist-threshold: avoids file lists. Their random names would change the compiler's
#   command line in every build, so that no result could be used again.
BUILD_FLAGS = -c release -Xswiftc -enable-testing -Xswiftc -use-ld=lld --use-integrated-swift-driver \
  -Xswiftc -emit-module-separately-wmo -Xswiftc -disable-cmo -Xswiftc -driver-filelist-threshold=100000

comma = ,
# libraries PACKAGES: linker flags for the packages, without options that swiftc does not know.
libraries = $(filter-out -pthread -Wl$(comma)%,$(shell pkg-config --libs $(1)))
GSTREAMER = gstreamer-1.0 gstreamer-app-1.0 gstreamer-pbutils-1.0 gstreamer-video-1.0 gstreamer-audio-1.0
# link PRODUCT: links the product's objects with the Swift runtime, to run on systems without Swift.
# SwiftPM's --static-swift-stdlib would compile all objects again for this, and again for the tests.
link = @.build/release/$(1).product/Objects.LinkFileList -static-stdlib -l_FoundationCollections -l_FoundationCShims \
  -use-ld=lld -Xlinker --gc-sections

build: setup
	$(SWIFT) build $(BUILD_FLAGS) --product retrograde
	mkdir -p $(dir $(BIN))
	$(SWIFT)c -emit-executable -o $(BIN) $(call link,retrograde) -Xlinker --defsym=main=RetrogradeCommand_main \
	  $(call libraries,$(GSTREAMER) pangocairo libsoup-3.0)

# The plugin is one file that exports only the entry points for GStreamer.
plugin: setup
	$(SWIFT) build $(BUILD_FLAGS) --product gstretrograde
	mkdir -p $(dir $(PLUGIN))
	$(SWIFT)c -emit-library -o $(PLUGIN) $(call link,gstretrograde) -Xlinker -s \
	  -Xlinker --version-script=scripts/plugin-exports.map $(call libraries,$(GSTREAMER))

run: build
	@scripts/run $(BIN) "$(INPUT)" "$(OUTPUT)"

# make test SANITIZE=thread|address: a separate build. Any report is an error, from the tests and
# from each command that they run. The plugin, which they load into other programs, is built as
# usual.
# - The build is optimised. Otherwise threads wait for each other in Swift's runtime, at each step
#   of a generic loop, until tests time out.
# - G_SLICE: GLib allocates without slices, so the sanitizer sees what is freed.
# - detect_leaks=0: GLib and GStreamer keep registered data for the life of the process.
# - TEST_TMPDIR: ThreadSanitizer copies constants to a file unless this folder does not exist. With
#   the file, it would crash under the `ulimit -f` of one test.
# - atexit_sleep_ms=0: ThreadSanitizer does not wait for a second at each exit while other threads
#   run.
# - quarantine_size_mb=16: AddressSanitizer keeps only 16 MiB of freed memory, so a test can measure
#   memory.
SANITIZE ?=
# Tests that start a server.
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

# testable FLAGS: builds the command's module, which is not a library. SwiftPM 6.3 with the
# integrated driver does not know that the tests depend on it.
testable = $(SWIFT) build $(1) --target RetrogradeCommand

test: plugin
	@scripts/install-packages $(PACKAGES) $(TEST_PACKAGES)
	$(call testable,$(TEST_FLAGS))
	RETROGRADE_PLUGIN_DIR=$(CURDIR)/$(dir $(PLUGIN)) scripts/test $(SWIFT) test $(TEST_FLAGS) --skip '$(SERVING)'
# Tests with a server run separately: other tests in the process would delay the server's threads,
# and the browser.
	scripts/test $(SWIFT) test $(TEST_FLAGS) --skip-build --filter '$(SERVING)'
	$(if $(SANITIZE),@echo "SANITIZE=$(SANITIZE): all tests passed without a report")

test-cluster: build setup-cluster
	/usr/bin/python3 scripts/cluster_test.py $(BIN)

# Uses the toolchain's clang, which knows Swift's calling convention.
.build/thread/locks.o: scripts/tsan-locks.c
	mkdir -p $(@D)
	$(dir $(shell command -v $(SWIFT)))clang -Wall -O1 -fPIC -c $< -o $@

lint: setup
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Examples
	$(SWIFT) package dump-package | scripts/architecture.py
	scripts/check-version $(VERSION)
	@! grep -rnE 'ffmpeg -i \\\([^S]' Sources || { echo "quote the path in a suggested command: Shell.quoted" >&2; exit 1; }
	@! grep -rnE '^([a-z]+ )?import Foundation$$' Sources --exclude-dir=Retrograde.docc || { echo "import FoundationEssentials: Foundation links ICU in, 40 MB" >&2; exit 1; }
	@! grep -rnE '(^|[^.A-Za-z_])(l?stat|open|access|unlink|mkdir|rmdir|rename|statvfs|pathconf|realpath|fopen|opendir|inotify_add_watch|EGifOpenFileName|gst_filename_to_uri|gst_encoding_target_load_from_file|g_key_file_load_from_file|system_(open_unnamed|rename_new|exchange))\(([^)]|$$)|FileManager' Sources --include='*.swift' | grep -vE '\.cPath|: *///|func (open|stat)|open\((until|for|"/dev/null"|OutputRequirements)|try open\($$' || { echo "give C a path as its bytes (cPath in Sources/Paths), not a string that has to be UTF-8" >&2; exit 1; }
	$(call testable,$(BUILD_FLAGS))
	$(SWIFT) build $(BUILD_FLAGS) --build-tests --explicit-target-dependency-import-check error

# Updates the diagram of the targets in docs/how-it-works.md.
architecture:
	$(SWIFT) package dump-package | scripts/architecture.py --write

# Updates the reference of the elements in docs/elements-reference.md.
elements: plugin
	@scripts/install-packages $(TEST_PACKAGES)
	GST_PLUGIN_PATH=$(CURDIR)/$(dir $(PLUGIN)) /usr/bin/python3 scripts/elements.py --write

# Updates the table of workarounds in docs/quirks.md.
quirks: setup
	RETROGRADE_WRITE_QUIRKS=1 $(SWIFT) test $(TEST_FLAGS) --filter QuirkTable

format:
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests Examples

corpus: build setup-tools
	/usr/bin/python3 scripts/corpus.py $(BIN) $(CORPUS) $(if $(MODE),--mode $(MODE))

hostile: build setup-tools
	/usr/bin/python3 scripts/hostile.py $(BIN) -n $(or $(N),500) --first $(or $(FIRST),0) --seed $(or $(SEED),1)

# libFuzzer's main replaces the program's. Without these coverage flags it would mutate blindly.
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
	/usr/bin/python3 scripts/bench.py $(BIN) $(CORPUS) --write docs/benchmarks-results.md

bench-containers: build setup-tools
	/usr/bin/python3 scripts/containers.py $(BIN)

bench-serve: build setup-tools
	/usr/bin/python3 scripts/serve_bench.py $(BIN) --write docs/serve-operators.md

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

# If PATH has no Swift, as under sudo, the files of the last build are installed.
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

# Steps of test-on: targets of this Makefile. corpus runs only if the folder CORPUS exists.
STEPS = setup-tools test corpus test-deb
INNER_STEPS = $(filter-out test-deb $(if $(wildcard $(CORPUS)),,corpus),$(STEPS))

test-on:
	@test -n '$(RELEASE)' || { echo "usage: make test-on RELEASE=bookworm|trixie|forky [STEPS='$(STEPS)']" >&2; exit 64; }
	$(if $(filter corpus,$(STEPS)),$(if $(wildcard $(CORPUS)),,@echo "test-on: corpus is left out: no folder $(CORPUS)"))
	$(if $(INNER_STEPS),scripts/on-release $(addprefix --with ,$(wildcard $(CORPUS) $(CORPUS)/../tools)) $(RELEASE) \
	  make $(INNER_STEPS) CORPUS='$(realpath $(CORPUS))' MODE='$(MODE)')
	$(if $(filter test-deb,$(STEPS)),$(MAKE) test-deb RELEASE=$(RELEASE))

# Examples/FilmStrips draws the image with the library.
readme-picture: setup
	$(SWIFT) run example-film-strips docs/strips.png

# Documents everything that `import Retrograde` and `import RetrogradePlayer` make available. The
# articles are in Sources/Retrograde/Retrograde.docc. DocC's warnings, such as unknown names, are
# errors. To view the result: python3 -m http.server -d .build/docs/site
docs: setup
	RETROGRADE_DOCS=1 $(SWIFT) package --scratch-path .build/docs --allow-writing-to-directory $(DOCS) generate-documentation \
	  --target Retrograde --target RetrogradePlayer --target RetrogradeEngine --target Drawing --target MediaTime --target GStreamer \
	  --enable-experimental-combined-documentation --transform-for-static-hosting --warnings-as-errors --output-path $(DOCS)

clean:
	rm -rf .build
