// Form state: input, draft, errors by field, and the write. Secrets are separate, so that drafts never contain them.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { isOutcomeUnknown, type Refusal } from "../api/refusal.ts";
import { me } from "../session/me.ts";
import { ownValue } from "../text/own-value.ts";
import { type Draft, type DraftName, loadDraft, storeDraft } from "./drafts.ts";
import type { TypedFields } from "./edits.ts";
import { reasonHeader } from "./reason.ts";
import { type KeyHeader, useWrite, type WriteState } from "./use-write.ts";

/** Headers of a write: idempotency key and reason. */
export interface Headers {
  readonly header: KeyHeader;
  readonly headers: Readonly<Record<string, string>>;
}

export interface FormState extends Omit<WriteState, "send"> {
  /** Prefix of the element ids of its fields. */
  readonly id: string;
  readonly typed: TypedFields;
  readonly reason: string;
  /** Whether the input was restored from a draft. */
  readonly isRestored: boolean;
  /** Whether a write of unknown outcome was restored without its secrets, which must be entered again. */
  readonly needsSecrets: boolean;
  readonly isSubmitted: boolean;
  readonly version: Version;
  /** Trimmed text of a field. */
  text(name: string): string;
  list(name: string): readonly string[];
  secret(name: string): string;
  type(changes: TypedFields): void;
  typeSecret(name: string, text: string): void;
  typeReason(reason: string): void;
  /**
   * Registers a shown field.
   * @param pointer JSON pointer of the value in the request body
   * @param isFinal whether more typing cannot fix the error
   * @returns the error to show: immediately if final, otherwise after the first submission
   */
  check(name: string, pointer: string, error: string | null, isFinal?: boolean): string | null;
  /** Ends the registration of a field. */
  unregister(name: string): void;
  /** Whether fields show all issues of the problem. */
  isShownAtFields(): boolean;
  /** Continues the edit from a later version of the record. */
  rebase(version: Version): void;
  /** Removes the draft. */
  forget(): void;
  /** Starts over without a draft. @param changes input that is still shown */
  reset(changes?: TypedFields): void;
  /** Submits the form, unless a field is invalid. @param run returns false if the form stays open, throws Refusal */
  submit(event: Event, run: (headers: Headers) => Promise<unknown>): void;
}

/** The record being edited, with its entity tag. */
type Version = Pick<Draft, "base" | "tag">;

interface FormOptions {
  readonly id?: string;
  /** Initial input. */
  readonly initial?: TypedFields;
  /** Name of the draft; omitted if input is not stored. */
  readonly draft?: DraftName;
  /** Version being edited, stored in the draft. */
  readonly version?: Version;
  /** Whether an entity tag guards the write, so that an edited one may follow a write of unknown outcome. */
  readonly isGuarded?: boolean;
}

const NO_VERSION: Version = { base: {}, tag: "" };

/**
 * Name of a form's draft.
 * @param purpose purpose of the form, such as `api_key`
 * @param edited version being edited (a draft for another version is not restored); null for a new record
 */
export function draftOf(
  purpose: string,
  edited: { readonly id: string; readonly updated_at: string } | null,
): DraftName {
  const id = edited === null ? "new" : `${edited.id}@${edited.updated_at}`;
  return { userId: me.peek()?.id ?? "", kind: `form ${purpose}`, id };
}

export function useForm({ initial = {}, draft: name, isGuarded = false, ...options }: FormOptions = {}): FormState {
  const [stored] = useState(() => (name === undefined ? null : loadDraft(name)));
  const [typed, setTyped] = useState<TypedFields>({ ...initial, ...stored?.typed });
  const [reason, setReason] = useState(stored?.reason ?? "");
  const [secrets, setSecrets] = useState<Readonly<Record<string, string>>>({});
  /** Number of submissions. Errors found in the browser are shown after the first. */
  const [submissions, setSubmissions] = useState(0);
  const [isRestored, setRestored] = useState(stored !== null);
  const [needsSecrets, setNeedsSecrets] = useState(false);
  const [version, setVersion] = useState<Version>(stored ?? options.version ?? NO_VERSION);
  const { send, ...sending } = useWrite(stored?.sentAs);
  const ownId = useId();
  const { id = ownId } = options;
  const sentAs = useRef(stored?.sentAs ?? null);
  const fields = useRef(new Map<string, { readonly pointer: string; readonly error: string | null }>());
  const element = useRef<HTMLFormElement | null>(null);
  const focused = useRef<Element | null>(null);
  const sent = useRef<unknown>(null);
  const { isBusy, problem, isLost } = sending;
  const latest = useRef({ base: version.base, tag: version.tag, typed, reason });
  const persist = (changes: Partial<Draft> = {}) => {
    latest.current = { ...latest.current, ...changes };
    const { current: key } = sentAs;
    if (name === undefined) return;
    const { typed: currentInput, reason: newReason } = latest.current;
    const isBlank = key === null && newReason === "" && JSON.stringify(currentInput) === JSON.stringify(initial);
    storeDraft(name, isBlank ? null : { ...latest.current, ...(key === null ? {} : { sentAs: key }) });
  };
  const forget = () => {
    if (name !== undefined) storeDraft(name, null);
  };
  useLayoutEffect(() => {
    setNeedsSecrets(isLost && document.querySelector(`[id^="${id}-"][type=password]`) !== null);
  }, []);
  // Fields are inert during a write. Afterwards, focus the first invalid field, or else the previously focused one.
  useLayoutEffect(() => {
    if (isBusy || focused.current === null) return;
    const error = element.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    const hasNoFocus = document.activeElement === null || document.activeElement === document.body;
    if (error != null) (error.querySelector("input") ?? error).focus();
    else if (hasNoFocus && focused.current instanceof HTMLElement) focused.current.focus();
    focused.current = null;
  });
  const clear = (field: string) => {
    const { pointer = "" } = fields.current.get(field) ?? {};
    if (pointer !== "" && errorAt(problem, pointer) !== null) sending.refuse(null);
  };
  return {
    ...sending,
    id,
    typed,
    reason,
    isRestored,
    needsSecrets,
    isSubmitted: submissions > 0,
    version,
    text: (field) => String(ownValue(typed, field) ?? "").trim(),
    list: (field) => (ownValue(typed, field) ?? []) as readonly string[],
    secret: (field) => ownValue(secrets, field) ?? "",
    type: (changes) => {
      const next = { ...typed, ...changes };
      setTyped(next);
      persist({ typed: next });
      for (const field of Object.keys(changes)) clear(field);
    },
    typeSecret: (field, text) => {
      setSecrets({ ...secrets, [field]: text });
      clear(field);
    },
    typeReason: (newReason) => {
      setReason(newReason);
      persist({ reason: newReason });
    },
    rebase: ({ base, tag }) => {
      setVersion({ base, tag });
      persist({ base, tag });
    },
    check: (field, pointer, error, isFinal = false) => {
      fields.current.set(field, { pointer, error });
      return errorAt(problem, pointer) ?? (submissions > 0 || isFinal ? error : null);
    },
    unregister: (field) => void fields.current.delete(field),
    isShownAtFields: () => {
      const pointers = [...fields.current.values()].map(({ pointer }) => pointer);
      const { issues = [] } = problem ?? {};
      return (
        issues.length > 0 &&
        issues.every((issue) => pointers.some((pointer) => errorAt({ issues: [issue] }, pointer) !== null))
      );
    },
    forget,
    reset: (changes) => {
      setTyped({ ...initial, ...changes });
      setRestored(false);
      latest.current = { ...latest.current, typed: initial };
      forget();
    },
    submit: (event, run) => {
      event.preventDefault();
      element.current = event.currentTarget as HTMLFormElement;
      focused.current = document.activeElement;
      setSubmissions(submissions + 1);
      if ([...fields.current.values()].some(({ error }) => error !== null)) return;
      setNeedsSecrets(false);
      // A write of unknown outcome is repeated with its key, regardless of the input.
      if (!isLost || isGuarded) sent.current = [version.tag, typed, reason];
      void send(sent.current, async (header) => {
        // Lets a reload resume a pending request.
        sentAs.current = isGuarded ? null : header["Idempotency-Key"];
        persist();
        let isOpen: boolean;
        try {
          isOpen = (await run({ header, headers: reasonHeader(reason) })) === false;
        } catch (cause) {
          if (isOutcomeUnknown(asRefusal(cause))) throw cause;
          sentAs.current = null;
          persist();
          throw cause;
        }
        sentAs.current = null;
        if (isOpen) persist();
        else forget();
      });
    },
  };
}

/** API error message for a field. @param pointer JSON pointer of the field, such as `/name` */
export function errorAt(problem: Pick<Refusal, "issues"> | null, pointer: string): string | null {
  const issues = problem?.issues.filter(({ path }) => path === pointer || path.startsWith(`${pointer}/`)) ?? [];
  return issues.length === 0 ? null : issues.map(({ message }) => message).join(" ");
}
