/* SPDX-License-Identifier: MIT */
/*
 * In place of what needs shared libraries: only statespace-exec as a static
 * program has this file.  Accounts and groups are looked up in the files of
 * passwd(5) and group(5), not with name services.  For one that is not there,
 * and for JSON where there is no archive of cJSON, the dynamic program beside
 * this one takes over: nothing was read from standard input yet.
 */
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <netdb.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define EXIT_ALONE 125 /* statespace-exec(1) */

static char **words;

/* Returns when there is no such program. */
static void
start_dynamic(void)
{
	char path[PATH_MAX + 16];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
	char *slash;

	/* Without /proc: the name that the program was started by. */
	if (n <= 0 && (name == NULL || realpath(name, path) == NULL))
		return;
	if (n > 0)
		path[n] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL)
		return;
	strcpy(slash, "/statespace");
	execv(path, words);
}

#ifdef SS_NO_CJSON
/*
 * Debian has no archive of cJSON.  A request of CGI, one on standard input and
 * --json, also when it is abbreviated, need it.
 */
static bool
needs_json(char **argv)
{
	if (getenv("GATEWAY_INTERFACE") != NULL)
		return true;
	for (; *argv != NULL && strcmp(*argv, "--") != 0; argv++)
		if (strcmp(*argv, "-") == 0 || strncmp(*argv, "--j", 3) == 0)
			return true;
	return false;
}

/* json_tree of core/wire/json_tree.h, for the linker; never reached. */
struct json_value *json_tree(const char *text, size_t len);

struct json_value *
json_tree(const char *text, size_t len)
{
	(void)text;
	(void)len;
	return NULL;
}
#else
static bool
needs_json(char **argv)
{
	(void)argv;
	return false;
}
#endif

/* glibc calls it with main's arguments, before main. */
__attribute__((constructor)) static void
keep_words(int argc, char **argv)
{
	(void)argc;
	words = argv;
	if (!needs_json(argv + 1))
		return;
	start_dynamic();
	fputs("statespace-exec: JSON needs the program statespace "
	      "beside this one\n",
		stderr);
	_exit(EXIT_ALONE);
}

struct passwd *
getpwuid(uid_t uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd *found = NULL;

	while (file != NULL && (found = fgetpwent(file)) != NULL &&
		found->pw_uid != uid)
		;
	if (file != NULL)
		fclose(file);
	return found;
}

struct passwd *
getpwnam(const char *name)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd *found = NULL;

	while (file != NULL && (found = fgetpwent(file)) != NULL &&
		strcmp(found->pw_name, name) != 0)
		;
	if (file != NULL)
		fclose(file);
	if (found == NULL)
		start_dynamic();
	return found;
}

struct group *
getgrnam(const char *name)
{
	FILE *file = fopen("/etc/group", "re");
	struct group *found = NULL;

	while (file != NULL && (found = fgetgrent(file)) != NULL &&
		strcmp(found->gr_name, name) != 0)
		;
	if (file != NULL)
		fclose(file);
	if (found == NULL)
		start_dynamic();
	return found;
}

/* Commands that listen or connect belong to the dynamic program. */

int
getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
	struct addrinfo **out)
{
	(void)host;
	(void)service;
	(void)hints;
	(void)out;
	return EAI_FAIL;
}

void
freeaddrinfo(struct addrinfo *list)
{
	(void)list;
}

const char *
gai_strerror(int number)
{
	(void)number;
	return "this program asks no name service";
}

int
getnameinfo(const struct sockaddr *address, socklen_t len, char *host,
	socklen_t host_cap, char *service, socklen_t service_cap, int flags)
{
	(void)address;
	(void)len;
	(void)host;
	(void)host_cap;
	(void)service;
	(void)service_cap;
	(void)flags;
	return EAI_FAIL;
}

struct hostent *
gethostbyname(const char *name)
{
	(void)name;
	return NULL;
}
