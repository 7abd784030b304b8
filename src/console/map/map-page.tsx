// Map page of a network or a host's neighborhood: at a timestamp, compared with another, or over a period.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { LinkButton } from "../components/buttons.tsx";
import { NameLink } from "../components/name-link.tsx";
import { Page } from "../components/page.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { nameOf } from "../names/names.ts";
import { at, atMs, atQuery, network, vs } from "../time/at.ts";
import { urlTimestamp } from "../time/instant.ts";
import { useSubject } from "../time/subject.ts";
import { hrefHere, parameter } from "../url/location.ts";
import { diagramOf } from "./diagram.ts";
import type { MapSubject } from "./map-tools.tsx";
import { MapView } from "./map-view.tsx";
import { diagramAt, periodOf, withinPeriod } from "./period.ts";
import { pinPeriod } from "./period-url.ts";

export function MapPage() {
  const hostId = parameter("host");
  if (hostId !== null || network.value !== null)
    return <SingleMap key={`${hostId} ${network.value}`} hostId={hostId} networkId={network.value} />;
  return <AnyNetwork />;
}

/** For a URL without a network: shows the only network, or a choice. */
function AnyNetwork() {
  const { data, problem, retry } = useResponse(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } }));
  const [only, ...others] = data ?? [];
  if (only !== undefined && others.length === 0) return <SingleMap hostId={null} networkId={only.id} />;
  return (
    <Page title="Map">
      <ResponseState data={data} problem={problem} retry={retry} />
      {data?.length === 0 && <p>You don't have access to any network.</p>}
      {others.length > 0 && (
        <>
          <p>Choose a network:</p>
          <ul class="map-networks">
            {data?.map(({ id, name }) => (
              <li key={id}>
                <NameLink href={hrefHere({ network: id })} name={name} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Page>
  );
}

/** Query parameters of the map, without timestamps. */
interface MapQuery {
  readonly network_id?: string;
  readonly host_id?: string;
  readonly hops?: number;
  readonly include_isolated?: boolean;
}

/** Map around a host, or of a network. */
function SingleMap({ hostId, networkId }: { readonly hostId: string | null; readonly networkId: string | null }) {
  const hops = Number(parameter("hops") ?? 1) || 1;
  const withIsolated = parameter("isolated") === "yes";
  useSubject(hostId === null ? {} : { host_id: hostId });
  const query: MapQuery = {
    ...(hostId === null ? {} : { host_id: hostId, hops }),
    ...(networkId === null || hostId !== null ? {} : { network_id: networkId }),
    ...(withIsolated && hostId === null ? { include_isolated: true } : {}),
  };
  const subject: MapSubject = { key: `${hostId} ${hops} ${networkId} ${withIsolated}`, hostId, hops };
  const View = vs.value === null && (parameter("from") ?? parameter("to")) !== null ? OverPeriod : AtInstant;
  return <View query={query} subject={subject} networkId={networkId} />;
}

interface ViewProps {
  readonly query: MapQuery;
  readonly subject: MapSubject;
  readonly networkId: string | null;
  /** Whether a map at a timestamp is a placeholder while a period loads. */
  readonly isPeriodLoading?: boolean;
}

const REFRESH_MS = 5_000;

function liveUpdates(network_id: string | null) {
  return { how: "refresh", types: ["host", "if_entry"], everyMs: REFRESH_MS, network_id } as const;
}

/** Map at one timestamp, or compared at two. */
function AtInstant({ query, subject, networkId, isPeriodLoading = false }: ViewProps) {
  const request = read("/api/v1/topology", { query: { ...query, ...atQuery() } });
  const compared = vs.value === null ? null : read("/api/v1/topology", { query: { ...query, at: vs.value } });
  const current = useResponse(request, liveUpdates(networkId));
  const earlierResponse = useResponse(compared);
  const name = useNameOf(subject.hostId, networkId, at.value);
  const { problem, retry } = current.problem === undefined ? earlierResponse : current;
  const earlier = compared === null ? null : earlierResponse.data;
  const diagram = useMemo(
    () => (current.data === undefined || earlier === undefined ? null : diagramOf(current.data, earlier)),
    [current.data, earlier],
  );
  return (
    <Page
      title="Map"
      about={<MapSubjectName hostId={subject.hostId} name={name} />}
      reads={compared === null ? [request.url] : [request.url, compared.url]}
      actions={<Formats query={{ ...query, ...atQuery() }} />}
    >
      <ResponseState data={diagram ?? undefined} problem={problem} retry={retry} />
      {diagram !== null && (
        <MapView
          diagram={diagram}
          period={null}
          isPeriodLoading={isPeriodLoading}
          subject={subject}
          name={name ?? ""}
          networkId={current.data?.network_id ?? null}
          retry={current.retry}
        />
      )}
    </Page>
  );
}

/** Map over a period, at the URL's timestamp. Moving through the period sends no more requests. */
function OverPeriod({ query, subject, networkId }: ViewProps) {
  const [from, to] = [parameter("from"), parameter("to")];
  const request = read("/api/v1/topology", {
    query: { ...query, ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) },
  });
  const isLive = to === null && at.value === null;
  const { data, problem, retry, isEarlier, isLoading } = useResponse(request, isLive ? liveUpdates(networkId) : null);
  const name = useNameOf(subject.hostId, networkId, to);
  const period = useMemo(() => (data === undefined ? null : periodOf(data)), [data]);
  const ms = atMs.value;
  const shownMs = period === null ? 0 : withinPeriod(period, ms);
  const diagram = useMemo(() => (period === null ? null : diagramAt(period, ms)), [period, shownMs]);
  useEffect(() => {
    if (period !== null && !isEarlier) pinPeriod(period);
  }, [period, isEarlier]);
  // A large network takes a moment; show the map at the timestamp until then.
  if (diagram === null && problem === undefined)
    return <AtInstant query={query} subject={subject} networkId={networkId} isPeriodLoading={true} />;
  // Neither the beginning of the ledger nor now has a timestamp.
  const instant = Number.isFinite(shownMs) ? { at: urlTimestamp(shownMs) } : {};
  return (
    <Page
      title="Map"
      about={<MapSubjectName hostId={subject.hostId} name={name} />}
      reads={[request.url]}
      actions={<Formats query={{ ...query, ...instant }} />}
    >
      <ResponseState data={data} problem={problem} retry={retry} />
      {diagram !== null && period !== null && (
        <MapView
          diagram={diagram}
          period={period}
          isPeriodLoading={isEarlier && isLoading}
          subject={subject}
          name={name ?? ""}
          networkId={data?.network_id ?? null}
          retry={retry}
        />
      )}
    </Page>
  );
}

function MapSubjectName({ hostId, name }: { readonly hostId: string | null; readonly name: string | null }) {
  return (
    <>
      {hostId !== null && "Around"} <bdi>{name ?? ""}</bdi>
    </>
  );
}

function useNameOf(hostId: string | null, networkId: string | null, instant: string | null): string | null {
  const last = useRef<string | null>(null);
  const [kind, id] = hostId === null ? (["network", networkId] as const) : (["host", hostId] as const);
  const name = id === null ? null : nameOf(kind, id, instant);
  // Keeps the last name until the next one loads.
  if (name !== undefined) last.current = name;
  return last.current;
}

/** Links to the map as text, rendered by the API for one timestamp. */
function Formats({ query }: { readonly query: MapQuery & { readonly at?: string } }) {
  const urlOf = (format: "mermaid" | "graphml") => read("/api/v1/topology", { query: { ...query, format } }).url;
  return (
    <>
      <LinkButton label="Mermaid" href={urlOf("mermaid")} download="map.mmd" />
      <LinkButton label="GraphML" href={urlOf("graphml")} download="map.graphml" />
    </>
  );
}
