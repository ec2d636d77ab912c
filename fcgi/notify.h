/* SPDX-License-Identifier: MIT */
/*
 * Messages to systemd of a service of Type=notify: READY=1, RELOADING=1,
 * STOPPING=1, WATCHDOG=1.  Without NOTIFY_SOCKET nothing is sent.
 * Source: sd_notify(3), sd_watchdog_enabled(3).
 */
#ifndef FCGI_NOTIFY_H
#define FCGI_NOTIFY_H

#include <stdint.h>

void notify_systemd(const char *state);
/* How often WATCHDOG=1 is wanted, half of what systemd waits; 0: never. */
uint64_t notify_watchdog_us(void);

#endif
