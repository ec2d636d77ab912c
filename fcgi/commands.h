/* SPDX-License-Identifier: MIT */
/*
 * The commands of the one executable.  Each gets its arguments with its own
 * name in argv[0] and returns the exit status; only main.c ends the process.
 */
#ifndef FCGI_COMMANDS_H
#define FCGI_COMMANDS_H

#define EXIT_USAGE 2 /* wrong usage */
#define EXIT_TIMED_OUT 124
#define EXIT_FAULT 125 /* of exec: ours, or a limit that no other code names */
#define EXIT_REFUSED 126
#define EXIT_NO_PROGRAM 127

int cmd_new(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_fcgi(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_mcp(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_workspace(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_receipts(int argc, char **argv);
int cmd_fsworker(int argc, char **argv);

/*
 * Answers the one CGI request that the environment describes.  Arguments are
 * never looked at: some servers make them from the query string.
 */
int cgi_answer(void);

#endif
