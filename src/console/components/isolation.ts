// Isolation for external text, so that its bidi control characters do not affect the surrounding text.

import { options } from "preact";
import { selfContained } from "../text/isolated.ts";

/**
 * Makes every `bdi` isolate its text. Browsers end the isolate at the first PDI, and a following override would reverse
 * the text after the element. Removes such unmatched control characters, and closes open ones.
 */
export function isolateTexts(): void {
  const previousHook = options.vnode;
  options.vnode = (vnode) => {
    if (vnode.type === "bdi") {
      const props = vnode.props as { children?: unknown };
      props.children = Array.isArray(props.children)
        ? props.children.map(isolatedChild)
        : isolatedChild(props.children);
    }
    previousHook?.(vnode);
  };
}

function isolatedChild(child: unknown): unknown {
  return typeof child === "string" ? selfContained(child) : child;
}
