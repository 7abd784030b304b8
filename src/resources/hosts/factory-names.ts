// Factory-default device names, which identify no single device.

import { wordList } from "../../base/word-list.ts";

/** Default names of devices and operating systems, shared by many devices. */
const FACTORY_NAMES: ReadonlySet<string> = new Set([
  ...wordList(
    "switch router hub bridge firewall gateway ap accesspoint access-point server host printer phone camera nas",
  ),
  ...wordList(
    "sw rt cisco catalyst hp hpe procurve aruba h3c huawei juniper amnesiac arista mikrotik routeros ubnt unifi",
  ),
  ...wordList("edgeswitch edgerouter edgeos netgear tplink tp-link dlink d-link zyxel draytek lancom fortigate sophos"),
  ...wordList(
    "pfsense opnsense vyos vyatta openwrt lede dd-wrt dell force10 brocade icx extreme alcatel allied ruijie zte",
  ),
  ...wordList(
    "moxa hirschmann lantronix linux debian ubuntu centos fedora rocky alma suse raspberrypi freebsd openbsd",
  ),
  ...wordList("windows esxi vmware proxmox pve xen sonic cumulus synology diskstation qnap default system device node"),
  ...wordList("computer desktop laptop pc admin test"),
]);

/**
 * True for a factory-default name.
 * @param name in lower case
 */
export function isFactoryName(name: string): boolean {
  return FACTORY_NAMES.has(firstLabel(name));
}

/** Returns the first label: `core-1` of `core-1.example.net`. */
export function firstLabel(name: string): string {
  const dot = name.indexOf(".");
  return dot <= 0 ? name : name.slice(0, dot);
}
