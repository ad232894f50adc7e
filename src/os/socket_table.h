/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets of a network namespace: /proc/<pid>/net/{tcp,tcp6,udp,udp6} (proc_net_tcp.rst,
 * get_tcp4_sock() in net/ipv4/tcp_ipv4.c), and the peers of Unix sockets by netlink (sock_diag(7)).
 */
#ifndef OS_SOCKET_TABLE_H
#define OS_SOCKET_TABLE_H

#include "base/text.h"

struct socket_address {
	unsigned char bytes[16];
	size_t length; /* 4 or 16 */
	uint16_t port;
};

struct socket_line {
	struct socket_address local, peer;
	unsigned state;               /* of the kernel's TCP_* */
	uint64_t bytes_out, bytes_in; /* in its queues; of a listener the second is connections */
	uint64_t inode;               /* 0: it belongs to no file any more */
};

#define SOCKET_LISTENS 10 /* TCP_LISTEN (include/net/tcp_states.h) */

/* The next line that is one of a socket; others are passed over. False at the end. */
bool socket_table_next(struct text *rest, struct socket_line *ret);

/* "127.0.0.1:80", "[::1]:80", of a mapped address the IPv4 one. */
#define SOCKET_ADDRESS_MAX 64
void socket_address_print(const struct socket_address *address, char ret[SOCKET_ADDRESS_MAX]);
bool socket_addresses_equal(const struct socket_address *a, const struct socket_address *b);

/* A Unix socket of our own network namespace. */
struct unix_socket {
	uint64_t peer;     /* its inode; 0: not connected */
	uint32_t bytes_in; /* that wait to be read; of a listener connections */
	bool is_listener;
	char name[110]; /* its path, or "@name" of an abstract one; "": it has none */
};

/* Ask the kernel. False: there is no such Unix socket in this namespace, or no answer. */
bool unix_socket_find(uint64_t inode, struct unix_socket *ret);

#endif
