/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that keeps what a user chose of the screen: $XDG_CONFIG_HOME/ctprof/top, or
 * ~/.config/ctprof/top.
 *
 * It is read and written with the rights of the user, and only in directories of this user: with
 * sudo(8) and the home directory of another user, nothing is kept. For root no symbolic link may
 * lead there, since links in such a directory could lead to one of root.
 */
#ifndef TOP_SETTINGS_FILE_H
#define TOP_SETTINGS_FILE_H

#include "tui/settings.h"

/* Nothing is set where there is no file, or it may not be used. */
void settings_file_read(struct screen_settings *ret, char note[SETTINGS_NOTE_MAX]);

/* Replaces the file as a whole. */
struct error *settings_file_write(const struct screen_settings *settings) MUST_CHECK;

#endif
