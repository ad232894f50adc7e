/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * delays TID...: what taskstats says of each thread, one "TID METRIC VALUE" to a line. Asks one
 * thread at a time and trusts the header of the C library: a second way to the same numbers.
 */
#include <err.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct message {
	struct nlmsghdr header;
	struct genlmsghdr command;
	char attributes[2048];
};

static int sock;

static struct nlattr *first(struct message *message)
{
	return (struct nlattr *)message->attributes;
}

static void *payload(struct nlattr *attribute)
{
	return (char *)attribute + NLA_HDRLEN;
}

/* The attribute of this type among those in `bytes`. */
static struct nlattr *find(struct nlattr *attribute, size_t bytes, int type)
{
	while (bytes >= NLA_HDRLEN && attribute->nla_len >= NLA_HDRLEN) {
		size_t step = NLA_ALIGN(attribute->nla_len);

		if (attribute->nla_type == type)
			return attribute;
		if (step > bytes)
			break;
		bytes -= step;
		attribute = (struct nlattr *)((char *)attribute + step);
	}
	errx(1, "no attribute %d in the answer", type);
}

/* Returns the bytes of attributes in the answer, which replaces the question. */
static size_t ask(struct message *message, uint16_t type, uint8_t command, uint16_t attribute,
		  const void *value, size_t length)
{
	struct nlattr *only = first(message);
	ssize_t got;

	*message = (struct message){
		.header = { .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST },
		.command = { .cmd = command, .version = 1 },
	};
	only->nla_type = attribute;
	only->nla_len = (uint16_t)(NLA_HDRLEN + length);
	memcpy(payload(only), value, length);
	message->header.nlmsg_len =
		(uint32_t)(NLMSG_LENGTH(GENL_HDRLEN) + NLA_ALIGN(only->nla_len));
	if (send(sock, message, message->header.nlmsg_len, 0) < 0)
		err(1, "send");
	got = recv(sock, message, sizeof(*message), 0);
	if (got < (ssize_t)NLMSG_LENGTH(GENL_HDRLEN))
		err(1, "recv");
	if (message->header.nlmsg_type == NLMSG_ERROR) {
		errno = -((struct nlmsgerr *)NLMSG_DATA(&message->header))->error;
		err(1, "taskstats");
	}
	return (size_t)got - NLMSG_LENGTH(GENL_HDRLEN);
}

static uint16_t find_family(void)
{
	struct message message;
	size_t bytes = ask(&message, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
			   TASKSTATS_GENL_NAME, sizeof(TASKSTATS_GENL_NAME));
	uint16_t family;

	memcpy(&family, payload(find(first(&message), bytes, CTRL_ATTR_FAMILY_ID)), sizeof(family));
	return family;
}

static struct taskstats get_stats(uint16_t family, uint32_t tid)
{
	struct message message;
	size_t bytes =
		ask(&message, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &tid, sizeof(tid));
	struct nlattr *both = find(first(&message), bytes, TASKSTATS_TYPE_AGGR_PID), *stats;
	struct taskstats ret = { 0 };
	size_t length;

	stats = find(payload(both), both->nla_len - (size_t)NLA_HDRLEN, TASKSTATS_TYPE_STATS);
	length = stats->nla_len - (size_t)NLA_HDRLEN;
	memcpy(&ret, payload(stats), length < sizeof(ret) ? length : sizeof(ret));
	return ret;
}

static void print(uint32_t tid, const char *metric, uint64_t value)
{
	printf("%u %s %llu\n", tid, metric, (unsigned long long)value);
}

static void print_stats(uint32_t tid, const struct taskstats *stats)
{
#define PRINT(category)                                                \
	print(tid, #category "_delay_count", stats->category##_count); \
	print(tid, #category "_delay_total_ns", stats->category##_delay_total)

	PRINT(cpu);
	PRINT(blkio);
	PRINT(swapin);
	PRINT(freepages);
	PRINT(thrashing);
	PRINT(compact);
	PRINT(wpcopy);
#undef PRINT
	print(tid, "hiwater_rss_bytes", stats->hiwater_rss * 1024);
	print(tid, "hiwater_vm_bytes", stats->hiwater_vm * 1024);
}

int main(int argc, char **argv)
{
	uint16_t family;

	sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (sock < 0)
		err(1, "socket");
	family = find_family();
	for (int i = 1; i < argc; i++) {
		uint32_t tid = (uint32_t)strtoul(argv[i], NULL, 10);
		struct taskstats stats = get_stats(family, tid);

		print_stats(tid, &stats);
	}
	return 0;
}
