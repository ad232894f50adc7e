/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values that only files of processes have: the executable, the command line, the kinds of memory.
 * Other threads read them during the walk, since that takes long and may hang
 * (capture/leader_files.h).
 */
#include "capture/session.h"

static unsigned wanted_files(const struct capture *c)
{
	return (unsigned)capture_wants(c, CAPTURE_PART_SMAPS) << LEADER_SMAPS |
	       (unsigned)capture_wants(c, CAPTURE_PART_EXE) << LEADER_EXE |
	       (unsigned)capture_wants(c, CAPTURE_PART_CMDLINE) << LEADER_CMDLINE;
}

/* Start reading the processes that exist at the start of the capture. */
struct error *capture_start_leaders(struct capture *c)
{
	const unsigned wanted = wanted_files(c);
	int failed;

	/* The members of the cgroup are not known yet. */
	if (c->cgroup_top || !wanted)
		return NULL;
	failed = c->pids.count || capture_is_of_some(c) ? 0 : capture_list_processes(c);
	return failed ? error_system(failed, "/proc")
		      : leader_files_start(c->proc, c->pids.items, c->pids.count, wanted,
					   &c->capturer->hangs, &c->early);
}

/* Read the files of processes that are new since the start. Kernel threads and zombies have none.
 */
static struct error *read_later(struct capture *c, struct leader_files **ret)
{
	const unsigned wanted = wanted_files(c);
	_cleanup_free_ uint32_t *tgids = calloc(c->leaders.count + 1, sizeof(*tgids));
	size_t count = 0;
	struct error *err;

	if (!tgids)
		return &error_no_memory;
	for (size_t i = 0; i < c->leaders.count; i++) {
		const struct leader *leader = &c->leaders.items[i];

		if (leader->has_memory && !leader_files_has(c->early, leader->process.tgid))
			tgids[count++] = leader->process.tgid;
	}
	if (!count || !wanted)
		return NULL;
	err = leader_files_start(c->proc, tgids, count, wanted, &c->capturer->hangs, ret);
	if (!err)
		leader_files_wait(*ret, c->deadline_ns, &c->capturer->hangs);
	return err;
}

static struct error *take_leader(struct capture *c, const struct leader *leader,
				 const struct leader_files *files)
{
	const struct leader_file_bytes nothing = { .failed = ENOENT };
	const uint32_t tgid = leader->process.tgid;
	struct leader_file_bytes smaps, exe, cmdline;

	c->leader = leader->process;
	if (!leader->has_memory)
		return capture_take_process(c, nothing, nothing);
	smaps = leader_file(files, tgid, LEADER_SMAPS);
	exe = leader_file(files, tgid, LEADER_EXE);
	cmdline = leader_file(files, tgid, LEADER_CMDLINE);
	if (smaps.failed == ECANCELED || exe.failed == ECANCELED || cmdline.failed == ECANCELED) {
		c->counts.not_reached++;
		return capture_take_process(c, nothing, nothing);
	}
	capture_take_smaps(c, smaps, leader->thread);
	return capture_take_process(c, exe, cmdline);
}

struct error *capture_leaders(struct capture *c)
{
	_cleanup_(leader_files_close) struct leader_files *late = NULL;
	struct error *err = read_later(c, &late);

	if (c->early)
		leader_files_wait(c->early, c->deadline_ns, &c->capturer->hangs);
	for (size_t i = 0; i < c->leaders.count && !err; i++) {
		const struct leader *leader = &c->leaders.items[i];

		err = take_leader(c, leader,
				  leader_files_has(late, leader->process.tgid) ? late : c->early);
	}
	c->leaders.count = 0;
	leader_files_close(c->early);
	c->early = NULL;
	return err;
}
