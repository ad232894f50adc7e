/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between two processes of ctprof that carry file descriptors (SCM_RIGHTS, unix(7)).
 *
 *	err = fd_channel_open(sockets);
 *	fork(), after which each process closes the socket of the other
 *	err = fd_channel_send(sockets[0], &job, sizeof(job), &fd, 1);
 *	err = fd_channel_receive(sockets[1], &job, sizeof(job), &length, &fd, 1, &count);
 *
 * A message is one struct of a fixed size, which arrives whole or not at all. A receiver that does
 * not trust the other process compares `length` with the size of the struct, and looks for the NUL
 * of each text in it.
 */
#ifndef BASE_FD_CHANNEL_H
#define BASE_FD_CHANNEL_H

#include <stddef.h>

#include "base/error.h"

/* Descriptors of one message. */
#define FD_CHANNEL_MOST 8

/* Create two connected sockets, of type SOCK_SEQPACKET and close-on-exec. */
struct error *fd_channel_open(int ret[2]) MUST_CHECK;

/* Send a message with `count` descriptors, at most FD_CHANNEL_MOST, which stay the caller's. Does
 * not wait: an error if the socket is full or closed. */
struct error *fd_channel_send(int socket, const void *message, size_t length, const int *fds,
			      size_t count) MUST_CHECK;

/* Receive a message of at most `room` bytes with up to `most` descriptors, which are close-on-exec
 * and the caller's; waits for it, unless the socket is nonblocking. `*ret_length` is 0 when the
 * other end is closed. After an error there are no descriptors to close. */
struct error *fd_channel_receive(int socket, void *message, size_t room, size_t *ret_length,
				 int *fds, size_t most, size_t *ret_count) MUST_CHECK;

/* Close the descriptors of a message. */
void fd_channel_close_all(const int *fds, size_t count);

#endif
