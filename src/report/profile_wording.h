/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texts around a profile, the same in pictures and in text. They contain names that processes
 * chose; each printer escapes them for its format.
 */
#ifndef REPORT_PROFILE_WORDING_H
#define REPORT_PROFILE_WORDING_H

#include <stdio.h>

#include "base/units.h"
#include "report/profile_report.h"

/* "Off-CPU time", "Events (difference)", or the title of the report. */
const char *profile_title(const struct profile_report *report);

/* "host, Linux 6.18.0, 10.000s on 8 CPUs, 2026-11-20 05:57:10 UTC: command"; what is not known is
 * left out. */
void profile_origin(FILE *out, const struct profile_report *report);

/* "lost nothing", or "lost 12 events, 3.000ms (0.12%)", and what else is missing. */
void profile_losses(FILE *out, const struct profile_report *report);

/* A value of the flame: a time, or hits. Returns `buffer`. */
char *flame_value(char buffer[UNITS_TEXT_MAX], const struct flame *flame, uint64_t value);
/* The same with a sign. */
char *flame_delta(char buffer[UNITS_TEXT_MAX], const struct flame *flame, const uint64_t values[2]);

/* The name of a kind of frame in brackets: "kernel", "inlined"; NULL for others. */
const char *frame_note(const struct flame_face *face);

/* All that is known about a node: its name on the first line, then a line for each thing. Safe on a
 * terminal. */
void flame_details(FILE *out, const struct flame *flame, uint32_t node);

#endif
