/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder agent/: what a host did in each interval, sent to stores. interval.h is what an
 * interval is; sink.h encodes an interval for a store, as requests; a spool keeps requests on disk
 * until a process without privileges has sent them.
 */

/*
 * An interval of the agent, as sinks get it.
 */
#ifndef AGENT_INTERVAL_H
#define AGENT_INTERVAL_H

#include "capture/cgroup_labels.h"
#include "profile/profile.h"
#include "serve/tick.h"
#include "snapshot/model.h"

struct agent_label {
	const char *name, *value;
};

/* Facts that are the same in all intervals of an agent. */
struct agent_identity {
	const char *host; /* its name; or that of the configuration */
	const char *version;
	uint64_t interval_ns;
	const struct agent_label *labels; /* of the configuration */
	size_t label_count;
};

/* Something that was lost or not measured, since the previous interval. */
struct agent_loss {
	const char *sink; /* its name; "": before any sink */
	const char *what; /* "rows of threads", "intervals" */
	const char *why;  /* "spool full", "refused" */
	uint64_t count;
};

/* The labels of a cgroup of the interval (places.h). `cgroup` points into the interval's profile.
 */
struct agent_place {
	struct text cgroup;
	struct cgroup_labels labels;
};

struct agent_interval {
	const struct agent_identity *identity;
	uint64_t begun_unix_ns; /* see interval_begin() (agent.h) */
	uint64_t ns;
	/* The times of all threads by stack, with named frames; NULL: not measured. */
	const struct profile *profile;
	/* The host, and the difference of two captures: threads and cgroups that did something,
	 * whose totals are changes within the interval, and whose other values are those at its
	 * end. NULL: not measured. */
	const struct ctprof_snapshot *changes;
	struct tick_host load;
	uint64_t agent_cpu_ns, agent_memory_bytes, bpf_ns; /* of the agent itself */
	const struct agent_place *places; /* cgroups that are new, and others from time to time */
	size_t place_count;
	const struct agent_loss *losses;
	size_t loss_count;
};

#endif
