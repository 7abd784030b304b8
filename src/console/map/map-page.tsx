// Map page of one network, or of a host's neighborhood, at the URL's timestamp: a picture with the same content in
// tables. Compared with another timestamp, or over a period, it shows what appeared and vanished.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { nameOf } from "../names/names.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { at, atMs, atQuery, network, vs } from "../time/at.ts";
import { addressInstant } from "../time/instant.ts";
import { useSubject } from "../time/subject.ts";
import { hrefHere, parameter } from "../url/location.ts";
import { diagramOf } from "./diagram.ts";
import type { MapSubject } from "./map-tools.tsx";
import { MapView } from "./map-view.tsx";
import { diagramAt, periodOf, withinPeriod } from "./period.ts";
import { settlePeriod } from "./period-address.ts";

export function MapPage() {
  const hostId = parameter("host");
  if (hostId !== null || network.value !== null)
    return <OneMap key={`${hostId} ${network.value}`} hostId={hostId} networkId={network.value} />;
  return <AnyNetwork />;
}

/** For a URL without a network: the only one, or a choice. */
function AnyNetwork() {
  const { data, problem, again } = useAnswer(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } }));
  const [only, ...others] = data ?? [];
  if (only !== undefined && others.length === 0) return <OneMap hostId={null} networkId={only.id} />;
  return (
    <Page title="Map">
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data?.length === 0 && <p>You don't have access to any network.</p>}
      {others.length > 0 && (
        <>
          <p>Choose a network:</p>
          <ul class="map-networks">
            {data?.map(({ id, name }) => (
              <li key={id}>
                <a href={hrefHere({ network: id })}>
                  <bdi>{name}</bdi>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </Page>
  );
}

interface OneMapProps {
  /** Center of a neighborhood map. */
  readonly hostId: string | null;
  /** Null if the host determines it. */
  readonly networkId: string | null;
}

/** Query parameters of the map, without timestamps. */
interface About {
  readonly network_id?: string;
  readonly host_id?: string;
  readonly hops?: number;
  readonly include_isolated?: boolean;
}

function OneMap({ hostId, networkId }: OneMapProps) {
  const hops = Number(parameter("hops") ?? 1) || 1;
  const withIsolated = parameter("isolated") === "yes";
  useSubject(hostId === null ? {} : { host_id: hostId });
  const about: About = {
    ...(hostId === null ? {} : { host_id: hostId, hops }),
    ...(networkId === null || hostId !== null ? {} : { network_id: networkId }),
    ...(withIsolated && hostId === null ? { include_isolated: true } : {}),
  };
  const subject: MapSubject = { key: `${hostId} ${hops} ${networkId} ${withIsolated}`, hostId, hops };
  const isOverPeriod = vs.value === null && (parameter("from") ?? parameter("to")) !== null;
  const Shown = isOverPeriod ? OverPeriod : AtInstant;
  return <Shown about={about} subject={subject} networkId={networkId} />;
}

interface ShownProps {
  readonly about: About;
  readonly subject: MapSubject;
  readonly networkId: string | null;
}

const REFRESH_EVERY_MS = 5_000;
const LIVE = { how: "refresh", types: ["host", "if_entry"], everyMs: REFRESH_EVERY_MS } as const;

function liveOf(networkId: string | null) {
  return networkId === null ? LIVE : { ...LIVE, network_id: networkId };
}

interface AtInstantProps extends ShownProps {
  /** Whether this is a placeholder while a period loads. */
  readonly isPeriodComing?: boolean;
}

/** Map at one timestamp, or compared at two. */
function AtInstant({ about, subject, networkId, isPeriodComing = false }: AtInstantProps) {
  const asked = read("/api/v1/topology", { query: { ...about, ...atQuery() } });
  const compared = vs.value === null ? null : read("/api/v1/topology", { query: { ...about, at: vs.value } });
  const now = useAnswer(asked, liveOf(networkId));
  const before = useAnswer(compared);
  const name = useNameOf(subject.hostId, networkId, at.value);
  const problem = now.problem ?? before.problem;
  const earlier = compared === null ? null : before.data;
  const diagram = useMemo(
    () => (now.data === undefined || earlier === undefined ? null : diagramOf(now.data, earlier)),
    [now.data, earlier],
  );
  return (
    <Page
      title="Map"
      about={<Named hostId={subject.hostId} name={name} />}
      reads={compared === null ? [asked.url] : [asked.url, compared.url]}
      actions={<Formats about={{ ...about, ...atQuery() }} />}
    >
      {problem !== undefined && (
        <Problem problem={problem} again={now.problem === undefined ? before.again : now.again} />
      )}
      {diagram === null && problem === undefined && <Waiting />}
      {diagram !== null && (
        <MapView
          diagram={diagram}
          period={null}
          isPeriodComing={isPeriodComing}
          subject={subject}
          name={name ?? ""}
          networkId={now.data?.network_id ?? null}
          again={now.again}
        />
      )}
    </Page>
  );
}

/** Map over a period, at the URL's timestamp. Moving through the period sends no further requests. */
function OverPeriod({ about, subject, networkId }: ShownProps) {
  const [from, to] = [parameter("from"), parameter("to")];
  const asked = read("/api/v1/topology", {
    query: { ...about, ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) },
  });
  const isFollowed = to === null && at.value === null;
  const { data, problem, again, isEarlier, isLoading } = useAnswer(asked, isFollowed ? liveOf(networkId) : null);
  const name = useNameOf(subject.hostId, networkId, to);
  const period = useMemo(() => (data === undefined ? null : periodOf(data)), [data]);
  const ms = atMs.value;
  const shownMs = period === null ? 0 : withinPeriod(period, ms);
  const diagram = useMemo(() => (period === null ? null : diagramAt(period, ms)), [period, shownMs]);
  useEffect(() => {
    if (period !== null && !isEarlier) settlePeriod(period);
  }, [period, isEarlier]);
  // A large network takes a moment; show the map at the timestamp until then.
  if (diagram === null && problem === undefined)
    return <AtInstant about={about} subject={subject} networkId={networkId} isPeriodComing={true} />;
  // Neither the beginning of the ledger nor the present has a timestamp.
  const instant = Number.isFinite(shownMs) ? { at: addressInstant(shownMs) } : {};
  return (
    <Page
      title="Map"
      about={<Named hostId={subject.hostId} name={name} />}
      reads={[asked.url]}
      actions={<Formats about={{ ...about, ...instant }} />}
    >
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {diagram !== null && period !== null && (
        <MapView
          diagram={diagram}
          period={period}
          isPeriodComing={isEarlier && isLoading}
          subject={subject}
          name={name ?? ""}
          networkId={data?.network_id ?? null}
          again={again}
        />
      )}
    </Page>
  );
}

function Named({ hostId, name }: { readonly hostId: string | null; readonly name: string | null }) {
  return (
    <>
      {hostId !== null && "Around"} <bdi>{name ?? ""}</bdi>
    </>
  );
}

function useNameOf(hostId: string | null, networkId: string | null, instant: string | null): string | null {
  const last = useRef<string | null>(null);
  const host = hostId === null ? null : nameOf("host", hostId, instant);
  const ofNetwork = networkId === null ? null : nameOf("network", networkId, instant);
  const name = hostId === null ? ofNetwork : host;
  // Keeps the last name until the next one loads.
  if (name !== undefined) last.current = name;
  return last.current;
}

/** Links to the map as text, rendered by the API for one timestamp. */
function Formats({ about }: { readonly about: About & { readonly at?: string } }) {
  const urlOf = (format: "mermaid" | "graphml") => read("/api/v1/topology", { query: { ...about, format } }).url;
  return (
    <>
      <a class="button" href={urlOf("mermaid")} download="map.mmd">
        Mermaid
      </a>
      <a class="button" href={urlOf("graphml")} download="map.graphml">
        GraphML
      </a>
    </>
  );
}
