/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: a metric for as long as a command runs, and its objectives: for tests and CI.
 *
 * The command comes first: it is forked before ctprof drops privileges and limits its memory, and
 * waits before execve(2) until the probes are there. Its process number is known by then, so a
 * metric of this process only misses nothing.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/interrupts.h"
#include "cli/pager.h"
#include "cli/run.h"
#include "cmd/kstats.h"
#include "os/birth.h"

struct running {
	const struct kstats_arguments *arguments;
	struct kstats_search search;
	struct kstats_spec spec;
	struct run *run;
	bool is_made, has_begun;
};

/* --- making the metric --- */

static struct error *only_the_command(struct running *r)
{
	struct birth birth;

	if (!birth_of((uint32_t)run_pid(r->run), &birth))
		return error_create("the command ended before it began");
	r->spec.tgid = birth.tgid;
	r->spec.tgid_born = birth.ticks;
	return NULL;
}

static struct error *check(struct running *r, char **words)
{
	struct error *err = kstats_check_objectives(&r->arguments->showing);

	if (!err)
		err = kstats_spec_of(r->arguments, words, &r->spec);
	if (!err && !r->search.recorders[0]->trace)
		err = error_create("cannot trace with --via user: programs create their metrics "
				   "themselves");
	return err;
}

static struct error *make(struct running *r)
{
	struct kstats_traced traced;
	struct error *err = kstats_keep_privileges();

	if (!err && r->arguments->running.only_command)
		err = only_the_command(r);
	if (!err)
		err = kstats_make(&r->search, &r->spec, &traced);
	r->is_made = !err;
	return err;
}

/* --- while the command runs --- */

/* Until it ended, or a signal asks to end: then the command is asked as well. */
static void wait_for_end(struct running *r)
{
	struct pollfd end = { .fd = run_fd(r->run), .events = POLLIN };
	struct interrupts interrupts;
	bool was_asked = false;

	interrupts_catch(&interrupts);
	while (!run_has_ended(r->run)) {
		/* Without a descriptor: look again and again. */
		poll(&end, end.fd >= 0, end.fd >= 0 ? -1 : 50);
		if (interrupts_came() && !was_asked) {
			was_asked = true;
			kill(run_pid(r->run), SIGTERM);
		}
	}
	interrupts_release(&interrupts);
}

static struct error *measure(struct running *r, struct run_result *ret)
{
	struct error *err = run_go(r->run);

	r->has_begun = !err;
	if (err)
		return err;
	wait_for_end(r);
	return run_wait(r->run, ret);
}

/* --- what it came to --- */

static struct error *report(struct running *r, int *status)
{
	struct kstats_tables tables = { 0 };
	struct error *err = kstats_gather(&r->search, r->spec.name, &tables);

	if (!err && r->arguments->output)
		err = kstats_file_save(r->arguments->output, &tables);
	if (!err)
		err = kstats_show_tables(&r->arguments->showing, &tables, status);
	if (!err)
		err = output_end();
	kstats_tables_clear(&tables);
	return err;
}

/* As of profile: what a shell says of a command that it cannot run. */
static int failure_status(const struct running *r, const struct error *err)
{
	if (!r->is_made || r->has_begun)
		return STATUS_RUN_FAILED;
	if (err->errnum == ENOENT)
		return STATUS_NOT_FOUND;
	return err->errnum == EACCES ? STATUS_NOT_RUNNABLE : STATUS_RUN_FAILED;
}

static void take_away(struct running *r)
{
	struct error *err = r->is_made ? r->search.recorders[0]->remove(r->spec.name) : NULL;

	if (err)
		report_error(err, STATUS_FAILED);
}

struct error *kstats_run(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	struct running r = {
		.arguments = arguments,
		.search = kstats_search(arguments->via ? arguments->via : "bpf"),
	};
	struct run_result result;
	int objectives = STATUS_DONE;
	bool has_ended;
	struct error *err = check(&r, words);

	if (err) {
		*ret_status = STATUS_USAGE;
		kstats_spec_clear(&r.spec);
		return err;
	}
	err = run_start(arguments->running.command, &r.run);
	if (!err)
		err = make(&r);
	if (!err)
		err = measure(&r, &result);
	has_ended = !err;
	if (!err)
		err = report(&r, &objectives);
	*ret_status = err ? failure_status(&r, err) : objectives;
	/* If the command failed, its status takes precedence over that of the SLO. */
	if (has_ended && result.status) {
		if (err)
			report_error(take_ptr(err), STATUS_FAILED);
		*ret_status = result.status;
	}
	take_away(&r);
	run_destroy(r.run);
	kstats_spec_clear(&r.spec);
	return err;
}
