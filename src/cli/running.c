/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/running.h"

#include <string.h>

#include "base/cleanup.h"
#include "os/birth.h"
#include "os/boot_id.h"

static bool is_of_this_boot(const struct ctprof_snapshot *s)
{
	_cleanup_free_ char *boot = boot_id();

	return boot && s->host && s->host->boot_id && strcmp(s->host->boot_id->bytes, boot) == 0;
}

static const struct ctprof_thread *leader_of(const struct ctprof_snapshot *s, uint32_t pid)
{
	for (size_t i = 0; i < s->threads.count; i++)
		if (snapshot_thread(s, i)->tid == pid && snapshot_thread(s, i)->tgid == pid)
			return snapshot_thread(s, i);
	return NULL;
}

bool snapshot_process_runs(const struct ctprof_snapshot *s, uint32_t pid)
{
	const struct ctprof_thread *leader;
	struct birth birth;

	if (!is_of_this_boot(s))
		return false;
	if (!pid)
		return true;
	leader = leader_of(s, pid);
	return leader && leader->start_time_clock_ticks.measured && birth_of(pid, &birth) &&
	       birth.tgid == pid && birth.ticks == leader->start_time_clock_ticks.value;
}
