// Bulk operations above a list, for the selected records or all that match the filter. Forms load on first use.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";
import { Waiting } from "../components/waiting.tsx";
import { mayWrite } from "../editing/edit-slot.tsx";
import { lastSaved } from "../editing/saved.ts";
import { capital, isTagged, loadDetails, operationOnMany } from "../kinds/kinds.ts";
import { may } from "../session/me.ts";
import { frameText } from "../text/frame.ts";
import { pathname } from "../url/location.ts";
import { BULK_MAX, type BulkOperation, type BulkScope } from "./scope.ts";

/** API limit for updates. */
const UPDATE_MAX = 10_000;

export type BulkVerb = "edit" | "tags" | "delete";

type Form = ComponentType<BulkOperation>;

const FORMS: Readonly<Record<BulkVerb, () => Promise<Form>>> = {
  edit: () => import("./bulk-edit.tsx").then(({ BulkEdit }) => BulkEdit),
  tags: () => import("./bulk-tags.tsx").then(({ BulkTags }) => BulkTags),
  delete: () => import("./bulk-remove.tsx").then(({ BulkRemove }) => BulkRemove),
};

/** Operations that are permitted for this kind and number of records. */
function permittedVerbs({ kind, count }: BulkScope): BulkVerb[] {
  const verbs: BulkVerb[] = [];
  const mayUpdate = mayWrite(kind, "update");
  if (mayUpdate && may(operationOnMany("update", kind)) && count <= UPDATE_MAX) verbs.push("edit");
  if (isTagged(kind) && mayUpdate && may("addTagToRecords") && count <= BULK_MAX) verbs.push("tags");
  if (mayWrite(kind, "delete") && count <= BULK_MAX) verbs.push("delete");
  return verbs;
}

export function BulkButtons({ scope, onChoose }: { readonly scope: BulkScope; onChoose(verb: BulkVerb): void }) {
  return (
    <>
      {permittedVerbs(scope).map((verb) => (
        <ActionButton
          key={verb}
          label={capital(verb)}
          class={verb === "delete" ? "danger" : undefined}
          onClick={() => onChoose(verb)}
        />
      ))}
    </>
  );
}

type BulkPanelProps = Readonly<{ verb: BulkVerb; scope: BulkScope; onEnd(isDone: boolean): void }>;

export function BulkPanel({ verb, scope, onEnd }: BulkPanelProps) {
  const [form, setForm] = useState<{ readonly Form: Form } | "failed" | null>(null);
  useEffect(() => {
    Promise.all([FORMS[verb](), loadDetails(scope.kind)]).then(
      ([Form]) => setForm({ Form }),
      () => setForm("failed"),
    );
  }, [verb]);
  if (form === null) return <Waiting />;
  if (form === "failed") return <p class="note">{frameText.newVersion}</p>;
  const { Form } = form;
  return (
    <Form
      scope={scope}
      onEnd={(saved) => {
        lastSaved.value = saved === null ? null : { ...saved, page: pathname.value };
        onEnd(saved !== null);
      }}
    />
  );
}
