// Page section with a heading.

import type { ComponentChildren } from "preact";

interface SectionProps {
  readonly title: ComponentChildren;
  readonly className?: string;
  readonly children: ComponentChildren;
}

export function Section({ title, className, children }: SectionProps) {
  return (
    <section class={className}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
