/* SPDX-License-Identifier: MIT */
/*
 * Holds memory in threads, out of sight of /proc/PID: resource.t compiles it
 * and runs it as a tool.  Prints PWNED when it held all of it for a while.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY (40 << 20)
#define STACK (64 << 10)
#define PAIRS 26

static char *
take(size_t len)
{
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	return p;
}

static void
hold_memory(void)
{
	memset(take(MEMORY), 1, MEMORY);
}

static void
hold_pair(void)
{
	char text[32768] = { 1 };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		_exit(1);
	for (int k = 0; k < 2; k++)
		while (send(pair[k], text, sizeof(text), MSG_DONTWAIT) > 0)
			;
}

static void
hold_sockets(void)
{
	for (int i = 0; i < PAIRS; i++)
		hold_pair();
}

static void
start(void *(*body)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	while (pthread_create(&thread, &attr, body, arg) != 0)
		;
}

/* ------------------------------------------- bodies of threads */

static void *
body_memory(void *arg)
{
	(void)arg;
	hold_memory();
	sleep(3);
	_exit(0);
}

static void *
body_sockets(void *arg)
{
	(void)arg;
	hold_sockets();
	sleep(3);
	_exit(0);
}

#define STEP (64 << 10)

/* Each takes a little, memory or sockets, starts the next one and ends. */
static int
body_relay(void *arg)
{
	static _Alignas(16) char stacks[64][STACK];
	static unsigned turn;
	char *memory = arg;

	turn++;
	if (memory == NULL && turn <= PAIRS)
		hold_pair();
	if (memory != NULL && turn <= MEMORY / STEP)
		memset(memory + (turn - 1) * STEP, 1, STEP);
	while (clone(body_relay, stacks[turn % 64] + sizeof(stacks[0]),
		       CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			       CLONE_THREAD,
		       arg) < 0)
		;
	return 0;
}

static int
body_table(void *arg)
{
	(void)arg;
	hold_sockets();
	for (;;)
		pause();
	return 0;
}

static void *
body_unshare(void *arg)
{
	if (syscall(436 /* close_range */, 3u, ~0u, 2 /* UNSHARE */) < 0)
		_exit(1);
	body_table(arg);
	return NULL;
}

/* ------------------------------------------------------------ */

/* Processes whose first thread has ended. */
static void
without_leader(int count, void *(*body)(void *))
{
	for (int i = 0; i < count; i++)
		if (fork() == 0) {
			start(body, NULL);
			syscall(SYS_exit, 0);
		}
}

static void
relay(int count, size_t memory)
{
	for (int i = 0; i < count; i++)
		if (fork() == 0) {
			alarm(6);
			body_relay(memory > 0 ? take(memory) : NULL);
			syscall(SYS_exit, 0);
		}
}

static void
own_tables(int count)
{
	for (int i = 0; i < count; i++)
		if (clone(body_table, take(STACK) + STACK,
			    CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD,
			    NULL) < 0)
			_exit(1);
}

/*
 * Below the limit: threads end one after another, then all of them at once
 * with much memory; while it is given back no thread shows it.
 */
static void *
body_short(void *arg)
{
	return arg;
}

static void *
body_wait(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void
end(void)
{
	pthread_t thread;

	for (int i = 0; i < 2000; i++)
		if (pthread_create(&thread, NULL, body_short, NULL) == 0)
			pthread_join(thread, NULL);
	for (int i = 0; i < 10; i++)
		start(body_wait, NULL);
	puts("fine");
	fflush(stdout);
	for (int i = 0; i < 50; i++)
		if (fork() == 0) {
			for (int k = 0; k < 3; k++)
				start(body_wait, NULL);
			hold_memory();
			_exit(0);
		} else {
			wait(NULL);
		}
	_exit(0);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "memory") == 0)
		without_leader(4, body_memory);
	else if (strcmp(what, "relay") == 0)
		relay(4, MEMORY);
	else if (strcmp(what, "relay-sockets") == 0)
		relay(14, 0);
	else if (strcmp(what, "sockets") == 0)
		without_leader(14, body_sockets);
	else if (strcmp(what, "tables") == 0)
		own_tables(14);
	else if (strcmp(what, "unshare") == 0)
		for (int i = 0; i < 14; i++)
			start(body_unshare, NULL);
	else if (strcmp(what, "end") == 0)
		end();
	else
		return 2;
	usleep(1500000);
	puts("PWNED");
	fflush(stdout);
	_exit(0);
}
