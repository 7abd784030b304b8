// Locators by user-visible properties, with the part of Playwright's interface that the console's tests use.

import type { Element, HTMLElement, HTMLInputElement } from "happy-dom";
import type { Locator as Full } from "playwright-core";
import type { RenderedDocument } from "./document.ts";
import { attributeSelector, textSelector } from "./injected.ts";
import type { UserInput } from "./user-input.ts";
import { until } from "./waiting.ts";

type Text = string | RegExp;
type Exact = { readonly exact?: boolean };
type RoleOptions = Parameters<Full["getByRole"]>[1];
type Filter = {
  readonly has?: Locator;
  readonly hasNot?: Locator;
  readonly hasText?: Text;
  readonly hasNotText?: Text;
  readonly visible?: boolean;
};
type Option = { readonly value?: string; readonly label?: string; readonly index?: number };
type UploadFile = { readonly name: string; readonly mimeType: string; readonly buffer: Uint8Array<ArrayBuffer> };

/** Page that a locator searches. */
interface SearchedPage {
  readonly rendered: RenderedDocument;
  readonly input: UserInput;
  /** For timeout messages. */
  description(): string;
}

/** Scope of a search: a page, or the matches of a locator. */
export abstract class LocatorScope {
  /** Locator for a selector within this scope. */
  protected abstract below(selector: string): Locator;

  getByRole(role: Parameters<Full["getByRole"]>[0], options: RoleOptions = {}): Locator {
    const { exact, name, description, ...states } = options;
    const stateNames = { includeHidden: "include-hidden" } as Readonly<Record<string, string>>;
    const parts = Object.entries(states).map(([state, value]) => `[${stateNames[state] ?? state}=${value}]`);
    if (name !== undefined) parts.push(`[name=${attributeSelector(name, exact)}]`);
    if (description !== undefined) parts.push(`[description=${attributeSelector(description, exact)}]`);
    return this.below(`internal:role=${role}${parts.join("")}`);
  }

  getByLabel(text: Text, { exact }: Exact = {}): Locator {
    return this.below(`internal:label=${textSelector(text, exact)}`);
  }

  getByText(text: Text, { exact }: Exact = {}): Locator {
    return this.below(`internal:text=${textSelector(text, exact)}`);
  }

  getByTitle(text: Text, { exact }: Exact = {}): Locator {
    return this.below(`internal:attr=[title=${attributeSelector(text, exact)}]`);
  }

  getByPlaceholder(text: Text, { exact }: Exact = {}): Locator {
    return this.below(`internal:attr=[placeholder=${attributeSelector(text, exact)}]`);
  }

  locator(selector: string | Locator, filter: Filter = {}): Locator {
    const found = this.below(
      typeof selector === "string" ? selector : `internal:chain=${JSON.stringify(selector.selector)}`,
    );
    return found.filter(filter);
  }
}

export class Locator extends LocatorScope {
  readonly selector: string;
  private readonly page: SearchedPage;

  constructor(page: SearchedPage, selector: string) {
    super();
    this.page = page;
    this.selector = selector;
  }

  protected override below(selector: string): Locator {
    return this.chain(selector);
  }

  filter({ has, hasNot, hasText, hasNotText, visible }: Filter): Locator {
    const parts = [
      hasText === undefined ? "" : `internal:has-text=${textSelector(hasText)}`,
      hasNotText === undefined ? "" : `internal:has-not-text=${textSelector(hasNotText)}`,
      has === undefined ? "" : `internal:has=${JSON.stringify(has.selector)}`,
      hasNot === undefined ? "" : `internal:has-not=${JSON.stringify(hasNot.selector)}`,
      visible === undefined ? "" : `visible=${visible}`,
    ];
    return new Locator(this.page, [this.selector, ...parts.filter((part) => part !== "")].join(" >> "));
  }

  first(): Locator {
    return this.nth(0);
  }

  last(): Locator {
    return this.nth(-1);
  }

  nth(index: number): Locator {
    return this.chain(`nth=${index}`);
  }

  and(other: Locator): Locator {
    return this.chain(`internal:and=${JSON.stringify(other.selector)}`);
  }

  or(other: Locator): Locator {
    return this.chain(`internal:or=${JSON.stringify(other.selector)}`);
  }

  async waitFor({ state = "visible" }: Parameters<Full["waitFor"]>[0] = {}): Promise<void> {
    await until(
      () => {
        const element = this.single();
        const isVisible = element !== null && this.hasState(element, "visible");
        const conditions = {
          attached: element !== null,
          detached: element === null,
          visible: isVisible,
          hidden: !isVisible,
        };
        return conditions[state] ? true : undefined;
      },
      () => `${this.selector} to be ${state}; ${this.page.description()}`,
    );
  }

  async count(): Promise<number> {
    return this.elements().length;
  }

  async all(): Promise<Locator[]> {
    return this.elements().map((_, index) => this.nth(index));
  }

  async allTextContents(): Promise<string[]> {
    return this.elements().map(({ textContent }) => textContent ?? "");
  }

  async textContent(): Promise<string | null> {
    return (await this.attached()).textContent;
  }

  async getAttribute(name: string): Promise<string | null> {
    return (await this.attached()).getAttribute(name);
  }

  async inputValue(): Promise<string> {
    const element = this.labeledControl(await this.attached());
    if (!/^(?:INPUT|TEXTAREA|SELECT)$/.test(element.tagName)) throw new Error(`${this.selector} is not a field`);
    return (element as HTMLInputElement).value;
  }

  async isVisible(): Promise<boolean> {
    const element = this.single();
    return element !== null && this.hasState(element, "visible");
  }

  async isHidden(): Promise<boolean> {
    return !(await this.isVisible());
  }

  async isEnabled(): Promise<boolean> {
    return this.hasState(await this.attached(), "enabled");
  }

  async isDisabled(): Promise<boolean> {
    return this.hasState(await this.attached(), "disabled");
  }

  async isChecked(): Promise<boolean> {
    return this.hasState(await this.attached(), "checked");
  }

  async click(options: Pick<NonNullable<Parameters<Full["click"]>[0]>, "modifiers"> = {}): Promise<void> {
    this.page.input.click(await this.actionable(["visible", "enabled"]), options.modifiers ?? []);
  }

  async dblclick(): Promise<void> {
    this.page.input.doubleClick(await this.actionable(["visible", "enabled"]));
  }

  async hover(): Promise<void> {
    this.page.input.moveTo(await this.actionable(["visible"]));
  }

  async focus(): Promise<void> {
    ((await this.attached()) as HTMLElement).focus();
  }

  async blur(): Promise<void> {
    ((await this.attached()) as HTMLElement).blur();
  }

  async check(): Promise<void> {
    await this.setChecked(true);
  }

  async uncheck(): Promise<void> {
    await this.setChecked(false);
  }

  async setChecked(isChecked: boolean): Promise<void> {
    const hasState = async () => this.hasState(await this.attached(), isChecked ? "checked" : "unchecked");
    if (await hasState()) return;
    await this.click();
    if (!(await hasState())) throw new Error(`Clicking ${this.selector} did not change its state`);
  }

  async fill(value: string): Promise<void> {
    const element = await this.actionable(["visible", "enabled", "editable"]);
    if (this.page.rendered.find.fill(element, value) === "needsinput") this.page.input.insert(value);
  }

  async clear(): Promise<void> {
    await this.fill("");
  }

  async press(key: string): Promise<void> {
    await this.focus();
    this.page.input.press(key);
  }

  async pressSequentially(text: string): Promise<void> {
    await this.focus();
    this.page.input.type(text);
  }

  async selectOption(chosen: string | Option | readonly (string | Option)[]): Promise<string[]> {
    const options = [chosen].flat().map((option) => (typeof option === "string" ? { valueOrLabel: option } : option));
    return until(
      async () => {
        const element = await this.actionable(["visible", "enabled"]);
        const selected = this.page.rendered.find.selectOptions(element, options);
        return typeof selected === "string" ? undefined : [...selected];
      },
      () => `the options ${JSON.stringify(chosen)} of ${this.selector}; ${this.page.description()}`,
    );
  }

  /** Sets the files of a file input, replacing the previous ones. */
  async setInputFiles(files: UploadFile | readonly UploadFile[]): Promise<void> {
    const field = this.labeledControl(await this.attached()) as HTMLInputElement;
    if (!field.matches("input[type=file]")) throw new Error(`${this.selector} is not a field for files`);
    const chosen = [files].flat().map(({ name, mimeType, buffer }) => new File([buffer], name, { type: mimeType }));
    if (chosen.length > 1 && !field.multiple) throw new Error(`${this.selector} takes one file`);
    const list = Object.assign(chosen, { item: (index: number) => chosen[index] ?? null });
    Object.defineProperty(field, "files", { value: list, configurable: true });
    const { Event } = this.page.rendered.window;
    for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  }

  async dispatchEvent(type: string): Promise<void> {
    const { Event } = this.page.rendered.window;
    (await this.attached()).dispatchEvent(new Event(type, { bubbles: true, cancelable: true, composed: true }));
  }

  /** @param code function of the element, as source text or without closure variables */
  async evaluate<R>(code: string | ((element: any) => R)): Promise<R> {
    return this.callFunction(code, await this.attached());
  }

  async evaluateAll<R>(code: string | ((elements: any[]) => R)): Promise<R> {
    return this.callFunction(code, this.elements());
  }

  private callFunction<R>(code: string | ((argument: any) => R), argument: unknown): R {
    return (this.page.rendered.evaluate(`(${code})`) as (argument: unknown) => R)(argument);
  }

  private chain(selector: string): Locator {
    return new Locator(this.page, `${this.selector} >> ${selector}`);
  }

  private elements(): Element[] {
    const { find, document } = this.page.rendered;
    return find.querySelectorAll(find.parseSelector(this.selector), document);
  }

  /** @throws Error for several matches */
  private single(): Element | null {
    const elements = this.elements();
    const { find } = this.page.rendered;
    if (elements.length > 1) throw find.strictModeViolationError(find.parseSelector(this.selector), elements);
    return elements[0] ?? null;
  }

  private attached(): Promise<Element> {
    return until(
      () => this.single() ?? undefined,
      () => `${this.selector}; ${this.page.description()}`,
    );
  }

  /** Waits until the element exists and is actionable. */
  private actionable(states: readonly ("visible" | "enabled" | "editable")[]): Promise<Element> {
    return until(
      () => {
        const element = this.single();
        if (element === null || !states.every((state) => this.hasState(element, state))) return undefined;
        return this.page.rendered.overlays.isInert(element) ? undefined : element;
      },
      () => `${this.selector} to be ${states.join(", ")} and not inert; ${this.page.description()}`,
    );
  }

  private hasState(
    element: Element,
    state: "visible" | "enabled" | "disabled" | "editable" | "checked" | "unchecked",
  ): boolean {
    return this.page.rendered.find.elementState(element, state, true).matches;
  }

  private labeledControl(element: Element): Element {
    return this.page.rendered.find.retarget(element, "follow-label") ?? element;
  }
}
