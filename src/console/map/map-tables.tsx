// What the picture shows, as tables: for who cannot see it, and for who wants to read it.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Status, speedOf } from "../parts/status.tsx";
import { mapText } from "../text/map.ts";
import { hrefHere, parameter } from "../url/location.ts";
import type { Diagram, DiagramLink, DiagramNode, Presence } from "./diagram.ts";

interface MapTablesProps {
  readonly diagram: Diagram;
  /** Only these devices and their links; null for all. */
  readonly found: ReadonlySet<string> | null;
  readonly isCompared: boolean;
  readonly onChoose: (id: string) => void;
}

/** More are shown when they are asked for. */
const ROWS_AT_FIRST = 100;

const collator = new Intl.Collator("en", { numeric: true });

export function MapTables({ diagram, found, isCompared, onChoose }: MapTablesProps) {
  const isLinks = parameter("table") === "links";
  const nodes = diagram.nodes
    .filter(({ id }) => found === null || found.has(id))
    .sort((a, b) => orderOf(a.presence) - orderOf(b.presence) || collator.compare(a.label, b.label));
  const links = diagram.links
    .filter(({ ends }) => found === null || ends.some(({ id }) => found.has(id)))
    .sort((a, b) => orderOf(a.presence) - orderOf(b.presence) || collator.compare(linkKey(a), linkKey(b)));
  return (
    <section class="map-tables" aria-label={isLinks ? mapText.tableLinks : mapText.tableDevices}>
      <nav class="tabs" aria-label={`${mapText.tableDevices}, ${mapText.tableLinks}`}>
        <a href={hrefHere({ table: null })} aria-current={isLinks ? undefined : "true"}>
          {mapText.devices(nodes.length)}
        </a>
        <a href={hrefHere({ table: "links" })} aria-current={isLinks ? "true" : undefined}>
          {mapText.links(links.length)}
        </a>
      </nav>
      {isLinks ? (
        <Rows
          heads={[mapText.oneEnd, mapText.otherEnd, mapText.speed, mapText.status]}
          isCompared={isCompared}
          rows={links}
          cells={(link) => <LinkCells link={link} onChoose={onChoose} />}
        />
      ) : (
        <Rows
          heads={[mapText.device, mapText.linkCount]}
          isCompared={isCompared}
          rows={nodes}
          cells={(node) => (
            <>
              <th scope="row">
                <DeviceButton node={node} onChoose={onChoose} />
              </th>
              <td>{diagram.linksById.get(node.id)?.length ?? 0}</td>
            </>
          )}
        />
      )}
    </section>
  );
}

/** What is another comes first. */
function orderOf(presence: Presence): number {
  return presence === "stayed" ? 1 : 0;
}

function linkKey({ ends, link }: DiagramLink): string {
  return ends.map(({ label }, index) => `${label} ${link.ends[index]?.port ?? ""}`).join(" ");
}

interface RowsProps<Row> {
  readonly heads: readonly string[];
  readonly isCompared: boolean;
  readonly rows: readonly Row[];
  readonly cells: (row: Row) => ComponentChildren;
}

function Rows<Row extends { readonly id: string; readonly presence: Presence }>(props: RowsProps<Row>) {
  const { heads, isCompared, rows, cells } = props;
  const [isWhole, setWhole] = useState(false);
  const seen = isWhole ? rows : rows.slice(0, ROWS_AT_FIRST);
  return (
    <>
      <table class="rows">
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
            {isCompared && <th scope="col">{mapText.compared}</th>}
          </tr>
        </thead>
        <tbody>
          {seen.map((row) => (
            <tr key={row.id}>
              {cells(row)}
              {isCompared && (
                <td>
                  <Compared presence={row.presence} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {seen.length < rows.length && (
        <button type="button" onClick={() => setWhole(true)}>
          {mapText.showRows(rows.length)}
        </button>
      )}
    </>
  );
}

export function Compared({ presence }: { readonly presence: Presence }) {
  const said = mapText.presence[presence];
  if (presence === "appeared") return <ins>{said}</ins>;
  return presence === "vanished" ? <del>{said}</del> : <span class="aside">{said}</span>;
}

interface DeviceButtonProps {
  readonly node: DiagramNode;
  readonly onChoose: (id: string) => void;
}

export function DeviceButton({ node, onChoose }: DeviceButtonProps) {
  const isChosen = parameter("chosen") === node.id;
  return (
    <button type="button" class="plain" aria-pressed={isChosen} onClick={() => onChoose(node.id)}>
      <bdi>{node.label}</bdi>
    </button>
  );
}

function LinkCells({ link, onChoose }: { readonly link: DiagramLink; readonly onChoose: (id: string) => void }) {
  const { speed_bps, oper_status, ends } = link.link;
  return (
    <>
      {link.ends.map((node, index) => (
        <td key={index === 0 ? "one" : "other"}>
          <DeviceButton node={node} onChoose={onChoose} />{" "}
          <bdi class="aside">{ends[index]?.port ?? mapText.unknownPort}</bdi>
        </td>
      ))}
      <td>{speed_bps === null ? "" : speedOf(speed_bps)}</td>
      <td>{oper_status !== null && <Status status={oper_status} />}</td>
    </>
  );
}
