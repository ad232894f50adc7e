/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder cli/: shared parts of command lines. options.h parses them by tables of rows; help.h
 * makes help, manual pages and completion from the same rows; commands.h is the table of commands;
 * several commands use display, target, reading, progress and run.
 */

/*
 * Command lines from tables.
 *
 * A command describes its options in rows; the rows make the parser, the help text, the manual page
 * and the completion.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

/* The valid values of an option, by number; NULL after the last. */
typedef const char *(*option_values)(size_t number);

/* Store `argument` (NULL for options that take none) at `at`. An error is wrong usage. */
typedef struct error *(*option_parse)(const char *argument, void *at);

enum option_flag {
	OPTION_TAKES_MORE = 1, /* the plain words after its argument belong to it, too */
	OPTION_COMMON = 2,     /* among those that are used most: the short help shows it */
};

struct option_row {
	const char *name;     /* without dashes */
	char letter;          /* 0: none */
	const char *argument; /* what stands for the argument in the help; NULL: it takes none */
	option_parse parse;
	size_t offset;        /* of `at` in the command's arguments */
	const char *help;     /* sentences; the short help has the first clause of the first */
	option_values values; /* NULL: anything */
	unsigned flags;       /* enum option_flag */
};

/* Words that are no options, and what they mean. */
struct help_section {
	const char *title;
	/* By number; false after the last. */
	bool (*row)(size_t number, const char **ret_words, const char **ret_prose);
	bool not_in_manual; /* the manual page says more about them in its own words */
	bool is_short;      /* the short help has it too */
};

#define EXAMPLES_MAX 3

struct command {
	const char *name;
	int (*run)(const struct command *command, int argc, char **argv);
	const char *summary;               /* one line */
	const char *operands;              /* "SNAPSHOT", "BASELINE CANDIDATE"; "" for none */
	int operands_least, operands_most; /* how many there may be */
	const char *needs;                 /* privileges, in words; "" for none */
	/* The command drops privileges itself (security/privileges.h). For other commands, which
	 * only read and write files that the user names, main drops them. */
	bool drops_privileges;
	const struct option_row *options;
	size_t option_count;
	const char *examples[EXAMPLES_MAX];  /* command lines, first in the help */
	const struct help_section *sections; /* of the help and the manual page; may be NULL */
	size_t section_count;
	/* Letters of options that similar programs have and this command does not. Ends with a row
	 * whose letter is 0; may be NULL. */
	const struct foreign_option {
		char letter;
		const char *instead; /* what to write here instead, for the error message */
	} * foreign;
	/* Where the whole text of each option is, in words: the help has one line for each, and
	 * refers to it. NULL: the help has the whole text. */
	const char *details;
};

/* Parsers for common kinds of argument. */
struct error *parse_flag(const char *argument, void *at);   /* bool */
struct error *parse_string(const char *argument, void *at); /* const char * */
struct error *parse_size(const char *argument, void *at);   /* size_t */
struct error *parse_count(const char *argument, void *at);  /* size_t, at least 1 */
/* uint64_t, in nanoseconds, more than 0; a bare number is seconds. */
struct error *parse_duration(const char *argument, void *at);
/* The same, of at least so many milliseconds. */
struct error *parse_duration_from(const char *argument, unsigned least_ms, void *at);

/* The number of the value `wanted`; if there is no such value, how many there are. */
size_t option_value(const char *wanted, option_values values);

/* Wrong value: says what was wrong and what is nearest; or all there are. */
struct error *unknown_value(const char *what, const char *wrong, option_values values) MUST_CHECK;

/* Call `take` for each piece of a comma list; empty pieces are errors. */
struct error *each_piece(const char *list, const char *what,
			 struct error *(*take)(void *context, const char *piece),
			 void *context) MUST_CHECK;

/*
 * Parse the words after the command's name into `arguments`, and check the number of operands.
 * Options come before, between and after operands; all words after "--" are operands. The word
 * before the first operand is "--" exactly when one stands before them all.
 * Returns the index of the first operand in argv, which is reordered so; or -1 when the command is
 * done, with its exit status in *ret_status: 0 after --help, 2 after wrong usage, which is printed.
 */
int options_parse(const struct command *command, int argc, char **argv, void *arguments,
		  int *ret_status);

/* The same, which also marks in `given`, by the number of its row, each option that there was. */
int options_parse_noting(const struct command *command, int argc, char **argv, void *arguments,
			 bool *given, int *ret_status);

/* Take an option from elsewhere than the command line, such as a file: `name` is written in full,
 * and `value` is "yes" or "no" for options that take no argument. Texts must stay. */
struct error *option_take(const struct command *command, const char *name, const char *value,
			  void *arguments) MUST_CHECK;

/* The number of the row of that name; if there is none, how many rows there are. */
size_t option_number(const struct command *command, const char *name);

/* Print an error as "ctprof: ..." and return `status`. Consumes it. */
enum {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_BROKEN = 3,    /* a condition of --fail-if was met */
	STATUS_UNDECIDED = 4, /* it could not be told */
	/* For commands that run another command and pass on its status. */
	STATUS_RUN_FAILED = 125,
	STATUS_NOT_RUNNABLE = 126,
	STATUS_NOT_FOUND = 127,
};
int report_error(struct error *err, int status);

/* The same for wrong usage of a command, with a hint at its help; returns STATUS_USAGE. */
int usage_error(const struct command *command, struct error *err);

#endif
