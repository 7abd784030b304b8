// Collects what is wrong with the items of a bulk write, so that one refusal names all of it by index.
// Must not know what the items are.

import { DomainError, type ErrorCode, type Issue } from "../base/errors.ts";

/** Offenders that one refusal lists at most: more of them are no list that anybody reads. */
export const OFFENDERS_MAX = 10_000;

/** An issue with the code that the item alone would have been refused with. */
export interface Offender extends Issue {
  readonly code: ErrorCode;
}

export class Offenders {
  private readonly list: Offender[] = [];

  /** @param path a JSON pointer into the body */
  note(path: string, message: string, value: unknown, code: ErrorCode = "validation_failed"): void {
    this.list.push({ path, message, value, code });
  }

  /**
   * Runs a step of an item. What the step refuses is noted, and the next one can run: nothing will be written.
   * @param pointer of the item: `/3`
   * @param item to find the values in that the refusal names
   * @returns what the step returned, or null where it was refused
   */
  attempt<T>(pointer: string, item: unknown, step: () => T): T | null {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.list.push(...offendersOf(error, item).map((offender) => ({ ...offender, path: `${pointer}${offender.path}` })));
      return null;
    }
  }

  get count(): number {
    return this.list.length;
  }

  /** Those that were noted after there were `count`. */
  since(count: number): readonly Offender[] {
    return this.list.slice(count);
  }

  /** @throws DomainError with every offender; its code is theirs where they have one in common, else validation_failed */
  throwIfAny(): void {
    const [first] = this.list;
    if (first === undefined) return;
    const code = this.list.every((offender) => offender.code === first.code) ? first.code : "validation_failed";
    const sentence = first.code === "validation_failed" ? `The field ${first.path} ${first.message}.` : `At ${first.path}: ${first.message}`;
    const others = this.list.length - 1;
    const more = others === 0 ? "" : ` ${others} more ${others === 1 ? "offender is" : "offenders are"} listed in params.issues.`;
    throw new DomainError(code, `${sentence}${more} Nothing was written.`, { issues: this.list.slice(0, OFFENDERS_MAX) });
  }
}

/** What an error says of an item, by pointers into it. */
function offendersOf(error: DomainError, item: unknown): Offender[] {
  const { code, message, params } = error;
  if (code === "validation_failed" && Array.isArray(params["issues"])) return (params["issues"] as Issue[]).map((issue) => ({ ...issue, code }));
  if (code === "entity_already_exists" && params["field"] === "id") return [{ path: pointerToId(item, params["value"], "") ?? "", message, value: params["value"], code }];
  if (code === "entity_stale") return [{ path: "/expected_updated_at", message, value: params["expected"], code }];
  const field = params["field"];
  if (typeof field !== "string") return [{ path: "", message, code }];
  if (code !== "entity_reference_invalid") return [{ path: `/${field}`, message, value: params["value"], code }];
  const ids = params["ids"] as string[];
  const places = placesOf(item, field.split("/"), new Set(ids), "");
  return places.length === 0 ? [{ path: `/${field}`, message, value: ids, code }] : places.map(({ path, value }) => ({ path, message, value, code }));
}

/** Where the first object with this id stands. */
function pointerToId(value: unknown, id: unknown, at: string): string | null {
  if (value === null || typeof value !== "object") return null;
  if ("id" in value && value.id === id) return `${at}/id`;
  for (const [name, each] of Object.entries(value)) {
    const found = pointerToId(each, id, `${at}/${name}`);
    if (found !== null) return found;
  }
  return null;
}

/** Where ids stand: a field is told without the positions in the lists that it leads through. */
function placesOf(value: unknown, way: readonly string[], ids: ReadonlySet<string>, at: string): Array<{ path: string; value: string }> {
  if (typeof value === "string") return way.length === 0 && ids.has(value) ? [{ path: at, value }] : [];
  if (value === null || typeof value !== "object") return [];
  if (way.length === 0 && "id" in value && typeof value.id === "string" && ids.has(value.id)) return [{ path: `${at}/id`, value: value.id }];
  const [next, ...rest] = way;
  if (next !== undefined && Object.hasOwn(value, next)) return placesOf((value as Record<string, unknown>)[next], rest, ids, `${at}/${next}`);
  return Array.isArray(value) ? value.flatMap((each, position) => placesOf(each, way, ids, `${at}/${position}`)) : [];
}
