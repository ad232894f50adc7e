/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions: a row for each, and the callers and callees of one of them as two trees.
 */
import { BANDS } from "./states.js";
import { KIND_NOTE } from "./stream.js";
import { Tree } from "./tree.js";

/* [{ fn, self, total, before }]: of a function that calls itself the outermost counts. The tree is root-first. */
export function functionRows(tree) {
	const { fn } = tree, kinds = tree.functions.kinds.items, size = tree.functions.names.length;
	const self = new Float64Array(size), total = new Float64Array(size), before = new Float64Array(size);
	const open = new Int32Array(size), stack = [0], found = [];
	/* Depth first; a number below 0 says that the node's callees are done. */
	while (stack.length) {
		const node = stack.pop();
		if (node < 0) {
			open[fn[-1 - node]]--;
			continue;
		}
		const f = fn[node];
		if (!open[f]) {
			total[f] += tree.total[node];
			before[f] += tree.before[node];
		}
		self[f] += tree.own[node];
		open[f]++;
		stack.push(-1 - node);
		for (let c = tree.firstChild[node]; c >= 0; c = tree.nextSibling[c])
			if (tree.weight[c] > 0)
				stack.push(c);
	}
	for (let f = 0; f < size; f++)
		if ((total[f] > 0 || before[f] > 0) && kinds[f] !== KIND_NOTE)
			found.push({ fn: f, self: self[f], total: total[f], before: before[f] });
	return found;
}

/* { callers, callees }: trees that begin with the function, in nodes with number 1. */
export function sandwich(tree, fn) {
	const callers = new Tree(tree.functions), callees = new Tree(tree.functions);
	const inside = new Int32Array(tree.count), first = callees.child(0, fn);
	for (let i = 1; i < tree.count; i++) {
		const above = inside[tree.parent[i]];
		if (above)
			inside[i] = callees.child(above, tree.fn[i]);
		else if (tree.fn[i] === fn) {
			inside[i] = first;
			addCallers(tree, i, callers);
		}
		for (let b = 0; b < BANDS && inside[i]; b++)
			if (tree.self[b] && tree.self[b][i])
				callees.add(inside[i], b, tree.self[b][i], 0);
		if (inside[i])
			callees.selfTimes[inside[i]] += tree.selfTimes[i];
	}
	callers.sum();
	callees.sum();
	return { callers, callees };
}

function addCallers(tree, node, callers) {
	let at = callers.child(0, tree.fn[node]);
	for (let p = tree.parent[node]; p > 0; p = tree.parent[p])
		at = callers.child(at, tree.fn[p]);
	for (let b = 0; b < BANDS; b++)
		if (tree.bands[b] && tree.bands[b][node])
			callers.add(at, b, tree.bands[b][node], 0);
	callers.selfTimes[at] += tree.times[node];
}
