/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asking the family taskstats, written against the interface of the kernel alone: what is got in
 * this way tests our own reader.
 */
#ifndef TASKSTATS_NETLINK_H
#define TASKSTATS_NETLINK_H

#include <err.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/socket.h>

struct message {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	char rest[4096];
};

static int netlink;

static inline void open_netlink(void)
{
	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (netlink < 0)
		err(1, "netlink");
}

/* An attribute: added to a request, or found in an answer. */
static inline void put(struct message *m, unsigned short type, const void *value, size_t length)
{
	struct nlattr *attribute = (void *)((char *)m + m->header.nlmsg_len);

	attribute->nla_type = type;
	attribute->nla_len = (unsigned short)(NLA_HDRLEN + length);
	memcpy((char *)attribute + NLA_HDRLEN, value, length);
	m->header.nlmsg_len += (unsigned)NLA_ALIGN(attribute->nla_len);
}

/* The attribute of that type among those that fill these bytes. */
static inline const struct nlattr *find(const void *attributes, size_t length, unsigned short type)
{
	for (size_t at = 0; at + NLA_HDRLEN <= length;) {
		const struct nlattr *attribute = (const void *)((const char *)attributes + at);

		if (attribute->nla_len < NLA_HDRLEN || at + attribute->nla_len > length)
			break;
		if (attribute->nla_type == type)
			return attribute;
		at += NLA_ALIGN(attribute->nla_len);
	}
	errx(1, "attribute %u missing", type);
}

static inline const void *value_of(const struct nlattr *attribute)
{
	return (const char *)attribute + NLA_HDRLEN;
}

static inline size_t length_of(const struct nlattr *attribute)
{
	return attribute->nla_len - (size_t)NLA_HDRLEN;
}

/* The same among the attributes of an answer. */
static inline const struct nlattr *find_in(const struct message *m, unsigned short type)
{
	return find(m->rest, m->header.nlmsg_len - (size_t)(NLMSG_HDRLEN + GENL_HDRLEN), type);
}

static inline size_t ask(struct message *m, unsigned short family, unsigned char command,
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

static inline unsigned short ask_family(void)
{
	unsigned short family;
	struct message m;

	ask(&m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME,
	    sizeof(TASKSTATS_GENL_NAME));
	memcpy(&family, value_of(find_in(&m, CTRL_ATTR_FAMILY_ID)), sizeof(family));
	return family;
}

static inline size_t ask_thread(struct message *m, unsigned short family, unsigned tid)
{
	return ask(m, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &tid, sizeof(tid));
}

#endif
