/* SPDX-License-Identifier: MIT */
/*
 * statespace fcgi: the pool on a socket of its own, or on one that systemd,
 * lighttpd, spawn-fcgi or inetd has opened.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "listen.h"
#include "options.h"
#include "pool.h"
#include "say.h"
#include "served.h"
#include "socket_config.h"

static const char usage[] =
	"usage: statespace fcgi [-c FILE] [-e K=V]... [--env-file F]\n"
	"                       [--timeout SECS] [--socket PATH] [--workers N]\n"
	"                       [DIR]\n";

enum { OPTION_SOCKET = OPTION_OWN };

static const struct option long_options[] = { OPTIONS_LONG,
	{ "socket", required_argument, NULL, OPTION_SOCKET }, { 0 } };

/* The socket of the pool, and one beside it for the status. */
static enum ss_err
open_listeners(const struct ss_site *site, struct listener *l,
	struct listener *status, struct ss_error *err)
{
	struct socket_config c;
	char second[LISTEN_PATH_MAX + sizeof(POOL_STATUS_SUFFIX)];
	enum ss_err code;

	if (listen_inherit(l, status))
		return SS_OK;
	code = socket_config_read(site, &c, err);
	if (code != SS_OK)
		return code;
	if (c.path[0] == '\0')
		return say_refusal(err, SS_CONFIG,
			"no socket: give --socket PATH or set [pool] socket");
	code = listen_unix(l, c.path, c.backlog, &c.access, err);
	snprintf(second, sizeof(second), "%.*s%s", LISTEN_PATH_MAX, c.path,
		POOL_STATUS_SUFFIX);
	return code == SS_OK ? listen_unix(status, second, 16, &c.access, err)
			     : code;
}

/* Only a Unix socket has an owner and a mode. */
static void
warn_of_tcp(const struct served *served)
{
	say("warning: a TCP socket is served; whoever can connect to it from "
	    "%s can run every tool",
		served->peers.count > 0 ? "the addresses of [pool] allow"
					: "this machine ([pool] allow)");
}

static int
serve_pool(const struct options *o)
{
	struct ss_error err = { .code = SS_OK };
	struct served *served;
	struct listener listener = LISTENER_INIT, second = LISTENER_INIT;
	int status = EXIT_FAILURE;
	sigset_t open;

	pool_signals(&open);
	served = served_new(o, NULL, &err);
	if (served != NULL &&
		open_listeners(served->site, &listener, &second, &err) ==
			SS_OK) {
		if (peers_watch(listener.fd))
			warn_of_tcp(served);
		if (second.fd >= 0)
			peers_watch(second.fd);
		status = pool_run(served, o, &listener, &second);
	} else {
		served_free(served);
	}
	if (err.code != SS_OK)
		status = options_failed(&err, EXIT_FAILURE);
	listen_close(&second);
	listen_close(&listener);
	return status;
}

int
cmd_fcgi(int argc, char **argv)
{
	static struct options o;
	int option, status;

	o.usage = usage;
	while ((option = getopt_long(
			argc, argv, OPTIONS_SHORT, long_options, NULL)) != -1) {
		if (option == OPTION_SOCKET)
			status = options_add(&o, "pool.socket", optarg)
				? -1
				: options_misused(&o, "too many options");
		else
			status = options_take(&o, option, optarg);
		if (status >= 0)
			return status;
	}
	status = options_directory(&o, argc, argv);
	return status >= 0 ? status : serve_pool(&o);
}
