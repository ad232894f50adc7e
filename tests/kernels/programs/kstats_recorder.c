/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats_recorder VERB...: what ctprof asks of kstats.ko, through its own recorder:
 *
 *	trace NAME [bits B] [start X] [end Y]
 *	list | read NAME | v3 NAME | start NAME | stop NAME | reset NAME | remove NAME
 *
 * An error is a line of standard output, "error ERRNO: MESSAGE", and status 1.
 */
#include <inttypes.h>
#include <stdio.h>

#include "kstats/module_recorder.h"
#include "kstats/v3.h"

static struct error *trace(char **words)
{
	struct kstats_spec spec = { 0 };
	struct error *err = kstats_spec_parse(words, &spec);

	if (!err)
		err = kstats_module.trace(&spec, &(struct kstats_traced){ 0 });
	kstats_spec_clear(&spec);
	return err;
}

static struct error *list(char **words)
{
	struct kstats_entries entries = { 0 };
	struct error *err = kstats_module.list(&entries);

	(void)words;
	for (size_t i = 0; i < entries.count; i++)
		printf("%s start %s end %s %s count %" PRIu64 "\n", entries.items[i].name,
		       entries.items[i].start ? entries.items[i].start : "-",
		       entries.items[i].end ? entries.items[i].end : "-",
		       entries.items[i].is_active ? "active" : "stopped", entries.items[i].count);
	kstats_entries_clear(&entries);
	return err;
}

/* As the kernel's raw file has them: "slot N cpu N count N sum N". */
static struct error *read_slots(char **words)
{
	struct kstats_table *table;
	struct error *err =
		words[0] ? kstats_module.read(words[0], &table) : error_create("read NAME");

	if (err)
		return err;
	for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++)
		for (size_t i = 0; i < table->rows.count; i++)
			if (table->rows.items[i].slots[slot].count)
				printf("slot %u cpu %" PRIu64 " count %" PRIu64 " sum %" PRIu64
				       "\n",
				       slot, table->rows.items[i].id,
				       table->rows.items[i].slots[slot].count,
				       table->rows.items[i].slots[slot].sum);
	kstats_table_destroy(table);
	return NULL;
}

static struct error *print_v3(char **words)
{
	struct kstats_table *table;
	struct error *err =
		words[0] ? kstats_module.read(words[0], &table) : error_create("v3 NAME");

	if (err)
		return err;
	kstats_v3_print(table, stdout);
	kstats_table_destroy(table);
	return NULL;
}

static struct error *start(char **words)
{
	return kstats_module.command(words[0] ? words[0] : "", KSTATS_START);
}

static struct error *stop(char **words)
{
	return kstats_module.command(words[0] ? words[0] : "", KSTATS_STOP);
}

static struct error *reset(char **words)
{
	return kstats_module.command(words[0] ? words[0] : "", KSTATS_RESET);
}

static struct error *remove_metric(char **words)
{
	return kstats_module.remove(words[0] ? words[0] : "");
}

static const struct {
	const char *name;
	struct error *(*run)(char **words);
} verbs[] = {
	{ "trace", trace }, { "list", list }, { "read", read_slots }, { "v3", print_v3 },
	{ "start", start }, { "stop", stop }, { "reset", reset },     { "remove", remove_metric },
};

int main(int argc, char **argv)
{
	struct error *err = error_create("no such verb");

	for (size_t i = 0; argc > 1 && i < array_length(verbs); i++) {
		if (strcmp(argv[1], verbs[i].name) != 0)
			continue;
		error_destroy(err);
		err = verbs[i].run(argv + 2);
		break;
	}
	if (!err)
		return 0;
	printf("error %d: %s\n", err->errnum, err->message);
	error_destroy(err);
	return 1;
}
