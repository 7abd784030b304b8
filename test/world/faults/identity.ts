// Faults in the identity of hosts.

import type { PlantedFault } from "./fault.ts";

export const IDENTITY_FAULTS: readonly PlantedFault[] = [
  {
    name: "signs that never contradict",
    rule: "Contradiction in most groups outweighs agreement in a few: new hardware under an old name and address is another host.",
    figures: ["wholeDevices", "devicePrecision"],
    file: "src/discovery/reconcile/sign-weights.ts",
    before: "return Math.log2((1 - this.same[group]) / (1 - PRIORS[group].chance));",
    after: "return 0 * PRIORS[group].chance;",
  },
  {
    name: "stacks known by their first member",
    rule: "A stack is the same host while one of its members remains.",
    figures: ["wholeDevices", "deviceRecall"],
    file: "src/discovery/reconcile/signs.ts",
    before: "return serialSigns([serial_number, ...components.map((each) => each.serial_number)]);",
    after: "return serialSigns([serial_number, ...components.slice(0, 1).map((each) => each.serial_number)]);",
  },
  {
    name: "tunnels with their addresses as MAC addresses",
    rule: "Interfaces of types without link-layer addresses have no MAC address, whatever ifPhysAddress holds.",
    figures: ["cards"],
    file: "src/discovery/mib/link-addresses.ts",
    before: "if (mac === null || WITHOUT_LINK_LAYER_ADDRESSES.has(type ?? OTHER)) return null;",
    after: "if (mac === null || WITHOUT_LINK_LAYER_ADDRESSES.has(-(type ?? OTHER))) return null;",
  },
  {
    name: "positions by rank",
    rule: "A chassis of a stack has the position that it reports; only without a usable one, its rank.",
    figures: ["positions"],
    file: "src/discovery/mib/entity.ts",
    before: "position: (areUnique ? filled[rank] : null) ?? rank + 1 }))",
    after: "position: (areUnique && filled.length < 2 ? filled[rank] : null) ?? rank + 1 }))",
  },
  {
    name: "addresses under their former interface",
    rule: "The name of an address that moves between interfaces follows, unless a user set it.",
    figures: ["movedAddresses"],
    file: "src/discovery/reconcile/address-book.ts",
    before: 'if (line === "" || line === known.name) return undefined;',
    after: 'if (line === "" || known.name !== "") return undefined;',
  },
  {
    name: "interfaces without the address that moved to them",
    rule: "The address of an interface entry follows an address that moves between interfaces.",
    figures: ["movedAddresses"],
    file: "src/discovery/reconcile/interface-addresses.ts",
    before: "if (currentId !== undefined && at === undefined && this.mayHave(currentId)) return undefined;",
    after: "if (at !== ifIndex || this.mayHave(`${currentId}`)) return undefined;",
  },
  {
    name: "chassis ids that hide devices",
    rule: "A neighbor with a chassis id per port is one node, by its system name and management address.",
    figures: ["portIds"],
    file: "src/discovery/topology/identify.ts",
    before: "let score = chassis < 0 && this.isNameEnough(claim, hostIndex) ? 0 : chassis;",
    after: "let score = chassis < -99 && this.isNameEnough(claim, hostIndex) ? 0 : chassis;",
  },
  {
    name: "names that stay",
    rule: "A derived name is derived again once more is known, and is never another host's address.",
    figures: ["names"],
    file: "src/discovery/reconcile/host-names.ts",
    before: 'if (name === host.name || isSetByUser(write.tx, host.id, "name")) return host;',
    after: 'if (name === host.name || host.name !== "" || isSetByUser(write.tx, host.id, "name")) return host;',
  },
];
