/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * culvert(1): what all its commands share.
 *
 * A command returns the exit status: 0 done, 1 refused or failed (one line on stderr said why and
 * the cure), 2 wrong usage.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buffer.h"

enum { CLI_DONE, CLI_FAILED, CLI_USAGE };

struct client;

struct cli {
	const char *socket;
	const char *file;	/* the instance's configuration */
	const char *noun;	/* in full */
	const char *usage;	/* of the noun: what follows it, one form a line */
	bool json;
	const char *argument;	/* that the columns of the daemon's errors count in; NULL: none */
	struct client *client;	/* client.c */
	bool probes;		/* the same */
};

/* "culvert NOUN: ..." on stderr. CLI_FAILED. */
int cli_fail(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "culvert NOUN VERB: not in this version" on stderr; @verb may be NULL. CLI_FAILED. */
int cli_later(const struct cli *cli, const char *verb);
/* How the noun is used, on stderr. CLI_USAGE. */
int cli_usage(const struct cli *cli);
/* @value as one line of JSON on stdout; takes it. */
void cli_print_json(json_t *value);

/* A word of the command line, in full or as a prefix that fits one value only (as in iproute2). */
struct word {
	const char *name;	/* NULL ends the table */
	int value;		/* not negative; several names may have the same */
};
enum { WORD_UNKNOWN = -1, WORD_AMBIGUOUS = -2 };
int word_find(const struct word *words, const char *text);
/* The names that @text may stand for: "tunnel, trace, top". */
void word_candidates(const struct word *words, const char *text, struct buffer *out);

/* client.c: the daemon's end of the socket. All of these report their own errors. */

/* Takes @params (NULL: none). CLI_DONE with *@result a new reference. */
int client_call(struct cli *cli, const char *method, json_t *params, json_t **result);
/* Calls @line for every line of the stream that answers; what it returns, when not 0, ends all. */
int client_lines(struct cli *cli, const char *method, json_t *params,
		 int (*line)(void *arg, const char *text, size_t n), void *arg);
/* All objects of the stream, as an array. */
int client_list(struct cli *cli, const char *method, json_t *params, json_t **array);
/* The stream as it is. */
int client_text(struct cli *cli, const char *method, json_t *params, struct buffer *text);
/* The same, to standard output as it arrives. */
int client_copy(struct cli *cli, const char *method, json_t *params);
void client_close(struct cli *cli);

/* upload.c: sends what @fd (called @name in complaints) has to read. CLI_DONE with *@end a new
 * reference to what the daemon said at the end: the totals, or "error" when it refused it all. */
int client_upload(struct cli *cli, const char *method, int fd, const char *name, json_t **end);

/* Fields of objects; "" and 0 when they are not there. */
const char *get_text(const json_t *object, const char *name);
uint64_t get_int(const json_t *object, const char *name);
double get_real(const json_t *object, const char *name);
bool get_bool(const json_t *object, const char *name);

/* "rx-ring-full 0  fill-empty 0" from an object of the kernel's own counts; the rest only where it
 * is not 0. */
void drops_kernel_counts(struct buffer *out, const json_t *kernel);

/* "rx       N packets, B, now N pps N b/s" from an object with rx_packets, rx_bytes, rx_pps and
 * rx_bps; @direction: rx or tx. */
void traffic_print(const json_t *object, const char *direction);

/* The commands. @argv[0] is the first word after the noun. */
int status_run(struct cli *cli, int argc, char **argv);
int port_run(struct cli *cli, int argc, char **argv);
int network_run(struct cli *cli, int argc, char **argv);
int tunnel_run(struct cli *cli, int argc, char **argv);
int fdb_run(struct cli *cli, int argc, char **argv);
int flow_run(struct cli *cli, int argc, char **argv);
int drops_run(struct cli *cli, int argc, char **argv);
int config_run(struct cli *cli, int argc, char **argv);
int log_run(struct cli *cli, int argc, char **argv);
/* The exit status may be tcpdump's. */
int capture_run(struct cli *cli, int argc, char **argv);

#endif
