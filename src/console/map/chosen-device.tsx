// Details of the device selected on the map: its links and the shortest path to it.

import { Copied } from "../parts/copied.tsx";
import { counted } from "../text/digits.ts";
import { mapText } from "../text/map.ts";
import { vs } from "../time/at.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import type { Diagram, DiagramLink, DiagramNode } from "./diagram.ts";
import { DeviceButton, LinkHeads, LinkState } from "./map-tables.tsx";
import type { Period } from "./period.ts";
import { farEnd, type Step } from "./shortest-way.ts";
import { Compared, Spans } from "./spans.tsx";

interface ChosenDeviceProps {
  readonly diagram: Diagram;
  /** Null for one timestamp or a comparison of two. */
  readonly period: Period | null;
  readonly id: string;
  /** Start of the path; null for none. */
  readonly wayFrom: string | null;
  /** Null if no path exists. */
  readonly way: readonly Step[] | null;
  readonly onChoose: (id: string) => void;
}

const NOT_HERE = "The device that was chosen is not on this map.";

export function ChosenDevice({ diagram, period, id, wayFrom, way, onChoose }: ChosenDeviceProps) {
  const chosen = diagram.nodeById.get(id);
  if (chosen === undefined)
    return (
      <section class="map-chosen">
        <p>{NOT_HERE}</p>
        <a href={hrefHere({ chosen: null })}>Close</a>
      </section>
    );
  const links = diagram.linksById.get(id) ?? [];
  const isHost = chosen.node.kind !== "Unknown";
  return (
    <section class="map-chosen" aria-label={chosen.label}>
      <h2>
        <bdi>{chosen.label}</bdi> {!isHost && <span class="label">not in the inventory</span>}{" "}
        {vs.value !== null && period === null && <Compared presence={chosen.presence} />}
      </h2>
      {period !== null && <Spans period={period} id={id} presence={chosen.presence} />}
      <p class="map-ways">
        {isHost && <a href={hrefOf(`/hosts/${id}`)}>Open host</a>}
        {isHost && <a href={hrefHere({ host: id, hops: null, from_device: null, view: null })}>Isolate neighborhood</a>}
        <a href={hrefHere({ from_device: wayFrom === null ? id : null })}>
          {wayFrom === null ? "Path from here" : "End the path"}
        </a>
        <a href={hrefHere({ chosen: null })}>Close</a>
      </p>
      <Facts node={chosen} />
      {wayFrom !== null && <Way diagram={diagram} from={wayFrom} to={id} way={way} onChoose={onChoose} />}
      {links.length === 0 ? (
        <p>It has no links.</p>
      ) : (
        <LinksOf id={id} links={links} period={period} onChoose={onChoose} />
      )}
    </section>
  );
}

function Facts({ node: { node } }: { readonly node: DiagramNode }) {
  const made = [node.manufacturer, node.model].filter((each) => each !== null && each !== "").join(" ");
  return (
    <dl class="facts">
      {node.management_address !== null && (
        <div>
          <dt>Management address</dt>
          <dd>
            <Copied text={node.management_address} />
          </dd>
        </div>
      )}
      {node.chassis_id !== null && (
        <div>
          <dt>Chassis ID</dt>
          <dd>
            <Copied text={node.chassis_id} />
          </dd>
        </div>
      )}
      {made !== "" && (
        <div>
          <dt>Manufacturer and model</dt>
          <dd>
            <bdi>{made}</bdi>
          </dd>
        </div>
      )}
    </dl>
  );
}

interface LinksOfProps {
  readonly period: Period | null;
  readonly id: string;
  readonly links: readonly DiagramLink[];
  readonly onChoose: (id: string) => void;
}

function LinksOf({ id, links, period, onChoose }: LinksOfProps) {
  return (
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">Port</th>
          <th scope="col">Other end</th>
          <LinkHeads isPeriod={period !== null} />
        </tr>
      </thead>
      <tbody>
        {byPort(links, id).map((each) => {
          const [own, far] = endsFrom(each, id);
          return (
            <tr key={each.id}>
              <td>
                <bdi>{own?.port ?? mapText.unknownPort}</bdi>
              </td>
              <td>
                <DeviceButton node={farEnd(each, id)} onChoose={onChoose} /> <bdi class="aside">{far?.port ?? ""}</bdi>{" "}
                {each.presence !== "stayed" && period === null && <Compared presence={each.presence} />}
              </td>
              <LinkState link={each} period={period} />
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** The device's own end first. */
function endsFrom({ link: { ends } }: DiagramLink, id: string) {
  return ends[0]?.node_id === id ? ends : ends.toReversed();
}

const collator = new Intl.Collator("en", { numeric: true });

/** Natural order of the device's port names. */
function byPort(links: readonly DiagramLink[], id: string): readonly DiagramLink[] {
  const portOf = (link: DiagramLink) => endsFrom(link, id)[0]?.port ?? "";
  return links.toSorted((a, b) => collator.compare(portOf(a), portOf(b)));
}

interface WayProps {
  readonly diagram: Diagram;
  readonly from: string;
  readonly to: string;
  readonly way: readonly Step[] | null;
  readonly onChoose: (id: string) => void;
}

function Way({ diagram, from, to, way, onChoose }: WayProps) {
  const start = diagram.nodeById.get(from);
  if (start === undefined) return <p>{NOT_HERE}</p>;
  if (from === to) return <p>Choose another device: the shortest path to it is shown.</p>;
  if (way === null) return <p>No path leads here from {start.label}.</p>;
  return (
    <>
      <h3>
        Path from {start.label}: {counted(way.length - 1, "link", "links")}
      </h3>
      <ol class="map-way">
        {way.map(({ over, node }) => (
          <li key={node.id}>
            {over !== null && (
              <bdi class="aside">
                {over.link.ends[over.ends[0].id === node.id ? 1 : 0]?.port ?? mapText.unknownPort} →{" "}
                {over.link.ends[over.ends[0].id === node.id ? 0 : 1]?.port ?? mapText.unknownPort}
              </bdi>
            )}{" "}
            <DeviceButton node={node} onChoose={onChoose} />
          </li>
        ))}
      </ol>
    </>
  );
}
