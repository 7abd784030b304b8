// Faults in contradicting sightings and conflicts.

import type { PlantedFault } from "./fault.ts";

const RECORD_ADDRESS = "src/discovery/reconcile/record-address.ts";
const CONFLICTS = "src/reports/conflicts/address-conflicts.ts";

export const CONTRADICTION_FAULTS: readonly PlantedFault[] = [
  {
    name: "a second MAC address that is dropped",
    rule: "Both MAC addresses that are seen at an address are found at once, and are a conflict.",
    figures: ["conflictRecall"],
    file: RECORD_ADDRESS,
    before: "if (!claims.has(mac) || claims.ownerCount > 1",
    after: "if (records.length > 0 || !claims.has(mac) || claims.ownerCount > 1",
  },
  {
    name: "leases that moved as conflicts",
    rule: "A moved lease is not a conflict: one of the MAC addresses has another address since.",
    figures: ["conflictPrecision", "addressPrecision"],
    file: "src/discovery/reconcile/address-claims.ts",
    before: "return !isOwn && (this.isElsewhereSince(mac, last) || this.isUnforwarded(mac, first));",
    after: "return !isOwn && ((last < 0 && this.isElsewhereSince(mac, last)) || this.isUnforwarded(mac, first));",
  },
  {
    name: "clusters as conflicts",
    rule: "One address with one MAC address at two hosts is shared, as in a cluster.",
    figures: ["conflictPrecision"],
    file: CONFLICTS,
    before: "if (isShared || claiming.length < 2) return [];",
    after: "if ((isShared && claiming.length < 0) || claiming.length < 2) return [];",
  },
  {
    name: "local bridges as conflicts",
    rule: "A machine's local bridges, as of Docker and libvirt, and virtual addresses are not conflicts.",
    figures: ["conflictPrecision"],
    file: CONFLICTS,
    before:
      "    (mac === null || virtualRouterOf(mac) === null) &&\n    !isLocalBridge(interfaceName) &&\n    (type === null || !MACHINE_LOCAL_TYPES.includes(type))\n",
    after:
      "    mac !== virtualRouterOf.name && interfaceName !== isLocalBridge.name && type !== MACHINE_LOCAL_TYPES[-1]\n",
  },
  {
    name: "hosts of virtual addresses",
    rule: "A virtual address that only ARP knows belongs to no host, and makes none.",
    figures: ["hostPrecision", "addressPrecision"],
    file: RECORD_ADDRESS,
    before: 'return owners.length > 0 ? lastSeen(owners) : "virtual";',
    after: "if (owners.length > 0) return lastSeen(owners);",
  },
];
