/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of tables: which rows a filter has, and which of two cells comes first.
 */
"use strict";
const assert = require("assert");
const { matcher, compare, valueOf } = require("../../assets/table.js");

const rows = [["nginx: worker", "run_time_ns"], ["Xorg", "wait_time_ns"], ["nginx: master", "majflt"]];
const found = filter => rows.filter(row => matcher(filter)(row.join(" "))).map(row => row[1]);

function filters() {
	assert.deepStrictEqual(found(""), ["run_time_ns", "wait_time_ns", "majflt"]);
	assert.deepStrictEqual(found("  NGINX".toLowerCase()), ["run_time_ns", "majflt"]);
	assert.deepStrictEqual(found("nginx time"), ["run_time_ns"]);
	assert.deepStrictEqual(found("!nginx"), ["wait_time_ns"]);
	assert.deepStrictEqual(found("nginx !worker"), ["majflt"]);
	assert.deepStrictEqual(found("worker|xorg"), ["run_time_ns", "wait_time_ns"]);
	assert.deepStrictEqual(found("!worker|xorg"), ["majflt"]);
	assert.deepStrictEqual(found("Nginx"), []);
	assert.deepStrictEqual(found("Xorg"), ["wait_time_ns"]);
	assert.deepStrictEqual(found("! |"), ["run_time_ns", "wait_time_ns", "majflt"]);
	assert.deepStrictEqual(found("(a+)+$ [ \\"), []);
}

function orders() {
	const sorted = (values, descending) => values.slice().sort((a, b) => compare(a, b, descending));
	assert.deepStrictEqual(sorted([10, 9, -1]), [-1, 9, 10]);
	assert.deepStrictEqual(sorted([10, "-", 9, -1], true), [10, 9, -1, "-"]);
	assert.deepStrictEqual(sorted([10, "-", 9, -1, "b", "a", null]), [-1, 9, 10, "a", "b", "-", null]);
}

function values() {
	const cell = (text, v) => ({ textContent: text, dataset: v === undefined ? {} : { v } });
	assert.strictEqual(valueOf(cell("1.235ms", "1234567")), 1234567);
	assert.strictEqual(valueOf(cell("+12.5%", "12.5")), 12.5);
	assert.strictEqual(valueOf(cell("SCHED_OTHER")), "SCHED_OTHER");
	assert.strictEqual(valueOf(cell("-", "")), "-");
}

for (const test of [filters, orders, values])
	test();
