/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guards that release at the end of a scope.
 *
 *	_cleanup_free_ char *text = strdup(name);
 *	_cleanup_close_ int fd = open(path, O_RDONLY);
 *	...
 *	return take_ptr(text);		the caller owns it now
 *
 * A type declares its own guard beside itself: DEFINE_CLEANUP(error_destroy, struct error *)
 * makes `_cleanup_(error_destroy)` usable on a `struct error *`.
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(function) __attribute__((cleanup(function##_guard)))

#define DEFINE_CLEANUP(function, type)                    \
	static inline void function##_guard(type *object) \
	{                                                 \
		function(*object);                        \
	}

static inline void free_guard(void *pointer)
{
	free(*(void **)pointer);
}

static inline void close_guard(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_free_  _cleanup_(free)
#define _cleanup_close_ _cleanup_(close)

/* The value of a guarded pointer or descriptor, which is left empty: ownership moves on. */
#define take_ptr(pointer)                               \
	({                                              \
		__typeof__(pointer) taken_ = (pointer); \
		(pointer) = NULL;                       \
		taken_;                                 \
	})
#define take_fd(fd)                \
	({                         \
		int taken_ = (fd); \
		(fd) = -1;         \
		taken_;            \
	})

#endif
