// Mouse and keyboard of a page: their events in order (UI Events, sections 3.5 and 3.7), and the browser's default
// actions.

import type { Element, HTMLElement, HTMLFormElement, HTMLInputElement, HTMLTextAreaElement } from "happy-dom";
import type { RenderedDocument } from "./document.ts";

type Modifier = "Alt" | "Control" | "ControlOrMeta" | "Meta" | "Shift";
type Field = HTMLInputElement | HTMLTextAreaElement;

/** Key names that differ from Playwright's. */
const KEYS: Readonly<Record<string, string>> = { Space: " " };
/** Accepted keys; others throw. */
const KNOWN_KEYS =
  /^(?:.|Escape|Enter|Tab|Backspace|Delete|Arrow(?:Up|Down|Left|Right)|Home|End|Page(?:Up|Down)|F\d+)$/u;

export class UserInput {
  private readonly currentDocument: () => RenderedDocument;
  private hovered: Element | null = null;
  /** Pressed keys. */
  private readonly held = new Set<string>();
  /** Value that the focused field had on focus: leaving the field with another value fires `change`. */
  private edited: { readonly field: Field; readonly before: string } | null = null;

  /** @param currentDocument returns the current document */
  constructor(currentDocument: () => RenderedDocument) {
    this.currentDocument = currentDocument;
  }

  click(element: Element, modifiers: readonly Modifier[] = [], detail = 1): void {
    this.moveTo(element);
    const held = modifiersOf(modifiers);
    const { overlays } = this.currentDocument();
    this.mouse(element, "pointerdown", held, detail);
    overlays.lightDismiss(element);
    if (this.mouse(element, "mousedown", held, detail)) this.moveFocus(element);
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
    const before = this.hovered?.isConnected === true ? this.hovered : null;
    if (before === element) return;
    this.hovered = element;
    if (before !== null) {
      for (const kind of ["pointer", "mouse"]) this.mouse(before, `${kind}out`, { relatedTarget: element });
      for (const left of ancestors(before).filter((ancestor) => !ancestor.contains(element)))
        for (const kind of ["pointer", "mouse"]) this.mouse(left, `${kind}leave`, { bubbles: false });
    }
    for (const kind of ["pointer", "mouse"]) this.mouse(element, `${kind}over`, { relatedTarget: before });
    for (const entered of ancestors(element).filter((ancestor) => before === null || !ancestor.contains(before)))
      for (const kind of ["pointer", "mouse"]) this.mouse(entered, `${kind}enter`, { bubbles: false });
    for (const kind of ["pointer", "mouse"]) this.mouse(element, `${kind}move`);
  }

  /** @param combination `Control+a`, `Enter`, `?` */
  press(combination: string): void {
    const parts = combination === "+" ? ["+"] : combination.split(/(?<=.)\+(?=.)/);
    const key = keyOf(parts.at(-1) ?? "");
    const held = modifiersOf(parts.slice(0, -1) as Modifier[]);
    const target = this.focused();
    const isAccepted = this.keyboard(target, "keydown", key, held);
    if (isAccepted) this.runDefaultAction(this.focused(), key, held);
    const active = this.focused();
    const isReleased = this.keyboard(active, "keyup", key, held);
    if (isAccepted && isReleased && key === " " && active === target && isPressedBySpace(target))
      this.fireClick(target);
  }

  /** Presses a key without releasing it; pressing it again is an auto-repeat. */
  down(keyName: string): void {
    const key = keyOf(keyName);
    const target = this.focused();
    if (this.keyboard(target, "keydown", key, { repeat: this.held.has(key) }))
      this.runDefaultAction(this.focused(), key, {});
    this.held.add(key);
  }

  up(keyName: string): void {
    const key = keyOf(keyName);
    this.held.delete(key);
    this.keyboard(this.focused(), "keyup", key, {});
  }

  type(text: string): void {
    for (const character of text) this.press(character === "\n" ? "Enter" : character);
  }

  /** Replaces the selection with a string at once. */
  insert(text: string): void {
    const field = this.focused();
    if (!isField(field)) return;
    this.trackField(field);
    const [start, end] = selectionOf(field);
    this.change(field, start, end, text, text === "" ? "deleteContentBackward" : "insertText");
  }

  /** The element that receives keys. An element that can no longer have the focus loses it. */
  private focused(): HTMLElement {
    const { document, overlays } = this.currentDocument();
    const active = document.activeElement as HTMLElement | null;
    if (active !== null && active !== document.body && overlays.canFocus(active)) return active;
    active?.blur();
    return document.body as unknown as HTMLElement;
  }

  private moveFocus(element: Element): void {
    const { document, overlays } = this.currentDocument();
    const next = overlays.focusableAt(element);
    if (next === document.activeElement) return;
    if (next !== null) next.focus();
    else (document.activeElement as HTMLElement | null)?.blur();
  }

  private runDefaultAction(target: HTMLElement, key: string, held: KeyModifiers): void {
    const isUnmodified = held.ctrlKey !== true && held.metaKey !== true && held.altKey !== true;
    if (key === "Escape") this.currentDocument().overlays.closeTopmost();
    else if (key === "Enter" && isUnmodified) this.enter(target);
    else if (key === "Tab") throw new Error("Tab navigation is not supported in page tests.");
    else if (isField(target)) this.edit(target, key, held, isUnmodified);
    else if (/^Arrow|^Home$|^End$/.test(key) && target.matches("select, input"))
      throw new Error(`${key} on a ${target.tagName} is not supported in page tests.`);
  }

  private enter(target: HTMLElement): void {
    if (target.tagName === "TEXTAREA") return this.edit(target as HTMLTextAreaElement, "\n", {}, true);
    if (target.matches("a[href], button, summary, input[type=submit], input[type=button]"))
      return this.fireClick(target);
    if (!target.matches("input")) return;
    this.fireChange();
    const { form } = target as HTMLInputElement;
    if (form !== null) submitBy(form, (button) => this.fireClick(button));
  }

  private edit(field: Field, key: string, held: KeyModifiers, isUnmodified: boolean): void {
    this.trackField(field);
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
    else if (isUnmodified && [...key].length === 1) this.change(field, start, end, key, "insertText");
  }

  private change(field: Field, start: number, end: number, text: string, inputType: string): void {
    const { InputEvent } = this.currentDocument().window;
    if (field.readOnly) return;
    const init = { bubbles: true, composed: true, inputType, ...(text === "" ? {} : { data: text }) };
    if (!field.dispatchEvent(new InputEvent("beforeinput", { ...init, cancelable: true }))) return;
    const before = field.value;
    field.value = before.slice(0, start) + text + before.slice(end);
    if (field.value === before && text === "") return;
    caret(field, start + text.length);
    field.dispatchEvent(new InputEvent("input", init));
  }

  private trackField(field: Field): void {
    if (this.edited?.field === field) return;
    this.edited = { field, before: field.value };
    const onBlur = () => {
      this.fireChange();
      this.edited = null;
      field.removeEventListener("blur", onBlur);
    };
    field.addEventListener("blur", onBlur);
  }

  /** Fires the events of a changed field, once per change. */
  private fireChange(): void {
    const { edited } = this;
    if (edited === null || edited.field.value === edited.before) return;
    this.edited = { field: edited.field, before: edited.field.value };
    edited.field.dispatchEvent(new (this.currentDocument().window.Event)("change", { bubbles: true }));
  }

  private fireClick(element: Element): void {
    this.mouse(element, "click", {}, 0);
  }

  private mouse(element: Element, type: string, init: object = {}, detail = 0): boolean {
    const { MouseEvent, PointerEvent } = this.currentDocument().window;
    const kind = type.startsWith("pointer") ? PointerEvent : MouseEvent;
    const isBubbling = !/(?:enter|leave)$/.test(type);
    return element.dispatchEvent(
      new kind(type, { bubbles: isBubbling, cancelable: isBubbling, composed: true, button: 0, detail, ...init }),
    );
  }

  private keyboard(element: HTMLElement, type: string, key: string, held: KeyModifiers): boolean {
    const { KeyboardEvent } = this.currentDocument().window;
    return element.dispatchEvent(
      new KeyboardEvent(type, { key, code: codeOf(key), bubbles: true, cancelable: true, composed: true, ...held }),
    );
  }
}

/** @throws Error for keys that no page handles */
function keyOf(keyName: string): string {
  const key = KEYS[keyName] ?? keyName;
  if (!KNOWN_KEYS.test(key)) throw new Error(`key ${keyName} is not supported in page tests.`);
  return key;
}

interface KeyModifiers {
  readonly repeat?: boolean;
  readonly ctrlKey?: boolean;
  readonly metaKey?: boolean;
  readonly altKey?: boolean;
  readonly shiftKey?: boolean;
}

function modifiersOf(names: readonly Modifier[]): KeyModifiers {
  const has = (...any: Modifier[]) => any.some((name) => names.includes(name));
  return { ctrlKey: has("Control", "ControlOrMeta"), metaKey: has("Meta"), altKey: has("Alt"), shiftKey: has("Shift") };
}

function ancestors(element: Element): Element[] {
  const all: Element[] = [];
  for (let node: Element | null = element; node !== null; node = node.parentElement) all.unshift(node);
  return all;
}

function isField(element: Element): element is Field {
  const isTextType = (type: string) => /^(?:|text|search|email|password|number|tel|url)$/.test(type);
  return (
    element.tagName === "TEXTAREA" || (element.tagName === "INPUT" && isTextType((element as HTMLInputElement).type))
  );
}

function isPressedBySpace(element: Element): boolean {
  return element.matches("button, summary, input[type=checkbox], input[type=radio], input[type=submit]");
}

/** Types such as `number` have no selection API: all text counts as selected, as after `select()`. */
function selectionOf(field: Field): [number, number] {
  return [field.selectionStart ?? 0, field.selectionEnd ?? field.value.length];
}

function caret(field: Field, position: number): void {
  if (field.selectionStart === null) return;
  const clamped = Math.min(Math.max(0, position), field.value.length);
  field.setSelectionRange(clamped, clamped);
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
