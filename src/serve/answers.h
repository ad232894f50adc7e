/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers that are a profile of some time: /debug/pprof/... and /api/profile; and the times of
 * threads in it. The context of all handlers is a struct web.
 *
 * `seconds=N` means the N seconds from now on for /debug/pprof, as its readers expect, and the last
 * N seconds for /api; `from` and `to` are Unix times in milliseconds.
 */
#ifndef SERVE_ANSWERS_H
#define SERVE_ANSWERS_H

#include "serve/http.h"

http_handler answer_pprof_on, answer_pprof_off, answer_pprof_wall, answer_profile, answer_threads;

#endif
