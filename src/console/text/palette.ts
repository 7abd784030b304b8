// What the command palette says.

export const paletteText = {
  title: "Command palette",
  open: "Command palette",
  label: "A page, an action or a record",
  here: "On this page",
  goTo: "Go to",
  create: "Make",
  records: "Records",
  keys: "Keys",
  nothing: "Nothing is called so.",
  count: (count: number) => `${new Intl.NumberFormat("en").format(count)} ${count === 1 ? "entry" : "entries"}`,
  gone: "gone",
  pages: {
    subnetList: "Subnets as a list",
    schedules: "Schedules",
    ignored: "What must not come back",
    account: "Account",
  },
  table: (many: string) => `Bring in ${many} from a table`,
  signOut: "Sign out",
} as const;
