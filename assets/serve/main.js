/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of ctprof serve: reads the stream, and shows a window of it. The state of the view is
 * `state` (url.js) and nothing else, so that an address brings it back.
 */
import { View, groups } from "./aggregate.js";
import { openCompare, setUpCompare } from "./compare.js";
import { BandButtons, checks, fillHelp, fillLegend, fillMenu, segments, select, toggles } from "./controls.js";
import { download, graphAsSvg } from "./export.js";
import { FlameGraph, FrameColours } from "./flame.js";
import { gzipped, treeAsFolded, treeAsPprof, treeAsSpeedscope } from "./formats.js";
import { frameSets, presetWords } from "./hiding.js";
import { Inspector } from "./inspect.js";
import { KstatsView } from "./kstats.js";
import { functionRows, sandwich } from "./sandwich.js";
import { RAN, bands, readColours } from "./states.js";
import { Store, Stream } from "./stream.js";
import { RowTable, historyOf, threadRows, wakerRows } from "./threads.js";
import { Timeline } from "./timeline.js";
import { readState, serverAddress, writeState } from "./url.js";

const { time } = flameWords;
const $ = id => document.getElementById(id);
const store = new Store(), view = new View(store.functions), before = new View(store.functions);
const state = readState(location.hash);
let rested = 0, resting = 0;
let look = null, pinned = null, drawn = false, wasLive = state.window.includes("-") ? "60" : state.window;
let connection = "connecting", trouble = "";
let shown = []; /* the ticks of the window */

/* --- what is shown --- */

const dark = window.matchMedia("(prefers-color-scheme: dark)");

function readLook() {
	const isDark = state.theme ? state.theme === "dark" : dark.matches, root = document.documentElement;
	root.dataset.theme = isDark ? "dark" : "light";
	const style = getComputedStyle(root), variable = name => style.getPropertyValue("--" + name).trim();
	const colours = readColours(root);
	look = { dark: isDark, colours, frames: new FrameColours(store.functions, colours), variable, paper: variable("paper"),
		raised: variable("raised"), faint: variable("faint"), accent: variable("accent"), veil: variable("veil"),
		empty: variable("raised") };
}

/* The ticks of the last seconds, all ticks, or those between two times. The last seconds begin after the pinned window. */
function ticksOf(recording, window) {
	const { ticks } = recording;
	if (window === "all" || !ticks.length)
		return ticks.slice();
	if (window.includes("-")) {
		const found = ticksBetween(recording, window);
		return found.length ? found : ticks.slice(-1);
	}
	const end = recording.elapsed - window * 1e9, pinEnd = state.pin ? +state.pin.split("-")[1] : 0;
	const found = ticks.filter(tick => tick.start >= end - tick.ns / 2 && (tick.begin + tick.end) / 2 > pinEnd);
	return found.length ? found : ticks.slice(-1);
}

/* `window`: two Unix times in ms, separated by a hyphen. */
function ticksBetween(recording, window) {
	const [from, to] = window.split("-").map(Number), middle = tick => (tick.begin + tick.end) / 2;
	return recording.ticks.filter(tick => middle(tick) >= from && middle(tick) <= to);
}

const windowOf = ticks => Math.round(ticks[0].begin) + "-" + Math.round(ticks[ticks.length - 1].end);

const hiddenBands = () => new Set(bands.filter(band => state.hide.includes(band.name)).map(band => band.number));

/* Are idle waits shown? By default they are for chosen targets only: of a whole host, they would hide the others. */
const showsIdle = () => state.idle ? state.idle === "1" : !!store.about?.target;

function wanted() {
	return { mode: state.mode, hidden: hiddenBands(), idle: showsIdle(), group: groups[state.group] ? state.group : "program",
		leaf: state.leaf, filter: state.filter, presets: state.presets, without: state.without };
}

function refresh() {
	drawn = true;
	const { recording } = store;
	if (!recording || !recording.ticks.length || !look)
		return;
	const begun = performance.now();
	shown = ticksOf(recording, state.window);
	view.show(recording, shown, wanted());
	compare();
	showHead(recording);
	timeline.show(view, recording, shown, look);
	bandButtons.update(view.totals(), hiddenBands(), showsIdle(), state.mode, look.colours, view.ns);
	showGraphs();
	showTable(recording);
	page.refreshTime = performance.now() - begun;
	rested = performance.now() + 3 * page.refreshTime;
	page.seen = recording.ticks[recording.ticks.length - 1].seq;
	document.body.dataset.seq = shown[shown.length - 1].seq;
}

/* Draw with the next frame of the screen, once for all that changes until then. */
function later() {
	if (drawn)
		requestAnimationFrame(refresh);
	drawn = false;
}

/* A reading waits until drawing takes a quarter of the time at most; what is asked for does not. */
function laterForReading() {
	clearTimeout(resting);
	resting = setTimeout(later, rested - performance.now());
}

/* Change the state, and show it. */
function change(members) {
	Object.assign(state, members);
	save();
	update();
	later();
}

/* Changing the address takes some ms, and browsers limit how often it may change, so save() waits a little. */
let saving = 0;

function save() {
	clearTimeout(saving);
	saving = setTimeout(saveNow, 200);
}

function saveNow() {
	clearTimeout(saving);
	const hash = writeState(state);
	history.replaceState(null, "", location.pathname + location.search + (hash ? "#" + hash : ""));
}

/* --- comparing --- */

function pin() {
	if (!state.pin && !shown.length)
		return;
	change({ pin: state.pin ? "" : windowOf(shown) });
}

/*
 * Find the pinned window, whose times are in the address. The page keeps its readings while it is open,
 * also those that the server has dropped. After the page was loaded, they arrive one by one.
 */
function findPinned() {
	const { recording } = store, was = pinned;
	if (was && was.times !== state.pin)
		pinned = null;
	if (state.pin && (!pinned || pinned.recording === recording)) {
		const ticks = ticksBetween(recording, state.pin);
		if (ticks.length && (!pinned || ticks.length >= pinned.ticks.length))
			pinned = { times: state.pin, recording, ticks };
	}
	if (was && !pinned)
		for (const tree of [view.tree, view.callersFirst]) {
			tree.before.fill(0);
			tree.sum();
		}
}

function compare() {
	findPinned();
	if (!pinned)
		return;
	before.show(pinned.recording, pinned.ticks, wanted());
	view.tree.compare(before.tree, view.ns / before.ns);
	if (state.leaf) {
		view.callersFirst.compare(before.callersFirst, view.ns / before.ns);
	}
}

/* --- the parts --- */

/* Show the headline, such as "2 CPUs, 43 % busy; threads wait 12 % of their time for a lock (mostly shopd), 5 % for storage
 * (mostly postgres)". The most important waits come first. */
function showHead(recording) {
	const { about } = recording, busy = shown.reduce((sum, tick) => sum + tick.host.cpu_ns, 0) / (view.ns * about.cpus), share = Math.round(100 * Math.min(1, busy));
	const totals = view.totals(), whole = totals.byBand.reduce((a, b) => a + b, 0);
	const waits = bands.filter(band => band.number !== RAN && totals.byBand[band.number] >= 0.005 * whole && whole > 0)
		.sort((a, b) => totals.weights[b.number] - totals.weights[a.number]).slice(0, 3);
	const words = waits.map((band, i) => Math.round(100 * totals.byBand[band.number] / whole) + " % " + (i ? "" : "of their time ") + "for " + band.what
		+ (i < 2 ? " (mostly " + mostly(recording, band.number) + ")" : ""));
	$("answer").textContent = about.cpus + (about.cpus === 1 ? " CPU, " : " CPUs, ") + share + " % busy; "
		+ (state.filter ? "those that pass the filter" : "threads") + (words.length ? " wait " + words.join(", ") : " waited for nothing but work");
	$("answer").title = "Shares of the time of " + (state.filter ? "threads that pass the filter" : "all threads") + ", without idle waits";
	const { host } = shown[shown.length - 1], gib = bytes => (bytes / 2 ** 30).toFixed(1);
	$("facts").textContent = about.host + ", Linux " + about.kernel + " · " + (about.target || "the whole host")
		+ " · load " + host.load.toFixed(2) + " · memory " + gib(host.memory_available) + " of " + gib(host.memory_total)
		+ " GiB available · ctprof " + about.version;
	document.title = share + " % busy · " + about.host + " · ctprof";
	showLosses();
	const clock = ms => new Date(ms).toLocaleTimeString([], { hour12: false });
	const span = ticks => clock(ticks[0].begin) + " to " + clock(ticks[ticks.length - 1].end);
	const isGone = state.window.includes("-") && !ticksBetween(recording, state.window).length;
	$("window-text").textContent = (isGone ? "no longer kept; showing " : "") + span(shown) + ", " + time(view.ns)
		+ (pinned ? "; before: " + span(pinned.ticks) : state.pin ? "; before: no longer kept" : "");
}

/* The program with most of the waits of a band. */
function mostly(recording, band) {
	const sums = new Map(), { process } = recording.threads, passes = view.passes;
	let best = "";
	for (let t = 0; t < passes.length; t++) {
		const ns = passes[t] && (!bands[band].idle || !view.alone[t]) ? view.times.of(t, band) : 0;
		sums.set(process[t], (sums.get(process[t]) || 0) + ns);
		if (!best || sums.get(process[t]) > sums.get(best))
			best = process[t];
	}
	return best;
}

function showLosses() {
	const sum = name => shown.reduce((all, tick) => all + (tick.losses[name] || 0), 0), lines = [];
	if (sum("lost"))
		lines.push(sum("lost") + " events lost (" + time(sum("lost_ns")) + ")");
	if (sum("missed"))
		lines.push(sum("missed") + " switches missed");
	if (sum("truncated"))
		lines.push(sum("truncated") + " stacks cut off");
	$("losses").hidden = !lines.length;
	$("losses").textContent = lines.length ? "In this window: " + lines.join(", ") : "";
}

const graphLook = above => ({ ...look, colours: look.frames, icicle: state.icicle, modules: state.modules, isDiff: !!pinned,
	window: view.ns, above });

function showGraphs() {
	const isSandwich = state.view === "sandwich", isKstats = state.view === "kstats";
	$("flame").hidden = isSandwich || isKstats;
	$("sandwich").hidden = !isSandwich;
	$("kstats").hidden = !isKstats;
	if (isKstats) {
		kstats.show(store.recording, shown, look, timeline);
		return;
	}
	if (!isSandwich) {
		graph.path = zoomPath(view.tree);
		graph.show(view.tree, graphLook(0));
		$("reset").hidden = graph.top === 0;
		showFound(graph);
		return;
	}
	const fn = functionNumber(), tree = view.callersFirst;
	$("sandwich-title").textContent = fn < 0 ? "Choose a function in the table" : "Callers and callees of " + store.functions.word(fn).replace("\t", " in ");
	$("callers").hidden = $("callees").hidden = fn < 0;
	$("reset").hidden = true;
	if (fn < 0)
		return;
	const { callers: up, callees: down } = sandwich(tree, fn);
	if (pinned) {
		const was = sandwich(before.callersFirst, fn), scale = view.ns / before.ns;
		up.compare(was.callers, scale);
		down.compare(was.callees, scale);
	}
	for (const [picture, made, icicle] of [[callers, up, false], [callees, down, true]]) {
		picture.path = [fn];
		picture.show(made, { ...graphLook(1), icicle });
	}
	showFound(callees);
}

function showFound(picture) {
	const found = picture.found;
	const words = found ? [found.frames + (found.frames === 1 ? " frame, " : " frames, ") + flameWords.percent(found.share)] : [];
	if (view.flame.hiddenNs > 0)
		words.push("presets hide " + time(view.flame.hiddenNs));
	$("matched").textContent = words.join("; ");
}

function functionNumber() {
	if (!state.fn)
		return -1;
	return store.functions.names.findIndex((_, number) => store.functions.is(number, state.fn));
}

/* Names in the address, as far as there are such frames. */
function zoomPath(tree) {
	const path = [];
	let node = 0;
	for (const word of state.zoom ? state.zoom.split("\n") : []) {
		let child = tree.firstChild[node];
		while (child >= 0 && !store.functions.is(tree.fn[child], word))
			child = tree.nextSibling[child];
		if (child < 0)
			break;
		path.push(tree.fn[child]);
		node = child;
	}
	return path;
}

function showTable(recording) {
	const passes = view.passes, ids = row => row.threads.length > 1 || state.rows !== "thread"
		? row.threads.length + (row.threads.length === 1 ? " thread" : " threads") : recording.threads.tid[row.threads[0]] + "";
	const context = { ns: view.ns, ticks: shown.length, colours: look.colours, empty: look.empty, ids, chosen: state.thread,
		history: (rows, columns) => historyOf(view, shown, rows, columns) };
	const rows = threadRows(view, state.rows, passes);
	$("rows-label").hidden = state.table !== "threads";
	if (state.table === "threads") {
		table.show("threads", rows, state.sort, context);
	} else if (state.table === "wakers") {
		table.show("wakers", wakerRows(view, shown, passes, hiddenBands()), state.sort, { ...context, history: null });
	} else {
		const names = store.functions, tree = view.callersFirst;
		const found = functionRows(tree).map(row => ({ ...row, key: row.fn + "", name: names.names[row.fn], module: names.modules[row.fn] }));
		table.show("functions", search ? found.filter(row => search.test(row.name)) : found, state.sort,
			{ ...context, history: null, whole: tree.total[0], chosen: functionNumber() + "" });
	}
	inspector.show(view, recording, shown, rows.find(row => row.key === state.thread) || otherRow(state.thread), look);
}

/* The row of a thread that the table does not show, because it has rows of another kind or is filtered. */
function otherRow(tid) {
	const thread = tid ? view.threadOf(+tid) : -1;
	if (thread < 0)
		return null;
	const passes = new Uint8Array(view.passes.length);
	passes[thread] = 1;
	return threadRows(view, "thread", passes)[0];
}

/* --- controls --- */

const graph = new FlameGraph($("flame"), { details: $("details"), opened: openFunction, zoomed: path => {
	state.zoom = path.map(fn => store.functions.word(fn)).join("\n");
	$("reset").hidden = !path.length;
	save();
} });
const callers = new FlameGraph($("callers"), { details: $("details"), opened: openFunction });
const callees = new FlameGraph($("callees"), { details: $("details"), opened: openFunction });
const kstats = new KstatsView($("kstats"), $("details"));
const timeline = new Timeline($("timeline"), { chosen: (from, to) =>
	change({ window: from === null ? wasLive : Math.round(from) + "-" + Math.round(to) }) });
const bandButtons = new BandButtons($("bands"), {
	changed: hidden => change({ hide: bands.filter(band => hidden.has(band.number)).map(band => band.name) }),
	idle: toggleIdle,
});
const inspector = new Inspector($("inspector"), store.functions, { closed: () => change({ thread: "" }), opened: openFunction,
	chosen: tid => change({ thread: tid + "" }),
	filtered: row => change({ filter: row.threads.length === 1 ? "tid:" + row.key : row.key.replace(/ .*/, "") }) });
const table = new RowTable($("table"), $("more"), {
	chosen: (kind, row) => kind === "threads" ? change({ thread: row.key === state.thread ? "" : row.key })
		: kind === "functions" ? openFunction(row.fn) : change({ table: "threads", filter: "tid:" + row.tid }),
	sorted: key => change({ sort: key }),
});
let search = null;

function toggleIdle() {
	change({ idle: showsIdle() ? "0" : "1" });
}

/* The list with a name added or, if it has it, removed. */
const toggled = (list, name) => list.includes(name) ? list.filter(other => other !== name) : [...list, name];

function toggleHidden(value) {
	if (value === "idle")
		toggleIdle();
	else if (Object.hasOwn(presetWords, value))
		change({ presets: toggled(state.presets, value) });
	else
		change({ without: toggled(state.without, value) });
}

const isHidden = value => value === "idle" ? !showsIdle() : state.presets.includes(value) || state.without.includes(value);

function openFunction(fn) {
	change({ view: "sandwich", fn: store.functions.word(fn) });
}

const setWindow = value => { wasLive = value; change({ window: value }); };
const updates = [
	[segments($("window"), [["10", "10 s"], ["60", "60 s"], ["300", "5 min"], ["all", "all"]], setWindow), () => state.window],
	[segments($("mode"), [["wall", "Wall time", "On and off CPUs (w)"], ["on", "On CPU", "Where threads ran (o)"],
		["off", "Off CPU", "What threads waited for (e)"]], mode => change({ mode, hide: [] })), () => state.mode],
	[segments($("view"), [["flame", "Flame graph"], ["sandwich", "Callers and callees", "Of one function (b)"],
		["kstats", "Histograms", "Metrics of kstats over time (k)"]], value => openView(value)), () => state.view],
	[select($("group"), Object.entries(groups).map(([value, [text]]) => [value, text]), group => change({ group, zoom: "" })), () => state.group],
	[toggles($("toggles"), [["icicle", "Icicle", "The outermost frames at the top (i)"],
		["leaf", "Leaf first", "Begin with the functions that ran or waited, and their callers beyond (l)"], ["modules", "Colour by file", "Colours of programs and libraries instead of states (c)"]],
		name => change({ [name]: !state[name], zoom: name === "leaf" ? "" : state.zoom })), () => state],
	[checks($("hide-menu"), [
		["Waits of threads with nothing to do", [["idle", "all that are idle by choice (d)", "For work, for connections, and of threads that do nothing else"],
			...Object.entries(presetWords).map(([name, text]) => [name, text, "ctprof offcpu --preset " + name])]],
		["Frames, whose time their callers get", frameSets.map(([name, text]) => [name, text])]], toggleHidden), () => isHidden],
	[segments($("tables"), [["threads", "Threads"], ["wakers", "Wakers"], ["functions", "Functions"]],
		value => change({ table: value, sort: "" })), () => state.table],
	[select($("rows"), ["thread", "process", "program", "cgroup", "container"].map(by => [by, groups[by][0]]),
		rows => change({ rows, thread: "" })), () => state.rows],
];

function openView(value) {
	change(value === "sandwich" && !state.fn ? { view: value, table: "functions", sort: "" } : { view: value });
}

function update() {
	for (const [set, value] of updates)
		set(value());
	const isFixed = state.window.includes("-");
	$("pause").textContent = isFixed ? "Go live" : "Pause";
	$("pause").setAttribute("aria-pressed", isFixed);
	$("pin").textContent = state.pin ? "Stop comparing" : "Pin to compare";
	const hides = state.presets.length + state.without.length;
	$("hide-open").textContent = hides ? "Hide (" + hides + ")" : "Hide";
	$("legend").hidden = !state.pin;
	$("pin").setAttribute("aria-pressed", !!state.pin);
	$("status").textContent = $("status").className = connection !== "live" ? connection : isFixed ? "paused" : "live";
	document.body.dataset.connection = connection;
	$("trouble").textContent = trouble;
	$("trouble").hidden = !trouble;
	for (const name of ["search", "filter"])
		if (document.activeElement !== $(name))
			$(name).value = state[name];
	setSearch();
}

function setSearch() {
	search = null;
	$("search").classList.remove("wrong");
	try {
		search = state.search ? flameWords.pattern(state.search) : null;
	} catch (wrong) {
		$("search").classList.add("wrong");
		$("search").title = wrong.message;
	}
	for (const picture of [graph, callers, callees])
		picture.search(search);
}

function pause() {
	if (state.window.includes("-"))
		change({ window: wasLive });
	else if (shown.length)
		change({ window: windowOf(shown) });
}

function setTheme() {
	readLook();
	later();
}

/* --- downloads --- */

/* Download a file named by the begin of the window: ctprof-2026-11-26T12-00-30.EXTENSION. */
const storeAs = (extension, type, content) =>
	download("ctprof-" + new Date(shown[0].begin).toISOString().replace(/[:.]/g, "-").slice(0, 19) + "." + extension, type, content);
/* The node whose stacks are exported: the one that is zoomed to. A graph with the innermost functions first is exported
 * as a whole, callers first. */
const zoomedNode = () => state.view === "flame" && !state.leaf ? graph.top : 0;
const pprofTypes = { wall: "wall", on: "on-cpu", off: "off-cpu" };

fillMenu($("download-menu"), [
	["The graph as shown", [
		["Picture (svg)", () => storeAs("svg", "image/svg+xml", graphAsSvg(state.view === "sandwich" ? callees : graph, $("answer").textContent, look.paper))],
		["Stacks (folded)", () => storeAs("folded", "text/plain", treeAsFolded(view.tree, state.view === "flame" ? graph.top : 0))],
		["Stacks for go tool pprof", async () => storeAs("pb.gz", "application/octet-stream", await gzipped(treeAsPprof(view.callersFirst, zoomedNode(),
			{ type: pprofTypes[state.mode], begin: shown[0].begin, ns: view.ns })))],
		["Stacks for speedscope", () => storeAs("speedscope.json", "application/json", treeAsSpeedscope(view.callersFirst, zoomedNode(), $("answer").textContent))]]],
	["From the server", [
		["All of this window, for ctprof flame (json)", () => serverAddress("api/profile", { from: Math.round(shown[0].begin),
			to: Math.round(shown[shown.length - 1].end), mode: state.mode, format: "json" })],
		["Snapshot of the threads now, for ctprof show", () => serverAddress("api/snapshot")]]],
]);

/* --- keys --- */

function escape() {
	if (document.querySelector(".drop[open]")) {
		closeMenus(null);
	} else if (state.thread) {
		change({ thread: "" });
	} else {
		$("search").value = "";
		graph.path = [];
		change({ search: "", zoom: "", ...(state.view !== "flame" ? { view: "flame" } : {}) });
		graph.point(-1);
	}
}

const keyActions = {
	"/": () => focus("search"), f: () => focus("filter"), " ": pause, p: pin, w: () => change({ mode: "wall", hide: [] }),
	o: () => change({ mode: "on", hide: [] }), e: () => change({ mode: "off", hide: [] }), i: () => change({ icicle: !state.icicle }),
	l: () => change({ leaf: !state.leaf, zoom: "" }), c: () => change({ modules: !state.modules }), d: toggleIdle, h: () => openMenu("hide"), x: () => openMenu("download"), r: openCompare,
	b: () => openView(state.view === "sandwich" ? "flame" : "sandwich"), k: () => openView(state.view === "kstats" ? "flame" : "kstats"), "?": () => $("help").showModal(),
};

/* Close the menus that do not contain the element. */
function closeMenus(element) {
	for (const menu of document.querySelectorAll(".drop[open]"))
		if (!menu.contains(element))
			menu.open = false;
}

function openMenu(id) {
	closeMenus($(id));
	$(id).open = !$(id).open;
	if ($(id).open)
		$(id).querySelector("input, a").focus();
}

function focus(id) {
	$(id).focus();
	$(id).select();
}

window.addEventListener("keydown", event => {
	const isField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox", isPress = /^(BUTTON|INPUT|SUMMARY)$/.test(event.target.tagName) && event.key === " ";
	const isInDialog = !!document.querySelector("dialog[open]");
	if (event.key === "Escape" && !isInDialog) {
		if (isField)
			event.target.blur();
		escape();
	} else if (event.ctrlKey || event.metaKey || event.altKey || isField || isPress || isInDialog
			|| !Object.hasOwn(keyActions, event.key)) {
		return;
	} else {
		keyActions[event.key]();
	}
	event.preventDefault();
});

for (const name of ["search", "filter"])
	$(name).addEventListener("input", () => change({ [name]: $(name).value }));
$("pause").addEventListener("click", pause);
$("pin").addEventListener("click", pin);
$("reset").addEventListener("click", () => { graph.path = []; change({ zoom: "" }); });
$("help-open").addEventListener("click", () => $("help").showModal());
$("theme").addEventListener("click", () => { change({ theme: look.dark ? "light" : "dark" }); setTheme(); });
dark.addEventListener("change", setTheme);
window.addEventListener("resize", later);
window.addEventListener("scroll", () => kstats.scrolled(), { passive: true });
window.addEventListener("pagehide", saveNow);
window.addEventListener("hashchange", () => { Object.assign(state, readState(location.hash)); setTheme(); update(); });
document.addEventListener("click", event => closeMenus(event.target));

/* For tests. */
const page = { store, view, graph, state, refreshTime: 0, seen: 0, shown: () => shown,
	hash: () => { saveNow(); return location.hash; } };
globalThis.ctprofPage = page;

fillHelp($("help"));
setUpCompare();
fillLegend($("legend"));
readLook();
drawn = true;
update();
new Stream(store, serverAddress, {
	changed: type => { if (type === "tick") laterForReading(); },
	status: (value, words = "") => {
		if (value === connection && words === trouble)
			return;
		connection = value;
		trouble = words;
		update();
	},
});
