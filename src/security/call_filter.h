/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters of system calls, by libseccomp. Calls that no rule allows fail with EPERM.
 *
 *	static int add_rules(scmp_filter_ctx filter, const void *context)
 *	{
 *		return call_filter_allow(filter, calls, array_length(calls));
 *	}
 *	if (!call_filter_install(add_rules, NULL))
 *		...
 *
 * Functions that add rules return 0, or the negative errno of libseccomp.
 */
#ifndef SECURITY_CALL_FILTER_H
#define SECURITY_CALL_FILTER_H

#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>

/* Allow calls with any arguments. libseccomp ignores calls that the machine does not have. */
int call_filter_allow(scmp_filter_ctx filter, const int *calls, size_t count);

/* Allow a call if the low 32 bits of the argument with index `argument` are one of `values`. It
 * must be an argument that the kernel reads as an int. */
int call_filter_allow_values(scmp_filter_ctx filter, int call, unsigned argument, const int *values,
			     size_t count);

/* Allow a call if none of `bits` is set in the argument with index `argument`. */
int call_filter_allow_without(scmp_filter_ctx filter, int call, unsigned argument, int bits);

/* Install the filter for the calling thread and the threads that it starts. PR_SET_NO_NEW_PRIVS
 * must be set. False: the kernel supports filters, but refused this one. On a kernel without
 * filters, nothing is installed and the result is true. */
bool call_filter_install(int (*add_rules)(scmp_filter_ctx filter, const void *context),
			 const void *context);

#endif
