// Content of the map as tables, for screen readers and for reading.

import { computed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { speedOf } from "../parts/speed.ts";
import { Status } from "../parts/status.tsx";
import { TabRow } from "../parts/tabs.tsx";
import { counted } from "../text/digits.ts";
import { mapText } from "../text/map.ts";
import { vs } from "../time/at.ts";
import { hrefHere, parameter } from "../url/location.ts";
import type { Diagram, DiagramLink, DiagramNode, Presence } from "./diagram.ts";
import { Moments } from "./moments.tsx";
import type { Period } from "./period.ts";
import { Compared, Spans } from "./spans.tsx";

interface MapTablesProps {
  readonly diagram: Diagram;
  /** Null for one timestamp or a comparison of two. */
  readonly period: Period | null;
  /** Only these devices and their links; null for all. */
  readonly found: ReadonlySet<string> | null;
  readonly onChoose: (id: string) => void;
}

/** A button shows the rest. */
const ROWS_AT_FIRST = 100;

const collator = new Intl.Collator("en", { numeric: true });

export function MapTables({ diagram, period, found, onChoose }: MapTablesProps) {
  const asked = parameter("table");
  const table = asked === "links" || (asked === "changes" && period !== null) ? asked : "devices";
  const nodes = useMemo(
    () =>
      diagram.nodes
        .filter(({ id }) => found === null || found.has(id))
        .sort((a, b) => orderOf(a.presence) - orderOf(b.presence) || collator.compare(a.label, b.label)),
    [diagram, found],
  );
  const links = useMemo(
    () =>
      diagram.links
        .filter(({ ends }) => found === null || ends.some(({ id }) => found.has(id)))
        .map((link) => ({ link, key: linkKey(link) }))
        .sort((a, b) => orderOf(a.link.presence) - orderOf(b.link.presence) || collator.compare(a.key, b.key))
        .map(({ link }) => link),
    [diagram, found],
  );
  // In a period, the time spans show changes instead.
  const compared = period === null && vs.value !== null ? "Compared" : null;
  // Memoized: many rows, next to a picture that moves.
  const linkRows = useMemo(
    () => (
      <Rows
        heads={
          <>
            <th scope="col">One end</th>
            <th scope="col">Other end</th>
            <LinkHeads isPeriod={period !== null} />
          </>
        }
        compared={compared}
        rows={links}
        cells={(link) => <LinkCells link={link} period={period} onChoose={onChoose} />}
      />
    ),
    [links, period, compared, onChoose],
  );
  const deviceRows = useMemo(
    () => (
      <Rows
        heads={
          <>
            <th scope="col">Device</th>
            <th scope="col">{period === null ? "Links" : "When"}</th>
          </>
        }
        compared={compared}
        rows={nodes}
        cells={(node) => (
          <>
            <th scope="row">
              <DeviceButton node={node} onChoose={onChoose} />
            </th>
            <td>
              {period === null ? (
                (diagram.linksById.get(node.id)?.length ?? 0)
              ) : (
                <Spans period={period} id={node.id} presence={node.presence} />
              )}
            </td>
          </>
        )}
      />
    ),
    [nodes, diagram, period, compared, onChoose],
  );
  const tabs = [
    { key: "devices", title: counted(nodes.length, "device", "devices") },
    { key: "links", title: counted(links.length, "link", "links") },
    ...(period === null ? [] : [{ key: "changes", title: counted(period.moments.length, "change", "changes") }]),
  ];
  return (
    <section class="map-tables" aria-label={mapText.tables[table]}>
      <TabRow label="Devices, links and changes" shown={table}>
        {tabs.map(({ key, title }) => (
          <a
            key={key}
            href={hrefHere({ table: key === "devices" ? null : key })}
            aria-current={key === table ? "true" : undefined}
          >
            {title}
          </a>
        ))}
      </TabRow>
      {table === "links" && linkRows}
      {table === "devices" && deviceRows}
      {table === "changes" && period !== null && <Moments period={period} diagram={diagram} found={found} />}
    </section>
  );
}

/** Changes first. */
function orderOf(presence: Presence): number {
  return presence === "stayed" ? 1 : presence === "later" ? 2 : 0;
}

function linkKey({ ends, link }: DiagramLink): string {
  return ends.map(({ label }, index) => `${label} ${link.ends[index]?.port ?? ""}`).join(" ");
}

interface RowsProps<Row> {
  readonly heads: ComponentChildren;
  /** Heading of the change column; null omits it. */
  readonly compared: string | null;
  readonly rows: readonly Row[];
  readonly cells: (row: Row) => ComponentChildren;
}

function Rows<Row extends { readonly id: string; readonly presence: Presence }>(props: RowsProps<Row>) {
  const { heads, compared, rows, cells } = props;
  const [isWhole, setWhole] = useState(false);
  const seen = isWhole ? rows : rows.slice(0, ROWS_AT_FIRST);
  return (
    <>
      <table class="rows">
        <thead>
          <tr>
            {heads}
            {compared !== null && <th scope="col">{compared}</th>}
          </tr>
        </thead>
        <tbody>
          {seen.map((row) => (
            <tr key={row.id}>
              {cells(row)}
              {compared !== null && (
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

interface DeviceButtonProps {
  readonly node: DiagramNode;
  readonly onChoose: (id: string) => void;
}

/** A shared signal: there are many buttons, and the URL changes often. */
const chosen = computed(() => parameter("chosen"));

export function DeviceButton({ node, onChoose }: DeviceButtonProps) {
  const isChosen = chosen.value === node.id;
  return (
    <button type="button" class="plain" aria-pressed={isChosen} onClick={() => onChoose(node.id)}>
      <bdi>{node.label}</bdi>
    </button>
  );
}

interface LinkCellsProps {
  readonly link: DiagramLink;
  readonly period: Period | null;
  readonly onChoose: (id: string) => void;
}

function LinkCells({ link, period, onChoose }: LinkCellsProps) {
  return (
    <>
      {link.ends.map((node, index) => (
        <td key={index === 0 ? "one" : "other"}>
          <DeviceButton node={node} onChoose={onChoose} />{" "}
          <bdi class="aside">{link.link.ends[index]?.port ?? mapText.unknownPort}</bdi>
        </td>
      ))}
      <LinkState link={link} period={period} />
    </>
  );
}

/** The state of a link is unknown for the timestamps of a period, so its time spans are shown instead. */
export function LinkHeads({ isPeriod }: { readonly isPeriod: boolean }) {
  if (isPeriod) return <th scope="col">When</th>;
  return (
    <>
      <th scope="col">Speed</th>
      <th scope="col">Operational status</th>
    </>
  );
}

export function LinkState({ link: { id, link, presence, status }, period }: Omit<LinkCellsProps, "onChoose">) {
  if (period !== null)
    return (
      <td>
        <Spans period={period} id={id} presence={presence} />
      </td>
    );
  return (
    <>
      <td>{link.speed_bps === null ? "" : speedOf(link.speed_bps)}</td>
      <td>{status !== null && <Status status={status} />}</td>
    </>
  );
}
