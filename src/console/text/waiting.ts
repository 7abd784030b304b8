// Texts for items that await an Admin's approval before discovery may send them credentials.

import { groupedDigits } from "./digits.ts";
import { isolated } from "./isolated.ts";

/** “a”, “b” and “c”. */
function listed(names: readonly string[]): string {
  const quoted = names.map((name) => `“${isolated(name)}”`);
  return new Intl.ListFormat("en").format(quoted);
}

export const waitingText = {
  title: "Waiting for an Admin",
  says: "Discovery sends credentials only where an admin has approved them. Additions by members and scans wait here and are scanned without credentials until then.",
  none: "Nothing waits: credentials go wherever they are assigned.",
  noneFiltered: "Nothing that waits matches this filter.",
  noneThen: "Nothing waited then.",
  nothingElse: "Nothing waits on this page any more.",
  notYours: "Only an Admin can let credentials go to them.",
  mark: (value: string) => `Mark ${value}`,
  heads: {
    marked: "Marked",
    value: "What",
    does: "What it would do",
    since: "Waiting since",
    by: "Entered by",
    act: "Decide",
  },
  network: "subnet",
  address: "address",
  of: "of",
  within: "in",
  noOne: "unknown",
  newer: "Before",
  older: "After",
  confirm: "Confirm",
  accept: "Accept",
  confirmMany: (count: number) => `Let credentials go to the ${groupedDigits(count)} marked`,
  clear: "Clear the marks",
  plan: "Where credentials will go",
  verb: "Let them go there",
  follows:
    "From then on every scan may send them there, no matter who starts it. Undo the transaction to stop that; a secret that was sent cannot be recalled.",
  changed: (value: string) => `${value} has changed since this page was read. Look at it again.`,
  gone: (value: string) => `${value} is no longer there.`,
  refused: (value: string, why: string) => `${value}: ${why}`,
  sends: (names: readonly string[], address: string, host: string) =>
    `The SNMP ${names.length === 1 ? "credential" : "credentials"} ${listed(names)} would be sent to ${address}, as an address of ${isolated(host)}.`,
  sendsSubnet: (names: readonly string[], cidr: string, count: number) =>
    `The SNMP ${names.length === 1 ? "credential" : "credentials"} ${listed(names)} of the network would be sent to every address of ${cidr} that a scan asks${
      count === 0 ? "." : `: the ${count === 1 ? "one that is" : `${groupedDigits(count)} that are`} known, and others.`
    }`,
} as const;
