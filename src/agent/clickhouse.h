/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the sink for ClickHouse, each of which writes rows of some tables.
 */
#ifndef AGENT_CLICKHOUSE_H
#define AGENT_CLICKHOUSE_H

#include "agent/insert.h"
#include "base/map.h"
#include "base/word_map.h"
#include "store/stack_hash.h"

/* Stacks that were sent are remembered, and sent again after a day, so that a store that was
 * emptied has them again. There is room for so many: then all are forgotten. */
#define SENT_STACKS_MOST 65536
#define SENT_AGAIN_S     (24 * 3600)
#define HOSTS_AGAIN_S    3600
/* Whether another agent sends under the name of this host is asked of a span that is this long or
 * has this many intervals, some time after the start and again each hour. */
#define OTHERS_LEAST_S   10
#define OTHERS_INTERVALS 6
#define OTHERS_AGAIN_S   3600

/* The key by which samples and states are summed up: a program in a cgroup. */
struct clickhouse_group {
	const struct name *process, *comm, *cgroup; /* of the profile; cgroup may be NULL */
};

struct clickhouse_sum {
	uint32_t group, node;
	uint8_t class, state;
	uint64_t stack, ns, count, longest_ns;
};

struct clickhouse {
	const char *name; /* in losses; NULL: all are its own */
	char *database;
	struct insert insert;
	struct {
		MAP(uint64_t, uint32_t);
	} sent_stacks;       /* when, in Unix seconds, by hash */
	uint64_t host_sent;  /* when, in Unix seconds; 0: not with all facts */
	uint64_t loads_end;  /* of the last row of `loads`, in Unix seconds; 0: none yet */
	uint64_t others_due; /* when it is asked next whether others send */
	uint64_t facts;      /* of the host, see store/tables.h; 0: not known yet */
	/* Rebuilt for each interval. */
	struct stack_hashes hashes;
	struct word_map group_numbers, sum_numbers;
	struct {
		ARRAY(struct clickhouse_group);
	} groups;
	struct {
		ARRAY(uint32_t);
	} thread_groups; /* by thread of the profile */
	struct {
		ARRAY(struct clickhouse_sum);
	} sums;
	/* Rebuilt for each row of `stacks`. */
	struct {
		ARRAY(struct text);
	} functions, modules, sources;
	struct {
		ARRAY(uint32_t);
	} lines, kinds;
};

/* Set `facts`: before the following. */
void clickhouse_set_facts(struct clickhouse *sink, const struct agent_identity *identity);

/* Put threads of the profile into groups: before the following two. */
struct error *clickhouse_group(struct clickhouse *sink,
			       const struct agent_interval *interval) MUST_CHECK;
/* The tables stacks and samples, and states. */
struct error *clickhouse_samples(struct clickhouse *sink,
				 const struct agent_interval *interval) MUST_CHECK;
struct error *clickhouse_states(struct clickhouse *sink,
				const struct agent_interval *interval) MUST_CHECK;

/* The table threads. */
struct error *clickhouse_threads(struct clickhouse *sink,
				 const struct agent_interval *interval) MUST_CHECK;

/* The tables hosts, loads, cgroups, cgroup_labels and losses. */
struct error *clickhouse_host(struct clickhouse *sink,
			      const struct agent_interval *interval) MUST_CHECK;

static inline uint64_t clickhouse_ms(const struct agent_interval *interval)
{
	return interval->ns / 1000000;
}

#endif
