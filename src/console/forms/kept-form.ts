// Draft of a confirmation form, stored by field name in this tab like other drafts. Must not store passwords.

import { me } from "../session/me.ts";
import { ownValue } from "../text/own-value.ts";
import { type DraftName, keepDraft, keptDraft } from "./drafts.ts";

export interface KeptForm {
  readonly name: DraftName;
  /** Whether a draft exists. */
  readonly isThere: boolean;
  /** Request key of a submission without a response; null if not submitted. */
  readonly sentAs: string | null;
  /** Text of a field; undefined without a draft, `""` if left empty. */
  text(field: string): string | undefined;
  /** Values of a multi-value field; undefined without a draft. */
  all(field: string): readonly string[] | undefined;
}

/**
 * @param what purpose of the form: `api_key`
 * @param edited version being changed; a draft for another version is not restored; null for a new record
 */
export function keptForm(what: string, edited: { readonly id: string; readonly updated_at: string } | null): KeptForm {
  const id = edited === null ? "new" : `${edited.id}@${edited.updated_at}`;
  const name = { userId: me.value?.id ?? "", kind: `form ${what}`, id };
  const draft = keptDraft(name);
  const typed = draft?.typed;
  const all = (field: string) =>
    typed === undefined ? undefined : ((ownValue(typed, field) ?? []) as readonly string[]);
  return {
    name,
    isThere: typed !== undefined,
    sentAs: draft?.sentAs ?? null,
    text: (field) => {
      const values = all(field);
      return values === undefined ? undefined : (values[0] ?? "");
    },
    all,
  };
}

/** Whether a box is checked; form data omits unchecked boxes. */
export function isTicked({ isThere, all }: KeptForm, box: string, otherwise: boolean): boolean {
  return isThere ? all(box)?.length === 1 : otherwise;
}

/**
 * Stores the current input of a form.
 * @param sentAs request key of a pending submission, for a retry after a reload; null once the outcome is known
 */
export function keepForm(name: DraftName, form: HTMLFormElement, sentAs: string | null = null): void {
  const secret = new Set([...form.querySelectorAll<HTMLInputElement>("input[type=password]")].map((each) => each.name));
  const typed: Record<string, string[]> = {};
  for (const [field, value] of new FormData(form))
    if (typeof value === "string" && !secret.has(field)) typed[field] = [...(ownValue(typed, field) ?? []), value];
  keepDraft(name, { base: {}, tag: "", typed, reason: "", ...(sentAs === null ? {} : { sentAs }) });
}
