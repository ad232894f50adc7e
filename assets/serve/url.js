/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the view in the part of the address behind "#", so that an address shows what its
 * sender saw; and addresses of the server, which pass on the token of the page's own.
 */

/* name in the address: [member, how it is read, how it is written]; left out where it is the default. */
const text = [value => value, value => value], flag = [value => value === "1", value => value ? "1" : ""];
const list = [value => value.split(",").filter(part => part), value => value.join(",")];
const members = {
	view: ["view", ...text], mode: ["mode", ...text], by: ["group", ...text], window: ["window", ...text], pin: ["pin", ...text],
	idle: ["idle", ...text], preset: ["presets", ...list], without: ["without", ...list], hide: ["hide", ...list], icicle: ["icicle", ...flag], leaf: ["leaf", ...flag],
	modules: ["modules", ...flag], filter: ["filter", ...text], search: ["search", ...text], zoom: ["zoom", ...text],
	fn: ["fn", ...text], thread: ["thread", ...text], rows: ["rows", ...text], sort: ["sort", ...text],
	table: ["table", ...text], theme: ["theme", ...text],
};

export const defaults = Object.freeze({ view: "flame", mode: "wall", group: "program", window: "60", pin: "", idle: "", hide: [], presets: [], without: [],
	icicle: false, leaf: false, modules: false, filter: "", search: "", zoom: "", fn: "", thread: "", rows: "thread",
	sort: "", table: "threads", theme: "" });

export function readState(hash) {
	const state = structuredClone(defaults);
	for (const [name, value] of new URLSearchParams(hash.replace(/^#/, "")))
		if (Object.hasOwn(members, name))
			state[members[name][0]] = members[name][1](value);
	return state;
}

export function writeState(state) {
	const out = new URLSearchParams();
	for (const [name, [member, , write]] of Object.entries(members)) {
		const value = write(state[member]);
		if (value !== write(defaults[member]))
			out.set(name, value);
	}
	return out.toString();
}

/* A path of the server, with the token of this page. */
export function serverAddress(path, query = {}) {
	const address = new URL(path, location.href), token = new URLSearchParams(location.search).get("token");
	address.search = "";
	address.hash = "";
	for (const [name, value] of Object.entries(query))
		address.searchParams.set(name, value);
	if (token)
		address.searchParams.set("token", token);
	return address.href;
}
