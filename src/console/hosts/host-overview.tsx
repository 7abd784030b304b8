// Who a host is and how that is known: the fields that have a value, and where a person's word stands against the scan's.

import { useWas, Was } from "../changes/comparison.tsx";
import { Value } from "../changes/value.tsx";
import { Named } from "../names/named.tsx";
import { Fact } from "../parts/facts.tsx";
import { When } from "../parts/when.tsx";
import { hostText } from "../text/hosts.ts";
import { fieldText } from "../text/lists.ts";
import { at, isPast } from "../time/at.ts";
import type { HostData } from "./host-data.ts";

const IDENTITY = [
  "hostname",
  "description",
  "manufacturer",
  "model",
  "serial_number",
  "asset_tag",
  "sys_name",
  "sys_descr",
  "sys_location",
  "sys_contact",
  "sys_object_id",
  "chassis_id",
  "management_url",
  "virtualization",
  "tags",
] as const;

export function HostOverview({ host }: { readonly host: HostData }) {
  const was = useWas(host.id);
  const known = IDENTITY.filter((field) => {
    const value = host[field];
    if (was(field)) return true;
    return value !== null && value !== "" && (!Array.isArray(value) || value.length > 0);
  });
  const discovered = Object.entries(host.discovered ?? {});
  return (
    <div class="columns">
      <section>
        <h2>{hostText.identity}</h2>
        {known.length === 0 && <p class="aside">{hostText.nothingKnown}</p>}
        <dl class="facts">
          {known.map((field) => (
            <Fact key={field} name={fieldText[field] ?? field}>
              <Was id={host.id} field={field} />
              <Value field={field} value={host[field]} at={at.value} />
            </Fact>
          ))}
        </dl>
      </section>
      <section>
        <h2>{hostText.seen}</h2>
        <dl class="facts">
          <Fact name={hostText.network}>
            <Named kind="networks" id={host.network_id} />
          </Fact>
          <Fact name={hostText.source}>
            {hostText.sources[host.source.type] ?? host.source.type}, <When instant={host.created_at} as="both" />
          </Fact>
          <Fact name={fieldText.updated_at ?? ""}>
            <When instant={host.updated_at} as="both" />
          </Fact>
          {/* When something was last seen is known of now alone. */}
          {!isPast.value && host.last_seen_at !== null && (
            <Fact name={hostText.lastSeen}>
              <When instant={host.last_seen_at} as="both" />
            </Fact>
          )}
          {!isPast.value && host.stale_since !== undefined && (
            <Fact name={hostText.staleSince}>
              <When instant={host.stale_since} as="both" />
            </Fact>
          )}
        </dl>
        {discovered.length > 0 && (
          <>
            <h2>{hostText.setByPerson}</h2>
            <table class="rows">
              <thead>
                <tr>
                  <th scope="col">{hostText.field}</th>
                  <th scope="col">{hostText.person}</th>
                  <th scope="col">{hostText.scan}</th>
                </tr>
              </thead>
              <tbody>
                {discovered.map(([field, value]) => (
                  <tr key={field}>
                    <th scope="row">{fieldText[field] ?? field}</th>
                    <td>
                      <Value field={field} value={(host as Record<string, unknown>)[field]} at={at.value} />
                    </td>
                    <td>
                      <Value field={field} value={value} at={at.value} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )}
      </section>
    </div>
  );
}
