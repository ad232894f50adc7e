/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What targets of profiles share.
 */
#ifndef TESTS_PROFILE_FUZZ_H
#define TESTS_PROFILE_FUZZ_H

#include "fuzz.h"
#include "profile/files.h"

typedef struct error *profile_parse(struct text bytes, struct profile **ret);

/* Bytes that are accepted make a profile whose parts point to each other rightly, which can be
 * written in all forms, read back, shown and merged. */
int fuzz_profile(profile_parse *parse, const uint8_t *data, size_t size);

/* Its parts point to each other rightly, and it can be written in all forms, read back and shown.
 */
void fuzz_check_profile(const struct profile *profile);

#endif
