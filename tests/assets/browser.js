/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drives a headless Chromium over its debugging pipe (--remote-debugging-pipe: messages of the Chrome
 * DevTools Protocol, each ended by a NUL), with node alone.
 *
 *	const browser = await Browser.start();		null where there is no Chromium
 *	const page = await browser.page({ dark: true });
 *	await page.open("file:///tmp/report.html");
 *	await page.run(() => document.title);
 *	page.problems					errors on the console, and what was loaded from elsewhere
 *	await browser.end();
 */
"use strict";
const { spawn } = require("child_process");
const fs = require("fs"), os = require("os"), path = require("path");

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

function program() {
	if (process.env.CHROMIUM)
		return process.env.CHROMIUM;
	for (const folder of (process.env.PATH || "").split(":"))
		for (const name of NAMES)
			if (fs.existsSync(path.join(folder, name)))
				return path.join(folder, name);
	return null;
}

class Page {
	constructor(browser, session) {
		this.browser = browser;
		this.session = session;
		this.problems = [];
		this.requests = [];
		this.waiting = [];
	}

	send(method, params) {
		return this.browser.send(method, params, this.session);
	}

	/* Events of this page, from the browser. */
	heard(method, params) {
		if (method === "Runtime.exceptionThrown")
			this.problems.push("exception: " + (params.exceptionDetails.exception?.description
				|| params.exceptionDetails.text));
		else if (method === "Runtime.consoleAPICalled" && (params.type === "error" || params.type === "warning"))
			this.problems.push("console: " + params.args.map(a => a.value || a.description).join(" "));
		else if (method === "Log.entryAdded" && params.entry.level === "error")
			this.problems.push("log: " + params.entry.text);
		else if (method === "Network.requestWillBeSent")
			this.requests.push(params.request.url);
		this.waiting = this.waiting.filter(wait => wait.method !== method || (wait.done(params), false));
	}

	event(method) {
		return new Promise(done => this.waiting.push({ method, done }));
	}

	async open(url) {
		const loaded = this.event("Page.loadEventFired");
		await this.send("Page.navigate", { url });
		await loaded;
	}

	/* The value of a function that runs in the page. */
	async run(what, ...values) {
		const expression = "(" + what + ")(" + values.map(value => JSON.stringify(value)).join(",") + ")";
		const answer = await this.send("Runtime.evaluate",
			{ expression, returnByValue: true, awaitPromise: true });
		if (answer.exceptionDetails)
			throw new Error(answer.exceptionDetails.exception?.description || answer.exceptionDetails.text);
		return answer.result.value;
	}

	/* Wait until it is true. */
	async until(what, ...values) {
		for (let i = 0; i < 400; i++) {
			if (await this.run(what, ...values))
				return;
			await new Promise(done => setTimeout(done, 25));
		}
		throw new Error("never: " + what);
	}

	/* Press a key as a keyboard does: "/", "Escape", "Enter". */
	async press(key) {
		const text = key.length === 1 ? key : key === "Enter" ? "\r" : undefined;
		/* Dialogs are closed by the code. */
		const windowsVirtualKeyCode = key === "Escape" ? 27 : undefined;
		await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", key, text, windowsVirtualKeyCode });
		await this.send("Input.dispatchKeyEvent", { type: "keyUp", key });
	}

	async type(text) {
		await this.send("Input.insertText", { text });
	}

	/* PNG, of the whole page or of what is seen. */
	async picture(file, whole) {
		const answer = await this.send("Page.captureScreenshot", { captureBeyondViewport: !!whole });
		fs.writeFileSync(file, Buffer.from(answer.data, "base64"));
	}

	async pdf() {
		const answer = await this.send("Page.printToPDF", { printBackground: true });
		return Buffer.from(answer.data, "base64");
	}
}

class Browser {
	static async start() {
		const file = program();
		return file ? new Browser(file) : null;
	}

	constructor(file) {
		this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "ctprof-browser-"));
		this.child = spawn(file, ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
			"--disable-background-networking", "--disable-extensions", "--disable-dev-shm-usage",
			"--remote-debugging-pipe", "--user-data-dir=" + this.folder],
		{ stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
		this.last = 0;
		this.asked = new Map();
		this.pages = new Map();
		let rest = Buffer.alloc(0);
		this.child.stdio[4].on("data", bytes => {
			let end;
			rest = Buffer.concat([rest, bytes]);
			while ((end = rest.indexOf(0)) >= 0) {
				this.hear(JSON.parse(rest.subarray(0, end).toString()));
				rest = rest.subarray(end + 1);
			}
		});
		this.child.on("exit", () => {
			for (const { fail } of this.asked.values())
				fail(new Error("the browser ended"));
		});
		this.child.stdio[3].on("error", () => {});
	}

	hear(message) {
		const asked = this.asked.get(message.id);
		if (asked) {
			this.asked.delete(message.id);
			if (message.error)
				asked.fail(new Error(asked.method + ": " + message.error.message));
			else
				asked.done(message.result);
		} else if (this.pages.has(message.sessionId)) {
			this.pages.get(message.sessionId).heard(message.method, message.params);
		}
	}

	send(method, params, sessionId) {
		const id = ++this.last;
		this.child.stdio[3].write(JSON.stringify({ id, method, params: params || {}, sessionId }) + "\0");
		return new Promise((done, fail) => this.asked.set(id, { done, fail, method }));
	}

	/* width, height, dark, noScript */
	async page(options = {}) {
		const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
		const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
		const page = new Page(this, sessionId);
		this.pages.set(sessionId, page);
		for (const domain of ["Page", "Runtime", "Log", "Network"])
			await page.send(domain + ".enable");
		await page.send("Emulation.setDeviceMetricsOverride", { width: options.width || 1100,
			height: options.height || 900, deviceScaleFactor: 1, mobile: false });
		await page.send("Emulation.setEmulatedMedia",
			{ features: [{ name: "prefers-color-scheme", value: options.dark ? "dark" : "light" }] });
		if (options.noScript)
			await page.send("Emulation.setScriptExecutionDisabled", { value: true });
		return page;
	}

	async end() {
		const ended = new Promise(done => this.child.on("exit", done));
		this.send("Browser.close").catch(() => {});
		await ended;
		fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
	}
}

module.exports = Browser;
