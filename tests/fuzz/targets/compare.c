/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots out of the input, compared as a view out of the input says, in every format. Numbers
 * are added up here a second time, in the simplest way.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "base/json_reader.h"
#include "base/utf8.h"
#include "compare/condition.h"
#include "report/report.h"

#define THREADS_MAX 48 /* in all */
#define SIDE_MAX    3

/* --- the input, taken piece by piece; zeros follow it --- */

struct input {
	const uint8_t *at, *end;
};

static uint8_t byte(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static uint64_t word(struct input *in)
{
	uint8_t how = byte(in);
	uint64_t value = 0;

	if (how < 200)
		return how;
	if (how < 230)
		return UINT64_MAX - how % 8;
	for (int i = 0; i < 8; i++)
		value = value << 8 | byte(in);
	return value >> (how % 4 * 16);
}

/* A text of a list, or bytes of the input. */
static struct text some_text(struct input *in)
{
	static const char *const texts[] = {
		"",
		"/",
		"a",
		"b",
		"w-1",
		"w-2",
		"kworker/0:1",
		"a > b",
		"=cmd|' /C x'!A0",
		"\"q\",\n\r\t",
		"\x1b[31mred\x07",
		"\xc2\x9b\x37m",
		"\xff\xfe",
		"| a | b |",
		"/system.slice/run-1.scope",
		"/system.slice/run-2.scope",
		"/user.slice/user@1000.service",
		"/k/pod-a/c",
		"/k/pod-b/c",
		"/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"\xe6\x97\xa5\xe6\x9c\xac\xcc\x81",
	};
	uint8_t which = byte(in);
	struct text text;

	if (which < 200)
		return text_of(texts[which % array_length(texts)]);
	text = (struct text){ (const char *)in->at, which - 199u };
	if (text.length > (size_t)(in->end - in->at))
		text.length = (size_t)(in->end - in->at);
	in->at += text.length;
	return text;
}

static const struct name *some_name(struct input *in, struct ctprof_snapshot *s)
{
	const struct name *name = snapshot_name(s, some_text(in));

	must(name);
	return name;
}

static struct reading some_reading(struct input *in)
{
	uint8_t how = byte(in);

	if (how % 4 == 0)
		return (struct reading){ 0 };
	return (struct reading){ .value = word(in), .measured = true, .unlimited = how > 250 };
}

/* A key that is not there yet. */
static void add_count(struct input *in, struct ctprof_snapshot *s, struct counts *counts)
{
	static const char *const keys[] = { "anon",       "pgfault",  "oom_kill",   "Rss",
					    "nr_dirtied", "busy_ms",  "load1_x100", "in_flight",
					    "b_bytes",    "x\x1b\xff" };
	struct text key = text_of(keys[byte(in) % array_length(keys)]);

	for (size_t i = 0; i < counts->count; i++)
		if (text_equal(name_text(counts->items[i].key), key))
			return;
	must(counts_add(s, counts, key, word(in)));
	counts->measured = true;
}

/* --- snapshots --- */

static void add_value(struct input *in, struct ctprof_snapshot *s, struct thread_record *record)
{
	const struct metric *metric = &metrics[byte(in) % METRIC_COUNT];
	static const uint32_t cpus[] = { 0, 1, 2, 3, 70 };
	const struct name *set;

	if (metric->type == VALUE_label) {
		metric_store_name(&record->values, metric, some_name(in, s));
	} else if (metric->type == VALUE_cpu_set) {
		uint8_t how = byte(in);

		set = names_intern(&s->names, cpus + how % 2, (how % 4 + 1) * sizeof(*cpus));
		must(set);
		metric_store_name(&record->values, metric, set);
	} else if (!metric_store_u64(&record->values, metric, word(in))) {
		return;
	}
	metric_set_add(&record->measured, metric_id(metric));
}

static void add_thread(struct input *in, struct ctprof_snapshot *s)
{
	struct ctprof_thread *thread = snapshot_add_thread(s);
	uint8_t how = byte(in);

	must(thread);
	thread->tid = how % 32;
	thread->tgid = thread->tid / 4 * 4;
	if (how >= 32)
		thread->start_time_clock_ticks = reading_of(how / 64);
	thread->pcomm = some_name(in, s);
	thread->comm = some_name(in, s);
	thread->cgroup = some_name(in, s);
	thread->record.values.thread_count.v = 1;
	metric_set_add(&thread->record.measured, METRIC_thread_count);
	for (unsigned i = byte(in) % 16; i > 0; i--)
		add_value(in, s, &thread->record);
	if (thread->tid == thread->tgid && byte(in) % 2) {
		thread->smaps_rollup_kib = arena_alloc(&s->arena, sizeof(struct counts));
		must(thread->smaps_rollup_kib);
		add_count(in, s, thread->smaps_rollup_kib);
		add_count(in, s, thread->smaps_rollup_kib);
	}
}

static void add_process(struct input *in, struct ctprof_snapshot *s)
{
	uint8_t how = byte(in);
	struct process process = { .tgid = how % 8 * 4,
				   .ppid = some_reading(in),
				   .uid = some_reading(in) };

	if (how & 64)
		process.exe = some_name(in, s);
	if (how & 128)
		process.cmdline = some_name(in, s);
	for (size_t i = 0; i < s->processes.count; i++)
		if (s->processes.items[i].tgid == process.tgid)
			return;
	must(array_push(&s->processes, process));
	/* As the reader leaves them. */
	snapshot_sort(s);
}

static void add_cgroup(struct input *in, struct ctprof_snapshot *s)
{
	struct cgroup_counters cgroup = { .path = some_name(in, s) };
	struct reading *const readings[] = {
		&cgroup.cpu.usage_usec,
		&cgroup.cpu.max_quota_us,
		&cgroup.cpu.weight_nice,
		&cgroup.memory.current,
		&cgroup.memory.max,
		&cgroup.memory.low,
		&cgroup.psi.io.some.avg10,
		&cgroup.pids.max,
		&cgroup.memory.swap.max,
		&cgroup.io.rbytes,
		&cgroup.psi.cpu.full.total_usec,
	};

	for (size_t i = 0; i < array_length(readings); i++)
		*readings[i] = some_reading(in);
	add_count(in, s, &cgroup.memory.stat);
	add_count(in, s, &cgroup.memory.events);
	for (size_t i = 0; i < s->cgroups.count; i++)
		if (s->cgroups.items[i].path == cgroup.path)
			return;
	must(array_push(&s->cgroups, cgroup));
	snapshot_sort(s);
}

static void add_counters(struct input *in, struct ctprof_snapshot *s)
{
	enum counter_kind kind = byte(in) % COUNTER_KIND_COUNT;
	struct text name = some_text(in);
	struct counter_set *set;

	for (size_t i = 0; i < s->counters.count; i++)
		if (s->counters.items[i].kind > kind ||
		    (s->counters.items[i].kind == kind &&
		     s->counters.items[i].name == snapshot_name(s, name)))
			return;
	set = snapshot_add_counters(s, kind, name);
	must(set);
	for (unsigned i = byte(in) % 4; i > 0; i--)
		add_count(in, s, &set->counts);
}

static void add_host(struct input *in, struct ctprof_snapshot *s)
{
	struct host_context *host = arena_alloc(&s->arena, sizeof(*host));

	must(host);
	*host = (struct host_context){ .boot_id = byte(in) % 8 ? snapshot_name(s, TEXT("b"))
							       : some_name(in, s),
				       .kernel_release = some_name(in, s),
				       .arch = some_name(in, s),
				       .total_memory_kib = some_reading(in),
				       .uptime_clock_ticks = some_reading(in),
				       .clock_ticks_per_s = some_reading(in) };
	must(label_pairs_add(s, &host->sched_tunables, some_text(in), some_text(in)));
	s->host = host;
	s->psi.cpu.some.avg10 = some_reading(in);
	s->psi.memory.full.total_usec = some_reading(in);
	if (byte(in) % 2 && !s->users.count)
		must(label_pairs_add(s, &s->users, TEXT("0"), some_text(in)));
	if (byte(in) % 2) {
		s->sched_ext = arena_alloc(&s->arena, sizeof(*s->sched_ext));
		must(s->sched_ext);
		*s->sched_ext = (struct sched_ext){ .state = some_name(in, s),
						    .enable_seq = some_reading(in) };
	}
	s->captured_at_unix_ns = some_reading(in);
	s->note = byte(in) % 2 ? some_name(in, s) : NULL;
	s->origin = byte(in) % 3;
}

/* One snapshot after another takes the next thing. */
static void fill(struct input *in, struct ctprof_snapshot **all, size_t count)
{
	size_t threads = 0;

	while (in->at < in->end) {
		uint8_t what = byte(in);
		struct ctprof_snapshot *s = all[what / 16 % count];

		switch (what % 16) {
		case 0:
			add_host(in, s);
			break;
		case 1:
		case 2:
			add_process(in, s);
			break;
		case 3:
		case 4:
			add_cgroup(in, s);
			break;
		case 5:
		case 6:
			add_counters(in, s);
			break;
		default:
			if (threads++ < THREADS_MAX)
				add_thread(in, s);
		}
	}
}

/* --- the view --- */

static void some_view(struct input *in, struct view *view)
{
	static const char *const globs[] = { "*", "a*", "[!w]*", "*1*", "?" };
	uint8_t how = byte(in), which = byte(in), more = byte(in);
	uint64_t sections = word(in);

	view_init(view);
	view->axis = &group_axes[which % GROUP_AXIS_COUNT];
	view->window = how & 1;
	view->rate = how & 2;
	view->all_rows = how & 4;
	view->changed = how & 8;
	view->keys.literal_threads = how & 16;
	view->keys.cgroups.literal = how & 32;
	view->shares = how & 64;
	view->metrics_named = how & 128;
	view->order = more % (ORDER_GROUPS + 1);
	view->normalize = view->rate ? NORMALIZE_NOT : more / 8 % 3;
	view->limit = more / 32;
	for (size_t i = 0; view->order == ORDER_GROUPS && i < 2; i++) {
		uint8_t metric = byte(in);

		/* As --sort-by: no categories. */
		if (metric < METRIC_COUNT + DERIVED_COUNT &&
		    (metric >= METRIC_COUNT || (metrics[metric].family != FAMILY_MODE &&
						metrics[metric].family != FAMILY_NONE)))
			view->sort[view->sort_count++] = (struct sort_key){ metric, byte(in) % 2 };
	}
	if (view->order == ORDER_GROUPS && !view->sort_count)
		view->order = ORDER_USUAL;
	if (sections) {
		view->sections = (unsigned)sections & SECTIONS_ALL;
		view->sections_named = true;
	}
	which = byte(in);
	if (which & 1)
		must(array_push(&view->match, globs[which / 8 % array_length(globs)]));
	if (which & 2)
		must(array_push(&view->not_match, globs[which / 16 % array_length(globs)]));
	if (which & 4)
		must(array_push(&view->keys.cgroups.flatten, "/k/*/c"));
	if (which & 8)
		view->min_delta[which / 64] = which;
	if (which & 16)
		view->min_percent = which;
	if (which & 32)
		must(array_push(&view->conditions,
				(struct condition){ .text = "a*\x1b|\xff:wchar > 5%",
						    .group = strdup("a*"),
						    .metric = METRIC_wchar,
						    .bound = { .percent = true, .value = 5 } }));
}

static void some_style(struct input *in, struct report_style *style)
{
	uint8_t how = byte(in);

	*style = (struct report_style){ .format = how % DISPLAY_FORMAT_COUNT,
					.width = how & 16 ? how / 2 : 0 };
	if (how & 32)
		style->columns = (struct columns){ .ids = { how / 64 }, .count = 1 };
}

/* --- what is printed --- */

static struct error *skip(struct json_reader *r, void *target, const struct json_member *member,
			  struct text key, const struct json_value *value)
{
	(void)r, (void)target, (void)member, (void)key, (void)value;
	return NULL;
}

static void check_json(struct text text)
{
	struct json_reader *reader = NULL;
	struct error *err = json_reader_create(skip, NULL, NULL, &reader);

	must(!err);
	err = json_reader_feed(reader, text);
	if (!err)
		err = json_reader_finish(reader);
	if (err)
		fprintf(stderr, "%s\n%.*s", err->message, (int)text.length, text.bytes);
	must(!err);
	json_reader_destroy(reader);
}

/* Lines of characters that do nothing to a terminal. */
static void check_visible(struct text text)
{
	must(utf8_is_valid(text));
	for (size_t i = 0; i < text.length; i++) {
		unsigned char c = (unsigned char)text.bytes[i];

		must(c == '\n' || (c >= 0x20 && c != 0x7f));
		must(c != 0xc2 || (unsigned char)text.bytes[i + 1] >= 0xa0);
	}
}

/* Between the styles and the scripts of a page: names are text, whatever is in them, so there are
 * our elements and no others. */
static void check_page(struct text page)
{
	static const char *const elements[] = { "h3",   "p",     "ul",    "li",      "pre",
						"div",  "table", "thead", "tbody",   "tr",
						"th",   "td",    "svg",   "rect",    "text",
						"line", "span",  "title", "details", "summary" };
	const char *end = memmem(page.bytes, page.length, "\n</main>", 8), *at;
	const char *begin = memmem(page.bytes, page.length, "<main>\n", 7);

	must(begin && end && begin < end);
	begin += strlen("<main>");
	check_visible((struct text){ begin, (size_t)(end - begin) });
	for (at = begin; at < end && (at = memchr(at, '<', (size_t)(end - at)));) {
		const char *name = at += 1 + (at[1] == '/');
		bool is_ours = false;

		while (at < end && *at >= 'a' && *at <= 'z')
			at++;
		at += at < end && *at >= '0' && *at <= '9';
		for (size_t i = 0; i < array_length(elements); i++)
			is_ours |= (size_t)(at - name) == strlen(elements[i]) &&
				   memcmp(name, elements[i], strlen(elements[i])) == 0;
		must(is_ours);
	}
}

static void check_formats(const struct report *report, const struct report_style *style)
{
	for (size_t i = 0; i < REPORT_FORMAT_COUNT; i++) {
		char *bytes = NULL;
		size_t length = 0;
		FILE *out = open_memstream(&bytes, &length);
		struct error *err;

		must(out);
		err = report_formats[i].print(out, report, style);
		must(!err);
		must(fclose(out) == 0);
		if (i == REPORT_JSON)
			check_json((struct text){ bytes, length });
		if (i == REPORT_HTML)
			check_page((struct text){ bytes, length });
		else
			check_visible((struct text){ bytes, length });
		free(bytes);
	}
}

/* --- what must hold of the numbers --- */

struct sums {
	__int128 before[METRIC_COUNT], after[METRIC_COUNT], twice[METRIC_COUNT];
	bool saturated;
};

static void add_record(__int128 *sums, const struct thread_record *record, bool *saturated)
{
	for (enum metric_id i = 0; i < METRIC_COUNT; i++) {
		if (metrics[i].family != FAMILY_SUM || !metric_set_has(&record->measured, i))
			continue;
		sums[i] += metric_load_u64(&record->values, &metrics[i]);
		*saturated |= sums[i] > UINT64_MAX;
	}
}

static void add_unmatched(__int128 *sums, const struct unmatched *unmatched)
{
	bool saturated = false;

	for (size_t i = 0; i < unmatched->count; i++)
		for (size_t t = 0; t < unmatched->items[i].group->count; t++)
			add_record(sums, &unmatched->items[i].group->threads[t]->record,
				   &saturated);
}

static void add_rows(struct sums *sums, const struct report *report)
{
	for (size_t n = 0; n < 2 * ROW_GROUP_COUNT; n++) {
		enum section section = n % 2 ? SECTION_PRIMARY : SECTION_THREAD_STATES;
		const struct row_group *group = &report->sections[section].row_groups[n / 2];

		for (size_t i = 0; i < group->count; i++) {
			const struct row *row = &group->items[i];
			enum metric_id id;

			if (!row->measure->metric)
				continue;
			id = metric_id(row->measure->metric);
			if (row->before.kind == DATUM_NUMBER)
				sums->before[id] += row->before.number;
			if (row->after.kind == DATUM_NUMBER)
				sums->after[id] += row->after.number;
			if (row->change.has_delta)
				sums->twice[id] += row->change.twice;
		}
	}
}

/* Is every row of every group there, as it is? */
static bool is_whole(const struct view *view)
{
	bool all = !view->limit && !view->changed && !view->min_percent && !view->match.count &&
		   !view->not_match.count && view->normalize == NORMALIZE_NOT;

	for (size_t i = 0; i < array_length(view->min_delta); i++)
		all = all && !view->min_delta[i];
	return all && view->sections & 1u << SECTION_PRIMARY &&
	       view->sections & 1u << SECTION_TASKSTATS_DELAY &&
	       view->sections & 1u << SECTION_THREAD_STATES;
}

static void check_partition(const struct report *report)
{
	struct sums found = { 0 }, host = { 0 };

	for (size_t i = 0; i < report->baseline->threads.count; i++)
		add_record(host.before, &snapshot_thread(report->baseline, i)->record,
			   &host.saturated);
	for (size_t i = 0; i < report->candidate->threads.count; i++)
		add_record(host.after, &snapshot_thread(report->candidate, i)->record,
			   &host.saturated);
	add_rows(&found, report);
	add_unmatched(found.before, &report->only_before);
	add_unmatched(found.after, &report->only_after);
	for (size_t i = 0; !host.saturated && i < METRIC_COUNT; i++) {
		if (metrics[i].family != FAMILY_SUM)
			continue;
		must(found.before[i] == host.before[i]);
		/* Those that are older than the baseline, which lacks them, are in no group. */
		must(report->strangers || found.after[i] == host.after[i]);
	}
}

static void check_swapped(const struct report *report, const struct view *view,
			  const struct side *items)
{
	struct side swapped[2] = { items[1], items[0] };
	struct sums found = { 0 }, reverse = { 0 };
	struct report *other = NULL;
	struct sides sides;
	struct error *err = sides_init(&sides, view, swapped, 1, 2);

	must(!err);
	err = report_create(&sides, &other);
	must(!err);
	add_rows(&found, report);
	add_rows(&reverse, other);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		must(metrics[i].family != FAMILY_SUM || found.twice[i] == -reverse.twice[i]);
	must(report->only_before.count == other->only_after.count);
	must(report->only_after.count == other->only_before.count);
	report_destroy(other);
	sides_deinit(&sides);
}

static void check(const struct view *view, const struct side *items, size_t baselines, size_t count,
		  const struct report_style *style)
{
	struct report *report = NULL;
	struct sides sides;
	struct error *err = sides_init(&sides, view, items, baselines, count);

	if (err) {
		fuzz_check_error(err);
		return;
	}
	err = report_create(&sides, &report);
	if (err) {
		fuzz_check_error(err);
		sides_deinit(&sides);
		return;
	}
	check_formats(report, style);
	if (baselines == 1 && count == 2 && is_whole(view)) {
		check_partition(report);
		if (!view->window && !view->rate && !sides.renamed.count)
			check_swapped(report, view, items);
	}
	report_destroy(report);
	sides_deinit(&sides);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	uint8_t how = byte(&in);
	/* Mostly one on each side; none as the baseline shows the other. */
	size_t baselines = how < 200 ? 1 : how % (SIDE_MAX + 1);
	size_t count = baselines + (how < 200 ? 1 : how / 4 % SIDE_MAX + 1);
	struct ctprof_snapshot *all[2 * SIDE_MAX];
	struct side items[2 * SIDE_MAX];
	struct report_style style;
	struct view view;

	/* Several snapshots are compared; of one, only one is shown. */
	if (!baselines)
		count = 1;
	some_view(&in, &view);
	some_style(&in, &style);
	for (size_t i = 0; i < count; i++)
		all[i] = fuzz_snapshot();
	fill(&in, all, count);
	for (size_t i = 0; i < count; i++)
		items[i] = (struct side){ all[i], i ? "a\x1b" : "b" };
	check(&view, items, baselines, count, &style);
	for (size_t i = 0; i < count; i++)
		snapshot_destroy(all[i]);
	view_deinit(&view);
	return 0;
}
