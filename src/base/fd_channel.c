/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fd_channel.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr header; /* for its alignment */
	char bytes[CMSG_SPACE(FD_CHANNEL_MOST * sizeof(int))];
};

struct error *fd_channel_open(int ret[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret)
		       ? error_system(errno, "cannot make a socket")
		       : NULL;
}

struct error *fd_channel_send(int socket, const void *message, size_t length, const int *fds,
			      size_t count)
{
	union control control = { 0 };
	struct iovec part = { (void *)(uintptr_t)message, length };
	struct msghdr header = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = count ? control.bytes : NULL,
		.msg_controllen = count ? CMSG_SPACE(count * sizeof(*fds)) : 0,
	};

	if (count) {
		struct cmsghdr *rights = CMSG_FIRSTHDR(&header);

		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(count * sizeof(*fds));
		memcpy(CMSG_DATA(rights), fds, count * sizeof(*fds));
	}
	if (sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)length)
		return error_system(errno, "cannot send file descriptors");
	return NULL;
}

void fd_channel_close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

static size_t take_descriptors(struct msghdr *header, int *fds)
{
	const struct cmsghdr *rights = CMSG_FIRSTHDR(header);
	size_t count;

	if (!rights || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS)
		return 0;
	count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(*fds);
	memcpy(fds, CMSG_DATA(rights), count * sizeof(*fds));
	return count;
}

struct error *fd_channel_receive(int socket, void *message, size_t room, size_t *ret_length,
				 int *fds, size_t most, size_t *ret_count)
{
	int got[FD_CHANNEL_MOST];
	union control control;
	struct iovec part = { message, room };
	struct msghdr header = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes) };
	ssize_t length;
	size_t count;

	do
		length = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	while (length < 0 && errno == EINTR);
	if (length < 0)
		return error_system(errno, "cannot receive file descriptors");
	count = take_descriptors(&header, got);
	if (count > most || header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		fd_channel_close_all(got, count);
		return error_create("malformed message with files");
	}
	memcpy(fds, got, count * sizeof(*fds));
	*ret_count = count;
	*ret_length = (size_t)length;
	return NULL;
}
