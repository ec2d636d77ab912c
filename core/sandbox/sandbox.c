/* SPDX-License-Identifier: MIT */
#include "sandbox/sandbox.h"

#include <fcntl.h>

#include "sandbox/grant_path.h"

static struct sandbox self = { .site = "",
	.site_fd = -1,
	.store_fd = -1,
	.layers = -1,
	.scratch = "",
	.libexec = "" };
static struct cgroup memory_group = CGROUP_INIT;

const struct sandbox *
sandbox_self(void)
{
	return &self;
}

const char *
sandbox_remedy(void)
{
	return self.remedy[0] != '\0' ? self.remedy : NULL;
}

struct sandbox *
sandbox_to_fill(void)
{
	return &self;
}

struct sandbox_place
sandbox_place(void)
{
	return (struct sandbox_place){ .number = self.number,
		.site = self.site,
		.site_fd = self.site_fd,
		.dotfiles = self.dotfiles };
}

void
sandbox_move(const struct sandbox_place *place)
{
	self.number = place->number;
	self.site = place->site;
	self.site_fd = place->site_fd;
	self.dotfiles = place->dotfiles;
}

struct cgroup *
sandbox_memory_group(void)
{
	return &memory_group;
}

int
sandbox_at(const char **path)
{
	if (self.site_fd < 0 || !grant_path_is_below(*path, self.site))
		return AT_FDCWD;
	*path += strlen(self.site);
	*path += **path == '/';
	if (**path == '\0')
		*path = ".";
	return self.site_fd;
}

const char *
sandbox_level_name(enum sandbox_level level)
{
	switch (level) {
	case SANDBOX_NONE: break;
	case SANDBOX_OFF: return "off";
	case SANDBOX_LANDLOCK: return "landlock";
	case SANDBOX_STRICT: return "strict";
	}
	return "none";
}

const char *
sandbox_memory_name(enum sandbox_memory memory)
{
	switch (memory) {
	case SANDBOX_MEMORY_READ: break;
	case SANDBOX_MEMORY_PROCESS: return "process";
	case SANDBOX_MEMORY_GROUP: return "group";
	}
	return NULL;
}

bool
sandbox_mode_from(const char *word, enum sandbox_mode *out)
{
	static const char *const words[] = {
		[SANDBOX_MODE_AUTO] = "auto",
		[SANDBOX_MODE_STRICT] = "strict",
		[SANDBOX_MODE_LANDLOCK] = "landlock",
		[SANDBOX_MODE_OFF] = "off",
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(word, words[i]) == 0) {
			*out = (enum sandbox_mode)i;
			return true;
		}
	return false;
}
