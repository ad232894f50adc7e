/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/clickhouse.h"

#include <sys/utsname.h>

/* One row as a request of its own. */
static struct error *put_row(struct clickhouse *sink, enum store_table_id table,
			     const union store_value *row)
{
	struct error *err = insert_begin(&sink->insert, table);

	if (!err)
		err = insert_row(&sink->insert, row);
	return err ? err : insert_end(&sink->insert);
}

/* --- hosts --- */

/* Hash a text and the NUL that ends it. */
static uint64_t hash_text(const char *text, uint64_t before)
{
	return text_hash((struct text){ text, strlen(text) + 1 }, before);
}

/* The kernel is one of the facts, as it changes with a boot. Labels count in any order. */
void clickhouse_set_facts(struct clickhouse *sink, const struct agent_identity *identity)
{
	struct utsname kernel;
	uint64_t labels = 0, facts;

	if (sink->facts)
		return;
	facts = hash_text(identity->version, 0);
	facts = hash_text(uname(&kernel) == 0 ? kernel.release : "", facts);
	for (size_t i = 0; i < identity->label_count; i++)
		labels += hash_text(identity->labels[i].value,
				    hash_text(identity->labels[i].name, 0));
	facts = text_hash((struct text){ (const char *)&labels, sizeof(labels) }, facts);
	sink->facts = facts ? facts : 1;
}

struct label_texts {
	struct {
		ARRAY(struct text);
	} names, values;
};

static struct error *take_labels(const struct agent_identity *identity, struct label_texts *ret)
{
	for (size_t i = 0; i < identity->label_count; i++)
		if (!array_push(&ret->names, text_of(identity->labels[i].name)) ||
		    !array_push(&ret->values, text_of(identity->labels[i].value)))
			return &error_no_memory;
	return NULL;
}

/* Facts that are in captures alone. */
static void put_context(const struct host_context *host, union store_value *row)
{
	row[HOSTS_boot].text = name_text(host->boot_id);
	row[HOSTS_booted].number = host->boot_time_unix_s.value;
	row[HOSTS_kernel].text = name_text(host->kernel_release);
	row[HOSTS_arch].text = name_text(host->arch);
	row[HOSTS_cpu_model].text = name_text(host->cpu_model);
	row[HOSTS_cpus].number = host->online_cpus.value;
	row[HOSTS_memory_bytes].number = host->total_memory_kib.value * 1024;
}

/* At the start, when the first capture is there, and each hour. */
static struct error *put_host(struct clickhouse *sink, const struct agent_interval *interval)
{
	const struct host_context *host = interval->changes ? interval->changes->host : NULL;
	const struct agent_identity *identity = interval->identity;
	const uint64_t t = sink->insert.t;
	struct label_texts labels = { 0 };
	union store_value row[HOSTS_COUNT] = {
		[HOSTS_host] = { .text = text_of(identity->host) },
		[HOSTS_seen] = { t },
		[HOSTS_facts] = { sink->facts },
		[HOSTS_version] = { .text = text_of(identity->version) },
		[HOSTS_interval_ms] = { identity->interval_ns / 1000000 },
	};
	struct error *err;

	if (!host ||
	    (sink->host_sent && t < sink->host_sent + HOSTS_AGAIN_S && t >= sink->host_sent))
		return NULL;
	put_context(host, row);
	err = take_labels(identity, &labels);
	if (!err) {
		row[HOSTS_label_names].texts =
			(struct store_texts){ labels.names.items, labels.names.count };
		row[HOSTS_label_values].texts =
			(struct store_texts){ labels.values.items, labels.values.count };
		err = put_row(sink, STORE_TABLE_hosts, row);
	}
	array_deinit(&labels.names);
	array_deinit(&labels.values);
	if (!err)
		sink->host_sent = t;
	return err;
}

/* --- what may not have been measured --- */

/* Put a number into its column, and its bit, counted from the column `first`, into `measured`. */
static void put_known(union store_value *row, size_t measured, size_t first, size_t column,
		      bool is_known, uint64_t number)
{
	if (!is_known)
		return;
	row[column].number = number;
	row[measured].number |= (uint64_t)1 << (column - first);
}

/* --- loads --- */

static void put_load(union store_value *row, size_t column, uint64_t number)
{
	put_known(row, LOADS_measured, LOADS_cpu_ns, column, number != TICK_UNMEASURED, number);
}

/* Have the request ask whether another agent sends rows of this host, in the span [t - 2 * span,
 * t - span): after the start of this agent, before which there may have been another one, and so
 * long ago that the rows of the other have arrived. If the clock was set back, own rows overlap. */
static void ask_for_others(struct clickhouse *sink, const struct agent_interval *interval)
{
	const uint64_t t = sink->insert.t, end = t + interval->ns / NS_PER_S,
		       intervals = OTHERS_INTERVALS * interval->identity->interval_ns / NS_PER_S,
		       span = intervals > OTHERS_LEAST_S ? intervals : OTHERS_LEAST_S;

	sink->insert.others_from = 0;
	if (!sink->loads_end)
		sink->others_due = t + 2 * span;
	else if (t + 1 < sink->loads_end && sink->others_due < sink->loads_end + 2 * span)
		sink->others_due = sink->loads_end + 2 * span;
	if (end > sink->loads_end)
		sink->loads_end = end;
	if (t < sink->others_due)
		return;
	sink->others_due = t + OTHERS_AGAIN_S;
	sink->insert.others_from = t - 2 * span;
	sink->insert.others_to = t - span;
}

static struct error *put_loads(struct clickhouse *sink, const struct agent_interval *interval)
{
	static const unsigned char pressures[TICK_PRESSURES_COUNT] = {
		[TICK_PRESSURE_CPU_SOME] = LOADS_cpu_some_ns,
		[TICK_PRESSURE_MEMORY_SOME] = LOADS_memory_some_ns,
		[TICK_PRESSURE_MEMORY_FULL] = LOADS_memory_full_ns,
		[TICK_PRESSURE_IO_SOME] = LOADS_io_some_ns,
		[TICK_PRESSURE_IO_FULL] = LOADS_io_full_ns,
		[TICK_PRESSURE_IRQ_FULL] = LOADS_irq_full_ns,
	};
	const struct tick_host *load = &interval->load;
	union store_value row[LOADS_COUNT] = {
		[LOADS_host] = { .text = text_of(interval->identity->host) },
		[LOADS_t] = { sink->insert.t },
		[LOADS_facts] = { sink->facts },
		[LOADS_ms] = { clickhouse_ms(interval) },
	};
	struct error *err;

	put_load(row, LOADS_cpu_ns, load->cpu_ns);
	put_load(row, LOADS_memory_available_bytes, load->memory_available);
	for (size_t i = 0; i < TICK_PRESSURES_COUNT; i++)
		put_load(row, pressures[i], load->pressure_ns[i]);
	put_load(row, LOADS_load_hundredths, load->load_hundredths);
	if (interval->profile)
		put_load(row, LOADS_threads, interval->profile->threads.count);
	put_load(row, LOADS_agent_cpu_ns, interval->agent_cpu_ns);
	put_load(row, LOADS_agent_memory_bytes, interval->agent_memory_bytes);
	put_load(row, LOADS_bpf_ns, interval->bpf_ns);
	ask_for_others(sink, interval);
	err = put_row(sink, STORE_TABLE_loads, row);
	sink->insert.others_from = 0;
	return err;
}

/* --- cgroups --- */

static void put_reading(union store_value *row, size_t column, const struct reading *reading,
			uint64_t factor)
{
	put_known(row, CGROUPS_measured, CGROUPS_cpu_ns, column, reading->measured,
		  reading->unlimited ? 0 : reading->value * factor);
}

static struct error *put_cgroup(struct clickhouse *sink, const struct agent_interval *interval,
				const struct cgroup_counters *cgroup)
{
	union store_value row[CGROUPS_COUNT] = {
		[CGROUPS_host] = { .text = text_of(interval->identity->host) },
		[CGROUPS_t] = { sink->insert.t },
		[CGROUPS_facts] = { sink->facts },
		[CGROUPS_ms] = { clickhouse_ms(interval) },
		[CGROUPS_cgroup] = { .text = name_text(cgroup->path) },
	};

	put_reading(row, CGROUPS_cpu_ns, &cgroup->cpu.usage_usec, 1000);
	put_reading(row, CGROUPS_throttled_ns, &cgroup->cpu.throttled_usec, 1000);
	put_reading(row, CGROUPS_throttled, &cgroup->cpu.nr_throttled, 1);
	put_reading(row, CGROUPS_memory_bytes, &cgroup->memory.current, 1);
	put_reading(row, CGROUPS_memory_max_bytes, &cgroup->memory.max, 1);
	put_reading(row, CGROUPS_read_bytes, &cgroup->io.rbytes, 1);
	put_reading(row, CGROUPS_written_bytes, &cgroup->io.wbytes, 1);
	put_reading(row, CGROUPS_cpu_some_ns, &cgroup->psi.cpu.some.total_usec, 1000);
	put_reading(row, CGROUPS_memory_full_ns, &cgroup->psi.memory.full.total_usec, 1000);
	put_reading(row, CGROUPS_io_full_ns, &cgroup->psi.io.full.total_usec, 1000);
	put_reading(row, CGROUPS_pids, &cgroup->pids.current, 1);
	return insert_row(&sink->insert, row);
}

static struct error *put_cgroups(struct clickhouse *sink, const struct agent_interval *interval)
{
	struct error *err = insert_begin(&sink->insert, STORE_TABLE_cgroups);

	for (size_t i = 0; i < interval->changes->cgroups.count && !err; i++)
		err = put_cgroup(sink, interval, &interval->changes->cgroups.items[i]);
	return err ? err : insert_end(&sink->insert);
}

/* A NUL between them: "a", "" is not "", "a". */
static uint64_t hash_labels(const struct cgroup_labels *labels)
{
	uint64_t hash = hash_text(labels->container, 0);

	hash = hash_text(labels->pod, hash);
	hash = hash_text(labels->namespace, hash);
	hash = hash_text(labels->image, hash);
	hash = hash_text(labels->unit, hash);
	return hash ? hash : 1;
}

static struct error *put_places(struct clickhouse *sink, const struct agent_interval *interval)
{
	struct error *err = insert_begin(&sink->insert, STORE_TABLE_cgroup_labels);

	for (size_t i = 0; i < interval->place_count && !err; i++) {
		const struct cgroup_labels *labels = &interval->places[i].labels;
		const union store_value row[CGROUP_LABELS_COUNT] = {
			[CGROUP_LABELS_host] = { .text = text_of(interval->identity->host) },
			[CGROUP_LABELS_cgroup] = { .text = interval->places[i].cgroup },
			[CGROUP_LABELS_seen] = { sink->insert.t },
			[CGROUP_LABELS_labels] = { hash_labels(labels) },
			[CGROUP_LABELS_container] = { .text = text_of(labels->container) },
			[CGROUP_LABELS_pod] = { .text = text_of(labels->pod) },
			[CGROUP_LABELS_namespace] = { .text = text_of(labels->namespace) },
			[CGROUP_LABELS_image] = { .text = text_of(labels->image) },
			[CGROUP_LABELS_unit] = { .text = text_of(labels->unit) },
		};

		err = insert_row(&sink->insert, row);
	}
	return err ? err : insert_end(&sink->insert);
}

/* --- losses --- */

static struct error *put_losses(struct clickhouse *sink, const struct agent_interval *interval)
{
	struct error *err = insert_begin(&sink->insert, STORE_TABLE_losses);

	for (size_t i = 0; i < interval->loss_count && !err; i++) {
		const struct agent_loss *loss = &interval->losses[i];
		const union store_value row[LOSSES_COUNT] = {
			[LOSSES_host] = { .text = text_of(interval->identity->host) },
			[LOSSES_t] = { sink->insert.t },
			[LOSSES_sink] = { .text = text_of(loss->sink) },
			[LOSSES_what] = { .text = text_of(loss->what) },
			[LOSSES_why] = { .text = text_of(loss->why) },
			[LOSSES_count] = { loss->count },
		};

		err = insert_row(&sink->insert, row);
	}
	return err ? err : insert_end(&sink->insert);
}

struct error *clickhouse_host(struct clickhouse *sink, const struct agent_interval *interval)
{
	struct error *err = put_host(sink, interval);

	if (!err)
		err = put_loads(sink, interval);
	if (!err && interval->changes)
		err = put_cgroups(sink, interval);
	if (!err)
		err = put_places(sink, interval);
	return err ? err : put_losses(sink, interval);
}
