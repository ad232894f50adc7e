/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: what is asked for as words and options, and made a metric.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd/kstats.h"
#include "os/birth.h"
#include "report/visible.h"

/* "arg2", of which the number is from 1 to KSTATS_ARGUMENTS_MAX. */
static bool take_argument(struct text word, unsigned *ret)
{
	const struct text name = TEXT("arg");
	uint32_t number;

	if (!text_starts(word, name) || word.length == name.length ||
	    word.bytes[name.length] == '0' ||
	    !text_u32((struct text){ word.bytes + name.length, word.length - name.length },
		      &number) ||
	    number > KSTATS_ARGUMENTS_MAX)
		return false;
	*ret = number;
	return true;
}

/* "arg2", "arg2,arg1". */
static bool take_arguments(const char *key, struct kstats_spec *spec)
{
	struct text start, end = text_of(key);
	const bool has_end = strchr(key, ',');

	if (!text_cut(&end, ',', &start) || !take_argument(start, &spec->argument) ||
	    (has_end && !take_argument(end, &spec->end_argument)))
		return false;
	if (!has_end)
		spec->end_argument = spec->argument;
	spec->key = KSTATS_KEY_ARGUMENT;
	return true;
}

static struct error *set_key(const char *key, struct kstats_spec *spec)
{
	if (!key || strcmp(key, "task") == 0)
		spec->key = KSTATS_KEY_TASK;
	else if (strcmp(key, "cpu") == 0)
		spec->key = KSTATS_KEY_CPU;
	else if (!take_arguments(key, spec))
		return error_create("invalid --key '%.40s': expected task, cpu, argN or argN,argM "
				    "(1 to 6; of a USDT probe, to %d)",
				    key, KSTATS_ARGUMENTS_MAX);
	return NULL;
}

static struct error *copy_word(const char *word, char **ret)
{
	*ret = word ? strdup(word) : NULL;
	return word && !*ret ? &error_no_memory : NULL;
}

/* Take the start time too: another process may get the same number later. */
static struct error *set_process(size_t pid, struct kstats_spec *spec)
{
	struct birth birth;

	if (pid > INT32_MAX || !birth_of((uint32_t)pid, &birth))
		return error_create("--pid: no process %zu", pid);
	if (birth.tgid != pid)
		return error_create("--pid: %zu is a thread of process %u; use --pid %u", pid,
				    birth.tgid, birth.tgid);
	spec->tgid = birth.tgid;
	spec->tgid_born = birth.ticks;
	return NULL;
}

static struct error *apply_options(const struct kstats_recording *r, struct kstats_spec *spec)
{
	struct error *err = set_key(r->key, spec);

	for (unsigned by = 0; r->by && by < KSTATS_BY_COUNT; by++)
		if (strcmp(kstats_bys[by].name, r->by) == 0)
			spec->by = by;
	if (!err && r->pid)
		err = set_process(r->pid, spec);
	spec->is_stopped = r->is_stopped;
	spec->forces_returns = r->forces_returns;
	if (!err)
		err = copy_word(r->cgroup, &spec->cgroup);
	if (!err)
		err = copy_word(r->comm, &spec->comm);
	if (!err)
		err = copy_word(r->cpus, &spec->cpus);
	return err;
}

/* A name is unique across recorders, so that it identifies a metric. A recorder that cannot be
 * asked has no metric that a user could name. */
static struct error *check_free(const char *name)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *table = NULL;
	const struct kstats_search everywhere = kstats_search(NULL);
	struct error *err = kstats_read(&everywhere, name, &table);

	if (!err)
		return error_coded(EEXIST, "metric '%s' already exists (%s)", name,
				   table->recorder ? table->recorder : "?");
	error_destroy(err);
	return NULL;
}

/* --- what was done --- */

/* "reads: syscall:read (2 probes: tracepoint), and GAP-reads for the time between calls", and what
 * comes next. */
static struct error *print_traced(const struct kstats_search *search,
				  const struct kstats_spec *spec,
				  const struct kstats_traced *traced)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *table = NULL;
	_cleanup_free_ char *gap = text_print(KSTATS_GAP "%s", spec->name);
	_cleanup_(kstats_table_destroy) struct kstats_table *gaps = NULL;
	struct error *err = kstats_read(search, spec->name, &table);

	if (err)
		return err;
	printf("%s %s: ", spec->is_stopped ? "created" : "recording", spec->name);
	text_print_visible(stdout, text_of(table->start ? table->start : spec->start), 0);
	if (table->end) {
		fputs(" to ", stdout);
		text_print_visible(stdout, text_of(table->end), 0);
	}
	if (traced->probes)
		printf(" (%zu probe%s: %s)", traced->probes, plural(traced->probes),
		       table->how ? table->how : "?");
	error_destroy(gap ? kstats_read(search, gap, &gaps) : &error_no_memory);
	printf("%s%s\n", gaps ? ", and the time between in " : "", gaps ? gap : "");
	if (spec->is_stopped)
		printf("start it: ctprof kstats start %s\n", spec->name);
	else
		printf("show it: ctprof kstats show %s\n", spec->name);
	return NULL;
}

struct error *kstats_spec_of(const struct kstats_arguments *arguments, char **words,
			     struct kstats_spec *ret)
{
	struct error *err = kstats_spec_parse(words, ret);

	return err ? err : apply_options(&arguments->recording, ret);
}

struct error *kstats_make(const struct kstats_search *search, const struct kstats_spec *spec,
			  struct kstats_traced *ret)
{
	struct error *err = check_free(spec->name);

	return err ? err : search->recorders[0]->trace(spec, ret);
}

struct error *kstats_trace(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	const struct kstats_search search = kstats_search(arguments->via ? arguments->via : "bpf");
	struct kstats_spec spec = { 0 };
	struct kstats_traced traced;
	struct error *err = kstats_spec_of(arguments, words, &spec);

	if (!err && !search.recorders[0]->trace)
		err = error_create("cannot trace with --via user: programs create their metrics "
				   "themselves");
	if (err)
		*ret_status = STATUS_USAGE;
	else
		err = kstats_make(&search, &spec, &traced);
	if (!err)
		err = print_traced(&search, &spec, &traced);
	kstats_spec_clear(&spec);
	return err;
}
