/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_page.js PAGE JSON ALL PICTURES: the page of a comparison in a browser, beside what JSON says of the same two
 * files. They have processes many0 to many59, whose CPU time grew by their number in ms, and one whose name is markup.
 * ALL is a page with a flame graph, histograms and a heat map as well; beside it are flame.html, of a profile, and example.html,
 * another report. Pictures go to the folder PICTURES.
 */
"use strict";
const assert = require("assert"), fs = require("fs");
const Browser = require("./browser.js");

const [, , file, json, all, pictures] = process.argv;
const report = JSON.parse(fs.readFileSync(json));
const HOSTILE = "</script><script>document.title='run'</script>";

/* What one unit is in the smallest of its kind: of that are the exact numbers of a page. */
const scales = { us: 1e3, ms: 1e6, s: 1e9, ticks: 1e7, kib: 1024 };

/* Run in the page: rows of the tables under a heading, as objects by column: texts, and exact numbers. */
function rowsOf(heading) {
	const rows = [];
	for (const h3 of document.querySelectorAll("h3")) {
		const table = h3.nextElementSibling && h3.nextElementSibling.querySelector("table.data");
		if (h3.textContent !== heading || !table)
			continue;
		const names = [...table.tHead.rows[0].cells].map(cell => cell.textContent.replace(/ [▾▴]$/, ""));
		for (const row of table.querySelectorAll("tbody tr:not(.line)"))
			rows.push(Object.fromEntries([...row.cells].map((cell, i) => [names[i],
				{ text: cell.textContent, exact: cell.dataset.v, hidden: row.hidden }])));
	}
	return rows;
}

async function opensWithoutAWordOnTheConsole(browser) {
	const page = await browser.page();
	await page.open("file://" + file);
	assert.deepStrictEqual(page.problems, []);
	assert.deepStrictEqual(page.requests.map(decodeURI), ["file://" + file]);
	assert.strictEqual(await page.run(() => document.title), "before.json -> after.json");
	await page.picture(pictures + "/report.png");
	return page;
}

/* Rows that are folded, or further down, are not in the document; all are when it is printed. */
function everything() {
	document.getElementById("unfold").click();
	window.dispatchEvent(new Event("beforeprint"));
}

async function hasTheNumbersOfJson(page) {
	await page.run(everything);
	const shown = await page.run(rowsOf, "Primary metrics");
	let compared = 0;
	for (const row of shown) {
		const said = report.rows.find(r => r.group === row.process.text && r.metric === row.metric.text);
		/* People see the workers of the kernel as one group. */
		if (row.process.text === "kworker")
			continue;
		assert.ok(said, row.process.text + " " + row.metric.text);
		const scale = scales[said.unit.toLowerCase()] || 1;
		for (const [column, value] of [["baseline", said.baseline], ["candidate", said.candidate], ["delta", said.delta]]) {
			if (typeof value !== "number")
				continue;
			assert.strictEqual(Number(row[column].exact), value * scale, row.metric.text + " " + column);
			compared++;
		}
	}
	assert.ok(compared > 200, "compared " + compared);
}

/* The page that a policy would have stopped is not this one: nothing ran, and the name is text. */
async function showsNamesAsText(page) {
	const rows = await page.run(rowsOf, "Primary metrics");
	assert.ok(rows.some(row => row.process.text === HOSTILE));
	assert.strictEqual(await page.run(() => document.scripts.length), 2);
	assert.ok((await page.run(() => document.querySelector("pre").textContent)).startsWith("before.json -> after.json: 10.0 s apart"));
	/* And would not run. */
	await page.run(() => {
		const script = document.createElement("script");
		script.textContent = "document.title = 'run'";
		document.body.append(script);
	});
	assert.strictEqual(await page.run(() => document.title), "before.json -> after.json");
	assert.ok(page.problems.length && page.problems.every(problem => /Content Security Policy/.test(problem)));
	page.problems = [];
}

const clickHeading = name => [...document.querySelectorAll("th button")].find(b => b.textContent.startsWith(name)).click();
const visible = rows => rows.filter(row => !row.process.hidden);

async function sorts(page) {
	const times = async () => (await page.run(rowsOf, "Primary metrics")).filter(row => row.metric.text === "run_time_ns");
	await page.run(clickHeading, "delta");
	let deltas = (await times()).map(row => Number(row.delta.exact));
	assert.deepStrictEqual(deltas, deltas.slice().sort((a, b) => b - a));
	await page.run(clickHeading, "delta");
	deltas = (await times()).map(row => Number(row.delta.exact));
	assert.deepStrictEqual(deltas, deltas.slice().sort((a, b) => a - b));
	await page.run(clickHeading, "process");
	const names = (await times()).map(row => row.process.text);
	assert.deepStrictEqual(names, names.slice().sort());
	assert.strictEqual(await page.run(() => document.querySelector("th").getAttribute("aria-sort")), "ascending");
}

/* Many rows are looked at between other events. */
async function matches(page, text) {
	for (let tries = 0; await page.run(() => document.getElementById("matched").textContent) !== text; tries++) {
		assert.ok(tries < 300, "not '" + text + "'");
		await new Promise(resolve => setTimeout(resolve, 50));
	}
}

async function filtersByKeyboard(page) {
	await page.press("/");
	await page.type("many57 run_time");
	await matches(page, "1 row");
	const rows = visible(await page.run(rowsOf, "Primary metrics"));
	assert.deepStrictEqual(rows.map(row => [row.process.text, row.metric.text, row.delta.text]), [["many57", "run_time_ns", "+57.000ms"]]);
	await page.press("Escape");
	await matches(page, "");
}

async function foldsAndUnfolds(page) {
	const count = () => document.querySelectorAll("table.data tbody tr:not(.line)").length;
	const unfold = () => document.getElementById("unfold").click();
	const written = fs.readFileSync(file, "utf8").match(/^<tr>/gm).length;
	await page.run(unfold);
	const folded = await page.run(count);
	await page.run(everything);
	assert.strictEqual(await page.run(count), written);
	await page.run(unfold);
	/* At first a page of each. */
	const first = await page.run("function () { (" + unfold + ")(); return (" + count + ")(); }");
	assert.ok(folded + 30 < first && first < written, folded + ", " + first + " of " + written);
	/* More come as one scrolls. */
	for (let tries = 0; await page.run(count) < written; tries++) {
		assert.ok(tries < 300, "no further rows");
		await page.run("function () { const rows = document.querySelectorAll('tr.screen'); rows[" + tries + " % rows.length].scrollIntoView(); }");
		await new Promise(resolve => setTimeout(resolve, 50));
	}
	await page.run(unfold);
	assert.strictEqual(await page.run(count), folded);
	await page.run(() => window.scrollTo(0, 0));
}

async function isLightAndDark(page, browser) {
	const paper = () => getComputedStyle(document.body).backgroundColor;
	assert.strictEqual(await page.run(paper), "rgb(255, 255, 255)");
	await page.run(() => document.getElementById("theme").click());
	assert.strictEqual(await page.run(paper), "rgb(20, 24, 31)");
	const dark = await browser.page({ dark: true });
	await dark.open("file://" + file);
	assert.strictEqual(await dark.run(paper), "rgb(20, 24, 31)");
}

async function prints(page) {
	const pdf = await page.pdf();
	assert.strictEqual(pdf.subarray(0, 5).toString(), "%PDF-");
	assert.ok(pdf.length > 10000);
	/* Unfolded, all rows are on paper. */
	const count = () => document.querySelectorAll("table.data tbody tr:not(.line)").length;
	await page.run(() => document.getElementById("unfold").click());
	assert.ok((await page.pdf()).length > 2 * pdf.length);
	assert.strictEqual(await page.run(count), fs.readFileSync(file, "utf8").match(/^<tr>/gm).length);
	await page.run(() => document.getElementById("unfold").click());
}

/* Without scripts the overview, the bars and every row are there, and nothing that needs one. */
async function readsWithoutScripts(browser) {
	const page = await browser.page({ noScript: true });
	await page.open("file://" + file);
	const { root } = await page.send("DOM.getDocument", { depth: -1 });
	const has = async what => (await page.send("DOM.querySelectorAll", { nodeId: root.nodeId, selector: what })).nodeIds.length;
	assert.strictEqual(await has("pre"), 1 + await has("details"));
	assert.ok(await has("svg.bars rect") > 5);
	assert.ok(await has("table.data tbody tr") > 60);
	assert.strictEqual(await has("#bar[hidden]"), 1);
	assert.strictEqual(await has("tr[hidden]"), 0);
	assert.deepStrictEqual(page.problems, []);
}

/* Flame graphs are drawn in shadow trees, and have their own keys and search. */
async function hasFlameGraphsAndHistograms(browser) {
	const page = await browser.page();
	const inFlame = what => page.run("function () { const root = document.querySelector('.flame').shadowRoot; return (" + what + ")(root); }");
	await page.open("file://" + all);
	assert.deepStrictEqual(page.problems, []);
	assert.strictEqual(page.requests.length, 1);
	const colours = root => {
		const canvas = root.getElementById("graph");
		const bytes = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
		const found = new Set();
		for (let i = 0; i < bytes.length; i += 4)
			found.add(bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2]);
		return found.size;
	};
	assert.ok(await inFlame(colours) > 10);
	assert.strictEqual(await inFlame(root => getComputedStyle(root.getElementById("title")).display), "none");
	await inFlame(root => { root.getElementById("search").focus(); });
	await page.type("burn_inner");
	assert.ok(/^1 frame, /.test(await inFlame(root => root.getElementById("matched").textContent)));
	assert.strictEqual(await inFlame(root => root.querySelectorAll("#functions tr").length), 1);
	/* A slash that is typed there stays there. */
	await page.press("/");
	assert.notStrictEqual(await page.run(() => document.activeElement.id), "filter");
	await page.press("Escape");
	assert.ok(await inFlame(root => root.querySelectorAll("#functions tr").length) > 5);
	assert.ok(await page.run(() => document.querySelectorAll("svg.bars rect.outline").length) > 0);
	assert.ok(await page.run(() => document.querySelectorAll("section > svg rect title").length) > 5);
	assert.ok((await page.pdf()).length > 20000);
	assert.deepStrictEqual(page.problems, []);
}

async function showsAnExample(browser) {
	const page = await browser.page({ width: 1100, height: 900 });
	await page.open("file://" + all.replace(/[^/]*$/, "example.html"));
	await page.picture(pictures + "/report-example.png");
	assert.deepStrictEqual(page.problems, []);
}

async function drawsHeatMapsInTheDark(browser) {
	const fills = () => ["rect.paper", "rect.heat8", "text"].map(what =>
		getComputedStyle(document.querySelector("section > svg:not(.bars) " + what)).fill);
	const page = await browser.page({ dark: true });
	await page.open("file://" + all);
	assert.deepStrictEqual(await page.run(fills), ["none", "rgb(255, 231, 179)", "rgb(223, 229, 236)"]);
	await page.run(() => document.getElementById("theme").click());
	assert.deepStrictEqual((await page.run(fills)).slice(1), ["rgb(194, 10, 10)", "rgb(29, 36, 48)"]);
}

async function drawsTheFlameGraphOfAProfile(browser) {
	const page = await browser.page({ dark: true });
	const rows = () => document.querySelectorAll("#functions tr").length;
	await page.open("file://" + all.replace(/[^/]*$/, "flame.html"));
	assert.ok(await page.run(rows) > 5);
	assert.strictEqual(await page.run(() => getComputedStyle(document.body).backgroundColor), "rgb(20, 24, 31)");
	await page.press("/");
	await page.type("burn_inner");
	assert.strictEqual(await page.run(rows), 1);
	assert.deepStrictEqual(page.problems, []);
	assert.strictEqual(page.requests.length, 1);
}

(async () => {
	const browser = await Browser.start();
	if (!browser) {
		console.log("no Chromium");
		process.exitCode = 77;
		return;
	}
	try {
		const page = await opensWithoutAWordOnTheConsole(browser);
		await hasTheNumbersOfJson(page);
		await showsNamesAsText(page);
		await sorts(page);
		await filtersByKeyboard(page);
		await foldsAndUnfolds(page);
		await isLightAndDark(page, browser);
		await prints(page);
		await readsWithoutScripts(browser);
		await hasFlameGraphsAndHistograms(browser);
		await drawsHeatMapsInTheDark(browser);
		await drawsTheFlameGraphOfAProfile(browser);
		await showsAnExample(browser);
		assert.deepStrictEqual(page.problems, []);
	} finally {
		await browser.end();
	}
})().catch(err => {
	console.log(err);
	process.exitCode = 1;
});
