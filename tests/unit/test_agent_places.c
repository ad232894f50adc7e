/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/places.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "unit/profile_scene.h"
#include "unit/unit.h"

#define SECOND UINT64_C(1000000000)

static struct agent_places *places;
static int proc;

static int begin(void **state)
{
	(void)state;
	proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_null(agent_places_create(proc, &places));
	return 0;
}

static int end(void **state)
{
	(void)state;
	agent_places_destroy(places);
	close(proc);
	return 0;
}

static size_t take(const struct profile *profile, uint64_t now_ns, const struct agent_place **ret)
{
	size_t count;

	assert_null(agent_places_take(places, profile, now_ns, ret, &count));
	return count;
}

TEST(each_cgroup_once_an_hour)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	const struct agent_place *rows;

	profile = build_profile();
	build_profile_thread(profile, 1, 1, "cron", "cron", "/system.slice/cron.service");
	build_profile_thread(profile, 2, 2, "sshd", "sshd", "/system.slice/ssh.service");
	build_profile_thread(profile, 3, 3, "cron", "cron", "/system.slice/cron.service");
	build_profile_thread(profile, 4, 4, "lost", "lost", NULL);
	assert_int_equal(take(profile, SECOND, &rows), 2);
	expect_text(rows[0].cgroup, "/system.slice/cron.service");
	assert_string_equal(rows[0].labels.unit, "cron.service");
	assert_string_equal(rows[0].labels.container, "");
	assert_string_equal(rows[1].labels.unit, "ssh.service");
	assert_int_equal(take(profile, 2 * SECOND, &rows), 0);
	assert_int_equal(take(profile, 3600 * SECOND, &rows), 0);
	assert_int_equal(take(profile, 3601 * SECOND, &rows), 2);
	assert_int_equal(take(profile, 3602 * SECOND, &rows), 0);
}

/* The host of a stranger who makes cgroups without end. */
TEST(cgroups_without_end)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	const struct agent_place *rows;
	size_t total = 0, rounds = 0, got;
	char path[32];

	profile = build_profile();
	for (uint32_t i = 1; i <= 1000; i++) {
		snprintf(path, sizeof(path), "/x/%u", i);
		build_profile_thread(profile, i, i, "x", "x", path);
	}
	while ((got = take(profile, SECOND, &rows))) {
		assert_true(got <= AGENT_PLACES_AT_ONCE);
		total += got;
		rounds++;
	}
	assert_int_equal(total, 1000);
	assert_int_equal(rounds, (1000 + AGENT_PLACES_AT_ONCE - 1) / AGENT_PLACES_AT_ONCE);
}

UNIT_TESTS(cmocka_unit_test_setup_teardown(each_cgroup_once_an_hour, begin, end),
	   cmocka_unit_test_setup_teardown(cgroups_without_end, begin, end))
