// What a plan changes, record by record and field by field.

import { fieldTitle } from "../names/custom-fields.ts";
import { Named } from "../names/named.tsx";
import type { NamedKind } from "../names/names.ts";
import { Tags } from "../names/tags.tsx";
import { bulkText } from "../text/bulk.ts";
import type { BulkChange } from "./writes.ts";

/** More are no list that anybody reads. */
const CHANGES_SHOWN = 30;

interface PlannedChangesProps {
  readonly changes: readonly BulkChange[];
  /** How many there are in all. */
  readonly count: number;
}

export function PlannedChanges({ changes, count }: PlannedChangesProps) {
  return (
    <>
      <ul class="bulk-changes">
        {changes.slice(0, CHANGES_SHOWN).map(({ id, name, fields }, row) => (
          <li key={id ?? row}>
            <bdi>{name || (id === null ? "" : `…${id.slice(-8)}`)}</bdi>:{" "}
            {fields.map(({ field, from, to }, position) => (
              <span key={field}>
                {position > 0 && "; "}
                {fieldTitle(field)}{" "}
                <del>
                  <Told field={field} value={from} />
                </del>{" "}
                {bulkText.to}{" "}
                <ins>
                  <Told field={field} value={to} />
                </ins>
              </span>
            ))}
          </li>
        ))}
      </ul>
      {count > CHANGES_SHOWN && <p class="aside">{bulkText.more(count - CHANGES_SHOWN)}</p>}
    </>
  );
}

/** The kinds that fields name. */
const REFERENCES: Readonly<Record<string, NamedKind>> = {
  vlan_id: "vlans",
  native_vlan_id: "vlans",
  vlan_ids: "vlans",
  subnet_id: "subnets",
  network_id: "networks",
  host_id: "hosts",
};

function Told({ field, value }: { readonly field: string; readonly value: unknown }) {
  if (value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0))
    return <>{bulkText.none}</>;
  if (field === "tags" && Array.isArray(value)) return <Tags ids={value.map(String)} />;
  const kind = REFERENCES[field];
  if (kind !== undefined)
    return (
      <>
        {[value].flat().map((id) => (
          <span key={String(id)}>
            <Named kind={kind} id={String(id)} />{" "}
          </span>
        ))}
      </>
    );
  return <bdi>{typeof value === "object" ? JSON.stringify(value) : String(value)}</bdi>;
}
