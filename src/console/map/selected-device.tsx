// Selected device on the map, with its links and the shortest path to it.

import { Copied } from "../components/copied.tsx";
import { TextFact } from "../components/fact-values.tsx";
import { Fact } from "../components/facts.tsx";
import { HeadRow } from "../components/head-row.tsx";
import { counted } from "../text/digits.ts";
import { mapText } from "../text/map.ts";
import { vs } from "../time/at.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import type { Diagram, DiagramLink, DiagramNode } from "./diagram.ts";
import { DeviceButton, LinkState, linkHeads } from "./map-tables.tsx";
import type { Period } from "./period.ts";
import { farEnd, type Step } from "./shortest-path.ts";
import { PresenceLabel, Spans } from "./spans.tsx";

interface SelectedDeviceProps {
  readonly diagram: Diagram;
  /** Null for one timestamp or a comparison of two. */
  readonly period: Period | null;
  readonly id: string;
  /** Start of the path; null for none. */
  readonly pathFrom: string | null;
  /** Null if no path exists. */
  readonly path: readonly Step[] | null;
  readonly onChoose: (id: string) => void;
}

const DEVICE_MISSING = "The selected device is not on this map.";

export function SelectedDevice({ diagram, period, id, pathFrom, path, onChoose }: SelectedDeviceProps) {
  const chosen = diagram.nodeById.get(id);
  if (chosen === undefined)
    return (
      <section class="map-chosen">
        <p>{DEVICE_MISSING}</p>
        <a href={hrefHere({ chosen: null })}>Close</a>
      </section>
    );
  const links = diagram.linksById.get(id) ?? [];
  const isHost = chosen.node.kind !== "Unknown";
  return (
    <section class="map-chosen" aria-label={chosen.label}>
      <h2>
        <bdi>{chosen.label}</bdi> {!isHost && <span class="label">not in the inventory</span>}{" "}
        {vs.value !== null && period === null && <PresenceLabel presence={chosen.presence} />}
      </h2>
      {period !== null && <Spans period={period} id={id} presence={chosen.presence} />}
      <p class="map-ways">
        {isHost && <a href={hrefOf(`/hosts/${id}`)}>Open host</a>}
        {isHost && <a href={hrefHere({ host: id, hops: null, from_device: null, view: null })}>Isolate neighborhood</a>}
        <a href={hrefHere({ from_device: pathFrom === null ? id : null })}>
          {pathFrom === null ? "Path from here" : "End the path"}
        </a>
        <a href={hrefHere({ chosen: null })}>Close</a>
      </p>
      <Facts node={chosen} />
      {pathFrom !== null && <PathSteps diagram={diagram} from={pathFrom} to={id} path={path} onChoose={onChoose} />}
      {links.length === 0 ? (
        <p>This device has no links.</p>
      ) : (
        <LinkTable id={id} links={links} period={period} onChoose={onChoose} />
      )}
    </section>
  );
}

function Facts({ node: { node } }: { readonly node: DiagramNode }) {
  const model = [node.manufacturer, node.model].filter((part) => part !== null && part !== "").join(" ");
  return (
    <dl class="facts">
      {node.management_address !== null && (
        <Fact name="Management address">
          <Copied text={node.management_address} />
        </Fact>
      )}
      {node.chassis_id !== null && (
        <Fact name="Chassis ID">
          <Copied text={node.chassis_id} />
        </Fact>
      )}
      {model !== "" && <TextFact name="Manufacturer and model" text={model} />}
    </dl>
  );
}

interface LinkTableProps extends Pick<SelectedDeviceProps, "id" | "period" | "onChoose"> {
  readonly links: readonly DiagramLink[];
}

function LinkTable({ id, links, period, onChoose }: LinkTableProps) {
  return (
    <table class="rows">
      <HeadRow heads={["Port", "Other end", ...linkHeads(period)]} />
      <tbody>
        {sortedByPort(links, id).map((link) => {
          const [near, far] = endsFrom(link, id);
          return (
            <tr key={link.id}>
              <td>
                <bdi>{near?.port ?? mapText.unknownPort}</bdi> <bdi class="aside">{membersFrom(link, id)}</bdi>
              </td>
              <td>
                <DeviceButton node={farEnd(link, id)} onChoose={onChoose} /> <bdi class="aside">{far?.port ?? ""}</bdi>{" "}
                {link.presence !== "stayed" && period === null && <PresenceLabel presence={link.presence} />}
              </td>
              <LinkState link={link} period={period} />
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Ends of a link, the device's own end first. */
function endsFrom({ link: { ends } }: DiagramLink, id: string) {
  return ends[0]?.node_id === id ? ends : ends.toReversed();
}

/** Ports of the device in an aggregate; empty for a single cable. */
function membersFrom({ link: { members } }: DiagramLink, id: string): string {
  return members.flatMap(({ ends }) => ends.find(({ node_id }) => node_id === id)?.port ?? []).join(", ");
}

const collator = new Intl.Collator("en", { numeric: true });

/** Sorts links by the device's port names, in natural order. */
function sortedByPort(links: readonly DiagramLink[], id: string): readonly DiagramLink[] {
  const portOf = (link: DiagramLink) => endsFrom(link, id)[0]?.port ?? "";
  return links.toSorted((a, b) => collator.compare(portOf(a), portOf(b)));
}

interface PathStepsProps extends Pick<SelectedDeviceProps, "diagram" | "path" | "onChoose"> {
  readonly from: string;
  readonly to: string;
}

function PathSteps({ diagram, from, to, path, onChoose }: PathStepsProps) {
  const start = diagram.nodeById.get(from);
  if (start === undefined) return <p>{DEVICE_MISSING}</p>;
  if (from === to) return <p>Select another device to show the shortest path to it.</p>;
  if (path === null) return <p>No path from {start.label}.</p>;
  return (
    <>
      <h3>
        Path from {start.label}: {counted(path.length - 1, "link", "links")}
      </h3>
      <ol class="map-way">
        {path.map(({ link, node }) => (
          <li key={node.id}>
            {link !== null && (
              <bdi class="aside">
                {link.link.ends[link.ends[0].id === node.id ? 1 : 0]?.port ?? mapText.unknownPort} →{" "}
                {link.link.ends[link.ends[0].id === node.id ? 0 : 1]?.port ?? mapText.unknownPort}
              </bdi>
            )}{" "}
            <DeviceButton node={node} onChoose={onChoose} />
          </li>
        ))}
      </ol>
    </>
  );
}
