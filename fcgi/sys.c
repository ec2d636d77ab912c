/* SPDX-License-Identifier: MIT */
#include "sys.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t
sys_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

uint64_t
sys_clock_us(void)
{
	return sys_clock_ns() / 1000;
}

bool
sys_write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

void
sys_block_signals(const int *numbers, size_t count, void (*handler)(int number),
	sigset_t *open)
{
	struct sigaction act = { .sa_handler = handler };
	sigset_t block;

	sigemptyset(&block);
	for (size_t i = 0; i < count; i++) {
		sigaddset(&block, numbers[i]);
		sigaction(numbers[i], &act, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &block, open);
	for (size_t i = 0; i < count; i++)
		sigdelset(open, numbers[i]);
}

bool
sys_become(const struct ss_account *account)
{
	if (geteuid() != 0 || account->uid == 0)
		return true;
	return setgroups(0, NULL) == 0 &&
		setresgid(account->gid, account->gid, account->gid) == 0 &&
		setresuid(account->uid, account->uid, account->uid) == 0;
}

bool
sys_find_beside(const char *const places[], size_t count, const char *name,
	char path[static PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return false;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < count; i++) {
		n = snprintf(path, PATH_MAX, "%s/%s/%s", self, places[i], name);
		if (n < PATH_MAX && access(path, F_OK) == 0)
			return true;
	}
	return false;
}
