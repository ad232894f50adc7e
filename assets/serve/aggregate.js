/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads did in a window: the times of each thread by band, and a tree of their stacks. A
 * window that moves on by a tick costs what the ticks that come and go cost.
 *
 *	const view = new View(store.functions);
 *	view.show(recording, ticks, wanted);
 *	view.times.of(thread, band), view.alone[thread], view.tree
 *
 * `wanted`: { mode: "wall", "on" or "off", hidden: set of bands, idle: whether idle waits are in it,
 * group: a key of `groups`, leaf: whether the tree begins with what was called last, filter: words,
 * presets, without: names of what the tree leaves out (hiding.js) }
 */
import { frameHider, hidingOf } from "./hiding.js";
import { BANDS, RAN, bands, isAlone, isIdle, weightOf } from "./states.js";
import { FLAG_ASKS, FLAG_IDLE } from "./stream.js";
import { PairMap, Tree } from "./tree.js";

const threadName = (r, t) => r.threads.name[t] + " (" + r.threads.tid[t] + ")";
const processName = (r, t) => r.threads.process[t] + " (" + r.threads.tgid[t] + ")";

/* name: [label, names of the levels that a thread stands below]. By state, the band is the level. */
export const groups = {
	none: ["none", () => []],
	program: ["program", (r, t) => [r.threads.process[t]]],
	process: ["process", (r, t) => [processName(r, t)]],
	thread: ["thread", (r, t) => [processName(r, t), threadName(r, t)]],
	cgroup: ["cgroup", (r, t) => [r.threads.cgroup[t] || "/"]],
	container: ["container", (r, t) => [r.threads.container[t] || "no container"]],
	state: ["state", null],
};

/*
 * Words that a thread must have in its name, process, cgroup or numbers, as in the filters of tables
 * (assets/table.js); "tid:5" and "pid:5" are exact.
 */
export function threadFilter(text) {
	const exact = [], words = text.split(/\s+/).filter(word => {
		const match = /^(!?)(tid|pid):(\d+)$/.exec(word);
		if (match)
			exact.push({ not: match[1] === "!", column: match[2] === "tid" ? "tid" : "tgid", number: +match[3] });
		return !match;
	});
	const matches = dataTable.matcher(words.join(" "));
	return ({ threads }, t) => exact.every(({ not, column, number }) => (threads[column][t] === number) !== not)
		&& matches([threads.name[t], threads.process[t], threads.cgroup[t], threads.tid[t], threads.tgid[t]].join(" "));
}

/* Something that is added up over ticks. */
class Span {
	constructor() {
		this.recording = null;
		this.ticks = [];
		this.key = "";
	}

	/* Add the ticks that have come, and take out those that have gone; begin anew where that is less work. */
	move(recording, ticks, key) {
		const old = this.ticks, whole = recording.epoch + "\n" + key;
		const isSame = recording === this.recording && whole === this.key && old.length && ticks.length
			&& !this.isWasteful();
		const first = isSame ? ticks[0].seq : 0, end = isSame ? ticks[ticks.length - 1].seq + 1 : 0;
		const was = isSame ? old[0].seq : 0, wasEnd = isSame ? old[old.length - 1].seq + 1 : 0;
		const gone = first - was + Math.max(0, wasEnd - end);
		if (isSame && first >= was && first <= wasEnd && end >= wasEnd && gone < ticks.length) {
			this.take(recording, old.slice(0, first - was), -1);
			this.take(recording, ticks.slice(wasEnd - first), 1);
		} else {
			this.clear(recording);
			this.take(recording, ticks, 1);
		}
		const changed = !isSame || first !== was || end !== wasEnd;
		Object.assign(this, { recording, ticks, key: whole });
		return changed;
	}

	isWasteful() {
		return false;
	}
}

/*
 * The time of each thread in each band; on CPUs as the kernel counted it. `asked`: the time of waits for
 * the answer of another program, in bands that otherwise count as idle.
 */
export class Times extends Span {
	clear() {
		this.sums = new Float64Array(256 * BANDS);
		this.waits = new Float64Array(256);
		this.asked = new Float64Array(256);
	}

	take(recording, ticks, sign) {
		const threads = recording.threads.tid.length;
		if (threads * BANDS > this.sums.length) {
			const { sums, waits, asked } = this;
			this.sums = new Float64Array(2 * threads * BANDS);
			this.sums.set(sums);
			this.waits = new Float64Array(2 * threads);
			this.waits.set(waits);
			this.asked = new Float64Array(2 * threads);
			this.asked.set(asked);
		}
		const { sums, waits, asked } = this, flags = recording.nodes.flags.items;
		recording.each(ticks, (thread, node, band, ns, count, isOnCpu) => {
			if (isOnCpu)
				return;
			sums[thread * BANDS + band] += sign * ns;
			waits[thread] += sign * count;
			if (node >= 0 && flags[node] & FLAG_ASKS && bands[band].idle)
				asked[thread] += sign * ns;
		});
		for (const tick of ticks)
			for (let i = 0; i < tick.cpuThread.length; i++)
				sums[tick.cpuThread[i] * BANDS + RAN] += sign * tick.cpuTime[i];
	}

	of(thread, band) {
		return this.sums[thread * BANDS + band];
	}

	/* Which threads are idle nearly all the time. */
	alone() {
		const threads = this.recording.threads.tid.length, alone = new Uint8Array(threads);
		for (let t = 0; t < threads; t++)
			alone[t] = isAlone(this.sums, t * BANDS, this.asked[t]) ? 1 : 0;
		return alone;
	}
}

/*
 * Which node of the tree a node of the dictionary is in, below a group. Most stacks occur in one group
 * only, which has its place in a column.
 */
class NodeMap {
	constructor() {
		this.group = new Int32Array(4096).fill(-1);
		this.place = new Int32Array(4096);
		this.others = new PairMap();
	}
	get(group, node) {
		return this.group[node + 1] === group ? this.place[node + 1] : this.others.count ? this.others.get(group, node) : -1;
	}
	set(group, node, place) {
		if (node + 1 >= this.group.length)
			this.grow(2 * (node + 2));
		if (this.group[node + 1] >= 0) {
			this.others.set(group, node, place);
			return;
		}
		this.group[node + 1] = group;
		this.place[node + 1] = place;
	}
	grow(room) {
		const { group, place } = this;
		this.group = new Int32Array(room).fill(-1);
		this.group.set(group);
		this.place = new Int32Array(room);
		this.place.set(place);
	}
}

/* The number of callers whose sums change with a sample, roughly. */
const SUMMED_EACH = 16;

/* The tree of stacks. `wanted.threads`, where it is given, are the only ones. */
export class Flame extends Span {
	constructor(functions) {
		super();
		this.functions = functions;
		this.fresh = 0;
	}

	want(wanted, alone) {
		this.wanted = wanted;
		this.alone = alone;
	}

	move(recording, ticks, key) {
		const isSame = recording === this.recording && recording.epoch + "\n" + key === this.key && !this.wanted.idle;
		const adjusted = isSame && this.adjust(recording);
		this.applied = this.alone;
		return super.move(recording, ticks, key) || adjusted;
	}

	/* Take out, or add, the waits of threads that are idle now and were not, or the other way round. */
	adjust(recording) {
		const { alone, applied } = this, signs = new Int8Array(alone.length);
		let changed = 0;
		for (let t = 0; t < alone.length; t++) {
			signs[t] = (applied[t] || 0) - alone[t];
			changed += Math.abs(signs[t]);
		}
		if (changed)
			this.put(recording, this.ticks, (thread, band) => isIdle(band, true) && !isIdle(band, false) ? signs[thread] : 0);
		return changed > 0;
	}

	/* When most of the tree is of what has gone. */
	isWasteful() {
		return this.tree.count > 20000 && this.tree.count > 4 * this.fresh;
	}

	clear() {
		this.tree = new Tree(this.functions);
		this.ofGroup = new Map();
		this.ofNode = new NodeMap();
		this.passes = null;
		this.fresh = 0;
		this.hiddenNs = 0;
	}

	take(recording, ticks, sign) {
		if (SUMMED_EACH * ticks.reduce((sum, tick) => sum + tick.count, 0) > this.tree.count)
			this.tree.beginAnew();
		const { wanted, alone } = this, isOut = [0, 1].map(is => bands.map(band => !wanted.idle && isIdle(band.number, is)));
		this.put(recording, ticks, (thread, band) => isOut[alone[thread] || 0][band] ? 0 : sign);
		this.fresh = this.fresh || this.tree.count;
	}

	/* Add what is wanted, by signOf(thread, band). */
	put(recording, ticks, signOf) {
		const { wanted, tree } = this, flags = recording.nodes.flags.items, hiding = hidingOf(recording, wanted.presets);
		this.isOut = frameHider(this.functions, wanted.without);
		const isOff = bands.map(band => wanted.hidden.has(band.number)
			|| (wanted.mode === "on" && band.number !== RAN) || (wanted.mode === "off" && band.number === RAN));
		const passes = this.threadsThatPass(recording);
		recording.each(ticks, (thread, node, band, ns, count) => {
			if (isOff[band] || !passes[thread] || (!wanted.idle && node >= 0 && flags[node] & FLAG_IDLE))
				return;
			const sign = signOf(thread, band);
			if (sign && hiding && hiding.has(thread, node))
				this.hiddenNs += sign * ns;
			else if (sign)
				tree.add(this.nodeOf(recording, thread, node, band), band, sign * ns, sign * count);
		});
	}

	threadsThatPass(recording) {
		const threads = recording.threads.tid.length, passes = new Uint8Array(threads).fill(this.wanted.threads ? 0 : 1);
		for (const t of this.wanted.threads || [])
			passes[t] = 1;
		if (this.wanted.filter.trim()) {
			const filter = threadFilter(this.wanted.filter);
			for (let t = 0; t < threads; t++)
				passes[t] = filter(recording, t) ? 1 : 0;
		}
		return passes;
	}

	/* Groups are kept as the node that they begin at. */
	groupNode(recording, thread, band) {
		const by = groups[this.wanted.group][1], key = by ? thread : -1 - band;
		let node = this.ofGroup.get(key);
		if (node === undefined) {
			node = 0;
			for (const level of by ? by(recording, thread) : [bands[band].name])
				node = this.tree.child(node, this.functions.note(level));
			this.ofGroup.set(key, node);
		}
		return node;
	}

	nodeOf(recording, thread, node, band) {
		const group = this.groupNode(recording, thread, band);
		const known = this.ofNode.get(group, node);
		if (known >= 0)
			return known;
		const parent = recording.nodes.parent.items, fn = recording.nodes.fn.items, { isOut } = this;
		let at = group;
		if (node < 0) {
			at = this.tree.child(group, this.functions.note("[no stack]"));
		} else if (this.wanted.leaf) {
			for (let n = node; n >= 0; n = parent[n])
				if (!isOut || !isOut(fn[n]))
					at = this.tree.child(at, fn[n]);
		} else {
			const chain = [];
			let n = node;
			for (; n >= 0; n = parent[n]) {
				const above = chain.length ? this.ofNode.get(group, n) : -1;
				if (above >= 0) {
					at = above;
					break;
				}
				chain.push(n);
			}
			while (chain.length) {
				n = chain.pop();
				if (!isOut || !isOut(fn[n]))
					at = this.tree.child(at, fn[n]);
				if (chain.length)
					this.ofNode.set(group, n, at);
			}
		}
		this.ofNode.set(group, node, at);
		return at;
	}
}

export class View {
	constructor(functions) {
		this.times = new Times();
		this.flame = new Flame(functions);
		this.alone = new Uint8Array(0);
		this.ns = 0;
	}

	/* Returns whether anything has changed. */
	show(recording, ticks, wanted) {
		const moved = this.times.move(recording, ticks, "");
		if (moved)
			this.alone = this.times.alone();
		const key = [wanted.mode, [...wanted.hidden], wanted.idle, wanted.group, wanted.leaf, wanted.filter,
			wanted.presets, wanted.without].join("\n");
		this.flame.want(wanted, this.alone);
		const changed = this.flame.move(recording, ticks, key);
		this.ns = ticks.reduce((sum, tick) => sum + tick.ns, 0);
		if (changed)
			this.tree.sum();
		return changed || moved;
	}

	get tree() {
		return this.flame.tree;
	}

	/* The same with callers first, whatever is wanted. */
	get callersFirst() {
		const { recording, ticks, key, wanted } = this.flame;
		if (!wanted.leaf)
			return this.tree;
		this.second ??= new Flame(this.flame.functions);
		this.second.want({ ...wanted, leaf: false }, this.alone);
		if (this.second.move(recording, ticks, key))
			this.second.tree.sum();
		return this.second.tree;
	}

	/* Which threads pass the filter. */
	get passes() {
		return this.flame.threadsThatPass(this.times.recording);
	}

	/* The thread with this ID that has time in this window, whether or not it passes the filter; -1: none. */
	threadOf(tid) {
		const { times } = this, { tid: tids } = times.recording.threads;
		return tids.findLastIndex((number, t) => number === tid && bands.some((_, b) => times.of(t, b) > 0));
	}

	/* Times of all threads that pass the filter, by band: those that are not idle, how much these matter, and idle ones. */
	totals() {
		const { times, alone, passes } = this;
		const byBand = new Float64Array(BANDS), weights = new Float64Array(BANDS), idle = new Float64Array(BANDS);
		for (let t = 0; t < passes.length; t++)
			for (let b = 0; b < BANDS && passes[t]; b++) {
				const ns = times.of(t, b), isOut = isIdle(b, alone[t]);
				(isOut ? idle : byBand)[b] += ns;
				if (!isOut)
					weights[b] += ns * weightOf(b, ns / this.ns);
			}
		return { byBand, weights, idle };
	}
}
