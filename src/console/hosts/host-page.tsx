// Host page at the URL's timestamp: identity with evidence, faceplate, addresses, services and history. A deleted host
// links to its last state.

import { useAnswer } from "../api/answer.ts";
import { Copied } from "../parts/copied.tsx";
import { windowToRead } from "../parts/paged-rows.ts";
import { HISTORY, RecordPage, type RecordTab } from "../records/record-page.tsx";
import { ScanRecords } from "../scanning/scan-offer.tsx";
import { may } from "../session/me.ts";
import { credentialText } from "../text/credentials.ts";
import { isPast, vs } from "../time/at.ts";
import { hrefOf, parameter } from "../url/location.ts";
import { Faceplate, faceplateOf } from "./faceplate.tsx";
import { FormerSelves } from "./former-selves.tsx";
import { HostAddresses } from "./host-addresses.tsx";
import { credentialsRead, HostCredentials } from "./host-credentials.tsx";
import { HostNeighbors, linksOf } from "./host-neighbors.tsx";
import { HostOverview } from "./host-overview.tsx";
import { isCut, PORTS_READ } from "./host-plate.tsx";
import { addressesOf, hostOf, liveOf, portsOf, type ShownHost, servicesOf, useHost } from "./host-reads.ts";
import { HostServices, PORTS } from "./host-services.tsx";
import { managementLinks } from "./management-links.ts";

const OVERVIEW = "overview";
/** Name of the tab in existing URLs. */
const INTERFACES = "ports";
const NEIGHBORS = "neighbors";
const ADDRESSES = "addresses";
const SERVICES = "services";
const CREDENTIALS = "credentials";
/** Any other value selects the overview. */
const OTHERS = [INTERFACES, NEIGHBORS, ADDRESSES, SERVICES, CREDENTIALS, HISTORY] as const;

export function HostPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const host = useHost(id);
  const tabs = useTabs(id, host);
  return (
    <RecordPage
      kind="host"
      id={id}
      url={hostOf(id).url}
      answer={host}
      hostId={() => id}
      beforeHistory={({ formerEnds }) =>
        formerEnds.length > 0 && (
          <dl class="facts">
            <FormerSelves ends={formerEnds} />
          </dl>
        )
      }
      about={(host) => <About host={host} />}
      actions={({ managed }) => (
        <>
          {managementLinks(managed).map(({ href, title }) => (
            <a key={href} class="button" href={href} rel="noreferrer">
              {title}
            </a>
          ))}
          {managed.ip_addresses.length > 0 && <ScanRecords kind="host" ids={[id]} />}
          {!isPast.value && vs.value === null && may("consolidateHosts") && may("splitHost") && (
            <a class="button" href={hrefOf(`/hosts/${id}/identity`)}>
              Join or split…
            </a>
          )}
        </>
      )}
      tabs={tabs}
    />
  );
}

/**
 * Starts the requests of the current tab together with the counts, not after them; the faceplate only once the host is
 * known to exist.
 */
function useTabs(
  id: string,
  { data: host, isThere, again }: ReturnType<typeof useHost>,
): [RecordTab<ShownHost>, ...RecordTab<ShownHost>[]] {
  const tab = OTHERS.find((each) => each === parameter("tab")) ?? OVERVIEW;
  const live = liveOf(id);
  const isPlated = [OVERVIEW, INTERFACES, NEIGHBORS].some((each) => each === tab);
  const plated = tab === OVERVIEW ? faceplateOf(id, PORTS_READ) : faceplateOf(id);
  const read = useAnswer(isPlated && isThere ? plated : null, live);
  // A truncated faceplate is valid only for the overview.
  const isPart = tab !== OVERVIEW && read.isEarlier && read.data !== undefined && isCut(read.data);
  const plate = isPart ? { ...read, data: undefined } : read;
  const [page, find] = [parameter("page"), parameter("find") ?? ""];
  const addressesShown = addressesOf(id, windowToRead(host?.counts.ip_addresses, { page, find }));
  const addresses = useAnswer(tab === ADDRESSES ? addressesShown : null, live);
  const servicesShown = servicesOf(id, windowToRead(host?.counts.services, { page, find }));
  const services = useAnswer(tab === SERVICES ? servicesShown : null, live);
  // Services are also searched by their ports.
  const portsFind = (parameter(`${PORTS}find`) ?? "") + find;
  const portsShown = portsOf(
    id,
    windowToRead(host?.counts.ports, { page: parameter(`${PORTS}page`), find: portsFind }),
  );
  const ports = useAnswer(tab === SERVICES ? portsShown : null, live);
  return [
    {
      key: OVERVIEW,
      title: "Overview",
      show: (host) => <HostOverview host={host} plate={plate} />,
      reads: [hostOf(id).url, faceplateOf(id, PORTS_READ).url],
      compares: [{ host_id: id }],
    },
    {
      key: INTERFACES,
      title: "Interfaces",
      count: ({ counts }) => counts.interfaces,
      show: () => <Faceplate answer={plate} />,
      makes: ["if_entry"],
      reads: [faceplateOf(id).url],
      compares: [{ host_id: id, types: ["if_entry"] }],
    },
    {
      key: NEIGHBORS,
      title: "Neighbors",
      show: (host) => <HostNeighbors host={host} plate={plate} />,
      reads: [linksOf(id).url, faceplateOf(id).url],
      compares: [{ host_id: id, types: ["if_entry"] }],
    },
    {
      key: ADDRESSES,
      title: "Addresses",
      count: ({ counts }) => counts.ip_addresses,
      show: () => <HostAddresses answer={addresses} />,
      makes: ["ip_address"],
      reads: [addressesShown.url],
      compares: [{ host_id: id, types: ["ip_address"] }],
    },
    {
      key: SERVICES,
      title: "Services and ports",
      count: ({ counts }) => counts.services + counts.ports,
      show: () => <HostServices services={services} ports={ports} />,
      makes: ["service", "port"],
      reads: [servicesShown.url, portsShown.url],
      compares: [{ host_id: id, types: ["service", "port", "binding"] }],
    },
    {
      key: CREDENTIALS,
      title: credentialText.ofHost,
      show: (host) => <HostCredentials host={host} onChanged={again} />,
      reads: [credentialsRead().url],
    },
  ];
}

function About({ host }: { readonly host: ShownHost }) {
  const [address] = host.managed.ip_addresses;
  return (
    <>
      {address !== undefined && <Copied text={address.ip_address} />}{" "}
      {host.hostname !== null && host.hostname !== host.name && <bdi>{host.hostname}</bdi>}{" "}
      {host.hidden && <span class="label">hidden</span>}{" "}
      {host.stale_since !== undefined && <span class="label">stale</span>}
    </>
  );
}
