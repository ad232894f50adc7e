/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of a profile as they were given, for commands and messages that repeat them.
 */
#ifndef CMD_PROFILE_WORDS_H
#define CMD_PROFILE_WORDS_H

#include "cmd/profile_options.h"

/* The options that select threads, quoted for a shell: "-p 4242 --comm 'kworker*'", or "". NULL
 * without memory. */
char *profile_words_of_threads(const struct profile_arguments *arguments) MUST_CHECK;

/* Those that select waits by their reason: "--state lock,storage", or "". NULL without memory. */
char *profile_words_of_states(const struct profile_arguments *arguments) MUST_CHECK;

#endif
