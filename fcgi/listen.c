/* SPDX-License-Identifier: MIT */
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "say.h"

#define SYSTEMD_FIRST_FD 3
#define KIND (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)

/* bind(2) under a umask that lets nobody else in. */
static int
bind_unix(int fd, const struct sockaddr_un *address)
{
	mode_t before = umask(0177);
	int failed =
		bind(fd, (const struct sockaddr *)address, sizeof(*address));
	int number = errno;

	umask(before);
	errno = number;
	return failed;
}

/* Does a process listen there?  EAGAIN: one does, and its queue is full. */
static bool
is_answered(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, KIND, 0);
	int failed, number;

	if (fd < 0)
		return true;
	failed =
		connect(fd, (const struct sockaddr *)address, sizeof(*address));
	number = errno;
	close(fd);
	return failed == 0 || number != ECONNREFUSED;
}

static enum ss_err
remove_stale(const struct sockaddr_un *address, struct ss_error *err)
{
	const char *path = address->sun_path;
	struct stat st;

	if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
		return say_refusal(
			err, SS_CONFIG, "%s exists and is no socket", path);
	if (is_answered(address))
		return say_refusal(
			err, SS_CONFIG, "another program listens on %s", path);
	if (unlink(path) < 0 && errno != ENOENT)
		return say_refusal(err, SS_CONFIG,
			"cannot remove the old socket %s: %s", path,
			strerror(errno));
	return SS_OK;
}

static enum ss_err
give_access(struct listener *l, const struct listen_access *access,
	struct ss_error *err)
{
	struct stat st;

	if (lchown(l->path, access->owner, access->group) < 0 ||
		chmod(l->path, access->mode) < 0 || lstat(l->path, &st) < 0)
		return say_refusal(err, SS_CONFIG,
			"cannot set owner and mode of %s: %s", l->path,
			strerror(errno));
	l->device = st.st_dev;
	l->inode = st.st_ino;
	return SS_OK;
}

enum ss_err
listen_unix(struct listener *l, const char *path, int backlog,
	const struct listen_access *access, struct ss_error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	enum ss_err code = SS_OK;
	int failed;

	*l = LISTENER_INIT;
	if (strlen(path) >= sizeof(address.sun_path))
		return say_refusal(err, SS_CONFIG,
			"the socket's path is longer than %zu bytes",
			sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	l->fd = socket(AF_UNIX, KIND, 0);
	if (l->fd < 0)
		return say_refusal(err, SS_CONFIG, "cannot make a socket: %s",
			strerror(errno));
	failed = bind_unix(l->fd, &address);
	if (failed != 0 && errno == EADDRINUSE) {
		code = remove_stale(&address, err);
		failed = code == SS_OK ? bind_unix(l->fd, &address) : 0;
	}
	if (code == SS_OK && failed != 0)
		code = say_refusal(err, SS_CONFIG,
			"cannot make the socket %s: %s", path, strerror(errno));
	if (code == SS_OK) {
		strcpy(l->path, path);
		code = give_access(l, access, err);
	}
	if (code == SS_OK && listen(l->fd, backlog) < 0)
		code = say_refusal(err, SS_CONFIG, "cannot listen on %s: %s",
			path, strerror(errno));
	if (code != SS_OK)
		listen_close(l);
	return code;
}

static void
address_text(int fd, char out[static 128])
{
	struct sockaddr_storage bound = { 0 };
	socklen_t len = sizeof(bound);
	char host[64] = "", port[16] = "";

	getsockname(fd, (struct sockaddr *)&bound, &len);
	getnameinfo((struct sockaddr *)&bound, len, host, sizeof(host), port,
		sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(out, 128, bound.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s",
		host, port);
}

static bool
bind_tcp(struct listener *l, const struct addrinfo *info, int backlog)
{
	const int on = 1;

	l->fd = socket(info->ai_family, KIND, 0);
	if (l->fd < 0)
		return false;
	setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (info->ai_family == AF_INET6)
		setsockopt(l->fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	return bind(l->fd, info->ai_addr, info->ai_addrlen) == 0 &&
		listen(l->fd, backlog) == 0;
}

enum ss_err
listen_tcp(struct listener *l, const char *host, unsigned port, int backlog,
	char address[static 128], struct ss_error *err)
{
	const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	enum ss_err code = SS_OK;
	char service[16];
	int failed;

	*l = LISTENER_INIT;
	snprintf(service, sizeof(service), "%u", port);
	failed = getaddrinfo(host, service, &hints, &found);
	if (failed != 0)
		return say_refusal(err, SS_CONFIG, "there is no address %s: %s",
			host, gai_strerror(failed));
	if (bind_tcp(l, found, backlog))
		address_text(l->fd, address);
	else if (errno == EADDRINUSE)
		code = say_refusal(err, SS_CONFIG,
			"port %u of %s is taken by another program; choose "
			"one with --port, or --port 0 for any free one",
			port, host);
	else
		code = say_refusal(err, SS_CONFIG,
			"cannot listen on port %u of %s: %s", port, host,
			strerror(errno));
	freeaddrinfo(found);
	if (code != SS_OK)
		listen_close(l);
	return code;
}

/* sd_listen_fds(3): how many sockets of this process begin at descriptor 3. */
static int
systemd_fds(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	bool ours = pid != NULL && fds != NULL && atol(pid) == (long)getpid();
	int count = ours ? atoi(fds) : 0;

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return count;
}

static bool
listens(int fd)
{
	int yes = 0;
	socklen_t len = sizeof(yes);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &len) == 0 &&
		yes != 0;
}

/* Moves fd above the standard descriptors. */
static bool
take_over(struct listener *l, int fd)
{
	if (!listens(fd))
		return false;
	l->fd = fcntl(fd, F_DUPFD_CLOEXEC, SYSTEMD_FIRST_FD);
	if (l->fd < 0)
		return false;
	close(fd);
	return fcntl(l->fd, F_SETFL, fcntl(l->fd, F_GETFL) | O_NONBLOCK) == 0;
}

/*
 * Descriptor 0 becomes /dev/null: a tool must never inherit the socket
 * (CVE-2015-9253).
 */
bool
listen_inherit(struct listener *l, struct listener *status)
{
	int count = systemd_fds();

	*l = *status = LISTENER_INIT;
	if (count > 1)
		take_over(status, SYSTEMD_FIRST_FD + 1);
	if (count > 0)
		return take_over(l, SYSTEMD_FIRST_FD);
	if (!take_over(l, STDIN_FILENO))
		return false;
	/* open(2) takes the lowest free number, which is 0. */
	return open("/dev/null", O_RDONLY) == STDIN_FILENO;
}

void
listen_close(struct listener *l)
{
	struct stat st;

	if (l->path[0] != '\0' && lstat(l->path, &st) == 0 &&
		st.st_dev == l->device && st.st_ino == l->inode)
		unlink(l->path);
	if (l->fd >= 0)
		close(l->fd);
	*l = LISTENER_INIT;
}
