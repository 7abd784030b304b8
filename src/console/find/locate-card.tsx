// Location of the search term at the timestamp in the URL, with reasons and history.

import { type DataOf, read } from "../api/client.ts";
import { type ApiResponse, useResponse } from "../api/response.ts";
import { Copied } from "../components/copied.tsx";
import { NamedFact } from "../components/fact-values.tsx";
import { Fact } from "../components/facts.tsx";
import { Status } from "../components/status.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { percent } from "../text/find.ts";
import { isPast, network, scopeQuery } from "../time/at.ts";
import { LastPlace } from "./last-place.tsx";
import { type LocateTerm, locateQuery } from "./locate-term.ts";
import { LocationHistory } from "./location-history.tsx";
import { type Candidate, Reasons } from "./reasons.tsx";
import { UnusedAddress } from "./unused-address.tsx";
import { VlanLink } from "./vlan-link.tsx";

/** Request behind the card. */
export function locateRead(term: LocateTerm) {
  return read("/api/v1/locate", { query: { ...locateQuery(term), ...scopeQuery() } });
}

/** @param term null for a term that cannot be located */
export function useLocated(term: LocateTerm | null): Located {
  return useResponse(term === null ? null : locateRead(term), {
    how: "offer",
    types: ["host", "ip_address", "if_entry"],
    network_id: network.value,
  });
}

type Located = ApiResponse<DataOf<"/api/v1/locate">>;

/** Empty on a problem, which is shown above the results. */
export function LocateCard({ term, response: { data, problem } }: Readonly<{ term: LocateTerm; response: Located }>) {
  if (data === undefined || problem !== undefined) return null;
  const [first, ...others] = data.candidates;
  // Text that may be a host name is not reported as missing.
  if (first === undefined && data.last_seen === null && term.by === "hostname")
    return <LocationHistory term={term} isQuiet />;
  return (
    <section class="locate" aria-label={isPast.value ? "Where it was" : "Where it is"}>
      <p class="locate-answer" dir="auto">
        {first?.explanation ?? data.explanation}
      </p>
      {data.last_seen !== null && (
        <p>
          <LastPlace place={data.last_seen} />
        </p>
      )}
      {data.ambiguity !== null && (
        <p class="note" dir="auto">
          {data.ambiguity}
        </p>
      )}
      {first !== undefined && <CandidateFacts candidate={first} />}
      {first === undefined && term.by === "ip" && <UnusedAddress address={data.asked.value} />}
      {others.length > 0 && (
        <>
          <h2>{data.ambiguity === null ? "Less likely" : "Other candidates"}</h2>
          <ol class="candidates">
            {others.map((candidate) => (
              <li key={`${candidate.host?.id} ${candidate.mac_address} ${candidate.port?.id} ${candidate.network_id}`}>
                <details>
                  <summary>
                    <bdi>{candidate.explanation}</bdi> <span class="aside">{percent(candidate.confidence)}</span>
                  </summary>
                  <CandidateFacts candidate={candidate} />
                </details>
              </li>
            ))}
          </ol>
        </>
      )}
      {data.truncated && <p class="aside">More candidates exist: choose a network.</p>}
      <LocationHistory term={term} />
    </section>
  );
}

function CandidateFacts({ candidate }: { readonly candidate: Candidate }) {
  const { host, ip_address, mac_address, port, behind, vlan, subnet, network_id, confidence } = candidate;
  return (
    <>
      <dl class="facts locate-facts">
        <Fact name="Host">
          {host === null ? (
            <i class="aside">not in the inventory</i>
          ) : (
            <>
              <RecordLink type="host" {...host} />{" "}
              {host.hostname !== null && host.hostname !== host.name && <bdi class="aside">{host.hostname}</bdi>}
            </>
          )}
        </Fact>
        {ip_address !== null && (
          <Fact name="Address">
            <Copied text={ip_address.ip_address} />
          </Fact>
        )}
        {mac_address !== null && (
          <Fact name="MAC address">
            <Copied text={mac_address} /> <Vendor mac={mac_address} />
          </Fact>
        )}
        {candidate.switch !== null && (
          <Fact name="Switch">
            <RecordLink type="host" {...candidate.switch} />
          </Fact>
        )}
        {port !== null && (
          <Fact name="Port">
            <RecordLink type="if_entry" {...port} />{" "}
            <bdi class="aside">{[...port.members, ...port.units].map(({ name }) => name).join(", ")}</bdi>{" "}
            <Status status={port.oper_status} />{" "}
            {port.role === "Uplink" && <span class="aside">uplink: located beyond this port</span>}
          </Fact>
        )}
        {behind !== null && (
          <Fact name="Behind">
            <RecordLink type="host" {...behind} />
          </Fact>
        )}
        {vlan !== null && (
          <Fact name="VLAN">
            <VlanLink vlan={vlan} />
          </Fact>
        )}
        {subnet !== null && (
          <Fact name="Subnet">
            <RecordLink type="subnet" id={subnet.id} name={subnet.cidr} /> <bdi class="aside">{subnet.name}</bdi>
          </Fact>
        )}
        <NamedFact name="Network" kind="network" id={network_id} />
        <Fact name="Confidence">{percent(confidence)}</Fact>
      </dl>
      <Reasons candidate={candidate} />
    </>
  );
}

/** Vendor or well-known use of a MAC address; empty if unknown. */
function Vendor({ mac }: { readonly mac: string }) {
  const { data, isEarlier } = useResponse(read("/api/v1/vendors/{mac}", { path: { mac } }));
  const vendor = data?.known_use ?? data?.vendor ?? null;
  return vendor === null || isEarlier ? null : <bdi class="aside">{vendor}</bdi>;
}
