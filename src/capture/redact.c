/* SPDX-License-Identifier: BSD-2-Clause */
#include <sha2.h>
#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "capture/session.h"

/* Sixteen hexadecimal digits of SHA-256: the same on each host, so redacted snapshots of two hosts
 * still compare. A guessed name can be verified, but names cannot be derived. */
#define DIGITS 16

static void hash(struct text text, char out[DIGITS + 1])
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX sha;

	SHA256Init(&sha);
	SHA256Update(&sha, (const uint8_t *)text.bytes, text.length);
	SHA256Final(digest, &sha);
	hex_write(out, digest, DIGITS / 2);
}

static bool redact_name(struct ctprof_snapshot *s, const struct name **name)
{
	char digits[DIGITS + 1];

	if (!*name || !(*name)->length)
		return true;
	hash(name_text(*name), digits);
	*name = snapshot_name(s, text_of(digits));
	return *name != NULL;
}

/* Each part of a path by itself, so that what lies below what can still be seen. */
static bool redact_path(struct ctprof_snapshot *s, const struct name **name)
{
	struct text rest = name_text(*name), part;
	_cleanup_free_ char *out = NULL;
	size_t used = 0, parts = 2;

	if (!rest.length)
		return true;
	for (size_t i = 0; i < rest.length; i++)
		parts += rest.bytes[i] == '/';
	out = malloc(parts * (DIGITS + 1) + 1);
	if (!out)
		return false;
	for (bool first = true; text_cut(&rest, '/', &part); first = false) {
		if (!first)
			out[used++] = '/';
		if (part.length) {
			hash(part, out + used);
			used += DIGITS;
		}
		if (!rest.length && part.bytes + part.length < rest.bytes)
			out[used++] = '/';
	}
	*name = snapshot_name(s, (struct text){ out, used });
	return *name != NULL;
}

static bool redact_pairs(struct ctprof_snapshot *s, struct label_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		if (!redact_name(s, &pairs->items[i].value))
			return false;
	return true;
}

static bool redact_host(struct ctprof_snapshot *s, struct host_context *host)
{
	const struct name **texts[] = {
		&host->cpu_model,   &host->cpu_vendor,     &host->thp_enabled,
		&host->thp_defrag,  &host->arch,           &host->boot_id,
		&host->kernel_name, &host->kernel_release, &host->kernel_cmdline,
	};

	for (size_t i = 0; i < array_length(texts); i++)
		if (!redact_name(s, texts[i]))
			return false;
	/* To the second, it tells one host from another; so does what it can be reckoned from. */
	host->boot_time_unix_s = host->uptime_clock_ticks = (struct reading){ 0 };
	return redact_pairs(s, &host->sched_tunables) && redact_pairs(s, &host->cpufreq_governor);
}

/* CPUs are numbers, and kernels have no name here. */
static bool redact_counters(struct ctprof_snapshot *s)
{
	for (size_t i = 0; i < s->counters.count; i++) {
		struct counter_set *set = &s->counters.items[i];

		if ((set->kind == COUNTERS_BLOCK || set->kind == COUNTERS_NET) &&
		    !redact_name(s, &set->name))
			return false;
	}
	return true;
}

static bool redact_all(struct ctprof_snapshot *s)
{
	for (size_t i = 0; i < s->threads.count; i++) {
		struct ctprof_thread *thread = snapshot_thread(s, i);

		if (!redact_name(s, &thread->pcomm) || !redact_name(s, &thread->comm) ||
		    !redact_path(s, &thread->cgroup))
			return false;
	}
	for (size_t i = 0; i < s->processes.count; i++)
		if (!redact_path(s, &s->processes.items[i].exe) ||
		    !redact_name(s, &s->processes.items[i].cmdline))
			return false;
	for (size_t i = 0; i < s->cgroups.count; i++)
		if (!redact_path(s, &s->cgroups.items[i].path))
			return false;
	return redact_counters(s) && redact_pairs(s, &s->users) &&
	       (!s->host || redact_host(s, s->host));
}

struct error *capture_redact(struct ctprof_snapshot *s)
{
	return redact_all(s) ? NULL : &error_no_memory;
}
