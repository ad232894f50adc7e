/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "base/file.h"
#include "tui/tui.h"

static void print_filters(FILE *out)
{
	static const char *const rows[][2] = {
		{ "nginx", "a part of a name of the thread or its process" },
		{ "'worker-*'", "a pattern of such a name, without the quotes" },
		{ "a|b", "either" },
		{ "user:root", "whose it is; cgroup:/path, pid:812 the same way" },
		{ "state:lock", "those that were in this state in the window, or are" },
		{ "state:lock>50", "those that were in it for more than 50 % of the window" },
	};

	fprintf(out, "# Filters: terms with spaces between\n");
	for (size_t i = 0; i < array_length(rows); i++)
		fprintf(out, "  %-13s  %s\n", rows[i][0], rows[i][1]);
	fputc('\n', out);
}

/* A part stands below its state. */
static void print_states(FILE *out)
{
	fprintf(out, "# States, and their parts; all time of a thread is in one of them\n");
	for (size_t i = 0; i < STATE_MAIN_COUNT; i++)
		for (enum state state = 0; state < STATE_COUNT; state++) {
			const struct state_row *row = &state_rows[state];

			if (row->main == state_mains[i])
				fprintf(out, "  %c %-6s  %s%s\n", row->letter, row->label,
					state_is_main(state) ? "" : "  ", row->prose);
		}
}

struct error *help_open(struct tui *tui)
{
	_cleanup_free_ char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);

	if (!out)
		return error_system(errno, "the help");
	key_table_print(out, &tui_keys, tui_is_replay(tui));
	print_filters(out);
	print_states(out);
	if (!file_close_memory(out, &bytes))
		return &error_no_memory;
	page_deinit(&tui->page);
	tui->mode = MODE_HELP;
	return page_set(&tui->page, take_ptr(bytes));
}
