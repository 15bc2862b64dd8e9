/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * standin: what a dump costs in CPU time, without a switch: one process makes rules' text and
 * writes it to a Unix socket, another one reads it and writes it to /dev/null, until killed.
 *
 * Beside it a quiet switch is measured: what a dump adds to that is the switch's doing.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/flow_set.h"

#define CHUNK_BYTES 65536
#define LINE_MAX_BYTES 256

static size_t write_line(char *at, uint32_t i)
{
	struct flow_tuple t = flow_tuple(i);

	return (size_t)sprintf(at, " cookie=0x0, duration=%u.%03us, table=0, n_packets=0, "
			       "n_bytes=0, udp,nw_src=%u.%u.%u.%u,nw_dst=%u.%u.%u.%u,"
			       "tp_src=%u,tp_dst=%u actions=NORMAL\n",
			       i / 1000, i % 1000, t.src >> 24, t.src >> 16 & 255,
			       t.src >> 8 & 255, t.src & 255, t.dst >> 24, t.dst >> 16 & 255,
			       t.dst >> 8 & 255, t.dst & 255, t.tp_src, t.tp_dst);
}

static void make(int to)
{
	static char chunk[CHUNK_BYTES];
	uint32_t i = 0;
	size_t n;

	do {
		n = 0;
		while (n + LINE_MAX_BYTES <= sizeof(chunk))
			n += write_line(chunk + n, i++);
	} while (write(to, chunk, n) == (ssize_t)n);
}

static void copy(int from)
{
	static char chunk[CHUNK_BYTES];
	int null = open("/dev/null", O_WRONLY);
	ssize_t n;

	while ((n = read(from, chunk, sizeof(chunk))) > 0 && write(null, chunk, (size_t)n) == n)
		;
}

int main(void)
{
	pid_t parent = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) {
		perror("standin");
		return 1;
	}
	switch (fork()) {
	case -1:
		perror("standin");
		return 1;
	case 0:
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			return 1;
		copy(ends[0]);
		return 0;
	}
	make(ends[1]);
	return 1;
}
