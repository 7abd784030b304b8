#!/bin/bash
# Open vSwitch 3.1.0 and lldpad 1.1 announce another LLDP chassis id on every port: the MAC address of that port.
#
# Open vSwitch sends no system name and no management address, lldpad the system name if told to, and no address. So a
# chassis id does not identify a device, and two of one device do not contradict (src/discovery/topology/identify.ts).
#
# Run as root on Debian 12 with lldpd: findings/chassis-id-per-port.sh. It downloads the packages at these versions,
# installs nothing, and runs the daemons in network namespaces of its own. Exit status 0: it is still so.
set -eu
umask 022

PACKAGES=(
  openvswitch-switch=3.1.0-2+deb12u1 openvswitch-common=3.1.0-2+deb12u1
  lldpad=1.1+git20221028.aa18720-1
  libunbound8=1.17.1-2+deb12u4 libevent-2.1-7=2.1.12-stable-8+deb12u1 libconfig9=1.5-0.4
  libnl-3-200=3.7.0-0.2+b1 libxdp1=1.3.1-1 libbpf1=1:1.1.2-0+deb12u1
)

command -v lldpd >/dev/null || { echo "lldpd listens to both: apt-get install lldpd=1.0.16-1+deb12u1" >&2; exit 2; }
if [ "${1:-}" != inside ]; then
  WORK=$(mktemp -d)
  chmod 755 "$WORK"
  trap 'rm -rf "$WORK"' EXIT
  (cd "$WORK" && apt-get -qq download "${PACKAGES[@]}" 2>"$WORK/apt.log" || { cat "$WORK/apt.log" >&2; exit 1; })
  for package in "$WORK"/*.deb; do dpkg -x "$package" "$WORK/root"; done
  unshare --net --mount --pid --fork --mount-proc "$0" inside "$WORK"
  exit
fi

# From here on, in namespaces that end with this shell, and all daemons with them.
WORK=$2
ROOT=$WORK/root
LD_LIBRARY_PATH=$(find "$ROOT" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH OVS_RUNDIR=$WORK OVS_LOGDIR=$WORK OVS_DBDIR=$WORK OVS_SYSCONFDIR=$WORK
mkdir -p /run/netns && mount -t tmpfs none /run/netns
# lldpad keeps its state in these, and does not start a second time.
mount -t tmpfs none /dev/shm && mount -t tmpfs none /var/lib && mkdir /var/lib/lldpad
ip link set lo up
ip netns add hearer
# Ports o0 and o1 belong to Open vSwitch, l0 and l1 to lldpad; each has a cable to the hearer.
for port in o0 o1 l0 l1; do
  ip link add "$port" type veth peer name "h-$port"
  ip link set "h-$port" netns hearer
  ip link set "$port" up
  ip -n hearer link set "h-$port" up
done

"$ROOT/usr/bin/ovsdb-tool" create "$WORK/conf.db" "$ROOT/usr/share/openvswitch/vswitch.ovsschema"
"$ROOT/usr/sbin/ovsdb-server" "$WORK/conf.db" --remote=punix:"$WORK/db.sock" --pidfile="$WORK/db.pid" --detach \
  --log-file="$WORK/db.log" 2>/dev/null
vsctl() { "$ROOT/usr/bin/ovs-vsctl" --db=unix:"$WORK/db.sock" --timeout=10 "$@"; }
vsctl --no-wait init
"$ROOT/usr/lib/openvswitch-switch/ovs-vswitchd" unix:"$WORK/db.sock" --pidfile="$WORK/vswitchd.pid" --detach \
  --log-file="$WORK/vswitchd.log" 2>/dev/null
# Without the kernel's datapath, in user space.
vsctl add-br br0 -- set bridge br0 datapath_type=netdev -- add-port br0 o0 -- add-port br0 o1 \
  -- set interface o0 lldp:enable=true -- set interface o1 lldp:enable=true

"$ROOT/usr/sbin/lldpad" -f "$WORK/lldpad.conf" >"$WORK/lldpad.log" 2>&1 &
sleep 2
for port in l0 l1; do
  "$ROOT/usr/sbin/lldptool" set-lldp -i "$port" adminStatus=rxtx >/dev/null
  "$ROOT/usr/sbin/lldptool" -T -i "$port" -V sysName enableTx=yes >/dev/null
done

ip netns exec hearer lldpd -d -u "$WORK/lldpd.sock" -O /dev/null -I 'h-*' >"$WORK/lldpd.log" 2>&1 &
sleep 40
ip netns exec hearer lldpcli -u "$WORK/lldpd.sock" -f keyvalue show neighbors >"$WORK/heard"
grep -E 'chassis\.(mac|name|mgmt|descr)|port\.(mac|ifname)' "$WORK/heard"

for port in o0 o1 l0 l1; do
  mac=$(ip -o link show "$port" | sed 's/.*link\/ether \([0-9a-f:]*\).*/\1/')
  grep -qx "lldp.h-$port.chassis.mac=$mac" "$WORK/heard" || { echo "$port: another chassis id than $mac" >&2; exit 1; }
done
if grep -q 'mgmt-ip' "$WORK/heard"; then echo "a management address is announced" >&2; exit 1; fi
if grep -q 'h-o[01].chassis.name' "$WORK/heard"; then echo "Open vSwitch announces a name" >&2; exit 1; fi
echo "still so"
