/* SPDX-License-Identifier: MIT */
/* Is an address this machine's own?  For the helper of the HTTP tool. */
#ifndef FCGI_OWN_ADDRESS_H
#define FCGI_OWN_ADDRESS_H

#include <stdbool.h>

/*
 * Would a packet to this address end at this machine (or at all machines of
 * its link)?  What cannot be asked counts as own.
 *
 * family   AF_INET or AF_INET6; address as in struct in_addr, in6_addr.
 * Source   rtnetlink(7), RTM_GETROUTE: the kernel's own decision, so that
 *          `ip route add local` counts as an interface's address does.
 */
bool own_address(int family, const void *address);

#endif
