/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/client.h"
#include "cli/excerpt.h"
#include "cli/protocol.h"
#include "lib/bits.h"

#define READ_BYTES (64 * 1024)

static int refused_by_mode(const struct cli *cli)
{
	const struct group *group = NULL;
	struct stat st;

	if (stat(cli->socket, &st) == 0 && st.st_gid != 0)
		group = getgrgid(st.st_gid);
	if (!group)
		return cli_fail(cli, "no permission for %s: run it as root (sudo)", cli->socket);
	return cli_fail(cli,
			"no permission for %s: run it as root, or join group %s "
			"(usermod -aG %s USER) and log in again",
			cli->socket, group->gr_name, group->gr_name);
}

static int connect_failed(const struct cli *cli, int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return cli_fail(cli,
				"no culvertd at %s: start it (systemctl start culvertd), or name "
				"its socket with -s or -n",
				cli->socket);
	case ECONNREFUSED:
		return cli_fail(cli,
				"culvertd is dead: nobody listens on %s; see journalctl -u "
				"culvertd and start it again",
				cli->socket);
	case EACCES:
	case EPERM:
		return refused_by_mode(cli);
	case EAGAIN:
		return cli_fail(cli, "culvertd does not answer on %s: see journalctl -u culvertd",
				cli->socket);
	default:
		return cli_fail(cli, "%s: %s", cli->socket, strerror(error));
	}
}

static int client_open(struct cli *cli)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = CLIENT_PATIENCE_S};
	struct client *c;
	int r;

	if (cli->client)
		return CLI_DONE;
	if (strlen(cli->socket) >= sizeof(address.sun_path))
		return cli_fail(cli, "the socket's path is longer than %zu bytes",
				sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, cli->socket);
	c = calloc(1, sizeof(*c));
	if (!c)
		return cli_fail(cli, "out of memory");
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	do
		r = connect(c->fd, (struct sockaddr *)&address, sizeof(address));
	while (r < 0 && errno == EINTR);
	cli->client = c;
	if (r == 0)
		return CLI_DONE;
	r = connect_failed(cli, errno);
	client_close(cli);
	return r;
}

void client_close(struct cli *cli)
{
	struct client *c = cli->client;

	if (!c)
		return;
	close(c->fd);
	buffer_fini(&c->in);
	free(c);
	cli->client = NULL;
}

static int lost(const struct cli *cli, ssize_t r)
{
	if (r < 0 && errno == EAGAIN)
		return cli_fail(cli, "culvertd does not answer within %d s", CLIENT_PATIENCE_S);
	if (r < 0 && errno != ECONNRESET)
		return cli_fail(cli, "%s: %s", cli->socket, strerror(errno));
	return cli_fail(cli, "culvertd closed the connection: see journalctl -u culvertd");
}

/* Nothing came for a while, which may be right: a million rules are taking effect, or others
 * come first. On a connection of its own the daemon answers at once. */
static int probe(const struct cli *cli)
{
	struct cli other = {.socket = cli->socket, .noun = cli->noun, .probes = true};
	json_t *result;
	int status = client_call(&other, "log", NULL, &result);

	json_decref(result);
	client_close(&other);
	return status;
}

/* A call on the socket failed. CLI_DONE: once more. */
static int failed_call(const struct cli *cli)
{
	if (errno == EINTR)
		return CLI_DONE;
	if (errno == EAGAIN && !cli->probes)
		return probe(cli);
	return lost(cli, -1);
}

int client_fill(struct cli *cli)
{
	struct client *c = cli->client;
	ssize_t r;

	buffer_consume(&c->in, c->start);
	c->start = 0;
	if (!buffer_reserve(&c->in, READ_BYTES))
		return cli_fail(cli, "out of memory");
	while ((r = recv(c->fd, c->in.data + c->in.n, READ_BYTES, 0)) < 0)
		if (failed_call(cli))
			return CLI_FAILED;
	if (r == 0)
		return lost(cli, r);
	c->in.n += (size_t)r;
	c->in.data[c->in.n] = '\0';
	return CLI_DONE;
}

int client_read_line(struct cli *cli, char **line)
{
	struct client *c = cli->client;
	size_t searched = 0;

	for (;;) {
		size_t n = c->in.n - c->start;
		char *newline = NULL;

		if (n > searched)
			newline = memchr(c->in.data + c->start + searched, '\n', n - searched);
		if (newline) {
			*newline = '\0';
			*line = c->in.data + c->start;
			c->start = (size_t)(newline - c->in.data) + 1;
			return CLI_DONE;
		}
		searched = n;
		if (client_fill(cli))
			return CLI_FAILED;
	}
}

int client_send(struct cli *cli, const char *bytes, size_t n)
{
	while (n) {
		ssize_t r = send(cli->client->fd, bytes, n, MSG_NOSIGNAL);

		if (r < 0 && (errno == EPIPE || errno == ECONNRESET))
			break;
		if (r < 0 && failed_call(cli))
			return CLI_FAILED;
		if (r > 0) {
			bytes += r;
			n -= (size_t)r;
		}
	}
	return CLI_DONE;
}

static int send_request(struct cli *cli, const char *method, json_t *params)
{
	json_t *request = json_pack("{s:s, s:i, s:s, s:o}", "jsonrpc", "2.0", "id", 1, "method",
				    method, "params", params ? params : json_object());
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	struct buffer line = {0};
	int status;

	json_decref(request);
	if (!text)
		return cli_fail(cli, "an argument is not UTF-8");
	buffer_printf(&line, "%s\n", text);
	free(text);
	status = client_send(cli, line.data, line.n);
	buffer_fini(&line);
	return status;
}

static int fail_with(const struct cli *cli, const json_t *error)
{
	const json_t *first = json_array_get(json_object_get(error, "data"), 0);
	uint64_t column = get_int(first, "column");

	cli_fail(cli, "%s", get_text(error, "message"));
	if (cli->argument && column)
		excerpt_print(stderr, cli->argument, column);
	return CLI_FAILED;
}

int client_call(struct cli *cli, const char *method, json_t *params, json_t **result)
{
	json_t *message, *error;
	char *line;

	*result = NULL;
	if (client_open(cli)) {
		json_decref(params);
		return CLI_FAILED;
	}
	if (send_request(cli, method, params) || client_read_line(cli, &line))
		return CLI_FAILED;
	message = json_loads(line, 0, NULL);
	error = json_object_get(message, "error");
	if (error) {
		fail_with(cli, error);
	} else {
		*result = json_incref(json_object_get(message, "result"));
		if (!*result)
			cli_fail(cli, "%s is no culvertd: it talks something else", cli->socket);
	}
	json_decref(message);
	return *result ? CLI_DONE : CLI_FAILED;
}

/* Makes sure that @n bytes are there behind start. */
static int read_bytes(struct cli *cli, size_t n)
{
	while (cli->client->in.n - cli->client->start < n)
		if (client_fill(cli))
			return CLI_FAILED;
	return CLI_DONE;
}

int client_chunk(const struct cli *cli, const char *line, size_t *n)
{
	char *end;

	*n = strtoul(line, &end, 10);
	if (end == line || *end || *n > 64 * PROTOCOL_LINE_MAX)
		return cli_fail(cli, "%s is no culvertd: it talks something else", cli->socket);
	return CLI_DONE;
}

int client_end(const struct cli *cli, const char *line, json_t **end)
{
	json_t *message = json_loads(line, 0, NULL);
	json_t *params = json_object_get(message, "params");
	json_t *error = json_object_get(params, "error");
	int status = !params ? cli_fail(cli, "the answer is cut off") :
		     error   ? fail_with(cli, error) :
			       CLI_DONE;

	*end = status == CLI_DONE ? json_incref(params) : NULL;
	json_decref(message);
	return status;
}

static int read_end(struct cli *cli)
{
	json_t *end = NULL;
	char *line;
	int status = client_read_line(cli, &line);

	if (status == CLI_DONE)
		status = client_end(cli, line, &end);
	json_decref(end);
	return status;
}

/* Calls @chunk with each chunk of the answer's stream. */
static int read_stream(struct cli *cli, const char *method, json_t *params,
		       int (*chunk)(void *arg, const char *bytes, size_t n), void *arg)
{
	json_t *result;
	char *line;
	int status = client_call(cli, method, params, &result);

	if (status)
		return status;
	json_decref(result);
	for (;;) {
		size_t n;

		if (client_read_line(cli, &line) || client_chunk(cli, line, &n))
			return CLI_FAILED;
		if (n == 0)
			return read_end(cli);
		if (read_bytes(cli, n))
			return CLI_FAILED;
		status = chunk(arg, cli->client->in.data + cli->client->start, n);
		cli->client->start += n;
		if (status)
			return status;
	}
}

/* Chunks end with a whole line. */
struct splitter {
	int (*line)(void *arg, const char *text, size_t n);
	void *arg;
};

static int split(void *arg, const char *bytes, size_t n)
{
	struct splitter *s = arg;
	const char *end = bytes + n;

	while (bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		const char *stop = newline ? newline : end;
		int status = s->line(s->arg, bytes, (size_t)(stop - bytes));

		if (status)
			return status;
		bytes = stop + 1;
	}
	return CLI_DONE;
}

int client_lines(struct cli *cli, const char *method, json_t *params,
		 int (*line)(void *arg, const char *text, size_t n), void *arg)
{
	struct splitter s = {line, arg};

	return read_stream(cli, method, params, split, &s);
}

static int append(void *arg, const char *text, size_t n)
{
	return json_array_append_new(arg, json_loadb(text, n, 0, NULL)) ? CLI_FAILED : CLI_DONE;
}

int client_list(struct cli *cli, const char *method, json_t *params, json_t **array)
{
	int status;

	*array = json_array();
	status = client_lines(cli, method, params, append, *array);
	if (status) {
		json_decref(*array);
		*array = NULL;
	}
	return status;
}

static int add_bytes(void *arg, const char *bytes, size_t n)
{
	buffer_add(arg, bytes, n);
	return CLI_DONE;
}

int client_text(struct cli *cli, const char *method, json_t *params, struct buffer *text)
{
	return read_stream(cli, method, params, add_bytes, text);
}

static int write_bytes(void *arg, const char *bytes, size_t n)
{
	while (n) {
		ssize_t r = write(STDOUT_FILENO, bytes, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return cli_fail(arg, "standard output: %s", strerror(errno));
		bytes += r;
		n -= (size_t)r;
	}
	return CLI_DONE;
}

int client_copy(struct cli *cli, const char *method, json_t *params)
{
	fflush(stdout);
	return read_stream(cli, method, params, write_bytes, cli);
}

const char *get_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

uint64_t get_int(const json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

double get_real(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

bool get_bool(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}
