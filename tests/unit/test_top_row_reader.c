/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/row_reader.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "unit/unit.h"

#define ALL ((1u << ROW_FACT_COUNT) - 1)

TEST(stat_is_parsed)
{
	static const char line[] = "17 (a) b) S 1 17 17 0 -1 4194304 1 2 3 4 5 6 7 8 30 10 1 0 "
				   "4242 9 3 18446744073709551615";
	struct row_files files = { 0 };

	assert_true(row_files_parse_stat(text_of(line), &files));
	assert_int_equal(files.priority, 30);
	assert_int_equal(files.nice, 10);
	assert_int_equal(files.start_ticks, 4242);
	assert_int_equal(files.memory_bytes, 3 * sysconf(_SC_PAGESIZE));
	assert_int_equal(files.command_length, 6);
	assert_memory_equal(files.command, "[a) b]", 6);
}

TEST(other_lines_are_no_stat)
{
	static const char *const bad[] = {
		"",
		"17 (a",
		"17 (a) S 1",
		"17 (a) S 1 17 17 0 -1 4194304 1 2 3 4 5 6 7 8 x 10 1 0 4242 9 3",
		"17 (a) S 1 17 17 0 -1 4194304 1 2 3 4 5 6 7 8 4294967296 10 1 0 4242 9 3",
		("17 (a) S 1 17 17 0 -1 4194304 1 2 3 4 5 6 7 8 30 10 1 0 4242 9 "
		 "18446744073709551615"),
	};

	for (size_t i = 0; i < array_length(bad); i++) {
		struct row_files files = { 0 };

		assert_false(row_files_parse_stat(text_of(bad[i]), &files));
		assert_false(files.is_there);
	}
}

TEST(io_is_parsed_whole_or_not_at_all)
{
	static const char text[] = "rchar: 3\nwchar: 4\nsyscr: 9\nread_bytes: 1\nwrite_bytes: 2\n";
	struct row_files files = { 0 };

	row_files_parse_io(text_of(text), &files);
	assert_true(files.has_io);
	for (uint64_t i = 0; i < ROW_RATES; i++)
		assert_int_equal(files.io[i], i + 1);
	files = (struct row_files){ 0 };
	row_files_parse_io(TEXT("rchar: 3\nwchar: 4\nread_bytes: 1\n"), &files);
	assert_false(files.has_io);
	row_files_parse_io(TEXT("rchar: 3\nwchar: 4\nread_bytes: 1\nwrite_bytes: -1\n"), &files);
	assert_false(files.has_io);
}

TEST(command_lines_are_cut_and_spaced)
{
	char longest[3 * ROW_COMMAND_MAX];
	struct row_files files = { .command = "[x]", .command_length = 3 };

	row_files_take_command(TEXT(""), &files);
	assert_int_equal(files.command_length, 3);
	row_files_take_command(TEXT("\0\0"), &files);
	assert_int_equal(files.command_length, 3);
	row_files_take_command(TEXT("a\0b c\0\0d\0\0"), &files);
	assert_int_equal(files.command_length, 8);
	assert_memory_equal(files.command, "a b c  d", 8);
	memset(longest, 'x', sizeof(longest));
	row_files_take_command((struct text){ longest, sizeof(longest) }, &files);
	assert_int_equal(files.command_length, ROW_COMMAND_MAX);
}

static struct row_subject subject_of(pid_t pid, bool is_process)
{
	return (struct row_subject){ .tid = (uint32_t)pid,
				     .tgid = (uint32_t)pid,
				     .is_process = is_process,
				     .seen_ns = clock_ns(CLOCK_MONOTONIC) };
}

static struct row_facts read_one(struct row_reader *reader, unsigned wanted,
				 struct row_subject subject)
{
	struct row_facts facts;

	row_reader_read(reader, wanted, &subject, 1, &facts);
	assert_true(row_subject_is(&facts.subject, &subject));
	return facts;
}

static void write_much(void)
{
	static const char bytes[1 << 16];
	const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (int i = 0; i < 64; i++)
		assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
}

/* 4 MiB in less than a minute. */
TEST(rates_are_of_two_windows)
{
	for (int is_process = 0; is_process < 2; is_process++) {
		struct row_reader reader = { 0 };
		struct row_facts facts;

		row_reader_begin(&reader);
		facts = read_one(&reader, ALL, subject_of(getpid(), is_process));
		assert_int_equal(facts.known, ALL & ~ROW_RATE_FACTS);
		assert_int_equal(facts.nice, getpriority(PRIO_PROCESS, 0));
		assert_in_range(facts.memory_bytes, 1 << 16, UINT64_C(1) << 45);
		write_much();
		/* Not twice in a window. */
		facts = read_one(&reader, ALL, subject_of(getpid(), is_process));
		assert_int_equal(facts.known, ALL & ~ROW_RATE_FACTS);
		row_reader_begin(&reader);
		facts = read_one(&reader, ALL, subject_of(getpid(), is_process));
		assert_int_equal(facts.known, ALL);
		assert_in_range(facts.rates[ROW_FACT_WCHAR - ROW_FACT_READ], (4 << 20) / 60,
				UINT64_C(1) << 60);
		/* One that was not read for a window has no rate of this one. */
		row_reader_begin(&reader);
		row_reader_begin(&reader);
		facts = read_one(&reader, ALL, subject_of(getpid(), is_process));
		assert_int_equal(facts.known, ALL & ~ROW_RATE_FACTS);
		row_reader_deinit(&reader);
	}
}

TEST(only_what_is_wanted_is_given)
{
	struct row_reader reader = { 0 };
	struct row_facts facts;

	row_reader_begin(&reader);
	facts = read_one(&reader, ROW_FACT_BIT(NICE), subject_of(getpid(), true));
	assert_int_equal(facts.known, ROW_FACT_BIT(NICE));
	/* More is wanted later in the window. */
	facts = read_one(&reader, ROW_FACT_BIT(COMMAND), subject_of(getpid(), true));
	assert_int_equal(facts.known, ROW_FACT_BIT(COMMAND));
	assert_true(facts.command_length > 0);
	row_reader_deinit(&reader);
}

static pid_t start_child(void)
{
	const pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		pause();
		_exit(0);
	}
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST(a_process_that_began_later_is_another)
{
	const uint64_t before_ns = clock_ns(CLOCK_MONOTONIC) - NS_PER_S;
	const pid_t child = start_child();
	struct row_subject subject = subject_of(child, true);
	struct row_reader reader = { 0 };

	row_reader_begin(&reader);
	subject.seen_ns = before_ns;
	assert_int_equal(read_one(&reader, ALL, subject).known, 0);
	row_reader_deinit(&reader);
	end_child(child);
}

TEST(nothing_is_known_of_what_has_ended)
{
	const pid_t child = start_child();
	const struct row_subject subject = subject_of(child, true);
	struct row_reader reader = { 0 };

	row_reader_begin(&reader);
	assert_int_equal(read_one(&reader, ROW_FACT_BIT(NICE), subject).known, ROW_FACT_BIT(NICE));
	end_child(child);
	row_reader_begin(&reader);
	assert_int_equal(read_one(&reader, ALL, subject).known, 0);
	row_reader_deinit(&reader);
}

TEST(a_window_has_a_limit)
{
	const size_t count = ROW_READER_ROWS_MAX + 10;
	struct row_subject *subjects = calloc(count, sizeof(*subjects));
	struct row_facts *facts = calloc(count, sizeof(*facts));
	struct row_reader reader = { 0 };

	for (size_t i = 0; i < count; i++) {
		/* No such threads, but the last. */
		subjects[i] = subject_of(getpid(), i == count - 1);
		subjects[i].tid = (uint32_t)(INT32_MAX - i);
	}
	row_reader_begin(&reader);
	row_reader_read(&reader, ALL, subjects, count, facts);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(facts[i].known, 0);
	row_reader_begin(&reader);
	row_reader_read(&reader, ROW_FACT_BIT(NICE), subjects + 10, count - 10, facts);
	assert_int_equal(facts[count - 11].known, ROW_FACT_BIT(NICE));
	assert_true(reader.rows.count <= 2 * ROW_READER_ROWS_MAX);
	row_reader_deinit(&reader);
	free(subjects);
	free(facts);
}

UNIT_TESTS(cmocka_unit_test(stat_is_parsed), cmocka_unit_test(other_lines_are_no_stat),
	   cmocka_unit_test(io_is_parsed_whole_or_not_at_all),
	   cmocka_unit_test(command_lines_are_cut_and_spaced),
	   cmocka_unit_test(rates_are_of_two_windows),
	   cmocka_unit_test(only_what_is_wanted_is_given),
	   cmocka_unit_test(a_process_that_began_later_is_another),
	   cmocka_unit_test(nothing_is_known_of_what_has_ended),
	   cmocka_unit_test(a_window_has_a_limit))
