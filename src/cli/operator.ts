// Subcommand operator: anyone who can run the program on the data directory has all permissions in every organization.
// Resolves typed names to records.

import { type CommandActor, SYSTEM_AUTHOR } from "../access/actor.ts";
import { DomainError } from "../base/errors.ts";
import { foldCase } from "../base/text.ts";
import type { AnyKind } from "../db/kind.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { type NetworkRecord, networkKind } from "../resources/networks/network.ts";
import { type UserRecord, userKind } from "../resources/users/user.ts";
import { entityTag } from "../schemas/entity-tags.ts";
import { ChangeReason } from "../schemas/schemas.ts";
import { checkSetting } from "./checked-setting.ts";

export interface OrganizationReach extends Reach {
  readonly id: string;
  readonly name: string;
}

/** A live record with its ETag. */
export interface LiveRecord<R> {
  readonly record: R;
  readonly ifMatch: string;
}

/** Author of a subcommand's writes: the system itself, with all permissions in one organization. */
export function operatorOf(organizationId: string, reason: string | null = null): CommandActor {
  return { ...SYSTEM_AUTHOR, reason, organizationId, userId: null, role: "Owner", networkIds: null };
}

/** The value of --reason; null if blank or absent. @throws UsageError */
export function checkReason(given: string | null): string | null {
  const reason = (given ?? "").trim();
  return reason === "" ? null : checkSetting(ChangeReason, reason, "--reason");
}

/** All organizations, oldest first. */
export function organizationsOf(reader: Reader): OrganizationReach[] {
  const rows = reader
    .statement(
      `SELECT o.n, r.id, ('{' || o.members || '}') ->> '$.name' FROM organizations o
        JOIN history_records r ON r.n = o.n ORDER BY o.n`,
    )
    .values() as Array<[number, string, string]>;
  return rows.map(([n, id, name]) => ({ organizationN: n, networkNs: null, id, name }));
}

/**
 * @param requested a name or an id; null for the only organization
 * @throws DomainError entity_not_found if it does not exist, or is not the only one
 */
export function organizationOf(reader: Reader, requested: string | null): OrganizationReach {
  const all = organizationsOf(reader);
  if (all.length === 0) throw missing("There is no organization yet: create one with netledger setup.");
  const matches = requested === null ? all : all.filter(({ id, name }) => matchesNameOrId(requested, id, name));
  if (matches.length > 1)
    throw missing(
      `${requested === null ? "There are several organizations" : "Several organizations have this name"}: name one by its id with --organization (${list(matches)}).`,
    );
  if (matches[0] === undefined)
    throw missing(`There is no organization ${JSON.stringify(requested)}, but ${list(all)}.`);
  return matches[0];
}

/** @throws DomainError entity_not_found if one of them does not exist */
export function networkIdsOf(reader: Reader, organization: OrganizationReach, requested: readonly string[]): string[] {
  const all = recordsOf<NetworkRecord>(reader, networkKind, organization);
  return requested.map((each) => {
    const network = all.find(({ id, name }) => matchesNameOrId(each, id, name));
    if (network === undefined) throw missing(`There is no network ${JSON.stringify(each)} in ${organization.name}.`);
    return network.id;
  });
}

/** @throws DomainError entity_not_found if no user has the address */
export function userByEmail(
  reader: Reader,
  email: string,
): LiveRecord<UserRecord> & { readonly organization: OrganizationReach } {
  const row = reader
    .statement("SELECT r.id, u.organization_n FROM users u JOIN history_records r ON r.n = u.n WHERE u.identity = ?")
    .values(foldCase(email))[0] as [string, number] | undefined;
  const organization = organizationsOf(reader).find(({ organizationN }) => organizationN === row?.[1]);
  const found =
    row === undefined || organization === undefined
      ? null
      : recordOf<UserRecord>(reader, userKind, organization, row[0]);
  if (found === null || organization === undefined)
    throw missing(`There is no user with the e-mail address ${JSON.stringify(email)}.`);
  return { ...found, organization };
}

/** A live record of the organization, or null. */
export function recordOf<R>(
  reader: Reader,
  kind: AnyKind,
  organization: OrganizationReach,
  id: string,
): LiveRecord<R> | null {
  const found = reader.find(kind, id, organization, null);
  return found === null ? null : { record: JSON.parse(found.text) as R, ifMatch: entityTag(found) };
}

/** All live records of a kind in an organization, in page order. */
export function recordsOf<R>(reader: Reader, kind: AnyKind, organization: OrganizationReach): R[] {
  return reader
    .items({ kind, reach: organization, asOf: null, limit: 0, offset: 0 })
    .map((item) => JSON.parse(item.text) as R);
}

/** Tab-separated lines; names cannot contain tabs. */
export function table(head: readonly string[], rows: ReadonlyArray<ReadonlyArray<string | boolean | null>>): string {
  return [head, ...rows].map((row) => `${row.map((cell) => cell ?? "").join("\t")}\n`).join("");
}

function missing(message: string): DomainError {
  return new DomainError("entity_not_found", message);
}

function matchesNameOrId(requested: string, id: string, name: string): boolean {
  return id === requested.toLowerCase() || foldCase(name) === foldCase(requested);
}

function list(organizations: readonly OrganizationReach[]): string {
  return organizations
    .slice(0, 20)
    .map(({ id, name }) => `${id} ${name}`)
    .join(", ");
}
