/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live data of the server (/api/live): the dictionary, and the ticks of the
 * kept past as columns of numbers, without an object for a sample.
 *
 *	const store = new Store();
 *	const stream = new Stream(store, address, { changed, status });
 *
 * A *recording* is a dictionary and the ticks that refer to it. A reset of the server begins another,
 * and the old one stays whole for whoever still refers to it, such as a pinned window. Functions
 * have the same numbers in all recordings.
 */
import { bandsOfStates } from "./states.js";

export const KIND_USER = 0, KIND_KERNEL = 1, KIND_NOTE = 2, KIND_IDLE = 3;

/* Flags of frames (`traits` in serve.md) and of nodes. A node has INLINED of its own frame, and the others also of its callers. */
export const FLAG_INLINED = 1, FLAG_ASKS = 2, FLAG_IDLE = 128;

/* Samples that are kept at most, at some 40 bytes each. */
const SAMPLES_MOST = 12e6;

/* A column that grows. */
export class Column {
	constructor(type, room = 1024) {
		this.items = new type(room);
		this.count = 0;
	}
	reserve(count) {
		if (count <= this.items.length)
			return;
		const items = new this.items.constructor(Math.max(count, 2 * this.items.length));
		items.set(this.items);
		this.items = items;
	}
	push(value) {
		this.reserve(this.count + 1);
		this.items[this.count++] = value;
	}
}

/* What frames look the same: a name, a file and a kind. */
export class Functions {
	constructor() {
		this.names = [];
		this.modules = [];
		this.kinds = new Column(Uint8Array);
		this.traits = new Column(Uint8Array);
		this.numbers = new Map();
	}
	number(name, module, kind, traits = 0) {
		const key = kind + name + "\0" + module;
		let number = this.numbers.get(key);
		if (number === undefined) {
			number = this.names.length;
			this.numbers.set(key, number);
			this.names.push(name);
			this.modules.push(module);
			this.kinds.push(kind);
			this.traits.push(traits & ~FLAG_INLINED);
		}
		return number;
	}
	note(text) {
		return this.number(text, "", KIND_NOTE);
	}
	/* The function's name in URLs, with its file: several files have functions of one name, such as main. */
	word(number) {
		return this.names[number] + (this.modules[number] ? "\t" + this.modules[number] : "");
	}
	/* Is this the function of `word`? A name without a file matches all functions of this name. */
	is(number, word) {
		return this.names[number] === word || this.word(number) === word;
	}
}

/* Convert the columns of kstats to a row for each metric. */
function kstatsRows(kstats) {
	return kstats.metric.map((metric, i) => ({ metric, active: kstats.active[i] === 1, lost: kstats.lost[i] || 0, sum: kstats.sum[i],
		slots: Uint16Array.from(kstats.slots[i]), counts: Float64Array.from(kstats.counts[i]) }));
}

const NEVER = 0x7fffffff;

export class Recording {
	constructor(functions, about) {
		this.functions = functions;
		this.about = about;
		this.bandOf = bandsOfStates(about.states);
		this.names = [];
		this.frames = new Column(Int32Array);
		this.traits = new Column(Uint8Array);
		this.nodes = { parent: new Column(Int32Array), fn: new Column(Int32Array), flags: new Column(Uint8Array) };
		this.threads = { tid: [], tgid: [], uid: [], name: [], process: [], cgroup: [], container: [], kernel: [] };
		this.wakers = { tid: [], name: [] };
		this.metrics = { name: [], unit: [], recorder: [], start: [], end: [], scope: [], frac_bits: [] };
		this.ticks = [];
		this.sampleCount = 0;
		this.elapsed = 0;
		this.lasting = { thread: new Column(Int32Array), node: new Column(Int32Array), state: new Column(Uint8Array),
			begin: new Column(Int32Array), end: new Column(Int32Array), count: new Column(Uint8Array) };
		this.open = new Map();
		this.epoch = 0; /* of the numbers of lasting waits */
	}

	text(number) {
		return number === null || number === undefined ? "" : this.names[number];
	}

	/* Throws if the tick does not follow what there is. */
	add(tick) {
		const last = this.ticks[this.ticks.length - 1];
		this.follow("ticks", last ? last.seq + 1 : tick.seq, tick.seq);
		this.learn(tick);
		const s = tick.samples, count = s.thread.length, number = value => value === null ? -1 : value;
		const kept = { seq: tick.seq, begin: tick.begin_ms, end: tick.end_ms, ns: tick.ns, start: this.elapsed, count,
			thread: Int32Array.from(s.thread), node: Int32Array.from(s.node, number),
			class: Uint8Array.from(s.class), state: Uint8Array.from(s.state), time: Float64Array.from(s.ns),
			times: Uint32Array.from(s.count), longest: Float64Array.from(s.longest_ns),
			waker: Int32Array.from(s.waker, number), cpuThread: Int32Array.from(tick.cpu.thread),
			cpuTime: Float64Array.from(tick.cpu.ns), host: tick.host, losses: tick.losses, kstats: kstatsRows(tick.kstats), omitted: tick.kstats.omitted, bands: null };
		this.elapsed += tick.ns;
		this.sampleCount += count;
		this.last(tick);
		this.ticks.push(kept);
		this.prune();
	}

	follow(what, wanted, got) {
		if (wanted !== got)
			throw new Error(what + ": " + got + " follows " + wanted);
	}

	learn(tick) {
		const { names, frames, nodes, threads, wakers } = tick;
		this.follow("names", this.names.length, names.from);
		for (const name of names.add)
			this.names.push(name);
		this.follow("frames", this.frames.count, frames.from);
		frames.name.forEach((name, i) => {
			this.frames.push(this.functions.number(this.text(name) || "[unknown]", this.text(frames.module[i]), frames.kind[i], frames.traits[i]));
			this.traits.push(frames.traits[i] & (FLAG_INLINED | FLAG_ASKS) | (frames.kind[i] === KIND_IDLE ? FLAG_IDLE : 0));
		});
		this.follow("nodes", this.nodes.fn.count, nodes.from);
		nodes.frame.forEach((frame, i) => {
			const parent = nodes.parent[i], fn = this.frames.items[frame], above = parent === null ? -1 : parent;
			if (above >= this.nodes.fn.count)
				throw new Error("a node is before its caller");
			this.nodes.parent.push(above);
			this.nodes.fn.push(fn);
			this.nodes.flags.push(this.traits.items[frame] | (above >= 0 ? this.nodes.flags.items[above] & ~FLAG_INLINED : 0));
		});
		this.follow("threads", this.threads.tid.length, threads.from);
		for (const column of ["tid", "tgid", "uid", "container", "kernel"])
			this.threads[column].push(...threads[column]);
		for (const column of ["name", "process", "cgroup"])
			this.threads[column].push(...threads[column].map(name => this.text(name)));
		this.follow("wakers", this.wakers.tid.length, wakers.from);
		this.wakers.tid.push(...wakers.tid);
		this.wakers.name.push(...wakers.name.map(name => this.text(name)));
		this.follow("metrics", this.metrics.name.length, tick.metrics.from);
		for (const column of Object.keys(this.metrics))
			this.metrics[column].push(...tick.metrics[column]);
	}

	last(tick) {
		const { begin, end } = tick.lasting, l = this.lasting;
		for (const thread of end) {
			if (this.open.has(thread))
				l.end.items[this.open.get(thread)] = tick.seq;
			this.open.delete(thread);
		}
		begin.thread.forEach((thread, i) => {
			if (this.open.has(thread))
				l.end.items[this.open.get(thread)] = tick.seq;
			this.open.set(thread, l.thread.count);
			l.thread.push(thread);
			l.node.push(begin.node[i] === null ? -1 : begin.node[i]);
			l.state.push(begin.state[i]);
			l.count.push(begin.count ? begin.count[i] : 1);
			l.begin.push(tick.seq);
			l.end.push(NEVER);
		});
	}

	/* Drop what is older than the server keeps, or too much. */
	prune() {
		const first = this.ticks[0];
		while (this.ticks.length > 1 && (this.elapsed - this.ticks[0].start - this.ticks[0].ns >= this.about.kept_ns
				|| this.sampleCount > SAMPLES_MOST))
			this.sampleCount -= this.ticks.shift().count;
		const l = this.lasting;
		if (first !== this.ticks[0] && l.thread.count > 4096 && l.thread.count > 2 * this.open.size + 4096)
			this.compact(this.ticks[0].seq);
	}

	compact(oldest) {
		const l = this.lasting, columns = Object.values(l);
		let to = 0;
		this.open.clear();
		for (let i = 0; i < l.thread.count; i++) {
			if (l.end.items[i] <= oldest)
				continue;
			for (const column of columns)
				column.items[to] = column.items[i];
			if (l.end.items[to] === NEVER)
				this.open.set(l.thread.items[to], to);
			to++;
		}
		for (const column of columns)
			column.count = to;
		this.epoch++;
	}

	/*
	 * Calls visit(thread, node, band, ns, count, isOnCpu) for all that is in `ticks`, which follow each
	 * other. A wait that lasts counts in the tick it begins in.
	 */
	each(ticks, visit) {
		if (!ticks.length)
			return;
		const onCpu = this.about.classes.off_cpu.map(off => !off), first = ticks[0].seq, end = first + ticks.length;
		for (const tick of ticks)
			for (let i = 0; i < tick.count; i++)
				visit(tick.thread[i], tick.node[i], this.bandOf[tick.state[i]], tick.time[i], tick.times[i], onCpu[tick.class[i]]);
		const l = this.lasting, last = ticks[ticks.length - 1];
		for (let i = 0; i < l.thread.count; i++) {
			const from = Math.max(l.begin.items[i], first), to = Math.min(l.end.items[i], end);
			if (from >= to)
				continue;
			const until = to === end ? last.start + last.ns : ticks[to - first].start;
			visit(l.thread.items[i], l.node.items[i], this.bandOf[l.state.items[i]], until - ticks[from - first].start,
				from === l.begin.items[i] ? l.count.items[i] : 0, false);
		}
	}
}

/* The recording of now, and what is known about the server. */
export class Store {
	constructor() {
		this.functions = new Functions();
		this.about = null;
		this.recording = null;
	}
	reset() {
		this.recording = new Recording(this.functions, this.about);
	}
}

/* By status: the message for the user, and whether another attempt may succeed. */
const refusals = {
	401: ["The server refuses the token in the address of this page, or lacks one: open the address that ctprof printed.", false],
	403: ["The server does not answer under this name: open the address that ctprof printed.", false],
	429: ["Too many wrong tokens were tried: wait for a minute, then open the address that ctprof printed.", false],
	503: ["The server has as many clients as it takes.", true],
};
const GONE = "ctprof does not answer: it has ended, or cannot be reached.";

/*
 * Reads /api/live into a store. `address(path, query)` makes addresses of the server. Browsers connect
 * again by themselves, with the number of the last tick; after another answer than a stream, or a tick that
 * does not follow, the stream begins anew. `status("live", "lost" or "refused", words)` is called when
 * that changes.
 */
export class Stream {
	constructor(store, address, { changed, status }) {
		Object.assign(this, { store, address, changed, status, source: null, wait: 500 });
		this.connect();
	}

	connect() {
		this.source = new EventSource(this.address("api/live"));
		this.source.addEventListener("open", () => this.status("live"));
		this.source.addEventListener("error", () => {
			if (this.source.readyState === EventSource.CLOSED)
				this.ask();
			else
				this.status("lost", GONE + " Trying again …");
		});
		this.on("about", about => {
			this.store.about = about;
			if (!this.store.recording)
				this.store.reset();
		});
		this.on("reset", () => this.store.reset());
		this.on("tick", tick => {
			this.store.recording.add(tick);
			this.wait = 500;
		});
	}

	on(type, take) {
		this.source.addEventListener(type, event => {
			try {
				take(JSON.parse(event.data));
			} catch (wrong) {
				this.again("lost", "What the server sent cannot be read (" + wrong.message + ").");
				return;
			}
			this.status("live");
			this.changed(type);
		});
	}

	/* Request the stream by fetch, because an event source does not report the status of the answer. */
	async ask() {
		const stop = new AbortController();
		try {
			const answer = await fetch(this.address("api/live", { history: 0 }), { signal: stop.signal });
			const [words, isWorthIt] = answer.ok ? ["The stream ended.", true]
				: refusals[answer.status] || ["The server answers: " + (await answer.text()).trim().slice(0, 200), true];
			if (isWorthIt)
				this.again("lost", words, 1000 * (answer.headers.get("Retry-After") || 0));
			else
				this.status("refused", words);
		} catch {
			this.again("lost", GONE);
		}
		stop.abort();
	}

	/* Connect again after the time that the server demands, or after a delay that doubles each time. */
	again(status, words, wait = 0) {
		const after = Math.max(this.wait, wait);
		this.source.close();
		this.status(status, words + " Trying again in " + Math.ceil(after / 1000) + " s …");
		setTimeout(() => this.connect(), after);
		this.wait = Math.min(30000, 2 * this.wait);
	}
}
