// Overview tab of a host: faceplate or location, fields that have a value, components, identity, and manual values
// that differ from the scan.

import { NamedFact, TimeFact } from "../components/fact-values.tsx";
import { Fact } from "../components/facts.tsx";
import { HeadRow } from "../components/head-row.tsx";
import { Section } from "../components/section.tsx";
import { When } from "../components/when.tsx";
import { Value } from "../field-values/value.tsx";
import { RecordFacts, useFacts } from "../history/record-facts.tsx";
import { hostDetails } from "../kinds/host.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { fieldLabel } from "../text/lists.ts";
import { at, isPast } from "../time/at.ts";
import { isLocationShown } from "./faceplate-limits.ts";
import { HostComponents } from "./host-components.tsx";
import type { FaceplateResponse, HostData } from "./host-data.ts";
import { HostIdentity } from "./host-identity.tsx";
import { HostLocations } from "./host-locations.tsx";
import type { ShownHost } from "./host-requests.ts";
import { MergedHosts } from "./merged-hosts.tsx";
import { OverviewFaceplate } from "./overview-faceplate.tsx";

/** Longer names may be cut in the heading. */
const NAME_MAX_LENGTH = 60;

export function HostOverview({ host, faceplate }: { readonly host: ShownHost; readonly faceplate: FaceplateResponse }) {
  return (
    <>
      <OverviewFaceplate count={host.counts.interfaces} response={faceplate} />
      <div class="columns">
        <Identity host={host} />
        <Section title="Record">
          <RecordInfo host={host} />
          <ManualOverrides host={host} />
        </Section>
      </div>
      {host.counts.components > 0 && (
        <Section title="Components">
          <HostComponents id={host.id} />
        </Section>
      )}
      {host.sys_object_id !== null && (
        <Section title="Identity">
          <HostIdentity id={host.id} />
        </Section>
      )}
      {isLocationShown(host.counts) && (
        <Section title="Connected to">
          <HostLocations host={host} />
        </Section>
      )}
    </>
  );
}

function Identity({ host: { managed, addresses, mergedVersions, ...host } }: { readonly host: ShownHost }) {
  // The heading shows the name, unless it is cut.
  const isShownAbove = (field: string) => field === "name" && host.name.length <= NAME_MAX_LENGTH;
  const facts = { record: host, details: hostDetails, isShownAbove };
  const hasFacts = useFacts(facts).length > 0 || host.custom_fields !== undefined;
  return (
    <Section title="Details">
      {!hasFacts && <p class="aside">Only the name and addresses are known. Scan with SNMP for more.</p>}
      <dl class="facts">
        <RecordFacts kind="host" {...facts} />
      </dl>
    </Section>
  );
}

const SOURCES: Readonly<Record<string, string>> = {
  Manual: "manually",
  System: "by netledger",
  Discovery: "by discovery",
  Inferred: "inferred",
  Unknown: "unknown",
};

function RecordInfo({ host }: { readonly host: ShownHost }) {
  return (
    <dl class="facts">
      <NamedFact name="Network" kind="network" id={host.network_id} />
      <Fact name="Added">
        {SOURCES[host.source.type] ?? host.source.type}, <When instant={host.created_at} as="both" />
      </Fact>
      {typeof host.split_from === "string" && <NamedFact name="Split from" kind="host" id={host.split_from} />}
      <MergedHosts finalVersions={host.mergedVersions} />
      <TimeFact name={fieldLabel("updated_at")} instant={host.updated_at} />
      {/* The last-seen time is known only for now. */}
      {!isPast.value && host.last_seen_at !== null && <TimeFact name="Last seen" instant={host.last_seen_at} />}
      {!isPast.value && host.stale_since !== undefined && <TimeFact name="Stale since" instant={host.stale_since} />}
    </dl>
  );
}

/** Manual values that differ from the scan. */
function ManualOverrides({ host }: { readonly host: ShownHost }) {
  const discovered = Object.entries(host.discovered ?? {});
  if (discovered.length === 0) return null;
  return (
    <>
      <h2>Manual values that differ from the last scan</h2>
      <table class="rows">
        <HeadRow heads={["Field", "Set", "Last scan"]} />
        <tbody>
          {discovered.map(([field, value]) => (
            <tr key={field}>
              <th scope="row">{fieldTitle(field)}</th>
              <td>
                <Value field={field} value={host[field as keyof HostData]} at={at.value} />
              </td>
              <td>
                <Value field={field} value={value} at={at.value} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
