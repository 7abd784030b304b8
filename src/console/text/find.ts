// What is said where one finds things.

export const findText = {
  title: "Find",
  label: "Find anything",
  placeholder: "IP, MAC, name, serial, VLAN, interface…  /",
  nothing: (words: string) => `Nothing is called “${words}”, and nothing was.`,
  hint: "Any notation will do: 10.2.3.4, 001b.21aa.bbcc, core-1 gi1/0/7, vlan 120.",
  results: (count: number) => (count === 1 ? "1 result" : `${count} results`),
  hasMore: "There are more: say more of what you look for.",
  namedUntil: "named so until",
  deletedAt: "deleted",
  onHost: "on",
  inNetwork: "in",
  by: "by",
} as const;
