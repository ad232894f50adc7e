/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asking the kernel for the statistics of many threads over generic netlink
 * (Documentation/accounting/taskstats.rst).
 *
 * A request names one thread, but one datagram may carry many requests, which saves about a third
 * of the time. The kernel queues every reply before the send returns, so a batch must fit the
 * receive buffer; how many do is found out when the socket is opened.
 */
#ifndef OS_TASKSTATS_SOCKET_H
#define OS_TASKSTATS_SOCKET_H

#include "base/error.h"
#include "os/taskstats.h"

#define TASKSTATS_BATCH_MAX 128

struct taskstats_socket;

/* Fails when the kernel has no taskstats. */
struct error *taskstats_socket_open(struct taskstats_socket **ret) MUST_CHECK;

/*
 * Ask for `count` (at most TASKSTATS_BATCH_MAX) threads. Reply i is that for tids[i]. Its `failed`
 * is 0 with values, or ESRCH (the thread has ended), EPERM (no CAP_NET_ADMIN), ETIMEDOUT (no
 * answer), the error of a failed send, or EBADMSG (a malformed answer). Replies that the kernel had
 * to drop (ENOBUFS) are asked for again one at a time.
 */
void taskstats_ask(struct taskstats_socket *socket, const uint32_t *tids, size_t count,
		   struct taskstats_reply *ret);

/* The number of overflows of the receive buffer so far. */
uint64_t taskstats_socket_overflows(const struct taskstats_socket *socket);

/* Takes NULL. */
void taskstats_socket_close(struct taskstats_socket *socket);
DEFINE_CLEANUP(taskstats_socket_close, struct taskstats_socket *)

#endif
