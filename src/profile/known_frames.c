/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/known_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/term.h"

/* Globs, over the whole name, or over the name of the file. */
struct known_row {
	enum known_frame what;
	enum frame_kind kind;
	const char *name; /* NULL: any */
	const char *file; /* NULL: any */
};

/*
 * Functions of the kernel are as of Linux 5.15 to 6.18: kernel/sched/core.c, waits of
 * kernel/sched/completion.c, kernel/sched/wait_bit.c, mm/filemap.c and kernel/futex/waitwake.c, and
 * the entry code of x86 and arm64. Runtimes are recognised by the prefixes of their packages and
 * namespaces. PostgreSQL has src/backend/storage/ipc/latch.c, where every wait of a server ends,
 * and its lock managers. The lock of an interpreter is no FRAME_LIBRARY, although a library has it:
 * reports name it.
 */
static const struct known_row known_frames[] = {
	{ FRAME_SCHEDULER, FRAME_KERNEL, "__schedule", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "schedule", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "schedule_timeout*", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "schedule_hrtimeout*", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "schedule_preempt_disabled", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "schedule_rtlock", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "poll_schedule_timeout", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "preempt_schedule*", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "__cond_resched*", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "io_schedule*", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "__switch_to*", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "bit_wait*", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "__wait_on_bit*", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "out_of_line_wait_on_bit*", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "folio_wait_bit*", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "wait_for_completion*", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "__wait_for_common", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "wait_woken", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "futex_do_wait", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "futex_wait*", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "__futex_wait", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "do_futex", NULL },
	{ FRAME_SCHEDULER, FRAME_KERNEL, "__*_sys_futex*", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "entry_SYSCALL*", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "entry_SYSENTER*", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "entry_INT80*", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "do_syscall_64", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "x64_sys_call", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "syscall_exit_to_user_mode*", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "exit_to_user_mode*", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "irqentry_exit*", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "raw_irqentry_exit*", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "asm_*", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "sysvec_*", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "el0*", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "el1*", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "do_el0_svc", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "invoke_syscall", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "__invoke_syscall", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "do_notify_resume", NULL },
	{ FRAME_ENTRY, FRAME_KERNEL, "arm64_preempt_schedule_irq", NULL },
	{ FRAME_START, FRAME_KERNEL, "ret_from_fork*", NULL },
	{ FRAME_START, FRAME_KERNEL, "kthread", NULL },
	{ FRAME_START, FRAME_USER, "_start", NULL },
	{ FRAME_START, FRAME_USER, "__libc_start_*", NULL },
	{ FRAME_START, FRAME_USER, "start_thread", NULL },
	{ FRAME_START, FRAME_USER, "__clone*", NULL },
	{ FRAME_START, FRAME_USER, "clone", NULL },
	{ FRAME_START, FRAME_USER, "clone3", NULL },
	{ FRAME_START, FRAME_USER, "runtime.goexit*", NULL },
	{ FRAME_START, FRAME_USER, "runtime.main", NULL },
	{ FRAME_OTHER, FRAME_USER, "take_gil", NULL },
	{ FRAME_OTHER, FRAME_USER, "drop_gil", NULL },
	{ FRAME_LIBRARY, FRAME_USER, NULL, "libc.so*" },
	{ FRAME_LIBRARY, FRAME_USER, NULL, "libc-2*" },
	{ FRAME_LIBRARY, FRAME_USER, NULL, "libpthread*" },
	{ FRAME_LIBRARY, FRAME_USER, NULL, "ld-linux*" },
	{ FRAME_LIBRARY, FRAME_USER, NULL, "ld-musl*" },
	{ FRAME_LIBRARY, FRAME_USER, NULL, "libstdc++*" },
	{ FRAME_LIBRARY, FRAME_USER, NULL, "libgcc_s*" },
	{ FRAME_LIBRARY, FRAME_USER, NULL, "libuv.so*" },
	{ FRAME_LIBRARY, FRAME_USER, NULL, "libjvm.so" },
	{ FRAME_LIBRARY, FRAME_USER, NULL, "libpython*" },
	{ FRAME_LIBRARY, FRAME_USER, NULL, "[vdso]" },
	{ FRAME_LIBRARY, FRAME_USER, "__libc_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "_dl_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "pthread_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "__pthread_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "__lll_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "futex_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "__futex_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "std::*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "core::*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "<std::*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "<core::*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "<alloc::*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "tokio::*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "mio::*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "parking_lot*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "runtime.*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "runtime/*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "internal/*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "syscall.*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "sync.*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "time.Sleep", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "os.*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "io.*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "io/*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "bufio.*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "net.*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "net/http.*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "crypto/*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "database/sql.*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "uv_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "uv__*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "v8::*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "node::*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "Builtins_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "Builtin:*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "WaitLatch*", "postgres" },
	{ FRAME_LIBRARY, FRAME_USER, "WaitEventSet*", "postgres" },
	{ FRAME_LIBRARY, FRAME_USER, "ProcSleep", "postgres" },
	{ FRAME_LIBRARY, FRAME_USER, "LockAcquire*", "postgres" },
	{ FRAME_LIBRARY, FRAME_USER, "LockRelation*", "postgres" },
	{ FRAME_LIBRARY, FRAME_USER, "XactLockTableWait", "postgres" },
	{ FRAME_LIBRARY, FRAME_USER, "LWLockAcquire*", "postgres" },
	{ FRAME_LIBRARY, FRAME_USER, "PGSemaphoreLock", "postgres" },
	{ FRAME_LIBRARY, FRAME_USER, "PyCOND_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "Py_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "PyEval_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "PyObject_*", NULL },
	{ FRAME_LIBRARY, FRAME_USER, "_Py*", NULL },
};

/* What the compiler put behind the name of a function of the kernel: ".constprop.0". */
static struct text without_suffix(enum frame_kind kind, struct text name)
{
	const char *dot = kind == FRAME_KERNEL ? memchr(name.bytes, '.', name.length) : NULL;

	if (dot && dot > name.bytes)
		name.length = (size_t)(dot - name.bytes);
	return name;
}

static struct text file_name(const struct name *module)
{
	struct text text = name_text(module);
	const char *slash = memrchr(text.bytes, '/', text.length);

	if (slash)
		text = (struct text){ slash + 1, text.length - (size_t)(slash + 1 - text.bytes) };
	return text;
}

static bool row_matches(const struct known_row *row, struct text name, struct text file)
{
	return (!row->name || term_glob_matches(row->name, name)) &&
	       (!row->file || term_glob_matches(row->file, file));
}

enum known_frame known_frame(enum frame_kind kind, const struct name *name,
			     const struct name *module)
{
	const struct text function = without_suffix(kind, name_text(name));
	const struct text file = file_name(module);

	for (size_t i = 0; i < array_length(known_frames); i++)
		if (known_frames[i].kind == kind && row_matches(&known_frames[i], function, file))
			return known_frames[i].what;
	return FRAME_OTHER;
}

/*
 * From glibc's resolver (resolv/), libpq, libmysqlclient and libmariadb, hiredis, libcurl and
 * OpenSSL.
 */
static const char *const asking[] = {
	"getaddrinfo",    "gethostby*",        "__res_context_send", "__libc_res_nsend",
	"PQexec*",        "PQgetResult",       "PQconnect*",         "pqWait*",
	"mysql_*query*",  "mysql_*connect*",   "mysql_stmt_execute", "redisCommand*",
	"redisGetReply*", "curl_easy_perform", "SSL_connect",
};

bool frame_asks(const struct name *name)
{
	const struct text text = name_text(name);

	for (size_t i = 0; i < array_length(asking); i++)
		if (term_glob_matches(asking[i], text))
			return true;
	return false;
}

/*
 * Functions that wait for a lock of their program by system calls that mutexes do not use.
 * PostgreSQL: ProcSleep() waits for rows and tables (src/backend/storage/lmgr/proc.c), the others
 * for locks in shared memory (src/backend/storage/lmgr/lwlock.c,
 * src/backend/storage/lmgr/s_lock.c). CPython: take_gil() waits for the global interpreter lock.
 * That lock has CPython's only condition variables (Python/ceval_gil.h), which also identify it in
 * binaries without symbols.
 */
static const struct lock_row {
	const char *name;
	const char *caller; /* glob of the calling function's file name; NULL: any */
} lock_rows[] = {
	{ "ProcSleep", "postgres" },
	{ "LWLockAcquire*", "postgres" },
	{ "LWLockWaitForVar", "postgres" },
	{ "s_lock", "postgres" },
	{ "take_gil", NULL },
	{ "pthread_cond_wait*", "python3*" },
	{ "pthread_cond_wait*", "libpython3*" },
	{ "pthread_cond_timedwait*", "python3*" },
	{ "pthread_cond_timedwait*", "libpython3*" },
};

bool frame_is_lock(const struct name *name, const struct name *caller)
{
	const struct text function = name_text(name), file = file_name(caller);

	for (size_t i = 0; i < array_length(lock_rows); i++)
		if (term_glob_matches(lock_rows[i].name, function) &&
		    (!lock_rows[i].caller || term_glob_matches(lock_rows[i].caller, file)))
			return true;
	return false;
}

bool frame_is_unnamed(const struct name *name)
{
	return !name ||
	       (name->length > 2 && name->bytes[0] == '[' && name->bytes[name->length - 1] == ']');
}

struct text frame_shown_name(const struct name *name)
{
	const struct text text = name_text(name);

	return frame_is_unnamed(name) && text.length && memmem(text.bytes, text.length, "+0x", 3)
		       ? (struct text){ text.bytes + 1, text.length - 2 }
		       : text;
}

unsigned char *known_frames_of(const struct profile *profile)
{
	unsigned char *known = malloc(profile->frames.count + 1);

	for (size_t i = 0; known && i < profile->frames.count; i++) {
		const struct frame *frame = &profile->frames.items[i];

		known[i] = (unsigned char)known_frame(frame->kind, frame->name, frame->module);
	}
	return known;
}

unsigned char *known_faces_of(const struct flame *flame)
{
	unsigned char *known = malloc(flame->faces.count + 1);

	for (size_t i = 0; known && i < flame->faces.count; i++) {
		const struct flame_face *face = &flame->faces.items[i];

		known[i] = (unsigned char)known_frame(face->kind, face->name, face->module);
	}
	return known;
}

static const struct frame *frame_at(const struct profile *profile, uint32_t node)
{
	return &profile->frames.items[profile->nodes.items[node].frame];
}

uint32_t stack_waiter(const struct profile *profile, uint32_t leaf)
{
	uint32_t ret = leaf;

	for (uint32_t node = leaf; node != NODE_NONE; node = profile->nodes.items[node].parent)
		if (frame_at(profile, node)->kind == FRAME_NOTE &&
		    text_equal(name_text(frame_at(profile, node)->name), TEXT("--")))
			ret = profile->nodes.items[node].parent;
	return ret;
}

/* "fsync" of "__x64_sys_fsync" and "ksys_read"; empty of other functions. */
static struct text called_by_number(const struct name *of)
{
	static const struct text prefixes[] = { TEXT("__x64_sys_"), TEXT("__arm64_sys_"),
						TEXT("ksys_") };
	struct text name = without_suffix(FRAME_KERNEL, name_text(of));

	for (size_t i = 0; i < array_length(prefixes); i++)
		if (text_starts(name, prefixes[i]))
			return (struct text){ name.bytes + prefixes[i].length,
					      name.length - prefixes[i].length };
	return TEXT("");
}

bool frame_is_passed(enum frame_kind kind, const struct name *name)
{
	switch (known_frame(kind, name, NULL)) {
	case FRAME_SCHEDULER:
	case FRAME_ENTRY:
	case FRAME_START:
		return true;
	case FRAME_OTHER:
	case FRAME_LIBRARY:
		break;
	}
	return kind == FRAME_KERNEL && called_by_number(name).length;
}

/* In a program that has its C library in it, the function that makes a system call is called like
 * that. */
static bool is_wrapper(const struct frame *frame, struct text call)
{
	return call.length && text_equal(name_text(frame->name), call);
}

struct stack_place stack_place(const struct profile *profile, const unsigned char *known,
			       uint32_t leaf)
{
	uint32_t own = NODE_NONE, call = NODE_NONE, innermost = NODE_NONE, kernel = NODE_NONE;
	uint32_t library = NODE_NONE;
	struct text call_name = TEXT("");

	for (uint32_t node = stack_waiter(profile, leaf); node != NODE_NONE;
	     node = profile->nodes.items[node].parent) {
		const struct frame *frame = frame_at(profile, node);
		const enum known_frame what = known[profile->nodes.items[node].frame];

		if (frame->kind == FRAME_KERNEL && kernel == NODE_NONE && what == FRAME_OTHER)
			kernel = node;
		if (frame->kind == FRAME_KERNEL && called_by_number(frame->name).length)
			call_name = called_by_number(frame->name);
		if (frame->kind != FRAME_USER)
			continue;
		if (what == FRAME_LIBRARY || what == FRAME_START ||
		    (innermost == NODE_NONE && is_wrapper(frame, call_name))) {
			library = node;
			innermost = innermost == NODE_NONE ? node : innermost;
		} else if (own == NODE_NONE || !frame_is_unnamed(frame->name)) {
			own = node;
			call = library;
			if (!frame_is_unnamed(frame->name))
				break;
		}
	}
	if (own == NODE_NONE)
		own = innermost != NODE_NONE ? innermost : kernel != NODE_NONE ? kernel : leaf;
	/* Nothing is known of the program: what it called in the kernel. */
	else if (call == NODE_NONE && frame_is_unnamed(frame_at(profile, own)->name))
		call = kernel;
	return (struct stack_place){ own, call };
}
