/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/help.h"

#include <ctype.h>
#include <string.h>

#include "cli/commands.h"

#define WRAP 78

static void print_wrapped(FILE *out, const char *text, int indent)
{
	int column = indent;
	struct text rest = text_of(text), word;

	fprintf(out, "%*s", indent, "");
	while (text_word(&rest, &word)) {
		if (column > indent && column + 1 + (int)word.length > WRAP) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		}
		if (column > indent)
			column += fprintf(out, " ");
		column += fprintf(out, "%.*s", (int)word.length, word.bytes);
	}
	fputc('\n', out);
}

static void print_option(FILE *out, const char *name, char letter, const char *argument)
{
	if (letter)
		fprintf(out, "  -%c, --%s", letter, name);
	else
		fprintf(out, "      --%s", name);
	if (argument)
		fprintf(out, " %s", argument);
	fputc('\n', out);
}

/* The values of an option, when there are few enough to read. */
static void print_values(FILE *out, const struct option_row *row)
{
	bool is_list = row->argument && strcmp(row->argument, "LIST") == 0;
	char line[512] = "";
	size_t used = 0, count = 0;
	const char *value;

	if (!row->values)
		return;
	while (row->values(count))
		count++;
	if (count > 16)
		return;
	used = (size_t)snprintf(line, sizeof(line), "%s", is_list ? "Any of: " : "One of: ");
	for (size_t i = 0; (value = row->values(i)) && used < sizeof(line); i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s", i ? ", " : "",
					 value);
	print_wrapped(out, line, 10);
}

static void print_section(FILE *out, const struct help_section *section)
{
	const char *words, *prose;

	fprintf(out, "%s:\n", section->title);
	for (size_t i = 0; section->row(i, &words, &prose); i++) {
		fprintf(out, "  %s\n", words);
		print_wrapped(out, prose, 10);
	}
	fputc('\n', out);
}

static void print_usage(FILE *out, const struct command *command)
{
	char usage[200];

	snprintf(usage, sizeof(usage), "usage: ctprof %s%s%s%s", command->name,
		 command->option_count ? " [OPTIONS]" : "", *command->operands ? " " : "",
		 command->operands);
	print_wrapped(out, usage, 0);
	fputc('\n', out);
}

static size_t example_count(const struct command *command)
{
	size_t count = 0;

	while (count < EXAMPLES_MAX && command->examples[count])
		count++;
	return count;
}

static void print_examples(FILE *out, const struct command *command)
{
	const size_t count = example_count(command);

	if (count)
		fputs("Examples:\n", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "  %s\n", command->examples[i]);
	if (count)
		fputc('\n', out);
}

static void print_whole(FILE *out, const struct command *command)
{
	fprintf(out, "ctprof %s: %s\n\n", command->name, command->summary);
	print_usage(out, command);
	print_examples(out, command);
	for (size_t i = 0; i < command->section_count; i++)
		print_section(out, &command->sections[i]);
	if (command->section_count || example_count(command))
		fprintf(out, "Options:\n");
	for (size_t i = 0; i < command->option_count; i++) {
		const struct option_row *row = &command->options[i];

		print_option(out, row->name, row->letter, row->argument);
		print_wrapped(out, row->help, 10);
		print_values(out, row);
	}
	print_option(out, "help", 'h', NULL);
	print_wrapped(out, "With -h, show the main options and examples; with --help, this text.",
		      10);
	if (*command->needs)
		fprintf(out, "\nPrivileges: %s\n", command->needs);
}

/* --- a line for each option --- */

/* A screen, and the lines of the short help that are no rows: headings, blank and last lines. */
#define SCREEN_LINES 24
#define FRAME_LINES  9
#define SCREEN_WIDTH 79

/* The length of the first clause of a sentence; "With --rows: ..." and "A,... " do not end there.
 */
static size_t clause_length(const char *sentence)
{
	static const char *const ends[] = { ". ", "; ", ": ", " (" };
	size_t length = strlen(sentence);

	for (size_t i = strncmp(sentence, "With ", 5) == 0 ? strcspn(sentence, ":") + 1 : 0;
	     i < length; i++)
		for (size_t e = 0; e < array_length(ends); e++)
			if (strncmp(sentence + i, ends[e], 2) == 0 &&
			    (!i || sentence[i - 1] != '.'))
				length = i;
	return length && sentence[length - 1] == '.' ? length - 1 : length;
}

/* As much of it as fits, to a comma or a blank. Returns its length. */
static size_t print_clause(FILE *out, const char *sentence, size_t room)
{
	size_t length = clause_length(sentence);

	for (const char *ends = ", "; length > room; ends++) {
		size_t end = room;

		while (end && sentence[end] != *ends)
			end--;
		if (end || *ends == ' ')
			length = end;
	}
	fprintf(out, "%.*s", (int)length, sentence);
	return length;
}

/* ": cpu, process, thread", if all of them fit. */
static void print_short_values(FILE *out, option_values values, size_t room)
{
	char line[SCREEN_WIDTH + 1] = "";
	size_t used = 0;

	for (size_t i = 0; values && values(i) && used <= room; i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s", i ? ", " : ": ",
					 values(i));
	if (used <= room)
		fputs(line, out);
}

struct short_row {
	char words[80];
	const char *prose;
	option_values values; /* may be NULL */
};

#define SHORT_ROWS_MAX 64

struct short_rows {
	struct short_row items[SHORT_ROWS_MAX];
	size_t count;
};

static struct short_row *add_row(struct short_rows *rows, const char *prose)
{
	struct short_row *row = &rows->items[rows->count];

	rows->count += rows->count + 1 < SHORT_ROWS_MAX;
	*row = (struct short_row){ .prose = prose };
	return row;
}

static void add_section(struct short_rows *rows, const struct help_section *section)
{
	const char *words, *prose;

	for (size_t i = 0; section->row(i, &words, &prose); i++)
		snprintf(add_row(rows, prose)->words, sizeof(rows->items->words), "  %s", words);
}

static void add_options(struct short_rows *rows, const struct command *command, bool only_common)
{
	for (size_t i = 0; i < command->option_count; i++) {
		const struct option_row *option = &command->options[i];
		struct short_row *row;
		char letter[8] = "    ";

		if (only_common && !(option->flags & OPTION_COMMON))
			continue;
		if (option->letter)
			snprintf(letter, sizeof(letter), "-%c, ", option->letter);
		row = add_row(rows, option->help);
		row->values = option->values;
		snprintf(row->words, sizeof(row->words), "  %s--%s%s%s", letter, option->name,
			 option->argument ? " " : "", option->argument ? option->argument : "");
	}
}

/* The words of the first `count` rows, and beside them the first clause of their prose. */
static void print_rows(FILE *out, const struct short_rows *rows, size_t count)
{
	size_t width = 0;

	for (size_t i = 0; i < count; i++)
		if (width < strlen(rows->items[i].words))
			width = strlen(rows->items[i].words);
	for (size_t i = 0; i < count; i++) {
		const struct short_row *row = &rows->items[i];
		size_t room = SCREEN_WIDTH - 2 - width;

		fprintf(out, "%-*s  ", (int)width, row->words);
		room -= print_clause(out, row->prose, room);
		print_short_values(out, row->values, room);
		fputc('\n', out);
	}
	if (count)
		fputc('\n', out);
}

static void print_short_title(FILE *out, const struct command *command)
{
	fprintf(out, "ctprof %s: ", command->name);
	print_clause(out, command->summary,
		     SCREEN_WIDTH - strlen("ctprof : ") - strlen(command->name));
	fputs("\n\n", out);
}

static bool has_common(const struct command *command)
{
	for (size_t i = 0; i < command->option_count; i++)
		if (command->options[i].flags & OPTION_COMMON)
			return true;
	return false;
}

void help_print_short(FILE *out, const struct command *command)
{
	const size_t room = SCREEN_LINES - FRAME_LINES - example_count(command);
	struct short_rows rows = { .count = 0 };

	print_short_title(out, command);
	print_usage(out, command);
	print_examples(out, command);
	for (size_t i = 0; i < command->section_count; i++)
		if (command->sections[i].is_short)
			add_section(&rows, &command->sections[i]);
	add_options(&rows, command, has_common(command));
	print_rows(out, &rows, rows.count < room ? rows.count : room);
	fprintf(out, "'ctprof %s --help' shows all options.\n", command->name);
}

/* All of them, in a line each. */
static void print_brief(FILE *out, const struct command *command)
{
	struct short_rows rows = { .count = 0 };

	print_short_title(out, command);
	print_usage(out, command);
	print_examples(out, command);
	for (size_t i = 0; i < command->section_count; i++) {
		fprintf(out, "%s:\n", command->sections[i].title);
		rows.count = 0;
		add_section(&rows, &command->sections[i]);
		print_rows(out, &rows, rows.count);
	}
	fputs("Options:\n", out);
	rows.count = 0;
	add_options(&rows, command, false);
	print_rows(out, &rows, rows.count);
	fprintf(out, "%s explains them all.\n", command->details);
}

void help_print(FILE *out, const struct command *command)
{
	if (command->details)
		print_brief(out, command);
	else
		print_whole(out, command);
}

void help_print_all(FILE *out)
{
	fprintf(out, "ctprof: shows where the time of every thread goes, and what changed\n"
		     "usage: ctprof COMMAND [OPTIONS]\n\n");
	/* The last line has what `help` does. */
	for (size_t i = 0; i < command_count; i++)
		if (commands[i] != &help_command)
			fprintf(out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(out,
		"\nFirst steps:\n"
		"  sudo ctprof top             what every thread does, live\n"
		"  sudo ctprof diff 10s        what happened on this host in 10 s\n"
		"'ctprof COMMAND -h' shows the main options, '--help' all, 'man ctprof' more.\n");
}

/* scdoc takes underscores and asterisks as marks. */
static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("_*\\", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* A page is no place for the hundred names of metrics. */
static void print_scdoc_values(FILE *out, const struct option_row *row)
{
	size_t count = 0;

	while (row->values && row->values(count))
		count++;
	if (count > 16)
		fprintf(out, " *ctprof-metric-list*(1) lists the values.");
	for (size_t v = 0; count <= 16 && v < count; v++) {
		fprintf(out, "%s", v ? ", " : " Of: ");
		print_escaped(out, row->values(v));
	}
	fprintf(out, "%s", count && count <= 16 ? "." : "");
}

/* Headings of manual pages are in capitals. */
static void print_scdoc_section(FILE *out, const struct help_section *section)
{
	const char *words, *prose;

	fputs("\n# ", out);
	for (const char *at = section->title; *at; at++)
		fputc(toupper((unsigned char)*at), out);
	fputc('\n', out);
	for (size_t i = 0; section->row(i, &words, &prose); i++) {
		fputs("\n*", out);
		print_escaped(out, words);
		fputs("*\n\t", out);
		print_escaped(out, prose);
		fputc('\n', out);
	}
}

void help_print_scdoc(FILE *out, const struct command *command)
{
	for (size_t i = 0; i < command->option_count; i++) {
		const struct option_row *row = &command->options[i];

		if (row->letter)
			fprintf(out, "*-%c*, ", row->letter);
		fprintf(out, "*--%s*", row->name);
		if (row->argument) {
			fprintf(out, " ");
			print_escaped(out, row->argument);
		}
		fprintf(out, "\n\t");
		print_escaped(out, row->help);
		print_scdoc_values(out, row);
		fprintf(out, "\n\n");
	}
	fprintf(out, "*-h*\n\tShow the main options, and examples.\n\n*--help*\n\tShow a summary "
		     "of this page.\n");
	for (size_t i = 0; i < command->section_count; i++)
		if (!command->sections[i].not_in_manual)
			print_scdoc_section(out, &command->sections[i]);
}

static bool takes_path(const struct option_row *row)
{
	return strncmp(row->argument, "FILE", 4) == 0 || strcmp(row->argument, "DIR") == 0 ||
	       strcmp(row->argument, "PATH") == 0;
}

static void print_bash_command(FILE *out, const struct command *command)
{
	const char *value;

	fprintf(out, "\t%s)\n\t\tcase $previous in\n", command->name);
	for (size_t i = 0; i < command->option_count; i++) {
		const struct option_row *row = &command->options[i];

		if (!row->argument)
			continue;
		fprintf(out, "\t\t--%s", row->name);
		if (row->letter)
			fprintf(out, "|-%c", row->letter);
		fprintf(out, ") values=");
		if (row->values) {
			fprintf(out, "'");
			for (size_t v = 0; (value = row->values(v)); v++)
				fprintf(out, "%s%s", v ? " " : "", value);
			fprintf(out, "'");
		} else {
			fprintf(out, "%s", takes_path(row) ? "FILE" : "NONE");
		}
		fprintf(out, " ;;\n");
	}
	fprintf(out, "\t\tesac\n\t\toptions='");
	for (size_t i = 0; i < command->option_count; i++)
		fprintf(out, "--%s ", command->options[i].name);
	fprintf(out, "--help'");
	if (command == &help_command) {
		fprintf(out, "; operands='");
		for (size_t i = 0; i < command_count; i++)
			fprintf(out, "%s ", commands[i]->name);
		fprintf(out, "'");
	} else if (!*command->operands) {
		fprintf(out, "; operands=NONE");
	}
	fprintf(out, " ;;\n");
}

void help_print_bash(FILE *out)
{
	fprintf(out, "# bash completion for ctprof; made from its tables of commands and options\n"
		     "_ctprof()\n{\n"
		     "\tlocal word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
		     "\tlocal values= options= operands= piece head=\n"
		     "\tCOMPREPLY=()\n"
		     "\t# bash takes --option=value for three words\n"
		     "\t[ \"$previous\" = = ] && previous=${COMP_WORDS[COMP_CWORD-2]}\n"
		     "\t[ \"$word\" = = ] && word=\n"
		     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
		     "\t\tCOMPREPLY=($(compgen -W '");
	for (size_t i = 0; i < command_count; i++)
		fprintf(out, "%s ", commands[i]->name);
	fprintf(out, "--help --version' -- \"$word\"))\n\t\treturn\n\tfi\n"
		     "\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < command_count; i++)
		print_bash_command(out, commands[i]);
	fprintf(out, "\tesac\n"
		     "\tif [ \"$values\" = FILE ]; then\n"
		     "\t\tcompopt -o default\n"
		     "\telif [ \"$values\" = NONE ]; then\n"
		     "\t\t:\n"
		     "\telif [ -n \"$values\" ]; then\n"
		     "\t\t# the last piece of a comma list\n"
		     "\t\tpiece=${word##*,}; head=${word%%\"$piece\"}\n"
		     "\t\tCOMPREPLY=($(compgen -P \"$head\" -W \"$values\" -- \"$piece\"))\n"
		     "\telif [[ $word == -* ]]; then\n"
		     "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
		     "\telif [ -z \"$operands\" ]; then\n"
		     "\t\tcompopt -o default\n"
		     "\telif [ \"$operands\" != NONE ]; then\n"
		     "\t\tCOMPREPLY=($(compgen -W \"$operands\" -- \"$word\"))\n"
		     "\tfi\n}\ncomplete -F _ctprof ctprof\n");
}

/* --- ctprof help --- */

struct help_arguments {
	const char *format;
};

static const char *help_format_name(size_t number)
{
	static const char *const names[] = { "text", "scdoc", "bash" };

	return number < array_length(names) ? names[number] : NULL;
}

static struct error *parse_help_format(const char *argument, void *at)
{
	for (size_t i = 0; help_format_name(i); i++) {
		if (strcmp(argument, help_format_name(i)) == 0) {
			*(const char **)at = help_format_name(i);
			return NULL;
		}
	}
	return unknown_value("format", argument, help_format_name);
}

static int run_help(const struct command *command, int argc, char **argv)
{
	struct help_arguments arguments = { .format = "text" };
	const struct command *about = NULL;
	int status, first = options_parse(command, argc, argv, &arguments, &status);

	if (first < 0)
		return status;
	if (first < argc) {
		about = command_find(argv[first]);
		if (!about)
			return report_error(unknown_value("command", argv[first], command_name),
					    STATUS_USAGE);
	}
	if (strcmp(arguments.format, "bash") == 0)
		help_print_bash(stdout);
	else if (strcmp(arguments.format, "scdoc") == 0 && about)
		help_print_scdoc(stdout, about);
	else if (about)
		help_print(stdout, about);
	else
		help_print_all(stdout);
	return STATUS_DONE;
}

static const struct option_row help_options[] = {
	{ "format", 0, "FORMAT", parse_help_format, offsetof(struct help_arguments, format),
	  "Format of the help: text, scdoc (for manual pages) or bash (for completion).",
	  help_format_name, false },
};

const struct command help_command = {
	.name = "help",
	.run = run_help,
	.summary = "explain a command",
	.operands = "[COMMAND]",
	.operands_most = 1,
	.needs = "",
	.options = help_options,
	.option_count = array_length(help_options),
};
