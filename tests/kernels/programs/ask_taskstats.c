/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask_taskstats DIR TID...: keep the kernel's answer about each thread, a netlink message as it
 * came, in DIR/TID.bin. Then DIR/gone.bin, about a thread that is not there, and DIR/denied.bin, as
 * one who may not ask; DIR/family holds the number that the family has on this kernel.
 *
 * Written against the interface of the kernel alone: what it records tests our own reader.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_SUCH_TID 4194303 /* the highest there may be, and never reached in a young guest */

struct message {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	char rest[4096];
};

static int netlink;

/* An attribute: added to a request, or found in an answer. */
static void put(struct message *m, unsigned short type, const void *value, size_t length)
{
	struct nlattr *attribute = (void *)((char *)m + m->header.nlmsg_len);

	attribute->nla_type = type;
	attribute->nla_len = (unsigned short)(NLA_HDRLEN + length);
	memcpy((char *)attribute + NLA_HDRLEN, value, length);
	m->header.nlmsg_len += (unsigned)NLA_ALIGN(attribute->nla_len);
}

static const void *find(const struct message *m, unsigned short type)
{
	size_t at = NLMSG_HDRLEN + GENL_HDRLEN;

	while (at + NLA_HDRLEN <= m->header.nlmsg_len) {
		const struct nlattr *attribute = (const void *)((const char *)m + at);

		if (attribute->nla_type == type)
			return (const char *)attribute + NLA_HDRLEN;
		at += NLA_ALIGN(attribute->nla_len);
	}
	errx(1, "attribute %u missing", type);
}

static size_t ask(struct message *m, unsigned short family, unsigned char command,
		  unsigned short type, const void *value, size_t length)
{
	static unsigned sequence;
	ssize_t received;

	memset(m, 0, sizeof(*m));
	m->header.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	m->header.nlmsg_type = family;
	m->header.nlmsg_flags = NLM_F_REQUEST;
	m->header.nlmsg_seq = ++sequence;
	m->generic.cmd = command;
	m->generic.version = 1;
	put(m, type, value, length);
	if (send(netlink, m, m->header.nlmsg_len, 0) < 0)
		err(1, "send");
	received = recv(netlink, m, sizeof(*m), 0);
	if (received < NLMSG_HDRLEN)
		err(1, "recv");
	return (size_t)received;
}

static void keep(const char *name, const void *bytes, size_t length)
{
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
		err(1, "%s", name);
	close(fd);
}

static void keep_answer(const char *name, unsigned short family, unsigned tid)
{
	struct message m;
	size_t length =
		ask(&m, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &tid, sizeof(tid));

	keep(name, &m, length);
}

static void open_netlink(void)
{
	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (netlink < 0)
		err(1, "netlink");
}

int main(int argc, char **argv)
{
	unsigned short family;
	struct message m;
	char text[32];

	if (argc < 2 || chdir(argv[1]))
		err(1, "usage: ask_taskstats DIR TID...");
	open_netlink();
	ask(&m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME,
	    sizeof(TASKSTATS_GENL_NAME));
	memcpy(&family, find(&m, CTRL_ATTR_FAMILY_ID), sizeof(family));
	keep("family", text, (size_t)snprintf(text, sizeof(text), "%u\n", family));
	for (int i = 2; i < argc; i++) {
		snprintf(text, sizeof(text), "%s.bin", argv[i]);
		keep_answer(text, family, (unsigned)strtoul(argv[i], NULL, 10));
	}
	keep_answer("gone.bin", family, NO_SUCH_TID);
	if (chmod(".", 0777) || setuid(1000))
		err(1, "setuid");
	open_netlink();
	keep_answer("denied.bin", family, 1);
	return 0;
}
