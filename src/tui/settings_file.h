/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that keep what a user chose of a screen: $XDG_CONFIG_HOME/ctprof/NAME, or
 * ~/.config/ctprof/NAME.
 *
 * They are read and written with the rights of the user, and only in directories of this user: with
 * sudo(8) and the home directory of another user, nothing is kept. For root no symbolic link may
 * lead there, since links in such a directory could lead to one of root.
 */
#ifndef TUI_SETTINGS_FILE_H
#define TUI_SETTINGS_FILE_H

#include "base/error.h"
#include "tui/settings_text.h"

/* Its text, in `bytes`; empty where there is no file, or it may not be used. */
struct text settings_file_read(const char *name, char bytes[SETTINGS_BYTES_MAX]);

/* Replaces the file as a whole. `text` may be NULL: there was no memory for it. */
struct error *settings_file_write(const char *name, const char *text) MUST_CHECK;

#endif
