/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/cgroup_names.h"

#include "unit/compare_scene.h"

struct sides_of_paths {
	struct ctprof_snapshot *s[3];
	size_t count;
	struct cgroup_rules rules;
	struct cgroup_names names;
};

/* A snapshot that has a thread in each of these. */
static void add_side(struct sides_of_paths *p, const char *const *paths)
{
	struct ctprof_snapshot *s = p->s[p->count++] = build_snapshot();

	for (uint32_t i = 0; paths[i]; i++)
		live_in(s, i + 1, i + 1, 1, "p", "t", paths[i]);
}
#define side(p, ...) add_side(p, (const char *const[]){ __VA_ARGS__, NULL })

static void name_all(struct sides_of_paths *p)
{
	expect_ok(cgroup_names_init(&p->names, &p->rules,
				    (const struct ctprof_snapshot *const *)p->s, p->count));
}

static void flatten(struct sides_of_paths *p, const char *glob)
{
	assert_true(array_push(&p->rules.flatten, glob));
}

static const char *name_of(const struct sides_of_paths *p, size_t side, size_t thread)
{
	return cgroup_names_of(&p->names, snapshot_thread(p->s[side], thread)->cgroup)->bytes;
}

static void forget(struct sides_of_paths *p)
{
	cgroup_names_deinit(&p->names);
	array_deinit(&p->rules.flatten);
	for (size_t i = 0; i < p->count; i++)
		snapshot_destroy(p->s[i]);
}

TEST(paths_of_both_sides_keep_their_names)
{
	struct sides_of_paths p = { 0 };

	side(&p, "/job-1", "/job-2", "/");
	side(&p, "/job-2", "/job-1", "/");
	name_all(&p);
	assert_string_equal(name_of(&p, 0, 0), "/job-1");
	assert_string_equal(name_of(&p, 0, 1), "/job-2");
	assert_string_equal(name_of(&p, 1, 0), "/job-2");
	assert_string_equal(name_of(&p, 0, 2), "/");
	forget(&p);
}

TEST(paths_of_one_side_meet_under_their_pattern)
{
	struct sides_of_paths p = { 0 };

	side(&p, "/a/run-17.scope", "/both-1", "/lone-5");
	side(&p, "/a/run-99.scope", "/both-1", "/other-6");
	name_all(&p);
	assert_string_equal(name_of(&p, 0, 0), "/a/run-{N}.scope");
	assert_string_equal(name_of(&p, 1, 0), "/a/run-{N}.scope");
	assert_string_equal(name_of(&p, 0, 1), "/both-1");
	/* Nothing is brought together, so nothing is renamed. */
	assert_string_equal(name_of(&p, 0, 2), "/lone-5");
	assert_string_equal(name_of(&p, 1, 2), "/other-6");
	forget(&p);
}

/* Several of them, also of one side. One that both have does not go with them. */
TEST(several_paths_of_one_pattern)
{
	struct sides_of_paths p = { 0 };

	side(&p, "/j-1", "/j-2", "/j-3", "/only/1", "/only/2");
	side(&p, "/j-3", "/j-4");
	name_all(&p);
	assert_string_equal(name_of(&p, 0, 0), "/j-{N}");
	assert_string_equal(name_of(&p, 0, 1), "/j-{N}");
	assert_string_equal(name_of(&p, 0, 2), "/j-3");
	assert_string_equal(name_of(&p, 1, 0), "/j-3");
	assert_string_equal(name_of(&p, 1, 1), "/j-{N}");
	assert_string_equal(name_of(&p, 0, 3), "/only/{N}");
	assert_string_equal(name_of(&p, 0, 4), "/only/{N}");
	forget(&p);
}

TEST(instances_of_a_service_are_one)
{
	struct sides_of_paths p = { 0 };

	side(&p, "/s/getty@tty1.service", "/s/foo@a-b.service");
	side(&p, "/s/getty@tty2.service", "/s/foo@a-b.service");
	name_all(&p);
	assert_string_equal(name_of(&p, 0, 0), "/s/getty@{I}.service");
	assert_string_equal(name_of(&p, 1, 0), "/s/getty@{I}.service");
	assert_string_equal(name_of(&p, 0, 1), "/s/foo@a-b.service");
	forget(&p);
}

/* One snapshot has every path there is: only instances come together. */
TEST(names_of_one_snapshot)
{
	struct sides_of_paths p = { 0 };

	side(&p, "/j-1", "/j-2", "/user@1000.service", "/user@1001.service");
	name_all(&p);
	assert_string_equal(name_of(&p, 0, 0), "/j-1");
	assert_string_equal(name_of(&p, 0, 1), "/j-2");
	assert_string_equal(name_of(&p, 0, 2), "/user@{I}.service");
	assert_string_equal(name_of(&p, 0, 3), "/user@{I}.service");
	forget(&p);
}

/* A path must be in all captures to keep its name. */
TEST(names_of_three_snapshots)
{
	struct sides_of_paths p = { 0 };

	side(&p, "/j-1", "/k-1");
	side(&p, "/j-1", "/k-1");
	side(&p, "/j-2", "/k-1");
	name_all(&p);
	assert_string_equal(name_of(&p, 0, 0), "/j-{N}");
	assert_string_equal(name_of(&p, 1, 0), "/j-{N}");
	assert_string_equal(name_of(&p, 2, 0), "/j-{N}");
	assert_string_equal(name_of(&p, 2, 1), "/k-1");
	forget(&p);
}

TEST(literal_names)
{
	struct sides_of_paths p = { .rules = { .literal = true } };

	side(&p, "/j-1", "/user@1.service", "/pod-x/1");
	side(&p, "/j-2", "/user@2.service", "/pod-x/2");
	flatten(&p, "/pod-*/?");
	name_all(&p);
	assert_string_equal(name_of(&p, 0, 0), "/j-1");
	assert_string_equal(name_of(&p, 1, 0), "/j-2");
	assert_string_equal(name_of(&p, 0, 1), "/user@1.service");
	/* Globs are the user's will, and hold. */
	assert_string_equal(name_of(&p, 0, 2), "/pod-*/?");
	assert_string_equal(name_of(&p, 1, 2), "/pod-*/?");
	forget(&p);
}

TEST(the_first_glob_that_matches_counts)
{
	struct sides_of_paths p = { 0 };

	side(&p, "/k/pod-a/c", "/k/pod-a", "/k/x/pod-b/c");
	side(&p, "/k/pod-b/c", "/k/pod-b", "/k/x/pod-b/c");
	flatten(&p, "/k/*/c");
	flatten(&p, "/k/pod-*/c");
	flatten(&p, "/k/**");
	name_all(&p);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(name_of(&p, i, 0), "/k/*/c");
		assert_string_equal(name_of(&p, i, 1), "/k/**");
		/* A star stays within its segment. */
		assert_string_equal(name_of(&p, i, 2), "/k/**");
	}
	forget(&p);
}

/* The text of a glob is a name and no path: its digits are not replaced. */
TEST(names_of_globs_have_no_pattern)
{
	struct sides_of_paths p = { 0 };

	side(&p, "/pod1/a", "/pod3/b");
	side(&p, "/pod2/c", "/pod4/b");
	flatten(&p, "/pod1/*");
	flatten(&p, "/pod2/*");
	flatten(&p, "/pod[0-9]/*");
	name_all(&p);
	assert_string_equal(name_of(&p, 0, 0), "/pod1/*");
	assert_string_equal(name_of(&p, 1, 0), "/pod2/*");
	assert_string_equal(name_of(&p, 0, 1), "/pod[0-9]/*");
	assert_string_equal(name_of(&p, 1, 1), "/pod[0-9]/*");
	forget(&p);
}

/* Cgroups that no thread is in are named too, and count as being there. */
TEST(cgroups_without_threads)
{
	struct sides_of_paths p = { 0 };

	side(&p, "/a");
	side(&p, "/a", "/run-2");
	build_cgroup(p.s[0], "/empty-1");
	build_cgroup(p.s[0], "/run-2");
	build_cgroup(p.s[1], "/empty-2");
	name_all(&p);
	assert_string_equal(cgroup_names_of(&p.names, p.s[0]->cgroups.items[0].path)->bytes,
			    "/empty-{N}");
	assert_string_equal(cgroup_names_of(&p.names, p.s[1]->cgroups.items[0].path)->bytes,
			    "/empty-{N}");
	assert_string_equal(name_of(&p, 1, 1), "/run-2");
	forget(&p);
}

static const struct name *rename_a(void *context, const struct name *name)
{
	return strcmp(name->bytes, "/a") == 0 ? context : name;
}

TEST(names_can_be_changed)
{
	struct sides_of_paths p = { 0 };
	const struct name *other;

	side(&p, "/a", "/b");
	side(&p, "/a", "/c");
	name_all(&p);
	other = snapshot_name(p.s[0], TEXT("/other"));
	cgroup_names_change(&p.names, rename_a, (void *)(uintptr_t)other);
	assert_string_equal(name_of(&p, 0, 0), "/other");
	assert_string_equal(name_of(&p, 1, 0), "/other");
	assert_string_equal(name_of(&p, 0, 1), "/b");
	assert_string_equal(name_of(&p, 1, 1), "/c");
	forget(&p);
}

UNIT_TESTS(cmocka_unit_test(paths_of_both_sides_keep_their_names),
	   cmocka_unit_test(paths_of_one_side_meet_under_their_pattern),
	   cmocka_unit_test(several_paths_of_one_pattern),
	   cmocka_unit_test(instances_of_a_service_are_one),
	   cmocka_unit_test(names_of_one_snapshot), cmocka_unit_test(names_of_three_snapshots),
	   cmocka_unit_test(literal_names), cmocka_unit_test(the_first_glob_that_matches_counts),
	   cmocka_unit_test(names_of_globs_have_no_pattern),
	   cmocka_unit_test(cgroups_without_threads), cmocka_unit_test(names_can_be_changed))
