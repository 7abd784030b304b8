// Implementation of GET /api/v1/subnets/{id}/addresses: the whole subnet as rows, with the hosts of used addresses.

import type { Static } from "@sinclair/typebox";
import { type AddressBlock, addressAt, addressNumber, blockSize, cidrBlock } from "../../base/address-block.ts";
import { parseIp, uniqueWithin } from "../../base/ip.ts";
import { append } from "../../base/multimap.ts";
import { runSteps } from "../../base/steps.ts";
import { vendorOf } from "../../base/vendors/vendor.ts";
import { longRead, PAUSE } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { LastPlaces } from "../../history/last-place.ts";
import { visibilityOf } from "../../history/locate/locate.ts";
import type { RequestFilter } from "../../records/list-filter.ts";
import { RowFilter } from "../../records/row-filter.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { type IpAddress, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { hostAddressNumbers } from "../../resources/subnets/host-addresses.ts";
import { commaSeparated, LIST_HEAD, listMeta, listTail } from "../../schemas/envelope.ts";
import { addressConflicts } from "../conflicts/address-conflicts.ts";
import { conflictFingerprint } from "../conflicts/conflict.ts";
import { acceptancesOf, conflictQuery } from "../conflicts/find-conflicts.ts";
import { type AddressRow, addressRows, type UsedAddress } from "./address-layout.ts";
import { ADDRESS_FIELDS } from "./address-row.ts";
import { type SubnetInput, seenIn, subnetContext } from "./subnet-at.ts";

/** Input for a subnet or a part of it. */
interface PartInput extends SubnetInput {
  /** A prefix within the subnet, or its whole prefix. */
  readonly part: string;
}

export interface AddressesInput extends PartInput {
  readonly filter: RequestFilter;
  /** 0 for all. */
  readonly limit: number;
  readonly offset: number;
}

/** Rows per step. */
const STEP_ROWS = 500;

/** Yields the response as an envelope. */
export const subnetAddresses = longRead(
  "addresses",
  function* (reader: Reader, input: AddressesInput) {
    const { limit, offset, moment } = input;
    const filter = RowFilter.of(reader, ADDRESS_FIELDS, input.actor, input.filter);
    const { rows, total } =
      filter === null
        ? reader.snapshot(() => pageOf(reader, input))
        : yield* filteredPage(reader, input, (row) => filter.holds(row));
    const encoder = new TextEncoder();
    yield encoder.encode(LIST_HEAD);
    yield* commaSeparated(renderRows(reader, input, rows));
    yield encoder.encode(listTail(listMeta({ limit, offset, total }, moment)));
  },
  { isInLargeSteps: true },
);

interface Page {
  readonly rows: AddressRow[];
  readonly total: number;
}

/** In address order. Iterate within a snapshot. */
export function addressRowsOf(reader: Reader, input: PartInput): Iterable<AddressRow> {
  const context = subnetContext(reader, input);
  const part = cidrBlock(input.part);
  return addressRows(input.subnet.cidr, part, context, usedIn(reader, input, part, context.enclosingIds));
}

/** A page of the rows that match the filter. Rows are rendered on demand. */
function* filteredPage(
  reader: Reader,
  input: AddressesInput,
  holds: (row: object) => boolean,
): Generator<Uint8Array, Page> {
  const all = reader.snapshot(() => [...addressRowsOf(reader, input)]);
  const found: AddressRow[] = [];
  for (let start = 0; start < all.length; start += STEP_ROWS) {
    const step = all.slice(start, start + STEP_ROWS);
    const bodies = rowBodies(reader, input, step);
    found.push(...step.filter((_, index) => holds(bodies[index] as object)));
    yield PAUSE;
  }
  const { limit, offset } = input;
  return { rows: found.slice(offset, limit === 0 ? undefined : offset + limit), total: found.length };
}

function pageOf(reader: Reader, input: AddressesInput): Page {
  const { limit, offset } = input;
  const rows: AddressRow[] = [];
  let total = 0;
  for (const row of addressRowsOf(reader, input)) {
    if (total >= offset && (limit === 0 || rows.length < limit)) rows.push(row);
    total += 1;
  }
  return { rows, total };
}

/** In order, each address once. */
function usedIn(
  reader: Reader,
  input: PartInput,
  { first, last }: AddressBlock,
  subnetIds: readonly string[],
): UsedAddress[] {
  const isIpv6 = input.subnet.cidr.includes(":");
  const used = new Map<string, number[]>(seenIn(reader, input, input.part).map((text) => [text, []]));
  for (const [n, text] of hostAddressNumbers(reader, input.moment.asOf, subnetIds)) {
    append(used, text, n);
  }
  return [...used]
    .filter(([text]) => text.includes(":") === isIpv6)
    .map(([text, ns]) => ({ at: addressNumber(text), ns: ns.sort((a, b) => a - b) }))
    .filter(({ at }) => at >= first && at <= last)
    .sort((a, b) => (a.at < b.at ? -1 : 1));
}

function* renderRows(reader: Reader, input: AddressesInput, rows: readonly AddressRow[]): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  for (let start = 0; start < rows.length; start += STEP_ROWS) {
    const items = rowBodies(reader, input, rows.slice(start, start + STEP_ROWS)).map((row) => JSON.stringify(row));
    yield encoder.encode(items.join(","));
  }
}

/** Wire format of the rows. */
function rowBodies(reader: Reader, input: AddressesInput, rows: readonly AddressRow[]): object[] {
  const isIpv6 = input.subnet.cidr.includes(":");
  const text = (at: bigint) => addressAt(at, isIpv6 ? 6 : 4);
  const holders = holdersOf(
    reader,
    input,
    rows.flatMap(({ ns }) => ns),
  );
  const conflicts = conflictsOf(
    reader,
    input,
    rows.flatMap(({ first, ns }) => (mayConflict(text(first), ns) ? [text(first)] : [])),
  );
  return rows.map(({ first, last, state, range, within, ns }) => {
    const count = blockSize({ first, last });
    return {
      first: text(first),
      last: text(last),
      count: isIpv6 ? String(count) : Number(count),
      state,
      ip_addresses: ns.map((n) => holders.get(n)),
      conflict: conflicts.get(text(first)) ?? null,
      ip_range: range === null ? null : { id: range.id, purpose: range.purpose, description: range.description },
      subnet: within,
    };
  });
}

/** Whether an address in use can be in a conflict: hosts of other networks claim a public one as well. */
function mayConflict(address: string, ns: readonly number[]): boolean {
  const ip = parseIp(address);
  return ns.length > 1 || (ns.length === 1 && ip !== null && uniqueWithin(ip) === "everywhere");
}

/** Conflicts in wire format, by address. */
function conflictsOf(
  reader: Reader,
  { actor, subnet, moment }: AddressesInput,
  addresses: readonly string[],
): Map<string, object> {
  const query = conflictQuery(actor, moment);
  const found = runSteps(addressConflicts(reader, query, addresses)).filter(({ parties }) =>
    parties.some(({ networkId }) => networkId === subnet.network_id),
  );
  const acceptances = acceptancesOf(reader, query, found);
  return new Map(
    found.map((conflict) => {
      const fingerprint = conflictFingerprint(conflict);
      return [conflict.value, { fingerprint, acceptance: acceptances.get(fingerprint) ?? null }];
    }),
  );
}

/** Address records with their hosts in wire format, by record number. */
function holdersOf(reader: Reader, input: AddressesInput, ns: readonly number[]): Map<number, object> {
  const { actor, subnet } = input;
  const { asOf } = input.moment;
  const places = new LastPlaces(reader, asOf.sequence, visibilityOf(reader, { actor, networkId: subnet.network_id }));
  return reader.snapshot(() => {
    const records = reader
      .itemsOf(ipAddressKind, ns, asOf, actor)
      .map(({ n, text }) => ({ n, record: JSON.parse(text) as Static<typeof IpAddress> }));
    const ids = [...new Set(records.map(({ record }) => record.host_id))];
    const hosts = { kind: hostKind, reach: actor, asOf, ids, limit: 0, offset: 0 };
    const names = new Map(reader.ownFields(hosts, ["id", "name"]).map((row) => JSON.parse(row) as [string, string]));
    return new Map(
      records.map(({ n, record: { id, host_id, name, mac_address, last_seen_at } }) => [
        n,
        {
          id,
          host: { id: host_id, name: names.get(host_id) ?? null },
          name,
          mac_address,
          vendor: mac_address === null ? null : vendorOf(mac_address),
          last_seen_at,
          last_seen: places.ofAbsent(subnet.network_id, mac_address === null ? [] : [mac_address]),
        },
      ]),
    );
  });
}
