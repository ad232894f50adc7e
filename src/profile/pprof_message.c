/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What protoc-c makes of profile.proto.
 */
#include <profile.pb-c.c>
