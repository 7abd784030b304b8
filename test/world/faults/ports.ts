// Faults in aggregates, units of ports, edge ports and types of devices.

import type { PlantedFault } from "./fault.ts";

const CLASSIFIER = "src/discovery/device-types/classify.ts";
export const PORT_FAULTS: readonly PlantedFault[] = [
  {
    name: "aggregates apart from their members",
    rule: "An aggregate and its members are one port: the neighbors of the members are at the aggregate.",
    figures: ["aggregates", "places"],
    file: "src/discovery/mib/stacking.ts",
    before: "return this.interfaces.get(ifIndex)?.if_type === LAG || isAggregateName(this.nameOf(ifIndex));",
    after: "return this.interfaces.get(ifIndex)?.if_type === -LAG && isAggregateName(this.nameOf(ifIndex));",
  },
  {
    name: "hosts that hide desks",
    rule: "A resolved host counts by its device type: only switches, routers, firewalls and controllers are a network.",
    figures: ["places"],
    file: "src/history/far-end.ts",
    before: 'return isNetworkType(type) ? "Network" : "End";',
    after: 'return isNetworkType(type) || type !== "Unknown" ? "Network" : "End";',
  },
  {
    name: "switches that route without being routers",
    rule: "The type of a device follows from its capabilities too: a switch that announces that it routes is a Layer3Switch.",
    figures: ["types"],
    file: CLASSIFIER,
    before: 'return type === "Switch" && capabilities?.includes("Router") === true ? "Layer3Switch" : type;',
    after: 'return type === "Switch" && capabilities?.includes("Router") === true ? "Switch" : type;',
  },
  {
    name: "servers of no type",
    rule: "The type of a server follows from its agent and the system that it describes.",
    figures: ["types"],
    file: CLASSIFIER,
    before: 'concluded(isGenericAgent(sys_object_id) ? byTexts(typeOfSystem) : null, "Description")',
    after: 'concluded(isGenericAgent(`0${sys_object_id}`) ? byTexts(typeOfSystem) : null, "Description")',
  },
];
