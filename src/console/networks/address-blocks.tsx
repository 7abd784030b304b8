// Large subnet as equal blocks with their utilization. A block opens into smaller blocks, or into its addresses.

import type { ComponentChildren } from "preact";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { CellGrid } from "../parts/cell-grid.tsx";
import { Paged } from "../parts/paged.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { groupedDigits } from "../text/digits.ts";
import { subnetText } from "../text/networks.ts";
import { atQuery } from "../time/at.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import { type BlockParts, blockPartsOf } from "./address-map.ts";
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
  const within = part === cidr ? {} : { within: part };
  const { data, problem, again } = useAnswer(
    read("/api/v1/subnets/{id}/blocks", { path: { id }, query: { ...atQuery(), ...within } }),
    { how: "refresh", types: ["host", "ip_address", "ip_range", "subnet"] },
  );
  const filled = data?.filter(({ counts, subnet }) => subnet !== null || isFilled(blockPartsOf(counts)));
  return (
    <>
      <section class="subnet-map is-wide">
        {head}
        {problem !== undefined && <Problem problem={problem} again={again} />}
        {data === undefined && problem === undefined && <Waiting />}
        {data !== undefined && (
          <>
            <div class="address-map">
              <CellGrid
                title="Blocks of addresses"
                columns={COLUMNS}
                cells={data.map((block) => cellOf(block, part))}
              />
            </div>
            <p class="aside block-legend">
              Filled: in use. Hatched: set aside or in child subnets. Click a block to open it; a block inside a child
              subnet leads there.
            </p>
          </>
        )}
      </section>
      {filled !== undefined && (
        <section class="subnet-table">
          <h2>Blocks that are not empty</h2>
          {filled.length === 0 ? <p class="aside">Nothing is in any of them.</p> : <BlockTable blocks={filled} />}
        </section>
      )}
    </>
  );
}

function isFilled({ used, aside, inSubnets }: BlockParts): boolean {
  return used + aside + inSubnets > 0;
}

function hrefOfBlock({ cidr, subnet }: Block): string {
  return subnet === null ? hrefHere({ block: cidr, page: null, find: null }) : hrefOf(`/subnets/${subnet.id}`);
}

const blockParts = ({
  used,
  aside,
  inSubnets,
  free,
}: Readonly<Record<"used" | "aside" | "inSubnets" | "free", number>>) =>
  [
    `${groupedDigits(used)} in use`,
    ...(aside > 0 ? [`${groupedDigits(aside)} set aside`] : []),
    ...(inSubnets > 0 ? [`${groupedDigits(inSubnets)} in subnets within`] : []),
    `${groupedDigits(free)} free`,
  ].join(", ");

function cellOf(block: Block, part: string) {
  const { cidr, counts, subnet } = block;
  const parts = blockPartsOf(counts);
  const all = Math.max(1, parts.used + parts.aside + parts.inSubnets + parts.free);
  const share = (count: number) => ({ inlineSize: `${count === 0 ? 0 : Math.max(6, (count / all) * 100)}%` });
  return {
    id: cidr,
    kind: subnet !== null ? "block block-subnet" : isFilled(parts) ? "block block-filled" : "block",
    title: `${cidr}: ${subnet === null ? blockParts(parts) : subnetText.blockInSubnet(subnet.cidr, subnet.name)}`,
    href: hrefOfBlock(block),
    content: (
      <>
        {blockName(part, cidr)}
        <span class="block-bar" aria-hidden="true">
          <span class="block-used" style={share(parts.used)} />
          <span class="block-aside" style={share(parts.aside)} />
          <span class="block-within" style={share(parts.inSubnets)} />
        </span>
      </>
    ),
  };
}

function BlockTable({ blocks }: { readonly blocks: readonly Block[] }) {
  const textOf = ({ cidr, subnet }: Block) => `${cidr} ${subnet?.cidr ?? ""} ${subnet?.name ?? ""}`;
  return (
    <Paged rows={blocks} title="Blocks that are not empty" textOf={textOf}>
      {(rows) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
        <section class="table" tabIndex={0} aria-label="Blocks that are not empty">
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">Block</th>
                <th scope="col" class="is-number">
                  In use
                </th>
                <th scope="col" class="is-number">
                  Set aside
                </th>
                <th scope="col" class="is-number">
                  Free
                </th>
                <th scope="col">Subnet within</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((block) => (
                <BlockRow key={block.cidr} block={block} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Paged>
  );
}

function BlockRow({ block }: { readonly block: Block }) {
  const { used, aside, inSubnets, free } = blockPartsOf(block.counts);
  return (
    <tr>
      <th scope="row">
        <a href={hrefOfBlock(block)}>{block.cidr}</a>
      </th>
      <td class="is-number">{groupedDigits(used)}</td>
      <td class="is-number">{groupedDigits(aside)}</td>
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
