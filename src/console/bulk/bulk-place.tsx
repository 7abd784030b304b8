// Bulk operations above a list, for selected records or all that match the filter. Forms load on first use.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { mayWrite } from "../editing/edit-place.tsx";
import { lastSaved, type Saved } from "../editing/saved.ts";
import { isTagged, loadDetails, operationOnMany } from "../kinds/kinds.ts";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { frameText } from "../text/frame.ts";
import { pathname } from "../url/location.ts";
import { AT_ONCE_MAX, type BulkScope } from "./scope.ts";

/** Limit of the API. */
const UPDATED_MAX = 10_000;

export type BulkVerb = "edit" | "tags" | "delete";

type Form = ComponentType<{ scope: BulkScope; onEnd: (saved: Saved | null) => void }>;

const FORMS: Readonly<Record<BulkVerb, () => Promise<Form>>> = {
  edit: () => import("./bulk-edit.tsx").then(({ BulkEdit }) => BulkEdit),
  tags: () => import("./bulk-tags.tsx").then(({ BulkTags }) => BulkTags),
  delete: () => import("./bulk-remove.tsx").then(({ BulkRemove }) => BulkRemove),
};

/** Operations permitted for the kind and this number of records. */
function verbsOf({ kind, count }: BulkScope): BulkVerb[] {
  const verbs: BulkVerb[] = [];
  const mayUpdate = mayWrite(kind, "update");
  if (mayUpdate && may(operationOnMany("update", kind)) && count <= UPDATED_MAX) verbs.push("edit");
  if (isTagged(kind) && mayUpdate && may("addTagToRecords") && count <= AT_ONCE_MAX) verbs.push("tags");
  if (mayWrite(kind, "delete") && count <= AT_ONCE_MAX) verbs.push("delete");
  return verbs;
}

interface BulkButtonsProps {
  readonly scope: BulkScope;
  onChoose(verb: BulkVerb): void;
}

const VERBS = {
  /** Labels of the buttons above a list. */
  edit: "Edit",
  tags: "Tags",
  delete: "Delete",
};

export function BulkButtons({ scope, onChoose }: BulkButtonsProps) {
  return (
    <>
      {verbsOf(scope).map((verb) => (
        <button
          key={verb}
          type="button"
          class={verb === "delete" ? "danger" : undefined}
          onClick={() => onChoose(verb)}
        >
          {VERBS[verb]}
        </button>
      ))}
    </>
  );
}

interface BulkPlaceProps {
  readonly verb: BulkVerb;
  readonly scope: BulkScope;
  onEnd(isDone: boolean): void;
}

export function BulkPlace({ verb, scope, onEnd }: BulkPlaceProps) {
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
        lastSaved.value = saved === null ? null : { ...saved, place: pathname.value };
        onEnd(saved !== null);
      }}
    />
  );
}
