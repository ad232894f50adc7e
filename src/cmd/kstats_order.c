/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: start, stop, reset and remove.
 */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "cmd/kstats.h"

/* Report the failure of each name, and continue with the others. */
static void for_each(const struct kstats_arguments *arguments, char **words, kstats_act *act,
		     void *context, int *ret_status)
{
	const struct kstats_search search = kstats_search(arguments->via);

	for (; *words; words++) {
		struct error *err = kstats_with(&search, *words, act, context);

		if (err)
			*ret_status = report_error(err, STATUS_FAILED);
	}
}

/* A metric of gaps goes with its own, where there is one. */
static struct error *order(const struct kstats_recorder *recorder, const char *name, void *context)
{
	const enum kstats_command command = *(const enum kstats_command *)context;
	_cleanup_free_ char *gaps = text_print(KSTATS_GAP "%s", name);
	struct error *err = recorder->command(name, command);

	if (err)
		return err;
	if (!gaps)
		return &error_no_memory;
	err = recorder->command(gaps, command);
	if (!err || err->errnum != ENOENT)
		return err;
	error_destroy(err);
	return NULL;
}

struct error *kstats_order(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	enum kstats_command command = KSTATS_START;

	/* The verb stands before its words. */
	while (strcmp(kstats_commands[command], words[-1]) != 0)
		command++;
	for_each(arguments, words, order, &command, ret_status);
	return NULL;
}

static struct error *remove_one(const struct kstats_recorder *recorder, const char *name,
				void *context)
{
	(void)context;
	if (!recorder->remove)
		return error_create("cannot remove %s: it exists as long as its program", name);
	return recorder->remove(name);
}

struct error *kstats_remove(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	for_each(arguments, words, remove_one, NULL, ret_status);
	return NULL;
}
