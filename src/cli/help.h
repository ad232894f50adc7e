/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the tables of commands and options for three kinds of readers: people at a terminal,
 * scdoc(5) which makes manual pages, and bash.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "cli/options.h"

typedef void help_printer(FILE *out, const struct command *command);

/* `ctprof COMMAND --help`: everything. */
help_printer help_print;

/* `ctprof COMMAND -h`: a screen of 24 lines of 80 columns, with the options that are used most (all
 * of them where none is marked) and examples. */
help_printer help_print_short;

/* `ctprof --help`: a screen, too. */
void help_print_all(FILE *out);

/* The OPTIONS section of a manual page, in scdoc's language. */
void help_print_scdoc(FILE *out, const struct command *command);

/* A script for bash's completion. */
void help_print_bash(FILE *out);

#endif
