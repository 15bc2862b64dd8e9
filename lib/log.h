/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log lines to stderr; under systemd with the <N> level prefix that the journal reads.
 *
 * Threads: any but the workers, which never log.
 */
#ifndef LIB_LOG_H
#define LIB_LOG_H

enum log_level { LOG_LVL_ERROR, LOG_LVL_WARN, LOG_LVL_INFO, LOG_LVL_DEBUG };

/* Lines above @level are not written. May be called at any time. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* "error", "warn", "info", "debug" -> level; -1 when it is none of them. */
int log_level_parse(const char *name);
const char *log_level_name(enum log_level level);

/* One line, no newline in @fmt. Names the object and, where there is one, the cure. */
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_LVL_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_LVL_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_LVL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LVL_DEBUG, __VA_ARGS__)

#endif
