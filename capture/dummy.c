/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/dummy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/guard.h"
#include "lib/bits.h"
#include "lib/log.h"
#include "lib/nl.h"
#include "lib/note.h"

#define PREFIX "cap-"
#define MTU 65535 /* more than any frame that there is */
#define KIND "dummy"
#define ALIAS "culvert's capture on "

/* --- its name */

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

static const char *skip_kind(const char *name)
{
	static const char *const kinds[] = {"tunnel:", "network:"};

	for (uint32_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strncmp(name, kinds[i], strlen(kinds[i])) == 0)
			return name + strlen(kinds[i]);
	return name;
}

/* @name without what kind of thing it is, and with a '-' for each character that a device's name
 * may not have, or that a shell or a terminal would not take as it is. How long it is. */
static uint32_t make_plain(const char *name, char *plain, uint32_t bytes)
{
	uint32_t n = 0;

	for (name = skip_kind(name); *name && n < bytes; name++) {
		/* The first byte of a character of UTF-8 stands for all of it. */
		if ((*name & 0xc0) == 0x80)
			continue;
		plain[n++] = is_plain(*name) ? *name : '-';
		if (*name == ',')
			name = skip_kind(name + 1) - 1;
	}
	return n;
}

/* "cap-", the name or its two ends, @number. */
static void put_together(const char *plain, uint32_t n, const char *number, char *device)
{
	uint32_t room = DUMMY_NAME_BYTES - sizeof(PREFIX) - (uint32_t)strlen(number);
	uint32_t tail = (room - 1) / 2, head = room - 1 - tail;

	if (n <= room)
		snprintf(device, DUMMY_NAME_BYTES, PREFIX "%.*s%s", (int)n, plain, number);
	else
		snprintf(device, DUMMY_NAME_BYTES, PREFIX "%.*s~%.*s%s", (int)head, plain,
			 (int)tail, plain + n - tail, number);
}

void dummy_name(const char *name, char device[static DUMMY_NAME_BYTES])
{
	char plain[256], number[12] = "";
	uint32_t n = make_plain(name, plain, sizeof(plain));
	struct nl_link other;

	put_together(plain, n, number, device);
	for (uint32_t i = 2; nl_link_by_name(device, &other) == 0; i++) {
		snprintf(number, sizeof(number), "-%u", i);
		put_together(plain, n, number, device);
	}
}

static int write_note(const char *device, const char *run_dir)
{
	char text[128];

	snprintf(text, sizeof(text), "# culvert: the device of a capture\ndevice %.15s\n", device);
	return note_write(run_dir, device, DUMMY_SUFFIX, text);
}

/* --- the device */

static void make_alias(const char *device, char alias[static 64])
{
	snprintf(alias, 64, ALIAS "%.15s", device);
}

/* Whether @device is there, and ours. */
static bool find(const char *device, struct nl_link *link)
{
	char alias[64];

	make_alias(device, alias);
	return !nl_link_by_name(device, link) && strcmp(link->kind, KIND) == 0 &&
	       strcmp(link->alias, alias) == 0;
}

static int make_link(const char *device)
{
	char buffer[1024] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *message;
	struct nlattr *info;

	message = nl_link_message(buffer, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, 0);
	mnl_attr_put_strz(message, IFLA_IFNAME, device);
	mnl_attr_put_u32(message, IFLA_MTU, MTU);
	info = mnl_attr_nest_start(message, IFLA_LINKINFO);
	mnl_attr_put_strz(message, IFLA_INFO_KIND, KIND);
	mnl_attr_nest_end(message, info);
	return nl_ask(NETLINK_ROUTE, message, NULL, NULL);
}

static void write_sysctl(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, value, strlen(value)) < 0)
		log_debug("%s: %s", path, strerror(errno));
	close(fd);
}

/* Either would do; a kernel without IPv6 has neither, a container may have one. */
static void set_no_ipv6(const char *device, int ifindex)
{
	char path[128];

	nl_link_set_no_ipv6(ifindex);
	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%.15s/disable_ipv6", device);
	write_sysctl(path, "1");
}

/* Up, and without ARP and multicast. */
static int bring_up(int ifindex)
{
	char buffer[1024] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *message = nl_link_message(buffer, RTM_NEWLINK, 0, ifindex);
	struct ifinfomsg *info = mnl_nlmsg_get_payload(message);

	info->ifi_flags = IFF_UP | IFF_NOARP;
	info->ifi_change = IFF_UP | IFF_NOARP | IFF_MULTICAST;
	return nl_ask(NETLINK_ROUTE, message, NULL, NULL);
}

/* Its ifindex or -errno. */
static int set_up(const char *device)
{
	struct nl_link link;
	char alias[64];
	int r = nl_link_by_name(device, &link);

	if (r)
		return r;
	make_alias(device, alias);
	r = nl_link_set_alias(link.ifindex, alias);
	if (r)
		goto err;
	set_no_ipv6(device, link.ifindex);
	r = guard_attach(link.ifindex);
	if (r)
		log_warn("%s: others may send on it, too: no program on its way out: %s", device,
			 strerror(-r));
	r = bring_up(link.ifindex);
	if (r)
		goto err;
	return link.ifindex;

err:
	nl_link_delete(link.ifindex);
	return r;
}

static int refused(const char *device, int error, const struct why *why)
{
	switch (error) {
	case -EEXIST:
		return because(why, error, "%s: there is such a device already; ip link del %s",
			       device, device);
	case -EOPNOTSUPP:
		return because(why, error,
			       "%s: this kernel has no dummy driver (modprobe dummy); name an "
			       "existing device with --device (device: in the file)",
			       device);
	default:
		return because(why, error, "%s: making this dummy device failed: %s", device,
			       strerror(-error));
	}
}

int dummy_create(const char *device, const char *run_dir, const struct why *why)
{
	struct nl_link other;
	int r;

	/* Before the note: it may be of another capture. */
	if (nl_link_by_name(device, &other) == 0)
		return refused(device, -EEXIST, why);
	r = write_note(device, run_dir);
	if (r)
		return because(why, r, "%s: cannot write to %s: %s", device, run_dir, strerror(-r));
	r = make_link(device);
	if (!r)
		r = set_up(device);
	if (r > 0)
		return r;
	note_remove(run_dir, device, DUMMY_SUFFIX);
	return refused(device, r, why);
}

void dummy_delete(const char *device, const char *run_dir)
{
	struct nl_link link;

	if (find(device, &link))
		nl_link_delete(link.ifindex);
	note_remove(run_dir, device, DUMMY_SUFFIX);
}

int dummy_recover(const char *path)
{
	char line[128], device[32] = "";
	struct nl_link link;
	int deleted = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		sscanf(line, "device %31s", device);
	fclose(f);
	if (find(device, &link))
		deleted = nl_link_delete(link.ifindex) == 0;
	unlink(path);
	return deleted;
}
