/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as people read them. Each function writes into the caller's text and returns it.
 */
#ifndef LIB_FORMAT_H
#define LIB_FORMAT_H

#include <stdint.h>

#define FORMAT_BYTES 32

/* Three or four characters: 0, 999, 1.0k, 31k, 812k, 1.0M, 34M, 2.5G. */
const char *format_count(uint64_t n, char text[static FORMAT_BYTES]);
/* In full up to five digits, then as format_count. */
const char *format_number(uint64_t n, char text[static FORMAT_BYTES]);
/* With a prefix in front of @unit, three digits: "3.41 Mpps", "18.2 Gb/s", "452 pps". */
const char *format_unit(double value, const char *unit, char text[static FORMAT_BYTES]);
/* The two largest units: "12d 3h", "3h 20m", "2m 5s", "7s". */
const char *format_age(uint64_t seconds, char text[static FORMAT_BYTES]);
/* The largest unit: "12d", "3h", "2m", "7s". */
const char *format_age_short(uint64_t seconds, char text[static FORMAT_BYTES]);
/* A link's speed: "25G", "2.5G", "100M", "-" for 0. */
const char *format_speed(uint32_t mbps, char text[static FORMAT_BYTES]);

#endif
