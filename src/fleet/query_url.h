/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries (store/url.h) that differ from another one in some parameters, for commands that are
 * suggested to users.
 */
#ifndef FLEET_QUERY_URL_H
#define FLEET_QUERY_URL_H

/*
 * New values of parameters of a URL; NULL: leave what the URL has. Hosts, programs and values of
 * labels are names of the store, which are written so that they match themselves only: in URLs they
 * are globs.
 */
struct fleet_parameters {
	const char *host, *process, *from, *to;
	const char *label_name; /* "label.version"; NULL with `label` NULL */
	const char *label;
};

/* The URL with these parameters replaced. To be freed; NULL: no memory. */
char *fleet_url_with(const char *url, const struct fleet_parameters *parameters);

#endif
