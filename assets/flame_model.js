/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a flame graph shows, without showing it: no function here knows of a document.
 *
 *	const model = flameModel(data);
 *	const view = model.view({ classes: new Set([0]), group: -1 });
 *	model.place(view, 0, 0.001)	frames, with their places as shares of the width
 *	model.functions(view)		a row for each function
 *	model.search(view, /read/)	which frames match, and the share they lie in
 *
 * It writes times as flameWords does. Nodes are numbered callers first: what a node calls is the run from it to its `end`.
 */
function flameModel(data) {
	"use strict";
	const KIND_NOTE = 2; /* and 3: idle waits */
	const count = data.nodes.length;
	const depth = new Uint32Array(count), end = new Uint32Array(count), parent = new Int32Array(count);
	/* Threads stand below their processes; other groups have one level. */
	const groups = [], levels = { none: 0, thread: 2 }[data.groupBy] ?? 1;

	function link() {
		const path = [];
		for (let i = 0; i < count; i++) {
			depth[i] = data.nodes[i][0];
			while (path.length > depth[i])
				end[path.pop()] = i;
			parent[i] = path.length ? path[path.length - 1] : -1;
			path.push(i);
			if (depth[i] && depth[i] <= levels)
				groups.push(i);
		}
		while (path.length)
			end[path.pop()] = count;
	}

	const name = i => data.strings[data.nodes[i][1]];
	const module = i => data.nodes[i][2] < 0 ? "" : data.strings[data.nodes[i][2]];
	const kind = i => data.nodes[i][3];
	const isInlined = i => data.nodes[i][4] === 1;

	/* The values of what is wanted: `group` is a node, or -1 for all of them. */
	function view(wanted) {
		const classes = data.classes.length;
		const v = { wanted, self: new Float64Array(count), total: new Float64Array(count),
			before: new Float64Array(count), selfBefore: new Float64Array(count),
			times: new Float64Array(count), weight: null,
			byClass: data.classes.map(() => null),
			/* Counts are of all classes together, so they are said of all of them only. */
			isWhole: data.classes.every((row, c) => !row.occurs || wanted.classes.has(c)) };
		for (let c = 0; c < classes; c++)
			if (wanted.classes.has(c))
				v.byClass[c] = new Float64Array(count);
		const first = wanted.group < 0 ? 0 : wanted.group;
		const last = wanted.group < 0 ? count : end[wanted.group];
		for (let i = first; i < last; i++) {
			const node = data.nodes[i];
			for (let k = 7; k < node.length; k += 2) {
				if (!v.byClass[node[k]])
					continue;
				v.byClass[node[k]][i] = node[k + 1];
				v.self[i] += node[k + 1];
			}
			v.selfBefore[i] = node[6];
			if (depth[i] && v.self[i])
				v.times[i] = ownCount(i);
		}
		for (let i = count; i-- > 0;) {
			v.total[i] += v.self[i];
			v.before[i] += v.selfBefore[i];
			if (parent[i] < 0)
				continue;
			v.total[parent[i]] += v.total[i];
			v.before[parent[i]] += v.before[i];
			v.times[parent[i]] += v.times[i];
			for (const values of v.byClass)
				if (values)
					values[parent[i]] += values[i];
		}
		/* As wide as before and after together, so that what is gone is seen too. */
		v.weight = data.isDiff ? v.total.map((value, i) => value + v.before[i]) : v.total;
		return v;
	}

	/* Counts in the data are with all that a node calls. */
	function ownCount(i) {
		let own = data.nodes[i][5];
		for (let c = i + 1; c < end[i]; c = end[c])
			own -= data.nodes[c][5];
		return Math.max(0, own);
	}

	/* Frames of at least `least` of the width when `top` has all of it, and all of its callers. */
	function place(v, top, least) {
		const placed = [], left = new Float64Array(count), whole = v.weight[top];
		let leftOut = 0;
		for (let i = parent[top]; i >= 0; i = parent[i])
			placed.unshift({ node: i, left: 0, width: 1 });
		if (!(whole > 0))
			return { placed, leftOut };
		for (let i = top; i < end[top]; i++) {
			const width = v.weight[i] / whole;
			if (width > 0 && width < least)
				leftOut++;
			if (width >= least)
				placed.push({ node: i, left: left[i], width });
			for (let c = i + 1, at = left[i]; c < end[i]; c = end[c]) {
				left[c] = at;
				at += v.weight[c] / whole;
			}
		}
		return { placed, leftOut };
	}

	/* Of a function that calls itself the outermost is counted. */
	function functions(v) {
		const rows = new Map(), path = [], open = new Map();
		for (let i = 0; i < count; i++) {
			while (path.length && end[path[path.length - 1]] <= i) {
				const key = keyOf(path.pop());
				open.set(key, open.get(key) - 1);
			}
			const key = keyOf(i);
			const outer = !open.get(key);
			path.push(i);
			open.set(key, (open.get(key) || 0) + 1);
			if (kind(i) >= KIND_NOTE || !(v.weight[i] > 0))
				continue;
			if (!rows.has(key))
				rows.set(key, { key, name: name(i), module: module(i), node: i,
					self: 0, total: 0, selfBefore: 0, before: 0 });
			const row = rows.get(key);
			row.self += v.self[i];
			row.selfBefore += v.selfBefore[i];
			if (outer) {
				row.total += v.total[i];
				row.before += v.before[i];
			}
		}
		return [...rows.values()];
	}

	/* Of a difference that says which changes are real: [q, low, high, coloured] by node, and by name of functions. */
	const nodeChanges = new Map(), functionChanges = new Map();
	if (data.changes) {
		for (const [i, ...change] of data.changes.nodes)
			nodeChanges.set(i, change);
		for (const [string, ...change] of data.changes.functions)
			functionChanges.set(data.strings[string], change);
	}

	/* The change of a node may be chance. Values of nodes above a group that is selected are those of the group. */
	function isUnknown(v, i) {
		if (!data.changes)
			return false;
		const group = v.wanted.group, change = nodeChanges.get(group >= 0 && depth[i] < depth[group] ? group : i);
		return !change || !change[3];
	}

	/* "+2.9% .. +5.3%"; nothing bounds a null. */
	function interval([, low, high]) {
		const percent = quotient => quotient === null ? "..."
			: (quotient >= 1 ? "+" : "") + (100 * (quotient - 1)).toFixed(1) + "%";
		return percent(low) + " .. " + percent(high);
	}

	const writeQ = q => q < 0.001 ? q.toExponential(0) : q.toFixed(3);

	function certainty(change) {
		if (!change)
			return "too little to tell whether it differs";
		return (change[0] <= data.changes.rate ? "known to differ: "
			: change[3] ? "part of a function that is known to differ: " : "not known to differ: ")
			+ interval(change) + ", q " + writeQ(change[0]);
	}

	function keyOf(i) {
		return data.nodes[i][1] + "," + data.nodes[i][2] + "," + data.nodes[i][3];
	}

	/* The share that matches lie in, each part of it counted once. */
	function search(v, pattern) {
		const matches = new Uint8Array(count);
		let share = 0, frames = 0, covered = 0;
		for (let i = 0; i < count; i++) {
			if (!(v.weight[i] > 0) || !pattern.test(name(i)))
				continue;
			matches[i] = 1;
			frames++;
			if (i >= covered) {
				share += v.weight[i];
				covered = end[i];
			}
		}
		return { matches, frames, share: v.weight[0] > 0 ? share / v.weight[0] : 0 };
	}

	/* Times, or hits as they are. */
	const format = value => data.isEvents ? String(Math.round(value)) : flameWords.time(value);
	const formatDelta = value => (value >= 0 ? "+" : "") + format(value);

	/* All that is known about a node: its name first. */
	function details(v, i) {
		const note = isInlined(i) ? " [inlined]" : kind(i) === 1 ? " [kernel]" : "";
		const lines = [name(i) + note];
		if (module(i))
			lines.push("in " + module(i));
		if (data.isDiff) {
			lines.push(format(v.before[i]) + " before, " + format(v.total[i]) + " after: "
				+ formatDelta(v.total[i] - v.before[i]));
			if (data.changes && v.wanted.group < 0)
				lines.push(certainty(nodeChanges.get(i)));
			if (v.self[i] || v.selfBefore[i])
				lines.push("itself " + format(v.selfBefore[i]) + " before, " + format(v.self[i])
					+ " after: " + formatDelta(v.self[i] - v.selfBefore[i]));
			return lines;
		}
		lines.push(format(v.total[i]) + ", " + flameWords.percent(v.total[i] / v.total[0]) + " of what is shown");
		if (v.self[i] && v.self[i] !== v.total[i])
			lines.push("itself " + format(v.self[i]) + ", " + flameWords.percent(v.self[i] / v.total[0]));
		if (v.times[i] && v.isWhole && !data.isEvents)
			lines.push(v.times[i] + (v.times[i] === 1 ? " time" : " times") + " or samples");
		for (let c = 0; c < data.classes.length; c++)
			if (v.byClass[c] && v.byClass[c][i])
				lines.push(data.classes[c].name + ": " + format(v.byClass[c][i]) + ", "
					+ (100 * v.byClass[c][i] / v.total[i]).toFixed(1) + "%");
		return lines;
	}

	link();
	return { data, count, depth, end, parent, groups, name, module, kind, isInlined, view, place,
		functions, search, format, formatDelta, details, keyOf, isUnknown, interval, writeQ, functionChanges };
}

if (typeof module !== "undefined")
	module.exports = flameModel;
