/* SPDX-License-Identifier: MIT */
#include "own_address.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct question {
	struct nlmsghdr head;
	struct rtmsg route;
	struct rtattr attribute;
	unsigned char address[16];
};

union answer {
	struct nlmsghdr head;
	unsigned char bytes[4096];
};

/* False: there was no answer. */
static bool
ask_kernel(const struct question *q, union answer *a, size_t *len)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (send(fd, q, q->head.nlmsg_len, 0) == (ssize_t)q->head.nlmsg_len)
		do /* the kernel has answered before send(2) returned */
			n = recv(fd, a, sizeof(*a), MSG_DONTWAIT);
		while (n < 0 && errno == EINTR);
	close(fd);
	*len = n > 0 ? (size_t)n : 0;
	return NLMSG_OK(&a->head, *len);
}

static bool
routes_here(int family, const void *address)
{
	size_t size = family == AF_INET ? 4 : 16, len;
	struct question q = {
		.head = { .nlmsg_len = (uint32_t)(offsetof(struct question,
							  address) +
				  size),
			.nlmsg_type = RTM_GETROUTE,
			.nlmsg_flags = NLM_F_REQUEST },
		.route = { .rtm_family = (unsigned char)family,
			.rtm_dst_len = (unsigned char)(size * 8) },
		.attribute = { .rta_len = (unsigned short)RTA_LENGTH(size),
			.rta_type = RTA_DST },
	};
	union answer a;

	memcpy(q.address, address, size);
	if (!ask_kernel(&q, &a, &len))
		return true;
	if (a.head.nlmsg_type == NLMSG_ERROR &&
		a.head.nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
		const struct nlmsgerr *e = NLMSG_DATA(&a.head);

		/* No route: connect(2) will fail for the same reason. */
		return e->error != -ENETUNREACH && e->error != -EHOSTUNREACH;
	}
	if (a.head.nlmsg_type != RTM_NEWROUTE ||
		a.head.nlmsg_len < NLMSG_LENGTH(sizeof(struct rtmsg)))
		return true;
	return ((const struct rtmsg *)NLMSG_DATA(&a.head))->rtm_type !=
		RTN_UNICAST;
}

/* The IPv4 address that an IPv6 one stands for; NULL: none. */
static const unsigned char *
four_of(const unsigned char *six, bool *mapped)
{
	static const unsigned char map[12] = { [10] = 0xff, [11] = 0xff };
	static const unsigned char nat64[12] = { 0x00, 0x64, 0xff, 0x9b };

	*mapped = memcmp(six, map, sizeof(map)) == 0;
	return *mapped || memcmp(six, nat64, sizeof(nat64)) == 0 ? six + 12
								 : NULL;
}

bool
own_address(int family, const void *address)
{
	const unsigned char *four;
	bool mapped;

	if (family != AF_INET6)
		return family != AF_INET || routes_here(AF_INET, address);
	four = four_of(address, &mapped);
	if (four != NULL && routes_here(AF_INET, four))
		return true;
	/* The kernel connects to a mapped address by IPv4. */
	return !mapped && routes_here(AF_INET6, address);
}
