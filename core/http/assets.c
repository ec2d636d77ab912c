/* SPDX-License-Identifier: MIT */
/*
 * The assembler reads the files (.incbin) from the directory that make runs in:
 * no tool has to turn them into C.
 */
#include "http/assets.h"

#include <inttypes.h>
#include <stdio.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define FILE(name) "\t.incbin \"core/http/assets/" #name "\"\n"
#define INCLUDE(symbol, files)                                                 \
	__asm__(".pushsection .rodata\n" #symbol ":\n" files #symbol           \
		"_end:\n\t.byte 0\n\t.popsection\n");                          \
	extern const char(symbol)[] HIDDEN, symbol##_end[] HIDDEN

INCLUDE(asset_css, FILE(view.css));
INCLUDE(asset_js, FILE(ansi.js) FILE(follow.js) FILE(view.js));
INCLUDE(asset_svg, FILE(favicon.svg));
INCLUDE(asset_ico, FILE(favicon.ico));

static const struct {
	const char *name, *type, *begin, *end;
} files[] = {
	{ "view.css", "text/css; charset=utf-8", asset_css, asset_css_end },
	{ "view.js", "text/javascript; charset=utf-8", asset_js, asset_js_end },
	{ "favicon.svg", "image/svg+xml", asset_svg, asset_svg_end },
	{ "favicon.ico", "image/vnd.microsoft.icon", asset_ico, asset_ico_end },
};

bool
assets_find(const char *name, struct asset *out)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		if (strcmp(files[i].name, name) != 0)
			continue;
		out->type = files[i].type;
		out->bytes.data = files[i].begin;
		out->bytes.len = (size_t)(files[i].end - files[i].begin);
		return true;
	}
	return false;
}

void
assets_tag(struct ss_text bytes, char out[static 17])
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < bytes.len; i++)
		hash = (hash ^ (unsigned char)bytes.data[i]) * 0x100000001b3;
	snprintf(out, 17, "%016" PRIx64, hash);
}

const char *
assets_version(void)
{
	static char version[33];
	struct asset css, js;

	if (version[0] == '\0' && assets_find("view.css", &css) &&
		assets_find("view.js", &js)) {
		assets_tag(css.bytes, version);
		assets_tag(js.bytes, version + 16);
	}
	return version;
}
