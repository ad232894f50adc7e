/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that records with libkstats in some mode, and looks as others would whether all of it
 * was counted. Each mode prints a line of what came out, and ends with 1 when that is not right.
 */
#ifndef PROGRAMS_KSTATS_LIBRARY_MODES_H
#define PROGRAMS_KSTATS_LIBRARY_MODES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <kstats.h>

#include "kstats/recorder.h"

#define THREADS_MAX 64
#define FRAC_BITS   3

/* Ends the process, with the error's words. */
void or_die(struct error *err);

/* What the metric of the process has counted, by kstats_user. */
struct kstats_slot total_of(int pid, const char *name);
void command_to(int pid, const char *name, enum kstats_command command);

/* What is in its slots since it was made, whatever was reset: by the memory itself. */
struct kstats_slot raw_total(const char *name);

/* Says so, and returns false, unless both are the same. */
bool is_all(const char *mode, struct kstats_slot got, struct kstats_slot wanted);

/* What a value adds to a sum of FRAC_BITS, by the words of histogram/bucket.h and not by its code.
 */
static inline uint64_t amount_of(uint64_t value)
{
	int bits = value ? 64 - __builtin_clzll(value) : 0;

	return bits > 20 + FRAC_BITS ? value >> (bits - 20 - FRAC_BITS) : value;
}

/* The modes, with the words behind them. */
int count_mode(char **words);
int signals_mode(char **words);
int fork_mode(char **words);
int races_mode(char **words);
int serve_mode(char **words);

#endif
