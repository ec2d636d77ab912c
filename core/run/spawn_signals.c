/* SPDX-License-Identifier: MIT */
/*
 * The host's signals and timer, set aside while children run and restored
 * afterwards.
 */
#include "run/spawn_run.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define SIGNALS_LAST 64 /* of the kernel: libc's NSIG is one more */

static pid_t settled; /* the process that called spawn_settle */
static struct signal_list to_reset;

/*
 * libc uses its own two signals only between threads, but make(1) leaves them
 * ignored: set to the default once here, instead of in every child.
 */
static void
reset_libc_signals(void)
{
	static const uintptr_t normal[8];

	for (int n = 32; n <= 33; n++)
		syscall(SYS_rt_sigaction, n, normal, NULL,
			(size_t)(SIGNALS_LAST / 8));
}

void
spawn_settle(void)
{
	settled = getpid();
	to_reset.count = 0;
	reset_libc_signals();
}

/*
 * By number, since libc's sigaction refuses its own two signals.  The handler
 * is the first member of the kernel's struct everywhere; SIG_DFL is 0.
 */
static bool
is_normal(int number)
{
	uintptr_t now[8];

	return syscall(SYS_rt_sigaction, number, NULL, now,
		       (size_t)(SIGNALS_LAST / 8)) == 0 &&
		now[0] == 0;
}

static bool
list_has(const struct signal_list *l, int number)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->number[i] == number)
			return true;
	return false;
}

/* SIGALRM is set by us, later; SIGKILL and SIGSTOP cannot be set. */
const struct signal_list *
spawn_signals_to_reset(pid_t self)
{
	if (settled == self && to_reset.count > 0)
		return &to_reset;
	to_reset.count = 0;
	for (int n = 1; n <= SIGNALS_LAST; n++)
		if (n != SIGKILL && n != SIGSTOP &&
			(settled != self || n == SIGALRM || !is_normal(n)))
			to_reset.number[to_reset.count++] = (unsigned char)n;
	return &to_reset;
}

/* Only interrupts a call that blocks. */
static void
on_alarm(int number)
{
	(void)number;
}

void
spawn_signals_hold(struct batch *b)
{
	struct sigaction normal = { .sa_handler = SIG_DFL };
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &b->old_mask);
	b->wait_mask = b->old_mask;
	sigaddset(&b->wait_mask, SIGPIPE);
	sigaddset(&b->wait_mask, SIGCHLD);
	if (list_has(b->reset, SIGCHLD))
		sigaction(SIGCHLD, NULL, &b->old_child);
	if (b->old_child.sa_handler == SIG_IGN ||
		b->old_child.sa_flags & SA_NOCLDWAIT)
		sigaction(SIGCHLD, &normal, NULL);
}

/* Removes a pending signal, so that the host does not get it. */
static void
signal_discard(int number)
{
	struct timespec now = { 0 };
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, number);
	sigtimedwait(&one, NULL, &now);
}

void
spawn_signals_release(struct batch *b)
{
	if (b->old_child.sa_handler == SIG_IGN ||
		b->old_child.sa_flags & SA_NOCLDWAIT) {
		sigaction(SIGCHLD, &b->old_child, NULL);
		signal_discard(SIGCHLD);
	}
	if (b->piped)
		signal_discard(SIGPIPE);
	sigprocmask(SIG_SETMASK, &b->old_mask, NULL);
}

void
spawn_alarm_arm(struct batch *b)
{
	struct sigaction wake = { .sa_handler = on_alarm };
	uint32_t ms = b->alarm_ms;
	struct itimerval timer = { .it_value = { .tv_sec = ms / 1000,
					   .tv_usec = ms % 1000 * 1000 } };

	if (ms == 0)
		return;
	sigdelset(&b->wait_mask, SIGALRM);
	sigaction(SIGALRM, &wake, &b->old_alarm);
	setitimer(ITIMER_REAL, &timer, &b->old_timer);
}

void
spawn_alarm_disarm(struct batch *b)
{
	struct itimerval *old = &b->old_timer;
	uint64_t value = (uint64_t)old->it_value.tv_sec * 1000000 +
		(uint64_t)old->it_value.tv_usec;
	uint64_t passed = clock_us() - b->start_us;

	if (b->alarm_ms == 0)
		return;
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	signal_discard(SIGALRM);
	sigaction(SIGALRM, &b->old_alarm, NULL);
	if (value == 0)
		return;
	value = value > passed ? value - passed : 1;
	old->it_value.tv_sec = (time_t)(value / 1000000);
	old->it_value.tv_usec = (suseconds_t)(value % 1000000);
	setitimer(ITIMER_REAL, old, NULL);
}
