// Identity of a host with its evidence: fields that have a value, and manual values that differ from the scan.

import type { Answer } from "../api/answer.ts";
import { RecordFacts, useFacts } from "../changes/record-facts.tsx";
import { hostDetails } from "../kinds/host.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { Named } from "../names/named.tsx";
import { Fact } from "../parts/facts.tsx";
import { When } from "../parts/when.tsx";
import { fieldLabel } from "../text/lists.ts";
import { at, isPast } from "../time/at.ts";
import { Value } from "../values/value.tsx";
import { FormerSelves } from "./former-selves.tsx";
import type { FaceplateData, HostData } from "./host-data.ts";
import { HostPlaces } from "./host-places.tsx";
import { HostPlate } from "./host-plate.tsx";
import type { ShownHost } from "./host-reads.ts";
import { arePlacesShown } from "./plate-room.ts";

/** Longer names may be cut in the heading. */
const NAME_CUT = 60;

interface HostOverviewProps {
  readonly host: ShownHost;
  /** Response of `faceplateOf`. */
  readonly plate: Answer<FaceplateData>;
}

export function HostOverview({ host, plate }: HostOverviewProps) {
  return (
    <>
      <HostPlate count={host.counts.interfaces} answer={plate} />
      <div class="columns">
        <Identity host={host} />
        <section>
          <h2>Record</h2>
          <Seen host={host} />
          <SetByPerson host={host} />
        </section>
      </div>
      {arePlacesShown(host.counts) && (
        <section>
          <h2>Where it is connected</h2>
          <HostPlaces host={host} />
        </section>
      )}
    </>
  );
}

function Identity({ host: { managed, formerEnds, ...host } }: { readonly host: ShownHost }) {
  // The heading shows the name, unless it is cut.
  const isSaid = (field: string) => field === "name" && host.name.length <= NAME_CUT;
  const which = { record: host, details: hostDetails, isSaid };
  const hasFacts = useFacts(which).length > 0 || host.custom_fields !== undefined;
  return (
    <section>
      <h2>Details</h2>
      {!hasFacts && <p class="aside">Only its name and addresses are known. Scan it with SNMP for more.</p>}
      <dl class="facts">
        <RecordFacts kind="host" {...which} />
      </dl>
    </section>
  );
}

const SOURCES: Readonly<Record<string, string>> = {
  Manual: "by a person",
  System: "by netledger itself",
  Discovery: "by discovery",
  Inferred: "inferred",
  Unknown: "unknown",
};

function Seen({ host }: { readonly host: ShownHost }) {
  return (
    <dl class="facts">
      <Fact name="Network">
        <Named kind="network" id={host.network_id} />
      </Fact>
      <Fact name="Added">
        {SOURCES[host.source.type] ?? host.source.type}, <When instant={host.created_at} as="both" />
      </Fact>
      <FormerSelves ends={host.formerEnds} />
      <Fact name={fieldLabel("updated_at")}>
        <When instant={host.updated_at} as="both" />
      </Fact>
      {/* The last-seen time is known only for the present. */}
      {!isPast.value && host.last_seen_at !== null && (
        <Fact name="Last seen">
          <When instant={host.last_seen_at} as="both" />
        </Fact>
      )}
      {!isPast.value && host.stale_since !== undefined && (
        <Fact name="Stale since">
          <When instant={host.stale_since} as="both" />
        </Fact>
      )}
    </dl>
  );
}

/** Manual values that differ from the scan. */
function SetByPerson({ host }: { readonly host: ShownHost }) {
  const discovered = Object.entries(host.discovered ?? {});
  if (discovered.length === 0) return null;
  return (
    <>
      <h2>Manual values that differ from the last scan</h2>
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Set</th>
            <th scope="col">Scan says</th>
          </tr>
        </thead>
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
