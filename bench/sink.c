/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink: drops what a device receives, and says how much that was.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "sink.skel.h"

static const char usage[] =
	"usage: sink [-p] DEVICE [WARM_SECONDS SECONDS]\n"
	"Drops all frames that DEVICE receives; prints how many a second over SECONDS, after\n"
	"WARM_SECONDS; or, for each line that it reads, how many there were so far.\n"
	"-p: neither drops nor counts the probes of bench/gaps.\n";

/* The sum over all CPUs. */
static uint64_t count_frames(int map, int n_cpus)
{
	uint64_t *values = calloc((size_t)n_cpus, sizeof(*values)), sum = 0;
	uint32_t zero = 0;

	if (!values || bpf_map_lookup_elem(map, &zero, values)) {
		perror("sink: reading the count");
		exit(1);
	}
	for (int i = 0; i < n_cpus; i++)
		sum += values[i];
	free(values);
	return sum;
}

static void measure(int map, double warm_s, double seconds)
{
	int n_cpus = libbpf_num_possible_cpus();
	uint64_t begin, begin_ns, end;

	usleep((useconds_t)(warm_s * 1e6));
	begin = count_frames(map, n_cpus);
	begin_ns = clock_ns();
	usleep((useconds_t)(seconds * 1e6));
	end = count_frames(map, n_cpus);
	printf("%.0f\n", (double)(end - begin) * 1e9 / (double)(clock_ns() - begin_ns));
}

static void answer_lines(int map)
{
	int n_cpus = libbpf_num_possible_cpus(), c;

	while ((c = getchar()) != EOF)
		if (c == '\n') {
			printf("%llu\n", (unsigned long long)count_frames(map, n_cpus));
			fflush(stdout);
		}
}

/* With the program on @device. */
static struct sink *open_sink(const char *device, bool pass_probes, struct bpf_link **link)
{
	unsigned int ifindex = if_nametoindex(device);
	struct sink *skeleton;

	if (!ifindex) {
		fprintf(stderr, "sink: %s: no such device in this namespace\n", device);
		return NULL;
	}
	skeleton = sink__open();
	if (!skeleton) {
		perror("sink: BPF program");
		return NULL;
	}
	skeleton->rodata->pass_probes = pass_probes;
	if (sink__load(skeleton)) {
		perror("sink: BPF program");
		goto destroy;
	}
	*link = bpf_program__attach_xdp(skeleton->progs.count_and_drop, (int)ifindex);
	if (*link)
		return skeleton;
	fprintf(stderr, "sink: attaching to %s: %s\n", device, strerror(errno));
destroy:
	sink__destroy(skeleton);
	return NULL;
}

int main(int argc, char **argv)
{
	bool pass_probes = argc > 1 && strcmp(argv[1], "-p") == 0;
	struct bpf_link *link;
	struct sink *skeleton;
	double warm_s, seconds;
	int map;

	argc -= pass_probes;
	argv += pass_probes;
	warm_s = argc == 4 ? atof(argv[2]) : -1;
	seconds = argc == 4 ? atof(argv[3]) : 0;
	if (argc != 2 && (warm_s < 0 || seconds <= 0)) {
		fputs(usage, stderr);
		return 2;
	}
	skeleton = open_sink(argv[1], pass_probes, &link);
	if (!skeleton)
		return 1;
	map = bpf_map__fd(skeleton->maps.frames);
	if (argc == 2)
		answer_lines(map);
	else
		measure(map, warm_s, seconds);
	bpf_link__destroy(link);
	sink__destroy(skeleton);
	return 0;
}
