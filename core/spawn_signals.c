/* SPDX-License-Identifier: MIT */
/*
 * The host's signals and timer, put aside while children run and given back
 * as they were.
 */
#include "spawn_run.h"

#include <time.h>

#include "clock.h"

/* It only has to end a call that blocks. */
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
	sigaction(SIGCHLD, NULL, &b->old_child);
	if (b->old_child.sa_handler == SIG_IGN ||
		b->old_child.sa_flags & SA_NOCLDWAIT)
		sigaction(SIGCHLD, &normal, NULL);
}

/* Takes a pending signal back, so that the host never sees it. */
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
	uint64_t spent = clock_us() - b->start_us;

	if (b->alarm_ms == 0)
		return;
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	signal_discard(SIGALRM);
	sigaction(SIGALRM, &b->old_alarm, NULL);
	if (value == 0)
		return;
	value = value > spent ? value - spent : 1;
	old->it_value.tv_sec = (time_t)(value / 1000000);
	old->it_value.tv_usec = (suseconds_t)(value % 1000000);
	setitimer(ITIMER_REAL, old, NULL);
}
