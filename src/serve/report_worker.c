/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/report_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd_channel.h"
#include "security/server_sandbox.h"

/* Less than REPORT_SECONDS, which include waits for a CPU. */
#define CPU_SECONDS 20

#define PAGE_BUFFER ((size_t)64 * 1024)

/* --- the child --- */

static struct error *limit(int resource, uint64_t soft, uint64_t hard)
{
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)resource, &now))
		return error_system(errno, "cannot limit a process");
	now.rlim_cur = now.rlim_cur < soft ? now.rlim_cur : soft;
	now.rlim_max = now.rlim_max < hard ? now.rlim_max : hard;
	return setrlimit((__rlimit_resource_t)resource, &now)
		       ? error_system(errno, "cannot limit a process")
		       : NULL;
}

/* Limit this process. server_sandbox_parse() then forbids to lift the limits, or to evade them by
 * starting another process. */
static struct error *confine(uint64_t memory_most)
{
	struct error *err = limit(RLIMIT_CPU, CPU_SECONDS, CPU_SECONDS + 1);

	if (!err)
		err = limit(RLIMIT_DATA, memory_most, memory_most);
	if (!err)
		err = limit(RLIMIT_FSIZE, REPORT_PAGE_MOST, REPORT_PAGE_MOST);
	if (err)
		return err;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(REPORT_SECONDS);
	return server_sandbox_parse();
}

static struct error *print_page(FILE *out, const struct report_job *job, const int *fds,
				report_printer *print)
{
	struct named_file files[REPORT_FILES_MOST];
	struct error *err;

	for (size_t i = 0; i < job->count; i++) {
		files[i] = (struct named_file){ fds[i], job->names[i] };
		/* Earlier jobs with this file have moved its offset, which processes share. */
		if (lseek(fds[i], 0, SEEK_SET))
			return error_system(errno, "%s", job->names[i]);
	}
	err = print(out, files, job->count);
	if (!err && (fflush(out) || ferror(out)))
		err = error_system(errno, "cannot write the page");
	return err;
}

/* Replace the contents of `page` by the message. Returns the exit status of the child. The child
 * ends by exit_group(2), so stdio does not append its buffer. */
static int put_message(int page, const struct error *err)
{
	return !ftruncate(page, 0) && !lseek(page, 0, SEEK_SET) &&
			       write(page, err->message, strlen(err->message)) > 0
		       ? 1
		       : 2;
}

/* Write the page to `page`, or else the error message. Returns the exit status of the child. */
static int do_job(const struct report_worker *worker, const struct report_job *job, const int *fds,
		  int page)
{
	FILE *out = fdopen(page, "w");
	struct error *err = out ? confine(worker->memory_most) : &error_no_memory;

	if (!err) {
		setvbuf(out, NULL, _IOFBF, PAGE_BUFFER);
		err = print_page(out, job, fds, worker->print);
	}
	return err ? put_message(page, err) : 0;
}

/* --- jobs --- */

static bool is_job(const struct report_job *job, size_t length, size_t fds)
{
	if (length != sizeof(*job) || !job->count || job->count > REPORT_FILES_MOST ||
	    job->count != fds)
		return false;
	for (size_t i = 0; i < job->count; i++)
		if (!memchr(job->names[i], 0, sizeof(job->names[i])))
			return false;
	return true;
}

/* Returns the wait status of the child. If it cannot be started, `page` gets a message and the
 * status is that of a child that failed. */
static int run_child(const struct report_worker *worker, const struct report_job *job,
		     const int *fds, int page)
{
	const pid_t child = fork();
	struct error *err;
	int status;

	if (!child) {
		close(worker->socket);
		/* Not _exit(), in which sanitizers make calls that the filter forbids. */
		syscall(SYS_exit_group, do_job(worker, job, fds, page));
	}
	if (child > 0 && waitpid(child, &status, 0) == child)
		return status;
	err = error_system(errno, "cannot start a process for files");
	status = W_EXITCODE(put_message(page, err), 0);
	error_destroy(err);
	return status;
}

static struct error *run_job(const struct report_worker *worker, const struct report_job *job,
			     const int *fds, int page)
{
	const int status = run_child(worker, job, fds, page);
	const struct report_result result = {
		.has_failed = status != 0,
		.signal = WIFSIGNALED(status) ? (uint32_t)WTERMSIG(status) : 0,
	};

	return fd_channel_send(worker->socket, &result, sizeof(result), &page, 1);
}

static struct error *next_job(const struct report_worker *worker, bool *ret_has_ended)
{
	int fds[REPORT_FILES_MOST], page;
	struct report_job job;
	size_t length, count;
	struct error *err = fd_channel_receive(worker->socket, &job, sizeof(job), &length, fds,
					       REPORT_FILES_MOST, &count);

	if (err)
		return err;
	*ret_has_ended = !length;
	if (!length)
		return NULL;
	page = memfd_create("report", MFD_CLOEXEC);
	if (page < 0)
		err = error_system(errno, "cannot make a file in memory");
	else if (!is_job(&job, length, count))
		err = error_create("malformed message with files");
	else
		err = run_job(worker, &job, fds, page);
	fd_channel_close_all(fds, count);
	if (page >= 0)
		close(page);
	return err;
}

/* --- the process --- */

/* Have the kernel kill this process first when memory runs out. This needs no privilege. */
static void offer_to_be_ended(void)
{
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) != 4)
		errno = 0;
	if (fd >= 0)
		close(fd);
}

struct error *report_worker_run(const struct report_worker *worker)
{
	int socket = worker->socket;
	bool has_ended = false;
	struct error *err;

	/* Before the sandbox, in which no file can be opened. */
	offer_to_be_ended();
	if (setpriority(PRIO_PROCESS, 0, 19))
		errno = 0;
	err = server_sandbox_enter(SERVER_FORKS, &socket, 1);
	/* Discard what parsers print: it would contain file names that clients chose. */
	if (!err && dup3(STDIN_FILENO, STDERR_FILENO, 0) < 0)
		err = error_system(errno, "/dev/null");
	while (!err && !has_ended)
		err = next_job(worker, &has_ended);
	return err;
}

/* --- messages for clients --- */

struct error *report_signal_error(uint32_t signal)
{
	switch (signal) {
	case SIGALRM:
	case SIGXCPU:
		return error_coded(EBADMSG, "reading the files takes more than %d s",
				   REPORT_SECONDS);
	case SIGXFSZ:
		return error_coded(EBADMSG, "the report would be larger than %d MiB",
				   (int)(REPORT_PAGE_MOST >> 20));
	case SIGKILL:
		return error_coded(EBADMSG, "the host has not enough memory for the report");
	default:
		return error_coded(EBADMSG, "the report failed by signal %u", signal);
	}
}
