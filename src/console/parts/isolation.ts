// Isolation of external texts, so that their bidi control characters do not affect the surroundings. Covers every
// isolating element.

import { options } from "preact";
import { withinItself } from "../text/isolated.ts";

/**
 * Makes every `bdi` contain its text. Browsers end the isolate at the first PDI, and a following override would reverse
 * the text after the element. Removes such unmatched characters, which are invisible, and closes open ones.
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
