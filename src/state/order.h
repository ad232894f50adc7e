/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of lines.
 */
#ifndef STATE_ORDER_H
#define STATE_ORDER_H

#include "state/view.h"

/* Waits in progress: is the first more worth to be told of than the second? The longer is, but
 * waiting for work is nothing to tell beside another wait. */
bool state_wait_is_worse(enum state state, uint64_t ns, enum state than, uint64_t than_ns);

/* Write into `ret` the numbers of the lines of a window in their order. With `ranks`, lines of
 * lower rank stand before all others. False without memory. */
bool state_order(const struct state_line *lines, size_t count, const uint32_t *ranks,
		 const struct state_sort *sort, uint32_t *ret);

#endif
