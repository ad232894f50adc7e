/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instead of GnuTLS, which libmicrohttpd refers to for HTTPS: TLS is the work of a reverse proxy
 * (doc/serve.md), and with its libraries the program would be larger by 4 MB and start later. What
 * libmicrohttpd calls at each start of a program is here; the Makefile sets the addresses of the
 * rest, which it calls only for HTTPS, to 0.
 */
#define PUBLIC __attribute__((visibility("default")))

int gnutls_global_init(void);
void gnutls_global_deinit(void);

/* Where libmicrohttpd is shared, these two stand before those of libgnutls.so, which does the same
 * again in its own constructor. */
PUBLIC int gnutls_global_init(void)
{
	return 0;
}

PUBLIC void gnutls_global_deinit(void)
{
}
