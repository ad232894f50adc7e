// SPDX-License-Identifier: BSD-2-Clause
//
// A server with the page of ctprof serve and synthetic or recorded readings, for work on the page and
// for its tests:
//
//	node tests/assets/serve/fake.mjs [--port N] [--history TICKS] [--interval-ms N] [--crowd N] [--stacks N] [--recorded FILE]
//
// FILE is the output of `curl -N 'http://.../api/live'`. Where the program has a server of its own,
// tests use that as well.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { dirname, extname, join } from "node:path";
import { Readings } from "./readings.mjs";

const assets = join(dirname(fileURLToPath(import.meta.url)), "../../../assets");
const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml" };
// Files that the page shares with others.
const shared = ["flame_words.js", "page.css", "table.js"];
const headers = { "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache" };

const reportHeaders = { ...headers, "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox allow-scripts" };

// The events of a recorded stream.
function eventsOf(text) {
	return text.split(/\n\n+/).map(block => {
		const event = { type: "message", id: "", data: "" };
		for (const line of block.split("\n")) {
			const [, field, value] = /^(\w+): ?(.*)$/.exec(line) || [];
			if (field === "event")
				event.type = value;
			else if (field === "id" || field === "data")
				event[field] += value;
		}
		return event;
	}).filter(event => event.data);
}

export class FakeServer {
	// `ticks` are those of the past; with `intervalMs` others follow.
	constructor(options = {}) {
		this.options = { history: 60, intervalMs: 1000, token: "", generation: 1, ...options };
		this.readings = new Readings(options.readings);
		this.about = this.readings.about();
		this.ticks = [];
		this.clients = new Set();
		this.requests = [];
		this.files = []; /* [name, text] of those that were sent; ids are their numbers */
		for (let i = 0; i < this.options.history; i++)
			this.ticks.push(this.readings.next());
		this.server = createServer((request, response) => this.answer(request, response).catch(wrong => {
			response.writeHead(wrong.code === "ENOENT" ? 404 : 500, headers).end(String(wrong.message));
		}));
	}

	async listen(port = 0) {
		await new Promise(resolve => this.server.listen(port, "127.0.0.1", resolve));
		this.port = this.server.address().port;
		if (this.options.intervalMs)
			this.timer = setInterval(() => this.advance(), this.options.intervalMs);
		return "http://127.0.0.1:" + this.port + "/" + (this.options.token ? "?token=" + this.options.token : "");
	}

	async close() {
		clearInterval(this.timer);
		for (const client of this.clients)
			client.destroy();
		this.server.closeAllConnections();
		await new Promise(resolve => this.server.close(resolve));
	}

	advance() {
		const tick = this.readings.next();
		this.ticks.push(tick);
		for (const client of this.clients)
			client.write(this.event(tick));
	}

	event(tick) {
		return "event: tick\nid: " + this.options.generation + "." + tick.seq + "\ndata: " + JSON.stringify(tick) + "\n\n";
	}

	async answer(request, response) {
		const url = new URL(request.url, "http://host");
		this.requests.push(request.url);
		if (url.pathname === "/" || url.pathname.startsWith("/page/")) {
			const name = url.pathname === "/" ? "index.html" : url.pathname.slice(6);
			if (!/^[\w]+\.\w+$/.test(name))
				throw Object.assign(new Error("no such file"), { code: "ENOENT" });
			const bytes = await readFile(shared.includes(name) ? join(assets, name) : join(assets, "serve", name));
			response.writeHead(200, { ...headers, "Content-Type": types[extname(name)] }).end(bytes);
			return;
		}
		/* The address of a report has no token. */
		if (url.pathname.startsWith("/api/report/")) {
			response.writeHead(200, { ...reportHeaders, "Content-Type": "text/html; charset=utf-8" })
				.end("<!DOCTYPE html><title>Report of " + url.pathname.slice(12).split("-").map(id => this.files[id][0]).join(" and ") + "</title>");
			return;
		}
		if (this.options.token && url.searchParams.get("token") !== this.options.token) {
			response.writeHead(401, headers).end("a token is needed");
			return;
		}
		if (this.refusal) {
			response.writeHead(this.refusal, { ...headers, "Retry-After": "1" }).end("too many clients wait for data");
			return;
		}
		if (url.pathname === "/api/about") {
			response.writeHead(200, { ...headers, "Content-Type": "application/json" }).end(JSON.stringify(this.about));
		} else if (url.pathname === "/api/thread") {
			const { status, text } = this.inspection || this.inspect(+url.searchParams.get("tid"));
			response.writeHead(status, headers).end(text);
		} else if (url.pathname === "/api/live") {
			this.stream(request, response);
		} else if (request.method === "POST") {
			await this.take(request, response, url);
		} else {
			response.writeHead(404, headers).end("no such path");
		}
	}

	// Each thread waits for a lock of the next, which waits for one that no reading has. `inspection` replaces this:
	// { status, text }.
	inspect(tid) {
		const { actors } = this.readings, actor = actors.find(actor => actor.tid === tid);
		if (!actor)
			return { status: 404, text: "thread " + tid + " has ended\n" };
		const holder = actors[(actor.number + 1) % actors.length], chain = [[tid, actor.name], [holder.tid, holder.name], [77, "far away"]];
		return { status: 200, text: JSON.stringify({ tid, answer: "99 % waiting for lock 0x7f00 held by " + holder.name + " (" + holder.tid + ")",
			chain: chain.map(([tid, comm]) => ({ tid, comm, waits: "lock" })), also: null,
			limits: { policy: "SCHED_OTHER", priority: 0, nice: 5, cpus: { allowed: "0", count: 1, online: 2 },
				quota: { cgroup: actor.kind.cgroup, cpus: 0.5 } } }) };
	}

	/* A file, or files of which a report is to be made. One that says "broken" cannot be read. */
	async take(request, response, url) {
		const reply = (status, text) => response.writeHead(status, { ...headers, "Content-Type": "application/json" }).end(text);
		let text = "";
		for await (const bytes of request)
			text += bytes;
		if (url.pathname === "/api/files") {
			if (this.busy)
				return reply(429, "another file of this address is being sent\n");
			this.files.push([url.searchParams.get("name"), text]);
			return reply(201, JSON.stringify({ id: this.files.length - 1 + "" }));
		}
		const ids = url.searchParams.get("files").split(","), broken = ids.find(id => this.files[id][1].includes("broken"));
		return broken ? reply(422, this.files[broken][0] + ": not a file of ctprof\n") : reply(201, JSON.stringify({ id: ids.join("-") }));
	}

	stream(request, response) {
		const [generation, seq] = (request.headers["last-event-id"] || "").split(".").map(Number);
		const knows = generation === this.options.generation;
		response.writeHead(200, { ...headers, "Content-Type": "text/event-stream" });
		response.write("retry: 300\n\nevent: about\ndata: " + JSON.stringify(this.about) + "\n\n");
		if (!knows)
			response.write("event: reset\ndata: {\"generation\": " + this.options.generation + "}\n\n");
		if (this.options.recorded) {
			for (const event of this.options.recorded)
				if (event.type !== "about" || event !== this.options.recorded[0])
					response.write("event: " + event.type + "\nid: " + event.id + "\ndata: " + event.data + "\n\n");
		} else {
			for (const tick of this.ticks)
				if (!knows || tick.seq > seq)
					response.write(this.event(tick));
		}
		this.clients.add(response);
		response.on("close", () => this.clients.delete(response));
	}
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const given = Object.fromEntries(process.argv.slice(2).join(" ").split("--").filter(Boolean).map(word => word.trim().split(/[ =]/)));
	const number = (name, otherwise) => given[name] === undefined ? otherwise : +given[name];
	const recorded = given.recorded ? eventsOf(await readFile(given.recorded, "utf8")) : null;
	const server = new FakeServer({ history: number("history", 120), intervalMs: recorded ? 0 : number("interval-ms", 1000), recorded,
		readings: { crowd: number("crowd", 0), stacks: number("stacks", 0), beginMs: Date.now() - 1000 * number("history", 120) } });
	if (recorded)
		server.about = JSON.parse(recorded.find(event => event.type === "about").data);
	console.log(await server.listen(number("port", 0)));
}
