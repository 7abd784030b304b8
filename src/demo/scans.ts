// The scans of the demo's month: ordered, run on the simulated network, and ended, by the discovery commands and
// engine.

import type { CommandActor } from "../access/actor.ts";
import type { Instant } from "../base/instant.ts";
import type { CommandOutcome } from "../db/writing/transaction.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import { type Scan, scanName } from "../discovery/scans/scan.ts";
import type { ScanMachine } from "../discovery/scans/scan-thread.ts";
import type { AllCommands } from "../registry/commands.ts";
import { type ScheduleRecord, scheduleKind } from "../resources/schedules/schedule.ts";
import type { Round } from "./cast.ts";
import type { Crew } from "./crew.ts";
import type { Site } from "./equipment.ts";

export class Rounds {
  private readonly crew: Crew;
  private readonly writes: WriteQueue<AllCommands>;
  private readonly machine: ScanMachine;

  constructor(crew: Crew, writes: WriteQueue<AllCommands>, machine: ScanMachine) {
    this.crew = crew;
    this.writes = writes;
    this.machine = machine;
  }

  /** Runs a scan by its schedule. */
  async scheduled({ name, site, kind }: Round, due_at: Instant): Promise<void> {
    const { id } = this.crew.one<ScheduleRecord>(scheduleKind, (each) => each.name === name);
    const actor = this.crew.system(`schedule ${name}`, this.crew.networkId(site));
    await this.carryOut(kind, site, { id, due_at }, actor);
  }

  async ordered(kind: "full" | "snmp", site: Site, actor: CommandActor): Promise<void> {
    await this.carryOut(kind, site, null, actor);
  }

  private async carryOut(
    kind: "full" | "snmp",
    site: Site,
    schedule: { readonly id: string; readonly due_at: Instant } | null,
    actor: CommandActor,
  ): Promise<void> {
    const { crew, writes } = this;
    const network_id = crew.networkId(site);
    const what = { network_id, kind, targets: null, commit: true, allow_large: false };
    const scan = await crew.run("discovery.queue", { ...what, schedule }, actor);
    const author = authorOf(scan, crew);
    const dispatched = await writes.run("discovery.dispatch", { id: scan.id }, author);
    if (dispatched.result === null) throw new Error("demo: a scan that waits is gone");
    const { end } = await this.machine.scan(
      {
        ...what,
        ...dispatched.result,
        id: scan.id,
        organization_id: crew.organizationId,
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
    if (end.status !== "Completed") throw new Error(`demo: a scan ended as ${end.status}: ${end.problem}`);
    await crew.run("discovery.end", end, author);
  }
}

/** Same author as for the appliance's own scan results. */
function authorOf({ id, kind, network_id, reason }: Scan, { organizationId }: Crew): CommandActor {
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
