// Calls of one caller to one operation: the ids that it sends, those that it can access, and the expected results, now
// and at other timestamps. cases.ts builds the requests.

import type { TSchema } from "@sinclair/typebox";
import type { RegisteredRoute } from "../../../src/http/surface.ts";
import type { ApiResponse } from "../appliance/client.ts";
import type { JsonRecord } from "../appliance/factories.ts";
import { hasRole, type Requirement, STANDARD } from "./contract.ts";
import { type Caller, type Fixture, SITES, type Site } from "./fixture.ts";
import type { Visibility } from "./oracle.ts";

export interface SentRequest {
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Case extends Requirement, SentRequest {
  readonly title: string;
  readonly path: string;
  /** Builds the actual request if that is costly; called only for callers admitted by the operation. */
  readonly prepare?: () => Promise<SentRequest>;
  /** Visibility that the response is checked against, if not the caller's. */
  readonly viewer?: Visibility;
  /** Checks a successful response. */
  readonly check?: (answer: ApiResponse) => void | Promise<void>;
  /** Checks the state after any response. */
  readonly afterwards?: (answer: ApiResponse) => void | Promise<void>;
}

export const UNKNOWN_ID = "01936f2e-0d5c-7d3a-9a39-00000000dead";

/** A record that a path or a body may name. */
export interface Target {
  readonly title: string;
  readonly id: string;
  readonly site: Site | null;
  readonly isReached: boolean;
  /** Role required to write it, beyond the operation's. */
  readonly role?: "Owner";
}

export class CallContext {
  readonly fixture: Fixture;
  readonly caller: Caller;
  readonly path: string;
  readonly parameters: Readonly<Record<string, TSchema>>;

  constructor(fixture: Fixture, caller: Caller, route: RegisteredRoute) {
    this.fixture = fixture;
    this.caller = caller;
    this.path = route.path;
    this.parameters = route.operation.query?.properties ?? {};
  }

  get sites(): Site[] {
    return SITES.map((name) => this.fixture.sites[name]);
  }

  /** Site that the caller's valid requests refer to. */
  get homeSite(): Site {
    return this.fixture.sites[this.caller.homeSite ?? "near"];
  }

  isOwn(site: Site): boolean {
    return this.caller.organizationId === site.organizationId;
  }

  reaches(site: Site): boolean {
    return this.isOwn(site) && (this.caller.networkIds === null || this.caller.networkIds.includes(site.networkId));
  }

  targets(plural: string): Target[] {
    const nothing: Target = { title: "nothing", id: UNKNOWN_ID, site: null, isReached: false };
    if (STANDARD[plural]?.scope === "user") return [...this.keys(), nothing];
    const isConfined = STANDARD[plural]?.scope === "network";
    const targets = this.sites
      .filter((site) => isConfined || site.name !== "far")
      .map(
        (site): Target => ({
          title: site.name,
          id: site.records[plural]?.id,
          site,
          isReached: isConfined ? this.reaches(site) : this.isOwn(site),
        }),
      );
    if (plural === "users")
      targets.push({
        title: "an Owner",
        id: this.fixture.sites.near.ownerId,
        site: this.fixture.sites.near,
        isReached: this.isOwn(this.fixture.sites.near),
        role: "Owner",
      });
    return [...targets, nothing];
  }

  /**
   * Keys are visible to their users and to callers who see all keys of the organization. Keys of users with a higher
   * role can't be written.
   */
  private keys(): Target[] {
    const { fixture, caller } = this;
    const own: Target = { title: "the caller's own", id: caller.keyId, site: this.homeSite, isReached: true };
    const others = (["near", "foreign"] as const)
      .filter((name) => fixture.ownerKeys[name] !== caller.keyId)
      .map(
        (name): Target => ({
          title: `the Owner's of ${name}`,
          id: fixture.ownerKeys[name],
          site: fixture.sites[name],
          isReached: this.isOwn(fixture.sites[name]) && hasRole(caller.role, "Admin"),
          role: "Owner",
        }),
      );
    return [own, ...others];
  }

  /** The deleted host of each site. */
  deletedHosts(): Target[] {
    return this.sites.map((site) => {
      return { title: `gone from ${site.name}`, id: site.deletedHostId, site, isReached: this.reaches(site) };
    });
  }

  /** Forms of `at` in requests, each with the transaction it resolves to. */
  instants(): Array<{ readonly title: string; readonly query: string; readonly sequence: number }> {
    const { oracle, early, middle, late } = this.fixture;
    return [
      { title: "now", query: "", sequence: oracle.head },
      ...[early, middle, late].map((at) => ({ title: at, query: `at=${at}`, sequence: oracle.sequenceAt(at) })),
    ];
  }

  /** Live records that the caller must find. */
  liveRecords(plural: string, sequence: number): JsonRecord[] {
    const found = this.fixture.oracle.liveRecords(this.caller, STANDARD[plural]?.entity ?? "", sequence);
    return STANDARD[plural]?.scope !== "user" || hasRole(this.caller.role, "Admin")
      ? found
      : found.filter((key) => key.user_id === this.caller.userId);
  }

  hasParameter(name: string): boolean {
    return Object.hasOwn(this.parameters, name);
  }

  /** Enum values of a query parameter. */
  values(name: string): string[] {
    const schema = this.parameters[name] as { enum?: string[]; items?: { enum?: string[] } } | undefined;
    return schema?.enum ?? schema?.items?.enum ?? [];
  }
}

export const idsOf = (records: readonly JsonRecord[]): string[] => records.map((record) => record.id as string);
export const sorted = (ids: readonly string[]): string[] => [...ids].sort();
export const withQuery = (path: string, ...queries: string[]): string => {
  const query = queries.filter((part) => part !== "").join("&");
  return query === "" ? path : `${path}?${query}`;
};
