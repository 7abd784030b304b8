// One caller at one operation: the ids it may send, those of them it reaches, and the expected results, now and at
// other timestamps. cases.ts builds the requests.

import type { TSchema } from "@sinclair/typebox";
import type { RegisteredRoute } from "../../../src/http/surface.ts";
import type { Answer } from "../appliance/client.ts";
import type { Wire } from "../appliance/factories.ts";
import { type Demand, mayAs, STANDARD } from "./contract.ts";
import type { Sight } from "./oracle.ts";
import { type Caller, PLACES, type Place, type World } from "./world.ts";

export interface Sent {
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Case extends Demand, Sent {
  readonly title: string;
  readonly path: string;
  /** Builds the actual request where that has a cost; called only for callers whom the operation admits. */
  readonly fresh?: () => Promise<Sent>;
  /** Sight that the answer is checked against, if not the caller's. */
  readonly eyes?: Sight;
  /** Checks the answer of a success. */
  readonly check?: (answer: Answer) => void | Promise<void>;
  /** Checks the state afterwards, whatever the answer. */
  readonly afterwards?: (answer: Answer) => void | Promise<void>;
}

export const UNKNOWN_ID = "01936f2e-0d5c-7d3a-9a39-00000000dead";

/** A record that a path or a body may name. */
export interface Target {
  readonly title: string;
  readonly id: string;
  readonly place: Place | null;
  readonly isReached: boolean;
  /** Role required to write it, beyond the operation's. */
  readonly role?: "Owner";
}

export class Asking {
  readonly world: World;
  readonly caller: Caller;
  readonly path: string;
  readonly parameters: Readonly<Record<string, TSchema>>;

  constructor(world: World, caller: Caller, route: RegisteredRoute) {
    this.world = world;
    this.caller = caller;
    this.path = route.path;
    this.parameters = route.operation.query?.properties ?? {};
  }

  get places(): Place[] {
    return PLACES.map((name) => this.world.places[name]);
  }

  /** The place that the caller's valid requests refer to. */
  get home(): Place {
    return this.world.places[this.caller.home ?? "near"];
  }

  isOwn(place: Place): boolean {
    return this.caller.organizationId === place.organizationId;
  }

  reaches(place: Place): boolean {
    return this.isOwn(place) && (this.caller.networkIds === null || this.caller.networkIds.includes(place.networkId));
  }

  targets(plural: string): Target[] {
    const nothing: Target = { title: "nothing", id: UNKNOWN_ID, place: null, isReached: false };
    if (STANDARD[plural]?.place === "user") return [...this.keys(), nothing];
    const isConfined = STANDARD[plural]?.place === "network";
    const targets = this.places
      .filter((place) => isConfined || place.name !== "far")
      .map(
        (place): Target => ({
          title: place.name,
          id: place.records[plural]?.id,
          place,
          isReached: isConfined ? this.reaches(place) : this.isOwn(place),
        }),
      );
    if (plural === "users")
      targets.push({
        title: "an Owner",
        id: this.world.places.near.ownerId,
        place: this.world.places.near,
        isReached: this.isOwn(this.world.places.near),
        role: "Owner",
      });
    return [...targets, nothing];
  }

  /**
   * Keys are visible to their users and to those who see the whole organization's. Keys of users with a higher role
   * can't be written.
   */
  private keys(): Target[] {
    const { world, caller } = this;
    const own: Target = { title: "one's own", id: caller.keyId, place: this.home, isReached: true };
    const others = (["near", "foreign"] as const)
      .filter((name) => world.ownersKeys[name] !== caller.keyId)
      .map(
        (name): Target => ({
          title: `the Owner's of ${name}`,
          id: world.ownersKeys[name],
          place: world.places[name],
          isReached: this.isOwn(world.places[name]) && mayAs(caller.role, "Admin"),
          role: "Owner",
        }),
      );
    return [own, ...others];
  }

  /** Forms of `at` in requests, each with the transaction it resolves to. */
  instants(): Array<{ readonly title: string; readonly query: string; readonly sequence: number }> {
    const { oracle, early, then, late } = this.world;
    return [
      { title: "now", query: "", sequence: oracle.head },
      ...[early, then, late].map((at) => ({ title: at, query: `at=${at}`, sequence: oracle.sequenceAt(at) })),
    ];
  }

  /** Records that the caller must find live. */
  living(plural: string, sequence: number): Wire[] {
    const found = this.world.oracle.living(this.caller, STANDARD[plural]?.entity ?? "", sequence);
    return STANDARD[plural]?.place !== "user" || mayAs(this.caller.role, "Admin")
      ? found
      : found.filter((key) => key.user_id === this.caller.userId);
  }

  takes(name: string): boolean {
    return Object.hasOwn(this.parameters, name);
  }

  /** Vocabulary of a parameter. */
  values(name: string): string[] {
    const schema = this.parameters[name] as { enum?: string[]; items?: { enum?: string[] } } | undefined;
    return schema?.enum ?? schema?.items?.enum ?? [];
  }
}

export const idsOf = (records: readonly Wire[]): string[] => records.map((record) => record.id as string);
export const sorted = (ids: readonly string[]): string[] => [...ids].sort();
export const withQuery = (path: string, ...queries: string[]): string => {
  const query = queries.filter((each) => each !== "").join("&");
  return query === "" ? path : `${path}?${query}`;
};
