// What self discovery learns about the machine that it runs on: plain data, in a fixed order, equal for an unchanged
// machine. Must not know how it is read, nor how the store keeps it.

import type { AdminStatus, OperStatus } from "../../resources/if-entries/vocabulary.ts";
import type { PortProtocol } from "../../resources/ports/port-type.ts";

export interface MachineSnapshot {
  /** The kernel's node name; `localhost` when it has none. */
  hostname: string;
  /**
   * A UUID that stays the same for one installation of the operating system, derived from /etc/machine-id with a key of
   * our own: machine-id(5) forbids to show the original on a network. Null where there is none, as in most containers.
   */
  machine_id: string | null;
  /** By `if_index`. The loopback interface is one of them. */
  interfaces: MachineInterface[];
  /** By address, IPv4 before IPv6; each address once. See `inventoryAddresses` for what is left out. */
  addresses: MachineAddress[];
  /** The names of the interfaces by which it reaches what is in none of its subnets: of its default routes, in order. */
  default_interfaces: string[];
  /** False where the kernel may not be asked, and those of interfaces that are switched off may be missing. */
  has_all_addresses: boolean;
  /** By number, then protocol (Tcp before Udp); each pair once. */
  ports: MachinePort[];
  /** As SNMP's sysDescr has it, like `uname -srvm`: `Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC … x86_64`. */
  sys_descr: string | null;
  manufacturer: string | null;
  model: string | null;
  /** Null also when only root may read it. */
  serial_number: string | null;
}

export interface MachineInterface {
  if_index: number;
  if_name: string;
  /** Linux has no description besides the name. */
  if_descr: string;
  if_alias: string | null;
  /** IANAifType-MIB number. */
  if_type: number;
  /** `aa:bb:cc:dd:ee:ff`; null for interfaces without an EUI-48 address and for all zeros. */
  mac_address: string | null;
  /** Bits per second; null when the driver does not know, as without a carrier. */
  speed_bps: number | null;
  admin_status: AdminStatus;
  oper_status: OperStatus;
}

export interface MachineAddress {
  /** Canonical. */
  ip_address: string;
  prefix_length: number;
  /**
   * The interface that has it. Not among `interfaces` where /sys shows another network namespace than the one that this
   * process is in.
   */
  if_index: number;
  /** The subnet that address and prefix length imply, canonical; `/32` or `/128` for an address that stands alone. */
  cidr: string;
}

export interface MachinePort {
  number: number;
  protocol: PortProtocol;
  /**
   * The canonical addresses that it is bound to, in order; empty for all addresses. They need not be among the
   * machine's `addresses`: loopback, link-local (without its zone), multicast and broadcast addresses, and addresses
   * that the machine does not have yet, can be bound to.
   */
  bound: string[];
}
