// A fault of this program in one object of a source costs that object, not all that comes after it.

import { onOneLine, RemoteTrouble } from "./json-client.ts";
import type { Refused } from "./wanted.ts";

/**
 * What an action makes of an object, or that it could not.
 * @throws RemoteTrouble where a side cannot be asked any more
 */
export async function orRefusal<T>(url: string, action: () => T | Promise<T>): Promise<T | Refused> {
  try {
    return await action();
  } catch (error) {
    return refusedFor(url, error);
  }
}

/** The same of what asks nobody. */
export function orRefusalNow<T>(url: string, action: () => T): T | Refused {
  try {
    return action();
  } catch (error) {
    return refusedFor(url, error);
  }
}

function refusedFor(url: string, error: unknown): Refused {
  if (error instanceof RemoteTrouble) throw error;
  return { url, refused: `cannot be brought in: ${onOneLine(String(error))}` };
}
