/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a terminal sends to `ctprof top`: keys, parts of keys, reports of a mouse, answers to
 * nothing. The first byte says whether the screen shows a recording, what threads are called, and
 * how long a piece is; the rest is sent piece by piece, each when the one before has been read.
 * Then a signal ends the screen.
 */
#include "tui/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "fuzz.h"

#define THREADS     40
#define WINDOWS     5
#define INTERVAL_NS ((uint64_t)2000000)

static int master;

/* --- what is shown --- */

static struct feed {
	struct state_window window;
	struct state_thread threads[THREADS];
	struct arena arena;
	struct names names;
	int at;
	atomic_uint windows; /* that were asked for */
} fed;

static void make_window(const char *name)
{
	const struct name *called = names_intern(&fed.names, name, strlen(name));

	must(called);
	fed.window.deltas.count = 0;
	for (uint32_t i = 0; i < THREADS; i++) {
		struct state_delta delta = { .thread = &fed.threads[i], .window_ns = NS_PER_S };

		fed.threads[i] = (struct state_thread){
			.tid = i + 1,
			.tgid = i / 4 * 4 + 1,
			.id = i + 1,
			.name = called,
			.process = called,
			.has_ended = i % 7 == 6,
		};
		delta.times.ns[i % STATE_COUNT] = NS_PER_S / (i + 1);
		must(array_push(&fed.window.deltas, delta));
	}
}

static struct error *next(void *context, struct state_window *ret, struct screen_host *host)
{
	(void)context;
	atomic_fetch_add(&fed.windows, 1);
	*ret = fed.window;
	*host = (struct screen_host){ .cpus = 4, .note = "note" };
	return NULL;
}

static struct error *inspect(void *context, const struct screen_subject *subject, FILE *out)
{
	(void)context;
	fprintf(out, "%u %s\n", subject->thread.tid, name_text(subject->thread.name).bytes);
	return NULL;
}

static bool step(void *context, int by)
{
	(void)context;
	if (fed.at + by < 0 || fed.at + by >= WINDOWS)
		return false;
	fed.at += by;
	return true;
}

static struct error *jump(void *context, const char *to)
{
	(void)context;
	return *to == 'l' ? NULL : error_create("'%s' is no time", to);
}

/* --- the terminal --- */

struct typist {
	struct text keys;
	size_t piece;
	atomic_bool is_over;
};

/* What the screen draws has to go somewhere. */
static void read_screen(void)
{
	struct pollfd polled = { .fd = master, .events = POLLIN };
	char bytes[4096];

	if (poll(&polled, 1, 1) > 0)
		(void)!read(master, bytes, sizeof(bytes));
}

static bool has_read_all(void)
{
	int left = 0;

	return ioctl(STDIN_FILENO, FIONREAD, &left) == 0 && !left;
}

static void *type(void *context)
{
	struct typist *typist = context;

	while (!atomic_load(&typist->is_over)) {
		size_t piece =
			typist->keys.length < typist->piece ? typist->keys.length : typist->piece;

		read_screen();
		/* Without rows most keys do nothing. */
		if (!atomic_load(&fed.windows) || !has_read_all())
			continue;
		if (!piece) {
			kill(getpid(), SIGIO);
			/* ncurses waits for the end of a report of the mouse. */
			must(write(master, "m", 1) == 1);
		} else {
			must(write(master, typist->keys.bytes, piece) == (ssize_t)piece);
		}
		typist->keys.bytes += piece;
		typist->keys.length -= piece;
	}
	return NULL;
}

static void ignore(int number)
{
	(void)number;
}

/* As important as it is told to be, and no more: fuzzing is never urgent. */
static void give_up_priority(void)
{
	const cap_value_t nice = CAP_SYS_NICE;
	cap_t capabilities = cap_get_proc();

	must(capabilities);
	must(!cap_set_flag(capabilities, CAP_EFFECTIVE, 1, &nice, CAP_CLEAR));
	must(!cap_set_proc(capabilities));
	cap_free(capabilities);
}

static void set_up(void)
{
	const struct winsize size = { .ws_row = 24, .ws_col = 80 };
	struct termios raw;
	int slave;

	give_up_priority();
	must(openpty(&master, &slave, NULL, NULL, &size) == 0);
	must(tcgetattr(slave, &raw) == 0);
	cfmakeraw(&raw);
	must(tcsetattr(slave, TCSANOW, &raw) == 0);
	must(dup2(slave, STDIN_FILENO) >= 0 && dup2(slave, STDOUT_FILENO) >= 0);
	close(slave);
	setenv("TERM", "xterm-256color", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	/* Not to be ignored: the screen takes only those that are not. */
	signal(SIGIO, ignore);
	arena_init(&fed.arena, SIZE_MAX / 2);
	names_init(&fed.names, &fed.arena);
}

static void show(const struct screen_feed *feed, struct text keys, size_t piece)
{
	const struct screen_options options = { .interval_ns = INTERVAL_NS };
	struct typist typist = { .keys = keys, .piece = piece };
	struct screen_result result = { 0 };
	struct error *err;
	pthread_t thread;

	must(pthread_create(&thread, NULL, type, &typist) == 0);
	err = screen_run(&options, feed, &result);
	atomic_store(&typist.is_over, true);
	pthread_join(thread, NULL);
	must(!err);
	must(result.exit == SCREEN_QUIT || (result.tid && result.tid <= THREADS));
	must(!result.signal || result.signal == SIGIO || result.signal == SIGQUIT);
	tcflush(STDIN_FILENO, TCIOFLUSH);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const called[] = { "name", "", "\303\244\344\270\255\1\377",
					      "a long name of a thread, longer than its column" };
	struct text bytes;
	struct screen_feed feed = { .next = next, .inspect = inspect };

	if (!size)
		return 0;
	if (!master)
		set_up();
	bytes = fuzz_copy(data + 1, size - 1);
	if (data[0] & 1) {
		feed.step = step;
		feed.jump = jump;
	}
	fed.at = 0;
	atomic_store(&fed.windows, 0);
	make_window(called[data[0] / 2 % array_length(called)]);
	show(&feed, bytes, 1 + data[0] / 16 * 2);
	fuzz_release(bytes);
	return 0;
}
