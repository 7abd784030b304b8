// The scans of the demo's month, requested, run on the simulated network and completed by the discovery commands and
// engine.

import type { CommandActor } from "../access/actor.ts";
import type { Instant } from "../base/instant.ts";
import type { CommandOutcome } from "../db/writing/transaction.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import { type Scan, scanName } from "../discovery/scans/scan.ts";
import type { ScanMachine } from "../discovery/scans/scan-thread.ts";
import type { AllCommands } from "../registry/commands.ts";
import { type ScheduleRecord, scheduleKind } from "../resources/schedules/schedule.ts";
import type { DemoStore } from "./demo-writer.ts";
import type { Site } from "./equipment.ts";
import type { ScanSchedule } from "./people.ts";

export class DemoScans {
  private readonly store: DemoStore;
  private readonly writes: WriteQueue<AllCommands>;
  private readonly machine: ScanMachine;

  constructor(store: DemoStore, writes: WriteQueue<AllCommands>, machine: ScanMachine) {
    this.store = store;
    this.writes = writes;
    this.machine = machine;
  }

  /** Runs a scan by its schedule. */
  async runScheduled({ name, site, kind }: ScanSchedule, due_at: Instant): Promise<void> {
    const { id } = this.store.find<ScheduleRecord>(scheduleKind, (each) => each.name === name);
    const actor = this.store.system(`schedule ${name}`, this.store.networkId(site));
    await this.execute(kind, site, { id, due_at }, actor);
  }

  async runOrdered(kind: "full" | "snmp", site: Site, actor: CommandActor): Promise<void> {
    await this.execute(kind, site, null, actor);
  }

  private async execute(
    kind: "full" | "snmp",
    site: Site,
    schedule: { readonly id: string; readonly due_at: Instant } | null,
    actor: CommandActor,
  ): Promise<void> {
    const { store, writes } = this;
    const network_id = store.networkId(site);
    const request = { network_id, kind, targets: null, commit: true, allow_large: false };
    const scan = await store.run("discovery.queue", { ...request, schedule }, actor);
    const author = authorOf(scan, store);
    const dispatched = await writes.run("discovery.dispatch", { id: scan.id }, author);
    if (dispatched.result === null) throw new Error("demo: the queued scan no longer exists");
    const { end } = await this.machine.scan(
      {
        ...request,
        ...dispatched.result,
        id: scan.id,
        organization_id: store.organizationId,
        dispatch_sequence: dispatched.sequence,
      },
      {
        // Any of these commands: all take bytes.
        write: (command, bytes) =>
          writes.run(command as "discovery.note", { bytes }, author) as Promise<CommandOutcome<never>>,
        report: () => {},
        signal: new AbortController().signal,
      },
    );
    if (end.status !== "Completed") throw new Error(`demo: a scan finished with status ${end.status}: ${end.problem}`);
    await store.run("discovery.end", end, author);
  }
}

/** Same author as for the appliance's own scan results. */
function authorOf({ id, kind, network_id, reason }: Scan, { organizationId }: DemoStore): CommandActor {
  return {
    type: "Discovery",
    id,
    name: scanName(kind),
    organizationId,
    requestId: null,
    reason,
    userId: null,
    role: "Owner",
    networkIds: [network_id],
  };
}
