// Mouse and keyboard of a page: their events in order (UI Events, sections 3.5 and 3.7), and the browser's default
// actions.

import type { Element, HTMLElement, HTMLFormElement, HTMLInputElement, HTMLTextAreaElement } from "happy-dom";
import type { ShownDocument } from "./document.ts";

type Modifier = "Alt" | "Control" | "ControlOrMeta" | "Meta" | "Shift";
type Field = HTMLInputElement | HTMLTextAreaElement;

/** Key names that differ from Playwright's. */
const KEYS: Readonly<Record<string, string>> = { Space: " " };
/** Accepted keys; others throw. */
const KNOWN_KEYS =
  /^(?:.|Escape|Enter|Tab|Backspace|Delete|Arrow(?:Up|Down|Left|Right)|Home|End|Page(?:Up|Down)|F\d+)$/u;

export class Hands {
  private readonly of: () => ShownDocument;
  private pointed: Element | null = null;
  /** Pressed keys. */
  private readonly held = new Set<string>();
  /** Value of the focused field at focus: leaving it with another value fires `change`. */
  private typed: { readonly field: Field; readonly before: string } | null = null;

  /** @param shown returns the current document */
  constructor(shown: () => ShownDocument) {
    this.of = shown;
  }

  click(element: Element, modifiers: readonly Modifier[] = [], detail = 1): void {
    this.moveTo(element);
    const held = modifiersOf(modifiers);
    const { overlays } = this.of();
    this.mouse(element, "pointerdown", held, detail);
    overlays.dismissAround(element);
    if (this.mouse(element, "mousedown", held, detail)) this.focusBy(element);
    this.mouse(element, "pointerup", held, detail);
    this.mouse(element, "mouseup", held, detail);
    if (element.isConnected) this.mouse(element, "click", held, detail);
  }

  doubleClick(element: Element): void {
    this.click(element);
    if (!element.isConnected) return;
    this.click(element, [], 2);
    this.mouse(element, "dblclick", {}, 2);
  }

  moveTo(element: Element): void {
    const before = this.pointed?.isConnected === true ? this.pointed : null;
    if (before === element) return;
    this.pointed = element;
    if (before !== null) {
      for (const kind of ["pointer", "mouse"]) this.mouse(before, `${kind}out`, { relatedTarget: element });
      for (const each of around(before).filter((one) => !one.contains(element)))
        for (const kind of ["pointer", "mouse"]) this.mouse(each, `${kind}leave`, { bubbles: false });
    }
    for (const kind of ["pointer", "mouse"]) this.mouse(element, `${kind}over`, { relatedTarget: before });
    for (const each of around(element).filter((one) => before === null || !one.contains(before)))
      for (const kind of ["pointer", "mouse"]) this.mouse(each, `${kind}enter`, { bubbles: false });
    for (const kind of ["pointer", "mouse"]) this.mouse(element, `${kind}move`);
  }

  /** @param combination `Control+a`, `Enter`, `?` */
  press(combination: string): void {
    const parts = combination === "+" ? ["+"] : combination.split(/(?<=.)\+(?=.)/);
    const key = keyOf(parts.at(-1) ?? "");
    const held = modifiersOf(parts.slice(0, -1) as Modifier[]);
    const target = this.focused();
    const isTaken = this.keyboard(target, "keydown", key, held);
    if (isTaken) this.act(this.focused(), key, held);
    const now = this.focused();
    const isLet = this.keyboard(now, "keyup", key, held);
    if (isTaken && isLet && key === " " && now === target && isPressedBySpace(target)) this.clicked(target);
  }

  /** Presses a key without releasing it; pressing it again is an auto-repeat. */
  down(named: string): void {
    const key = keyOf(named);
    const target = this.focused();
    if (this.keyboard(target, "keydown", key, { repeat: this.held.has(key) })) this.act(this.focused(), key, {});
    this.held.add(key);
  }

  up(named: string): void {
    const key = keyOf(named);
    this.held.delete(key);
    this.keyboard(this.focused(), "keyup", key, {});
  }

  type(text: string): void {
    for (const sign of text) this.press(sign === "\n" ? "Enter" : sign);
  }

  /** Replaces the selection with a text at once. */
  insert(text: string): void {
    const field = this.focused();
    if (!isField(field)) return;
    this.begin(field);
    const [start, end] = selectionOf(field);
    this.change(field, start, end, text, text === "" ? "deleteContentBackward" : "insertText");
  }

  /** The element that receives keys: one that no longer can has lost the focus. */
  private focused(): HTMLElement {
    const { document, overlays } = this.of();
    const active = document.activeElement as HTMLElement | null;
    if (active !== null && active !== document.body && overlays.canFocus(active)) return active;
    active?.blur();
    return document.body as unknown as HTMLElement;
  }

  private focusBy(element: Element): void {
    const { document, overlays } = this.of();
    const next = overlays.focusableAt(element);
    if (next === document.activeElement) return;
    if (next !== null) next.focus();
    else (document.activeElement as HTMLElement | null)?.blur();
  }

  private act(target: HTMLElement, key: string, held: Held): void {
    const isAlone = held.ctrlKey !== true && held.metaKey !== true && held.altKey !== true;
    if (key === "Escape") this.of().overlays.closeTopmost();
    else if (key === "Enter" && isAlone) this.enter(target);
    else if (key === "Tab") throw new Error("where Tab leads to is not for the pages of tests.");
    else if (isField(target)) this.edit(target, key, held, isAlone);
    else if (/^Arrow|^Home$|^End$/.test(key) && target.matches("select, input"))
      throw new Error(`what ${key} does to a ${target.tagName} is not for the pages of tests.`);
  }

  private enter(target: HTMLElement): void {
    if (target.tagName === "TEXTAREA") return this.edit(target as HTMLTextAreaElement, "\n", {}, true);
    if (target.matches("a[href], button, summary, input[type=submit], input[type=button]")) return this.clicked(target);
    if (!target.matches("input")) return;
    this.told();
    const { form } = target as HTMLInputElement;
    if (form !== null) submitBy(form, (button) => this.clicked(button));
  }

  private edit(field: Field, key: string, held: Held, isAlone: boolean): void {
    this.begin(field);
    const [start, end] = selectionOf(field);
    const { length } = field.value;
    if (held.ctrlKey === true && key === "a") field.select();
    else if (key === "Home") field.setSelectionRange(0, 0);
    else if (key === "End") field.setSelectionRange(length, length);
    else if (key === "ArrowLeft") caret(field, start === end ? start - 1 : start);
    else if (key === "ArrowRight") caret(field, start === end ? end + 1 : end);
    else if (key === "Backspace")
      this.change(field, start === end ? Math.max(0, start - 1) : start, end, "", "deleteContentBackward");
    else if (key === "Delete") this.change(field, start, start === end ? end + 1 : end, "", "deleteContentForward");
    else if (isAlone && [...key].length === 1) this.change(field, start, end, key, "insertText");
  }

  private change(field: Field, start: number, end: number, text: string, inputType: string): void {
    const { InputEvent } = this.of().window;
    if (field.readOnly) return;
    const about = { bubbles: true, composed: true, inputType, ...(text === "" ? {} : { data: text }) };
    if (!field.dispatchEvent(new InputEvent("beforeinput", { ...about, cancelable: true }))) return;
    const before = field.value;
    field.value = before.slice(0, start) + text + before.slice(end);
    if (field.value === before && text === "") return;
    caret(field, start + text.length);
    field.dispatchEvent(new InputEvent("input", about));
  }

  private begin(field: Field): void {
    if (this.typed?.field === field) return;
    this.typed = { field, before: field.value };
    const left = () => {
      this.told();
      this.typed = null;
      field.removeEventListener("blur", left);
    };
    field.addEventListener("blur", left);
  }

  /** Fires the events of a changed field, once per change. */
  private told(): void {
    const { typed } = this;
    if (typed === null || typed.field.value === typed.before) return;
    this.typed = { field: typed.field, before: typed.field.value };
    typed.field.dispatchEvent(new (this.of().window.Event)("change", { bubbles: true }));
  }

  private clicked(element: Element): void {
    this.mouse(element, "click", {}, 0);
  }

  private mouse(element: Element, type: string, about: object = {}, detail = 0): boolean {
    const { MouseEvent, PointerEvent } = this.of().window;
    const kind = type.startsWith("pointer") ? PointerEvent : MouseEvent;
    const isWithin = !/(?:enter|leave)$/.test(type);
    return element.dispatchEvent(
      new kind(type, { bubbles: isWithin, cancelable: isWithin, composed: true, button: 0, detail, ...about }),
    );
  }

  private keyboard(element: HTMLElement, type: string, key: string, held: Held): boolean {
    const { KeyboardEvent } = this.of().window;
    return element.dispatchEvent(
      new KeyboardEvent(type, { key, code: codeOf(key), bubbles: true, cancelable: true, composed: true, ...held }),
    );
  }
}

/** @throws Error for keys that no page handles */
function keyOf(named: string): string {
  const key = KEYS[named] ?? named;
  if (!KNOWN_KEYS.test(key)) throw new Error(`the pages of tests know no key ${named}.`);
  return key;
}

interface Held {
  readonly repeat?: boolean;
  readonly ctrlKey?: boolean;
  readonly metaKey?: boolean;
  readonly altKey?: boolean;
  readonly shiftKey?: boolean;
}

function modifiersOf(names: readonly Modifier[]): Held {
  const has = (...any: Modifier[]) => any.some((name) => names.includes(name));
  return { ctrlKey: has("Control", "ControlOrMeta"), metaKey: has("Meta"), altKey: has("Alt"), shiftKey: has("Shift") };
}

function around(element: Element): Element[] {
  const all: Element[] = [];
  for (let each: Element | null = element; each !== null; each = each.parentElement) all.unshift(each);
  return all;
}

function isField(element: Element): element is Field {
  const isTyped = (type: string) => /^(?:|text|search|email|password|number|tel|url)$/.test(type);
  return element.tagName === "TEXTAREA" || (element.tagName === "INPUT" && isTyped((element as HTMLInputElement).type));
}

function isPressedBySpace(element: Element): boolean {
  return element.matches("button, summary, input[type=checkbox], input[type=radio], input[type=submit]");
}

/** Types such as `number` have no selection API: all text counts as selected, as after `select()`. */
function selectionOf(field: Field): [number, number] {
  return [field.selectionStart ?? 0, field.selectionEnd ?? field.value.length];
}

function caret(field: Field, at: number): void {
  if (field.selectionStart === null) return;
  const within = Math.min(Math.max(0, at), field.value.length);
  field.setSelectionRange(within, within);
}

/** Implicit submission (WHATWG HTML, section 4.10.21.2). */
function submitBy(form: HTMLFormElement, click: (button: Element) => void): void {
  const button = form.querySelector("button:not([type]), button[type=submit], input[type=submit]");
  const isDisabled = (button as (Element & { readonly disabled?: boolean }) | null)?.disabled === true;
  if (button !== null) {
    if (!isDisabled) click(button);
  } else if (form.querySelectorAll("input").length === 1) form.requestSubmit();
}

function codeOf(key: string): string {
  if (/^[a-z]$/i.test(key)) return `Key${key.toUpperCase()}`;
  if (/^\d$/.test(key)) return `Digit${key}`;
  return key === " " ? "Space" : key;
}
