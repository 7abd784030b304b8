// Subnet addresses: cells if small, blocks if large; for large IPv6 subnets, a row per run of equal state.

import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ResponseState } from "../components/response-state.tsx";
import { groupedDigits } from "../text/digits.ts";
import { atQuery } from "../time/at.ts";
import { hrefHere, parameter } from "../url/location.ts";
import { AddressBlocks } from "./address-blocks.tsx";
import { AddressCells } from "./address-cells.tsx";
import { hasBlocks, hasCells } from "./address-map.ts";
import { ADDRESS_CHANGES, AddressTable } from "./address-table.tsx";
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

/** Block in the URL; the subnet's own prefix if the block is missing, malformed or outside the subnet. */
export function openBlock(cidr: string): string {
  const block = parameter("block");
  return block !== null && /^[\d.]+\/\d+$/.test(block) && isWithinPrefix(cidr, block) ? block : cidr;
}

function Runs({ id }: { readonly id: string }) {
  const query = { ...atQuery(), limit: RUNS_MAX };
  const request = read("/api/v1/subnets/{id}/addresses", { path: { id }, query });
  const { data, meta, problem, retry } = useResponse(request, ADDRESS_CHANGES);
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  const remaining = (meta?.pagination.total_count ?? 0) - data.length;
  return (
    <>
      <ResponseState data={data} problem={problem} retry={retry} />
      <AddressTable title="Address ranges" rows={data} />
      {remaining > 0 && <p class="aside">{groupedDigits(remaining)} more rows: use the API, or open a child subnet.</p>}
    </>
  );
}
