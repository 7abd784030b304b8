// Host page at the URL's timestamp. A deleted host links to its last state.

import { useLayoutEffect, useState } from "preact/hooks";
import { useResponse } from "../api/response.ts";
import { LinkButton } from "../components/buttons.tsx";
import { Copied } from "../components/copied.tsx";
import { windowToRead } from "../components/paged-rows.ts";
import { HISTORY, RecordPage, type RecordTab } from "../records/record-page.tsx";
import { ScanRecords } from "../scanning/scan-offer.tsx";
import { may } from "../session/me.ts";
import { credentialText } from "../text/credentials.ts";
import { isPast, vs } from "../time/at.ts";
import { hrefOf, parameter } from "../url/location.ts";
import { Faceplate, faceplateOf } from "./faceplate.tsx";
import { isFaceplateShown } from "./faceplate-limits.ts";
import { HostAddresses } from "./host-addresses.tsx";
import { credentialsRead, HostCredentials } from "./host-credentials.tsx";
import type { FaceplateResponse } from "./host-data.ts";
import { HostNeighbors, linksOf } from "./host-neighbors.tsx";
import { HostOverview } from "./host-overview.tsx";
import {
  addressesRequest,
  hostRequest,
  latestHost,
  liveUpdates,
  portsRequest,
  type ShownHost,
  servicesRequest,
  useHost,
} from "./host-requests.ts";
import { HostServices, PORTS_PREFIX } from "./host-services.tsx";
import { managementLinks } from "./management-links.ts";
import { MergedHosts } from "./merged-hosts.tsx";
import { isTruncated, PORTS_READ } from "./overview-faceplate.tsx";

const OVERVIEW = "overview";
/** Not "interfaces": existing URLs use this key. */
const INTERFACES = "ports";
const NEIGHBORS = "neighbors";
const ADDRESSES = "addresses";
const SERVICES = "services";
const CREDENTIALS = "credentials";
/** Tabs by their key in the URL; any other value selects the overview. */
const OTHERS = [INTERFACES, NEIGHBORS, ADDRESSES, SERVICES, CREDENTIALS, HISTORY] as const;

export function HostPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const [isInFaceplate, setInFaceplate] = useState(false);
  const host = useHost(id, isInFaceplate);
  const { tabs, faceplate } = useTabs(id, host);
  const hasFaceplate = faceplate.data !== undefined;
  useLayoutEffect(() => setInFaceplate(hasFaceplate), [hasFaceplate]);
  return (
    <RecordPage
      kind="host"
      id={id}
      url={hostRequest(id).url}
      response={latestHost(host, faceplate)}
      hostId={() => id}
      beforeHistory={({ mergedVersions }) =>
        mergedVersions.length > 0 && (
          <dl class="facts">
            <MergedHosts finalVersions={mergedVersions} />
          </dl>
        )
      }
      about={(host) => <HostSummary host={host} />}
      actions={({ managed }) => (
        <>
          {managementLinks(managed).map(({ href, title }) => (
            <LinkButton label={title} key={href} href={href} rel="noreferrer" />
          ))}
          {managed.ip_addresses.length > 0 && <ScanRecords kind="host" ids={[id]} />}
          {!isPast.value && vs.value === null && may("consolidateHosts") && may("splitHost") && (
            <LinkButton label="Join or split…" href={hrefOf(`/hosts/${id}/identity`)} />
          )}
        </>
      )}
      tabs={tabs}
    />
  );
}

interface HostTabs {
  readonly tabs: [RecordTab<ShownHost>, ...RecordTab<ShownHost>[]];
  readonly faceplate: FaceplateResponse;
}

/** Requests the current tab together with the counts; the faceplate only once the host is known to need it. */
function useTabs(id: string, { data: host, exists, interfaces, retry }: ReturnType<typeof useHost>): HostTabs {
  const tab = OTHERS.find((key) => key === parameter("tab")) ?? OVERVIEW;
  const live = liveUpdates(id);
  const usesFaceplate = tab === OVERVIEW ? isFaceplateShown(interfaces) : tab === INTERFACES || tab === NEIGHBORS;
  const faceplateRequest = tab === OVERVIEW ? faceplateOf(id, PORTS_READ) : faceplateOf(id);
  // A change of an interface changes its host: one request reads both.
  const faceplateLive = { ...live, types: ["host", "if_entry"], ownTypes: ["if_entry"] };
  const faceplateRead = useResponse(usesFaceplate && exists ? faceplateRequest : null, faceplateLive);
  // A truncated faceplate is valid only for the overview.
  const isPartial =
    tab !== OVERVIEW && faceplateRead.isEarlier && faceplateRead.data !== undefined && isTruncated(faceplateRead.data);
  const faceplate = isPartial ? { ...faceplateRead, data: undefined } : faceplateRead;
  const [page, find] = [parameter("page"), parameter("find") ?? ""];
  const addressesRead = addressesRequest(id, windowToRead(host?.counts.ip_addresses, { page, find }));
  const addressesLive = { ...live, types: ["ip_address"] };
  const addresses = useResponse(tab === ADDRESSES ? addressesRead : null, addressesLive);
  const servicesRead = servicesRequest(id, windowToRead(host?.counts.services, { page, find }));
  const services = useResponse(tab === SERVICES ? servicesRead : null, live);
  // Services are also searched by their ports.
  const portsFind = (parameter(`${PORTS_PREFIX}find`) ?? "") + find;
  const portsRead = portsRequest(
    id,
    windowToRead(host?.counts.ports, { page: parameter(`${PORTS_PREFIX}page`), find: portsFind }),
  );
  const ports = useResponse(tab === SERVICES ? portsRead : null, live);
  const tabs: HostTabs["tabs"] = [
    {
      key: OVERVIEW,
      title: "Overview",
      show: (host) => <HostOverview host={host} faceplate={faceplate} />,
      reads: [hostRequest(id).url, faceplateOf(id, PORTS_READ).url],
      compares: [{ host_id: id }],
    },
    {
      key: INTERFACES,
      title: "Interfaces",
      count: ({ counts }) => counts.interfaces,
      show: () => <Faceplate response={faceplate} />,
      creates: ["if_entry"],
      reads: [faceplateOf(id).url],
      compares: [{ host_id: id, types: ["if_entry"] }],
    },
    {
      key: NEIGHBORS,
      title: "Neighbors",
      show: (host) => <HostNeighbors host={host} faceplate={faceplate} />,
      reads: [linksOf(id).url, faceplateOf(id).url],
      compares: [{ host_id: id, types: ["if_entry"] }],
    },
    {
      key: ADDRESSES,
      title: "Addresses",
      count: ({ counts }) => counts.ip_addresses,
      show: () => <HostAddresses response={addresses} />,
      creates: ["ip_address"],
      reads: [addressesRead.url],
      compares: [{ host_id: id, types: ["ip_address"] }],
    },
    {
      key: SERVICES,
      title: "Services and ports",
      count: ({ counts }) => counts.services + counts.ports,
      show: () => <HostServices services={services} ports={ports} />,
      creates: ["service", "port"],
      reads: [servicesRead.url, portsRead.url],
      compares: [{ host_id: id, types: ["service", "port", "binding"] }],
    },
    {
      key: CREDENTIALS,
      title: credentialText.hostTitle,
      show: (host) => <HostCredentials host={host} onChanged={retry} />,
      reads: [credentialsRead().url],
    },
  ];
  return { tabs, faceplate: faceplateRead };
}

function HostSummary({ host }: { readonly host: ShownHost }) {
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
