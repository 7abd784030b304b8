// One caller at one operation: what it may name, what of that it reaches, and what it is to find, now and at other
// instants. The requests themselves are cases.ts' affair.

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
  /** What the request really is, where making that takes something: for callers whom the operation lets in at all. */
  readonly fresh?: () => Promise<Sent>;
  /** Who the answer is for, where that is not the caller. */
  readonly eyes?: Sight;
  /** What is answered where it is done. */
  readonly check?: (answer: Answer) => void | Promise<void>;
  /** What is to be so afterwards, whatever was answered. */
  readonly afterwards?: (answer: Answer) => void | Promise<void>;
}

export const UNKNOWN_ID = "01936f2e-0d5c-7d3a-9a39-00000000dead";

/** What a path or a body may name. */
export interface Target {
  readonly title: string;
  readonly id: string;
  readonly place: Place | null;
  readonly isReached: boolean;
  /** The role that writing it takes beyond the operation's. */
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

  /** Where the caller's good requests are about. */
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

  /** Keys show to their users, and to who sees all of the organization's; nobody writes one of a user above. */
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

  /** `at` as it may be asked for, with the transaction that it means. */
  instants(): Array<{ readonly title: string; readonly query: string; readonly sequence: number }> {
    const { oracle, early, then, late } = this.world;
    return [
      { title: "now", query: "", sequence: oracle.head },
      ...[early, then, late].map((at) => ({ title: at, query: `at=${at}`, sequence: oracle.sequenceAt(at) })),
    ];
  }

  /** What the caller is to find alive. */
  living(plural: string, sequence: number): Wire[] {
    const found = this.world.oracle.living(this.caller, STANDARD[plural]?.entity ?? "", sequence);
    return STANDARD[plural]?.place !== "user" || mayAs(this.caller.role, "Admin")
      ? found
      : found.filter((key) => key.user_id === this.caller.userId);
  }

  takes(name: string): boolean {
    return Object.hasOwn(this.parameters, name);
  }

  /** The vocabulary of a parameter. */
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
