// Dialogs, popovers and the focus of a document as in browsers (WHATWG HTML, sections 4.11.4, 6.6 and 6.12); happy-dom
// only sets attributes. It patches classes shared by all windows: each looks up the state of its document.

import { type Document, type Element, Event, HTMLDialogElement, HTMLElement, type Window } from "happy-dom";
import { MODAL_OPEN, POPOVER_OPEN } from "./styles.ts";

const FOCUSABLE =
  'a[href], button, input:not([type="hidden"]), select, textarea, summary, iframe, [tabindex], [contenteditable]';

const documents = new WeakMap<Document, Overlays>();
const overlaysOf = ({ ownerDocument }: Element) => documents.get(ownerDocument);

/** Open overlays of a document, and its focusable elements. */
export class Overlays {
  private readonly window: Window;
  private readonly isShown: (element: Element) => boolean;
  /** In opening order. */
  private readonly open: HTMLElement[] = [];
  private readonly focusedBefore = new WeakMap<HTMLElement, HTMLElement>();

  /** @param isShown whether an element is rendered */
  constructor(window: Window, isShown: (element: Element) => boolean) {
    patchOnce(window);
    this.window = window;
    this.isShown = isShown;
    documents.set(window.document, this);
    window.addEventListener("click", (event) => this.invoke(event));
  }

  /** Whether an element ignores clicks and keys: `inert`, or behind a modal dialog. */
  isInert(element: Element): boolean {
    if (element.closest("[inert]") !== null) return true;
    const modal = this.connected().findLast((each) => each.hasAttribute(MODAL_OPEN));
    return modal !== undefined && !modal.contains(element);
  }

  canFocus(element: HTMLElement): boolean {
    return (
      element.matches(FOCUSABLE) &&
      !(element as HTMLElement & { readonly disabled?: boolean }).disabled &&
      element.closest("fieldset[disabled]") === null &&
      this.isShown(element) &&
      !this.isInert(element)
    );
  }

  /** Element that receives the focus from a click on another one; null if the click removes it. */
  focusableAt(element: Element): HTMLElement | null {
    for (let each: Element | null = element; each !== null; each = each.parentElement)
      if (this.canFocus(each as HTMLElement)) return each as HTMLElement;
    return null;
  }

  /** Closes the popovers that a click elsewhere dismisses. */
  dismissAround(element: Element): void {
    const invoker = element.closest("button[popovertarget]");
    const invoked = invoker === null ? null : this.targetOf(invoker);
    for (const each of this.connected().reverse())
      if (each.hasAttribute(POPOVER_OPEN) && !each.contains(element) && each !== invoked) this.hide(each);
  }

  /** Closes the overlay that Escape dismisses. */
  closeTopmost(): void {
    const top = this.connected().at(-1);
    if (top === undefined) return;
    if (top.hasAttribute(POPOVER_OPEN)) this.hide(top);
    else if (top.dispatchEvent(new Event("cancel", { cancelable: true }))) this.close(top as HTMLDialogElement);
  }

  showModal(dialog: HTMLDialogElement): void {
    if (dialog.open) return;
    dialog.setAttribute("open", "");
    dialog.setAttribute(MODAL_OPEN, "");
    this.enter(dialog, true);
  }

  close(dialog: HTMLDialogElement, value?: string): void {
    if (!dialog.open) return;
    dialog.removeAttribute(MODAL_OPEN);
    dialog.removeAttribute("open");
    if (value !== undefined) dialog.returnValue = value;
    this.leave(dialog);
    // After the current task, as a separate one.
    this.window.setTimeout(() => dialog.dispatchEvent(new Event("close")));
  }

  show(popover: HTMLElement): void {
    if (popover.hasAttribute(POPOVER_OPEN)) return;
    for (const other of this.connected())
      if (other.hasAttribute(POPOVER_OPEN) && !other.contains(popover)) this.hide(other);
    popover.setAttribute(POPOVER_OPEN, "");
    this.enter(popover, false);
    this.toggled(popover, "closed", "open");
  }

  hide(popover: HTMLElement): void {
    if (!popover.hasAttribute(POPOVER_OPEN)) return;
    popover.removeAttribute(POPOVER_OPEN);
    this.leave(popover);
    this.toggled(popover, "open", "closed");
  }

  private connected(): HTMLElement[] {
    return this.open.filter((each) => each.isConnected);
  }

  /** @param takesFocus whether its first element receives the focus without autofocus */
  private enter(element: HTMLElement, takesFocus: boolean): void {
    const focused = this.window.document.activeElement;
    if (focused !== null) this.focusedBefore.set(element, focused as HTMLElement);
    this.open.push(element);
    const all = [...element.querySelectorAll(FOCUSABLE)] as HTMLElement[];
    const first = all.find((each) => each.hasAttribute("autofocus"));
    (first ?? (takesFocus ? all.find((each) => this.canFocus(each)) : undefined))?.focus();
  }

  private leave(element: HTMLElement): void {
    this.open.splice(this.open.indexOf(element), 1);
    const { activeElement, body } = this.window.document;
    if (element.contains(activeElement) || activeElement === body) this.focusedBefore.get(element)?.focus();
  }

  private toggled(element: HTMLElement, oldState: string, newState: string): void {
    this.window.setTimeout(() => element.dispatchEvent(Object.assign(new Event("toggle"), { oldState, newState })));
  }

  private targetOf(invoker: Element): HTMLElement | null {
    const id = invoker.getAttribute("popovertarget") ?? "";
    return this.window.document.getElementById(id) as HTMLElement | null;
  }

  private invoke(event: Event): void {
    const invoker = event.defaultPrevented
      ? null
      : (event.target as unknown as Element).closest("button[popovertarget]");
    const target = invoker === null ? null : this.targetOf(invoker);
    if (invoker === null || target === null) return;
    const action = invoker.getAttribute("popovertargetaction") ?? "toggle";
    if (action !== "show" && target.hasAttribute(POPOVER_OPEN)) this.hide(target);
    else if (action !== "hide") this.show(target);
  }
}

let isPatched = false;

function patchOnce(window: Window): void {
  if (isPatched) return;
  isPatched = true;
  const { focus } = HTMLElement.prototype;
  Object.assign(HTMLElement.prototype, {
    focus(this: HTMLElement) {
      if (this.isConnected && overlaysOf(this)?.canFocus(this) !== false) focus.call(this);
    },
    showPopover(this: HTMLElement) {
      overlaysOf(this)?.show(this);
    },
    hidePopover(this: HTMLElement) {
      overlaysOf(this)?.hide(this);
    },
    togglePopover(this: HTMLElement) {
      if (this.hasAttribute(POPOVER_OPEN)) overlaysOf(this)?.hide(this);
      else overlaysOf(this)?.show(this);
    },
  });
  Object.assign(HTMLDialogElement.prototype, {
    showModal(this: HTMLDialogElement) {
      overlaysOf(this)?.showModal(this);
    },
    close(this: HTMLDialogElement, value?: string) {
      overlaysOf(this)?.close(this, value);
    },
  });
  for (const { prototype } of [window.Element, window.Document] as unknown as { readonly prototype: Selecting }[])
    for (const name of ["matches", "closest", "querySelector", "querySelectorAll"] as const) {
      const own = prototype[name];
      if (own !== undefined)
        prototype[name] = function (selector) {
          return own.call(this, inKnownStates(selector));
        };
    }
}

type Selecting = Partial<
  Record<"matches" | "closest" | "querySelector" | "querySelectorAll", (this: unknown, selector: string) => unknown>
>;

/** A selector without the pseudo-classes unknown to happy-dom. */
function inKnownStates(selector: string): string {
  if (!selector.includes(":")) return selector;
  return selector
    .replaceAll(":popover-open", `[${POPOVER_OPEN}]`)
    .replaceAll(":modal", `[${MODAL_OPEN}]`)
    .replaceAll(":enabled", ":not(:disabled)");
}
