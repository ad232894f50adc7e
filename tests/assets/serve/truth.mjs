// SPDX-License-Identifier: BSD-2-Clause
//
// What the page of ctprof serve should show, from the ticks alone: sums over objects and strings, the
// slow way, with rules written down a second time (doc/serve.md, src/profile/idle.h, src/profile/reason.h).

const WORDS = { exec: "ran", exec_user: "ran", exec_system: "ran", runnable: "CPU wait", paging: "paging", sleep: "unknown",
	sleep_disk: "storage", sleep_network: "network", sleep_pipe: "pipe", sleep_timer: "timer", sleep_child: "child", sleep_other: "other",
	lock: "lock", lock_futex: "lock", lock_kernel: "lock", idle: "work", idle_poll: "poll", idle_cond: "cond", idle_accept: "accept",
	idle_worker: "work", stopped: "stopped" };
const PERHAPS_IDLE = ["work", "accept", "poll", "cond", "timer"], ALWAYS_IDLE = ["work", "accept"];

// All that happened in `ticks`, in the order of a stream: [{ seq, thread, stack: [names], asks, word, ns, onCpu }].
export function happenings(about, ticks) {
	const names = [], frames = [], nodes = [], threads = [], found = [], lasting = new Map();
	for (const tick of ticks) {
		names.push(...tick.names.add);
		tick.frames.name.forEach((name, i) => frames.push({ name: names[name] || "[unknown]", asks: (tick.frames.traits[i] & 2) > 0 }));
		tick.nodes.parent.forEach((parent, i) => nodes.push([...(parent === null ? [] : nodes[parent]), frames[tick.nodes.frame[i]]]));
		tick.threads.tid.forEach((tid, i) => threads.push({ tid, name: names[tick.threads.name[i]], process: names[tick.threads.process[i]] }));
		const put = (thread, node, cls, state, ns) => found.push({ seq: tick.seq, thread: threads[thread], stack: node === null ? ["[no stack]"] : nodes[node].map(frame => frame.name), asks: node !== null && nodes[node].some(frame => frame.asks),
			word: WORDS[about.states.name[state]], ns, onCpu: about.classes.name[cls] === "on-cpu" });
		const s = tick.samples, l = tick.lasting;
		s.thread.forEach((thread, i) => put(thread, s.node[i], s.class[i], s.state[i], s.ns[i]));
		for (const thread of l.end)
			lasting.delete(thread);
		l.begin.thread.forEach((thread, i) => lasting.set(thread, [l.begin.node[i], l.begin.class[i], l.begin.state[i]]));
		for (const [thread, wait] of lasting)
			put(thread, ...wait, tick.ns);
		tick.cpu.thread.forEach((thread, i) => found.push({ seq: tick.seq, thread: threads[thread], exact: tick.cpu.ns[i] }));
	}
	return found;
}

// Of the ticks with these numbers: times of threads by word, which are idle, and folded stacks.
export function truth(about, ticks, first, last) {
	const all = happenings(about, ticks).filter(h => h.seq >= first && h.seq <= last), times = new Map(), idle = new Map(), folded = new Map(), answers = new Map();
	const add = (map, key, value) => map.set(key, (map.get(key) || 0) + value);
	for (const h of all) {
		if (!times.has(h.thread))
			times.set(h.thread, new Map());
		if (h.exact !== undefined)
			add(times.get(h.thread), "ran", h.exact);
		else if (!h.onCpu)
			add(times.get(h.thread), h.word, h.ns);
		if (h.asks && PERHAPS_IDLE.includes(h.word))
			add(answers, h.thread, h.ns);
	}
	for (const [thread, of] of times) {
		let whole = 0, waits = -(answers.get(thread) || 0);
		for (const [word, ns] of of) {
			whole += ns;
			waits += PERHAPS_IDLE.includes(word) ? ns : 0;
		}
		idle.set(thread, waits > 0 && whole - waits <= whole / 100);
	}
	const isIdle = (thread, word) => ALWAYS_IDLE.includes(word) || (PERHAPS_IDLE.includes(word) && idle.get(thread));
	for (const h of all)
		if (h.exact === undefined && !isIdle(h.thread, h.word))
			add(folded, [h.thread.process, ...h.stack].join(";"), h.ns);
	const words = new Map();
	let idleSum = 0;
	for (const [thread, of] of times)
		for (const [word, ns] of of)
			if (isIdle(thread, word))
				idleSum += ns;
			else
				add(words, word, ns);
	const shown = ticks.filter(tick => tick.seq >= first && tick.seq <= last), sum = of => shown.reduce((a, tick) => a + of(tick), 0);
	return { times, words, idle: idleSum, folded, ns: sum(tick => tick.ns), cpu: sum(tick => tick.host.cpu_ns), missed: sum(tick => tick.losses.missed) };
}

export function foldedText(folded) {
	return [...folded].map(([stack, ns]) => stack + " " + ns).sort().join("\n") + "\n";
}
