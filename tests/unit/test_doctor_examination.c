/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor/examination.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit/build.h"
#include "unit/built.h"

static struct scratch scratch;
static struct examination e;

static int setup(void **state)
{
	(void)state;
	scratch_init(&scratch);
	assert_int_equal(mkdirat(scratch.dir, "self", 0755), 0);
	e = (struct examination){ .proc = scratch.dir };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	file_buffer_deinit(&e.buffer);
	scratch_deinit(&scratch);
	return 0;
}

static void finding_deinit(struct finding *finding)
{
	free(finding->why);
	free(finding->command);
	free(finding->boot);
	free(finding->covers);
}

/* A shell says what it takes the word for. */
TEST(a_quoted_word_is_one_word)
{
	static const char *const words[] = {
		"plain", "",   "two words", "it's", "''", "$HOME `id` $(id)",  "a\nb", "\\",
		"*?[a]", "-n", "\"",        "!",    "#",  "'; echo broken; '",
	};

	for (size_t i = 0; i < array_length(words); i++) {
		_cleanup_free_ char *quoted = shell_quoted(text_of(words[i]));
		_cleanup_free_ char *command = NULL, *said = NULL;

		assert_non_null(quoted);
		command = text_print("printf '%%s|' %s", quoted);
		said = printed(&scratch, command);
		assert_non_null(said);
		assert_int_equal(strncmp(said, words[i], strlen(words[i])), 0);
		assert_string_equal(said + strlen(words[i]), "|");
	}
}

TEST(a_lack_has_its_reason_on_one_line)
{
	struct finding finding = { .presence = PRESENCE_YES };

	find_lack(&finding, PRESENCE_PARTLY, "%d of %s", 3, "/a\nb\033[2J");
	assert_int_equal(finding.presence, PRESENCE_PARTLY);
	assert_int_equal(strncmp(finding.why, "3 of /a", 7), 0);
	assert_null(strpbrk(finding.why, "\n\033"));
	find_lack(&finding, PRESENCE_NO, "another");
	assert_int_equal(finding.presence, PRESENCE_NO);
	assert_string_equal(finding.why, "another");
	finding_deinit(&finding);
}

/* A command is for a root shell: one that would have to be changed to be shown is not given. */
TEST(a_command_is_given_as_it_is_or_not_at_all)
{
	struct finding finding = { 0 };

	find_remedy(&finding, "all of it", "sysctl -w %s=1", "kernel.x");
	assert_string_equal(finding.command, "sysctl -w kernel.x=1");
	assert_string_equal(finding.covers, "all of it");
	find_remedy(&finding, "all of it", "echo > '/a%sb'", "\n");
	assert_null(finding.command);
	assert_null(finding.covers);
	finding_deinit(&finding);
}

TEST(a_boot_parameter_is_named)
{
	struct finding finding = { 0 };

	find_boot_remedy(&finding, "every thread", "delayacct");
	assert_string_equal(finding.boot, "delayacct");
	assert_string_equal(finding.covers, "every thread");
	/* With a boot loader that is known, the command has it. */
	if (finding.command)
		assert_non_null(strstr(finding.command, "delayacct"));
	finding_deinit(&finding);
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
		assert_int_equal(has_capabilities(&e, rows[i].set, rows[i].wanted), rows[i].has);
}

TEST(without_a_status_nothing_is_held)
{
	assert_false(has_capabilities(&e, "CapEff:", 1));
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
		struct finding finding = { 0 };

		scratch_write(&scratch, "self/status", text_of(rows[i].status));
		find_privilege_remedy(&e, &finding);
		if (rows[i].why)
			assert_non_null(strstr(finding.why, rows[i].why));
		if (!rows[i].command) {
			assert_null(finding.command);
		} else {
			assert_non_null(strstr(finding.command, rows[i].command));
			/* Only a group may run it, and that before it has capabilities. */
			assert_true(strstr(finding.command, "chmod 0750") <
				    strstr(finding.command, "setcap"));
		}
		if (rows[i].not_in_command)
			assert_null(strstr(finding.command, rows[i].not_in_command));
		finding_deinit(&finding);
	}
}

/* The name of the file is a user's. */
TEST(the_program_is_named_in_quotes)
{
	struct finding finding = { 0 };

	scratch_write(&scratch, "self/status", TEXT("CapBnd:\t000001ffffffffff\n"));
	assert_int_equal(symlinkat("/tmp/a b/ctprof;id", scratch.dir, "self/exe"), 0);
	find_privilege_remedy(&e, &finding);
	assert_non_null(strstr(finding.command, "'/tmp/a b/ctprof;id'"));
	finding_deinit(&finding);
}

TEST(files_of_proc_lose_the_newline_at_their_end)
{
	struct text text;

	scratch_write(&scratch, "self/word", TEXT("runtime\n"));
	assert_true(proc_text(&e, "self/word", &text));
	expect_text(text, "runtime");
	assert_false(proc_text(&e, "self/nothing", &text));
}

TEST(refusals_are_counted_by_source)
{
	struct capture_info capture = { 0 };

	e.snapshot = build_snapshot();
	e.snapshot->capture = &capture;
	assert_true(counts_add(e.snapshot, &capture.denied, TEXT("io"), 7));
	assert_int_equal(refused(&e, "io"), 7);
	assert_int_equal(refused(&e, "exe"), 0);
	e.snapshot->capture = NULL;
	snapshot_destroy(e.snapshot);
}

/* Nobody can tell of an option that no configuration names. */
TEST(an_option_that_no_kernel_has)
{
	struct finding finding = { 0 };

	assert_int_equal(kernel_config(&e, "CTPROF_OF_NO_KERNEL"), -1);
	find_not_built(&e, &finding, "CTPROF_OF_NO_KERNEL");
	assert_int_equal(finding.presence, PRESENCE_NO);
	assert_non_null(strstr(finding.why, "CONFIG_CTPROF_OF_NO_KERNEL"));
	assert_null(finding.command);
	finding_deinit(&finding);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(a_quoted_word_is_one_word), CASE(a_lack_has_its_reason_on_one_line),
	   CASE(a_command_is_given_as_it_is_or_not_at_all), CASE(a_boot_parameter_is_named),
	   CASE(capabilities_are_read_by_their_bits), CASE(without_a_status_nothing_is_held),
	   CASE(capabilities_are_only_advised_where_they_can_be_had),
	   CASE(the_program_is_named_in_quotes), CASE(files_of_proc_lose_the_newline_at_their_end),
	   CASE(refusals_are_counted_by_source), CASE(an_option_that_no_kernel_has))
