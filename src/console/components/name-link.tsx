// Link with a name from the inventory as its text.

export function NameLink({ href, name }: { readonly href: string; readonly name: string | null }) {
  return (
    <a href={href}>
      <bdi>{name}</bdi>
    </a>
  );
}
