/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void
queue_open(struct queue *q, int listener)
{
	struct stat st;
	int domain = 0;
	socklen_t len = sizeof(domain);

	memset(q, 0, sizeof(*q));
	q->listener = listener;
	q->netlink = -1;
	getsockopt(listener, SOL_SOCKET, SO_DOMAIN, &domain, &len);
	if (domain != AF_UNIX || fstat(listener, &st) < 0)
		return;
	q->inode = (uint32_t)st.st_ino;
	q->netlink = socket(
		AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

void
queue_close(struct queue *q)
{
	if (q->netlink >= 0)
		close(q->netlink);
	q->netlink = -1;
}

/* unix_diag of one socket (sock_diag(7)): its accept queue. */
static int
unix_length(const struct queue *q)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req ask;
	} request = {
		.head = { .nlmsg_len = sizeof(request),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST },
		.ask = { .sdiag_family = AF_UNIX,
			.udiag_states = (uint32_t)-1,
			.udiag_ino = q->inode,
			.udiag_show = UDIAG_SHOW_RQLEN,
			.udiag_cookie = { (uint32_t)-1, (uint32_t)-1 } },
	};
	union {
		struct nlmsghdr head;
		char bytes[1024];
	} reply;
	const struct unix_diag_msg *msg;
	struct rtattr *attr;
	int left;
	ssize_t n;

	if (send(q->netlink, &request, sizeof(request), 0) < 0)
		return -1;
	n = recv(q->netlink, &reply, sizeof(reply), 0);
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(*msg)) ||
		reply.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return -1;
	msg = NLMSG_DATA(&reply.head);
	left = (int)n - (int)NLMSG_LENGTH(sizeof(*msg));
	attr = (struct rtattr *)(uintptr_t)(msg + 1);
	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		if (attr->rta_type == UNIX_DIAG_RQLEN)
			return (int)((const struct unix_diag_rqlen *)RTA_DATA(
					     attr))
				->udiag_rqueue;
	return -1;
}

int
queue_length(const struct queue *q)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (q->netlink >= 0)
		return unix_length(q);
	if (getsockopt(q->listener, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return -1;
	return (int)info.tcpi_unacked; /* of a listener: its queue */
}

unsigned
queue_overdue(struct queue *q, uint64_t now_us, unsigned length,
	uint64_t accepted, uint64_t bound_us)
{
	uint64_t old = 0;

	for (unsigned i = 0; i < QUEUE_SAMPLES; i++)
		if (q->at_us[i] != 0 && q->at_us[i] + bound_us <= now_us &&
			q->arrived[i] > old)
			old = q->arrived[i];
	q->at_us[q->next] = now_us;
	q->arrived[q->next] = accepted + length;
	q->next = (q->next + 1) % QUEUE_SAMPLES;
	if (old <= accepted)
		return 0;
	return old - accepted < length ? (unsigned)(old - accepted) : length;
}
