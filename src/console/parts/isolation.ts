// Texts of others that turn no text beside them, whatever signs of direction they have: for every element that isolates.

import { options } from "preact";
import { withinItself } from "../text/isolated.ts";

/**
 * Has every `bdi` keep what is in it: for browsers it ends with the first sign that ends an isolate, and an override
 * behind that reverses what follows the element. Such signs show nothing, and are left out; what a text opens, it ends.
 */
export function isolateTexts(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    if (vnode.type === "bdi") {
      const props = vnode.props as { children?: unknown };
      props.children = Array.isArray(props.children) ? props.children.map(kept) : kept(props.children);
    }
    before?.(vnode);
  };
}

function kept(child: unknown): unknown {
  return typeof child === "string" ? withinItself(child) : child;
}
