/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dialog that sends files to the server and has it make the page of `ctprof report` of them.
 */
import { button } from "./controls.js";
import { serverAddress } from "./url.js";

const { element } = flameWords;
const $ = id => document.getElementById(id);

/* FILE_BYTES_MOST and REPORT_FILES_MOST of the server, which refuses larger requests. */
const BYTES_MOST = 64 * 2 ** 20, FILES_MOST = 8;

let files = []; /* in the order in which they are compared */
let running = null; /* the AbortController of the request in progress */

const size = bytes => bytes < 2 ** 20 ? Math.ceil(bytes / 1024) + " KiB" : (bytes / 2 ** 20).toFixed(1) + " MiB";

/* Show words, or an element. */
function say(what, isWrong) {
	$("compare-said").replaceChildren(what);
	$("compare-said").classList.toggle("wrong", !!isWrong);
}

/* Post a request. Returns the id in the answer, or throws an error with the answer's text. */
async function post(path, query, body) {
	let answer;
	try {
		answer = await fetch(serverAddress(path, query), { method: "POST", body, signal: running.signal });
	} catch (wrong) {
		throw wrong.name === "AbortError" ? wrong
			: new Error("nothing came back: ctprof cannot be reached, or the file cannot be read");
	}
	const words = await answer.text();
	if (!answer.ok)
		throw new Error(words.trim() || "the server answers with status " + answer.status);
	return JSON.parse(words).id;
}

/* Send one file after the other: the server accepts one upload of an address at a time. */
async function sendFiles() {
	const ids = [];
	for (const [i, file] of files.entries()) {
		say("Sending file " + (i + 1) + " of " + files.length + ": " + file.name + ", " + size(file.size) + " …");
		try {
			ids.push(await post("api/files", { name: file.name }, file));
		} catch (wrong) {
			throw wrong.name === "AbortError" ? wrong : new Error(file.name + ": " + wrong.message);
		}
	}
	return ids;
}

/* A link to the report. Its address needs no token and has none. */
function linkTo(id) {
	const link = element("a", "Open the report");
	link.href = new URL("api/report/" + id, location.href).href;
	link.target = "_blank";
	link.rel = "noopener";
	return link;
}

async function makeReport() {
	running = new AbortController();
	showFiles();
	try {
		const ids = await sendFiles();
		say("Making the report …");
		const link = linkTo(await post("api/report", { files: ids.join(",") }));
		say(link);
		link.focus();
	} catch (wrong) {
		say(wrong.name === "AbortError" ? "" : wrong.message, true);
	}
	running = null;
	showFiles();
}

/* --- the files that are chosen --- */

function changeFiles(changed) {
	files = changed;
	say("");
	showFiles();
}

function addFiles(added) {
	if (running)
		return;
	const isTaken = file => file.size > 0 && file.size <= BYTES_MOST, taken = [...added].filter(isTaken);
	const refused = [...added].filter(file => !isTaken(file));
	changeFiles([...files, ...taken].slice(0, FILES_MOST));
	if (refused.length)
		say(refused[0].name + (refused[0].size ? " is larger than " + size(BYTES_MOST) : " is empty"), true);
	else if (taken.length && !files.includes(taken[taken.length - 1]))
		say("A report has " + FILES_MOST + " files at most", true);
}

/* The role of a file in the comparison, if its position determines it. */
const part = i => files.length === 2 ? ["before: ", "after: "][i] : "";

function showFiles() {
	const act = (text, file, isOff, changed) => {
		const made = button(text, text + ": " + file.name, () => {
			changeFiles(changed());
			$("compare-files").focus();
		});
		made.setAttribute("aria-label", made.title);
		made.disabled = isOff || !!running;
		return made;
	};
	$("compare-list").replaceChildren(...files.map((file, i) => {
		const row = element("li"), rest = files.filter(other => other !== file);
		row.append(element("span", part(i) + file.name), element("small", size(file.size)),
			act("First", file, i === 0, () => [file, ...rest]), act("Remove", file, false, () => rest));
		return row;
	}));
	$("compare-go").textContent = files.length > 1 ? "Compare" : "Show";
	$("compare-go").disabled = !files.length || !!running;
	$("compare-files").disabled = !!running;
}

/* --- the dialog --- */

export function openCompare() {
	if (!$("compare").open)
		$("compare").showModal();
}

/* Accept files that are dropped anywhere on the page, since the browser would open them in its place. */
function takeDrops() {
	const hasFiles = event => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
	const mark = isOver => $("compare").classList.toggle("over", isOver);
	window.addEventListener("dragover", event => {
		if (!hasFiles(event))
			return;
		event.preventDefault();
		mark(true);
	});
	window.addEventListener("dragleave", event => { if (!event.relatedTarget) mark(false); });
	window.addEventListener("drop", event => {
		if (!hasFiles(event))
			return;
		event.preventDefault();
		mark(false);
		if (!document.querySelector("dialog[open]"))
			openCompare();
		if ($("compare").open)
			addFiles(event.dataTransfer.files);
	});
}

export function setUpCompare() {
	$("compare-open").addEventListener("click", openCompare);
	$("compare-close").addEventListener("click", () => $("compare").close());
	$("compare").addEventListener("close", () => running?.abort());
	$("compare-go").addEventListener("click", makeReport);
	$("compare-files").addEventListener("change", () => {
		addFiles($("compare-files").files);
		$("compare-files").value = ""; /* so that the same file can be chosen again */
	});
	takeDrops();
	showFiles();
}
