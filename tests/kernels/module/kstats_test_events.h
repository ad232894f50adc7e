/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints of a module, at which pairs are recorded. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kstats_test

#if !defined(KSTATS_TEST_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define KSTATS_TEST_EVENTS_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(kstats_test_event, TP_PROTO(int number), TP_ARGS(number),
		    TP_STRUCT__entry(__field(int, number)),
		    TP_fast_assign(__entry->number = number;), TP_printk("%d", __entry->number));

DEFINE_EVENT(kstats_test_event, kstats_test_begin, TP_PROTO(int number), TP_ARGS(number));
DEFINE_EVENT(kstats_test_event, kstats_test_finish, TP_PROTO(int number), TP_ARGS(number));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE kstats_test_events
#include <trace/define_trace.h>
