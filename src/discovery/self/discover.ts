// Self discovery in one step: reads the machine, then records it. Reading happens outside the write transaction.

import type { CommandActor } from "../../access/actor.ts";
import type { CommandOutcome } from "../../db/writing/transaction.ts";
import type { WriteQueue, WriteTerms } from "../../db/writing/write-queue.ts";
import type { MachineSnapshot } from "./machine.ts";
import { readMachine } from "./read-machine.ts";
import type { SelfCommands, SelfDiscovered, SelfDiscoveryInput } from "./reconcile.ts";

/** @throws DomainError entity_reference_invalid for a network that the actor cannot access */
export async function discoverSelf(
  writes: WriteQueue<SelfCommands>,
  options: {
    networkId: string;
    discoveryId: string;
    actor: CommandActor;
    terms?: WriteTerms;
    read?: () => Promise<MachineSnapshot>;
  },
): Promise<CommandOutcome<SelfDiscovered>> {
  const machine = await (options.read ?? readMachine)();
  const input: SelfDiscoveryInput = { network_id: options.networkId, discovery_id: options.discoveryId, machine };
  return writes.run("discovery.self", input, options.actor, options.terms);
}
