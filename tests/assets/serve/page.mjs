// SPDX-License-Identifier: BSD-2-Clause
//
// The page of ctprof serve in a headless Chromium, with synthetic readings:
//
//	node tests/assets/serve/page.mjs [--pictures FOLDER] [--only WORDS] [--measure]
//
// What it shows is compared with sums made from the same readings in another way (truth.mjs).
// --measure prints how long drawing takes; nothing depends on that. Ends with 77 without Chromium.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Browser from "../browser.js";
import { FakeServer } from "./fake.mjs";
import { chooseFiles, click, folded, last, percent, pressButton, settled, showsTruth, tabs, text } from "./shown.mjs";
import { foldedText, happenings, truth } from "./truth.mjs";

const given = process.argv.slice(2), pictures = given.includes("--pictures") ? given[given.indexOf("--pictures") + 1] : null;
const only = given.includes("--only") ? given[given.indexOf("--only") + 1] : "";
const browser = await Browser.start();
if (!browser)
	process.exit(77);

const FIRST = Date.UTC(2026, 10, 26, 12);

async function openPage(server, { hash = "", ...options } = {}) {
	const page = await browser.page({ width: 1280, height: 800, ...options });
	await page.open(server.address + hash);
	/* A million samples need their time. */
	while (!await page.run(count => document.body.dataset.seq && ctprofPage.store.recording.ticks.length === count
			&& ctprofPage.seen === ctprofPage.store.recording.ticks[count - 1].seq, server.ticks.length))
		await new Promise(done => setTimeout(done, 25));
	await settled(page);
	return page;
}

async function serverWith(options) {
	const server = new FakeServer({ intervalMs: 0, history: 90, readings: { seed: 5, beginMs: FIRST, ...options?.readings }, ...options });
	server.address = await server.listen(options?.port);
	return server;
}

const truthOf = (server, first, end) => truth(server.about, server.ticks, first, end);

async function picture(page, name) {
	if (pictures)
		await page.picture(join(pictures, "serve-" + name + ".png"));
}

const cases = {
	async "shows what the readings say, and follows them"() {
		const server = await serverWith(), page = await openPage(server);
		await showsTruth(page, server, 31, 90);
		await picture(page, "light");
		/* One at a time is another way than all at once. */
		for (let i = 0; i < 12; i++) {
			server.advance();
			await page.until(seq => +document.body.dataset.seq === seq, last(server));
		}
		await showsTruth(page, server, 43, 102);
		return [page, server];
	},

	async "shows a window of the past, pauses and goes on"() {
		const server = await serverWith(), page = await openPage(server, { hash: "#window=" + (FIRST + 10000) + "-" + (FIRST + 25000) });
		await page.until(() => +document.body.dataset.seq === 25);
		await showsTruth(page, server, 11, 25);
		server.advance();
		await page.until(() => ctprofPage.store.recording.ticks.length === 91);
		await settled(page);
		await showsTruth(page, server, 11, 25);
		assert.strictEqual(await text(page, "status"), "paused");
		await page.press(" ");
		await page.until(() => +document.body.dataset.seq === 91);
		await showsTruth(page, server, 32, 91);
		/* Drag over the first third of the past. */
		const area = await page.run(() => { const a = document.getElementById("timeline").getBoundingClientRect(); return [a.left, a.top, a.width]; });
		for (const [type, share] of [["mousePressed", 0.01], ["mouseMoved", 0.2], ["mouseMoved", 1 / 3], ["mouseReleased", 1 / 3]])
			await page.send("Input.dispatchMouseEvent", { type, x: area[0] + share * area[2], y: area[1] + 30, button: "left", buttons: 1, clickCount: 1 });
		await settled(page);
		const shown = await page.run(() => ctprofPage.shown().map(tick => tick.seq));
		assert(shown[0] <= 3 && Math.abs(shown[shown.length - 1] - 30) <= 2, "dragged to " + shown);
		await showsTruth(page, server, shown[0], shown[shown.length - 1]);
		return [page, server];
	},

	async "zooms, searches and keeps both in its address"() {
		const server = await serverWith(), page = await openPage(server);
		const at = await page.run(() => {
			const { graph } = ctprofPage, { tree, placed } = graph, area = graph.canvas.getBoundingClientRect();
			for (let p = 0; p < placed.count; p++)
				if (tree.functions.names[tree.fn[placed.node[p]]] === "pthread_mutex_lock")
					return [area.left + (placed.left[p] + placed.width[p] / 2) * area.width,
						area.top + graph.rowOf(placed.node[p]) * 18 + graph.shift - graph.box.scrollTop + 9];
			return null;
		});
		for (const type of ["mouseMoved", "mousePressed", "mouseReleased"])
			await page.send("Input.dispatchMouseEvent", { type, x: at[0], y: at[1], button: type === "mouseMoved" ? "none" : "left", clickCount: 1 });
		const hash = await page.run(() => new URLSearchParams(ctprofPage.hash().slice(1)).get("zoom"));
		assert.strictEqual(hash, ["shopd", ...["main", "serve", "Cart::update(Cart::Item const&)", "pthread_mutex_lock"].map(name => name + "\t/opt/shop/shopd")].join("\n"));
		assert.match(await text(page, "details"), /^pthread_mutex_lock · in \/opt\/shop\/shopd · /);
		await picture(page, "zoomed");
		await page.press("/");
		await page.type("futex_do_w");
		await settled(page);
		const wanted = truthOf(server, 31, 90), all = [...wanted.folded.values()].reduce((a, b) => a + b, 0);
		const hits = [...wanted.folded].filter(([stack]) => /futex_do_w/.test(stack)).reduce((sum, [, ns]) => sum + ns, 0);
		assert.match(await text(page, "matched"), new RegExp(" frames?, " + (100 * hits / all).toFixed(2) + "%$"));
		const again = await openPage(server, { hash: await page.run(() => ctprofPage.hash()) });
		assert.strictEqual(await again.run(() => ctprofPage.graph.path.length), 5);
		assert.strictEqual(await text(again, "matched"), await text(page, "matched"));
		await page.send("Page.bringToFront");
		await page.press("Escape");
		await settled(page);
		assert.strictEqual(await page.run(() => ctprofPage.graph.top + ctprofPage.hash()), "0");
		return [page, again, server];
	},

	async "compares with a window that is pinned"() {
		const server = await serverWith(), page = await openPage(server, { hash: "#window=10" });
		await page.press("p");
		for (let i = 0; i < 3; i++)
			server.advance();
		await page.until(seq => +document.body.dataset.seq === seq, last(server));
		await settled(page);
		assert.strictEqual(await page.run(() => ctprofPage.view.tree.total[0]), [...truthOf(server, 91, 93).folded.values()].reduce((a, b) => a + b, 0));
		for (let i = 0; i < 17; i++)
			server.advance();
		await page.until(seq => +document.body.dataset.seq === seq, last(server));
		const before = truthOf(server, 81, 90), after = truthOf(server, 101, 110), scale = after.ns / before.ns;
		const sums = await page.run(() => {
			const { tree } = ctprofPage.view;
			return [tree.before[0], tree.total[0], tree.weight[0]];
		});
		const sum = of => [...of.folded.values()].reduce((a, b) => a + b, 0);
		assert(Math.abs(sums[0] - sum(before) * scale) < 1000, sums[0] + " before, not " + sum(before) * scale);
		assert.strictEqual(sums[1], sum(after));
		await picture(page, "compare");
		/* The address has it. */
		const again = await openPage(server, { hash: await page.run(() => ctprofPage.hash()) });
		assert.deepStrictEqual(await again.run(() => [ctprofPage.view.tree.before[0], ctprofPage.view.tree.total[0]]), sums.slice(0, 2));
		const gone = await openPage(server, { hash: "#pin=1000-2000" });
		assert.match(await text(gone, "window-text"), /before: no longer kept$/);
		await page.send("Page.bringToFront");
		await page.press("p");
		await settled(page);
		await showsTruth(page, server, 101, 110);
		return [page, again, gone, server];
	},

	async "says what a thread waits for now"() {
		const server = await serverWith(), page = await openPage(server, { hash: "#thread=1000" });
		const said = (...words) => page.until(words => {
			const now = document.querySelector("#inspector .now").textContent;
			return words.every(word => now.includes(word));
		}, words);
		await said("99 % waiting for lock 0x7f00 held by shopd/1 (1001)", "waits for shopd/1 (1001), which waits for far away (77)",
			"limited to 1 of 2 CPUs (0); a quota of 0.5 CPUs of cgroup /system.slice/docker-3fe1", "nice 5");
		await picture(page, "answer");
		assert(await page.run(() => [...document.querySelectorAll("#inspector, #inspector header, #inspector p, #inspector .state")]
			.every(part => part.scrollWidth <= part.clientWidth)), "nothing is wider than the panel");
		/* A thread that no reading has is no link; one that the filter leaves out is. */
		assert.deepStrictEqual(await page.run(() => [...document.querySelectorAll("#inspector .now button")].map(b => b.textContent)), ["shopd/1 (1001)"]);
		await page.run(() => { location.hash = "#thread=1000&filter=tid:1000"; });
		await settled(page);
		await page.run(() => document.querySelector("#inspector .now button").click());
		await said("held by shopd/2 (1002)");
		assert.match(await page.run(() => document.querySelector("#inspector h2").textContent), /shopd\/1/);
		/* It is asked for again; what is final is not. */
		server.inspection = { status: 503, text: "too many threads wait to be inspected\n" };
		await said("Too many threads wait to be inspected");
		server.inspection = { status: 403, text: "threads are not inspected (--no-inspect)\n" };
		await said("Threads are not inspected (--no-inspect)");
		server.inspection = { status: 404, text: "thread 1001 has ended\n" };
		await page.run(() => { location.hash = "#thread=1002"; });
		await said("Thread 1001 has ended");
		assert.deepStrictEqual(page.problems.filter(problem => !/status of (503|403|404)/.test(problem)), []);
		page.problems.length = 0;
		/* Rows of several threads have no single answer. */
		await page.run(() => { location.hash = "#rows=program&thread=shopd"; });
		await settled(page);
		assert.deepStrictEqual(await page.run(() => [document.querySelector("#inspector").hidden, document.querySelector("#inspector .now").hidden]), [false, true]);
		return [page, server];
	},

	async "has callers and callees, wakers, functions and an inspector"() {
		const server = await serverWith(), page = await openPage(server, { dark: true, hash: "#thread=1000" });
		const wanted = truthOf(server, 31, 90), [thread, of] = [...wanted.times].find(([t]) => t.tid === 1000);
		const states = await page.run(() => [...document.querySelectorAll("#inspector .state")].map(line => line.children[0].textContent + " " + line.children[3].textContent));
		const whole = [...of.values()].reduce((a, b) => a + b, 0);
		assert.deepStrictEqual(states, [...of].sort((a, b) => b[1] - a[1]).map(([word, ns]) => word + " " + percent(ns, whole)), thread.name);
		await picture(page, "inspector");
		await page.press("Escape");
		await pressButton(page, "view", "sandwich");
		await settled(page);
		await page.run(() => [...document.querySelectorAll("#table tbody tr")].find(row => row.cells[0].textContent === "pthread_mutex_lock").click());
		await settled(page);
		assert.strictEqual(await text(page, "sandwich-title"), "Callers and callees of pthread_mutex_lock in /opt/shop/shopd");
		await picture(page, "sandwich");
		const total = await page.run(() => [...document.querySelectorAll("#table tbody tr")].find(row =>
			row.cells[0].textContent === "main" && row.cells[5].textContent === "/opt/shop/shopd").cells[3].textContent);
		const inMain = [...wanted.folded].filter(([stack]) => /^shopd;main(;|$)/.test(stack)).reduce((sum, [, ns]) => sum + ns, 0);
		assert.strictEqual(total, (inMain / 1e9).toFixed(3) + "s");
		const mains = await page.run(() => [...document.querySelectorAll("#table tbody tr")].filter(row => row.cells[0].textContent === "main").map(row => row.cells[5].textContent));
		assert(mains.length > 1);
		for (const file of mains) {
			await page.run(file => [...document.querySelectorAll("#table tbody tr")].find(row =>
				row.cells[0].textContent === "main" && row.cells[5].textContent === file).click(), file);
			await settled(page);
			assert.strictEqual(await text(page, "sandwich-title"), "Callers and callees of main in " + file);
			assert.strictEqual(await page.run(() => document.querySelector("#table tbody tr.chosen").cells[5].textContent), file);
		}
		await pressButton(page, "tables", "wakers");
		await settled(page);
		assert.match(await page.run(() => document.querySelector("#table tbody").textContent), /shopd\/0/);
		await picture(page, "dark");
		return [page, server];
	},

	async "begins with leaves, groups, filters, and hides states"() {
		const server = await serverWith(), page = await openPage(server, { hash: "#leaf=1&by=none&icicle=1&filter=postgres", width: 800, height: 600 });
		const wanted = truthOf(server, 31, 90), sums = new Map();
		for (const [stack, ns] of wanted.folded)
			if (stack.startsWith("postgres;")) {
				const turned = stack.split(";").slice(1).reverse().join(";");
				sums.set(turned, (sums.get(turned) || 0) + ns);
			}
		assert.strictEqual(await folded(page), foldedText(sums));
		await picture(page, "small");
		await pressButton(page, "mode", "on");
		await settled(page);
		const ran = await page.run(() => ctprofPage.view.tree.total[0]), own = [...sums].filter(([stack]) => /^ExecQual/.test(stack)).reduce((a, [, ns]) => a + ns, 0);
		assert(ran >= own && ran < own * 1.1, "on CPUs " + ran + ", not " + own);
		for (const by of ["process", "thread", "cgroup", "container", "state"]) {
			await page.run(by => { const s = document.getElementById("group"); s.value = by; s.dispatchEvent(new Event("change")); }, by);
			await settled(page);
			assert.strictEqual(await page.run(() => ctprofPage.view.tree.total[0]), ran, by);
		}
		return [page, server];
	},

	async "leaves out what presets hide, and frames"() {
		const server = await serverWith(), page = await openPage(server, { hash: "#idle=1&by=none&filter=postgres|shopd" });
		/* As PRESETS of readings.mjs are meant, in other words. */
		const isHidden = ({ thread, stack }) => (thread.process === "shopd" && stack.includes("take_job") && stack.includes("pthread_cond_wait"))
			|| (thread.process === "postgres" && thread.name !== "postgres/0" && stack.includes("recv"));
		const all = happenings(server.about, server.ticks).filter(h => h.seq >= 31 && h.exact === undefined && /postgres|shopd/.test(h.thread.process));
		const sums = (wanted, cut) => {
			const found = new Map();
			for (const h of all.filter(wanted))
				found.set(cut(h.stack).join(";"), (found.get(cut(h.stack).join(";")) || 0) + h.ns);
			return foldedText(found);
		};
		assert.strictEqual(await folded(page), sums(() => true, stack => stack));
		await page.press("h");
		await click(page, "hide-open");
		await page.run(() => document.querySelector("#hide-menu [data-value=cpp-pools]").click());
		await settled(page);
		assert.strictEqual(await folded(page), sums(h => !isHidden(h), stack => stack));
		const ns = all.filter(isHidden).reduce((sum, h) => sum + h.ns, 0);
		assert.match(await text(page, "matched"), new RegExp("^presets hide " + (ns / 1e9).toFixed(3) + "s$"));
		await page.run(() => document.querySelector("#hide-menu [data-value=start]").click());
		await page.run(() => document.querySelector("#hide-menu [data-value=kernel]").click());
		await settled(page);
		const kernel = /^(entry_SYSCALL|do_futex|futex_do_wait|schedule|tcp_|vfs_|folio_|io_schedule|unix_|asm_)/;
		const wanted = sums(h => !isHidden(h), stack => stack.filter(name => name !== "main" && !kernel.test(name)));
		assert.strictEqual(await folded(page), wanted);
		await picture(page, "hide");
		const again = await openPage(server, { hash: await page.run(() => ctprofPage.hash()) });
		assert.strictEqual(await folded(again), wanted);
		assert.strictEqual(await text(again, "hide-open"), "Hide (3)");
		return [page, again, server];
	},

	async "is right with 100,000 frames, tick by tick"() {
		const server = await serverWith({ history: 60, readings: { stacks: 850 } }), page = await openPage(server, { hash: "#filter=wide&by=none&search=wide_77" });
		for (let i = 0; i < 5; i++) {
			server.advance();
			await page.until(seq => +document.body.dataset.seq === seq, last(server));
		}
		const wanted = new Map();
		for (const h of happenings(server.about, server.ticks).filter(h => h.seq > 5 && h.exact === undefined && h.thread.process === "wide"))
			wanted.set(h.stack.join(";"), (wanted.get(h.stack.join(";")) || 0) + h.ns);
		assert.strictEqual(await folded(page), foldedText(wanted));
		const [frames, isSame, placed, found] = await page.run(() => {
			const { graph, view: { tree } } = ctprofPage, sums = () => [tree.total, tree.own, tree.times, ...tree.bands.filter(b => b)].map(c => c.slice(0, tree.count));
			const byTicks = sums();
			tree.beginAnew();
			tree.sum();
			return [tree.count, sums().every((column, c) => column.every((value, i) => value === byTicks[c][i])), graph.placed.count, graph.found.frames];
		});
		assert(frames > 100000 && placed < 20000, frames + " frames, " + placed + " wide enough");
		assert(isSame, "sums made tick by tick are others");
		const all = new Set([...wanted.keys()].flatMap(stack => stack.split(";").map((_, i, names) => names.slice(0, i + 1).join(";"))));
		assert.strictEqual(found, [...all].filter(stack => /wide_77[^;]*$/.test(stack)).length);
		return [page, server];
	},

	async "shows metrics of kstats"() {
		const server = await serverWith({ readings: { kstats: true } }), page = await openPage(server);
		await page.press("k");
		await settled(page);
		assert.strictEqual(await page.run(() => document.querySelectorAll("#kstats .metric").length), 2);
		const low = (slot, b) => slot >> b ? (2 ** b + slot % 2 ** b) * 2 ** ((slot >> b) - 1) : slot;
		const high = (slot, b) => low(slot + 1, b) - 1;
		const time = ns => ["ns", "µs", "ms", "s"].map((unit, i) => [ns / 1000 ** i, unit]).filter(([size], i) => size >= 1 || !i).map(([size, unit], i) => (i ? size.toFixed(3) : Math.round(size)) + unit).pop();
		for (const [card, bits, write] of [[0, 3, time], [1, 1, value => value.toLocaleString("en")]]) {
			const values = server.ticks.slice(30, 90).flatMap(tick => tick.kstats.slots[card].flatMap((slot, i) => Array(tick.kstats.counts[card][i]).fill(slot))).sort((a, b) => a - b);
			const at = fraction => write(high(values[Math.ceil(values.length * fraction - 1e-9) - 1], bits));
			const facts = Object.fromEntries(await page.run(card => [...document.querySelectorAll("#kstats .metric")[card].querySelectorAll("dt")]
				.map(dt => [dt.textContent, dt.nextSibling.textContent]), card));
			assert.deepStrictEqual([facts.values, facts.p50, facts.p90, facts.p99, facts["p99.9"], facts.max, facts.lost],
				[values.length.toLocaleString("en"), at(0.5), at(0.9), at(0.99), at(0.999), at(1), "4"]);
		}
		/* Slots of fewer bits are where the values of the slot are. */
		assert.deepStrictEqual(await page.run(async () => {
			const { coarser, lowOf, highOf } = await import("./page/kstats.js"), wrong = [];
			for (let bits = 0; bits <= 5; bits++)
				for (let to = 0; to <= bits; to++)
					for (let slot = 0; slot < (50 << bits); slot++) {
						const wide = coarser(slot, bits, to);
						if (lowOf(wide, to) > lowOf(slot, bits) || highOf(wide, to) < highOf(slot, bits))
							wrong.push([slot, bits, to]);
					}
			return wrong;
		}), []);
		await picture(page, "kstats");
		await page.press("Escape");
		await settled(page);
		assert.strictEqual(await page.run(() => document.getElementById("kstats").hidden), true);
		const none = await serverWith(), bare = await openPage(none, { hash: "#view=kstats" });
		assert.match(await text(bare, "kstats"), /kstats trace reads start syscall:read$/);
		return [page, server, bare, none];
	},

	async "survives that the server begins again, with its view"() {
		const server = await serverWith(), page = await openPage(server, { hash: "#zoom=shopd%0Amain&icicle=1&search=main" }), hash = await page.run(() => ctprofPage.hash());
		const { port } = server;
		await server.close();
		await page.until(() => document.getElementById("status").className === "lost");
		assert.match(await text(page, "trouble"), /^ctprof does not answer/);
		const next = await serverWith({ port, generation: 2, history: 70, readings: { seed: 9, beginMs: FIRST + 200000 } });
		await page.until(() => document.getElementById("status").className === "live" && +document.body.dataset.seq === 70
			&& ctprofPage.store.recording.ticks.length === 70);
		await settled(page);
		await showsTruth(page, next, 11, 70);
		assert.deepStrictEqual(await page.run(() => [ctprofPage.hash(), ctprofPage.graph.path.length]), [hash, 2]);
		/* The browser says so itself. */
		page.problems = page.problems.filter(problem => !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/.test(problem));
		return [page, next];
	},

	async "passes its token on, and says what it cannot do without"() {
		const server = await serverWith({ token: "s3cret" }), page = await openPage(server);
		assert(server.requests.includes("/api/live?token=s3cret"), server.requests.join(" "));
		const link = await page.run(() => {
			const found = [...document.querySelectorAll("#download-menu a")].find(a => /ctprof flame/.test(a.textContent));
			let address = "";
			found.addEventListener("click", event => { address = found.href; event.preventDefault(); });
			found.click();
			return address;
		});
		assert.match(link, /\/api\/profile\?from=\d+&to=\d+&mode=wall&format=json&token=s3cret$/);
		return [page, server];
	},

	async "says why the server refuses it"() {
		const server = await serverWith({ token: "s3cret" }), page = await browser.page({ width: 1000, height: 700 });
		await page.open(server.address.replace("s3cret", "wrong"));
		await page.until(() => document.getElementById("status").className === "refused");
		assert.match(await text(page, "trouble"), /refuses the token .* open the address that ctprof printed\.$/);
		await picture(page, "refused");
		const asked = server.requests.length;
		/* Too many clients, and then one less. */
		server.refusal = 503;
		await page.open(server.address);
		await page.until(() => document.getElementById("status").className === "lost");
		assert.match(await text(page, "trouble"), /^The server has as many clients as it takes\. Trying again in \d s/);
		server.refusal = 0;
		await page.until(() => document.getElementById("status").className === "live");
		assert.strictEqual(await text(page, "trouble"), "");
		assert(server.requests.length > asked);
		page.problems = page.problems.filter(problem => !/the server responded with a status of (401|503)/.test(problem));
		return [page, server];
	},

	async "has files compared"() {
		const folder = mkdtempSync(join(tmpdir(), "ctprof-page-")), server = await serverWith({ token: "s3cret" });
		const page = await openPage(server), names = ["before.json", "after one.json", "broken.raw"], paths = names.map(name => join(folder, name));
		for (const path of paths)
			writeFileSync(path, "text of " + path);
		writeFileSync(join(folder, "empty"), "");
		const rows = () => page.run(() => [...document.querySelectorAll("#compare-list span")].map(row => row.textContent));
		const says = words => page.until(words => document.getElementById("compare-said").textContent === words, words);
		const action = (row, text) => page.run((row, text) =>
			[...document.querySelectorAll("#compare-list li")[row].querySelectorAll("button")].find(b => b.textContent === text).click(), row, text);
		await page.press("r");
		assert.deepStrictEqual(await page.run(() => [document.getElementById("compare").open, document.getElementById("compare-go").disabled]), [true, true]);
		await chooseFiles(page, "compare-files", paths.slice(1, 2));
		assert.deepStrictEqual([await rows(), await text(page, "compare-go")], [[names[1]], "Show"]);
		/* Dropped anywhere. */
		await page.run(name => {
			const dataTransfer = new DataTransfer();
			dataTransfer.items.add(new File(["dropped"], name));
			document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
		}, names[0]);
		assert.deepStrictEqual(await rows(), ["before: " + names[1], "after: " + names[0]]);
		await action(1, "First");
		assert.deepStrictEqual([await rows(), await text(page, "compare-go")], [["before: " + names[0], "after: " + names[1]], "Compare"]);
		/* Keys of the page do nothing here. */
		await page.press("?");
		assert.strictEqual(await page.run(() => document.getElementById("help").open), false);
		await picture(page, "files");
		server.busy = true;
		await click(page, "compare-go");
		await says(names[0] + ": another file of this address is being sent");
		server.busy = false;
		await click(page, "compare-go");
		await says("Open the report");
		assert.deepStrictEqual(server.files, [[names[0], "dropped"], [names[1], "text of " + paths[1]]]);
		/* The link has the focus. */
		await page.press("Enter");
		const report = new URL("api/report/0-1", server.address.replace(/\?.*/, "")).href;
		for (let i = 0; i < 200 && !(await tabs(browser)).includes(report); i++)
			await new Promise(done => setTimeout(done, 25));
		assert((await tabs(browser)).includes(report), (await tabs(browser)).join(" "));
		await page.send("Page.bringToFront");
		await chooseFiles(page, "compare-files", paths.slice(2));
		assert.deepStrictEqual(await rows(), names);
		await click(page, "compare-go");
		await says("broken.raw: not a file of ctprof");
		await chooseFiles(page, "compare-files", [join(folder, "empty")]);
		await says("empty is empty");
		await chooseFiles(page, "compare-files", Array(9).fill(paths[0]).map((path, i) => (writeFileSync(path + i, "x"), path + i)));
		await says("A report has 8 files at most");
		await action(0, "Remove");
		assert.deepStrictEqual([(await rows()).length, (await rows())[0]], [7, names[1]]);
		await page.press("Escape");
		assert.strictEqual(await page.run(() => document.getElementById("compare").open), false);
		rmSync(folder, { recursive: true });
		page.problems = page.problems.filter(problem => !/the server responded with a status of (422|429)/.test(problem));
		return [page, server];
	},

	async "stores what is seen"() {
		const server = await serverWith(), page = await openPage(server);
		const files = () => page.run(async () => {
			const found = [], names = [], make = URL.createObjectURL, click = HTMLAnchorElement.prototype.click;
			URL.createObjectURL = blob => { found.push(blob); return "about:blank"; };
			HTMLAnchorElement.prototype.click = function () { this.download ? names.push(this.download) : click.call(this); };
			const links = [...document.querySelectorAll("#download-menu a")].slice(0, 4);
			for (const link of links)
				click.call(link);
			while (found.length < 4)
				await new Promise(done => setTimeout(done, 10));
			URL.createObjectURL = make;
			HTMLAnchorElement.prototype.click = click;
			const texts = {};
			for (let i = 0; i < 4; i++)
				texts[names[i].replace(/^ctprof-[-\dT]*\./, "")] = await found[i].arrayBuffer().then(bytes => btoa(Array.from(new Uint8Array(bytes), c => String.fromCharCode(c)).join("")));
			return { texts, isWell: !new DOMParser().parseFromString(atob(texts.svg), "image/svg+xml").querySelector("parsererror") };
		});
		const bytesOf = text => Buffer.from(text, "base64"), plain = lines => lines.replaceAll("_[k]", "");
		/* What the program makes of a file, without its names of threads. */
		const read = (name, text) => {
			const folder = mkdtempSync(join(tmpdir(), "ctprof-page-"));
			writeFileSync(join(folder, name), bytesOf(text));
			const lines = execFileSync("build/ctprof", ["flame", "-q", join(folder, name), "--format", "folded", "--group-by", "none", "-o", "-"]);
			rmSync(folder, { recursive: true });
			return plain(lines.toString()).split("\n").sort().join("\n").trim() + "\n";
		};
		const speedscope = text => {
			const { shared, profiles: [{ samples, weights }] } = JSON.parse(bytesOf(text));
			return samples.map((s, i) => s.map(f => shared.frames[f].name).join(";") + " " + weights[i]).sort().join("\n") + "\n";
		};
		const check = async wanted => {
			const { texts, isWell } = await files(), lines = plain(bytesOf(texts.folded).toString());
			assert(isWell, "the svg is not well-formed");
			assert.strictEqual(lines, wanted);
			assert.strictEqual(read("x.pb.gz", texts["pb.gz"]), wanted);
			assert.strictEqual(speedscope(texts["speedscope.json"]), wanted);
			return bytesOf(texts.svg).toString();
		};
		const of = truthOf(server, 31, 90).folded, svg = await check(foldedText(of));
		assert(svg.includes(">pthread_mutex_lock<") && svg.includes("Cart::Item const&#38;"), "the svg lacks names");
		/* A window, threads, a state and a part of the graph. */
		await page.run(hash => { location.hash = hash; }, "#window=" + (FIRST + 10000) + "-" + (FIRST + 25000)
			+ "&filter=shopd&mode=off&hide=network&zoom=shopd%0Amain%0Aserve%0ACart%3A%3Aupdate(Cart%3A%3AItem+const%26)");
		await settled(page);
		await page.until(() => +document.body.dataset.seq === 25);
		await check(foldedText(new Map([...truthOf(server, 11, 25).folded].filter(([stack]) => /^shopd;main;serve;Cart::update.*futex/.test(stack)))));
		return [page, server];
	},
};

async function measure(name, readings, history, hash) {
	const server = await serverWith({ history, readings: { seed: 3, beginMs: FIRST, ...readings } }), begun = Date.now();
	const page = await openPage(server, { hash }), loaded = Date.now() - begun;
	const result = await page.run(async () => {
		const { graph, store, view } = ctprofPage, draws = [], painted = [], nodes = [];
		for (let i = 1; i < view.tree.count && nodes.length < 40; i++)
			if (view.tree.depth[i] <= 4 && view.tree.firstChild[i] >= 0)
				nodes.push(i);
		for (let i = 0; i < 60; i++) {
			await new Promise(done => requestAnimationFrame(done));
			const at = performance.now();
			graph.zoom(i % 2 ? 0 : nodes[i / 2 % nodes.length]);
			draws.push(performance.now() - at);
			graph.pen.getImageData(0, 0, 1, 1); /* waits until the other process has painted */
			painted.push(performance.now() - at);
		}
		draws.sort((a, b) => a - b);
		painted.sort((a, b) => a - b);
		const paint = performance.getEntriesByName("first-contentful-paint")[0];
		return { frames: view.tree.count, placed: graph.placed.count, samples: store.recording.sampleCount, median: draws[30], worst: draws[59], painted: painted[30],
			refresh: ctprofPage.refreshTime, paint: paint && paint.startTime };
	});
	const refreshes = [];
	for (let i = 0; i < 5; i++) {
		server.advance();
		while (await page.run(() => +document.body.dataset.seq) !== last(server))
			await new Promise(done => setTimeout(done, 50));
		refreshes.push(await page.run(() => ctprofPage.refreshTime));
	}
	console.log(name + ": " + result.samples + " samples, " + result.frames + " frames, " + result.placed + " wide enough; zoom "
		+ result.median.toFixed(1) + " ms median, " + result.worst.toFixed(1) + " ms at most, " + result.painted.toFixed(1)
		+ " ms until it is painted; all for a window "
		+ result.refresh.toFixed(0) + " ms, for a tick " + refreshes.sort((a, b) => a - b)[2].toFixed(0) + " ms; first paint "
		+ result.paint?.toFixed(0) + " ms, data shown after " + loaded + " ms");
	await page.send("Page.close");
	await server.close();
}

let failed = 0;
if (given.includes("--measure")) {
	await measure("small", {}, 120, "");
	await measure("100,000 frames", { stacks: 850 }, 60, "#filter=wide&by=none");
	await measure("1,000,000 stacks", { stacks: 16700 }, 60, "#filter=wide&by=none");
	await measure("10,000 threads", { crowd: 10000 }, 120, "");
} else {
	for (const [name, run] of Object.entries(cases)) {
		if (only && !name.includes(only))
			continue;
		try {
			for (const thing of await run()) {
				if (thing instanceof FakeServer) {
					await thing.close();
				} else {
					assert.deepStrictEqual(thing.problems, [], name);
					await thing.send("Page.close");
				}
			}
		} catch (wrong) {
			failed++;
			console.log("the page " + name + ": " + wrong.stack);
		}
	}
}
await browser.end();
process.exit(failed ? 1 : 0);
