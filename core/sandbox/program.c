/* SPDX-License-Identifier: MIT */
#include "sandbox/program.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/spawn.h"
#include "sandbox/sandbox.h"

#define DEPTH 4     /* scripts whose interpreters are scripts; execve: 5 */
#define PHDR_MAX 64 /* real programs have about a dozen */

bool
program_exists(const char *path)
{
	int at = sandbox_at(&path);

	return faccessat(at, path, F_OK, 0) == 0;
}

bool
program_find(const char *name, const char *page_dir, char *path, size_t cap)
{
	int n;

	if (name == NULL || name[0] == '\0')
		return false;
	if (strchr(name, '/') == NULL)
		return spawn_find(name, path, cap);
	n = name[0] == '/'
		? snprintf(path, cap, "%s", name)
		: snprintf(path, cap, "%s/%s%s%s", sandbox_self()->site,
			  page_dir, page_dir[0] != '\0' ? "/" : "", name);
	return n > 0 && (size_t)n < cap && program_exists(path);
}

static bool
set_has(const struct program_set *set, const char *path)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->items[i], path) == 0)
			return true;
	return false;
}

/* Adds it unless it is there, or "". */
static bool
set_put(struct arena *arena, struct program_set *set, const char *path)
{
	const char **more;

	if (path[0] == '\0' || set_has(set, path))
		return true;
	if (set->count == set->cap) {
		more = arena_array(arena, set->cap + 8, sizeof(*more));
		if (more == NULL)
			return false;
		if (set->count > 0)
			memcpy(more, set->items, set->count * sizeof(*more));
		set->items = more;
		set->cap += 8;
	}
	set->items[set->count] = arena_copy(arena, path, strlen(path));
	return set->items[set->count++] != NULL;
}

/* The loader of a dynamically linked program; "" for any other. */
#define ELF_LOADER(bits)                                                       \
	static void loader_##bits(                                             \
		int fd, const char *head, char *out, size_t cap)               \
	{                                                                      \
		Elf##bits##_Ehdr file;                                         \
		Elf##bits##_Phdr part;                                         \
		size_t n = 0;                                                  \
                                                                               \
		memcpy(&file, head, sizeof(file));                             \
		for (unsigned i = 0; i < file.e_phnum && i < PHDR_MAX; i++) {  \
			if (pread(fd, &part, sizeof(part),                     \
				    (off_t)(file.e_phoff +                     \
					    i * sizeof(part))) !=              \
				(ssize_t)sizeof(part))                         \
				return;                                        \
			if (part.p_type != PT_INTERP || part.p_filesz >= cap)  \
				continue;                                      \
			n = (size_t)part.p_filesz;                             \
			if (pread(fd, out, n, (off_t)part.p_offset) !=         \
				(ssize_t)n)                                    \
				n = 0;                                         \
			out[n] = '\0';                                         \
			return;                                                \
		}                                                              \
	}
ELF_LOADER(32)
ELF_LOADER(64)

/* "-S VAR=1 python3 -u": env runs the first plain word. */
static void
named_for_env(const char *args, char *out)
{
	for (size_t n; *args != '\0'; args += n) {
		args += strspn(args, " \t");
		n = strcspn(args, " \t");
		if (n == 0 || args[0] == '-' || memchr(args, '=', n) != NULL)
			continue;
		memcpy(out, args, n);
		out[n] = '\0';
		return;
	}
}

bool
program_interpreter(const char *head, size_t len, struct interpreter *out)
{
	size_t end = 2, at, n;

	*out = (struct interpreter){ .file = "" };
	if (len < 2 || memcmp(head, "#!", 2) != 0)
		return true;
	while (end < len && head[end] != '\n')
		end++;
	if (memchr(head, '\0', end) != NULL)
		return false;
	while (end > 2 && strchr(" \t", head[end - 1]) != NULL)
		end--;
	at = 2 + strspn(head + 2, " \t");
	n = strcspn(head + at, " \t\n");
	if (head[at] != '/' || at + n == PROGRAM_LINE_MAX)
		return false;
	memcpy(out->file, head + at, n);
	at += n;
	at += strspn(head + at, " \t");
	if (at < end)
		memcpy(out->option, head + at, end - at);
	if (strcmp(strrchr(out->file, '/'), "/env") == 0)
		named_for_env(out->option, out->starts);
	return true;
}

/*
 * A script's interpreter, and, when that is env, the program that env runs.
 */
static void
find_interpreters(
	const char *head, size_t len, char *first, char *second, size_t cap)
{
	struct interpreter found;

	if (!program_interpreter(head, len, &found))
		return;
	snprintf(first, cap, "%s", found.file);
	if (found.starts[0] != '\0' &&
		!program_find(found.starts, "", second, cap))
		snprintf(second, cap, "%s", found.starts);
}

void
program_needs(const char *path, char *first, char *second, size_t cap)
{
	char head[PROGRAM_LINE_MAX + 1];
	int at = sandbox_at(&path);
	int fd = openat(at, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n;

	first[0] = second[0] = '\0';
	if (fd < 0)
		return;
	n = read(fd, head, sizeof(head) - 1);
	head[n > 0 ? n : 0] = '\0';
	if (n > (ssize_t)sizeof(Elf64_Ehdr) &&
		memcmp(head, ELFMAG, SELFMAG) == 0) {
		if (head[EI_CLASS] == ELFCLASS32)
			loader_32(fd, head, first, cap);
		else
			loader_64(fd, head, first, cap);
	} else if (n > 2 && head[0] == '#' && head[1] == '!') {
		find_interpreters(head, (size_t)n, first, second, cap);
	}
	fd_close(&fd);
}

/* The 32-bit programs that a 64-bit kernel runs without an emulator. */
static bool
is_compatible(uint16_t machine)
{
#if defined(__x86_64__)
	return machine == EM_386 || machine == EM_X86_64;
#elif defined(__aarch64__)
	return machine == EM_ARM;
#elif defined(__riscv)
	return machine == EM_RISCV;
#else
	return machine != EM_NONE;
#endif
}

bool
program_is_foreign(const char *path)
{
	int at = sandbox_at(&path);
	int fd = openat(at, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	Elf32_Ehdr head;
	bool foreign = false;

	if (fd >= 0 && read(fd, &head, sizeof(head)) == (ssize_t)sizeof(head))
		foreign = sizeof(void *) == 8 &&
			memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
			head.e_ident[EI_CLASS] == ELFCLASS32 &&
			is_compatible(head.e_machine);
	fd_close(&fd);
	return foreign;
}

/* The files that it adds are read in the next round, up to DEPTH rounds. */
bool
program_add(struct arena *arena, struct program_set *set, const char *path)
{
	char first[PATH_MAX], second[PATH_MAX];
	size_t at = set->count, end;

	if (!set_put(arena, set, path))
		return false;
	for (unsigned depth = 0; depth < DEPTH; depth++)
		for (end = set->count; at < end; at++) {
			program_needs(
				set->items[at], first, second, sizeof(first));
			if (!set_put(arena, set, first) ||
				(second[0] == '/' &&
					!set_put(arena, set, second)))
				return false;
		}
	return true;
}
