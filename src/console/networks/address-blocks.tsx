// Map of a large subnet as equal blocks with their utilization. A block opens into smaller blocks or its addresses.

import type { ComponentChildren } from "preact";
import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { CellGrid } from "../components/cell-grid.tsx";
import { Paged } from "../components/paged.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { Section } from "../components/section.tsx";
import { groupedDigits } from "../text/digits.ts";
import { subnetText } from "../text/networks.ts";
import { atQuery } from "../time/at.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import { type BlockParts, blockPartsOf } from "./address-map.ts";
import { ADDRESS_CHANGES } from "./address-table.tsx";
import { blockName } from "./prefixes.ts";

type Block = DataOf<"/api/v1/subnets/{id}/blocks">[number];

const COLUMNS = 16;

interface AddressBlocksProps {
  readonly id: string;
  readonly cidr: string;
  /** Prefix within the subnet, or the subnet's own. */
  readonly part: string;
  /** Content above the map. */
  readonly head: ComponentChildren;
}

/** Map and table are items of the page's grid, as in `AddressCells`. */
export function AddressBlocks({ id, cidr, part, head }: AddressBlocksProps) {
  const query = { ...atQuery(), ...(part === cidr ? {} : { within: part }) };
  const request = read("/api/v1/subnets/{id}/blocks", { path: { id }, query });
  const { data, problem, retry } = useResponse(request, ADDRESS_CHANGES);
  const nonEmpty = data?.filter(({ counts, subnet }) => subnet !== null || isFilled(blockPartsOf(counts)));
  return (
    <>
      <section class="subnet-map is-wide">
        {head}
        <ResponseState data={data} problem={problem} retry={retry} />
        {data !== undefined && (
          <>
            <div class="address-map">
              <CellGrid title="Address blocks" columns={COLUMNS} cells={data.map((block) => cellOf(block, part))} />
            </div>
            <p class="aside block-legend">
              Filled: in use. Hatched: in ranges or child subnets. Click a block to open it; a block inside a child
              subnet leads there.
            </p>
          </>
        )}
      </section>
      {nonEmpty !== undefined && (
        <Section title="Non-empty blocks" className="subnet-table">
          {nonEmpty.length === 0 ? <p class="aside">All blocks are empty.</p> : <BlockTable blocks={nonEmpty} />}
        </Section>
      )}
    </>
  );
}

function isFilled({ used, inRanges, inSubnets }: BlockParts): boolean {
  return used + inRanges + inSubnets > 0;
}

function hrefOfBlock({ cidr, subnet }: Block): string {
  return subnet === null ? hrefHere({ block: cidr, page: null, find: null }) : hrefOf(`/subnets/${subnet.id}`);
}

const blockText = ({ used, inRanges, inSubnets, free }: BlockParts) =>
  [
    `${groupedDigits(used)} in use`,
    ...(inRanges > 0 ? [`${groupedDigits(inRanges)} in ranges`] : []),
    ...(inSubnets > 0 ? [`${groupedDigits(inSubnets)} in child subnets`] : []),
    `${groupedDigits(free)} free`,
  ].join(", ");

function cellOf(block: Block, part: string) {
  const { cidr, counts, subnet } = block;
  const parts = blockPartsOf(counts);
  const total = Math.max(1, parts.used + parts.inRanges + parts.inSubnets + parts.free);
  const share = (count: number) => ({ inlineSize: `${count === 0 ? 0 : Math.max(6, (count / total) * 100)}%` });
  return {
    id: cidr,
    className: subnet !== null ? "block block-subnet" : isFilled(parts) ? "block block-filled" : "block",
    title: `${cidr}: ${subnet === null ? blockText(parts) : subnetText.blockInSubnet(subnet.cidr, subnet.name)}`,
    href: hrefOfBlock(block),
    content: (
      <>
        {blockName(part, cidr)}
        <span class="block-bar" aria-hidden="true">
          <span class="block-used" style={share(parts.used)} />
          <span class="block-aside" style={share(parts.inRanges)} />
          <span class="block-within" style={share(parts.inSubnets)} />
        </span>
      </>
    ),
  };
}

const NUMBERS = ["In use", "In ranges", "Free"];

function BlockTable({ blocks }: { readonly blocks: readonly Block[] }) {
  const textOf = ({ cidr, subnet }: Block) => `${cidr} ${subnet?.cidr ?? ""} ${subnet?.name ?? ""}`;
  return (
    <Paged rows={blocks} title="Non-empty blocks" textOf={textOf}>
      {(rows) => (
        <RowsTable title="Non-empty blocks" heads={["Block", ...NUMBERS, "Child subnet"]} numbers={NUMBERS}>
          {rows.map((block) => (
            <BlockRow key={block.cidr} block={block} />
          ))}
        </RowsTable>
      )}
    </Paged>
  );
}

function BlockRow({ block }: { readonly block: Block }) {
  const { used, inRanges, inSubnets, free } = blockPartsOf(block.counts);
  return (
    <tr>
      <th scope="row">
        <a href={hrefOfBlock(block)}>{block.cidr}</a>
      </th>
      <td class="is-number">{groupedDigits(used)}</td>
      <td class="is-number">{groupedDigits(inRanges)}</td>
      <td class="is-number">{groupedDigits(free)}</td>
      <td>
        {block.subnet === null ? (
          inSubnets > 0 && groupedDigits(inSubnets)
        ) : (
          <>
            {block.subnet.cidr} <bdi>{block.subnet.name}</bdi>
          </>
        )}
      </td>
    </tr>
  );
}
