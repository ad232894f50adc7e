/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/taskstats.h"

#include <errno.h>
#include <linux/taskstats.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "base/array.h"

static const struct {
	const char *name;
	uint16_t count_offset, max_offset, since;
} categories[TASKSTATS_CATEGORY_COUNT] = {
#define CATEGORY(name, count_offset, since, max_offset) \
	[TASKSTATS_##name] = { #name, count_offset, max_offset, since },
	TASKSTATS_CATEGORIES(CATEGORY)
#undef CATEGORY
};

static const char *const part_suffixes[TASKSTATS_PART_COUNT] = {
	[TASKSTATS_COUNT] = "_count",
	[TASKSTATS_TOTAL] = "_delay_total",
	[TASKSTATS_MAX] = "_delay_max",
	[TASKSTATS_MIN] = "_delay_min",
};

static const struct {
	const char *name;
	uint16_t offset;
} singles[] = {
#define SINGLE(id, name, offset) { #name, offset },
	TASKSTATS_SINGLES(SINGLE)
#undef SINGLE
};

#define single_field(i) (TASKSTATS_SINGLE_FIRST + 1 + (unsigned)(i))

enum { COMM_OFFSET = 80, COMM_LENGTH = 32, UID_OFFSET = 120, PLAIN_LENGTH = 432 };

int taskstats_field_find(struct text name)
{
	for (size_t i = 0; i < array_length(singles); i++)
		if (text_equal(name, text_of(singles[i].name)))
			return (int)single_field(i);
	for (unsigned c = 0; c < TASKSTATS_CATEGORY_COUNT; c++) {
		struct text category = text_of(categories[c].name), suffix;

		if (!text_starts(name, category))
			continue;
		suffix = (struct text){ name.bytes + category.length,
					name.length - category.length };
		for (unsigned part = 0; part < TASKSTATS_PART_COUNT; part++)
			if (text_equal(suffix, text_of(part_suffixes[part])))
				return (int)taskstats_field(c, part);
	}
	return -1;
}

/* The layouts of the max and min of each category. */
enum layout {
	NO_PEAKS,    /* up to 14 */
	MAX_INSIDE,  /* 15, early: max after each total */
	BOTH_INSIDE, /* 15: max and min after each total */
	BOTH_AT_END, /* 16 and newer */
	UNKNOWN      /* 15 of an unknown length: only what precedes the first insertion */
};

static enum layout layout_of(uint16_t version, size_t length)
{
	const size_t peak = sizeof(uint64_t) * TASKSTATS_CATEGORY_COUNT;

	if (version >= 16)
		return BOTH_AT_END;
	if (length == PLAIN_LENGTH + peak)
		return MAX_INSIDE;
	if (length == PLAIN_LENGTH + 2 * peak)
		return BOTH_INSIDE;
	return version == 15 ? UNKNOWN : NO_PEAKS;
}

struct payload {
	const char *bytes;
	size_t length;
	struct taskstats_values *ret;
};

static void copy_field(const struct payload *p, unsigned field, size_t offset)
{
	if (p->length < sizeof(uint64_t) || offset > p->length - sizeof(uint64_t))
		return;
	/* Netlink aligns to four bytes only: copy, never cast. */
	memcpy(&p->ret->values[field], p->bytes + offset, sizeof(uint64_t));
	p->ret->present |= (uint64_t)1 << field;
}

static void take_category(const struct payload *p, unsigned c, enum layout layout, size_t inserted)
{
	size_t count = categories[c].count_offset + inserted, total = count + 8;

	copy_field(p, taskstats_field(c, TASKSTATS_COUNT), count);
	copy_field(p, taskstats_field(c, TASKSTATS_TOTAL), total);
	if (layout == MAX_INSIDE || layout == BOTH_INSIDE)
		copy_field(p, taskstats_field(c, TASKSTATS_MAX), total + 8);
	if (layout == BOTH_INSIDE)
		copy_field(p, taskstats_field(c, TASKSTATS_MIN), total + 16);
	if (layout == BOTH_AT_END) {
		copy_field(p, taskstats_field(c, TASKSTATS_MAX), categories[c].max_offset);
		copy_field(p, taskstats_field(c, TASKSTATS_MIN), categories[c].max_offset + 8u);
	}
}

static void take_singles(const struct payload *p, size_t inserted)
{
	for (size_t i = 0; i < array_length(singles); i++)
		copy_field(p, single_field(i), singles[i].offset + inserted);
	if (COMM_OFFSET + inserted + COMM_LENGTH <= p->length)
		memcpy(p->ret->comm, p->bytes + COMM_OFFSET + inserted, COMM_LENGTH);
	if (UID_OFFSET + inserted + sizeof(p->ret->uid) <= p->length)
		memcpy(&p->ret->uid, p->bytes + UID_OFFSET + inserted, sizeof(p->ret->uid));
}

bool taskstats_parse(struct text payload, struct taskstats_values *ret)
{
	struct payload p = { payload.bytes, payload.length, ret };
	size_t each, before_singles = TASKSTATS_swapin + 1;
	enum layout layout;

	if (payload.length < sizeof(ret->version))
		return false;
	*ret = (struct taskstats_values){ .uid = UINT32_MAX };
	memcpy(&ret->version, payload.bytes, sizeof(ret->version));
	layout = layout_of(ret->version, payload.length);
	if (layout == UNKNOWN) {
		take_category(&p, TASKSTATS_cpu, NO_PEAKS, 0);
		return true;
	}
	each = layout == MAX_INSIDE ? 8 : layout == BOTH_INSIDE ? 16 : 0;
	for (unsigned c = 0; c < TASKSTATS_CATEGORY_COUNT; c++)
		if (ret->version >= categories[c].since)
			take_category(&p, c, layout, c * each);
	take_singles(&p, before_singles * each);
	return true;
}

static bool parse_stats(struct nlmsghdr *message, struct taskstats_reply *ret)
{
	struct genlmsghdr *generic = nlmsg_data(message);
	struct nlattr *both, *tid, *stats;

	if (!genlmsg_valid_hdr(message, 0))
		return false;
	both = nla_find(genlmsg_attrdata(generic, 0), genlmsg_attrlen(generic, 0),
			TASKSTATS_TYPE_AGGR_PID);
	if (!both)
		return false;
	tid = nla_find(nla_data(both), nla_len(both), TASKSTATS_TYPE_PID);
	stats = nla_find(nla_data(both), nla_len(both), TASKSTATS_TYPE_STATS);
	if (!tid || nla_len(tid) < (int)sizeof(uint32_t) || !stats)
		return false;
	ret->tid = nla_get_u32(tid);
	return taskstats_parse((struct text){ nla_data(stats), (size_t)nla_len(stats) },
			       &ret->stats);
}

bool taskstats_next_reply(struct text *datagram, uint16_t family, struct taskstats_reply *ret)
{
	struct nlmsghdr *message = (struct nlmsghdr *)(void *)datagram->bytes;
	size_t whole;

	if (datagram->length > INT32_MAX || !nlmsg_ok(message, (int)datagram->length))
		return false;
	*ret = (struct taskstats_reply){ .sequence = message->nlmsg_seq, .failed = EBADMSG };
	if (message->nlmsg_type == NLMSG_ERROR) {
		struct nlmsgerr *error = nlmsg_data(message);

		if (nlmsg_datalen(message) >= (int)sizeof(*error) && error->error < 0 &&
		    error->error > -4096)
			ret->failed = -error->error;
	} else if (message->nlmsg_type == family && parse_stats(message, ret)) {
		ret->failed = 0;
	}
	whole = NLMSG_ALIGN(message->nlmsg_len);
	if (whole > datagram->length)
		whole = datagram->length;
	datagram->bytes += whole;
	datagram->length -= whole;
	return true;
}

size_t taskstats_sort_replies(struct text datagram, uint16_t family, uint32_t first,
			      const uint32_t *tids, size_t count, struct taskstats_reply *ret)
{
	struct taskstats_reply reply;
	size_t sorted = 0;

	while (taskstats_next_reply(&datagram, family, &reply)) {
		uint32_t at = reply.sequence - first;

		if (at >= count || ret[at].failed != ETIMEDOUT)
			continue;
		if (!reply.failed && reply.tid != tids[at])
			reply.failed = EBADMSG;
		ret[at] = reply;
		sorted++;
	}
	return sorted;
}
