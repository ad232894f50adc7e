/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/version.h"
#include "capture/session.h"

const struct file_kind_info file_kinds[FILE_KIND_COUNT] = {
#define KIND(id, source, name, in_summary, grant) \
	[FILE_##id] = { SOURCE_##source, name, grant, in_summary },
	FILE_KINDS(KIND)
#undef KIND
};

const char *capture_grant(struct text source)
{
	for (enum file_kind kind = 0; kind < FILE_KIND_COUNT; kind++)
		if (text_equal(source, text_of(file_kinds[kind].name)))
			return file_kinds[kind].grant;
	return "root";
}

static struct error *summarise_parsing(struct capture *c, struct parse_summary *ret)
{
	struct ctprof_snapshot *s = c->snapshot;
	uint64_t total = 0, most = 0;
	const char *dominant = NULL;

	for (enum file_kind kind = 0; kind < FILE_KIND_COUNT; kind++) {
		uint64_t failed = c->counts.failed[kind];

		if (!failed || !file_kinds[kind].in_summary)
			continue;
		total += failed;
		if (failed > most ||
		    (failed == most && strcmp(file_kinds[kind].name, dominant) < 0)) {
			most = failed;
			dominant = file_kinds[kind].name;
		}
		if (!counts_add(s, &ret->read_failures_by_file, text_of(file_kinds[kind].name),
				failed))
			return &error_no_memory;
	}
	ret->tids_walked = reading_of(c->counts.walked);
	ret->read_failures = reading_of(total);
	ret->dominant_read_failure = dominant ? snapshot_name(s, text_of(dominant)) : NULL;
	ret->kernel_config_dominant =
		total &&
		(c->counts.failed[FILE_SCHEDSTAT] + c->counts.failed[FILE_IO]) * 2 >= total;
	ret->negative_dotted_values = reading_of(c->taker.negative_times);
	return NULL;
}

static struct error *summarise_capture(struct capture *c, struct capture_info *ret)
{
	const struct capturer *capturer = c->capturer;
	struct ctprof_snapshot *s = c->snapshot;

	ret->threads_lost = reading_of(c->counts.lost);
	ret->processes_denied = reading_of(c->counts.processes_denied);
	ret->denied.measured = true;
	ret->failed.measured = true;
	for (enum file_kind kind = 0; kind < FILE_KIND_COUNT; kind++) {
		struct text name = text_of(file_kinds[kind].name);
		uint64_t others = c->counts.failed[kind] - c->counts.denied[kind];

		if ((c->counts.denied[kind] &&
		     !counts_add(s, &ret->denied, name, c->counts.denied[kind])) ||
		    (others && !counts_add(s, &ret->failed, name, others)))
			return &error_no_memory;
	}
	ret->delay_accounting = snapshot_name(s, text_of(delay_accounting_names[c->delays]));
	ret->irq_accounting = c->irq_accounting;
	if (c->stats_version)
		ret->taskstats_version = reading_of(c->stats_version);
	if (c->socket)
		ret->taskstats_overflows = reading_of(taskstats_socket_overflows(c->socket));
	ret->redacted = c->options->redact;
	ret->cut_short = c->counts.not_reached != 0;
	if (c->options->host_only)
		return NULL;
	ret->source = snapshot_name(s, capturer->tasks ? TEXT("bpf") : TEXT("proc"));
	if (capturer->gaps || capturer->why_not_bpf)
		ret->source_reason = snapshot_name(
			s, text_of(capturer->gaps ? capturer->gaps : capturer->why_not_bpf));
	if (capturer->tasks)
		ret->clock_error_ns = reading_of(task_iterator_clock_error(capturer->tasks));
	return NULL;
}

/* Without a summary where taskstats was not queried, as when delays are read by BPF: its counts are
 * unmeasured, not 0. False: no memory. */
static bool summarise_taskstats(struct capture *c)
{
	struct ctprof_snapshot *s = c->snapshot;

	if (!c->counts.stats.ok && !c->counts.stats.denied && !c->counts.stats.gone &&
	    !c->counts.stats.other)
		return true;
	s->taskstats_summary = arena_alloc(&s->arena, sizeof(*s->taskstats_summary));
	if (!s->taskstats_summary)
		return false;
	*s->taskstats_summary = (struct taskstats_summary){
		.ok_count = reading_of(c->counts.stats.ok),
		.eperm_count = reading_of(c->counts.stats.denied),
		.esrch_count = reading_of(c->counts.stats.gone),
		.other_err_count = reading_of(c->counts.stats.other),
	};
	return true;
}

struct error *capture_summaries(struct capture *c)
{
	struct ctprof_snapshot *s = c->snapshot;
	struct error *err;

	s->version = snapshot_name(s, TEXT(CTPROF_VERSION));
	s->parse_summary = arena_alloc(&s->arena, sizeof(*s->parse_summary));
	s->probe_summary = arena_alloc(&s->arena, sizeof(*s->probe_summary));
	s->capture = arena_alloc(&s->arena, sizeof(*s->capture));
	if (!s->version || !s->parse_summary || !s->probe_summary || !s->capture ||
	    !summarise_taskstats(c))
		return &error_no_memory;
	*s->probe_summary = c->probe;
	if (c->options->note) {
		s->note = snapshot_name(s, text_of(c->options->note));
		if (!s->note)
			return &error_no_memory;
	}
	err = summarise_parsing(c, s->parse_summary);
	return err ? err : summarise_capture(c, s->capture);
}
