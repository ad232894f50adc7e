/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/taskstats.h"

#include <errno.h>
#include <stdlib.h>

#include "unit/unit.h"

/*
 * The structure as each kernel had it, written down from include/uapi/linux/taskstats.h of that
 * age: every version appends to the one before, but 15 changed what stands for one category.
 */
struct plain {
	uint64_t count, total;
};
struct with_max {
	uint64_t count, total, max;
};
struct with_both {
	uint64_t count, total, max, min;
};
struct peaks {
	uint64_t max, min;
};

#define TO_8(delay)                                                                    \
	uint16_t version, pad0;                                                        \
	uint32_t ac_exitcode;                                                          \
	uint8_t ac_flag, ac_nice, pad1[6];                                             \
	struct delay cpu, blkio, swapin;                                               \
	uint64_t cpu_run_real_total, cpu_run_virtual_total;                            \
	char ac_comm[32];                                                              \
	uint8_t ac_sched, ac_pad[3], pad2[4];                                          \
	uint32_t ac_uid, ac_gid, ac_pid, ac_ppid, ac_btime, pad3;                      \
	uint64_t ac_etime, ac_utime, ac_stime, ac_minflt, ac_majflt, coremem, virtmem; \
	uint64_t hiwater_rss, hiwater_vm;                                              \
	uint64_t read_char, write_char, read_syscalls, write_syscalls;                 \
	uint64_t read_bytes, write_bytes, cancelled_write_bytes, nvcsw, nivcsw;        \
	uint64_t ac_utimescaled, ac_stimescaled, cpu_scaled_run_real_total;            \
	struct delay freepages;
#define TO_9(delay) TO_8(delay) struct delay thrashing;
#define TO_11(delay)                     \
	TO_9(delay) uint64_t ac_btime64; \
	struct delay compact;
#define TO_13(delay)                                   \
	TO_11(delay) uint32_t ac_tgid, pad4;           \
	uint64_t ac_tgetime, ac_exe_dev, ac_exe_inode; \
	struct delay wpcopy;
#define TO_14(delay) TO_13(delay) struct delay irq;
#define TO_16                                                                                \
	TO_14(plain)                                                                         \
	struct peaks cpu_peaks, blkio_peaks, swapin_peaks, freepages_peaks, thrashing_peaks, \
		compact_peaks, wpcopy_peaks, irq_peaks;

#define PACKED __attribute__((packed))
struct v8 {
	TO_8(plain)
} PACKED;
struct v9 {
	TO_9(plain)
} PACKED;
struct v11 {
	TO_11(plain)
} PACKED;
struct v13 {
	TO_13(plain)
} PACKED;
struct v14 {
	TO_14(plain)
} PACKED;
struct v15_max {
	TO_14(with_max)
} PACKED;
struct v15_both {
	TO_14(with_both)
} PACKED;
struct v16 {
	TO_16
} PACKED;
struct v17 {
	TO_16 uint64_t times_of_the_max[8][2];
} PACKED;

_Static_assert(sizeof(struct v8) == 328 && sizeof(struct v9) == 344, "");
_Static_assert(sizeof(struct v11) == 368 && sizeof(struct v13) == 416, "");
_Static_assert(sizeof(struct v14) == 432 && sizeof(struct v15_max) == 496, "");
_Static_assert(sizeof(struct v15_both) == 560 && sizeof(struct v16) == 560, "");
_Static_assert(sizeof(struct v17) == 688, "");

/* Every number of the payload is its own: 1000000 + where it stands. */
static void fill(void *payload, size_t size, uint16_t version)
{
	for (size_t at = 0; at + 8 <= size; at += 8) {
		uint64_t number = 1000000 + at;

		memcpy((char *)payload + at, &number, sizeof(number));
	}
	memcpy(payload, &version, sizeof(version));
}

/* What was read, and which fields were not asked about yet. */
struct checked {
	struct taskstats_values got;
	uint64_t left;
};

static struct checked parse(const void *payload, size_t length)
{
	/* Where netlink puts it: at four bytes past a multiple of eight. */
	char *memory = malloc(length + 4);
	struct checked c;

	memcpy(memory + 4, payload, length);
	assert_true(taskstats_parse((struct text){ memory + 4, length }, &c.got));
	free(memory);
	c.left = c.got.present;
	return c;
}

static void expect_field(struct checked *c, unsigned field, uint64_t value)
{
	if (!(c->got.present >> field & 1))
		fail_msg("field %u is not present", field);
	assert_int_equal(c->got.values[field], value);
	c->left &= ~((uint64_t)1 << field);
}

#define EXPECT_PAIR(c, p, name)                                                                \
	(expect_field(c, taskstats_field(TASKSTATS_##name, TASKSTATS_COUNT), (p)->name.count), \
	 expect_field(c, taskstats_field(TASKSTATS_##name, TASKSTATS_TOTAL), (p)->name.total))
#define EXPECT_MAX(c, p, name) \
	expect_field(c, taskstats_field(TASKSTATS_##name, TASKSTATS_MAX), (p)->name.max)
#define EXPECT_MIN(c, p, name) \
	expect_field(c, taskstats_field(TASKSTATS_##name, TASKSTATS_MIN), (p)->name.min)
#define EXPECT_END(c, p, name)                                                                     \
	(expect_field(c, taskstats_field(TASKSTATS_##name, TASKSTATS_MAX), (p)->name##_peaks.max), \
	 expect_field(c, taskstats_field(TASKSTATS_##name, TASKSTATS_MIN), (p)->name##_peaks.min))
#define EXPECT_SINGLES(c, p)                                                 \
	(expect_field(c, TASKSTATS_HIWATER_RSS, (p)->hiwater_rss),           \
	 expect_field(c, TASKSTATS_HIWATER_VM, (p)->hiwater_vm),             \
	 expect_field(c, TASKSTATS_RUN_VIRTUAL, (p)->cpu_run_virtual_total), \
	 expect_field(c, TASKSTATS_ETIME, (p)->ac_etime),                    \
	 expect_field(c, TASKSTATS_NVCSW, (p)->nvcsw),                       \
	 expect_field(c, TASKSTATS_NIVCSW, (p)->nivcsw),                     \
	 assert_int_equal((c)->got.uid, (p)->ac_uid),                        \
	 assert_memory_equal((c)->got.comm, (p)->ac_comm, sizeof((p)->ac_comm)))

#define PAIRS_8(c, p)                                                                 \
	(EXPECT_PAIR(c, p, cpu), EXPECT_PAIR(c, p, blkio), EXPECT_PAIR(c, p, swapin), \
	 EXPECT_PAIR(c, p, freepages), EXPECT_SINGLES(c, p))
#define PAIRS_9(c, p)  (PAIRS_8(c, p), EXPECT_PAIR(c, p, thrashing))
#define PAIRS_11(c, p) (PAIRS_9(c, p), EXPECT_PAIR(c, p, compact))
#define PAIRS_13(c, p) (PAIRS_11(c, p), EXPECT_PAIR(c, p, wpcopy))
#define PAIRS_14(c, p) (PAIRS_13(c, p), EXPECT_PAIR(c, p, irq))
#define EACH(DO, c, p)                                                          \
	(DO(c, p, cpu), DO(c, p, blkio), DO(c, p, swapin), DO(c, p, freepages), \
	 DO(c, p, thrashing), DO(c, p, compact), DO(c, p, wpcopy), DO(c, p, irq))

/* A payload of struct `type` that says `number`; nothing is present but what CHECKS look at. */
#define LAYOUT_TEST(name, type, number, CHECKS)          \
	TEST(name)                                       \
	{                                                \
		struct type p;                           \
		struct checked c;                        \
                                                         \
		fill(&p, sizeof(p), number);             \
		c = parse(&p, sizeof(p));                \
		assert_int_equal(c.got.version, number); \
		CHECKS;                                  \
		assert_int_equal(c.left, 0);             \
	}

LAYOUT_TEST(version_8, v8, 8, PAIRS_8(&c, &p))
LAYOUT_TEST(version_9_has_thrashing, v9, 9, PAIRS_9(&c, &p))
LAYOUT_TEST(version_11_has_compact, v11, 11, PAIRS_11(&c, &p))
LAYOUT_TEST(version_13_has_wpcopy, v13, 13, PAIRS_13(&c, &p))
LAYOUT_TEST(version_14_has_irq_and_no_peaks, v14, 14, PAIRS_14(&c, &p))
LAYOUT_TEST(version_15_of_496_bytes_has_max_inside, v15_max, 15,
	    (PAIRS_14(&c, &p), EACH(EXPECT_MAX, &c, &p)))
LAYOUT_TEST(version_15_of_560_bytes_has_both_inside, v15_both, 15,
	    (PAIRS_14(&c, &p), EACH(EXPECT_MAX, &c, &p), EACH(EXPECT_MIN, &c, &p)))
LAYOUT_TEST(version_14_with_560_bytes_is_15, v15_both, 14,
	    (PAIRS_14(&c, &p), EACH(EXPECT_MAX, &c, &p), EACH(EXPECT_MIN, &c, &p)))
LAYOUT_TEST(version_16_has_both_at_the_end, v16, 16, (PAIRS_14(&c, &p), EACH(EXPECT_END, &c, &p)))
LAYOUT_TEST(version_17_has_more_after_everything, v17, 17,
	    (PAIRS_14(&c, &p), EACH(EXPECT_END, &c, &p)))
LAYOUT_TEST(a_version_to_come_is_read_as_the_last_known, v17, 18,
	    (PAIRS_14(&c, &p), EACH(EXPECT_END, &c, &p)))

/* Nobody shipped these: only what stands before the first insertion is sure. */
TEST(version_15_of_odd_length_gives_cpu_only)
{
	static const size_t lengths[] = { 432, 488, 500, 552, 568, 600 };
	char bytes[600];

	fill(bytes, sizeof(bytes), 15);
	for (size_t i = 0; i < array_length(lengths); i++) {
		struct checked c = parse(bytes, lengths[i]);

		expect_field(&c, taskstats_field(TASKSTATS_cpu, TASKSTATS_COUNT), 1000016);
		expect_field(&c, taskstats_field(TASKSTATS_cpu, TASKSTATS_TOTAL), 1000024);
		assert_int_equal(c.left, 0);
	}
}

/* A payload may end anywhere: a field is there when all its bytes are. */
TEST(a_truncated_payload_has_what_it_has)
{
	struct v16 p;

	fill(&p, sizeof(p), 16);
	for (size_t length = 2; length <= sizeof(p); length++) {
		struct checked whole = parse(&p, sizeof(p)), c = parse(&p, length);

		for (unsigned field = 0; field < TASKSTATS_FIELD_COUNT; field++) {
			uint64_t at = whole.got.values[field] - 1000000;

			assert_int_equal(c.got.present >> field & 1, at + 8 <= length);
			if (at + 8 <= length)
				assert_int_equal(c.got.values[field], whole.got.values[field]);
		}
	}
}

TEST(too_short_for_a_version)
{
	struct taskstats_values values;

	assert_false(taskstats_parse(TEXT(""), &values));
	assert_false(taskstats_parse(TEXT("\x10"), &values));
}

TEST(fields_by_name)
{
	static const char *const none[] = {
		"",        "cpu",     "cpu_",      "cpu_delay", "irq_delay_maximum",
		"hiwater", "x_count", "cpu_counts"
	};

	assert_int_equal(taskstats_field_find(TEXT("cpu_count")),
			 taskstats_field(TASKSTATS_cpu, TASKSTATS_COUNT));
	assert_int_equal(taskstats_field_find(TEXT("swapin_delay_total")),
			 taskstats_field(TASKSTATS_swapin, TASKSTATS_TOTAL));
	assert_int_equal(taskstats_field_find(TEXT("wpcopy_delay_max")),
			 taskstats_field(TASKSTATS_wpcopy, TASKSTATS_MAX));
	assert_int_equal(taskstats_field_find(TEXT("irq_delay_min")),
			 taskstats_field(TASKSTATS_irq, TASKSTATS_MIN));
	assert_int_equal(taskstats_field_find(TEXT("hiwater_rss")), TASKSTATS_HIWATER_RSS);
	assert_int_equal(taskstats_field_find(TEXT("hiwater_vm")), TASKSTATS_HIWATER_VM);
	assert_int_equal(taskstats_field_find(TEXT("nivcsw")), TASKSTATS_NIVCSW);
	for (size_t i = 0; i < array_length(none); i++)
		assert_int_equal(taskstats_field_find(text_of(none[i])), -1);
}

/* --- replies: netlink messages, put together byte by byte --- */

enum {
	FAMILY = 31,
	SEQUENCE = 77,
	TYPE_ERROR = 2, /* NLMSG_ERROR */
	AGGREGATE = 4,  /* TASKSTATS_TYPE_AGGR_PID */
	PID = 1,
	STATS = 3,
	NOTHING = 6, /* TASKSTATS_TYPE_... */
};

struct message {
	_Alignas(8) char bytes[4096];
	size_t length;
};

static void put(struct message *m, const void *bytes, size_t length)
{
	memcpy(m->bytes + m->length, bytes, length);
	m->length += length;
}

static void put_u16(struct message *m, unsigned value)
{
	uint16_t number = (uint16_t)value;

	put(m, &number, sizeof(number));
}

static void put_u32(struct message *m, uint32_t value)
{
	put(m, &value, sizeof(value));
}

static void put_header(struct message *m, size_t payload, unsigned type)
{
	put_u32(m, (uint32_t)(16 + payload));
	put_u16(m, type);
	put_u16(m, 0);
	put_u32(m, SEQUENCE);
	put_u32(m, 0);
}

static void put_attribute(struct message *m, unsigned type, size_t length)
{
	put_u16(m, (unsigned)(4 + length));
	put_u16(m, type);
}

/* The order of the attributes inside, each named by its type; 0 ends it. */
static void put_reply(struct message *m, unsigned family, uint32_t tid, const unsigned *order)
{
	struct v16 stats;
	size_t inside = 0;

	for (const unsigned *type = order; *type; type++)
		inside += 4 + (*type == PID ? 4 : *type == STATS ? sizeof(stats) : 0);
	fill(&stats, sizeof(stats), 16);
	put_header(m, 4 + 4 + inside, family);
	put(m, "\1\1\0\0", 4);
	put_attribute(m, AGGREGATE, inside);
	for (; *order; order++) {
		size_t length = *order == PID ? 4 : *order == STATS ? sizeof(stats) : 0;

		put_attribute(m, *order, length);
		if (*order == PID)
			put_u32(m, tid);
		else if (*order == STATS)
			put(m, &stats, sizeof(stats));
	}
}

static void put_error(struct message *m, int error)
{
	put_header(m, 4 + 16, TYPE_ERROR);
	put_u32(m, (uint32_t)error);
	put_header(m, 12, FAMILY);
}

static bool next(struct message *m, struct taskstats_reply *ret)
{
	struct text datagram = { m->bytes, m->length };

	return taskstats_next_reply(&datagram, FAMILY, ret);
}

static const unsigned usual[] = { PID, STATS, 0 };

TEST(a_reply)
{
	struct message m = { .length = 0 };
	struct taskstats_reply reply;
	struct text datagram;

	put_reply(&m, FAMILY, 4242, usual);
	datagram = (struct text){ m.bytes, m.length };
	assert_true(taskstats_next_reply(&datagram, FAMILY, &reply));
	assert_int_equal(reply.failed, 0);
	assert_int_equal(reply.sequence, SEQUENCE);
	assert_int_equal(reply.tid, 4242);
	assert_int_equal(reply.stats.version, 16);
	assert_int_equal(reply.stats.values[TASKSTATS_HIWATER_RSS], 1000200);
	assert_int_equal(datagram.length, 0);
	assert_false(taskstats_next_reply(&datagram, FAMILY, &reply));
}

TEST(attributes_in_any_order)
{
	static const unsigned orders[][4] = { { STATS, PID, 0 }, { PID, NOTHING, STATS, 0 } };

	for (size_t i = 0; i < array_length(orders); i++) {
		struct message m = { .length = 0 };
		struct taskstats_reply reply;

		put_reply(&m, FAMILY, 4242, orders[i]);
		assert_true(next(&m, &reply));
		assert_int_equal(reply.failed, 0);
		assert_int_equal(reply.tid, 4242);
		assert_int_equal(reply.stats.values[TASKSTATS_HIWATER_VM], 1000208);
	}
}

TEST(errors_of_one_thread)
{
	static const int errors[] = { ESRCH, EPERM, EINVAL };

	for (size_t i = 0; i < array_length(errors); i++) {
		struct message m = { .length = 0 };
		struct taskstats_reply reply;

		put_error(&m, -errors[i]);
		assert_true(next(&m, &reply));
		assert_int_equal(reply.failed, errors[i]);
		assert_int_equal(reply.sequence, SEQUENCE);
	}
}

/* An acknowledgement, and numbers that are no errno, are no answers. */
TEST(errors_that_are_none)
{
	static const int errors[] = { 0, 3, INT32_MIN };

	for (size_t i = 0; i < array_length(errors); i++) {
		struct message m = { .length = 0 };
		struct taskstats_reply reply;

		put_error(&m, errors[i]);
		assert_true(next(&m, &reply));
		assert_int_equal(reply.failed, EBADMSG);
	}
}

TEST(another_family)
{
	struct message m = { .length = 0 };
	struct taskstats_reply reply;

	put_reply(&m, FAMILY + 1, 4242, usual);
	assert_true(next(&m, &reply));
	assert_int_equal(reply.failed, EBADMSG);
}

TEST(without_thread_or_statistics)
{
	static const unsigned orders[][2] = { { PID, 0 }, { STATS, 0 }, { NOTHING, 0 } };

	for (size_t i = 0; i < array_length(orders); i++) {
		struct message m = { .length = 0 };
		struct taskstats_reply reply;

		put_reply(&m, FAMILY, 4242, orders[i]);
		assert_true(next(&m, &reply));
		assert_int_equal(reply.failed, EBADMSG);
	}
}

/* A walk that advances by the length would not end. */
TEST(an_attribute_of_length_zero)
{
	static const size_t lengths_at[] = { 20, 24 };

	for (size_t i = 0; i < array_length(lengths_at); i++) {
		struct message m = { .length = 0 };
		struct taskstats_reply reply;

		put_reply(&m, FAMILY, 4242, usual);
		memset(m.bytes + lengths_at[i], 0, 2);
		assert_true(next(&m, &reply));
		assert_int_equal(reply.failed, EBADMSG);
	}
}

TEST(an_attribute_beyond_its_message)
{
	static const size_t lengths_at[] = { 20, 24, 32 };

	for (size_t i = 0; i < array_length(lengths_at); i++) {
		struct message m = { .length = 0 };
		struct taskstats_reply reply;
		struct text whole, datagram;

		put_reply(&m, FAMILY, 4242, usual);
		memset(m.bytes + lengths_at[i], 0xff, 2);
		whole = datagram = guarded(m.bytes, m.length);
		assert_true(taskstats_next_reply(&datagram, FAMILY, &reply));
		assert_int_equal(reply.failed, EBADMSG);
		unguard(whole);
	}
}

TEST(truncated_anywhere)
{
	struct message m = { .length = 0 };
	struct taskstats_reply reply;

	put_reply(&m, FAMILY, 4242, usual);
	for (size_t length = 0; length < m.length; length++) {
		struct text whole = guarded(m.bytes, length), datagram = whole;

		assert_false(taskstats_next_reply(&datagram, FAMILY, &reply));
		unguard(whole);
	}
}

TEST(a_message_shorter_than_its_header)
{
	struct message m = { .length = 0 };
	struct taskstats_reply reply;

	put_reply(&m, FAMILY, 4242, usual);
	memset(m.bytes, 0, 4);
	assert_false(next(&m, &reply));
	memcpy(m.bytes, &(uint32_t){ 15 }, 4);
	assert_false(next(&m, &reply));
	memcpy(m.bytes, &(uint32_t){ 16 }, 4);
	assert_true(next(&m, &reply));
	assert_int_equal(reply.failed, EBADMSG);
}

TEST(several_in_one_datagram)
{
	struct message m = { .length = 0 };
	struct taskstats_reply reply;
	struct text datagram;

	put_reply(&m, FAMILY, 1, usual);
	put_error(&m, -ESRCH);
	put_reply(&m, FAMILY, 3, usual);
	datagram = (struct text){ m.bytes, m.length };
	assert_true(taskstats_next_reply(&datagram, FAMILY, &reply));
	assert_int_equal(reply.tid, 1);
	assert_true(taskstats_next_reply(&datagram, FAMILY, &reply));
	assert_int_equal(reply.failed, ESRCH);
	assert_true(taskstats_next_reply(&datagram, FAMILY, &reply));
	assert_int_equal(reply.failed, 0);
	assert_int_equal(reply.tid, 3);
	assert_false(taskstats_next_reply(&datagram, FAMILY, &reply));
}

UNIT_TESTS(cmocka_unit_test(version_8), cmocka_unit_test(version_9_has_thrashing),
	   cmocka_unit_test(version_11_has_compact), cmocka_unit_test(version_13_has_wpcopy),
	   cmocka_unit_test(version_14_has_irq_and_no_peaks),
	   cmocka_unit_test(version_15_of_496_bytes_has_max_inside),
	   cmocka_unit_test(version_15_of_560_bytes_has_both_inside),
	   cmocka_unit_test(version_14_with_560_bytes_is_15),
	   cmocka_unit_test(version_16_has_both_at_the_end),
	   cmocka_unit_test(version_17_has_more_after_everything),
	   cmocka_unit_test(a_version_to_come_is_read_as_the_last_known),
	   cmocka_unit_test(version_15_of_odd_length_gives_cpu_only),
	   cmocka_unit_test(a_truncated_payload_has_what_it_has),
	   cmocka_unit_test(too_short_for_a_version), cmocka_unit_test(fields_by_name),
	   cmocka_unit_test(a_reply), cmocka_unit_test(attributes_in_any_order),
	   cmocka_unit_test(errors_of_one_thread), cmocka_unit_test(errors_that_are_none),
	   cmocka_unit_test(another_family), cmocka_unit_test(without_thread_or_statistics),
	   cmocka_unit_test(an_attribute_of_length_zero),
	   cmocka_unit_test(an_attribute_beyond_its_message), cmocka_unit_test(truncated_anywhere),
	   cmocka_unit_test(a_message_shorter_than_its_header),
	   cmocka_unit_test(several_in_one_datagram))
