// Port conversion, from requested to stored: the type follows from number and protocol.

import type { CommandActor } from "../../access/actor.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import type { HostRecord } from "../hosts/host.ts";
import { createOptions } from "../hosts/new-child.ts";
import { type PortItem, type PortRecord, portKind } from "./port.ts";
import { portType } from "./port-type.ts";

/** Adds a port to a host, which may have been created in the same transaction. */
export function addPort(tx: WriteTransaction, host: HostRecord, item: PortItem, actor: CommandActor): PortRecord {
  return tx.create(
    portKind,
    actor.organizationId,
    { host_id: host.id, network_id: host.network_id, ...storedFields(item), first_discovery_id: null },
    createOptions(tx, item),
  );
}

/** Updates a port. */
export function changePort(tx: WriteTransaction, port: PortRecord, item: PortItem): PortRecord {
  return tx.update(portKind, port.id, storedFields(item));
}

function storedFields(item: PortItem) {
  return { number: item.number, protocol: item.protocol, type: portType(item.number, item.protocol) };
}
