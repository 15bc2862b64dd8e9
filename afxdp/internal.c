/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/internal.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "afxdp/netdev.h"
#include "lib/bits.h"
#include "lib/nl.h"
#include "lib/note.h"

#define NAME_BYTES 16
#define PREFIX "cv-"
#define ALIAS "culvert's end of "

void internal_our_end(const char *host, char name[static 16])
{
	uint32_t hash = 2166136261u;

	if (strlen(host) + sizeof(PREFIX) <= NAME_BYTES) {
		snprintf(name, NAME_BYTES, PREFIX "%.12s", host);
		return;
	}
	/* FNV-1a: the same name at every start. */
	for (const char *c = host; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	snprintf(name, NAME_BYTES, PREFIX "%08x", hash);
}

static void make_alias(const char *host, char alias[static 64])
{
	snprintf(alias, 64, ALIAS "%.15s", host);
}

/* Whether our end of @host's pair is there. */
static bool find(const char *host, struct nl_link *ours)
{
	char name[NAME_BYTES], alias[64];

	internal_our_end(host, name);
	make_alias(host, alias);
	return !nl_link_by_name(name, ours) && strcmp(ours->kind, "veth") == 0 &&
	       strcmp(ours->alias, alias) == 0;
}

static int make_pair(const char *host, const char *our_name, const struct mac *mac)
{
	char buffer[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *message;
	struct nlattr *info, *data, *peer;

	message = nl_link_message(buffer, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, 0);
	mnl_attr_put_strz(message, IFLA_IFNAME, our_name);
	info = mnl_attr_nest_start(message, IFLA_LINKINFO);
	mnl_attr_put_strz(message, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(message, IFLA_INFO_DATA);
	peer = mnl_attr_nest_start(message, VETH_INFO_PEER);
	memset(mnl_nlmsg_get_payload_tail(message), 0, sizeof(struct ifinfomsg));
	message->nlmsg_len += NLMSG_ALIGN(sizeof(struct ifinfomsg));
	mnl_attr_put_strz(message, IFLA_IFNAME, host);
	mnl_attr_put(message, IFLA_ADDRESS, sizeof(*mac), mac);
	mnl_attr_nest_end(message, peer);
	mnl_attr_nest_end(message, data);
	mnl_attr_nest_end(message, info);
	return nl_ask(NETLINK_ROUTE, message, NULL, NULL);
}

static int name_our_end(const char *host, int ifindex)
{
	char alias[64];
	int r;

	make_alias(host, alias);
	r = nl_link_set_alias(ifindex, alias);
	/* Else it would announce an IPv6 address to the host's end. */
	if (!r)
		nl_link_set_no_ipv6(ifindex);
	return r;
}

static int set_mac(int ifindex, const struct mac *mac)
{
	char buffer[1024] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *message = nl_link_message(buffer, RTM_NEWLINK, 0, ifindex);

	mnl_attr_put(message, IFLA_ADDRESS, sizeof(*mac), mac);
	return nl_ask(NETLINK_ROUTE, message, NULL, NULL);
}

/* The host's stack is to complete its checksums and put its VLAN tags into the frames itself (no
 * hardware will), and to take bursts by NAPI. */
static int set_host_end(const char *host, bool is_new, const struct why *why)
{
	static const struct {
		enum netdev_key key;
		uint32_t value;
	} wanted[] = {
	    {NETDEV_TX_CHECKSUM, 0},
	    {NETDEV_TXVLAN, 0},
	    {NETDEV_GRO, 1},
	    {NETDEV_UP, 1},
	};
	size_t n = ARRAY_SIZE(wanted) - (is_new ? 0 : 1);
	struct netdev dev;
	int r = netdev_open(&dev, host);

	for (size_t i = 0; i < n && !r; i++) {
		r = netdev_set(&dev, wanted[i].key, wanted[i].value);
		if (r)
			because(why, r, "%s: setting %s of the new internal port failed: %s", host,
				netdev_key_name(wanted[i].key), strerror(-r));
	}
	netdev_close(&dev);
	return r;
}

static int write_note(const char *host, bool persist, const char *run_dir)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "# culvert: an internal port's veth pair\nhost %s\npersist %d\n", host, persist);
	return note_write(run_dir, host, INTERNAL_SUFFIX, text);
}

static int make(const char *host, const struct mac *mac, const struct why *why)
{
	struct nl_link ours;
	char our_name[NAME_BYTES];
	const char *taken;
	int r;

	internal_our_end(host, our_name);
	r = make_pair(host, our_name, mac);
	if (r == -EEXIST) {
		taken = nl_link_by_name(host, &ours) ? our_name : host;
		return because(
		    why, -EBUSY,
		    "%s: a device %s exists that culvert did not make; give the internal port "
		    "another name, or: ip link del %s",
		    host, taken, taken);
	}
	if (r)
		return because(why, r, "%s: making its veth pair failed: %s", host, strerror(-r));
	r = nl_link_by_name(our_name, &ours);
	if (!r)
		r = name_our_end(host, ours.ifindex);
	if (!r)
		r = set_host_end(host, true, why);
	if (r)
		nl_link_delete(ours.ifindex);
	return r;
}

/* A pair that persisted. When its host's end lives in another namespace, its settings do so too. */
static int reuse(const char *host, const struct mac *mac, const struct nl_link *ours,
		 const struct why *why)
{
	struct nl_link theirs;
	int r;

	if (ours->peer_netns >= 0 || nl_link_by_index(ours->peer, &theirs))
		return 0;
	if (memcmp(&theirs.mac, mac, sizeof(*mac)) != 0) {
		r = set_mac(theirs.ifindex, mac);
		if (r)
			return because(why, r, "%s: setting its MAC address failed: %s",
				       theirs.name, strerror(-r));
	}
	return set_host_end(theirs.name, false, why);
}

int internal_open(const char *host, const struct mac *mac, bool persist, const char *run_dir,
		  const struct why *why)
{
	struct nl_link ours;
	int r;

	/* First the note, so that no pair is ever without one. */
	r = write_note(host, persist, run_dir);
	if (r)
		return because(why, r, "%s: cannot write to %s: %s", host, run_dir, strerror(-r));
	if (find(host, &ours))
		return reuse(host, mac, &ours, why);
	r = make(host, mac, why);
	if (r)
		internal_delete(host, run_dir);
	return r;
}

void internal_delete(const char *host, const char *run_dir)
{
	struct nl_link ours;

	if (find(host, &ours))
		nl_link_delete(ours.ifindex);
	note_remove(run_dir, host, INTERNAL_SUFFIX);
}

int internal_recover(const char *path, bool keep)
{
	char line[128], host[32] = "";
	struct nl_link ours;
	int persist = 0, deleted = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "host %31s", host);
		sscanf(line, "persist %d", &persist);
	}
	fclose(f);
	if (keep && persist)
		return 0;
	if (strlen(host) < NAME_BYTES && find(host, &ours))
		deleted = nl_link_delete(ours.ifindex) == 0;
	unlink(path);
	return deleted;
}
