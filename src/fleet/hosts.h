/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hosts of a store: what agents said of them, with the labels of their configuration.
 *
 *	struct fleet_hosts hosts;
 *	err = fleet_load_hosts(store, &url, &hosts);
 *	...
 *	fleet_hosts_deinit(&hosts);
 */
#ifndef FLEET_HOSTS_H
#define FLEET_HOSTS_H

#include <stdio.h>

#include "store/query.h"

/* A host as the store knows it: of its last boot within the time, or the last before. */
struct fleet_host {
	uint64_t facts; /* of store/tables.h */
	char *name, *kernel, *arch, *cpu_model, *version;
	uint64_t cpus, memory_bytes;
	uint64_t seen_s; /* when it had its last row before the end of the time */
	struct {
		ARRAY(char *);
	} label_names, label_values;
};

struct fleet_hosts {
	ARRAY(struct fleet_host); /* by name, and by facts */
};

/* A longer silence than that of an agent with the longest usual interval and a slow store. */
#define FLEET_SILENT_S UINT64_C(300)

/* In a line of text; more are counted only. */
#define HOSTS_NAMED 6

/* Each host once, with what was last true of it. If the URL has `from`, those with rows of its time
 * alone, and `seen_s` is in it; else all that sent anything before `to`. */
struct error *fleet_load_hosts(struct store *store, const struct store_url *url,
			       struct fleet_hosts *ret) MUST_CHECK;
/* Hosts with rows in the time, each as often as it had other facts; `seen_s` is when an agent that
 * said so began. */
struct error *fleet_load_facts(struct store *store, const struct store_url *url,
			       struct fleet_hosts *ret) MUST_CHECK;
void fleet_hosts_deinit(struct fleet_hosts *hosts);

/* The value of "kernel", "arch", "cpu_model", "agent" (its version) or of a label; NULL: none. */
const char *fleet_host_label(const struct fleet_host *host, const char *name);

/* Hosts that sent rows in the day before the end of the time, and none in its last minutes: they
 * are down or hang, or their agents have stopped. They cannot be outliers, as they have no values.
 */
struct fleet_silent_host {
	char *name; /* one line of safe text */
	uint64_t last_s;
};

struct fleet_silent_hosts {
	ARRAY(struct fleet_silent_host); /* by name */
};

struct error *fleet_load_silent_hosts(struct store *store, const struct store_url *url,
				      struct fleet_silent_hosts *ret) MUST_CHECK;
void fleet_silent_hosts_deinit(struct fleet_silent_hosts *silent);

/*
 * Hosts that were observed for less than three quarters of the time of the longest: their agents
 * began later or ended earlier. They had other minutes than their peers, so they are not compared.
 */
struct fleet_partial_host {
	char *name; /* one line of safe text */
	uint64_t observed_ns;
};

struct fleet_partial_hosts {
	ARRAY(struct fleet_partial_host); /* by name */
	uint64_t longest_ns;
};

struct error *fleet_load_partial_hosts(struct store *store, const struct store_url *url,
				       struct fleet_partial_hosts *ret) MUST_CHECK;
void fleet_partial_hosts_deinit(struct fleet_partial_hosts *partial);

/* "1 host was not compared, ...: web-2 (5 min 10 s of 11 min)." Nothing if there are none. */
void fleet_partial_hosts_print(const struct fleet_partial_hosts *partial, FILE *out);

/* "2 hosts have stopped sending: web-3 (last at 2026-11-20T12:40:10Z), web-9 (...)." Prints nothing
 * if there are none. */
void fleet_silent_hosts_print(const struct fleet_silent_hosts *silent, FILE *out);

#endif
