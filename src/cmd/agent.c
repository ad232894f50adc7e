/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent: measures for as long as the host runs, and sends each interval to stores.
 *
 * This process measures and encodes (agent/agent.h); processes without privileges send
 * (agent/delivery.h). With --listen it serves what `serve` does, too (cmd/serving.h).
 */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/config.h"
#include "agent/delivery.h"
#include "base/file.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cmd/profile_flush.h"
#include "cmd/record.h"
#include "cmd/serving.h"
#include "fleet/cgroup_labels.h"
#include "net/http_client.h"
#include "security/privileges.h"
#include "store/address.h"
#include "store/schema.h"
#include "store/sql.h"
#include "store/url.h"

#define CONFIG_DEFAULT      "/etc/ctprof/agent.conf"
#define SPOOL_DEFAULT       "/var/lib/ctprof/spool"
#define SPOOL_BYTES_DEFAULT ((uint64_t)512 << 20)
/* A collector on each host is bounded by default. */
#define MEMORY_DEFAULT      ((uint64_t)256 << 20)
#define INTERVAL_DEFAULT_NS (10 * NS_PER_S)
/* How long the end waits for what was measured last to be sent. */
#define DRAIN_NS (2 * NS_PER_S)
/* The most bytes of NAME=VALUE; Kubernetes allows 63 of a value. */
#define LABEL_BYTES_MOST 1024
/* Files of processes cost more than counters, and seldom change. */
#define AGENT_WITHOUT                                                                     \
	(1u << CAPTURE_PART_SMAPS | 1u << CAPTURE_PART_EXE | 1u << CAPTURE_PART_CMDLINE | \
	 1u << CAPTURE_PART_COUNTERS | 1u << CAPTURE_PART_HEAP)

struct url_list {
	ARRAY(const char *);
};

struct label_list {
	ARRAY(struct agent_label);
};

struct text_list {
	ARRAY(char *);
};

/* STORE(name of the option and the type, what it is) */
#define STORES(STORE)                                                                             \
	STORE(clickhouse, "Send intervals to the database of ClickHouse at URL "                  \
			  "(http[s]://HOST:8123/DATABASE): states, counters, stacks and losses.") \
	STORE(pyroscope, "Push profiles to the Pyroscope server at URL.")                         \
	STORE(otlp, "Send profiles to the OTLP receiver at URL, over HTTP.")                      \
	STORE(parca, "Send profiles to the Parca server at URL.")

enum store_number {
#define STORE_ENUM(name, prose) STORE_##name,
	STORES(STORE_ENUM)
#undef STORE_ENUM
		STORE_COUNT
};

static const char *const store_names[STORE_COUNT] = {
#define STORE_NAME(name, prose) #name,
	STORES(STORE_NAME)
#undef STORE_NAME
};

struct agent_arguments {
	struct profile_arguments profile;
	struct web_arguments web;
	struct profile_flush flush; /* --directory */
	struct url_list urls[STORE_COUNT];
	struct label_list labels;
	struct text_list texts; /* of labels, owned */
	const char *config, *spool, *host, *tenant, *netrc, *ca_file;
	uint64_t spool_bytes;
	unsigned keep_days[STORE_KEEP_COUNT];
	bool check_config, create_schema, inlined;
};

static struct error *parse_agent_interval(const char *argument, void *at)
{
	return parse_duration_from(argument, 1000, at);
}

static struct error *parse_url(const char *argument, void *at)
{
	struct url_list *urls = at;

	if (strncmp(argument, "http://", 7) != 0 && strncmp(argument, "https://", 8) != 0)
		return error_create("expected a URL: http://HOST or https://HOST");
	if (strchr(argument, '@'))
		return error_create("a URL may not have a user or password: write them into the "
				    "file of --netrc-file");
	return array_push(urls, argument) ? NULL : &error_no_memory;
}

/* Those by which hosts are selected and compared without a configuration. */
static bool is_known_label(const char *name)
{
	return strcmp(name, store_selector_names[STORE_SELECT_HOST]) == 0 ||
	       sql_fact_column(name) || fleet_is_cgroup_label(name);
}

static struct error *parse_label(const char *argument, void *at)
{
	struct agent_arguments *a =
		(struct agent_arguments *)((char *)at - offsetof(struct agent_arguments, labels));
	const char *equals = strchr(argument, '=');
	struct agent_label label;
	char *copy;

	if (!equals || equals == argument || !equals[1])
		return error_create("expected NAME=VALUE");
	if (strlen(argument) > LABEL_BYTES_MOST)
		return error_create("longer than %d bytes", LABEL_BYTES_MOST);
	copy = strdup(argument);
	if (!copy || !array_push(&a->texts, copy)) {
		free(copy);
		return &error_no_memory;
	}
	copy[equals - argument] = '\0';
	label = (struct agent_label){ copy, copy + (equals - argument) + 1 };
	if (is_known_label(label.name))
		return error_create("the agent knows '%s' itself: choose another name", label.name);
	for (size_t i = 0; i < a->labels.count; i++)
		if (strcmp(a->labels.items[i].name, label.name) == 0)
			return error_create("'%s' has a value already", label.name);
	return array_push(&a->labels, label) ? NULL : &error_no_memory;
}

/* Each row and each request has it. Host names have at most 255 bytes, too (RFC 1035). */
static struct error *parse_host(const char *argument, void *at)
{
	if (!*argument || strlen(argument) > 255)
		return error_create("expected a name of 1 to 255 bytes");
	return parse_string(argument, at);
}

static struct error *parse_readable_file(const char *argument, void *at)
{
	return access(argument, R_OK) ? error_system(errno, "%s", argument)
				      : parse_string(argument, at);
}

static struct error *parse_spool_size(const char *argument, void *at)
{
	return parse_memory(argument, at);
}

static struct error *parse_keep_rows(const char *argument, void *at)
{
	return store_keep_parse(argument, at);
}

/* clang-format off */
#define AGENT_AT(member) offsetof(struct agent_arguments, member)
static const struct option_row agent_rows[] = {
#define STORE_ROW(name, prose) \
	{ #name, 0, "URL", parse_url, AGENT_AT(urls[STORE_##name]), \
	  prose " May be given more than once.", NULL, OPTION_COMMON },
	STORES(STORE_ROW)
#undef STORE_ROW
	{ "directory", 0, "DIR", parse_string, AGENT_AT(flush.directory),
	  "Write the profile of each interval to a file in DIR, named by its time, for ctprof flame.",
	  NULL, OPTION_COMMON },
	{ "keep", 0, "TIME|SIZE", parse_keep, AGENT_AT(flush.keep),
	  "In --directory, keep the files of the last TIME (1h, 7d), or at most SIZE (500MiB), and "
	  "remove older ones. May be given once for each.", NULL, OPTION_COMMON },
	{ "listen", 'l', "ADDRESS", parse_string, AGENT_AT(web.listen),
	  "Also serve what 'ctprof serve' does, at ADDRESS:PORT, PORT or unix:PATH.", NULL, OPTION_COMMON },
	{ "token-file", 0, "FILE", parse_string, AGENT_AT(web.token_file),
	  "Answer only requests with the token in the first line of FILE, which must not be readable by "
	  "all users. Without it, an address that other hosts reach gets a random token.", NULL, false },
	{ "interval", 'i', "TIME", parse_agent_interval, AGENT_AT(profile.interval_ns),
	  "Measure in intervals of TIME (default 10s, at least 1s).", NULL, OPTION_COMMON },
	{ "duration", 'd', "TIME", parse_profile_time, AGENT_AT(profile.duration_ns),
	  "Stop after TIME (default: at Ctrl-C or SIGTERM).", NULL, false },
	{ "host", 0, "NAME", parse_host, AGENT_AT(host),
	  "The name of this host in stores (default: as hostname(1) prints it).", NULL, false },
	{ "label", 0, "NAME=VALUE", parse_label, AGENT_AT(labels),
	  "Attach a label to this host in stores, such as 'version=1.4.2', by which hosts are selected "
	  "and compared. May be given more than once.", NULL, OPTION_COMMON },
	{ "spool", 0, "DIR", parse_string, AGENT_AT(spool),
	  "Keep requests that have not been sent yet in DIR (default " SPOOL_DEFAULT ").", NULL, false },
	{ "spool-size", 0, "SIZE", parse_spool_size, AGENT_AT(spool_bytes),
	  "Limit the spool to SIZE (default 512MiB). The oldest requests are dropped first, and counted.", NULL, false },
	{ "memory", 0, "SIZE", parse_memory_limit, AGENT_AT(profile.memory_limit),
	  "Limit resident memory and BPF maps to SIZE (default 256MiB, at least 64MiB) in the process that measures. What "
	  "does not fit is left out, and counted as lost.", NULL, OPTION_COMMON },
	{ "inlined", 0, NULL, parse_flag, AGENT_AT(inlined),
	  "Also read debug information, for inlined functions, source files and lines. By default, "
	  "functions are named by symbols alone.", NULL, false },
	{ "netrc-file", 0, "FILE", parse_readable_file, AGENT_AT(netrc),
	  "Read users and passwords of stores from FILE (netrc(5)).", NULL, false },
	{ "ca-file", 0, "FILE", parse_readable_file, AGENT_AT(ca_file),
	  "Verify servers by the certificates in FILE (PEM) rather than by those of this host.", NULL, false },
	{ "tenant", 0, "NAME", parse_string, AGENT_AT(tenant),
	  "Send profiles for the tenant NAME (the header X-Scope-OrgID).", NULL, false },
	{ "config", 0, "FILE", parse_string, AGENT_AT(config),
	  "Read options from FILE (default " CONFIG_DEFAULT ", if it exists), one in a line: "
	  "'key = value', where the key is a long option of this list. Options of the command line take "
	  "precedence.", NULL, OPTION_COMMON },
	{ "check-config", 0, NULL, parse_flag, AGENT_AT(check_config),
	  "Check all options, print what the agent would do, and exit.", NULL, OPTION_COMMON },
	{ "create-schema", 0, NULL, parse_flag, AGENT_AT(create_schema),
	  "Create or upgrade the tables in the database of --clickhouse, and exit.", NULL, OPTION_COMMON },
	{ "keep-rows", 0, "KIND=DAYS[,...]", parse_keep_rows, AGENT_AT(keep_days),
	  "With --create-schema: let ClickHouse drop rows after so many days, also of tables that are "
	  "there: of intervals (raw=14d), of sums by minute (minute=90d) and by hour (hour=400d, also "
	  "of stacks and hosts).", NULL, false },
	{ "quiet", 'q', NULL, parse_flag, AGENT_AT(web.quiet),
	  "Print only errors on standard error.", NULL, false },
	PROFILE_SELECT_OPTIONS(agent_arguments),
	PROFILE_FREQUENCY_OPTION(agent_arguments),
};
/* clang-format on */

/* --- the configuration file --- */

/* Options that say how this command is used, and not what an agent does. */
static bool is_of_command_line(const char *key)
{
	static const char *const names[] = { "config", "check-config", "create-schema" };

	for (size_t i = 0; i < array_length(names); i++)
		if (strcmp(key, names[i]) == 0)
			return true;
	return false;
}

static struct error *take_row(const struct command *command, const struct config_row *row,
			      const bool *given, struct agent_arguments *a)
{
	const size_t number = option_number(command, row->key);

	if (is_of_command_line(row->key))
		return error_create("'%s' is an option of the command line only", row->key);
	if (number < command->option_count && given[number])
		return NULL;
	return option_take(command, row->key, row->value, a);
}

/* A file that is not named may be absent. */
static struct error *read_config(const struct command *command, const bool *given,
				 struct config *config, struct agent_arguments *a)
{
	struct error *err = config_load(a->config ? a->config : CONFIG_DEFAULT, config);

	if (err && err->errnum == ENOENT && !a->config) {
		error_destroy(err);
		return NULL;
	}
	for (size_t i = 0; !err && i < config->count; i++)
		err = config_error(config, &config->items[i],
				   take_row(command, &config->items[i], given, a));
	return err;
}

/* --- what it would do --- */

static size_t count_stores(const struct agent_arguments *a)
{
	size_t count = 0;

	for (size_t s = 0; s < STORE_COUNT; s++)
		count += a->urls[s].count;
	return count;
}

/* Text of the configuration, without control characters. */
static void print_safe(const char *before, const char *text)
{
	_cleanup_free_ char *safe = text_safe_copy(text_of(text));

	printf("%s%s", before, safe ? safe : "(no memory)");
}

static void print_stores(const struct agent_arguments *a)
{
	for (size_t s = 0; s < STORE_COUNT; s++)
		for (size_t i = 0; i < a->urls[s].count; i++) {
			printf("send to %s", store_names[s]);
			print_safe(" at ", a->urls[s].items[i]);
			printf("\n");
		}
	if (a->flush.directory) {
		print_safe("write profiles to ", a->flush.directory);
		printf("\n");
	}
	if (a->web.listen) {
		print_safe("listen at ", a->web.listen);
		printf("\n");
	}
}

static void print_identity(const struct agent_identity *identity)
{
	print_safe("host ", identity->host);
	for (size_t i = 0; i < identity->label_count; i++) {
		print_safe(", ", identity->labels[i].name);
		print_safe("=", identity->labels[i].value);
	}
	printf("\nmeasure every %g s\n", (double)identity->interval_ns / NS_PER_S);
}

static void print_span(const char *before, double seconds)
{
	char span[UNITS_TEXT_MAX];

	printf("%s%s\n", before, units_format_span(span, seconds));
}

static void print_file(const char *before, const char *path)
{
	if (!path)
		return;
	print_safe(before, path);
	printf("\n");
}

static void print_keep(const struct keep *keep)
{
	char size[UNITS_TEXT_MAX];

	if (keep->age_ms)
		print_span("remove profiles that are older than ", (double)keep->age_ms / 1000);
	if (!keep->bytes)
		return;
	units_format(size, UNIT_BYTES, (__int128)keep->bytes);
	printf("remove the oldest profiles when all have more than %s\n", size);
}

static int print_plan_of_tables(const struct agent_arguments *a)
{
	for (size_t i = 0; i < a->urls[STORE_clickhouse].count; i++)
		print_file("create or upgrade the tables at ", a->urls[STORE_clickhouse].items[i]);
	print_file("read passwords of stores from ", a->netrc);
	print_file("verify servers by the certificates in ", a->ca_file);
	return STATUS_DONE;
}

static int print_plan(const struct agent_arguments *a, const struct config *config,
		      const struct agent_identity *identity)
{
	char size[UNITS_TEXT_MAX];

	if (config->path) {
		print_safe("options: ", config->path);
		printf(", then the command line\n");
	}
	if (a->create_schema)
		return print_plan_of_tables(a);
	print_identity(identity);
	print_stores(a);
	print_keep(&a->flush.keep);
	print_file("send profiles for the tenant ", a->tenant);
	print_file("read passwords of stores from ", a->netrc);
	print_file("verify servers by the certificates in ", a->ca_file);
	if (count_stores(a)) {
		units_format(size, UNIT_BYTES, (__int128)a->spool_bytes);
		printf("keep at most %s", size);
		print_safe(" in ", a->spool);
		printf(" until it is sent\n");
	}
	units_format(size, UNIT_BYTES, (__int128)a->profile.memory_limit);
	printf("use at most %s of memory\n", size);
	if (a->inlined)
		printf("read debug information, for inlined functions, source files and lines\n");
	if (a->profile.duration_ns)
		print_span("stop after ", (double)a->profile.duration_ns / NS_PER_S);
	return STATUS_DONE;
}

/* --- running --- */

struct agent_run {
	struct agent_arguments *arguments;
	struct agent_options options;
	struct agent *agent;
	size_t files_lost; /* that were counted */
	bool has_begun;
};

static void print_line(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "ctprof: %s\n", line);
}

static struct error *store_file(void *context, const struct profile *profile)
{
	struct agent_run *r = context;
	struct profile_flush *flush = &r->arguments->flush;
	const struct profile_report report = { .profile = profile };
	struct error *err = profile_flush_add(flush, &report, PROFILE_FORMAT_RAW);

	agent_lose(r->agent, "directory", "profiles", "not written", flush->lost - r->files_lost);
	r->files_lost = flush->lost;
	return err;
}

/* Two agents would remove each other's files (--keep), and a reader would count times twice. On
 * file systems without locks they are not told apart. */
static struct error *open_directory(struct profile_flush *flush)
{
	struct error *err = profile_flush_open(flush, "raw");

	if (err)
		return error_prefix(err, "--directory");
	if (!flock(flush->recording.dir, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		return NULL;
	profile_flush_close(flush);
	return error_create("%s: another agent writes to this directory", flush->directory);
}

/* Print what is measured, where it is sent, and the command that shows it. */
static void print_beginning(const struct agent_run *r)
{
	const struct agent_options *o = &r->options;
	_cleanup_free_ char *host = text_safe_copy(text_of(o->identity.host));
	const char *store = NULL;

	fprintf(stderr, "ctprof: measuring host %s every %g s", host ? host : "(no memory)",
		(double)o->identity.interval_ns / NS_PER_S);
	for (size_t i = 0; i < o->sink_count; i++) {
		_cleanup_free_ char *url = text_safe_copy(text_of(o->sinks[i].url));

		fprintf(stderr, "%s %s", i ? "," : " and sending to", url ? url : "(no memory)");
		if (!store && strcmp(o->sinks[i].type->name, store_names[STORE_clickhouse]) == 0)
			store = o->sinks[i].url;
	}
	fprintf(stderr, "\n");
	if (store) {
		const bool has_tls = strncmp(store, "https", 5) == 0;
		_cleanup_free_ char *rest = text_safe_copy(text_of(strstr(store, "://")));

		fprintf(stderr, "ctprof: next: ctprof fleet hosts %s%s\n", has_tls ? "chs" : "ch",
			rest ? rest : "");
	}
}

static struct error *begin(struct serving *serving)
{
	struct agent_run *r = serving->receiver.context;
	struct error *err = NULL;

	if (r->arguments->flush.directory)
		err = open_directory(&r->arguments->flush);
	if (!err)
		err = agent_open(&r->options, &r->agent);
	if (err)
		return err;
	serving->receiver.fd = agent_fd(r->agent);
	return NULL;
}

/* The first reading is what the first interval begins with: all is open then. */
static struct error *prepare(void *context, struct collector_reading *reading)
{
	struct agent_run *r = context;

	if (!r->has_begun && !r->arguments->web.quiet)
		print_beginning(r);
	r->has_begun = true;
	return agent_prepare(r->agent, reading);
}

static struct error *take(void *context, struct collector_reading *reading)
{
	return agent_take(((struct agent_run *)context)->agent, reading);
}

static bool is_idle(void *context, const struct ctprof_thread *thread)
{
	return agent_is_idle(((struct agent_run *)context)->agent, thread);
}

static struct error *work(void *context)
{
	return agent_work(((struct agent_run *)context)->agent);
}

/* The stores are in `sinks`. */
static struct agent_options options_of(struct agent_arguments *a,
				       const struct agent_identity *identity,
				       struct agent_sink sinks[DELIVERY_SINKS_MOST])
{
	struct agent_options o = {
		.identity = *identity,
		.sinks = sinks,
		.tenant = a->tenant,
		.spool = a->spool,
		.spool_bytes = a->spool_bytes,
		.netrc = a->netrc,
		.ca_file = a->ca_file,
		.say = print_line,
	};

	for (size_t s = 0; s < STORE_COUNT; s++)
		for (size_t i = 0; i < a->urls[s].count; i++)
			sinks[o.sink_count++] =
				(struct agent_sink){ sink_type_named(store_names[s]),
						     a->urls[s].items[i] };
	return o;
}

/* Is the directory there, or the one in which it would be made? The start makes up to `levels`.
 * That this user may not write to it says nothing: the agent may run as another one. */
static struct error *check_directory(const char *option, const char *path, unsigned levels)
{
	_cleanup_free_ char *copy = strdup(path);
	const char *at = copy;
	struct stat st;
	int failed;

	if (!copy)
		return &error_no_memory;
	failed = stat(at, &st) ? errno : 0;
	for (; failed == ENOENT && levels; levels--) {
		at = dirname(copy);
		failed = stat(at, &st) ? errno : 0;
	}
	if (!failed && !S_ISDIR(st.st_mode))
		failed = ENOTDIR;
	if (!failed && access(at, W_OK) && errno == EROFS)
		failed = EROFS;
	return failed && failed != EACCES ? error_system(failed, "--%s: %s", option, path) : NULL;
}

static struct error *check_directories(const struct agent_arguments *a)
{
	struct error *err =
		a->flush.directory ? check_directory("directory", a->flush.directory, 1) : NULL;

	return err || !count_stores(a) ? err : check_directory("spool", a->spool, 2);
}

static int check(const struct command *command, struct agent_arguments *a,
		 const struct config *config, const struct agent_identity *identity)
{
	struct agent_sink sinks[DELIVERY_SINKS_MOST];
	const struct agent_options options = options_of(a, identity, sinks);
	struct error *err = agent_check(&options);

	if (!err && !a->create_schema)
		err = check_directories(a);
	return err ? usage_error(command, err) : print_plan(a, config, identity);
}

static int run(struct agent_arguments *a, struct agent_identity *identity, struct serving *serving)
{
	struct agent_sink sinks[DELIVERY_SINKS_MOST];
	struct agent_run running = { .arguments = a };
	struct error *err;

	running.options = options_of(a, identity, sinks);
	running.options.store = a->flush.directory ? store_file : NULL;
	running.options.context = &running;
	serving->receiver = (struct collector_receiver){
		.context = &running,
		.prepare = prepare,
		.take = take,
		.work = work,
		.fd = -1,
		.wants_snapshots = true,
		.is_idle = is_idle,
		.without = AGENT_WITHOUT,
	};
	serving->begin = begin;
	serving->no_inline = !a->inlined;
	err = serving_run(serving);
	if (!err && running.agent)
		err = agent_drain(running.agent, DRAIN_NS);
	agent_close(running.agent);
	if (running.has_begun && a->flush.is_open && !a->web.quiet)
		profile_flush_print(&a->flush);
	profile_flush_close(&a->flush);
	return serving_end(serving, err);
}

/* In a configuration file, --keep-rows is for the next --create-schema. */
static struct error *check_command_line(const struct command *command,
					const struct agent_arguments *a, const bool *given)
{
	return given[option_number(command, "keep-rows")] && !a->create_schema
		       ? error_create("--keep-rows has no effect without --create-schema")
		       : NULL;
}

static struct error *settle(struct agent_arguments *a, struct serving *serving, int argc,
			    char **argv)
{
	struct error *err;

	if (!a->profile.mode)
		a->profile.mode = PROFILE_BOTH;
	if (!a->profile.interval_ns)
		a->profile.interval_ns = INTERVAL_DEFAULT_NS;
	if (!a->profile.memory_limit)
		a->profile.memory_limit = MEMORY_DEFAULT;
	if ((a->flush.keep.age_ms || a->flush.keep.bytes) && !a->flush.directory)
		return error_create("--keep has no effect without --directory");
	if (a->tenant && !a->urls[STORE_pyroscope].count && !a->urls[STORE_otlp].count &&
	    !a->urls[STORE_parca].count)
		return error_create("--tenant has no effect without --pyroscope, --otlp or "
				    "--parca");
	if (count_stores(a) > DELIVERY_SINKS_MOST)
		return error_create("at most %d stores", DELIVERY_SINKS_MOST);
	for (size_t s = 0; s < STORE_COUNT; s++)
		if (a->urls[s].count && !sink_type_named(store_names[s]))
			return error_create("--%s: this build cannot send to it", store_names[s]);
	if (a->create_schema && !a->urls[STORE_clickhouse].count)
		return error_create("--create-schema needs --clickhouse URL");
	if (!count_stores(a) && !a->flush.directory && !a->web.listen)
		return error_create("the agent has nothing to do: give it a store (--clickhouse "
				    "URL), --directory DIR or --listen ADDRESS");
	serving->web = a->web;
	err = serving_settle(serving, argc, argv);
	return err ? err : profile_arguments_settle(&a->profile);
}

static void arguments_deinit(struct agent_arguments *a)
{
	for (size_t s = 0; s < STORE_COUNT; s++)
		array_deinit(&a->urls[s]);
	for (size_t i = 0; i < a->texts.count; i++)
		free(a->texts.items[i]);
	array_deinit(&a->texts);
	array_deinit(&a->labels);
	profile_arguments_deinit(&a->profile);
}

/* --- tables --- */

static void print_made(const struct store_address *address, const struct schema_made *made)
{
	printf("%s at %s (ClickHouse %s): %s, %zu new tables, %zu new columns\n", address->database,
	       address->server, made->version, made->was_empty ? "created" : "up to date",
	       made->created, made->added);
	if (!made->is_current)
		printf("This server is older than 22.3: its tables have no lifetimes and are not "
		       "compressed by column. Drop old partitions by hand.\n");
}

static struct error *create_tables(const struct agent_arguments *a, struct http_client *client,
				   const char *url)
{
	struct store_address address = { 0 };
	struct schema_wanted wanted = { .program = CTPROF_VERSION };
	struct schema_made made;
	struct error *err = store_address_parse(url, STORE_ADDRESS_HTTP, &address);

	if (!err) {
		wanted.database = address.database;
		memcpy(wanted.days, a->keep_days, sizeof(wanted.days));
		err = store_schema_create(client, address.server, &wanted, &made);
	}
	if (!err)
		print_made(&address, &made);
	store_address_deinit(&address);
	return err ? error_prefix(err, "--clickhouse %s", url) : NULL;
}

static void print_option(const char *option, const char *value)
{
	_cleanup_free_ char *word = value ? text_shell_word(text_of(value)) : NULL;

	if (word)
		text_make_safe(word);
	if (value)
		fprintf(stderr, " --%s %s", option, word ? word : "(no memory)");
}

/* The command that fills the tables. What it has here replaces lines of the configuration. */
static void print_next(const struct agent_arguments *a)
{
	fprintf(stderr, "ctprof: next: ctprof agent");
	print_option("config", a->config);
	for (size_t i = 0; i < a->urls[STORE_clickhouse].count; i++)
		print_option("clickhouse", a->urls[STORE_clickhouse].items[i]);
	print_option("netrc-file", a->netrc);
	print_option("ca-file", a->ca_file);
	fprintf(stderr, "\n");
}

static int create_schemas(const struct agent_arguments *a)
{
	const struct http_client_options options = { .netrc = a->netrc,
						     .ca_file = a->ca_file,
						     .is_confined = true };
	_cleanup_(http_client_close) struct http_client *client = NULL;
	struct error *err = privileges_keep_for_files();

	if (!err)
		err = http_client_open(&options, &client);
	for (size_t i = 0; i < a->urls[STORE_clickhouse].count && !err; i++)
		err = create_tables(a, client, a->urls[STORE_clickhouse].items[i]);
	if (err)
		return report_error(err, STATUS_FAILED);
	if (!a->web.quiet)
		print_next(a);
	return STATUS_DONE;
}

static int run_agent(const struct command *command, int argc, char **argv)
{
	struct agent_arguments a = {
		.profile = { .min_ns = PROFILE_MIN_NS },
		.web = WEB_DEFAULTS,
		.spool = SPOOL_DEFAULT,
		.spool_bytes = SPOOL_BYTES_DEFAULT,
	};
	struct serving serving = { .profile = &a.profile };
	bool given[array_length(agent_rows)] = { false };
	struct config config = { 0 };
	struct agent_identity identity;
	char host[256] = "";
	struct error *err;
	int status;

	if (options_parse_noting(command, argc, argv, &a, given, &status) < 0)
		return status;
	err = check_command_line(command, &a, given);
	if (!err)
		err = read_config(command, given, &config, &a);
	if (!err)
		err = settle(&a, &serving, argc, argv);
	gethostname(host, sizeof(host) - 1);
	identity = (struct agent_identity){
		.host = a.host ? a.host : host,
		.version = CTPROF_VERSION,
		.interval_ns = a.profile.interval_ns,
		.labels = a.labels.items,
		.label_count = a.labels.count,
	};
	if (err)
		status = usage_error(command, err);
	else if (a.check_config)
		status = check(command, &a, &config, &identity);
	else if (a.create_schema)
		status = create_schemas(&a);
	else
		status = run(&a, &identity, &serving);
	free(serving.own_token);
	arguments_deinit(&a);
	config_deinit(&config);
	return status;
}

const struct command agent_command = {
	.name = "agent",
	.run = run_agent,
	.summary = "measure continuously and send to ClickHouse and other stores",
	.operands = "",
	.needs = "root, or CAP_BPF, CAP_PERFMON, CAP_SYSLOG, CAP_SYS_PTRACE and CAP_NET_ADMIN; a "
		 "kernel with BTF",
	.drops_privileges = true,
	.examples = { "ctprof agent --clickhouse http://store:8123/ctprof --create-schema",
		      "sudo ctprof agent --clickhouse http://store:8123/ctprof --label version=1.4",
		      "sudo ctprof agent --directory /var/log/profiles --keep 1GiB" },
	.options = agent_rows,
	.option_count = array_length(agent_rows),
};
