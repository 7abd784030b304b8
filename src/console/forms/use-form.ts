// State of a form: input, draft, errors by field, and its write. Secrets are typed apart, so that no draft has them.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { isUnsure, type Refusal } from "../api/refusal.ts";
import { me } from "../session/me.ts";
import { ownValue } from "../text/own-value.ts";
import { type Draft, type DraftName, keepDraft, keptDraft } from "./drafts.ts";
import type { TypedFields } from "./edits.ts";
import { reasonHeader } from "./reason.ts";
import { type KeyHeader, type Sent, useSending } from "./sending.ts";

/** Headers of a write: its request key, and the reason. */
export interface Headers {
  readonly header: KeyHeader;
  readonly headers: Readonly<Record<string, string>>;
}

export interface FormState extends Omit<Sent, "send"> {
  /** Begins the element ids of its fields. */
  readonly id: string;
  readonly typed: TypedFields;
  readonly reason: string;
  /** Whether it began with a draft. */
  readonly isRestored: boolean;
  /** Whether a write of unknown outcome was restored without its secrets, which must be typed again. */
  readonly isLacking: boolean;
  readonly isTried: boolean;
  readonly version: Version;
  /** Trimmed text of a field. */
  text(name: string): string;
  list(name: string): readonly string[];
  secret(name: string): string;
  type(changes: TypedFields): void;
  typeSecret(name: string, text: string): void;
  giveReason(reason: string): void;
  /** Registers a shown field. @param pointer in the body @param isFinal whether more input cannot correct it @returns its
   * error: at once if final, otherwise after the first submission
   */
  check(name: string, pointer: string, wrong: string | null, isFinal?: boolean): string | null;
  /** Ends that. */
  leave(name: string): void;
  /** Whether the problem is shown at fields. */
  isSaidAtFields(): boolean;
  /** Continues from a later version of the record. */
  rebase(version: Version): void;
  /** Removes the draft. */
  forget(): void;
  /** Begins again, without a draft. @param changes input that is still shown */
  reset(changes?: TypedFields): void;
  /** Submits the form, unless a field is wrong. @param run returns false if the form stays open, throws Refusal */
  submit(event: Event, run: (headers: Headers) => Promise<unknown>): void;
}

/** The record that is edited, with its entity tag. */
type Version = Pick<Draft, "base" | "tag">;

interface FormOptions {
  readonly id?: string;
  /** Initial input. */
  readonly begun?: TypedFields;
  /** Omitted if input is not kept. */
  readonly draft?: DraftName;
  /** Kept in the draft. */
  readonly version?: Version;
  /** Whether an entity tag guards the write: then a different one can follow one of unknown outcome. */
  readonly isGuarded?: boolean;
}

const NO_VERSION: Version = { base: {}, tag: "" };

/**
 * Name of a form's draft.
 * @param what purpose of the form: `api_key`
 * @param edited version being changed; a draft for another version is not restored; null for a new record
 */
export function draftOf(what: string, edited: { readonly id: string; readonly updated_at: string } | null): DraftName {
  const id = edited === null ? "new" : `${edited.id}@${edited.updated_at}`;
  return { userId: me.peek()?.id ?? "", kind: `form ${what}`, id };
}

export function useForm({ begun = {}, draft: name, isGuarded = false, ...options }: FormOptions = {}): FormState {
  const [kept] = useState(() => (name === undefined ? null : keptDraft(name)));
  const [typed, setTyped] = useState<TypedFields>({ ...begun, ...kept?.typed });
  const [reason, setReason] = useState(kept?.reason ?? "");
  const [secrets, setSecrets] = useState<Readonly<Record<string, string>>>({});
  /** Number of submissions: errors found here are shown after the first. */
  const [tries, setTries] = useState(0);
  const [isRestored, setRestored] = useState(kept !== null);
  const [isLacking, setLacking] = useState(false);
  const [version, setVersion] = useState<Version>(kept ?? options.version ?? NO_VERSION);
  const { send, ...sending } = useSending(kept?.sentAs);
  const ownId = useId();
  const { id = ownId } = options;
  const sentAs = useRef(kept?.sentAs ?? null);
  const fields = useRef(new Map<string, { readonly pointer: string; readonly wrong: string | null }>());
  const element = useRef<HTMLFormElement | null>(null);
  const left = useRef<Element | null>(null);
  const sent = useRef<unknown>(null);
  const { isBusy, problem, isLost } = sending;
  const latest = useRef({ base: version.base, tag: version.tag, typed, reason });
  const keep = (changes: Partial<Draft> = {}) => {
    latest.current = { ...latest.current, ...changes };
    const { current: key } = sentAs;
    if (name === undefined) return;
    const { typed: now, reason: said } = latest.current;
    const isBlank = key === null && said === "" && JSON.stringify(now) === JSON.stringify(begun);
    keepDraft(name, isBlank ? null : { ...latest.current, ...(key === null ? {} : { sentAs: key }) });
  };
  const forget = () => {
    if (name !== undefined) keepDraft(name, null);
  };
  useLayoutEffect(() => {
    setLacking(isLost && document.querySelector(`[id^="${id}-"][type=password]`) !== null);
  }, []);
  // Fields are inert during a write. Afterwards, focus the first invalid field, else the previous one.
  useLayoutEffect(() => {
    if (isBusy || left.current === null) return;
    const wrong = element.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    const isIdle = document.activeElement === null || document.activeElement === document.body;
    if (wrong != null) (wrong.querySelector("input") ?? wrong).focus();
    else if (isIdle && left.current instanceof HTMLElement) left.current.focus();
    left.current = null;
  });
  const clear = (field: string) => {
    const { pointer = "" } = fields.current.get(field) ?? {};
    if (pointer !== "" && saidAt(problem, pointer) !== null) sending.refuse(null);
  };
  return {
    ...sending,
    id,
    typed,
    reason,
    isRestored,
    isLacking,
    isTried: tries > 0,
    version,
    text: (field) => String(ownValue(typed, field) ?? "").trim(),
    list: (field) => (ownValue(typed, field) ?? []) as readonly string[],
    secret: (field) => ownValue(secrets, field) ?? "",
    type: (changes) => {
      const next = { ...typed, ...changes };
      setTyped(next);
      keep({ typed: next });
      for (const field of Object.keys(changes)) clear(field);
    },
    typeSecret: (field, text) => {
      setSecrets({ ...secrets, [field]: text });
      clear(field);
    },
    giveReason: (said) => {
      setReason(said);
      keep({ reason: said });
    },
    rebase: ({ base, tag }) => {
      setVersion({ base, tag });
      keep({ base, tag });
    },
    check: (field, pointer, wrong, isFinal = false) => {
      fields.current.set(field, { pointer, wrong });
      return saidAt(problem, pointer) ?? (tries > 0 || isFinal ? wrong : null);
    },
    leave: (field) => void fields.current.delete(field),
    isSaidAtFields: () => {
      const pointers = [...fields.current.values()].map(({ pointer }) => pointer);
      const { issues = [] } = problem ?? {};
      return (
        issues.length > 0 && issues.every((each) => pointers.some((at) => saidAt({ issues: [each] }, at) !== null))
      );
    },
    forget,
    reset: (changes) => {
      setTyped({ ...begun, ...changes });
      setRestored(false);
      latest.current = { ...latest.current, typed: begun };
      forget();
    },
    submit: (event, run) => {
      event.preventDefault();
      element.current = event.currentTarget as HTMLFormElement;
      left.current = document.activeElement;
      setTries(tries + 1);
      if ([...fields.current.values()].some(({ wrong }) => wrong !== null)) return;
      setLacking(false);
      // A write of unknown outcome is repeated with its key, whatever is typed.
      if (!isLost || isGuarded) sent.current = [version.tag, typed, reason];
      void send(sent.current, async (header) => {
        // Lets a reload resume an unanswered request.
        sentAs.current = isGuarded ? null : header["Idempotency-Key"];
        keep();
        let isOpen: boolean;
        try {
          isOpen = (await run({ header, headers: reasonHeader(reason) })) === false;
        } catch (cause) {
          if (isUnsure(asRefusal(cause))) throw cause;
          sentAs.current = null;
          keep();
          throw cause;
        }
        sentAs.current = null;
        if (isOpen) keep();
        else forget();
      });
    },
  };
}

/** Error message of the API for a field. @param pointer `/name` */
export function saidAt(problem: Pick<Refusal, "issues"> | null, pointer: string): string | null {
  const said = problem?.issues.filter(({ path }) => path === pointer || path.startsWith(`${pointer}/`)) ?? [];
  return said.length === 0 ? null : said.map(({ message }) => message).join(" ");
}
