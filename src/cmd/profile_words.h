/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of a profile as the user gave them, for suggested commands and for messages.
 */
#ifndef CMD_PROFILE_WORDS_H
#define CMD_PROFILE_WORDS_H

#include "cmd/profile_options.h"

/* Options that select threads, quoted for a shell: "-p 4242 --comm 'kworker*'", or "". Allocated;
 * NULL: no memory. */
char *profile_words_of_threads(const struct profile_arguments *arguments) MUST_CHECK;

/* Options that select waits by reason: "--state lock,storage", or "". Allocated; NULL: no
 * memory. */
char *profile_words_of_states(const struct profile_arguments *arguments) MUST_CHECK;

#endif
