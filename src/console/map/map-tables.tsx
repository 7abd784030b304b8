// Map content as tables, including for screen readers.

import { computed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";
import { HeadRow } from "../components/head-row.tsx";
import { speedOf } from "../components/speed.ts";
import { Status } from "../components/status.tsx";
import { TabRow } from "../components/tabs.tsx";
import { counted } from "../text/digits.ts";
import { mapText } from "../text/map.ts";
import { vs } from "../time/at.ts";
import { hrefHere, parameter } from "../url/location.ts";
import type { Diagram, DiagramLink, DiagramNode, Presence } from "./diagram.ts";
import type { Period } from "./period.ts";
import { PeriodChanges } from "./period-changes.tsx";
import { PresenceLabel, Spans } from "./spans.tsx";

interface MapTablesProps {
  readonly diagram: Diagram;
  /** Null for one timestamp or a comparison of two. */
  readonly period: Period | null;
  /** Only these devices and their links; null for all. */
  readonly found: ReadonlySet<string> | null;
  readonly onChoose: (id: string) => void;
}

/** A button shows the rest. */
const ROWS_INITIAL = 100;

const collator = new Intl.Collator("en", { numeric: true });

export function MapTables({ diagram, period, found, onChoose }: MapTablesProps) {
  const requested = parameter("table");
  const table = requested === "links" || (requested === "changes" && period !== null) ? requested : "devices";
  const nodes = useMemo(
    () =>
      diagram.nodes
        .filter(({ id }) => found === null || found.has(id))
        .sort((a, b) => rankOf(a.presence) - rankOf(b.presence) || collator.compare(a.label, b.label)),
    [diagram, found],
  );
  const links = useMemo(
    () =>
      diagram.links
        .filter(({ ends }) => found === null || ends.some(({ id }) => found.has(id)))
        .map((link) => ({ link, key: linkKey(link) }))
        .sort((a, b) => rankOf(a.link.presence) - rankOf(b.link.presence) || collator.compare(a.key, b.key))
        .map(({ link }) => link),
    [diagram, found],
  );
  // In a period, the time spans show changes instead.
  const compared = period === null && vs.value !== null && "Compared";
  // Memoized: many rows, next to a picture that moves.
  const linkRows = useMemo(
    () => (
      <Rows
        heads={["One end", "Other end", ...linkHeads(period)]}
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
        heads={["Device", period === null ? "Links" : "When"]}
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
      {table === "changes" && period !== null && <PeriodChanges period={period} diagram={diagram} found={found} />}
    </section>
  );
}

/** Sort rank: changes come first. */
function rankOf(presence: Presence): number {
  return presence === "stayed" ? 1 : presence === "later" ? 2 : 0;
}

function linkKey({ ends, link }: DiagramLink): string {
  return ends.map(({ label }, index) => `${label} ${link.ends[index]?.port ?? ""}`).join(" ");
}

interface RowsProps<Row> {
  readonly heads: readonly string[];
  /** Heading of the change column; false omits it. */
  readonly compared: string | false;
  readonly rows: readonly Row[];
  readonly cells: (row: Row) => ComponentChildren;
}

function Rows<Row extends { readonly id: string; readonly presence: Presence }>(props: RowsProps<Row>) {
  const { heads, compared, rows, cells } = props;
  const [isExpanded, setExpanded] = useState(false);
  const visible = isExpanded ? rows : rows.slice(0, ROWS_INITIAL);
  return (
    <>
      <table class="rows">
        <HeadRow heads={[...heads, compared]} />
        <tbody>
          {visible.map((row) => (
            <tr key={row.id}>
              {cells(row)}
              {compared !== false && (
                <td>
                  <PresenceLabel presence={row.presence} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {visible.length < rows.length && (
        <ActionButton label={mapText.showRows(rows.length)} onClick={() => setExpanded(true)} />
      )}
    </>
  );
}

/** A shared signal: there are many buttons, and the URL changes often. */
const selectedId = computed(() => parameter("chosen"));

export function DeviceButton({ node, onChoose }: { readonly node: DiagramNode; onChoose(id: string): void }) {
  const isSelected = selectedId.value === node.id;
  return (
    <button type="button" class="plain" aria-pressed={isSelected} onClick={() => onChoose(node.id)}>
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
export function linkHeads(period: Period | null): readonly string[] {
  return period === null ? ["Speed", "Operational status"] : ["When"];
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
