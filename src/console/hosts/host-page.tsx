// A host at the instant of the address: who it is and how that is known, its ports as they sit on it, its addresses and
// services, and everything that changed. A host that is gone leads to what it was last.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Gone } from "../changes/gone.tsx";
import { Transactions } from "../changes/transactions.tsx";
import { Copied } from "../parts/copied.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { Pin } from "../session/pin.tsx";
import { hostText } from "../text/hosts.ts";
import { atQuery } from "../time/at.ts";
import { useSubject } from "../time/subject.ts";
import { parameter } from "../url/location.ts";
import { Faceplate } from "./faceplate.tsx";
import { HostAddresses } from "./host-addresses.tsx";
import type { HostData } from "./host-data.ts";
import { HostOverview } from "./host-overview.tsx";
import { HostServices } from "./host-services.tsx";
import { managementLinks } from "./management-links.ts";

const TABS = ["overview", "ports", "addresses", "services", "history"] as const;
type Tab = (typeof TABS)[number];

export function HostPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  useSubject({ host_id: id });
  const asked = read("/api/v1/hosts/{id}", { path: { id }, query: atQuery() });
  const { data: host, problem, again } = useAnswer(asked, { how: "refresh", host_id: id });
  useSubject({ host_id: id });
  const plate = read("/api/v1/hosts/{id}/faceplate", { path: { id }, query: atQuery() });
  if (problem?.status === 404 || (problem?.status === 400 && host === undefined)) return <Gone kind="host" id={id} />;
  if (host === undefined)
    return (
      <Page title={hostText.host}>
        {problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />}
      </Page>
    );
  const tab = TABS.find((each) => each === parameter("tab")) ?? "overview";
  return (
    <Page
      title={host.name || host.hostname || `…${id.slice(-8)}`}
      about={<About host={host} />}
      reads={tab === "ports" ? [plate.url] : [asked.url]}
      actions={
        <>
          <Pin kind="hosts" id={host.id} />
          {managementLinks(host).map(({ href, title }) => (
            <a key={href} class="button" href={href} rel="noreferrer">
              {title}
            </a>
          ))}
        </>
      }
    >
      {problem !== undefined && <Problem problem={problem} again={again} />}
      <Tabs tabs={TABS.map((key) => ({ key, title: hostText.tabs[key] }))} shown={tab} first="overview" />
      <Shown tab={tab} host={host} />
    </Page>
  );
}

function Shown({ tab, host }: { readonly tab: Tab; readonly host: HostData }) {
  switch (tab) {
    case "overview":
      return <HostOverview host={host} />;
    case "ports":
      return <Faceplate hostId={host.id} />;
    case "addresses":
      return <HostAddresses host={host} />;
    case "services":
      return <HostServices host={host} />;
    case "history":
      return <Transactions of={{ host_id: host.id, ...atQuery() }} hostId={host.id} />;
  }
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
