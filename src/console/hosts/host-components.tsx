// Components of a host: its chassis, or the members of its stack, by position, followed by removed ones.

import { useResponse } from "../api/response.ts";
import { Copied } from "../components/copied.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { Value } from "../field-values/value.tsx";
import { ChangedCell } from "../history/changed-value.tsx";
import { ChangeSign, MatchingComparison, PreviousValue, useRemoved } from "../history/comparison.tsx";
import { fieldLabel } from "../text/lists.ts";
import { at } from "../time/at.ts";
import type { HostComponent } from "./host-data.ts";
import { componentsRequest, liveUpdates } from "./host-requests.ts";

export function HostComponents({ id }: { readonly id: string }) {
  const response = useResponse(componentsRequest(id), { ...liveUpdates(id), types: ["component"] });
  const { data, problem, retry } = response;
  return (
    <MatchingComparison isEarlier={response.isEarlier}>
      {data === undefined ? <ResponseState problem={problem} retry={retry} /> : <Components components={data} />}
    </MatchingComparison>
  );
}

function Components({ components }: { readonly components: readonly HostComponent[] }) {
  const removed = useRemoved<HostComponent>("component");
  return (
    <RowsTable
      title="Components"
      heads={[fieldLabel("position"), "Class", ...TEXTS.map(fieldLabel), fieldLabel("serial_number")]}
    >
      {[...components, ...removed].map(({ serial_number, ...component }) => (
        <tr key={component.id}>
          <td>
            <ChangeSign id={component.id} />
            <PreviousValue id={component.id} field="position" />
            {component.position}
          </td>
          <ChangedCell
            id={component.id}
            field="class"
            value={<Value field="class" value={component.class} at={at.value} />}
          />
          {TEXTS.map((field) => (
            <ChangedCell key={field} id={component.id} field={field} value={<bdi>{component[field]}</bdi>} />
          ))}
          <ChangedCell
            id={component.id}
            field="serial_number"
            value={serial_number !== null && <Copied text={serial_number} />}
          />
        </tr>
      ))}
    </RowsTable>
  );
}

const TEXTS = ["manufacturer", "model"] as const;
