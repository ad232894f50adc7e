/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arithmetic of the page, against a tree whose values are known:
 *
 *	all
 *	  a (1)
 *	    main        on-cpu 10
 *	      read      io-wait 30, on-cpu 5
 *	        main    on-cpu 1 (calls itself)
 *	  b (2)
 *	    main        io-wait 54
 */
"use strict";
const assert = require("assert");
const flameWords = globalThis.flameWords = require("../../assets/flame_words.js");
const flameModel = require("../../assets/flame_model.js");

const classes = ["on-cpu", "runnable", "io-wait"].map((name, c) =>
	({ name, prose: "", isOffCpu: c > 0, occurs: c !== 1, colour: [c, 50, 50] }));
const strings = ["all", "a (1)", "main", "read", "b (2)", "/bin/a"];

/* depth, name, module, kind, inlined, count, self before, then class and time... */
function data(changes) {
	return Object.assign({ title: "t", isDiff: false, isEvents: false, groupBy: "process", classes, strings,
		nodes: [[0, 0, -1, 2, 0, 20, 0], [1, 1, -1, 2, 0, 12, 0], [2, 2, 5, 0, 0, 12, 7, 0, 10],
			[3, 3, 5, 0, 0, 6, 0, 0, 5, 2, 30], [4, 2, 5, 0, 0, 1, 0, 0, 1], [1, 4, -1, 2, 0, 8, 0],
			[2, 2, 5, 0, 0, 8, 0, 2, 54]] }, changes);
}

const every = new Set([0, 1, 2]);

function nodesKnowTheirCallers() {
	const m = flameModel(data());
	assert.deepStrictEqual([...m.parent], [-1, 0, 1, 2, 3, 0, 5]);
	assert.deepStrictEqual([...m.end], [7, 5, 5, 5, 5, 7, 7]);
	assert.deepStrictEqual(m.groups, [1, 5]);
	assert.deepStrictEqual(flameModel(data({ groupBy: "none" })).groups, []);
	assert.deepStrictEqual(flameModel(data({ groupBy: "thread" })).groups, [1, 2, 5, 6]);
}

function totalsAreThoseOfWhatIsWanted() {
	const m = flameModel(data());
	assert.deepStrictEqual([...m.view({ classes: every, group: -1 }).total], [100, 46, 46, 36, 1, 54, 54]);
	assert.deepStrictEqual([...m.view({ classes: new Set([0]), group: -1 }).total], [16, 16, 16, 6, 1, 0, 0]);
	assert.deepStrictEqual([...m.view({ classes: every, group: 5 }).total], [54, 0, 0, 0, 0, 54, 54]);
	assert.deepStrictEqual([...m.view({ classes: every, group: -1 }).byClass[2]], [84, 30, 30, 30, 0, 54, 54]);
	assert.deepStrictEqual([...m.view({ classes: every, group: -1 }).times], [20, 12, 12, 6, 1, 8, 8]);
}

function framesStandWithinTheirCallers() {
	const m = flameModel(data()), v = m.view({ classes: every, group: -1 });
	const { placed, leftOut } = m.place(v, 0, 0.02);
	assert.deepStrictEqual(placed.map(f => [f.node, f.left, f.width]),
		[[0, 0, 1], [1, 0, 0.46], [2, 0, 0.46], [3, 0, 0.36], [5, 0.46, 0.54], [6, 0.46, 0.54]]);
	assert.strictEqual(leftOut, 1);
	/* Zoomed: what calls it is as wide as the window. */
	const zoomed = m.place(v, 3, 0.001).placed;
	assert.deepStrictEqual(zoomed.map(f => [f.node, f.left, f.width]),
		[[0, 0, 1], [1, 0, 1], [2, 0, 1], [3, 0, 1], [4, 0, 1 / 36]]);
	assert.deepStrictEqual(m.place(m.view({ classes: new Set([1]), group: -1 }), 0, 0.1).placed, []);
}

function recursionIsCountedOnce() {
	const m = flameModel(data()), rows = m.functions(m.view({ classes: every, group: -1 }));
	const main = rows.find(row => row.name === "main"), read = rows.find(row => row.name === "read");
	assert.strictEqual(rows.length, 2);
	assert.deepStrictEqual([main.self, main.total], [65, 100]);
	assert.deepStrictEqual([read.self, read.total], [35, 36]);
}

function matchesWithinMatchesAreCountedOnce() {
	const m = flameModel(data()), v = m.view({ classes: every, group: -1 });
	const all = m.search(v, /main/), read = m.search(v, /^read$/);
	assert.deepStrictEqual([...all.matches], [0, 0, 1, 0, 1, 0, 1]);
	assert.strictEqual(all.frames, 3);
	assert.strictEqual(all.share, 1);
	assert.strictEqual(read.share, 0.36);
	assert.strictEqual(m.search(v, /nothing/).share, 0);
}

function differencesHaveBothSides() {
	const m = flameModel(data({ isDiff: true })), v = m.view({ classes: every, group: -1 });
	assert.deepStrictEqual([...v.before], [7, 7, 7, 0, 0, 0, 0]);
	assert.strictEqual(v.weight[0], 107);
	assert.strictEqual(flameWords.change(0, 5), 1);
	assert.strictEqual(flameWords.change(5, 0), -1);
	assert.strictEqual(flameWords.change(10, 5), -0.5);
	assert.strictEqual(flameWords.change(0, 0), 0);
	assert.deepStrictEqual(m.details(v, 2), ["main", "in /bin/a", "7ns before, 46ns after: +39ns",
		"itself 7ns before, 10ns after: +3ns"]);
}

/* Nodes 2 and 5 are known to differ; 3 is not, but has most of the difference of its function. */
function differencesThatMayBeChanceAreGrey() {
	const changes = { rate: 0.05, unknown: "#c2c5ca", isApproximate: false,
		nodes: [[0, 0.2, 0.9, 1.1, false], [2, 1e-5, 1.029, 1.053, true], [3, 0.2, 0.99, null, true],
			[5, 0.01, 0.5, 0.9, true]],
		functions: [[2, 1e-5, 1.029, 1.053]] };
	const m = flameModel(data({ isDiff: true, changes }));
	const unknown = group => {
		const v = m.view({ classes: every, group });
		return [0, 1, 2, 3, 4, 5, 6].filter(i => m.isUnknown(v, i));
	};
	assert.deepStrictEqual(unknown(-1), [0, 1, 4, 6]);
	/* The root has the time of the group. */
	assert.deepStrictEqual(unknown(5), [1, 4, 6]);
	const v = m.view({ classes: every, group: -1 });
	assert.strictEqual(m.details(v, 2)[3], "known to differ: +2.9% .. +5.3%, q 1e-5");
	assert.strictEqual(m.details(v, 3)[3], "part of a function that is known to differ: -1.0% .. ..., q 0.200");
	assert.strictEqual(m.details(v, 0)[2], "not known to differ: -10.0% .. +10.0%, q 0.200");
	assert.strictEqual(m.details(v, 6)[3], "too little to tell whether it differs");
	assert.deepStrictEqual(m.functionChanges.get("main"), [1e-5, 1.029, 1.053]);
	const plain = flameModel(data({ isDiff: true }));
	assert.strictEqual(plain.isUnknown(plain.view({ classes: every, group: -1 }), 0), false);
}

function timesReadAsElsewhere() {
	const m = flameModel(data()), e = flameModel(data({ isEvents: true }));
	assert.deepStrictEqual([999, 1500, 1234567, 12345678901].map(m.format),
		["999ns", "1.500µs", "1.235ms", "12.346s"]);
	assert.strictEqual(m.formatDelta(-1500), "-1.500µs");
	assert.strictEqual(e.format(12345), "12345");
	assert.deepStrictEqual(m.details(m.view({ classes: every, group: -1 }), 3), ["read", "in /bin/a",
		"36ns, 36.00% of what is shown", "itself 35ns, 35.00%", "6 times or samples",
		"on-cpu: 6ns, 16.7%", "io-wait: 30ns, 83.3%"]);
	assert.deepStrictEqual(m.details(m.view({ classes: new Set([2]), group: -1 }), 3), ["read", "in /bin/a",
		"30ns, 35.71% of what is shown", "io-wait: 30ns, 100.0%"]);
}

/* A stack of a hundred thousand frames is no recursion of ours. */
function depthHasNoBound() {
	const nodes = [[0, 0, -1, 2, 0, 1, 0]];
	for (let i = 1; i < 100000; i++)
		nodes.push([i, 2, 5, 0, 0, 1, 0]);
	nodes[nodes.length - 1].push(0, 9);
	const m = flameModel(data({ nodes, groupBy: "none" })), v = m.view({ classes: every, group: -1 });
	assert.strictEqual(v.total[0], 9);
	assert.strictEqual(m.place(v, 0, 0.001).placed.length, 100000);
	assert.strictEqual(m.functions(v).length, 1);
}

for (const test of [nodesKnowTheirCallers, totalsAreThoseOfWhatIsWanted, framesStandWithinTheirCallers,
	recursionIsCountedOnce, matchesWithinMatchesAreCountedOnce, differencesHaveBothSides,
	differencesThatMayBeChanceAreGrey, timesReadAsElsewhere, depthHasNoBound])
	test();
