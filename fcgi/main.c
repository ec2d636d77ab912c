/* SPDX-License-Identifier: MIT */
/*
 * One executable.  The environment of a web server selects the command, else
 * the name that it was called by, else its first argument.
 *
 * The environment comes first because of servers that make arguments from the
 * query string: a request must never select the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "commands.h"
#include "one_program.h"
#include "statespace.h"
#include "sys.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{ "new", cmd_new, "make a small site to begin with" },
	{ "serve", cmd_serve, "serve a directory on this machine" },
	{ "fcgi", cmd_fcgi, "the FastCGI workers behind a web server" },
	{ "exec", cmd_exec, "run one command of a page, here and now" },
	{ "mcp", cmd_mcp, "tools for an MCP client, over its pipes" },
	{ "check", cmd_check, "look for mistakes in pages" },
	{ "receipts", cmd_receipts, "verify receipts, make a key for them" },
	{ "fsworker", cmd_fsworker, "files below a directory, by frames" },
	{ "workspace", cmd_workspace,
		"what tools changed, to commit or discard" },
	{ "doctor", cmd_doctor, "what this system can confine" },
};

#define COMMAND_COUNT (ARRAY_LEN(commands))

/* So that no file opened later becomes a standard descriptor. */
static void
fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			_exit(EXIT_FAULT);
}

/* A listening socket as standard input: spawn-fcgi, lighttpd, inetd. */
static bool
stdin_listens(void)
{
	int listens = 0;
	socklen_t len = sizeof(listens);

	return getsockopt(STDIN_FILENO, SOL_SOCKET, SO_ACCEPTCONN, &listens,
		       &len) == 0 &&
		listens != 0;
}

/* sd_listen_fds(3): sockets from systemd, for this very process. */
static bool
systemd_listens(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");

	return pid != NULL && fds != NULL && atol(pid) == (long)getpid() &&
		atoi(fds) > 0;
}

static const struct command *
command_of(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static const struct command *
command_of_program(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash != NULL ? slash + 1 : program;

	if (strncmp(name, "statespace-", 11) != 0)
		return NULL;
	return command_of(name + 11);
}

static void
usage(FILE *out)
{
	fprintf(out, "usage: statespace COMMAND [ARGUMENT...]\n\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].what);
	fprintf(out, "\nstatespace help COMMAND explains its options.\n");
}

static int
run_without_name(int argc, char **argv)
{
	if (systemd_listens() || stdin_listens())
		return cmd_fcgi(argc, argv);
	if (argc >= 2 && strcmp(argv[1], "--version") == 0) {
		printf("statespace %s\n", ss_version());
		return 0;
	}
	if (argc >= 2 &&
		(strcmp(argv[1], "--help") == 0 ||
			strcmp(argv[1], "help") == 0)) {
		usage(stdout);
		return 0;
	}
	if (argc >= 2)
		fprintf(stderr, "statespace: there is no command \"%s\"\n",
			argv[1]);
	usage(stderr);
	return EXIT_USAGE;
}

int
main(int argc, char **argv)
{
	const struct command *command;
	int status;

#ifdef SS_ONE_PROGRAM
	one_program_begin();
	if (one_program_helper(argc, argv, &status))
		return status;
#endif
	fill_standard_descriptors();
	if (argc < 1)
		return EXIT_USAGE;
	if (getenv("GATEWAY_INTERFACE") != NULL && !stdin_listens())
		return cgi_answer();
	command = command_of_program(argv[0]);
	if (command == NULL && argc >= 2 &&
		(command = command_of(argv[1])) != NULL) {
		argc--;
		argv++;
	}
	if (command == NULL && argc == 3 && strcmp(argv[1], "help") == 0 &&
		(command = command_of(argv[2])) != NULL) {
		static char help[] = "--help";

		argv[1] = argv[2];
		argv[2] = help;
		argc--;
		argv++;
	}
	status = command != NULL ? command->run(argc, argv)
				 : run_without_name(argc, argv);
	if (fflush(stdout) != 0 && status == 0)
		status = EXIT_FAULT;
	return status;
}
