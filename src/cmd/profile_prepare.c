/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_prepare.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/interrupts.h"
#include "base/units.h"
#include "cli/progress.h"
#include "profile/lock_frames.h"
#include "profile/symbolise.h"
#include "security/privileges.h"

/* --- names --- */

struct error *profile_name_kernel(const struct profile_output *output, struct profile *profile)
{
	const struct symbolise_options options = { .only_vdso = true };
	struct error *err;
	PRIVILEGES_RAISED;

	if (output->reads_nothing)
		return NULL;
	err = output->symbols ? symbolise_kernel_cached(profile, output->symbols)
			      : symbolise_kernel(profile);
	return err || output->is_elsewhere ? err : symbolise_user(profile, &options);
}

static bool is_interrupted(void *context)
{
	(void)context;
	return interrupts_came();
}

static const char *files(size_t count)
{
	return count == 1 ? "file or process" : "files or processes";
}

static void print_omissions(const struct symbolise_left *left)
{
	if (left->beyond)
		fprintf(stderr,
			"ctprof: %zu %s not symbolised: limit of %" PRIu64 " MiB per user, or of "
			"%" PRIu64 " MiB for all users but root\n",
			left->beyond, files(left->beyond), SYMBOLISE_USER_BYTES >> 20,
			SYMBOLISE_USERS_BYTES >> 20);
	if (left->hangs)
		fprintf(stderr, "ctprof: %zu %s not symbolised: %s did not answer\n", left->hangs,
			files(left->hangs),
			left->hangs == 1 ? "its file system" : "their file systems");
	if (left->without_thread)
		fprintf(stderr,
			"ctprof: %zu %s not symbolised: cannot start a thread to read them "
			"(RLIMIT_NPROC, "
			"pids.max)\n",
			left->without_thread, files(left->without_thread));
	if (left->ended)
		fprintf(stderr, "ctprof: interrupted: %zu %s not symbolised\n", left->ended,
			files(left->ended));
}

static struct error *name_frames(const struct profile_output *output, struct profile *profile)
{
	struct interrupts interrupts;
	struct symbolise_left left = { 0 };
	struct progress progress;
	struct symbolise_options options = {
		.no_inline = output->no_inline,
		.is_elsewhere = output->is_elsewhere,
		.symfs = output->symfs,
		.progress = progress_begin(&progress, "files", output->quiet),
		.progress_context = &progress,
		.is_over = is_interrupted,
		.left = &left,
		.cache = output->symbols,
	};
	/* Files of processes that run here are read with privileges. Those that a profile of
	 * another host, or --symfs, leads to are files that the user names. */
	const bool was_raised = !output->is_elsewhere && !output->symfs && privileges_raise();
	struct error *err;

	interrupts_catch(&interrupts);
	err = symbolise_user(profile, &options);
	interrupts_release(&interrupts);
	privileges_lower(was_raised);
	progress_end(&progress);
	/* Also with --quiet: the profile lacks something that was asked for. */
	if (!err && output->told)
		symbolise_left_drop_told(&left, output->told);
	if (!err)
		print_omissions(&left);
	return err;
}

/* --- filters --- */

/* The options that hide something, as "--filter and --preset hide". */
static void print_filters(const struct profile_output *output)
{
	const struct {
		bool is_given;
		const char *name;
	} options[] = { { output->filters.keeps, "--filter" },
			{ output->filters.drops, "--not-contains" },
			{ output->filters.presets, "--preset" } };
	size_t count = 0, printed = 0;

	for (size_t i = 0; i < array_length(options); i++)
		count += options[i].is_given;
	for (size_t i = 0; i < array_length(options); i++)
		if (options[i].is_given && ++printed)
			fprintf(stderr, "%s%s",
				printed == 1       ? ""
				: printed == count ? " and "
						   : ", ",
				options[i].name);
	fputs(count == 1 ? " hides" : " hide", stderr);
}

static struct error *filter_samples(const struct profile_output *output, struct profile *profile)
{
	struct filtered filtered;
	struct error *err;
	char text[UNITS_TEXT_MAX];

	if (!output->filter)
		return NULL;
	err = filter_apply(output->filter, profile, &filtered);
	if (err || !filtered.count || output->quiet || output->flush)
		return err;
	fputs("ctprof: ", stderr);
	print_filters(output);
	fprintf(stderr, " %s of stacks%s\n", units_format(text, UNIT_NS, filtered.ns),
		profile->samples.count ? "" : ": all of them");
	return NULL;
}

/* --- states --- */

struct state_choice {
	const struct reason_selection *states;
	struct profile_losses *losses;
};

/* Subtract a removed sample from the counter that has it: kept waits, or waits in progress. */
static void count_as_filtered(struct profile_losses *losses, const struct sample *sample)
{
	const uint64_t progress = sample->is_in_progress && sample->count && losses->in_progress;
	const uint64_t ended = sample->count - progress;

	losses->in_progress -= progress;
	losses->kept -= ended < losses->kept ? ended : losses->kept;
	losses->filtered += ended;
	losses->filtered_ns += sample->ns;
}

static bool is_state_wanted(void *context, size_t number, struct sample *sample)
{
	const struct state_choice *choice = context;

	(void)number;
	if (reason_selects(choice->states, sample->class, sample->state))
		return true;
	count_as_filtered(choice->losses, sample);
	return false;
}

/* Apply --state once more: function names may have moved waits to the state "lock", so some are no
 * longer wanted. */
static struct error *choose_states(const struct profile_output *output, struct profile *profile)
{
	struct state_choice choice = { output->states, &profile->meta.losses };
	const size_t blocks = profile->longest.count;
	const bool is_any = profile->samples.count;
	struct error *err;

	if (!output->states)
		return NULL;
	err = profile_keep(profile, is_state_wanted, &choice);
	if (err)
		return err;
	profile->longest.count = 0;
	for (size_t i = 0; i < blocks; i++) {
		const struct block block = profile->longest.items[i];

		if (reason_selects(output->states, block.class, block.state))
			profile->longest.items[profile->longest.count++] = block;
	}
	if (is_any && !profile->samples.count && !output->quiet && !output->flush)
		fputs("ctprof: the profile is empty: no wait was of --state\n", stderr);
	return NULL;
}

struct error *profile_prepare(const struct profile_output *output, struct profile *profile)
{
	struct error *err = output->reads_nothing ? NULL : name_frames(output, profile);

	if (!err)
		err = lock_frames_apply(profile);
	if (!err)
		err = choose_states(output, profile);
	return err ? err : filter_samples(output, profile);
}
