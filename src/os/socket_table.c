/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/socket_table.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hex.h"

/* --- lines --- */

/* "0100007F:1F90": words of the address in the byte order of the host, and the port. */
static bool parse_address(struct text word, struct socket_address *ret)
{
	struct text digits, port;
	uint64_t value;

	if (!text_cut(&word, ':', &digits) || (digits.length != 8 && digits.length != 32))
		return false;
	port = word;
	if (!hex_cut(&port, &value) || port.length || value > UINT16_MAX)
		return false;
	ret->port = (uint16_t)value;
	ret->length = digits.length / 2;
	for (size_t i = 0; i < ret->length; i += 4) {
		struct text part = { digits.bytes + 2 * i, 8 };
		uint32_t host;

		if (!hex_cut(&part, &value) || part.length)
			return false;
		host = (uint32_t)value;
		memcpy(ret->bytes + i, &host, sizeof(host));
	}
	return true;
}

/* "00000000:0000001A" */
static bool parse_queues(struct text word, struct socket_line *ret)
{
	struct text out;

	return text_cut(&word, ':', &out) && hex_cut(&out, &ret->bytes_out) && !out.length &&
	       hex_cut(&word, &ret->bytes_in) && !word.length;
}

/* sl local peer st queues timer retransmits uid timeout inode */
static bool parse_line(struct text line, struct socket_line *ret)
{
	struct text word;
	uint64_t state;

	*ret = (struct socket_line){ 0 };
	if (!text_word(&line, &word) || !text_word(&line, &word) ||
	    !parse_address(word, &ret->local) || !text_word(&line, &word) ||
	    !parse_address(word, &ret->peer) || !text_word(&line, &word) ||
	    !hex_cut(&word, &state) || !text_word(&line, &word) || !parse_queues(word, ret))
		return false;
	ret->state = (unsigned)state;
	for (int i = 0; i < 5; i++)
		if (!text_word(&line, &word))
			return false;
	return text_u64(word, &ret->inode);
}

bool socket_table_next(struct text *rest, struct socket_line *ret)
{
	struct text line;

	while (text_cut(rest, '\n', &line))
		if (parse_line(line, ret))
			return true;
	return false;
}

/* --- addresses --- */

/* The IPv4 address that is mapped into IPv6, or has one itself; NULL: it is none. */
static const unsigned char *as_four(const struct socket_address *address)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (address->length == 4)
		return address->bytes;
	return memcmp(address->bytes, mapped, sizeof(mapped)) == 0 ? address->bytes + 12 : NULL;
}

void socket_address_print(const struct socket_address *address, char ret[SOCKET_ADDRESS_MAX])
{
	const unsigned char *four = as_four(address);
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(four ? AF_INET : AF_INET6, four ? four : address->bytes, text, sizeof(text));
	snprintf(ret, SOCKET_ADDRESS_MAX, four ? "%s:%u" : "[%s]:%u", text, address->port);
}

bool socket_addresses_equal(const struct socket_address *a, const struct socket_address *b)
{
	const unsigned char *left = as_four(a), *right = as_four(b);

	if (a->port != b->port || !left != !right)
		return false;
	return memcmp(left ? left : a->bytes, right ? right : b->bytes, left ? 4 : 16) == 0;
}

/* --- Unix sockets --- */

/* A request for one socket, by its number (net/unix/diag.c). */
static int ask_for_socket(uint64_t inode)
{
	const struct {
		struct nlmsghdr head;
		struct unix_diag_req body;
	} request = {
		.head = { .nlmsg_len = sizeof(request),
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST },
		.body = { .sdiag_family = AF_UNIX,
			  .udiag_states = UINT32_MAX,
			  .udiag_ino = (uint32_t)inode,
			  .udiag_show = UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN | UDIAG_SHOW_NAME,
			  .udiag_cookie = { UINT32_MAX, UINT32_MAX } },
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	const struct timeval patience = { .tv_usec = 100000 };

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request))
		return fd;
	close(fd);
	return -1;
}

/* The name of an abstract socket begins with a zero byte, and may have others (unix(7)). */
static void take_name(const char *bytes, size_t length, struct unix_socket *ret)
{
	if (length > sizeof(ret->name) - 1)
		length = sizeof(ret->name) - 1;
	memcpy(ret->name, bytes, length);
	ret->name[length] = '\0';
	if (length && !ret->name[0])
		ret->name[0] = '@';
}

static void take_attributes(const char *bytes, size_t length, struct unix_socket *ret)
{
	struct nlattr attribute;
	struct unix_diag_rqlen queues;
	uint32_t peer;

	while (length >= sizeof(attribute)) {
		size_t size;

		memcpy(&attribute, bytes, sizeof(attribute));
		size = attribute.nla_len;
		if (size < sizeof(attribute) || size > length)
			return;
		if (attribute.nla_type == UNIX_DIAG_PEER &&
		    size >= sizeof(attribute) + sizeof(peer)) {
			memcpy(&peer, bytes + sizeof(attribute), sizeof(peer));
			ret->peer = peer;
		} else if (attribute.nla_type == UNIX_DIAG_RQLEN &&
			   size >= sizeof(attribute) + sizeof(queues)) {
			memcpy(&queues, bytes + sizeof(attribute), sizeof(queues));
			ret->bytes_in = queues.udiag_rqueue;
		} else if (attribute.nla_type == UNIX_DIAG_NAME) {
			take_name(bytes + sizeof(attribute), size - sizeof(attribute), ret);
		}
		size = NLA_ALIGN(size);
		if (size > length)
			return;
		bytes += size;
		length -= size;
	}
}

bool unix_socket_find(uint64_t inode, struct unix_socket *ret)
{
	_cleanup_close_ int fd = inode <= UINT32_MAX ? ask_for_socket(inode) : -1;
	const size_t head = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct unix_diag_msg));
	char reply[4096];
	struct nlmsghdr message;
	struct unix_diag_msg body;
	ssize_t got = fd < 0 ? -1 : recv(fd, reply, sizeof(reply), 0);

	if (got < (ssize_t)head)
		return false;
	memcpy(&message, reply, sizeof(message));
	if (message.nlmsg_type != SOCK_DIAG_BY_FAMILY || message.nlmsg_len < head ||
	    message.nlmsg_len > (size_t)got)
		return false;
	memcpy(&body, reply + NLMSG_HDRLEN, sizeof(body));
	*ret = (struct unix_socket){ .is_listener = body.udiag_state == SOCKET_LISTENS };
	take_attributes(reply + head, message.nlmsg_len - head, ret);
	return true;
}
