// URL parameter for creating a record on a settings page, as on other pages: the palette links to it, and it survives a
// reload. Contains no input.

import { NEW } from "../editing/edit-place.tsx";
import { go, hrefHere, parameter } from "../url/location.ts";

interface NewOne {
  readonly isOpen: boolean;
  open(): void;
  close(): void;
}

/**
 * @param kind API name: `api_key`
 * @param isPermitted whether the user may create one now
 */
export function newOneOf(kind: string, isPermitted: boolean): NewOne {
  return {
    isOpen: isPermitted && parameter(NEW) === kind,
    open: () => go(hrefHere({ [NEW]: kind })),
    close: () => go(hrefHere({ [NEW]: null }), "replace"),
  };
}
