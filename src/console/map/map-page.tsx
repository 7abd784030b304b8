// The map of one network, or of what is around a host, at the instant of the address: a picture, and beside it the same
// as tables. Compared with another instant it shows what appeared and what vanished.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { nameOf } from "../names/names.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { mapText } from "../text/map.ts";
import { at, atQuery, network, vs } from "../time/at.ts";
import { useSubject } from "../time/subject.ts";
import { hrefHere, parameter } from "../url/location.ts";
import { MapView } from "./map-view.tsx";

export function MapPage() {
  const hostId = parameter("host");
  if (hostId !== null || network.value !== null)
    return <OneMap key={`${hostId} ${network.value}`} hostId={hostId} networkId={network.value} />;
  return <AnyNetwork />;
}

/** Where the address names none: the only one, or a choice. */
function AnyNetwork() {
  const { data, problem, again } = useAnswer(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } }));
  const [only, ...others] = data ?? [];
  if (only !== undefined && others.length === 0) return <OneMap hostId={null} networkId={only.id} />;
  return (
    <Page title={mapText.title}>
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data?.length === 0 && <p>{mapText.noNetworks}</p>}
      {others.length > 0 && (
        <>
          <p>{mapText.chooseNetwork}</p>
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
  /** In the middle, where only what is around it is shown. */
  readonly hostId: string | null;
  /** Null where the host says which. */
  readonly networkId: string | null;
}

const REFRESH_EVERY_MS = 5_000;

function OneMap({ hostId, networkId }: OneMapProps) {
  const hops = Number(parameter("hops") ?? 1) || 1;
  const withIsolated = parameter("isolated") === "yes";
  useSubject(hostId === null ? {} : { host_id: hostId });
  const about = {
    ...(hostId === null ? {} : { host_id: hostId, hops }),
    ...(networkId === null || hostId !== null ? {} : { network_id: networkId }),
    ...(withIsolated && hostId === null ? { include_isolated: true } : {}),
  };
  const asked = read("/api/v1/topology", { query: { ...about, ...atQuery() } });
  const compared = vs.value === null ? null : read("/api/v1/topology", { query: { ...about, at: vs.value } });
  const live = { how: "refresh", types: ["host", "if_entry"], everyMs: REFRESH_EVERY_MS } as const;
  const now = useAnswer(asked, networkId === null ? live : { ...live, network_id: networkId });
  const before = useAnswer(compared);
  const name = useNameOf(hostId, networkId);
  const problem = now.problem ?? before.problem;
  const isThere = now.data !== undefined && (compared === null || before.data !== undefined);
  return (
    <Page
      title={mapText.title}
      about={
        <>
          {hostId !== null && mapText.around} <bdi>{name ?? ""}</bdi>
        </>
      }
      reads={compared === null ? [asked.url] : [asked.url, compared.url]}
      actions={<Formats about={about} />}
    >
      {problem !== undefined && (
        <Problem problem={problem} again={now.problem === undefined ? before.again : now.again} />
      )}
      {!isThere && problem === undefined && <Waiting />}
      {isThere && now.data !== undefined && (
        <MapView
          shown={now.data}
          before={compared === null ? null : (before.data ?? null)}
          subject={`${hostId} ${hops} ${networkId} ${withIsolated}`}
          name={name ?? ""}
          hostId={hostId}
          hops={hops}
          networkId={now.data.network_id}
          again={now.again}
        />
      )}
    </Page>
  );
}

function useNameOf(hostId: string | null, networkId: string | null): string | null {
  const host = hostId === null ? null : nameOf("hosts", hostId, at.value);
  const ofNetwork = networkId === null ? null : nameOf("networks", networkId, at.value);
  return (hostId === null ? ofNetwork : host) ?? null;
}

/** The same map as text, which the API makes. */
function Formats({ about }: { readonly about: { readonly network_id?: string; readonly host_id?: string } }) {
  const urlOf = (format: "mermaid" | "graphml") =>
    read("/api/v1/topology", { query: { ...about, ...atQuery(), format } }).url;
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
