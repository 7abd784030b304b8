// A host at the instant of the address: who it is and how that is known, its ports as they sit on it, its addresses and
// services, and everything that changed. A host that is gone leads to what it was last.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Copied } from "../parts/copied.tsx";
import { RecordPage } from "../records/record-page.tsx";
import { hostText } from "../text/hosts.ts";
import { recordText } from "../text/records.ts";
import { atQuery } from "../time/at.ts";
import { parameter } from "../url/location.ts";
import { Faceplate, faceplateOf } from "./faceplate.tsx";
import { HostAddresses } from "./host-addresses.tsx";
import type { HostData } from "./host-data.ts";
import { HostNeighbors, linksOf } from "./host-neighbors.tsx";
import { HostOverview } from "./host-overview.tsx";
import { HostServices } from "./host-services.tsx";
import { managementLinks } from "./management-links.ts";

/** With all its parts it may be large. */
const EVERY_MS = 2_000;

export function HostPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const asked = read("/api/v1/hosts/{id}", { path: { id }, query: atQuery() });
  // Beside the host, not after it.
  const isPlated = ["ports", "neighbors"].includes(parameter("tab") ?? "");
  const plate = useAnswer(isPlated ? faceplateOf(id) : null, { how: "refresh", host_id: id, everyMs: EVERY_MS });
  return (
    <RecordPage
      kind="host"
      id={id}
      url={asked.url}
      answer={useAnswer(asked, { how: "refresh", host_id: id, everyMs: EVERY_MS })}
      hostId={() => id}
      about={(host) => <About host={host} />}
      actions={(host) =>
        managementLinks(host).map(({ href, title }) => (
          <a key={href} class="button" href={href} rel="noreferrer">
            {title}
          </a>
        ))
      }
      tabs={[
        {
          key: "overview",
          title: recordText.overview,
          show: (host) => <HostOverview host={host} />,
          compares: [{ host_id: id }],
        },
        {
          key: "ports",
          title: hostText.tabs.ports,
          count: ({ interfaces }) => interfaces?.length ?? null,
          show: () => <Faceplate answer={plate} />,
          reads: [faceplateOf(id).url],
          compares: [{ host_id: id, types: ["if_entry"] }],
        },
        {
          key: "neighbors",
          title: hostText.tabs.neighbors,
          show: (host) => <HostNeighbors host={host} plate={plate} />,
          reads: [linksOf(id).url, faceplateOf(id).url],
          compares: [{ host_id: id, types: ["if_entry"] }],
        },
        {
          key: "addresses",
          title: hostText.tabs.addresses,
          count: ({ ip_addresses }) => ip_addresses?.length ?? null,
          show: (host) => <HostAddresses host={host} />,
          compares: [{ host_id: id, types: ["ip_address"] }],
        },
        {
          key: "services",
          title: hostText.tabs.services,
          count: ({ services, ports }) => (services?.length ?? 0) + (ports?.length ?? 0),
          show: (host) => <HostServices host={host} />,
          compares: [{ host_id: id, types: ["service", "port", "binding"] }],
        },
      ]}
    />
  );
}

function About({ host }: { readonly host: HostData }) {
  const [address] = host.ip_addresses ?? [];
  return (
    <>
      {address !== undefined && <Copied text={address.ip_address} />}{" "}
      {host.hostname !== null && <bdi>{host.hostname}</bdi>}{" "}
      {host.hidden && <span class="label">{hostText.hidden}</span>}{" "}
      {host.stale_since !== undefined && <span class="label">{hostText.stale}</span>}
    </>
  );
}
