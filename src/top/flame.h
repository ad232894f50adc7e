/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flame graph that `top` opens for a row, live (live/live_profile.h).
 */
#ifndef TOP_FLAME_H
#define TOP_FLAME_H

#include "top/top.h"
#include "tui/screen.h"

/*
 * Profile the thread, process, cgroup or pool that the screen was left for, and show that until the
 * user leaves. The engine goes on meanwhile: it gives back the records of threads that end.
 * `ret_signal` is what ended it, or 0.
 *
 * It runs in this process, which keeps the privileges to load programs (doc/security.md): one that
 * is executed would have none of those that came from the file of this one.
 */
struct error *top_flame(struct top *top, const struct screen_result *result,
			int *ret_signal) MUST_CHECK;

#endif
