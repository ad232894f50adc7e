/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/perf_events.h"

#include "unit/unit.h"

/* Bytes of a record, put together by hand. */
struct built {
	char bytes[512];
	size_t length;
};

static void add(struct built *built, const void *bytes, size_t length)
{
	assert_true(built->length + length <= sizeof(built->bytes));
	memcpy(built->bytes + built->length, bytes, length);
	built->length += length;
}

static void add_u32(struct built *built, uint32_t value)
{
	add(built, &value, sizeof(value));
}

static void add_u64(struct built *built, uint64_t value)
{
	add(built, &value, sizeof(value));
}

static struct built begin(uint32_t type, uint16_t misc)
{
	struct built built = { .length = 0 };
	const struct perf_event_header header = { .type = type, .misc = misc };

	add(&built, &header, sizeof(header));
	return built;
}

/* The path in eights, the time, and the size in front. */
static struct text end(struct built *built, const char *name, uint64_t time)
{
	static const char zeroes[8];
	uint16_t size;

	if (name) {
		add(built, name, strlen(name) + 1);
		add(built, zeroes, -built->length & 7);
	}
	add_u64(built, time);
	size = (uint16_t)built->length;
	memcpy(built->bytes + offsetof(struct perf_event_header, size), &size, sizeof(size));
	return (struct text){ built->bytes, built->length };
}

static struct built begin_mapping(uint16_t misc, uint64_t start, uint64_t length)
{
	struct built built = begin(PERF_RECORD_MMAP2, misc);

	add_u32(&built, 70);
	add_u32(&built, 71);
	add_u64(&built, start);
	add_u64(&built, length);
	add_u64(&built, 0x3000);
	return built;
}

static struct text device_mapping(struct built *built, const char *path)
{
	*built = begin_mapping(0, 0x10000, 0x2000);
	add_u32(built, 8);
	add_u32(built, 1);
	add_u64(built, 1234);
	add_u64(built, 99);
	add_u32(built, 5);
	add_u32(built, 2);
	return end(built, path, 555);
}

static struct text id_mapping(struct built *built, uint8_t id_length)
{
	const uint8_t length[4] = { id_length };

	*built = begin_mapping(1 << 14, 0x10000, 0x2000);
	add(built, length, sizeof(length));
	add(built, "abcdefghijklmnopqrst", 20);
	add_u32(built, 5);
	add_u32(built, 2);
	return end(built, "/usr/lib/libx.so", 555);
}

static struct perf_record parsed_record(struct text bytes)
{
	struct text copy = guarded(bytes.bytes, bytes.length);
	struct perf_record record;

	assert_true(perf_record_parse(copy, &record));
	if (record.path.length)
		record.path.bytes = bytes.bytes + (record.path.bytes - copy.bytes);
	if (record.build_id.length)
		record.build_id.bytes = bytes.bytes + (record.build_id.bytes - copy.bytes);
	unguard(copy);
	return record;
}

TEST(a_mapping_has_a_device_or_a_build_id)
{
	struct built built;
	struct perf_record record = parsed_record(device_mapping(&built, "/bin/some thing"));

	assert_int_equal(record.kind, PERF_RECORD_OF_MAPPING);
	assert_int_equal(record.pid, 70);
	assert_int_equal(record.start, 0x10000);
	assert_int_equal(record.end, 0x12000);
	assert_int_equal(record.file_offset, 0x3000);
	assert_int_equal(record.major, 8);
	assert_int_equal(record.minor, 1);
	assert_int_equal(record.inode, 1234);
	assert_int_equal(record.time_ns, 555);
	assert_int_equal(record.build_id.length, 0);
	expect_text(record.path, "/bin/some thing");

	record = parsed_record(id_mapping(&built, 20));
	expect_text(record.build_id, "abcdefghijklmnopqrst");
	assert_int_equal(record.inode, 0);
	expect_text(record.path, "/usr/lib/libx.so");
	record = parsed_record(id_mapping(&built, 8));
	expect_text(record.build_id, "abcdefgh");
}

TEST(memory_without_a_file_has_no_path)
{
	struct built built;

	assert_int_equal(parsed_record(device_mapping(&built, "//anon")).path.length, 0);
	expect_text(parsed_record(device_mapping(&built, "[vdso]")).path, "[vdso]");
}

static enum perf_record_kind task_kind(uint32_t type, uint32_t pid, uint32_t parent, uint32_t tid)
{
	struct built built = begin(type, 0);

	add_u32(&built, pid);
	add_u32(&built, parent);
	add_u32(&built, tid);
	add_u32(&built, parent);
	add_u64(&built, 777);
	return parsed_record(end(&built, NULL, 777)).kind;
}

TEST(threads_are_no_processes)
{
	assert_int_equal(task_kind(PERF_RECORD_FORK, 5, 4, 5), PERF_RECORD_OF_FORK);
	assert_int_equal(task_kind(PERF_RECORD_FORK, 4, 4, 5), PERF_RECORD_OF_OTHERS);
	assert_int_equal(task_kind(PERF_RECORD_EXIT, 5, 4, 5), PERF_RECORD_OF_EXIT);
	assert_int_equal(task_kind(PERF_RECORD_EXIT, 5, 4, 6), PERF_RECORD_OF_OTHERS);
}

TEST(a_new_name_is_no_exec)
{
	struct built built = begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	struct perf_record record;

	add_u32(&built, 5);
	add_u32(&built, 5);
	record = parsed_record(end(&built, "cat", 9));
	assert_int_equal(record.kind, PERF_RECORD_OF_EXEC);
	assert_int_equal(record.pid, 5);
	assert_int_equal(record.time_ns, 9);
	built = begin(PERF_RECORD_COMM, 0);
	add_u32(&built, 5);
	add_u32(&built, 5);
	assert_int_equal(parsed_record(end(&built, "cat", 9)).kind, PERF_RECORD_OF_OTHERS);
}

TEST(losses_are_counted)
{
	struct built built = begin(PERF_RECORD_LOST, 0);

	add_u64(&built, 1);
	add_u64(&built, 321);
	assert_int_equal(parsed_record(end(&built, NULL, 9)).lost, 321);
}

static void refuse(struct text bytes)
{
	struct text copy = guarded(bytes.bytes, bytes.length);
	struct perf_record record = { .pid = 4711 };

	assert_false(perf_record_parse(copy, &record));
	assert_int_equal(record.pid, 4711);
	unguard(copy);
}

TEST(impossible_records_are_refused)
{
	struct built built;
	struct text whole = device_mapping(&built, "");

	for (size_t length = 0; length < whole.length; length++)
		refuse((struct text){ whole.bytes, length });
	/* Lengths that are said and not there, up to the first that has all. */
	for (uint16_t size = 0; size < 80; size++) {
		memcpy(built.bytes + 6, &size, sizeof(size));
		refuse((struct text){ built.bytes, size });
	}
	refuse(id_mapping(&built, 21));
	built = begin_mapping(0, 0x1000, 0);
	built.length += 32;
	refuse(end(&built, "/x", 1));
	built = begin_mapping(0, UINT64_MAX - 5, 10);
	built.length += 32;
	refuse(end(&built, "/x", 1));
}

TEST(records_are_cut_one_by_one)
{
	struct built one, two;
	struct text first = device_mapping(&one, "/a"), second = id_mapping(&two, 20), rest, record;
	char both[1024];

	memcpy(both, first.bytes, first.length);
	memcpy(both + first.length, second.bytes, second.length);
	rest = (struct text){ both, first.length + second.length };
	assert_true(perf_record_cut(&rest, &record) && text_equal(record, first));
	assert_true(perf_record_cut(&rest, &record) && text_equal(record, second));
	assert_false(perf_record_cut(&rest, &record));
	assert_int_equal(rest.length, 0);
	rest = (struct text){ both, first.length - 1 };
	assert_false(perf_record_cut(&rest, &record));
	memset(both, 0, 8);
	rest = (struct text){ both, 64 };
	assert_false(perf_record_cut(&rest, &record));
}

TEST(a_ring_goes_round)
{
	static const char ring[] = "01234567";
	char copy[8];

	assert_int_equal(perf_ring_copy(ring, 8, 2, 5, copy), 3);
	assert_memory_equal(copy, "234", 3);
	assert_int_equal(perf_ring_copy(ring, 8, 6, 11, copy), 5);
	assert_memory_equal(copy, "67012", 5);
	assert_int_equal(perf_ring_copy(ring, 8, 8, 16, copy), 8);
	assert_memory_equal(copy, "01234567", 8);
	assert_int_equal(perf_ring_copy(ring, 8, 3, 3, copy), 0);
	/* Overtaken: the newest eight. */
	assert_int_equal(perf_ring_copy(ring, 8, 0, 19, copy), 8);
	assert_memory_equal(copy, "34567012", 8);
	assert_int_equal(perf_ring_copy(ring, 8, UINT64_MAX - 1, 2, copy), 4);
	assert_memory_equal(copy, "6701", 4);
}

static void write_down(void *context, struct text record)
{
	expect_ok(sunk_write(context, record.bytes, record.length));
}

TEST(the_queue_is_in_the_order_of_time)
{
	struct record_queue queue = { 0 };
	struct sunk sunk = { 0 };

	assert_true(record_queue_add(&queue, 30, TEXT("C")));
	assert_true(record_queue_add(&queue, 10, TEXT("A")));
	assert_true(record_queue_add(&queue, 40, TEXT("D")));
	assert_true(record_queue_add(&queue, 30, TEXT("c")));
	assert_int_equal(record_queue_take(&queue, 40, write_down, &sunk), 0);
	expect_text(sunk_text(&sunk), "ACc");
	assert_int_equal(queue.waiting.bytes.count, 1);
	assert_true(record_queue_add(&queue, 35, TEXT("B")));
	assert_int_equal(record_queue_take(&queue, 20, write_down, &sunk), 0);
	assert_int_equal(record_queue_take(&queue, UINT64_MAX, write_down, &sunk), 0);
	expect_text(sunk_text(&sunk), "ACcBD");
	assert_int_equal(queue.waiting.bytes.count, 0);
	record_queue_deinit(&queue);
	array_deinit(&sunk);
}

UNIT_TESTS(cmocka_unit_test(a_mapping_has_a_device_or_a_build_id),
	   cmocka_unit_test(memory_without_a_file_has_no_path),
	   cmocka_unit_test(threads_are_no_processes), cmocka_unit_test(a_new_name_is_no_exec),
	   cmocka_unit_test(losses_are_counted), cmocka_unit_test(impossible_records_are_refused),
	   cmocka_unit_test(records_are_cut_one_by_one), cmocka_unit_test(a_ring_goes_round),
	   cmocka_unit_test(the_queue_is_in_the_order_of_time))
