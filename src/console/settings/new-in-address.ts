// What is made on a page of the settings: in the address, as elsewhere, so that the palette leads to it and a reload
// finds it. What is typed is not there.

import { NEW } from "../editing/edit-place.tsx";
import { go, hrefHere, parameter } from "../url/location.ts";

interface NewOne {
  readonly isOpen: boolean;
  open(): void;
  close(): void;
}

/**
 * @param kind as the API names it: `api_key`
 * @param isPermitted whether whoever is signed in may make one, now
 */
export function newOneOf(kind: string, isPermitted: boolean): NewOne {
  return {
    isOpen: isPermitted && parameter(NEW) === kind,
    open: () => go(hrefHere({ [NEW]: kind })),
    close: () => go(hrefHere({ [NEW]: null }), "replace"),
  };
}
