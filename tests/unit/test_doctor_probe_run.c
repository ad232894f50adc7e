/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor/probe_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit/build.h"
#include "unit/built.h"

static struct scratch scratch;
static struct probe_run run;

static int setup(void **state)
{
	(void)state;
	scratch_init(&scratch);
	assert_int_equal(mkdirat(scratch.dir, "self", 0755), 0);
	run = (struct probe_run){ .proc = scratch.dir };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	file_buffer_deinit(&run.buffer);
	scratch_deinit(&scratch);
	return 0;
}

static void probe_result_deinit(struct probe_result *result)
{
	free(result->why);
	free(result->command);
	free(result->boot);
	free(result->covers);
}

/* A shell says what it takes the word for. */
static void check_word(const char *word, const char *written)
{
	_cleanup_free_ char *command = NULL, *said = NULL;

	assert_non_null(written);
	command = text_print("printf '%%s|' %s", written);
	said = printed(&scratch, command);
	assert_non_null(said);
	assert_int_equal(strncmp(said, word, strlen(word)), 0);
	assert_string_equal(said + strlen(word), "|");
}

TEST(a_quoted_word_is_one_word)
{
	static const char *const words[] = {
		"plain",
		"",
		"two words",
		"it's",
		"''",
		"$HOME `id` $(id)",
		"a\nb",
		"\\",
		"*?[a]",
		"-n",
		"\"",
		"!",
		"#",
		"'; echo broken; '",
		"/a-b_c.d:e@f,g+h=i%j",
		"~",
		"a=~",
	};

	for (size_t i = 0; i < array_length(words); i++) {
		_cleanup_free_ char *quoted = text_quoted(text_of(words[i]));
		_cleanup_free_ char *shown = text_shell_word(text_of(words[i]));

		check_word(words[i], quoted);
		check_word(words[i], shown);
	}
}

TEST(a_lack_has_its_reason_on_one_line)
{
	struct probe_result result = { .presence = PRESENCE_YES };

	result_set_lack(&result, PRESENCE_PARTLY, "%d of %s", 3, "/a\nb\033[2J");
	assert_int_equal(result.presence, PRESENCE_PARTLY);
	assert_int_equal(strncmp(result.why, "3 of /a", 7), 0);
	assert_null(strpbrk(result.why, "\n\033"));
	result_set_lack(&result, PRESENCE_NO, "another");
	assert_int_equal(result.presence, PRESENCE_NO);
	assert_string_equal(result.why, "another");
	probe_result_deinit(&result);
}

/* A command is for a root shell: one that would have to be changed to be shown is not given. */
TEST(a_command_is_given_as_it_is_or_not_at_all)
{
	struct probe_result result = { 0 };

	result_set_remedy(&result, "all of it", "sysctl -w %s=1", "kernel.x");
	assert_string_equal(result.command, "sysctl -w kernel.x=1");
	assert_string_equal(result.covers, "all of it");
	result_set_remedy(&result, "all of it", "echo > '/a%sb'", "\n");
	assert_null(result.command);
	assert_null(result.covers);
	probe_result_deinit(&result);
}

TEST(a_boot_parameter_is_named)
{
	struct probe_result result = { 0 };

	result_set_boot_remedy(&result, "every thread", "delayacct");
	assert_string_equal(result.boot, "delayacct");
	assert_string_equal(result.covers, "every thread");
	/* With a boot loader that is known, the command has it. */
	if (result.command)
		assert_non_null(strstr(result.command, "delayacct"));
	probe_result_deinit(&result);
}

/* CAP_CHOWN is bit 0, CAP_NET_ADMIN 12, CAP_BPF 39 (capabilities(7),
 * include/uapi/linux/capability.h). */
TEST(capabilities_are_read_by_their_bits)
{
	static const struct {
		const char *set;
		uint64_t wanted;
		bool has;
	} rows[] = {
		{ "CapEff:", 1 << 12, true },
		{ "CapEff:", 1 << 12 | 1, true },
		{ "CapEff:", 1 << 12 | 2, false },
		{ "CapEff:", 1ull << 39, false },
		{ "CapBnd:", 1ull << 39 | 1 << 12, true },
		{ "CapInh:", 1, false },
		{ "CapAmb:", 1, false }, /* there is no such line */
	};

	scratch_write(&scratch, "self/status",
		      TEXT("Name:\tx\nCapInh:\t0000000000000000\nCapEff:\t0000000000001001\n"
			   "CapBnd:\t000001ffffffffff\n"));
	for (size_t i = 0; i < array_length(rows); i++)
		assert_int_equal(has_capabilities(&run, rows[i].set, rows[i].wanted), rows[i].has);
}

TEST(without_a_status_nothing_is_held)
{
	assert_false(has_capabilities(&run, "CapEff:", 1));
}

/* What may never be had is not asked for. */
TEST(capabilities_are_only_advised_where_they_can_be_had)
{
	static const struct {
		const char *status;
		const char *why, *command, *not_in_command;
	} rows[] = {
		{ "CapBnd:\t0000000000000000\n", "container", NULL, NULL },
		/* 2, 12, 19: reading, network, ptrace */
		{ "CapBnd:\t0000000000081004\n", NULL,
		  "setcap cap_dac_read_search,cap_net_admin,cap_sys_ptrace+ep", "cap_bpf" },
		{ "CapBnd:\t000001ffffffffff\n", NULL, "cap_syslog,cap_perfmon,cap_bpf+ep", NULL },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		struct probe_result result = { 0 };

		scratch_write(&scratch, "self/status", text_of(rows[i].status));
		result_set_privilege_remedy(&run, &result);
		if (rows[i].why)
			assert_non_null(strstr(result.why, rows[i].why));
		if (!rows[i].command) {
			assert_null(result.command);
		} else {
			assert_non_null(strstr(result.command, rows[i].command));
			/* Only a group may run it, and that before it has capabilities. */
			assert_true(strstr(result.command, "chmod 0750") <
				    strstr(result.command, "setcap"));
		}
		if (rows[i].not_in_command)
			assert_null(strstr(result.command, rows[i].not_in_command));
		probe_result_deinit(&result);
	}
}

/* The name of the file is a user's. */
TEST(the_program_is_named_in_quotes)
{
	struct probe_result result = { 0 };

	scratch_write(&scratch, "self/status", TEXT("CapBnd:\t000001ffffffffff\n"));
	assert_int_equal(symlinkat("/tmp/a b/ctprof;id", scratch.dir, "self/exe"), 0);
	result_set_privilege_remedy(&run, &result);
	assert_non_null(strstr(result.command, "'/tmp/a b/ctprof;id'"));
	probe_result_deinit(&result);
}

TEST(files_of_proc_lose_the_newline_at_their_end)
{
	struct text text;

	scratch_write(&scratch, "self/word", TEXT("runtime\n"));
	assert_true(proc_text(&run, "self/word", &text));
	expect_text(text, "runtime");
	assert_false(proc_text(&run, "self/nothing", &text));
}

TEST(refusals_are_counted_by_source)
{
	struct capture_info capture = { 0 };

	run.snapshot = build_snapshot();
	run.snapshot->capture = &capture;
	assert_true(counts_add(run.snapshot, &capture.denied, TEXT("io"), 7));
	assert_int_equal(refused(&run, "io"), 7);
	assert_int_equal(refused(&run, "exe"), 0);
	run.snapshot->capture = NULL;
	snapshot_destroy(run.snapshot);
}

/* Nobody can tell of an option that no configuration names. */
TEST(an_option_that_no_kernel_has)
{
	struct probe_result result = { 0 };

	assert_int_equal(kernel_config(&run, "CTPROF_OF_NO_KERNEL"), -1);
	result_set_not_built(&run, &result, "CTPROF_OF_NO_KERNEL");
	assert_int_equal(result.presence, PRESENCE_NO);
	assert_non_null(strstr(result.why, "CONFIG_CTPROF_OF_NO_KERNEL"));
	assert_null(result.command);
	probe_result_deinit(&result);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(a_quoted_word_is_one_word), CASE(a_lack_has_its_reason_on_one_line),
	   CASE(a_command_is_given_as_it_is_or_not_at_all), CASE(a_boot_parameter_is_named),
	   CASE(capabilities_are_read_by_their_bits), CASE(without_a_status_nothing_is_held),
	   CASE(capabilities_are_only_advised_where_they_can_be_had),
	   CASE(the_program_is_named_in_quotes), CASE(files_of_proc_lose_the_newline_at_their_end),
	   CASE(refusals_are_counted_by_source), CASE(an_option_that_no_kernel_has))
