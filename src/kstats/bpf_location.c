/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/bpf_location.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "state/wait.h"

/* Give an error of another module the errno of this one: its message stays. */
static struct error *with_code(struct error *err, int code)
{
	if (err && err != &error_no_memory && !err->errnum)
		err->errnum = code;
	return err;
}

/* --- words to places --- */

struct word {
	struct text rest; /* behind the first colon */
	const char *whole;
	bool is_end, forces_returns;
	unsigned argument; /* the key; 0: another one is */
};

typedef struct error *take_place(const struct word *word, struct kstats_location *ret);

static struct error *take_name(struct text text, const char *also, char **ret)
{
	for (size_t i = 0; i < text.length; i++) {
		const char c = text.bytes[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || (c && strchr(also, c))))
			return error_coded(EINVAL, "invalid kernel name '%.*s'",
					   text.length < 100 ? (int)text.length : 100, text.bytes);
	}
	if (!text.length)
		return error_coded(EINVAL, "missing name after the colon");
	*ret = strndup(text.bytes, text.length);
	return *ret ? NULL : &error_no_memory;
}

static struct error *parse_function_name(const struct word *word, struct kstats_location *ret)
{
	ret->kind = PLACE_FUNCTION;
	ret->by_trampoline = ret->by_kprobe = true;
	return take_name(word->rest, ".$", &ret->name);
}

static struct error *take_fentry(const struct word *word, struct kstats_location *ret)
{
	struct error *err = parse_function_name(word, ret);

	ret->by_kprobe = false;
	return err;
}

static struct error *take_fexit(const struct word *word, struct kstats_location *ret)
{
	ret->is_return = true;
	return take_fentry(word, ret);
}

static struct error *take_kprobe(const struct word *word, struct kstats_location *ret)
{
	struct error *err = parse_function_name(word, ret);

	ret->by_trampoline = false;
	return err;
}

static struct error *take_kretprobe(const struct word *word, struct kstats_location *ret)
{
	ret->is_return = true;
	return take_kprobe(word, ret);
}

/* --- system calls --- */

#if defined(__aarch64__)
#define SYSCALL_PREFIX "__arm64_sys_"
#else
#define SYSCALL_PREFIX "__x64_sys_"
#endif

/* System calls whose function has another name (arch/x86/entry/syscalls/syscall_64.tbl). */
static const struct {
	const char *call, *function;
} renamed[] = {
	{ "stat", "newstat" },   { "fstat", "newfstat" },      { "lstat", "newlstat" },
	{ "uname", "newuname" }, { "sendfile", "sendfile64" }, { "umount2", "umount" },
};

/* -1: there is none of that name. */
static int syscall_number(const char *name)
{
	for (int i = 0; i < WAIT_SYSCALLS; i++)
		if (wait_syscall_name(i) && strcmp(wait_syscall_name(i), name) == 0)
			return i;
	return -1;
}

static struct error *no_syscall(const char *name)
{
	const char *names[WAIT_SYSCALLS], *near;
	size_t count = 0;

	for (int i = 0; i < WAIT_SYSCALLS; i++)
		if (wait_syscall_name(i))
			names[count++] = wait_syscall_name(i);
	near = text_nearest(name, names, count, sizeof(*names));
	return error_coded(ENOENT, "no system call '%s'%s%s%s", name,
			   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static struct error *take_call(struct text text, bool is_return, struct kstats_location *ret)
{
	_cleanup_free_ char *name = NULL;
	struct error *err = take_name(text, "", &name);
	const char *function = name;

	ret->kind = PLACE_SYSCALL;
	ret->is_return = is_return;
	ret->by_trampoline = true;
	if (err)
		return err;
	ret->syscall = syscall_number(name);
	if (ret->syscall < 0)
		return no_syscall(name);
	for (size_t i = 0; i < array_length(renamed); i++)
		if (strcmp(renamed[i].call, name) == 0)
			function = renamed[i].function;
	ret->name = text_print(SYSCALL_PREFIX "%s", function);
	return ret->name ? NULL : &error_no_memory;
}

static struct error *take_syscall(const struct word *word, struct kstats_location *ret)
{
	return take_call(word->rest, word->is_end, ret);
}

/* --- tracepoints --- */

static struct error *take_bare_tracepoint(const struct word *word, struct kstats_location *ret)
{
	ret->kind = PLACE_TRACEPOINT;
	return take_name(word->rest, "", &ret->name);
}

/* Does the tracepoint exist? If its directory cannot be read, leave the check to the kernel. */
static struct error *look_for_tracepoint(const char *whole)
{
	_cleanup_(probe_points_destroy) struct probe_points *points = NULL;
	struct error *err = probe_points_create(&points);

	if (!err)
		err = probe_points_add(points, &(struct probe_host){ 0 }, text_of(whole));
	if (err && err->errnum) {
		error_destroy(err);
		err = NULL;
	}
	return with_code(err, ENOENT);
}

static struct error *take_tracepoint(const struct word *word, struct kstats_location *ret)
{
	const struct text enter = TEXT("sys_enter_"), leave = TEXT("sys_exit_");
	struct text category, name = word->rest;
	_cleanup_free_ char *checked = NULL;
	struct error *err;

	if (!text_cut(&name, ':', &category) || !name.length)
		return error_coded(EINVAL,
				   "invalid tracepoint '%s': expected tracepoint:CATEGORY:NAME",
				   word->whole);
	/* These are no tracepoints of their own: the kernel makes them of two. */
	if (text_equal(category, TEXT("syscalls"))) {
		if (text_starts(name, enter))
			return take_call((struct text){ name.bytes + enter.length,
							name.length - enter.length },
					 false, ret);
		if (text_starts(name, leave))
			return take_call((struct text){ name.bytes + leave.length,
							name.length - leave.length },
					 true, ret);
	}
	err = take_name(category, "-", &checked);
	if (!err)
		err = take_bare_tracepoint(&(struct word){ .rest = name }, ret);
	return err ? err : look_for_tracepoint(word->whole);
}

/* --- programs --- */

static struct error *take_program(const struct word *word, struct kstats_location *ret)
{
	const struct probe_host host = { .forces_returns = word->forces_returns,
					 .measures_calls = true,
					 .usdt_argument = word->argument };
	struct error *err = probe_points_create(&ret->points);

	ret->kind = PLACE_PROGRAM;
	if (!err)
		err = probe_points_add(ret->points, &host, text_of(word->whole));
	if (err)
		return with_code(err, ENOENT);
	if (ret->points->events.count != 1)
		return error_coded(EINVAL, "%s is ambiguous: %zu matches, e.g. %s and %s",
				   word->whole, ret->points->events.count,
				   ret->points->events.items[0]->bytes,
				   ret->points->events.items[1]->bytes);
	ret->code = ret->points->items[0].code;
	ret->is_ret = ret->points->items[0].kind == PROBE_URET;
	return NULL;
}

static struct error *take_uretprobe(const struct word *word, struct kstats_location *ret)
{
	ret->is_return = true;
	return take_program(word, ret);
}

/* --- all kinds --- */

#define BARE_TRACEPOINT "__tracepoint_"

static const struct {
	const char *word; /* in front of the first colon; NULL: there is none */
	take_place *take;
	const char *form, *prose; /* for people */
} kinds[] = {
	{ NULL, parse_function_name, "FUNCTION",
	  "The call of a function of the kernel or a module, by fentry or, if that fails, by a "
	  "kprobe. The default end is its return." },
	{ "fentry", take_fentry, "fentry:FUNCTION", "The same, by fentry only." },
	{ "fexit", take_fexit, "fexit:FUNCTION", "Its return, by fexit only." },
	{ "kprobe", take_kprobe, "kprobe:FUNCTION", "Its call, by a kprobe only." },
	{ "kretprobe", take_kretprobe, "kretprobe:FUNCTION", "Its return, by a kretprobe only." },
	{ "syscall", take_syscall, "syscall:NAME",
	  "A system call, named without sys_: its entry as a start, its exit as an end." },
	{ "tracepoint", take_tracepoint, "tracepoint:CATEGORY:NAME", "A kernel tracepoint." },
	{ NULL, take_bare_tracepoint, BARE_TRACEPOINT "NAME",
	  "The same, in the notation of kstats.ko." },
	{ "uprobe", take_program, "uprobe:FILE:FUNCTION",
	  "The call of a function of a program or library." },
	{ "uretprobe", take_uretprobe, "uretprobe:FILE:FUNCTION",
	  "Its return, by a replaced return address; not in Go programs." },
	{ "uret", take_uretprobe, "uret:FILE:FUNCTION",
	  "Its return, by probes at its RET instructions; the default end of Go functions." },
	{ "usdt", take_program, "usdt:FILE:PROVIDER:NAME", "A static probe of a program." },
};

bool kstats_location_form(size_t number, const char **ret_form, const char **ret_prose)
{
	if (number >= array_length(kinds))
		return false;
	*ret_form = kinds[number].form;
	*ret_prose = kinds[number].prose;
	return true;
}

static struct error *no_kind(const char *whole)
{
	char forms[400] = "";
	size_t length = 0;

	for (size_t i = 0; i < array_length(kinds) && length < sizeof(forms); i++)
		length += (size_t)snprintf(forms + length, sizeof(forms) - length, "%s%s",
					   i ? ", " : "", kinds[i].form);
	return error_coded(EINVAL, "unknown probe '%s': expected one of: %s", whole, forms);
}

/* The argument that is the key at a place; 0: none is. */
static unsigned key_argument(const struct kstats_spec *spec, bool is_end)
{
	if (spec->key != KSTATS_KEY_ARGUMENT)
		return 0;
	return is_end && spec->end_argument ? spec->end_argument : spec->argument;
}

static struct error *find_location(const char *whole, bool is_end, const struct kstats_spec *spec,
				   struct kstats_location *ret)
{
	struct word word = { .rest = text_of(whole),
			     .whole = whole,
			     .is_end = is_end,
			     .argument = key_argument(spec, is_end),
			     .forces_returns = spec->forces_returns };
	struct text kind;

	ret->syscall = -1;
	if (strlen(whole) >= KSTATS_TEXT_MAX)
		return error_coded(ENAMETOOLONG, "a probe has at most %d bytes",
				   KSTATS_TEXT_MAX - 1);
	if (text_starts(word.rest, TEXT(BARE_TRACEPOINT))) {
		word.rest.bytes += strlen(BARE_TRACEPOINT);
		word.rest.length -= strlen(BARE_TRACEPOINT);
		return take_bare_tracepoint(&word, ret);
	}
	if (!strchr(whole, ':'))
		return parse_function_name(&word, ret);
	text_cut(&word.rest, ':', &kind);
	for (size_t i = 0; i < array_length(kinds); i++)
		if (kinds[i].word && text_equal(kind, text_of(kinds[i].word)))
			return kinds[i].take(&word, ret);
	return no_kind(whole);
}

static bool is_usdt(const struct kstats_location *place)
{
	return place->kind == PLACE_PROGRAM && place->points->items[0].kind == PROBE_USDT;
}

/* --- both places --- */

static void place_clear(struct kstats_location *place)
{
	free(place->name);
	probe_points_destroy(place->points);
}

void kstats_locations_clear(struct kstats_locations *places)
{
	place_clear(&places->start);
	place_clear(&places->end);
	*places = (struct kstats_locations){ 0 };
}

/* A return probe would end a program of Go. */
static struct error *return_of_program(const struct kstats_spec *spec,
				       const struct kstats_location *start,
				       struct kstats_location *ret)
{
	const bool is_ret = start->code != PROBE_CODE_USUAL && !spec->forces_returns;
	_cleanup_free_ char *text =
		text_print("%s%s", is_ret ? "uret" : "uretprobe", strchr(spec->start, ':'));
	struct error *err = text ? find_location(text, true, spec, ret) : &error_no_memory;

	return err && is_ret ? error_prefix(err, "cannot measure this Go function at its RET "
						 "instructions")
			     : err;
}

/* The return of what begins at this start. */
static struct error *return_of(const struct kstats_spec *spec, const struct kstats_location *start,
			       struct kstats_location *ret)
{
	struct error *err;

	if (start->is_return || start->kind == PLACE_TRACEPOINT || is_usdt(start))
		return error_coded(EINVAL, "%s has no duration; give an end", spec->start);
	err = start->kind == PLACE_PROGRAM ? return_of_program(spec, start, ret)
					   : find_location(spec->start, true, spec, ret);
	ret->is_return = true;
	return err;
}

static bool is_same_function(const struct kstats_spec *spec, const struct kstats_locations *places)
{
	const struct kstats_location *start = &places->start, *end = &places->end;

	if (start->kind != end->kind || start->is_return || !end->is_return)
		return false;
	if (start->kind == PLACE_PROGRAM)
		return strcmp(strchr(spec->start, ':'), strchr(spec->end, ':')) == 0;
	return strcmp(start->name, end->name) == 0;
}

/* Attach start and end by the same method: methods identify calls on the stack differently. */
static struct error *agree_on_way(struct kstats_location *start, struct kstats_location *end)
{
	if (start->kind != PLACE_FUNCTION && start->kind != PLACE_SYSCALL)
		return NULL;
	start->by_trampoline = end->by_trampoline = start->by_trampoline && end->by_trampoline;
	start->by_kprobe = end->by_kprobe = start->by_kprobe && end->by_kprobe;
	if (start->kind == PLACE_FUNCTION && !start->by_trampoline && !start->by_kprobe)
		return error_coded(EINVAL, "cannot pair these: a call is measured by fentry and "
					   "fexit, or by kprobe and kretprobe");
	return NULL;
}

/* At a return a kretprobe has no arguments any more, but what the registers hold by then. */
static void keep_arguments(struct kstats_location *place)
{
	if (place->kind == PLACE_FUNCTION && place->is_return)
		place->by_kprobe = false;
}

static void drop_restarts(struct probe_points *points)
{
	size_t kept = 0;

	for (size_t i = 0; points && i < points->count; i++)
		if (points->items[i].event != PROBE_EVENT_RESTART)
			points->items[kept++] = points->items[i];
	if (points)
		points->count = kept;
}

/* A goroutine runs now in one thread and now in another. */
static struct error *check_goroutines(const struct kstats_spec *spec,
				      struct kstats_locations *places)
{
	const struct kstats_location *start = &places->start, *end = &places->end;

	if (spec->key == KSTATS_KEY_TASK && end->is_ret &&
	    (start->code == PROBE_CODE_GO_UNKNOWN || end->code == PROBE_CODE_GO_UNKNOWN))
		return error_coded(EINVAL,
				   "cannot identify goroutines of %s: built by Go before 1.17, or "
				   "stripped",
				   start->code == PROBE_CODE_GO_UNKNOWN ? spec->start : spec->end);
	places->is_goroutine = spec->key == KSTATS_KEY_TASK && start->code == PROBE_CODE_GO &&
			       end->code == PROBE_CODE_GO;
	/* Only there it is known which call begins anew. */
	if (!places->is_goroutine) {
		drop_restarts(start->points);
		drop_restarts(end->points);
	}
	return NULL;
}

struct error *kstats_locations_find(const struct kstats_spec *spec, struct kstats_locations *ret)
{
	struct error *err = find_location(spec->start, false, spec, &ret->start);

	if (err)
		return err;
	ret->is_alone = !spec->end;
	if (ret->is_alone)
		err = return_of(spec, &ret->start, &ret->end);
	else
		err = find_location(spec->end, true, spec, &ret->end);
	if (err)
		return err;
	ret->is_call = ret->is_alone || is_same_function(spec, ret);
	if (ret->is_call)
		err = agree_on_way(&ret->start, &ret->end);
	if (!err)
		err = check_goroutines(spec, ret);
	if (spec->key == KSTATS_KEY_ARGUMENT) {
		keep_arguments(&ret->start);
		keep_arguments(&ret->end);
	}
	return err;
}

/* --- why not --- */

struct error *kstats_location_obstacle(const struct kstats_location *place, const char *keyword)
{
	/* To suggest similar names, search all symbols, not only traceable ones: only one of
	 * several names of a function is traceable. */
	const struct probe_host host = { .tracing = "/proc/self/fd/-" };
	const bool is_call = syscall_number(place->name) >= 0;
	_cleanup_free_ char *near = NULL;
	bool is_there;
	struct error *err = probe_function_exists(&host, place->name, &is_there, &near);

	if (err || is_there)
		return err;
	/* A user who asks for "read" means the system call, whose function has another name. */
	if (!is_call && !near)
		return error_coded(ENOENT, "the kernel has no function '%s'", place->name);
	return error_coded(ENOENT, "the kernel has no function '%s'; did you mean '%s %s%s'?",
			   place->name, keyword, is_call ? "syscall:" : "",
			   is_call ? place->name : near);
}

/* --- arguments --- */

/* The prototype of a place, and the number of parameters that are not its own. */
static const struct btf_type *prototype_of(const struct btf *btf,
					   const struct kstats_location *place, unsigned *first)
{
	char name[160];
	const struct btf_type *type;
	int id;

	*first = place->kind == PLACE_TRACEPOINT;
	snprintf(name, sizeof(name), "%s%s", *first ? "btf_trace_" : "", place->name);
	id = btf ? btf__find_by_name_kind(btf, name, *first ? BTF_KIND_TYPEDEF : BTF_KIND_FUNC) : 0;
	type = id > 0 ? btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type) : NULL;
	if (type && btf_is_ptr(type))
		type = btf__type_by_id(btf, type->type);
	return type && btf_is_func_proto(type) ? type : NULL;
}

static bool is_task(const struct btf *btf, const struct btf_type *prototype, unsigned number)
{
	const struct btf_type *type;

	if (!prototype || number >= btf_vlen(prototype))
		return false;
	type = btf__type_by_id(btf, btf_params(prototype)[number].type);
	if (!type || !btf_is_ptr(type))
		return false;
	type = btf__type_by_id(btf, type->type);
	while (type && btf_is_mod(type))
		type = btf__type_by_id(btf, type->type);
	return type && btf_is_struct(type) &&
	       strcmp(btf__name_by_offset(btf, type->name_off), "task_struct") == 0;
}

static struct error *find_argument(const struct btf *btf, const struct kstats_location *place,
				   const char *text, unsigned wanted, struct kstats_site *ret)
{
	const struct btf_type *prototype;
	unsigned first;

	ret->is_usdt = is_usdt(place);
	if (ret->is_usdt) {
		ret->argument = wanted;
		return NULL;
	}
	if (wanted < 1 || wanted > 6)
		return error_coded(EINVAL, "%s has no arg%u: only arg1 to arg6 can be read", text,
				   wanted);
	if (place->is_return && (place->kind == PLACE_PROGRAM || !place->by_trampoline) &&
	    place->kind != PLACE_SYSCALL)
		return error_coded(EINVAL, "%s: arguments are unavailable at a return", text);
	/* Go has its own convention, in which an argument may take several registers. */
	if (place->code == PROBE_CODE_GO || place->code == PROBE_CODE_GO_UNKNOWN)
		return error_coded(EINVAL, "%s: arguments of Go functions are not supported", text);
	ret->argument = wanted;
	if (place->kind == PLACE_SYSCALL || place->kind == PLACE_PROGRAM)
		return NULL;
	prototype = prototype_of(btf, place, &first);
	if (!prototype)
		return NULL;
	if (wanted + first > btf_vlen(prototype))
		return error_coded(EINVAL, "%s has no arg%u: it takes %u arguments", text, wanted,
				   btf_vlen(prototype) - first);
	ret->is_task = is_task(btf, prototype, wanted + first - 1);
	return NULL;
}

/* The last argument that is a task; of a switch, the next one. 0: none is. */
static unsigned last_task(const struct btf *btf, const struct kstats_location *place)
{
	unsigned first;
	const struct btf_type *prototype = prototype_of(btf, place, &first);

	for (unsigned i = prototype ? btf_vlen(prototype) : 0; i > first; i--)
		if (is_task(btf, prototype, i - 1))
			return i - first;
	return 0;
}

static bool is_task_at(const struct btf *btf, const struct kstats_location *place, unsigned number)
{
	unsigned first;
	const struct btf_type *prototype = prototype_of(btf, place, &first);

	return is_task(btf, prototype, number + first - 1);
}

/* A wake-up before a thread went to sleep does not count for it. */
static const struct {
	const char *tracepoint;
	unsigned argument, forget;
} forgets[] = {
	{ "sched_switch", 3, 2 },
};

struct error *kstats_locations_key(const struct kstats_spec *spec,
				   const struct kstats_locations *places, const struct btf *btf,
				   struct kstats_site *start, struct kstats_site *end)
{
	const char *end_text = spec->end ? spec->end : spec->start;
	unsigned wanted = spec->end_argument;
	struct error *err;

	err = find_argument(btf, &places->start, spec->start, spec->argument, start);
	/* The first argument of a switch is not a task, and the key means the next task. */
	if (!err && start->is_task && (!wanted || wanted == spec->argument) &&
	    places->end.kind == PLACE_TRACEPOINT && !is_task_at(btf, &places->end, spec->argument))
		wanted = last_task(btf, &places->end);
	if (!err)
		err = find_argument(btf, &places->end, end_text, wanted ? wanted : spec->argument,
				    end);
	for (size_t i = 0; !err && i < array_length(forgets); i++)
		if (places->end.kind == PLACE_TRACEPOINT &&
		    strcmp(places->end.name, forgets[i].tracepoint) == 0 &&
		    end->argument == forgets[i].argument)
			end->forget = forgets[i].forget;
	return err;
}
