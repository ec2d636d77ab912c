# statespace: one file, from top to bottom.  `make help` lists the targets.

VERSION := 0.1.0
CC ?= cc
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
BUILD ?= build
CFLAGS ?= -O2 -g

# ---------------------------------------------------------------- packages --
# Named once; `make deps` installs what is missing.
PACKAGES_BUILD := gcc libc6-dev make pkg-config libfcgi-dev libyaml-dev \
	libcjson-dev libpcre2-dev libseccomp-dev
PACKAGES_SERVE := nginx-light sqlite3 jq
PACKAGES_TEST := perl curl procps

# ------------------------------------------------------------------- flags --
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla
HARDEN := -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
	-fstack-clash-protection -fcf-protection -fPIE
LINK_HARDEN := -pie -Wl,-z,relro,-z,now -Wl,--as-needed
WERROR ?=
SANITIZE ?=
ifneq ($(SANITIZE),)
HARDEN := -fPIE -fno-omit-frame-pointer -fsanitize=$(SANITIZE)
LINK_HARDEN := -pie -fsanitize=$(SANITIZE)
endif
CPPFLAGS_ALL = -D_GNU_SOURCE -Icore $(CPPFLAGS)
CFLAGS_ALL = -std=c11 $(WARN) $(WERROR) $(HARDEN) $(CFLAGS)

# A library whose archive is shipped is linked statically, else dynamically.
archive = $(or $(shell f=$$($(CC) -print-file-name=lib$(1).a); test -f "$$f" && echo "$$f"),-l$(1))
LIBS_CORE = $(call archive,yaml) $(call archive,pcre2-8) \
	$(call archive,cjson) $(call archive,seccomp)
LIBS_FCGI = $(call archive,fcgi)

# ------------------------------------------------------------------- build --
CORE_SRC := $(wildcard core/*.c)
FCGI_SRC := $(wildcard fcgi/*.c)
CORE_OBJ := $(CORE_SRC:%.c=$(BUILD)/%.o)
FCGI_OBJ := $(FCGI_SRC:%.c=$(BUILD)/%.o)
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/unit/%.t,$(wildcard tests/unit/*.c))

all: $(BUILD)/statespace $(BUILD)/statespace-exec $(BUILD)/statespace-fcgi

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(BUILD)/libstatespace.a: $(CORE_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/statespace: $(FCGI_OBJ) $(BUILD)/libstatespace.a
	$(CC) $(CFLAGS_ALL) $(LINK_HARDEN) $(LDFLAGS) -o $@ $^ $(LIBS_CORE) $(LIBS_FCGI)

$(BUILD)/statespace-exec $(BUILD)/statespace-fcgi: $(BUILD)/statespace
	ln -sf statespace $@

$(BUILD)/unit/%.t: tests/unit/%.c tests/tap.h $(BUILD)/libstatespace.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) -MMD -MP $(LINK_HARDEN) $(LDFLAGS) \
		-o $@ $< $(BUILD)/libstatespace.a $(LIBS_CORE)

-include $(wildcard $(BUILD)/*/*.d)

clean:
	rm -rf $(BUILD)

.PHONY: all clean
