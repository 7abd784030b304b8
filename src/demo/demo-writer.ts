// Writer for the demo's month: each write is a store command with its author and its past time. Permissions are not
// checked, since no user signed in.

import { type CommandActor, SYSTEM_AUTHOR } from "../access/actor.ts";
import type { Clock } from "../base/clock.ts";
import type { Instant } from "../base/instant.ts";
import type { Random } from "../base/random.ts";
import type { AnyKind, Kind, RecordBase } from "../db/kind.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import type { AllCommands } from "../registry/commands.ts";
import { type NetworkRecord, networkKind } from "../resources/networks/network.ts";
import { organizationKind } from "../resources/organizations/organization.ts";
import { type UserRecord, userKind } from "../resources/users/user.ts";
import type { Site } from "./equipment.ts";
import { NETWORKS, PEOPLE, type PersonName } from "./people.ts";

/** Story time, which only moves forward. */
export class StoryClock implements Clock {
  private instant: Instant;

  constructor(instant: Instant) {
    this.instant = instant;
  }

  now(): Instant {
    return this.instant;
  }

  advance(ms: number): void {
    this.instant += ms;
  }

  /** No effect if the time is already later. */
  moveTo(instant: Instant): void {
    this.instant = Math.max(this.instant, instant);
  }
}

export class DemoStore {
  readonly clock: StoryClock;
  private readonly reader: Reader;
  private readonly writes: WriteQueue<AllCommands>;
  private readonly random: Random;
  private organization: { readonly id: string; readonly n: number } | null = null;

  constructor(parts: {
    readonly reader: Reader;
    readonly writes: WriteQueue<AllCommands>;
    readonly clock: StoryClock;
    readonly random: Random;
  }) {
    this.reader = parts.reader;
    this.writes = parts.writes;
    this.clock = parts.clock;
    this.random = parts.random;
  }

  async run<N extends keyof AllCommands & string>(
    command: N,
    input: AllCommands[N]["input"],
    actor: CommandActor,
  ): Promise<AllCommands[N]["result"]> {
    const { result } = await this.writes.run(command, input, actor);
    // Separates consecutive writes in time.
    this.clock.advance(WRITE_INTERVAL_MS);
    return result;
  }

  get organizationId(): string {
    return this.loadedOrganization().id;
  }

  networkId(site: Site): string {
    return this.find<NetworkRecord>(networkKind, ({ name }) => name === NETWORKS[site].name).id;
  }

  /** @param reason as in X-Change-Reason */
  actorOf(person: PersonName, reason: string | null): CommandActor {
    const { email } = PEOPLE[person];
    const user = this.find<UserRecord>(userKind, (each) => each.email === email);
    return {
      type: "User",
      id: user.id,
      name: user.name,
      organizationId: this.organizationId,
      requestId: `demo-${this.random.bytes(6).toHex()}`,
      reason,
      userId: user.id,
      role: user.role,
      networkIds: user.role === "Admin" ? null : user.network_ids,
    };
  }

  /** The appliance itself, with all permissions. */
  system(name: string, networkId: string | null = null): CommandActor {
    return {
      ...SYSTEM_AUTHOR,
      name,
      organizationId: this.organizationId,
      userId: null,
      role: "Owner",
      networkIds: networkId === null ? null : [networkId],
    };
  }

  /** Returns the newest live match. Throws if there is none. */
  find<R extends RecordBase>(kind: Kind<R>, matches: (record: R) => boolean): R {
    const found = this.all(kind, matches).at(-1);
    if (found === undefined) throw new Error(`demo: no matching ${kind.name}`);
    return found;
  }

  /** In creation order. */
  all<R extends RecordBase>(kind: Kind<R>, matches: (record: R) => boolean = () => true): R[] {
    const reach = { organizationN: this.loadedOrganization().n, networkNs: null };
    return this.reader
      .items({ kind: kind as unknown as AnyKind, reach, asOf: null, limit: 0, offset: 0 })
      .map(({ text }) => JSON.parse(text) as R)
      .filter(matches);
  }

  private loadedOrganization(): { readonly id: string; readonly n: number } {
    this.organization ??= this.readOrganization();
    return this.organization;
  }

  private readOrganization(): { readonly id: string; readonly n: number } {
    const [n, id] = this.reader
      .statement("SELECT r.n, r.id FROM history_records r WHERE r.kind = ? LIMIT 1")
      .values(organizationKind.code)[0] as [number, string];
    return { id, n };
  }
}

const WRITE_INTERVAL_MS = 40;
