/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cli.h"
#include "lib/format.h"

/* The name of a field of one direction: "rx" and "pps" make rx_pps. */
static const char *field(char name[static 16], const char *direction, const char *what)
{
	snprintf(name, 16, "%s_%s", direction, what);
	return name;
}

void traffic_print(const json_t *object, const char *direction)
{
	char n[FORMAT_BYTES], rate[FORMAT_BYTES], bits[FORMAT_BYTES], name[16];
	uint64_t packets = get_int(object, field(name, direction, "packets"));
	uint64_t bytes = get_int(object, field(name, direction, "bytes"));
	double pps = get_real(object, field(name, direction, "pps"));
	double bps = get_real(object, field(name, direction, "bps"));

	printf("%-8s %" PRIu64 " packets, %s, now %s %s\n", direction, packets,
	       format_unit((double)bytes, "B", n), format_unit(pps, "pps", rate),
	       format_unit(bps, "b/s", bits));
}
