// Polyfill of dialogs, popovers and focus (WHATWG HTML, sections 4.11.4, 6.6 and 6.12): happy-dom only sets attributes.
// Patches prototypes that all windows share: each patched method looks up the state of its own document.

import { type Document, type Element, Event, HTMLDialogElement, HTMLElement, type Window } from "happy-dom";
import { MODAL_OPEN, POPOVER_OPEN } from "./styles.ts";

const FOCUSABLE =
  'a[href], button, input:not([type="hidden"]), select, textarea, summary, iframe, [tabindex], [contenteditable]';

const documents = new WeakMap<Document, Overlays>();
const overlaysOf = ({ ownerDocument }: Element) => documents.get(ownerDocument);

/** Open overlays of a document, and its focusable elements. */
export class Overlays {
  private readonly window: Window;
  private readonly isVisible: (element: Element) => boolean;
  /** In opening order. */
  private readonly open: HTMLElement[] = [];
  private readonly focusedBefore = new WeakMap<HTMLElement, HTMLElement>();

  /** @param isVisible whether an element is rendered */
  constructor(window: Window, isVisible: (element: Element) => boolean) {
    patchOnce(window);
    this.window = window;
    this.isVisible = isVisible;
    documents.set(window.document, this);
    window.addEventListener("click", (event) => this.invoke(event));
  }

  /** Whether an element ignores clicks and keys: `inert`, or behind a modal dialog. */
  isInert(element: Element): boolean {
    if (element.closest("[inert]") !== null) return true;
    const modal = this.connected().findLast((overlay) => overlay.hasAttribute(MODAL_OPEN));
    return modal !== undefined && !modal.contains(element);
  }

  canFocus(element: HTMLElement): boolean {
    return (
      element.matches(FOCUSABLE) &&
      !(element as HTMLElement & { readonly disabled?: boolean }).disabled &&
      element.closest("fieldset[disabled]") === null &&
      this.isVisible(element) &&
      !this.isInert(element)
    );
  }

  /** Element that gets the focus when an element is clicked; null if the click removes the focus. */
  focusableAt(element: Element): HTMLElement | null {
    for (let node: Element | null = element; node !== null; node = node.parentElement)
      if (this.canFocus(node as HTMLElement)) return node as HTMLElement;
    return null;
  }

  /** Closes the popovers that a click on an element outside them dismisses. */
  lightDismiss(element: Element): void {
    const invoker = element.closest("button[popovertarget]");
    const invoked = invoker === null ? null : this.targetOf(invoker);
    for (const popover of this.connected().reverse())
      if (popover.hasAttribute(POPOVER_OPEN) && !popover.contains(element) && popover !== invoked) this.hide(popover);
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
    this.onOpened(dialog, true);
  }

  close(dialog: HTMLDialogElement, value?: string): void {
    if (!dialog.open) return;
    dialog.removeAttribute(MODAL_OPEN);
    dialog.removeAttribute("open");
    if (value !== undefined) dialog.returnValue = value;
    this.onClosed(dialog);
    // After the current task, as a separate one.
    this.window.setTimeout(() => dialog.dispatchEvent(new Event("close")));
  }

  show(popover: HTMLElement): void {
    if (popover.hasAttribute(POPOVER_OPEN)) return;
    for (const other of this.connected())
      if (other.hasAttribute(POPOVER_OPEN) && !other.contains(popover)) this.hide(other);
    popover.setAttribute(POPOVER_OPEN, "");
    this.onOpened(popover, false);
    this.queueToggleEvent(popover, "closed", "open");
  }

  hide(popover: HTMLElement): void {
    if (!popover.hasAttribute(POPOVER_OPEN)) return;
    popover.removeAttribute(POPOVER_OPEN);
    this.onClosed(popover);
    this.queueToggleEvent(popover, "open", "closed");
  }

  private connected(): HTMLElement[] {
    return this.open.filter((overlay) => overlay.isConnected);
  }

  /** @param takesFocus whether its first element receives the focus without autofocus */
  private onOpened(element: HTMLElement, takesFocus: boolean): void {
    const focused = this.window.document.activeElement;
    if (focused !== null) this.focusedBefore.set(element, focused as HTMLElement);
    this.open.push(element);
    const focusable = [...element.querySelectorAll(FOCUSABLE)] as HTMLElement[];
    const first = focusable.find((candidate) => candidate.hasAttribute("autofocus"));
    (first ?? (takesFocus ? focusable.find((candidate) => this.canFocus(candidate)) : undefined))?.focus();
  }

  private onClosed(element: HTMLElement): void {
    this.open.splice(this.open.indexOf(element), 1);
    const { activeElement, body } = this.window.document;
    if (element.contains(activeElement) || activeElement === body) this.focusedBefore.get(element)?.focus();
  }

  private queueToggleEvent(element: HTMLElement, oldState: string, newState: string): void {
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
  for (const { prototype } of [window.Element, window.Document] as unknown as { readonly prototype: SelectorMethods }[])
    for (const name of ["matches", "closest", "querySelector", "querySelectorAll"] as const) {
      const original = prototype[name];
      if (original !== undefined)
        prototype[name] = function (selector) {
          return original.call(this, withSupportedSelectors(selector));
        };
    }
}

type SelectorMethods = Partial<
  Record<"matches" | "closest" | "querySelector" | "querySelectorAll", (this: unknown, selector: string) => unknown>
>;

/** A selector without the pseudo-classes unknown to happy-dom. */
function withSupportedSelectors(selector: string): string {
  if (!selector.includes(":")) return selector;
  return selector
    .replaceAll(":popover-open", `[${POPOVER_OPEN}]`)
    .replaceAll(":modal", `[${MODAL_OPEN}]`)
    .replaceAll(":enabled", ":not(:disabled)");
}
