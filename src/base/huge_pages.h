/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Huge pages for memory that is filled at once. A fault for each small page takes longer than to
 * fill it, but on a host whose memory is in pieces the kernel may stop for milliseconds to gather a
 * huge one, so they are asked for only where some are free, and for the first 32 MiB of a process.
 */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

#include <stdint.h>

#include "base/text.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* HUGE_PAGE_BYTES of zeroes whose pages are all there, for munmap(2); NULL without memory. */
void *huge_page_map(void);

/* The free blocks of at least HUGE_PAGE_BYTES, in units of that, by the text of /proc/buddyinfo:
 * for each zone the number of free blocks of one page, of two, of four, ... */
uint64_t huge_pages_free(struct text buddyinfo, size_t page_bytes);

#endif
