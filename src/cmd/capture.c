/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/target.h"
#include "cmd/profile_beside.h"
#include "cmd/profile_options.h"
#include "cmd/record.h"
#include "report/reasons.h"
#include "snapshot/file.h"

struct capture_arguments {
	const char *output;
	struct target target;
	struct reading_arguments reading;
	const char *proc_root, *sys_root, *cgroup_root;
	const char *note;
	uint64_t profile_ns; /* 0: no profile */
	bool redact, verbose;
	struct record_arguments record;
};

#define AT(member) offsetof(struct capture_arguments, member)

static const struct option_row capture_options[] = {
	{ "output", 'o', "FILE|DIR", parse_string, AT(output),
	  "Write to FILE; - is standard output. The default is HOSTNAME-TIMESTAMP.ctprof.zst in "
	  "the current directory.",
	  NULL, OPTION_COMMON },
	TARGET_OPTIONS(capture_arguments, parse_pids_by_comm),
	READING_OPTIONS(capture_arguments),
	RECORD_OPTIONS(capture_arguments),
	{ "proc-root", 0, "DIR", parse_string, AT(proc_root),
	  "Read this tree instead of /proc. Its threads are unknown to system calls, so their "
	  "delays are not measured.",
	  NULL, false },
	{ "sys-root", 0, "DIR", parse_string, AT(sys_root), "Read this tree instead of /sys.", NULL,
	  false },
	{ "cgroup-root", 0, "DIR", parse_string, AT(cgroup_root),
	  "Use the cgroup version 2 mount at DIR. The default comes from mountinfo.", NULL, false },
	{ "profile", 0, "TIME", parse_duration, AT(profile_ns),
	  "After the snapshot, profile for TIME, on and off the CPU, and write FILE.profile.raw "
	  "beside it. compare --flame shows the difference of two such profiles, ctprof flame "
	  "shows one.",
	  NULL, false },
	{ "note", 0, "TEXT", parse_string, AT(note), "Store this text in the snapshot.", NULL,
	  false },
	{ "redact", 0, NULL, parse_flag, AT(redact),
	  "Replace names, cgroups, command lines and host facts by hashes; equal names have equal "
	  "hashes on every host. Numbers (pids, uids, sizes) and the note stay.",
	  NULL, false },
	{ "verbose", 'v', NULL, parse_flag, AT(verbose),
	  "Say in the summary what was denied, what failed and what was not measured, and which "
	  "privilege or setting each needs.",
	  NULL, false },
	{ "quiet", 'q', NULL, parse_flag, AT(record.quiet), "Print no summary on standard error.",
	  NULL, false },
};

/* HOSTNAME-TIMESTAMP and the ending, in UTC; a redacted snapshot does not name its host. */
static void default_name(char *buffer, size_t size, bool redact, const char *ending)
{
	char host[256] = "host", stamp[32];
	time_t now = time(NULL);
	struct tm tm;

	gethostname(host, sizeof(host) - 1);
	if (redact)
		strcpy(host, "redacted");
	for (char *p = host; *p; p++)
		if (*p == '/')
			*p = '_';
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	snprintf(buffer, size, "%s-%s%s", host, stamp, ending);
	/* Two captures in one second are two files. */
	for (unsigned n = 2; n < 1000 && access(buffer, F_OK) == 0; n++)
		snprintf(buffer, size, "%s-%s-%u%s", host, stamp, n, ending);
}

/* --- the last line --- */

/* Print denials with the privilege that each needs, and other failures. */
static void print_failures(const struct capture_info *info)
{
	if (info->processes_denied.value)
		fprintf(stderr,
			"; %" PRIu64 " process%s: denied (needs root, or hidepid=0 on /proc)",
			info->processes_denied.value,
			info->processes_denied.value == 1 ? "" : "es");
	for (size_t i = 0; i < info->denied.count; i++) {
		const struct count *denied = &info->denied.items[i];
		const char *grant = capture_grant(name_text(denied->key));
		/* Capabilities that are held would change nothing. */
		const bool has_other_reason = strstr(grant, "CAP_SYS_PTRACE") &&
					      privileges_are_held(PRIVILEGE_READ_PROCESSES);

		fprintf(stderr, "; %s denied %" PRIu64 " time%s (%s%s)", denied->key->bytes,
			denied->value, plural(denied->value), has_other_reason ? "by " : "needs ",
			has_other_reason ? "another user namespace or a security module" : grant);
	}
	for (size_t i = 0; i < info->failed.count; i++)
		fprintf(stderr, "; %s failed %" PRIu64 " time%s", info->failed.items[i].key->bytes,
			info->failed.items[i].value, plural(info->failed.items[i].value));
}

/* The number of threads by the kernel's own count in loadavg; 0: unknown. */
static uint64_t threads_of_kernel(const struct ctprof_snapshot *s)
{
	for (size_t i = 0; i < s->counters.count; i++) {
		const struct counter_set *set = &s->counters.items[i];
		const struct count *threads = counts_find(&set->counts, TEXT("threads"));

		if (set->kind == COUNTERS_KERNEL && threads)
			return threads->value;
	}
	return 0;
}

/* Threads of other PID namespaces, and those hidden by hidepid, leave no other trace. Allow for
 * threads that start and end. */
static bool is_hiding(const struct ctprof_snapshot *s, uint64_t *ret_all)
{
	*ret_all = threads_of_kernel(s);
	return s->threads.count < *ret_all - *ret_all / 10;
}

/* The values that the summary prints. Times are of the whole run, including writing the file. */
struct summary {
	const struct ctprof_snapshot *snapshot;
	const char *path;
	double seconds;
	bool whole;      /* the snapshot is of all threads in /proc */
	time_t replaced; /* mtime of the file that was replaced; 0: none was */
};

static void print_counts(const struct summary *summary)
{
	const struct ctprof_snapshot *s = summary->snapshot;

	fprintf(stderr, "ctprof: %zu thread%s, %zu process%s, %zu cgroup%s in %.0f ms",
		s->threads.count, plural(s->threads.count), s->processes.count,
		s->processes.count == 1 ? "" : "es", s->cgroups.count, plural(s->cgroups.count),
		summary->seconds * 1e3);
}

/* The mtime of a regular file; 0: no such file. */
static time_t written_at(const char *path)
{
	struct stat status;

	return strcmp(path, "-") != 0 && !stat(path, &status) && S_ISREG(status.st_mode)
		       ? status.st_mtime
		       : 0;
}

/* Print the time as "13:05", with the date if it is more than a day ago. */
static void print_replaced(const struct summary *summary)
{
	const bool is_recent = time(NULL) - summary->replaced < 24 * 60 * 60;
	struct tm tm;
	char text[40];

	if (!localtime_r(&summary->replaced, &tm) ||
	    !strftime(text, sizeof(text), is_recent ? "%H:%M" : "%F %H:%M", &tm))
		return;
	fprintf(stderr, "; replaced %s of %s\n", summary->path, text);
}

static void print_written(const struct summary *summary)
{
	if (summary->replaced)
		print_replaced(summary);
	else
		fprintf(stderr, "; wrote %s\n",
			strcmp(summary->path, "-") == 0 ? "to standard output" : summary->path);
}

/* All that there is to say, in one line. */
static void print_details(const struct summary *summary)
{
	const struct ctprof_snapshot *s = summary->snapshot;
	const struct capture_info *info = s->capture;
	char unmeasured[512];
	uint64_t all;

	reasons_summary(unmeasured, sizeof(unmeasured), s);
	print_counts(summary);
	fprintf(stderr, " (%.0f ms CPU); %" PRIu64 " lost", (double)clock() * 1e3 / CLOCKS_PER_SEC,
		info->threads_lost.value);
	print_failures(info);
	if (info->source_reason)
		fprintf(stderr, "; %s%s",
			snapshot_is_by_bpf(s) ? "" : "without BPF: ", info->source_reason->bytes);
	if (info->cut_short)
		fprintf(stderr, "; incomplete: timed out");
	if (summary->whole && !info->cut_short && is_hiding(s, &all))
		fprintf(stderr, "; /proc shows only %zu of %" PRIu64 " threads", s->threads.count,
			all);
	fprintf(stderr, "; unmeasured: %s%s", unmeasured,
		strcmp(unmeasured, "nothing") == 0 ? "" : " (see ctprof doctor)");
	print_written(summary);
}

static uint64_t sum_of(const struct counts *counts)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < counts->count; i++)
		sum += counts->items[i].value;
	return sum;
}

/* Print how many metrics and files are missing, and nothing if none is. */
static void print_gaps(const struct summary *summary)
{
	const struct ctprof_snapshot *s = summary->snapshot;
	const struct capture_info *info = s->capture;
	uint64_t all = 0;
	const struct {
		uint64_t count;
		const char *what;
	} gaps[] = {
		{ reasons_count(s), "metrics not measured" },
		{ info->processes_denied.value, "processes denied" },
		{ sum_of(&info->denied), "files denied" },
		{ sum_of(&info->failed), "reads failed" },
		{ summary->whole && !info->cut_short && is_hiding(s, &all) ? all - s->threads.count
									   : 0,
		  "threads hidden" },
	};
	const char *before = "ctprof: ";

	for (size_t i = 0; i < array_length(gaps); i++) {
		if (!gaps[i].count)
			continue;
		fprintf(stderr, "%s%s: %" PRIu64, before, gaps[i].what, gaps[i].count);
		before = ", ";
	}
	if (!snapshot_is_by_bpf(s) && info->source_reason)
		fprintf(stderr, "%sread without BPF", before);
	else if (*before == 'c')
		return;
	fprintf(stderr, " (why: -v, or ctprof doctor)\n");
}

/* The name to suggest for a second snapshot: "host-2.ctprof.zst" for "host.ctprof.zst". Allocated;
 * NULL: no memory. */
static char *name_of_second(const char *path)
{
	static const char *const ends[] = { ".ctprof.zst", ".ctprof", "" };
	const struct text name = text_of(path);
	size_t i = 0;

	while (!text_ends(name, text_of(ends[i])))
		i++;
	return text_print("%.*s-2%s", (int)(name.length - strlen(ends[i])), path, ends[i]);
}

/* Print commands that can be pasted as they are. For a snapshot of selected threads, the user has
 * to add the options that selected them. */
static void print_next(const struct summary *summary)
{
	_cleanup_free_ char *word = text_shell_word(text_of(summary->path));
	_cleanup_free_ char *second = name_of_second(summary->path);
	_cleanup_free_ char *second_word = second ? text_shell_word(text_of(second)) : NULL;

	if (!word || !second_word || strcmp(summary->path, "-") == 0)
		return;
	fprintf(stderr, "ctprof: next: ctprof show %s\n", word);
	fprintf(stderr, "ctprof: later: %s-o %s\n",
		summary->whole ? "ctprof capture " : "the same with ", second_word);
	fprintf(stderr, "ctprof: then: ctprof compare %s %s\n", word, second_word);
}

static void print_summary(const struct summary *summary)
{
	const struct capture_info *info = summary->snapshot->capture;

	print_counts(summary);
	if (info->threads_lost.value)
		fprintf(stderr, "; %" PRIu64 " lost", info->threads_lost.value);
	if (info->cut_short)
		fprintf(stderr, "; incomplete: timed out");
	print_written(summary);
	print_gaps(summary);
	print_next(summary);
}

static struct capture_options options_from_arguments(const struct capture_arguments *arguments)
{
	struct capture_options options = {
		.proc_root = arguments->proc_root,
		.sys_root = arguments->sys_root,
		.cgroup_root = arguments->cgroup_root,
		.pids = arguments->target.pids.items,
		.pid_count = arguments->target.pids.count,
		.cgroup = arguments->target.cgroup,
		/* The profile of --profile includes children, so the snapshot does, too. */
		.has_children = arguments->profile_ns != 0,
		.note = arguments->note,
		.redact = arguments->redact,
	};

	reading_apply(&arguments->reading, &options);
	return options;
}

/* A tree that the user names is read with the user's own rights. Root's may be the /proc of a host,
 * seen from a container, and needs what any /proc does. */
static unsigned uses_of(const struct capture_arguments *arguments)
{
	const bool has_tree = arguments->proc_root || arguments->sys_root || arguments->cgroup_root;

	return has_tree && privileges_are_from_exec() ? 0 : CAPTURE_READ_PRIVILEGES;
}

static struct error *open_profile(const struct capture_arguments *arguments,
				  struct profile_beside **ret)
{
	const struct target *target = &arguments->target;

	return profile_beside_open(target->pids.items, target->pids.count, target->cgroup, ret);
}

/* Processes are read only after all programs are loaded, except the one that a thread of its own
 * loads. */
static struct error *take_once(const struct capture_arguments *arguments,
			       const struct capture_options *options,
			       struct profile_beside **ret_profile, struct ctprof_snapshot **ret)
{
	PRIVILEGES_RAISED;
	_cleanup_(capturer_close) struct capturer *capturer = NULL;
	struct error *err = capturer_open_beside(options, &capturer);

	if (!err && arguments->profile_ns)
		err = open_profile(arguments, ret_profile);
	if (!err)
		err = privileges_keep(uses_of(arguments));
	return err ? err : capturer_take(capturer, ret);
}

/* Called after the snapshot is written; without --profile it does nothing. */
static struct error *take_profile(const struct capture_arguments *arguments,
				  struct profile_beside *profile, const char *path)
{
	struct error *err;

	if (!profile)
		return NULL;
	err = privileges_keep(PROFILE_READ_PRIVILEGES);
	return err ? err : profile_beside_take(profile, path, arguments->profile_ns);
}

static int capture_to(const struct capture_arguments *arguments, const char *path)
{
	bool quiet = arguments->record.quiet;
	struct progress progress;
	struct capture_options options = options_from_arguments(arguments);
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	_cleanup_(profile_beside_close) struct profile_beside *profile = NULL;
	const time_t replaced = written_at(path);
	struct error *err;
	double seconds;

	options.progress = progress_begin(&progress, "processes", quiet);
	options.progress_context = &progress;
	err = take_once(arguments, &options, &profile, &snapshot);
	progress_end(&progress);
	if (!err)
		err = snapshot_save(snapshot, path);
	seconds = progress_seconds(&progress);
	if (!err)
		err = take_profile(arguments, profile, path);
	if (err)
		return report_error(err, STATUS_FAILED);
	if (!quiet)
		(arguments->verbose ? print_details : print_summary)(&(struct summary){
			.snapshot = snapshot,
			.path = path,
			.seconds = seconds,
			.whole = !options.pid_count && !options.comm && !options.cgroup &&
				 !options.proc_root,
			.replaced = replaced,
		});
	return snapshot->capture->cut_short ? STATUS_FAILED : STATUS_DONE;
}

/* Run with the options for the output and for repetition. */
static int run_with(const struct command *command, struct capture_arguments *arguments)
{
	struct capture_options options = options_from_arguments(arguments);
	bool many = record_wanted(&arguments->record);
	struct error *err = record_settle(&arguments->record);
	const char *output = arguments->output;
	char name[512];

	if (!err && arguments->profile_ns)
		err = many ? error_create("--profile requires a single snapshot")
		      : arguments->reading.comm
			      ? error_create("--profile cannot be combined with --comm: select by "
					     "--pid or --cgroup")
		      : arguments->proc_root || arguments->redact
			      ? error_create("--profile cannot be combined with --proc-root or "
					     "--redact")
		      : output && strcmp(output, "-") == 0
			      ? error_create("--profile requires -o FILE: it writes the profile "
					     "beside the snapshot")
			      : NULL;
	if (!err && output && many && strcmp(output, "-") == 0)
		err = error_create("cannot write a recording to standard output: it is a "
				   "directory");
	if (err)
		return usage_error(command, err);
	if (!output) {
		default_name(name, sizeof(name), arguments->redact,
			     many ? ".ctprof" : ".ctprof.zst");
		output = name;
	}
	err = privileges_keep(!uses_of(arguments) ? 0
			      : arguments->profile_ns
				      ? CAPTURE_OPEN_PRIVILEGES | PROFILE_OPEN_PRIVILEGES
				      : CAPTURE_OPEN_PRIVILEGES);
	if (err)
		return report_error(err, STATUS_FAILED);
	if (strcmp(output, "-") == 0 && isatty(STDOUT_FILENO))
		return report_error(error_create("refusing to write binary data to a terminal; use "
						 "-o FILE"),
				    STATUS_USAGE);
	return many ? record(&arguments->record, &options, output) : capture_to(arguments, output);
}

static int run_capture(const struct command *command, int argc, char **argv)
{
	struct capture_arguments arguments = { 0 };
	int status;

	if (options_parse(command, argc, argv, &arguments, &status) >= 0)
		status = run_with(command, &arguments);
	target_deinit(&arguments.target);
	record_arguments_deinit(&arguments.record);
	return status;
}

const struct command capture_command = {
	.name = "capture",
	.run = run_capture,
	.summary = "write snapshots of every thread, once or at an interval",
	.operands = "",
	.needs = "root for everything; otherwise, metrics that are denied are reported as "
		 "unmeasured",
	.drops_privileges = true,
	.examples = { "sudo ctprof capture -o before.ctprof.zst",
		      "sudo ctprof capture -i 10s --duration 10min -o rec.ctprof" },
	.options = capture_options,
	.option_count = array_length(capture_options),
};
