/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/fold.h"
#include "cli/terminal.h"
#include "security/privileges.h"

static const char *const usual[] = { "less", "-FRX", NULL };

#define WORDS_MAX 32

struct pager_command {
	const char *words[WORDS_MAX + 1]; /* ends with NULL */
	char *copy;                       /* of the variable, that the words are in */
	bool is_secure;
};

static pid_t pager;
static int old_output = -1, old_errors = -1;
static FILE *folding, *unfolded; /* stdout, and what it was */

/* As root, or as any other user. */
static bool runs_for_another(void)
{
	static const char *const variables[] = { "SUDO_UID", "PKEXEC_UID" };

	/* doas(1) gives a name only. */
	if (privileges_are_from_exec() || getenv("DOAS_USER"))
		return true;
	for (size_t i = 0; i < array_length(variables); i++) {
		const char *number = getenv(variables[i]);
		uint32_t uid;

		if (number && (!text_u32(text_of(number), &uid) || uid != geteuid()))
			return true;
	}
	return false;
}

/* Only a shell understands quotes, variables and the like; everything else is run without one, so
 * that a pager that is not installed is noticed. */
static void split(struct pager_command *command, const char *variable)
{
	static const char *const shell[] = { "/bin/sh", "-c" };
	size_t count = 0;
	char *rest;

	if (strpbrk(variable, "|&;<>()$`\\\"'*?[#~=%\n")) {
		memcpy(command->words, shell, sizeof(shell));
		command->words[array_length(shell)] = variable;
		return;
	}
	rest = command->copy = strdup(variable);
	for (char *word; rest && count < WORDS_MAX && (word = strsep(&rest, " \t"));)
		if (*word)
			command->words[count++] = word;
}

/* False: the user wants none. */
static bool choose(struct pager_command *command)
{
	const char *variable = NULL;

	*command = (struct pager_command){ .is_secure = runs_for_another() };
	if (!command->is_secure)
		variable = getenv("CTPROF_PAGER") ?: getenv("PAGER");
	if (variable)
		split(command, variable);
	else
		memcpy(command->words, usual, sizeof(usual));
	return command->words[0] && (strcmp(command->words[0], "cat") != 0 || command->words[1]);
}

/* The variables of the user, and two more; NULL without memory. */
static char **environment_of(const struct pager_command *command)
{
	static char secure[] = "LESSSECURE=1", path[] = "PATH=/usr/bin:/bin";
	char **given = privileges_environment(), **made;
	size_t count = 0, kept = 0;

	while (given && given[count])
		count++;
	made = calloc(count + 3, sizeof(*made));
	/* Options, keys and preprocessors of less are commands of the less trusted one, and so is
	 * what the path has by that name: execvp(3) looks it up by these variables. */
	for (size_t i = 0; made && i < count; i++)
		if (!command->is_secure ||
		    (strncmp(given[i], "LESS", 4) != 0 && strncmp(given[i], "PATH=", 5) != 0))
			made[kept++] = given[i];
	if (made && command->is_secure) {
		made[kept++] = secure;
		made[kept] = path;
	}
	return made;
}

/* In the child: `status` gets the errno of an execve(2) that failed, and closes with one that did
 * not. */
static void be_pager(const struct pager_command *command, char **variables, int input, int status)
{
	int error;

	dup2(input, STDIN_FILENO);
	environ = variables;
	execvp(command->words[0], (char **)(uintptr_t)command->words);
	error = errno;
	_exit(write(status, &error, sizeof(error)) != sizeof(error));
}

/* Returns an errno. */
static int start(const struct pager_command *command, int *ret_input)
{
	_cleanup_free_ char **variables = environment_of(command);
	int input[2], status[2], error = 0;

	if (!variables || pipe2(input, O_CLOEXEC))
		return variables ? errno : ENOMEM;
	if (pipe2(status, O_CLOEXEC)) {
		error = errno;
		close(input[0]);
		close(input[1]);
		return error;
	}
	pager = fork();
	if (pager == 0)
		be_pager(command, variables, input[0], status[1]);
	if (pager < 0)
		error = errno;
	close(input[0]);
	close(status[1]);
	if (pager > 0 &&
	    TEMP_FAILURE_RETRY(read(status[0], &error, sizeof(error))) == sizeof(error))
		waitpid(pager, NULL, 0);
	close(status[0]);
	if (error) {
		pager = 0;
		close(input[1]);
	}
	*ret_input = input[1];
	return error;
}

static void redirect(int input)
{
	terminal_remember();
	old_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (isatty(STDERR_FILENO)) {
		old_errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(input, STDERR_FILENO);
	}
	dup2(input, STDOUT_FILENO);
	close(input);
	/* The keyboard talks to the pager, which may end before we do. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

static void start_pager(void)
{
	struct pager_command command;
	int input = -1, error;

	if (choose(&command)) {
		error = start(&command, &input);
		if (!error)
			redirect(input);
		else if (command.words[0] != usual[0])
			fprintf(stderr, "ctprof: cannot start the pager '%s': %s\n",
				command.words[0], strerror(error));
	}
	free(command.copy);
}

/* All that prints, prints through the fold: glibc's stdout is a variable. */
static void start_fold(void)
{
	const size_t width = terminal_table_width();

	folding = width ? fold_open(stdout, width) : NULL;
	if (!folding)
		return;
	unfolded = stdout;
	stdout = folding;
}

static void end_fold(void)
{
	if (!folding)
		return;
	stdout = unfolded;
	fclose(folding);
	folding = NULL;
}

void pager_begin(enum pager_content content)
{
	fflush(stdout);
	fflush(stderr);
	if (!pager && terminal_wants_pager())
		start_pager();
	if (!folding && content == PAGER_TEXT)
		start_fold();
}

bool pager_end(void)
{
	end_fold();
	if (!pager)
		return false;
	fflush(stdout);
	fflush(stderr);
	/* The pager has ended: discard the rest of the report, so that it does not appear on the
	 * terminal. */
	__fpurge(stdout);
	__fpurge(stderr);
	clearerr(stdout);
	/* The last descriptors of the pipe: the pager sees its end. */
	dup2(old_output, STDOUT_FILENO);
	if (old_errors >= 0)
		dup2(old_errors, STDERR_FILENO);
	TEMP_FAILURE_RETRY(waitpid(pager, NULL, 0));
	pager = 0;
	return true;
}

struct error *output_end(void)
{
	struct error *err;

	/* A user may leave the pager before the end: then unread output is no failure. */
	if (pager_end())
		return NULL;
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return NULL;
	err = errno ? error_system(errno, "standard output")
		    : error_create("standard output: write error");
	__fpurge(stdout);
	clearerr(stdout);
	return err;
}
