/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "tui/curses.h"
/* Capabilities of terminals are macros; they are included only here. */
#include <term.h>

/* Signals to report, and crashes: all that would end the process, and those of the terminal. Others
 * keep their action. */
static const struct {
	int number;
	bool is_crash;
	bool may_be_ignored; /* the parent process set this, as nohup does */
} caught[] = {
	{ SIGINT, false, true },  { SIGTERM, false, true },   { SIGHUP, false, true },
	{ SIGQUIT, false, true }, { SIGUSR1, false, true },   { SIGUSR2, false, true },
	{ SIGALRM, false, true }, { SIGVTALRM, false, true }, { SIGPROF, false, true },
	{ SIGPIPE, false, true }, { SIGIO, false, true },     { SIGXCPU, false, true },
	{ SIGXFSZ, false, true }, { SIGPWR, false, true },    { SIGSTKFLT, false, true },
	{ SIGTSTP, false, true }, { SIGCONT, false, false },  { SIGWINCH, false, false },
	{ SIGSEGV, true, false }, { SIGBUS, true, false },    { SIGABRT, true, false },
	{ SIGFPE, true, false },  { SIGILL, true, false },    { SIGSYS, true, false },
	{ SIGTRAP, true, false },
};

/* Data for signal handlers, which may not allocate or call the library. */
static struct {
	struct termios found;
	char farewell[512]; /* the bytes that restore the terminal */
	size_t length;
	volatile sig_atomic_t is_taken;
	int pipe[2];
	struct sigaction before[array_length(caught)];
	void *stack;
} saved = { .pipe = { -1, -1 } };

static int put_farewell(int byte)
{
	if (saved.length < sizeof(saved.farewell))
		saved.farewell[saved.length++] = (char)byte;
	return byte;
}

static void save_farewell(void)
{
	static const char *const names[] = { "sgr0", "rmkx", "cnorm", "rmcup" };

	saved.length = 0;
	/* Sequences without a name in terminfo: switch off mouse reports. */
	for (const char *p = "\033[?1000l\033[?1006l"; key_mouse && *p; p++)
		put_farewell(*p);
	for (size_t i = 0; i < array_length(names); i++) {
		const char *sequence = tigetstr(names[i]);

		if (sequence && sequence != (const char *)-1)
			tputs(sequence, 1, put_farewell);
	}
}

/* Safe in a handler. */
static void give_back(void)
{
	if (!saved.is_taken)
		return;
	saved.is_taken = 0;
	if (write(STDOUT_FILENO, saved.farewell, saved.length) < 0) {
		/* The terminal is gone, and there is no way to report it. */
	}
	tcsetattr(STDIN_FILENO, TCSANOW, &saved.found);
}

static void on_signal(int number)
{
	int error = errno;
	unsigned char byte = (unsigned char)number;

	/* When the pipe is full there is enough to read. */
	if (write(saved.pipe[1], &byte, 1) < 0)
		errno = error;
	errno = error;
}

static void on_crash(int number)
{
	give_back();
	for (size_t i = 0; i < array_length(caught); i++)
		if (caught[i].number == number)
			sigaction(number, &saved.before[i], NULL);
	raise(number);
}

/* A stack that has run over is a crash too, and has no room for a handler. */
static void give_handlers_a_stack(void)
{
	stack_t stack = { .ss_size = 16384 };

	saved.stack = stack.ss_sp = malloc(stack.ss_size);
	if (saved.stack && sigaltstack(&stack, NULL)) {
		free(saved.stack);
		saved.stack = NULL;
	}
}

static void catch_signals(void)
{
	give_handlers_a_stack();
	for (size_t i = 0; i < array_length(caught); i++) {
		struct sigaction action = {
			.sa_handler = caught[i].is_crash ? on_crash : on_signal,
			.sa_flags = SA_RESTART | SA_ONSTACK,
		};

		sigemptyset(&action.sa_mask);
		if (!caught[i].may_be_ignored || saved.before[i].sa_handler != SIG_IGN)
			sigaction(caught[i].number, &action, NULL);
	}
}

static void release_signals(void)
{
	stack_t none = { .ss_flags = SS_DISABLE };

	for (size_t i = 0; i < array_length(caught); i++)
		sigaction(caught[i].number, &saved.before[i], NULL);
	if (saved.stack) {
		sigaltstack(&none, NULL);
		free(take_ptr(saved.stack));
	}
	for (size_t i = 0; i < 2; i++)
		if (saved.pipe[i] >= 0)
			close(take_fd(saved.pipe[i]));
}

/* Characters are those of the user's locale; one that is not installed here, as beside a static
 * program, may still say that they are UTF-8. */
static bool set_locale(void)
{
	const char *names[] = { getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG") };

	if (setlocale(LC_CTYPE, ""))
		return utf8_is_locale();
	for (size_t i = 0; i < array_length(names); i++)
		if (names[i] && *names[i])
			return (strcasestr(names[i], "UTF-8") || strcasestr(names[i], "UTF8")) &&
			       setlocale(LC_CTYPE, "C.UTF-8");
	return false;
}

static struct error *check_terminal(const char *instead)
{
	const char *name = getenv("TERM");
	int status = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_create("standard input and output are not a terminal; %s", instead);
	if (!name || !*name)
		return error_create("TERM is not set, so the terminal type is unknown; %s",
				    instead);
	if (setupterm(NULL, STDOUT_FILENO, &status) != OK)
		return error_create("the terminal type '%s' (TERM) is %s; %s", name,
				    status == 0 ? "not in terminfo, or lacks functions"
						: "unknown, since terminfo is missing",
				    instead);
	if (!cursor_address || !clear_screen) {
		del_curterm(cur_term);
		return error_create("the terminal type '%s' (TERM) cannot move its cursor; %s",
				    name, instead);
	}
	if (tcgetattr(STDIN_FILENO, &saved.found))
		return error_system(errno, "the terminal");
	return NULL;
}

static void set_colours(struct terminal *terminal, bool no_colour)
{
	const char *value = getenv("NO_COLOR"); /* no-color.org: any text means it */

	if (no_colour || (value && *value) || !has_colors() || start_color() != OK)
		return;
	use_default_colors();
	terminal->colours = COLORS >= 256 ? 256 : COLORS >= 8 ? 8 : 0;
}

static void set_modes(bool no_mouse)
{
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	intrflush(stdscr, FALSE);
	/* Bytes that follow an escape within this time belong to one key. */
	set_escdelay(25);
	curs_set(0);
	if (no_mouse)
		return;
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0);
}

struct error *terminal_open(struct terminal *terminal, const struct terminal_options *options)
{
	struct error *err = check_terminal(options->instead);

	if (err)
		return err;
	*terminal = (struct terminal){ .signals = -1 };
	terminal->utf8 = set_locale() && !options->no_utf8;
	if (pipe2(saved.pipe, O_CLOEXEC | O_NONBLOCK))
		return error_system(errno, "a pipe for signals");
	/* newterm has handlers of its own, which we do not want. */
	for (size_t i = 0; i < array_length(caught); i++)
		sigaction(caught[i].number, NULL, &saved.before[i]);
	save_farewell();
	/* newterm reads it again, for itself. */
	del_curterm(cur_term);
	saved.is_taken = 1;
	/* The size is the terminal's, whatever LINES and COLUMNS were once. */
	use_tioctl(TRUE);
	terminal->screen = newterm(NULL, stdout, stdin);
	if (!terminal->screen) {
		saved.is_taken = 0;
		release_signals();
		return error_create("the terminal type '%s' (TERM) lacks functions; %s",
				    getenv("TERM"), options->instead);
	}
	catch_signals();
	terminal->signals = saved.pipe[0];
	set_colours(terminal, options->no_colour);
	set_modes(options->no_mouse);
	return NULL;
}

void terminal_close(struct terminal *terminal)
{
	if (!terminal->screen)
		return;
	endwin();
	delscreen(take_ptr(terminal->screen));
	tcsetattr(STDIN_FILENO, TCSADRAIN, &saved.found);
	saved.is_taken = 0;
	release_signals();
	terminal->signals = -1;
}

struct error *terminal_wait(const struct terminal *terminal, int news, uint64_t until_ns,
			    struct terminal_events *ret)
{
	enum { KEYS, SIGNALS, SCREEN, NEWS };
	struct pollfd polled[] = {
		[KEYS] = { .fd = STDIN_FILENO, .events = POLLIN },
		[SIGNALS] = { .fd = terminal->signals, .events = POLLIN },
		[SCREEN] = { .fd = STDOUT_FILENO },
		[NEWS] = { .fd = news, .events = POLLIN },
	};
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const struct timespec left = clock_timespec(until_ns > now ? until_ns - now : 0);

	*ret = (struct terminal_events){ .has_keys = false };
	if (ppoll(polled, array_length(polled), until_ns ? &left : NULL, NULL) < 0)
		return errno == EINTR ? NULL : error_system(errno, "waiting for keys");
	ret->has_keys = polled[KEYS].revents;
	ret->has_signals = polled[SIGNALS].revents;
	ret->has_news = polled[NEWS].revents;
	if (!ret->has_signals &&
	    (polled[KEYS].revents | polled[SCREEN].revents) & (POLLHUP | POLLERR | POLLNVAL))
		return error_create("the terminal was closed");
	return NULL;
}

/* Others may have set the terminal since: take it again, and draw all. */
static void take_again(void)
{
	endwin();
	saved.is_taken = 1;
	clearok(curscr, TRUE);
	refresh();
}

static void resize(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

/* Suspend as the shell expects: it has the terminal until SIGCONT. */
static void stop(void)
{
	struct sigaction ours, standard = { .sa_handler = SIG_DFL };

	endwin();
	saved.is_taken = 0;
	sigaction(SIGTSTP, &standard, &ours);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &ours, NULL);
}

int terminal_signal(struct terminal *terminal)
{
	unsigned char byte;

	if (read(terminal->signals, &byte, 1) != 1)
		return 0;
	switch (byte) {
	case SIGTSTP:
		stop();
		take_again();
		resize();
		return SIGWINCH;
	case SIGCONT:
		take_again();
		/* fallthrough */
	case SIGWINCH:
		resize();
		return SIGWINCH;
	default:
		return byte;
	}
}
