// Error isolation: a bug triggered by one object of a source costs only that object, not the rest of the import.

import type { Refused } from "./imported-objects.ts";
import { onOneLine, RemoteError } from "./json-client.ts";

/**
 * Returns the action's result, or a refusal if it fails.
 * @throws RemoteError if a side can no longer be reached
 */
export async function catchRefusal<T>(url: string, action: () => T | Promise<T>): Promise<T | Refused> {
  try {
    return await action();
  } catch (error) {
    return refusedFor(url, error);
  }
}

/** catchRefusal for a synchronous action. */
export function catchRefusalSync<T>(url: string, action: () => T): T | Refused {
  try {
    return action();
  } catch (error) {
    return refusedFor(url, error);
  }
}

function refusedFor(url: string, error: unknown): Refused {
  if (error instanceof RemoteError) throw error;
  return { url, refused: `cannot be imported: ${onOneLine(String(error))}` };
}
