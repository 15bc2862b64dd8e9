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

	printf("%-8s %" PRIu64 " packets, ", direction,
	       get_int(object, field(name, direction, "packets")));
	printf("%s, ", format_unit((double)get_int(object, field(name, direction, "bytes")), "B", n));
	printf("now %s ", format_unit(get_real(object, field(name, direction, "pps")), "pps", rate));
	printf("%s\n", format_unit(get_real(object, field(name, direction, "bps")), "b/s", bits));
}
