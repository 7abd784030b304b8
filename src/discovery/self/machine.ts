// Snapshot of the machine that runs the appliance: plain data, in a fixed order, equal for an unchanged machine.
// Independent of how it is read and stored.

import type { AdminStatus, OperStatus } from "../../resources/if-entries/vocabulary.ts";
import type { PortProtocol } from "../../resources/ports/port-type.ts";

export interface MachineSnapshot {
  /** The kernel's node name; `localhost` if unset. */
  hostname: string;
  /**
   * A UUID that is stable for one installation of the operating system, derived from /etc/machine-id with a key of our
   * own: machine-id(5) forbids exposing the original on a network. Null if missing, as in most containers.
   */
  machine_id: string | null;
  /** By `if_index`. Includes the loopback interface. */
  interfaces: MachineInterface[];
  /** By address, IPv4 before IPv6; each address once. See `inventoryAddresses` for omissions. */
  addresses: MachineAddress[];
  /** Interface names of the default routes, in order. */
  default_interfaces: string[];
  /** False if the kernel cannot be queried and addresses of interfaces that are down may be missing. */
  has_all_addresses: boolean;
  /** By number, then protocol (Tcp before Udp); each pair once. */
  ports: MachinePort[];
  /** In the format of SNMP's sysDescr, like `uname -srvm`: `Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC … x86_64`. */
  sys_descr: string | null;
  manufacturer: string | null;
  model: string | null;
  /** Null also if only root may read it. */
  serial_number: string | null;
}

export interface MachineInterface {
  if_index: number;
  if_name: string;
  /** Linux has no description other than the name. */
  if_descr: string;
  if_alias: string | null;
  /** IANAifType-MIB number. */
  if_type: number;
  /** `aa:bb:cc:dd:ee:ff`; null for interfaces without an EUI-48 address and for all zeros. */
  mac_address: string | null;
  /** Bits per second; null if unknown to the driver, as without a carrier. */
  speed_bps: number | null;
  admin_status: AdminStatus;
  oper_status: OperStatus;
  /** The bond or team that it is a member of; absent for none. */
  lag_if_index?: number;
  /** The interface that it is a VLAN of; absent for none. */
  parent_if_index?: number;
}

export interface MachineAddress {
  /** Canonical. */
  ip_address: string;
  prefix_length: number;
  /** Interface of the address. Missing in `interfaces` if /sys shows another network namespace than this process's. */
  if_index: number;
  /** Subnet of address and prefix length, canonical; `/32` or `/128` for a standalone address. */
  cidr: string;
}

export interface MachinePort {
  number: number;
  protocol: PortProtocol;
  /**
   * Canonical bound addresses, in order; empty for all addresses. They may be missing in the machine's `addresses`:
   * loopback, link-local (without its zone), multicast and broadcast addresses can be bound, as can addresses that the
   * machine does not have yet.
   */
  bound: string[];
}
