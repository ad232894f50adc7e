// SPDX-License-Identifier: BSD-2-Clause
//
// node chdb_server.mjs --module DIR --data DIR [--port N] [--user NAME --password TEXT]
//
// The HTTP interface of a ClickHouse server around the engine of npm's chdb, as far as ctprof and its tests use it. DIR
// of --module has the node_modules with chdb. The server listens on 127.0.0.1, and prints "ready PORT" when it can
// answer. It can be killed at any time, and started again with the same data.
//
// Queries run one after the other, as the engine is one session.

import { spawnSync } from "child_process";
import fs from "fs";
import http from "http";
import { createRequire } from "module";
import path from "path";
import { once } from "events";
import zlib from "zlib";

const options = { port: "0", user: "default" };
for (let i = 2; i < process.argv.length; i += 2)
	options[process.argv[i].replace(/^--/, "")] = process.argv[i + 1];

fs.mkdirSync(options.data, { recursive: true });
const scratch = path.join(options.data, "bodies");
fs.rmSync(scratch, { recursive: true, force: true });
fs.mkdirSync(scratch);

const { Session } = createRequire(path.resolve(options.module) + "/")("chdb");
const session = new Session(path.join(options.data, "engine"));

// Statuses of exceptions: exceptionCodeToHTTPStatus() of ClickHouse's src/Server/HTTP.
const statuses = { 404: [46, 47, 50, 56, 60, 81, 115], 400: [6, 26, 27, 38, 41, 62, 72, 130], 501: [48], 403: [497, 516] };

// What is no setting of a query.
const words = new Set(["query", "database", "user", "password", "query_id", "compress", "decompress", "session_id",
	"default_format", "wait_end_of_query", "buffer_size", "enable_http_compression"]);

// Formats whose pieces can be sent one after the other.
const streamed = new Set(["RowBinary", "TabSeparated", "TSV", "CSV", "JSONEachRow", "TabSeparatedRaw", "Native"]);

class Refusal extends Error {
	constructor(code, message) {
		super(`Code: ${code}. DB::Exception: ${message}`);
		this.clickhouseCode = code;
	}
}

const quoted = text => "'" + text.replace(/\\/g, "\\\\").replace(/'/g, "\\'").replace(/\0/g, "\\0") + "'";
const run = (query, format = "TSV") => session.queryAsync(query, { format });

async function readBody(request) {
	const pieces = [];

	for await (const piece of request)
		pieces.push(piece);
	return Buffer.concat(pieces);
}

function decoded(body, encoding) {
	if (!body.length || !encoding)
		return body;
	if (encoding === "gzip")
		return zlib.gunzipSync(body);
	if (encoding === "zstd") {
		const child = spawnSync("zstd", ["-dc"], { input: body, maxBuffer: 1 << 30 });

		if (child.status === 0)
			return child.stdout;
	}
	throw new Refusal(354, `Cannot read a body with Content-Encoding ${encoding}`);
}

let numbers = 0;

// The statement of a request: its query, and what is in its body. Data of an INSERT is in a file.
function statementOf(query, body, encoding) {
	const isInsert = /^\s*insert\s/i.test(query) && /\bformat\s+\w+\s*$/i.test(query);
	let extension = { gzip: ".gz", zstd: ".zst" }[encoding] ?? "";

	if (!isInsert) {
		const text = decoded(body, encoding);
		const head = text.subarray(0, 65536).toString("latin1").match(/^\s*insert\s[^;]*?\sformat\s+\w+[ \t]*\r?\n/i);

		if (query || !head)
			return { query: [query, text.toString()].filter(piece => piece).join("\n") };
		query = head[0];
		body = text.subarray(head[0].length);
		extension = "";
	}
	const file = path.join(scratch, `${++numbers}${extension}`);

	fs.writeFileSync(file, body);
	return { query: query.replace(/\bformat\s+\w+\s*$/i, `FROM INFILE ${quoted(file)} $&`), file };
}

async function answer(request, response, url, body) {
	const parameters = [...url.searchParams];
	const of = name => url.searchParams.get(name) ?? "";
	const settings = parameters.filter(([name]) => !words.has(name) && !name.startsWith("param_"));
	const statement = statementOf(of("query"), body, request.headers["content-encoding"]);
	const format = statement.query.match(/\bformat\s+(\w+)\s*;?\s*$/i)?.[1] ?? (of("default_format") || "TabSeparated");
	let out = response;

	try {
		if (!statement.query.trim())
			throw new Refusal(62, "Empty query");
		// A server refuses changes by GET.
		if (request.method === "GET" && !/^\s*(\(|select|with|show|desc|exists|explain)/i.test(statement.query))
			throw new Refusal(164, "Cannot execute query in readonly mode");
		await run(`USE ${"`" + (of("database") || "default").replace(/[\\`]/g, "\\$&") + "`"}`);
		for (const [name, value] of parameters.filter(([name]) => name.startsWith("param_")))
			await run(`SET ${name} = ${quoted(value)}`);
		for (const [name, value] of settings) {
			if (!/^\w+$/.test(name))
				throw new Refusal(115, `Unknown setting ${name}`);
			await run(`SET ${name} = ${quoted(value)}`);
		}
		const begin = () => {
			response.setHeader("X-ClickHouse-Format", format);
			if (of("enable_http_compression") === "1" && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "")) {
				response.setHeader("Content-Encoding", "gzip");
				out = zlib.createGzip({ level: 3 });
				out.pipe(response);
			}
		};
		if (/^\s*(\(|select|with)/i.test(statement.query) && streamed.has(format)) {
			let begun = false;

			for await (const piece of session.queryStream(statement.query, { format })) {
				if (!begun)
					begin();
				begun = true;
				if (response.destroyed)
					break;
				if (!out.write(piece.raw()))
					await Promise.race([once(out, "drain"), once(response, "close")]);
			}
			if (!begun)
				begin();
		} else {
			const result = await run(statement.query, format);

			begin();
			out.write(Buffer.from(result.bytes()));
		}
		out.end();
	} finally {
		for (const [name] of settings)
			await run(`SET ${name} = DEFAULT`).catch(() => {});
		if (statement.file)
			fs.rmSync(statement.file, { force: true });
	}
}

function refuse(response, error) {
	const code = error.clickhouseCode ?? Number(error.message.match(/Code: (\d+)/)?.[1] ?? 1002);
	const status = Object.keys(statuses).find(status => statuses[status].includes(code)) ?? 500;

	// As a server does, end the connection without the end of the body.
	if (response.headersSent)
		return response.destroy();
	response.writeHead(Number(status), { "X-ClickHouse-Exception-Code": code, "Content-Type": "text/plain" });
	response.end(error.message.trim() + "\n");
}

function isAllowed(request, url) {
	const basic = Buffer.from((request.headers.authorization ?? "").replace(/^Basic /, ""), "base64").toString();
	const [, user, password] = basic.match(/^([^:]*):([^]*)$/) ?? [];

	return !options.password ||
		((request.headers["x-clickhouse-user"] ?? user ?? url.searchParams.get("user")) === options.user &&
			(request.headers["x-clickhouse-key"] ?? password ?? url.searchParams.get("password")) === options.password);
}

let queue = Promise.resolve();

const server = http.createServer({ maxHeaderSize: 1 << 20 }, async (request, response) => {
	const url = new URL(request.url, "http://localhost");

	response.on("error", () => {});
	if (url.pathname === "/ping")
		return response.end("Ok.\n");
	if (url.pathname !== "/") {
		response.writeHead(404);
		return response.end("There is no handle " + url.pathname + "\n");
	}
	try {
		const body = await readBody(request);

		if (!isAllowed(request, url))
			throw new Refusal(516, `${options.user}: Authentication failed`);
		queue = queue.then(() => answer(request, response, url, body)).catch(error => refuse(response, error));
	} catch (error) {
		refuse(response, error);
	}
});

server.listen(Number(options.port), "127.0.0.1", () => console.log("ready " + server.address().port));
for (const signal of ["SIGTERM", "SIGINT"])
	process.on(signal, () => process.exit(0));
