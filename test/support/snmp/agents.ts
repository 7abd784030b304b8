// Several test agents on one port, each at a separate address: an appliance uses one port for all.

import { type AgentOptions, type SnmpAgent, startAgent } from "./agent.ts";

const ATTEMPTS = 10;

/** Starts one agent per entry, in order, on a port that is free at all addresses. */
export async function startAgents(
  options: readonly (Omit<AgentOptions, "port"> & { readonly address: string })[],
): Promise<SnmpAgent[]> {
  for (let attempt = 1; ; attempt += 1) {
    const started: SnmpAgent[] = [];
    try {
      for (const entry of options) started.push(await startAgent({ ...entry, port: started[0]?.port ?? 0 }));
      return started;
    } catch (error) {
      // Another program uses the port at one of the other addresses.
      for (const agent of started) agent.close();
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
