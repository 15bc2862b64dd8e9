/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/netdev.h"

#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/bits.h"

#define CHANNEL_TRIES 50
#define CHANNEL_TRY_US 10000

int netdev_open(struct netdev *dev, const char *name)
{
	memset(dev, 0, sizeof(*dev));
	dev->fd = -1;
	if (!*name || strlen(name) >= sizeof(dev->name))
		return -ENODEV;
	strcpy(dev->name, name);
	dev->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return dev->fd < 0 ? -errno : 0;
}

void netdev_close(struct netdev *dev)
{
	if (dev->name[0] && dev->fd >= 0)
		close(dev->fd);
	memset(dev, 0, sizeof(*dev));
}

static int ask(const struct netdev *dev, unsigned long request, struct ifreq *ifr)
{
	memcpy(ifr->ifr_name, dev->name, sizeof(dev->name));
	return ioctl(dev->fd, request, ifr) ? -errno : 0;
}

static int ethtool(const struct netdev *dev, void *command)
{
	struct ifreq ifr = {.ifr_data = command};

	return ask(dev, SIOCETHTOOL, &ifr);
}

static int get_mtu(const struct netdev *dev, uint32_t which, uint32_t *value)
{
	struct ifreq ifr = {0};
	int r = ask(dev, SIOCGIFMTU, &ifr);

	*value = (uint32_t)ifr.ifr_mtu;
	return r;
}

static int set_mtu(const struct netdev *dev, uint32_t which, uint32_t value)
{
	struct ifreq ifr = {.ifr_mtu = (int)value};

	return ask(dev, SIOCSIFMTU, &ifr);
}

static int get_up(const struct netdev *dev, uint32_t which, uint32_t *value)
{
	struct ifreq ifr = {0};
	int r = ask(dev, SIOCGIFFLAGS, &ifr);

	*value = (ifr.ifr_flags & IFF_UP) != 0;
	return r;
}

static int set_up(const struct netdev *dev, uint32_t which, uint32_t value)
{
	struct ifreq ifr = {0};
	int r = ask(dev, SIOCGIFFLAGS, &ifr);

	if (r)
		return r;
	ifr.ifr_flags = (short)(value ? ifr.ifr_flags | IFF_UP : ifr.ifr_flags & ~IFF_UP);
	return ask(dev, SIOCSIFFLAGS, &ifr);
}

static int get_flag(const struct netdev *dev, uint32_t flag, uint32_t *value)
{
	struct ethtool_value command = {.cmd = ETHTOOL_GFLAGS};
	int r = ethtool(dev, &command);

	*value = (command.data & flag) != 0;
	return r;
}

static int set_flag(const struct netdev *dev, uint32_t flag, uint32_t value)
{
	struct ethtool_value command = {.cmd = ETHTOOL_GFLAGS};
	int r = ethtool(dev, &command);

	if (r)
		return r;
	command.cmd = ETHTOOL_SFLAGS;
	command.data = value ? command.data | flag : command.data & ~flag;
	return ethtool(dev, &command);
}

/* Offloads with a pair of commands of their own: @get, and @get + 1 to set. */
static int get_value(const struct netdev *dev, uint32_t get, uint32_t *value)
{
	struct ethtool_value command = {.cmd = get};
	int r = ethtool(dev, &command);

	*value = command.data != 0;
	return r;
}

static int set_value(const struct netdev *dev, uint32_t get, uint32_t value)
{
	struct ethtool_value command = {.cmd = get + 1, .data = value};

	return ethtool(dev, &command);
}

_Static_assert(ETHTOOL_SGRO == ETHTOOL_GGRO + 1 && ETHTOOL_STXCSUM == ETHTOOL_GTXCSUM + 1,
	       "set follows get");

static uint32_t *channel_field(struct ethtool_channels *c, uint32_t key)
{
	return key == NETDEV_COMBINED    ? &c->combined_count
	       : key == NETDEV_RX_QUEUES ? &c->rx_count
					 : &c->tx_count;
}

static int get_channel(const struct netdev *dev, uint32_t key, uint32_t *value)
{
	struct ethtool_channels command = {.cmd = ETHTOOL_GCHANNELS};
	int r = ethtool(dev, &command);

	*value = *channel_field(&command, key);
	return r;
}

static int set_channel_once(const struct netdev *dev, uint32_t key, uint32_t value)
{
	struct ethtool_channels command = {.cmd = ETHTOOL_GCHANNELS};
	int r = ethtool(dev, &command);

	if (r)
		return r;
	command.cmd = ETHTOOL_SCHANNELS;
	*channel_field(&command, key) = value;
	return ethtool(dev, &command);
}

/* A queue cannot go (EINVAL) while an AF_XDP socket has it, and a closed one has it a little
 * longer. */
static int set_channel(const struct netdev *dev, uint32_t key, uint32_t value)
{
	int r = set_channel_once(dev, key, value);

	for (int try = 0; r == -EINVAL && try < CHANNEL_TRIES; try++) {
		usleep(CHANNEL_TRY_US);
		r = set_channel_once(dev, key, value);
	}
	return r;
}

static const struct {
	const char *name;
	int (*get)(const struct netdev *dev, uint32_t which, uint32_t *value);
	int (*set)(const struct netdev *dev, uint32_t which, uint32_t value);
	uint32_t which;
} settings[NETDEV_KEYS] = {
    [NETDEV_MTU] = {"mtu", get_mtu, set_mtu, 0},
    [NETDEV_COMBINED] = {"combined", get_channel, set_channel, NETDEV_COMBINED},
    [NETDEV_RX_QUEUES] = {"rx-queues", get_channel, set_channel, NETDEV_RX_QUEUES},
    [NETDEV_TX_QUEUES] = {"tx-queues", get_channel, set_channel, NETDEV_TX_QUEUES},
    [NETDEV_RXVLAN] = {"rxvlan", get_flag, set_flag, ETH_FLAG_RXVLAN},
    [NETDEV_TXVLAN] = {"txvlan", get_flag, set_flag, ETH_FLAG_TXVLAN},
    [NETDEV_TX_CHECKSUM] = {"tx-checksum", get_value, set_value, ETHTOOL_GTXCSUM},
    [NETDEV_GRO] = {"gro", get_value, set_value, ETHTOOL_GGRO},
    [NETDEV_UP] = {"up", get_up, set_up, 0},
};

const char *netdev_key_name(enum netdev_key key)
{
	return settings[key].name;
}

int netdev_get(const struct netdev *dev, enum netdev_key key, uint32_t *value)
{
	return settings[key].get(dev, settings[key].which, value);
}

int netdev_set(const struct netdev *dev, enum netdev_key key, uint32_t value)
{
	uint32_t now;
	int r = settings[key].set(dev, settings[key].which, value);

	if (r)
		return r;
	/* Some offloads are silently kept by a driver that needs them. */
	return !netdev_get(dev, key, &now) && now != value ? -EOPNOTSUPP : 0;
}

int netdev_ifindex(const struct netdev *dev)
{
	struct ifreq ifr = {0};
	int r = ask(dev, SIOCGIFINDEX, &ifr);

	return r ? r : ifr.ifr_ifindex;
}

int netdev_channels(const struct netdev *dev, struct netdev_channels *channels)
{
	struct ethtool_channels command = {.cmd = ETHTOOL_GCHANNELS};
	int r = ethtool(dev, &command);

	*channels = (struct netdev_channels){
	    .combined = command.combined_count,
	    .max_combined = command.max_combined,
	    .rx = command.rx_count,
	    .max_rx = command.max_rx,
	    .tx = command.tx_count,
	    .max_tx = command.max_tx,
	};
	return r;
}

/* /sys may have been mounted for another network namespace. */
static bool sysfs_shows(const struct netdev *dev)
{
	char path[64];
	int ifindex = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/ifindex", dev->name);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%d", &ifindex) != 1)
		ifindex = 0;
	fclose(f);
	return ifindex > 0 && ifindex == netdev_ifindex(dev);
}

uint32_t netdev_rx_queues_in_use(const struct netdev *dev)
{
	const struct dirent *entry;
	uint32_t n = 0;
	char path[64];
	DIR *dir;

	if (!sysfs_shows(dev))
		return 0;
	snprintf(path, sizeof(path), "/sys/class/net/%s/queues", dev->name);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		n += strncmp(entry->d_name, "rx-", 3) == 0;
	closedir(dir);
	return n;
}

void netdev_driver(const struct netdev *dev, char driver[static 32])
{
	struct ethtool_drvinfo command = {.cmd = ETHTOOL_GDRVINFO};

	driver[0] = 0;
	if (!ethtool(dev, &command))
		snprintf(driver, 32, "%.31s", command.driver);
}

int netdev_mac(const struct netdev *dev, struct mac *mac)
{
	struct ifreq ifr = {0};
	int r = ask(dev, SIOCGIFHWADDR, &ifr);

	memcpy(mac, ifr.ifr_hwaddr.sa_data, sizeof(*mac));
	return r;
}

bool netdev_is_ethernet(const struct netdev *dev)
{
	struct ifreq ifr = {0};

	return ask(dev, SIOCGIFHWADDR, &ifr) == 0 && ifr.ifr_hwaddr.sa_family == ARPHRD_ETHER;
}

uint32_t netdev_speed_mbps(const struct netdev *dev)
{
	struct ethtool_cmd command = {.cmd = ETHTOOL_GSET};
	uint32_t speed;

	if (ethtool(dev, &command))
		return 0;
	speed = ethtool_cmd_speed(&command);
	return speed == (uint32_t)SPEED_UNKNOWN || speed == UINT16_MAX ? 0 : speed;
}

bool netdev_link(const struct netdev *dev)
{
	struct ifreq ifr = {0};

	return !ask(dev, SIOCGIFFLAGS, &ifr) && ifr.ifr_flags & IFF_RUNNING;
}

int netdev_promiscuous(int ifindex)
{
	const struct packet_mreq request = {.mr_ifindex = ifindex, .mr_type = PACKET_MR_PROMISC};
	/* Protocol 0: it receives nothing. */
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof(request))) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}
