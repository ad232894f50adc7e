/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bands: the states of threads under the words that reports use (REASONS of the program), with
 * their colours. A band is one or several states of the table `states` of /api/about.
 *
 * Whether a wait is idle: waits for work and for connections always are. A thread that waits for
 * any of its files, at a condition variable or for a time is idle if that is nearly all it does
 * (IDLE_BESIDE), and it does not wait for the answer of another program: the rule of profile/idle.h.
 */
const ALWAYS = 2, IF_ALONE = 1;

/* Each row has: name, object of the wait, predicate of a sentence about a thread, colour (a variable of the style), idleness,
 * weight in hundredths (reason_weight()), and the states. */
const rows = [
	["ran", "", "ran", "exec", 0, 100, ["exec", "exec_user", "exec_system"]],
	["CPU wait", "a CPU", "waited for a CPU", "runnable", 0, 100, ["runnable"]],
	["lock", "a lock", "waited for a lock, of its program or of the kernel", "lock", 0, 100, ["lock", "lock_futex", "lock_kernel"]],
	["storage", "storage", "waited for block I/O", "disk", 0, 100, ["sleep_disk"]],
	["paging", "memory from swap", "waited for memory to come back from swap", "paging", 0, 100, ["paging"]],
	["network", "the network", "waited at a socket", "network", 0, 25, ["sleep_network"]],
	["pipe", "a pipe", "waited for the other end of a pipe", "pipe", 0, 25, ["sleep_pipe"]],
	["child", "a child process", "waited for a child process", "child", 0, 25, ["sleep_child"]],
	["other", "something else", "waited for something else", "other", 0, 25, ["sleep_other"]],
	["unknown", "unknown reasons", "waited for an unknown reason", "blocked", 0, 25, ["sleep"]],
	["stopped", "a debugger or signal", "was stopped, traced or frozen", "stopped", 0, 100, ["stopped"]],
	["timer", "a time", "slept for a time", "timer", IF_ALONE, 10, ["sleep_timer"]],
	["poll", "any of several files", "waited for any of several files", "poll", IF_ALONE, 10, ["idle_poll"]],
	["cond", "a condition variable or semaphore", "waited at a condition variable, semaphore or join", "cond", IF_ALONE, 10, ["idle_cond"]],
	["accept", "a connection", "waited for a connection", "idle", ALWAYS, 10, ["idle_accept"]],
	["work", "work", "waited for work", "idle", ALWAYS, 2, ["idle", "idle_worker"]],
];

export const bands = rows.map(([name, what, prose, colour, idle, weight], number) =>
	({ number, name, what, prose, colour, idle, weight }));
export const BANDS = bands.length, RAN = 0, CPU_WAIT = 1;

/* What an idle thread does beside that, at most: a hundredth of its time. */
export const IDLE_BESIDE = 100;

/* A wait of so much of the window lasts as long as it. */
const LASTS = 0.98;

const UNKNOWN = rows.findIndex(row => row[0] === "unknown");

/* The band of each state of /api/about. A state that is newer than this page is in the band of its main state. */
export function bandsOfStates(states) {
	const of = name => rows.findIndex(row => row[6].includes(name));
	return Uint8Array.from(states.name, (name, s) => {
		const own = of(name), main = states.main ? of(states.name[states.main[s]]) : -1;
		return own >= 0 ? own : main >= 0 ? main : UNKNOWN;
	});
}

/* Is a wait in this band idle? `alone`: its thread does next to nothing else. */
export function isIdle(band, alone) {
	const idle = bands[band].idle;
	return idle === ALWAYS || (idle === IF_ALONE && alone);
}

/* How much a nanosecond matters, in hundredths, of a thread that did this for `share` of the window. */
export function weightOf(band, share) {
	const { weight } = bands[band];
	return weight < 100 && share >= LASTS ? Math.min(2, weight) : weight;
}

/*
 * Does a thread do next to nothing but idle waits? Its times are the BANDS numbers of `times` from `at`
 * on. Of its idle waits, the time `asked` is for answers of other programs, and not idle.
 */
export function isAlone(times, at, asked) {
	let all = 0, idle = -asked;
	for (let b = 0; b < BANDS; b++) {
		all += times[at + b];
		if (bands[b].idle)
			idle += times[at + b];
	}
	return idle > 0 && all - idle <= all / IDLE_BESIDE;
}

/* The colours of the style, as [hue, saturation, lightness] of each band; read again when the theme changes. */
export function readColours(element) {
	const style = getComputedStyle(element);
	return bands.map(band => hslOf(style.getPropertyValue("--" + band.colour).trim()));
}

/* Of "#rrggbb". */
export function hslOf(hex) {
	const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255);
	const most = Math.max(r, g, b), least = Math.min(r, g, b), range = most - least, sum = most + least;
	if (!range)
		return [0, 0, sum * 50];
	const hue = most === r ? (g - b) / range : most === g ? 2 + (b - r) / range : 4 + (r - g) / range;
	return [(hue * 60 + 360) % 360, 100 * range / (sum > 1 ? 2 - sum : sum), sum * 50];
}
