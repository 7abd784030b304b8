// Bulk edit: select fields, enter values, review the plan and apply it.

import { useEffect, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Select } from "../components/select.tsx";
import { customField, definitionsOf, fieldsOf } from "../editing/forms.ts";
import { type Saved, savedMany } from "../editing/saved.ts";
import { loadDraft, storeDraft } from "../forms/drafts.ts";
import { bodyWith, type TypedFields } from "../forms/edits.ts";
import { type FormField, sentValue, type Typed, typedOf, validationError } from "../forms/field.ts";
import { FieldControl, titleOfField } from "../forms/field-control.tsx";
import { lacksReason } from "../forms/reason.ts";
import { kindWords } from "../kinds/kinds.ts";
import { usePlan } from "../plans/use-plan.ts";
import { me } from "../session/me.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { editText } from "../text/editing.ts";
import { ownValue } from "../text/own-value.ts";
import { BulkForm } from "./bulk-form.tsx";
import { PlannedChanges } from "./planned-changes.tsx";
import type { BulkOperation } from "./scope.ts";
import { type BulkPlan, updateMany } from "./writes.ts";

export function BulkEdit({ scope, onEnd }: BulkOperation) {
  const { kind, count } = scope;
  const nouns = kindWords(kind);
  const [fields, setFields] = useState<readonly FormField[]>(() => fieldsOf(kind, false));
  const draftName = { userId: me.value?.id ?? "", kind: `bulk ${kind}`, id: "edit" };
  const [draft] = useState(() => loadDraft(draftName));
  const [typed, setTyped] = useState<TypedFields>(draft?.typed ?? {});
  const [reason, setReason] = useState(draft?.reason ?? "");
  useEffect(() => {
    definitionsOf(kind).then(
      (definitions) => setFields((current) => [...current, ...definitions.map(customField)]),
      (cause: unknown) => refuse(asRefusal(cause)),
    );
  }, [kind]);
  const saveDraft = (typedFields: TypedFields, draftReason: string) =>
    storeDraft(draftName, { base: {}, tag: "", typed: typedFields, reason: draftReason });
  const chosen = fields.filter(({ name }) => Object.hasOwn(typed, name));
  const inputOf = (field: FormField) => ownValue(typed, field.name) as Typed;
  const isInvalid = chosen.some((field) => validationError(field, inputOf(field)) !== null);
  const set = bodyWith(chosen.map((field) => [field.name, sentValue(field, inputOf(field))]));
  const { plan, isReplanned, problem, isWriteProblem, isBusy, preview, write, drop, refuse } = usePlan<BulkPlan>(
    ({ fingerprint, key }) => updateMany(scope, { set, plan: fingerprint }, { reason, key }),
  );
  const type = (field: FormField, value: Typed | undefined) => {
    const { [field.name]: _, ...others } = typed;
    const next = value === undefined ? others : { ...typed, [field.name]: value };
    setTyped(next);
    saveDraft(next, reason);
    drop();
  };
  const end = (saved: Saved | null) => {
    storeDraft(draftName, null);
    onEnd(saved);
  };
  const { updated = 0, unchanged = 0 } = plan?.counts ?? {};
  return (
    <BulkForm
      title={`Edit ${counted(count, ...nouns)}`}
      problem={problem}
      isWriteProblem={isWriteProblem}
      reason={updated > 0 ? reason : null}
      onReason={(value) => {
        setReason(value);
        saveDraft(typed, value);
      }}
      onCancel={() => end(null)}
      buttons={
        plan === null ? (
          <ActionButton
            label="Preview"
            class="primary"
            disabled={isBusy || isInvalid || chosen.length === 0}
            onClick={() => void preview()}
          />
        ) : (
          <>
            {updated > 0 && (
              <ActionButton
                label={`Change ${counted(updated, ...nouns)}`}
                class="primary"
                disabled={isBusy || lacksReason(reason)}
                onClick={() => void write(({ sequence }) => end(savedMany(kind, "updated", sequence)))}
              />
            )}{" "}
            <ActionButton label="Back to the fields" onClick={() => drop()} />
          </>
        )
      }
    >
      {draft !== null && plan === null && <p class="note">{editText.restored}</p>}
      {plan === null ? (
        <div class="bulk-fields">
          {chosen.length === 0 && <p>Choose the fields to set. All other fields remain unchanged.</p>}
          {chosen.map((field) => (
            <FieldControl
              key={field.name}
              field={field}
              typed={inputOf(field)}
              record={{ network_id: scope.networkId }}
              error={validationError(field, inputOf(field))}
              onType={(value) => type(field, value)}
            >
              <ActionButton label={`Do not set ${titleOfField(field)}`} onClick={() => type(field, undefined)} />{" "}
              {field.isNullable && inputOf(field) === "" && <span class="aside">Leave empty to clear it.</span>}
            </FieldControl>
          ))}
          <Select
            aria-label="Add a field to set"
            value=""
            choices={[
              ["", "Add a field to set"],
              ...fields
                .filter(({ name }) => !Object.hasOwn(typed, name))
                .map((field) => [field.name, titleOfField(field)] as const),
            ]}
            onChoose={(name) => {
              const field = fields.find((candidate) => candidate.name === name);
              if (field !== undefined) type(field, typedOf(field, null));
            }}
          />
        </div>
      ) : (
        <PlannedChanges kind={kind} changes={plan.changes} count={updated} isReplanned={isReplanned}>
          <p>
            {updated === 0
              ? "Nothing would change: all of them already have these values."
              : `${counted(updated, ...nouns)} would change${unchanged === 0 ? "." : `, ${groupedDigits(unchanged)} would remain unchanged.`}`}
          </p>
        </PlannedChanges>
      )}
    </BulkForm>
  );
}
