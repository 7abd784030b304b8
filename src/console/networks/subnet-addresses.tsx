// Addresses of a subnet: cells for a small one, expandable blocks for a large one, and for IPv6 a row per run of equal
// addresses.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { groupedDigits } from "../text/digits.ts";
import { atQuery } from "../time/at.ts";
import { hrefHere, parameter } from "../url/location.ts";
import { AddressBlocks } from "./address-blocks.tsx";
import { AddressCells } from "./address-cells.tsx";
import { hasBlocks, hasCells } from "./address-map.ts";
import { AddressTable } from "./address-table.tsx";
import { isWithinPrefix } from "./prefixes.ts";

/** Runs and used addresses shown for a subnet without cells. */
const RUNS_MAX = 1_000;

interface SubnetAddressesProps {
  readonly subnet: { readonly id: string; readonly cidr: string; readonly created_at: string };
}

export function SubnetAddresses({ subnet }: SubnetAddressesProps) {
  const { id, cidr } = subnet;
  const part = openBlock(cidr);
  const head = (
    <>
      <h2 class="subnet-part">Addresses</h2>
      {part !== cidr && (
        <p class="block-path">
          <a href={hrefHere({ block: null, page: null, find: null })}>{cidr}</a> › <b>{part}</b>
        </p>
      )}
    </>
  );
  if (hasCells(part)) return <AddressCells key={part} subnet={subnet} part={part} head={head} />;
  if (hasBlocks(part)) return <AddressBlocks key={part} id={id} cidr={cidr} part={part} head={head} />;
  return (
    <section class="subnet-table">
      <Runs id={id} />
    </section>
  );
}

/** Block in the address; the subnet itself if missing, malformed or outside of the subnet. */
export function openBlock(cidr: string): string {
  const block = parameter("block");
  return block !== null && /^[\d.]+\/\d+$/.test(block) && isWithinPrefix(cidr, block) ? block : cidr;
}

function Runs({ id }: { readonly id: string }) {
  const query = { ...atQuery(), limit: RUNS_MAX };
  const { data, meta, problem, again } = useAnswer(read("/api/v1/subnets/{id}/addresses", { path: { id }, query }), {
    how: "refresh",
    types: ["host", "ip_address", "ip_range", "subnet"],
  });
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  const left = (meta?.pagination.total_count ?? 0) - data.length;
  return (
    <>
      {problem !== undefined && <Problem problem={problem} again={again} />}
      <AddressTable title="What its addresses are" rows={data} />
      {left > 0 && <p class="aside">{groupedDigits(left)} more rows: ask the API, or look at a subnet within it.</p>}
    </>
  );
}
