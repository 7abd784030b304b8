// What was typed into a form that asks first: kept by this tab like any draft, field by field as the form names them. No
// password is.

import { type DraftName, keepDraft, keptDraft } from "../editing/drafts.ts";
import { me } from "../session/me.ts";
import { ownValue } from "../text/own-value.ts";

export interface KeptForm {
  readonly name: DraftName;
  /** Whether something was typed before. */
  readonly isThere: boolean;
  /** The request key under which it was sent, where its answer was not seen; null where it was not sent. */
  readonly sentAs: string | null;
  /** Of a field; undefined where nothing is kept, `""` where it was left empty. */
  text(field: string): string | undefined;
  /** Of a field with several; undefined where nothing is kept. */
  all(field: string): readonly string[] | undefined;
}

/**
 * @param what the form is for: `api_key`
 * @param edited the version that it changes: what was typed over another one is not brought back; null for a new record
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

/** Whether a box is ticked, which a form does not name where it is not. */
export function isTicked({ isThere, all }: KeptForm, box: string, otherwise: boolean): boolean {
  return isThere ? all(box)?.length === 1 : otherwise;
}

/**
 * Keeps what is in a form now.
 * @param sentAs the request key under which it is sent, so that it can be sent again after a reload; null where what
 * became of it is known
 */
export function keepForm(name: DraftName, form: HTMLFormElement, sentAs: string | null = null): void {
  const secret = new Set([...form.querySelectorAll<HTMLInputElement>("input[type=password]")].map((each) => each.name));
  const typed: Record<string, string[]> = {};
  for (const [field, value] of new FormData(form))
    if (typeof value === "string" && !secret.has(field)) typed[field] = [...(ownValue(typed, field) ?? []), value];
  keepDraft(name, { base: {}, tag: "", typed, reason: "", ...(sentAs === null ? {} : { sentAs }) });
}
