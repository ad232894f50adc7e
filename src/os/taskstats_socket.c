/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/taskstats_socket.h"

#include <errno.h>
#include <linux/taskstats.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

/* A request is always 28 bytes: message header, generic header, one attribute with the tid. */
#define REQUEST_BYTES (NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN + 4)

/* The size that a queued reply counts against the receive buffer: sizeof(struct sk_buff) and the
 * rounding of its data are added to 600 to 700 bytes. 212,992 bytes were seen to hold 166 replies.
 */
#define REPLY_COST    1283
#define RECEIVE_BYTES 212992 /* the usual net.core.rmem_max; libnl asks for 32 KiB by itself */

/* The kernel answers within the send; this is for a kernel that does not. */
static const struct timeval patience = { .tv_sec = 2 };

struct taskstats_socket {
	struct nl_sock *netlink;
	int fd;
	uint16_t family;
	uint32_t sequence; /* of the last request */
	size_t batch;      /* requests whose replies fit the receive buffer */
	uint64_t overflows;
	char requests[TASKSTATS_BATCH_MAX * REQUEST_BYTES];
	_Alignas(8) char replies[64 * 1024];
};

/* The kernel may grant less than was asked for. */
static size_t size_batch(int fd)
{
	int granted = 0;
	socklen_t size = sizeof(granted);
	size_t fit;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){ RECEIVE_BYTES }, sizeof(int));
	getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &granted, &size);
	fit = (size_t)granted / REPLY_COST;
	return fit < 1 ? 1 : fit > TASKSTATS_BATCH_MAX ? TASKSTATS_BATCH_MAX : fit;
}

/* libnl reads NLDBG and NLCB from the environment before main(), and then prints messages and
 * addresses of its objects, also of a process with more privileges than its user. */
static struct nl_sock *quiet_socket(void)
{
	struct nl_cb *callbacks = nl_cb_alloc(NL_CB_DEFAULT);
	struct nl_sock *netlink = callbacks ? nl_socket_alloc_cb(callbacks) : NULL;

	nl_debug = 0;
	/* The socket has its own reference. */
	if (callbacks)
		nl_cb_put(callbacks);
	return netlink;
}

struct error *taskstats_socket_open(struct taskstats_socket **ret)
{
	struct taskstats_socket *s = calloc(1, sizeof(*s));
	int result;

	if (!s)
		return &error_no_memory;
	s->netlink = quiet_socket();
	if (!s->netlink) {
		taskstats_socket_close(s);
		return &error_no_memory;
	}
	result = genl_connect(s->netlink);
	if (result >= 0)
		result = genl_ctrl_resolve(s->netlink, TASKSTATS_GENL_NAME);
	if (result < 0) {
		taskstats_socket_close(s);
		return error_create("taskstats: %s", nl_geterror(result));
	}
	s->family = (uint16_t)result;
	s->fd = nl_socket_get_fd(s->netlink);
	s->batch = size_batch(s->fd);
	setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	*ret = s;
	return NULL;
}

static void write_request(struct taskstats_socket *s, char *at, uint32_t tid)
{
	struct {
		struct nlmsghdr message;
		struct genlmsghdr generic;
		struct nlattr attribute;
		uint32_t tid;
	} request = {
		.message = { .nlmsg_len = REQUEST_BYTES,
			     .nlmsg_type = s->family,
			     .nlmsg_flags = NLM_F_REQUEST,
			     .nlmsg_seq = ++s->sequence },
		.generic = { .cmd = TASKSTATS_CMD_GET, .version = TASKSTATS_GENL_VERSION },
		.attribute = { .nla_len = NLA_HDRLEN + 4, .nla_type = TASKSTATS_CMD_ATTR_PID },
		.tid = tid,
	};

	_Static_assert(sizeof(request) == REQUEST_BYTES, "no padding between netlink headers");
	memcpy(at, &request, sizeof(request));
}

static int send_requests(struct taskstats_socket *s, const uint32_t *tids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		write_request(s, s->requests + i * REQUEST_BYTES, tids[i]);
	while (send(s->fd, s->requests, count * REQUEST_BYTES, 0) < 0)
		if (errno != EINTR)
			return errno;
	return 0;
}

/*
 * Ask for threads and take what comes. Returns 0, or the errno that ended it; threads without an
 * answer stay at ETIMEDOUT.
 *
 * After an overflow (ENOBUFS) the kernel drops everything until the queue has been read empty
 * (NETLINK_S_CONGESTED, net/netlink/af_netlink.c), so it is read empty here.
 */
static int exchange(struct taskstats_socket *s, const uint32_t *tids, size_t count,
		    struct taskstats_reply *ret)
{
	uint32_t first = s->sequence + 1;
	size_t answered = 0;
	int failed = send_requests(s, tids, count);

	/* The request was not sent: its error is the answer, not an overflow. */
	if (failed) {
		for (size_t i = 0; i < count; i++)
			ret[i].failed = failed;
		return 0;
	}
	while (answered < count && (!failed || failed == ENOBUFS)) {
		ssize_t got = recv(s->fd, s->replies, sizeof(s->replies),
				   failed == ENOBUFS ? MSG_DONTWAIT : 0);

		if (got >= 0)
			answered += taskstats_sort_replies((struct text){ s->replies, (size_t)got },
							   s->family, first, tids, count, ret);
		else if (failed == ENOBUFS && errno == EAGAIN)
			break;
		else if (errno != EINTR)
			failed = errno;
	}
	return failed;
}

static void ask_batch(struct taskstats_socket *s, const uint32_t *tids, size_t count,
		      struct taskstats_reply *ret)
{
	if (exchange(s, tids, count, ret) != ENOBUFS)
		return;
	s->overflows++;
	for (size_t i = 0; i < count; i++)
		if (ret[i].failed == ETIMEDOUT)
			exchange(s, &tids[i], 1, &ret[i]);
}

void taskstats_ask(struct taskstats_socket *s, const uint32_t *tids, size_t count,
		   struct taskstats_reply *ret)
{
	for (size_t i = 0; i < count; i++)
		ret[i] = (struct taskstats_reply){ .tid = tids[i], .failed = ETIMEDOUT };
	for (size_t done = 0; done < count; done += s->batch) {
		size_t some = count - done < s->batch ? count - done : s->batch;

		ask_batch(s, tids + done, some, ret + done);
	}
}

uint64_t taskstats_socket_overflows(const struct taskstats_socket *s)
{
	return s->overflows;
}

void taskstats_socket_close(struct taskstats_socket *s)
{
	if (!s)
		return;
	nl_socket_free(s->netlink);
	free(s);
}
