/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pattern of a name: what stays when numbers and addresses vary, so that threads and cgroups
 * that do the same come together under one key.
 *
 *	char pattern[PATTERN_ROOM(NAME_LENGTH)];
 *	size_t length = pattern_of_name(name, pattern);
 *
 * A name is tokens between separators. Separators are . - _ / : @ + [ ] and what Unicode calls
 * White_Space (PropList.txt); they stay as they are. Of a token, the first line that fits:
 *
 *	a UUID, its parts joined by - or _                 {UUID}      also behind "pod"
 *	"pod" or "r", then 32 of 0-9 a-f                  pod{H}      r0a... -> r{H}
 *	digits                                             {N}         7 -> {N}
 *	two or more of 0-9 a-f, one of them a digit        {H}         1a -> {H}
 *	letters, then digits                               letters{N}  u8 -> u{N}
 *	digits, then letters                               {N}letters  1H -> {N}H
 *	anything else                                      itself      events
 *
 * Digits and letters are those of ASCII; the bytes of other characters, and bytes that belong to
 * no character, are of the last line. A pattern is its own pattern.
 */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include "base/text.h"

/* Enough for the pattern of `length` bytes: it is longest when every other byte is a digit. */
#define PATTERN_ROOM(length) (2 * (length) + 1)

/* Write the pattern of `name` and return its length. `out` has room for PATTERN_ROOM of the name's,
 * and does not overlap it. No zero follows. */
size_t pattern_of_name(struct text name, char *out);

/*
 * The same for the instances of systemd's services (systemd.unit(5)), and nothing else of `path`: a
 * segment that ends in "@instance.service" ends in "@{I}.service" when the instance is not empty
 * and has none of . _ - in it. "/system.slice/getty@tty1.service" is
 * "/system.slice/getty@{I}.service"; foo@a-b.service stays, for such instances are names.
 */
size_t pattern_of_unit_instances(struct text path, char *out);

#endif
